package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/crawl/script"
)

// write is how the tests write a call.
func write(c script.Call) string {
	out := strings.TrimSpace(c.Method + " " + c.Address)
	if len(c.Query) > 0 {
		out += " ?" + strings.Join(c.Query, ",")
	}
	if len(c.Body) > 0 {
		out += fmt.Sprintf(" %s:%s", []string{"json", "form", "multipart"}[c.Kind], strings.Join(c.Body, ","))
	}
	return out
}

func TestMine(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		want []string
	}{
		"fields of a class": {`const N={hostServer:"."};class e{http=i(V);hostServer=N.hostServer;host=this.hostServer+"/api/orders";
			find(){return this.http.get(this.host)} get(t){return this.http.get(` + "`${this.host}/${t}`" + `)} save(t){return this.http.put(this.host+"/"+t,{count:1,note:t})}}`,
			[]string{"GET ./api/orders", "GET ./api/orders/1", "PUT ./api/orders/1 json:count,note"}},
		"fields that the constructor sets": {`var S=(()=>{class e{constructor(t){this.http=t;this.base=E.base;this.host=this.base+"/rest/cart"}pay(t,r){return this.http.post(` +
			"`${this.host}/${t}/pay`,{coupon:r})}}return e})()", []string{"POST /rest/cart/1/pay json:coupon"}},
		"a base that is not known": {"this.http.get(`${c.server}/v9/things/${id}`)",
			[]string{"GET /v9/things/1"}},
		"a base class":                    {`class A{root="/svc"} class B extends A{all(){return this.http.get(this.root+"/all")}}`, []string{"GET /svc/all"}},
		"two classes with the same field": {`class A{u="/a";f(){fetch(this.u+"/x")}} class B{u="/b";f(){fetch(this.u+"/x")}}`, []string{"/a/x", "/b/x"}},
		"parameters beside the address": {`http.get(host+"/find",{params:{q:a,page:b},responseType:"text"})`,
			[]string{"GET /find ?page,q"}},
		"parameters in a variable": {`let p=x?"?fields="+x:"";http.get("/whoami"+p)`,
			[]string{"GET /whoami?fields=1"}},
		"a form that grows": {`const d=new FormData();d.append("image",f,f.name);d.append("caption",c);this.http.post(this.h+"/memories",d)`,
			[]string{"POST /memories multipart:caption,image"}},
		"a component that uploads": {`new U({url:E.host+"/file-upload",authToken:"Bearer "+t,allowedMimeType:["application/pdf"],maxFileSize:1e5})`, []string{"POST /file-upload multipart:file"}},
		"an object that grows": {`let o={};o.email=a;o.password=b;http.post("/login",o)`, []string{"POST /login " +
			"json:email,password"}},
		"the method first": {`client.request("DELETE","/things/"+id)`, []string{"DELETE /things/1"}},
		"equal names elsewhere": {`function f(){var e="/one";fetch(e+"/x")} function g(){var e="/two";fetch(e+"/x")}`,
			[]string{"/one/x", "/two/x"}},
		"options in a variable": {`const o={method:"POST",body:JSON.stringify({a:1})};fetch("/send",o)`,
			[]string{"POST /send json:a"}},
		"deletion with options": {`axios.delete("/a/b",{params:{force:1}})`, []string{"DELETE /a/b ?force"}},
		"what refers to itself": {`var a=a+"/x";var b=c,c=b;fetch(b);class A{u=this.u+"/y";f(){fetch(this.u)}}`,
			[]string{"/x", "/y"}},
		"what is no address":     {`x.get("name");map.set("a/b","c");t.when("now")`, nil},
		"chains without an end":  {"x" + strings.Repeat(".then(f)", 500) + `;fetch("/end")`, []string{"/end"}},
		"a text that is too big": {`var a="/` + strings.Repeat("a", 1500) + `";var b=a+a+a;fetch(b+b)`, nil},
	} {
		var got []string
		for _, call := range script.ExtractCalls(c.code).Calls {
			got = append(got, write(call))
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %q in %q", name, want, got)
			}
		}
		if c.want == nil && len(got) > 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRoutes(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"nested":    {`const r=[{path:"admin",component:A,canActivate:[g]},{path:"user/:id",component:U,children:[{path:"orders",component:O},{path:"**",component:X}]},{path:"",redirectTo:"x"}]`, "/admin /user/1 /user/1/orders"},
		"lazy":      {`r=[{path:"wallet",loadChildren:()=>import("./w.js")},{path:"/about",component:()=>import("./a.js")}]`, "/wallet /about"},
		"elements":  {`jsx(Route,{path:"/teams/:team",element:jsx(T,{})})`, "/teams/1"},
		"AngularJS": {`$routeProvider.when("/phones/:phone",{templateUrl:"p.html"}).when("/x",{y:1})`, "/phones/1"},
		"no routes": {`o=[{path:"/tmp/file",size:3},{path:"C:\\x",component:1}]`, ""},
		"shared list": {`const kids=[{path:"b",component:B}];const all=[{path:"a",component:A,children:kids}]`,
			"/a /b /a/b"},
	} {
		got := script.ExtractCalls(c.code).Routes
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) && name != "shared list" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzMine(f *testing.F) {
	for _, code := range []string{`class A{u=this.u+"/y";f(){fetch(this.u)}}`,
		`r=[{path:"a",component:A,children:[{path:"b",component:B}]}]`,
		"fetch(`/a/${b}/c`,{method:'PUT',body:JSON.stringify({a})})",
		`const d=new FormData();d.append("a",b);x.post("/y",d)`,
		`var a=b,b=a;$.ajax({url:a+"/x",type:"POST",data:{b}})`} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		mined := script.ExtractCalls(code)
		for _, c := range mined.Calls {
			if c.Address == "" || len(c.Address) > 4000 {
				t.Errorf("address %q", c.Address)
			}
		}
		for _, r := range mined.Routes {
			if !strings.HasPrefix(r, "/") {
				t.Errorf("route %q", r)
			}
		}
	})
}

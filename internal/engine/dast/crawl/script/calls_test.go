package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/crawl/script"
)

// writeWithHeaders is write, with the names of headers.
func writeWithHeaders(c script.Call) string {
	out := write(c)
	if len(c.Headers) > 0 {
		out += " +" + strings.Join(c.Headers, ",")
	}
	return out
}

// A codeCase is code with all the calls that are in it.
type codeCase struct {
	name, code string
	want       []string
}

// checkCalls compares all calls of each piece of code, in any order.
func checkCalls(t *testing.T, cases []codeCase) {
	t.Helper()
	for _, c := range cases {
		var got []string
		for _, call := range script.ExtractCalls(c.code).Calls {
			got = append(got, writeWithHeaders(call))
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n\tgot  %q\n\twant %q", c.name, got, want)
		}
	}
}

// TestClients reads the calls of the clients that send requests.
func TestClients(t *testing.T) {
	checkCalls(t, []codeCase{
		{"fetch", `fetch("/api/items")`, []string{"/api/items"}},
		{"fetch with options", `fetch("/api/items",{method:"post",headers:{"X-Tenant":t,Accept:"a/b"},body:JSON.stringify({name:n,"unit price":p})})`,
			[]string{"POST /api/items json:name,unit price +X-Tenant"}},
		{"fetch of window", `window.fetch("/api/w",{method:"PUT",body:new URLSearchParams({a:1,b:2})})`,
			[]string{"PUT /api/w form:a,b"}},
		{"fetch of a new Request", `fetch(new Request("/api/made"))`, []string{"/api/made"}},
		{"axios by method", `axios.post("/api/a",{x:1},{params:{p:1},headers:{"X-App":"1"}})`,
			[]string{"POST /api/a ?p json:x +X-App"}},
		{"axios with a configuration", `axios({url:"/api/b",method:"patch",data:{y:2},params:{q:1,r:2}})`,
			[]string{"PATCH /api/b ?q,r json:y"}},
		{"axios with a relative address", `axios.get("items")`, []string{"GET items"}},
		{"axios.put of a variable", `const body={a:1,b:{c:2}};axios.put("/api/c",body)`, []string{"PUT /api/c json:a,b"}},
		{"shorthand members", `axios.post("/api/d",{name,age})`, []string{"POST /api/d json:age,name"}},
		{"spread members", `axios.post("/api/e",{...rest,id})`, []string{"POST /api/e json:id"}},
		{"jQuery.ajax", `$.ajax({url:"/api/j",type:"POST",data:{a:1}})`, []string{"POST /api/j json:a"}},
		{"jQuery.post sends a form", `$.post("/api/k",{user:u,pass:p})`, []string{"POST /api/k form:pass,user"}},
		{"jQuery.getJSON", `$.getJSON("/api/l",{page:1})`, []string{"GET /api/l"}},
		{"AngularJS", `$http({method:"DELETE",url:"/api/m"})`, []string{"DELETE /api/m"}},
		{"XMLHttpRequest", `const x=new XMLHttpRequest();x.open("PUT","/api/n",true);x.setRequestHeader("X-Own","1");x.send()`,
			[]string{"PUT /api/n +X-Own"}},
		{"beacon", `navigator.sendBeacon("/api/log",data)`, []string{"/api/log"}},
		{"client.request", `client.request("OPTIONS","/api/o")`, []string{"OPTIONS /api/o"}},
		{"delete with a body in its options", `http.delete("/api/p",{body:{ids:a}})`, []string{"DELETE /api/p json:ids"}},
		{"head", `http.head("/api/q")`, []string{"HEAD /api/q"}},
		{"del", `superagent.del("/api/r")`, []string{"DELETE /api/r"}},
		{"functions of the same names", `map.get("key");cache.delete("k");list.post("x")`, nil},
		{"call and text alike are one call", `const u="/api/s";fetch(u,{method:"POST"});log("/api/s")`,
			[]string{"POST /api/s"}},
		{"two methods of an address", `http.get("/api/t");http.put("/api/t",{a:1})`,
			[]string{"GET /api/t", "PUT /api/t json:a"}},
		{"parts of a call in two places", `axios.post("/api/u",{a:1});axios.post("/api/u",null,{params:{b:1}})`,
			[]string{"POST /api/u ?b json:a"}},
	})
}

// TestBodies finds the names of what is sent, and how it is written.
func TestBodies(t *testing.T) {
	checkCalls(t, []codeCase{
		{"a form that the browser encodes", `const f=new FormData;f.append("a",1);f.set("b",2);fetch("/x/y",{method:"POST",body:f})`,
			[]string{"POST /x/y multipart:a,b"}},
		{"parameters of a URL", `const p=new URLSearchParams();p.append("a",1);fetch("/x/y",{method:"POST",body:p})`,
			[]string{"POST /x/y form:a"}},
		{"parameters of Angular", `const p=new HttpParams({fromObject:o});this.http.get("/x/y",{params:{a:1}})`,
			[]string{"GET /x/y ?a"}},
		{"names each once", `const f=new FormData;f.append("a",1);f.append("a",2);http.post("/x/y",f)`,
			[]string{"POST /x/y multipart:a"}},
		{"a frozen object", `const o=Object.freeze({a:1,b:2});http.post("/x/y",o)`, []string{"POST /x/y json:a,b"}},
		{"an object in an object", `const o={login:{user:1,pass:2}};http.post("/x/y",o.login)`,
			[]string{"POST /x/y json:pass,user"}},
		{"computed names are not known", `http.post("/x/y",{[k]:1,b:2})`, []string{"POST /x/y json:b"}},
		{"a text", `http.post("/x/y","a=1")`, []string{"POST /x/y"}},
		{"an array", `http.post("/x/y",[{a:1}])`, []string{"POST /x/y"}},
		{"a parameter of the function", `function f(o){http.post("/x/y",o)}`, []string{"POST /x/y"}},
		{"an object that gets members by name", `const o={a:1};o.b=2;http.post("/x/y",o)`,
			[]string{"POST /x/y json:a,b"}},
	})
}

// TestAddresses evaluates the expressions of which the address of a request is made.
func TestAddresses(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a sum", `http.get("/api/"+kind+"/list")`, "/api/1/list"},
		{"a constant", `const BASE="/api/v2";http.get(BASE+"/a")`, "/api/v2/a"},
		{"a template", "http.get(`/api/${id}/b?x=${y}`)", "/api/1/b?x=1"},
		{"a template without values", "http.get(`/api/plain`)", "/api/plain"},
		{"a template that begins with a constant", "const b='/api';http.get(`${b}/c`)", "/api/c"},
		{"concat", `http.get("/api".concat("/c/",id))`, "/api/c/1"},
		{"the first of two that is known", `http.get(conf.url||"/api/d")`, "/api/d"},
		{"a default for nothing", `http.get(conf.url??"/api/e")`, "/api/e"},
		{"a condition", `http.get(x?"/api/f":y)`, "/api/f"},
		{"a condition whose first value is not known", `http.get(x?y:"/api/g")`, "/api/g"},
		{"brackets", `http.get(("/api"+("/h")))`, "/api/h"},
		{"a member of an object", `const urls={list:"/api/i/list",one:"/api/i/one"};http.get(urls.list)`,
			"/api/i/list"},
		{"a member of a member", `const c={api:{root:"/api/j"}};http.get(c.api.root+"/k")`, "/api/j/k"},
		{"a member that is assigned", `const c={};c.root="/api/k";http.get(c.root+"/l")`, "/api/k/l"},
		{"a frozen object", `const c=Object.freeze({root:"/api/l"});http.get(c.root)`, "/api/l"},
		{"the first value of a variable", `let u="/api/l1";u="/api/l2";http.get(u)`, "/api/l1"},
		{"a base that is not known", `http.get(env.base+"/api/m")`, "/api/m"},
		{"a value that is not known in the middle", `http.get("/api/a"+b+c)`, "/api/a11"},
		{"nothing is known", `http.get(a+b)`, ""},
		{"escapes of a text", `http.get("\/api\/n?a=1\u0026b=2")`, "/api/n?a=1&b=2"},
		{"another host", `http.get("https://api.example.org/v1/o")`, "https://api.example.org/v1/o"},
		{"a field of the class", `class A{constructor(){this.root="/api/p"} f(){http.get(this.root+"/q")}}`, "/api/p/q"},
		{"a field of the base class", `class A{root="/api/r"} class B extends A{f(){http.get(this.root)}}`, "/api/r"},
		{"a space in it", `http.get("/api/a b")`, ""},
	} {
		got := ""
		for _, call := range script.ExtractCalls(c.code).Calls {
			if call.Method == "GET" { // other texts of the program are addresses without a method
				got += call.Address
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestConstructions reads objects of the browser that are made of an address.
func TestConstructions(t *testing.T) {
	checkCalls(t, []codeCase{
		{"a socket", `new WebSocket("wss://live.example.org/feed")`, []string{"wss://live.example.org/feed"}},
		{"events", `new EventSource("/events/stream")`, []string{"/events/stream"}},
		{"a worker", `new Worker("worker.js")`, []string{"worker.js"}},
		{"a URL", `new URL("items",location)`, []string{"items"}},
		{"an object that is none of these", `new Thing("items")`, nil},
		{"without an address", `new Worker;new URL()`, nil},
	})
}

// TestNavigation finds where code leads the browser, and what it loads.
func TestNavigation(t *testing.T) {
	checkCalls(t, []codeCase{
		{"location", `location.href="/home/a"`, []string{"/home/a"}},
		{"window.location", `window.location="/home/b"`, []string{"/home/b"}},
		{"location.assign", `location.assign("login.php")`, []string{"login.php"}},
		{"location.replace", `location.replace("/home/c")`, []string{"/home/c"}},
		{"replace of a text", `text.replace("a.b","c")`, nil},
		{"a new window", `window.open("help.html","_blank")`, []string{"help.html"}},
		{"history", `history.pushState({},"","/home/d")`, []string{"/home/d"}},
		{"a router", `router.navigate("/home/e")`, []string{"/home/e"}},
		{"a form", `form.action="/home/f"`, []string{"/home/f"}},
		{"an image", `img.src="pixel.cgi"`, []string{"pixel.cgi"}},
		{"an attribute", `a.setAttribute("href","next?page=2")`, []string{"next?page=2"}},
		{"another attribute", `a.setAttribute("title","next?page=2")`, nil},
		{"a part of a page", `$("#a").load("part.html")`, []string{"part.html"}},
		{"a service worker", `navigator.serviceWorker.register("/sw.js")`, []string{"/sw.js"}},
		{"a script", `$.getScript("more.js")`, []string{"more.js"}},
		{"scripts of a worker", `importScripts("a/one.js","a/two.js")`, []string{"a/one.js", "a/two.js"}},
	})
}

// TestMarkup finds what stands in markup, comments and code that cannot be parsed.
func TestMarkup(t *testing.T) {
	checkCalls(t, []codeCase{
		{"markup in a text", `el.innerHTML='<a class="x" href="/shop/item?id=3">x</a>'`, []string{"/shop/item?id=3"}},
		{"a form in a text", `h("<form method=post action='save.do'>")`, []string{"save.do"}},
		{"a comment", "// see /internal/admin/users for more\nf()", []string{"/internal/admin/users"}},
		{"a comment of several lines", "/* old:\n * /legacy/api/list\n */\nf()", []string{"/legacy/api/list"}},
		{"a comment with one word", "// and/or, /x, //y/z\nf()", nil},
		{"a source map", "f()\n//# sourceMappingURL=app.js.map\n", []string{"app.js.map"}},
		{"a source map in the code", "f()\n//# sourceMappingURL=data:application/json;base64,e30=\n", nil},
		{"code that cannot be parsed", `function ( { "/broken/api/a" '/broken/api/b'`,
			[]string{"/broken/api/a", "/broken/api/b"}},
		{"a template of a server within code", `var u = "/broken/x"; var n = {{ name }};`, []string{"/broken/x"}},
		{"nothing", "", nil},
	})
}

// TestUploaders finds components that upload files.
func TestUploaders(t *testing.T) {
	checkCalls(t, []codeCase{
		{"the name of the field", `new Dropzone(e,{url:"/up/a",paramName:"doc",maxFilesize:5})`,
			[]string{"POST /up/a multipart:doc"}},
		{"without a name", `uploader({endpoint:"/up/b",acceptedFiles:"image/*"})`,
			[]string{"POST /up/b multipart:file"}},
		{"another alias", `new FileUploader({url:"/up/c",itemAlias:"img",allowedFileType:["image"]})`,
			[]string{"POST /up/c multipart:img"}},
		{"an address without files", `init({url:"/up/d",timeout:5})`, []string{"/up/d"}},
	})
}

// TestHeaders finds the headers of the application's own that code sends.
func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name, code string
		calls      string
		computed   bool // names that only the running code knows
	}{
		{"headers that frameworks give a meaning",
			`fetch("/x/y",{method:"POST",headers:{"Content-Type":"a/b",Authorization:t,"X-CSRF-Token":c,"X-Requested-With":"X"}})`,
			"POST /x/y", false},
		{"own headers in order", `fetch("/x/y",{method:"POST",headers:{"X-B":1,"X-A":2}})`, "POST /x/y +X-A,X-B", false},
		{"of a request that is open", `x.open("GET","/x/y");x.setRequestHeader("X-A","1");x.setRequestHeader("X-B","2")`,
			"GET /x/y +X-A,X-B", false},
		{"of the request opened last", `x.open("GET","/x/y");x.open("GET","/x/z");x.setRequestHeader("X-A","1")`,
			"GET /x/y, GET /x/z +X-A", false},
		{"without an open request", `x.setRequestHeader("X-A","1")`, "", false},
		{"a name that is computed", `x.setRequestHeader(prefix(n),value)`, "", true},
		{"what a library passes on", `for(var n in h)x.setRequestHeader(n,h[n])`, "", false},
	} {
		found := script.ExtractCalls(c.code)
		var got []string
		for _, call := range found.Calls {
			got = append(got, writeWithHeaders(call))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != c.calls || found.Headers != c.computed {
			t.Errorf("%s: %q, computed %t", c.name, got, found.Headers)
		}
	}
}

// TestFields notes that code computes the names of fields.
func TestFields(t *testing.T) {
	for code, want := range map[string]bool{
		`input.setAttribute("name",prefix+"_id")`:    true,
		`$(i).attr("name",n)`:                        true,
		`input.setAttribute("name","fixed")`:         false,
		`input.setAttribute("id",n)`:                 false,
		`formData.append(key,value)`:                 true,
		`formData.append("key",value)`:               false,
		`list.append(key,value)`:                     false,
		`document.createElement("input").name="abc"`: false,
	} {
		if got := script.ExtractCalls(code).Fields; got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
}

// TestRouteTables reads the tables of routers, all of what they show.
func TestRouteTables(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       []string
	}{
		{"several parameters", `[{path:"/a/:x/b/:y",component:C}]`, []string{"/a/1/b/1"}},
		{"a slash in front of a child is the root", `[{path:"/a",component:A,children:[{path:"/b",component:B}]}]`,
			[]string{"/a", "/b"}},
		{"a parent without a page of its own", `[{path:"shop",children:[{path:"cart",component:C}]}]`,
			[]string{"/shop/cart"}},
		{"old tables of React", `[{path:"app",getComponent:f,childRoutes:[{path:"inbox",component:I}]}]`,
			[]string{"/app", "/app/inbox"}},
		{"a redirect", `[{path:"/old",redirect:"/new"}]`, []string{"/old"}},
		{"names in quotes", `[{"path":"/quoted","component":C}]`, []string{"/quoted"}},
		{"a path from a constant", `const P="reports";[{path:P,component:C}]`, []string{"/reports"}},
		{"each once", `[{path:"/a",component:A},{path:"/a",component:B}]`, []string{"/a"}},
		{"the root", `[{path:"/",component:A},{path:"",component:B}]`, nil},
		{"a pattern", `[{path:"/a/*",component:A},{path:"*",component:B}]`, nil},
		{"no page", `[{path:"/etc/passwd",mode:"0644"}]`, nil},
		{"a page without a path", `[{component:A}]`, nil},
	} {
		got := script.ExtractCalls(c.code).Routes
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNestedRoutes ends where tables stand in each other deeper than any router has them.
func TestNestedRoutes(t *testing.T) {
	code := "x"
	for n := range 30 {
		code = fmt.Sprintf(`{path:"p%d",component:C,children:[%s]}`, n, code)
	}
	routes := script.ExtractCalls("r=[" + code + "]").Routes
	longest := 0
	for _, r := range routes {
		longest = max(longest, strings.Count(r, "/"))
	}
	if len(routes) == 0 || longest > 9 {
		t.Errorf("%d routes, the longest with %d segments", len(routes), longest)
	}
}

// TestLooksLikeAddress tells addresses from the other texts of a program.
func TestLooksLikeAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"/a": true, "/api/items": true, "/~user": true, "/.well-known/x": true, "/{id}": false, "/#/home": true,
		"https://example.org/": true, "http://ab": true, "https://": false, "ws://h/x": true, "ftp://h/x": false,
		"http://www.w3.org/2000/svg": false, "//cdn.example.org/x": true, "//comment": false,
		"./x": true, "../x/y": true, "login.php": true, "img.png": false, "a/b.html?x=1": true, "x.html#top": true,
		"api/items": true, "graphql/x": true, "react/jsx-runtime": false, "text/html": false, "and/or": false,
		"/": false, "": false, "a": false, "/a b": false, "/a<b": false, "/*": false, "/=": false,
		"/^a$/": false, "/a,b": false, "/a?b=c,d": true, "@angular/core": false, "1/1": false,
		strings.Repeat("/a", 1000): false,
	} {
		if got := script.LooksLikeAddress(text); got != want {
			t.Errorf("%.60q: %t", text, got)
		}
	}
}

// TestManyCalls bounds what is taken from one piece of code.
func TestManyCalls(t *testing.T) {
	var code strings.Builder
	for n := range 6000 {
		fmt.Fprintf(&code, "fetch(\"/api/%d/x\");\n", n)
	}
	if got := len(script.ExtractCalls(code.String()).Calls); got != 5000 {
		t.Errorf("%d calls", got)
	}
}

package message

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/lazyregexp"
)

func request(t testing.TB, method, address string) *Request {
	t.Helper()
	r, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r.Method = method
	return r
}

func TestPoints(t *testing.T) {
	r := request(t, "POST", "http://a.example/users/42/files?q=x&empty=&bare")
	r.Body = Body{Kind: JSON, Text: []byte(`{"name": "joe", "tags": ["a", {"n/m": 7}], "ok": true, "none": null}`)}
	r.Cookies = []Param{{Name: "sid", Value: "1"}}
	r.Header = []Param{{Name: "X-Tenant", Value: "t"}, {Name: "Content-Type", Value: "application/json"}}
	var got []string
	for _, p := range r.Points() {
		got = append(got, p.Key()+"="+p.Value+" "+p.Type)
	}
	want := []string{"query:q=x ", "query:empty= ", "query:bare= ", "json:/name=joe string", "json:/tags/0=a string",
		"json:/tags/1/n~1m=7 number",
		"json:/ok=true boolean", "json:/none= null", "path:2=42 ", "cookie:sid=1 ", "header:X-Tenant=t "}
	if !slices.Equal(got, want) {
		t.Errorf("points\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWith(t *testing.T) {
	json := request(t, "POST", "http://a.example/p/7?x=1")
	json.Body = Body{Kind: JSON, Text: []byte(` { "a" : "b", "n": [ 1 ,2] } `)}
	xml := request(t, "POST", "http://a.example/x")
	xml.Body = Body{Kind: XML, Text: []byte(`<?xml version="1.0"?><r k='v'><e>old</e><f/></r>`)}
	form := request(t, "POST", "http://a.example/f")
	form.Body = Body{Kind: Form, Params: []Param{{Name: "u", Value: "1"}, {Name: "u", Value: "2"}}}
	named := request(t, "GET", "http://a.example/users/v1-joe/x")
	named.Template = "/users/v1-{name}/x"
	for _, c := range []struct {
		r          *Request
		key, value string
		at         int // which of the points with the key
		address    string
		body       string
	}{
		{json, "query:x", "a b&'<", 0, "http://a.example/p/7?x=a%20b%26%27%3C", ""},
		{json, "path:2", "../x y", 0, "http://a.example/p/..%2Fx%20y?x=1", ""},
		{json, "json:/a", `q"<`, 0, "", ` { "a" : "q\"<", "n": [ 1 ,2] } `},
		{json, "json:/n/1", "z", 0, "", ` { "a" : "b", "n": [ 1 ,"z"] } `},
		{xml, "xml:r/@k", "a<b", 0, "", `<?xml version="1.0"?><r k='a&lt;b'><e>old</e><f/></r>`},
		{xml, "xml:r/e", "new", 0, "", `<?xml version="1.0"?><r k='v'><e>new</e><f/></r>`},
		{form, "form:u", "9", 1, "", "u=1&u=9"},
		{named, "path:name", "a/b", 0, "http://a.example/users/v1-a%2Fb/x", ""},
	} {
		var at *Point
		n := 0
		for _, p := range c.r.Points() {
			if p.Key() == c.key {
				if n == c.at {
					at = &p
					break
				}
				n++
			}
		}
		if at == nil {
			t.Errorf("%s is no point of %s", c.key, c.r.Address())
			continue
		}
		before := c.r.Address()
		got := c.r.With(*at, c.value)
		if content, _ := got.Content(); c.body != "" && string(content) != c.body {
			t.Errorf("%s: body %s, want %s", c.key, content, c.body)
		}
		if c.address != "" && got.Address() != c.address {
			t.Errorf("%s: %s, want %s", c.key, got.Address(), c.address)
		}
		if c.r.Address() != before {
			t.Errorf("%s changed the request", c.key)
		}
	}
}

func TestWithJSONAddsMembers(t *testing.T) {
	r := request(t, "POST", "http://a.example/")
	r.Body = Body{Kind: JSON, Text: []byte(`{"user":{"name":"x"}}`)}
	got := r.WithJSON(Point{In: InJSON, Name: "/user/admin", Index: -1}, "true")
	if string(got.Body.Text) != `{"user":{"admin":true,"name":"x"}}` {
		t.Errorf("body %s", got.Body.Text)
	}
}

func TestHTTPKeepsWhatCannotBeDecoded(t *testing.T) {
	r := request(t, "GET", "HTTP://A.example:80/a%2Fb/c?x=%zz")
	r.Path = "/a%2Fb/%zz"
	req, err := r.HTTP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := req.URL.RequestURI(); got != "/a%2Fb/%zz?x=%25zz" && got != "//a.example/a%2Fb/%zz?x=%25zz" &&
		got != "http://a.example/a%2Fb/%zz?x=%25zz" {
		t.Errorf("sent as %s", got)
	}
	if r.Host != "a.example" {
		t.Errorf("host %s", r.Host)
	}
}

func TestMultipart(t *testing.T) {
	r := request(t, "POST", "http://a.example/up")
	r.Body = Body{Kind: Multipart,
		Params: []Param{{Name: `f"x`, Value: "a\r\n" + "----form-7MA4YWxkTrZu0gW", File: "a.png", Type: "image/png"},
			{Name: "k", Value: "v"}}}
	req, err := r.HTTP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := req.ParseMultipartForm(1 << 20); err != nil {
		t.Fatal(err)
	}
	if req.FormValue("k") != "v" || len(req.MultipartForm.File) != 1 {
		t.Errorf("form %+v", req.MultipartForm)
	}
}

func TestHeadersThatCannotBeSent(t *testing.T) {
	r := request(t, "GET", "http://a.example/").SetHeader("X-A", "b\r\nX-C: d")
	if _, err := r.HTTP(t.Context()); err == nil {
		t.Error("a header with a line end was accepted")
	}
}

func TestEvidenceHidesCredentials(t *testing.T) {
	r := request(t, "GET", "http://a.example/?q='")
	r.Header = []Param{{Name: "Authorization", Value: "Bearer s3cret"}, {Name: "Cookie", Value: "sid=s3cret; b=s3cret"}}
	req, err := r.HTTP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	resp := &Response{Request: r, Status: 200, Header: http.Header{"Set-Cookie": {"sid=s3cret; HttpOnly"}},
		Body: []byte("ok"), Sent: Dump(req, nil)}
	e := resp.Exchange("x")
	for _, text := range []string{e.Request, e.Response, r.Curl(""), r.Curl(e.Request)} {
		if strings.Contains(text, "s3cret") {
			t.Errorf("a credential is shown: %s", text)
		}
	}
	if !strings.Contains(e.Response, "HttpOnly") || !strings.Contains(r.Curl(""), "'http://a.example/?q=%27'") {
		t.Errorf("evidence %s, %s", e.Response, r.Curl(""))
	}
}

// TestCurlSaysWhereCredentialsBelong shows what a session adds, to be filled in, once.
func TestCurlSaysWhereCredentialsBelong(t *testing.T) {
	r := request(t, "GET", "http://a.example/")
	r.Cookies = []Param{{Name: "lang", Value: "de"}}
	req, err := r.HTTP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer s3cret")
	req.Header.Set("Cookie", "lang=de; sid=s3cret")
	const want = `curl -i -H 'Authorization: Bearer [redacted]' -b 'lang=de; sid=[redacted]' --path-as-is http://a.example/`
	if got := r.Curl(Dump(req, nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzLeaves(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}],"c":"x"}`), "v")
	f.Add([]byte(`<a b="c"><d>e</d></a>`), "<&")
	f.Add([]byte(`{"a":`), "")
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		for _, kind := range []BodyKind{JSON, XML} {
			r := &Request{Method: "POST", Scheme: "http", Host: "a", Path: "/", Body: Body{Kind: kind, Text: text}}
			for _, p := range r.Points() {
				_ = r.With(p, value)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("http://a/b/12?x=1#f", "v")
	f.Add("https://u:p@[::1]:1/%zz?&&=", "%")
	f.Fuzz(func(t *testing.T, address, value string) {
		r, err := Parse(address)
		if err != nil {
			return
		}
		for _, p := range append(r.Points(), r.Names()...) {
			if req, err := r.With(p, value).HTTP(t.Context()); err == nil && req.URL.Host != r.Host {
				t.Errorf("the host became %q", req.URL.Host)
			}
		}
	})
}

// A form that gives the user another password is never sent without the fields for it.
func TestNamesOfPasswords(t *testing.T) {
	r := &Request{Method: "POST",
		Body: Body{Kind: Form, Params: []Param{{Name: "user", Value: "a"}, {Name: "password", Value: "b"},
			{Name: "again", Value: "c"}}},
		Types: map[string]string{"form:password": "password", "form:again": "password"}}
	var names []string
	for _, at := range r.Names() {
		names = append(names, at.Name)
	}
	if !slices.Equal(names, []string{"user"}) {
		t.Errorf("names %q", names)
	}
}

// An answer shares what is read of another one only when both say the same.
func TestShare(t *testing.T) {
	answer := func(kind, body string) *Response {
		return &Response{Header: http.Header{"Content-Type": {kind}}, Body: []byte(body)}
	}
	first := answer("text/html", "<p>an error of SQL</p>")
	text := lazyregexp.New(`error of \w+`)
	for _, test := range []struct {
		name, kind, body string
		shared, shows    bool
	}{
		{"the same", "text/html", "<p>an error of SQL</p>", true, true},
		{"another body", "text/html", "<p>no error</p>", false, false},
		{"another type", "text/html; charset=utf-16le", "<p>an error of SQL</p>", false, false},
	} {
		r := answer(test.kind, test.body)
		if got := r.ShareBody(first); got != test.shared || r.Shared() != test.shared ||
			(r.Document() == first.Document()) != test.shared {
			t.Errorf("%s: shared %t", test.name, got)
		}
		if got := r.MatchesBody(text); got != test.shows {
			t.Errorf("%s: shows %t", test.name, got)
		}
		if third := answer(test.kind, test.body); third.ShareBody(r) != true || third.MatchesBody(text) != test.shows ||
			third.Text() != r.Text() {
			t.Errorf("%s: a third one is another one", test.name)
		}
	}
	if first.ShareBody(first) {
		t.Error("an answer shares with itself")
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd…", "abcé": "abc…",
		"a\xffb": "a\uFFFD…", "é": "é"} {
		if got := Truncate(in, 4); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

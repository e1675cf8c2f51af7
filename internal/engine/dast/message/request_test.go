package message

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParse reads addresses as requests.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		address, want string // the address as it is sent; "": an error
	}{
		{"http://a.example", "http://a.example/"},
		{"HTTPS://A.Example:443/P?q=1#part", "https://a.example/P?q=1"},
		{"http://a.example:443/", "http://a.example:443/"},
		{"http://a.example:80/x", "http://a.example/x"},
		{"http://[::1]:8080/x", "http://[::1]:8080/x"},
		{"http://a.example/a%2Fb/%20", "http://a.example/a%2Fb/%20"},
		{"http://a.example/?a=b+c&d=%26&e", "http://a.example/?a=b%20c&d=%26&e"},
		{"http://a.example/?&&a=1&", "http://a.example/?a=1"},
		{"ftp://a.example/", ""},
		{"/only/a/path", ""},
		{"http:///x", ""},
		{"http://a.example:port/", ""},
		{"javascript:alert(1)", ""},
	} {
		r, err := Parse(c.address)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s: read as %s", c.address, r.Address())
		case c.want != "" && (err != nil || r.Address() != c.want || r.Method != "GET"):
			t.Errorf("%s: %+v, %v, want %s", c.address, r, err, c.want)
		}
	}
}

// TestParseHidesPasswords shows an address that is refused without its password.
func TestParseHidesPasswords(t *testing.T) {
	if _, err := Parse("ftp://jane:s3cret@a.example/"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}

// TestQuery reads and writes queries, with repetitions and names without values.
func TestQuery(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want []Param
		back string
	}{
		{"", nil, ""},
		{"a=1&a=2", []Param{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}, "a=1&a=2"},
		{"a&b=", []Param{{Name: "a", Bare: true}, {Name: "b"}}, "a&b="},
		{"a=b=c", []Param{{Name: "a", Value: "b=c"}}, "a=b%3Dc"},
		{"x%5B%5D=1", []Param{{Name: "x[]", Value: "1"}}, "x%5B%5D=1"},
		{"a=%zz", []Param{{Name: "a", Value: "%zz"}}, "a=%25zz"},
		{"a=1+2", []Param{{Name: "a", Value: "1 2"}}, "a=1%202"},
		{"=v", []Param{{Value: "v"}}, "=v"},
		{"ä=ö", []Param{{Name: "ä", Value: "ö"}}, "%C3%A4=%C3%B6"},
	} {
		got := ParseQuery(c.raw)
		if !slices.Equal(got, c.want) || EncodeQuery(got) != c.back {
			t.Errorf("%q: %+v, written %q", c.raw, got, EncodeQuery(got))
		}
	}
}

// TestRawQuery sends a query as it is, in the place of the parameters.
func TestRawQuery(t *testing.T) {
	r := request(t, "GET", "http://a.example/x?a=1")
	r.RawQuery = "<script>"
	if r.Address() != "http://a.example/x?<script>" || r.URL().RawQuery != "<script>" {
		t.Errorf("address %s, URL %s", r.Address(), r.URL())
	}
}

// TestContent writes each kind of body with its type.
func TestContent(t *testing.T) {
	params := []Param{{Name: "a b", Value: "1&2"}, {Name: "c", Value: "ü"}}
	for _, c := range []struct {
		name       string
		body       Body
		text, kind string
	}{
		{"none", Body{}, "", ""},
		{"a form", Body{Kind: Form, Params: params}, "a%20b=1%262&c=%C3%BC", "application/x-www-form-urlencoded"},
		{"JSON", Body{Kind: JSON, Text: []byte(`{"a":1}`)}, `{"a":1}`, "application/json"},
		{"JSON of a type of its own", Body{Kind: JSON, Text: []byte(`{}`), Type: "application/vnd.api+json"}, `{}`,
			"application/vnd.api+json"},
		{"XML", Body{Kind: XML, Text: []byte(`<a/>`)}, `<a/>`, "application/xml"},
		{"SOAP", Body{Kind: XML, Text: []byte(`<a/>`), Type: "text/xml"}, `<a/>`, "text/xml"},
		{"text", Body{Kind: Text, Text: []byte("hello")}, "hello", "text/plain"},
	} {
		r := &Request{Method: "POST", Scheme: "http", Host: "a.example", Path: "/", Body: c.body}
		content, kind := r.Content()
		if string(content) != c.text || kind != c.kind {
			t.Errorf("%s: %q as %q", c.name, content, kind)
		}
		sent, err := r.HTTP(t.Context())
		if err != nil || sent.Header.Get("Content-Type") != c.kind {
			t.Errorf("%s: sent as %q, %v", c.name, sent.Header.Get("Content-Type"), err)
			continue
		}
		if sent.Body == nil {
			sent.Body = http.NoBody
		}
		if body, err := io.ReadAll(sent.Body); err != nil || string(body) != c.text {
			t.Errorf("%s: the body that is sent is %q, %v", c.name, body, err)
		}
	}
}

// TestHTTP adds what a request has beside its body.
func TestHTTP(t *testing.T) {
	r := request(t, "POST", "http://a.example/x")
	r.Body = Body{Kind: JSON, Text: []byte("{}")}
	r.Header = []Param{{Name: "host", Value: "other.example"}, {Name: "content-type", Value: "text/odd"},
		{Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}}
	r.Cookies = []Param{{Name: "a", Value: "1; b"}, {Name: "c d", Value: "é"}}
	r.Referer = "http://a.example/from"
	sent, err := r.HTTP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sent.Host != "other.example" || sent.URL.Host != "a.example" {
		t.Errorf("host %s at %s", sent.Host, sent.URL.Host)
	}
	for name, want := range map[string]string{"Content-Type": "text/odd", "Cookie": "a=1%3B%20b; c%20d=%C3%A9",
		"Referer": "http://a.example/from"} {
		if got := sent.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := sent.Header.Values("X-A"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("X-A is %q", got)
	}
}

// TestHeadersThatAreRefused names the header that net/http would not send.
func TestHeadersThatAreRefused(t *testing.T) {
	for name, value := range map[string]string{"X A": "1", "X:A": "1", "": "1", "X-Ä": "1", "X-A": "a\nb", "X-B": "a\x00",
		"X-C": "\x7f"} {
		r := request(t, "GET", "http://a.example/")
		r.Header = []Param{{Name: name, Value: value}}
		if _, err := r.HTTP(t.Context()); err == nil || name != "" && !strings.Contains(err.Error(), "header") {
			t.Errorf("%q: %q gave the error %v", name, value, err)
		}
	}
	r := request(t, "GET", "http://a.example/").SetHeader("X-Tab", "a\tb")
	if _, err := r.HTTP(t.Context()); err != nil {
		t.Errorf("a tab is refused: %v", err)
	}
}

// TestHeaderChanges leaves the request that a copy was made of as it was.
func TestHeaderChanges(t *testing.T) {
	r := request(t, "GET", "http://a.example/")
	r.Header = []Param{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "X-B", Value: "3"}}
	set, without := r.SetHeader("X-a", "9"), r.WithoutHeader("x-A")
	if set.HeaderValue("x-a") != "9" || len(set.Header) != 2 || without.HeaderValue("X-A") != "" ||
		len(without.Header) != 1 || r.HeaderValue("X-A") != "1" || len(r.Header) != 3 {
		t.Errorf("set %v, without %v, was %v", set.Header, without.Header, r.Header)
	}
}

// TestLooksLikeIdentifier tells values from names among the segments of paths.
func TestLooksLikeIdentifier(t *testing.T) {
	for segment, want := range map[string]bool{"42": true, "007": true, "": false, "users": false, "v2": false,
		"550e8400-e29b-41d4-a716-446655440000": true, "5f2b8c0e9d1a4b3c6d7e8f90": true, "deadbeef": false,
		"abcdefabcdefabcdef": false, "jane@example.org": true, "@jane": false, "12a": false,
		strings.Repeat("1", 201): false} {
		if got := LooksLikeIdentifier(segment); got != want {
			t.Errorf("%.60q: %t", segment, got)
		}
	}
}

// pointKeys writes the points of a request.
func pointKeys(points []Point) string {
	var out []string
	for _, p := range points {
		out = append(out, p.Key()+"="+p.Value)
	}
	return strings.Join(out, " ")
}

// TestPathPoints finds the values in a path, by the template where there is one.
func TestPathPoints(t *testing.T) {
	for _, c := range []struct{ path, template, want string }{
		{"/users/7/posts/9", "", "path:2=7 path:4=9"},
		{"/users/jane", "", ""},
		{"/users/jane", "/users/{name}", "path:name=jane"},
		{"/users/7", "/users/7", ""},
		{"/files/v1-x", "/files/v1-{id}", "path:id=x"},
		{"/files/x.json", "/files/{id}.json", ""},
		{"/a/b%2Fc", "/a/{x}", "path:x=b/c"},
		{"/users/7", "/other/{a}/{b}", "path:2=7"},
		{"/", "", ""},
	} {
		r := &Request{Method: "GET", Scheme: "http", Host: "a", Path: c.path, Template: c.template}
		if got := pointKeys(r.Points()); got != c.want {
			t.Errorf("%s as %s: %q, want %q", c.path, c.template, got, c.want)
		}
	}
}

// TestConstants leaves out values that make the operation what it is.
func TestConstants(t *testing.T) {
	r := request(t, "POST", "http://a.example/x?action=save&id=1")
	r.Body = Body{Kind: Form, Params: []Param{{Name: "step", Value: "2"}, {Name: "note", Value: "x"}}}
	r.Types = map[string]string{"query:action": Constant, "form:step": Constant, "form:note": "text"}
	if got := pointKeys(r.Points()); got != "query:id=1 form:note=x" {
		t.Errorf("points %q", got)
	}
	if got := r.Points()[1].Type; got != "text" {
		t.Errorf("the type of the note is %q", got)
	}
}

// TestNames returns names of parameters as points, of members of JSON one that clients choose.
func TestNames(t *testing.T) {
	r := request(t, "POST", "http://a.example/x?q=1")
	r.Cookies = []Param{{Name: "sid", Value: "1"}}
	r.Header = []Param{{Name: "X-A", Value: "1"}, {Name: "Authorization", Value: "x"}}
	r.Body = Body{Kind: JSON, Text: []byte(`{"a":1,"b":{"c":2,"d":3}}`)}
	r.Types = map[string]string{"json-name:/b/c": Free, "json-name:/b/d": Free}
	if got := pointKeys(r.Names()); got != "query-name:q=q cookie-name:sid=sid header-name:X-A=X-A json-name:/b/c=c" {
		t.Errorf("names %q", got)
	}
	for _, p := range r.Names() {
		if !p.Names() {
			t.Errorf("%s is no name", p.Key())
		}
		renamed := r.With(p, "new")
		content, _ := renamed.Content()
		all := renamed.Address() + CookieHeader(renamed.Cookies) + renamed.HeaderValue("new") + string(content)
		if !strings.Contains(all, "new") && renamed.HeaderValue("new") == "" {
			t.Errorf("%s was not renamed: %s", p.Key(), all)
		}
	}
	if string(r.With(r.Names()[3], `n"`).Body.Text) != `{"a":1,"b":{"n\"":2,"d":3}}` {
		t.Errorf("renamed to %s", r.With(r.Names()[3], `n"`).Body.Text)
	}
}

// TestMembers leaves out members that hold passwords, and items of lists, which have no names.
func TestMembers(t *testing.T) {
	r := &Request{Body: Body{Kind: JSON, Text: []byte(`{"user":"a","pass":"b","list":[1,{"x":2}],"kind":"k"}`)},
		Types: map[string]string{"json:/pass": "password", "json-name:/kind": Constant}}
	if got := pointKeys(r.Members()); got != "json-name:/user=user json-name:/list/1/x=x" {
		t.Errorf("members %q", got)
	}
	form := &Request{Body: Body{Kind: Form, Params: []Param{{Name: "a"}}}}
	if len(form.Members()) > 0 {
		t.Errorf("a form has members: %v", form.Members())
	}
}

// TestWithAddsParameters puts a value where the request has no parameter yet.
func TestWithAddsParameters(t *testing.T) {
	r := request(t, "POST", "http://a.example/x?bare")
	r.Body = Body{Kind: Multipart, Params: []Param{{Name: "f", Value: "text", File: "a.txt"}}}
	for _, c := range []struct {
		point Point
		shows func(*Request) string
		want  string
	}{
		{Point{In: InQuery, Name: "new", Index: -1}, (*Request).Address, "http://a.example/x?bare&new=v%27"},
		{Point{In: InQuery, Name: "bare"}, (*Request).Address, "http://a.example/x?bare=v%27"},
		{HeaderPoint("X-New"), func(r *Request) string { return r.HeaderValue("X-New") }, "v'"},
		{Point{In: InCookie, Name: "c", Index: -1}, func(r *Request) string { return CookieHeader(r.Cookies) }, "c=v'"},
		{Point{In: InFileName, Name: "f"}, func(r *Request) string { return r.Body.Params[0].File }, "v'"},
		{Point{In: InFileName, Name: "f", Index: 5}, func(r *Request) string { return r.Body.Params[0].File }, "a.txt"},
		{Point{In: InPath, Index: 3}, (*Request).Address, "http://a.example/x?bare"},
		{Point{In: InQueryName, Index: 0}, (*Request).Address, "http://a.example/x?v%27"},
	} {
		if got := c.shows(r.With(c.point, "v'")); got != c.want {
			t.Errorf("%s: %q, want %q", c.point.Key(), got, c.want)
		}
	}
	if r.Address() != "http://a.example/x?bare" || len(r.Header)+len(r.Cookies) > 0 {
		t.Errorf("the request itself became %s", r.Address())
	}
}

// TestWithJSON puts values of any type into JSON, and adds members that are not there.
func TestWithJSON(t *testing.T) {
	for _, c := range []struct{ text, pointer, value, want string }{
		{`{"a":1}`, "/a", `{"$ne":null}`, `{"a":{"$ne":null}}`},
		{`{"a":"x"}`, "/a", `["x"]`, `{"a":["x"]}`},
		{`[{"a":1}]`, "/0/a", "true", `[{"a":true}]`},
		{`{"a/b":1}`, "/a~1b", "2", `{"a/b":2}`},
		{`{"a":1}`, "/new", `"x"`, `{"a":1,"new":"x"}`},
		{`{"a":1}`, "/x~1y", `2`, `{"a":1,"x/y":2}`},
		{`{"a":[1]}`, "/a/new", "2", `{"a":[1]}`},
		{`{"a":1}`, "/b/c", "2", `{"a":1}`},
		{`{"a":`, "/b", "2", `{"a":`},
	} {
		r := &Request{Body: Body{Kind: JSON, Text: []byte(c.text)}}
		if got := string(r.WithJSON(Point{In: InJSON, Name: c.pointer, Index: -1}, c.value).Body.Text); got != c.want {
			t.Errorf("%s with %s at %s: %s, want %s", c.text, c.value, c.pointer, got, c.want)
		}
		if string(r.Body.Text) != c.text {
			t.Errorf("the request itself became %s", r.Body.Text)
		}
	}
}

// TestXMLPoints finds texts and attributes in XML, and leaves alone what is none.
func TestXMLPoints(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<a><b>1</b><b>2</b></a>`, "xml:a/b=1 xml:a/b=2"},
		{`<a x="1" y='2'/>`, "xml:a/@x=1 xml:a/@y=2"},
		{`<a xmlns="u" xmlns:p="v" p:x="1"><p:b>t</p:b></a>`, "xml:a/@p:x=1 xml:a/p:b=t"},
		{`<a>&lt;&amp;</a>`, "xml:a=<&"},
		{`<a><![CDATA[<x>]]></a>`, "xml:a=<x>"},
		{`<?xml version="1.0"?><!-- c --><a>1</a>`, "xml:a=1"},
		{`<a></a>`, "xml:a="},
		{`<a>text<b>1</b>more</a>`, "xml:a/b=1"},
		{`<a><b></a`, ""},
		{`text`, ""},
	} {
		r := &Request{Method: "POST", Path: "/", Body: Body{Kind: XML, Text: []byte(c.text)}}
		if got := pointKeys(r.Points()); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestTooManyPoints says when values of a request are left out.
func TestTooManyPoints(t *testing.T) {
	list := func(n int) []byte { return []byte("[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]") }
	for _, c := range []struct {
		name string
		r    *Request
		many bool
		n    int
	}{
		{"a short list", &Request{Path: "/", Body: Body{Kind: JSON, Text: list(499)}}, false, 499},
		{"a long list", &Request{Path: "/", Body: Body{Kind: JSON, Text: list(800)}}, true, maxValues},
		{"a long query", &Request{Path: "/", Query: make([]Param, 501)}, true, maxValues},
		{"a long document", &Request{Path: "/", Body: Body{Kind: XML,
			Text: []byte("<a>" + strings.Repeat("<b>1</b>", 600) + "</a>")}}, true, maxValues},
		{"a long form", &Request{Path: "/", Body: Body{Kind: Form, Params: make([]Param, 600)}}, true, maxValues},
	} {
		if got := c.r.HasTooManyPoints(); got != c.many || len(c.r.Points()) != c.n {
			t.Errorf("%s: %t, %d points", c.name, got, len(c.r.Points()))
		}
	}
}

// TestDeepJSON ends at a depth that no document of an application has.
func TestDeepJSON(t *testing.T) {
	r := &Request{Path: "/", Body: Body{Kind: JSON, Text: []byte(strings.Repeat("[", 5000) + "1" + strings.Repeat("]", 5000))}}
	if points := r.Points(); len(points) != 0 {
		t.Errorf("points %s", pointKeys(points))
	}
}

// TestLocation names the address that a redirect leads to.
func TestLocation(t *testing.T) {
	for _, c := range []struct {
		status         int
		location, want string
	}{
		{302, "/b", "http://a.example/b"}, {301, "c?x=1", "http://a.example/dir/c?x=1"},
		{307, "https://other.example/", "https://other.example/"}, {303, "//cdn.example/x", "http://cdn.example/x"},
		{302, "", ""}, {200, "/b", ""}, {404, "/b", ""}, {302, "http://%zz/", ""}, {308, "?q", "http://a.example/dir/p?q"},
	} {
		resp := &Response{Request: request(t, "GET", "http://a.example/dir/p"), Status: c.status, Header: http.Header{}}
		if c.location != "" {
			resp.Header.Set("Location", c.location)
		}
		got := ""
		if to := resp.Location(); to != nil {
			got = to.String()
		}
		if got != c.want {
			t.Errorf("%d to %q: %q, want %q", c.status, c.location, got, c.want)
		}
	}
}

// TestTrailingSlash follows redirects that only add or take away a slash.
func TestTrailingSlash(t *testing.T) {
	for _, c := range []struct{ path, template, location, want, wantTemplate string }{
		{"/a", "", "/a/", "/a/", ""},
		{"/a/", "", "/a", "/a", ""},
		{"/a/7", "/a/{id}", "/a/7/", "/a/7/", "/a/{id}/"},
		{"/a", "", "/b/", "", ""},
		{"/a", "", "http://other.example/a/", "", ""},
		{"/a", "", "https://a.example/a/", "", ""},
		{"/a", "", "/a", "", ""},
	} {
		r := request(t, "POST", "http://a.example"+c.path)
		r.Template = c.template
		resp := &Response{Request: r, Status: 301, Header: http.Header{"Location": {c.location}}}
		there := resp.WithTrailingSlash()
		switch {
		case c.want == "" && there != nil:
			t.Errorf("%s to %s: %s", c.path, c.location, there.Path)
		case c.want != "" && (there == nil || there.Path != c.want || there.Template != c.wantTemplate ||
			there.Method != "POST"):
			t.Errorf("%s to %s: %+v", c.path, c.location, there)
		}
	}
}

// TestMediaTypes says what a browser makes of an answer.
func TestMediaTypes(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		html, data bool
	}{
		{"text/html; charset=utf-8", "", true, false}, {"application/xhtml+xml", "", true, false},
		{"TEXT/HTML", "", true, false}, {"application/json", "", false, true},
		{"application/problem+json", "", false, true}, {"text/xml", "", false, true},
		{"application/atom+xml", "", false, true}, {"text/plain", "<html>", false, false},
		{"", "<html><body>x", true, false}, {"", `{"a":1}`, false, false}, {"image/svg+xml", "", false, false},
		{"text/html;;;", "", true, false},
	} {
		resp := &Response{Header: http.Header{}, Body: []byte(c.body)}
		if c.kind != "" {
			resp.Header.Set("Content-Type", c.kind)
		}
		if resp.IsHTML() != c.html || resp.IsData() != c.data {
			t.Errorf("%q with %q: HTML %t, data %t", c.kind, c.body, resp.IsHTML(), resp.IsData())
		}
	}
}

// TestDownload tells files that a browser saves from pages that it shows.
func TestDownload(t *testing.T) {
	for disposition, want := range map[string]bool{"": false, "inline": false, "INLINE; filename=x": false,
		"attachment": true, `attachment; filename="x.html"`: true, "  attachment": true, "unknown": true} {
		resp := &Response{Header: http.Header{"Content-Disposition": {disposition}}}
		if resp.IsDownload() != want {
			t.Errorf("%q: %t", disposition, resp.IsDownload())
		}
	}
}

// TestText decodes bodies as their type or their beginning says.
func TestText(t *testing.T) {
	for _, c := range []struct{ kind, body, want string }{
		{"text/html; charset=utf-8", "é", "é"},
		{"text/html; charset=iso-8859-15", "\xa4", "€"},
		{"text/html; charset=utf-16le", "h\x00i\x00", "hi"},
		{"text/html", "<meta charset=windows-1251>\xcf", "<meta charset=windows-1251>П"},
		{"text/plain; charset=utf-8", "a\xffb", "a\uFFFDb"},
		{"", "plain", "plain"},
	} {
		resp := &Response{Header: http.Header{"Content-Type": {c.kind}}, Body: []byte(c.body)}
		if got := resp.Text(); got != c.want {
			t.Errorf("%q: %q, want %q", c.kind, got, c.want)
		}
	}
}

// TestParseError says why a page that is nested too deep has no document.
func TestParseError(t *testing.T) {
	deep := &Response{Header: http.Header{}, Body: []byte(strings.Repeat("<div>", 2000) + "x")}
	if deep.ParseError() == nil || deep.Document() == nil || deep.Document().FirstChild != nil {
		t.Errorf("error %v, document %v", deep.ParseError(), deep.Document())
	}
	again := &Response{Header: http.Header{}, Body: deep.Body}
	if !again.ShareBody(deep) || again.ParseError() == nil {
		t.Error("an answer that shares the body has no error")
	}
	flat := &Response{Header: http.Header{}, Body: []byte("<p>x")}
	if flat.ParseError() != nil || flat.Document().FirstChild == nil {
		t.Errorf("error %v", flat.ParseError())
	}
}

// TestDecodeJSON keeps the digits of numbers, and reads the value that a text begins with.
func TestDecodeJSON(t *testing.T) {
	object, ok := DecodeJSON([]byte(`{"id": 12345678901234567890, "b": 1.50} tail`)).(map[string]any)
	if !ok || object["id"].(interface{ String() string }).String() != "12345678901234567890" ||
		object["b"].(interface{ String() string }).String() != "1.50" {
		t.Errorf("object %v", object)
	}
	for _, text := range []string{"", "null", "{", "<a>"} {
		if got := DecodeJSON([]byte(text)); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestExchange shows an answer with its status line, and cuts a long one.
func TestExchange(t *testing.T) {
	resp := &Response{Status: 404, Proto: "HTTP/2.0", Header: http.Header{"X-A": {"1"}}, Body: []byte("gone"),
		Took: time.Second, Sent: "GET / HTTP/1.1\r\n\r\n"}
	e := resp.Exchange("a note")
	if e.Response != "HTTP/2.0 404 Not Found\r\nX-A: 1\r\n\r\ngone" || e.Note != "a note" || e.Duration != time.Second ||
		e.Request != resp.Sent {
		t.Errorf("exchange %+v", e)
	}
	resp = &Response{Status: 404, Header: http.Header{}, Body: []byte(strings.Repeat("é", maxEvidence))}
	e = resp.Exchange("")
	if len(e.Response) > maxEvidence+len(isCut) || !strings.HasSuffix(e.Response, "é"+isCut) {
		t.Errorf("%d bytes, the end is %q", len(e.Response), e.Response[len(e.Response)-20:])
	}
	if !strings.HasPrefix(resp.Head(), "HTTP/1.1 404 Not Found\r\n") {
		t.Errorf("head %q", resp.Head())
	}
}

// TestHiddenHeaders leaves of credentials what says which one was sent.
func TestHiddenHeaders(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"Authorization", "Bearer s3cret", "Bearer [redacted]"},
		{"Authorization", "s3cret", "[redacted]"},
		{"Proxy-Authorization", "Basic s3cret", "[redacted]"},
		{"Cookie", "a=s3cret; b=s3cret; c", "a=[redacted]; b=[redacted]; c=[redacted]"},
		{"Set-Cookie", "a=s3cret; Path=/; Secure", "a=[redacted]; Path=/; Secure"},
		{"Set-Cookie", "a=s3cret", "a=[redacted]"},
		{"X-Api-Key", "s3cret", "[redacted]"},
		{"X-Other", "plain", "plain"},
	} {
		h := http.Header{c.name: {c.value}}
		if got := hideSecrets(h).Get(c.name); got != c.want {
			t.Errorf("%s: %s became %q, want %q", c.name, c.value, got, c.want)
		}
		if h.Get(c.name) != c.value {
			t.Errorf("the header itself became %s", h.Get(c.name))
		}
	}
}

// TestCurl writes commands that a POSIX shell reads as the request.
func TestCurl(t *testing.T) {
	post := request(t, "POST", "http://a.example/x?q=it's")
	post.Body = Body{Kind: JSON, Text: []byte(`{"a":"it's"}`)}
	post.Header = []Param{{Name: "X-A", Value: "1 2"}, {Name: "X-Api-Key", Value: "s3cret"}}
	lines := request(t, "PUT", "http://a.example/x")
	lines.Body = Body{Kind: Text, Text: []byte("a\nb'\\")}
	for _, c := range []struct {
		r    *Request
		want string
	}{
		{request(t, "GET", "http://a.example/x"), "curl -i --path-as-is http://a.example/x"},
		{post, `curl -i -X POST -H 'X-A: 1 2' -H 'X-Api-Key: [redacted]' -H 'Content-Type: application/json' ` +
			`--data-binary '{"a":"it'\''s"}' --path-as-is 'http://a.example/x?q=it%27s'`},
		{lines, `curl -i -X PUT -H 'Content-Type: text/plain' --data-binary $'a\nb\'\\' --path-as-is http://a.example/x`},
	} {
		if got := c.r.Curl(""); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestURLKeepsEscapes keeps slashes that stand within a segment.
func TestURLKeepsEscapes(t *testing.T) {
	r := &Request{Scheme: "http", Host: "a.example", Path: "/a%2Fb/c%20d", Query: []Param{{Name: "q", Value: "1"}}}
	if got := r.URL(); got.String() != "http://a.example/a%2Fb/c%20d?q=1" || got.Path != "/a/b/c d" {
		t.Errorf("URL %s, path %q", got, got.Path)
	}
	again, err := FromURL(r.URL())
	if err != nil || again.Address() != r.Address() {
		t.Errorf("read again as %v, %v", again, err)
	}
	if _, err := FromURL(&url.URL{Path: "/x"}); err == nil {
		t.Error("an address without a host is read")
	}
}

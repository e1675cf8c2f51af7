package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/sitemap"
)

// A form without a button, and the script that sends it.
const scriptedForm = `<!DOCTYPE html><script src="/send.js"></script><form action="%s" method=post><input name=note><input name=code value="k-7">
	<input type=button value=go></form>`

// serveScripted serves a form at /form whose script sends by the code, to an operation
// that answers by the function.
func serveScripted(t *testing.T, code string, answer func(*http.Request) string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprintf(w, scriptedForm, "/operation")
		case "/send.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprint(w, code)
		case "/operation":
			_, _ = fmt.Fprint(w, answer(r))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func parametersOf(s *sitemap.Map, method, path string) [][]string {
	var out [][]string
	for _, e := range s.Entries() {
		if e.Request.Method == method && e.Request.Path == path {
			out = append(out, e.Seen.Parameters)
		}
	}
	return out
}

func TestFormsAreSentAsScriptMight(t *testing.T) {
	const inHeader = `function send(id) { var x = new XMLHttpRequest(); x.open("POST", action(id)); x.setRequestHeader(id, value(id)); x.send(data(id)) }`
	const inName = `function send(id) { $("<input type=hidden>").attr("name", value(id)).val(id).appendTo("form") }`
	const passedOn = `function send(h) { for (var n in h) x.setRequestHeader(n, h[n]); x.setRequestHeader("Content-Type", "text/plain") }`
	inside := func(r *http.Request, name string) string { // names a field whose value says so
		_ = r.ParseForm()
		for k, v := range r.PostForm {
			if slices.Contains(v, name) {
				return k
			}
		}
		return ""
	}
	plain := []string{"form:note", "form:code"}
	for _, c := range []struct {
		name, code string
		answer     func(*http.Request) string
		want       [][]string
	}{
		{"read from a header", inHeader, func(r *http.Request) string { return "for " + r.Header.Get("Code") },
			[][]string{{"form:note", "form:code", "header:code"}}},
		{"read from a header, seen only when it breaks", inHeader, func(r *http.Request) string {
			if strings.Contains(r.Header.Get("Code"), "'") {
				return "syntax error"
			}
			return "done"
		}, [][]string{{"form:note", "form:code", "header:code"}}},
		{"no header is read", inHeader, func(r *http.Request) string { return "done " + r.PostFormValue("code") },
			[][]string{plain}},
		{"read from a name", inName, func(r *http.Request) string { return "for " + inside(r, "code") },
			[][]string{plain, {"form:k-7"}}},
		{"no name is read", inName, func(r *http.Request) string { return "done " + r.PostFormValue("code") },
			[][]string{plain}},
		{"a library passes headers on", passedOn, func(r *http.Request) string { return "for " + r.Header.Get("Code") },
			[][]string{plain}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := serveScripted(t, c.code, c.answer)
			surface, _, _ := run(t, server.URL, crawl.Options{Submit: true})
			if got := parametersOf(surface, "POST", "/operation"); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("operations take %v, want %v", got, c.want)
			}
		})
	}
}

func TestHeadersOfScript(t *testing.T) {
	server := serveScripted(t, `fetch("/operation?a=1", {headers: {"X-Tenant": tenant, Accept: "text/html"}});
		var x = new XMLHttpRequest(); x.open("GET", "/operation?b=1"); x.setRequestHeader("Client-Version", v); x.setRequestHeader("X-CSRF-Token", t)`,
		func(*http.Request) string { return "done" })
	surface, _, _ := run(t, server.URL, crawl.Options{})
	want := [][]string{{"query:a", "header:X-Tenant"}, {"query:b", "header:Client-Version"}}
	got := parametersOf(surface, "GET", "/operation")
	slices.SortFunc(got, slices.Compare)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("operations take %v, want %v", got, want)
	}
}

func TestCookiesOfTheApplicationAreParameters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			for _, set := range []string{"PHPSESSID=8c1f9e0d", "csrf=1", "visit=k3J9x0Qw81LmZ7Rt5Yp2",
				"view=eyJzb3J0IjoibmFtZSIsIm4iOjEwfQ%3D%3D; Path=/shop", "gone=; Max-Age=0"} {
				w.Header().Add("Set-Cookie", set)
			}
			_, _ = fmt.Fprint(w, `<a href=/shop/list>shop</a><a href=/about?x=1>about</a>`)
		case "/shop/list":
			w.Header().Add("Set-Cookie", "sort=by%20name%2C%2010%20a%20page; Path=/shop; Secure; HttpOnly")
			_, _ = fmt.Fprint(w, `<form method=post action=/shop/order><input name=n></form>`)
		default:
			_, _ = fmt.Fprint(w, "done")
		}
	}))
	t.Cleanup(server.Close)
	surface, _, _ := run(t, server.URL, crawl.Options{Submit: true})
	var got []string
	for _, e := range surface.Entries() {
		for _, c := range e.Request.Cookies {
			got = append(got, e.Request.Method+" "+e.Request.Path+" "+c.Name+"="+c.Value)
		}
	}
	slices.Sort(got)
	view := " view=eyJzb3J0IjoibmFtZSIsIm4iOjEwfQ==" // it was not drawn: {"sort":"name","n":10}
	want := []string{"GET /shop/list sort=by name, 10 a page", "GET /shop/list" + view, "POST /shop/order sort=by " +
		"name, 10 a page", "POST /shop/order" + view}
	if !slices.Equal(got, want) {
		t.Errorf("cookies are parameters of %q, want %q", got, want)
	}
}

func TestTooManyCookiesAreAReason(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 101 {
			w.Header().Add("Set-Cookie", fmt.Sprintf("option%d=on", i))
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<a href=/about>about</a>")
	}))
	t.Cleanup(server.Close)
	surface, _, reasons := run(t, server.URL, crawl.Options{})
	for _, e := range surface.Entries() {
		if len(e.Request.Cookies) != 100 {
			t.Errorf("%s takes %d cookies", e.Request.Address(), len(e.Request.Cookies))
		}
	}
	if len(reasons) != 1 || reasons[0].Code != "too-many-parameters" ||
		!strings.Contains(reasons[0].Message, "the first 100 were attacked") {
		t.Errorf("reasons: %v", reasons)
	}
}

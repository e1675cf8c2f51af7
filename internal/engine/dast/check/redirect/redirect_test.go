package redirect

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, text, html.EscapeString(r.FormValue("to")))
		})
	}
	location := func(path string, ok func(string) bool) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			to := r.FormValue("to")
			if !ok(to) {
				to = "/home"
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	location("/bad/location", func(string) bool { return true })
	location("/bad/slash", func(s string) bool { return strings.HasPrefix(s, "/") })
	location("/bad/prefix", func(s string) bool { return strings.HasPrefix(s, "http://127.0.0.1") })
	location("/bad/dots", func(s string) bool { return !strings.Contains(s, ".") })
	location("/bad/dots/slashes", func(s string) bool { return !strings.ContainsAny(s, "./\\") })
	location("/good/ascii", func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r == '.' || r > unicode.MaxASCII })
	})
	for path, scheme := range map[string]string{"/bad/scheme": "http://", "/bad/secure": "https://"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", scheme+r.FormValue("to"))
			w.WriteHeader(http.StatusFound)
		})
	}
	mux.HandleFunc("/bad/noslash",
		func(w http.ResponseWriter, r *http.Request) { // the scheme is there, and no other one is let through
			to := "home.example"
			if v := r.FormValue("to"); !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, `\`) {
				to = v
			}
			w.Header().Set("Location", "http://"+to)
			w.WriteHeader(http.StatusFound)
		})
	mux.HandleFunc("/good/fixed", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://home.example/"+r.FormValue("to"))
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/good/below", func(w http.ResponseWriter, r *http.Request) { // the value is a path behind the host
		w.Header().Set("Location", "http:////home.example//"+r.FormValue("to"))
		w.WriteHeader(http.StatusFound)
	})
	location("/good/path", func(s string) bool {
		return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") && !strings.HasPrefix(s, "/\\")
	})
	page("/bad/meta", `<meta http-equiv="refresh" content="0; url=%s">`)
	page("/bad/script", `<script>var x = 1; window.location.href = "%s";</script>`)
	page("/bad/ready", `<script>window.onload = function () { location.replace("%s") }</script>`)
	page("/good/link", `<a href="%s">go on</a>`)
	page("/good/text", `<script>var last = "%s"; function go() { location = "/home" }</script>`)
	page("/good/function", `<script>function leave() { location.href = "%s"; }</script><button onclick="leave()">leave</button>`)
	page("/good/own", `<script>location.href = "/warn?to=" + encodeURIComponent("%s");</script>`)
	mux.HandleFunc("/good/query", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/sign-in?back="+r.FormValue("to"), http.StatusFound)
	})
	mux.HandleFunc("/good/random", func(w http.ResponseWriter, _ *http.Request) {
		http.Redirect(w, &http.Request{}, "https://fixed.example/", http.StatusFound)
	})
	var operations, want []string
	for _, path := range []string{"/bad/location", "/bad/slash", "/bad/prefix", "/bad/meta", "/bad/script",
		"/bad/ready", "/bad/scheme", "/bad/secure", "/bad/noslash", "/bad/dots", "/bad/dots/slashes", "/good/ascii",
		"/good/fixed", "/good/below",
		"/good/path", "/good/link", "/good/text", "/good/function", "/good/own", "/good/query", "/good/random"} {
		operations = append(operations, "GET "+path+"?to=%2Fhome")
		if strings.HasPrefix(path, "/bad/") {
			want = append(want, "dast/redirect/open-redirect GET "+path+" query:to")
		}
	}
	location("POST /bad/form", func(string) bool { return true })
	// the first is what the link has shown
	operations = append(operations, "POST /bad/location to=/x", "POST /bad/form to=/x")
	want = append(want, "dast/redirect/open-redirect POST /bad/form form:to")
	// the link first
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, func(r *activescan.Engine) {
		r.Parallel = 1
	})
	activescantest.Expect(t, got, want...)
	if got.Requests > 6*len(operations)+20 {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

package jndi

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

var expression = regexp.MustCompile(`\$\{jndi:ldap://([^}]+)\}`)

func TestCheck(t *testing.T) {
	fetch := activescantest.Fetch(t)
	// log writes a line as an old log does; the lookup is one of HTTP here.
	log := func(line string) {
		for _, m := range expression.FindAllStringSubmatch(line, -1) {
			fetch("http://" + m[1])
		}
	}
	mux := http.NewServeMux()
	page := func(path string, f func(r *http.Request)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { f(r); fmt.Fprint(w, "<p>hello</p>") })
	}
	page("/bad/parameter", func(r *http.Request) { log("searched for " + r.FormValue("q")) })
	page("/agent/page", func(r *http.Request) { log(r.UserAgent()) })
	page("/good/none", func(*http.Request) {})
	page("/good/echo", func(r *http.Request) { _ = r.FormValue("q") })
	operations := []string{"GET /bad/parameter?q=a&n=1", "GET /agent/page", "POST /good/none q=a", "GET /good/echo?q=a"}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, activescantest.Listening(t))
	activescantest.Expect(t, got, "dast/jndi/lookup GET /bad/parameter query:q", "dast/jndi/lookup GET /agent/page "+
		"header:User-Agent")
	if got.Requests > 6*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
	if got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations); len(got.Findings) > 0 ||
		got.Requests != len(operations) {
		t.Errorf("nobody listens: %+v", got)
	}
}

// TestOtherPlatforms are asked for nothing.
func TestOtherPlatforms(t *testing.T) {
	asked := 0
	got := activescantest.Attack(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Powered-By", "PHP/8.2")
		if expression.MatchString(r.URL.Query().Get("q") + r.UserAgent()) {
			asked++
		}
		fmt.Fprint(w, "hello")
	}), []*activescan.Rule{Rule}, []string{"GET /?q=a"}, activescantest.Listening(t))
	if asked != 0 || len(got.Findings) != 0 {
		t.Errorf("asked %d times: %+v", asked, got.Findings)
	}
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct {
		b    activescan.OASTPayload
		want string
	}{
		{activescan.OASTPayload{URL: "http://192.0.2.1:80/t"}, "192.0.2.1:80/t"},
		{activescan.OASTPayload{URL: "http://192.0.2.1:81/t", Host: "t.example"}, "t.example:81/t"},
		{activescan.OASTPayload{URL: "https://calls.example/x/t", Host: "t.example"}, "t.example/x/t"},
		{activescan.OASTPayload{URL: "http://[::1]:81/t"}, "[::1]:81/t"},
		{activescan.OASTPayload{URL: "http://[::1]/t", Host: "t.example"}, "t.example/t"},
	} {
		if got := (tt.b).HostAndPath(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.b, got, tt.want)
		}
	}
}

package session

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// Of the cookies of a target that sets two thousand, a request takes as many as a browser
// would, the oldest ones, beside its own.
func TestCookiesWithoutEnd(t *testing.T) {
	scope, err := sitemap.NewScope(&scan.Target{URL: "http://shop.example/"})
	if err != nil {
		t.Fatal(err)
	}
	cookies := "sid=1"
	for i := range 2000 {
		cookies += fmt.Sprintf("; c%d=%d", i, i)
	}
	s, err := New(scan.Identity{Name: "jane", Cookie: cookies}, Options{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", "own=x; c7=attacked")
	s.add(req)
	got := req.Header.Get("Cookie")
	if !strings.HasPrefix(got, "own=x; c7=attacked; sid=1; ") || strings.Contains(got, "c7=7") ||
		len(req.Cookies()) != maxCookies+1 {
		t.Errorf("%d cookies: %.100s", len(req.Cookies()), got)
	}
}

// Names of cookies that are new with each answer are not kept without end; those that are
// known get their new values.
func TestCookieNames(t *testing.T) {
	scope, err := sitemap.NewScope(&scan.Target{URL: "http://shop.example/"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(scan.Identity{Name: "jane", Cookie: "own=1"}, Options{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	request, err := message.Parse("http://shop.example/")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		header := http.Header{"Set-Cookie": {fmt.Sprint("sid=", round)}}
		for i := range maxNames {
			header.Add("Set-Cookie", fmt.Sprintf("c%d_%d=1", round, i))
		}
		s.Seen(&message.Response{Request: request, Status: http.StatusOK, Header: header})
	}
	kept := map[string]string{}
	for _, c := range s.jar.Cookies(scope.Base()) {
		kept[c.Name] = c.Value
	}
	if len(kept) != maxNames+1 || kept["sid"] != "2" || kept["own"] != "1" { // its own is none of the target's
		t.Errorf("%d cookies are kept, sid is %q", len(kept), kept["sid"])
	}
}

// A cookie that repeats what a request has sent is kept as it was: it may be an attack. What
// the target sets by itself is taken.
func TestCookiesThatRepeat(t *testing.T) {
	s, client, address := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if level := r.FormValue("level"); level != "" {
			http.SetCookie(w, &http.Cookie{Name: "level", Value: url.QueryEscape(level), Path: "/"})
		}
		if r.FormValue("new") != "" {
			http.SetCookie(w, &http.Cookie{Name: "level", Value: "given", Path: "/"})
		}
	}), scan.Identity{})
	if err := s.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ query, want string }{{"level=low", "low"}, {"level=%27%22<b>", "low"},
		{"new=1", "given"}, {"level=low", "given"}} {
		r, err := message.Parse(address + "/?" + step.query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Send(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
		if got := s.jar.Cookies(r.URL()); len(got) != 1 || got[0].Value != step.want {
			t.Errorf("after %s: %v", step.query, got)
		}
	}
}

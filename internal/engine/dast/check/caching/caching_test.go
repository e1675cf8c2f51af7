package caching

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
)

// user is a session that is a cookie.
type user struct{}

func (user) Prepare(_ context.Context, req *http.Request) error {
	req.Header.Set("Cookie", "sid=1")
	return nil
}
func (user) Seen(*message.Response) {}
func (user) Name() string           { return "jane" }

// shop trusts a header of proxies, and shows an account with anything behind its path.
func shop(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	if strings.HasPrefix(r.URL.Path, "/account") {
		if c, err := r.Cookie("sid"); err == nil && c.Value == "1" {
			fmt.Fprint(w, "<p>Jane Doe owes 12 crowns and lives in the street of the bakers</p>")
			return
		}
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	}
	fmt.Fprintf(w, `<script src="//%s/a.js"></script>`, r.Header.Get("X-Forwarded-Host"))
}

// cached keeps answers by what key says of a request; empty: they are not kept.
func cached(h http.HandlerFunc, key func(*http.Request) string) http.HandlerFunc {
	var mu sync.Mutex
	kept := map[string]*httptest.ResponseRecorder{}
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		k := key(r)
		a := kept[k]
		if a == nil {
			a = httptest.NewRecorder()
			h(a, r)
			if k != "" {
				kept[k] = a
			}
		}
		for name, values := range a.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("X-Cache", "MISS")
		w.WriteHeader(a.Code)
		_, _ = w.Write(a.Body.Bytes())
	}
}

func TestCaching(t *testing.T) {
	whole := func(r *http.Request) string {
		if r.URL.Path == "/account" {
			return ""
		}
		return r.URL.String()
	}
	careful := func(r *http.Request) string {
		if strings.HasPrefix(r.URL.Path, "/account") {
			return ""
		}
		return r.URL.String() + " " + r.Header.Get("X-Forwarded-Host")
	}
	as := func(r *activescan.Engine) { r.As = user{} }
	operations := []string{"GET /", "GET /account"}
	got := activescantest.Attack(t, cached(shop, whole), []*activescan.Rule{Rule}, operations, as)
	var lines []string
	for _, f := range got.Findings {
		lines = append(lines, f.RuleID)
	}
	if len(lines) != 2 || lines[0] != "dast/caching/deception" || lines[1] != "dast/caching/poisoning" {
		t.Errorf("found %v, reasons %v", lines, got.Reasons)
	}
	activescantest.Expect(t, activescantest.Attack(t, cached(shop, careful), []*activescan.Rule{Rule}, operations,
		as))
	quiet := activescantest.Attack(t, http.HandlerFunc(shop), []*activescan.Rule{Rule}, operations, as)
	activescantest.Expect(t, quiet)
	if quiet.Requests > 2 { // nothing tells of a cache
		t.Errorf("%d requests", quiet.Requests)
	}
}

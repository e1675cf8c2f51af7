package session

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/site"
	"merlon/internal/scan"
)

// Of the cookies of a target that sets two thousand, a request takes as many as a browser
// would, the oldest ones, beside its own.
func TestCookiesWithoutEnd(t *testing.T) {
	scope, err := site.NewScope(&scan.Target{URL: "http://shop.example/"})
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
	if !strings.HasPrefix(got, "own=x; c7=attacked; sid=1; ") || strings.Contains(got, "c7=7") || len(req.Cookies()) != maxCookies+1 {
		t.Errorf("%d cookies: %.100s", len(req.Cookies()), got)
	}
}

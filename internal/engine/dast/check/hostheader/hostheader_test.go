package hostheader

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

func TestHostHeader(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path string, f func(r *http.Request) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, f(r))
		})
	}
	page("/forgot", func(r *http.Request) string {
		return `<form action="http://` + html.EscapeString(cmp.Or(r.Header.Get("X-Forwarded-Host"), r.Host)) +
			`/reset">`
	})
	page("/reset-text", func(r *http.Request) string {
		return "<p>You asked for http://" + html.EscapeString(r.Host) + "/</p>"
	})
	page("/register", func(*http.Request) string { return `<a href="https://shop.example/">shop</a>` })
	mux.HandleFunc("/password", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/login", http.StatusFound)
	})
	page("/news", func(r *http.Request) string { return `<a href="http://` + r.Host + `/">` })
	for path, want := range map[string][]string{
		"/forgot": {"dast/hostheader/links GET / header:X-Forwarded-Host"}, "/reset-text": nil, "/register": nil,
		"/password": {"dast/hostheader/links GET / header:Host"}, "/news": nil,
	} {
		activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{"GET " + path}),
			want...)
	}
}

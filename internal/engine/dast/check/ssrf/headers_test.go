package ssrf

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

func TestHeaders(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	var operations []string
	page := func(path string, f func(r *http.Request)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { f(r); fmt.Fprint(w, "Thank you.") })
		operations = append(operations, "GET "+path)
	}
	page("/referer/bad", func(r *http.Request) { fetch(r.Referer()) })
	page("/host/bad", func(r *http.Request) {
		if host := r.Header.Get("X-Forwarded-Host"); host != "" {
			fetch("http://" + host + "/feed")
		}
	})
	page("/original/bad", func(r *http.Request) {
		if at := r.Header.Get("X-Original-Url"); strings.HasPrefix(at, "http") {
			fetch(at)
		}
	})
	page("/log/good", func(r *http.Request) { t.Log(r.Referer(), r.Header.Get("X-Forwarded-For")) })
	checks := []*activescan.Rule{Headers}
	want := []string{"dast/ssrf/request GET /referer/bad header:Referer", "dast/ssrf/request GET /host/bad " +
		"header:X-Forwarded-Host", "dast/ssrf/request GET /original/bad header:X-Original-Url"}
	activescantest.Expect(t, activescantest.Attack(t, mux, checks, operations, activescantest.Listening(t)), want...)
	activescantest.Expect(t, activescantest.Attack(t, mux, checks, operations, activescantest.Listening(t),
		activescantest.Profile(scan.Safe)))
	proxy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer)
		if ok && r.Host != local.String() {
			fmt.Fprint(w, fetch("http://"+r.Host+r.URL.Path))
			return
		}
		mux.ServeHTTP(w, r)
	})
	activescantest.Expect(t, activescantest.Attack(t, proxy, checks, operations[3:], activescantest.Listening(t)),
		"dast/ssrf/request GET / header:Host")
}

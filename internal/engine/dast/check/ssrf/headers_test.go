package ssrf

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/attack/attacktest"
	"merlon/internal/scan"
)

func TestHeaders(t *testing.T) {
	fetch := attacktest.Fetch(t)
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
	checks := []*attack.Check{Headers}
	want := []string{"dast/ssrf/request GET /referer/bad header:Referer", "dast/ssrf/request GET /host/bad " +
		"header:X-Forwarded-Host", "dast/ssrf/request GET /original/bad header:X-Original-Url"}
	attacktest.Expect(t, attacktest.Attack(t, mux, checks, operations, attacktest.Listening(t)), want...)
	attacktest.Expect(t, attacktest.Attack(t, mux, checks, operations, attacktest.Listening(t),
		attacktest.Profile(scan.Safe)))
	proxy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer)
		if ok && r.Host != local.String() {
			fmt.Fprint(w, fetch("http://"+r.Host+r.URL.Path))
			return
		}
		mux.ServeHTTP(w, r)
	})
	attacktest.Expect(t, attacktest.Attack(t, proxy, checks, operations[3:], attacktest.Listening(t)),
		"dast/ssrf/request GET / header:Host")
}

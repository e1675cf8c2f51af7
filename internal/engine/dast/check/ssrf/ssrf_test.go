package ssrf

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/attack/attacktest"
	"merlon/internal/scan"
)

const home = "<html><title>The shop of the test</title>\n<h1>Welcome to the shop of the test, dear visitor</h1>\n<p>Nothing of this stands on another page.</p></html>"

// A listener is asked by the application of the test, which has no network.
type listener struct{ asked []string }

func (l *listener) Address(token string) (url, host string) {
	return "http://listener.example/" + token, ""
}

func (l *listener) Calls(token string) []scan.Call {
	for _, a := range l.asked {
		if strings.HasSuffix(a, token) {
			return []scan.Call{{Protocol: "http", From: "192.0.2.1"}}
		}
	}
	return nil
}

func TestCheck(t *testing.T) {
	l := &listener{}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, home) })
	get := func(address string) string {
		if strings.HasPrefix(address, "http://listener.example/") {
			l.asked = append(l.asked, address)
			return ""
		}
		if !strings.HasPrefix(address, "http://127.0.0.1:") {
			return "no such host"
		}
		resp, err := http.Get(address) //nolint:gosec,noctx // the flaw of the test
		if err != nil {
			return "error"
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return "error"
		}
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	var operations []string
	page := func(path string, f func(v string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, f(r.FormValue("url"))) })
		operations = append(operations, "GET "+path+"?url=http%3A%2F%2Fsite.example%2F")
	}
	page("/bad/shown", get)
	page("/bad/encoded", func(v string) string { return "<pre>" + html.EscapeString(get(v)) + "</pre>" })
	page("/bad/silent", func(v string) string { get(v); return "thank you" })
	page("/good/echo", func(v string) string { return html.EscapeString(v) })
	page("/good/home", func(string) string { return home })
	page("/good/own", func(v string) string { // shows its own page for anything
		if v != "http://site.example/" {
			return home
		}
		return "hello"
	})
	page("/good/list", func(v string) string { return fmt.Sprint(v == "http://site.example/") })
	attacktest.Expect(t, attacktest.Attack(t, mux, []*attack.Check{Check}, operations), "dast/ssrf/request GET /bad/shown query:url", "dast/ssrf/request GET /bad/encoded query:url")
	got := attacktest.Attack(t, mux, []*attack.Check{Check}, operations, func(r *attack.Run) { r.Callback, r.Parallel = l, 1 })
	attacktest.Expect(t, got, "dast/ssrf/request GET /bad/shown query:url", "dast/ssrf/request GET /bad/encoded query:url", "dast/ssrf/request GET /bad/silent query:url")
}

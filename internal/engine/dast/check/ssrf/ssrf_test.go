package ssrf

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

const home = "<html><title>The shop of the test</title>\n<h1>Welcome to the shop of the test, dear " +
	"visitor</h1>\n<p>Nothing of this stands on another page.</p></html>"

func TestCheck(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, home) })
	get := func(address string) string {
		if !strings.HasPrefix(address, "http://127.0.0.1:") {
			return "no such host"
		}
		if body := fetch(address); body != "" {
			return body
		}
		return "error"
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
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations),
		"dast/ssrf/request GET "+
			"/bad/shown query:url", "dast/ssrf/request GET /bad/encoded query:url")
	page("/bad/included", func(v string) string { return strings.ReplaceAll(get(v), "<?php ?>", "") })
	page("/bad/host", func(v string) string { // takes a host
		if strings.Contains(v, "://") {
			return "bad host"
		}
		get("http://" + v)
		return "thank you"
	})
	operations[len(operations)-1] = "GET /bad/host?url=shop.example"
	page("/bad/numbers", func(v string) string { // the same, of numbers
		if !strings.Contains(v, "://") {
			get("http://" + v)
		}
		return "thank you"
	})
	operations[len(operations)-1] = "GET /bad/numbers?url=127.0.0.1:80/menu"
	page("/bad/ending", func(v string) string { get(v + ".php"); return "" })
	page("/good/stripped", func(v string) string {
		return regexp.MustCompile(`https?://\S+`).ReplaceAllString(v, "[link]")
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, activescantest.Listening(t))
	activescantest.Expect(t, got, "dast/ssrf/request GET /bad/shown query:url", "dast/ssrf/request GET /bad/encoded "+
		"query:url", "dast/ssrf/request GET /bad/silent query:url",
		"dast/ssrf/inclusion GET /bad/included query:url", "dast/ssrf/request GET /bad/host query:url",
		"dast/ssrf/request GET /bad/numbers query:url", "dast/ssrf/request GET /bad/ending query:url")
	if got.Requests > 11*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

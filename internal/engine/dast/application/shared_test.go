package application_test

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
)

// A parameter that the common head of all pages shows is one vulnerability with its places. Where each page
// has a vulnerability of its own by the same name, each is told.
func TestSharedParameter(t *testing.T) {
	for _, shared := range []bool{true, false} {
		got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			term := r.FormValue("term")
			if !shared && !strings.HasPrefix(r.URL.Path, "/list") {
				term = html.EscapeString(term)
			}
			if shared || strings.HasPrefix(r.URL.Path, "/list") {
				fmt.Fprintf(w, "<header>You look for <b>%s</b> in the catalogue.</header>", term)
			}
			switch r.URL.Path {
			case "/":
				fmt.Fprint(w, `<a href="/about">About</a> <a href="/lista?term=x">A</a> <a href="/listb?term=x">B</a> <a href="/listc?term=x">C</a>`)
			case "/about", "/lista", "/listb", "/listc":
				fmt.Fprintf(w, "<p>This is %s.</p>", r.URL.Path)
			default:
				fmt.Fprint(w, "<p>There is no such page.</p>")
			}
		}), nil)
		places, findings := 0, 0
		for _, f := range got.Findings {
			if f.RuleID == "dast/xss/reflected" && f.Live.Parameter == "term" {
				findings++
				places += 1 + len(f.Also)
			}
		}
		if want := map[bool]int{true: 1, false: 3}[shared]; findings != want || places != 3 {
			t.Errorf("shared %v: %d findings with %d places, want %d with 3", shared, findings, places, want)
		}
	}
}

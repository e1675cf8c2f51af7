package blindxss

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	scripts  = regexp.MustCompile(`<script src=([^ >]+)`)
	pictures = regexp.MustCompile(`<img src=([^ >]+)`)
	links    = regexp.MustCompile(`https?://[^\s"'<>]+`)
)

func TestCheck(t *testing.T) {
	fetch, view := activescantest.Fetch(t), activescantest.View(t)
	all := func(ask func(string) string, expression *regexp.Regexp, text string) {
		for _, m := range expression.FindAllStringSubmatch(text, -1) {
			ask(m[len(m)-1])
		}
	}
	mux := http.NewServeMux()
	var operations []string
	page := func(path string, f func(text string)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			f(r.FormValue("text"))
			fmt.Fprint(w, "Thank you.")
		})
		operations = append(operations, "POST "+path+" id=7&text=hello")
	}
	// who looks before the answer is there
	page("/bad/administrator", func(v string) { all(view, scripts, v); all(view, pictures, v) })
	page("/bad/document", func(v string) { all(fetch, pictures, v) })
	page("/good/encoded", func(v string) {
		all(view, scripts, html.EscapeString(v))
		all(fetch, pictures, html.EscapeString(v))
	})
	page("/good/pictures", func(v string) { all(view, pictures, v) })
	page("/good/links", func(v string) { all(fetch, links, v) })
	var once sync.Once
	page("/good/once", func(v string) { // not repeated: by chance
		if pictures.MatchString(v) {
			once.Do(func() { all(fetch, pictures, v) })
		}
	})
	var run *activescan.Engine
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, activescantest.Listening(t),
		func(r *activescan.Engine) {
			run = r
		})
	if left := run.PersistedPayloads(); len(left) != len(operations) ||
		!strings.HasSuffix(left[0], "/bad/administrator") ||
		!strings.HasPrefix(left[0], "POST http") {
		t.Errorf("left behind: %q", left)
	}
	activescantest.Expect(t, got, "dast/markup/script POST /bad/administrator form:text", "dast/markup/fetched POST "+
		"/bad/document form:text")
	for _, f := range got.Findings {
		if f.Confidence == finding.MediumConfidence && f.RuleID == fetched.ID {
			t.Errorf("what is repeated is only %s", f.Confidence)
		}
	}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations))
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations,
		activescantest.Listening(t),
		activescantest.Profile(scan.Safe)))
}

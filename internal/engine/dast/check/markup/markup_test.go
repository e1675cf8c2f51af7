package markup

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/attack/attacktest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	scripts  = regexp.MustCompile(`<script src=([^ >]+)`)
	pictures = regexp.MustCompile(`<img src=([^ >]+)`)
	links    = regexp.MustCompile(`https?://[^\s"'<>]+`)
)

func TestCheck(t *testing.T) {
	fetch := attacktest.Fetch(t)
	var viewers sync.WaitGroup
	defer viewers.Wait()
	all := func(expression *regexp.Regexp, text string) {
		for _, m := range expression.FindAllStringSubmatch(text, -1) {
			fetch(m[len(m)-1])
		}
	}
	later := func(expressions []*regexp.Regexp, text string) { // somebody opens it
		viewers.Go(func() {
			time.Sleep(20 * time.Millisecond)
			for _, e := range expressions {
				all(e, text)
			}
		})
	}
	mux := http.NewServeMux()
	var operations []string
	page := func(path string, f func(text string)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { f(r.FormValue("text")); fmt.Fprint(w, "Thank you.") })
		operations = append(operations, "POST "+path+" id=7&text=hello")
	}
	page("/bad/administrator", func(v string) { later([]*regexp.Regexp{scripts, pictures}, v) })
	page("/bad/document", func(v string) { all(pictures, v) })
	page("/good/encoded", func(v string) { later([]*regexp.Regexp{scripts, pictures}, html.EscapeString(v)) })
	page("/good/pictures", func(v string) { later([]*regexp.Regexp{pictures}, v) })
	page("/good/links", func(v string) { all(links, v) })
	got := attacktest.Attack(t, mux, []*attack.Check{Check}, operations, attacktest.Listening(t))
	attacktest.Expect(t, got, "dast/markup/script POST /bad/administrator form:text", "dast/markup/fetched POST /bad/document form:text")
	for _, f := range got.Findings {
		if f.Confidence == finding.Likely && f.RuleID == fetched.ID {
			t.Errorf("what is repeated is only %s", f.Confidence)
		}
	}
	attacktest.Expect(t, attacktest.Attack(t, mux, []*attack.Check{Check}, operations))
	attacktest.Expect(t, attacktest.Attack(t, mux, []*attack.Check{Check}, operations, attacktest.Listening(t), attacktest.Profile(scan.Safe)))
}

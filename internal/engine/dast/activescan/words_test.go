package activescan_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// The last word of three pages beside each other that answer alike is attacked as a value,
// once; not that of two, of files, of pages below the base, or of pages that answer otherwise.
func TestWords(t *testing.T) {
	rule := &finding.Rule{ID: "dast/example/told", Analysis: finding.DAST, Name: "Example", Severity: finding.Low}
	var attacked []string
	check := &activescan.Rule{ID: "example", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
		ProbePoint: func(p *activescan.Probe) error {
			attacked = append(attacked, p.Request.With(p.Point, "x y").Path)
			_, err := p.SendValue("x y")
			return err
		}}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<h1>%s</h1>%s", html.EscapeString(r.URL.Path),
			strings.Repeat("<p>text</p>", len(r.URL.Path)%2*strings.Count(r.URL.Path, "odd")))
	})
	got := activescantest.Attack(t, h, []*activescan.Rule{check}, []string{"GET /users/alice", "GET /users/bob",
		"GET /users/carol", "GET /users/dave", "GET /pairs/one", "GET /pairs/two",
		"GET /files/a.html", "GET /files/b.html", "GET /files/c.html", "GET /about", "GET /contact", "GET /help",
		"GET /odd/a", "GET /odd/bb", "GET /odd/c", "GET /odd/dd"}, alone)
	activescantest.Expect(t, got)
	slices.Sort(attacked)
	if want := []string{"/users/x%20y"}; !slices.Equal(attacked, want) {
		t.Errorf("attacked %q, not %q", attacked, want)
	}
}

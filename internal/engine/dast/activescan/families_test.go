package activescan_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// alone attacks one operation after the other.
func alone(r *activescan.Engine) { r.Parallel = 1 }

// letters is a word for a number up to 999.
func letters(n int) string {
	return string([]byte{'a' + byte(n/100), 'a' + byte(n/10%10), 'a' + byte(n%10)})
}

// Of thousands of operations that answer alike, a hundred are attacked in vain, and the
// rest is a reason; all of them once one has a vulnerability. Those that answer otherwise, or take
// something else, do not count.
func TestFamilies(t *testing.T) {
	rule := &finding.Rule{ID: "dast/example/told", Analysis: finding.DAST, Name: "Example", Severity: finding.Low}
	for _, test := range []struct {
		name     string
		flaw     string // path of the operation that has one
		attacked int
		left     string
	}{
		{"in vain", "", 103, "450 operations were not attacked"},
		{"a flaw in time", "/f/" + letters(90), 553, ""},
		{"a flaw too late", "/f/" + letters(140), 103, "450 operations were not attacked"},
	} {
		var attacked []string
		check := &activescan.Rule{ID: "example", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
			ProbePoint: func(p *activescan.Probe) error {
				attacked = append(attacked, p.Request.Path)
				if p.Request.Path == test.flaw {
					p.RaiseAlert(activescan.Alert{Rule: rule})
				}
				return nil
			}}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if strings.HasPrefix(r.URL.Path, "/other") {
				fmt.Fprint(w, "<table></table>")
				return
			}
			fmt.Fprintf(w, "<p>Nothing at <b>%s</b></p>", r.URL.Path)
		})
		var operations []string
		for i := range 550 {
			operations = append(operations, fmt.Sprintf("GET /f/%s?q=1", letters(i)))
		}
		operations = append(operations, "GET /other?q=1", "GET /f/last?q=1&r=1", "POST /f/last q=1")
		got := activescantest.Attack(t, h, []*activescan.Rule{check}, operations, alone)
		slices.Sort(attacked)
		if n := len(slices.Compact(attacked)); n != test.attacked-1 { // /f/last is there twice
			t.Errorf("%s: %d operations were attacked, not %d", test.name, n, test.attacked-1)
		}
		if (len(got.Reasons) == 1) != (test.left != "") || test.left != "" &&
			(got.Reasons[0].Code != "too-many-operations" || !strings.Contains(got.Reasons[0].Message, test.left)) {
			t.Errorf("%s: reasons %+v", test.name, got.Reasons)
		}
	}
}

// Of a crowd, what is unlike the others comes first, and what the scan did not get to is
// told.
func TestSpread(t *testing.T) {
	var attacked []string
	var count atomic.Int64 // of them
	check := &activescan.Rule{ID: "example", Profile: scan.Safe, ProbePoint: func(p *activescan.Probe) error {
		attacked = append(attacked, p.Request.Path)
		count.Add(1)
		_, err := p.SendValue("x")
		return err
	}}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") == "x" && count.Load() > 60 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, r.URL.Path) // each another text
	})
	var operations []string
	for i := range 600 {
		operations = append(operations, fmt.Sprintf("GET /a/%s?q=1", letters(i)))
	}
	operations = append(operations, "POST /b q=1", "GET /c?q=1")
	got := activescantest.Attack(t, h, []*activescan.Rule{check}, operations, alone)
	if len(attacked) < 3 || !slices.Contains(attacked, "/b") || !slices.Contains(attacked, "/c") {
		t.Errorf("attacked %q", attacked)
	}
	if !slices.ContainsFunc(got.Reasons, func(r scan.Reason) bool {
		return r.Code == "too-many-operations" && strings.Contains(r.Message, "the scan ended before 523 operations "+
			"were attacked to their end")
	}) {
		t.Errorf("reasons %+v", got.Reasons)
	}
}

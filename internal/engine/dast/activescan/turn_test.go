package activescan_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// Every operation is attacked before one gets its thousandth request, and each one to its end.
// What the end of the scan cuts off is named.
func TestTurns(t *testing.T) {
	rule := &finding.Rule{ID: "dast/example/told", Analysis: finding.DAST, Name: "Example", Severity: finding.Low,
		Confidence: finding.HighConfidence}
	spent, most := 0, 0
	check := &activescan.Rule{ID: "example", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
		ProbePoint: func(p *activescan.Probe) error {
			payloads := 10
			if p.Point.Name != "q" {
				payloads = 50
			}
			for i := range payloads {
				if spent++; most > 0 && spent > most {
					return traffic.ErrBudgetExhausted
				}
				if _, err := p.SendValue(fmt.Sprint("payload", i)); err != nil {
					return err
				}
			}
			return nil
		}}
	// A form of 60 fields, which takes 3,000 requests, stands before fifty small pages. More fields
	// with fewer payloads would be the same to the turns, and each request much larger.
	var form strings.Builder
	for i := range 60 {
		fmt.Fprintf(&form, "&field%d=1", i)
	}
	operations := []string{"POST /form " + form.String()[1:]}
	for i := range 50 {
		operations = append(operations, fmt.Sprintf("GET /page%c%c?q=1", 'a'+i/26, 'a'+i%26))
	}
	for name, requests := range map[string]int{"whole": 0, "cut": 2000} {
		var mu sync.Mutex
		asked, before := map[string]int{}, 0
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if asked[r.URL.Path]++; r.URL.Path == "/pagebx" &&
				asked["/pagebx"] == 3 { // the first attack on the last page
				before = asked["/form"]
			}
			fmt.Fprint(w, "page")
		})
		spent, most = 0, requests
		got := activescantest.Attack(t, h, []*activescan.Rule{check}, operations, func(r *activescan.Engine) {
			r.Parallel = 1
		})
		if before > 700 || before == 0 {
			t.Errorf("%s: the form got %d requests before each page was attacked", name, before)
		}
		reasons := fmt.Sprint(got.Reasons)
		switch name {
		case "whole":
			if asked["/form"] < 3000 || strings.Contains(reasons, "before") {
				t.Errorf("the form got %d requests: %s", asked["/form"], reasons)
			}
		default:
			if !strings.Contains(reasons, "before 1 operations were attacked to their end: POST /form") ||
				asked["/pageax"] < 10 {
				t.Errorf("cut: %s; %v", reasons, asked)
			}
		}
	}
}

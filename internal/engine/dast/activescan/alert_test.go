package activescan_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
)

// A vulnerability of a segment of the path is told at the operation, not at the payload.
func TestFlawOfThePath(t *testing.T) {
	rule := &finding.Rule{ID: "dast/test/flaw", Analysis: finding.DAST, Name: "Flaw", Severity: finding.Low}
	check := &activescan.Rule{ID: "test", FindingRules: []*finding.Rule{rule},
		ProbePoint: func(p *activescan.Probe) error {
			payload := p.RandomLetters(8)
			resp, err := p.SendValue(payload)
			if err != nil || !strings.Contains(resp.Text(), payload) {
				return err
			}
			p.RaiseAlert(activescan.Alert{Rule: rule, Request: resp.Request, Payload: payload,
				Proof: []string{"it came back"}})
			return nil
		}}
	got := activescantest.Attack(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.URL.Path)
	}), []*activescan.Rule{check}, []string{"GET /users/17/files"})
	if len(got.Findings) != 1 {
		t.Fatalf("findings %+v", got.Findings)
	}
	f := got.Findings[0]
	if !strings.HasSuffix(f.Location.Path, "/users/{}/files") || !strings.HasSuffix(f.Live.URL, "/users/17/files") ||
		strings.Contains(f.Identity, f.Live.Payload) {
		t.Errorf("told at %s (%s), identity %q", f.Location.Path, f.Live.URL, f.Identity)
	}
}

package kics

import (
	"strings"
	"testing"

	"merlon/internal/finding"
)

// Each correction is of a query that exists, and changes something.
func TestCorrected(t *testing.T) {
	all, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for id := range corrected {
		left[id] = true
	}
	for _, r := range all {
		g, ok := corrected[strings.TrimPrefix(r.ID, "iac/")]
		if !ok {
			continue
		}
		delete(left, strings.TrimPrefix(r.ID, "iac/"))
		if r.Severity != g.severity || r.Confidence != g.confidence {
			t.Errorf("%s is %s, %s; want %s, %s", r.ID, r.Severity, r.Confidence, g.severity, g.confidence)
		}
	}
	for id := range left {
		t.Errorf("there is no rule %s", id)
	}
	if s, c := severityOf("iac/x/y", "HIGH"); s != finding.High || c != finding.HighConfidence {
		t.Errorf("an uncorrected rule is %s, %s", s, c)
	}
}

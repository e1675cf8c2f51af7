package lint

import (
	"strings"
	"testing"

	"merlon/internal/scan/scantest"
)

func TestAnalyzer(t *testing.T) { scantest.Run(t, Analyzer) }

func TestRulesAreWhole(t *testing.T) {
	if len(Rules) != 21 {
		t.Errorf("%d rules", len(Rules))
	}
	for id, r := range Rules {
		if r.ID != "api/lint/"+id || r.Name == "" || len(r.CWE) != 1 || !strings.HasPrefix(r.OWASP[0], "API") || r.HowToPrevent == "" || r.Severity.Rank() == 0 || r.Confidence == "" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	for id := range same {
		if Rules[id] == nil {
			t.Errorf("same names %s", id)
		}
	}
}

package activescan_test

import (
	"net/http"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

// TestEnvironmentIsACopy lets a rule change all that it sees: the rule after it sees what the engine has.
func TestEnvironmentIsACopy(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("well")) })
	var before, after activescan.Environment
	rules := []*activescan.Rule{
		{ID: "changes", ScanOperation: func(s *activescan.OperationScan) error {
			before = s.Environment
			s.Environment = activescan.Environment{}
			return nil
		}},
		{ID: "reads", ScanOperation: func(s *activescan.OperationScan) error {
			after = s.Environment
			return nil
		}},
	}
	activescantest.Attack(t, h, rules, []string{"GET /page?q=1"}, activescantest.Profile(scan.Passive))
	if before.Target == nil || before.Client == nil || before.Scope == nil || before.Sitemap == nil {
		t.Fatalf("the first rule saw %+v", before)
	}
	if after.Target != before.Target || after.Client != before.Client || after.Scope != before.Scope ||
		after.Sitemap != before.Sitemap || after.Seed != before.Seed {
		t.Errorf("the second rule saw %+v, want %+v", after, before)
	}
}

// TestFactsAndCountsAreShared checks that what rules tell each other through the engine arrives.
func TestFactsAndCountsAreShared(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("well")) })
	var known, again bool
	var count int
	rules := []*activescan.Rule{
		{ID: "writes", ScanOperation: func(s *activescan.OperationScan) error {
			s.RecordFact("java")
			s.IncrementCount("pages")
			if !s.FirstTime("page") {
				t.Error("the key was used before")
			}
			return nil
		}},
		{ID: "reads", ScanOperation: func(s *activescan.OperationScan) error {
			known, again, count = s.HasFact("java") && !s.HasFact("php"), s.FirstTime("page"), s.CountOf("pages")
			return nil
		}},
	}
	activescantest.Attack(t, h, rules, []string{"GET /page?q=1"}, activescantest.Profile(scan.Passive))
	if !known || again || count != 1 {
		t.Errorf("the fact is known: %t; the key is new: %t; count %d", known, again, count)
	}
}

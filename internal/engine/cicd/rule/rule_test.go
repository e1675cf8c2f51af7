package rule

import (
	"testing"

	"merlon/internal/finding"
)

func TestNew(t *testing.T) {
	set := New("cicd/x", "yaml",
		Text{ID: "b", Name: "B", Severity: finding.High, CWE: "CWE-94", Risk: "CICD-SEC-4", What: "What.",
			Why: "one\n  two\n\nthree", Fix: " fix\nit "},
		Text{ID: "a", Name: "A"})
	all := set.All()
	if len(all) != 2 || all[0].ID != "cicd/x/a" || all[1].ID != "cicd/x/b" {
		t.Fatalf("All returns %v, want cicd/x/a and cicd/x/b in this order", all)
	}
	b := set["b"]
	if b != all[1] {
		t.Error("the set and All hold different rules")
	}
	if want := "What.\n\none two\n\nthree"; b.Description != want {
		t.Errorf("description %q, want %q", b.Description, want)
	}
	if want := "fix it"; b.HowToPrevent != want {
		t.Errorf("remediation %q, want %q", b.HowToPrevent, want)
	}
	if b.Analysis != finding.CICD || b.Language != "yaml" || b.CWE[0] != "CWE-94" || b.OWASP[0] != "CICD-SEC-4" {
		t.Errorf("rule %+v lacks its classification", b)
	}
}

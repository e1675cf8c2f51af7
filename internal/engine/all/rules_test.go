package all

import (
	"regexp"
	"strings"
	"testing"

	"merlon/internal/finding"
)

// homemade are words that titles used in place of the standard terms. They stay out.
var homemade = regexp.MustCompile(`(?i)\b(every(body|one) may|anybody may|nobody|stands? in|of a stranger|strangers?|told|keeps? no|answers? without|switched (on|off)|somebody|roundabout|at once|whole internet|from afar|of (its|your) own)\b`)

// TestRules reads every rule of the build as users do.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Analyzers {
		if a.Rules == nil {
			if a.Analysis != finding.SCA && a.ID != "secrets/history" { // advisories; the rules of secrets/credentials
				t.Errorf("%s lists no rules", a.ID)
			}
			continue
		}
		rules, err := a.Rules()
		if err != nil || len(rules) == 0 {
			t.Fatalf("%s: %d rules, %v", a.ID, len(rules), err)
		}
		for _, r := range rules {
			if seen[r.ID] {
				t.Errorf("two rules have the id %s", r.ID)
			}
			seen[r.ID] = true
			if r.Analysis != a.Analysis || r.Severity.Rank() == 0 || len(r.CWE) == 0 {
				t.Errorf("%s: analysis %q, severity %q, CWE %v", r.ID, r.Analysis, r.Severity, r.CWE)
			}
			for what, text := range map[string]string{"title": r.Name, "short description": r.ShortDescription,
				"description": r.Description, "remediation": r.HowToPrevent} {
				if strings.TrimSpace(text) == "" {
					t.Errorf("%s has no %s", r.ID, what)
				}
			}
			if word := homemade.FindString(r.Name); word != "" {
				t.Errorf("%s: the title %q says %q; use the term of CWE, OWASP or the product", r.ID, r.Name, word)
			}
		}
	}
}

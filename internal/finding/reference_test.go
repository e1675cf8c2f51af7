package finding

import (
	"slices"
	"testing"
)

func TestAddReferences(t *testing.T) {
	for name, tt := range map[string]struct {
		rule        Rule
		owasp, asvs []string
	}{
		"both editions differ": {Rule{Analysis: SAST, CWE: []string{"CWE-89"}}, []string{"A03:2021", "A05:2025"},
			[]string{"V1.2.4"}},
		"an API risk": {Rule{Analysis: API, CWE: []string{"CWE-639"}},
			[]string{"A01:2021", "A01:2025", "API1:2023"}, []string{"V8.2.2"}},
		"infrastructure is no API": {Rule{Analysis: IaC, CWE: []string{"CWE-918"}}, []string{"A10:2021", "A01:2025"},
			nil},
		"what the rule names stays": {Rule{Analysis: SAST, CWE: []string{"CWE-89"}, OWASP: []string{"A04:2021"},
			ASVS: []string{"V2.2.1"}}, []string{"A04:2021", "A05:2025"}, []string{"V2.2.1"}},
		"a list without the CWE": {Rule{Analysis: SAST, CWE: []string{"CWE-1333"}, OWASP: []string{"A05:2021"}},
			[]string{"A05:2021", "A02:2025"}, []string{"V1.3.12"}},
		"the second CWE": {Rule{Analysis: SAST, CWE: []string{"CWE-1204", "CWE-327"}},
			[]string{"A02:2021", "A04:2025"}, []string{"V11.3.4", "V11.3.1", "V11.3.2"}},
		"other lists stay": {Rule{Analysis: CICD, CWE: []string{"CWE-94"}, OWASP: []string{"CICD-SEC-4"}},
			[]string{"CICD-SEC-4", "A03:2021", "A05:2025"}, nil},
		"no CWE": {Rule{Analysis: SAST}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tt.rule.AddReferences()
			tt.rule.AddReferences() // changes nothing more
			if !slices.Equal(tt.rule.OWASP, tt.owasp) || !slices.Equal(tt.rule.ASVS, tt.asvs) {
				t.Errorf("got %v %v, want %v %v", tt.rule.OWASP, tt.rule.ASVS, tt.owasp, tt.asvs)
			}
		})
	}
}

// TestCategories makes sure that no weakness is in two categories of an edition.
func TestCategories(t *testing.T) {
	seen := map[string]string{}
	for category, numbers := range categories {
		edition := category[len(category)-4:]
		for _, n := range numbers {
			key := edition + "/" + string(rune(n))
			if other := seen[key]; other != "" {
				t.Errorf("CWE-%d is in %s and %s", n, other, category)
			}
			seen[key] = category
		}
	}
}

package analyzer

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/remedy"
	"merlon/internal/finding"
)

// frequentRules counts the findings by rule, with all profiles, on well-kept repositories, on
// trees that are vulnerable on purpose, and on the examples of the queries.
//
//go:embed remedies_test.txt
var frequentRules string

// TestRemediesSayWhatToType holds the share of findings whose rule shows code in the format of its
// file.
func TestRemediesSayWhatToType(t *testing.T) {
	list, err := listRules(kics.Rules)
	if err != nil {
		t.Skip(err) // a build without the library
	}
	rules := map[string]*finding.Rule{}
	for _, r := range list {
		rules[r.ID] = r
	}
	all, good := 0, 0
	var missing []string
	for _, line := range strings.Split(strings.TrimSpace(frequentRules), "\n") {
		var n int
		var id string
		if _, err := fmt.Sscan(line, &n, &id); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all += n
		r := rules[id]
		if r == nil { // "-v2" is a rule for a version of the format
			r = rules[strings.TrimSuffix(strings.TrimSuffix(id, "-v2"), "-v3")]
		}
		switch {
		case r == nil:
			t.Errorf("%s is no rule any more", id)
		case showsCode(r):
			good += n
		default:
			missing = append(missing, line)
		}
	}
	if share := 100 * float64(good) / float64(all); share < 95 {
		t.Errorf("%.1f %% of the findings show code; missing are %s", share, strings.Join(missing[:20], ", "))
	} else {
		t.Logf("%.1f %% of the findings show code", share)
	}
}

// showsCode reports whether the remediation has a block of code in the format of the rule's files.
func showsCode(r *finding.Rule) bool {
	_, block, ok := strings.Cut(r.HowToPrevent, "```")
	fence, _, _ := strings.Cut(block, "\n")
	platform, _, _ := strings.Cut(strings.TrimPrefix(r.ID, "iac/"), "/")
	want := remedy.Fences[platform]
	if platform == "cloud" {
		want = map[string]string{"CloudFormation": "yaml", "Azure Resource Manager": "bicep"}[r.Language]
		if want == "" {
			want = "hcl"
		}
	}
	return ok && (fence == want || fence == "ini" && platform == "ansible")
}

// TestPagesAreAboutRules finds pages about rules that do not exist.
func TestPagesAreAboutRules(t *testing.T) {
	list, err := listRules(kics.Rules)
	if err != nil {
		t.Skip(err)
	}
	known := map[string]bool{}
	for _, r := range list {
		known[r.ID] = true
	}
	for _, id := range remedy.Rules() {
		if !known[id] {
			t.Errorf("%s is no rule", id)
		}
	}
}

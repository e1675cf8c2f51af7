package rules

import "testing"

// Every rule is fit to be shown, and there are as many as we say.
func TestRules(t *testing.T) {
	list, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 900 {
		t.Errorf("%d rules, want more than 900", len(list))
	}
	for _, r := range list {
		if r.Severity.Rank() == 0 || r.Name == "" || r.Description == "" || r.HowToPrevent == "" || len(r.CWE) == 0 {
			t.Errorf("rule %s is not whole: %+v", r.ID, r)
		}
	}
}

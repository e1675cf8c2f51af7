package analyzer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestDecided(t *testing.T) {
	rule := &finding.Rule{Name: "Open"}
	var told []scan.Reason
	left := decided([]kics.Flaw{
		{Rule: rule, Path: "a.tf", Line: 1}, {Rule: rule, Path: "a.tf", Line: 2, Unknown: true},
		{Rule: rule, Path: "a.tf", Line: 2, Unknown: true},
	}, func(r scan.Reason) { told = append(told, r) })
	if len(left) != 1 || left[0].Line != 1 {
		t.Errorf("flaws %+v", left)
	}
	want := []scan.Reason{{Code: scan.UnknownValue, Path: "a.tf", Line: 2, Skipped: true, Message: "the value is " +
		"unknown before deployment, and a rule depends on it: Open"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

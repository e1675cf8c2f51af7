package analyzer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// scanFile returns the findings of a tree with one file.
func scanFile(t *testing.T, name, text string) []finding.Finding {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var kept scantest.Kept
	err := scan.Run(t.Context(), scan.Options{Root: root, Analyzers: []*scan.Analyzer{Analyzer},
		Profile: finding.AllProfile}, &kept)
	if err != nil {
		t.Fatal(err)
	}
	return kept.Findings
}

// applyFix returns the text after the edits.
func applyFix(text string, fix *finding.Fix) string {
	lines := strings.Split(text, "\n")
	for _, e := range slices.Backward(fix.Edits) {
		lines = slices.Replace(lines, e.StartLine-1, e.EndLine, e.Lines...)
	}
	return strings.Join(lines, "\n")
}

// signature names a finding without its line and without what the message quotes.
func signature(f finding.Finding) string {
	subject, _, ok := strings.Cut(f.Message, ": ")
	if !ok || strings.ContainsAny(subject, " '\"") {
		return f.RuleID
	}
	return f.RuleID + " " + subject
}

// followUps are rules that ask for more as soon as another rule is met: a key of one's own for what
// is encrypted, a high number for a user that is named.
var followUps = []string{"iac/cloud/aws-customer-key-db-instance", "iac/kubernetes/containers-run-with-low-uid"}

// checkFix applies the fix of a finding and scans again: the rule is silent, and no other rule
// reports what it did not report before.
func checkFix(t *testing.T, name, text string, before []finding.Finding, f finding.Finding) string {
	t.Helper()
	fixed := applyFix(text, f.Fix)
	after := scanFile(t, name, fixed)
	count := map[string]int{}
	for _, b := range before {
		count[signature(b)]++
	}
	for _, a := range after {
		count[signature(a)]--
	}
	if count[signature(f)] < 1 {
		t.Errorf("%s is reported after its fix:\n%s", signature(f), fixed)
	}
	for s, n := range count {
		rule, _, _ := strings.Cut(s, " ")
		if n < 0 && !slices.Contains(followUps, rule) {
			t.Errorf("the fix of %s makes %s:\n%s", f.RuleID, s, fixed)
		}
	}
	return fixed
}

// changedLines returns the lines that a change removes and adds, with "-" and "+".
func changedLines(before, after string) []string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out []string
	for _, line := range a {
		out = append(out, "-"+line)
	}
	for _, line := range b {
		out = append(out, "+"+line)
	}
	return out
}

// TestFix applies each fix of a file alone, scans again, and compares the changed lines with those
// beside the file: nothing else is changed.
func TestFix(t *testing.T) {
	if _, err := listRules(kics.Rules); err != nil {
		t.Skip(err) // a build without the library
	}
	all, err := filepath.Glob("../remedy/testdata/fix/*.fixes")
	if err != nil || len(all) == 0 {
		t.Fatal(err, len(all))
	}
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".fixes")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(strings.TrimSuffix(path, ".fixes"))
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			before := scanFile(t, name, text)
			var got strings.Builder
			for _, f := range before {
				if f.Fix != nil {
					fixed := checkFix(t, name, text, before, f)
					fmt.Fprintf(&got, "%s:%d %s\n%s\n\n", f.RuleID, f.Location.StartLine, f.Fix.Description,
						strings.Join(changedLines(text, fixed), "\n"))
				}
			}
			if got.String() != string(want) {
				t.Errorf("the fixes are\n%s", got.String())
			}
		})
	}
}

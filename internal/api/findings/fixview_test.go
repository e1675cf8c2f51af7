package findings

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

// A detail has what a person needs to judge and to change: impact, terms, further places, the fix.
func TestViewFix(t *testing.T) {
	text := "one\ntwo\nthree\nfour\nfive\n"
	f := finding.Finding{Location: finding.Location{Path: "a.yaml", StartLine: 3, EndLine: 3},
		Snippet: &finding.Snippet{StartLine: 2, Lines: []string{"two", "three", "four"}},
		Fix: &finding.Fix{Description: "Pin it", Path: "a.yaml", Edits: []finding.Edit{
			{StartLine: 1, EndLine: 0, Lines: []string{"zero"}}, {StartLine: 2, EndLine: 2},
			{StartLine: 4, EndLine: 4, Lines: []string{"4", "4b"}}}}}
	got := viewFix(&f)
	want := "--- a/a.yaml\n+++ b/a.yaml\n@@ -0,0 +1,1 @@\n+zero\n@@ -2,1 +2,0 @@\n-two\n@@ -4,1 +4,2 " +
		"@@\n-four\n+4\n+4b\n"
	if got.Diff != want || got.Edits[1].Lines == nil || f.Fix.Edits[1].Lines != nil {
		t.Errorf("got %+v, want %q", got, want)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "apply", "--unidiff-zero", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(got.Diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "a.yaml")); err != nil ||
		string(after) != "zero\none\nthree\n4\n4b\nfive\n" {
		t.Errorf("applied, the diff gives %q, %v", after, err)
	}

	f.Fix.Edits = []finding.Edit{{StartLine: 5, EndLine: 5, Lines: []string{"5"}}}
	if got := viewFix(&f); got.Diff != "" || len(got.Edits) != 1 {
		t.Errorf("a line that is not stored: got %+v", got)
	}
	if viewFix(&finding.Finding{}) != nil {
		t.Error("a fix of nothing")
	}
}

// The message names the first further locations; all of them are a member of their own.
func TestViewMessageIsBounded(t *testing.T) {
	r := finding.Finding{Message: "Wrong."}
	for i := range 5 {
		r.Also = append(r.Also, finding.Location{Path: fmt.Sprintf("%d.yaml", i), StartLine: i})
	}
	want := "Wrong. Also at 0.yaml, 1.yaml:1, 2.yaml:2 and 2 more."
	if diff := cmp.Diff(want, viewMessage(&r)); diff != "" {
		t.Error(diff)
	}
}

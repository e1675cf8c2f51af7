package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/engine/sast/rules"
	"merlon/internal/errs"
)

// A rule that asks for a kind of which no model speaks is a fault, with its line.
func TestLoadKinds(t *testing.T) {
	const head = "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [java]\n  mode: taint\n"
	for text, want := range map[string]string{
		"  model: {sources: [remote, library], sinks: [sql]}\n": "",
		"  model: {sources: [remot], sinks: [sql]}\n":           `:7: rule a: this build has no model of sources of the kind "remot"`,
		"  model:\n    sources: [remote]\n    sinks:\n    - sql\n  " +
			"  - s\n": `:11: rule a: this build has no model of sinks of the kind "s"`,
		"  model: {sources: [remote], sinks: [library]}\n": `:7: rule a: this build has no model of sinks of the kind "library"`,
	} {
		name := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(name, []byte(head+text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := rules.Load(name)
		switch {
		case want == "" && (err != nil || len(got) != 1):
			t.Errorf("%q: got %d rules, %v", text, len(got), err)
		case want != "" && (!errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if _, err := rules.Load(t.TempDir()); !errs.Is(err, errs.Invalid) {
		t.Errorf("a folder without rules: %v", err)
	}
}

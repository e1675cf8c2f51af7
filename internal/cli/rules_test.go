package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// The manual of rules is a transcript, too.
func TestRulesTranscript(t *testing.T) { replayTranscript(t, "testdata/rules.txt") }

// A scan with rules that have a fault fails, and names file and line.
func TestScanRulesFault(t *testing.T) {
	plant(t)
	code, out, errOut := transcript(t, nil, "scan", "clean", "--rules", "kinds", "--only-rules")
	want := filepath.ToSlash(filepath.Join("kinds", "sql.yaml")) + `:11: rule a: this build has no model of sinks of the kind "sqll"`
	if code != ExitFailed || !strings.Contains(out, want) {
		t.Errorf("exit %d:\n%s%s", code, out, errOut)
	}
}

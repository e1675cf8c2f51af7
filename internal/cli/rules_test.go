package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// The manual of rules is a transcript, too.
func TestRulesTranscript(t *testing.T) { replayTranscript(t, "testdata/rules.txt") }

// Rules of one's own are rules of source code: to name that analysis is no contradiction.
func TestOnlyRules(t *testing.T) {
	plant(t)
	fault := `this build has no model of sinks of the kind "sqll"` // the rules were read
	for analyses, want := range map[string]string{"sast": fault, "sast,sca": "--analyses can only be sast"} {
		code, out, errOut := transcript(t, nil, "scan", "clean", "--rules", "kinds", "--only-rules", "--analyses",
			analyses)
		if code != ExitFailed && code != ExitUsage || !strings.Contains(out+errOut, want) {
			t.Errorf("%s: exit %d:\n%s%s", analyses, code, out, errOut)
		}
	}
}

// A scan with rules that have a fault fails, and names file and line.
func TestScanRulesFault(t *testing.T) {
	plant(t)
	code, out, errOut := transcript(t, nil, "scan", "clean", "--rules", "kinds", "--only-rules")
	want := filepath.ToSlash(filepath.Join("kinds", "sql.yaml")) +
		`:11: rule a: this build has no model of sinks of the kind "sqll"`
	if code != ExitFailed || !strings.Contains(out, want) {
		t.Errorf("exit %d:\n%s%s", code, out, errOut)
	}
}

// Each rule can be found by the usual word and read on the command line.
func TestRulesListAndShow(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"rules", "list", "toctou", "--analysis", "sast"}, ExitOK, "sast/go/file-race  Time-of-check to " +
			"time-of-use (TOCTOU) race condition\n"},
		{[]string{"rules", "list", "cwe-639", "--analysis", "api", "--format", "json"}, ExitOK,
			`"name":"Broken object level authorization (BOLA): read access"`},
		{[]string{"rules", "list", "no such rule"}, ExitOK, "0 rules.\n"},
		{[]string{"rules", "list", "--analysis", "magic"}, ExitUsage, `there is no analysis "magic"`},
		{[]string{"rules", "show", "sast/go/weak-hash"}, ExitOK, "Weak hash algorithm\n\nId:         " +
			"sast/go/weak-hash\n"},
		{[]string{"rules", "show", "sast/go/weak-hash"}, ExitOK, "\n\nRemediation\n\n"},
		{[]string{"rules", "show", "sast/go/magic"}, ExitUsage, `unknown rule "sast/go/magic"`},
	} {
		code, out, errOut := transcript(t, nil, c.args...)
		if code != c.code || !strings.Contains(out+errOut, c.want) {
			t.Errorf("%v: exit %d:\n%.400s%s", c.args, code, out, errOut)
		}
	}
}

// A build that lacks a part lists the rules of the others, and names the part. Any other
// error is a fault of the build.
func TestRulesOfIncompleteBuild(t *testing.T) {
	listing := func(id string, err error) *scan.Analyzer {
		return &scan.Analyzer{ID: id, Rules: func() ([]*finding.Rule, error) {
			return []*finding.Rule{{ID: id + "/rule"}}, err
		}}
	}
	rules, missing, err := rulesOf([]*scan.Analyzer{
		listing("b/b", nil), {ID: "without rules"}, listing("a/a", fmt.Errorf("%w: the library", scan.ErrMissingPart)),
	})
	if err != nil || len(rules) != 2 || rules[0].ID != "a/a/rule" || rules[1].ID != "b/b/rule" {
		t.Errorf("rules %v, error %v", rules, err)
	}
	if want := "[a/a: missing from this build: the library]"; fmt.Sprint(missing) != want {
		t.Errorf("missing %v, want %s", missing, want)
	}
	if _, _, err := rulesOf([]*scan.Analyzer{listing("a/a", errors.New("broken"))}); err == nil ||
		!strings.Contains(err.Error(), "list the rules of a/a: broken") {
		t.Errorf("a fault of the build: %v", err)
	}
}

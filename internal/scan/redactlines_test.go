package scan_test

import (
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestSnippetsHoldNoFoundSecrets shows lines with a secret as the finding of the secret
// shows them, in findings of the file and of the whole tree, and keeps fingerprints.
func TestSnippetsHoldNoFoundSecrets(t *testing.T) {
	const line = `connect("s3cret-91") // TODO`
	dir := write(t, map[string]string{"a.txt": "first\n" + line + "\nlast"})
	rule := &finding.Rule{ID: "secrets/test/password", Analysis: finding.Secret, Name: "Password",
		Severity: finding.High}
	secrets := &scan.Analyzer{ID: "secrets/test", Version: 1, Analysis: finding.Secret, Doc: "# T\n",
		Match: func(string) bool { return true },
		File: func(p *scan.FilePass) error {
			p.Report(rule, finding.Finding{Identity: "x", Secret: &finding.SecretMatch{Kind: "Password"},
				Location: finding.Location{StartLine: 2, EndLine: 2},
				Snippet: &finding.Snippet{StartLine: 1,
					Lines: []string{"first", strings.ReplaceAll(line, "s3cret-91", finding.Redacted), "last"}}})
			return nil
		}}
	flow := project("sca/flow", func(p *scan.ProjectPass) error {
		at := finding.Location{Path: "a.txt", StartLine: 2, EndLine: 2}
		p.Report(todoRule, finding.Finding{Location: at, Message: "flow",
			Steps: []finding.Step{{Kind: finding.Source, Location: at}}})
		return nil
	})
	without := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo, flow}})
	with := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo, flow, secrets}})
	if len(without.findings) != 2 || len(with.findings) != 3 {
		t.Fatalf("%d and %d findings", len(without.findings), len(with.findings))
	}
	prints := map[finding.Fingerprint]bool{}
	for _, f := range without.findings {
		prints[f.Fingerprint] = true
		if !strings.Contains(strings.Join(f.Snippet.Lines, "\n"), "s3cret-91") {
			t.Errorf("%s does not show the line", f.RuleID)
		}
	}
	for _, f := range with.findings {
		all := strings.Join(f.Snippet.Lines, "\n")
		for _, s := range f.Steps {
			all += strings.Join(s.Snippet.Lines, "\n")
		}
		if strings.Contains(all, "s3cret-91") || !strings.Contains(all, "[redacted]") ||
			!strings.Contains(all, "first") {
			t.Errorf("%s shows %s", f.RuleID, all)
		}
		if f.Secret == nil && !prints[f.Fingerprint] {
			t.Errorf("%s has another fingerprint", f.RuleID)
		}
	}
}

package analyzer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// TestMain fails all tests with one clear text when the build has no library: most of
// what they expect are results of its queries.
func TestMain(m *testing.M) {
	if _, err := kics.Rules(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// scanWithout scans a folder with a library that fails, and returns how the analyzer
// ended and the rules of the findings.
func scanWithout(t *testing.T, failure error, files map[string]string) (scan.Status, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := *Analyzer
	a.Project = func(p *scan.ProjectPass) error {
		return analyzeTree(p, func(_ context.Context, docs []*document.Document,
			_ int) ([]kics.Flaw, []kics.Failure, error) {
			if len(docs) == 0 {
				return nil, nil, nil
			}
			return nil, nil, failure
		})
	}
	var kept scantest.Kept
	if err := scan.Run(t.Context(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{&a}, Profile: finding.AllProfile}, &kept); err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range kept.Findings {
		rules = append(rules, f.RuleID)
	}
	if len(kept.Statuses) != 1 {
		t.Fatalf("the scan has %d statuses", len(kept.Statuses))
	}
	return kept.Statuses[0], rules
}

// A build without the library of queries never says that infrastructure code is clean:
// our own rules run, and the analysis is degraded with what to do about it.
func TestWithoutLibrary(t *testing.T) {
	bucket := "resource \"aws_security_group\" \"shell\" {\n  ingress {\n    protocol    = \"tcp\"\n    from_port  " +
		" = 22\n" +
		"    to_port     = 22\n    cidr_blocks = [\"0.0.0.0/0\"]\n  }\n}\n"
	result, rules := scanWithout(t, kics.ErrNoLibrary, map[string]string{"main.tf": bucket})
	if result.State != scan.Degraded || len(result.Reasons) != 1 || result.Reasons[0].Code != "unavailable" ||
		!strings.Contains(result.Reasons[0].Message, `run "make library"`) {
		t.Errorf("with infrastructure code: %+v", result)
	}
	if !slices.ContainsFunc(rules, func(id string) bool { return strings.HasPrefix(id, "iac/cloud/") }) {
		t.Errorf("our own rules found %v", rules)
	}
	result, rules = scanWithout(t, kics.ErrNoLibrary, map[string]string{"main.yaml": "a: 1\n"})
	if result.State != scan.Succeeded || len(rules) > 0 {
		t.Errorf("without infrastructure code: %+v, %v", result, rules)
	}
	result, _ = scanWithout(t, errors.New("broken"), map[string]string{"main.tf": bucket})
	if result.State != scan.Failed {
		t.Errorf("with a broken library: %+v", result)
	}
}

// Our own rules are listed without the library, too.
func TestListRulesWithoutLibrary(t *testing.T) {
	all, err := listRules(kics.Rules)
	if err != nil {
		t.Fatal(err)
	}
	own, err := listRules(func() ([]*finding.Rule, error) { return nil, kics.ErrNoLibrary })
	if !errors.Is(err, scan.ErrMissingPart) || len(own) == 0 || len(own) >= len(all) {
		t.Errorf("%d of %d rules, %v", len(own), len(all), err)
	}
	if own, err := listRules(func() ([]*finding.Rule, error) { return nil, errors.New("broken") }); err == nil ||
		own != nil {
		t.Errorf("of a broken library %d rules, %v", len(own), err)
	}
}

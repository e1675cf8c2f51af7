package scan_test

import (
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// inspector reports one finding per file, by its first line: "checklist" of a rule of checklists,
// "fold" with a cause that all of them share.
var inspector = &scan.Analyzer{
	ID: "iac/inspector", Version: 1, Analysis: finding.IaC, Doc: "test",
	Rules:   func() ([]*finding.Rule, error) { return []*finding.Rule{danger, checklist}, nil },
	Project: inspectFiles,
}

var (
	danger = &finding.Rule{ID: "iac/inspector/danger", Name: "Danger", Severity: finding.Medium,
		Confidence: finding.HighConfidence}
	checklist = &finding.Rule{ID: "iac/inspector/checklist", Name: "Checklist", Severity: finding.Medium,
		Profile: finding.AllProfile}
)

func inspectFiles(p *scan.ProjectPass) error {
	for _, file := range p.Files {
		rule, f := danger, finding.Finding{Location: finding.Location{Path: file.Path, StartLine: 1}}
		switch file.Size {
		case int64(len("checklist")):
			rule = checklist
		case int64(len("fold")):
			f.Cause = "shared"
		}
		p.Report(rule, f)
	}
	return nil
}

func TestProfile(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": "danger", "b.yaml": "checklist", "tests/c.yaml": "danger",
		"tests/d.yaml": "checklist"})
	for profile, want := range map[finding.Profile][2]int{"": {1, 3}, finding.DefaultProfile: {1, 3},
		finding.AllProfile: {4, 0}} {
		r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{inspector}, Profile: profile})
		st := r.Statuses[0]
		if st.Findings != want[0] || st.OutsideProfile != want[1] || len(r.findings) != want[0] {
			t.Errorf("profile %q: status %+v with %d findings, want %v", profile, st, len(r.findings), want)
		}
	}
	err := scan.Run(t.Context(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{inspector}, Profile: "most"},
		&record{})
	if err == nil {
		t.Error("an unknown profile is accepted")
	}
}

func TestFoldByCause(t *testing.T) {
	dir := write(t, map[string]string{"a/tests/x.yaml": "fold", "b/x.yaml": "fold", "c/x.yaml": "fold",
		"d.yaml": "danger"})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{inspector}})
	if len(r.findings) != 2 {
		t.Fatalf("got %d findings, want 2: %v", len(r.findings), r.places())
	}
	f := r.findings[0]
	// The file in tests comes first, but weighs less than the others.
	if f.Location.Path != "b/x.yaml" || f.Severity != finding.Medium || len(f.Also) != 2 ||
		f.Also[0].Path != "c/x.yaml" || f.Also[1].Path != "a/tests/x.yaml" || f.Also[1].StartLine != 1 {
		t.Errorf("folded into %+v", f)
	}
	if f.Confidence != finding.HighConfidence {
		t.Errorf("the finding has the confidence %q, want that of its rule", f.Confidence)
	}
}

// twin reports the same dangers by a rule of its own, for which the inspector's stands.
var twin = &scan.Analyzer{
	ID: "iac/twin", Version: 1, Analysis: finding.IaC, Doc: "test",
	Rules: func() ([]*finding.Rule, error) { return []*finding.Rule{twinRule}, nil },
	Project: func(p *scan.ProjectPass) error {
		for _, file := range p.Files {
			p.Report(twinRule, finding.Finding{Location: finding.Location{Path: file.Path, StartLine: 1}})
		}
		return nil
	},
}

var twinRule = &finding.Rule{ID: "iac/twin/danger", Name: "Danger", Severity: finding.Medium}

// folding reports the files as one finding that also stands for the twin's.
var folding = &scan.Analyzer{
	ID: "iac/folding", Version: 1, Analysis: finding.IaC, Doc: "test",
	Rules: func() ([]*finding.Rule, error) { return []*finding.Rule{danger}, nil },
	Project: func(p *scan.ProjectPass) error {
		for _, file := range p.Files {
			p.Report(danger, finding.Finding{Location: finding.Location{Path: file.Path, StartLine: 1}, Cause: "shared",
				EquivalentRules: []string{twinRule.ID}})
		}
		return nil
	},
}

func TestFoldedFindingReplacesTwinsOfAllPlaces(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": "x", "b.yaml": "x", "c.yaml": "x"})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{folding, twin}})
	if len(r.findings) != 1 || len(r.findings[0].Also) != 2 || r.findings[0].RuleID != danger.ID {
		t.Errorf("got %d findings at %v, want one with three places", len(r.findings), r.places())
	}
}

// File analyzers see one file at a time; what has one cause in several files is one finding all the
// same.
func TestFoldFindingsOfFiles(t *testing.T) {
	keys := &scan.Analyzer{
		ID: "secrets/keys", Version: 1, Analysis: finding.Secret, Doc: "test",
		Rules: func() ([]*finding.Rule, error) { return []*finding.Rule{danger}, nil },
		Match: func(string) bool { return true },
		File: func(p *scan.FilePass) error {
			b, err := p.ReadFile()
			if err != nil {
				return err
			}
			p.Report(danger, finding.Finding{Location: finding.Location{StartLine: 1}, Cause: string(b)})
			return nil
		},
	}
	dir := write(t, map[string]string{"a.env": "one", "b.env": "two", "tests/c.env": "one", "z.env": "one"})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{keys}})
	if got := strings.Join(r.places(), " "); got != "a.env:1 b.env:1" {
		t.Fatalf("findings at %s", got)
	}
	if also := r.findings[0].Also; len(also) != 2 || also[0].Path != "z.env" || also[1].Path != "tests/c.env" {
		t.Errorf("the first finding is also at %+v", also)
	}
	if st := r.Statuses[0]; st.Findings != 2 {
		t.Errorf("the status counts %d findings, want 2", st.Findings)
	}
}

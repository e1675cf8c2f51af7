package scan_test

import (
	"errors"
	"slices"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestSummary(t *testing.T) {
	var s scan.Summary
	cleared := &finding.PackageMatch{VEX: &finding.VEXStatement{Status: finding.VEXNotAffected}}
	err := errors.Join(s.Config(&scan.Config{Root: "shop"}),
		s.Package(&finding.Package{}), s.Package(&finding.Package{}), s.Rule(&finding.Rule{}),
		s.Progress(&scan.Progress{Percent: 5}),
		s.Finding(&finding.Finding{Severity: finding.High, Analysis: finding.SAST}),
		s.Finding(&finding.Finding{Severity: finding.Critical, Analysis: finding.SCA, Package: cleared}),
		s.Finding(&finding.Finding{Severity: finding.Low, Analysis: finding.SCA, Package: &finding.PackageMatch{}}),
		s.Operation(&finding.Operation{Outcome: finding.Reached, Created: []finding.CreatedObject{{Mark: "m"}}}),
		s.Operation(&finding.Operation{Outcome: finding.Reached,
			Authorization: &finding.Authorization{Reason: "one user"}}),
		s.Status(&scan.Status{Analyzer: "a", State: scan.Succeeded, Reasons: []scan.Reason{
			{Path: "vendor/", Skipped: true}, {Path: "b.min.js", Skipped: true}, {Path: "broken.go"}}}),
		s.Status(&scan.Status{Analyzer: "b", State: scan.Degraded,
			Reasons: []scan.Reason{{Path: "vendor/", Skipped: true}}}))
	if err != nil {
		t.Fatal(err)
	}
	for least, want := range map[finding.Severity]int{finding.Critical: 0, finding.High: 1, finding.Low: 2} {
		if got := s.AtLeast(least); got != want {
			t.Errorf("at least %s: got %d, want %d", least, got, want)
		}
	}
	if s.Total() != 3 || s.Packages != 2 || s.ByAnalysis[finding.SCA] != 2 || s.Setup.Root != "shop" {
		t.Errorf("got %+v", s)
	}
	if s.Operations[finding.Reached] != 2 || len(s.Created) != 1 || s.Authorization["one user"] != 1 {
		t.Errorf("operations: got %v, %v, %v", s.Operations, s.Created, s.Authorization)
	}
	var skipped []string
	for _, r := range s.Skipped() {
		skipped = append(skipped, r.Path)
	}
	if want := []string{"b.min.js", "vendor/"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped: got %q, want %q", skipped, want)
	}
	if incomplete := s.Incomplete(); s.Complete() || len(incomplete) != 1 || incomplete[0].Analyzer != "b" {
		t.Errorf("incomplete: got %+v", incomplete)
	}
	if err := s.Config(&scan.Config{}); err != nil || s.Total() != 0 || !s.Complete() {
		t.Errorf("a second scan begins with %d findings, %v", s.Total(), err)
	}
}

// failing is a handler that fails at findings.
type failing struct{ scan.Summary }

func (*failing) Finding(*finding.Finding) error { return errors.New("full") }

func TestTee(t *testing.T) {
	var first, last scan.Summary
	h := scan.Tee(&first, &failing{}, &last)
	if err := errors.Join(h.Config(&scan.Config{}), h.Rule(&finding.Rule{}), h.Package(&finding.Package{}),
		h.Progress(&scan.Progress{}), h.Operation(&finding.Operation{Outcome: finding.Reached}),
		h.Status(&scan.Status{})); err != nil {
		t.Fatal(err)
	}
	if last.Packages != 1 || last.Operations[finding.Reached] != 1 || len(last.Statuses) != 1 {
		t.Errorf("the last handler got %+v", last)
	}
	if err := h.Finding(&finding.Finding{Severity: finding.High}); err == nil || first.Total() != 1 ||
		last.Total() != 0 {
		t.Errorf("a failing handler: %v, %d findings before it, %d behind it", err, first.Total(), last.Total())
	}
}

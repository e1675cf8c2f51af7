package scan_test

import (
	"fmt"
	"slices"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// Findings of one rule and cause are one, with its places. It keeps the fingerprint that the
// first place had by itself, and where that is gone it is still the same flaw.
func TestFold(t *testing.T) {
	rule := &finding.Rule{ID: "dast/test/flaw", Analysis: finding.DAST, Name: "Flaw", ShortDescription: "A flaw",
		Severity: finding.Low}
	other := &finding.Rule{ID: "dast/test/other", Analysis: finding.DAST, Name: "Other",
		ShortDescription: "Another flaw", Severity: finding.Low}
	run := func(cause string, pages ...int) []finding.Finding {
		var got scantest.Kept
		a := liveAnalyzer(func(p *scan.LivePass) error {
			for _, n := range slices.Backward(pages) {
				at := fmt.Sprintf("shop.example.org/page%02d", n)
				f := finding.Finding{Location: finding.Location{Path: at}, Identity: "GET " + at + " header:User-Agent",
					Cause: cause, Live: &finding.Live{URL: "http://" + at, Method: "GET", Proof: []string{"p"}}}
				if n == 5 {
					f.Severity = finding.High
				}
				p.Report(rule, f)
				p.Report(other, f)
			}
			p.Report(rule, finding.Finding{Location: finding.Location{Path: "shop.example.org/page01"},
				Identity: "GET query:x", Live: &finding.Live{Method: "GET"}})
			return nil
		})
		if err := scan.Run(t.Context(),
			scan.Options{Live: &scan.Live{Target: scan.Target{URL: "http://shop.example.org/"}, ID: "s", Dial: noDial},
				Analyzers: []*scan.Analyzer{a}}, &got); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got.Findings, func(a, b finding.Finding) int { return len(b.Also) - len(a.Also) })
		return got.Findings
	}
	var pages []int
	for n := range 31 {
		pages = append(pages, n)
	}
	alone := run("", pages...)
	if len(alone) != 2*31+1 {
		t.Fatalf("%d findings without a cause", len(alone))
	}
	folded := run("header user-agent", pages...)
	if len(folded) != 3 {
		t.Fatalf("%d findings, not 3", len(folded))
	}
	for _, f := range folded[:2] {
		if len(f.Also) != 30 || f.Location.Path != "shop.example.org/page00" ||
			f.Also[29].Path != "shop.example.org/page30" || f.Severity != finding.High ||
			f.Live.Proof[1] != "The same flaw showed in 31 operations of the target." {
			t.Errorf("%+v, %+v", f, f.Live)
		}
		if !slices.ContainsFunc(alone, func(a finding.Finding) bool {
			return a.RuleID == f.RuleID && a.Fingerprint.Place == f.Fingerprint.Place && a.Location == f.Location
		}) {
			t.Errorf("the fingerprint of the first place is lost: %v", f.Fingerprint)
		}
	}
	later := run("header user-agent", pages[3:]...)
	one := run("header user-agent", 7)
	for _, f := range folded[:2] {
		for _, list := range [][]finding.Finding{later, one} {
			if !slices.ContainsFunc(list, func(l finding.Finding) bool {
				return l.RuleID == f.RuleID && l.Fingerprint.Flaw == f.Fingerprint.Flaw
			}) {
				t.Errorf("%s is another flaw when its first place is gone", f.RuleID)
			}
		}
	}
}

package scancoverage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/scancoverage"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/scan"
	"merlon/internal/triage"
)

// TestGaps checks which states of coverage an export reports beside its findings.
func TestGaps(t *testing.T) {
	enabled := project.DefaultSettings(finding.Analyses)
	disabled := project.DefaultSettings(nil)
	at := time.Date(2026, 10, 2, 23, 30, 0, 0, time.FixedZone("", -3600))
	all := []finding.Analysis{finding.SAST, finding.SCA, finding.Container}
	for name, c := range map[string]struct {
		coverage triage.Coverage
		settings project.Settings
		asked    []finding.Analysis
		all      bool
		want     string // part of the message; empty for no gap
	}{
		"complete": {triage.Coverage{Analysis: finding.SAST, State: project.FullyAnalysed}, enabled, all, true, ""},
		"partial is in the statuses": {triage.Coverage{Analysis: finding.SAST, State: project.PartiallyAnalysed},
			enabled, all, true, ""},
		"never": {triage.Coverage{Analysis: finding.SAST, State: project.NeverAnalysed}, enabled, all, true,
			"never analyzed"},
		"never, of an analysis that was not asked for": {triage.Coverage{Analysis: finding.IaC,
			State: project.NeverAnalysed}, enabled, all, true, ""},
		"never, but disabled": {triage.Coverage{Analysis: finding.SCA, State: project.NeverAnalysed}, disabled, all,
			true, ""},
		"never, disabled, and asked for by name": {triage.Coverage{Analysis: finding.SCA,
			State: project.NeverAnalysed}, disabled, all, false, "never analyzed"},
		"no images": {triage.Coverage{Analysis: finding.Container, State: project.NeverAnalysed}, enabled, all, true,
			""},
		"no images, asked for by name": {triage.Coverage{Analysis: finding.Container, State: project.NeverAnalysed},
			enabled, all, false, "never analyzed"},
		"failed": {triage.Coverage{Analysis: finding.SCA, State: project.FailedAnalysis, Failure: "out of memory"},
			enabled, all, true, "out of memory"},
		"stale": {triage.Coverage{Analysis: finding.SCA, State: project.StaleAnalysis, At: at}, enabled, all, true,
			"the scan of 2026-10-03"},
	} {
		got := scancoverage.Gaps([]triage.Coverage{c.coverage}, c.settings, c.asked, c.all)
		if c.want == "" {
			if len(got) != 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].State != scan.Failed || len(got[0].Reasons) != 1 {
			t.Errorf("%s: got %+v, want one failed status", name, got)
			continue
		}
		if r := got[0].Reasons[0]; r.Code != string(c.coverage.State) || !strings.Contains(r.Message, c.want) {
			t.Errorf("%s: %+v, want %q", name, r, c.want)
		}
	}
}

// TestSumCoverage checks that projects without a scan count as never analyzed, and that
// the number of findings is absent rather than zero for an analysis that never ran.
func TestSumCoverage(t *testing.T) {
	early, late := time.Unix(1_000, 0), time.Unix(2_000, 0)
	got := scancoverage.SumCoverage([]project.CoverageCount{
		{Analysis: finding.SAST, State: project.FullyAnalysed, Projects: 2, Oldest: late},
		{Analysis: finding.SAST, State: project.StaleAnalysis, Projects: 1, Oldest: early},
		{Analysis: finding.SCA, State: project.FailedAnalysis, Projects: 1},
	}, 5, map[finding.Analysis]int{finding.SAST: 7, finding.SCA: 3})
	if len(got) != len(finding.Analyses) {
		t.Fatalf("%d analyses", len(got))
	}
	seven := 7
	for _, b := range got {
		want := scancoverage.CoverageSummaryBody{Analysis: b.Analysis, Never: 5}
		switch b.Analysis {
		case finding.SAST:
			want = scancoverage.CoverageSummaryBody{Analysis: b.Analysis, Complete: 2, Stale: 1, Never: 2,
				OldestAt: &early, Open: &seven}
		case finding.SCA:
			want = scancoverage.CoverageSummaryBody{Analysis: b.Analysis, Failed: 1, Never: 4}
		}
		if diff := cmp.Diff(want, b); diff != "" {
			t.Errorf("%s (-want +got):\n%s", b.Analysis, diff)
		}
	}
}

// TestViewCoverage checks that a branch that was never scanned has no number of findings.
func TestViewCoverage(t *testing.T) {
	settings := project.DefaultSettings(finding.Analyses)
	never := scancoverage.ViewCoverage(&triage.Coverage{Analysis: finding.SAST, State: project.NeverAnalysed,
		Subjects: 3}, settings, 0)
	if never.Open != nil || never.AnalysedAt != nil || never.ScanID != nil || never.Subjects != 0 ||
		never.Reasons == nil || never.Hidden == nil {
		t.Errorf("never: %+v", never)
	}
	at := time.Unix(1_000, 0)
	failed := scancoverage.ViewCoverage(&triage.Coverage{Analysis: finding.Container, At: at, Run: "r", Subjects: 3,
		State: project.FailedAnalysis, FailedAt: at.Add(time.Hour), FailedRun: "f", Failure: "cut"}, settings, 4)
	if failed.Open == nil || *failed.Open != 4 || failed.Subjects != 3 || failed.Failure == nil ||
		failed.Failure.Message != "cut" || failed.Failure.ScanID != "f" || *failed.ScanID != "r" {
		t.Errorf("failed: %+v", failed)
	}
	if n := scancoverage.CountIfAnalyzed([]scancoverage.CoverageBody{never, failed}, finding.SAST, 1); n != nil {
		t.Errorf("an analysis that never ran counts %d", *n)
	}
	if n := scancoverage.CountIfAnalyzed([]scancoverage.CoverageBody{never, failed}, finding.Container,
		0); n == nil || *n != 0 {
		t.Errorf("an analysis that found nothing counts %v, want 0", n)
	}
}

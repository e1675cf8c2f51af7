package triage

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// The coverage of an analysis is that of its worst analyzer: one that failed beside one that
// succeeded leaves it partial, and only all of them together make it failed.
func TestSummarizeCoverage(t *testing.T) {
	sast := func(state scan.State, files int, reasons ...scan.Reason) scan.Status {
		return scan.Status{Analyzer: "sast/x", Analysis: finding.SAST, State: state, Files: files, Reasons: reasons}
	}
	gap := scan.Reason{Code: "timeout", Message: "slow", Path: "a.go"}
	for _, c := range []struct {
		name     string
		run      run.Run
		statuses []scan.Status
		want     AnalysisCoverage
	}{
		{"complete", run.Run{}, []scan.Status{sast(scan.Succeeded, 7)},
			AnalysisCoverage{Complete: true, Files: 7, Reasons: []CoverageReason{}}},
		{"degraded", run.Run{}, []scan.Status{sast(scan.Succeeded, 7), sast(scan.Degraded, 9, gap)},
			AnalysisCoverage{Files: 9, Reasons: []CoverageReason{{"timeout", "slow", "a.go"}}}},
		{"one failed", run.Run{}, []scan.Status{sast(scan.Failed, 0), sast(scan.Succeeded, 3)},
			AnalysisCoverage{Files: 3, Reasons: []CoverageReason{}}},
		{"all failed", run.Run{}, []scan.Status{sast(scan.Failed, 0), sast(scan.Failed, 0)},
			AnalysisCoverage{Failed: true, Reasons: []CoverageReason{}}},
		{"many reasons", run.Run{}, []scan.Status{sast(scan.Degraded, 1, gap, gap, gap, gap, gap)},
			AnalysisCoverage{Files: 1, Omitted: 2, Reasons: []CoverageReason{{"timeout", "slow", "a.go"},
				{"timeout", "slow", "a.go"}, {"timeout", "slow", "a.go"}}}},
		{"a long message", run.Run{}, []scan.Status{sast(scan.Degraded, 1, scan.Reason{Code: "error",
			Message: strings.Repeat("é", 200)})},
			AnalysisCoverage{Files: 1, Reasons: []CoverageReason{{"error", strings.Repeat("é", 120) + "…", ""}}}},
		{"fast", run.Run{Fast: true}, []scan.Status{sast(scan.Succeeded, 2)},
			AnalysisCoverage{Files: 2, Reasons: []CoverageReason{{"fast", "source code was analyzed function by " +
				"function: data flow between functions was not analyzed", ""}}}},
	} {
		c.want.Analysis = finding.SAST
		if diff := cmp.Diff([]AnalysisCoverage{c.want}, summarizeCoverage(&c.run, c.statuses)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got := summarizeCoverage(&run.Run{}, nil); len(got) != 0 {
		t.Errorf("without a status: got %+v", got)
	}
}

func TestCoverageState(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return now.AddDate(0, 0, n) }
	for _, c := range []struct {
		name     string
		coverage Coverage
		complete bool
		source   time.Time
		want     project.CoverageState
	}{
		{"never", Coverage{Analysis: finding.SAST}, false, time.Time{}, project.NeverAnalysed},
		{"complete", Coverage{Analysis: finding.SAST, At: day(-1)}, true, day(-1), project.FullyAnalysed},
		{"partial", Coverage{Analysis: finding.SAST, At: day(-1)}, false, day(-1), project.PartiallyAnalysed},
		{"old", Coverage{Analysis: finding.DAST, At: day(-31)}, true, time.Time{}, project.StaleAnalysis},
		{"left out by the newest scan of source", Coverage{Analysis: finding.SCA, At: day(-2)}, true, day(-1),
			project.StaleAnalysis},
		{"of an image, before a scan of source", Coverage{Analysis: finding.Container, At: day(-2)}, true, day(-1),
			project.FullyAnalysed},
		{"failed since", Coverage{Analysis: finding.SAST, At: day(-2), FailedAt: day(-1), Failure: "x"}, true, day(-2),
			project.FailedAnalysis},
		{"never but failed", Coverage{Analysis: finding.SAST, FailedAt: day(-1), Failure: "x"}, false, time.Time{},
			project.FailedAnalysis},
		{"failed before", Coverage{Analysis: finding.SAST, At: day(-1), FailedAt: day(-2), Failure: "x"}, true, day(-1),
			project.FullyAnalysed},
	} {
		got := c.coverage
		got.SetState(c.complete, c.source, now)
		if got.State != c.want || (got.Failure != "") != (c.want == project.FailedAnalysis) {
			t.Errorf("%s: got %s, failure %q, want %s", c.name, got.State, got.Failure, c.want)
		}
	}
}

func TestNeverAnalyzed(t *testing.T) {
	list := NeverAnalyzed("p", "main")
	if len(list) != len(finding.Analyses) {
		t.Fatalf("got %d analyses", len(list))
	}
	for i, c := range list {
		if c.Analysis != finding.Analyses[i] || c.State != project.NeverAnalysed || c.Reasons == nil ||
			c.Branch != "main" {
			t.Errorf("got %+v", c)
		}
	}
}

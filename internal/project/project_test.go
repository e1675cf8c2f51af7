package project_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/project"
)

func TestDefaultSettings(t *testing.T) {
	s := project.DefaultSettings([]finding.Analysis{finding.SAST, finding.SCA})
	if err := s.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for _, a := range finding.Analyses {
		// Secrets and pipelines have no switch; the others are on when they are available.
		want := slices.Contains([]finding.Analysis{finding.SAST, finding.SCA, finding.Secret, finding.CICD}, a)
		if got := s.Enabled(a); got != want {
			t.Errorf("%s enabled: got %v", a, got)
		}
		for _, sev := range finding.Severities {
			if !s.Shown(a, sev) {
				t.Errorf("%s findings of %s are hidden", sev, a)
			}
		}
	}
	s.SASTSeverities[0] = "changed"
	if s.SCASeverities[0] == "changed" || finding.Severities[0] == "changed" {
		t.Error("two settings share one list")
	}
}

func TestShown(t *testing.T) {
	s := project.DefaultSettings(nil)
	s.SASTSeverities, s.ContainerSeverities = []finding.Severity{finding.Critical}, nil
	for _, tt := range []struct {
		analysis finding.Analysis
		severity finding.Severity
		want     bool
	}{
		{finding.SAST, finding.Critical, true}, {finding.SAST, finding.High, false},
		{finding.Container, finding.Critical, false}, {finding.IaC, finding.Low, true},
		{finding.DAST, finding.Low, true}, {finding.Secret, finding.Low, true},
	} {
		if got := s.Shown(tt.analysis, tt.severity); got != tt.want {
			t.Errorf("%s %s: got %v", tt.analysis, tt.severity, got)
		}
	}
}

// Every setting that is not allowed is named at once.
func TestValidateNamesEverySetting(t *testing.T) {
	s := project.DefaultSettings(nil)
	s.ApplicationType, s.AnalysisFrequency, s.IssueCreationMode = "x", "x", "x"
	s.IaCSeverities = []finding.Severity{finding.High, "x"}
	var e *errs.Error
	if err := s.Validate(); !errors.As(err, &e) || e.Kind != errs.Invalid {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, d := range e.Details {
		got = append(got, d.Location)
	}
	slices.Sort(got)
	want := []string{"body.analysisFrequency", "body.applicationType", "body.iacSeverities", "body.issueCreationMode"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSumCoverage(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	got := project.SumCoverage([]project.CoverageCount{
		{Team: "a", Analysis: finding.SAST, State: project.FullyAnalysed, Projects: 1, Oldest: late},
		{Team: "b", Analysis: finding.SAST, State: project.FullyAnalysed, Projects: 2, Oldest: early},
		{Team: "b", Analysis: finding.SAST, State: project.NeverAnalysed, Projects: 1},
	}, 5)
	if len(got) != len(finding.Analyses)+1 {
		t.Fatalf("got %+v", got)
	}
	want := []project.CoverageCount{
		{Analysis: finding.SAST, State: project.NeverAnalysed, Projects: 2}, // one counted, one that nothing counts
		{Analysis: finding.SAST, State: project.FullyAnalysed, Projects: 3, Oldest: early},
	}
	if !slices.Equal(got[:2], want) {
		t.Errorf("got %+v, want %+v", got[:2], want)
	}
	for _, c := range got[2:] {
		if c.State != project.NeverAnalysed || c.Projects != 5 {
			t.Errorf("%s: got %+v", c.Analysis, c)
		}
	}
}

func TestCoverageStatesAreOrdered(t *testing.T) {
	if !project.FailedAnalysis.Worse(project.StaleAnalysis) || project.FullyAnalysed.Worse(project.PartiallyAnalysed) ||
		project.StaleAnalysis.Worse(project.StaleAnalysis) {
		t.Error("the states are not in their order")
	}
}

func TestTotalsAdd(t *testing.T) {
	a := project.Totals{CriticalRisk: 1, New: 2, Low: 3, Projects: 4, Risk: 90}
	a.Add(project.Totals{CriticalRisk: 1, New: 1, High: 5, Projects: 2, Risk: 70,
		Coverage: []project.CoverageCount{{Projects: 2}}})
	if a.CriticalRisk != 2 || a.New != 3 || a.Low != 3 || a.High != 5 || a.Projects != 6 || a.Risk != 90 ||
		len(a.Coverage) != 1 {
		t.Errorf("got %+v", a)
	}
}

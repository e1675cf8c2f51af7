package triage

import (
	"slices"
	"strings"
	"time"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file says what a number of findings rests on: which scan looked, when, and at how
// much. No findings means something only where an analysis looked.

// MaxAnalysisAge is how old the newest look of an analysis may be before it is stale.
const MaxAnalysisAge = 30 * 24 * time.Hour

// SourceAnalyses are the analyses that scans of source make together. One of them that
// the newest scan of the branch left out is stale.
var SourceAnalyses = []finding.Analysis{finding.SAST, finding.SCA, finding.IaC, finding.Secret, finding.CICD}

// A Coverage is what an analysis has looked at on a branch of a project. Of several
// images or running applications it describes the one that is covered worst.
type Coverage struct {
	ProjectID tenant.ProjectID
	Branch    string // empty while the project has no reference branch
	Analysis  finding.Analysis
	State     project.CoverageState
	At        time.Time // of the newest scan that looked; zero when none did
	Run       run.ID    // that scan
	Source    run.Source
	Files     int // that it looked at
	Subjects  int // images or running applications that were scanned
	Reasons   []CoverageReason
	Omitted   int // further reasons

	FailedAt  time.Time // of a later scan that failed; zero when none did
	FailedRun run.ID
	Failure   string
}

// A CoverageReason says what was not looked at.
type CoverageReason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
}

// Limits of what is kept of reasons: the scan has all of them.
const (
	maxCoverageReasons = 3
	maxReasonText      = 240 // bytes
)

// A AnalysisCoverage is what a scan says of one analysis.
type AnalysisCoverage struct {
	Analysis finding.Analysis
	Failed   bool // it could not look
	Complete bool
	Files    int
	Reasons  []CoverageReason
	Omitted  int
}

// summarizeCoverage sums up the statuses of a scan by analysis.
func summarizeCoverage(r *run.Run, statuses []scan.Status) []AnalysisCoverage {
	var out []AnalysisCoverage
	for _, a := range finding.Analyses {
		l := AnalysisCoverage{Analysis: a, Failed: true, Complete: true, Reasons: []CoverageReason{}}
		ran := false
		for _, s := range statuses {
			if s.Analysis != a {
				continue
			}
			ran = true
			l.Failed = l.Failed && s.State == scan.Failed
			l.Complete = l.Complete && s.State == scan.Succeeded
			l.Files = max(l.Files, s.Files)
			l.Omitted += s.Omitted
			for _, reason := range s.Reasons {
				l.addReason(CoverageReason{reason.Code, reason.Message, reason.Path})
			}
		}
		if !ran {
			continue
		}
		for _, limit := range runLimits(r, a) {
			l.Complete = false
			l.addReason(limit)
		}
		out = append(out, l)
	}
	return out
}

// addReason adds a coverage gap, up to the limit.
func (l *AnalysisCoverage) addReason(r CoverageReason) {
	if len(l.Reasons) == maxCoverageReasons {
		l.Omitted++
		return
	}
	r.Message, r.Path = truncateReason(r.Message), truncateReason(r.Path)
	l.Reasons = append(l.Reasons, r)
}

// truncateReason shortens a text for the summary of a scan.
func truncateReason(s string) string {
	if len(s) <= maxReasonText {
		return s
	}
	return strings.ToValidUTF8(s[:maxReasonText], "") + "…"
}

// runLimits returns what a run leaves out because of how it was started.
func runLimits(r *run.Run, a finding.Analysis) (out []CoverageReason) {
	if a == finding.SAST && r.Fast {
		out = append(out, CoverageReason{Code: "fast", Message: "source code was analyzed function by function: data " +
			"flow between functions was not analyzed"})
	}
	if r.Image != nil && len(r.Image.Severities) > 0 {
		text := "only findings of these severities were looked for:"
		for _, s := range r.Image.Severities {
			text += " " + string(s)
		}
		out = append(out, CoverageReason{Code: "severities", Message: text})
	}
	return out
}

// SetState sets the state of the coverage at a time. complete says that the newest scan that
// looked saw everything, source when the newest scan of the branch's source was.
func (c *Coverage) SetState(complete bool, source, now time.Time) {
	switch {
	case !c.FailedAt.IsZero() && c.FailedAt.After(c.At):
		c.State = project.FailedAnalysis
	case c.At.IsZero():
		c.State = project.NeverAnalysed
	case now.Sub(c.At) > MaxAnalysisAge || slices.Contains(SourceAnalyses, c.Analysis) && c.At.Before(source):
		c.State = project.StaleAnalysis
	case complete:
		c.State = project.FullyAnalysed
	default:
		c.State = project.PartiallyAnalysed
	}
	if c.State != project.FailedAnalysis {
		c.FailedAt, c.FailedRun, c.Failure = time.Time{}, "", ""
	}
}

// NeverAnalyzed returns the coverage of a branch that no scan has looked at.
func NeverAnalyzed(id tenant.ProjectID, branch string) []Coverage {
	out := make([]Coverage, len(finding.Analyses))
	for i, a := range finding.Analyses {
		out[i] = Coverage{ProjectID: id, Branch: branch, Analysis: a, State: project.NeverAnalysed,
			Reasons: []CoverageReason{}}
	}
	return out
}

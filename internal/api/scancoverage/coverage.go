package scancoverage

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file shows what numbers of findings rest on: a number without the coverage beside
// it would look the same when nothing was looked at.

// CoverageBody says how much of a branch an analysis has looked at.
type CoverageBody struct {
	Analysis finding.Analysis `json:"analysis" enum:"sast,sca,iac,secret,cicd,container,dast,api"`
	// Name of the branch; of the reference branch when none was requested.
	Branch     string                `json:"branch"`
	State      project.CoverageState `json:"state" enum:"complete,partial,failed,never,stale" doc:"complete: the latest scan analyzed everything; partial: see reasons; failed: the latest scan failed and the findings are from an earlier one; never: not analyzed yet; stale: the latest analysis is older than 30 days, or the latest scan of the branch skipped this analysis."`
	AnalysedAt *time.Time            `json:"analysedAt" doc:"Time of the latest analysis; null if never analyzed."`
	ScanID     *string               `json:"scanId" format:"uuid" doc:"Scan of the latest analysis; null if never analyzed."`
	// What started the latest analysis, such as a pipeline or a person.
	Source   run.Source              `json:"source,omitempty"`
	Open     *int                    `json:"open" doc:"Number of active findings (to_verify and confirmed); in an organization overview, the findings that match its filters. null if never analyzed, or if several branches are counted together."`
	Files    int                     `json:"files" doc:"Number of files that the scan analyzed."`
	Subjects int                     `json:"subjects,omitempty" doc:"Number of image repositories or running applications. With several, the coverage is that of the least covered one."`
	Reasons  []triage.CoverageReason `json:"reasons" doc:"First reasons for incomplete coverage; the scan lists all of them."`
	Omitted  int                     `json:"omittedReasons" doc:"Number of reasons not listed."`
	Failure  *coverageFailure        `json:"failure,omitempty" doc:"Failure of the latest scan, if state is failed."`
	Enabled  bool                    `json:"enabled" doc:"The analysis is enabled in the project settings."`
	Hidden   []finding.Severity      `json:"hiddenSeverities" doc:"Severities that the project settings exclude from all counts and lists."`
}

// coverageFailure is why the latest scan failed.
type coverageFailure struct {
	At      time.Time `json:"at"`
	ScanID  string    `json:"scanId" format:"uuid"`
	Message string    `json:"message"`
}

// ViewCoverage returns the coverage as responses show it; open is the number of active findings.
func ViewCoverage(c *triage.Coverage, settings project.Settings, open int) CoverageBody {
	out := CoverageBody{
		Analysis: c.Analysis, Branch: c.Branch, State: c.State, Source: c.Source, Files: c.Files,
		Reasons: endpoint.OrEmpty(c.Reasons), Omitted: c.Omitted,
		Enabled: settings.Enabled(c.Analysis), Hidden: []finding.Severity{},
	}
	// An analysis of source code has one subject, the repository: a number would say nothing.
	if c.Analysis == finding.Container || c.Analysis == finding.DAST || c.Analysis == finding.API {
		out.Subjects = c.Subjects
	}
	for _, s := range finding.Severities {
		if !settings.Shown(c.Analysis, s) {
			out.Hidden = append(out.Hidden, s)
		}
	}
	// Without an analysis the time, the scan and the number stay null: 0 would read as clean.
	if !c.At.IsZero() {
		at, id := c.At, string(c.Run)
		out.AnalysedAt, out.Open = &at, &open
		// The scan may have been deleted since, with its findings kept.
		if id != "" {
			out.ScanID = &id
		}
	}
	if c.State == project.FailedAnalysis {
		out.Failure = &coverageFailure{At: c.FailedAt, ScanID: string(c.FailedRun), Message: c.Failure}
	}
	return out
}

// Coverage returns the coverage of a project's branches, or with nil of its reference
// branch. cells are the project's numbers.
func (a *Reader) Coverage(ctx context.Context, sc tenant.Scope, p project.Project, branches []string,
	cells []triage.BranchBucket) ([]CoverageBody, error) {
	all, err := a.Stats.Coverages(ctx, sc, []tenant.ProjectID{p.ID}, branches)
	if err != nil {
		return nil, err
	}
	return endpoint.Convert(all[p.ID], func(c triage.Coverage) CoverageBody {
		open := 0
		for _, n := range cells {
			if n.Branch == c.Branch && n.Bucket.Analysis == c.Analysis && n.Bucket.Status.Active() &&
				p.Settings.Shown(c.Analysis, n.Bucket.Severity) {
				open += n.Count.N
			}
		}
		return ViewCoverage(&c, p.Settings, open)
	}), nil
}

// CoverageOf returns the coverage of one analysis on the reference branch or another.
func (a *Reader) CoverageOf(ctx context.Context, sc tenant.Scope, p project.Project,
	branch string) ([]CoverageBody, error) {
	cells, err := a.Numbers.ProjectCells(ctx, sc)
	if err != nil {
		return nil, err
	}
	return a.Coverage(ctx, sc, p, BranchList(branch), cells)
}

// BranchList returns the branch as a list; nil, which stands for the reference branch,
// for none.
func BranchList(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// CoverageSummaryBody says in how many projects an analysis has looked at how much.
type CoverageSummaryBody struct {
	Analysis finding.Analysis `json:"analysis" enum:"sast,sca,iac,secret,cicd,container,dast,api"`
	Complete int              `json:"complete" doc:"Number of projects whose latest scan has complete coverage."`
	Partial  int              `json:"partial"`
	Failed   int              `json:"failed"`
	Stale    int              `json:"stale"`
	Never    int              `json:"never" doc:"Number of projects that were never analyzed."`
	OldestAt *time.Time       `json:"oldestAnalysedAt" doc:"Oldest of the projects' latest analyses; null if no project was analyzed."`
	Open     *int             `json:"open,omitempty" doc:"Number of findings in the overview; omitted if no project was analyzed or findings are not counted per analysis."`
}

// SumCoverage adds up the counts of projects; total is how many projects there are. open
// may be nil.
func SumCoverage(counts []project.CoverageCount, total int, open map[finding.Analysis]int) []CoverageSummaryBody {
	out := make([]CoverageSummaryBody, len(finding.Analyses))
	for i, analysis := range finding.Analyses {
		b := &out[i]
		b.Analysis = analysis
		for _, c := range project.SumCoverage(counts, total) {
			if c.Analysis != analysis {
				continue
			}
			// Every project is in exactly one state per analysis, so the five numbers add up to
			// total.
			*map[project.CoverageState]*int{
				project.FullyAnalysed: &b.Complete, project.PartiallyAnalysed: &b.Partial,
				project.FailedAnalysis: &b.Failed,
				project.StaleAnalysis:  &b.Stale, project.NeverAnalysed: &b.Never,
			}[c.State] += c.Projects
			// The oldest one: a sum is as old as its oldest part.
			if oldest := c.Oldest; !oldest.IsZero() && (b.OldestAt == nil || oldest.Before(*b.OldestAt)) {
				b.OldestAt = &oldest
			}
		}
		if n := open[analysis]; open != nil && b.OldestAt != nil {
			b.Open = &n
		}
	}
	return out
}

// CountIfAnalyzed returns the number, or nil for an analysis that has never looked.
func CountIfAnalyzed(coverage []CoverageBody, analysis finding.Analysis, n int) *int {
	for _, c := range coverage {
		if c.Analysis == analysis && c.AnalysedAt != nil {
			return &n
		}
	}
	return nil
}

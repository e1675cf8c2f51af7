package api

import (
	"context"
	"time"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file shows what numbers of findings rest on: a number without the coverage beside
// it would look the same when nothing was looked at.

// coverageBody says how much of a branch an analysis has looked at.
type coverageBody struct {
	Analysis   finding.Analysis        `json:"analysis" enum:"sast,sca,iac,secret,cicd,container,dast,api"`
	Branch     string                  `json:"branch"`
	State      project.CoverageState   `json:"state" enum:"complete,partial,failed,never,stale" doc:"complete: the newest scan looked at everything; partial: see reasons; failed: the newest scan could not look, the findings are those of an older one; never: no scan has looked; stale: the newest scan that looked is older than 30 days, or the newest scan of the branch left this analysis out."`
	AnalysedAt *time.Time              `json:"analysedAt" doc:"By the newest scan that looked; null: none did."`
	ScanID     *string                 `json:"scanId" format:"uuid" doc:"That scan; null: there is none."`
	Source     run.Source              `json:"source,omitempty"`
	Open       *int                    `json:"open" doc:"Active findings of the analysis: to_verify and confirmed; in an overview of an organization those that its filters count. null: no scan has looked, or several branches are counted together."`
	Files      int                     `json:"files" doc:"That the scan looked at."`
	Subjects   int                     `json:"subjects,omitempty" doc:"Repositories of images, or running applications. Of several, all that is said here is said of the one that is covered worst."`
	Reasons    []triage.CoverageReason `json:"reasons" doc:"What was not looked at, the first reasons; the scan has all of them."`
	Omitted    int                     `json:"omittedReasons" doc:"Further reasons."`
	Failure    *coverageFailure        `json:"failure,omitempty" doc:"Of the newest scan, when state is failed."`
	Enabled    bool                    `json:"enabled" doc:"The settings of the project have the analysis switched on."`
	Hidden     []finding.Severity      `json:"hiddenSeverities" doc:"The settings of the project leave findings of these severities out of every number and list."`
}

type coverageFailure struct {
	At      time.Time `json:"at"`
	ScanID  string    `json:"scanId" format:"uuid"`
	Message string    `json:"message"`
}

func viewCoverage(c *triage.Coverage, settings project.Settings, open int) coverageBody {
	out := coverageBody{
		Analysis: c.Analysis, Branch: c.Branch, State: c.State, Source: c.Source, Files: c.Files,
		Reasons: list(c.Reasons), Omitted: c.Omitted,
		Enabled: settings.Enabled(c.Analysis), Hidden: []finding.Severity{},
	}
	if c.Analysis == finding.Container || c.Analysis == finding.DAST || c.Analysis == finding.API {
		out.Subjects = c.Subjects
	}
	for _, s := range finding.Severities {
		if !settings.Shown(c.Analysis, s) {
			out.Hidden = append(out.Hidden, s)
		}
	}
	if !c.At.IsZero() {
		at, id := c.At, string(c.Run)
		out.AnalysedAt, out.Open = &at, &open
		if id != "" {
			out.ScanID = &id
		}
	}
	if c.State == project.FailedAnalysis {
		out.Failure = &coverageFailure{At: c.FailedAt, ScanID: string(c.FailedRun), Message: c.Failure}
	}
	return out
}

// coverage returns the coverage of a project's branches, or with nil of its reference
// branch. cells are the project's numbers.
func (a *API) coverage(ctx context.Context, sc tenant.Scope, p project.Project, branches []string,
	cells []triage.BranchBucket) ([]coverageBody, error) {
	all, err := a.Stats.Coverages(ctx, sc, []tenant.ProjectID{p.ID}, branches)
	if err != nil {
		return nil, err
	}
	return each(all[p.ID], func(c triage.Coverage) coverageBody {
		open := 0
		for _, n := range cells {
			if n.Branch == c.Branch && n.Bucket.Analysis == c.Analysis && n.Bucket.Status.Active() &&
				p.Settings.Shown(c.Analysis, n.Bucket.Severity) {
				open += n.Count.N
			}
		}
		return viewCoverage(&c, p.Settings, open)
	}), nil
}

// coverageOf returns the coverage of one analysis on the reference branch or another.
func (a *API) coverageOf(ctx context.Context, sc tenant.Scope, p project.Project,
	branch string) ([]coverageBody, error) {
	cells, err := a.Numbers.ProjectCells(ctx, sc)
	if err != nil {
		return nil, err
	}
	return a.coverage(ctx, sc, p, plainBranch(branch), cells)
}

// plainBranch returns the branch as a list; nil, which stands for the reference branch,
// for none.
func plainBranch(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// coverageSummaryBody says in how many projects an analysis has looked at how much.
type coverageSummaryBody struct {
	Analysis finding.Analysis `json:"analysis" enum:"sast,sca,iac,secret,cicd,container,dast,api"`
	Complete int              `json:"complete" doc:"Projects in which the newest scan looked at everything."`
	Partial  int              `json:"partial"`
	Failed   int              `json:"failed"`
	Stale    int              `json:"stale"`
	Never    int              `json:"never" doc:"Projects in which no scan has looked."`
	OldestAt *time.Time       `json:"oldestAnalysedAt" doc:"Of the newest look in each project, the oldest; null: no project was looked at."`
	Open     *int             `json:"open,omitempty" doc:"Findings that the overview counts; left out when no project was looked at, and where findings are not counted by analysis."`
}

// sumCoverage adds up the counts of projects; total is how many projects there are. open
// may be nil.
func sumCoverage(counts []project.CoverageCount, total int, open map[finding.Analysis]int) []coverageSummaryBody {
	out := make([]coverageSummaryBody, len(finding.Analyses))
	for i, analysis := range finding.Analyses {
		b := &out[i]
		b.Analysis = analysis
		for _, c := range project.SumCoverage(counts, total) {
			if c.Analysis != analysis {
				continue
			}
			*map[project.CoverageState]*int{
				project.FullyAnalysed: &b.Complete, project.PartiallyAnalysed: &b.Partial,
				project.FailedAnalysis: &b.Failed,
				project.StaleAnalysis:  &b.Stale, project.NeverAnalysed: &b.Never,
			}[c.State] += c.Projects
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

// looked returns the number, or nil for an analysis that has never looked.
func looked(coverage []coverageBody, analysis finding.Analysis, n int) *int {
	for _, c := range coverage {
		if c.Analysis == analysis && c.AnalysedAt != nil {
			return &n
		}
	}
	return nil
}

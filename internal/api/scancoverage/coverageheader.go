package scancoverage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/scan"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file says beside exports what they rest on.

// coverageHeader is the header of exports, whose bodies have no place of ours:
// "sast=complete, sca=partial".
const coverageHeader = "Merlon-Coverage"

// AddCoverageHeader adds the coverage to an export.
func AddCoverageHeader(coverage []triage.Coverage, analyses []finding.Analysis,
	r *huma.StreamResponse) *huma.StreamResponse {
	var states []string
	for _, c := range coverage {
		if slices.Contains(analyses, c.Analysis) {
			states = append(states, string(c.Analysis)+"="+string(c.State))
		}
	}
	// The header must be set before the body is written, hence the wrapper around it.
	write := r.Body
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader(coverageHeader, strings.Join(states, ", "))
		write(hc)
	}}
}

// CoverageFor reads the coverage of a branch of the scope's project; of the reference
// branch when none is named.
func (a *Reader) CoverageFor(ctx context.Context, sc tenant.Scope, branch string) ([]triage.Coverage, error) {
	all, err := a.Stats.Coverages(ctx, sc, []tenant.ProjectID{sc.Project}, BranchList(branch))
	return all[sc.Project], err
}

// Gaps returns, as statuses of a scan, what the coverage says beyond the statuses of the
// last scans: analyses that failed since, are stale, or were never made. Images and
// running applications are not part of every project: that they were never analysed is a
// gap only when they are asked for.
func Gaps(coverage []triage.Coverage, settings project.Settings, asked []finding.Analysis, all bool) []scan.Status {
	var out []scan.Status
	for _, c := range coverage {
		if !slices.Contains(asked, c.Analysis) {
			continue
		}
		// A complete or partial analysis needs no status of its own: the last scan has one.
		message := ""
		switch c.State {
		case project.NeverAnalysed:
			// With all, the caller named no analysis. Then only enabled analyses of source code
			// count as missing.
			if all && (!slices.Contains(triage.SourceAnalyses, c.Analysis) || !settings.Enabled(c.Analysis)) {
				continue
			}
			message = "never analyzed: no scan of the branch ran this analysis"
		case project.FailedAnalysis:
			message = "the latest scan failed; findings are from an earlier scan: " + c.Failure
		case project.StaleAnalysis:
			message = fmt.Sprintf("stale: findings are from the scan of %s; later scans skipped the analysis, or it "+
				"is older than %d days",
				c.At.UTC().Format("2006-01-02"), int(triage.MaxAnalysisAge.Hours()/24))
		default:
			continue
		}
		out = append(out, scan.Status{Analyzer: string(c.Analysis), Analysis: c.Analysis, State: scan.Failed,
			Reasons: []scan.Reason{{Code: string(c.State), Message: message}}})
	}
	return out
}

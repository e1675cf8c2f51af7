package scancoverage

import (
	"context"

	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// ProjectStats reads the risk, counts and coverage of projects on their reference branches.
type ProjectStats interface {
	// Standings returns risk and open findings of projects; those never scanned are missing.
	Standings(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID) (map[tenant.ProjectID]triage.Posture,
		error)
	// Coverages returns the coverage of each analysis on the branches, or with nil on the
	// reference branch of each project.
	Coverages(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID,
		branches []string) (map[tenant.ProjectID][]triage.Coverage, error)
	// Totals sums up the projects of the organization that the caller can read.
	Totals(ctx context.Context, sc tenant.Scope) (project.Totals, error)
	// AnalysisStandings returns the latest scan and the open findings per analysis.
	AnalysisStandings(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID) ([]triage.AnalysisPosture, error)
}

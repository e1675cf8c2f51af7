package scancoverage

import (
	"context"

	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// ProjectStats reads the risk, counts and coverage of projects on their reference branches.
type ProjectStats interface {
	Standings(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID) (map[tenant.ProjectID]triage.Posture,
		error)
	Coverages(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID,
		branches []string) (map[tenant.ProjectID][]triage.Coverage, error)
	Totals(ctx context.Context, sc tenant.Scope) (project.Totals, error)
	AnalysisStandings(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID) ([]triage.AnalysisPosture, error)
}

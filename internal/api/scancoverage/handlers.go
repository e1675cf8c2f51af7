// Package scancoverage shows how completely the analyses covered a project: the state
// of each analysis, and the reasons of gaps.
package scancoverage

import (
	"context"

	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// A Reader reads the coverage of projects.
type Reader struct {
	// Stats reads coverage, and Numbers the counts of findings beside it.
	Stats   ProjectStats
	Numbers Cells
}

// Cells counts the findings of a project by branch. It is a part of findings.Numbers,
// declared here to keep the packages independent.
type Cells interface {
	ProjectCells(ctx context.Context, sc tenant.Scope) ([]triage.BranchBucket, error)
}

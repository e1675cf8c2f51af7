package scans

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/tenant"
)

// This file answers the questions about policies that clients ask after every
// scan. There are no policies in this build, and the answers say so.

type evaluationOut struct {
	Body struct {
		HasEvaluation bool   `json:"hasEvaluation"`
		Status        string `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,FAILED,NOT_STARTED"`
		Progress      int    `json:"progress"`
		Message       string `json:"message"`
	}
}

// GetEvaluationStatus responds that no policy was evaluated for the scan.
func (a *Handlers) GetEvaluationStatus(ctx context.Context, sc tenant.Scope, in *scanIn) (*evaluationOut, error) {
	if _, err := a.scan(ctx, sc, in); err != nil {
		return nil, err
	}
	out := &evaluationOut{}
	out.Body.Status, out.Body.Message = "NOT_STARTED", "no policies"
	return out, nil
}

type scanViolationsIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ScanID    string `path:"scanId" format:"uuid"`
	endpoint.ClampedPage
}

type projectViolationsIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	endpoint.ClampedPage
}

type violationsOut struct {
	Body struct {
		Violations []struct{} `json:"violations"`
		Total      int        `json:"total"`
		Page       int        `json:"page"`
		Limit      int        `json:"limit"`
	}
}

// ListScanViolations lists the policy violations of a scan: none.
func (a *Handlers) ListScanViolations(ctx context.Context, sc tenant.Scope,
	in *scanViolationsIn) (*violationsOut, error) {
	if _, err := a.scan(ctx, sc, &scanIn{ProjectID: in.ProjectID, ScanID: in.ScanID}); err != nil {
		return nil, err
	}
	return noViolations(in.ClampedPage), nil
}

// ListProjectViolations lists the policy violations of a project: none.
func (a *Handlers) ListProjectViolations(_ context.Context, _ tenant.Scope,
	in *projectViolationsIn) (*violationsOut, error) {
	return noViolations(in.ClampedPage), nil
}

func noViolations(p endpoint.ClampedPage) *violationsOut {
	out := &violationsOut{}
	out.Body.Violations = []struct{}{}
	out.Body.Page, out.Body.Limit = p.Get()
	return out
}

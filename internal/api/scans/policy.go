package scans

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/tenant"
)

// This file serves the policy operations that clients call after every scan. There are no
// policies in this version, and the responses say so.

// evaluationOutput is the progress of a policy evaluation.
type evaluationOutput struct {
	Body struct {
		// Always false: clients then stop polling.
		HasEvaluation bool   `json:"hasEvaluation"`
		Status        string `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,FAILED,NOT_STARTED"`
		Progress      int    `json:"progress"`
		Message       string `json:"message"`
	}
}

// GetEvaluationStatus responds that no policy was evaluated for the scan.
func (a *Handlers) GetEvaluationStatus(ctx context.Context, sc tenant.Scope, in *scanInput) (*evaluationOutput, error) {
	if _, err := a.findScan(ctx, sc, in); err != nil {
		return nil, err
	}
	out := &evaluationOutput{}
	out.Body.Status, out.Body.Message = "NOT_STARTED", "no policies"
	return out, nil
}

// scanViolationsInput selects a page of the violations of a scan.
type scanViolationsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ScanID    string `path:"scanId" format:"uuid"`
	endpoint.ClampedPage
}

// projectViolationsInput selects a page of the violations of a project.
type projectViolationsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	endpoint.ClampedPage
}

// violationsOutput is an empty page.
type violationsOutput struct {
	Body struct {
		Violations []struct{} `json:"violations"`
		Total      int        `json:"total"`
		Page       int        `json:"page"`
		Limit      int        `json:"limit"`
	}
}

// ListScanViolations lists the policy violations of a scan: none.
func (a *Handlers) ListScanViolations(ctx context.Context, sc tenant.Scope,
	in *scanViolationsInput) (*violationsOutput, error) {
	if _, err := a.findScan(ctx, sc, &scanInput{ProjectID: in.ProjectID, ScanID: in.ScanID}); err != nil {
		return nil, err
	}
	return noViolations(in.ClampedPage), nil
}

// ListProjectViolations lists the policy violations of a project: none.
func (a *Handlers) ListProjectViolations(_ context.Context, _ tenant.Scope,
	in *projectViolationsInput) (*violationsOutput, error) {
	return noViolations(in.ClampedPage), nil
}

// noViolations returns an empty page with the numbers that were requested.
func noViolations(p endpoint.ClampedPage) *violationsOutput {
	out := &violationsOutput{}
	out.Body.Violations = []struct{}{}
	out.Body.Page, out.Body.Limit = p.Get()
	return out
}

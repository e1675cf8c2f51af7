package scans

import (
	"cmp"
	"context"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/targets"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file starts, pauses and resumes scans of running applications, and shows what
// became of their operations.

// startTargetScanInput selects the profile of a scan, at most that of the target.
type startTargetScanInput struct {
	targets.TargetInput
	Body struct {
		Branch  string       `json:"branch,omitempty" doc:"Branch. Default: main."`
		Source  string       `json:"sourceType,omitempty" doc:"Source of the scan. Default: manual."`
		Profile scan.Profile `json:"profile,omitempty" enum:"passive,safe,standard,full" doc:"Scan profile. Default and maximum: the profile of the target."`
	}
}

// startTargetScanOutput has the ID of the queued scan.
type startTargetScanOutput struct {
	Body struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
		ScanID  string `json:"scanId" format:"uuid"`
	}
}

// StartTargetScan starts a scan of a running application. Nothing is uploaded. What was
// shown about its hosts is looked at again when the scan begins.
func (a *Handlers) StartTargetScan(ctx context.Context, sc tenant.Scope,
	in *startTargetScanInput) (*startTargetScanOutput, error) {
	t, err := a.Targets.TargetAt(ctx, sc, in.TargetInput)
	if err != nil {
		return nil, err
	}
	// The profile of the target is an upper limit that project members with the right to change
	// targets have set; the right to scan is not enough to exceed it.
	most := cmp.Or(t.Shown.Profile, scan.Standard)
	profile := cmp.Or(in.Body.Profile, most)
	if !most.Allows(profile) {
		return nil, errs.E(errs.Conflict, "profile not allowed: the target allows %s at most; update the target to "+
			"allow %s", most, profile)
	}
	// Every origin must be verified. A passive scan sends only requests that any visitor sends,
	// so it needs no proof.
	if profile != scan.Passive {
		all, err := a.Targets.Owners.Status(ctx, sc, &t.Shown)
		if err != nil {
			return nil, err
		}
		for n := range all {
			if !all[n].Verified(a.Now()) {
				return nil, errs.E(errs.Conflict, "ownership of %s not verified: verify the ownership of the target, "+
					"or use the profile passive", all[n].Origin.URL())
			}
		}
	}
	start := run.Start{Branch: in.Body.Branch, Source: run.Source(strings.ToLower(in.Body.Source))}
	r, err := a.Scans.StartTarget(ctx, sc, start, run.Target{ID: string(t.ID), Name: t.Name, URL: t.Shown.URL,
		Profile: profile}, len(t.Shown.Descriptions) > 0)
	if err != nil {
		return nil, err
	}
	out := &startTargetScanOutput{}
	out.Body.Success, out.Body.ScanID, out.Body.Message = true, string(r.ID), "Scan of "+t.Shown.URL+" queued"
	return out, nil
}

// PauseScan pauses a scan of a running application: it sends no requests until it is resumed.
func (a *Handlers) PauseScan(ctx context.Context, sc tenant.Scope, in *scanInput) (*scanOutput, error) {
	return a.changeScan(ctx, sc, in, a.Scans.Pause)
}

// ResumeScan resumes a paused scan.
func (a *Handlers) ResumeScan(ctx context.Context, sc tenant.Scope, in *scanInput) (*scanOutput, error) {
	return a.changeScan(ctx, sc, in, a.Scans.Resume)
}

// changeScan applies a change to the scan that the address names.
func (a *Handlers) changeScan(ctx context.Context, sc tenant.Scope, in *scanInput,
	change func(context.Context, tenant.Scope, run.ID) (run.Run, error)) (*scanOutput, error) {
	id, err := in.runID()
	if err != nil {
		return nil, err
	}
	r, err := change(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	return &scanOutput{Body: a.showScan(r)}, nil
}

// operationsInput selects operations by their outcome.
type operationsInput struct {
	ProjectID string          `path:"projectId" format:"uuid"`
	ScanID    string          `path:"scanId" format:"uuid"`
	Outcome   finding.Outcome `query:"outcome" enum:"reached,refused,not-reached,declared" doc:"Outcome filter: only operations with this outcome."`
	endpoint.ClampedPage
}

// operationsOutput is a page of operations, and the number of each outcome over all pages.
type operationsOutput struct {
	Body struct {
		ScanID     string              `json:"scanId" format:"uuid"`
		Operations []finding.Operation `json:"operations"`
		Reached    int                 `json:"reached"`
		Refused    int                 `json:"refused"`
		NotReached int                 `json:"notReached"`
		Declared   int                 `json:"declared" doc:"Operations declared in source code, which a static scan does not request."`
		Total      int                 `json:"total" doc:"Number of operations with the requested outcome."`
		TotalPages int                 `json:"totalPages"`
		Page       int                 `json:"currentPage"`
		PageSize   int                 `json:"pageSize"`
	}
}

// ListOperations lists the outcome of each operation of a running application, or the operations
// that source code declares.
func (a *Handlers) ListOperations(ctx context.Context, sc tenant.Scope,
	in *operationsInput) (*operationsOutput, error) {
	at := scanInput{ProjectID: in.ProjectID, ScanID: in.ScanID}
	id, err := at.runID()
	if err != nil {
		return nil, err
	}
	page, size := in.Get()
	found, counts, err := a.Results.Operations(ctx, sc, run.OperationQuery{Run: id, Outcome: in.Outcome,
		Offset: (page - 1) * size, Limit: size})
	if err != nil {
		return nil, err
	}
	out := &operationsOutput{}
	b := &out.Body
	b.ScanID, b.Operations = string(id), found
	b.Reached, b.Refused, b.NotReached = counts[finding.Reached], counts[finding.Refused], counts[finding.NotReached]
	b.Declared = counts[finding.Declared]
	if b.Total = counts[in.Outcome]; in.Outcome == "" {
		b.Total = b.Reached + b.Refused + b.NotReached + b.Declared
	}
	b.Page, b.PageSize, b.TotalPages = page, size, endpoint.Pages(b.Total, size)
	return out, nil
}

package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"merlon/internal/remediation"
	"merlon/internal/tenant"
	"merlon/internal/triage"
	"merlon/internal/upgrade"
)

// This file answers which upgrades clear findings of vulnerable packages.

// Remedies looks for upgrades.
type Remedies interface {
	Plan(ctx context.Context, sc tenant.Scope, r remediation.Request) (remediation.Answer, string, error)
	Job(ctx context.Context, sc tenant.Scope, id string) (remediation.Job, error)
}

type startUpgradeIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      struct {
		VulnerabilityIDs []string `json:"vulnerabilityIds" doc:"Findings of the analysis sca: 1 to 5000. More than 100 become a job."`
		UpdateLevel      string   `json:"updateLevel,omitempty" doc:"patch, minor, major, or auto: the smallest step that does the most. auto when missing."`
		SingleFix        bool     `json:"singleFix,omitempty" doc:"Clear each by the smallest upgrade, instead of all of a package by one."`
		CreatePR         bool     `json:"createPr,omitempty" doc:"Accepted; no project is linked to a repository yet, which prResult says."`
		TargetBranch     string   `json:"targetBranch,omitempty" doc:"Accepted: the branch that a change would be proposed for."`
	}
}

type startUpgradeOut struct {
	Body struct {
		ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
		Success   bool             `json:"success"`
		Status    string           `json:"status" enum:"ok,partial,no_fix,error"`
		Message   string           `json:"message"`
		remediation.Answer
		JobID string `json:"jobId,omitempty" doc:"Of a request that is too large to be answered at once; the results are empty then."`
	}
}

// startUpgrade looks for upgrades, at once or by a job.
func (a *API) startUpgrade(ctx context.Context, sc tenant.Scope, in *startUpgradeIn) (*startUpgradeOut, error) {
	r := remediation.Request{Level: upgrade.Level(strings.ToLower(in.Body.UpdateLevel)), Single: in.Body.SingleFix,
		PullRequest: in.Body.CreatePR}
	if r.Level == "" {
		r.Level = upgrade.Auto
	}
	switch n := len(in.Body.VulnerabilityIDs); {
	case !slices.Contains(upgrade.Levels, r.Level):
		return nil, invalid("body.updateLevel", "expected one of "+joined(upgrade.Levels))
	case n == 0 || n > remediation.MaxFindings:
		return nil, invalid("body.vulnerabilityIds", "needs 1 to 5000 identifiers")
	}
	seen := map[triage.ID]bool{}
	for _, text := range in.Body.VulnerabilityIDs {
		id, err := tenant.ParseID("body.vulnerabilityIds", text)
		if err != nil {
			return nil, invalid("body.vulnerabilityIds", "holds what is no identifier")
		}
		if !seen[triage.ID(id)] {
			seen[triage.ID(id)], r.Findings = true, append(r.Findings, triage.ID(id))
		}
	}
	answer, job, err := a.Remedies.Plan(ctx, sc, r)
	if err != nil {
		return nil, err
	}
	out := &startUpgradeOut{}
	out.Body.ProjectID, out.Body.Answer, out.Body.JobID = sc.Project, answer, job
	if job != "" {
		out.Body.Success, out.Body.Status, out.Body.Message, out.Body.Total = true, "ok", "The request is large: ask "+
			"for the job", len(r.Findings)
		return out, nil
	}
	out.Body.Status, out.Body.Message = answer.Outcome(), answer.Message()
	out.Body.Success = out.Body.Status != "error"
	return out, nil
}

type upgradeJobIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	JobID     string `path:"jobId" format:"uuid"`
}

// UpgradeJobFields are what both answers about a job say.
type UpgradeJobFields struct {
	JobID       string            `json:"jobId" format:"uuid"`
	ProjectID   tenant.ProjectID  `json:"projectId" format:"uuid"`
	Status      remediation.State `json:"status" enum:"queued,processing,completed,failed"`
	Message     string            `json:"message"`
	CreatedAt   time.Time         `json:"createdAt"`
	CompletedAt *time.Time        `json:"completedAt,omitempty"`
}

type upgradeStatusOut struct {
	Body struct {
		UpgradeJobFields
		Total           int        `json:"totalVulnerabilities"`
		Processed       int        `json:"processedVulnerabilities"`
		Fixable         int        `json:"fixableCount"`
		Unfixable       int        `json:"unfixableCount"`
		Errors          int        `json:"errorCount"`
		ProgressPercent int        `json:"progressPercent"`
		ErrorMessage    string     `json:"errorMessage,omitempty"`
		StartedAt       *time.Time `json:"startedAt,omitempty"`
	}
}

type upgradeResultOut struct {
	Body struct {
		UpgradeJobFields
		Success bool `json:"success"`
		remediation.Answer
	}
}

// upgradeJob reads a job.
func (a *API) upgradeJob(ctx context.Context, sc tenant.Scope, in *upgradeJobIn) (remediation.Job, UpgradeJobFields, error) {
	id, err := tenant.ParseID("jobId", in.JobID)
	if err != nil {
		return remediation.Job{}, UpgradeJobFields{}, err
	}
	j, err := a.Remedies.Job(ctx, sc, id)
	return j, UpgradeJobFields{JobID: id, ProjectID: sc.Project, Status: j.State, Message: j.Message(),
		CreatedAt: j.CreatedAt, CompletedAt: timeOrNil(j.CompletedAt)}, err
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// getUpgradeStatus answers how far a job is.
func (a *API) getUpgradeStatus(ctx context.Context, sc tenant.Scope, in *upgradeJobIn) (*upgradeStatusOut, error) {
	j, fields, err := a.upgradeJob(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	out := &upgradeStatusOut{}
	b := &out.Body
	b.UpgradeJobFields, b.Total, b.Processed, b.ProgressPercent = fields, len(j.Request.Findings), j.Processed,
		j.Percent()
	b.Fixable, b.Unfixable, b.Errors, b.ErrorMessage, b.StartedAt = j.Answer.Fixable, j.Answer.Unfixable,
		j.Answer.Errors, j.Error, timeOrNil(j.StartedAt)
	return out, nil
}

// getUpgrade answers what a job has come to; without results while it has not ended.
func (a *API) getUpgrade(ctx context.Context, sc tenant.Scope, in *upgradeJobIn) (*upgradeResultOut, error) {
	j, fields, err := a.upgradeJob(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	out := &upgradeResultOut{}
	out.Body.UpgradeJobFields, out.Body.Answer = fields, j.Answer
	out.Body.Success = j.State == remediation.Completed && j.Answer.Outcome() != "error"
	if j.State != remediation.Completed {
		out.Body.Results, out.Body.Edits, out.Body.Commands = []remediation.Result{}, []upgrade.Edit{}, []string{}
		out.Body.Total = len(j.Request.Findings)
	}
	return out, nil
}

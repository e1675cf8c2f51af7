package findings

import (
	"context"
	"slices"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/remediation"
	"merlon/internal/tenant"
	"merlon/internal/triage"
	"merlon/internal/upgrade"
)

// This file lists upgrades that fix findings of vulnerable packages.

// Remedies looks for upgrades.
type Remedies interface {
	// Plan computes the upgrades of a request. With many findings it stores a job instead and
	// returns its ID beside an empty result; the ID is empty when the result is complete.
	Plan(ctx context.Context, sc tenant.Scope, r remediation.Request) (remediation.Answer, string, error)
	// Job returns the job of the scope's project with its progress and, once completed, its
	// result.
	Job(ctx context.Context, sc tenant.Scope, id string) (remediation.Job, error)
}

// startUpgradeInput selects the findings to fix and how far versions may change.
type startUpgradeInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      struct {
		VulnerabilityIDs []string `json:"vulnerabilityIds" doc:"IDs of 1 to 5000 SCA findings. More than 100 are processed as a background job."`
		UpdateLevel      string   `json:"updateLevel,omitempty" doc:"Largest version change: patch, minor, major, or auto (the smallest change that fixes the most). Default: auto."`
		SingleFix        bool     `json:"singleFix,omitempty" doc:"Fix each finding by its smallest upgrade instead of one upgrade for all findings of a package."`
		CreatePR         bool     `json:"createPr,omitempty" doc:"Create a pull request. Repository links are not supported yet; prResult reports this."`
		TargetBranch     string   `json:"targetBranch,omitempty" doc:"Target branch of the pull request."`
	}
}

// startUpgradeOutput has either the results or the ID of a job that computes them.
type startUpgradeOutput struct {
	Body struct {
		ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
		Success   bool             `json:"success"`
		Status    string           `json:"status" enum:"ok,partial,no_fix,error"`
		Message   string           `json:"message"`
		remediation.Answer
		JobID string `json:"jobId,omitempty" doc:"ID of the background job. Set when the request has more than 100 findings; the results are then empty."`
	}
}

// StartUpgrade looks for upgrades, at once or by a job.
func (a *Handlers) StartUpgrade(ctx context.Context, sc tenant.Scope,
	in *startUpgradeInput) (*startUpgradeOutput, error) {
	// The level is not an enum of the schema: older clients send it in upper case.
	r := remediation.Request{Level: upgrade.Level(strings.ToLower(in.Body.UpdateLevel)), Single: in.Body.SingleFix,
		PullRequest: in.Body.CreatePR}
	if r.Level == "" {
		r.Level = upgrade.Auto
	}
	switch n := len(in.Body.VulnerabilityIDs); {
	case !slices.Contains(upgrade.Levels, r.Level):
		return nil, endpoint.Invalid("body.updateLevel", "must be one of "+endpoint.Joined(upgrade.Levels))
	case n == 0 || n > remediation.MaxFindings:
		return nil, endpoint.Invalid("body.vulnerabilityIds", "must contain 1 to 5000 IDs")
	}
	// IDs are compared after parsing: clients send the same UUID in upper and in lower case, and
	// a finding that is counted twice would appear twice in the plan.
	seen := map[triage.ID]bool{}
	for _, text := range in.Body.VulnerabilityIDs {
		id, err := tenant.ParseID("body.vulnerabilityIds", text)
		if err != nil {
			return nil, endpoint.Invalid("body.vulnerabilityIds", "contains an invalid UUID")
		}
		if !seen[triage.ID(id)] {
			seen[triage.ID(id)], r.Findings = true, append(r.Findings, triage.ID(id))
		}
	}
	answer, job, err := a.Remedies.Plan(ctx, sc, r)
	if err != nil {
		return nil, err
	}
	out := &startUpgradeOutput{}
	out.Body.ProjectID, out.Body.Answer, out.Body.JobID = sc.Project, answer, job
	// Success means here only that the job exists; the total lets a client show progress before
	// it polls for the first time.
	if job != "" {
		out.Body.Success, out.Body.Status, out.Body.Message, out.Body.Total = true, "ok",
			"Background job created: poll its status", len(r.Findings)
		return out, nil
	}
	out.Body.Status, out.Body.Message = answer.Outcome(), answer.Message()
	out.Body.Success = out.Body.Status != "error"
	return out, nil
}

// upgradeJobInput names a job of a project. A job of another project is not found.
type upgradeJobInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	JobID     string `path:"jobId" format:"uuid"`
}

// UpgradeJobFields are what both responses about a job have.
type UpgradeJobFields struct {
	JobID       string            `json:"jobId" format:"uuid"`
	ProjectID   tenant.ProjectID  `json:"projectId" format:"uuid"`
	Status      remediation.State `json:"status" enum:"queued,processing,completed,failed"`
	Message     string            `json:"message"`
	CreatedAt   time.Time         `json:"createdAt"`
	CompletedAt *time.Time        `json:"completedAt,omitempty"`
}

// upgradeStatusOutput is the progress of a job, small enough to be polled: it has counts but
// no upgrades.
type upgradeStatusOutput struct {
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

// upgradeResultOutput is a job with its upgrades, in the form of the synchronous response.
type upgradeResultOutput struct {
	Body struct {
		UpgradeJobFields
		Success bool `json:"success"`
		remediation.Answer
	}
}

// upgradeJob reads a job.
func (a *Handlers) upgradeJob(ctx context.Context, sc tenant.Scope,
	in *upgradeJobInput) (remediation.Job, UpgradeJobFields, error) {
	id, err := tenant.ParseID("jobId", in.JobID)
	if err != nil {
		return remediation.Job{}, UpgradeJobFields{}, err
	}
	j, err := a.Remedies.Job(ctx, sc, id)
	return j, UpgradeJobFields{JobID: id, ProjectID: sc.Project, Status: j.State, Message: j.Message(),
		CreatedAt: j.CreatedAt, CompletedAt: timeOrNil(j.CompletedAt)}, err
}

// timeOrNil returns null for the zero time, which stands for an event that has not happened.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// GetUpgradeStatus responds with the progress of a job.
func (a *Handlers) GetUpgradeStatus(ctx context.Context, sc tenant.Scope,
	in *upgradeJobInput) (*upgradeStatusOutput, error) {
	j, fields, err := a.upgradeJob(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	out := &upgradeStatusOutput{}
	b := &out.Body
	b.UpgradeJobFields, b.Total, b.Processed, b.ProgressPercent = fields, len(j.Request.Findings), j.Processed,
		j.Percent()
	b.Fixable, b.Unfixable, b.Errors, b.ErrorMessage, b.StartedAt = j.Answer.Fixable, j.Answer.Unfixable,
		j.Answer.Errors, j.Error, timeOrNil(j.StartedAt)
	return out, nil
}

// GetUpgrade responds with the results of a job; they are empty until it has ended.
func (a *Handlers) GetUpgrade(ctx context.Context, sc tenant.Scope, in *upgradeJobInput) (*upgradeResultOutput, error) {
	j, fields, err := a.upgradeJob(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	out := &upgradeResultOutput{}
	out.Body.UpgradeJobFields, out.Body.Answer = fields, j.Answer
	out.Body.Success = j.State == remediation.Completed && j.Answer.Outcome() != "error"
	// A running or failed job may have a partial result. It is not shown: a client could take a
	// part of the upgrades for all of them.
	if j.State != remediation.Completed {
		out.Body.Results, out.Body.Edits, out.Body.Commands = []remediation.Result{}, []upgrade.Edit{}, []string{}
		out.Body.Total = len(j.Request.Findings)
	}
	return out, nil
}

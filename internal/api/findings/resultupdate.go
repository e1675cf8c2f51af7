package findings

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"merlon/internal/api/endpoint"
	"merlon/internal/errs"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// maxComment bounds a comment, in characters. The contract documents this number; longer
// justifications belong in a ticket.
const maxComment = 512

// DecisionBody is what somebody decides about a finding. Clients send any of the
// three.
type DecisionBody struct {
	Status   string `json:"status,omitempty" doc:"New status: to_verify, confirmed, resolved or ignored."`
	Priority string `json:"priority,omitempty" doc:"New priority: critical_urgent, urgent, normal, low or very_low. Overrides the computed priority until it is changed."`
	Comment  string `json:"comment,omitempty" doc:"Comment, at most 512 characters."`
	// A decision about the source is none about the application that runs, and the other
	// way round: it is made for both only when somebody says so.
	BothSides bool `json:"bothSides,omitempty" doc:"Apply the change to correlated findings of the same vulnerability, too: static ones (source) or dynamic ones (proven). Default: false."`
}

// parseDecision checks what was decided.
func (b DecisionBody) parseDecision(id triage.ID) (triage.Decision, error) {
	d := triage.Decision{Finding: id, Comment: strings.TrimSpace(b.Comment), IncludeLinked: b.BothSides}
	var details []errs.Detail
	// All mistakes are collected, so that one response reports them together.
	wrong := func(name, message string) {
		details = append(details, errs.Detail{Location: "body." + name, Message: message})
	}
	status := triage.Status(strings.ToLower(b.Status))
	switch {
	case status == "not_exploitable": // what older clients call it
		d.Status = triage.Ignored
	case status == "" || slices.Contains(triage.Statuses, status):
		d.Status = status
	default:
		wrong("status", "must be one of "+endpoint.Joined(triage.Statuses))
	}
	if d.Priority = triage.Priority(strings.ToLower(b.Priority)); d.Priority != "" &&
		!slices.Contains(triage.Priorities, d.Priority) {
		wrong("priority", "must be one of "+endpoint.Joined(triage.Priorities))
	}
	if utf8.RuneCountInString(d.Comment) > maxComment {
		wrong("comment", "must be at most 512 characters")
	}
	if strings.IndexByte(d.Comment, 0) >= 0 {
		wrong("comment", "must not contain NUL characters")
	}
	if details == nil && d.Status == "" && d.Priority == "" && d.Comment == "" {
		wrong("status", "at least one of status, priority and comment is required")
	}
	if details == nil {
		return d, nil
	}
	return d, &errs.Error{Kind: errs.Invalid, Message: details[0].Location + ": " + details[0].Message,
		Details: details}
}

// updateResultInput is a decision about one finding.
type updateResultInput struct {
	ProjectID       string `path:"projectId" format:"uuid"`
	VulnerabilityID string `path:"vulnerabilityId"`
	Body            DecisionBody
}

// UpdateResult decides about one finding.
func (a *Handlers) UpdateResult(ctx context.Context, sc tenant.Scope, in *updateResultInput) (*resultOutput, error) {
	id, err := findingID(in.VulnerabilityID)
	if err != nil {
		return nil, err
	}
	d, err := in.Body.parseDecision(id)
	if err != nil {
		return nil, err
	}
	f, err := a.Results.Decide(ctx, sc, d)
	if err != nil {
		return nil, err
	}
	out := &resultOutput{Body: viewDetail(&f)}
	return out, a.addLinkedFindings(ctx, sc, &f, &out.Body)
}

// updateResultsInput is a decision for each of several findings.
type updateResultsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      struct {
		Items []struct {
			VulnerabilityID string `json:"vulnerabilityId"`
			DecisionBody
		} `json:"items" minItems:"1" maxItems:"100"`
	}
}

// updateResultsOutput has one result per item, in the order of the request: a failed item
// does not undo the others.
type updateResultsOutput struct {
	Body struct {
		ProjectID    tenant.ProjectID   `json:"projectId" format:"uuid"`
		TotalCount   int                `json:"totalCount"`
		SuccessCount int                `json:"successCount"`
		FailureCount int                `json:"failureCount"`
		Results      []updateResultItem `json:"results" doc:"Results in the order of the items."`
	}
}

// updateResultItem is the outcome of one decision.
type updateResultItem struct {
	VulnerabilityID string `json:"vulnerabilityId"`
	Success         bool   `json:"success"`
	Error           string `json:"error,omitempty"`
}

// UpdateResults decides about many findings, each for itself.
func (a *Handlers) UpdateResults(ctx context.Context, sc tenant.Scope,
	in *updateResultsInput) (*updateResultsOutput, error) {
	out := &updateResultsOutput{}
	out.Body.ProjectID, out.Body.TotalCount, out.Body.Results = sc.Project, len(in.Body.Items), []updateResultItem{}
	for _, item := range in.Body.Items {
		err := a.decideOne(ctx, sc, item.VulnerabilityID, item.DecisionBody)
		result := updateResultItem{VulnerabilityID: item.VulnerabilityID, Success: err == nil}
		if err == nil {
			out.Body.SuccessCount++
		} else {
			var known *errs.Error
			if !errors.As(err, &known) || known.Kind == errs.Internal || known.Kind == errs.Unavailable {
				return nil, err // not the item's fault; what was decided before stays
			}
			out.Body.FailureCount++
			result.Error = known.Message
		}
		out.Body.Results = append(out.Body.Results, result)
	}
	return out, nil
}

// decideOne stores one decision of several.
func (a *Handlers) decideOne(ctx context.Context, sc tenant.Scope, vulnerabilityID string, body DecisionBody) error {
	id, err := findingID(vulnerabilityID)
	if err != nil {
		return err
	}
	d, err := body.parseDecision(id)
	if err != nil {
		return err
	}
	_, err = a.Results.Decide(ctx, sc, d)
	return err
}

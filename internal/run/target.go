package run

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file starts, pauses and resumes scans of running applications.

// A Target names the running application that a run examines. What is secret of it
// stays where it is stored: the worker that takes the run opens it.
type Target struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url"`
	// Profile says how far the run goes.
	Profile scan.Profile `json:"profile"`
	// Weaker says that an earlier run of the target on the branch went further: what
	// this one does not find is not gone.
	Weaker bool `json:"weaker,omitempty"`
}

// ResolvesMissing reports whether the run ends findings that it does not report where it looked.
func (r *Run) ResolvesMissing() bool { return r.Target == nil || !r.Target.Weaker }

// ofTargets lists the analyses that look at running applications.
var ofTargets = []finding.Analysis{finding.DAST, finding.API}

// StartTarget begins a run of the scope's project that examines a running application.
// Nothing is uploaded. The analysis of APIs is part of it when the target has a
// description.
func (s *Service) StartTarget(ctx context.Context, sc tenant.Scope, in Start, t Target, described bool) (Run, error) {
	if err := in.normalize(); err != nil {
		return Run{}, err
	}
	p, err := s.Store.RunProject(ctx, sc)
	if err != nil {
		return Run{}, err
	}
	enabled, analyses := 0, []finding.Analysis{}
	for _, a := range ofTargets {
		if a == finding.API && !described || !p.Settings.Enabled(a) {
			continue
		}
		enabled++
		if slices.Contains(s.Available, a) {
			analyses = append(analyses, a)
		}
	}
	switch {
	case enabled == 0:
		return Run{}, errs.E(errs.Conflict, "the analysis of running applications (dastEnabled, and apiEnabled for a "+
			"target with a description of its API) is switched off in the settings of the project")
	case len(analyses) < enabled:
		return Run{}, errs.E(errs.NotImplemented, "this build cannot make every analysis of running applications "+
			"that the settings of the project ask for")
	}
	now := s.Now().UTC().Truncate(time.Millisecond)
	r := Run{
		ID: ID(uuid.NewString()), OrganizationID: p.OrganizationID, TeamID: p.TeamID, ProjectID: p.ID,
		Branch: in.Branch, Source: in.Source, Analyses: analyses, Private: in.Private, Target: &t,
		Initiator: sc.Actor.UserID, FindingProfile: p.Settings.FindingProfile,
		State: Queued, Uploaded: true, UploadExpires: now, Languages: []string{}, CreatedAt: now, UpdatedAt: now,
	}
	r.Step = r.WaitingStep()
	if err := s.Store.CreateRun(ctx, sc, &r); err != nil {
		return Run{}, err
	}
	s.Wake()
	return r, nil
}

// Pause has a run of a running application wait until it is resumed: one that waits
// waits on, and one that is at work ends its requests within seconds. What it has kept
// is there when it goes on.
func (s *Service) Pause(ctx context.Context, sc tenant.Scope, id ID) (Run, error) {
	r, err := s.Store.PauseRun(ctx, sc, id, true)
	if err == nil {
		s.Wake() // its place may be free now
	}
	return r, err
}

// Resume lets a paused run go on.
func (s *Service) Resume(ctx context.Context, sc tenant.Scope, id ID) (Run, error) {
	r, err := s.Store.PauseRun(ctx, sc, id, false)
	if err == nil {
		s.Wake()
	}
	return r, err
}

// An OperationQuery is a page of what became of the operations of a running application
// in a run.
type OperationQuery struct {
	Run     ID
	Outcome finding.Outcome // empty: every
	Offset  int
	Limit   int // at least 1
}

package run

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// This file starts scans of container images.

// StartImage begins a run of the scope's project that looks at a container image.
// Nothing is uploaded: the worker fetches the image.
func (s *Service) StartImage(ctx context.Context, sc tenant.Scope, in Start, image Image) (Run, error) {
	if err := in.normalize(); err != nil {
		return Run{}, err
	}
	p, err := s.Store.RunProject(ctx, sc)
	if err != nil {
		return Run{}, err
	}
	switch {
	case !p.Settings.ContainerEnabled:
		return Run{}, errs.E(errs.Conflict, "the analysis of images is switched off in the settings of the project")
	case !slices.Contains(s.Available, finding.Container):
		return Run{}, errs.E(errs.NotImplemented, "this build cannot analyse images")
	}
	now := s.Now().UTC().Truncate(time.Millisecond)
	r := Run{
		ID: ID(uuid.NewString()), OrganizationID: p.OrganizationID, TeamID: p.TeamID, ProjectID: p.ID,
		Branch: in.Branch, Source: in.Source, Analyses: []finding.Analysis{finding.Container}, Private: in.Private,
		Image: &image, Initiator: sc.Actor.UserID, FindingProfile: p.Settings.FindingProfile,
		State: Queued, Uploaded: true, UploadExpires: now, Step: StepQueued, Languages: []string{}, CreatedAt: now,
		UpdatedAt: now,
	}
	r.Step = r.WaitingStep()
	if err := s.Store.CreateRun(ctx, sc, &r); err != nil {
		return Run{}, err
	}
	s.Wake()
	return r, nil
}

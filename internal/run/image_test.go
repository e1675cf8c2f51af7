package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

func TestStartImage(t *testing.T) {
	image := Image{Reference: "docker.io/acme/web:1", Repository: "docker.io/acme/web"}
	w, s := newWorld(finding.SAST, finding.Container)
	w.settings.ContainerEnabled = false
	if _, err := s.StartImage(t.Context(), sc, Start{}, image); !errs.Is(err, errs.Conflict) || w.run != nil {
		t.Errorf("switched off: got %v, want a conflict", err)
	}
	w.settings.ContainerEnabled = true
	r, err := s.StartImage(t.Context(), sc, Start{}, image)
	if err != nil {
		t.Fatal(err)
	}
	want := Run{
		ID: r.ID, OrganizationID: "o", TeamID: "t", ProjectID: "p", Branch: "main", Source: "manual",
		Analyses: []finding.Analysis{finding.Container}, FindingProfile: finding.DefaultProfile, Image: &image,
		Initiator: "u", State: Queued, Uploaded: true,
		UploadExpires: now, Step: StepQueued, Languages: []string{}, CreatedAt: now, UpdatedAt: now,
	}
	if diff := cmp.Diff(&want, w.run); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if w.woken != 1 {
		t.Errorf("the queue was woken %d times", w.woken)
	}
	if _, err := s.StartImage(t.Context(), sc, Start{Branch: "a\nb"}, image); !errs.Is(err, errs.Invalid) {
		t.Errorf("a bad branch: got %v, want invalid", err)
	}
	s.Available = []finding.Analysis{finding.SAST}
	if _, err := s.StartImage(t.Context(), sc, Start{}, image); !errs.Is(err, errs.NotImplemented) {
		t.Errorf("no analyzer: got %v", err)
	}
}

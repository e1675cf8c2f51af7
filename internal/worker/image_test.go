package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
)

// readyImage makes a run of an image.
func (b *bench) readyImage(branch, name string) run.ID {
	b.t.Helper()
	return b.readyRun(branch, run.Image{Reference: "docker.io/acme/" + name + ":1", Repository: "docker.io/acme/" + name})
}

func (b *bench) readyRun(branch string, image run.Image) run.ID {
	b.t.Helper()
	now := b.db.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: b.sc.Organization, TeamID: b.sc.Team, ProjectID: b.sc.Project,
		Branch: branch, Source: "manual", Analyses: []finding.Analysis{finding.Container}, State: run.Queued, Uploaded: true,
		Image:         &image,
		UploadExpires: now.Add(-time.Hour), Step: run.StepQueued, CreatedAt: now, UpdatedAt: now,
	}
	b.must(b.db.CreateRun(b.t.Context(), b.sc, &r))
	return r.ID
}

// TestWorkerScansAnImage fetches an image and says in which one the findings are.
func TestWorkerScansAnImage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.config.FetchImage = func(_ context.Context, r *run.Run, dir string) error {
			for name, content := range map[string]string{"layer": r.Image.Reference, "behave": "degraded"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					return err
				}
			}
			return nil
		}
		stop := b.start()
		r := b.await(b.readyImage("main", "web"), "ended", ended)
		stop()
		if r.State != run.CompletedDegraded || r.Image == nil || r.Image.Reference != "docker.io/acme/web:1" || len(b.ingested) != 1 {
			t.Fatalf("ended as %+v with %d records", r, len(b.ingested))
		}
		const root = "docker.io/acme/web:/"
		got := b.ingested[0]
		if diff := cmp.Diff([]string{root + "behave", root + "layer"}, got.paths); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
		for _, s := range got.statuses {
			if s.Root != root || s.Reasons[0].Path != root+"x" {
				t.Errorf("the status speaks of %q and was kept from %q", s.Root, s.Reasons[0].Path)
			}
		}
		b.scratchIsEmpty()
	})
}

// TestImagesThatCannotBeFetched end with a reason, or are tried again.
func TestImagesThatCannotBeFetched(t *testing.T) {
	tests := []struct {
		kind     errs.Kind
		code     int
		category run.Category
		again    bool
	}{
		{errs.NotFound, run.CodeImage, run.CategoryScan, false},
		{errs.TooLarge, run.CodeImage, run.CategoryScan, false},
		{errs.Forbidden, run.CodeImageAccess, run.CategoryAuthentication, false},
		{errs.Unavailable, run.CodeRegistry, run.CategoryNetwork, true},
		{errs.TooMany, run.CodeRegistry, run.CategoryNetwork, true},
	}
	each(t, func(t *testing.T, b *bench) {
		failing := map[string]errs.Kind{}
		for _, tt := range tests {
			failing["docker.io/acme/"+string(rune('a'+tt.kind))+":1"] = tt.kind
		}
		b.config.FetchImage = func(_ context.Context, r *run.Run, _ string) error {
			return errs.E(failing[r.Image.Reference], "the registry says no")
		}
		b.start()
		for _, tt := range tests {
			name := string(rune('a' + tt.kind))
			until := ended
			if tt.again {
				until = putBack
			}
			r := b.await(b.readyImage(name, name), "was let go of", until)
			want := &run.Failure{Message: "the image was not fetched: the registry says no", Code: tt.code, Category: tt.category}
			if diff := cmp.Diff(want, r.Failure); diff != "" {
				t.Errorf("%v (-want +got):\n%s", tt.kind, diff)
			}
		}
	})
}

// TestRunsThatNeedTheKey are left to a worker that has it, and given up when none
// takes them.
func TestRunsThatNeedTheKey(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		fetched := 0
		b.config.FetchImage = func(_ context.Context, _ *run.Run, dir string) error {
			fetched++
			return os.WriteFile(filepath.Join(dir, "layer"), nil, 0o600)
		}
		stop := b.start()
		id := b.readyPrivate("main", "web")
		r := b.await(id, "was left to others", func(r run.Run) bool { return r.State == run.Queued && r.Attempt == 1 })
		if r.Tries != 0 || r.Step != "waiting for a worker that has the master key" || fetched != 0 {
			t.Errorf("left as %+v after %d fetches", r, fetched)
		}
		stop()
		b.config.Sealed = true
		stop = b.start()
		b.clock.Advance(run.OfferDelay)
		if r := b.await(id, "ended", ended); r.State != run.Completed || fetched != 1 {
			t.Errorf("ended as %+v after %d fetches", r, fetched)
		}
		stop()

		b.config.Sealed = false
		b.start()
		id = b.readyPrivate("other", "web")
		b.await(id, "was left to others", func(r run.Run) bool { return r.State == run.Queued && r.Attempt == 1 })
		b.clock.Advance(run.OfferTime + time.Minute)
		r = b.await(id, "ended", ended)
		if r.Failure == nil || r.Failure.Code != run.CodeNoKey || r.Failure.Category != run.CategoryAuthentication {
			t.Errorf("ended as %+v", r)
		}
	})
}

// readyPrivate makes a run of an image that needs a credential.
func (b *bench) readyPrivate(branch, name string) run.ID {
	b.t.Helper()
	return b.readyRun(branch, run.Image{Reference: "harbor.example/acme/" + name + ":1", Repository: "harbor.example/acme/" + name, Credential: uuid.NewString()})
}

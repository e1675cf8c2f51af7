package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
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
	return b.readyRun(branch, run.Image{Reference: "docker.io/acme/" + name + ":1", Repository: "docker.io/acme/" +
		name})
}

func (b *bench) readyRun(branch string, image run.Image) run.ID {
	b.t.Helper()
	now := b.db.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: b.sc.Organization, TeamID: b.sc.Team, ProjectID: b.sc.Project,
		Branch: branch, Source: "manual", Analyses: []finding.Analysis{finding.Container}, State: run.Queued,
		FindingProfile: finding.AllProfile,
		Uploaded:       true,
		Image:          &image,
		UploadExpires:  now.Add(-time.Hour), Step: run.StepQueued, CreatedAt: now, UpdatedAt: now,
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
		if r.State != run.CompletedDegraded || r.Image == nil || r.Image.Reference != "docker.io/acme/web:1" ||
			len(b.ingested) != 1 {
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
			want := &run.Failure{Message: "the image was not fetched: the registry says no", Code: tt.code,
				Category: tt.category}
			if diff := cmp.Diff(want, r.Failure); diff != "" {
				t.Errorf("%v (-want +got):\n%s", tt.kind, diff)
			}
		}
	})
}

// TestRunsThatNeedTheKey are left to a worker that has it, which never does more at
// once than it may.
func TestRunsThatNeedTheKey(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var mu sync.Mutex
		atOnce, most, fetched := 0, 0, 0
		b.config.FetchImage = func(_ context.Context, r *run.Run, dir string) error {
			mu.Lock()
			atOnce++
			most, fetched = max(most, atOnce), fetched+1
			mu.Unlock()
			defer func() { mu.Lock(); atOnce--; mu.Unlock() }()
			return os.WriteFile(filepath.Join(dir, "layer"), []byte(r.Branch), 0o600)
		}
		b.config.Slots = 1
		stop := b.start()
		id := b.readyPrivate("private", "web")
		if r := b.await(b.readyImage("public", "app"), "ended", ended); r.State != run.Completed {
			t.Errorf("the public image ended as %+v", r)
		}
		r := b.await(id, "waits", func(run.Run) bool { return true })
		stop()
		if r.State != run.Queued || r.Attempt != 0 || fetched != 1 {
			t.Errorf("the private image is %+v after %d fetches", r, fetched)
		}
		b.config.Sealed = true
		b.start()
		ids := []run.ID{id, b.readyPrivate("a", "a"), b.readyImage("b", "b"), b.readyPrivate("c", "c"),
			b.readyImage("d", "d")}
		for _, id := range ids {
			if r := b.await(id, "ended", ended); r.State != run.Completed || r.Attempt != 1 {
				t.Errorf("ended as %+v", r)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if most != 1 || fetched != 6 {
			t.Errorf("%d images were fetched, %d at once", fetched, most)
		}
	})
}

// readyPrivate makes a run of an image that needs a credential.
func (b *bench) readyPrivate(branch, name string) run.ID {
	b.t.Helper()
	return b.readyRun(branch, run.Image{Reference: "harbor.example/acme/" + name + ":1",
		Repository: "harbor.example/acme/" + name, Credential: uuid.NewString()})
}

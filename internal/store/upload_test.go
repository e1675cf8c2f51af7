package store_test

import (
	"slices"
	"testing"
	"time"

	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/store"
)

func TestUploadIsUsedOnce(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx := t.Context()
		sc := db.organization(1)
		id := db.start(sc, "main")
		// Two uploads at once: the first whole one counts.
		db.must(db.BeginUpload(ctx, id, "a"))
		db.must(db.BeginUpload(ctx, id, "b"))
		db.must(db.TouchUpload(ctx, "a"))
		db.must(db.FinishUpload(ctx, id, "b", 5))
		if err := db.FinishUpload(ctx, id, "a", 6); !errs.Is(err, errs.Gone) {
			t.Errorf("the second end: got %v, want gone", err)
		}
		if err := db.BeginUpload(ctx, id, "c"); !errs.Is(err, errs.Gone) {
			t.Errorf("a third begin: got %v, want gone", err)
		}
		if got := db.read(sc, id); got.Archive != "b" || got.Size != 5 {
			t.Errorf("archive %q of %d bytes, want b of 5", got.Archive, got.Size)
		}
		if err := db.BeginUpload(ctx, "00000000-0000-4000-8000-000000000000", "d"); !errs.Is(err, errs.NotFound) {
			t.Errorf("an unknown run: got %v, want not found", err)
		}
	})
}

func TestCutUploadLeavesTheAddressGood(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx := t.Context()
		sc := db.organization(1)
		id := db.start(sc, "main")
		db.must(db.BeginUpload(ctx, id, "a"))
		db.must(db.ForgetUpload(ctx, "a"))
		db.must(db.BeginUpload(ctx, id, "b"))
		db.must(db.FinishUpload(ctx, id, "b", 5))
		if got := db.read(sc, id); !got.Uploaded {
			t.Error("the second upload does not count")
		}
	})
}

func TestExpireRuns(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx := t.Context()
		sc := db.organization(1)
		never, under, ready := db.start(sc, "a"), db.start(sc, "b"), db.ready(sc, "c")
		expire := func(want int) {
			t.Helper()
			if n, err := db.ExpireRuns(ctx); n != want || err != nil {
				t.Errorf("expired: got %d, %v, want %d", n, err, want)
			}
		}
		expire(0)
		db.clock.Advance(59 * time.Minute)
		db.must(db.BeginUpload(ctx, under, "k"))
		db.clock.Advance(2 * time.Minute)
		expire(1)
		if got := db.read(sc, never); got.State != run.Failed || got.Failure.Code != run.CodeNoUpload {
			t.Errorf("the run without an upload: %+v", got)
		}
		if got := db.read(sc, ready); got.State != run.Queued {
			t.Errorf("the uploaded run: %+v", got)
		}
		// The upload that began in time goes on, and then stops without a word.
		db.clock.Advance(9 * time.Minute)
		db.must(db.TouchUpload(ctx, "k"))
		db.clock.Advance(9 * time.Minute)
		expire(0)
		db.clock.Advance(2 * time.Minute)
		expire(1)
		if err := db.FinishUpload(ctx, under, "k", 1); !errs.Is(err, errs.Conflict) {
			t.Errorf("an upload of a run that has ended: got %v, want a conflict", err)
		}
	})
}

func TestGarbage(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx := t.Context()
		sc, gone := db.organization(3), db.organization(1)
		garbage := func(want ...string) {
			t.Helper()
			got, err := db.Garbage(ctx)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("garbage: got %v, %v, want %v", got, err, want)
			}
		}
		waits := db.ready(sc, "a")
		ended := db.ready(sc, "b")
		cut := db.start(sc, "c")
		db.must(db.BeginUpload(ctx, cut, "cut"))
		db.must(db.BeginUpload(ctx, db.start(gone, "main"), "gone"))
		garbage()
		if _, err := db.CancelRun(ctx, sc, ended); err != nil {
			t.Fatal(err)
		}
		garbage("k/" + string(ended))
		db.must(db.ForgetUpload(ctx, "k/"+string(ended)))
		db.must(db.Tx(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM project WHERE id = ?", gone.Project)
			return err
		}))
		db.clock.Advance(run.UploadIdle)
		garbage("cut", "gone")
		if err := db.FinishUpload(ctx, cut, "cut", 1); !errs.Is(err, errs.Conflict) {
			t.Errorf("an upload that is garbage was finished: %v", err)
		}
		db.must(db.ForgetUpload(ctx, "cut"))
		db.must(db.ForgetUpload(ctx, "gone"))
		garbage()
		if got := db.read(sc, waits); got.Archive == "" {
			t.Error("the archive of a waiting run was forgotten")
		}
	})
}

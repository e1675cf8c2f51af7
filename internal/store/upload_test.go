package store_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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
		db.must(db.TouchUpload(ctx, "a", 1))
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

// TestStoredBytesAreBounded lets an organization store as much as it may: one upload
// more is refused until another one is gone, and other organizations are not affected.
func TestStoredBytesAreBounded(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx := t.Context()
		db.MaxStored = 100
		sc, other := db.organization(1), db.organization(1)
		one, two, foreign := db.start(sc, "a"), db.start(sc, "b"), db.start(other, "a")
		touch := func(key string, bytes int64, fits bool) {
			t.Helper()
			if err := db.TouchUpload(ctx, key, bytes); fits != (err == nil) || !fits && !errs.Is(err, errs.TooLarge) {
				t.Errorf("%s with %d bytes: got %v", key, bytes, err)
			}
		}
		db.must(db.BeginUpload(ctx, one, "one"))
		db.must(db.BeginUpload(ctx, two, "two"))
		db.must(db.BeginUpload(ctx, foreign, "foreign"))
		touch("one", 60, true)
		touch("two", 41, false)
		touch("foreign", 100, true)
		touch("one", 90, true) // its own earlier bytes are not counted twice
		touch("two", 11, false)
		db.must(db.FinishUpload(ctx, one, "one", 50)) // it was shorter than it took in advance
		touch("two", 50, true)
		touch("two", 51, false)
		db.must(db.ForgetUpload(ctx, "one"))
		touch("two", 100, true)
		db.MaxStored = 0
		touch("two", 1000, true)
	})
}

// TestLastRoomIsTakenOnce has many uploads ask for the last room at the same time.
func TestLastRoomIsTakenOnce(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx := t.Context()
		db.MaxStored = 30
		sc := db.organization(1)
		const uploads = 8
		for i := range uploads {
			db.must(db.BeginUpload(ctx, db.start(sc, fmt.Sprint("b", i)), fmt.Sprint("k", i)))
		}
		var all sync.WaitGroup
		var fit atomic.Int64
		for i := range uploads {
			all.Go(func() {
				err := db.TouchUpload(ctx, fmt.Sprint("k", i), 10)
				switch {
				case err == nil:
					fit.Add(1)
				case !errs.Is(err, errs.TooLarge):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if fit.Load() != 3 {
			t.Errorf("%d uploads of 10 bytes found room among 30", fit.Load())
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
		db.must(db.TouchUpload(ctx, "k", 1))
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

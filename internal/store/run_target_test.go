package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// live makes a run of a target that waits for a place.
func (db runs) live(sc tenant.Scope, target string, p scan.Profile) run.ID {
	db.t.Helper()
	db.clock.Advance(time.Millisecond)
	now := db.clock.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: sc.Organization, TeamID: sc.Team, ProjectID: sc.Project,
		Branch: "main", Source: "cli", Analyses: []finding.Analysis{finding.DAST}, State: run.Queued, Uploaded: true,
		Target: &run.Target{ID: target, Name: "T", URL: "https://" + target, Profile: p}, UploadExpires: now,
		CreatedAt: now, UpdatedAt: now,
	}
	r.Step = r.WaitingStep()
	db.must(db.CreateRun(db.t.Context(), sc, &r))
	return r.ID
}

// TestPlacesOfTargets works on different targets of a branch at once, and on one after
// the other of the same.
func TestPlacesOfTargets(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(10)
		source := db.ready(sc, "main")
		a, again, b := db.live(sc, "a", scan.Safe), db.live(sc, "a", scan.Safe), db.live(sc, "b", scan.Safe)
		if ready, err := db.AdmitRuns(t.Context(), false); err != nil || len(ready) != 1 || ready[0].Run != source {
			t.Errorf("without the key: %+v, %v", ready, err)
		}
		got := map[run.ID]bool{}
		ready, err := db.AdmitRuns(t.Context(), true)
		db.must(err)
		for _, r := range ready {
			got[r.Run] = true
			if r.Sealed != (r.Run != source) {
				t.Errorf("%s is sealed: %t", r.Run, r.Sealed)
			}
		}
		if len(got) != 3 || !got[source] || !got[a] || !got[b] || got[again] {
			t.Errorf("placed %v", got)
		}
		// A paused run keeps nobody waiting.
		if _, err := db.PauseRun(t.Context(), sc, a, true); err != nil {
			t.Fatal(err)
		}
		if placed := db.place(); len(placed) != 3 || !strings.Contains(join(placed), string(again)) {
			t.Errorf("beside a paused run: %v", placed)
		}
	})
}

func join(ids []run.ID) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(string(id) + " ")
	}
	return b.String()
}

// TestPauseRun pauses runs that wait, that are worked on, and whose worker is dead.
func TestPauseRun(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(10)
		pause := func(id run.ID, paused bool) error {
			_, err := db.PauseRun(t.Context(), sc, id, paused)
			return err
		}
		source := db.ready(sc, "main")
		if err := pause(source, true); !errs.Is(err, errs.Conflict) {
			t.Errorf("source: %v", err)
		}
		waiting := db.live(sc, "a", scan.Safe)
		if err := pause(waiting, false); !errs.Is(err, errs.Conflict) {
			t.Errorf("resumed what was not paused: %v", err)
		}
		db.must(pause(waiting, true))
		db.must(pause(waiting, true)) // again
		if r := db.read(sc, waiting); !r.Paused || r.Step != run.StepPaused ||
			strings.Contains(join(db.place()), string(waiting)) {
			t.Errorf("paused: %+v", r)
		}
		db.must(pause(waiting, false))
		if placed := db.place(); !strings.Contains(join(placed), string(waiting)) {
			t.Errorf("resumed, but not placed: %v", placed)
		}
		taken, claim := db.take(waiting, 0, 7)
		if taken == nil || taken.Target == nil || taken.Target.ID != "a" {
			t.Fatalf("took %+v", taken)
		}
		if other, err := db.KeptRun(t.Context(), taken); err != nil || other != nil {
			t.Errorf("has kept %q, %v", other, err)
		}
		db.must(db.KeepRun(t.Context(), taken, []byte("one")))
		db.must(db.KeepRun(t.Context(), taken, []byte("two")))
		stale := *taken
		stale.Attempt--
		if err := db.KeepRun(t.Context(), &stale, []byte("old")); !errs.Is(err, errs.Conflict) {
			t.Errorf("an earlier attempt kept something: %v", err)
		}
		db.must(pause(waiting, true))
		if wish, err := db.Heartbeat(t.Context(), claim); wish != job.Pause || err != nil {
			t.Errorf("beat: %v, %v", wish, err)
		}
		taken.State = run.Queued
		db.must(db.Requeue(t.Context(), taken, nil, 0))
		if r := db.read(sc, waiting); r.State != run.Queued || r.Tries != 0 || r.Step != run.StepPaused ||
			strings.Contains(join(db.place()), string(waiting)) {
			t.Errorf("put back: %+v", r)
		}

		// One whose worker dies before it sees the mark.
		db.must(pause(waiting, false))
		db.place()
		taken, claim = db.take(waiting, 1, 8)
		if kept, err := db.KeptRun(t.Context(), taken); err != nil || string(kept) != "two" {
			t.Errorf("kept %q, %v", kept, err)
		}
		db.must(pause(waiting, true))
		db.lose(claim)
		if placed := db.place(); strings.Contains(join(placed), string(waiting)) {
			t.Errorf("a paused run of a dead worker is placed: %v", placed)
		}
		if r := db.read(sc, waiting); r.State != run.Queued || r.Tries != 0 || !r.Paused {
			t.Errorf("of a dead worker: %+v", r)
		}
		if _, err := db.CancelRun(t.Context(), sc, waiting); err != nil {
			t.Fatal(err)
		}
		if kept, err := db.KeptRun(t.Context(), taken); err != nil || kept != nil {
			t.Errorf("after the end it has kept %q, %v", kept, err)
		}
		if err := pause(waiting, false); !errs.Is(err, errs.Conflict) {
			t.Errorf("resumed after its end: %v", err)
		}
		other := db.organization(1)
		if _, err := db.PauseRun(t.Context(), other, db.live(sc, "c", scan.Safe), true); !errs.Is(err, errs.NotFound) {
			t.Errorf("a stranger: %v", err)
		}
	})
}

// TestWeakerRuns marks the runs that go less far than an earlier one of the target.
func TestWeakerRuns(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(10)
		attempt := func(target string, p scan.Profile, ends run.State) run.Run {
			t.Helper()
			id := db.live(sc, target, p)
			db.place()
			taken, _ := db.take(id, 0, db.clock.Now().UnixMilli())
			taken.State = ends
			db.must(db.EndRun(t.Context(), taken))
			return db.read(sc, id)
		}
		for _, tt := range []struct {
			target string
			p      scan.Profile
			ends   run.State
			weaker bool
		}{
			{"a", scan.Passive, run.Completed, false}, {"a", scan.Full, run.Failed, false},
			{"a", scan.Safe, run.CompletedDegraded, false},
			{"a", scan.Passive, run.Completed, true}, {"a", scan.Standard, run.Completed, false},
			{"a", scan.Safe, run.Completed, true},
			{"b", scan.Passive, run.Completed, false},
		} {
			if r := attempt(tt.target, tt.p, tt.ends); r.Target.Weaker != tt.weaker || r.ResolvesMissing() == tt.weaker {
				t.Errorf("%+v: %+v", tt, r.Target)
			}
		}
	})
}

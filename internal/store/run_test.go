package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// runs is a database with organizations to start runs in.
type runs struct {
	t *testing.T
	*store.DB
	clock *storetest.Clock
}

// organization makes an organization with one team and one project, and returns
// the scope of the project.
func (db runs) organization(limit int) tenant.Scope {
	db.t.Helper()
	org, team, project := uuid.NewString(), uuid.NewString(), uuid.NewString()
	err := db.Tx(db.t.Context(), func(tx *store.Tx) error {
		for _, q := range []struct {
			text string
			args []any
		}{
			{"INSERT INTO organization (id, name, industry, country, concurrent_scan_limit, created_at, updated_at) " +
				"VALUES (?, 'o', 'software', 'SE', ?, 1, 1)", []any{org, limit}},
			{"INSERT INTO team (id, organization_id, name, created_at, updated_at) VALUES (?, ?, " +
				"'t', 1, 1)", []any{team, org}},
			{"INSERT INTO project (id, organization_id, team_id, name, settings, created_at, updated_at) VALUES (?, " +
				"?, ?, 'p', '{}', 1, 1)", []any{project, org, team}},
		} {
			if _, err := tx.Exec(db.t.Context(), q.text, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		db.t.Fatal(err)
	}
	return tenant.System(tenant.OrganizationID(org), tenant.TeamID(team), tenant.ProjectID(project))
}

// start makes a run that waits for its upload.
func (db runs) start(sc tenant.Scope, branch string) run.ID {
	db.t.Helper()
	db.clock.Advance(time.Millisecond)
	now := db.clock.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: sc.Organization, TeamID: sc.Team, ProjectID: sc.Project,
		Branch: branch, Source: "cli", Analyses: []finding.Analysis{finding.SCA}, State: run.Queued,
		UploadExpires: now.Add(time.Hour), Step: "waiting", CreatedAt: now, UpdatedAt: now,
	}
	db.must(db.CreateRun(db.t.Context(), sc, &r))
	return r.ID
}

// ready makes a run that has its upload.
func (db runs) ready(sc tenant.Scope, branch string) run.ID {
	db.t.Helper()
	id := db.start(sc, branch)
	db.must(db.BeginUpload(db.t.Context(), id, "k/"+string(id)))
	db.must(db.FinishUpload(db.t.Context(), id, "k/"+string(id), 7))
	return id
}

func (db runs) must(err error) {
	db.t.Helper()
	if err != nil {
		db.t.Fatal(err)
	}
}

// place runs a round of the dispatcher and returns the runs that need a job.
func (db runs) place() []run.ID {
	db.t.Helper()
	ready, err := db.AdmitRuns(db.t.Context(), true)
	db.must(err)
	out := []run.ID{}
	for _, r := range ready {
		out = append(out, r.Run)
	}
	return out
}

// take takes a run as the worker of a job.
func (db runs) take(id run.ID, attempt int, jobID int64) (*run.Run, job.Claim) {
	db.t.Helper()
	t := job.Claim{Run: id, Attempt: attempt, Job: jobID, Holder: uuid.NewString()}
	r, err := db.ClaimRun(db.t.Context(), t)
	db.must(err)
	return r, t
}

func (db runs) read(sc tenant.Scope, id run.ID) run.Run {
	db.t.Helper()
	r, err := db.Run(db.t.Context(), sc, id)
	db.must(err)
	return r
}

// lose makes the lease of a job vanish, as the reaper does with a dead worker's.
func (db runs) lose(t job.Claim) {
	db.t.Helper()
	done, err := db.Reap(db.t.Context(), job.Lease{Job: t.Job, Holder: t.Holder, Beat: 0})
	db.must(err)
	if !done {
		db.t.Fatal("the lease could not be reaped")
	}
}

func eachRuns(t *testing.T, test func(t *testing.T, db runs)) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) { test(t, runs{t, db, clock}) })
}

func TestRunIsReadAsWritten(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		id := db.ready(sc, "main")
		now := db.clock.Now()
		want := run.Run{
			ID: id, OrganizationID: sc.Organization, TeamID: sc.Team, ProjectID: sc.Project, Branch: "main",
			Source:   "cli",
			Analyses: []finding.Analysis{finding.SCA}, State: run.Queued, Uploaded: true,
			UploadExpires: now.Add(time.Hour),
			Archive:       "k/" + string(id), Size: 7, Step: run.StepQueued, Languages: []string{}, CreatedAt: now,
			UpdatedAt: now,
		}
		if diff := cmp.Diff(want, db.read(sc, id)); diff != "" {
			t.Errorf("run (-want +got):\n%s", diff)
		}
	})
}

func TestRunsAreTheirProjects(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		mine, other := db.organization(1), db.organization(1)
		id := db.ready(mine, "main")
		mixed := tenant.System(other.Organization, mine.Team, mine.Project)
		for name, sc := range map[string]tenant.Scope{"another tenant": other, "a mix": mixed, "nobody": {}} {
			if _, err := db.Run(t.Context(), sc, id); !errs.Is(err, errs.NotFound) {
				t.Errorf("%s: Run: got %v, want not found", name, err)
			}
			if _, err := db.CancelRun(t.Context(), sc, id); !errs.Is(err, errs.NotFound) {
				t.Errorf("%s: CancelRun: got %v, want not found", name, err)
			}
			if list, n, err := db.Runs(t.Context(), sc, run.Query{Limit: 10}); err != nil || n != 0 || len(list) != 0 {
				t.Errorf("%s: Runs: got %d, %v, want none", name, n, err)
			}
			if _, err := db.RunProject(t.Context(), sc); name != "another tenant" && !errs.Is(err, errs.NotFound) {
				t.Errorf("%s: RunProject: got %v, want not found", name, err)
			}
			r := db.read(mine, id)
			r.ID = run.ID(uuid.NewString())
			if err := db.CreateRun(t.Context(), sc, &r); !errs.Is(err, errs.NotFound) {
				t.Errorf("%s: CreateRun: got %v, want not found", name, err)
			}
		}
		if got := db.read(mine, id); got.Cancelled {
			t.Error("a stranger cancelled the run")
		}
	})
}

func TestRunsListsNewestFirst(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		a, b, c := db.start(sc, "main"), db.start(sc, "next"), db.start(sc, "main")
		ids := func(q run.Query) ([]run.ID, int) {
			list, n, err := db.Runs(t.Context(), sc, q)
			db.must(err)
			out := []run.ID{}
			for _, r := range list {
				out = append(out, r.ID)
			}
			return out, n
		}
		for _, tt := range []struct {
			q     run.Query
			want  []run.ID
			total int
		}{
			{run.Query{Limit: 10}, []run.ID{c, b, a}, 3},
			{run.Query{Limit: 1, Offset: 1}, []run.ID{b}, 3},
			{run.Query{Limit: 10, Branch: "main"}, []run.ID{c, a}, 2},
			{run.Query{Limit: 10, Branch: "gone"}, []run.ID{}, 0},
		} {
			if got, n := ids(tt.q); !slices.Equal(got, tt.want) || n != tt.total {
				t.Errorf("%+v: got %v of %d, want %v of %d", tt.q, got, n, tt.want, tt.total)
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		one, two := db.organization(1), db.organization(2)
		db.start(one, "not uploaded")
		a1, a2 := db.ready(one, "x"), db.ready(one, "y")
		b1, b2, b3 := db.ready(two, "x"), db.ready(two, "x"), db.ready(two, "y")

		// One place in the first organization; two in the second, but not for two
		// runs of one branch.
		if diff := cmp.Diff([]run.ID{a1, b1, b3}, db.place()); diff != "" {
			t.Fatalf("first round (-want +got):\n%s", diff)
		}
		// Until they have a job they are handed out again: nothing is lost between
		// the row and the job.
		if diff := cmp.Diff([]run.ID{a1, b1, b3}, db.place()); diff != "" {
			t.Fatalf("second round (-want +got):\n%s", diff)
		}
		end := func(id run.ID) {
			t.Helper()
			r, _ := db.take(id, 0, int64(len(id)))
			if r == nil || r.State != run.Running || r.Attempt != 1 || r.StartedAt.IsZero() {
				t.Fatalf("take %s: got %+v", id, r)
			}
			r.State = run.Completed
			db.must(db.EndRun(t.Context(), r))
		}
		end(a1)
		if diff := cmp.Diff([]run.ID{a2, b1, b3}, db.place()); diff != "" {
			t.Fatalf("after the end of a1 (-want +got):\n%s", diff)
		}
		end(b1)
		if diff := cmp.Diff([]run.ID{a2, b2, b3}, db.place()); diff != "" {
			t.Fatalf("after the end of b1 (-want +got):\n%s", diff)
		}
	})
}

func TestTakeShutsOutTheFormerWorker(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		id := db.ready(sc, "main")
		if r, _ := db.take(id, 0, 1); r != nil {
			t.Fatal("a run without a place was taken")
		}
		db.place()
		first, claim := db.take(id, 0, 1)
		if r, _ := db.take(id, 0, 2); r != nil {
			t.Fatal("a second job for the same attempt took the run")
		}
		if len(db.place()) != 0 {
			t.Fatal("a run with a living worker is to get a job")
		}
		db.lose(claim)
		if got := db.place(); !slices.Equal(got, []run.ID{id}) {
			t.Fatalf("after the worker's death %v need a job, want %v", got, id)
		}
		second, claim2 := db.take(id, 1, 2)
		if second == nil || second.Attempt != 2 || second.Tries != 2 {
			t.Fatalf("second take: got %+v", second)
		}
		first.State = run.Completed
		if err := db.EndRun(t.Context(), first); !errs.Is(err, errs.Conflict) {
			t.Errorf("the first worker's end: got %v, want a conflict", err)
		}
		if err := db.ShowProgress(t.Context(), first); !errs.Is(err, errs.Conflict) {
			t.Errorf("the first worker's progress: got %v, want a conflict", err)
		}
		if err := db.Requeue(t.Context(), first, nil, 0); !errs.Is(err, errs.Conflict) {
			t.Errorf("the first worker puts back: got %v, want a conflict", err)
		}
		if _, err := db.Heartbeat(t.Context(), claim); !errs.Is(err, errs.Conflict) {
			t.Errorf("the first worker's beat: got %v, want a conflict", err)
		}
		if _, err := db.Heartbeat(t.Context(), claim2); err != nil {
			t.Errorf("the second worker's beat: %v", err)
		}
		second.State, second.Languages = run.Completed, []string{"Go"}
		db.must(db.EndRun(t.Context(), second))
		if got := db.read(sc, id); got.State != run.Completed || got.Progress != 100 || got.EndedAt.IsZero() {
			t.Errorf("at the end: %+v", got)
		}
		if p, err := db.RunProject(t.Context(), sc); err != nil || !slices.Equal(p.Languages, []string{"Go"}) {
			t.Errorf("the project's languages: %v, %v", p.Languages, err)
		} else if p.Settings.FindingProfile != finding.DefaultProfile {
			// The stored text is of a version that did not know the setting.
			t.Errorf("the project has the profile %q, want the default", p.Settings.FindingProfile)
		}
		if l, err := db.Leases(t.Context()); err != nil || len(l) != 0 {
			t.Errorf("leases are left: %v, %v", l, err)
		}
	})
}

func TestPoisonIsGivenUp(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		id, next := db.ready(sc, "main"), db.ready(sc, "other")
		for try := range run.MaxTries {
			db.place()
			r, claim := db.take(id, try, int64(try+1))
			if r == nil {
				t.Fatalf("try %d: not taken", try)
			}
			db.lose(claim)
		}
		if got := db.place(); !slices.Equal(got, []run.ID{next}) {
			t.Errorf("%v need a job, want %v", got, next)
		}
		got := db.read(sc, id)
		if got.State != run.Failed || got.Failure == nil || got.Failure.Code != run.CodeWorkerLost ||
			!strings.Contains(got.Failure.Message, "3 times") {
			t.Errorf("the run ends as %s, %+v", got.State, got.Failure)
		}
	})
}

func TestPutBack(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		id := db.ready(sc, "main")
		db.place()
		r, _ := db.take(id, 0, 1)
		// A worker that stops: first in line, not counted.
		db.must(db.Requeue(t.Context(), r, nil, 0))
		if got := db.place(); !slices.Equal(got, []run.ID{id}) {
			t.Fatalf("%v need a job, want %v", got, id)
		}
		r, _ = db.take(id, 1, 2)
		if r.Tries != 1 {
			t.Errorf("tries: got %d, want 1", r.Tries)
		}
		db.must(db.Requeue(t.Context(), r, run.Fail(run.CodeUnavailable, "away"), 10*time.Second))
		if got := db.place(); len(got) != 0 {
			t.Errorf("%v need a job before the delay is over", got)
		}
		if got := db.read(sc, id); got.State != run.Queued || got.Failure.Message != "away" || got.Tries != 1 {
			t.Errorf("put back as %+v", got)
		}
		// A clock that is set back does not make the delay longer.
		db.clock.Advance(-24 * time.Hour)
		if got := db.place(); !slices.Equal(got, []run.ID{id}) {
			t.Errorf("after the clock was set back %v need a job, want %v", got, id)
		}
		for try := 1; try < run.MaxTries; try++ {
			r, _ = db.take(id, try+1, int64(try+5))
			db.must(db.Requeue(t.Context(), r, run.Fail(run.CodeDiskFull, "no room"), time.Second))
			db.clock.Advance(time.Second)
			db.place()
		}
		got := db.read(sc, id)
		if got.State != run.Failed || got.Failure.Code != run.CodeDiskFull || got.Failure.Message != "the scan was "+
			"attempted 3 times, the last error: no room" {
			t.Errorf("the run ends as %s, %+v", got.State, got.Failure)
		}
	})
}

func TestCancelRun(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		waiting := db.ready(sc, "a")
		r, err := db.CancelRun(t.Context(), sc, waiting)
		if err != nil || r.State != run.Failed || !r.Cancelled || r.Failure.Code != run.CodeCancelled {
			t.Errorf("a waiting run: got %+v, %v", r, err)
		}
		if _, err := db.CancelRun(t.Context(), sc, waiting); !errs.Is(err, errs.Conflict) {
			t.Errorf("again: got %v, want a conflict", err)
		}

		working := db.ready(sc, "b")
		db.place()
		taken, claim := db.take(working, 0, 1)
		if wish, err := db.Heartbeat(t.Context(), claim); wish != job.Continue || err != nil {
			t.Errorf("beat before: %v, %v", wish, err)
		}
		r, err = db.CancelRun(t.Context(), sc, working)
		if err != nil || r.State != run.Running || !r.Cancelled {
			t.Errorf("a run at work: got %+v, %v", r, err)
		}
		if wish, err := db.Heartbeat(t.Context(), claim); wish != job.Cancel || err != nil {
			t.Errorf("beat after: %v, %v", wish, err)
		}
		taken.State, taken.Failure = run.Failed, run.Cancelled()
		db.must(db.EndRun(t.Context(), taken))

		// The worker dies before it sees the mark: nobody begins the run again.
		orphan := db.ready(sc, "c")
		db.place()
		_, claim = db.take(orphan, 0, 2)
		if _, err = db.CancelRun(t.Context(), sc, orphan); err != nil {
			t.Fatal(err)
		}
		db.clock.Advance(time.Millisecond)
		if _, err := db.Reap(t.Context(), job.Lease{Job: 2, Holder: claim.Holder, Beat: 0}); err != nil {
			t.Fatal(err)
		}
		if got := db.place(); len(got) != 0 {
			t.Errorf("%v need a job", got)
		}
		if got := db.read(sc, orphan); got.State != run.Failed || got.Failure.Code != run.CodeCancelled {
			t.Errorf("the orphan ends as %+v", got)
		}
	})
}

func TestReapLeavesTheLiving(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		id := db.ready(sc, "main")
		db.place()
		_, claim := db.take(id, 0, 1)
		if _, err := db.Heartbeat(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		done, err := db.Reap(t.Context(), job.Lease{Job: 1, Holder: claim.Holder, Beat: 0})
		if done || err != nil {
			t.Errorf("a renewed lease was reaped: %v, %v", done, err)
		}
		want := []job.Lease{{Job: 1, Holder: claim.Holder, Beat: 1}}
		if got, err := db.Leases(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("leases: got %v, %v, want %v", got, err, want)
		}
	})
}

func TestRunsAreAudited(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		id := db.ready(sc, "main")
		db.place()
		r, _ := db.take(id, 0, 1)
		r.State = run.Completed
		db.must(db.EndRun(t.Context(), r))
		if _, err := db.CancelRun(t.Context(), sc, db.start(sc, "x")); err != nil {
			t.Fatal(err)
		}
		log, err := db.AuditLog(t.Context(), sc, audit.Query{Action: "scan.", Limit: 10})
		db.must(err)
		got := []string{}
		for _, rec := range log {
			got = append(got, rec.Action)
		}
		if diff := cmp.Diff([]string{"scan.cancel", "scan.start", "scan.end", "scan.start"}, got); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

// TestPlacesOfSealedRuns are given by those alone who work on such runs: a run that
// waits for a worker with the key keeps no other from the only place.
func TestPlacesOfSealedRuns(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		now := db.clock.Now()
		sealed := run.Run{
			ID: run.ID(uuid.NewString()), OrganizationID: sc.Organization, TeamID: sc.Team, ProjectID: sc.Project,
			Branch: "image", Source: "manual",
			Analyses: []finding.Analysis{finding.Container}, State: run.Queued, Uploaded: true, UploadExpires: now,
			CreatedAt: now, UpdatedAt: now,
			Image: &run.Image{Reference: "quay.io/a/b:1", Repository: "quay.io/a/b", Credential: uuid.NewString()},
		}
		db.must(db.CreateRun(t.Context(), sc, &sealed))
		db.clock.Advance(time.Second)
		open := db.ready(sc, "main")
		ready, err := db.AdmitRuns(t.Context(), false)
		if err != nil || !slices.Equal(ready, []job.ReadyRun{{Run: open}}) {
			t.Errorf("without the key %v need a job, %v; want %v", ready, err, open)
		}
		r, _ := db.take(open, 0, 1)
		r.State = run.Completed
		db.must(db.EndRun(t.Context(), r))
		ready, err = db.AdmitRuns(t.Context(), true)
		if err != nil || !slices.Equal(ready, []job.ReadyRun{{Run: sealed.ID, Sealed: true}}) {
			t.Errorf("with the key %v need a job, %v; want %v", ready, err, sealed.ID)
		}
	})
}

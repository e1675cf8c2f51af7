package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// quick is DefaultTiming, made for a test: a dead worker is found within two
// seconds.
var quick = job.Timing{
	Sweep: 50 * time.Millisecond, Poll: 50 * time.Millisecond, Heartbeat: 50 * time.Millisecond,
	ReapInterval: 100 * time.Millisecond, MaxMissed: 10,
}

// A bench is a database with a project whose runs queues work on.
type bench struct {
	t  *testing.T
	db *store.DB
	sc tenant.Scope
}

func each(t *testing.T, limit int, test func(t *testing.T, b bench)) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		b := bench{t: t, db: db}
		org, team, project := uuid.NewString(), uuid.NewString(), uuid.NewString()
		b.must(db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO organization (id, name, industry, country, "+
				"concurrent_scan_limit, created_at, updated_at) VALUES (?, 'o', 'software', 'SE', ?, 1, 1)", org, limit)
			if err == nil {
				_, err = tx.Exec(t.Context(), "INSERT INTO team (id, organization_id, name, created_at, updated_at) "+
					"VALUES (?, ?, 't', 1, 1)", team, org)
			}
			if err == nil {
				_, err = tx.Exec(t.Context(), "INSERT INTO project (id, organization_id, team_id, name, settings, "+
					"created_at, updated_at) VALUES (?, ?, ?, 'p', '{}', 1, 1)", project, org, team)
			}
			return err
		}))
		b.sc = tenant.System(tenant.OrganizationID(org), tenant.TeamID(team), tenant.ProjectID(project))
		test(t, b)
	})
}

func (b bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// ready makes a run that waits for a worker.
func (b bench) ready(branch string) run.ID {
	b.t.Helper()
	now := b.db.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: b.sc.Organization, TeamID: b.sc.Team, ProjectID: b.sc.Project,
		Branch: branch, Source: "cli", Analyses: []finding.Analysis{finding.SCA}, State: run.Queued,
		UploadExpires: now.Add(time.Hour), Step: "waiting", CreatedAt: now, UpdatedAt: now,
	}
	ctx := b.t.Context()
	b.must(b.db.CreateRun(ctx, b.sc, &r))
	b.must(b.db.BeginUpload(ctx, r.ID, string(r.ID)))
	b.must(b.db.FinishUpload(ctx, r.ID, string(r.ID), 1))
	return r.ID
}

// queue starts a queue like a process of its own; what it returns stops it as a
// signal would.
func (b bench) queue(slots int, work func(context.Context, *run.Run) error) (stop func()) {
	b.t.Helper()
	q, err := job.New(job.Config{
		DB: b.db.Write, Pool: b.db.Pool, Store: b.db, Log: slog.New(slog.DiscardHandler),
		Work: work, MaxParallel: slots, Timing: quick,
	})
	b.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				b.t.Errorf("stop the queue: %v", err)
			}
		case <-time.After(time.Minute):
			b.t.Error("the queue does not stop")
		}
	})
	b.t.Cleanup(stop)
	return stop
}

// await polls the run until it is as the condition wants.
func (b bench) await(id run.ID, what string, is func(run.Run) bool) run.Run {
	b.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		r, err := b.db.Run(b.t.Context(), b.sc, id)
		b.must(err)
		if is(r) {
			return r
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("run %s never %s: state %s, attempt %d, step %q, failure %v", id, what, r.State, r.Attempt,
				r.Step, r.Failure)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func ended(r run.Run) bool { return r.State.Final() }

func complete(_ context.Context, r *run.Run) error {
	r.State, r.Languages = run.Completed, []string{}
	return nil
}

func TestQueueWorksEveryRunOnce(t *testing.T) {
	each(t, 5, func(t *testing.T, b bench) {
		var mu sync.Mutex
		times, working, most := map[run.ID]int{}, 0, 0
		work := func(ctx context.Context, r *run.Run) error {
			mu.Lock()
			times[r.ID]++
			working++
			most = max(most, working)
			mu.Unlock()
			defer func() { mu.Lock(); working--; mu.Unlock() }()
			return complete(ctx, r)
		}
		b.queue(4, work)
		b.queue(4, work) // a second process
		ids := []run.ID{}
		for i := range 20 {
			ids = append(ids, b.ready(fmt.Sprint(i)))
		}
		for _, id := range ids {
			if r := b.await(id, "ended", ended); r.State != run.Completed || r.Attempt != 1 {
				t.Errorf("run %s: %s at attempt %d", id, r.State, r.Attempt)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(times) != len(ids) || most > 5 {
			t.Errorf("worked on %d runs, at most %d at once; want %d, at most 5", len(times), most, len(ids))
		}
		for id, n := range times {
			if n != 1 {
				t.Errorf("run %s was worked on %d times", id, n)
			}
		}
	})
}

func TestLongRunIsLeftAlone(t *testing.T) {
	each(t, 1, func(t *testing.T, b bench) {
		begun := make(chan int, 10)
		release := make(chan struct{})
		work := func(ctx context.Context, r *run.Run) error {
			begun <- r.Attempt
			<-release
			return complete(ctx, r)
		}
		b.queue(1, work)
		b.queue(1, work)
		id := b.ready("main")
		<-begun
		// Three times what a dead worker is given.
		hold := time.After(3 * quick.ReapInterval * time.Duration(quick.MaxMissed+1))
		select {
		case n := <-begun:
			t.Fatalf("attempt %d began beside a living one", n)
		case <-hold:
		}
		close(release)
		if r := b.await(id, "ended", ended); r.State != run.Completed || r.Attempt != 1 {
			t.Errorf("ended as %s at attempt %d", r.State, r.Attempt)
		}
	})
}

func TestDeadWorkersRunBeginsAgain(t *testing.T) {
	each(t, 1, func(t *testing.T, b bench) {
		id := b.ready("main")
		// A worker that takes the run and is never heard of again.
		_, err := b.db.AdmitRuns(t.Context(), true)
		b.must(err)
		dead, err := b.db.ClaimRun(t.Context(), job.Claim{Run: id, Job: 1 << 40, Holder: "dead"})
		b.must(err)
		b.queue(1, complete)
		r := b.await(id, "ended", ended)
		if r.State != run.Completed || r.Attempt != 2 {
			t.Errorf("ended as %s at attempt %d", r.State, r.Attempt)
		}
		// It was only slow: what it has to say does not count.
		dead.State, dead.Failure = run.Failed, run.Fail(1, "late")
		if err := b.db.EndRun(t.Context(), dead); !errs.Is(err, errs.Conflict) {
			t.Errorf("the late worker: got %v, want a conflict", err)
		}
	})
}

func TestCancelReachesTheWorker(t *testing.T) {
	each(t, 1, func(t *testing.T, b bench) {
		b.queue(1, func(ctx context.Context, _ *run.Run) error {
			<-ctx.Done()
			return ctx.Err()
		})
		id := b.ready("main")
		b.await(id, "ran", func(r run.Run) bool { return r.State == run.Running })
		_, err := b.db.CancelRun(t.Context(), b.sc, id)
		b.must(err)
		r := b.await(id, "ended", ended)
		if r.State != run.Failed || !r.Cancelled || r.Failure.Code != run.CodeCancelled || r.Attempt != 1 {
			t.Errorf("ended as %+v", r)
		}
	})
}

func TestStoppingWorkerPutsItsRunBack(t *testing.T) {
	each(t, 1, func(t *testing.T, b bench) {
		stop := b.queue(1, func(ctx context.Context, _ *run.Run) error {
			<-ctx.Done()
			return ctx.Err()
		})
		id := b.ready("main")
		b.await(id, "ran", func(r run.Run) bool { return r.State == run.Running })
		stop()
		if r := b.await(id, "was put back", func(r run.Run) bool { return r.State == run.Queued }); r.Tries != 0 {
			t.Errorf("the stop counts as a try")
		}
		b.queue(1, complete)
		if r := b.await(id, "ended", ended); r.State != run.Completed || r.Attempt != 2 || r.Tries != 1 {
			t.Errorf("ended as %s at attempt %d, %d tries", r.State, r.Attempt, r.Tries)
		}
	})
}

func TestFailureAndPanic(t *testing.T) {
	each(t, 2, func(t *testing.T, b bench) {
		b.queue(2, func(_ context.Context, r *run.Run) error {
			switch r.Branch {
			case "failure":
				return fmt.Errorf("scan: %w", run.Fail(run.CodeArchive, "not a zip"))
			case "error":
				return errors.New("disk on fire")
			}
			panic("poison")
		})
		failed := b.await(b.ready("failure"), "ended", ended)
		if failed.State != run.Failed || failed.Failure.Code != run.CodeArchive || failed.Attempt != 1 {
			t.Errorf("a failure ends as %+v", failed)
		}
		for _, branch := range []string{"error", "panic"} {
			r := b.await(b.ready(branch), "was put back", func(r run.Run) bool {
				return r.State == run.Queued && r.Failure != nil
			})
			if r.Tries != 1 || r.Failure.Message != "internal error; see the log" {
				t.Errorf("%s: put back as %+v, %+v", branch, r, r.Failure)
			}
		}
	})
}

package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/errgroup"

	"merlon/internal/run"
)

// A Config is what a Queue is made of. DB is for SQLite: the store's pool for
// writing. Pool is for PostgreSQL: the store's. One of them is set.
type Config struct {
	DB    *sql.DB
	Pool  *pgxpool.Pool
	Store Store
	Log   *slog.Logger

	// Work does what a run asks for. When it returns nil, the run ends as it left
	// it: State, Outcome, Languages. A *run.Failure ends the run as failed; after
	// any other error it is tried again. The context ends when the run was
	// cancelled, was lost to another worker, or the queue stops.
	Work        func(context.Context, *run.Run) error
	MaxParallel int    // how many runs at once; 0 for a process that only dispatches
	Sealed      bool   // takes runs that need the master key, too
	Timing      Timing // zero for DefaultTiming
}

// A Queue gives runs to workers.
type Queue struct {
	Config
	client client
	wake   chan struct{}
	slots  chan struct{} // holds one for each run at work

	mu      sync.Mutex
	holding map[string]bool // the leases' holders in this process
}

// client is what River's clients for the two databases have in common.
type client interface {
	Insert(context.Context, river.JobArgs, *river.InsertOpts) (*rivertype.JobInsertResult, error)
	Start(context.Context) error
	StopAndCancel(context.Context) error
}

var (
	_ client = (*river.Client[*sql.Tx])(nil)
	_ client = (*river.Client[pgx.Tx])(nil)
)

// args is what a job carries. Two jobs for one attempt of one run are one.
type args struct {
	Run     run.ID `json:"run"`
	Attempt int    `json:"attempt"`
}

// Kind names the jobs to River.
func (args) Kind() string { return "scan" }

// The queues that we use: one for the runs that every worker can do, one for those
// that only a worker with the master key can.
const (
	queueName   = "scan"
	sealedQueue = "sealed"
)

// insertion makes a job that is worked once: whether it is tried again is
// decided from the run.
var insertion = river.InsertOpts{
	MaxAttempts: 1, Queue: queueName,
	UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}},
}

// never is a time that does not come: River must not rescue by its clock what
// the reaper watches by beats.
const never = 10 * 365 * 24 * time.Hour

// New returns a Queue; Run starts it.
func New(c Config) (*Queue, error) {
	if c.Timing == (Timing{}) {
		c.Timing = DefaultTiming
	}
	q := &Queue{Config: c, wake: make(chan struct{}, 1), slots: make(chan struct{}, max(c.MaxParallel, 1)),
		holding: map[string]bool{}}
	rc := &river.Config{
		Logger:            slog.New(quiet{c.Log.Handler()}),
		FetchPollInterval: c.Timing.Poll, FetchCooldown: min(c.Timing.Poll, 100*time.Millisecond),
		// One way of waking on both databases: SQLite's messages are incomplete,
		// PostgreSQL's can be lost and hold a connection.
		PollOnly:             true,
		JobTimeout:           -1,
		RescueStuckJobsAfter: never,
		SkipUnknownJobCheck:  true,
	}
	if c.MaxParallel > 0 {
		rc.Queues = map[string]river.QueueConfig{queueName: {MaxWorkers: c.MaxParallel}}
		if c.Sealed {
			rc.Queues[sealedQueue] = river.QueueConfig{MaxWorkers: c.MaxParallel}
		}
		rc.Workers = river.NewWorkers()
		if err := river.AddWorkerSafely(rc.Workers, river.WorkFunc(q.workJob)); err != nil {
			return nil, fmt.Errorf("register worker: %w", err)
		}
	}
	var err error
	if c.Pool != nil {
		q.client, err = river.NewClient(riverpgxv5.New(c.Pool), rc)
	} else {
		q.client, err = river.NewClient(riversqlite.New(c.DB), rc)
	}
	if err != nil {
		return nil, fmt.Errorf("make job client: %w", err)
	}
	return q, nil
}

// Wake says that a run may be ready, so that it does not wait for the next sweep.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default: // a sweep is due already
	}
}

// stopTime is how long a stopping queue waits for its workers to put back what
// they hold.
const stopTime = 20 * time.Second

// errStopped is why a worker's context ends when the queue stops.
var errStopped = errors.New("the worker stops")

// Run dispatches, works and reaps until ctx ends; then it puts back the runs
// that its workers hold.
func (q *Queue) Run(ctx context.Context) error {
	jobs, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(errStopped)
	if q.MaxParallel > 0 {
		if err := q.client.Start(jobs); err != nil {
			return fmt.Errorf("start workers: %w", err)
		}
	}
	var loops errgroup.Group
	loops.Go(func() error { q.dispatchLoop(ctx); return nil })
	loops.Go(func() error { q.reapLoop(ctx); return nil })
	<-ctx.Done()
	stop(errStopped)
	err := loops.Wait()
	if q.MaxParallel > 0 {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if stopErr := q.client.StopAndCancel(end); stopErr != nil {
			err = errors.Join(err, fmt.Errorf("stop workers: %w", stopErr))
		}
	}
	return err
}

// dispatchLoop sweeps when woken, and now and then.
func (q *Queue) dispatchLoop(ctx context.Context) {
	ticker := time.NewTicker(q.Timing.Sweep)
	defer ticker.Stop()
	away := false
	for {
		err := q.dispatchRuns(ctx)
		if err != nil && ctx.Err() == nil && !away {
			q.Log.LogAttrs(ctx, slog.LevelError, "dispatching fails", slog.String("error", err.Error()))
		}
		away = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-q.wake:
		}
	}
}

// dispatchRuns gives a job to every run that needs one. When it stops between
// making a job and recording it, the next sweep finds the same job by its
// uniqueness.
func (q *Queue) dispatchRuns(ctx context.Context) error {
	ready, err := q.Store.AdmitRuns(ctx, q.Sealed && q.MaxParallel > 0)
	if err != nil {
		return err
	}
	for _, r := range ready {
		opts := insertion
		if r.Sealed {
			opts.Queue = sealedQueue
		}
		res, err := q.client.Insert(ctx, args{r.Run, r.Attempt}, &opts)
		if err != nil {
			return fmt.Errorf("make job: %w", err)
		}
		if err := q.Store.SetJob(ctx, r, res.Job.ID); err != nil {
			return fmt.Errorf("record job: %w", err)
		}
	}
	return nil
}

// quiet passes on only what needs attention: River tells of every step at info.
type quiet struct{ slog.Handler }

// Enabled drops messages below warnings: the queue library logs every job.
func (h quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"merlon/internal/errs"
	"merlon/internal/run"
)

// Why a worker's context ends, besides errStopped.
var (
	errCancelled = errors.New("the run was cancelled")
	errPaused    = errors.New("the run was paused")
	errLost      = errors.New("the run was lost to another worker")
)

// workJob is River's entry: it takes the run of a job, works on it under a lease,
// and writes how that went. River bounds each queue for itself; the bound of both
// together is ours, and what exceeds it goes back for a moment.
func (q *Queue) workJob(ctx context.Context, j *river.Job[args]) error {
	select {
	case q.slots <- struct{}{}:
		defer func() { <-q.slots }()
	default:
		return river.JobSnooze(2 * q.Timing.Poll)
	}
	t := Claim{Run: j.Args.Run, Attempt: j.Args.Attempt, Job: j.ID, Holder: rand.Text()}
	q.setLocalHolder(t.Holder, true)
	defer q.setLocalHolder(t.Holder, false)
	r, err := q.Store.ClaimRun(ctx, t)
	if err != nil || r == nil {
		return err // the dispatcher or the reaper sees to it
	}
	log := q.Log.With(slog.String("scan", string(r.ID)), slog.Int("attempt", r.Attempt))
	working, stop := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { q.renewLease(working, t, stop, log) })
	began := time.Now()
	err = q.callWork(working, r, log)
	err = q.finishRun(working, r, err, log)
	// Only now: until it is written how the run ended, the lease must hold.
	stop(nil)
	beating.Wait()
	log.LogAttrs(ctx, slog.LevelInfo, "worked on a scan", slog.String("state", string(r.State)),
		slog.Duration("took", time.Since(began)))
	return err
}

// callWork runs Work and turns a panic into an error.
func (q *Queue) callWork(ctx context.Context, r *run.Run, log *slog.Logger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.LogAttrs(ctx, slog.LevelError, "a worker panicked", slog.Any("panic", p),
				slog.String("stack", string(debug.Stack())))
			err = errors.New("the worker failed")
		}
	}()
	return q.Work(ctx, r)
}

// renewLease renews the lease until the context ends. A database that is away is no
// reason to stop: whoever takes the run meanwhile shuts this worker out.
func (q *Queue) renewLease(ctx context.Context, t Claim, stop context.CancelCauseFunc, log *slog.Logger) {
	ticker := time.NewTicker(q.Timing.Heartbeat)
	defer ticker.Stop()
	away := false
	for {
		select {
		case <-ctx.Done():
			// A cancelled or stopping worker still holds the run until it has said so;
			// the reaper leaves it the time for that.
			return
		case <-ticker.C:
		}
		wish, err := q.Store.Heartbeat(ctx, t)
		switch {
		case errs.Is(err, errs.Conflict):
			stop(errLost)
		case err != nil && ctx.Err() == nil && !away:
			log.LogAttrs(ctx, slog.LevelWarn, "a lease cannot be renewed", slog.String("error", err.Error()))
		case wish == Cancel:
			stop(errCancelled)
		case wish == Pause:
			stop(errPaused)
		}
		away = err != nil
	}
}

// finishRun writes how the work on a run ended.
func (q *Queue) finishRun(working context.Context, r *run.Run, err error, log *slog.Logger) error {
	cause := context.Cause(working)
	var f *run.Failure
	var setback *run.RetryError
	switch {
	case errors.Is(cause, errLost) || errs.Is(err, errs.Conflict):
		log.LogAttrs(working, slog.LevelWarn, "a scan was lost to another worker, or was deleted")
		return nil
	case err == nil && r.State.Final():
	case errors.Is(cause, errCancelled):
		r.State, r.Failure = run.Failed, run.Cancelled()
	case cause != nil: // paused, or the queue, or River, stops
		r.State = run.Queued
	case !errors.As(err, &setback) && errors.As(err, &f):
		r.State, r.Failure = run.Failed, f
	case err == nil:
		return fmt.Errorf("scan %s: the worker left it in state %s", r.ID, r.State)
	default:
		log.LogAttrs(working, slog.LevelError, "a scan will be retried", slog.String("error", err.Error()))
		r.State, r.Failure = run.Queued, toFailure(err)
	}
	return q.persistRun(working, r, cause == nil)
}

// toFailure is what a person is told when the last try ended with err.
func toFailure(err error) *run.Failure {
	var s *run.RetryError
	if errors.As(err, &s) {
		return s.Failure
	}
	var e *errs.Error
	if errors.As(err, &e) && e.Kind != errs.Internal {
		return run.Fail(run.CodeUnavailable, "%s", e.Message)
	}
	return run.Fail(run.CodeUnavailable, "internal error; see the log")
}

// persistTime is how long a worker tries to write how a run ended. Afterwards the
// run is taken up again like that of a dead one.
const persistTime = 10 * time.Minute

// persistRun writes the run's end or puts it back, until the database takes it or
// the queue stops.
func (q *Queue) persistRun(ctx context.Context, r *run.Run, counts bool) error {
	limit := persistTime
	if context.Cause(ctx) != nil {
		limit = stopTime / 2
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	for {
		err := q.writeRun(ctx, r, counts)
		if err == nil || errs.Is(err, errs.Conflict) {
			return nil // written, or no longer ours to write
		}
		if !errs.Is(err, errs.Unavailable) {
			return fmt.Errorf("end scan %s: %w", r.ID, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end scan %s: %w", r.ID, err)
		case <-time.After(q.Timing.Sweep):
		}
	}
}

// writeRun writes the end of a run once.
func (q *Queue) writeRun(ctx context.Context, r *run.Run, counts bool) error {
	if r.State.Final() {
		return q.Store.EndRun(ctx, r)
	}
	delay := time.Duration(0)
	if counts {
		delay = retryDelay(r.Tries)
	}
	return q.Store.Requeue(ctx, r, r.Failure, delay)
}

// setLocalHolder records that a lease's holder lives in this process.
func (q *Queue) setLocalHolder(holder string, yes bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if yes {
		q.holding[holder] = true
	} else {
		delete(q.holding, holder)
	}
}

// isLocalHolder reports whether the holder of a lease lives in this process.
func (q *Queue) isLocalHolder(holder string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holding[holder]
}

// Package job makes workers look at runs: a durable queue over River, on both
// databases, with what River lacks here. A worker holds a lease that it renews
// by counting up; a reaper in every process ends the jobs whose count stands
// still, so that a killed worker's run begins again within seconds while a long
// one is left alone. Cancelling is a mark on the run that the renewal reads,
// which works on SQLite too, where River's own message never arrives.
//
// The run in the database is the truth, and a job only makes somebody look at
// it. Every job is for one attempt of one run and is worked once: a repeated, a
// lost or a late one changes nothing. What to do next is always decided from the
// run, by the dispatcher, which sweeps every second.
//
// No decision here compares clocks. A lease is lost when several looks in a row
// saw the same count, so that neither a clock that jumps nor two machines whose
// clocks differ can take a job from a living worker.
package job

import (
	"context"
	"time"

	"merlon/internal/run"
)

// A ReadyRun is a run that holds a place and needs a job.
type ReadyRun struct {
	Run     run.ID
	Attempt int  // how many workers have taken it so far
	Sealed  bool // only a worker with the master key can do it
}

// A Claim is a job's claim on a run.
type Claim struct {
	Run     run.ID
	Attempt int    // as in Ready: the claim is out of date when the run's is higher
	Job     int64  // of River
	Holder  string // unguessable name of the lease's holder
}

// A Request is what somebody wants of a run that a worker has.
type Request uint8

// The wishes.
const (
	Continue Request = iota // nothing
	Pause                   // to be put back, without a place
	Cancel                  // to end
)

// A Lease is a job that somebody works on, or is taken for.
type Lease struct {
	Job    int64
	Holder string // empty when River gave the job out and nobody holds a lease
	Beat   int64  // rises while the holder lives; -1 without one
}

// Store keeps runs, jobs and leases.
type Store interface {
	// AdmitRuns gives the places that are free, ends the runs that are out of
	// tries, and returns those that need a job.
	// One that needs the master key gets a place only when sealed says that the caller
	// works on such runs: nobody else would ever give it back.
	AdmitRuns(ctx context.Context, sealed bool) ([]ReadyRun, error)
	// SetJob records the job of a run.
	SetJob(ctx context.Context, r ReadyRun, job int64) error
	// ClaimRun gives the run to the holder, or returns nil when the claim is out of
	// date.
	ClaimRun(ctx context.Context, t Claim) (*run.Run, error)
	// Beat renews a lease. It reports what is wanted of the run, and returns a Conflict
	// error when the lease is lost.
	Heartbeat(ctx context.Context, t Claim) (Request, error)
	// Leases returns what Reap may be called with.
	Leases(ctx context.Context) ([]Lease, error)
	// Reap ends the job of a lease that was not renewed since it was read.
	Reap(ctx context.Context, l Lease) (bool, error)
	// EndRun writes the end of a run; a Conflict error when another has it.
	EndRun(ctx context.Context, r *run.Run) error
	// Requeue returns a run to the queue, to be taken after the delay; without a
	// delay it counts as never tried.
	Requeue(ctx context.Context, r *run.Run, f *run.Failure, delay time.Duration) error
}

// Timing says how often things are done. With the default a killed worker's run
// is taken up again after 12 to 22 seconds.
type Timing struct {
	Sweep        time.Duration // of the dispatcher
	Poll         time.Duration // of workers for jobs
	Heartbeat    time.Duration // of a lease's holder
	ReapInterval time.Duration // of the reaper at the leases
	MaxMissed    int           // that see the same count before the holder is dead
}

// DefaultTiming is the Timing of the service.
var DefaultTiming = Timing{Sweep: time.Second, Poll: 500 * time.Millisecond, Heartbeat: 3 * time.Second,
	ReapInterval: 4 * time.Second, MaxMissed: 4}

// retryDelay is how long a run waits after its n-th failed try.
func retryDelay(n int) time.Duration {
	delay := 10 * time.Second
	for range n - 1 {
		delay *= 3
	}
	return min(delay, run.MaxRetryDelay)
}

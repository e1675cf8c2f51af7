// Package worker does what a run asks for. It fetches the archive, unpacks it
// within a budget, runs this very program on it as a child with least rights,
// records the messages that the child writes, and hands the record to triage.
// Whatever goes wrong on the way ends the run as failed, or puts it back to be
// tried again; an analysis that could not look never looks like a clean result.
package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"merlon/internal/archive"
	"merlon/internal/errs"
	"merlon/internal/job"
	"merlon/internal/oast"
	"merlon/internal/run"
	"merlon/internal/sandbox"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// A Config is what a Worker is made of.
type Config struct {
	Jobs  job.Store
	Runs  Runs
	DB    *sql.DB       // SQLite: the store's pool for writing
	Pool  *pgxpool.Pool // PostgreSQL: the store's pool
	Blobs Blobs

	// Ingest applies a recorded scan to the findings; see triage.Ingest.
	Ingest func(ctx context.Context, sc tenant.Scope, r *run.Run,
		open func() (io.ReadCloser, error)) (run.Outcome, error)
	// Advisories returns the file of vulnerability data in force; an empty path
	// when there is none.
	Advisories func(context.Context) (string, *scan.AdvisoryData, error)

	// FetchImage writes the run's image as an OCI layout into an empty folder. Errors
	// are of the kinds that registry.Fetch returns, or a *run.Failure.
	FetchImage func(ctx context.Context, r *run.Run, dir string) error
	// OpenTarget returns what a run of a running application needs; nil: this worker
	// has no master key, and leaves such runs to others. Errors are of the kind that
	// FetchImage returns.
	OpenTarget func(ctx context.Context, r *run.Run) (*Target, error)
	// Listener takes what targets send elsewhere; nil: nobody listens.
	Listener *oast.Listener
	// Browser is the path of a Chromium that scans of running applications use; empty:
	// none, for the reason in NoBrowser, which is empty where that is wanted.
	Browser, NoBrowser string
	// LiveTime is how long a scan of a running application may take; 0 for
	// DefaultLiveTime.
	LiveTime time.Duration
	// Sealed says that FetchImage can open stored credentials: runs that need it are
	// left to other processes without.
	Sealed bool

	Scratch string // folder for what is being scanned; made when it is missing
	Program string // runs `scan`; empty for the running program
	Slots   int    // runs at once; 0 for a process that dispatches and tidies only

	TimeLimit time.Duration  // of one child; 0 for DefaultTimeLimit
	Limits    sandbox.Limits // of one child; zeros for the defaults
	Budget    archive.Budget // of one archive; zero for the default
	Timing    job.Timing     // zero for the default
	Log       *slog.Logger
}

// DefaultTimeLimit is how long a child may take.
const DefaultTimeLimit = time.Hour

// DefaultLiveTime is how long a scan of a running application may take.
const DefaultLiveTime = 4 * time.Hour

// defaultMemory is how much memory a child may have, in bytes.
const defaultMemory = 2 << 30

// Runs is what a worker does with runs besides the queue.
type Runs interface {
	// ShowProgress records how far a run is.
	ShowProgress(ctx context.Context, r *run.Run) error
	// Garbage returns keys of blob storage that nobody needs.
	Garbage(ctx context.Context) ([]string, error)
	// ForgetUpload records that nothing is stored under the key.
	ForgetUpload(ctx context.Context, key string) error
	// ExpireRuns ends the runs to which nothing was uploaded in time.
	ExpireRuns(ctx context.Context) (int, error)
}

// Blobs is where archives are kept.
type Blobs interface {
	// Download copies what is stored under the key; NotFound when nothing is.
	Download(ctx context.Context, key string, w io.Writer) error
	// Delete removes what is stored under the key; nothing there is no error.
	Delete(ctx context.Context, key string) error
}

// A Worker works on runs.
type Worker struct {
	Config
	queue   *job.Queue
	scratch *scratch
}

// New returns a Worker; Run starts it.
func New(c Config) (*Worker, error) {
	if c.TimeLimit == 0 {
		c.TimeLimit = DefaultTimeLimit
	}
	if c.LiveTime == 0 {
		c.LiveTime = DefaultLiveTime
	}
	if c.Limits.CPU == 0 {
		c.Limits.CPU = c.TimeLimit * time.Duration(runtime.NumCPU())
	}
	if c.Limits.Memory == 0 {
		c.Limits.Memory = defaultMemory
	}
	if c.Budget == (archive.Budget{}) {
		c.Budget = archive.DefaultBudget
	}
	w := &Worker{Config: c}
	var err error
	w.queue, err = job.New(job.Config{
		DB: c.DB, Pool: c.Pool, Store: c.Jobs, Log: c.Log, Work: w.workRun, MaxParallel: c.Slots, Sealed: c.Sealed,
		Timing: c.Timing,
	})
	return w, err
}

// Wake says that a run may be ready.
func (w *Worker) Wake() { w.queue.Wake() }

// Run works until ctx ends; then it puts back what it holds.
func (w *Worker) Run(ctx context.Context) error {
	var err error
	if w.scratch, err = openScratch(w.Scratch); err != nil {
		return fmt.Errorf("scratch folder: %w", err)
	}
	defer w.scratch.close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.queue.Run(ctx) })
	g.Go(func() error { w.keepHouse(ctx); return nil })
	return g.Wait()
}

// workRun does what a run asks for, from the archive to the findings.
func (w *Worker) workRun(ctx context.Context, r *run.Run) error {
	dir, err := w.scratch.newFolder(r)
	if err != nil {
		return markRetry(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			w.Log.LogAttrs(ctx, slog.LevelWarn, "a scratch folder stays for now", slog.String("error", err.Error()))
		}
	}()
	rec := &recorder{meter: &meter{ctx: ctx, runs: w.Runs, run: r}}
	c := child{run: r, dir: dir, tree: filepath.Join(dir, "source"), record: filepath.Join(dir, "messages"),
		limit: w.TimeLimit}
	look := w.scanArchive
	switch {
	case r.Image != nil:
		look = w.scanImage
	case r.Target != nil:
		look = w.scanTarget
	}
	if err := look(ctx, rec, c); err != nil {
		return err
	}
	rec.meter.recordProgress(95, "recording the findings")
	if r.Outcome, err = w.ingestRecord(ctx, r, c.record); err != nil {
		return err
	}
	return setOutcome(r)
}

// scanArchive fetches and unpacks the run's archive and scans it.
func (w *Worker) scanArchive(ctx context.Context, rec *recorder, c child) error {
	rec.meter.recordProgress(0, "fetching the archive")
	file, err := w.fetchArchive(ctx, c.run, c.dir)
	if err != nil {
		return err
	}
	rec.meter.recordProgress(2, "unpacking the archive")
	summary, err := w.unpackArchive(ctx, file, c.tree)
	if err != nil {
		return err
	}
	if c.run.Languages, err = listLanguages(c.tree); err != nil {
		return markRetry(err)
	}
	rec.skipped = skippedReasons(summary)
	return w.recordChild(ctx, rec, c)
}

// ingestPatience is how long a worker waits for a database that is away before
// it throws a finished scan away.
const ingestPatience = 10 * time.Minute

// ingestRecord hands the record to triage. To do it twice changes nothing.
func (w *Worker) ingestRecord(ctx context.Context, r *run.Run, record string) (run.Outcome, error) {
	sc := tenant.System(r.OrganizationID, r.TeamID, r.ProjectID)
	patience, cancel := context.WithTimeout(ctx, ingestPatience)
	defer cancel()
	for {
		out, err := w.Ingest(ctx, sc, r, func() (io.ReadCloser, error) { return os.Open(record) })
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, scan.ErrIncomplete):
			return out, run.Fail(run.CodeIncomplete, "the scan ended before every analyzer had ended")
		case errs.Is(err, errs.Invalid) || errs.Is(err, errs.TooLarge):
			return out, run.Fail(run.CodeResults, "the results of the scan were refused: %s", publicMessage(err))
		case !errs.Is(err, errs.Unavailable):
			return out, err
		}
		select {
		case <-patience.Done():
			return out, err
		case <-time.After(time.Second):
		}
	}
}

// setOutcome sets how the run ends from how its analyzers did.
func setOutcome(r *run.Run) error {
	looked, whole := 0, 0
	for _, s := range r.Outcome.Statuses {
		switch s.State {
		case scan.Succeeded:
			whole++
			looked++
		case scan.Degraded:
			looked++
		}
	}
	switch {
	case looked == 0:
		f := run.Fail(run.CodeNothing, "no analyzer could do its work")
		if len(r.Outcome.Statuses) > 0 && len(r.Outcome.Statuses[0].Reasons) > 0 {
			f.Message += ": " + r.Outcome.Statuses[0].Reasons[0].Message
		}
		return f
	case whole < len(r.Outcome.Statuses):
		r.State = run.CompletedDegraded
	default:
		r.State = run.Completed
	}
	return nil
}

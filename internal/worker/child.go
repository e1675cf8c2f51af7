package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"merlon/internal/redact"
	"merlon/internal/run"
	"merlon/internal/sandbox"
	"merlon/internal/scan"
)

// This file runs the child and says how it ended.

// A child is one scan: the tree to look at, and the file to write its messages
// to.
type child struct {
	run    *run.Run
	dir    string
	tree   string
	record string
	live   *Target // a running application that is scanned instead of the tree
	// secrets are those of the running application.
	secrets *redact.Set
	limit   time.Duration // how long it may take
}

// Why a child's context ends, besides the worker's.
var (
	errTimeLimit = errors.New("the time limit of the scan")
	errMessages  = errors.New("the scan's messages cannot be recorded")
)

// recordChild runs the child and writes its messages down. An error that is a Failure
// is the child's; any other is the worker's own.
func (w *Worker) recordChild(ctx context.Context, rec *recorder, c child) error {
	f, err := os.OpenFile(c.record, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return markRetry(err)
	}
	out := &bounded{w: f, left: maxRecord}
	rec.Handler = scan.Encode(out)
	if c.run.Image != nil {
		rec.Handler = inImage{rec.Handler, c.run.Image.Root()}
	}
	err = w.runChild(ctx, rec, c)
	closeErr := f.Close()
	switch {
	case errors.Is(out.err, errTooMuch):
		return run.Fail(run.CodeResults, "the scan reports more than %d GiB", maxRecord>>30)
	case out.err != nil:
		return markRetry(out.err)
	case err != nil:
		return err
	case closeErr != nil:
		return markRetry(closeErr)
	}
	return nil
}

// runChild starts the child, reads its messages while they come, and waits.
func (w *Worker) runChild(ctx context.Context, rec *recorder, c child) error {
	spec, err := w.newSpec(ctx, c)
	if err != nil {
		return markRetry(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limited, cancel := context.WithTimeoutCause(ctx, c.limit, errTimeLimit)
	defer cancel()
	lent, err := w.startBroker(limited, c, &spec)
	if err != nil {
		return markRetry(err)
	}
	defer lent()
	read, write := io.Pipe()
	complaints := &complaint{}
	spec.Stdout, spec.Stderr = write, complaints
	p, warnings, err := sandbox.Start(limited, spec)
	if err != nil {
		return markRetry(fmt.Errorf("start the scan: %w", err))
	}
	rec.warnings = warnings
	decoded := make(chan error, 1)
	go func() {
		err := scan.Decode(read, c.redactHandler(rec))
		if err != nil && !errors.Is(err, scan.ErrIncomplete) {
			stop(errMessages)
		}
		// What still comes is dropped, so that a child never waits for a reader.
		_, _ = io.Copy(io.Discard, read)
		decoded <- err
	}()
	res, waitErr := p.Wait()
	_ = write.Close() // never fails
	return c.redactError(w.judgeExit(ctx, ended{result: res, wait: waitErr, decode: <-decoded,
		complaints: complaints.String(),
		limit:      c.limit}))
}

// newSpec says what the child may have.
func (w *Worker) newSpec(ctx context.Context, c child) (sandbox.Spec, error) {
	if c.live != nil {
		return w.liveSpec(ctx, c)
	}
	temp := filepath.Join(c.dir, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return sandbox.Spec{}, err
	}
	names := make([]string, len(c.run.Analyses))
	for i, a := range c.run.Analyses {
		names[i] = string(a)
	}
	spec := sandbox.Spec{
		Path: w.Program,
		Args: []string{"scan", "--format", "stream", "--fail-on", "none", "--analyses", strings.Join(names, ","),
			"--profile", string(c.run.FindingProfile)},
		// The child's collector works harder before the limit ends it.
		Env:      []string{"TMPDIR=" + temp, fmt.Sprintf("GOMEMLIMIT=%d", w.Limits.Memory/10*8)},
		Dir:      c.tree,
		ReadOnly: []string{c.tree}, ReadWrite: []string{temp},
		Limits: w.Limits,
	}
	if c.run.Fast {
		spec.Args = append(spec.Args, "--fast")
	}
	if err := w.addAdvisories(ctx, &spec); err != nil {
		return spec, err
	}
	if c.run.Image != nil {
		spec.Args = append(spec.Args, "--image")
	}
	spec.Args = append(spec.Args, c.tree)
	return spec, nil
}

// addAdvisories lets the child read the vulnerability data, where there is any.
func (w *Worker) addAdvisories(ctx context.Context, spec *sandbox.Spec) error {
	if w.Advisories == nil {
		return nil
	}
	path, _, err := w.Advisories(ctx)
	if err != nil {
		return fmt.Errorf("vulnerability data: %w", err)
	}
	if path != "" {
		spec.Args = append(spec.Args, "--advisories", path)
		spec.ReadOnly = append(spec.ReadOnly, path)
	}
	return nil
}

// ended is how a child ended.
type ended struct {
	result     sandbox.Result
	wait       error
	decode     error
	complaints string // the beginning of what it wrote to standard error
	limit      time.Duration
}

// Exit codes of `scan --fail-on none` after which its messages are whole.
const (
	exitLooked    = 0
	exitNotLooked = 2
)

// judgeExit returns nil when the child's messages are whole. Everything else is a
// failure of the scan, except when the worker itself was told to stop.
func (w *Worker) judgeExit(ctx context.Context, e ended) error {
	cause := context.Cause(ctx)
	var killed *sandbox.KilledError
	switch {
	case cause != nil && !errors.Is(cause, errMessages):
		return cause
	case errors.Is(e.wait, errTimeLimit):
		return run.Fail(run.CodeTimeLimit, "the scan took longer than %v", e.limit)
	case e.outOfMemory(w.Limits.Memory):
		return run.Fail(run.CodeMemory, "the scan needed more memory than it may have%s", e.lastWords())
	case errors.As(e.wait, &killed):
		return run.Fail(run.CodeCrashed, "the scan was ended: %s%s", killed.Error(), e.lastWords())
	case e.decode != nil && !errors.Is(e.decode, scan.ErrIncomplete):
		return run.Fail(run.CodeIncomplete, "the scan's messages cannot be read: %v", e.decode)
	case e.wait != nil:
		return markRetry(e.wait)
	case e.decode != nil:
		return run.Fail(run.CodeIncomplete, "the scan ended with exit code %d before every analyzer had "+
			"ended%s", e.result.Code, e.lastWords())
	case e.result.Code != exitLooked && e.result.Code != exitNotLooked:
		return run.Fail(run.CodeCrashed, "the scan ended with exit code %d%s", e.result.Code, e.lastWords())
	}
	return nil
}

// wantsMemory is how programs say that they got no more memory: the runtime of
// Go, in its several ways (runtime/malloc.go, mheap.go, os_linux.go), and
// libraries in C.
var wantsMemory = []string{"out of memory", "cannot allocate memory", "failed to allocate"}

// outOfMemory reports whether the child ended for want of memory: it said so, or
// broke off with most of it in use, because the runtime may also crash when an
// allocation of its own fails.
func (e ended) outOfMemory(limit int64) bool {
	for _, said := range wantsMemory {
		if strings.Contains(e.complaints, said) {
			return true
		}
	}
	return e.decode != nil && e.result.Memory > limit/100*70
}

// lastWords is the first line of what the child said at its end. It is text of
// ours or of the runtime's: analyzers do not write there.
func (e ended) lastWords() string {
	for line := range strings.Lines(e.complaints) {
		if line = strings.TrimSpace(line); line != "" {
			return " (" + line[:min(len(line), 200)] + ")"
		}
	}
	return ""
}

// A complaint is a Writer that keeps the beginning of what it gets: a crash says what
// it is in its first line.
type complaint struct{ b bytes.Buffer }

// maxComplaint bounds what is kept of it, in bytes.
const maxComplaint = 16 << 10

// Write keeps the beginning of the child's standard error, for the log.
func (c *complaint) Write(p []byte) (int, error) {
	if room := maxComplaint - c.b.Len(); room > 0 {
		c.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String returns it as valid UTF-8.
func (c *complaint) String() string { return strings.ToValidUTF8(c.b.String(), "�") }

package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// This file records the messages of a scan while they come.

// A recorder is the handler of a child's messages. It writes them down, together
// with what only the worker knows: what the archive held that was not unpacked,
// and which protections the child had to do without.
type recorder struct {
	scan.Handler // writes the record
	meter        *meter
	skipped      []scan.Reason
	warnings     []string
}

// Config adds the protections that could not be had.
func (r *recorder) Config(c *scan.Config) error {
	told := *c
	told.Sandbox = append(append([]string{}, c.Sandbox...), r.warnings...)
	return r.Handler.Config(&told)
}

// Progress is shown, not written down: a child is most of a run, from 5 to 95 %.
func (r *recorder) Progress(p *scan.Progress) error {
	r.meter.recordProgress(5+min(max(p.Percent, 0), 100)*90/100, p.Step)
	return nil
}

// Status adds what was not unpacked: no analyzer looked at it, so nothing there
// may be taken for gone.
func (r *recorder) Status(s *scan.Status) error {
	if len(r.skipped) == 0 {
		return r.Handler.Status(s)
	}
	told := *s
	told.Reasons = append([]scan.Reason{}, s.Reasons...)
	for _, reason := range r.skipped {
		if len(told.Reasons) == scan.MaxReasons {
			told.Omitted++
			continue
		}
		told.Reasons = append(told.Reasons, reason)
	}
	if told.State == scan.Succeeded {
		told.State = scan.Degraded
	}
	return r.Handler.Status(&told)
}

// Rule, Package, Finding and Operation are the record's own; they are named here so that
// a new kind of message is not passed on without a thought.
func (r *recorder) Rule(m *finding.Rule) error { return r.Handler.Rule(m) }

// Package records a dependency.
func (r *recorder) Package(m *finding.Package) error { return r.Handler.Package(m) }

// Finding records a finding.
func (r *recorder) Finding(m *finding.Finding) error { return r.Handler.Finding(m) }

// Operation records the outcome of an operation.
func (r *recorder) Operation(m *finding.Operation) error { return r.Handler.Operation(m) }

// maxRecord bounds the record of one scan, in bytes.
const maxRecord = 4 << 30

// errTooMuch says that a child wrote more than maxRecord.
var errTooMuch = errors.New("the scan wrote too many messages")

// A bounded Writer refuses what goes beyond left, and tells its own failures
// from those of the messages.
type bounded struct {
	w    io.Writer
	left int64
	err  error
}

// Write fails beyond the limit: a compromised child must not fill the disk of the worker.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		b.err = errTooMuch
		return 0, b.err
	}
	n, err := b.w.Write(p)
	if err != nil {
		b.err = fmt.Errorf("record the scan: %w", err)
	}
	return n, err
}

// A meter shows how far a run is, at most once a second.
type meter struct {
	ctx   context.Context // house: of the work on the run, which the meter does not outlive
	runs  Runs
	run   *run.Run
	shown time.Time
}

// showEvery is the least time between two shown numbers, and showTime how long
// it may take to show one.
const (
	showEvery = time.Second
	showTime  = 2 * time.Second
)

// recordProgress records the progress unless one was just recorded. A number that cannot
// be recorded is no reason to stop: the next one may be, and a run that was lost
// is noticed by the lease.
func (m *meter) recordProgress(percent int, step string) {
	if time.Since(m.shown) < showEvery && percent < 95 {
		return
	}
	m.shown = time.Now()
	m.run.Progress, m.run.Step = percent, step
	ctx, cancel := context.WithTimeout(m.ctx, showTime)
	defer cancel()
	_ = m.runs.ShowProgress(ctx, m.run) // see above
}

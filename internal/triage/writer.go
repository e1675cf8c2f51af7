package triage

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file turns the difference between a scan and its branch into batches.

// A writer fills batches.
type writer struct {
	in    *ingest
	batch *Batch
}

// take returns the batch and begins another one.
func (w *writer) take() *Batch {
	b := w.batch
	w.batch = newBatch(w.in.run)
	return b
}

// flush writes the batch.
func (w *writer) flush(ctx context.Context) error { return w.in.write(ctx, w.take()) }

// flushFull writes the batch if it is full.
func (w *writer) flushFull(ctx context.Context) error {
	if w.batch.size() < w.in.size {
		return nil
	}
	return w.flush(ctx)
}

// write applies a batch upon what is written already.
func (in *ingest) write(ctx context.Context, b *Batch) error {
	b.Version, b.Revision = in.branch.Version, in.branch.Revision
	if err := in.Apply(ctx, in.sc, b); err != nil {
		return fmt.Errorf("apply scan: %w", err)
	}
	in.branch.Version++
	return nil
}

// change adds an automatic entry to a finding's history.
func (w *writer) change(k *Known, kind ChangeKind, value, previous, reason string) {
	w.batch.Changes = append(w.batch.Changes, Change{
		ID: NewID(), Flaw: k.Flaw, Finding: k.ID, Kind: kind, Value: value, Previous: previous, Reason: reason,
		Run: w.in.run.ID,
	})
}

// NewID returns a UUID of version 7, so that new rows stand side by side in an
// index.
func NewID() string { return uuid.Must(uuid.NewV7()).String() } // fails only without randomness

// resolve ends a finding that the scan looked for in vain.
func (w *writer) resolve(k *Known) {
	did := Closed
	if !k.Cell.Status.Active() {
		did = Dropped
	}
	w.batch.Gone = append(w.batch.Gone, k.ID)
	if k.Cell.Status != Resolved {
		w.change(k, StatusChange, string(Resolved), string(k.Cell.Status), "the scan did not find it any more")
		w.batch.Solved[k.Cell.Sort()]++
	}
	cell := k.Cell
	cell.Status = Resolved
	w.batch.Counts.add(k.Cell, -1, k.Risk)
	w.batch.Counts.add(cell, 1, k.Risk)
	k.LastRun, k.LastDid = w.in.run.ID, did
}

// A differ reads a scan's messages the second time and fills batches with what
// has to be written. It is a scan.Handler.
type differ struct {
	in   *ingest
	w    *writer
	send func(*Batch) error // takes a full batch

	read  int // findings, the repeated ones included
	entry int
	wrote map[string]bool // identifiers of packages
}

// errOtherStream says that the stream is not the one that was read before.
var errOtherStream = errors.New("the recorded messages changed while they were read")

// Config is known.
func (d *differ) Config(*scan.Config) error { return nil }

// Progress is of no interest.
func (d *differ) Progress(*scan.Progress) error { return nil }

// Operation is kept with the run, not with the branch.
func (d *differ) Operation(*finding.Operation) error { return nil }

// Status is known.
func (d *differ) Status(*scan.Status) error { return nil }

// Rule writes a rule that the organization does not have, or has with another
// text.
func (d *differ) Rule(r *finding.Rule) error {
	rule, ok := d.in.report.rules[r.ID]
	if !ok {
		return errOtherStream
	}
	if d.in.rules[r.ID] {
		return nil
	}
	d.w.batch.Rules = append(d.w.batch.Rules, StoredRule{ID: rule.id, Sum: rule.sum, Rule: *r})
	return d.full()
}

// Package writes a package that the branch does not have, or has otherwise.
func (d *differ) Package(p *finding.Package) error {
	id := PackageID(d.in.run.ProjectID, d.in.run.Branch, p)
	s, ok := d.in.report.packages[id]
	if !ok {
		return errOtherStream
	}
	if known, ok := d.in.packages[id]; d.wrote[id] || ok && known.Sum == s {
		return nil
	}
	now, err := sum(p)
	if err != nil || now != s { // another description of it follows, which counts
		return err
	}
	d.wrote[id] = true
	d.w.batch.Packages = append(d.w.batch.Packages, StoredPackage{ID: id, Sum: s, Package: *p})
	return d.full()
}

// Finding writes a finding that is new or changed.
func (d *differ) Finding(f *finding.Finding) error {
	n := d.read
	d.read++
	if d.in.report.repeated[n] {
		return nil
	}
	if d.entry == len(d.in.plan) {
		return errOtherStream
	}
	e, s := d.in.report.entries[d.entry], d.in.plan[d.entry]
	d.entry++
	if f.Fingerprint.Place != e.place.String() {
		return errOtherStream
	}
	if s.skip {
		return nil
	}
	rule := d.in.report.rules[f.RuleID]
	proven := used(f) || s.known >= 0 && d.in.known[s.known].Proven
	row := Row{
		Place: e.place, Code: e.code, Flaw: s.flaw, RuleID: rule.id, Sum: e.sum, Report: f, Proves: e.proves,
		CVSS: rule.cvss, Risk: Risk(f.Severity, rule.cvss), Score: factorsOf(f, rule.threat, proven).Composite(),
		Cell: Cell{Analysis: f.Analysis, Severity: f.Severity, Status: ToVerify},
	}
	row.Cell.Priority = priorityOf(f, row.Score, rule.threat)
	if s.known < 0 {
		d.open(&row)
		d.in.plan[d.entry-1].id = row.ID
	} else {
		d.change(&row, &d.in.known[s.known])
	}
	if e.place != s.flaw {
		d.w.batch.Renamed[e.place] = s.flaw
	}
	d.w.batch.Rows = append(d.w.batch.Rows, row)
	return d.full()
}

// open makes a new finding, as was decided about its flaw on other branches.
func (d *differ) open(row *Row) {
	row.ID, row.New, row.Effect = ID(NewID()), true, Opened
	decided := d.in.branch.Decisions[row.Flaw]
	if decided.Status == Confirmed || decided.Status == Ignored {
		row.Cell.Status = decided.Status
	}
	if decided.Priority != "" {
		row.Cell.Priority, row.Pinned = decided.Priority, true
	}
	d.w.batch.Counts.add(row.Cell, 1, row.Risk)
	d.w.batch.Opened[row.Cell.Sort()]++
}

// change brings a known finding to what the scan reports, and records what of it
// a person would want to know.
func (d *differ) change(row *Row, k *Known) {
	row.ID, row.Pinned, row.Effect = k.ID, k.Pinned, Changed
	row.Cell.Status = k.Cell.Status
	if k.Pinned {
		row.Cell.Priority = k.Cell.Priority
	}
	path, line := row.Report.Location.Path, row.Report.Location.StartLine
	if path != k.Path || line != k.Line {
		row.Effect = Moved
	}
	if path != k.Path {
		d.w.change(k, PathChange, path, k.Path, "the same code was found in another file")
	}
	if d.in.reopens(k) {
		d.reopen(row, k)
	}
	if row.Cell.Severity != k.Cell.Severity {
		d.w.change(k, SeverityChange, string(row.Cell.Severity), string(k.Cell.Severity), "the scan rates it "+
			"differently")
	}
	if row.Cell.Priority != k.Cell.Priority {
		d.w.change(k, PriorityChange, string(row.Cell.Priority), string(k.Cell.Priority), "computed score "+
			strconv.Itoa((row.Score+5)/10))
	}
	d.w.batch.Counts.add(k.Cell, -1, k.Risk)
	d.w.batch.Counts.add(row.Cell, 1, row.Risk)
	k.LastRun, k.LastDid = d.in.run.ID, d.keep(k, row.Effect)
	row.Effect = k.LastDid
}

// reopen makes a resolved finding active again, or ignored if that was decided.
func (d *differ) reopen(row *Row, k *Known) {
	row.Effect, row.Cell.Status = Reopened, ToVerify
	reason := "a scan still finds it though it was marked resolved"
	if k.Gone {
		reason = "the scan found it again"
		if d.in.branch.Decisions[k.Flaw].Status == Ignored {
			row.Cell.Status, reason = Ignored, "the scan found it again; it was ignored before"
		}
	}
	d.w.change(k, StatusChange, string(row.Cell.Status), string(k.Cell.Status), reason)
}

// keep returns the effect to record: what an earlier try of the same run did
// first counts more than what this one adds.
func (d *differ) keep(k *Known, effect Effect) Effect {
	if first := k.effectOf(d.in.run.ID); first == Opened || first == Reopened {
		return first
	}
	return effect
}

// full sends the batch when it is full.
func (d *differ) full() error {
	if d.w.batch.size() < d.in.size {
		return nil
	}
	return d.send(d.w.take())
}

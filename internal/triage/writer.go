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

// takeBatch returns the batch and begins another one.
func (w *writer) takeBatch() *Batch {
	b := w.batch
	w.batch = newBatch(w.in.run)
	return b
}

// flushBatch writes the batch.
func (w *writer) flushBatch(ctx context.Context) error { return w.in.writeBatch(ctx, w.takeBatch()) }

// flushFull writes the batch if it is full.
func (w *writer) flushFull(ctx context.Context) error {
	if w.batch.rowCount() < w.in.size {
		return nil
	}
	return w.flushBatch(ctx)
}

// writeBatch applies a batch upon what is written already.
func (in *ingest) writeBatch(ctx context.Context, b *Batch) error {
	b.Version, b.Revision = in.branch.Version, in.branch.Revision
	if err := in.Apply(ctx, in.sc, b); err != nil {
		return fmt.Errorf("apply scan: %w", err)
	}
	in.branch.Version++
	return nil
}

// recordChange adds an automatic entry to a finding's history.
func (w *writer) recordChange(k *Existing, kind ChangeKind, value, previous, reason string) {
	w.batch.Changes = append(w.batch.Changes, Change{
		ID: NewID(), Flaw: k.Flaw, Finding: k.ID, Kind: kind, Value: value, Previous: previous, Reason: reason,
		Run: w.in.run.ID,
	})
}

// NewID returns a UUID of version 7, so that new rows stand side by side in an
// index.
func NewID() string { return uuid.Must(uuid.NewV7()).String() } // fails only without randomness

// resolveFinding ends a finding that the scan looked for in vain.
func (w *writer) resolveFinding(k *Existing) {
	did := Closed
	if !k.Bucket.Status.Active() {
		did = Dropped
	}
	w.batch.Resolved = append(w.batch.Resolved, k.ID)
	if k.Bucket.Status != Resolved {
		w.recordChange(k, StatusChange, string(Resolved), string(k.Bucket.Status), "the scan did not find it any more")
		w.batch.Solved[k.Bucket.AnalysisSeverity()]++
	}
	cell := k.Bucket
	cell.Status = Resolved
	w.batch.Counts.addCount(k.Bucket, -1, k.Risk)
	w.batch.Counts.addCount(cell, 1, k.Risk)
	k.LastRun, k.LastEffect = w.in.run.ID, did
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
	return d.flushIfFull()
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
	now, err := checksum(p)
	if err != nil || now != s { // another description of it follows, which counts
		return err
	}
	d.wrote[id] = true
	d.w.batch.Packages = append(d.w.batch.Packages, StoredPackage{ID: id, Sum: s, Package: *p})
	return d.flushIfFull()
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
	proven := isExploitedByScan(f) || s.known >= 0 && d.in.known[s.known].Proven
	row := FindingRow{
		Place: e.place, Code: e.code, Flaw: s.flaw, RuleID: rule.id, Sum: e.sum, Report: f, Proves: e.proves,
		CVSS: rule.cvss, Risk: Risk(f.Severity, rule.cvss), Score: factorsOf(f, rule.threat, proven).Composite(),
		Bucket: Bucket{Analysis: f.Analysis, Severity: f.Severity, Status: ToVerify},
	}
	row.Bucket.Priority = priorityOf(f, row.Score, rule.threat)
	if s.known < 0 {
		d.openFinding(&row)
		d.in.plan[d.entry-1].id = row.ID
	} else {
		d.changeFinding(&row, &d.in.known[s.known])
	}
	if e.place != s.flaw {
		d.w.batch.Renamed[e.place] = s.flaw
	}
	d.w.batch.Rows = append(d.w.batch.Rows, row)
	return d.flushIfFull()
}

// openFinding makes a new finding, as was decided about its flaw on other branches.
func (d *differ) openFinding(row *FindingRow) {
	row.ID, row.New, row.Effect = ID(NewID()), true, Opened
	decided := d.in.branch.Decisions[row.Flaw]
	if decided.Status == Confirmed || decided.Status == Ignored {
		row.Bucket.Status = decided.Status
	}
	if decided.Priority != "" {
		row.Bucket.Priority, row.Pinned = decided.Priority, true
	}
	d.w.batch.Counts.addCount(row.Bucket, 1, row.Risk)
	d.w.batch.Opened[row.Bucket.AnalysisSeverity()]++
}

// changeFinding brings a known finding to what the scan reports, and records what of it
// a person would want to know.
func (d *differ) changeFinding(row *FindingRow, k *Existing) {
	row.ID, row.Pinned, row.Effect = k.ID, k.Pinned, Changed
	row.Bucket.Status = k.Bucket.Status
	if k.Pinned {
		row.Bucket.Priority = k.Bucket.Priority
	}
	path, line := row.Report.Location.Path, row.Report.Location.StartLine
	if path != k.Path || line != k.Line {
		row.Effect = Moved
	}
	if path != k.Path {
		d.w.recordChange(k, PathChange, path, k.Path, "the same code was found in another file")
	}
	if d.in.shouldReopen(k) {
		d.reopenFinding(row, k)
	}
	if row.Bucket.Severity != k.Bucket.Severity {
		d.w.recordChange(k, SeverityChange, string(row.Bucket.Severity), string(k.Bucket.Severity),
			"the scan rates it "+
				"differently")
	}
	if row.Bucket.Priority != k.Bucket.Priority {
		d.w.recordChange(k, PriorityChange, string(row.Bucket.Priority), string(k.Bucket.Priority), "computed score "+
			strconv.Itoa((row.Score+5)/10))
	}
	d.w.batch.Counts.addCount(k.Bucket, -1, k.Risk)
	d.w.batch.Counts.addCount(row.Bucket, 1, row.Risk)
	k.LastRun, k.LastEffect = d.in.run.ID, d.keepEffect(k, row.Effect)
	row.Effect = k.LastEffect
}

// reopenFinding makes a resolved finding active again, or ignored if that was decided.
func (d *differ) reopenFinding(row *FindingRow, k *Existing) {
	row.Effect, row.Bucket.Status = Reopened, ToVerify
	reason := "a scan still finds it though it was marked resolved"
	if k.Gone {
		reason = "the scan found it again"
		if d.in.branch.Decisions[k.Flaw].Status == Ignored {
			row.Bucket.Status, reason = Ignored, "the scan found it again; it was ignored before"
		}
	}
	d.w.recordChange(k, StatusChange, string(row.Bucket.Status), string(k.Bucket.Status), reason)
}

// keepEffect returns the effect to record: what an earlier try of the same run did
// first counts more than what this one adds.
func (d *differ) keepEffect(k *Existing, effect Effect) Effect {
	if first := k.effectOfRun(d.in.run.ID); first == Opened || first == Reopened {
		return first
	}
	return effect
}

// flushIfFull sends the batch when it is full.
func (d *differ) flushIfFull() error {
	if d.w.batch.rowCount() < d.in.size {
		return nil
	}
	return d.send(d.w.takeBatch())
}

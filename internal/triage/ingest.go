package triage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file is the way of a scan into the findings.

// Limits of one scan. A million findings take about 500 MB while they are
// matched.
const (
	MaxFindings = 1_000_000
	MaxPackages = 1_000_000
	MaxRules    = 200_000

	MaxOperations = 200_000
)

// batchSize is how many rows a transaction writes. Other writers of the project
// wait for it, on SQLite everybody does, for about 0.1 s. Smaller batches write
// more: the indexes on fingerprints are hit at random places.
const batchSize = 2000

// maxRestarts bounds how often a scan starts over because somebody else changed
// the branch or decided something while it was applied.
const maxRestarts = 20

// Ingest applies the recorded message stream of a run to the findings of its
// branch and returns the outcome. open is called more than once. The stream is
// read as a whole before anything is changed; one that is not whole changes
// nothing and is an error that wraps scan.ErrIncomplete.
//
// The changes are written in batches, each a transaction that refuses a run with
// another attempt (a Conflict error). Applying a stream again, after any number
// of its batches were written, ends in the same state with the same outcome.
func (t *Triage) Ingest(ctx context.Context, sc tenant.Scope, r *run.Run,
	open func() (io.ReadCloser, error)) (run.Outcome, error) {
	report := newReport(sc, r)
	if err := decodeStream(open, report); err != nil {
		return run.Outcome{}, err
	}
	for range maxRestarts {
		in := &ingest{Store: t.store, size: t.BatchSize, sc: sc, run: r, open: open, report: report}
		err := in.applyReport(ctx)
		if err == nil {
			return run.Outcome{
				Statuses: in.statuses, Warnings: report.sandboxWarnings(), Advisories: report.config.Advisories,
				Changes: in.countChanges(),
			}, nil
		}
		if !errors.Is(err, ErrBranchChanged) {
			return run.Outcome{}, err
		}
	}
	return run.Outcome{}, errs.E(errs.Unavailable,
		"the findings of branch %q were changed concurrently %d times while this scan was applied; try again",
		r.Branch, maxRestarts)
}

// An ingest applies one scan, once.
type ingest struct {
	Store
	size   int // of a batch
	sc     tenant.Scope
	run    *run.Run
	open   func() (io.ReadCloser, error)
	report *report // read only: it serves every try

	branch   *Branch
	known    []Existing
	byPlace  map[Digest]int32 // into known
	plan     []step           // by entry of the report
	flaws    map[Digest]bool  // names of flaws on the branch
	covered  coverageByAnalyzer
	statuses []scan.Status   // of the report, with what the upload left out
	held     *ImageContents  // of the images of the scanned one's repository; empty for source
	rules    map[string]bool // names of rules that need not be written
	seen     []bool          // by known: reported by this scan

	packages map[string]ExistingPackage
}

// A step is what is to be done with one entry of the report.
type step struct {
	known int32 // into known; -1 for a new one
	skip  bool  // nothing is to be written
	quiet bool  // the run would open it, but does not speak of its severity
	flaw  Digest
	id    ID // of a new one once it is written
}

// applyReport reads the branch, compares, and writes the difference.
func (in *ingest) applyReport(ctx context.Context) error {
	if err := in.readState(ctx); err != nil {
		return err
	}
	in.matchByPlace()
	if err := in.matchBase(ctx); err != nil {
		return err
	}
	in.skipUnchanged()
	w := &writer{in: in, batch: newBatch(in.run)}
	if err := in.writeReported(ctx, w); err != nil {
		return err
	}
	if err := in.writeOperations(ctx, w); err != nil {
		return err
	}
	if err := in.writeImageContents(ctx, w); err != nil {
		return err
	}
	if err := in.writeGone(ctx, w); err != nil {
		return err
	}
	if err := in.removePackages(ctx, w); err != nil {
		return err
	}
	w.batch.Summary = &ScanSummary{Statuses: in.statuses, Analyses: summarizeCoverage(in.run, in.statuses),
		Languages: in.languageNames(),
		Image:     in.imageRecord(), ExpiredImages: in.held.ExpiredImages, Operations: len(in.report.operations)}
	return w.flushBatch(ctx)
}

// readState loads how the branch stands.
func (in *ingest) readState(ctx context.Context) (err error) {
	if in.branch, err = in.Branch(ctx, in.sc, in.run.Branch); err != nil {
		return fmt.Errorf("read branch: %w", err)
	}
	in.covered = collectCoverage(in.report.statuses, in.report.operations, func(name string) string {
		return RuleID(in.sc.Organization, name)
	})
	if in.run.Image == nil && in.run.Target == nil {
		in.covered.excludePaths(in.report.config.Absent)
	}
	in.byPlace, in.flaws = map[Digest]int32{}, map[Digest]bool{}
	err = in.Known(ctx, in.sc, in.run.Branch, func(k Existing) error {
		if len(in.known) == maxKnown {
			return errs.E(errs.TooLarge, "branch %q has more than %d findings", in.run.Branch, maxKnown)
		}
		in.byPlace[k.Place] = int32(len(in.known))
		in.flaws[k.Flaw] = true
		in.known = append(in.known, k)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read findings: %w", err)
	}
	in.seen = make([]bool, len(in.known))
	in.statuses = in.withheldStatuses()
	if err := in.readPackages(ctx); err != nil {
		return err
	}
	if err := in.readImageContents(ctx); err != nil {
		return err
	}
	return in.readRules(ctx)
}

// maxKnown bounds the findings of a branch, the resolved ones included.
const maxKnown = 2 * MaxFindings

// readRules finds out which rules of the report are stored as they are.
func (in *ingest) readRules(ctx context.Context) error {
	in.rules = map[string]bool{}
	ids := make([]string, 0, len(in.report.rules))
	for _, r := range in.report.rules {
		ids = append(ids, r.id)
	}
	slices.Sort(ids)
	stored, err := in.RuleSums(ctx, in.sc, ids)
	if err != nil {
		return fmt.Errorf("read rules: %w", err)
	}
	for name, r := range in.report.rules {
		if s, ok := stored[r.id]; ok && s == r.sum {
			in.rules[name] = true
		}
	}
	return nil
}

// matchByPlace decides for every entry of the report which known finding it is: the
// one at its place, else one whose place this scan looked at in vain and whose
// code is the same.
func (in *ingest) matchByPlace() {
	in.plan = make([]step, len(in.report.entries))
	for i, e := range in.report.entries {
		k, ok := in.byPlace[e.place]
		if !ok {
			in.plan[i].known = -1
			continue
		}
		in.plan[i].known = k
		in.seen[k] = true
	}
	before, after := in.unmatchedCandidates()
	pairRenamed(before, after, func(old, new int) {
		in.plan[new].known = int32(old)
		in.seen[old] = true
	})
}

// unmatchedCandidates returns the known findings that the scan did not report though it
// looked, and the entries that nothing is known of.
func (in *ingest) unmatchedCandidates() (before, after []matchCandidate) {
	codes := map[Digest]bool{}
	for i, e := range in.report.entries {
		if in.plan[i].known < 0 {
			codes[e.code] = true
			after = append(after, matchCandidate{index: i, code: e.code, path: e.path, line: e.line})
		}
	}
	for i, k := range in.known {
		if !in.seen[i] && codes[k.Code] && in.covered.hasAnalyzed(k.Analyzer, k.Path, k.Rule) &&
			!in.held.InOtherImages[string(k.ID)] {
			before = append(before, matchCandidate{index: i, code: k.Code, path: k.Path, line: k.Line, gone: k.Gone})
		}
	}
	return before, after
}

// matchBase names the flaws of new findings. A place that was a later place of a
// flaw names that flaw. On a branch that was never scanned as a whole, code that
// the base branch has under a path that is missing here is the flaw of that
// path.
func (in *ingest) matchBase(ctx context.Context) error {
	var places []Digest
	for i, e := range in.report.entries {
		if in.plan[i].known < 0 {
			places = append(places, e.place)
		}
	}
	if len(places) == 0 {
		return nil
	}
	renamed, err := in.Renamed(ctx, in.sc, places)
	if err != nil {
		return fmt.Errorf("read renamed flaws: %w", err)
	}
	if in.isFirstScan() && in.branch.Base != "" {
		if err := in.compareBase(ctx, renamed); err != nil {
			return err
		}
	}
	for i, e := range in.report.entries {
		if in.plan[i].known >= 0 {
			continue
		}
		flaw, ok := renamed[e.place]
		if !ok {
			flaw = e.place
		}
		for in.flaws[flaw] {
			flaw = flaw.nextDigest()
		}
		in.flaws[flaw] = true
		in.plan[i].flaw = flaw
	}
	return nil
}

// compareBase adds to renamed the flaws of the base branch whose code stands
// elsewhere on this branch.
func (in *ingest) compareBase(ctx context.Context, renamed map[Digest]Digest) error {
	here := make(map[Digest]int32, len(in.report.entries)) // entries by place
	codes := map[Digest]bool{}
	for i, e := range in.report.entries {
		here[e.place] = int32(i)
		codes[e.code] = true
	}
	var before, after []matchCandidate
	var flaws []Digest
	same := map[int32]bool{} // entries that the base branch has at their place
	err := in.Known(ctx, in.sc, in.branch.Base, func(k Existing) error {
		if i, ok := here[k.Place]; ok {
			same[i] = true
			renamed[k.Place] = k.Flaw
		} else if codes[k.Code] && !in.flaws[k.Flaw] && in.covered.hasAnalyzed(k.Analyzer, k.Path, k.Rule) {
			before = append(before, matchCandidate{index: len(flaws), code: k.Code, path: k.Path, line: k.Line,
				gone: k.Gone})
			flaws = append(flaws, k.Flaw)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read findings of branch %q: %w", in.branch.Base, err)
	}
	for i, e := range in.report.entries {
		if _, ok := renamed[e.place]; in.plan[i].known < 0 && !same[int32(i)] && !ok {
			after = append(after, matchCandidate{index: i, code: e.code, path: e.path, line: e.line})
		}
	}
	pairRenamed(before, after, func(old, new int) { renamed[in.report.entries[new].place] = flaws[old] })
	return nil
}

// skipUnchanged marks the entries that need no writing.
func (in *ingest) skipUnchanged() {
	for i, e := range in.report.entries {
		s := &in.plan[i]
		if s.known < 0 {
			s.skip, s.quiet = e.quiet, e.quiet
			continue
		}
		k := &in.known[s.known]
		s.flaw, s.id = k.Flaw, k.ID
		s.quiet = e.quiet && in.shouldReopen(k)
		s.skip = s.quiet || k.Sum == e.sum && k.Place == e.place && k.Proves == e.proves && !k.Gone &&
			!in.shouldReopen(k)
	}
}

// shouldReopen reports whether a known finding that is reported becomes active: it was
// gone, or a person called it resolved before the scan started.
func (in *ingest) shouldReopen(k *Existing) bool {
	return k.Bucket.Status == Resolved && (k.Gone || !in.run.CreatedAt.Before(k.UpdatedAt))
}

// writeReported writes new and changed findings and rules. The stream is read
// while the batches before are written.
func (in *ingest) writeReported(ctx context.Context, w *writer) error {
	if !in.needsRows() {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	full := make(chan *Batch, 2)
	g.Go(func() error {
		defer close(full)
		d := &differ{in: in, w: w, wrote: map[string]bool{}, send: func(b *Batch) error {
			select {
			case full <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		return decodeStream(in.open, d)
	})
	g.Go(func() error {
		for b := range full {
			if err := in.writeBatch(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// needsRows reports whether the stream has to be read again.
func (in *ingest) needsRows() bool {
	if len(in.rules) < len(in.report.rules) || slices.ContainsFunc(in.plan, func(s step) bool { return !s.skip }) {
		return true
	}
	for id, s := range in.report.packages {
		if k, ok := in.packages[id]; !ok || k.Sum != s {
			return true
		}
	}
	return false
}

// writeOperations records with the run what became of operations.
func (in *ingest) writeOperations(ctx context.Context, w *writer) error {
	for n, o := range in.report.operations {
		if len(w.batch.Operations) == 0 {
			w.batch.FirstOperation = n
		}
		w.batch.Operations = append(w.batch.Operations, o)
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeGone resolves what the scan did not find where it looked.
func (in *ingest) writeGone(ctx context.Context, w *writer) error {
	for i := range in.known {
		k := &in.known[i]
		if in.seen[i] || !in.run.ResolvesMissing() || k.Gone && k.Bucket.Status == Resolved ||
			!in.run.CoversSeverity(k.Bucket.Severity) ||
			!in.covered.hasAnalyzed(k.Analyzer, k.Path, k.Rule) || in.held.InOtherImages[string(k.ID)] {
			continue
		}
		w.resolveFinding(k)
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// maxWithheld bounds the places that a status names as left out of the upload.
const maxWithheld = 20

// withheldStatuses returns the statuses of the report, and says in them where active findings are
// that the upload left out: they were not looked at, and stay open.
func (in *ingest) withheldStatuses() []scan.Status {
	out := slices.Clone(in.report.statuses)
	for i := range out {
		s := &out[i]
		places := map[string]int{}
		for _, k := range in.known {
			if k.Analyzer == s.Analyzer && k.Bucket.Status.Active() && !k.Gone &&
				in.covered[s.Analyzer].isExcluded(k.Path) {
				_, part := scan.KindOfPath(k.Path)
				places[part]++
			}
		}
		for n, part := range slices.Sorted(maps.Keys(places)) {
			if n == maxWithheld {
				break
			}
			if s.State == scan.Succeeded {
				s.State = scan.Degraded
			}
			s.Reasons = append(slices.Clip(s.Reasons), scan.Reason{Code: "not-uploaded", Path: part,
				Message: fmt.Sprintf("not analyzed: the upload contains no paths of this kind; %d findings there "+
					"stay open", places[part])})
		}
	}
	return out
}

// readPackages loads the packages of the branch.
func (in *ingest) readPackages(ctx context.Context) error {
	in.packages = map[string]ExistingPackage{}
	err := in.KnownPackages(ctx, in.sc, in.run.Branch, func(p ExistingPackage) error {
		in.packages[p.ID] = p
		return nil
	})
	if err != nil {
		return fmt.Errorf("read packages: %w", err)
	}
	return nil
}

// removePackages removes the packages that the scan did not see where it looked.
func (in *ingest) removePackages(ctx context.Context, w *writer) error {
	ids := slices.Sorted(maps.Keys(in.packages))
	for _, id := range ids {
		p := in.packages[id]
		if _, still := in.report.packages[id]; still || !in.covered.analyzedByAll(p.analysis(), p.Path) ||
			in.held.InOtherImages[id] {
			continue
		}
		w.batch.Removed = append(w.batch.Removed, id)
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// countChanges counts what the run did. What an earlier try of the same run did
// counts, too: it is recorded with each finding.
func (in *ingest) countChanges() run.Changes {
	c := run.Changes{Found: len(in.report.entries)}
	closed := 0 // active before
	for _, s := range in.plan {
		if s.quiet {
			c.Found--
			continue
		}
		effect := Opened
		if s.known >= 0 {
			effect = in.known[s.known].effectOfRun(in.run.ID)
		}
		switch effect {
		case Opened:
			c.New++
		case Reopened:
			c.Reopened++
		case Moved:
			c.Moved++
		default:
			c.Unchanged++
		}
	}
	for i := range in.known {
		k := &in.known[i]
		switch effect := k.effectOfRun(in.run.ID); {
		case effect == Closed:
			c.Resolved++
			closed++
			c.Open++
		case effect == Dropped:
			c.Resolved++
		case effect != Opened && effect != Reopened && k.Bucket.Status.Active():
			c.Open++
		}
	}
	c.Suspicious = closed > 20 && closed*10 > c.Open*3
	return c
}

// effectOfRun returns what the run did to the finding, in this try or before.
func (k *Existing) effectOfRun(id run.ID) Effect {
	if k.LastRun != id {
		return NoEffect
	}
	return k.LastEffect
}

// languageNames returns the languages of the scanned code; none of an image or a running
// application, whose scan says nothing of them.
func (in *ingest) languageNames() []string {
	if in.run.Image != nil || in.run.Target != nil {
		return nil
	}
	list := slices.Clone(in.run.Languages)
	if len(list) == 0 {
		for l := range in.report.languages {
			list = append(list, l)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// decodeStream reads the stream.
func decodeStream(open func() (io.ReadCloser, error), h scan.Handler) error {
	src, err := open()
	if err != nil {
		return fmt.Errorf("open the scan's messages: %w", err)
	}
	return errors.Join(scan.Decode(src, h), src.Close())
}

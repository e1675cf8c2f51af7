package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"merlon/internal/finding"
)

// This file schedules the analyzers: file analyzers in parallel over the files, project
// analyzers beside them, within one limit of concurrent calls.

// fileResult is the result of all file analyzers for one file.
type fileResult struct {
	file     File
	outcomes []*outcome // one per entry of driver.jobs; nil: not requested
	analyzed []bool     // parallel to outcomes: the analyzer read the whole file
}

// analyzeFiles runs the File analyzers over every file, several files in parallel, and emits
// the results in the order of the files. The producer queues one channel per file in order, and
// workers fill the channels in any order.
func (d *driver) analyzeFiles(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	queue := make(chan chan *fileResult, 32*d.Workers) // bounds the results that wait for an earlier one
	work := make(chan func())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel(errStopped)
	for range d.Workers {
		workers.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	workers.Go(func() {
		defer close(work)
		defer close(queue)
		d.enqueueFiles(ctx, queue, work)
	})
	for _, j := range d.jobs {
		d.addGapsOf(j)
	}
	return d.emitFileResults(ctx, queue)
}

// enqueueFiles puts a result channel for each file into the queue, in order, and the analysis
// that fills it into work, until the context is cancelled.
func (d *driver) enqueueFiles(ctx context.Context, queue chan<- chan *fileResult, work chan<- func()) {
	for _, file := range d.tree.files {
		done := make(chan *fileResult, 1)
		select {
		case queue <- done:
		case <-ctx.Done():
			return
		}
		select {
		case work <- func() { done <- d.analyzeFile(ctx, file) }:
		case <-ctx.Done():
			return
		}
	}
}

// emitFileResults emits the results in the order of the queue, with the progress by bytes.
func (d *driver) emitFileResults(ctx context.Context, queue <-chan chan *fileResult) error {
	var n int
	var size int64
	total := d.tree.totalWork()
	for done := range queue {
		v, err := awaitResult(ctx, d, done)
		if err != nil {
			return err
		}
		n, size = n+1, size+v.file.Size+1
		if err := d.emitFileResult(v); err != nil {
			return err
		}
		d.tracker.reportFiles(int(100*size/total), fmt.Sprintf("analyzed %d of %d files", n, len(d.tree.files)))
		if err := d.emitProgress(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// awaitResult waits for a result, and emits the progress of project analyzers meanwhile.
func awaitResult[T any](ctx context.Context, d *driver, done <-chan T) (result T, err error) {
	for {
		select {
		case result = <-done:
			return result, nil
		case <-d.tracker.changed:
			if err := d.emitProgress(); err != nil {
				return result, err
			}
		case <-ctx.Done():
			return result, context.Cause(ctx)
		}
	}
}

// totalWork estimates the work in the tree: its bytes, and a constant for each file.
func (t *tree) totalWork() int64 {
	w := int64(1)
	for _, f := range t.files {
		w += f.Size + 1
	}
	return w
}

// addGapsOf records the gaps of the tree that concern the job.
func (d *driver) addGapsOf(j *job) {
	if j.unavailable {
		return
	}
	for _, r := range d.tree.gaps {
		o := &outcome{}
		isFile := r.Path != "" && r.Path[len(r.Path)-1] != '/'
		if !isFile || j.wantsFile(r.Path, o) && !j.streamsFile(d.tree, r.Path) {
			j.addReason(r)
		}
		j.mergeOutcome(o)
	}
}

// streamsFile reports whether the analyzer reads a large file as a stream.
func (j *job) streamsFile(t *tree, path string) bool {
	return j.Streams != nil && t.isLarge(path) && j.Streams(path)
}

// openableFiles lists what the analyzer may open, sorted.
func (j *job) openableFiles(t *tree) []File {
	out := t.files
	for _, f := range t.large {
		if j.streamsFile(t, f.Path) {
			out = append(slices.Clip(out), f)
		}
	}
	if len(out) > len(t.files) {
		slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	}
	return out
}

// analyzeFile runs every File analyzer that requests the file. They share one read of it.
func (d *driver) analyzeFile(ctx context.Context, file File) *fileResult {
	d.slots <- struct{}{}
	defer func() { <-d.slots }()
	v := &fileResult{file: file, outcomes: make([]*outcome, len(d.jobs)), analyzed: make([]bool, len(d.jobs))}
	read := sync.OnceValues(func() ([]byte, error) { return d.tree.readFile(file.Path, d.Limits.FileSize) })
	text := func(path string) []byte {
		if path != file.Path {
			return d.fileText(path)
		}
		b, err := read()
		if err != nil {
			return nil
		}
		return b
	}
	for i, j := range d.jobs {
		if j.File == nil || j.unavailable || ctx.Err() != nil {
			continue
		}
		o := &outcome{limit: d.Limits.Findings}
		if j.wantsFile(file.Path, o) {
			v.analyzed[i] = d.callWithFile(ctx, j, file, read, o)
			d.finishOutcome(j, o, text)
		}
		v.outcomes[i] = o
	}
	return v
}

// callWithFile calls the analyzer with the file.
func (d *driver) callWithFile(ctx context.Context, j *job, file File, read func() ([]byte, error), o *outcome) bool {
	left := d.Limits.AnalyzerTime - time.Duration(j.spent.Load())
	if left <= 0 {
		o.addReason(Reason{Code: "timeout", Message: fmt.Sprintf("not analyzed: the analyzer has used "+
			"up its %s", d.Limits.AnalyzerTime), Path: file.Path})
		return false
	}
	return j.callAnalyzer(ctx, min(d.Limits.FileTime, left), file.Path, o, func(ctx context.Context) error {
		return j.File(&FilePass{Context: ctx, Path: file.Path, Size: file.Size, ReadFile: read, Verify: d.Verify,
			Reporter: o.newReporter(file.Path)})
	})
}

// finishOutcome closes, sorts and completes the result of a call.
func (d *driver) finishOutcome(j *job, o *outcome, text func(string) []byte) {
	o.close()
	if j.Analysis == finding.SAST {
		d.dropIgnored(o)
	}
	o.weighFindings(j.Analyzer)
	o.foldByCause()
	o.sortAll()
	o.completeFindings(j.Analyzer, text)
}

// dropIgnored removes the findings in files that match the ignore file, and counts them.
func (d *driver) dropIgnored(o *outcome) {
	kept := o.hits[:0]
	for _, h := range o.hits {
		if d.ignored.ignoresFile(h.Location.Path) {
			o.ignored++
			continue
		}
		kept = append(kept, h)
	}
	o.hits = kept
}

// fileText returns the content of a file for a snippet; a file that cannot be read
// has none.
func (d *driver) fileText(path string) []byte {
	b, err := d.tree.readFile(path, d.Limits.FileSize)
	if err != nil {
		return nil
	}
	return b
}

// emitFileResult emits the results for one file, in the order of the jobs. Redacted lines are
// collected from all analyzers first: no snippet may show a secret that another one detected.
func (d *driver) emitFileResult(v *fileResult) error {
	for _, o := range v.outcomes {
		if o != nil {
			d.redacted.collectLines(o)
		}
	}
	for i, o := range v.outcomes {
		if o == nil {
			continue
		}
		if v.analyzed[i] {
			d.jobs[i].status.Files++
		}
		if err := d.emitOutcome(d.jobs[i], o); err != nil {
			return err
		}
	}
	return nil
}

// startProjects starts the Project, Image and Live analyzers, within the same number of slots as
// the file analyzers, and returns a channel for each result.
func (d *driver) startProjects(ctx context.Context) map[*job]chan *outcome {
	started := map[*job]chan *outcome{}
	var jobs []*job
	for _, j := range d.jobs {
		if (j.Project != nil || j.Image != nil || j.Live != nil) && !j.unavailable {
			jobs = append(jobs, j)
		}
	}
	d.tracker = newProgress(jobs)
	for _, j := range jobs {
		d.buffer.active = d.buffer.active || j.Analysis == finding.Secret
		done := make(chan *outcome, 1)
		started[j] = done
		d.running.Go(func() {
			select {
			case d.slots <- struct{}{}:
				defer func() { <-d.slots }()
				switch {
				case j.Image != nil:
					done <- d.analyzeImage(ctx, j)
				case j.Live != nil:
					done <- d.analyzeLive(ctx, j)
				default:
					done <- d.analyzeProject(ctx, j)
				}
			case <-ctx.Done():
			}
		})
	}
	return started
}

// analyzeProject runs one Project analyzer.
func (d *driver) analyzeProject(ctx context.Context, j *job) *outcome {
	o := &outcome{limit: d.Limits.Findings}
	pass := &ProjectPass{FS: treeFS{d.tree, d.Limits.FileSize}, Dir: d.tree.dir, Files: j.openableFiles(d.tree),
		Code:   d.Code,
		Verify: d.Verify, Workers: d.Workers,
		Progress:  func(percent int, step string) { d.tracker.reportProject(j, percent, step) },
		Operation: func(op finding.Operation) { o.addOperation(op, d.Limits.Operations) }, Reporter: o.newReporter("")}
	if j.Analysis == finding.Secret {
		pass.Repositories = d.tree.listRepositories()
	}
	if j.Needs.Advisories {
		pass.Advisories = d.Advisories
	}
	o.failed = !j.callAnalyzer(ctx, d.Limits.AnalyzerTime, "", o, func(ctx context.Context) error {
		pass.Context = ctx
		return j.Project(pass)
	})
	d.finishOutcome(j, o, d.fileText)
	return o
}

// analyzeImage runs one Image analyzer.
func (d *driver) analyzeImage(ctx context.Context, j *job) *outcome {
	o := &outcome{limit: d.Limits.Findings}
	var looked atomic.Int64
	var system atomic.Pointer[OS]
	pass := &ImagePass{Image: d.Image, Limits: d.Limits, Workers: d.Workers, Reporter: o.newReporter(""),
		Progress:   func(percent int, step string) { d.tracker.reportProject(j, percent, step) },
		CountFiles: func(files int) { looked.Store(int64(files)) },
		ReportOS:   func(s OS) { system.Store(&s) }}
	if j.Needs.Advisories {
		pass.Advisories = d.Advisories
	}
	o.failed = !j.callAnalyzer(ctx, d.Limits.AnalyzerTime, "", o, func(ctx context.Context) error {
		pass.Context = ctx
		return j.Image(pass)
	})
	o.files = int(looked.Load())
	j.status.OS = system.Load()
	d.finishOutcome(j, o, func(string) []byte { return nil })
	return o
}

// analyzeLive runs one Live analyzer. The analyzer returns by itself at its deadline with what
// it has found; only the longer limit of the call would discard its results.
func (d *driver) analyzeLive(ctx context.Context, j *job) *outcome {
	o := &outcome{limit: d.Limits.Findings}
	pass := &LivePass{Live: *d.Live, Analyses: d.Analyses, Deadline: time.Now().Add(d.Limits.LiveTime),
		Reporter:  o.newReporter(""),
		Progress:  func(percent int, step string) { d.tracker.reportProject(j, percent, step) },
		Operation: func(op finding.Operation) { o.addOperation(op, d.Limits.Operations) }}
	if j.Needs.Advisories {
		pass.Advisories = d.Advisories
	}
	d.checkpoints.attachTo(j.ID, &pass.Live)
	o.failed = !j.callAnalyzer(ctx, d.Limits.LiveTime+liveGrace, "", o, func(ctx context.Context) error {
		pass.Context = ctx
		return j.Live(pass)
	})
	j.status.Root = printablePath(d.Live.Target.Root())
	d.finishOutcome(j, o, func(string) []byte { return nil })
	newRouteMatcher(&d.Live.Target).annotateOutcome(o)
	return o
}

// liveGrace is the time beyond its deadline for a live analyzer to sign out and to remove the
// objects that it created.
const liveGrace = 2 * time.Minute

// countWanted counts the files that the job requests.
func (d *driver) countWanted(j *job) int {
	n := 0
	for _, f := range d.tree.files {
		if j.wantsFile(f.Path, &outcome{}) {
			n++
		}
	}
	return n
}

// emitProjects emits the results of the Project, Image and Live analyzers, in the order of their
// IDs, and then the buffered secrets.
func (d *driver) emitProjects(ctx context.Context, started map[*job]chan *outcome) error {
	for _, j := range d.jobs {
		done, ok := started[j]
		if !ok {
			continue
		}
		o, err := awaitResult(ctx, d, done)
		if err != nil {
			return err
		}
		if j.Analysis == finding.Secret {
			d.buffer.mergeHistory(o)
		}
		if err := d.emitOutcome(j, o); err != nil {
			return err
		}
		if j.status.Files = o.files; j.Project != nil {
			j.status.Files = d.countWanted(j)
		}
		d.tracker.reportProject(j, 100, "ended")
		if err := d.emitProgress(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.releaseBuffer(); err != nil {
		return err
	}
	return d.emitPercent(100, "done")
}

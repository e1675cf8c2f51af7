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

// This file takes the analyzers through the tree.

// visit is one file with what every analyzer that wanted it had to say.
type visit struct {
	file     File
	outcomes []*outcome // one per entry of driver.jobs; nil: did not want it
	looked   []bool     // as outcomes: the analyzer saw all of the file
}

// files runs the File analyzers over every file, several files at once, and
// emits the results in the order of the files.
func (d *driver) files(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	queue := make(chan chan *visit, 32*d.Workers) // bounds the results that wait for an earlier one
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
		for _, file := range d.tree.files {
			done := make(chan *visit, 1)
			select {
			case queue <- done:
			case <-ctx.Done():
				return
			}
			select {
			case work <- func() { done <- d.visit(ctx, file) }:
			case <-ctx.Done():
				return
			}
		}
	})
	for _, j := range d.jobs {
		d.outOfReach(j)
	}
	var n int
	var size int64
	weight := d.tree.weight()
	for done := range queue {
		v, err := await(ctx, d, done)
		if err != nil {
			return err
		}
		n, size = n+1, size+v.file.Size+1
		if err := d.emitVisit(v); err != nil {
			return err
		}
		d.reached.looked(int(100*size/weight), fmt.Sprintf("looked at %d of %d files", n, len(d.tree.files)))
		if err := d.progress(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// await waits for a result, and shows meanwhile what project analyzers tell.
func await[T any](ctx context.Context, d *driver, done <-chan T) (result T, err error) {
	for {
		select {
		case result = <-done:
			return result, nil
		case <-d.reached.told:
			if err := d.progress(); err != nil {
				return result, err
			}
		case <-ctx.Done():
			return result, context.Cause(ctx)
		}
	}
}

// weight is the work in the tree: its bytes, and something for each file.
func (t *tree) weight() int64 {
	w := int64(1)
	for _, f := range t.files {
		w += f.Size + 1
	}
	return w
}

// outOfReach records the files and folders that the job would have looked at.
func (d *driver) outOfReach(j *job) {
	if j.idle {
		return
	}
	for _, r := range d.tree.left {
		o := &outcome{}
		isFile := r.Path != "" && r.Path[len(r.Path)-1] != '/'
		if !isFile || j.wants(r.Path, o) && !j.streams(d.tree, r.Path) {
			j.add(r)
		}
		j.merge(o)
	}
}

// streams reports whether the analyzer reads a large file as a stream.
func (j *job) streams(t *tree, path string) bool {
	return j.Streams != nil && t.isLarge(path) && j.Streams(path)
}

// files lists what the analyzer may open, sorted.
func (j *job) files(t *tree) []File {
	out := t.files
	for _, f := range t.large {
		if j.streams(t, f.Path) {
			out = append(slices.Clip(out), f)
		}
	}
	if len(out) > len(t.files) {
		slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	}
	return out
}

// visit runs every File analyzer that wants the file. They share one reading of
// it.
func (d *driver) visit(ctx context.Context, file File) *visit {
	d.slots <- struct{}{}
	defer func() { <-d.slots }()
	v := &visit{file: file, outcomes: make([]*outcome, len(d.jobs)), looked: make([]bool, len(d.jobs))}
	read := sync.OnceValues(func() ([]byte, error) { return d.tree.read(file.Path, d.Limits.FileSize) })
	text := func(path string) []byte {
		if path != file.Path {
			return d.text(path)
		}
		b, err := read()
		if err != nil {
			return nil
		}
		return b
	}
	for i, j := range d.jobs {
		if j.File == nil || j.idle || ctx.Err() != nil {
			continue
		}
		o := &outcome{limit: d.Limits.Findings}
		if j.wants(file.Path, o) {
			v.looked[i] = d.look(ctx, j, file, read, o)
			d.finish(j, o, text)
		}
		v.outcomes[i] = o
	}
	return v
}

// look calls the analyzer with the file.
func (d *driver) look(ctx context.Context, j *job, file File, read func() ([]byte, error), o *outcome) bool {
	left := d.Limits.AnalyzerTime - time.Duration(j.spent.Load())
	if left <= 0 {
		o.degrade(Reason{Code: "timeout", Message: fmt.Sprintf("not looked at: the analyzer has used "+
			"up its %s", d.Limits.AnalyzerTime), Path: file.Path})
		return false
	}
	return j.call(ctx, min(d.Limits.FileTime, left), file.Path, o, func(ctx context.Context) error {
		return j.File(&FilePass{Context: ctx, Path: file.Path, Size: file.Size, ReadFile: read, Verify: d.Verify,
			Reporter: o.reporter(file.Path)})
	})
}

// finish orders and completes what a call left behind.
func (d *driver) finish(j *job, o *outcome, text func(string) []byte) {
	o.close()
	o.sort()
	if j.Analysis == finding.SAST {
		d.drop(o)
	}
	o.derive(j.Analyzer, text)
}

// drop removes the findings in files that the ignore file names.
func (d *driver) drop(o *outcome) {
	kept := o.hits[:0]
	for _, h := range o.hits {
		if d.ignored.match(h.Location.Path) {
			o.ignored++
			continue
		}
		kept = append(kept, h)
	}
	o.hits = kept
}

// text returns the content of a file for a snippet; a file that cannot be read
// has none.
func (d *driver) text(path string) []byte {
	b, err := d.tree.read(path, d.Limits.FileSize)
	if err != nil {
		return nil
	}
	return b
}

func (d *driver) emitVisit(v *visit) error {
	for _, o := range v.outcomes {
		if o != nil {
			d.secret.note(o)
		}
	}
	for i, o := range v.outcomes {
		if o == nil {
			continue
		}
		if v.looked[i] {
			d.jobs[i].status.Files++
		}
		if err := d.emit(d.jobs[i], o); err != nil {
			return err
		}
	}
	return nil
}

// startProjects starts the Project analyzers beside the file analyzers, within
// the same number of slots, and returns where each result arrives.
func (d *driver) startProjects(ctx context.Context) map[*job]chan *outcome {
	started := map[*job]chan *outcome{}
	var jobs []*job
	for _, j := range d.jobs {
		if (j.Project != nil || j.Image != nil || j.Live != nil) && !j.idle {
			jobs = append(jobs, j)
		}
	}
	d.reached = newProgress(jobs)
	for _, j := range jobs {
		d.held.wait = d.held.wait || j.Analysis == finding.Secret
		done := make(chan *outcome, 1)
		started[j] = done
		d.running.Go(func() {
			select {
			case d.slots <- struct{}{}:
				defer func() { <-d.slots }()
				switch {
				case j.Image != nil:
					done <- d.image(ctx, j)
				case j.Live != nil:
					done <- d.live(ctx, j)
				default:
					done <- d.project(ctx, j)
				}
			case <-ctx.Done():
			}
		})
	}
	return started
}

// project runs one Project analyzer.
func (d *driver) project(ctx context.Context, j *job) *outcome {
	o := &outcome{limit: d.Limits.Findings}
	pass := &ProjectPass{FS: treeFS{d.tree, d.Limits.FileSize}, Dir: d.tree.dir, Files: j.files(d.tree), Code: d.Code,
		Verify: d.Verify, Workers: d.Workers,
		Progress:  func(percent int, step string) { d.reached.tell(j, percent, step) },
		Operation: func(op finding.Operation) { o.operation(op, d.Limits.Operations) }, Reporter: o.reporter("")}
	if j.Analysis == finding.Secret {
		pass.Repositories = d.tree.repositories()
	}
	if j.Needs.Advisories {
		pass.Advisories = d.Advisories
	}
	o.failed = !j.call(ctx, d.Limits.AnalyzerTime, "", o, func(ctx context.Context) error {
		pass.Context = ctx
		return j.Project(pass)
	})
	d.finish(j, o, d.text)
	return o
}

// image runs one Image analyzer.
func (d *driver) image(ctx context.Context, j *job) *outcome {
	o := &outcome{limit: d.Limits.Findings}
	var looked atomic.Int64
	var system atomic.Pointer[OS]
	pass := &ImagePass{Image: d.Image, Limits: d.Limits, Workers: d.Workers, Reporter: o.reporter(""),
		Progress: func(percent int, step string) { d.reached.tell(j, percent, step) },
		Looked:   func(files int) { looked.Store(int64(files)) },
		System:   func(s OS) { system.Store(&s) }}
	if j.Needs.Advisories {
		pass.Advisories = d.Advisories
	}
	o.failed = !j.call(ctx, d.Limits.AnalyzerTime, "", o, func(ctx context.Context) error {
		pass.Context = ctx
		return j.Image(pass)
	})
	o.looked = int(looked.Load())
	j.status.OS = system.Load()
	d.finish(j, o, func(string) []byte { return nil })
	return o
}

// live runs one Live analyzer. It ends by itself before its time is over, so that
// what it has seen counts.
func (d *driver) live(ctx context.Context, j *job) *outcome {
	o := &outcome{limit: d.Limits.Findings}
	pass := &LivePass{Live: *d.Live, Analyses: d.Analyses, Deadline: time.Now().Add(d.Limits.LiveTime),
		Reporter:  o.reporter(""),
		Progress:  func(percent int, step string) { d.reached.tell(j, percent, step) },
		Operation: func(op finding.Operation) { o.operation(op, d.Limits.Operations) }}
	if j.Needs.Advisories {
		pass.Advisories = d.Advisories
	}
	d.kept.give(j.ID, &pass.Live)
	o.failed = !j.call(ctx, d.Limits.LiveTime+liveGrace, "", o, func(ctx context.Context) error {
		pass.Context = ctx
		return j.Live(pass)
	})
	j.status.Root = printable(d.Live.Target.Root())
	o.close()
	o.fold()
	d.finish(j, o, func(string) []byte { return nil })
	newBothSides(&d.Live.Target).add(o)
	return o
}

// liveGrace is what a live analyzer may take beyond its deadline to sign out and to
// clean up.
const liveGrace = 2 * time.Minute

// wanted counts the files that the job asks for.
func (d *driver) wanted(j *job) int {
	n := 0
	for _, f := range d.tree.files {
		if j.wants(f.Path, &outcome{}) {
			n++
		}
	}
	return n
}

// projects emits the results of the Project analyzers, by id.
func (d *driver) projects(ctx context.Context, started map[*job]chan *outcome) error {
	for _, j := range d.jobs {
		done, ok := started[j]
		if !ok {
			continue
		}
		o, err := await(ctx, d, done)
		if err != nil {
			return err
		}
		if j.Analysis == finding.Secret {
			d.held.join(o)
		}
		if err := d.emit(j, o); err != nil {
			return err
		}
		if j.status.Files = o.looked; j.Project != nil {
			j.status.Files = d.wanted(j)
		}
		d.reached.tell(j, 100, "ended")
		if err := d.progress(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.release(); err != nil {
		return err
	}
	return d.show(100, "done")
}

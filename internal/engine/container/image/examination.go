package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/errs"
	"merlon/internal/finding"
	oci "merlon/internal/image"
	"merlon/internal/scan"
)

// This file reads the layers, each once.

// An examination is one reading of an image.
type examination struct {
	*scan.ImagePass
	readers []reader
	secrets *secretFinder
	steps   steps
	overlay overlay
	looked  int

	// Of the layer that passes by:
	layer   *oci.Layer
	number  int               // of the entry that passes by
	copied  bool              // its instruction copied files of the builder's
	pending map[string]string // hard links to files that were not kept, by their path
	jobs    chan job
	workers sync.WaitGroup
	mu      sync.Mutex
	fresh   map[string]*version // what it holds, by path
	gaps    []scan.Reason
	room    []byte
}

// A job is the content of a file that is to be looked into.
type job struct {
	entry   oci.Entry
	content []byte
	want    want
}

func newExamination(p *scan.ImagePass) (*examination, error) {
	readers, err := makeReaders()
	if err != nil {
		return nil, err
	}
	e := &examination{ImagePass: p, readers: readers, secrets: &secretFinder{detectors},
		overlay: overlay{held: map[string][]*version{}, folders: map[string]int{}}}
	e.steps, err = e.secrets.readSteps(p.Context, p.Image)
	return e, err
}

// layers reads every layer, lowest first. What cannot be read of one is a reason;
// the others are read all the same.
func (e *examination) layers() error {
	budget := &oci.Budget{Bytes: e.Limits.TotalSize, Entries: e.Limits.Files}
	total, done := int64(1), int64(0)
	for i := range e.Image.Layers {
		total += e.Image.Layers[i].Size + 1
	}
	for i := range e.Image.Layers {
		l := &e.Image.Layers[i]
		e.Progress(int(90*done/total), fmt.Sprintf("reading layer %d of %d", i+1, len(e.Image.Layers)))
		if err := e.read(l, budget); err != nil {
			return err
		}
		done += l.Size + 1
	}
	return nil
}

// read reads one layer. The error is that of the context.
func (e *examination) read(l *oci.Layer, budget *oci.Budget) error {
	e.layer, e.copied = l, copies(l)
	e.pending, e.fresh = map[string]string{}, map[string]*version{}
	e.overlay.begin()
	e.start()
	err := l.Walk(e.Context, budget, e.visit)
	e.finish()
	if err == nil && len(e.pending) > 0 {
		err = e.linked(budget)
	}
	if stop := stopped(e.Context); stop != nil {
		return stop
	}
	if err != nil {
		if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.TooLarge) {
			return err
		}
		code := "malformed"
		if errs.Is(err, errs.TooLarge) {
			code = "too-large"
		}
		// No path: what the rest of the layer holds or hides is not known.
		e.gaps = append(e.gaps,
			scan.Reason{Code: code, Message: fmt.Sprintf("layer %d (%s): %v", l.Index, short(l.Digest), err)})
	}
	e.overlay.end(l.Index, e.fresh)
	slices.SortFunc(e.gaps, func(a, b scan.Reason) int {
		return bytes.Compare([]byte(a.Path+a.Message), []byte(b.Path+b.Message))
	})
	for _, r := range e.gaps {
		e.Degrade(r)
	}
	e.gaps = nil
	return nil
}

// start begins the goroutines that look into contents.
func (e *examination) start() {
	jobs := make(chan job, 4)
	e.jobs = jobs
	for range max(e.Workers, 1) {
		e.workers.Go(func() {
			for j := range jobs {
				e.look(j.entry, bytes.NewReader(j.content), j.want)
			}
		})
	}
}

// finish waits for them.
func (e *examination) finish() {
	close(e.jobs)
	e.workers.Wait()
}

// visit looks at an entry of the layer.
func (e *examination) visit(entry *oci.Entry) error {
	e.overlay.note(entry)
	e.number++
	switch entry.Kind {
	case oci.File:
		e.looked++
		return e.file(entry)
	case oci.Hardlink:
		if e.named(entry.Path) != nil {
			e.pending[entry.Path] = entry.Link
		}
	}
	return nil
}

// linked reads the layer again for files that hard links with a wanted name share.
// Most tools write the file itself under the name that comes first.
func (e *examination) linked(budget *oci.Budget) error {
	targets := map[string][]string{}
	for from, to := range e.pending {
		targets[to] = append(targets[to], from)
	}
	e.start()
	err := e.layer.Walk(e.Context, budget, func(entry *oci.Entry) error {
		if entry.Kind != oci.File || targets[entry.Path] == nil {
			return nil
		}
		content, err := keep(entry, e.Limits.FileSize)
		if err != nil {
			return e.missed(entry, err)
		}
		defer func() { _ = content.Close() }() // in memory, or a temporary file
		for _, name := range targets[entry.Path] {
			under := *entry
			under.Path = name
			if _, err := content.Seek(0, io.SeekStart); err != nil {
				return fmt.Errorf("read a layer: %w", err)
			}
			e.look(under, content, want{reader: e.named(name), number: e.number})
		}
		return nil
	})
	e.finish()
	return err
}

// want says what is wanted of a file.
type want struct {
	reader *reader // of packages, by the name of the file
	secret bool    // it may hold a text with secrets
	number int     // of its entry in the layer
}

// peeked is how much of a file is looked at before it is decided what it is.
const peeked = 8000

// inline is the largest file that is looked into beside the reading of the layer.
const inline = 1 << 20

// file takes what is wanted of a file that passes by.
func (e *examination) file(entry *oci.Entry) error {
	e.noteMode(entry)
	w := want{reader: e.named(entry.Path), secret: e.secrets.wants(entry.Path, e.copied), number: e.number}
	if w.reader == nil && entry.Size < smallest {
		w.secret = w.secret && entry.Size > 0
		if !w.secret {
			return nil
		}
	}
	head := make([]byte, min(entry.Size, peeked))
	if _, err := io.ReadFull(entry.Content, head); err != nil {
		return broken(err)
	}
	if w.reader == nil && program(head) {
		return e.program(entry, head)
	}
	w.secret = w.secret && text(head)
	if w.reader == nil && !w.secret {
		return nil
	}
	entry.Content = io.MultiReader(bytes.NewReader(head), entry.Content)
	limit := e.Limits.FileSize
	if w.reader != nil && w.reader.large {
		limit = max(limit, largest)
	}
	content, err := keep(entry, limit)
	if err != nil {
		return e.missed(entry, err)
	}
	if m, ok := content.(*memory); ok && entry.Size <= inline {
		e.jobs <- job{*entry, m.bytes, w}
		return nil
	}
	defer func() { _ = content.Close() }() // in memory, or a temporary file
	e.look(*entry, content, w)
	return nil
}

// missed records a file that was wanted and is too large; any other error ends the
// layer.
func (e *examination) missed(entry *oci.Entry, err error) error {
	if !errs.Is(err, errs.TooLarge) {
		return err
	}
	e.gap(scan.Reason{Code: "too-large", Path: entry.Path, Message: err.Error()})
	return nil
}

func (e *examination) gap(r scan.Reason) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gaps = append(e.gaps, r)
}

// broken says that a layer ends inside of a file.
func broken(err error) error {
	if errs.Is(err, errs.TooLarge) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errs.E(errs.Invalid, "the layer ends inside of a file")
	}
	return errs.E(errs.Invalid, "the layer cannot be read to its end: %v", err)
}

// look takes packages and secrets out of a content. It runs in several goroutines; a
// crash on what somebody put into a file is a reason for that file.
func (e *examination) look(entry oci.Entry, c readable, w want) {
	defer func() {
		if v := recover(); v != nil {
			e.gap(scan.Reason{Code: "panic", Path: entry.Path, Message: fmt.Sprintf("in layer %d: the reading of the "+
				"file crashed (%T)", e.layer.Index, v)})
		}
	}()
	v := &version{layer: e.layer.Index, entry: w.number, gone: -1}
	if w.reader != nil {
		items, raw, err := w.reader.read(e.Context, entry, c)
		if err != nil {
			e.gap(scan.Reason{Code: "malformed", Path: entry.Path,
				Message: fmt.Sprintf("in layer %d: %s", e.layer.Index, inventory.OneLine(err.Error()))})
		}
		v.items, v.text = items, raw
	}
	if w.secret {
		hits, err := e.secrets.find(e.Context, entry, c)
		if err != nil {
			e.gap(scan.Reason{Code: "error", Path: entry.Path, Message: fmt.Sprintf("in layer %d: %s", e.layer.Index,
				inventory.OneLine(err.Error()))})
		}
		v.hits = hits
	}
	e.keepVersion(entry.Path, v, w.reader != nil)
}

// keepVersion keeps what a file of the layer holds. Of two entries with one name
// the later is the file.
func (e *examination) keepVersion(path string, v *version, wanted bool) {
	if len(v.items) == 0 && len(v.hits) == 0 && v.text == "" && !wanted && v.setuid == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.fresh[path]
	if old != nil && old.entry > v.entry {
		return
	}
	if old != nil && old.entry == v.entry { // what its mode said is known already
		v.setuid = old.setuid
	}
	e.fresh[path] = v
}

// layerOf describes the layer with the index.
func (e *examination) layerOf(index int) *finding.Layer {
	l := e.Image.Layers[index]
	return &finding.Layer{Index: index, Digest: l.Digest, Instruction: e.steps.ofLayer[index], Base: l.Base}
}

// short returns a digest as people recognise it.
func short(digest string) string { return digest[:min(len(digest), len("sha256:")+12)] }

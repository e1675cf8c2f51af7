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
	readers []packageReader
	secrets *secretFinder
	// instructions of the history, by layer
	steps buildSteps
	// what is visible after the layers so far
	overlay layerOverlay
	// regular files seen
	looked int

	// Of the layer that passes by:
	layer   *oci.Layer
	number  int               // of the entry that passes by
	copied  bool              // its instruction copied files of the builder's
	pending map[string]string // hard links to files that were not kept, by their path
	jobs    chan contentJob
	workers sync.WaitGroup
	mu      sync.Mutex
	fresh   map[string]*fileVersion // what it holds, by path
	gaps    []scan.Reason
	room    []byte
}

// contentJob is the content of a file that is to be analyzed.
type contentJob struct {
	entry   oci.Entry
	content []byte
	want    wanted
}

// newExamination makes the readers and reads the history, whose secrets must not show in
// any message.
func newExamination(p *scan.ImagePass) (*examination, error) {
	readers, err := makeReaders()
	if err != nil {
		return nil, err
	}
	e := &examination{ImagePass: p, readers: readers, secrets: &secretFinder{detectors},
		overlay: layerOverlay{held: map[string][]*fileVersion{}, folders: map[string]int{}}}
	e.steps, err = e.secrets.readSteps(p.Context, p.Image)
	return e, err
}

// readLayers reads every layer, lowest first. What cannot be read of one is a reason; the
// others are read all the same.
func (e *examination) readLayers() error {
	budget := &oci.Budget{Bytes: e.Limits.TotalSize, Entries: e.Limits.Files}
	total, done := int64(1), int64(0)
	for i := range e.Image.Layers {
		// One more for each layer, so that empty layers advance the progress too.
		total += e.Image.Layers[i].Size + 1
	}
	for i := range e.Image.Layers {
		l := &e.Image.Layers[i]
		e.Progress(int(90*done/total), fmt.Sprintf("reading layer %d of %d", i+1, len(e.Image.Layers)))
		if err := e.readLayer(l, budget); err != nil {
			return err
		}
		done += l.Size + 1
	}
	return nil
}

// readLayer reads one layer. The error is that of the context.
func (e *examination) readLayer(l *oci.Layer, budget *oci.Budget) error {
	e.layer, e.copied = l, copiesFiles(l)
	e.pending, e.fresh = map[string]string{}, map[string]*fileVersion{}
	e.overlay.beginLayer()
	e.startWorkers()
	err := l.Walk(e.Context, budget, e.visitEntry)
	e.waitWorkers()
	if err == nil && len(e.pending) > 0 {
		err = e.readLinked(budget)
	}
	if stop := contextError(e.Context); stop != nil {
		return stop
	}
	if err != nil {
		// The registry or the disk failed: that is no property of the image.
		if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.TooLarge) {
			return err
		}
		code := "malformed"
		if errs.Is(err, errs.TooLarge) {
			code = "too-large"
		}
		// No path: what the rest of the layer holds or hides is not known.
		e.gaps = append(e.gaps,
			scan.Reason{Code: code, Message: fmt.Sprintf("layer %d (%s): %v", l.Index, shortDigest(l.Digest), err)})
	}
	e.overlay.endLayer(l.Index, e.fresh)
	// Workers finish in any order; the report must not.
	slices.SortFunc(e.gaps, func(a, b scan.Reason) int {
		return bytes.Compare([]byte(a.Path+a.Message), []byte(b.Path+b.Message))
	})
	for _, r := range e.gaps {
		e.Degrade(r)
	}
	e.gaps = nil
	return nil
}

// startWorkers begins the goroutines that analyze contents.
func (e *examination) startWorkers() {
	// Few, since each job has up to maxQueued bytes in memory.
	jobs := make(chan contentJob, 4)
	e.jobs = jobs
	for range max(e.Workers, 1) {
		e.workers.Go(func() {
			for j := range jobs {
				e.analyzeContent(j.entry, bytes.NewReader(j.content), j.want)
			}
		})
	}
}

// waitWorkers waits for them.
func (e *examination) waitWorkers() {
	close(e.jobs)
	e.workers.Wait()
}

// visitEntry takes an entry of the layer.
func (e *examination) visitEntry(entry *oci.Entry) error {
	e.overlay.noteEntry(entry)
	e.number++
	switch entry.Kind {
	case oci.File:
		e.looked++
		return e.takeFile(entry)
	case oci.Hardlink:
		if e.readerFor(entry.Path) != nil {
			e.pending[entry.Path] = entry.Link
		}
	}
	return nil
}

// readLinked reads the layer again for files that hard links with a wanted name share.
// Most tools write the file itself under the name that comes first.
func (e *examination) readLinked(budget *oci.Budget) error {
	targets := map[string][]string{}
	for from, to := range e.pending {
		targets[to] = append(targets[to], from)
	}
	e.startWorkers()
	err := e.layer.Walk(e.Context, budget, func(entry *oci.Entry) error {
		if entry.Kind != oci.File || targets[entry.Path] == nil {
			return nil
		}
		content, err := readContent(entry, e.Limits.FileSize)
		if err != nil {
			return e.reportMissed(entry, err)
		}
		defer func() { _ = content.Close() }() // in memory, or a temporary file
		for _, name := range targets[entry.Path] {
			under := *entry
			under.Path = name
			if _, err := content.Seek(0, io.SeekStart); err != nil {
				return fmt.Errorf("read a layer: %w", err)
			}
			e.analyzeContent(under, content, wanted{reader: e.readerFor(name), number: e.number})
		}
		return nil
	})
	e.waitWorkers()
	return err
}

// wanted says what is wanted of a file.
type wanted struct {
	reader *packageReader // of packages, by the name of the file
	secret bool           // it may hold a text with secrets
	number int            // of its entry in the layer
}

// peekSize is how much of a file is read before it is decided what it is.
const peekSize = 8000

// maxQueued is the largest file that is analyzed beside the reading of the layer.
const maxQueued = 1 << 20

// takeFile takes what is wanted of a file that passes by.
func (e *examination) takeFile(entry *oci.Entry) error {
	e.noteMode(entry)
	w := wanted{reader: e.readerFor(entry.Path), secret: e.secrets.wantsFile(entry.Path, e.copied), number: e.number}
	if w.reader == nil && entry.Size < minProgram {
		w.secret = w.secret && entry.Size > 0
		if !w.secret {
			return nil
		}
	}
	head := make([]byte, min(entry.Size, peekSize))
	if _, err := io.ReadFull(entry.Content, head); err != nil {
		return layerError(err)
	}
	if w.reader == nil && isProgram(head) {
		return e.readProgram(entry, head)
	}
	w.secret = w.secret && isText(head)
	if w.reader == nil && !w.secret {
		return nil
	}
	entry.Content = io.MultiReader(bytes.NewReader(head), entry.Content)
	limit := e.Limits.FileSize
	if w.reader != nil && w.reader.large {
		limit = max(limit, maxContent)
	}
	content, err := readContent(entry, limit)
	if err != nil {
		return e.reportMissed(entry, err)
	}
	if m, ok := content.(*memoryContent); ok && entry.Size <= maxQueued {
		e.jobs <- contentJob{*entry, m.bytes, w}
		return nil
	}
	defer func() { _ = content.Close() }() // in memory, or a temporary file
	e.analyzeContent(*entry, content, w)
	return nil
}

// reportMissed records a file that was wanted and is too large; any other error ends the
// layer.
func (e *examination) reportMissed(entry *oci.Entry, err error) error {
	if !errs.Is(err, errs.TooLarge) {
		return err
	}
	e.addGap(scan.Reason{Code: "too-large", Path: entry.Path, Message: err.Error()})
	return nil
}

// addGap records a coverage gap. Workers call it, too.
func (e *examination) addGap(r scan.Reason) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gaps = append(e.gaps, r)
}

// layerError says that a layer ends inside of a file.
func layerError(err error) error {
	if errs.Is(err, errs.TooLarge) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errs.E(errs.Invalid, "the layer ends inside of a file")
	}
	return errs.E(errs.Invalid, "the layer cannot be read to its end: %v", err)
}

// analyzeContent takes packages and secrets out of a content. It runs in several
// goroutines; a crash on what a hostile image has in a file is a coverage gap for that
// file.
func (e *examination) analyzeContent(entry oci.Entry, c contentReader, w wanted) {
	defer func() {
		if v := recover(); v != nil {
			e.addGap(scan.Reason{Code: "panic", Path: entry.Path, Message: fmt.Sprintf("in layer %d: the reading "+
				"of the "+
				"file crashed (%T)", e.layer.Index, v)})
		}
	}()
	v := &fileVersion{layer: e.layer.Index, entry: w.number, gone: -1}
	if w.reader != nil {
		items, raw, err := w.reader.readPackages(e.Context, entry, c)
		if err != nil {
			e.addGap(scan.Reason{Code: "malformed", Path: entry.Path,
				Message: fmt.Sprintf("in layer %d: %s", e.layer.Index, inventory.OneLine(err.Error()))})
		}
		v.items, v.text = items, raw
	}
	if w.secret {
		hits, err := e.secrets.findInFile(e.Context, entry, c)
		if err != nil {
			e.addGap(scan.Reason{Code: "error", Path: entry.Path, Message: fmt.Sprintf("in layer %d: %s", e.layer.Index,
				inventory.OneLine(err.Error()))})
		}
		v.hits = hits
	}
	e.keepVersion(entry.Path, v, w.reader != nil)
}

// keepVersion keeps what a file of the layer holds. Of two entries with one name
// the later is the file.
func (e *examination) keepVersion(path string, v *fileVersion, wanted bool) {
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

// describeLayer describes the layer with the index.
func (e *examination) describeLayer(index int) *finding.Layer {
	l := e.Image.Layers[index]
	return &finding.Layer{Index: index, Digest: l.Digest, Instruction: e.steps.ofLayer[index], Base: l.Base}
}

// shortDigest returns a digest as people recognise it.
func shortDigest(digest string) string { return digest[:min(len(digest), len("sha256:")+12)] }

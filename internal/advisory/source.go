package advisory

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"merlon/internal/errs"
)

// This file finds records in folders and zips, and has them parsed on every
// core. Sources are downloads: everything in them is bounded.

// Limits of a source.
const (
	maxRecord = 32 << 20 // bytes of one record
	// a nested zip is copied to disk first: this bounds the space
	maxNested = 8 << 30 // bytes of a zip inside of a zip
	// a release archive with one zip for each ecosystem
	maxNesting = 2 // zips around a record
	// far more than OSV publishes
	maxFiles      = 10_000_000
	maxSourceSize = 256 << 30 // bytes of all records
)

// An input is one file of a source.
type input struct {
	name string // for people
	// nil for a feed or an error
	record *record
	// nil for a record or an error
	feed   *feed
	isFeed bool // or should be one
	// of a table of licences; nil for anything else
	licenses *licenseTable
	// why the file cannot be used; the import continues with the next one
	err error
}

// readSource calls take for each JSON file of the source, in a fixed order.
func readSource(ctx context.Context, path string, take func(input) error) error {
	group, ctx := errgroup.WithContext(ctx)
	// Each batch goes into both channels: the workers take it from work in any order, the collector
	// takes it from queue in the order of the source. The result is the same on any number of
	// cores. The capacity bounds the memory, since a batch has about 1 MiB.
	queue := make(chan *batch, 2*runtime.GOMAXPROCS(0)) // in order
	work := make(chan *batch, cap(queue))
	group.Go(func() error {
		defer close(queue)
		defer close(work)
		w := walker{ctx: ctx, send: func(b *batch) error {
			for _, c := range []chan *batch{queue, work} {
				select {
				case c <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}}
		return w.walkSource(path)
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for b := range work {
				b.parseFiles()
			}
			return nil
		})
	}
	group.Go(func() error {
		for b := range queue {
			<-b.done
			for _, in := range b.out {
				if err := take(in); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return group.Wait()
}

// A batch is some files that are parsed together.
type batch struct {
	files []rawFile
	size  int
	out   []input
	done  chan struct{}
}

// rawFile is a file of a source that was read and not parsed yet.
type rawFile struct {
	name string
	data []byte
	csv  bool
	err  error // instead of data
}

// parseFiles parses the files of a batch on one core.
func (b *batch) parseFiles() {
	defer close(b.done)
	for _, f := range b.files {
		in := input{name: f.name, err: f.err}
		if f.err == nil {
			in.parseFile(f)
		}
		b.out = append(b.out, in)
	}
	// The raw bytes are released before the collector gets to the batch.
	b.files = nil
}

// parseFile parses the file as what it is.
func (in *input) parseFile(f rawFile) {
	if f.csv {
		if text, err := gunzip(f.data); err == nil && isLicenseTable(text) {
			in.isFeed = true
			in.licenses, in.err = parseLicenses(text)
			return
		}
		in.feed, in.err = parseCSV(f.name, f.data)
		in.isFeed = true
		return
	}
	// The KEV catalog is a JSON file too, so it is tried when the file is no OSV record.
	if in.record, in.err = parseRecord(f.name, f.data); errors.Is(in.err, errNotOSV) {
		in.feed, in.err = parseKEV(f.data)
		in.isFeed = true
		if errors.Is(in.err, errNotOSV) && isFeedName(f.name) {
			in.err = errNoFeed
		}
	}
}

// A walker reads a source and sends batches.
type walker struct {
	ctx  context.Context
	send func(*batch) error
	// being filled; nil before the first file
	next *batch
	// of the whole source, at most maxFiles
	files int
	// read so far, at most maxSourceSize
	bytes int64
}

// walkSource reads a folder, a zip or a JSON file.
func (w *walker) walkSource(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cannot open %s", path)
	}
	if info.IsDir() {
		err = w.walkFolder(path)
	} else {
		err = w.walkFile(filepath.Base(path), func() (io.ReadCloser, error) { return os.Open(path) }, info.Size(), 0)
	}
	if err != nil {
		return err
	}
	return w.sendBatch()
}

// walkFolder reads every file below the folder. Links that lead out of it are not
// followed.
func (w *walker) walkFolder(path string) error {
	// A source is unpacked from elsewhere and may contain links to "/etc".
	root, err := os.OpenRoot(path)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cannot open %s", path)
	}
	defer func() { _ = root.Close() }() // read only
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(path, name), err)
		}
		if d.IsDir() {
			// .git of a clone has no records.
			if name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return w.ctx.Err()
		}
		info, err := root.Stat(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(path, name), err)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		return w.walkFile(name, func() (io.ReadCloser, error) { return root.Open(name) }, info.Size(), 0)
	})
}

// walkFile reads a file as its name says what it is.
func (w *walker) walkFile(name string, open func() (io.ReadCloser, error), size int64, depth int) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return w.json(name, open, size)
	case ".csv", ".gz":
		if lower := strings.ToLower(name); strings.HasSuffix(lower, ".csv") || strings.HasSuffix(lower, ".csv.gz") {
			return w.csv(name, open)
		}
	case ".zip":
		// A zip can contain itself (a quine), which would not end.
		if depth >= maxNesting {
			return w.addFile(rawFile{name: name, err: errors.New("zips are nested too deep")})
		}
		return w.walkZip(name, open, size, depth)
	}
	return nil
}

// json reads one record.
func (w *walker) json(name string, open func() (io.ReadCloser, error), size int64) error {
	// The size that the directory states is checked first, to read nothing of a large file; readAll
	// checks the real one.
	if size > maxRecord {
		return w.addFile(rawFile{name: name, err: fmt.Errorf("the record is larger than %d MiB", maxRecord>>20)})
	}
	data, err := readAll(open, maxRecord)
	return w.addFile(rawFile{name: name, data: data, err: err})
}

// csv reads a table that may be a feed.
func (w *walker) csv(name string, open func() (io.ReadCloser, error)) error {
	data, err := readAll(open, maxFeed)
	return w.addFile(rawFile{name: name, csv: true, data: data, err: err})
}

// readAll reads a file of at most limit bytes.
func readAll(open func() (io.ReadCloser, error), limit int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("cannot open it: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	_ = r.Close() // read only
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read it: %w", err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return data, nil
}

// walkZip reads the files of a zip. One inside of a zip is first copied to a temporary
// file, because the format is read from its end.
func (w *walker) walkZip(name string, open func() (io.ReadCloser, error), size int64, depth int) error {
	r, err := open()
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = r.Close() }() // read only
	at, ok := r.(io.ReaderAt)
	if !ok {
		f, err := os.CreateTemp("", "merlon-advisories-*.zip")
		if err != nil {
			return fmt.Errorf("make a temporary file: %w", err)
		}
		defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }() // a temporary file
		if size, err = io.Copy(f, io.LimitReader(r, maxNested+1)); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if size > maxNested {
			return errs.E(errs.TooLarge, "%s is larger than %d GiB", name, maxNested>>30)
		}
		at = f
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "%s is not a zip that can be read", name)
	}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if err := w.walkFile(name+": "+f.Name, f.Open, int64(min(f.UncompressedSize64, 1<<62)), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// addFile queues a file.
func (w *walker) addFile(f rawFile) error {
	w.files++
	w.bytes += int64(len(f.data))
	if w.files > maxFiles || w.bytes > maxSourceSize {
		return errs.E(errs.TooLarge, "the source has more than %d files or %d GiB", maxFiles, maxSourceSize>>30)
	}
	if w.next == nil {
		w.next = &batch{done: make(chan struct{})}
	}
	w.next.files = append(w.next.files, f)
	w.next.size += len(f.data)
	// Records have a few kilobytes: batches keep the cost of the channels low.
	if len(w.next.files) >= 256 || w.next.size >= 1<<20 {
		return w.sendBatch()
	}
	return nil
}

// sendBatch sends the files that wait.
func (w *walker) sendBatch() error {
	b := w.next
	w.next = nil
	if b == nil {
		return w.ctx.Err()
	}
	return w.send(b)
}

// Package advisory holds known vulnerabilities: it reads records in the OSV
// format, builds one immutable data file from them, and answers which of them
// affect a version of a package.
//
// The data file is all that a scan needs: it is opened without a database, in
// the sandbox, by several processes at once. Records that are aliases of each
// other are one finding.Advisory under all its names. What cannot be decided —
// a record that breaks the format, a version that cannot be read — is an error
// of the look-up, never "not affected".
package advisory

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// Meta says what a data file holds.
type Meta struct {
	Imported   time.Time        `json:"imported"`
	Newest     time.Time        `json:"newest"`  // the latest modification of a record
	Records    int              `json:"records"` // that are in force and name a package
	Ecosystems map[string]Count `json:"ecosystems"`
	Licenses   int              `json:"licenses,omitempty"` // packages whose licences were imported

	EPSS *Feed `json:"epss,omitempty"` // nil when none was imported
	KEV  *Feed `json:"kev,omitempty"`

	// Mirror remembers what was fetched, so that the next update fetches only what
	// has changed since; nil when nothing was.
	Mirror *Mirror `json:"mirror,omitempty"`

	// Unreadable names the records that could not be read at all, so that it is
	// not known which packages they are about. UnreadableMore counts those beyond
	// the first MaxMalformed.
	Unreadable     []string `json:"unreadable,omitempty"`
	UnreadableMore int      `json:"unreadableMore,omitempty"`
}

// A Count says how much is known of an ecosystem.
type Count struct {
	Records  int       `json:"records"`
	Packages int       `json:"packages"`
	Newest   time.Time `json:"newest,omitzero"` // the latest modification of one of the records
}

// A Mirror is how far the data follows a mirror.
type Mirror struct {
	Base    string                  `json:"base"` // its address, without credentials
	Checked time.Time               `json:"checked"`
	Files   map[string]MirroredFile `json:"files"` // by their path below the base
}

// A MirroredFile is a file of a mirror as it was when it was taken.
type MirroredFile struct {
	Checked  time.Time `json:"checked"`            // when it was last asked for, with success
	Tag      string    `json:"tag,omitempty"`      // its ETag
	Modified string    `json:"modified,omitempty"` // its Last-Modified
	Digest   string    `json:"digest,omitempty"`   // SHA-256 of it
}

// A File is an open data file. It is safe for concurrent use.
type File struct {
	meta   Meta
	digest string
	src    io.ReaderAt
	close  func() error

	feeds [feedKinds]feedTable

	hashes []uint64 // sorted; the places below belong to them
	places []extent
	chunks []chunkExtent
	total  uint32 // records

	zstd *zstd.Decoder
	mu   sync.Mutex
	held map[int]*list.Element // decoded chunks
	used *list.List            // of cachedChunk, latest first
}

// extent is a part of the data file.
type extent struct {
	offset uint64
	length uint32
}

// chunkExtent is a chunk and the number of the first record in it.
type chunkExtent struct {
	first uint32 // number of the first record in it
	extent
}

// cachedChunk is a decoded chunk that stays in memory.
type cachedChunk struct {
	n       int
	records []string
}

// maxCachedChunks bounds the decoded chunks that a File keeps: 4,096 chunks are some 16
// MiB of text.
const maxCachedChunks = 4096

// Open opens a data file, or builds one in a temporary file from an OSV folder or
// zip. Close removes that file again.
func Open(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "cannot open the advisories %s", path)
	}
	if !info.IsDir() {
		is, err := isDataFile(path)
		if err != nil {
			return nil, err
		}
		if is {
			return openFile(path)
		}
	}
	return openSource(path)
}

// isDataFile reports whether the file begins as a data file does.
func isDataFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open advisories: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	var b [len(magic)]byte
	_, err = io.ReadFull(f, b[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return strings.HasPrefix(string(b[:]), magicName), nil
}

// openSource builds a data file from OSV records in a temporary folder.
func openSource(path string) (*File, error) {
	dir, err := os.MkdirTemp("", "merlon-advisories")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	out := filepath.Join(dir, "advisories.dat")
	f, err := func() (*File, error) {
		if _, err := Build(context.Background(), BuildOptions{Sources: []string{path}, Output: out}); err != nil {
			return nil, err
		}
		return openFile(out)
	}()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	closeFile := f.close
	f.close = func() error { return errors.Join(closeFile(), os.RemoveAll(dir)) }
	return f, nil
}

// openFile opens a data file in place, without building one.
func openFile(path string) (*File, error) {
	src, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open advisories: %w", err)
	}
	info, err := src.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open advisories: %w", err), src.Close())
	}
	f, err := newFile(src, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), src.Close())
	}
	f.close = src.Close
	return f, nil
}

// Close closes the file.
func (f *File) Close() error {
	f.zstd.Close()
	return f.close()
}

// Meta says what the file holds.
func (f *File) Meta() Meta { return f.meta }

// Data implements scan.Advisories.
func (f *File) Data() scan.AdvisoryData { return f.meta.describe(f.digest) }

// describe returns what a scan records of the data it used.
func (m Meta) describe(digest string) scan.AdvisoryData {
	return scan.AdvisoryData{
		Digest: digest, Imported: m.Imported, Newest: m.Newest, Records: m.Records,
		Unreadable: len(m.Unreadable) + m.UnreadableMore, EPSS: m.EPSS.describe(), KEV: m.KEV.describe(),
	}
}

// describe returns what a scan records of a feed; nil without one.
func (f *Feed) describe() *scan.FeedData {
	if f == nil {
		return nil
	}
	return &scan.FeedData{Version: f.Version, Date: f.Date, Entries: f.Entries}
}

// Knows implements scan.Advisories.
func (f *File) Knows(ecosystem string) bool {
	base, _ := splitEcosystem(ecosystem)
	return f.meta.Ecosystems[base].Records > 0
}

// Package archive unpacks an archive that a stranger has uploaded. It writes
// regular files and folders below one folder and nothing else, within a budget,
// in memory that does not grow with the archive's content.
//
// It tells two things apart. An archive that cannot be trusted (cut off, damaged,
// a bomb, more than the budget) is an error, and nothing that was unpacked may be
// used. An entry that cannot be taken (a name that leaves the folder, a device, a
// file that is too large) is skipped and reported, so that a scan says that it did
// not look at it.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"merlon/internal/errs"
)

// A Budget bounds what an archive may become.
type Budget struct {
	Files     int   // entries, and folders made for them
	Bytes     int64 // of all files together
	FileBytes int64 // of one file; a larger one is skipped
	Ratio     int64 // bytes for each byte of the archive, once there are 32 MiB
	Depth     int   // folders in a name; a deeper one is skipped
	PathBytes int   // of a name; a longer one is skipped
}

// DefaultBudget is enough for the largest source trees in public, and little
// enough for one disk.
var DefaultBudget = Budget{Files: 500_000, Bytes: 20 << 30, FileBytes: 512 << 20, Ratio: 100, Depth: 64,
	PathBytes: 1024}

// freeRatio is how much an archive may become whatever its ratio: a small archive
// of zeros harms nobody.
const freeRatio = 32 << 20

// MaxSkips bounds the list of skipped entries.
const MaxSkips = 100

// A Summary says what became of an archive.
type Summary struct {
	Format  string // "zip", "tar" or "tar.gz"
	Files   int    // regular files written
	Bytes   int64  // in them
	Links   int    // left out, because their target was written under its own name
	Skipped []Skip // the first MaxSkips entries that were not written
	More    int    // how many were skipped beyond that list
}

// A Skip is an entry that was not written.
type Skip struct {
	Path   string // of the file it would have been; quoted when it cannot be shown
	Reason string // for people, such as "larger than 512 MiB"
}

// Extract unpacks src below dst, which should be empty. The format is told by the
// content: zip, tar, or tar within gzip. An archive that cannot be trusted is an
// errs.Invalid error with a text for people; then, and when the context ends or
// the disk is full, the caller must discard what is below dst.
func Extract(ctx context.Context, src *io.SectionReader, dst *os.Root, b Budget) (Summary, error) {
	x := newExtractor(ctx, src.Size(), dst, b)
	head := make([]byte, 512)
	n, err := src.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Summary{}, fmt.Errorf("read the archive: %w", err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		x.summary.Format = "zip"
		err = x.extractZip(src)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		x.summary.Format = "tar.gz"
		err = x.tarGzip(src)
	case len(head) == 512 && bytes.HasPrefix(head[257:], []byte("ustar")):
		x.summary.Format = "tar"
		err = x.extractTar(src)
	default:
		return Summary{}, errs.E(errs.Invalid, "the upload is no archive: send zip, tar or tar.gz")
	}
	if err == nil {
		err = x.resolveLinks()
	}
	return x.summary, explainDamage(err)
}

// explainDamage gives the errors that the formats' readers have for damage a text for
// people.
func explainDamage(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil:
		return nil
	case errs.KindOf(err) != errs.Internal:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errs.Wrap(errs.Invalid, err, "the archive is cut off")
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, gzip.ErrChecksum):
		return errs.Wrap(errs.Invalid, err, "the archive is damaged: a checksum does not match")
	case errors.Is(err, zip.ErrFormat), errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader),
		errors.Is(err, tar.ErrFieldTooLong), errors.As(err, &corrupt):
		return errs.Wrap(errs.Invalid, err, "the archive is damaged or cut off")
	}
	return err
}

package advisory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"merlon/internal/errs"
)

// This file takes over the records of data files: the one before, and bundles
// that were carried here from another site.

// openDataFiles opens the data files among what an import reads, and returns the other
// sources. The previous data file of another version of the format is left out: nothing
// can be read from it.
func (b *builder) openDataFiles(o BuildOptions) (sources []string, err error) {
	if o.Previous != "" {
		f, err := openFile(o.Previous)
		switch {
		case errors.Is(err, errOtherFormat):
			// Not an error: after an upgrade of the program the data must be imported anew.
			b.report.PreviousLost = true
		case err != nil:
			return nil, err
		default:
			if err := b.indexRecords(f, false); err != nil {
				return nil, err
			}
			b.report.Mirror = f.meta.Mirror
		}
	}
	for _, path := range o.Sources {
		info, err := os.Stat(path)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, err, "cannot open %s", path)
		}
		is := false
		// The content decides and not the name: a bundle may have been renamed on the way.
		if !info.IsDir() {
			if is, err = isDataFile(path); err != nil {
				return nil, err
			}
		}
		if !is {
			sources = append(sources, path)
			continue
		}
		if err := b.openBundle(path); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// openBundle opens a data file that came from elsewhere.
func (b *builder) openBundle(path string) error {
	// A bundle has been transported, so its digest is verified; the previous file was written here.
	if err := VerifyFile(path); err != nil {
		return err
	}
	f, err := openFile(path)
	if err != nil {
		return err
	}
	b.report.Feeds += f.countFeeds()
	return b.indexRecords(f, true)
}

// countFeeds returns how many feeds the file has.
func (f *File) countFeeds() int {
	n := 0
	for _, t := range f.feeds {
		if t != "" {
			n++
		}
	}
	return n
}

// VerifyFile compares a data file with the digest at its end. An Invalid error
// says that it differs.
func VerifyFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cannot open %s", path)
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	size := info.Size() - digestLen
	if size < 0 {
		return errs.Wrap(errs.Invalid, damagedError("it is too short"), "%s is refused", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, size)); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	want := make([]byte, digestLen)
	if _, err := f.ReadAt(want, size); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if got := h.Sum(nil); string(got) != string(want) {
		return errs.Wrap(errs.Invalid, damagedError("its digest is "+hex.EncodeToString(got)+" and should be "+
			hex.EncodeToString(want)), "%s is refused", path)
	}
	return nil
}

// indexRecords remembers what a data file has: of two versions of a record the newer one
// will be copied.
func (b *builder) indexRecords(f *File, bundle bool) error {
	n := len(b.held)
	b.held = append(b.held, f)
	for _, name := range f.meta.Unreadable {
		b.unreadable[fileID(name)] = name
	}
	b.report.UnreadableMore += f.meta.UnreadableMore
	b.openFeeds(f)
	err := f.eachRecord(func(number uint32, raw string) error {
		d := decoder{s: raw}
		id, at, _ := d.takeHead()
		modified := toMillis(at)
		old, exists := b.ids[id]
		if bundle {
			b.report.Read++
			switch {
			case !exists:
				b.report.Added++
			case modified == old.modified:
				b.report.Unchanged++
			case modified < old.modified:
				b.report.Older++
			default:
				b.report.Updated++
			}
		}
		// Of equal versions the first one stays: the previous file comes before the bundles.
		if !exists || modified > old.modified {
			// A clone, because id is a piece of a chunk and would keep all of it.
			b.ids[strings.Clone(id)] = knownRecord{modified: modified, number: number, previous: true, held: n}
		}
		return d.err
	})
	if err != nil {
		return fmt.Errorf("read advisories: %w", err)
	}
	return nil
}

// copyRecords copies the records of a data file that nothing newer replaces.
func (b *builder) copyRecords(ctx context.Context, n int) error {
	f := b.held[n]
	// The numbers of the new file follow the order of writing, so those in the packages are
	// replaced.
	renumbered := make(map[uint32]uint32)
	err := f.eachRecord(func(old uint32, raw string) error {
		d := decoder{s: raw}
		id, modified, _ := d.takeHead()
		// A source or another data file has a newer version of the record.
		if k := b.ids[id]; !k.previous || k.held != n || k.number != old {
			return d.err
		}
		number, err := b.addEncoded(raw, modified)
		renumbered[old] = number
		return errors.Join(d.err, err)
	})
	if err != nil {
		return err
	}
	for i := range f.places {
		if err := ctx.Err(); err != nil {
			return err
		}
		blk, err := f.readBlock(i)
		if err != nil {
			return err
		}
		for j := range blk.list {
			// The record was replaced, and what it says of the package comes from its new version.
			number, ok := renumbered[blk.list[j].number]
			if !ok {
				continue
			}
			blk.list[j].number = number
			if err := b.addAffected(&blk.list[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeDataFiles closes the data files of before.
func (b *builder) closeDataFiles() {
	for _, f := range b.held {
		_ = f.Close() // read only
	}
}

// Modified returns when the records of a data file were modified, by id, in
// milliseconds.
func Modified(path string) (map[string]int64, error) {
	f, err := openFile(path)
	if errors.Is(err, errOtherFormat) {
		return nil, nil // an import takes nothing over from it either
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	out := make(map[string]int64, f.total)
	err = f.eachRecord(func(_ uint32, raw string) error {
		d := decoder{s: raw}
		id, modified, _ := d.takeHead()
		out[strings.Clone(id)] = toMillis(modified)
		return d.err
	})
	if err != nil {
		return nil, fmt.Errorf("read advisories: %w", err)
	}
	return out, nil
}

package mirror

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
)

// This file finds out which records have changed, by modified_id.csv, and fetches
// only these.

const (
	maxSingle  = 1000       // records that are fetched one by one; more come with the zip
	maxRecord  = 32 << 20   // bytes
	maxList    = 1 << 30    // bytes of modified_id.csv
	maxZip     = 8 << 30    // bytes
	maxFeed    = 256 << 20  // bytes
	maxChanges = 10_000_000 // lines of modified_id.csv
	parallel   = 8          // records that are fetched at the same time
)

// listChanges returns the IDs of the records that are newer at the mirror than in the local copy. It
// is nil when the mirror has no list of changes, or when everything is downloaded anyway.
func (f *fetch) listChanges(ctx context.Context, name string) (map[string]bool, error) {
	key := name + "/modified_id.csv"
	if _, before := f.out.Mirror.Files[name+"/all.zip"]; !before {
		return nil, nil // everything is new
	}
	path := f.localPath(name, "modified_id.csv")
	file, err := f.fetchFile(ctx, request{address: f.mirrorURL(name, "modified_id.csv"), path: path, limit: maxList,
		known: f.out.Mirror.Files[key]})
	switch {
	case errs.Is(err, errs.NotFound), f.requiresProof() && errs.Is(err, errs.Forbidden): // then it is not believed
		return nil, nil
	case errors.Is(err, errUnchanged):
		f.recordFile(key, f.out.Mirror.Files[key])
		return map[string]bool{}, nil
	case err != nil:
		return nil, err
	}
	// The times of all records are read once for all ecosystems, and only when needed.
	if f.modified == nil {
		if f.modified, err = f.known.Modified(); err != nil {
			return nil, err
		}
	}
	changed, err := readChanges(path, f.modified)
	if err = errors.Join(err, os.Remove(path)); errs.Is(err, errs.Invalid) {
		return nil, nil // the zip tells the whole truth
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	// The list is only recorded as known after its records have been fetched: else an interrupted
	// update would skip them for good.
	f.pending = func() { f.recordFile(key, file) }
	return changed, nil
}

// readChanges reads lines such as "2024-08-15T00:05:00.123Z,GHSA-…". A line that
// cannot be read is an Invalid error.
func readChanges(file string, known map[string]int64) (map[string]bool, error) {
	r, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only
	changed := map[string]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		stamp, id, _ := strings.Cut(line, ",")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		// The list of all ecosystems has "npm/GHSA-…", that of one only the identifier.
		id = path.Base(id)
		if err != nil || !recordID.MatchString(id) {
			return nil, errs.E(errs.Invalid, "line %d is no time with a record", n)
		}
		if n > maxChanges {
			return nil, errs.E(errs.TooLarge, "has more than %d lines", maxChanges)
		}
		// Times are compared in milliseconds, the precision of the data file.
		if had, ok := known[id]; !ok || at.UnixMilli() > had {
			changed[id] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "cannot be read")
	}
	return changed, nil
}

// recordID matches what can be the id of a record and the name of its file.
// The identifier becomes a file name, so "/" and a leading "." are not part of it; 150 characters
// are far beyond the longest known one and within the limits of file systems.
var recordID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,149}$`)

// fetchRecords fetches records one by one; NotFound when one of them is not there.
func (f *fetch) fetchRecords(ctx context.Context, name string, ids map[string]bool) error {
	g, ctx := errgroup.WithContext(ctx)
	// The mirror is a public service: the limit bounds the load on it.
	g.SetLimit(parallel)
	dir := f.localPath(name, "records")
	for id := range ids {
		g.Go(func() error {
			_, err := f.fetchFile(ctx, request{address: f.mirrorURL(name, id+".json"),
				path:  filepath.Join(dir, id+".json"),
				limit: maxRecord, alone: true})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	f.out.Sources = append(f.out.Sources, dir)
	return nil
}

// checkZip returns an error for what is no zip.
func checkZip(file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "all.zip is not a zip that can be read")
	}
	return z.Close()
}

// keepRecords leaves only some records in a zip, without unpacking any, and says whether
// it found all of them.
func keepRecords(file string, ids map[string]bool) (all bool, err error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return false, errs.Wrap(errs.Invalid, err, "all.zip is not a zip that can be read")
	}
	defer func() { _ = z.Close() }() // read only
	part := file + ".part"
	out, err := os.Create(part)
	if err != nil {
		return false, err
	}
	n := 0
	w := zip.NewWriter(out)
	for _, entry := range z.File {
		if !ids[strings.TrimSuffix(path.Base(entry.Name), ".json")] {
			continue
		}
		n++
		// Copy takes the compressed bytes over, without inflating them.
		if err := w.Copy(entry); err != nil {
			return false, errors.Join(err, out.Close())
		}
	}
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		return false, err
	}
	// The rename is atomic: an interruption leaves the whole zip or the small one.
	return n >= len(ids), os.Rename(part, file)
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"merlon/internal/archive"
	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// This file brings what is to be scanned onto the disk.

// fetchArchive copies the run's archive into the folder.
func (w *Worker) fetchArchive(ctx context.Context, r *run.Run, dir string) (path string, err error) {
	path = filepath.Join(dir, "archive")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", markRetry(err)
	}
	err = errors.Join(w.Blobs.Download(ctx, r.Archive, f), f.Close())
	switch {
	case errs.Is(err, errs.NotFound):
		return "", run.Fail(run.CodeArchiveGone, "the archive is no longer in storage: start a new scan")
	case err != nil:
		return "", markRetry(fmt.Errorf("fetch the archive: %w", err))
	}
	return path, nil
}

// unpackArchive extracts the archive into the folder, which it makes, and removes it.
func (w *Worker) unpackArchive(ctx context.Context, path, tree string) (archive.Summary, error) {
	var none archive.Summary
	f, err := os.Open(path)
	if err != nil {
		return none, markRetry(err)
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil {
		return none, markRetry(err)
	}
	if err := os.Mkdir(tree, 0o700); err != nil {
		return none, markRetry(err)
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return none, markRetry(err)
	}
	defer func() { _ = root.Close() }() // it was only walked
	summary, err := archive.Extract(ctx, io.NewSectionReader(f, 0, info.Size()), root, w.Budget)
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.TooLarge) {
		return none, run.Fail(run.CodeArchive, "the archive was refused: %s", publicMessage(err))
	}
	if err != nil {
		return none, markRetry(fmt.Errorf("unpack the archive: %w", err))
	}
	if err := os.Remove(path); err != nil {
		return none, markRetry(err)
	}
	return summary, nil
}

// skippedReasons says what of the archive no analyzer will see. A list that was cut
// short gets an entry without a path, because then nothing is sure.
func skippedReasons(s archive.Summary) []scan.Reason {
	out := []scan.Reason{}
	for _, skip := range s.Skipped {
		out = append(out, scan.Reason{Code: "not-extracted", Message: skip.Reason, Path: skip.Path})
	}
	if s.More > 0 {
		out = append(out, scan.Reason{Code: "not-extracted", Message: fmt.Sprintf("%d further entries of the archive "+
			"were not unpacked", s.More)})
	}
	return out
}

// formats are what scan.Language names that nobody writes programs in.
var formats = []string{
	"text", "markdown", "json", "yaml", "toml", "xml", "ini", "properties", "env", "html", "css",
}

// listLanguages lists the programming languages of the tree by the names of its
// files, sorted.
func listLanguages(tree string) ([]string, error) {
	found := []string{}
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		l := scan.Language(filepath.ToSlash(path))
		if !d.IsDir() && !slices.Contains(found, l) && !slices.Contains(formats, l) {
			found = append(found, l)
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// markRetry marks an error that is the worker's own: the run is tried again.
func markRetry(err error) error {
	var known *run.RetryError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG):
		return &run.RetryError{Err: err, Failure: run.Fail(run.CodeDiskFull, "the worker has no room left on its disk")}
	}
	return &run.RetryError{Err: err, Failure: run.Fail(run.CodeUnavailable, "the worker failed; see its log")}
}

// publicMessage is what of an error may be told.
func publicMessage(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "internal error"
}

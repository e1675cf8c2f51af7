package advisory

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file brings the data file from the database to the machine that scans.

// A Snapshot is a data file as the database describes it.
type Snapshot struct {
	Meta
	ID        string
	Previous  string // when it is saved: the ID of the one that it was made from; empty when there was none
	Digest    string
	Size      int64 // bytes
	CreatedAt time.Time
}

// Data is what a scan says of the data that it used.
func (s Snapshot) Data() scan.AdvisoryData { return s.describe(s.Digest) }

// Snapshot describes the data file that the report is about.
func (r *Report) Snapshot(previous string) *Snapshot {
	return &Snapshot{Meta: r.Meta, Previous: previous, Digest: r.Digest, Size: r.Size}
}

// A Source keeps data files.
type Source interface {
	// LatestAdvisories returns the one in force; NotFound when there is none.
	LatestAdvisories(ctx context.Context) (Snapshot, error)
	// CopyAdvisories writes a data file; NotFound when it is there no more.
	CopyAdvisories(ctx context.Context, id string, w io.Writer) error
}

// A Cache holds the data file in force in a folder. It is safe for concurrent
// use, also by several processes.
type Cache struct {
	Dir    string // made when it is missing
	Source Source

	mu sync.Mutex
}

// keptFiles is how many data files stay in the folder: a scan that has been told
// the path of the one before may not have opened it yet.
const keptFiles = 2

// Path returns the path of the data file in force and what it holds; an empty
// path and nil when nothing was imported.
func (c *Cache) Path(ctx context.Context) (string, *scan.AdvisoryData, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for attempt := 1; ; attempt++ {
		s, err := c.Source.LatestAdvisories(ctx)
		if errs.Is(err, errs.NotFound) {
			return "", nil, nil
		}
		if err != nil {
			return "", nil, fmt.Errorf("look for advisories: %w", err)
		}
		path, err := c.fetchFile(ctx, s)
		if errs.Is(err, errs.NotFound) && attempt < 5 {
			continue // newer ones came while this one was copied
		}
		if err != nil {
			return "", nil, fmt.Errorf("copy advisories: %w", err)
		}
		data := s.Data()
		return path, &data, nil
	}
}

// fetchFile returns the path of the snapshot's file, after copying it if need be.
func (c *Cache) fetchFile(ctx context.Context, s Snapshot) (string, error) {
	if b, err := hex.DecodeString(s.Digest); err != nil || len(b) != digestLen {
		return "", fmt.Errorf("snapshot %s has no digest", s.ID)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(c.Dir, "advisories-"+s.Digest+".dat")
	// The digest is in the name and was verified before the rename; it is not computed again.
	if info, err := os.Stat(path); err == nil && info.Size() == s.Size {
		return path, nil
	}
	f, err := os.CreateTemp(c.Dir, ".advisories-*.tmp")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename there is none
	if err := copyVerified(ctx, c.Source, s, f); err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return "", err
	}
	return path, c.removeOld(path)
}

// copyVerified copies a data file and compares its digest.
func copyVerified(ctx context.Context, source Source, s Snapshot, f *os.File) error {
	w := bufio.NewWriterSize(f, 1<<20)
	if err := source.CopyAdvisories(ctx, s.ID, w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.Size < digestLen {
		return damagedError("it is too short")
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, s.Size-digestLen)); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != s.Digest {
		return damagedError("its digest is wrong")
	}
	return nil
}

// removeOld removes all but the newest files; the one at keep stays in any case.
func (c *Cache) removeOld(keep string) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	type aged struct {
		path string
		at   time.Time
	}
	var old []aged
	for _, e := range entries {
		path := filepath.Join(c.Dir, e.Name())
		info, err := e.Info()
		ours := strings.HasPrefix(e.Name(), "advisories-") && strings.HasSuffix(e.Name(), ".dat")
		if err == nil && ours && path != keep {
			old = append(old, aged{path, info.ModTime()})
		}
	}
	slices.SortFunc(old, func(a, b aged) int { return b.at.Compare(a.at) })
	for i := keptFiles - 1; i < len(old); i++ {
		if err := os.Remove(old[i].path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

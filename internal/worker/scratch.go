package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/run"
)

// This file keeps the disk and the blob storage free of what nobody needs.

// A scratch is this process's folder for what is being scanned. Its lock tells
// the others that it is in use, and goes with the process, however it ends.
type scratch struct {
	parent string
	dir    string
	lock   *os.File
}

// lockName is the file in a process's folder that the process holds locked.
const lockName = "lock"

// openScratch makes the folder of this process, and removes those that dead ones
// have left.
func openScratch(parent string) (*scratch, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "worker-")
	if err != nil {
		return nil, err
	}
	// Locked before it gets its name: a lock file that can be locked is of a dead
	// process.
	lock, err := os.OpenFile(filepath.Join(dir, "."+lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	if err == nil {
		err = os.Rename(lock.Name(), filepath.Join(dir, lockName))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s := &scratch{parent: parent, dir: dir, lock: lock}
	return s, s.removeStale()
}

// close removes the folder.
func (s *scratch) close() {
	_ = os.RemoveAll(s.dir) // what stays is removed by the next process
	_ = s.lock.Close()
}

// removeStale removes the folders of processes that are dead.
func (s *scratch) removeStale() error {
	entries, err := os.ReadDir(s.parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(s.parent, e.Name())
		if dir == s.dir {
			continue
		}
		dead, err := isDead(dir)
		if err == nil && dead {
			err = os.RemoveAll(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newborn is how long a folder may be without a lock.
const newborn = time.Minute

// isDead reports whether nobody holds the lock of a process's folder.
func isDead(dir string) (bool, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && time.Since(info.ModTime()) > newborn, err
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = lock.Close() }() // it was only locked
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// newFolder makes the folder for one attempt of one run.
func (s *scratch) newFolder(r *run.Run) (string, error) {
	dir := filepath.Join(s.dir, string(r.ID)+"-"+strconv.Itoa(r.Attempt))
	return dir, os.Mkdir(dir, 0o700)
}

// houseEvery is the time between two rounds.
const houseEvery = 10 * time.Second

// keepHouse tidies now and then until the context ends.
func (w *Worker) keepHouse(ctx context.Context) {
	ticker := time.NewTicker(houseEvery)
	defer ticker.Stop()
	for {
		if err := w.cleanUp(ctx); err != nil && ctx.Err() == nil {
			w.Log.LogAttrs(ctx, slog.LevelWarn, "tidying fails", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// cleanUp is one round. What fails is tried again in the next one.
func (w *Worker) cleanUp(ctx context.Context) error {
	_, expireErr := w.Runs.ExpireRuns(ctx)
	keys, err := w.Runs.Garbage(ctx)
	if err != nil {
		return errors.Join(expireErr, err)
	}
	failed := []error{expireErr}
	for _, key := range keys {
		if err := w.Blobs.Delete(ctx, key); err != nil {
			failed = append(failed, fmt.Errorf("delete an upload: %w", err))
			continue
		}
		failed = append(failed, w.Runs.ForgetUpload(ctx, key))
	}
	return errors.Join(append(failed, w.scratch.removeStale())...)
}

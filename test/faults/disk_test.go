package faults

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/run"
)

// disk mounts a file system of so many bytes, which only root can; what it
// returns makes it larger.
func disk(t *testing.T, dir string, size int) (grow func(size int)) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	option := func(n int) string { return fmt.Sprintf("size=%d,mode=0700", n) }
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, option(size)); err != nil {
		t.Skipf("a small disk needs root's right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return func(n int) {
		t.Helper()
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, option(n)); err != nil {
			t.Fatalf("make the disk larger: %v", err)
		}
	}
}

// padded returns an archive with one credential and so many random bytes, which
// do not become smaller.
func padded(t *testing.T, size int) []byte {
	t.Helper()
	noise := make([]byte, size)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	return zipOf(t, []entry{{name: "config.py", content: credential}, {name: "noise.bin", content: string(noise)}})
}

func TestWorkersDiskIsFull(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		grow := disk(t, s.place.Scratch, 1<<20)
		s.worker()
		id := s.scan(s.sc, "main", padded(t, 4<<20))
		r := s.await(s.sc, id, "was put back", func(r run.Run) bool {
			return r.State == run.Queued && r.Failure != nil
		})
		if r.Failure.Code != run.CodeDiskFull {
			t.Errorf("put back with %+v", r.Failure)
		}
		if n := s.count("SELECT COUNT(*) FROM finding WHERE project_id = ?", s.sc.Project); n != 0 {
			t.Errorf("%d findings of a scan that never was", n)
		}
		grow(64 << 20)
		if r := s.completed(s.sc, id); r.Outcome.Changes.New != 1 || r.Attempt < 2 {
			t.Errorf("ended at attempt %d with %+v", r.Attempt, r.Outcome.Changes)
		}
		s.scratchIsEmpty()
	})
}

func TestStorageIsFull(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		grow := disk(t, filepath.Join(s.dir, "blobs"), 1<<20)
		archive := padded(t, 4<<20)
		id, url := s.start(s.sc, "main")
		if status := s.put(url, bytes.NewReader(archive)); status != http.StatusServiceUnavailable {
			t.Errorf("an upload into full storage: status %d, want 503", status)
		}
		s.noBlobs()
		if r := s.run(s.sc, id); r.State != run.Queued || r.Uploaded {
			t.Errorf("the run is %+v", r)
		}
		// There is room again: the same address takes the upload.
		grow(64 << 20)
		if status := s.put(url, bytes.NewReader(archive)); status != http.StatusOK {
			t.Fatalf("again: status %d", status)
		}
		s.worker()
		s.completed(s.sc, id)
		s.noBlobs()
	})
}

// Only the embedded database shares the disk with its worker; a full disk of
// PostgreSQL's machine looks like a database that is away.
func TestDatabasesDiskIsFull(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	at := filepath.Join(dir, "db")
	resize := disk(t, at, 256<<20)
	s := newSite(t, dir, place{SQLite: filepath.Join(at, "merlon.db")}, time.Now)
	archive := secrets(t, 3000, 0)
	s.worker()
	id := s.scan(s.sc, "main", archive)
	var disk unix.Statfs_t
	s.must(unix.Statfs(at, &disk))
	used := int(disk.Blocks-disk.Bfree) * int(disk.Bsize)
	resize(used + 1<<20)
	s.await(s.sc, id, "filled the disk", func(run.Run) bool {
		s.must(unix.Statfs(at, &disk))
		return disk.Bfree == 0
	})
	if r := s.run(s.sc, id); r.State.Final() {
		t.Fatalf("the run ended on a full disk: %+v", r)
	}
	resize(256 << 20)
	r := s.completed(s.sc, id)
	s.sameAsUndisturbed(r, archive)
}

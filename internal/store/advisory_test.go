package store_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/advisory"
	"merlon/internal/errs"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// snapshot is a data file of the size and its description.
func snapshot(t *testing.T, size int, previous string) (*advisory.Snapshot, []byte) {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return &advisory.Snapshot{
		Meta: advisory.Meta{
			Imported: storetest.Start, Newest: storetest.Start.Add(-time.Hour), Records: 3,
			Ecosystems: map[string]advisory.Count{"npm": {Records: 3, Packages: 2}}, Unreadable: []string{"X.json"},
		},
		Previous: previous, Digest: strings.Repeat("ab", 32), Size: int64(size),
	}, data
}

func TestAdvisories(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		if _, err := db.LatestAdvisories(t.Context()); !errs.Is(err, errs.NotFound) {
			t.Fatalf("before any import: got %v, want NotFound", err)
		}
		previous := ""
		var all []*advisory.Snapshot
		for i, size := range []int{0, 10, 1 << 20, 9<<20 + 5} {
			s, data := snapshot(t, size, previous)
			if err := db.SaveAdvisories(t.Context(), s, bytes.NewReader(data)); err != nil {
				t.Fatalf("save %d: %v", i, err)
			}
			previous = s.ID
			all = append(all, s)
			got, err := db.LatestAdvisories(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := *s
			want.Previous = ""
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("latest (-want +got):\n%s", diff)
			}
			var back bytes.Buffer
			if err := db.CopyAdvisories(t.Context(), s.ID, &back); err != nil || !bytes.Equal(back.Bytes(), data) {
				t.Fatalf("copy %d: %d bytes, %v; want the %d that were saved", i, back.Len(), err, size)
			}
			clock.Advance(time.Minute)
		}
		for i, s := range all {
			err := db.CopyAdvisories(t.Context(), s.ID, &bytes.Buffer{})
			if kept := i >= len(all)-2; kept != (err == nil) || err != nil && !errs.Is(err, errs.NotFound) {
				t.Errorf("snapshot %d: got %v, want it kept: %t", i, err, kept)
			}
		}
	})
}

func TestSaveAdvisoriesConflict(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		first, data := snapshot(t, 10, "")
		if err := db.SaveAdvisories(t.Context(), first, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		second, data := snapshot(t, 10, "")
		if err := db.SaveAdvisories(t.Context(), second, bytes.NewReader(data)); !errs.Is(err, errs.Conflict) {
			t.Errorf("an import that did not see the one before: got %v, want Conflict", err)
		}
		if got, err := db.LatestAdvisories(t.Context()); err != nil || got.ID != first.ID {
			t.Errorf("in force: got %s, %v; want %s", got.ID, err, first.ID)
		}
	})
}

// TestSaveAdvisoriesInterrupted leaves nothing of a file that ends too early.
func TestSaveAdvisoriesInterrupted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		s, data := snapshot(t, 10<<20, "")
		if err := db.SaveAdvisories(t.Context(), s, bytes.NewReader(data[:9<<20])); err == nil {
			t.Error("half a file was saved")
		}
		var left int
		if err := db.QueryRow(t.Context(), "SELECT COUNT(*) FROM advisory_chunk").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d chunks are left, %v; want none", left, err)
		}
	})
}

// TestAdvisoryCache builds a data file, sends it through the database and opens
// what comes out.
func TestAdvisoryCache(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		cache := &advisory.Cache{Dir: filepath.Join(t.TempDir(), "cache"), Source: db}
		if path, data, err := cache.Path(t.Context()); path != "" || data != nil || err != nil {
			t.Fatalf("before any import: got %q, %v, %v; want nothing", path, data, err)
		}
		previous, last := "", ""
		for _, id := range []string{"X-1", "X-2", "X-3"} {
			s := importRecord(t, db, id, last, previous)
			path, data, err := cache.Path(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.Data(), *data); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if again, _, err := cache.Path(t.Context()); again != path || err != nil {
				t.Errorf("again: got %q, %v; want %q", again, err, path)
			}
			f, err := advisory.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Data(); got.Digest != s.Digest {
				t.Errorf("opened %s, want %s", got.Digest, s.Digest)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			previous, last = s.ID, path
		}
		entries, err := os.ReadDir(cache.Dir)
		if err != nil || len(entries) != 2 {
			t.Errorf("the folder holds %d files, %v; want 2", len(entries), err)
		}
		if _, err := db.Write.ExecContext(t.Context(), "UPDATE advisory_snapshot SET "+
			"digest = '"+strings.Repeat("00", 32)+"'"); err != nil {
			t.Fatal(err)
		}
		if path, _, err := cache.Path(t.Context()); err == nil {
			t.Errorf("a file with another digest was accepted as %s", path)
		}
	})
}

// importRecord adds a record to the snapshot whose file is last.
func importRecord(t *testing.T, db *store.DB, id, last, previous string) *advisory.Snapshot {
	t.Helper()
	dir := t.TempDir()
	record := `{"id":"` + id +
		`","modified":"2024-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"npm","name":"x"},"versions":["1.0.0"]}]}`
	source, out := filepath.Join(dir, id+".json"), filepath.Join(dir, "out")
	if err := os.WriteFile(source, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := advisory.Build(t.Context(), advisory.BuildOptions{Sources: []string{source}, Previous: last,
		Output: out, Now: storetest.Start})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	s := report.Snapshot(previous)
	if err := errors.Join(db.SaveAdvisories(t.Context(), s, f), f.Close()); err != nil {
		t.Fatal(err)
	}
	return s
}

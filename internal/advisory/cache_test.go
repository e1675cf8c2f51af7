package advisory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"merlon/internal/errs"
)

// fakeSource keeps data files in memory; only those in files can be copied.
type fakeSource struct {
	mu     sync.Mutex
	latest []Snapshot // one answer after the other; the last one stays
	files  map[string][]byte
	copies int
	err    error
}

func (s *fakeSource) LatestAdvisories(context.Context) (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return Snapshot{}, s.err
	}
	now := s.latest[0]
	if len(s.latest) > 1 {
		s.latest = s.latest[1:]
	}
	return now, nil
}

func (s *fakeSource) CopyAdvisories(_ context.Context, id string, w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copies++
	data, ok := s.files[id]
	if !ok {
		return errs.E(errs.NotFound, "vulnerability data not found")
	}
	_, err := w.Write(data)
	return err
}

// dataFile builds a data file and describes it.
func dataFile(t *testing.T, id string) (Snapshot, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	report := rebuild(t, path, "", map[string]string{id + ".json": one(id, "npm", "x", `"versions":["1.0.0"]`)})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := *report.Snapshot("")
	s.ID = id
	return s, data
}

func TestCacheCopiesOnce(t *testing.T) {
	s, data := dataFile(t, "X-1")
	source := &fakeSource{latest: []Snapshot{s}, files: map[string][]byte{"X-1": data}}
	c := &Cache{Dir: t.TempDir(), Source: source}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			path, got, err := c.Path(t.Context())
			if err != nil || got.Digest != s.Digest {
				t.Errorf("got %v, %v", got, err)
				return
			}
			if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, data) {
				t.Errorf("the file has %d bytes, %v; want %d", len(b), err, len(data))
			}
		})
	}
	all.Wait()
	if source.copies != 1 {
		t.Errorf("copied %d times, want once", source.copies)
	}
}

// TestCacheFollowsAnImport loses a snapshot between the question and the copy.
func TestCacheFollowsAnImport(t *testing.T) {
	gone, _ := dataFile(t, "X-1")
	s, data := dataFile(t, "X-2")
	c := &Cache{Dir: t.TempDir(), Source: &fakeSource{latest: []Snapshot{gone, s},
		files: map[string][]byte{"X-2": data}}}
	if path, got, err := c.Path(t.Context()); err != nil || got.Digest != s.Digest ||
		!strings.Contains(path, s.Digest) {
		t.Errorf("got %s, %v, %v; want the newer one", path, got, err)
	}
}

func TestCacheRefuses(t *testing.T) {
	s, data := dataFile(t, "X-1")
	changed := bytes.Clone(data)
	changed[len(changed)/2] ^= 1
	other := s
	other.Digest = "../../../etc/passwd"
	for name, source := range map[string]*fakeSource{
		"a changed file":   {latest: []Snapshot{s}, files: map[string][]byte{"X-1": changed}},
		"half a file":      {latest: []Snapshot{s}, files: map[string][]byte{"X-1": data[:len(data)/2]}},
		"a strange digest": {latest: []Snapshot{other}, files: map[string][]byte{"X-1": data}},
		"no file at all":   {latest: []Snapshot{s}},
		"a failed source":  {err: errors.New("away")},
	} {
		c := &Cache{Dir: t.TempDir(), Source: source}
		if path, _, err := c.Path(t.Context()); err == nil {
			t.Errorf("%s: accepted as %s", name, path)
		}
		if entries, err := os.ReadDir(c.Dir); err != nil || len(entries) != 0 {
			t.Errorf("%s: left %v, %v", name, entries, err)
		}
	}
}

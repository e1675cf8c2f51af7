package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// left returns a saved cache with one entry.
func left(t *testing.T, folder string, version Key) (*Cache, Key) {
	t.Helper()
	c := Open(folder, "tree", version)
	k := NewKey([]byte("a"))
	c.Put(k, []byte("body"))
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	return c, k
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	version := NewKey([]byte("1"))
	_, k := left(t, folder, version)
	again := Open(folder, "tree", version)
	if got := again.Get(k); string(got) != "body" {
		t.Fatalf("got %q, want the body", got)
	}
	if err := again.Save(); err != nil {
		t.Fatal(err)
	}
	unused := Open(folder, "tree", version)
	if err := unused.Save(); err != nil {
		t.Fatal(err)
	}
	if got := Open(folder, "tree", version).Get(k); got != nil {
		t.Errorf("got %q, want nothing: the scan before did not use it", got)
	}
}

func TestCacheIsOneTreesAndVersions(t *testing.T) {
	folder := t.TempDir()
	version := NewKey([]byte("1"))
	_, k := left(t, folder, version)
	if got := Open(folder, "other", version).Get(k); got != nil {
		t.Errorf("another tree got %q", got)
	}
	if got := Open(folder, "tree", NewKey([]byte("2"))).Get(k); got != nil {
		t.Errorf("another version got %q", got)
	}
}

func TestCacheDamaged(t *testing.T) {
	folder := t.TempDir()
	version := NewKey([]byte("1"))
	c, k := left(t, folder, version)
	whole, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for _, text := range [][]byte{whole[:i], flipped(whole, i)} {
			if err := os.WriteFile(c.path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Open(folder, "tree", version).Get(k); got != nil {
				t.Fatalf("at byte %d of %d: got %q, want nothing", i, len(whole), got)
			}
		}
	}
}

func flipped(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 4
	return b
}

func TestCacheWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := Open(filepath.Join(file, "folder"), "tree", Key{})
	c.Put(Key{1}, []byte("body"))
	if err := c.Save(); err == nil {
		t.Error("no error")
	}
}

func TestNilCache(t *testing.T) {
	var c *Cache
	c.Put(Key{}, []byte("body"))
	c.Drop(Key{})
	if got := c.Get(Key{}); got != nil || c.Save() != nil {
		t.Errorf("got %q from no cache", got)
	}
}

func TestDrop(t *testing.T) {
	folder := t.TempDir()
	_, k := left(t, folder, Key{})
	c := Open(folder, "tree", Key{})
	c.Get(k)
	c.Drop(k)
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	if got := Open(folder, "tree", Key{}).Get(k); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestClean(t *testing.T) {
	folder := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"new.cache": time.Hour, "old.cache": MaxAge + time.Hour,
		".cache-1.tmp": time.Minute, ".cache-2.tmp": 2 * time.Hour, "mine.txt": 2 * MaxAge} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cleanFolder(folder, now); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"new.cache": true, "old.cache": false, ".cache-1.tmp": true,
		".cache-2.tmp": false, "mine.txt": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s: it is there is %v, want %v", name, err == nil, want)
		}
	}
}

func TestNewKeyTellsPartsApart(t *testing.T) {
	if NewKey([]byte("ab"), []byte("c")) == NewKey([]byte("a"), []byte("bc")) {
		t.Error("the keys are equal")
	}
}

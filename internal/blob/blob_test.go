package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

// each runs a test on a store in files and on one that speaks S3.
func each(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	t.Run("file", func(t *testing.T) { test(t, open(t, "file://"+filepath.Join(t.TempDir(), "blobs"))) })
	t.Run("s3", func(t *testing.T) { test(t, open(t, fakeS3(t))) })
}

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func keys(t *testing.T, s *Store, prefix string) []string {
	t.Helper()
	keys := []string{}
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

func TestPutAndGet(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		for name, content := range map[string]string{"empty": "", "small": "hello",
			"large": strings.Repeat("0123456789", 2_000_000)} {
			key := "archive/" + name
			size, sum, err := s.Put(t.Context(), key, strings.NewReader(content), 20_000_000)
			want := sha256.Sum256([]byte(content))
			if err != nil || size != int64(len(content)) || sum != hex.EncodeToString(want[:]) {
				t.Errorf("Put(%s) = %d, %s, %v", name, size, sum, err)
			}
			var got bytes.Buffer
			if err := s.Download(t.Context(), key, &got); err != nil || got.String() != content {
				t.Errorf("Download(%s) = %d bytes, %v", name, got.Len(), err)
			}
		}
		if diff := cmp.Diff([]string{"archive/empty", "archive/large", "archive/small"},
			keys(t, s, "archive/")); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{}, keys(t, s, "other/")); diff != "" {
			t.Errorf("keys of another prefix (-want +got):\n%s", diff)
		}
		if err := s.Delete(t.Context(), "archive/large"); err != nil {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), "archive/large"); !errs.Is(err, errs.NotFound) {
			t.Errorf("Get after Delete = %v", err)
		}
	})
}

func TestPutReplaces(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		for _, content := range []string{"first", "second"} {
			if _, _, err := s.Put(t.Context(), "key", strings.NewReader(content), 100); err != nil {
				t.Fatal(err)
			}
		}
		var got bytes.Buffer
		if err := s.Download(t.Context(), "key", &got); err != nil || got.String() != "second" {
			t.Errorf("Download = %q, %v", got.String(), err)
		}
	})
}

// TestFailedPut makes uploads fail in every way and looks for what is left.
func TestFailedPut(t *testing.T) {
	cut := errors.New("the connection was cut")
	content := strings.Repeat("x", 20<<20) // more than one part of S3
	each(t, func(t *testing.T, s *Store) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, test := range map[string]struct {
			ctx  context.Context
			r    io.Reader
			max  int64
			want func(error) bool
		}{
			"too large": {t.Context(), strings.NewReader(content), 20<<20 - 1, func(err error) bool {
				return errs.Is(err, errs.TooLarge)
			}},
			"small too large": {t.Context(), strings.NewReader("12"), 1, func(err error) bool {
				return errs.Is(err, errs.TooLarge)
			}},
			"cut": {t.Context(), io.MultiReader(strings.NewReader(content[:15<<20]), iotest.ErrReader(cut)),
				1 << 30, func(err error) bool { return errors.Is(err, cut) }},
			// The error that ends a body too early is one that storages know as an end.
			"cut body": {t.Context(), io.MultiReader(strings.NewReader(content[:15<<20]),
				iotest.ErrReader(io.ErrUnexpectedEOF)), 1 << 30, func(err error) bool {
				return errors.Is(err, io.ErrUnexpectedEOF)
			}},
			"small cut body": {t.Context(), io.MultiReader(strings.NewReader("12"),
				iotest.ErrReader(io.ErrUnexpectedEOF)), 1 << 30, func(err error) bool {
				return errors.Is(err, io.ErrUnexpectedEOF)
			}},
			"cut at once": {t.Context(), iotest.ErrReader(cut), 1 << 30, func(err error) bool {
				return errors.Is(err, cut)
			}},
			"cancelled": {ended, strings.NewReader(content), 1 << 30, func(err error) bool {
				return errors.Is(err, context.Canceled)
			}},
		} {
			t.Run(name, func(t *testing.T) {
				size, sum, err := s.Put(test.ctx, "archive/a", test.r, test.max)
				if !test.want(err) || size != 0 || sum != "" {
					t.Errorf("Put = %d, %q, %v", size, sum, err)
				}
				if diff := cmp.Diff([]string{}, keys(t, s, "")); diff != "" {
					t.Errorf("left behind (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestFailedPutKeepsOld(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		if _, _, err := s.Put(t.Context(), "key", strings.NewReader("old"), 100); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Put(t.Context(), "key", strings.NewReader("much too large"), 5); !errs.Is(err,
			errs.TooLarge) {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := s.Download(t.Context(), "key", &got); err != nil || got.String() != "old" {
			t.Errorf("Download = %q, %v", got.String(), err)
		}
	})
}

func TestMissing(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		if _, err := s.Get(t.Context(), "none"); !errs.Is(err, errs.NotFound) {
			t.Errorf("Get = %v", err)
		}
		if err := s.Download(t.Context(), "none", io.Discard); !errs.Is(err, errs.NotFound) {
			t.Errorf("Download = %v", err)
		}
		if err := s.Delete(t.Context(), "none"); err != nil {
			t.Errorf("Delete = %v", err)
		}
	})
}

func TestIdentity(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		if id, err := s.Identity(t.Context()); !errs.Is(err, errs.NotFound) {
			t.Errorf("Identity of a new store = %q, %v", id, err)
		}
		first, err := s.Init(t.Context())
		if err != nil || len(first) < 20 {
			t.Fatalf("Init = %q, %v", first, err)
		}
		if second, err := s.Init(t.Context()); err != nil || second != first {
			t.Errorf("Init again = %q, %v; want %q", second, err, first)
		}
		if id, err := s.Identity(t.Context()); err != nil || id != first {
			t.Errorf("Identity = %q, %v; want %q", id, err, first)
		}
		if diff := cmp.Diff([]string{}, keys(t, s, "")); diff != "" {
			t.Errorf("the identity is listed (-want +got):\n%s", diff)
		}
	})
}

// TestListIsInOrder lists by key: folders of a file system sort otherwise.
func TestListIsInOrder(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		want := []string{"a-b", "a.b", "a/b", "a/c/d", "a0", "ab/c"}
		for _, key := range want {
			if _, _, err := s.Put(t.Context(), key, strings.NewReader("12345"), 9); err != nil {
				t.Fatal(err)
			}
		}
		for prefix, want := range map[string][]string{"": want, "a/": {"a/b", "a/c/d"}, "a/c": {"a/c/d"}, "ab": {"ab/c"},
			"a/b/": {}} {
			if diff := cmp.Diff(want, keys(t, s, prefix)); diff != "" {
				t.Errorf("keys of %q (-want +got):\n%s", prefix, diff)
			}
		}
		for o, err := range s.List(t.Context(), "") {
			if err != nil || o.Size != 5 || o.Modified.IsZero() {
				t.Errorf("%+v, %v", o, err)
			}
			break // a caller may stop
		}
	})
}

// TestFolderOfKeysIsNoObject asks for the beginning of a key.
func TestFolderOfKeysIsNoObject(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		if _, _, err := s.Put(t.Context(), "a/b", strings.NewReader("x"), 9); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), "a"); !errs.Is(err, errs.NotFound) {
			t.Errorf("Get = %v", err)
		}
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Errorf("Delete = %v", err)
		}
		if diff := cmp.Diff([]string{"a/b"}, keys(t, s, "")); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	})
}

// TestOnlyOneIdentity has servers give a new store its identity at the same time.
func TestOnlyOneIdentity(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		const servers = 8
		ids := make(chan string, servers)
		for range servers {
			go func() {
				id, err := s.Init(context.Background())
				if err != nil {
					id = err.Error()
				}
				ids <- id
			}()
		}
		first := <-ids
		for range servers - 1 {
			if id := <-ids; id != first {
				t.Errorf("identities %q and %q", first, id)
			}
		}
	})
}

func TestKeys(t *testing.T) {
	s := open(t, "file://"+t.TempDir())
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", "a/.b", "a\\b", "a b", "ä",
		strings.Repeat("k", 513)} {
		if _, _, err := s.Put(t.Context(), key, strings.NewReader("x"), 9); err == nil {
			t.Errorf("Put(%q) was taken", key)
		}
		if _, err := s.Get(t.Context(), key); err == nil || errs.Is(err, errs.NotFound) {
			t.Errorf("Get(%q) = %v", key, err)
		}
		if err := s.Delete(t.Context(), key); err == nil {
			t.Errorf("Delete(%q) was taken", key)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "blobs", "file://relative/folder", "file:blobs", "mem://", "gs://bucket", "::",
		"s3://", "s3://bucket/folder", "s3://bucket?regoin=eu-1", "s3://bucket?endpoint=minio:9000",
		"s3://bucket?endpoint=https://minio/path", "s3://bucket?use_path_style=perhaps", "s3://bucket?ssetype=ROT13",
		"file://" + file} {
		if s, err := Open(t.Context(), url); err == nil {
			t.Errorf("Open(%q) = %v", url, s)
		}
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	open(t, "file://"+dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

// TestMemory puts 512 MiB and looks at the heap.
func TestMemory(t *testing.T) {
	s := open(t, "file://"+t.TempDir())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const size = 512 << 20
	if _, _, err := s.Put(t.Context(), "large", io.LimitReader(zeros{}, size), size); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

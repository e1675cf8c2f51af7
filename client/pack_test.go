package client

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.go": "package a", "sub/b": "b", ".hidden/c": "c", ".git/config": "token", "sub/.git/HEAD": "ref",
		"empty": "", "ü": "u",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "a.go", "out": "/etc/passwd", "dir": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if f.Method != zip.Deflate || f.Flags&8 == 0 {
			t.Errorf("%s: method %d, flags %x", f.Name, f.Method, f.Flags)
		}
		files[f.Name] = string(b)
	}
	return files
}

func TestPack(t *testing.T) {
	dir := folder(t)
	want := map[string]string{"a.go": "package a", "sub/b": "b", ".hidden/c": "c", "empty": "", "ü": "u"}
	var buf bytes.Buffer
	seen := map[string]int64{}
	got, err := Pack(t.Context(), &buf, dir, Packing{Packed: func(path string, size int64) { seen[path] = size }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Packed{Files: 5, Bytes: 12}, got); diff != "" {
		t.Errorf("packed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, unpack(t, buf.Bytes())); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(seen) != 5 || seen["a.go"] != 9 {
		t.Errorf("told of %v", seen)
	}
	buf.Reset()
	if _, err := Pack(t.Context(), &buf, dir, Packing{Git: true}); err != nil {
		t.Fatal(err)
	}
	want[".git/config"], want["sub/.git/HEAD"] = "token", "ref"
	if diff := cmp.Diff(want, unpack(t, buf.Bytes())); diff != "" {
		t.Errorf("files with .git (-want +got):\n%s", diff)
	}
}

func TestPackTellsOfWhatCannotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := folder(t)
	for _, name := range []string{"a.go", "sub"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Pack(t.Context(), io.Discard, dir, Packing{})
	if err := os.Chmod(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err != nil || len(got.Skipped) != 2 || got.Files != 3 {
		t.Errorf("Pack = %+v, %v", got, err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestPackFails(t *testing.T) {
	if _, err := Pack(t.Context(), io.Discard, filepath.Join(t.TempDir(), "none"), Packing{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("of no folder: %v", err)
	}
	if _, err := Pack(t.Context(), full{}, folder(t), Packing{}); err == nil || err.Error() != "no room" {
		t.Errorf("without room: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Pack(ctx, io.Discard, folder(t), Packing{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

package scan

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// openRepository returns the repository of a tree with the files below .git.
func openRepository(t *testing.T, files map[string]string) (string, Repository) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, ".git", name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := openTree(t.Context(), dir, Limits{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.close)
	repositories := tr.listRepositories()
	if len(repositories) != 1 || repositories[0].Path != "." {
		t.Fatalf("got the repositories %+v", repositories)
	}
	return dir, repositories[0]
}

func TestRepository(t *testing.T) {
	_, r := openRepository(t, map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "0", "config": ""})
	f, err := r.FS.Open("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if b, err := io.ReadAll(f); err != nil || string(b) != "ref: refs/heads/main\n" {
		t.Errorf("HEAD: got %q, %v", b, err)
	}
	list, err := fs.ReadDir(r.FS, ".")
	if err != nil || len(list) != 3 || list[0].Name() != "HEAD" || list[2].Name() != "refs" {
		t.Errorf("entries: got %v, %v", list, err)
	}
	if info, err := fs.Stat(r.FS, "refs/heads"); err != nil || !info.IsDir() {
		t.Errorf("a folder: %v", err)
	}
}

// A repository is untrusted: neither a link nor a path leads out of the tree, and a named pipe
// does not block the scan.
func TestRepositoryIsConfined(t *testing.T) {
	dir, r := openRepository(t, map[string]string{"HEAD": "x"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, ".git", "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".git", "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "pipe", "../x", "/etc/passwd", "none"} {
		if f, err := r.FS.Open(name); err == nil {
			t.Errorf("%s is opened", name)
			_ = f.Close()
		}
	}
	if _, err := fs.Stat(r.FS, "../x"); err == nil {
		t.Error("a path outside has a status")
	}
	if _, err := fs.ReadDir(r.FS, "none"); err == nil {
		t.Error("a folder that does not exist is listed")
	}
}

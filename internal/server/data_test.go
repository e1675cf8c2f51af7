package server

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
)

// TestDataFolderIsPrivate looks at the modes of what a deployment makes, and opens it again
// with each of its files and folders open to others.
func TestDataFolderIsPrivate(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	d, err := openDeployment(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.closeAll(slog.New(slog.DiscardHandler))
	if _, _, err := d.blobs.Put(t.Context(), "a/b", strings.NewReader("x"), 10); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path("credentials.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	err = filepath.WalkDir(c.Data, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		found[filepath.Base(path)] = true
		for _, more := range []fs.FileMode{0o040, 0o004, 0o001} {
			checkOpen(t, c, path, info.Mode().Perm(), more)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data", "merlon.db", "merlon.db-wal", "merlon.db-shm", "master.key", "blobs", "a",
		"b", "credentials.json"} {
		if !found[name] {
			t.Errorf("there is no %s", name)
		}
	}
	if err := checkData(c); err != nil {
		t.Errorf("in the end: %v", err)
	}
}

// checkOpen gives others rights to a file for the time of a check.
func checkOpen(t *testing.T, c config.Store, path string, mode, more fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode|more); err != nil {
		t.Fatal(err)
	}
	err := checkData(c)
	if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), path+" has mode") ||
		!strings.Contains(err.Error(), "chmod -R u=rwX,go= ") {
		t.Errorf("%s with mode %v: %v", path, mode|more, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestDataFolderThatIsThere closes an empty folder and refuses one with something in it.
func TestDataFolderThatIsThere(t *testing.T) {
	dir := t.TempDir()
	c := config.Store{Data: filepath.Join(dir, "data"), Region: "test"}
	if err := os.Mkdir(c.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := OpenStore(t.Context(), c)
	if err != nil {
		t.Fatalf("an empty folder: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(c.Data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(c.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]func() error{
		"server":    func() error { _, err := openDeployment(t.Context(), c); return err },
		"worker":    func() error { _, err := openWorker(t.Context(), c); return err },
		"bootstrap": func() error { _, err := (Bootstrap{Email: "a@example.com"}).Run(t.Context(), c); return err },
	} {
		if err := start(); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "chmod") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlainDatabase refuses a database on another host whose connection could go without
// TLS, unless the setting says otherwise.
func TestPlainDatabase(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test",
		DatabaseURL: "postgres://u:hidden@192.0.2.1:1/x?connect_timeout=1"}
	if _, err := OpenStore(t.Context(), c); !errs.Is(err, errs.Invalid) ||
		!strings.Contains(err.Error(), "database-plaintext") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("without the setting: %v", err)
	}
}

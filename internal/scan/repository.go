package scan

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// This file provides the .git folders of the tree as file systems.

// listRepositories returns the repositories of the tree. A file .git, as linked work trees have
// it, counts only at the root: the repositories of submodules are in the root's .git folder.
func (t *tree) listRepositories() []Repository {
	var out []Repository
	for _, at := range t.repos {
		out = append(out, Repository{Path: at, FS: gitFS{t.root, path.Join(at, ".git")}})
	}
	if t.dir != "" && slices.ContainsFunc(t.files, func(f File) bool { return f.Path == ".git" }) {
		out = append(out, Repository{Path: "."})
	}
	return out
}

// gitFS is a folder .git. It implements fs.ReadDirFS and fs.StatFS.
type gitFS struct {
	root *os.Root
	dir  string
}

// Open opens a regular file or a folder. O_NONBLOCK prevents that a named pipe in an untrusted
// tree blocks the scan.
func (g gitFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := g.root.OpenFile(filepath.FromSlash(path.Join(g.dir, name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		_ = f.Close() // the first error is reported
		return nil, err
	}
	return f, nil
}

// ReadDir returns the entries of a folder, sorted by name.
func (g gitFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := g.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read from
	list, err := f.(*os.File).ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
	return list, err
}

// Stat describes a file or folder.
func (g gitFS) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return g.root.Stat(filepath.FromSlash(path.Join(g.dir, name)))
}

package scan

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// This file provides the tree to project analyzers as a file system of exactly the listed files
// and their parent folders.

// treeFS implements fs.ReadDirFS, fs.ReadFileFS and fs.StatFS.
type treeFS struct {
	*tree
	limit int64
}

// Open opens a listed file or a folder.
func (t treeFS) Open(name string) (fs.File, error) {
	e, err := t.findEntry("open", name)
	switch {
	case err != nil && t.isLarge(name):
	case err != nil:
		return nil, err
	case e.IsDir():
		return &openDir{entry: e, rest: t.entries[name]}, nil
	}
	f, err := t.openFile(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// isLarge reports whether the file can only be streamed.
func (t *tree) isLarge(name string) bool {
	return slices.ContainsFunc(t.large, func(f File) bool { return f.Path == name })
}

// ReadFile returns the content of a listed file.
func (t treeFS) ReadFile(name string) ([]byte, error) {
	e, err := t.findEntry("readfile", name)
	if err == nil && e.IsDir() {
		err = &fs.PathError{Op: "readfile", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return t.readFile(name, t.limit)
}

// ReadDir returns the entries of a folder, sorted by name.
func (t treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.findEntry("readdir", name)
	if err == nil && !e.IsDir() {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return append([]fs.DirEntry(nil), t.entries[name]...), nil
}

// Stat describes a listed file or a folder.
func (t treeFS) Stat(name string) (fs.FileInfo, error) {
	e, err := t.findEntry("stat", name)
	if err != nil {
		return nil, err
	}
	return e.Info()
}

// findEntry returns the entry of a path.
func (t treeFS) findEntry(op, name string) (entry, error) {
	if !fs.ValidPath(name) {
		return entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	t.index.Do(t.buildIndex)
	if _, ok := t.entries[name]; ok {
		return entry{tree: t.tree, path: name, dir: true}, nil
	}
	list := t.entries[path.Dir(name)]
	if i, ok := slices.BinarySearchFunc(list, path.Base(name), func(e fs.DirEntry, name string) int {
		return strings.Compare(e.Name(), name)
	}); ok {
		return list[i].(entry), nil
	}
	return entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// buildIndex builds the table of folders. It runs once, at the first access: many scans have no
// project analyzer that uses the file system.
func (t *tree) buildIndex() {
	t.entries = map[string][]fs.DirEntry{".": nil}
	var add func(e entry)
	add = func(e entry) {
		parent := path.Dir(e.path)
		if _, ok := t.entries[parent]; !ok {
			add(entry{tree: t, path: parent, dir: true})
		}
		t.entries[parent] = append(t.entries[parent], e)
		if e.dir {
			t.entries[e.path] = nil
		}
	}
	for _, f := range t.files {
		add(entry{tree: t, path: f.Path})
	}
	for _, list := range t.entries {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
}

// entry is a file or folder of the tree.
type entry struct {
	tree *tree
	path string
	dir  bool
}

func (e entry) Name() string { return path.Base(e.path) }
func (e entry) IsDir() bool  { return e.dir }

// Type returns the type bits.
func (e entry) Type() fs.FileMode {
	if e.dir {
		return fs.ModeDir
	}
	return 0
}

// Info returns the metadata from the host.
func (e entry) Info() (fs.FileInfo, error) { return e.tree.root.Lstat(e.path) }

// openDir is an open folder.
type openDir struct {
	entry
	rest []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.Info() }
func (d *openDir) Close() error               { return nil }

// Read fails: a folder has no content.
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries, or all remaining ones when n is not positive.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	out := append([]fs.DirEntry(nil), d.rest[:n]...)
	d.rest = d.rest[n:]
	return out, nil
}

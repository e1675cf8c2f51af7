package blob

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A folder is a bucket in files below a path: the key is the path.
type folder struct{ dir string }

// openFolder opens the folder, and makes it, private, when there is none.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	return &folder{dir}, nil
}

// path returns the file of a key.
func (f *folder) path(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

// write writes a temporary file and renames it, so that readers see all of it or nothing.
// The temporary file is beside the other, for a rename does not cross file systems. One
// that a crash leaves is an object that nobody refers to.
func (f *folder) write(ctx context.Context, key string, r io.Reader, onlyNew bool) (err error) {
	path := f.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "fileblob")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name()) // the first error tells more
		}
	}()
	_, err = io.Copy(temporary, &cancellable{ctx, r})
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if onlyNew { // a link fails where the name is taken
		if err = os.Link(temporary.Name(), path); errors.Is(err, fs.ErrExist) {
			return errExists
		}
		err = cmp.Or(err, os.Remove(temporary.Name()))
	} else {
		err = os.Rename(temporary.Name(), path)
	}
	return cmp.Or(err, f.syncFolders(key))
}

// A cancellable reader fails when its context ends.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// syncFolders brings the names of a file and of the folders above it to the disk: without
// that, a new name can be gone after a loss of power (fsync(2)).
func (f *folder) syncFolders(key string) error {
	for name := filepath.Dir(filepath.FromSlash(key)); ; name = filepath.Dir(name) {
		d, err := os.Open(filepath.Join(f.dir, name))
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
	}
}

// open opens a file.
func (f *folder) open(_ context.Context, key string) (io.ReadCloser, error) {
	file, err := os.Open(f.path(key))
	if err != nil {
		return nil, findMissing(err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() { // the beginning of other keys
		err = errMissing
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// remove removes a file. The folders stay: another object may be on its way into them.
func (f *folder) remove(_ context.Context, key string) error {
	info, err := os.Lstat(f.path(key))
	if err == nil && info.IsDir() {
		return errMissing
	}
	return findMissing(cmp.Or(err, os.Remove(f.path(key))))
}

// findMissing makes errMissing of the errors for a file that does not exist.
func findMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.Join(errMissing, err)
	}
	return err
}

// list walks over the files.
func (f *folder) list(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		w := walk{ctx: ctx, folder: f, prefix: prefix, yield: yield}
		if err := w.visit(""); err != nil && !errors.Is(err, fs.SkipAll) {
			yield(Object{}, err)
		}
	}
}

// A walk yields the objects of a folder by key.
type walk struct {
	ctx    context.Context
	folder *folder
	prefix string
	yield  func(Object, error) bool
}

// visit yields the objects whose keys begin with a path, which is "" or ends with a slash.
// Folders are sorted with the slash that follows them in keys: "a-b" is before "a/b".
func (w *walk) visit(path string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(w.folder.path(path))
	if errors.Is(err, fs.ErrNotExist) && path != "" { // removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	keyOf := func(e fs.DirEntry) string {
		if e.IsDir() {
			return path + e.Name() + "/"
		}
		return path + e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(keyOf(a), keyOf(b)) })
	for _, e := range entries {
		if err := w.visitEntry(keyOf(e), e); err != nil {
			return err
		}
	}
	return nil
}

// visitEntry yields a file, or what is in a folder, if it can begin with the prefix.
func (w *walk) visitEntry(key string, e fs.DirEntry) error {
	if e.IsDir() {
		if strings.HasPrefix(key, w.prefix) || strings.HasPrefix(w.prefix, key) {
			return w.visit(key)
		}
		return nil
	}
	if !strings.HasPrefix(key, w.prefix) {
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	if !w.yield(Object{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil) {
		return fs.SkipAll
	}
	return nil
}

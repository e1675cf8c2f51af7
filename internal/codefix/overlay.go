package codefix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"merlon/internal/errs"
)

// This file makes the copy of the tree in which changes are tried.

// An overlay is a copy of a folder without its repository. Files are hard links where the file
// system allows it, so files of the copy are replaced and never written to.
type overlay struct {
	parent string // of the copy: a temporary folder
	dir    string // the copy; its name is that of the folder, because rules may see the name
	root   *os.Root
}

// newOverlay copies the folder.
func newOverlay(ctx context.Context, folder string) (*overlay, error) {
	abs, err := filepath.Abs(folder)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, errs.E(errs.Invalid, "cannot find %s: %v", folder, err)
	}
	parent, err := os.MkdirTemp("", "merlon-fix-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	o := &overlay{parent: parent, dir: filepath.Join(parent, filepath.Base(abs))}
	if filepath.Base(abs) == string(filepath.Separator) {
		o.dir = filepath.Join(parent, "root")
	}
	if err := o.copyTree(ctx, abs); err != nil {
		o.remove()
		return nil, fmt.Errorf("copy %s: %w", folder, err)
	}
	if o.root, err = os.OpenRoot(o.dir); err != nil {
		o.remove()
		return nil, fmt.Errorf("open the copy of %s: %w", folder, err)
	}
	return o, nil
}

// remove deletes the copy.
func (o *overlay) remove() {
	if o.root != nil {
		_ = o.root.Close() // it was only looked up
	}
	_ = os.RemoveAll(o.parent) // what stays is in the folder for temporary files
}

// copyTree copies the regular files. What a scan does not see is not copied: symbolic links,
// devices and repositories. Files that cannot be read are a coverage gap of the scan of the
// folder, and no error here.
func (o *overlay) copyTree(ctx context.Context, from string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // read only
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	return fs.WalkDir(source.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(o.dir, filepath.FromSlash(name)), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		at := filepath.FromSlash(name)
		if os.Link(filepath.Join(from, at), filepath.Join(o.dir, at)) == nil {
			return nil
		}
		return copyFile(source, at, filepath.Join(o.dir, at))
	})
}

// copyFile copies a file that cannot be linked: another file system, or a file of another user
// (protected_hardlinks of Linux).
func copyFile(source *os.Root, name, to string) error {
	in, err := source.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read only
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

// read returns the text of a file of the copy. A symbolic link is refused: none was copied.
func (o *overlay) read(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", errs.E(errs.Invalid, "%q is no path below the folder", name)
	}
	b, err := fs.ReadFile(o.root.FS(), name)
	if err != nil {
		return "", errs.E(errs.Invalid, "cannot read %s: %v", name, err)
	}
	return string(b), nil
}

// write replaces a file of the copy, so that a file linked to it keeps its text.
func (o *overlay) write(name, text string) error {
	if err := o.root.Remove(filepath.FromSlash(name)); err != nil {
		return fmt.Errorf("replace %s in the copy: %w", name, err)
	}
	if err := o.root.WriteFile(filepath.FromSlash(name), []byte(text), 0o600); err != nil {
		return fmt.Errorf("replace %s in the copy: %w", name, err)
	}
	return nil
}

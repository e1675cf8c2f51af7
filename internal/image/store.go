package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"merlon/internal/errs"
)

// This file opens the parts of an image by name, in a folder or in a tarball.

// A store holds the named parts of an image.
type store interface {
	// has reports whether there is a regular file of the name.
	has(name string) bool
	size(name string) int64 // 0 when there is no such part
	// open opens a part; several may be open at once.
	open(name string) (blob, error)
	io.Closer
}

// A blob is an open part.
type blob interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
}

// openStore opens the folder or the tarball. A tarball that is compressed as a
// whole is unpacked into a temporary file first.
func openStore(ctx context.Context, at string) (store, error) {
	info, err := os.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.E(errs.Invalid, "%s does not exist", at)
	}
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", at, err)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(at)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", at, err)
		}
		return folder{root}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, errs.E(errs.Invalid, "%s is neither a folder nor a regular file", at)
	}
	f, err := os.Open(filepath.Clean(at))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", at, err)
	}
	t, err := openTarball(ctx, f)
	if err != nil {
		_ = f.Close() // the first error is the one to tell
		return nil, err
	}
	return t, nil
}

// readAll returns a part of at most limit bytes.
func readAll(s store, name string, limit int64) ([]byte, error) {
	b, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }() // it was only read from
	var out bytes.Buffer
	if _, err := out.ReadFrom(io.LimitReader(b, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s of the image: %w", name, err)
	}
	if int64(out.Len()) > limit {
		return nil, errs.E(errs.TooLarge, "%s of the image is larger than %d bytes", name, limit)
	}
	return out.Bytes(), nil
}

// missing is the error for a part that is not there.
func missing(name string) error {
	return errs.E(errs.Invalid, "the image is not whole: %s is missing", name)
}

// folder is an OCI layout, or an unpacked tarball.
type folder struct{ root *os.Root }

func (d folder) has(name string) bool {
	info, err := d.root.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

func (d folder) size(name string) int64 {
	info, err := d.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (d folder) open(name string) (blob, error) {
	// os.Root does not follow links out of the folder. O_NONBLOCK keeps a named pipe from
	// blocking the open until somebody writes.
	f, err := d.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(name)
	}
	if err != nil {
		return nil, errs.E(errs.Invalid, "%s of the image cannot be opened: %v", name, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // what it is has been told
		return nil, errs.E(errs.Invalid, "%s of the image is no regular file", name)
	}
	return f, nil
}

func (d folder) Close() error { return d.root.Close() }

// tarball is a tar file that is not compressed as a whole.
type tarball struct {
	// file stays open, and parts are read from it by offset, so that layers can be read
	// concurrently.
	file *os.File
	drop string // temporary file to remove, or ""
	// parts are the regular files by their clean name.
	parts map[string]part
}

// part is where a file of the tarball stands.
type part struct{ at, size int64 }

// Limits of the outer tarball: an image of maxLayers layers has a few files for each.
const (
	maxParts    = 64 << 10
	maxUnpacked = 64 << 30 // bytes of a tarball that is compressed as a whole
)

// openTarball indexes a tarball, after it has decompressed one that is compressed as a
// whole.
func openTarball(ctx context.Context, f *os.File) (*tarball, error) {
	t := &tarball{file: f}
	if err := t.unpack(ctx); err != nil {
		return nil, err
	}
	if err := t.index(ctx); err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

// unpack replaces the file by an unpacked copy when it is compressed.
func (t *tarball) unpack(ctx context.Context) error {
	plain, kind, err := decompress(t.file)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }() // it was only read from
	if kind == kindTar {
		_, err := t.file.Seek(0, io.SeekStart)
		return err
	}
	temp, err := os.CreateTemp("", "merlon-image-*.tar")
	if err != nil {
		return fmt.Errorf("make room for the image: %w", err)
	}
	n, err := io.Copy(temp, io.LimitReader(&canceled{ctx, plain}, maxUnpacked+1))
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = errs.E(errs.Invalid, "the file cannot be decompressed: %v", err)
	case n > maxUnpacked:
		err = errs.E(errs.TooLarge, "the image is larger than %d bytes", int64(maxUnpacked))
	}
	if err != nil {
		_ = temp.Close() // the first error is the one to tell
		_ = os.Remove(temp.Name())
		return err
	}
	_ = t.file.Close() // it was only read from
	t.file, t.drop = temp, temp.Name()
	_, err = temp.Seek(0, io.SeekStart)
	return err
}

// index notes where each file stands. Links are what older tarballs have in place
// of a layer that stands there twice.
func (t *tarball) index(ctx context.Context) error {
	t.parts = map[string]part{}
	links := map[string]string{}
	r := tar.NewReader(t.file)
	for n := 0; ; n++ {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			for from, to := range links {
				if p, ok := t.parts[to]; ok {
					t.parts[from] = p
				}
			}
			return nil
		case err != nil && n == 0:
			return errs.E(errs.Invalid, "this is no container image: neither a tar file nor a compressed one")
		case err != nil:
			return errs.E(errs.Invalid, "the tar file is damaged behind %d files: %v", n, err)
		case n == maxParts:
			return errs.E(errs.TooLarge, "the image has more than %d parts", maxParts)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		// Names are keys of a map and never opened on the host: ".." does no harm here.
		name := path.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			at, err := t.file.Seek(0, io.SeekCurrent)
			if err != nil {
				return err
			}
			t.parts[name] = part{at, h.Size}
		case tar.TypeSymlink:
			links[name] = path.Clean(path.Join(path.Dir(name), h.Linkname))
		case tar.TypeLink:
			links[name] = path.Clean(h.Linkname)
		}
	}
}

func (t *tarball) has(name string) bool {
	_, ok := t.parts[path.Clean(name)]
	return ok
}

func (t *tarball) size(name string) int64 { return t.parts[path.Clean(name)].size }

func (t *tarball) open(name string) (blob, error) {
	p, ok := t.parts[path.Clean(name)]
	if !ok {
		return nil, missing(name)
	}
	return section{io.NewSectionReader(t.file, p.at, p.size)}, nil
}

func (t *tarball) Close() error {
	err := t.file.Close()
	t.remove()
	return err
}

// remove removes the temporary file.
func (t *tarball) remove() {
	if strings.Contains(t.drop, "merlon-image-") {
		_ = os.Remove(t.drop) // it lies in the folder for temporary files
	}
}

// section is a part of a tarball.
type section struct{ *io.SectionReader }

// Close does nothing: the tarball stays open.
func (section) Close() error { return nil }

// canceled ends a reading when the context ends.
type canceled struct {
	ctx context.Context
	r   io.Reader
}

func (c *canceled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

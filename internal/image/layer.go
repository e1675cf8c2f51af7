package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"merlon/internal/errs"
)

// This file reads the entries of a layer. The form of removals is that of
// https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts

// A Kind says what an entry of a layer does.
type Kind int

const (
	File     Kind = iota // a regular file
	Folder               // a directory
	Symlink              // a symbolic link
	Hardlink             // another name for the file at Link
	Special              // a device or a pipe
	Removed              // the path of a lower layer is not there any more
	Emptied              // nothing of lower layers is in this directory any more
)

// An Entry is one entry of a layer.
type Entry struct {
	Path string // relative, clean, with forward slashes; "." is the root
	Kind Kind
	Mode fs.FileMode
	UID  int
	Size int64
	Link string // of links: for hard links a path as above, for symbolic links as it stands

	// Content is that of a File; it must be read before the visit ends.
	Content io.Reader
}

// A Budget is what the layers of an image may cost together. Walk counts it down.
type Budget struct {
	Bytes   int64 // unpacked
	Entries int
}

// Limits of one name. No file system takes longer ones, so an entry beyond them
// cannot become a file, and is left out.
const (
	maxPath = 4096
	maxName = 255
)

const (
	// The file .wh.NAME removes NAME of the layers below; .wh..wh..opq empties its folder.
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// Walk visits the entries of the layer in their order. It stops at an error of
// visit, which it returns as it is. Its own are errs.Invalid for a layer that
// cannot be read on, and errs.TooLarge when the budget is used up; what was visited
// before holds.
func (l *Layer) Walk(ctx context.Context, b *Budget, visit func(*Entry) error) error {
	stored, err := l.store.open(l.blob)
	if err != nil {
		return err
	}
	defer func() { _ = stored.Close() }() // it was only read from
	plain, kind, err := decompress(stored)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }() // it was only read from
	var source io.Reader
	count := &counter{ctx: ctx, r: plain, budget: b}
	// The budget counts unpacked bytes against decompression bombs (CWE-409). An uncompressed layer
	// cannot expand.
	if source = count; kind == kindTar {
		// What nobody wants is jumped over, which is free.
		if _, err := stored.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read a layer: %w", err)
		}
		source = stored
	}
	return walk(ctx, tar.NewReader(source), b, visit)
}

// walk visits the entries of a tar file.
func walk(ctx context.Context, r *tar.Reader, b *Budget, visit func(*Entry) error) error {
	for {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errs.Is(err, errs.TooLarge):
			return err
		case err != nil:
			return errs.E(errs.Invalid, "the layer cannot be read to its end: %v", err)
		}
		// Entries are counted as well: millions of empty files cost time and memory, but no bytes.
		if b.Entries--; b.Entries < 0 {
			return errs.E(errs.TooLarge, "the layers have more entries than the limit")
		}
		e, ok := entry(h)
		if !ok {
			continue
		}
		if e.Kind == File {
			e.Content = r
		}
		if err := visit(e); err != nil {
			return err
		}
	}
}

// entry returns what a header says, and false when it cannot become a file.
func entry(h *tar.Header) (*Entry, bool) {
	name, ok := rooted(h.Name)
	if !ok {
		return nil, false
	}
	e := &Entry{Path: name, Mode: h.FileInfo().Mode(), UID: h.Uid, Size: h.Size}
	switch h.Typeflag {
	case tar.TypeReg, '\x00', tar.TypeGNUSparse, tar.TypeCont:
		e.Kind = File
	case tar.TypeDir:
		e.Kind = Folder
	case tar.TypeSymlink:
		e.Kind, e.Link = Symlink, h.Linkname
	case tar.TypeLink:
		e.Kind = Hardlink
		if e.Link, ok = rooted(h.Linkname); !ok {
			return nil, false
		}
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		e.Kind = Special
	default:
		return nil, false
	}
	dir, base := path.Split(name)
	switch {
	case base == opaque:
		e.Kind, e.Path = Emptied, path.Clean(dir)
	// For example .wh..wh.aufs and .wh..wh.plnk of AUFS.
	case strings.HasPrefix(base, whiteout+whiteout): // notes of a storage driver
		return nil, false
	case strings.HasPrefix(base, whiteout):
		rest := strings.TrimPrefix(base, whiteout)
		if rest == "" || rest == "." || rest == ".." {
			return nil, false
		}
		e.Kind, e.Path = Removed, path.Join(dir, rest)
	}
	return e, true
}

// rooted returns the path below the root that a name means: nothing leads out.
func rooted(name string) (string, bool) {
	if len(name) > maxPath || strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	// Clean of a rooted path resolves every ".." inside of the root: "../../etc/passwd" becomes
	// "etc/passwd" (CWE-22).
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" {
		return ".", true
	}
	for rest := name; rest != ""; {
		var part string
		if part, rest, _ = strings.Cut(rest, "/"); len(part) > maxName {
			return "", false
		}
	}
	return name, true
}

// counter counts unpacked bytes against the budget.
type counter struct {
	ctx    context.Context
	r      io.Reader
	budget *Budget
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	// The budget is shared by all layers.
	if c.budget.Bytes <= 0 {
		return 0, errs.E(errs.TooLarge, "the layers have more bytes than the limit")
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.budget.Bytes)])
	c.budget.Bytes -= int64(n)
	return n, err
}

// How a stream is stored.
type storage int

const (
	kindTar storage = iota
	kindGzip
	kindZstd
)

// maxWindow bounds the memory of decompressing zstd; encoders use 8 MiB, and more
// only when they are told to.
const maxWindow = 64 << 20

// decompress returns the stream without its compression, by its first bytes.
func decompress(r io.Reader) (io.ReadCloser, storage, error) {
	// Six bytes are the longest magic number, that of xz. A shorter stream is not compressed.
	head := make([]byte, 6)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, kindTar, fmt.Errorf("read a layer: %w", err)
	}
	head = head[:n]
	all := io.MultiReader(bytes.NewReader(head), r)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(all)
		if err != nil {
			return nil, kindGzip, errs.E(errs.Invalid, "the layer is no valid gzip: %v", err)
		}
		return z, kindGzip, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(all, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, kindZstd, errs.E(errs.Invalid, "the layer is no valid zstd: %v", err)
		}
		return z.IOReadCloser(), kindZstd, nil
	case bytes.HasPrefix(head, []byte("BZh")), bytes.HasPrefix(head, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		return nil, kindTar, errs.E(errs.Invalid, "the layer is compressed in a way that images do not use "+
			"(bzip2 or xz)")
	}
	return io.NopCloser(all), kindTar, nil
}

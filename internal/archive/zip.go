package archive

import (
	"archive/zip"
	"cmp"
	"compress/flate"
	"hash"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"merlon/internal/errs"
)

// This file unpacks zip. The standard library's reader keeps the whole directory
// in memory, and believes the number of entries that an archive claims: 5 GiB of
// directory would be tens of gigabytes. So the directory is read as a stream
// (directory.go), twice: to check it as a whole, then to unpack.

// extractZip unpacks a zip.
func (x *extractor) extractZip(src *io.SectionReader) error {
	dir, err := findDirectory(src)
	if err != nil {
		return err
	}
	if err := x.checkDirectory(src, dir); err != nil {
		return err
	}
	return dir.forEachRecord(src, func(r record) error { return x.zipEntry(src, r) })
}

// checkDirectory counts the entries and refuses those that share data, which is
// how a bomb gets more out of an archive than its ratio allows.
func (x *extractor) checkDirectory(src io.ReaderAt, dir directory) error {
	type span struct{ start, end int64 }
	var spans []span
	err := dir.forEachRecord(src, func(r record) error {
		if err := x.countEntry(); err != nil {
			return err
		}
		start, err := r.dataOffset(src)
		if err != nil {
			return err
		}
		if r.compressed > dir.start-start {
			return io.ErrUnexpectedEOF
		}
		if r.compressed > 0 {
			spans = append(spans, span{start, start + r.compressed})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(spans); i++ {
		if spans[i].start < spans[i-1].end {
			return errs.E(errs.Invalid, "the archive is damaged: entries overlap")
		}
	}
	return nil
}

// zipEntry extracts one entry of a zip.
func (x *extractor) zipEntry(src io.ReaderAt, r record) error {
	name, reason := x.cleanName(r.name)
	if reason != "" {
		x.skipEntry(r.name, "%s", reason)
		return nil
	}
	kind := r.entryKind()
	switch {
	case kind == kindFolder:
		_, err := x.makeFolder(name)
		return err
	case kind == kindOther:
		x.skipEntry(name, "neither a file nor a folder")
	case r.flags&flagEncrypted != 0:
		x.skipEntry(name, "encrypted")
	case r.method != zip.Store && r.method != zip.Deflate:
		x.skipEntry(name, "compressed in a way that is not supported (method %d)", r.method)
	case kind == kindLink:
		return x.zipLink(src, r, name)
	default:
		return x.writeFile(entry{name: name, size: r.size, open: func() (io.ReadCloser, error) {
			return x.openEntry(src, r)
		}})
	}
	return nil
}

// zipLink reads the target of a symbolic link, which is its content.
func (x *extractor) zipLink(src io.ReaderAt, r record, name string) error {
	if r.size > int64(x.budget.PathBytes) {
		x.skipEntry(name, "a link with a target longer than %d bytes", x.budget.PathBytes)
		return nil
	}
	var target strings.Builder
	e := entry{name: name, size: r.size, open: func() (io.ReadCloser, error) { return x.openEntry(src, r) }}
	if _, err := x.copyContent(&target, e); err != nil {
		return err
	}
	x.addLink(name, linkTarget(name, target.String()))
	return nil
}

// openEntry opens an entry's content. Its checksum is compared at the end.
func (x *extractor) openEntry(src io.ReaderAt, r record) (io.ReadCloser, error) {
	start, err := r.dataOffset(src)
	if err != nil {
		return nil, err
	}
	data := io.NewSectionReader(src, start, r.compressed)
	if r.method == zip.Store {
		return &checked{Reader: data, sum: crc32.NewIEEE(), want: r.crc}, nil
	}
	if x.inflater == nil {
		x.inflater = flate.NewReader(data)
	} else if err := x.inflater.(flate.Resetter).Reset(data, nil); err != nil {
		return nil, err
	}
	return &checked{Reader: x.inflater, sum: crc32.NewIEEE(), want: r.crc}, nil
}

// A checked reader ends with zip.ErrChecksum when what was read is not what was
// packed.
type checked struct {
	io.Reader
	sum  hash.Hash32
	want uint32
}

// Read computes the checksum of the content, and compares it at the end with the declared one.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	_, _ = c.sum.Write(p[:n]) // never fails
	if err == io.EOF && c.sum.Sum32() != c.want {
		err = zip.ErrChecksum
	}
	return n, err
}

// Close does nothing: the decompressor below has no resources.
func (*checked) Close() error { return nil }

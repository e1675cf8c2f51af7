package archive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"path"
)

// This file reads tar (POSIX.1-2001 pax, GNU and ustar), plain and within gzip
// (RFC 1952).

// tarGzip unpacks a tar within gzip. The meter sees what comes out of gzip, so
// that entries which are skipped count as well.
func (x *extractor) tarGzip(src io.Reader) error {
	zr, err := gzip.NewReader(bufio.NewReaderSize(src, 64<<10))
	if err != nil {
		return err
	}
	const headers = 4 << 10 // a header, its extension, and padding
	limits := &meter{limit: x.budget.Bytes + int64(x.budget.Files)*headers, ratio: x.content.ratio}
	stream := metered{zr, limits, x.ctx}
	if err := x.extractTar(stream); err != nil {
		return err
	}
	// The checksum is behind the end of the tar.
	_, err = io.Copy(io.Discard, stream)
	return err
}

// extractTar unpacks a tar.
func (x *extractor) extractTar(src io.Reader) error {
	tr := tar.NewReader(src)
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if err := x.countEntry(); err != nil {
			return err
		}
		if err := x.tarEntry(tr, h); err != nil {
			return err
		}
	}
}

// tarEntry extracts one entry of a tar. Links are only recorded, never created, so that no later
// entry is written through one (Zip Slip by symbolic link); devices and pipes are skipped.
func (x *extractor) tarEntry(tr *tar.Reader, h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // says something of the archive; git writes one
	}
	name, reason := x.cleanName(h.Name)
	if reason != "" {
		x.skipEntry(h.Name, "%s", reason)
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		_, err := x.makeFolder(name)
		return err
	case tar.TypeReg, tar.TypeGNUSparse:
		return x.writeFile(entry{name: name, size: h.Size, open: func() (io.ReadCloser, error) {
			return io.NopCloser(tr), nil
		}})
	case tar.TypeSymlink:
		x.addLink(name, linkTarget(name, h.Linkname))
	case tar.TypeLink:
		x.addLink(name, h.Linkname)
	default:
		x.skipEntry(name, "neither a file nor a folder")
	}
	return nil
}

// linkTarget returns the target of a symbolic link as a name of the archive.
func linkTarget(name, target string) string {
	if path.IsAbs(target) {
		return target
	}
	return path.Join(path.Dir(name), target)
}

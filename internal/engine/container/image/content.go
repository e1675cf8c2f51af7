package image

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"merlon/internal/errs"
	oci "merlon/internal/image"
)

// This file keeps the content of a file for readers that go back and forth in it:
// a small one in memory, a large one in a temporary file.

// contentReader is a content at its start.
type contentReader interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// fileContent is a content that is closed after use.
type fileContent interface {
	contentReader
	io.Closer
}

const (
	maxInMemory = 2 << 20 // bytes of a file that is kept in memory
	maxContent  = 1 << 30 // bytes of an archive, a program or a database that is looked into
)

// memoryContent is a content in memory.
type memoryContent struct {
	*bytes.Reader
	bytes []byte
}

// Close does nothing.
func (memoryContent) Close() error { return nil }

// spooledFile is a content in a temporary file.
type spooledFile struct{ *os.File }

// Close removes the file.
func (s spooledFile) Close() error {
	err := s.File.Close()
	if gone := os.Remove(s.Name()); err == nil {
		err = gone
	}
	return err
}

// readContent reads the content of an entry. It is errs.TooLarge beyond the limit.
func readContent(e *oci.Entry, limit int64) (fileContent, error) {
	if e.Size > limit {
		return nil, errs.E(errs.TooLarge, "%d bytes; larger than the limit of %d", e.Size, limit)
	}
	if e.Size <= maxInMemory {
		b := make([]byte, e.Size)
		if _, err := io.ReadFull(e.Content, b); err != nil {
			return nil, layerError(err)
		}
		return &memoryContent{bytes.NewReader(b), b}, nil
	}
	return spoolContent(e.Content, e.Size)
}

// spoolContent writes a content into a temporary file.
func spoolContent(r io.Reader, size int64) (fileContent, error) {
	f, err := os.CreateTemp("", "merlon-layer-*")
	if err != nil {
		return nil, fmt.Errorf("make room for a file of the image: %w", err)
	}
	s := spooledFile{f}
	n, err := io.Copy(f, r)
	switch {
	case err != nil:
		err = layerError(err)
	case n != size:
		err = layerError(io.ErrUnexpectedEOF)
	default:
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = s.Close() // the first error is the one to tell
		return nil, err
	}
	return s, nil
}

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

// readable is a content at its start.
type readable interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

type content interface {
	readable
	io.Closer
}

const (
	inMemory = 2 << 20 // bytes of a file that is kept in memory
	largest  = 1 << 30 // bytes of an archive, a program or a database that is looked into
)

// memory is a content in memory.
type memory struct {
	*bytes.Reader
	bytes []byte
}

// Close does nothing.
func (memory) Close() error { return nil }

// spooled is a content in a temporary file.
type spooled struct{ *os.File }

// Close removes the file.
func (s spooled) Close() error {
	err := s.File.Close()
	if gone := os.Remove(s.Name()); err == nil {
		err = gone
	}
	return err
}

// keep reads the content of an entry. It is errs.TooLarge beyond the limit.
func keep(e *oci.Entry, limit int64) (content, error) {
	if e.Size > limit {
		return nil, errs.E(errs.TooLarge, "%d bytes; a scan looks at files up to %d", e.Size, limit)
	}
	if e.Size <= inMemory {
		b := make([]byte, e.Size)
		if _, err := io.ReadFull(e.Content, b); err != nil {
			return nil, broken(err)
		}
		return &memory{bytes.NewReader(b), b}, nil
	}
	return spool(e.Content, e.Size)
}

// spool writes a content into a temporary file.
func spool(r io.Reader, size int64) (content, error) {
	f, err := os.CreateTemp("", "merlon-layer-*")
	if err != nil {
		return nil, fmt.Errorf("make room for a file of the image: %w", err)
	}
	s := spooled{f}
	n, err := io.Copy(f, r)
	switch {
	case err != nil:
		err = broken(err)
	case n != size:
		err = broken(io.ErrUnexpectedEOF)
	default:
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = s.Close() // the first error is the one to tell
		return nil, err
	}
	return s, nil
}

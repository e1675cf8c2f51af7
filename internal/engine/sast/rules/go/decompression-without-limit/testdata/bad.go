package unpack

import (
	"compress/gzip"
	"io"
)

func text(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	// ruleid: decompression-without-limit
	return io.ReadAll(z)
}

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
	// ok: decompression-without-limit
	return io.ReadAll(io.LimitReader(z, 1<<20))
}

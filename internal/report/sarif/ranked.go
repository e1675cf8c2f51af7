package sarif

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"maps"
	"slices"
)

// This file orders results by rank without keeping them as text: a report of 50,000 findings has
// some 60 MB, and compressed some 3.

// blockSize is how much text of one rank is collected before it is compressed. There are some
// forty ranks, so that the text that waits is bounded.
const blockSize = 128 << 10

// rankedResults are results by rank. The order within a rank is that in which they came.
type rankedResults struct {
	ranks      map[float64]*rankedBlocks
	compressor *flate.Writer
}

// rankedBlocks are the results of one rank, each behind a separator.
type rankedBlocks struct {
	compressed [][]byte
	open       []byte // not compressed yet
}

// separator is between results.
const separator = ",\n"

// add keeps a result.
func (r *rankedResults) add(rank float64, result []byte) error {
	if r.ranks == nil {
		r.ranks = map[float64]*rankedBlocks{}
	}
	b := r.ranks[rank]
	if b == nil {
		b = &rankedBlocks{}
		r.ranks[rank] = b
	}
	b.open = append(append(b.open, separator...), result...)
	if len(b.open) < blockSize {
		return nil
	}
	var out bytes.Buffer
	if r.compressor == nil {
		w, err := flate.NewWriter(&out, flate.BestSpeed)
		if err != nil {
			return fmt.Errorf("compress results: %w", err)
		}
		r.compressor = w
	} else {
		r.compressor.Reset(&out)
	}
	if _, err := r.compressor.Write(b.open); err != nil {
		return fmt.Errorf("compress results: %w", err)
	}
	if err := r.compressor.Close(); err != nil {
		return fmt.Errorf("compress results: %w", err)
	}
	b.compressed = append(b.compressed, bytes.Clone(out.Bytes()))
	b.open = b.open[:0]
	return nil
}

// writeTo writes all results, the highest rank first. The first has no separator.
func (r *rankedResults) writeTo(w io.Writer) error {
	out := &withoutFirst{w: w, skip: len(separator) - 1} // keeps the line end
	for _, rank := range slices.Backward(slices.Sorted(maps.Keys(r.ranks))) {
		b := r.ranks[rank]
		for _, block := range b.compressed {
			if _, err := io.Copy(out, flate.NewReader(bytes.NewReader(block))); err != nil {
				return fmt.Errorf("write results: %w", err)
			}
		}
		if _, err := out.Write(b.open); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}

// withoutFirst writes all but the first bytes.
type withoutFirst struct {
	w    io.Writer
	skip int
}

// Write leaves out the bytes that are to be skipped.
func (s *withoutFirst) Write(p []byte) (int, error) {
	n := min(s.skip, len(p))
	s.skip -= n
	written, err := s.w.Write(p[n:])
	return n + written, err
}

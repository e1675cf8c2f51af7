package advisory

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"slices"
)

// This file writes the parts of a data file and counts what is in it.

// writeTables ends the file.
func (b *builder) writeTables(index encoder) error {
	feeds := b.writeFeeds(b.report.Imported)
	meta, err := json.Marshal(b.report.Meta)
	if err != nil {
		return fmt.Errorf("describe the data file: %w", err)
	}
	// The order is part of the format: newFile reads the offsets in it.
	parts := [][]byte{b.table.b, index.b, feeds[epss], feeds[kev], meta}
	at := b.out.offset
	var tail encoder
	for _, part := range parts {
		tail.putUint64(at)
		at += uint64(len(part))
	}
	tail.putUint64(uint64(b.numbers))
	tail.putUint32(checksum(slices.Concat(tail.b, slices.Concat(parts...))))
	for _, part := range append(parts, tail.b) {
		if err := b.out.writeBytes(part); err != nil {
			return err
		}
	}
	digest := b.out.sum.Sum(nil)
	b.report.Digest = fmt.Sprintf("%x", digest)
	if err := b.out.writeBytes(digest); err != nil {
		return err
	}
	b.report.Size = int64(b.out.offset)
	return b.out.syncFile()
}

// An output is a file being written, its length and its digest.
type output struct {
	file *os.File
	buf  *bufio.Writer
	sum  hash.Hash
	// bytes written so far: where the next part begins
	offset uint64
}

// createOutput creates a file that is hashed while it is written.
func createOutput(path string) (*output, error) {
	// O_EXCL: a link with this name would otherwise redirect the output.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create a data file: %w", err)
	}
	return &output{file: f, sum: sha256.New(), buf: bufio.NewWriterSize(f, 1<<20)}, nil
}

// writeBytes writes bytes and counts and sums them.
func (o *output) writeBytes(b []byte) error {
	o.offset += uint64(len(b))
	_, _ = o.sum.Write(b) // never fails
	if _, err := o.buf.Write(b); err != nil {
		return fmt.Errorf("write the data file: %w", err)
	}
	return nil
}

// syncFile makes everything that was written durable.
func (o *output) syncFile() error {
	if err := o.buf.Flush(); err != nil {
		return fmt.Errorf("write the data file: %w", err)
	}
	if err := o.file.Sync(); err != nil {
		return fmt.Errorf("write the data file: %w", err)
	}
	return nil
}

// A counter counts records and packages by ecosystem.
type counter struct {
	by       map[string]*tally
	all      tally
	licenses int     // packages of which they are known
	modified []int64 // of each record, in milliseconds
}

// A tally counts each record once.
type tally struct {
	seen []uint64 // a bit for each record
	// records, each once
	n        int
	packages int
	newest   int64 // in milliseconds
}

// newCounter returns a counter of records and packages by ecosystem.
func newCounter(modified []int64) *counter {
	return &counter{by: map[string]*tally{}, all: newTally(len(modified)), modified: modified}
}

// newTally returns a tally with a bit for each record.
func newTally(records int) tally { return tally{seen: make([]uint64, records/64+1)} }

// addRecord counts a record, once however many of its packages it names.
func (t *tally) addRecord(number uint32) {
	if bit := uint64(1) << (number % 64); t.seen[number/64]&bit == 0 {
		t.seen[number/64] |= bit
		t.n++
	}
}

// addBlock counts the records of a package.
func (c *counter) addBlock(b *block) {
	switch b.key.base {
	case scoreEcosystem:
		return // no package
	case licenseEcosystem:
		c.licenses++
		return
	}
	t := c.by[b.key.base]
	if t == nil {
		one := tally{seen: make([]uint64, len(c.all.seen))}
		t = &one
		c.by[b.key.base] = t
	}
	t.packages++
	for i := range b.list {
		t.addRecord(b.list[i].number)
		t.newest = max(t.newest, c.modified[b.list[i].number])
		c.all.addRecord(b.list[i].number)
	}
}

// countByEcosystem returns the counts of each ecosystem.
func (c *counter) countByEcosystem() map[string]Count {
	out := map[string]Count{}
	for base, t := range c.by {
		out[base] = Count{Records: t.n, Packages: t.packages, Newest: fromMillis(t.newest)}
	}
	return out
}

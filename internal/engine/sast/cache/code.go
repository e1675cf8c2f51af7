package cache

import (
	"encoding/binary"
	"errors"
	"slices"
)

// This file writes and reads numbers and texts. A Reader checks each length against
// what is left, so what it returns is never larger than what it reads.

// A Writer writes an entry. The zero value is ready.
type Writer struct{ Bytes []byte }

// Uint writes a number that is not negative.
func (w *Writer) Uint(n uint64) { w.Bytes = binary.AppendUvarint(w.Bytes, n) }

// Int writes a number.
func (w *Writer) Int(n int64) { w.Bytes = binary.AppendVarint(w.Bytes, n) }

// Byte writes a byte.
func (w *Writer) Byte(b byte) { w.Bytes = append(w.Bytes, b) }

// Bool writes a truth.
func (w *Writer) Bool(b bool) {
	if b {
		w.Byte(1)
	} else {
		w.Byte(0)
	}
}

// Text writes a text.
func (w *Writer) Text(s string) {
	w.Uint(uint64(len(s)))
	w.Bytes = append(w.Bytes, s...)
}

// Texts writes texts by name, in the order of the names. The order makes equal maps equal bytes,
// which the keys of other entries depend on.
func (w *Writer) Texts(m map[string]string) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	w.Uint(uint64(len(m)))
	for _, n := range names {
		w.Text(n)
		w.Text(m[n])
	}
}

// ErrDamaged says that an entry is not what was written.
var ErrDamaged = errors.New("the entry of the cache is damaged")

// A Reader reads what a Writer wrote. After the first fault, Err is set and
// everything reads as zero.
type Reader struct {
	rest []byte
	Err  error
}

// NewReader returns a reader of an entry.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// Fail notes that what was read cannot be.
func (r *Reader) Fail() {
	r.Err = ErrDamaged
	r.rest = nil
}

// Uint reads a number. A number that is cut off, or has more than 64 bits, is a fault.
func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// Int reads a number that may be negative. Small ones take a byte, whatever their sign.
func (r *Reader) Int() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// Below reads a number that is smaller than the limit.
func (r *Reader) Below(limit int) int {
	n := r.Uint()
	if n >= uint64(max(limit, 0)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Count reads how many things follow, each of which takes at least so many bytes.
func (r *Reader) Count(size int) int {
	n := r.Uint()
	if n > uint64(len(r.rest)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Byte reads a byte. Behind the last byte everything is a fault, also for the callers that read
// lengths first.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.Fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Bool reads a truth.
func (r *Reader) Bool() bool { return r.Byte() == 1 }

// Text reads a text, which it copies.
func (r *Reader) Text() string {
	n := r.Count(1)
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

// Texts reads texts by name. Each takes two bytes at least, which bounds how many there can be
// before memory is taken for them.
func (r *Reader) Texts() map[string]string {
	n := r.Count(2)
	m := make(map[string]string, n)
	for range n {
		name := r.Text()
		m[name] = r.Text()
	}
	return m
}

// End reports the fault, if there was one or something is left.
func (r *Reader) End() error {
	if r.Err == nil && len(r.rest) > 0 {
		r.Fail()
	}
	return r.Err
}

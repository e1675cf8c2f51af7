package cache

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeAll writes one value of each kind at its limits.
func writeAll(w *Writer) {
	for _, n := range []uint64{0, 1, 127, 128, math.MaxUint64} {
		w.Uint(n)
	}
	for _, n := range []int64{0, -1, 63, -64, math.MinInt64, math.MaxInt64} {
		w.Int(n)
	}
	w.Byte(255)
	w.Bool(true)
	w.Bool(false)
	w.Text("")
	w.Text("a\x00é")
	w.Texts(map[string]string{"b": "2", "a": "1", "": ""})
	w.Texts(nil)
}

// readAll reads what writeAll wrote.
func readAll(r *Reader) []any {
	var out []any
	for range 5 {
		out = append(out, r.Uint())
	}
	for range 6 {
		out = append(out, r.Int())
	}
	return append(out, r.Byte(), r.Bool(), r.Bool(), r.Text(), r.Text(), r.Texts(), r.Texts())
}

// TestCodeRoundTrip reads back what was written.
func TestCodeRoundTrip(t *testing.T) {
	var w Writer
	writeAll(&w)
	r := NewReader(w.Bytes)
	want := []any{uint64(0), uint64(1), uint64(127), uint64(128), uint64(math.MaxUint64), int64(0), int64(-1), int64(63),
		int64(-64), int64(math.MinInt64), int64(math.MaxInt64), byte(255), true, false, "", "a\x00é",
		map[string]string{"": "", "a": "1", "b": "2"}, map[string]string{}}
	if diff := cmp.Diff(want, readAll(r)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
}

// TestCodeCut reads an entry that ends too early at each of its bytes: never a panic, always the
// error, and zero from there on.
func TestCodeCut(t *testing.T) {
	var w Writer
	writeAll(&w)
	for n := range len(w.Bytes) {
		r := NewReader(w.Bytes[:n])
		readAll(r)
		if err := r.End(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d of %d bytes: error %v", n, len(w.Bytes), err)
		}
		if r.Uint() != 0 || r.Int() != 0 || r.Byte() != 0 || r.Text() != "" || len(r.Texts()) != 0 {
			t.Errorf("%d bytes: something is read behind the fault", n)
		}
	}
}

// TestCodeLimits reads numbers that must be small.
func TestCodeLimits(t *testing.T) {
	encode := func(f func(*Writer)) *Reader {
		var w Writer
		f(&w)
		return NewReader(w.Bytes)
	}
	for name, c := range map[string]struct {
		write func(*Writer)
		read  func(*Reader) int
		want  int
		fails bool
	}{
		"below":         {func(w *Writer) { w.Uint(4) }, func(r *Reader) int { return r.Below(5) }, 4, false},
		"not below":     {func(w *Writer) { w.Uint(5) }, func(r *Reader) int { return r.Below(5) }, 0, true},
		"below nothing": {func(w *Writer) { w.Uint(0) }, func(r *Reader) int { return r.Below(0) }, 0, true},
		"below less":    {func(w *Writer) { w.Uint(0) }, func(r *Reader) int { return r.Below(-1) }, 0, true},
		"huge": {func(w *Writer) { w.Uint(math.MaxUint64) }, func(r *Reader) int { return r.Below(9) },
			0, true},
		"count of what is": {func(w *Writer) { w.Uint(2); w.Int(0); w.Int(0) }, countEach, 2, false},
		"count of more":    {func(w *Writer) { w.Uint(3); w.Int(0); w.Int(0) }, countEach, 0, true},
		"text that is short": {func(w *Writer) { w.Uint(9); w.Byte(1) }, func(r *Reader) int { return len(r.Text()) },
			0, true},
		"something left":    {func(w *Writer) { w.Uint(1); w.Uint(2) }, func(r *Reader) int { return r.Below(2) }, 1, true},
		"fault of a caller": {func(w *Writer) { w.Uint(1) }, func(r *Reader) int { r.Fail(); return r.Below(2) }, 0, true},
	} {
		r := encode(c.write)
		if got := c.read(r); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if err := r.End(); (err != nil) != c.fails {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// countEach reads a number of things of one byte, and the things.
func countEach(r *Reader) int {
	n := r.Count(1)
	for range n {
		r.Byte()
	}
	return n
}

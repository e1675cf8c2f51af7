package git

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestApplyDelta pins the format of deltas (gitformat-pack(5), "Deltified representation"):
// whoever can push to a repository chooses their bytes.
func TestApplyDelta(t *testing.T) {
	base := []byte("0123456789")
	long := bytes.Repeat([]byte("x"), 0x10000)
	for _, c := range []struct {
		name  string
		base  []byte
		delta []byte
		want  string
		err   error
	}{
		{"new bytes", base, []byte{10, 3, 3, 'a', 'b', 'c'}, "abc", nil},
		{"a copy", base, []byte{10, 4, 0x91, 2, 4}, "2345", nil},
		{"a copy from the start", base, []byte{10, 4, 0x90, 4}, "0123", nil},
		{"both", base, []byte{10, 5, 0x91, 8, 2, 3, 'a', 'b', 'c'}, "89abc", nil},
		{"an empty result", base, []byte{10, 0}, "", nil},
		{"a length of nothing is 64 KiB", long, []byte{0x80, 0x80, 4, 0x80, 0x80, 4, 0x80}, string(long), nil},
		{"no bytes", base, nil, "", damagedDelta},
		{"the length of another base", base, []byte{9, 1, 1, 'a'}, "", damagedDelta},
		{"no length of the result", base, []byte{10}, "", damagedDelta},
		{"the reserved operation", base, []byte{10, 1, 0}, "", damagedDelta},
		{"new bytes that are missing", base, []byte{10, 3, 3, 'a'}, "", damagedDelta},
		{"operands that are missing", base, []byte{10, 4, 0x91, 2}, "", damagedDelta},
		{"a copy beyond the base", base, []byte{10, 4, 0x91, 8, 4}, "", damagedDelta},
		{"an offset beyond every base", base, []byte{10, 1, 0x9F, 0xFF, 0xFF, 0xFF, 0xFF, 1}, "", damagedDelta},
		{"more than the result says", base, []byte{10, 1, 2, 'a', 'b'}, "", damagedDelta},
		{"less than the result says", base, []byte{10, 3, 1, 'a'}, "", damagedDelta},
		{"a result larger than objects may be", base, []byte{10, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, "", ErrTooLarge},
	} {
		r := &Repository{limits: Limits{Object: 1 << 20}, left: 1 << 20}
		got, err := r.applyDelta(c.base, c.delta)
		if !errors.Is(err, c.err) || string(got) != c.want {
			t.Errorf("%s: got %.20q with error %v, want %.20q with %v", c.name, got, err, c.want, c.err)
		}
	}
}

// What all deltas of a repository make is bounded, since a few bytes can copy a base again
// and again.
func TestApplyDeltaSpends(t *testing.T) {
	r := &Repository{limits: Limits{Object: 1 << 20}, left: 5}
	if _, err := r.applyDelta([]byte("0123456789"), []byte{10, 6, 6, 'a', 'b', 'c', 'd', 'e', 'f'}); !errors.Is(err,
		ErrSpent) {
		t.Errorf("got error %v, want that nothing is left", err)
	}
}

// TestParseEntryHead pins how an entry of a pack begins.
func TestParseEntryHead(t *testing.T) {
	for _, c := range []struct {
		name       string
		head       string
		kind, used int
		size       int64
	}{
		{"a size of four bits", "\x3A", 3, 1, 10},
		{"a size of eleven bits", "\x9F\x01", 1, 2, 15 + 1<<4},
		{"a size of eighteen bits", "\xE0\x80\x01", 6, 3, 1 << 11},
		{"a size that goes on", "\x90", 0, 0, 0},
		{"a size without end", "\x90" + strings.Repeat("\x80", 20), 0, 0, 0},
	} {
		kind, size, used := parseEntryHead([]byte(c.head))
		if kind != c.kind || size != c.size || used != c.used {
			t.Errorf("%s: kind %d, size %d, %d bytes, want %d, %d, %d", c.name, kind, size, used, c.kind, c.size,
				c.used)
		}
	}
}

func TestParseHash(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("0123456789", 4): true, strings.Repeat("a", 40): true, strings.Repeat("g", 40): false,
		strings.Repeat("a", 39): false, strings.Repeat("a", 41): false, "": false, "ref: refs/heads/main": false,
	} {
		if _, ok := parseHash(text); ok != want {
			t.Errorf("parseHash(%q) = %v, want %v", text, ok, want)
		}
	}
}

package scan

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

func TestPosition(t *testing.T) {
	l := NewLines([]byte("aä\n\nb"))
	for offset, want := range map[int][2]int{0: {1, 1}, 1: {1, 2}, 3: {1, 3}, 4: {2, 1}, 5: {3, 1}, 6: {3, 2},
		99: {3, 2}} {
		line, column := l.Position(offset)
		if got := [2]int{line, column}; got != want {
			t.Errorf("offset %d: got %v, want %v", offset, got, want)
		}
	}
	if line, column := NewLines(nil).Position(0); line != 1 || column != 1 {
		t.Errorf("in nothing: %d, %d", line, column)
	}
}

func TestSnippetAndCode(t *testing.T) {
	l := NewLines([]byte("1\r\n2\n3 ä x\n4\n5\n6\n7\n8"))
	for _, c := range []struct {
		at      finding.Location
		snippet *finding.Snippet
		code    string
	}{
		{finding.Location{StartLine: 1, EndLine: 1},
			&finding.Snippet{StartLine: 1, Lines: []string{"1", "2", "3 ä x", "4"}}, "1\n"},
		{finding.Location{StartLine: 8, EndLine: 8},
			&finding.Snippet{StartLine: 5, Lines: []string{"5", "6", "7", "8"}}, "8\n"},
		{finding.Location{StartLine: 3, EndLine: 3, StartColumn: 3, EndColumn: 4},
			&finding.Snippet{StartLine: 1, Lines: []string{"1", "2", "3 ä x", "4", "5", "6"}}, "ä\n"},
		{finding.Location{StartLine: 3, EndLine: 4, StartColumn: 5, EndColumn: 99},
			&finding.Snippet{StartLine: 1, Lines: []string{"1", "2", "3 ä x", "4", "5", "6", "7"}}, "x\n4\n"},
		{finding.Location{StartLine: 9, EndLine: 9}, nil, ""},
		{finding.Location{}, nil, "\n"},
	} {
		if diff := cmp.Diff(c.snippet, l.Snippet(c.at)); diff != "" {
			t.Errorf("%+v: snippet (-want +got):\n%s", c.at, diff)
		}
		if got := l.Code(c.at); got != c.code {
			t.Errorf("%+v: code %q, want %q", c.at, got, c.code)
		}
	}
	many := NewLines([]byte(strings.Repeat("x\n", 500))).Snippet(finding.Location{StartLine: 10, EndLine: 400})
	if many.StartLine != 7 || len(many.Lines) != maxSnippet {
		t.Errorf("a long place: from line %d, %d lines, want 7 and %d", many.StartLine, len(many.Lines), maxSnippet)
	}
}

// TestLongLine holds a finding on a line of megabytes to what it shows of the line.
func TestLongLine(t *testing.T) {
	const size = 8 << 20
	l := NewLines([]byte(strings.Repeat("ä", size/2)))
	at := finding.Location{StartLine: 1, EndLine: 1}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	snippet, code := l.Snippet(at), l.Code(at)
	runtime.ReadMemStats(&after)
	if got := snippet.Lines[0]; len(got) != maxLine || strings.Trim(got, "ä") != "" {
		t.Errorf("the snippet has %d bytes, want %d of whole characters", len(got), maxLine)
	}
	if len(code) != maxCode {
		t.Errorf("the code has %d bytes, want %d", len(code), maxCode)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > size/8 {
		t.Errorf("the line of %d bytes took %d bytes of memory", size, took)
	}
}

package scan

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"

	"merlon/internal/finding"
)

// Lines is a text with an index of its lines. It converts offsets into positions, and locations
// into snippets.
type Lines struct {
	text   []byte
	starts []int
}

// NewLines returns the lines of the text, which must not change afterwards.
func NewLines(text []byte) *Lines {
	l := &Lines{text: text, starts: make([]int, 0, bytes.Count(text, []byte{'\n'})+1)}
	for at := 0; at < len(text); {
		l.starts = append(l.starts, at)
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return l
}

// Position returns the line of the byte at the offset and its column in
// characters, both from 1. The end of the text belongs to its last line.
func (l *Lines) Position(offset int) (line, column int) {
	line = max(sort.SearchInts(l.starts, offset+1), 1)
	if len(l.starts) == 0 {
		return 1, 1
	}
	return line, utf8.RuneCount(l.text[l.starts[line-1]:min(offset, len(l.text))]) + 1
}

// lineText returns line n, which starts at 1, without its end.
func (l *Lines) lineText(n int) []byte {
	if n < 1 || n > len(l.starts) {
		return nil
	}
	end := len(l.text)
	if n < len(l.starts) {
		end = l.starts[n]
	}
	return bytes.TrimRight(l.text[l.starts[n-1]:end], "\r\n")
}

// Snippet returns the lines of the location and some context, and nil when the text has no such
// line. An analyzer that must not show the original file extracts its snippets from a redacted
// text.
func (l *Lines) Snippet(at finding.Location) *finding.Snippet {
	if at.StartLine < 1 || at.StartLine > len(l.starts) {
		return nil
	}
	first := max(at.StartLine-contextLines, 1)
	last := min(max(at.EndLine, at.StartLine)+contextLines, len(l.starts), first+maxSnippet-1)
	s := &finding.Snippet{StartLine: first}
	for n := first; n <= last; n++ {
		line := l.lineText(n)
		// One extra byte lets truncateText detect a longer line, without each finding
		// copying a line of megabytes.
		s.Lines = append(s.Lines, truncateText(string(line[:min(len(line), maxLine+1)]), maxLine))
	}
	return s
}

// Code returns at most maxCode bytes of the text at the location: between its columns when both
// are known, otherwise its whole lines.
func (l *Lines) Code(at finding.Location) string {
	var b strings.Builder
	last := max(at.EndLine, at.StartLine)
	for n := at.StartLine; n <= min(last, len(l.starts)); n++ {
		line := l.lineText(n)
		if at.StartColumn > 0 && at.EndColumn > 0 {
			if n == last {
				line = line[:columnOffset(line, at.EndColumn)]
			}
			if n == at.StartLine {
				line = line[columnOffset(line, at.StartColumn):]
			}
		}
		if room := maxCode - b.Len(); len(line) >= room {
			b.Write(line[:room])
			break
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// columnOffset returns the offset of the byte at which the column begins.
func columnOffset(line []byte, n int) int {
	at := 0
	for ; n > 1 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}

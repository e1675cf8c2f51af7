package document

import (
	"strings"
	"unicode/utf8"
)

// A Source is the text of a file, for places inside of values: where in the file
// a part of a scalar stands, whose style may be any of YAML's five.
type Source struct {
	lines []string
}

// NewSource splits the text into lines.
func NewSource(b []byte) *Source {
	lines := strings.Split(string(b), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return &Source{lines: lines}
}

// Line returns the line, counted from 1, or "".
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// A Place is a range of characters in a file, as finding.Location counts them.
type Place struct {
	Line, Column       int
	EndLine, EndColumn int // one past the last character
}

// maxSearch bounds how far behind a scalar's start its parts are looked for.
const maxSearch = 20_000

// Find returns the place of the part of a scalar's value that begins at offset.
// The scalar starts at line and column. The part is known by its first line, and
// by how often that stands before it in the value: the file holds it as often
// behind the scalar's start, whatever the style. When it is written with escapes
// it is not found, and the scalar's start is the answer.
func (s *Source) Find(line, column int, value string, offset, length int) Place {
	part := value[offset : offset+length]
	first, rest, more := strings.Cut(part, "\n")
	if strings.TrimSpace(first) == "" {
		return s.startOf(line, column, value)
	}
	if p, ok := s.findPart(line, column, value[:offset], first); ok {
		if more {
			p.EndLine, p.EndColumn = p.Line+strings.Count(rest, "\n")+1, 0
		}
		return p
	}
	// What is one line in the value may be several in the file: its first words
	// stand together more often than not.
	for words := strings.Fields(first); len(words) > 1; {
		words = words[:min(len(words)-1, 2)]
		if p, ok := s.findPart(line, column, value[:offset], strings.Join(words, " ")); ok {
			p.EndColumn = 0
			return p
		}
	}
	return s.startOf(line, column, value)
}

// findPart looks for a text behind a scalar's start, as often as it is in what is before
// it in the value.
func (s *Source) findPart(line, column int, before, first string) (Place, bool) {
	skip := strings.Count(before, first)
	for n := line; n <= len(s.lines) && n < line+maxSearch; n++ {
		text, from := s.lines[n-1], 0
		if n == line {
			from = bytesOf(text, column-1)
		}
		for {
			at := strings.Index(text[from:], first)
			if at < 0 {
				break
			}
			if skip > 0 {
				skip--
				from += at + len(first)
				continue
			}
			from += at
			p := Place{Line: n, Column: 1 + utf8.RuneCountInString(text[:from]), EndLine: n}
			p.EndColumn = p.Column + utf8.RuneCountInString(first)
			return p, true
		}
	}
	return Place{}, false
}

// startOf is the position of a scalar's first line.
func (s *Source) startOf(line, column int, value string) Place {
	p := Place{Line: line, Column: column, EndLine: line}
	if first, _, more := strings.Cut(value, "\n"); !more && strings.Contains(s.Line(line), first) {
		p.EndColumn = column + utf8.RuneCountInString(first)
	}
	return p
}

// bytesOf returns the number of bytes of the first n characters.
func bytesOf(text string, n int) int {
	for i := range text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(text)
}

// Whole returns the place of a node's scalar, or of the first line of anything
// else.
func (s *Source) Whole(n *Node) Place {
	if !n.IsScalar() || n.Block || n.Value == "" {
		return Place{Line: n.Line, Column: n.Column, EndLine: n.Line}
	}
	return s.startOf(n.Line, n.Column, n.Value)
}

// Part returns the place of a part of a node's scalar.
func (s *Source) Part(n *Node, offset, length int) Place {
	return s.Find(n.Line, n.Column, n.Value, offset, length)
}

// Comment returns the comment that ends the line, without #, and whether there is
// one. A # counts when white space is before it.
func (s *Source) Comment(line int) (string, bool) {
	text := s.Line(line)
	at := strings.LastIndex(text, " #")
	if at < 0 {
		at = strings.LastIndex(text, "\t#")
	}
	if at < 0 {
		if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "#") {
			return strings.TrimSpace(strings.TrimLeft(trimmed, "#")), true
		}
		return "", false
	}
	return strings.TrimSpace(strings.TrimLeft(text[at+1:], "#")), true
}

// Package generic matches rules on text that has no grammar: the modes "generic" and
// "regex" of the Semgrep format
// (https://semgrep.dev/docs/writing-rules/generic-pattern-matching).
//
// In the mode generic, text and pattern are words, single characters of punctuation
// and blocks. Blocks come from indentation, and in the text also from braces that
// open and close on one line. A pattern without blocks matches text with any; a block
// of a pattern matches one whole block of the text. An ellipsis skips what lies
// between, for a bounded number of lines.
//
// How matches join as the formula of a rule says is told in package pattern, which
// calls this one.
package generic

import (
	"strings"
)

// kind says what an item of a document or a pattern is.
type kind uint8

const (
	word     kind = iota // letters, digits and underscores of ASCII
	char                 // any other character, or one byte of it
	metavar              // pattern only: $X
	ellipsis             // pattern only: ... and $...X
	open                 // a block begins; it has at least one item
	shut                 // it ends
)

// An item is a word, a character or the edge of a block. Items are numbers only, so that a
// document of millions of words is small.
type item struct {
	start, end uint32 // bytes of the text
	line       uint32 // from 1
	kind       kind

	// Of an atom: the shut of the block that it is in, or the number of items.
	// Of open: its shut. Of shut: its open.
	other int32
}

// A Document is a text ready for patterns. It is safe for concurrent use. It is made once for a
// file and searched by many patterns.
type Document struct {
	text  string
	items []item
	words map[string][]int32 // where each word is
	chars [256][]int32       // where each character is
}

// NewDocument reads a text. comments is a style of Options.GenericComments of a rule:
// comments count as white space.
func NewDocument(text, comments string) *Document {
	d := &Document{text: text, words: map[string][]int32{}}
	d.items = buildBlocks(text, tokenize(blankComments(text, comments), false))
	for i := range d.items {
		switch it := &d.items[i]; it.kind {
		case word:
			w := text[it.start:it.end]
			d.words[w] = append(d.words[w], int32(i))
		case char:
			c := text[it.start]
			d.chars[c] = append(d.chars[c], int32(i))
		}
	}
	return d
}

// blankComments replaces comments by spaces, so that offsets and lines stay. The style is that of
// the rule.
func blankComments(text, style string) string {
	switch style {
	case "shell":
		return blankFrom(text, "#", "\n")
	case "cpp":
		return blankFrom(blankFrom(text, "//", "\n"), "/*", "*/")
	case "c":
		return blankFrom(text, "/*", "*/")
	}
	return text
}

// blankFrom replaces what is from each begin to the next end. A comment that does
// not end goes to the end of the text if lines end it, else it is none.
func blankFrom(text, begin, end string) string {
	if !strings.Contains(text, begin) {
		return text
	}
	out := []byte(text)
	for at := 0; ; {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return string(out)
		}
		i += at
		j := strings.Index(text[i+len(begin):], end)
		if j < 0 && end != "\n" {
			return string(out)
		}
		stop := len(text)
		if j >= 0 {
			stop = i + len(begin) + j + len(end)
		}
		for k := i; k < stop; k++ {
			if out[k] != '\n' && out[k] != '\r' {
				out[k] = ' '
			}
		}
		at = stop
	}
}

// A line is the atoms between two line ends, with the width of the white space
// before them; a tab counts as eight.
type line struct {
	indent int
	items  []item
}

// tokenize splits a text into lines that have atoms. Only a pattern has
// metavariables and ellipses.
func tokenize(text string, pattern bool) []line {
	var out []line
	number, at := uint32(1), 0
	for at < len(text) {
		stop := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			stop = at + i
		}
		end := stop
		if end > at && text[end-1] == '\r' && stop < len(text) {
			end--
		}
		l := line{}
		for at < end && (text[at] == ' ' || text[at] == '\t') {
			if l.indent++; text[at] == '\t' {
				l.indent += 7
			}
			at++
		}
		l.items = readAtoms(text[:end], at, number, pattern)
		if len(l.items) > 0 {
			out = append(out, l)
		}
		at = stop + 1
		number++
	}
	return out
}

// readAtoms reads one line of text from an offset. Metavariables and ellipses exist in patterns
// alone.
func readAtoms(text string, at int, number uint32, pattern bool) []item {
	var out []item
	for at < len(text) {
		c := text[at]
		if c == ' ' || c == '\t' {
			at++
			continue
		}
		if pattern && strings.HasPrefix(text[at:], "....") {
			for ; at < len(text) && text[at] == '.'; at++ { // four or more are dots
				out = append(out, item{start: uint32(at), end: uint32(at + 1), line: number, kind: char})
			}
			continue
		}
		n, k := 1, char
		switch {
		case isWord(c):
			n, k = wordLength(text[at:]), word
		case pattern:
			n, k = patternAtom(text[at:])
		}
		out = append(out, item{start: uint32(at), end: uint32(at + n), line: number, kind: k})
		at += n
	}
	return out
}

// wordLength returns the length of the word at the start of s.
func wordLength(s string) int {
	n := 1
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

// patternAtom returns the length and the kind of what a pattern has at the start of s
// besides words: an ellipsis, a metavariable or a character.
func patternAtom(s string) (int, kind) {
	if strings.HasPrefix(s, "...") {
		return 3, ellipsis
	}
	if s[0] == '$' {
		if m := metavariableLength(s); m > 0 {
			if s[1] == '.' {
				return m, ellipsis
			}
			return m, metavar
		}
	}
	return 1, char
}

// isWord reports whether the byte belongs to a word.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// metavariableLength returns the length of $X or $...X at the start of s, 0 for
// neither. Here names may go on in small letters.
func metavariableLength(s string) int {
	n := 1
	if strings.HasPrefix(s[1:], "...") {
		n = 4
	}
	if n >= len(s) || s[n] < 'A' || s[n] > 'Z' {
		return 0
	}
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

// buildBlocks puts lines behind each other, with the edges of blocks between them: more
// indentation opens one, less closes it. In a document, braces that match on one line have a block
// between them; text is its text, and "" for a pattern. Indentation is how most text without a
// grammar shows its structure.
func buildBlocks(text string, lines []line) []item {
	b := blockBuilder{text: text}
	b.levels = []level{{0, -1}}
	if len(lines) > 0 {
		b.levels[0].indent = lines[0].indent
	}
	for _, l := range lines {
		b.levels[0].indent = min(b.levels[0].indent, l.indent)
	}
	for _, l := range lines {
		for b.levels[len(b.levels)-1].indent > l.indent {
			b.leaveBlock()
		}
		if b.levels[len(b.levels)-1].indent < l.indent {
			b.levels = append(b.levels, level{l.indent, len(b.out)})
			b.out = append(b.out, item{start: l.items[0].start, end: l.items[0].start, line: l.items[0].line,
				kind: open})
		}
		b.addLine(l.items)
	}
	for len(b.levels) > 1 {
		b.leaveBlock()
	}
	return linkAtoms(b.out)
}

// A level is a block of lines that is open: its indentation and its first item. Levels are
// strictly deeper from the first to the last.
type level struct{ indent, at int }

// A blockBuilder puts lines behind each other with the edges of their blocks.
type blockBuilder struct {
	text   string
	out    []item
	levels []level
}

// leaveBlock closes the innermost block of lines. Its end is that of the last item in it.
func (b *blockBuilder) leaveBlock() {
	at := b.levels[len(b.levels)-1].at
	b.levels = b.levels[:len(b.levels)-1]
	last := b.out[len(b.out)-1]
	b.shutBlock(at, last.end, last.line)
}

// shutBlock appends the end of a block and links it with its beginning.
func (b *blockBuilder) shutBlock(at int, offset, line uint32) {
	b.out[at].other = int32(len(b.out))
	b.out = append(b.out, item{start: offset, end: offset, line: line, kind: shut, other: int32(at)})
}

// addLine appends the atoms of a line with the edges of the blocks between braces. Empty pairs of
// braces have no block.
func (b *blockBuilder) addLine(items []item) {
	partner := b.pairBraces(items)
	if partner == nil {
		b.out = append(b.out, items...)
		return
	}
	var opened []int
	for i, it := range items {
		j, braced := partner[i]
		if braced && j < i-1 {
			b.shutBlock(opened[len(opened)-1], it.start, it.line)
			opened = opened[:len(opened)-1]
		}
		b.out = append(b.out, it)
		if braced && j > i+1 {
			opened = append(opened, len(b.out))
			b.out = append(b.out, item{start: it.end, end: it.end, line: it.line, kind: open})
		}
	}
}

// pairBraces maps each brace of a line to its partner. A closing brace that does not
// fit the innermost open one is a character like others.
func (b *blockBuilder) pairBraces(items []item) map[int]int {
	if b.text == "" {
		return nil
	}
	var partner map[int]int
	var stack []int
	for i, it := range items {
		switch c := b.text[it.start]; c {
		case '(', '[', '{':
			stack = append(stack, i)
		case ')', ']', '}':
			if len(stack) == 0 {
				continue
			}
			from := stack[len(stack)-1]
			switch b.text[items[from].start:items[from].start+1] + string(c) {
			case "()", "[]", "{}":
				stack = stack[:len(stack)-1]
				if partner == nil {
					partner = map[int]int{}
				}
				partner[from], partner[i] = i, from
			}
		}
	}
	return partner
}

// linkAtoms tells every atom the end of its block. An ellipsis must not leave the block. It runs
// over the items once, with the ends of the blocks that are open. Blocks know their own ends
// already.
func linkAtoms(items []item) []item {
	end := []int32{int32(len(items))}
	for i := range items {
		switch items[i].kind {
		case open:
			end = append(end, items[i].other)
		case shut:
			end = end[:len(end)-1]
		default:
			items[i].other = end[len(end)-1]
		}
	}
	return items
}

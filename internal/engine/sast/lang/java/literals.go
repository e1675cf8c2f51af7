package java

import (
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerStringLiteral lowers a string or a text block; one with parts is a Template.
// String templates (preview of Java 21 and 22) have embedded expressions: "\{x}".
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	if !l.Has(i, "string_interpolation") {
		l.Put(tree.String, r, stringValue(l.Source(i)), i)
		return
	}
	l.Begin(tree.Template, r, i)
	start, end := l.Range(i)
	// A text block has three quotes on either side.
	quote := uint32(1)
	if strings.HasPrefix(l.Source(i), `"""`) {
		quote = 3
	}
	at := start + quote
	for c := range l.Children(i) {
		if l.Kind(c) == "string_interpolation" {
			from, to := l.Range(c)
			lowerText(l, at, from)
			l.Node(tree.RolePart, c)
			at = to
		}
	}
	// A damaged literal may be shorter than its quotes.
	if end >= start+2*quote {
		lowerText(l, at, end-quote)
	}
	l.Close()
}

// lowerText adds the part of a template between two bytes.
// Empty texts between two expressions are left out.
func lowerText(l *lang.Lowering, start, end uint32) {
	if start < end {
		l.Leaf(tree.String, tree.RolePart, unescapeText(l.File.Source[start:end]), start, end)
	}
}

// lowerCharacter lowers 'a'.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	s := l.Source(i)
	if len(s) >= 2 {
		s = s[1 : len(s)-1]
	}
	l.Put(tree.Character, r, unescapeText(s), i)
}

// stringValue returns the value of a string literal (JLS 3.10.5) or of a text block
// (3.10.6). A regular expression of a pattern, "=~/…/", keeps its escapes.
// A text block has its common indentation removed before escapes are resolved, as the
// specification demands.
func stringValue(source string) string {
	if s, ok := strings.CutPrefix(source, `"""`); ok && len(s) >= 3 {
		return unescapeText(stripIndent(s[:len(s)-3]))
	}
	// A lone quote is a damaged literal.
	if len(source) < 2 {
		return source
	}
	s := source[1 : len(source)-1]
	if strings.HasPrefix(s, "=~/") {
		return s
	}
	return unescapeText(s)
}

// stripIndent takes the blanks away that all lines of a text block have in common,
// those at the ends of lines, and the first line, which holds the quotes alone.
// The last line counts even if it is blank: its indentation is that of the closing quotes,
// which sets the margin (JLS 3.10.6).
func stripIndent(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		s = rest
	}
	lines := strings.Split(s, "\n")
	indent := -1
	for n, line := range lines {
		blank := strings.TrimLeft(line, " \t\f") == ""
		if blank && n < len(lines)-1 {
			continue
		}
		if w := len(line) - len(strings.TrimLeft(line, " \t\f")); indent < 0 || w < indent {
			indent = w
		}
	}
	for n, line := range lines {
		line = line[min(indent, len(line)):]
		lines[n] = strings.TrimRight(line, " \t\f")
	}
	return strings.Join(lines, "\n")
}

// simpleEscapes are the escapes of one letter.
// "\s" and the escaped line end exist since Java 15.
var simpleEscapes = map[byte]string{
	'b': "\b", 's': " ", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", '"': "\"", '\'': "'", '\\': "\\", '\n': "",
}

// unescapeText resolves escapes; invalid ones stay.
func unescapeText(s string) string {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 && at+1 < len(s) {
		// Text without escapes is copied in one piece.
		b.WriteString(s[:at])
		s = s[at:]
		value, n := decodeEscape(s)
		b.WriteString(value)
		s = s[n:]
		at = strings.IndexByte(s, '\\')
	}
	b.WriteString(s)
	return b.String()
}

// decodeEscape returns the value and the length of the escape at the start of the text,
// which has two bytes at least.
func decodeEscape(s string) (value string, n int) {
	c := s[1]
	if v, ok := simpleEscapes[c]; ok {
		return v, 2
	}
	// Octal escapes end at \377: "\477" is "\47" and "7".
	switch {
	case c >= '0' && c <= '7':
		return decodeOctal(s)
	// \uuuu0041 is valid (JLS 3.3). Escapes of this kind may hide code from readers.
	case c == 'u':
		digits := strings.TrimLeft(s[1:], "u") // any number of u
		if r, ok := decodeHex(digits); ok {
			return joinSurrogates(r, digits[4:], len(s)-len(digits)+4)
		}
	}
	return s[:2], 2
}

// decodeOctal returns the character of up to three octal digits, at most \377.
func decodeOctal(s string) (string, int) {
	v, n := 0, 1
	for n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '7' && v*8+int(s[n]-'0') <= 0o377 {
		v, n = v*8+int(s[n]-'0'), n+1
	}
	return string(rune(v)), n
}

// joinSurrogates joins the character with the second half of a pair, if one follows.
// Characters beyond U+FFFF are written as a pair of escapes (UTF-16).
func joinSurrogates(r rune, rest string, n int) (string, int) {
	if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(rest, `\u`) {
		if low, ok := decodeHex(rest[2:]); ok && low >= 0xdc00 && low < 0xe000 {
			return string((r-0xd800)<<10 + (low - 0xdc00) + 0x10000), n + 6
		}
	}
	// Half of a pair alone is no character; it becomes the replacement character.
	if !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return string(r), n
}

// decodeHex returns the value of four digits at the start of the text.
func decodeHex(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var v rune
	for i := range 4 {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

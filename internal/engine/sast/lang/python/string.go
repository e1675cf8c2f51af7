package python

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// prefix says what the letters before the quotes say.
type prefix struct{ format, raw, bytes bool }

// prefixOf reads the letters before the quotes of a literal, and the quotes.
func prefixOf(l *lang.Lowering, i int32) prefix {
	start := l.Source(l.Find(i, "string_start"))
	letters := strings.ToLower(strings.TrimRight(start, `"'`))
	return prefix{
		format: strings.ContainsAny(letters, "ft"), // t: the templates of version 3.14
		raw:    strings.Contains(letters, "r"),
		bytes:  strings.Contains(letters, "b"),
	}
}

// lowerStringLiteral lowers one literal: a Template when it has the prefix f, else a
// String.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	p := prefixOf(l, i)
	if p.format {
		l.Begin(tree.Template, r, i)
		lowerParts(l, i, p)
		l.Close()
		return
	}
	var b strings.Builder
	for c := range l.Children(i) {
		if l.Kind(c) == "string_content" {
			b.WriteString(p.decodeValue(l.Source(c)))
		}
	}
	node := l.Put(tree.String, r, b.String(), i)
	if p.raw || p.bytes {
		l.Flag(node, tree.Raw)
	}
}

// lowerConcatenated lowers literals side by side: to one String, or to one Template when
// one of them is one.
func lowerConcatenated(l *lang.Lowering, r tree.Role, i int32) {
	format := false
	for c := range l.Children(i) {
		format = format || l.Kind(c) == "string" && prefixOf(l, c).format
	}
	if format {
		l.Begin(tree.Template, r, i)
		for c := range l.Children(i) {
			if l.Kind(c) == "string" {
				lowerParts(l, c, prefixOf(l, c))
			}
		}
		l.Close()
		return
	}
	var b strings.Builder
	var flags tree.Flags
	for c := range l.Children(i) {
		p := prefixOf(l, c)
		if p.raw || p.bytes {
			flags = tree.Raw
		}
		for content := range l.Children(c) {
			if l.Kind(content) == "string_content" {
				b.WriteString(p.decodeValue(l.Source(content)))
			}
		}
	}
	l.Flag(l.Put(tree.String, r, b.String(), i), flags)
}

// lowerParts adds the parts of a literal to the open Template.
func lowerParts(l *lang.Lowering, i int32, p prefix) {
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "string_content":
			l.Put(tree.String, tree.RolePart, p.decodeValue(l.Source(c)), c)
		case "interpolation":
			lowerInterpolation(l, c)
		case "string_start", "string_end":
		default:
			l.Node(tree.RolePart, c)
		}
	}
}

// lowerInterpolation adds the expression in braces, and what follows it there.
func lowerInterpolation(l *lang.Lowering, i int32) {
	expression := l.Field(i, "expression")
	if l.Has(i, "=") {
		start, _ := l.Range(expression)
		_, end := l.Range(l.Find(i, "="))
		shown := l.Leaf(tree.String, tree.RolePart, l.File.Source[start:end], start, end)
		l.Flag(shown, tree.Implied)
	}
	l.Need(tree.RolePart, i, expression)
	if c := l.Field(i, "type_conversion"); c >= 0 {
		l.BeginText(tree.Other, tree.RolePart, "type_conversion", c)
		l.Same(tree.Token, tree.RoleElement, c)
		l.Close()
	}
	if c := l.Field(i, "format_specifier"); c >= 0 {
		lowerFormatSpecifier(l, c)
	}
}

// lowerFormatSpecifier keeps the text of a format as a Token, unless expressions are in
// it: those are its parts.
func lowerFormatSpecifier(l *lang.Lowering, i int32) {
	l.BeginText(tree.Other, tree.RolePart, "format_specifier", i)
	any := false
	for c := range l.Children(i) {
		any = true
		if inner := l.Field(c, "expression"); inner >= 0 {
			l.Node(tree.RoleElement, inner)
		} else {
			l.Node(tree.RoleElement, c)
		}
	}
	if !any {
		l.Same(tree.Token, tree.RoleElement, i)
	}
	l.Close()
}

// decodeValue resolves the escapes of a literal's content.
func (p prefix) decodeValue(s string) string {
	if p.format && strings.ContainsAny(s, "{}") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "{{", "{"), "}}", "}")
	}
	if p.raw || !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, n := decodeEscape(s[i:], p.bytes)
		b.WriteString(text)
		i += n
	}
	return b.String()
}

// simpleEscapes are the escapes of one character, and the end of a line, which a backslash
// removes.
var simpleEscapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t",
	'v': "\v",
}

// decodeEscape resolves the escape at the beginning of s, and returns its length. What is
// none stays. See "String and Bytes literals" in the language reference.
func decodeEscape(s string, bytes bool) (text string, n int) {
	c := s[1]
	if text, ok := simpleEscapes[c]; ok {
		return text, 2
	}
	switch {
	case c == '\r':
		return "", 2 + len(s[2:]) - len(strings.TrimPrefix(s[2:], "\n"))
	case c >= '0' && c <= '7':
		return decodeOctal(s)
	}
	if digits := hexDigits(c, bytes); digits > 0 && len(s) >= 2+digits {
		if v, err := strconv.ParseUint(s[2:2+digits], 16, 32); err == nil && v <= utf8.MaxRune {
			return string(rune(v)), 2 + digits
		}
	}
	return s[:2], 2
}

// decodeOctal resolves "\377": up to three octal digits, of which there is one.
func decodeOctal(s string) (text string, n int) {
	n = 2
	for n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '7' {
		n++
	}
	v, _ := strconv.ParseUint(s[1:n], 8, 32) // the digits were checked
	return string(rune(v)), n
}

// hexDigits returns how many hexadecimal digits follow the letter of an escape, 0 for
// other letters. Literals of bytes know "\x" alone.
func hexDigits(c byte, bytes bool) int {
	switch {
	case c == 'x':
		return 2
	case c == 'u' && !bytes:
		return 4
	case c == 'U' && !bytes:
		return 8
	}
	return 0
}

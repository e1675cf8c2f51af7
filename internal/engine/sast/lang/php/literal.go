package php

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// literals are the rules for values that are written down.
var literals = map[string]lang.Rule{
	"string":                    lowerSingleQuoted,
	"encapsed_string":           lowerDoubleQuoted,
	"heredoc":                   lowerHeredoc,
	"nowdoc":                    lowerNowdoc,
	"integer":                   lowerNumber,
	"float":                     lowerNumber,
	"boolean":                   lowerBoolean,
	"null":                      lang.Leaf(tree.Null, "null"),
	"array_creation_expression": lang.Around(tree.List, "", tree.RoleElement),
	"list_literal":              lowerListLiteral,
	"array_element_initializer": lowerElement,
	"pair":                      lowerElement,
}

// lowerNumber lowers a number without its separators.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), ""), i)
}

// lowerBoolean lowers true and false in any case.
func lowerBoolean(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Bool, r, strings.ToLower(l.Source(i)), i)
}

// lowerSingleQuoted lowers a string in which only the quote and the backslash are escaped.
func lowerSingleQuoted(l *lang.Lowering, r tree.Role, i int32) {
	s := strings.TrimLeft(l.Source(i), "bB")
	if len(s) >= 2 {
		s = s[1 : len(s)-1]
	}
	if strings.IndexByte(s, '\\') >= 0 && !lang.Expression(s) {
		s = strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(s)
	}
	l.Put(tree.String, r, s, i)
}

// lowerDoubleQuoted lowers a string that may have parts.
func lowerDoubleQuoted(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	for start < end && l.File.Source[start] != '"' {
		start++
	}
	lowerInterpolated(l, r, interpolation{outer: i, inner: i, start: min(start+1, end), end: max(start+1, end) - 1})
}

// lowerHeredoc lowers a here-document; the white space in front of its end is taken off
// the lines.
func lowerHeredoc(l *lang.Lowering, r tree.Role, i int32) {
	value := l.Field(i, "value")
	if value < 0 {
		l.Put(tree.String, r, "", i)
		return
	}
	start, end := l.Range(value)
	lowerInterpolated(l, r, interpolation{outer: i, inner: value, start: start, end: end, indent: endIndentation(l, i)})
}

// lowerNowdoc lowers "<<<'A'": a text in which nothing is an escape.
func lowerNowdoc(l *lang.Lowering, r tree.Role, i int32) {
	text := removeIndent(l.Source(l.Field(i, "value")), endIndentation(l, i))
	l.Flag(l.Put(tree.String, r, strings.TrimPrefix(text, "\n"), i), tree.Raw)
}

// endIndentation returns the white space in front of the end of a here-document.
func endIndentation(l *lang.Lowering, i int32) string {
	tag := l.Field(i, "end_tag")
	if tag < 0 {
		return ""
	}
	end, _ := l.Range(tag)
	start := end
	for start > 0 && (l.File.Source[start-1] == ' ' || l.File.Source[start-1] == '\t') {
		start--
	}
	return l.File.Source[start:end]
}

// removeIndent removes the white space from the start of every line that has it.
func removeIndent(text, indent string) string {
	if indent == "" {
		return text
	}
	return strings.ReplaceAll(text, "\n"+indent, "\n")
}

// An interpolation is a string with parts: the nodes of the literal and of what
// holds the parts, and the bytes between its quotes.
type interpolation struct {
	outer, inner int32
	start, end   uint32
	indent       string
}

// textKinds are the kinds of nodes in a string that are text.
var textKinds = map[string]bool{"string_content": true, "escape_sequence": true}

// lowerInterpolated lowers a string with parts to a Template, one without to a String.
func lowerInterpolated(l *lang.Lowering, r tree.Role, s interpolation) {
	var parts []int32
	for c := range l.Children(s.inner) {
		if !textKinds[l.Kind(c)] {
			parts = append(parts, c)
		}
	}
	text := func(from, to uint32) string {
		t := removeIndent(l.File.Source[from:max(from, to)], s.indent)
		if from == s.start && s.inner != s.outer {
			t = strings.TrimPrefix(strings.TrimPrefix(t, "\r"), "\n")
		}
		return unescapeText(t)
	}
	if len(parts) == 0 {
		l.Put(tree.String, r, text(s.start, s.end), s.outer)
		return
	}
	l.Begin(tree.Template, r, s.outer)
	from := s.start
	add := func(to uint32) {
		if t := text(from, to); t != "" {
			l.Leaf(tree.String, tree.RolePart, t, from, to)
		}
	}
	for _, c := range parts {
		start, end := l.Range(c)
		if isBraced(l, c) {
			start, end = start-1, braceEnd(l, end)
		}
		add(start)
		l.Node(tree.RolePart, c)
		from = max(from, min(end, s.end))
	}
	add(s.end)
	l.Close()
}

// isBraced reports whether a part of a string stands in braces.
func isBraced(l *lang.Lowering, i int32) bool {
	return i > 0 && l.Kind(i-1) == "{" && l.CST.Nodes[i-1].Parent == l.CST.Nodes[i].Parent
}

// braceEnd returns where the brace ends that follows the place, blanks left out; the
// place itself when none does.
func braceEnd(l *lang.Lowering, at uint32) uint32 {
	rest := l.File.Source[at:]
	trimmed := strings.TrimLeft(rest, " \t\r\n")
	if !strings.HasPrefix(trimmed, "}") {
		return at
	}
	return at + uint32(len(rest)-len(trimmed)) + 1
}

// lowerCommand lowers a command in backquotes to a call of "`".
func lowerCommand(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	l.Begin(tree.Call, r, i)
	l.Leaf(tree.Name, tree.RoleCallee, "`", start, start+1)
	lowerInterpolated(l, tree.RoleArgument, interpolation{outer: i, inner: i, start: start + 1,
		end: max(start+1, end-1)})
	l.Close()
}

// lowerElement lowers an element of an array, or a pair of a loop.
func lowerElement(l *lang.Lowering, r tree.Role, i int32) {
	if !l.Has(i, "=>") {
		lang.Inner(l, r, i)
		return
	}
	key, value := l.First(i), int32(-1)
	for c := range l.Children(i) {
		value = c
	}
	l.Begin(tree.Pair, r, i)
	l.Need(tree.RoleKey, i, key)
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// lowerListLiteral lowers a pattern of variables; its pairs have no node in the grammar.
func lowerListLiteral(l *lang.Lowering, r tree.Role, i int32) {
	k := tree.List
	if l.Has(i, "=>") {
		k = tree.Map
	}
	l.Begin(k, r, i)
	missing, before := true, int32(-1)
	end := func() {
		if before >= 0 {
			l.Node(tree.RoleElement, before)
			before = -1
		}
	}
	for c := range l.Every(i) {
		switch kind := l.Kind(c); {
		case l.Extra(c), kind == "=>", kind == "(", kind == "[":
		case kind == ",":
			end()
			if missing {
				start, _ := l.Range(c)
				l.Leaf(tree.Empty, tree.RoleElement, "", start, start)
			}
			missing = true
		case !l.Named(c):
		case before >= 0: // the value of a pair
			start, _ := l.Range(before)
			_, stop := l.Range(c)
			l.Open(tree.Pair, tree.RoleElement, start, stop)
			l.Node(tree.RoleKey, before)
			l.Node(tree.RoleValue, c)
			l.Close()
			before = -1
		default:
			before, missing = c, false
		}
	}
	end()
	l.Close()
}

// simpleEscapes are the escapes of one character in double quotes (the PHP manual,
// "Strings").
var simpleEscapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'v': "\v", 'e': "\x1b", 'f': "\f", '\\': `\`, '$': "$", '"': `"`, '`': "`",
}

// unescapeText resolves the escapes of a string in double quotes (the PHP manual,
// "Strings"). What is none stays.
func unescapeText(s string) string {
	if strings.IndexByte(s, '\\') < 0 || lang.Expression(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) {
			if text, n := decodeEscape(s[i+1:]); n > 0 {
				b.WriteString(text)
				i += 1 + n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// decodeEscape returns what the text after a backslash means and how many bytes of it; 0
// when it is no escape.
func decodeEscape(s string) (string, int) {
	switch c := s[0]; {
	case simpleEscapes[c] != "":
		return simpleEscapes[c], 1
	case c >= '0' && c <= '7':
		n := countDigits(s, 3, '7')
		v, _ := strconv.ParseUint(s[:n], 8, 16) // at most three octal digits
		return string([]byte{byte(v)}), n
	case c == 'x':
		n := countDigits(s[1:], 2, 'f')
		if n == 0 {
			return "", 0
		}
		v, _ := strconv.ParseUint(s[1:1+n], 16, 8) // one or two digits
		return string([]byte{byte(v)}), 1 + n
	case strings.HasPrefix(s, "u{"):
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return "", 0
		}
		v, err := strconv.ParseUint(s[2:end], 16, 32)
		if err != nil || v > utf8.MaxRune {
			return "", 0
		}
		return string(rune(v)), end + 1
	}
	return "", 0
}

// countDigits counts the leading digits, at most limit, of a base whose last digit is
// given.
func countDigits(s string, limit int, last byte) int {
	n := 0
	for n < limit && n < len(s) && (s[n] >= '0' && s[n] <= min(last, '9') || last == 'f' && (s[n]|32) >= 'a' &&
		(s[n]|32) <= 'f') {
		n++
	}
	return n
}

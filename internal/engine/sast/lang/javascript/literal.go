package javascript

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// literals are the rules for values that are written down: texts, numbers, objects, lists.
var literals = map[string]lang.Rule{
	"string":                    lowerStringLiteral,
	"template_string":           lowerTemplate,
	"template_substitution":     lang.Inner,
	"number":                    lowerNumber,
	"regex":                     lang.Same(tree.Regex),
	"true":                      lang.Same(tree.Bool),
	"false":                     lang.Same(tree.Bool),
	"null":                      lang.Same(tree.Null),
	"undefined":                 lang.Same(tree.Null),
	"array":                     lowerList,
	"array_pattern":             lowerList,
	"object":                    lang.Around(tree.Map, "", tree.RoleElement),
	"object_pattern":            lang.Around(tree.Map, "", tree.RoleElement),
	"pair":                      lowerPair,
	"pair_pattern":              lowerPair,
	"object_assignment_pattern": lowerShortDefault,
	"computed_property_name":    lang.Inner,
}

// lowerNumber lowers a number without its separators and the "n" of big ones.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), "n"), i)
}

// lowerStringLiteral lowers a string in single or double quotes.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, stringValue(l, i), i)
}

// stringValue returns the value of a string in single or double quotes.
func stringValue(l *lang.Lowering, i int32) string {
	s := l.Source(i)
	if len(s) < 2 {
		return s
	}
	return unescapeText(s[1 : len(s)-1])
}

// lowerTemplate lowers a template string; one without parts is a String.
func lowerTemplate(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	if !l.Has(i, "template_substitution") && end >= start+2 {
		l.Put(tree.String, r, unescapeText(l.File.Source[start+1:end-1]), i)
		return
	}
	l.Begin(tree.Template, r, i)
	from := start + 1
	text := func(to uint32) {
		if from < to {
			l.Leaf(tree.String, tree.RolePart, unescapeText(l.File.Source[from:to]), from, to)
		}
	}
	for c := range l.Children(i) {
		if l.Kind(c) != "template_substitution" {
			continue
		}
		s, e := l.Range(c)
		text(s)
		l.Node(tree.RolePart, c)
		from = e
	}
	text(max(from, end) - 1)
	l.Close()
}

// lowerList lowers an array or a pattern of one. A missing element is Empty.
func lowerList(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.List, r, i)
	missing := true
	for c := range l.Every(i) {
		switch {
		case l.Extra(c) && l.Kind(c) != "ERROR", l.Kind(c) == "[", l.Kind(c) == "]":
		case l.Kind(c) == ",":
			if missing {
				start, _ := l.Range(c)
				l.Leaf(tree.Empty, tree.RoleElement, "", start, start)
			}
			missing = true
		default:
			l.Node(tree.RoleElement, c)
			missing = false
		}
	}
	l.Close()
}

// lowerPair lowers "a: b" of an object.
func lowerPair(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Pair, r, i)
	lowerKey(l, l.Field(i, "key"), i)
	l.Need(tree.RoleValue, i, l.Field(i, "value"))
	l.Close()
}

// lowerKey lowers the key of a pair: a plain one is a String that the source does not
// spell, a computed one the expression.
func lowerKey(l *lang.Lowering, i, pair int32) {
	switch kind := l.Kind(i); {
	case kind == "property_identifier" && !lang.Holder(l.Source(i)):
		l.Flag(l.Put(tree.String, tree.RoleKey, unescapeIdentifier(l.Source(i)), i), tree.Implied)
	case kind == "string":
		l.Flag(l.Put(tree.String, tree.RoleKey, stringValue(l, i), i), tree.Implied)
	default:
		l.Need(tree.RoleKey, pair, i)
	}
}

// lowerShorthand lowers "{a}" as "{a: a}". A sign of a pattern stays alone.
func lowerShorthand(l *lang.Lowering, r tree.Role, i int32) {
	text := unescapeIdentifier(l.Source(i))
	if lang.Holder(text) {
		l.Put(tree.Name, r, text, i)
		return
	}
	l.Begin(tree.Pair, r, i)
	l.Flag(l.Put(tree.String, tree.RoleKey, text, i), tree.Implied)
	l.Flag(l.Put(tree.Name, tree.RoleValue, text, i), tree.Implied)
	l.Close()
}

// lowerShortDefault lowers "{a = 1}" of a pattern as "{a: a = 1}".
func lowerShortDefault(l *lang.Lowering, r tree.Role, i int32) {
	left := l.Field(i, "left")
	short := l.Kind(left) == "shorthand_property_identifier_pattern"
	if short {
		l.Begin(tree.Pair, r, i)
		l.Flag(l.Put(tree.String, tree.RoleKey, unescapeIdentifier(l.Source(left)), left), tree.Implied)
		r = tree.RoleValue
	}
	l.BeginText(tree.Assign, r, "=", i)
	if short {
		l.Flag(l.Put(tree.Name, tree.RoleTarget, unescapeIdentifier(l.Source(left)), left), tree.Implied)
	} else {
		l.Need(tree.RoleTarget, i, left)
	}
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
	if short {
		l.Close()
	}
}

// unescapeText resolves the escapes of a string or template (ECMA-262, 12.9.4). One that
// is not valid stays.
func unescapeText(s string) string {
	if strings.IndexByte(s, '\\') < 0 || lang.Expression(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, n := decodeEscape(s[i+1:])
		b.WriteString(text)
		i += 1 + n
	}
	return b.String()
}

// simpleEscapes are the escapes of one character (ECMA-262, 12.9.4, SingleEscapeCharacter).
var simpleEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v"}

// decodeEscape returns what the text after a backslash means, and how many bytes of it.
func decodeEscape(s string) (string, int) {
	switch c := s[0]; {
	case simpleEscapes[c] != "":
		return simpleEscapes[c], 1
	case c == 'x' && len(s) >= 3:
		if v, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			return string(rune(v)), 3
		}
	case c == 'u':
		if v, n := decodeUnicode(s); n > 0 {
			return v, n
		}
	case c >= '0' && c <= '7':
		return decodeOctal(s)
	default:
		if n := lineEnd(s); n > 0 {
			return "", n // a line that goes on
		}
		_, n := utf8.DecodeRuneInString(s)
		return s[:n], n
	}
	return "\\" + s[:1], 1
}

// lineEnd returns the number of bytes of the line end that the text begins with, 0 for none
// (ECMA-262, 12.3).
func lineEnd(s string) int {
	for _, end := range [...]string{"\r\n", "\n", "\r", "\u2028", "\u2029"} {
		if strings.HasPrefix(s, end) {
			return len(end)
		}
	}
	return 0
}

// decodeUnicode returns the character of "u12ab" or "u{12ab}", two halves of a surrogate
// pair included, and the number of bytes of it; 0 when it is none.
func decodeUnicode(s string) (string, int) {
	v, n := unicodeEscape(s)
	if n == 0 {
		return "", 0
	}
	if low, m := lowSurrogate(s[n:]); utf16.IsSurrogate(v) && m > 0 {
		return string(utf16.DecodeRune(v, low)), n + m
	}
	return string(v), n
}

// decodeOctal returns the character of up to three octal digits, at most \377, and their
// number (ECMA-262, B.1.2: LegacyOctalEscapeSequence).
func decodeOctal(s string) (string, int) {
	n := 1
	for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' && (n < 2 || s[0] <= '3') {
		n++
	}
	v, _ := strconv.ParseUint(s[:n], 8, 16) // the digits were checked
	return string(rune(v)), n
}

// unicodeEscape reads "u12ab" or "u{12ab}"; n is 0 when it is none.
func unicodeEscape(s string) (v rune, n int) {
	digits, n := "", 0
	if strings.HasPrefix(s, "u{") {
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return 0, 0
		}
		digits, n = s[2:end], end+1
	} else if len(s) >= 5 {
		digits, n = s[1:5], 5
	}
	code, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, 0
	}
	return rune(code), n
}

// lowSurrogate reads the second half of a pair.
func lowSurrogate(s string) (rune, int) {
	if !strings.HasPrefix(s, `\u`) {
		return 0, 0
	}
	v, n := unicodeEscape(s[1:])
	if n == 0 || v < 0xdc00 || v > 0xdfff {
		return 0, 0
	}
	return v, n + 1
}

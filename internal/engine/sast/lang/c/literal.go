package c

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerNumber keeps a number's text without separators and suffix.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(strings.ReplaceAll(l.Source(i), "'", ""), "uUlLfFzZ"), i)
}

// lowerCharacter lowers 'a'; its prefix (L, u8) changes its type alone.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	text := l.Source(i)
	if n := strings.IndexByte(text, '\''); n >= 0 {
		text = strings.TrimSuffix(text[n+1:], "'")
	}
	l.Put(tree.Character, r, unescapeText(text), i)
}

// lowerStringLiteral lowers a string; a raw one, R"(a)", has the flag.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	node := l.Put(tree.String, r, literalText(l, i), i)
	if strings.Contains(l.Kind(i), "raw") {
		l.Flag(node, tree.Raw)
	}
}

// literalText returns the value of a literal.
func literalText(l *lang.Lowering, i int32) string {
	s := l.Source(i)
	switch l.Kind(i) {
	case "system_lib_string":
		return strings.Trim(s, "<>")
	case "raw_string_literal":
		return l.Source(l.Find(i, "raw_string_content"))
	case "string_literal":
		if n := strings.IndexByte(s, '"'); n >= 0 {
			s = strings.TrimSuffix(s[n+1:], `"`)
		}
		return unescapeText(s)
	}
	return ""
}

// lowerConcatenated lowers literals side by side: a String, or a Template when names of
// macros are among them.
func lowerConcatenated(l *lang.Lowering, r tree.Role, i int32) {
	var b strings.Builder
	names := false
	for c := range l.Children(i) {
		names = names || l.Kind(c) == "identifier"
		b.WriteString(literalText(l, c))
	}
	if !names {
		l.Put(tree.String, r, b.String(), i)
		return
	}
	l.Begin(tree.Template, r, i)
	l.Nodes(tree.RolePart, i)
	l.Close()
}

// escapes are those of C (C17, 6.4.4.4) but for the octal ones.
var escapes = lang.Escapes{
	Letters: map[byte]string{
		'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': "'", '"': `"`, '?': "?", 'a': "\a", 'b': "\b", 'f': "\f",
		'v': "\v",
		'0': "\x00", 'e': "\x1b", '\n': "",
	},
	Digits: map[byte][2]int{'x': {1, 2}, 'u': {4, 4}, 'U': {8, 8}},
}

// unescapeText resolves the escapes of C (C17, 6.4.4.4).
func unescapeText(s string) string { return escapes.Unescape(s) }

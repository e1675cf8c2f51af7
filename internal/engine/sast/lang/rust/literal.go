package rust

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// suffixes are those of numbers.
var suffixes = []string{"u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
	"f64"}

// lowerNumber keeps a number's text without separators and suffix.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	text := strings.ReplaceAll(l.Source(i), "_", "")
	for _, s := range suffixes {
		if t, ok := strings.CutSuffix(text, s); ok && t != "" && (!strings.HasPrefix(text, "0x") || s[0] != 'f') {
			text = t
			break
		}
	}
	l.Put(tree.Number, r, text, i)
}

// escapes are the escapes of one character, and those with two hexadecimal digits.
var escapes = lang.Escapes{
	Letters: map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': "'", '"': `"`, '0': "\x00"},
	Digits:  map[byte][2]int{'x': {2, 2}},
}

// unescapeText resolves the escapes of a literal; "\u{1F600}" has braces here.
func unescapeText(s string) string {
	if digits, ok := strings.CutPrefix(s, `\u{`); ok {
		v, err := strconv.ParseUint(strings.ReplaceAll(strings.TrimSuffix(digits, "}"), "_", ""), 16, 32)
		if err == nil && v <= utf8.MaxRune {
			return string(rune(v))
		}
		return s
	}
	return escapes.Unescape(s)
}

// lowerCharacter lowers 'a' and b'a'.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	text := strings.TrimPrefix(l.Source(i), "b")
	l.Put(tree.Character, r, unescapeText(strings.TrimSuffix(strings.TrimPrefix(text, "'"), "'")), i)
}

// lowerStringLiteral lowers a literal. A backslash at the end of a line removes the blanks
// that follow it.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	if l.Kind(i) == "raw_string_literal" {
		l.Flag(l.Put(tree.String, r, l.Source(l.Find(i, "string_content")), i), tree.Raw)
		return
	}
	var b strings.Builder
	for c := range l.Children(i) {
		text := l.Source(c)
		switch {
		case l.Kind(c) != "escape_sequence":
			b.WriteString(text)
		case strings.HasPrefix(text, "\\\n"), strings.HasPrefix(text, "\\\r"):
		default:
			b.WriteString(unescapeText(text))
		}
	}
	node := l.Put(tree.String, r, b.String(), i)
	if strings.HasPrefix(l.Source(i), "b") {
		l.Flag(node, tree.Raw)
	}
}

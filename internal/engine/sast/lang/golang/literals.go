package golang

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerNumber lowers a number without its separators; "2i" keeps its letter.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), ""), i)
}

// lowerStringLiteral lowers a string in quotes or backquotes.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, stringValue(l.Source(i)), i)
}

// lowerCharacter lowers a rune to its character.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Character, r, stringValue(l.Source(i)), i)
}

// stringValue returns the value of a literal in quotes of any kind. A regular
// expression of a pattern, "=~/…/", keeps its escapes.
func stringValue(source string) string {
	if len(source) < 2 {
		return source
	}
	s := source[1 : len(source)-1]
	if source[0] == '`' {
		return strings.ReplaceAll(s, "\r", "")
	}
	if strings.HasPrefix(s, "=~/") || !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, multibyte, rest, err := strconv.UnquoteChar(s, 0)
		switch {
		case err != nil: // an invalid escape stays
			_, n := utf8.DecodeRuneInString(s)
			b.WriteString(s[:n])
			rest = s[n:]
		case multibyte || r < utf8.RuneSelf:
			b.WriteRune(r)
		default:
			b.WriteByte(byte(r))
		}
		s = rest
	}
	return b.String()
}

package dockerfile

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// splitWords splits a text at blanks outside of quotes.
func splitWords(l *lang.Lowering, s span, escape byte) []span {
	var list []span
	text := s.sourceText(l)
	start, quote := -1, byte(0)
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || quote == 0 && strings.IndexByte(" \t\r\n", text[i]) >= 0:
			if start >= 0 {
				list = append(list, span{s.start + uint32(start), s.start + uint32(i)})
			}
			start = -1
			continue
		case text[i] == escape && i+1 < len(text):
			if start < 0 {
				start = i
			}
			i++
			continue
		case quote != 0 && text[i] == quote:
			quote = 0
		case quote == 0 && (text[i] == '"' || text[i] == '\''):
			quote = text[i]
		}
		if start < 0 {
			start = i
		}
	}
	return list
}

// variable finds the use of a variable, with or without a modifier.
var variable = regexp.MustCompile(`\$(?:(\w+)|\{(\w+)(?::?[-+?#%/][^}]*)?\})`)

// lowerWord adds a word: a String without its quotes, a Unary "$" for a variable alone, a
// Template when variables are in it.
func lowerWord(l *lang.Lowering, r tree.Role, s span) {
	text := s.sourceText(l)
	if lang.Holder(text) {
		l.Leaf(tree.Name, r, text, s.start, s.end)
		return
	}
	var found [][]int
	if !strings.HasPrefix(text, "'") {
		found = variable.FindAllStringSubmatchIndex(text, -1)
	}
	switch {
	case len(found) == 0:
		l.Leaf(tree.String, r, unquoteWord(text), s.start, s.end)
		return
	case len(found) == 1 && found[0][0] == 0 && found[0][1] == len(text):
		lowerVariableUse(l, r, s, found[0])
		return
	}
	l.Open(tree.Template, r, s.start, s.end)
	at := 0
	for _, m := range found {
		lowerLiteral(l, s, at, m[0])
		lowerVariableUse(l, tree.RolePart, s, m)
		at = m[1]
	}
	lowerLiteral(l, s, at, len(text))
	l.Close()
}

// lowerVariableUse adds a variable.
func lowerVariableUse(l *lang.Lowering, r tree.Role, s span, m []int) {
	l.File.Nodes[l.Open(tree.Unary, r, s.start+uint32(m[0]), s.start+uint32(m[1]))].Text = "$"
	from, to := m[2], m[3]
	if from < 0 {
		from, to = m[4], m[5]
	}
	name := s.sourceText(l)[from:to]
	l.Leaf(tree.Name, tree.RoleValue, name, s.start+uint32(from), s.start+uint32(to))
	l.Close()
}

// lowerLiteral adds the text between two variables.
func lowerLiteral(l *lang.Lowering, s span, from, to int) {
	if text := strings.Trim(s.sourceText(l)[from:to], `"`); text != "" {
		l.Leaf(tree.String, tree.RolePart, text, s.start+uint32(from), s.start+uint32(to))
	}
}

// unquoteWord removes the quotes around a word, or inside of it.
func unquoteWord(text string) string {
	if !strings.ContainsAny(text, `"'`) {
		return text
	}
	var b strings.Builder
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

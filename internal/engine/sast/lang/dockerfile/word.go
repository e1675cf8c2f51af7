package dockerfile

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// splitWords splits a text at blanks outside of quotes.
// It follows the rules of the shell form of instructions: quotes group, and the escape
// character (backslash, or backquote after "# escape=`" on Windows images) takes the meaning
// of the next one. Blanks of every kind separate.
func splitWords(l *lang.Lowering, s span, escape byte) []span {
	var list []span
	text := s.sourceText(l)
	// start is -1 between two words, quote is the quote that is open or 0.
	start, quote := -1, byte(0)
	for i := 0; i <= len(text); i++ {
		switch {
		// The end of the text ends the last word, also one whose quote was never closed.
		case i == len(text) || quote == 0 && strings.IndexByte(" \t\r\n", text[i]) >= 0:
			if start >= 0 {
				list = append(list, span{s.start + uint32(start), s.start + uint32(i)})
			}
			start = -1
			continue
		// An escaped byte never separates or closes; an escaped quote is part of the word.
		case text[i] == escape && i+1 < len(text):
			if start < 0 {
				start = i
			}
			i++
			continue
		case quote != 0 && text[i] == quote:
			quote = 0
		// Inside of one kind of quotes the other is an ordinary character: "it's".
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
// The modifiers are those that BuildKit knows: ${x:-default}, ${x:+other}, ${x#prefix},
// ${x%suffix} and ${x/a/b}. The modifier itself is left out of the tree.
var variable = regexp.MustCompile(`\$(?:(\w+)|\{(\w+)(?::?[-+?#%/][^}]*)?\})`)

// lowerWord adds a word: a String without its quotes, a Unary "$" for a variable alone, a
// Template when variables are in it.
// Single quotes keep variables from being expanded, as in the shell.
func lowerWord(l *lang.Lowering, r tree.Role, s span) {
	text := s.sourceText(l)
	// A sign of a pattern, such as $X of a rule, stands for any word and stays a Name.
	if lang.Holder(text) {
		l.Leaf(tree.Name, r, text, s.start, s.end)
		return
	}
	var found [][]int
	if !strings.HasPrefix(text, "'") {
		found = variable.FindAllStringSubmatchIndex(text, -1)
	}
	// No variable: a plain text.
	switch {
	case len(found) == 0:
		l.Leaf(tree.String, r, unquoteWord(text), s.start, s.end)
		return
	// The word is one variable and nothing else: patterns can then match it as an expression.
	case len(found) == 1 && found[0][0] == 0 && found[0][1] == len(text):
		lowerVariableUse(l, r, s, found[0])
		return
	}
	// Anything else is a Template of texts and variables, in the order of the source.
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
// Its form is that of the shell languages, Unary "$" over the Name, so that rules for both are
// alike.
func lowerVariableUse(l *lang.Lowering, r tree.Role, s span, m []int) {
	l.File.Nodes[l.Open(tree.Unary, r, s.start+uint32(m[0]), s.start+uint32(m[1]))].Text = "$"
	// The first group is $x, the second ${x}.
	from, to := m[2], m[3]
	if from < 0 {
		from, to = m[4], m[5]
	}
	name := s.sourceText(l)[from:to]
	l.Leaf(tree.Name, tree.RoleValue, name, s.start+uint32(from), s.start+uint32(to))
	l.Close()
}

// lowerLiteral adds the text between two variables.
// Quotes at the edges belong to the word and not to its text.
func lowerLiteral(l *lang.Lowering, s span, from, to int) {
	if text := strings.Trim(s.sourceText(l)[from:to], `"`); text != "" {
		l.Leaf(tree.String, tree.RolePart, text, s.start+uint32(from), s.start+uint32(to))
	}
}

// unquoteWord removes the quotes around a word, or inside of it.
// Quotes may be anywhere in a word: a"b c"d is one word, ab cd without its quotes. Escapes are
// kept, since Windows paths contain them.
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

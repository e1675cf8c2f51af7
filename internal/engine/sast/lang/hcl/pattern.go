package hcl

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// many is a sign for any number of things.
var many = regexp.MustCompile(`^(?:\.\.\.|\$\.\.\.[A-Z_][A-Z_0-9]*)`)

// skipVerbatim returns the end of what begins at i and stays as it is (a string, a
// comment, the brackets of a deep expression), and the byte that stands for it as the
// last one; i itself for anything else. A comment leaves the last byte as it was.
func skipVerbatim(text string, i int, last byte) (end int, ends byte) {
	switch rest := text[i:]; {
	case rest[0] == '"':
		return skipString(text, i), '"'
	case rest[0] == '#' || strings.HasPrefix(rest, "//"):
		return i + strings.IndexByte(rest+"\n", '\n'), last
	case strings.HasPrefix(rest, "<...") || strings.HasPrefix(rest, "...>"):
		return i + 4, '('
	}
	return i, last
}

// preparePattern makes signs that stand alone in a body or an object attributes, which is
// all that the grammar takes there: "..." becomes "... = ...".
func preparePattern(text string) []string {
	var b strings.Builder
	var open []byte
	last := byte('\n') // the last byte that is no blank
	for i := 0; i < len(text); {
		c := text[i]
		if end, ends := skipVerbatim(text, i, last); end > i {
			b.WriteString(text[i:end])
			i, last = end, ends
			continue
		}
		if sign := many.FindString(text[i:]); sign != "" {
			b.WriteString(sign)
			inBody := len(open) == 0 && last == '\n' || len(open) > 0 && open[len(open)-1] == '{'
			if inBody && standsAlone(text, i, last) {
				b.WriteString(" = " + sign)
				last = '\n'
			} else {
				last = 'x'
			}
			i += len(sign)
			continue
		}
		switch {
		case c == '(' || c == '[' || c == '{':
			open = append(open, c)
		case (c == ')' || c == ']' || c == '}') && len(open) > 0:
			open = open[:len(open)-1]
		}
		b.WriteByte(c)
		if c != ' ' && c != '\t' && (c != '\n' || len(open) == 0) {
			last = c
		}
		i++
	}
	return []string{b.String()}
}

// standsAlone reports whether a sign at i is no operand and follows no expression directly.
func standsAlone(text string, i int, last byte) bool {
	return !strings.ContainsRune("=:?&|+-*/%<>!(.", rune(last)) &&
		(i == 0 || strings.ContainsRune(" \t\n,{", rune(text[i-1])))
}

// skipString returns the index behind a text in quotes.
func skipString(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(text)
}

// finishPattern makes several attributes or blocks, which are a part of a body, the Map
// that has at least these elements. A top level of blocks and signs stays a Block.
func finishPattern(f *tree.File) *tree.File {
	pairs := false
	for c := range f.Children(tree.Root) {
		pairs = pairs || f.Nodes[c].Kind == tree.Pair
	}
	if !f.Is(tree.Root, tree.Block) || !pairs {
		return f
	}
	out := &tree.File{Language: f.Language, Source: f.Source}
	b := &tree.Builder{File: out}
	root := f.Nodes[tree.Root]
	b.Open(tree.Map, tree.RoleNone, root.Start, root.End)
	b.Leaf(tree.Ellipsis, tree.RoleElement, "", root.Start, root.Start)
	for c := range f.Children(tree.Root) {
		lang.Copy(b, f, c, tree.RoleElement)
	}
	b.Leaf(tree.Ellipsis, tree.RoleElement, "", root.End, root.End)
	return b.Finish()
}

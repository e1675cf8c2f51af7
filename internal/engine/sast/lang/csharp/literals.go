package csharp

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// escapes are those of C# (specification, 6.4.5.5).
var escapes = &lang.Escapes{
	Letters: map[byte]string{
		'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '\'': "'", '"': "\"",
		'\\': "\\", '0': "\x00",
	},
	Digits: map[byte][2]int{'u': {4, 4}, 'U': {8, 8}, 'x': {1, 4}},
}

// trimQuotes returns what stands between the quotes.
func trimQuotes(source string) string {
	first, last := strings.IndexAny(source, `"'`), strings.LastIndexAny(source, `"'`)
	if first < 0 || last <= first {
		return source
	}
	return source[first+1 : last]
}

// lowerCharacter lowers 'a'.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Character, r, escapes.Unescape(trimQuotes(l.Source(i))), i)
}

// lowerStringLiteral lowers a string. A regular expression of a pattern, "=~/…/", keeps
// its escapes.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	s := trimQuotes(l.Source(i))
	if !strings.HasPrefix(s, "=~/") {
		s = escapes.Unescape(s)
	}
	l.Put(tree.String, r, s, i)
}

// lowerVerbatim lowers @"…", in which two quotes are one.
func lowerVerbatim(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, strings.ReplaceAll(trimQuotes(l.Source(i)), `""`, `"`), i)
}

// lowerRawString lowers """…""" (C# 11), in which nothing is an escape.
func lowerRawString(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, l.Source(l.Find(i, "raw_string_content")), i)
}

// lowerInterpolated lowers $"…": its texts and the expressions in braces.
func lowerInterpolated(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Template, r, i)
	verbatim := strings.Contains(l.Source(l.Find(i, "interpolation_start")), "@")
	at, from, to := false, uint32(0), uint32(0)
	flush := func() {
		if at && from < to {
			s := l.File.Source[from:to]
			if verbatim {
				s = strings.ReplaceAll(s, `""`, `"`)
			} else {
				s = escapes.Unescape(s)
			}
			l.Leaf(tree.String, tree.RolePart, strings.NewReplacer("{{", "{", "}}", "}").Replace(s), from, to)
		}
		at = false
	}
	for c := range l.Children(i) {
		start, end := l.Range(c)
		switch l.Kind(c) {
		case "string_content", "escape_sequence":
			if !at {
				at, from = true, start
			}
			to = end
		case "interpolation":
			flush()
			for e := range childParts(l, c) {
				if l.Kind(e) != "interpolation_brace" {
					l.Node(tree.RolePart, e)
					break
				}
			}
		}
	}
	flush()
	l.Close()
}

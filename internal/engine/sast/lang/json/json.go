// Package json lowers JSON. Its patterns are those of JavaScript's literals, whose
// trees are the same; so a key is a String that is Implied here, too.
package json

import (
	"encoding/json"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/javascript"
	"merlon/internal/engine/sast/tree"
)

// Language is JSON, with comments.
var Language = &lang.Language{
	Name:      "json",
	Spellings: []string{"json"},
	Grammar:   cst.JSON,
	Lower:     table.Lower,
	Patterns:  lang.Patterns{Sigil: true, Else: []*lang.Language{javascript.Language}},
	Semantics: lang.Semantics{Comment: "//"},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.JSON, map[string]lang.Rule{
	"document": lang.Around(tree.FileKind, "", tree.RoleStatement),
	"object":   lang.Around(tree.Map, "", tree.RoleElement),
	"array":    lang.Around(tree.List, "", tree.RoleElement),
	"pair":     lowerPair,
	"string":   func(l *lang.Lowering, r tree.Role, i int32) { l.Put(tree.String, r, stringValue(l.Source(i)), i) },
	"number":   lang.Same(tree.Number),
	"true":     lang.Same(tree.Bool),
	"false":    lang.Same(tree.Bool),
	"null":     lang.Same(tree.Null),
})

// lowerPair lowers an entry of an object. Its key is implied to be a String, as in the
// other languages with objects, so that a pattern of them matches.
func lowerPair(l *lang.Lowering, r tree.Role, i int32) {
	key := l.Field(i, "key")
	l.Begin(tree.Pair, r, i)
	if l.Kind(key) == "string" {
		l.Flag(l.Put(tree.String, tree.RoleKey, stringValue(l.Source(key)), key), tree.Implied)
	} else {
		l.Need(tree.RoleKey, i, key)
	}
	l.Need(tree.RoleValue, i, l.Field(i, "value"))
	l.Close()
}

// stringValue returns the value of a literal string; escapes that are not valid stay.
func stringValue(source string) string {
	if len(source) < 2 {
		return source
	}
	text := source[1 : len(source)-1]
	if strings.IndexByte(text, '\\') < 0 || lang.Expression(text) {
		return text
	}
	var decoded string
	if err := json.Unmarshal([]byte(source), &decoded); err != nil {
		return text
	}
	return decoded
}

// Package csharp lowers C# to the generic tree.
package csharp

import (
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is C#.
var Language = &lang.Language{
	Name:      "csharp",
	Spellings: []string{"csharp", "c#", "cs"},
	Grammar:   cst.CSharp,
	Lower:     table.Lower,
	Patterns:  patterns,
	Semantics: lang.Semantics{
		BlockScope:       true,
		ImplicitThis:     true,
		PackagePerFolder: true,
		Comment:          "//",
		Literals: map[tree.Kind]string{tree.String: "string", tree.Template: "string", tree.Bool: "bool",
			tree.Character: "char"},
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.CSharp, lang.Merge(declarationRules, statementRules, expressionRules, typeRules))

// lowerChildren lowers the children in the place of the node.
func lowerChildren(l *lang.Lowering, r tree.Role, i int32) {
	for c := range childParts(l, i) {
		l.Node(r, c)
	}
}

// childParts calls f for the children that mean something: those with a name, and the
// words "this" and "base", which have none in the grammar.
func childParts(l *lang.Lowering, i int32) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for c := range l.Every(i) {
			word := !l.Named(c) && (l.Kind(c) == "this" || l.Kind(c) == "base")
			if (word || l.Named(c) && !l.Extra(c)) && !yield(c) {
				return
			}
		}
	}
}

// partBehind returns the first part behind another child, -1 when there is none.
func partBehind(l *lang.Lowering, i, behind int32) int32 {
	for c := range childParts(l, i) {
		if c > behind {
			return c
		}
	}
	return -1
}

// lowerInner is the rule for what stands for its only part.
func lowerInner(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, partBehind(l, i, -1)) }

// wrapRule returns the rule for a node with its only part.
func wrapRule(k tree.Kind, text string, r tree.Role) lang.Rule {
	return func(l *lang.Lowering, role tree.Role, i int32) {
		l.BeginText(k, role, text, i)
		l.Need(r, i, partBehind(l, i, -1))
		l.Close()
	}
}

// lowerAttributes lowers the attributes of a declaration, then its modifiers, among them
// the words that are tokens of the grammar.
func lowerAttributes(l *lang.Lowering, i int32, words ...string) {
	for c := range l.Children(i) {
		if l.Kind(c) == "attribute_list" {
			l.Node(tree.RoleAnnotation, c)
		}
	}
	for c := range l.Children(i) {
		if l.Kind(c) == "modifier" {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
	for _, word := range words {
		if c := l.Find(i, word); c >= 0 {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
}

// dottedName returns the text of a name without blanks and type arguments.
func dottedName(l *lang.Lowering, i int32) string {
	switch l.Kind(i) {
	case "":
		return ""
	case "qualified_name":
		return dottedName(l, l.Field(i, "qualifier")) + "." + dottedName(l, l.Field(i, "name"))
	case "alias_qualified_name":
		return dottedName(l, l.Field(i, "alias")) + "." + dottedName(l, l.Field(i, "name"))
	case "generic_name":
		return l.Source(l.First(i))
	}
	return strings.TrimPrefix(l.Source(i), "@")
}

// Package kotlin lowers Kotlin to the generic tree. The grammar names hardly any
// fields, so children are told apart by their kinds.
package kotlin

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Kotlin.
var Language = &lang.Language{
	Name:      "kotlin",
	Spellings: []string{"kotlin", "kt"},
	Grammar:   cst.Kotlin,
	Lower:     table.Lower,
	Patterns:  patterns,
	Semantics: lang.Semantics{
		BlockScope:       true,
		UnorderedBases:   true,
		ImplicitThis:     true,
		PackagePerFolder: true,
		Comment:          "//",
		Literals: map[tree.Kind]string{tree.String: "kotlin.String", tree.Template: "kotlin.String",
			tree.Bool: "kotlin.Boolean"},
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Kotlin, lang.Merge(declarationRules, statementRules, expressionRules, typeRules))

// lowerChildren lowers the children in the place of the node.
func lowerChildren(l *lang.Lowering, r tree.Role, i int32) { l.Nodes(r, i) }

// lowerModifiers lowers the annotations of a declaration, then its other modifiers.
func lowerModifiers(l *lang.Lowering, list int32) {
	for c := range l.Children(list) {
		if l.Kind(c) == "annotation" {
			l.Node(tree.RoleAnnotation, c)
		}
	}
	for c := range l.Children(list) {
		if l.Kind(c) != "annotation" {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
}

// findBehind returns the first child of one of the kinds behind another child, -1 when
// there is none.
func findBehind(l *lang.Lowering, i, behind int32, is func(kind string) bool) int32 {
	for c := range l.Children(i) {
		if c > behind && is(l.Kind(c)) {
			return c
		}
	}
	return -1
}

// behindToken returns the first named child behind a token, -1 when there is none.
func behindToken(l *lang.Lowering, i int32, token string) int32 {
	at := l.Find(i, token)
	if at < 0 {
		return -1
	}
	return findBehind(l, i, at, func(string) bool { return true })
}

// findIdentifier returns the first child that is an identifier.
func findIdentifier(l *lang.Lowering, i int32) int32 { return l.Find(i, "identifier") }

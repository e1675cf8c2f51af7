// Package java lowers Java to the generic tree. It knows every construct of the
// grammar, which follows the Java Language Specification up to edition 21. What has
// no generic kind (module declarations, record patterns) becomes Other.
package java

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Java.
var Language = &lang.Language{
	Name:      "java",
	Spellings: []string{"java"},
	Grammar:   cst.Java,
	Patterns:  patterns,
	Lower:     table.Lower,
	Semantics: meaning,
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Java, lang.Merge(declarationRules, statementRules, expressionRules, typeRules))

// lowerModifiers lowers the annotations of a declaration, then its other modifiers.
func lowerModifiers(l *lang.Lowering, i int32) {
	list := l.Find(i, "modifiers")
	if list < 0 {
		return
	}
	l.Nodes(tree.RoleAnnotation, list)
	for c := range l.Every(list) {
		if !l.Named(c) && !l.Extra(c) {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
}

// lowerAnnotations lowers the annotations that are children of the node itself.
func lowerAnnotations(l *lang.Lowering, i int32) {
	for c := range l.Children(i) {
		if k := l.Kind(c); k == "annotation" || k == "marker_annotation" {
			l.Node(tree.RoleAnnotation, c)
		}
	}
}

// lowerStatements lowers the children as statements. Empty ones are left out.
func lowerStatements(l *lang.Lowering, i int32) { l.Nodes(tree.RoleStatement, i) }

// lowerBlock lowers braces with statements in them.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	lowerStatements(l, i)
	l.Close()
}

// lowerChildren lowers the children in the place of the node.
func lowerChildren(l *lang.Lowering, r tree.Role, i int32) { l.Nodes(r, i) }

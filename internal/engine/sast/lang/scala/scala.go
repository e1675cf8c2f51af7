// Package scala lowers Scala, 2 and 3, to the generic tree.
package scala

import (
	"bytes"
	"regexp"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Scala.
var Language = &lang.Language{
	Name:      "scala",
	Spellings: []string{"scala"},
	Grammar:   cst.Scala,
	Lower:     table.Lower,
	Repair:    repairSource,
	Patterns:  patterns,
	Semantics: lang.Semantics{
		BlockScope:       true,
		LastIsReturned:   true,
		ImplicitThis:     true,
		PackagePerFolder: true,
		Comment:          "//",
		Literals: map[tree.Kind]string{tree.String: "String", tree.Template: "String", tree.Bool: "Boolean",
			tree.Character: "Char"},
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Scala, lang.Merge(declarationRules, statementRules, expressionRules, typeRules))

// What the grammar does not know: the parameter of a block with a type and without
// parentheses, "{ implicit x: T[U] =>", and the annotation of a constructor,
// "class C @Inject()(x: T)", whose arguments it takes the parameters for.
var (
	typedLambda = regexp.MustCompile(`\{\s*?(\s|[ \t]implicit\s)(\w+)[ \t]*:[ \t]*[\w.]+(?:\[[\w., \t\[\]]*\])?(\s)=>`)
	constructor = regexp.MustCompile(`\bclass\s+\w+\s*(@\w+\s*\(\s*\))\s*\(`)
)

// repairSource writes such parameters with parentheses, and blanks for such annotations.
func repairSource(src []byte) []byte {
	lambdas, constructors := typedLambda.FindAllSubmatchIndex(src, -1), constructor.FindAllSubmatchIndex(src, -1)
	if lambdas == nil && constructors == nil {
		return src
	}
	out := bytes.Clone(src)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = ' '
		}
	}
	for _, m := range lambdas {
		blank(m[2], m[3])
		out[m[3]-1], out[m[6]] = '(', ')'
	}
	for _, m := range constructors {
		blank(m[2], m[3])
	}
	return out
}

// lowerChildren lowers the children in the place of the node.
func lowerChildren(l *lang.Lowering, r tree.Role, i int32) { l.Nodes(r, i) }

// childBehind returns the first named child behind another one, -1 when there is none.
func childBehind(l *lang.Lowering, i, child int32) int32 {
	for c := range l.Children(i) {
		if c > child {
			return c
		}
	}
	return -1
}

// lastChild returns the last named child, -1 when there is none.
func lastChild(l *lang.Lowering, i int32) int32 {
	found := int32(-1)
	for c := range l.Children(i) {
		found = c
	}
	return found
}

// bareName returns a name without backquotes.
func bareName(l *lang.Lowering, i int32) string { return strings.Trim(l.Source(i), "`") }

// lowerModifiers lowers the annotations of a definition, then its other modifiers, among
// them the words that are tokens of the grammar.
func lowerModifiers(l *lang.Lowering, i int32, words ...string) {
	for c := range l.Children(i) {
		if l.Kind(c) == "annotation" {
			l.Node(tree.RoleAnnotation, c)
		}
	}
	for m := range l.Every(l.Find(i, "modifiers")) {
		if !l.Extra(m) {
			l.Same(tree.Modifier, tree.RoleModifier, m)
		}
	}
	for _, word := range words {
		if m := l.Find(i, word); m >= 0 {
			l.Same(tree.Modifier, tree.RoleModifier, m)
		}
	}
}

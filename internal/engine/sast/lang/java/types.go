package java

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// typeRules are the rules for types.
var typeRules = map[string]lang.Rule{
	"void_type":              lang.Same(tree.Type),
	"integral_type":          lang.Same(tree.Type),
	"floating_point_type":    lang.Same(tree.Type),
	"boolean_type":           lang.Same(tree.Type),
	"type_identifier":        lang.Same(tree.Type),
	"scoped_type_identifier": lowerScopedType,
	"generic_type":           lowerGenericType,
	"type_arguments":         lowerChildren,
	"wildcard":               lowerWildcard,
	"array_type": func(l *lang.Lowering, r tree.Role, i int32) {
		lowerArrayType(l, r, l.Field(i, "element"), l.Field(i, "dimensions"))
	},
	"annotated_type": lowerAnnotatedType,
}

// lowerScopedType lowers a.b.T. The arguments of an enclosing generic type belong to
// the whole.
func lowerScopedType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, dottedName(l, i), i)
	lowerOuterArguments(l, i)
	l.Close()
}

// lowerGenericType lowers "T<U>".
func lowerGenericType(l *lang.Lowering, r tree.Role, i int32) {
	name := l.First(i)
	l.BeginText(tree.Type, r, dottedName(l, name), i)
	lowerOuterArguments(l, name)
	if arguments := l.Find(i, "type_arguments"); arguments >= 0 {
		l.Nodes(tree.RoleArgument, arguments)
	}
	l.Close()
}

// lowerOuterArguments lowers the type arguments inside of a dotted name.
func lowerOuterArguments(l *lang.Lowering, i int32) {
	for ; i >= 0; i = l.First(i) {
		if l.Kind(i) == "generic_type" {
			l.Nodes(tree.RoleArgument, l.Find(i, "type_arguments"))
		}
	}
}

// lowerWildcard lowers "?", "? extends T" and "? super T"; T is its element.
func lowerWildcard(l *lang.Lowering, r tree.Role, i int32) {
	n := l.BeginText(tree.Type, r, "?", i)
	lowerAnnotations(l, i)
	for c := range l.Every(i) {
		switch k := l.Kind(c); k {
		case "extends", "super":
			l.File.Nodes[n].Text = "? " + k
		case "?", "annotation", "marker_annotation":
		default:
			if !l.Extra(c) {
				l.Node(tree.RoleElement, c)
			}
		}
	}
	l.Close()
}

// lowerAnnotatedType lowers the type below its annotations, which are left out: they
// say nothing about which type it is.
func lowerAnnotatedType(l *lang.Lowering, r tree.Role, i int32) {
	last := int32(-1)
	for c := range l.Children(i) {
		last = c
	}
	l.Need(r, i, last)
}

// lowerArrayType lowers a type with the brackets that follow it or, as in "int a[]", the
// name; -1 is none.
func lowerArrayType(l *lang.Lowering, r tree.Role, typ, dimensions int32) {
	lowerNestedArray(l, r, typ, countBrackets(l, dimensions))
}

// lowerNestedArray lowers an array of arrays of the type, depth levels of it.
func lowerNestedArray(l *lang.Lowering, r tree.Role, typ int32, depth int) {
	if typ < 0 {
		return
	}
	if depth == 0 || l.TooDeep() {
		l.Node(r, typ)
		return
	}
	l.BeginText(tree.Type, r, "[]", typ)
	lowerNestedArray(l, tree.RoleElement, typ, depth-1)
	l.Close()
}

// countBrackets counts the "[]" of dimensions; -1 has none.
func countBrackets(l *lang.Lowering, i int32) int {
	n := 0
	if i >= 0 {
		for c := range l.Every(i) {
			if l.Kind(c) == "[" {
				n++
			}
		}
	}
	return n
}

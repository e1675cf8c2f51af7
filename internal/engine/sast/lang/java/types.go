package java

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var typeRules = map[string]lang.Rule{
	"void_type":              lang.Same(tree.Type),
	"integral_type":          lang.Same(tree.Type),
	"floating_point_type":    lang.Same(tree.Type),
	"boolean_type":           lang.Same(tree.Type),
	"type_identifier":        lang.Same(tree.Type),
	"scoped_type_identifier": scopedType,
	"generic_type":           genericType,
	"type_arguments":         children,
	"wildcard":               wildcard,
	"array_type": func(l *lang.Lowering, r tree.Role, i int32) {
		arrayType(l, r, l.Field(i, "element"), l.Field(i, "dimensions"))
	},
	"annotated_type": annotatedType,
}

// scopedType lowers a.b.T. The arguments of an enclosing generic type belong to
// the whole.
func scopedType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, dotted(l, i), i)
	outerArguments(l, i)
	l.Close()
}

func genericType(l *lang.Lowering, r tree.Role, i int32) {
	name := l.First(i)
	l.BeginText(tree.Type, r, dotted(l, name), i)
	outerArguments(l, name)
	if arguments := l.Find(i, "type_arguments"); arguments >= 0 {
		l.Nodes(tree.RoleArgument, arguments)
	}
	l.Close()
}

// outerArguments lowers the type arguments inside of a dotted name.
func outerArguments(l *lang.Lowering, i int32) {
	for ; i >= 0; i = l.First(i) {
		if l.Kind(i) == "generic_type" {
			l.Nodes(tree.RoleArgument, l.Find(i, "type_arguments"))
		}
	}
}

// wildcard lowers "?", "? extends T" and "? super T"; T is its element.
func wildcard(l *lang.Lowering, r tree.Role, i int32) {
	n := l.BeginText(tree.Type, r, "?", i)
	annotations(l, i)
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

// annotatedType lowers the type below its annotations, which are left out: they
// say nothing about which type it is.
func annotatedType(l *lang.Lowering, r tree.Role, i int32) {
	last := int32(-1)
	for c := range l.Children(i) {
		last = c
	}
	l.Need(r, i, last)
}

// arrayType lowers a type with the brackets that follow it or, as in "int a[]", the
// name; -1 is none.
func arrayType(l *lang.Lowering, r tree.Role, typ, dimensions int32) {
	nestedArray(l, r, typ, brackets(l, dimensions))
}

// nestedArray lowers an array of arrays of the type, depth levels of it.
func nestedArray(l *lang.Lowering, r tree.Role, typ int32, depth int) {
	if typ < 0 {
		return
	}
	if depth == 0 || l.TooDeep() {
		l.Node(r, typ)
		return
	}
	l.BeginText(tree.Type, r, "[]", typ)
	nestedArray(l, tree.RoleElement, typ, depth-1)
	l.Close()
}

// brackets counts the "[]" of dimensions; -1 has none.
func brackets(l *lang.Lowering, i int32) int {
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

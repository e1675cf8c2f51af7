package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// typeRules are the rules for nodes that can only be types. A name may be a type or
// an expression: see typ.
var typeRules = map[string]lang.Rule{
	"implicit_type":       lang.Same(tree.Type),
	"array_type":          typ,
	"nullable_type":       typ,
	"pointer_type":        typ,
	"tuple_type":          typ,
	"ref_type":            typ,
	"scoped_type":         typ,
	"type_argument_list":  types,
	"type_pattern":        func(l *lang.Lowering, r tree.Role, i int32) { typ(l, r, l.Field(i, "type")) },
	"type_parameter_list": children,
	"type_parameter":      lang.Slots(tree.TypeParameter, "", lang.Slot{Role: tree.RoleName, Field: "name"}),
}

// types lowers the children as types.
func types(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		typ(l, r, c)
	}
}

// typ lowers a node as a type; -1 adds nothing.
func typ(l *lang.Lowering, r tree.Role, i int32) {
	if i < 0 {
		return
	}
	if l.TooDeep() {
		l.Lost(r, i)
		return
	}
	switch l.Kind(i) {
	case "identifier", "predefined_type":
		l.Put(tree.Type, r, dotted(l, i), i)
	case "generic_name", "qualified_name", "alias_qualified_name":
		l.BeginText(tree.Type, r, dotted(l, i), i)
		arguments(l, i)
		l.Close()
	case "array_type":
		element(l, r, "[]", i)
	case "nullable_type":
		element(l, r, "?", i)
	case "pointer_type":
		element(l, r, "*", i)
	case "ref_type", "scoped_type":
		typ(l, r, l.Field(i, "type"))
	case "tuple_type":
		l.BeginText(tree.Type, r, "()", i)
		for c := range l.Children(i) {
			typ(l, tree.RoleElement, l.Field(c, "type"))
		}
		l.Close()
	default:
		l.Node(r, i)
	}
}

// element lowers a type made of another one.
func element(l *lang.Lowering, r tree.Role, text string, i int32) {
	l.BeginText(tree.Type, r, text, i)
	typ(l, tree.RoleElement, l.Field(i, "type"))
	l.Close()
}

// arguments lowers the type arguments in a name.
func arguments(l *lang.Lowering, i int32) {
	switch l.Kind(i) {
	case "qualified_name":
		arguments(l, l.Field(i, "qualifier"))
		arguments(l, l.Field(i, "name"))
	case "alias_qualified_name":
		arguments(l, l.Field(i, "name"))
	case "generic_name":
		if list := l.Find(i, "type_argument_list"); list >= 0 {
			types(l, tree.RoleArgument, list)
		}
	}
}

// inferred reports whether "var" stands in the place of a type.
func inferred(l *lang.Lowering, i int32) bool {
	return l.Kind(i) == "implicit_type" || l.Kind(i) == "identifier" && l.Source(i) == "var"
}

// variableType lowers the type of a variable, unless it is inferred.
func variableType(l *lang.Lowering, i int32) {
	if !inferred(l, i) {
		typ(l, tree.RoleType, i)
	}
}

// keyword returns the text of a Variable of the type.
func keyword(l *lang.Lowering, i int32) string {
	if inferred(l, i) {
		return "var"
	}
	return ""
}

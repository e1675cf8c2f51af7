package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// typeRules are the rules for nodes that can only be types. A name may be a type or
// an expression: see typ.
var typeRules = map[string]lang.Rule{
	"implicit_type":       lang.Same(tree.Type),
	"array_type":          lowerType,
	"nullable_type":       lowerType,
	"pointer_type":        lowerType,
	"tuple_type":          lowerType,
	"ref_type":            lowerType,
	"scoped_type":         lowerType,
	"type_argument_list":  lowerTypes,
	"type_pattern":        func(l *lang.Lowering, r tree.Role, i int32) { lowerType(l, r, l.Field(i, "type")) },
	"type_parameter_list": lowerChildren,
	"type_parameter":      lang.Slots(tree.TypeParameter, "", lang.Slot{Role: tree.RoleName, Field: "name"}),
}

// lowerTypes lowers the children as types.
func lowerTypes(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		lowerType(l, r, c)
	}
}

// lowerType lowers a node as a type; -1 adds nothing.
func lowerType(l *lang.Lowering, r tree.Role, i int32) {
	if i < 0 {
		return
	}
	if l.TooDeep() {
		l.Lost(r, i)
		return
	}
	switch l.Kind(i) {
	case "identifier", "predefined_type":
		l.Put(tree.Type, r, dottedName(l, i), i)
	case "generic_name", "qualified_name", "alias_qualified_name":
		l.BeginText(tree.Type, r, dottedName(l, i), i)
		lowerTypeArguments(l, i)
		l.Close()
	case "array_type":
		lowerElementType(l, r, "[]", i)
	case "nullable_type":
		lowerElementType(l, r, "?", i)
	case "pointer_type":
		lowerElementType(l, r, "*", i)
	case "ref_type", "scoped_type":
		lowerType(l, r, l.Field(i, "type"))
	case "tuple_type":
		l.BeginText(tree.Type, r, "()", i)
		for c := range l.Children(i) {
			lowerType(l, tree.RoleElement, l.Field(c, "type"))
		}
		l.Close()
	default:
		l.Node(r, i)
	}
}

// lowerElementType lowers a type made of another one.
func lowerElementType(l *lang.Lowering, r tree.Role, text string, i int32) {
	l.BeginText(tree.Type, r, text, i)
	lowerType(l, tree.RoleElement, l.Field(i, "type"))
	l.Close()
}

// lowerTypeArguments lowers the type arguments in a name.
func lowerTypeArguments(l *lang.Lowering, i int32) {
	switch l.Kind(i) {
	case "qualified_name":
		lowerTypeArguments(l, l.Field(i, "qualifier"))
		lowerTypeArguments(l, l.Field(i, "name"))
	case "alias_qualified_name":
		lowerTypeArguments(l, l.Field(i, "name"))
	case "generic_name":
		if list := l.Find(i, "type_argument_list"); list >= 0 {
			lowerTypes(l, tree.RoleArgument, list)
		}
	}
}

// isInferred reports whether "var" stands in the place of a type.
func isInferred(l *lang.Lowering, i int32) bool {
	return l.Kind(i) == "implicit_type" || l.Kind(i) == "identifier" && l.Source(i) == "var"
}

// lowerVariableType lowers the type of a variable, unless it is inferred.
func lowerVariableType(l *lang.Lowering, i int32) {
	if !isInferred(l, i) {
		lowerType(l, tree.RoleType, i)
	}
}

// variableKeyword returns the text of a Variable of the type.
func variableKeyword(l *lang.Lowering, i int32) string {
	if isInferred(l, i) {
		return "var"
	}
	return ""
}

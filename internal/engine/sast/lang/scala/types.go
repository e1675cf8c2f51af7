package scala

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// typeRules are the rules for types.
var typeRules = map[string]lang.Rule{
	"type_identifier":         lang.Same(tree.Type),
	"stable_type_identifier":  func(l *lang.Lowering, r tree.Role, i int32) { l.Put(tree.Type, r, typeText(l, i), i) },
	"projected_type":          func(l *lang.Lowering, r tree.Role, i int32) { l.Put(tree.Type, r, typeText(l, i), i) },
	"singleton_type":          func(l *lang.Lowering, r tree.Role, i int32) { l.Put(tree.Type, r, typeText(l, i), i) },
	"generic_type":            lowerGenericType,
	"type_arguments":          lowerChildren,
	"tuple_type":              lang.Around(tree.Type, "()", tree.RoleElement),
	"compound_type":           lang.Around(tree.Type, "&", tree.RoleElement),
	"infix_type":              lowerInfixType,
	"function_type":           lowerFunctionType,
	"annotated_type":          lang.Inner,
	"literal_type":            lang.Inner,
	"lazy_parameter_type":     lang.Slots(tree.Type, "=>", lang.Slot{Role: tree.RoleElement, Field: "type"}),
	"repeated_parameter_type": func(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, l.Field(i, "type")) },
	"parameter_types":         lowerChildren,
}

// typeText returns the name of a type without blanks.
func typeText(l *lang.Lowering, i int32) string {
	return strings.Join(strings.Fields(l.Source(i)), "")
}

// lowerGenericType lowers "T[U]".
func lowerGenericType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, typeText(l, l.Field(i, "type")), i)
	l.Part(tree.RoleArgument, i, "type_arguments")
	l.Close()
}

// lowerInfixType lowers "A op B" as a type.
func lowerInfixType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, l.Source(l.Field(i, "operator")), i)
	l.Part(tree.RoleElement, i, "left")
	l.Part(tree.RoleElement, i, "right")
	l.Close()
}

// lowerFunctionType lowers "(A, B) => C" as a type.
func lowerFunctionType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "func", i)
	for p := range l.Children(l.Field(i, "parameter_types")) {
		l.Begin(tree.Parameter, tree.RoleParameter, p)
		l.Node(tree.RoleType, p)
		l.Close()
	}
	l.Part(tree.RoleReturnType, i, "return_type")
	l.Close()
}

// lowerTypeAsExpression lowers a type by its name alone, as a Name or Member.
func lowerTypeAsExpression(l *lang.Lowering, r tree.Role, i int32) {
	if l.Kind(i) == "generic_type" {
		i = l.Field(i, "type")
	}
	var names []int32
	var collect func(int32)
	collect = func(i int32) {
		switch l.Kind(i) {
		case "stable_type_identifier", "stable_identifier":
			for c := range l.Children(i) {
				collect(c)
			}
		case "type_identifier", "identifier", "operator_identifier":
			names = append(names, i)
		}
	}
	collect(i)
	if len(names) > 0 {
		l.Chain(r, names)
	} else if i >= 0 {
		l.Node(r, i)
	}
}

package golang

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// typeRules are the rules for types.
var typeRules = map[string]lang.Rule{
	"type_identifier":            lang.Same(tree.Type),
	"qualified_type":             lowerQualifiedType,
	"generic_type":               lowerGenericType,
	"type_arguments":             lowerChildren,
	"type_elem":                  lowerUnion,
	"type_constraint":            lowerUnion,
	"parenthesized_type":         lang.Inner,
	"pointer_type":               lang.Around(tree.Type, "*", tree.RoleElement),
	"negated_type":               lang.Around(tree.Type, "~", tree.RoleElement),
	"slice_type":                 lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"}),
	"array_type":                 lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"}),
	"implicit_length_array_type": lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"}),
	"map_type": lang.Slots(tree.Type, "map",
		lang.Slot{Role: tree.RoleElement, Field: "key"}, lang.Slot{Role: tree.RoleElement, Field: "value"}),
	"channel_type":   lang.Slots(tree.Type, "chan", lang.Slot{Role: tree.RoleElement, Field: "value"}),
	"function_type":  lowerFunctionType,
	"struct_type":    lowerStructType,
	"interface_type": lang.Around(tree.Type, "interface", tree.RoleElement),
}

// lowerQualifiedType lowers "p.T".
func lowerQualifiedType(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Type, r, dottedName(l, i), i)
}

// dottedName returns the name of a type without blanks.
func dottedName(l *lang.Lowering, i int32) string {
	s := l.Source(i)
	if !strings.ContainsAny(s, " \t\n/") {
		return s
	}
	return l.Source(l.Field(i, "package")) + "." + l.Source(l.Field(i, "name"))
}

// lowerGenericType lowers "T[U]".
func lowerGenericType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, dottedName(l, l.Field(i, "type")), i)
	l.Part(tree.RoleArgument, i, "type_arguments")
	l.Close()
}

// lowerUnion lowers a type in a constraint or in type arguments: one stands for itself,
// several are a Type "|".
func lowerUnion(l *lang.Lowering, r tree.Role, i int32) {
	if !l.Has(i, "|") {
		lang.Inner(l, r, i)
		return
	}
	l.BeginText(tree.Type, r, "|", i)
	l.Nodes(tree.RoleElement, i)
	l.Close()
}

// lowerFunctionType lowers "func(T) U" as a type.
func lowerFunctionType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "func", i)
	l.Part(tree.RoleParameter, i, "parameters")
	lowerResult(l, i)
	l.Close()
}

// lowerStructType lowers a struct without a name; its fields are its elements.
func lowerStructType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "{}", i)
	for f := range l.Children(l.Find(i, "field_declaration_list")) {
		l.Node(tree.RoleElement, f)
	}
	l.Close()
}

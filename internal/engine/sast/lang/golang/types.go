package golang

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var typeRules = map[string]lang.Rule{
	"type_identifier":            lang.Same(tree.Type),
	"qualified_type":             qualifiedType,
	"generic_type":               genericType,
	"type_arguments":             children,
	"type_elem":                  union,
	"type_constraint":            union,
	"parenthesized_type":         lang.Inner,
	"pointer_type":               lang.Around(tree.Type, "*", tree.RoleElement),
	"negated_type":               lang.Around(tree.Type, "~", tree.RoleElement),
	"slice_type":                 lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"}),
	"array_type":                 lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"}),
	"implicit_length_array_type": lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"}),
	"map_type": lang.Slots(tree.Type, "map",
		lang.Slot{Role: tree.RoleElement, Field: "key"}, lang.Slot{Role: tree.RoleElement, Field: "value"}),
	"channel_type":   lang.Slots(tree.Type, "chan", lang.Slot{Role: tree.RoleElement, Field: "value"}),
	"function_type":  functionType,
	"struct_type":    structType,
	"interface_type": lang.Around(tree.Type, "interface", tree.RoleElement),
}

func qualifiedType(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Type, r, dotted(l, i), i)
}

// dotted returns the name of a type without blanks.
func dotted(l *lang.Lowering, i int32) string {
	s := l.Source(i)
	if !strings.ContainsAny(s, " \t\n/") {
		return s
	}
	return l.Source(l.Field(i, "package")) + "." + l.Source(l.Field(i, "name"))
}

func genericType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, dotted(l, l.Field(i, "type")), i)
	l.Part(tree.RoleArgument, i, "type_arguments")
	l.Close()
}

// union lowers a type in a constraint or in type arguments: one stands for itself,
// several are a Type "|".
func union(l *lang.Lowering, r tree.Role, i int32) {
	if !l.Has(i, "|") {
		lang.Inner(l, r, i)
		return
	}
	l.BeginText(tree.Type, r, "|", i)
	l.Nodes(tree.RoleElement, i)
	l.Close()
}

func functionType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "func", i)
	l.Part(tree.RoleParameter, i, "parameters")
	result(l, i)
	l.Close()
}

// structType lowers a struct without a name; its fields are its elements.
func structType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "{}", i)
	for f := range l.Children(l.Find(i, "field_declaration_list")) {
		l.Node(tree.RoleElement, f)
	}
	l.Close()
}

package javascript

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// types are the types of TypeScript. Those without a rule are Other.
// Wrappers such as an annotation or parentheses add nothing and are replaced by their content.
// Types matter for models: the declared type of a variable selects the methods that apply.
var types = map[string]lang.Rule{
	"type_annotation":           lang.Inner,
	"asserts_annotation":        lang.Inner,
	"type_predicate_annotation": lang.Inner,
	"omitting_type_annotation":  lang.Inner,
	"adding_type_annotation":    lang.Inner,
	"opting_type_annotation":    lang.Inner,
	"constraint":                lang.Inner,
	"parenthesized_type":        lang.Inner,
	"readonly_type":             lang.Inner,
	"template_type":             lang.Inner,
	"predefined_type":           lang.Same(tree.Type),
	"this_type":                 lang.Same(tree.Type),
	"literal_type":              lang.Inner,
	"const":                     lang.Same(tree.Type),
	// "*" of Flow is any type.
	"existential_type":       lang.Leaf(tree.Type, "any"),
	"nested_type_identifier": lowerNestedType,
	"generic_type":           lowerGenericType,
	"array_type":             lang.Around(tree.Type, "[]", tree.RoleElement),
	"tuple_type":             lowerTupleType,
	"optional_type":          lang.Around(tree.Type, "?", tree.RoleElement),
	"flow_maybe_type":        lang.Around(tree.Type, "?", tree.RoleElement),
	"rest_type":              lang.Around(tree.Type, "...", tree.RoleElement),
	"type_query":             lang.Around(tree.Type, "typeof", tree.RoleElement),
	"index_type_query":       lang.Around(tree.Type, "keyof", tree.RoleElement),
	"union_type":             alternativesRule("|"),
	"intersection_type":      alternativesRule("&"),
	"object_type":            lang.Around(tree.Type, "{}", tree.RoleElement),
	"function_type":          functionTypeRule("func"),
	"constructor_type":       functionTypeRule("new"),
	"type_parameter":         lowerTypeParameter,
	"type_alias_declaration": lowerTypeAlias,
}

// lowerNestedType lowers a dotted name of a type.
// Blanks and line ends may stand around the dots.
func lowerNestedType(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Type, r, strings.Join(strings.Fields(l.Source(i)), ""), i)
}

// lowerGenericType lowers "T<U>" of TypeScript.
func lowerGenericType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, strings.Join(strings.Fields(l.Source(l.Field(i, "name"))), ""), i)
	l.Nodes(tree.RoleArgument, l.Field(i, "type_arguments"))
	l.Close()
}

// lowerTupleType lowers a tuple; named members are Parameters.
// [first: string, rest?: number] names its members.
func lowerTupleType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "()", i)
	for c := range l.Children(i) {
		if kind := l.Kind(c); kind == "required_parameter" || kind == "optional_parameter" {
			lowerParameter(l, c)
		} else {
			l.Node(tree.RoleElement, c)
		}
	}
	l.Close()
}

// alternativesRule returns the rule for a union or an intersection, which the grammar
// nests to the left; all members stand beside each other.
func alternativesRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		kind := l.Kind(i)
		// The grammar nests (A | B) | C; unions of thousands of literals occur in generated
		// declarations, so that a loop is used and not recursion.
		var members []int32
		for at := i; at >= 0; {
			left := int32(-1)
			var own []int32
			for c := range l.Children(at) {
				if l.Kind(c) == kind && left < 0 && len(own) == 0 {
					left = c
				} else {
					own = append(own, c)
				}
			}
			// Members are collected from the last to the first.
			for k := len(own) - 1; k >= 0; k-- {
				members = append(members, own[k])
			}
			at = left
		}
		if len(members) == 1 { // "| A"
			l.Node(r, members[0])
			return
		}
		l.BeginText(tree.Type, r, text, i)
		for k := len(members) - 1; k >= 0; k-- {
			l.Node(tree.RoleElement, members[k])
		}
		l.Close()
	}
}

// functionTypeRule returns the rule for "(a: T) => U" and "new (a: T) => U" as types.
func functionTypeRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Type, r, text, i)
		l.Nodes(tree.RoleTypeParameter, l.Field(i, "type_parameters"))
		lowerSignature(l, i)
		l.Close()
	}
}

// lowerTypeParameter leaves the default out.
// Defaults of type parameters have no influence on data flow.
func lowerTypeParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeParameter, r, i)
	l.Part(tree.RoleName, i, "name")
	l.Part(tree.RoleBase, i, "constraint")
	l.Close()
}

// lowerTypeAlias lowers "type A<T> = U" of TypeScript.
func lowerTypeAlias(l *lang.Lowering, r tree.Role, i int32) {
	openDeclaration(l, tree.TypeAlias, r, i)
	l.Part(tree.RoleName, i, "name")
	l.Nodes(tree.RoleTypeParameter, l.Field(i, "type_parameters"))
	l.Part(tree.RoleType, i, "value")
	l.Close()
}

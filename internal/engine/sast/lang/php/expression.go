package php

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var expressions = map[string]lang.Rule{
	"name":                              lang.Same(tree.Name),
	"namespace_name":                    qualified,
	"qualified_name":                    qualified,
	"relative_name":                     qualified,
	"relative_scope":                    relativeScope,
	"variable_name":                     variable,
	"dynamic_variable_name":             dynamicVariable,
	"parenthesized_expression":          lang.Inner,
	"by_ref":                            lang.Inner,
	"function_call_expression":          call,
	"member_call_expression":            methodCall("object", "->"),
	"nullsafe_member_call_expression":   methodCall("object", "?->"),
	"scoped_call_expression":            methodCall("scope", "::"),
	"member_access_expression":          member("object", "->"),
	"nullsafe_member_access_expression": member("object", "?->"),
	"scoped_property_access_expression": member("scope", "::"),
	"class_constant_access_expression":  constantAccess,
	"object_creation_expression":        creation,
	"argument":                          argument,
	"variadic_unpacking":                lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue}),
	"subscript_expression":              subscript,
	"assignment_expression": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"reference_assignment_expression": referenceAssignment,
	"augmented_assignment_expression": operation(tree.Assign, tree.RoleTarget, tree.RoleValue),
	"binary_expression":               binary,
	"unary_op_expression":             unary,
	"update_expression":               update,
	"error_suppression_expression":    lang.Around(tree.Unary, "@", tree.RoleValue),
	"clone_expression":                lang.Around(tree.Unary, "clone", tree.RoleValue),
	"cast_expression": lang.Slots(tree.Cast, "", lang.Slot{Role: tree.RoleType, Field: "type"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"conditional_expression":   conditional,
	"print_intrinsic":          callOf("print"),
	"include_expression":       callOf("include"),
	"include_once_expression":  callOf("include_once"),
	"require_expression":       callOf("require"),
	"require_once_expression":  callOf("require_once"),
	"shell_command_expression": command,
	"yield_expression":         yield,
	"sequence_expression":      lang.Around(tree.Sequence, "", tree.RoleElement),
}

var types = map[string]lang.Rule{
	"named_type":                   namedType,
	"primitive_type":               lang.Same(tree.Type),
	"cast_type":                    lang.Same(tree.Type),
	"bottom_type":                  lang.Same(tree.Type),
	"optional_type":                lang.Around(tree.Type, "?", tree.RoleElement),
	"union_type":                   lang.Around(tree.Type, "|", tree.RoleElement),
	"disjunctive_normal_form_type": lang.Around(tree.Type, "|", tree.RoleElement),
	"intersection_type":            lang.Around(tree.Type, "&", tree.RoleElement),
}

// qualified lowers a name of a namespace to Members.
func qualified(l *lang.Lowering, r tree.Role, i int32) { path(l, r, i, dotted(l.Source(i))) }

func namedType(l *lang.Lowering, r tree.Role, i int32) { typeName(l, r, i) }

// typeName lowers a name to a Type.
func typeName(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Type, r, dotted(l.Source(i)), i)
}

func relativeScope(l *lang.Lowering, r tree.Role, i int32) {
	if strings.EqualFold(l.Source(i), "parent") {
		l.Put(tree.Super, r, "", i)
		return
	}
	l.Same(tree.Name, r, i)
}

// variable lowers a variable with its "$"; a sign of a pattern is a name alone.
func variable(l *lang.Lowering, r tree.Role, i int32) {
	text := l.Source(i)
	switch name := strings.TrimPrefix(text, "$"); {
	case name == "this":
		l.Put(tree.This, r, "", i)
	case lang.Holder(name):
		l.Put(tree.Name, r, name, i)
	default:
		l.Put(tree.Name, r, text, i)
	}
}

// dynamicVariable lowers "$$x"; "${x}" is $x.
func dynamicVariable(l *lang.Lowering, r tree.Role, i int32) {
	inner := l.First(i)
	if l.Kind(inner) == "name" {
		l.Put(tree.Name, r, "$"+l.Source(inner), i)
		return
	}
	l.BeginText(tree.Unary, r, "$", i)
	l.Need(tree.RoleValue, i, inner)
	l.Close()
}

// functionName lowers the name of a function, which has no case.
func functionName(l *lang.Lowering, r tree.Role, i int32) {
	if l.Kind(i) == "name" && !lang.Holder(l.Source(i)) {
		l.Put(tree.Name, r, strings.ToLower(l.Source(i)), i)
		return
	}
	l.Node(r, i)
}

func call(l *lang.Lowering, r tree.Role, i int32) {
	function := l.Field(i, "function")
	l.Begin(tree.Call, r, i)
	if function >= 0 {
		functionName(l, tree.RoleCallee, function)
	} else {
		l.Need(tree.RoleCallee, i, function)
	}
	l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
	l.Close()
}

// methodCall returns the rule for a call of a member.
func methodCall(object, operator string) lang.Rule {
	callee := member(object, operator)
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(tree.Call, r, i)
		m := l.Mark()
		callee(l, tree.RoleCallee, i)
		if name := l.Field(i, "name"); name >= 0 {
			_, l.File.Nodes[m].End = l.Range(name)
		}
		l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
		l.Close()
	}
}

// member returns the rule for an access to a member.
func member(object, operator string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		n := l.BeginText(tree.Member, r, strings.TrimPrefix(operator, "?"), i)
		if operator == "?->" {
			l.Flag(n, tree.Optional)
		}
		l.Need(tree.RoleObject, i, l.Field(i, object))
		l.Part(tree.RoleProperty, i, "name")
		l.Close()
	}
}

// constantAccess lowers A::B.
func constantAccess(l *lang.Lowering, r tree.Role, i int32) {
	object, name := l.First(i), int32(-1)
	for c := range l.Children(i) {
		if c != object {
			name = c
		}
	}
	l.BeginText(tree.Member, r, "::", i)
	l.Need(tree.RoleObject, i, object)
	l.Node(tree.RoleProperty, name)
	l.Close()
}

// creation lowers "new".
func creation(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	class, arguments, anonymous := int32(-1), l.Find(i, "arguments"), l.Find(i, "anonymous_class")
	for c := range l.Children(i) {
		if class < 0 && c != arguments && c != anonymous {
			class = c
		}
	}
	switch kind := l.Kind(class); {
	case anonymous >= 0:
		arguments = l.Find(anonymous, "arguments")
		l.Node(tree.RoleType, anonymous)
	case kind == "name", kind == "qualified_name", kind == "relative_name":
		typeName(l, tree.RoleType, class)
	default:
		l.Need(tree.RoleType, i, class)
	}
	l.Nodes(tree.RoleArgument, arguments)
	l.Close()
}

func argument(l *lang.Lowering, r tree.Role, i int32) {
	name, value := l.Field(i, "name"), int32(-1)
	for c := range l.Children(i) {
		if c != name && l.Kind(c) != "reference_modifier" {
			value = c
		}
	}
	if name < 0 {
		l.Need(r, i, value)
		return
	}
	l.Begin(tree.Keyword, r, i)
	l.Node(tree.RoleName, name)
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// subscript lowers "$a[$k]"; in a string a bare word is the key.
func subscript(l *lang.Lowering, r tree.Role, i int32) {
	object := l.First(i)
	l.Begin(tree.Index, r, i)
	l.Need(tree.RoleObject, i, object)
	for c := range l.Children(i) {
		switch kind := l.Kind(l.CST.Nodes[i].Parent); {
		case c == object:
		case l.Kind(c) == "name" && (kind == "encapsed_string" || kind == "heredoc_body") && !braced(l, i):
			l.Same(tree.String, tree.RoleIndex, c)
		default:
			l.Node(tree.RoleIndex, c)
		}
	}
	l.Close()
}

func referenceAssignment(l *lang.Lowering, r tree.Role, i int32) {
	right := l.Field(i, "right")
	l.BeginText(tree.Assign, r, "=", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.BeginText(tree.Unary, tree.RoleValue, "&", max(i, right))
	l.Need(tree.RoleValue, i, right)
	l.Close()
	l.Close()
}

// operation returns the rule for a node with an operator between two parts.
func operation(k tree.Kind, left, right tree.Role) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, l.Source(l.Field(i, "operator")), i)
		l.Need(left, i, l.Field(i, "left"))
		l.Need(right, i, l.Field(i, "right"))
		l.Close()
	}
}

func binary(l *lang.Lowering, r tree.Role, i int32) {
	operator := strings.ToLower(l.Source(l.Field(i, "operator")))
	if operator != "instanceof" {
		operation(tree.Binary, tree.RoleLeft, tree.RoleRight)(l, r, i)
		return
	}
	l.BeginText(tree.TypeTest, r, operator, i)
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	right := l.Field(i, "right")
	if kind := l.Kind(right); kind == "name" || kind == "qualified_name" || kind == "relative_name" {
		typeName(l, tree.RoleType, right)
	} else {
		l.Need(tree.RoleType, i, right)
	}
	l.Close()
}

func unary(l *lang.Lowering, r tree.Role, i int32) {
	operator := l.Source(l.Field(i, "operator"))
	if operator == "" { // "-1" in a string
		operator = "-"
	}
	argument := l.Field(i, "argument")
	if argument < 0 {
		argument = l.First(i)
	}
	l.BeginText(tree.Unary, r, operator, i)
	l.Need(tree.RoleValue, i, argument)
	l.Close()
}

func update(l *lang.Lowering, r tree.Role, i int32) {
	operator, argument := l.Field(i, "operator"), l.Field(i, "argument")
	n := l.BeginText(tree.Update, r, l.Source(operator), i)
	if operator > argument {
		l.Flag(n, tree.Postfix)
	}
	l.Need(tree.RoleValue, i, argument)
	l.Close()
}

// conditional lowers "a ? b : c", and "a ?: c" as a Binary.
func conditional(l *lang.Lowering, r tree.Role, i int32) {
	condition, then, other := l.Field(i, "condition"), l.Field(i, "body"), l.Field(i, "alternative")
	if then < 0 {
		l.BeginText(tree.Binary, r, "?:", i)
		l.Need(tree.RoleLeft, i, condition)
		l.Need(tree.RoleRight, i, other)
	} else {
		l.Begin(tree.Conditional, r, i)
		l.Need(tree.RoleCondition, i, condition)
		l.Need(tree.RoleThen, i, then)
		l.Need(tree.RoleElse, i, other)
	}
	l.Close()
}

func yield(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Has(i, "from") || l.Has(i, "yield from") {
		text = "from"
	}
	l.BeginText(tree.Yield, r, text, i)
	l.Nodes(tree.RoleValue, i)
	l.Close()
}

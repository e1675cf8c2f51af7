package php

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressions are the rules for what has a value.
// Kinds that are missing here are lowered to Other.
var expressions = map[string]lang.Rule{
	"name":                              lang.Same(tree.Name),
	"namespace_name":                    lowerQualified,
	"qualified_name":                    lowerQualified,
	"relative_name":                     lowerQualified,
	"relative_scope":                    lowerRelativeScope,
	"variable_name":                     lowerVariable,
	"dynamic_variable_name":             lowerDynamicVariable,
	"parenthesized_expression":          lang.Inner,
	"by_ref":                            lang.Inner,
	"function_call_expression":          lowerCall,
	"member_call_expression":            methodCallRule("object", "->"),
	"nullsafe_member_call_expression":   methodCallRule("object", "?->"),
	"scoped_call_expression":            methodCallRule("scope", "::"),
	"member_access_expression":          memberRule("object", "->"),
	"nullsafe_member_access_expression": memberRule("object", "?->"),
	"scoped_property_access_expression": memberRule("scope", "::"),
	"class_constant_access_expression":  lowerConstantAccess,
	"object_creation_expression":        lowerCreation,
	"argument":                          lowerArgument,
	"variadic_unpacking":                lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue}),
	"subscript_expression":              lowerSubscript,
	"assignment_expression": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"reference_assignment_expression": lowerReferenceAssignment,
	"augmented_assignment_expression": operationRule(tree.Assign, tree.RoleTarget, tree.RoleValue),
	"binary_expression":               lowerBinary,
	"unary_op_expression":             lowerUnary,
	"update_expression":               lowerUpdate,
	"error_suppression_expression":    lang.Around(tree.Unary, "@", tree.RoleValue),
	"clone_expression":                lang.Around(tree.Unary, "clone", tree.RoleValue),
	"cast_expression": lang.Slots(tree.Cast, "", lang.Slot{Role: tree.RoleType, Field: "type"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"conditional_expression": lowerConditional,
	// include, require and print are no functions in the grammar. As calls they can be sinks in
	// models: a tainted path is a file inclusion (CWE-98).
	"print_intrinsic":          callOfRule("print"),
	"include_expression":       callOfRule("include"),
	"include_once_expression":  callOfRule("include_once"),
	"require_expression":       callOfRule("require"),
	"require_once_expression":  callOfRule("require_once"),
	"shell_command_expression": lowerCommand,
	"yield_expression":         lowerYield,
	"sequence_expression":      lang.Around(tree.Sequence, "", tree.RoleElement),
}

// types are the rules for names in the place of types.
var types = map[string]lang.Rule{
	"named_type":                   lowerNamedType,
	"primitive_type":               lang.Same(tree.Type),
	"cast_type":                    lang.Same(tree.Type),
	"bottom_type":                  lang.Same(tree.Type),
	"optional_type":                lang.Around(tree.Type, "?", tree.RoleElement),
	"union_type":                   lang.Around(tree.Type, "|", tree.RoleElement),
	"disjunctive_normal_form_type": lang.Around(tree.Type, "|", tree.RoleElement),
	"intersection_type":            lang.Around(tree.Type, "&", tree.RoleElement),
}

// lowerQualified lowers a name of a namespace to Members.
// A\b() and namespace\b() are chains of Members.
func lowerQualified(l *lang.Lowering, r tree.Role, i int32) {
	lowerPath(l, r, i, dottedName(l.Source(i)))
}

// lowerNamedType lowers a name in the place of a type.
func lowerNamedType(l *lang.Lowering, r tree.Role, i int32) { lowerTypeName(l, r, i) }

// lowerTypeName lowers a name to a Type.
func lowerTypeName(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Type, r, dottedName(l.Source(i)), i)
}

// lowerRelativeScope lowers self, parent and static; parent is the Super of other
// languages.
// self and static stay names; models resolve them to the class around them.
func lowerRelativeScope(l *lang.Lowering, r tree.Role, i int32) {
	if strings.EqualFold(l.Source(i), "parent") {
		l.Put(tree.Super, r, "", i)
		return
	}
	l.Same(tree.Name, r, i)
}

// lowerVariable lowers a variable with its "$"; a sign of a pattern is a name alone.
// The "$" belongs to the name in the tree: $a and the constant a are different.
func lowerVariable(l *lang.Lowering, r tree.Role, i int32) {
	text := l.Source(i)
	// $this has a kind of its own, as in all languages.
	switch name := strings.TrimPrefix(text, "$"); {
	case name == "this":
		l.Put(tree.This, r, "", i)
	case lang.Holder(name):
		l.Put(tree.Name, r, name, i)
	default:
		l.Put(tree.Name, r, text, i)
	}
}

// lowerDynamicVariable lowers "$$x"; "${x}" is $x.
// $$x reads the variable whose name is in $x: a tainted name reaches any variable (CWE-914).
func lowerDynamicVariable(l *lang.Lowering, r tree.Role, i int32) {
	inner := l.First(i)
	// "${x}" in a string is plain $x.
	if l.Kind(inner) == "name" {
		l.Put(tree.Name, r, "$"+l.Source(inner), i)
		return
	}
	l.BeginText(tree.Unary, r, "$", i)
	l.Need(tree.RoleValue, i, inner)
	l.Close()
}

// lowerFunctionName lowers the name of a function, which has no case.
// Only plain names are changed; names of a namespace keep their case.
func lowerFunctionName(l *lang.Lowering, r tree.Role, i int32) {
	if l.Kind(i) == "name" && !lang.Holder(l.Source(i)) {
		l.Put(tree.Name, r, strings.ToLower(l.Source(i)), i)
		return
	}
	l.Node(r, i)
}

// lowerCall lowers a call of a function.
// A callee that is an expression ($f(), ($a->b)()) is lowered as it is.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	function := l.Field(i, "function")
	l.Begin(tree.Call, r, i)
	if function >= 0 {
		lowerFunctionName(l, tree.RoleCallee, function)
	} else {
		l.Need(tree.RoleCallee, i, function)
	}
	l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
	l.Close()
}

// methodCallRule returns the rule for a call of a member.
// The range of the callee ends with the name, not with the arguments.
func methodCallRule(object, operator string) lang.Rule {
	callee := memberRule(object, operator)
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

// memberRule returns the rule for an access to a member.
// "?->" yields null on null: it has the text "->" and the flag Optional.
func memberRule(object, operator string) lang.Rule {
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

// lowerConstantAccess lowers A::B.
// A::class is treated as a constant, too.
func lowerConstantAccess(l *lang.Lowering, r tree.Role, i int32) {
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

// lowerCreation lowers "new".
// The class is the first child that is neither the arguments nor the body of an anonymous
// class. It may be an expression: new $class.
func lowerCreation(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	class, arguments, anonymous := int32(-1), l.Find(i, "arguments"), l.Find(i, "anonymous_class")
	for c := range l.Children(i) {
		if class < 0 && c != arguments && c != anonymous {
			class = c
		}
	}
	switch kind := l.Kind(class); {
	// new class(…) extends B { } has its arguments inside.
	case anonymous >= 0:
		arguments = l.Find(anonymous, "arguments")
		l.Node(tree.RoleType, anonymous)
	case kind == "name", kind == "qualified_name", kind == "relative_name":
		lowerTypeName(l, tree.RoleType, class)
	default:
		l.Need(tree.RoleType, i, class)
	}
	l.Nodes(tree.RoleArgument, arguments)
	l.Close()
}

// lowerArgument lowers an argument: a named one is a Keyword, "...$a" a Spread.
// Named arguments exist since PHP 8: f(name: 1).
func lowerArgument(l *lang.Lowering, r tree.Role, i int32) {
	name, value := l.Field(i, "name"), int32(-1)
	for c := range l.Children(i) {
		// f(&$a) with the reference at the call was removed in PHP 5.4; the modifier is ignored.
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

// lowerSubscript lowers "$a[$k]"; in a string a bare word is the key.
// "$a[key]" in a string has a bare word as the key, and {$a[KEY]} a constant. The braces
// decide.
func lowerSubscript(l *lang.Lowering, r tree.Role, i int32) {
	object := l.First(i)
	l.Begin(tree.Index, r, i)
	l.Need(tree.RoleObject, i, object)
	for c := range l.Children(i) {
		switch kind := l.Kind(l.CST.Nodes[i].Parent); {
		case c == object:
		case l.Kind(c) == "name" && (kind == "encapsed_string" || kind == "heredoc_body") && !isBraced(l, i):
			l.Same(tree.String, tree.RoleIndex, c)
		default:
			l.Node(tree.RoleIndex, c)
		}
	}
	l.Close()
}

// lowerReferenceAssignment lowers "$a = &$b": the value is the address of the other
// variable, so that both names share it.
// The address as in Go and C: both variables share one cell from then on.
func lowerReferenceAssignment(l *lang.Lowering, r tree.Role, i int32) {
	right := l.Field(i, "right")
	l.BeginText(tree.Assign, r, "=", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.BeginText(tree.Unary, tree.RoleValue, "&", max(i, right))
	l.Need(tree.RoleValue, i, right)
	l.Close()
	l.Close()
}

// operationRule returns the rule for a node with an operator between two parts.
func operationRule(k tree.Kind, left, right tree.Role) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, l.Source(l.Field(i, "operator")), i)
		l.Need(left, i, l.Field(i, "left"))
		l.Need(right, i, l.Field(i, "right"))
		l.Close()
	}
}

// lowerBinary lowers an operation; "$a instanceof T" is a TypeTest.
// The operator is not case-sensitive: AND, InstanceOf.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	operator := strings.ToLower(l.Source(l.Field(i, "operator")))
	if operator != "instanceof" {
		operationRule(tree.Binary, tree.RoleLeft, tree.RoleRight)(l, r, i)
		return
	}
	l.BeginText(tree.TypeTest, r, operator, i)
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	right := l.Field(i, "right")
	// $a instanceof $b has an expression on the right.
	if kind := l.Kind(right); kind == "name" || kind == "qualified_name" || kind == "relative_name" {
		lowerTypeName(l, tree.RoleType, right)
	} else {
		l.Need(tree.RoleType, i, right)
	}
	l.Close()
}

// lowerUnary lowers the operators with one operand, "@" before what may fail included. The
// "-1" of a string has no operator in the grammar.
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
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

// lowerUpdate lowers "$i++" and "--$i"; the former yields the old value.
func lowerUpdate(l *lang.Lowering, r tree.Role, i int32) {
	operator, argument := l.Field(i, "operator"), l.Field(i, "argument")
	n := l.BeginText(tree.Update, r, l.Source(operator), i)
	// The operator behind the operand is the postfix form.
	if operator > argument {
		l.Flag(n, tree.Postfix)
	}
	l.Need(tree.RoleValue, i, argument)
	l.Close()
}

// lowerConditional lowers "a ? b : c", and "a ?: c" as a Binary.
// a ?: b evaluates a once and returns it if it is true, like || of JavaScript.
func lowerConditional(l *lang.Lowering, r tree.Role, i int32) {
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

// lowerYield lowers "yield $a", "yield $k => $v" and "yield from $a".
// The key and the value are both values of the Yield.
func lowerYield(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Has(i, "from") || l.Has(i, "yield from") {
		text = "from"
	}
	l.BeginText(tree.Yield, r, text, i)
	l.Nodes(tree.RoleValue, i)
	l.Close()
}

package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressionRules are the rules for what has a value.
var expressionRules = map[string]lang.Rule{
	"identifier":         lowerName,
	"implicit_parameter": lowerName,
	"predefined_type":    lowerName,
	"generic_name":       lowerName,
	"qualified_name": lang.Slots(tree.Member, ".", lang.Slot{Role: tree.RoleObject, Field: "qualifier"},
		lang.Slot{Role: tree.RoleProperty, Field: "name"}),
	"alias_qualified_name": lang.Slots(tree.Member, "::", lang.Slot{Role: tree.RoleObject, Field: "alias"},
		lang.Slot{Role: tree.RoleProperty, Field: "name"}),
	"this": lang.Leaf(tree.This, ""),
	"base": lang.Leaf(tree.Super, ""),

	"null_literal":                   lang.Leaf(tree.Null, "null"),
	"boolean_literal":                lang.Same(tree.Bool),
	"integer_literal":                lowerNumber,
	"real_literal":                   lowerNumber,
	"character_literal":              lowerCharacter,
	"string_literal":                 lowerStringLiteral,
	"verbatim_string_literal":        lowerVerbatim,
	"raw_string_literal":             lowerRawString,
	"interpolated_string_expression": lowerInterpolated,

	"parenthesized_expression": lowerInner,
	"checked_expression":       lowerInner,
	"ref_expression":           lowerInner,
	"await_expression":         wrapRule(tree.Await, "", tree.RoleValue),
	"binary_expression":        lowerBinary,
	"assignment_expression":    lowerAssignment,
	"prefix_unary_expression":  lowerPrefixed,
	"postfix_unary_expression": lowerPrefixed,
	"conditional_expression": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"as_expression":          lowerAsType,
	"is_expression":          lowerIsType,
	"is_pattern_expression":  lowerIsPattern,
	"cast_expression":        lowerCast,
	"typeof_expression":      typeCallRule("typeof"),
	"sizeof_expression":      typeCallRule("sizeof"),
	"range_expression":       lowerRangeOf,
	"query_expression":       lowerQuery,
	"tuple_expression":       aroundRule(tree.Tuple, tree.RoleElement),
	"declaration_expression": lowerDeclaredName,

	"member_access_expression":      lowerMember,
	"member_binding_expression":     lowerInner,
	"conditional_access_expression": lowerConditionalAccess,
	"element_access_expression":     lowerIndex,
	"bracketed_argument_list":       lowerChildren,
	"invocation_expression":         lowerCall,
	"argument_list":                 lowerChildren,
	"argument":                      lowerArgument,

	"object_creation_expression":           lowerNewObject,
	"implicit_object_creation_expression":  lowerNewObject,
	"array_creation_expression":            lowerNewArray,
	"implicit_array_creation_expression":   lowerInner,
	"anonymous_object_creation_expression": lowerAnonymousObject,
	"initializer_expression":               aroundRule(tree.List, tree.RoleElement),
	"lambda_expression":                    lowerLambda,
	"anonymous_method_expression":          lowerLambda,
}

// lowerName lowers a name without its type arguments.
func lowerName(l *lang.Lowering, r tree.Role, i int32) { l.Put(tree.Name, r, dottedName(l, i), i) }

// lowerNumber lowers a number without its separators and its suffix.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), "uUlLfFdDmM"), i)
}

// aroundRule returns the rule for a node whose parts all have one role.
func aroundRule(k tree.Kind, r tree.Role) lang.Rule {
	return func(l *lang.Lowering, role tree.Role, i int32) {
		l.Begin(k, role, i)
		lowerChildren(l, r, i)
		l.Close()
	}
}

// lowerBinary lowers an operation of two operands.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// lowerAssignment lowers "a = b" and the assignments with an operator.
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerPrefixed lowers an operator with its operand, on either side of it.
func lowerPrefixed(l *lang.Lowering, r tree.Role, i int32) {
	operand, text, postfix := partBehind(l, i, -1), "", false
	for c := range l.Every(i) {
		if !l.Named(c) && c != operand && text == "" {
			text, postfix = l.Source(c), c > operand
		}
	}
	k := tree.Unary
	if text == "++" || text == "--" {
		k = tree.Update
	}
	n := l.BeginText(k, r, text, i)
	if postfix && k == tree.Update {
		l.Flag(n, tree.Postfix)
	}
	l.Need(tree.RoleValue, i, operand)
	l.Close()
}

// lowerAsType lowers "x as T", which gives null where the type does not fit.
func lowerAsType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Cast, r, "as", i)
	lowerType(l, tree.RoleType, l.Field(i, "right"))
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	l.Close()
}

// lowerIsType lowers "x is T".
func lowerIsType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeTest, r, "is", i)
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	lowerType(l, tree.RoleType, l.Field(i, "right"))
	l.Close()
}

// lowerIsPattern lowers "x is pattern"; of "x is T name" the pattern is taken apart.
func lowerIsPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeTest, r, "is", i)
	l.Need(tree.RoleValue, i, l.Field(i, "expression"))
	pattern := l.Field(i, "pattern")
	if l.Kind(pattern) == "declaration_pattern" {
		lowerType(l, tree.RoleType, l.Field(pattern, "type"))
		l.Part(tree.RoleTarget, pattern, "name")
	} else {
		l.Need(tree.RoleType, i, pattern)
	}
	l.Close()
}

// lowerCast lowers "(T)x".
func lowerCast(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Cast, r, i)
	lowerType(l, tree.RoleType, l.Field(i, "type"))
	l.Need(tree.RoleValue, i, l.Field(i, "value"))
	l.Close()
}

// typeCallRule returns the rule for an operator that looks like a call with a type.
func typeCallRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(tree.Call, r, i)
		if word := l.Find(i, text); word >= 0 {
			l.Same(tree.Name, tree.RoleCallee, word)
		}
		lowerType(l, tree.RoleArgument, l.Field(i, "type"))
		l.Close()
	}
}

// lowerRangeOf lowers "a..b"; an end may be missing.
func lowerRangeOf(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Slice, r, i)
	dots := l.Find(i, "..")
	for c := range childParts(l, i) {
		if c < dots {
			l.Node(tree.RoleLow, c)
		} else {
			l.Node(tree.RoleHigh, c)
		}
	}
	l.Close()
}

// lowerMember lowers "a.b" and "p->b".
func lowerMember(l *lang.Lowering, r tree.Role, i int32) {
	text := "."
	if l.Has(i, "->") {
		text = "->"
	}
	l.BeginText(tree.Member, r, text, i)
	l.Need(tree.RoleObject, i, l.Field(i, "expression"))
	l.Need(tree.RoleProperty, i, l.Field(i, "name"))
	l.Close()
}

// lowerConditionalAccess lowers "a?.b" and "a?[b]".
func lowerConditionalAccess(l *lang.Lowering, r tree.Role, i int32) {
	object := l.Field(i, "condition")
	access := partBehind(l, i, object)
	k, role, text := tree.Member, tree.RoleProperty, "."
	if l.Kind(access) == "element_binding_expression" {
		k, role, text = tree.Index, tree.RoleIndex, ""
	}
	l.Flag(l.BeginText(k, r, text, i), tree.Optional)
	l.Need(tree.RoleObject, i, object)
	if k == tree.Index {
		lowerChildren(l, role, access)
	} else {
		l.Node(role, access)
	}
	l.Close()
}

// lowerIndex lowers "a[b, c]".
func lowerIndex(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	l.Need(tree.RoleObject, i, l.Field(i, "expression"))
	l.Part(tree.RoleIndex, i, "subscript")
	l.Close()
}

// lowerCall lowers a call.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, l.Field(i, "function"))
	l.Part(tree.RoleArgument, i, "arguments")
	l.Close()
}

// lowerArgument lowers an argument; "ref", "out" and "in" are left out.
func lowerArgument(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Field(i, "name")
	if name < 0 {
		lowerInner(l, r, i)
		return
	}
	l.Begin(tree.Keyword, r, i)
	l.Node(tree.RoleName, name)
	l.Need(tree.RoleValue, i, partBehind(l, i, name))
	l.Close()
}

// lowerNewObject lowers "new T(…) { A = b, c }": what the braces assign and add follows
// the arguments.
func lowerNewObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	if t := l.Field(i, "type"); t >= 0 {
		lowerType(l, tree.RoleType, t)
	} else {
		start, _ := l.Range(i)
		l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	}
	l.Node(tree.RoleArgument, l.Find(i, "argument_list"))
	if rank := l.Field(l.Field(i, "type"), "rank"); rank >= 0 {
		lowerChildren(l, tree.RoleArgument, rank)
	}
	if values := l.Find(i, "initializer_expression"); values >= 0 {
		lowerChildren(l, tree.RoleArgument, values)
	}
	l.Close()
}

// lowerNewArray lowers "new T[n]", whose arguments are the lengths, and "new T[] {…}",
// whose arguments are the elements.
func lowerNewArray(l *lang.Lowering, r tree.Role, i int32) {
	t, values := l.Field(i, "type"), l.Find(i, "initializer_expression")
	text := "new"
	if values >= 0 {
		text = "{}"
	}
	l.BeginText(tree.New, r, text, i)
	lowerType(l, tree.RoleType, t)
	if values >= 0 {
		lowerChildren(l, tree.RoleArgument, values)
	} else if rank := l.Field(t, "rank"); rank >= 0 {
		lowerChildren(l, tree.RoleArgument, rank)
	}
	l.Close()
}

// lowerAnonymousObject lowers "new { a = b, c }".
func lowerAnonymousObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "{}", i)
	start, _ := l.Range(i)
	l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	var list []int32
	for c := range l.Every(i) {
		switch k := l.Kind(c); {
		case k == "," || k == "}":
			lowerAnonymousMember(l, list)
			list = nil
		case k != "new" && k != "{" && !l.Extra(c):
			list = append(list, c)
		}
	}
	l.Close()
}

// lowerAnonymousMember lowers the tokens of one member, "a = b" or an expression.
func lowerAnonymousMember(l *lang.Lowering, list []int32) {
	switch {
	case len(list) == 3 && l.Kind(list[1]) == "=":
		l.Open(tree.Keyword, tree.RoleArgument, l.CST.Nodes[list[0]].Start, l.CST.Nodes[list[2]].End)
		l.Node(tree.RoleName, list[0])
		l.Node(tree.RoleValue, list[2])
		l.Close()
	case len(list) > 0:
		l.Node(tree.RoleArgument, list[len(list)-1])
	}
}

// lowerLambda lowers "x => e" and "delegate (T x) { … }".
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	lowerAttributes(l, i)
	switch parameters := l.Field(i, "parameters"); l.Kind(parameters) {
	case "implicit_parameter", "identifier":
		l.Begin(tree.Parameter, tree.RoleParameter, parameters)
		l.Node(tree.RoleTarget, parameters)
		l.Close()
	default:
		l.Node(tree.RoleParameter, parameters)
	}
	lowerType(l, tree.RoleReturnType, l.Field(i, "type"))
	body := l.Field(i, "body")
	if body < 0 {
		body = l.Find(i, "block")
	}
	l.Need(tree.RoleBody, i, body)
	l.Close()
}

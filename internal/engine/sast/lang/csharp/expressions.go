package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var expressionRules = map[string]lang.Rule{
	"identifier":         name,
	"implicit_parameter": name,
	"predefined_type":    name,
	"generic_name":       name,
	"qualified_name": lang.Slots(tree.Member, ".", lang.Slot{Role: tree.RoleObject, Field: "qualifier"},
		lang.Slot{Role: tree.RoleProperty, Field: "name"}),
	"alias_qualified_name": lang.Slots(tree.Member, "::", lang.Slot{Role: tree.RoleObject, Field: "alias"},
		lang.Slot{Role: tree.RoleProperty, Field: "name"}),
	"this": lang.Leaf(tree.This, ""),
	"base": lang.Leaf(tree.Super, ""),

	"null_literal":                   lang.Leaf(tree.Null, "null"),
	"boolean_literal":                lang.Same(tree.Bool),
	"integer_literal":                number,
	"real_literal":                   number,
	"character_literal":              character,
	"string_literal":                 stringLiteral,
	"verbatim_string_literal":        verbatim,
	"raw_string_literal":             rawString,
	"interpolated_string_expression": interpolated,

	"parenthesized_expression": inner,
	"checked_expression":       inner,
	"ref_expression":           inner,
	"await_expression":         wrap(tree.Await, "", tree.RoleValue),
	"binary_expression":        binary,
	"assignment_expression":    assignment,
	"prefix_unary_expression":  prefixed,
	"postfix_unary_expression": prefixed,
	"conditional_expression": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"as_expression":          asType,
	"is_expression":          isType,
	"is_pattern_expression":  isPattern,
	"cast_expression":        cast,
	"typeof_expression":      typeCall("typeof"),
	"sizeof_expression":      typeCall("sizeof"),
	"range_expression":       rangeOf,
	"query_expression":       query,
	"tuple_expression":       around(tree.Tuple, tree.RoleElement),
	"declaration_expression": declared,

	"member_access_expression":      member,
	"member_binding_expression":     inner,
	"conditional_access_expression": conditionalAccess,
	"element_access_expression":     index,
	"bracketed_argument_list":       children,
	"invocation_expression":         call,
	"argument_list":                 children,
	"argument":                      argument,

	"object_creation_expression":           newObject,
	"implicit_object_creation_expression":  newObject,
	"array_creation_expression":            newArray,
	"implicit_array_creation_expression":   inner,
	"anonymous_object_creation_expression": anonymousObject,
	"initializer_expression":               around(tree.List, tree.RoleElement),
	"lambda_expression":                    lambda,
	"anonymous_method_expression":          lambda,
}

// name lowers a name without its type arguments.
func name(l *lang.Lowering, r tree.Role, i int32) { l.Put(tree.Name, r, dotted(l, i), i) }

func number(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), "uUlLfFdDmM"), i)
}

// around returns the rule for a node whose parts all have one role.
func around(k tree.Kind, r tree.Role) lang.Rule {
	return func(l *lang.Lowering, role tree.Role, i int32) {
		l.Begin(k, role, i)
		children(l, r, i)
		l.Close()
	}
}

func binary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

func assignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// prefixed lowers an operator with its operand, on either side of it.
func prefixed(l *lang.Lowering, r tree.Role, i int32) {
	operand, text, postfix := part(l, i, -1), "", false
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

func asType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Cast, r, "as", i)
	typ(l, tree.RoleType, l.Field(i, "right"))
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	l.Close()
}

func isType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeTest, r, "is", i)
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	typ(l, tree.RoleType, l.Field(i, "right"))
	l.Close()
}

// isPattern lowers "x is pattern"; of "x is T name" the pattern is taken apart.
func isPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeTest, r, "is", i)
	l.Need(tree.RoleValue, i, l.Field(i, "expression"))
	pattern := l.Field(i, "pattern")
	if l.Kind(pattern) == "declaration_pattern" {
		typ(l, tree.RoleType, l.Field(pattern, "type"))
		l.Part(tree.RoleTarget, pattern, "name")
	} else {
		l.Need(tree.RoleType, i, pattern)
	}
	l.Close()
}

func cast(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Cast, r, i)
	typ(l, tree.RoleType, l.Field(i, "type"))
	l.Need(tree.RoleValue, i, l.Field(i, "value"))
	l.Close()
}

// typeCall returns the rule for an operator that looks like a call with a type.
func typeCall(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(tree.Call, r, i)
		if word := l.Find(i, text); word >= 0 {
			l.Same(tree.Name, tree.RoleCallee, word)
		}
		typ(l, tree.RoleArgument, l.Field(i, "type"))
		l.Close()
	}
}

func rangeOf(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Slice, r, i)
	dots := l.Find(i, "..")
	for c := range parts(l, i) {
		if c < dots {
			l.Node(tree.RoleLow, c)
		} else {
			l.Node(tree.RoleHigh, c)
		}
	}
	l.Close()
}

func member(l *lang.Lowering, r tree.Role, i int32) {
	text := "."
	if l.Has(i, "->") {
		text = "->"
	}
	l.BeginText(tree.Member, r, text, i)
	l.Need(tree.RoleObject, i, l.Field(i, "expression"))
	l.Need(tree.RoleProperty, i, l.Field(i, "name"))
	l.Close()
}

// conditionalAccess lowers "a?.b" and "a?[b]".
func conditionalAccess(l *lang.Lowering, r tree.Role, i int32) {
	object := l.Field(i, "condition")
	access := part(l, i, object)
	k, role, text := tree.Member, tree.RoleProperty, "."
	if l.Kind(access) == "element_binding_expression" {
		k, role, text = tree.Index, tree.RoleIndex, ""
	}
	l.Flag(l.BeginText(k, r, text, i), tree.Optional)
	l.Need(tree.RoleObject, i, object)
	if k == tree.Index {
		children(l, role, access)
	} else {
		l.Node(role, access)
	}
	l.Close()
}

func index(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	l.Need(tree.RoleObject, i, l.Field(i, "expression"))
	l.Part(tree.RoleIndex, i, "subscript")
	l.Close()
}

func call(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, l.Field(i, "function"))
	l.Part(tree.RoleArgument, i, "arguments")
	l.Close()
}

// argument lowers an argument; "ref", "out" and "in" are left out.
func argument(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Field(i, "name")
	if name < 0 {
		inner(l, r, i)
		return
	}
	l.Begin(tree.Keyword, r, i)
	l.Node(tree.RoleName, name)
	l.Need(tree.RoleValue, i, part(l, i, name))
	l.Close()
}

// newObject lowers "new T(…) { A = b, c }": what the braces assign and add follows
// the arguments.
func newObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	if t := l.Field(i, "type"); t >= 0 {
		typ(l, tree.RoleType, t)
	} else {
		start, _ := l.Range(i)
		l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	}
	l.Node(tree.RoleArgument, l.Find(i, "argument_list"))
	if rank := l.Field(l.Field(i, "type"), "rank"); rank >= 0 {
		children(l, tree.RoleArgument, rank)
	}
	if values := l.Find(i, "initializer_expression"); values >= 0 {
		children(l, tree.RoleArgument, values)
	}
	l.Close()
}

// newArray lowers "new T[n]", whose arguments are the lengths, and "new T[] {…}",
// whose arguments are the elements.
func newArray(l *lang.Lowering, r tree.Role, i int32) {
	t, values := l.Field(i, "type"), l.Find(i, "initializer_expression")
	text := "new"
	if values >= 0 {
		text = "{}"
	}
	l.BeginText(tree.New, r, text, i)
	typ(l, tree.RoleType, t)
	if values >= 0 {
		children(l, tree.RoleArgument, values)
	} else if rank := l.Field(t, "rank"); rank >= 0 {
		children(l, tree.RoleArgument, rank)
	}
	l.Close()
}

// anonymousObject lowers "new { a = b, c }".
func anonymousObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "{}", i)
	start, _ := l.Range(i)
	l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	var list []int32
	for c := range l.Every(i) {
		switch k := l.Kind(c); {
		case k == "," || k == "}":
			anonymousMember(l, list)
			list = nil
		case k != "new" && k != "{" && !l.Extra(c):
			list = append(list, c)
		}
	}
	l.Close()
}

// anonymousMember lowers the tokens of one member, "a = b" or an expression.
func anonymousMember(l *lang.Lowering, list []int32) {
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

func lambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	attributes(l, i)
	switch parameters := l.Field(i, "parameters"); l.Kind(parameters) {
	case "implicit_parameter", "identifier":
		l.Begin(tree.Parameter, tree.RoleParameter, parameters)
		l.Node(tree.RoleTarget, parameters)
		l.Close()
	default:
		l.Node(tree.RoleParameter, parameters)
	}
	typ(l, tree.RoleReturnType, l.Field(i, "type"))
	body := l.Field(i, "body")
	if body < 0 {
		body = l.Find(i, "block")
	}
	l.Need(tree.RoleBody, i, body)
	l.Close()
}

package scala

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressionRules are the rules for expressions, each of which may be a statement.
var expressionRules = func() map[string]lang.Rule {
	rules := map[string]lang.Rule{
		"identifier":                     lowerName,
		"operator_identifier":            lowerName,
		"wildcard":                       lowerName,
		"integer_literal":                lowerNumber,
		"floating_point_literal":         lowerNumber,
		"boolean_literal":                lang.Same(tree.Bool),
		"null_literal":                   lang.Leaf(tree.Null, "null"),
		"character_literal":              lowerCharacter,
		"string":                         lowerStringLiteral,
		"interpolated_string_expression": lowerInterpolated,
		"unit":                           lang.Leaf(tree.Tuple, ""),
		"tuple_expression":               lang.Around(tree.Tuple, "", tree.RoleElement),
		"parenthesized_expression":       lang.Inner,
		"case_block":                     lowerCaseLambda,
		"indented_cases":                 lowerCaseLambda,

		"field_expression": lang.Slots(tree.Member, ".", lang.Slot{Role: tree.RoleObject, Field: "value"},
			lang.Slot{Role: tree.RoleProperty, Field: "field"}),
		"generic_function":      func(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, l.Field(i, "function")) },
		"call_expression":       lowerCall,
		"instance_expression":   lowerNewObject,
		"assignment_expression": lowerAssignment,
		"infix_expression":      lowerInfix,
		"prefix_expression":     lowerPrefix,
		"postfix_expression":    lowerPostfix,
		"ascription_expression": lowerAscription,
		"lambda_expression":     lowerLambda,
	}
	for kind, rule := range rules {
		rules[kind] = expressionRule(rule)
	}
	rules["arguments"] = lowerArguments
	rules["binding"] = lowerBinding
	rules["bindings"] = lowerChildren
	return rules
}()

// lowerName lowers an identifier, without the backquotes around one that is a keyword.
func lowerName(l *lang.Lowering, r tree.Role, i int32) {
	switch text := bareName(l, i); text {
	case "this":
		l.Put(tree.This, r, "", i)
	case "super":
		l.Put(tree.Super, r, "", i)
	default:
		l.Put(tree.Name, r, text, i)
	}
}

// lowerNumber lowers a number without its suffix.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), "lLdDfF"), i)
}

// lowerCall lowers a call; a block in the place of arguments is a Lambda.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, l.Field(i, "function"))
	switch a := l.Field(i, "arguments"); l.Kind(a) {
	case "block", "colon_argument":
		lowerBlockLambda(l, tree.RoleArgument, a)
	default:
		l.Node(tree.RoleArgument, a)
	}
	l.Close()
}

// lowerArguments lowers arguments; an assignment to a name is a named one.
func lowerArguments(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		if left := l.Field(c, "left"); l.Kind(c) == "assignment_expression" && l.Kind(left) == "identifier" {
			l.Begin(tree.Keyword, r, c)
			l.Node(tree.RoleName, left)
			l.Need(tree.RoleValue, c, l.Field(c, "right"))
			l.Close()
		} else {
			l.Node(r, c)
		}
	}
}

// lowerBlockLambda lowers "{ x => statements }" and "{ statements }" behind a call. The
// grammar ends the lambda with its first statement.
func lowerBlockLambda(l *lang.Lowering, r tree.Role, i int32) {
	first := l.First(i)
	if k := l.Kind(first); k == "indented_block" && l.Kind(i) == "colon_argument" {
		i, first = first, l.First(first)
	} else if k == "indented_cases" {
		l.Node(r, first)
		return
	}
	l.Begin(tree.Lambda, r, i)
	parameters := l.Kind(first) == "lambda_expression"
	if parameters {
		lowerLambdaParameters(l, first)
	}
	l.Begin(tree.Block, tree.RoleBody, i)
	for c := range l.Children(i) {
		if c != first || !parameters {
			l.Node(tree.RoleStatement, c)
			continue
		}
		if body := lastChild(l, first); l.Kind(body) == "indented_block" {
			l.Nodes(tree.RoleStatement, body)
		} else if body > l.Field(first, "parameters") {
			l.Node(tree.RoleStatement, body)
		}
	}
	l.Close()
	l.Close()
}

// lowerCaseLambda lowers "{ case … => … }", a function that is a match of its parameter.
func lowerCaseLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	l.Flag(l.Begin(tree.Block, tree.RoleBody, i), tree.Implied)
	l.Flag(l.Begin(tree.Switch, tree.RoleStatement, i), tree.Implied)
	l.Nodes(tree.RoleCase, i)
	l.Close()
	l.Close()
	l.Close()
}

// lowerLambda lowers "(a, b) => e".
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	lowerLambdaParameters(l, i)
	body := lastChild(l, i)
	if body == l.Field(i, "parameters") {
		body = -1
	}
	l.Need(tree.RoleBody, i, body)
	l.Close()
}

// lowerLambdaParameters lowers the names before "=>"; a type may stand behind each.
func lowerLambdaParameters(l *lang.Lowering, i int32) {
	switch p := l.Field(i, "parameters"); l.Kind(p) {
	case "bindings":
		l.Node(tree.RoleParameter, p)
	case "":
	default:
		l.Begin(tree.Parameter, tree.RoleParameter, p)
		l.Node(tree.RoleTarget, p)
		l.Close()
	}
}

// lowerBinding lowers a parameter of a lambda with its type.
func lowerBinding(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Parameter, r, i)
	l.Part(tree.RoleType, i, "type")
	l.Node(tree.RoleTarget, l.First(i))
	l.Close()
}

// lowerNewObject lowers "new T(…) { … }".
func lowerNewObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	body, arguments, typ := l.Find(i, "template_body"), l.Find(i, "arguments"), l.First(i)
	if typ >= 0 && typ != body {
		l.Node(tree.RoleType, typ)
	} else {
		start, _ := l.Range(i)
		l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	}
	l.Node(tree.RoleArgument, arguments)
	l.Node(tree.RoleBody, body)
	l.Close()
}

// lowerAssignment lowers "a = b".
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, "=", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerInfix lowers "a op b": an Assign for "+=" and the like, a Binary for a sign, and
// for a word the call that it is, a.op(b).
func lowerInfix(l *lang.Lowering, r tree.Role, i int32) {
	left, operator, right := l.Field(i, "left"), l.Field(i, "operator"), l.Field(i, "right")
	text := l.Source(operator)
	switch {
	case l.Kind(operator) == "identifier" && left >= 0:
		l.Begin(tree.Call, r, i)
		l.Open(tree.Member, tree.RoleCallee, l.CST.Nodes[left].Start, l.CST.Nodes[operator].End)
		l.File.Nodes[len(l.File.Nodes)-1].Text = "."
		l.Node(tree.RoleObject, left)
		l.Node(tree.RoleProperty, operator)
		l.Close()
		if l.Kind(right) == "block" {
			lowerBlockLambda(l, tree.RoleArgument, right)
		} else {
			l.Node(tree.RoleArgument, right)
		}
		l.Close()
	case isAssignment(text):
		l.BeginText(tree.Assign, r, text, i)
		l.Need(tree.RoleTarget, i, left)
		l.Need(tree.RoleValue, i, right)
		l.Close()
	default:
		l.BeginText(tree.Binary, r, text, i)
		l.Need(tree.RoleLeft, i, left)
		l.Need(tree.RoleRight, i, right)
		l.Close()
	}
}

// isAssignment reports whether an operator changes its left side (Scala 2.13, 6.12.4).
func isAssignment(operator string) bool {
	switch operator {
	case "<=", ">=", "!=":
		return false
	}
	return len(operator) > 1 && strings.HasSuffix(operator, "=") && operator[0] != '='
}

// lowerPrefix lowers "-a", "!a", "~a" and "+a".
func lowerPrefix(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	for c := range l.Every(i) {
		if !l.Named(c) && text == "" {
			text = l.Source(c)
		}
	}
	l.BeginText(tree.Unary, r, text, i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// lowerPostfix lowers "a op", which is a.op.
func lowerPostfix(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, ".", i)
	object := l.First(i)
	l.Need(tree.RoleObject, i, object)
	l.Need(tree.RoleProperty, i, childBehind(l, i, object))
	l.Close()
}

// lowerAscription lowers "x: T"; "x: _*" is a Spread.
func lowerAscription(l *lang.Lowering, r tree.Role, i int32) {
	value := l.First(i)
	typ := childBehind(l, i, value)
	if l.Kind(typ) == "repeated_parameter_type" {
		l.BeginText(tree.Spread, r, "*", i)
		l.Need(tree.RoleValue, i, value)
		l.Close()
		return
	}
	l.BeginText(tree.Cast, r, ":", i)
	l.Need(tree.RoleType, i, typ)
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// escapes are the escapes of strings in one pair of quotes.
var escapes = &lang.Escapes{
	Letters: map[byte]string{'t': "\t", 'b': "\b", 'n': "\n", 'r': "\r", 'f': "\f", '\'': "'", '"': "\"", '\\': "\\"},
	Digits:  map[byte][2]int{'u': {4, 4}},
}

// lowerCharacter lowers 'a'.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	s := l.Source(i)
	if len(s) >= 2 {
		s = s[1 : len(s)-1]
	}
	l.Put(tree.Character, r, escapes.Unescape(s), i)
}

// quoteLength returns the length of the quotes around a string.
func quoteLength(source string) uint32 {
	if strings.HasPrefix(source, `"""`) && len(source) >= 6 {
		return 3
	}
	return 1
}

// lowerStringLiteral lowers a string. One in three quotes, and a regular expression of a
// pattern, keep their escapes.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	source := l.Source(i)
	q := int(quoteLength(source))
	if len(source) < 2*q {
		l.Same(tree.String, r, i)
		return
	}
	s := source[q : len(source)-q]
	if q == 1 && !strings.HasPrefix(s, "=~/") {
		s = escapes.Unescape(s)
	}
	l.Put(tree.String, r, s, i)
}

// lowerInterpolated lowers s"…" and f"…" as a Template, and that of any other name as a
// call of it.
func lowerInterpolated(l *lang.Lowering, r tree.Role, i int32) {
	by, text := l.Field(i, "interpolator"), l.Find(i, "interpolated_string")
	switch l.Source(by) {
	case "s", "f", "raw":
		lowerTemplate(l, r, text, i)
	default:
		l.BeginText(tree.Call, r, "tag", i)
		l.Need(tree.RoleCallee, i, by)
		lowerTemplate(l, tree.RoleArgument, text, text)
		l.Close()
	}
}

// lowerTemplate lowers the parts of a string; whole is the node that gives it its range.
func lowerTemplate(l *lang.Lowering, r tree.Role, i, whole int32) {
	if i < 0 {
		l.Lost(r, max(whole, 0))
		return
	}
	l.Begin(tree.Template, r, whole)
	start, end := l.Range(i)
	q := quoteLength(l.Source(i))
	at := start + q
	part := func(from, to uint32) {
		if from < to {
			s := strings.ReplaceAll(l.File.Source[from:to], "$$", "$")
			if q == 1 {
				s = escapes.Unescape(s)
			}
			l.Leaf(tree.String, tree.RolePart, s, from, to)
		}
	}
	for c := range l.Children(i) {
		if l.Kind(c) != "interpolation" {
			continue
		}
		from, to := l.Range(c)
		part(at, from)
		if inner := l.First(c); inner >= 0 {
			l.Node(tree.RolePart, singleExpression(l, inner))
		}
		at = to
	}
	part(at, max(at, end-min(end, q)))
	l.Close()
}

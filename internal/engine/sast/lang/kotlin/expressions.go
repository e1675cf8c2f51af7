package kotlin

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressionRules are the rules for expressions, each of which may be a statement.
var expressionRules = func() map[string]lang.Rule {
	rules := map[string]lang.Rule{
		"identifier":               lowerName,
		"number_literal":           lowerNumber,
		"float_literal":            lowerNumber,
		"character_literal":        lowerCharacter,
		"string_literal":           lowerStringLiteral,
		"multiline_string_literal": lowerStringLiteral,
		"collection_literal":       lang.Around(tree.List, "", tree.RoleElement),
		"object_literal":           lowerObjectLiteral,
		"lambda_literal":           lowerLambda,
		"anonymous_function":       lowerAnonymousFunction,

		"parenthesized_expression": lang.Inner,
		"annotated_expression":     lowerAnnotatedExpression,
		"this_expression":          receiverRule(tree.This),
		"super_expression":         receiverRule(tree.Super),
		"navigation_expression":    lowerNavigation,
		"callable_reference":       lowerReference,
		"index_expression":         lowerIndex,
		"call_expression":          lowerCall,
		"spread_expression":        lang.Around(tree.Spread, "*", tree.RoleValue),

		"unary_expression":  lowerUnary,
		"binary_expression": lowerBinary,
		"in_expression":     lowerBinary,
		"range_expression":  lowerBinary,
		"infix_expression":  lowerInfix,
		"is_expression":     lowerTypeCheck,
		"as_expression":     lowerCast,
	}
	for kind, rule := range rules {
		rules[kind] = expressionRule(rule)
	}
	rules["value_arguments"] = lowerChildren
	rules["value_argument"] = lowerArgument
	rules["interpolation"] = lang.Inner
	return rules
}()

// lowerName lowers an identifier. The grammar takes some keywords for one.
func lowerName(l *lang.Lowering, r tree.Role, i int32) {
	switch text := l.Source(i); text {
	case "true", "false":
		l.Put(tree.Bool, r, text, i)
	case "null":
		l.Put(tree.Null, r, text, i)
	case "break":
		l.Put(tree.Break, r, "", i)
	case "continue":
		l.Put(tree.Continue, r, "", i)
	default:
		l.Put(tree.Name, r, strings.Trim(text, "`"), i)
	}
}

// lowerNumber lowers a number without its separators and its suffix.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), "lLuUfF"), i)
}

// lowerObjectLiteral lowers "object : T(…) { … }": a New of the first type.
func lowerObjectLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	first := l.First(l.Find(i, "delegation_specifiers"))
	if first >= 0 {
		l.Need(tree.RoleType, i, baseType(l, first))
		l.Node(tree.RoleArgument, l.Find(l.Find(first, "constructor_invocation"), "value_arguments"))
	} else {
		start, _ := l.Range(i)
		l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	}
	l.Node(tree.RoleBody, l.Find(i, "class_body"))
	l.Close()
}

// lowerLambda lowers "{ a, b -> statements }".
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	parameters := l.Find(i, "lambda_parameters")
	for p := range l.Children(parameters) {
		if l.Kind(p) == "variable_declaration" {
			l.Node(tree.RoleParameter, p)
			continue
		}
		l.Begin(tree.Parameter, tree.RoleParameter, p)
		l.Node(tree.RoleTarget, p)
		l.Close()
	}
	l.Begin(tree.Block, tree.RoleBody, i)
	for c := range l.Children(i) {
		if c != parameters {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
	l.Close()
}

// lowerAnonymousFunction lowers "fun(a: T): U { … }" as a value.
func lowerAnonymousFunction(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	lowerSignature(l, i)
	if b := l.Find(i, "function_body"); b >= 0 {
		l.Node(tree.RoleBody, b)
	} else {
		_, end := l.Range(i)
		l.Flag(l.Leaf(tree.Block, tree.RoleBody, "", end, end), tree.Implied)
	}
	l.Close()
}

// lowerAnnotatedExpression lowers an expression without the annotations before it, which
// are for the compiler.
func lowerAnnotatedExpression(l *lang.Lowering, r tree.Role, i int32) {
	l.Need(r, i, findBehind(l, i, -1, func(k string) bool { return k != "annotation" }))
}

// receiverRule returns the rule for this and super, with the label behind "@" as text.
func receiverRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Put(k, r, l.Source(findIdentifier(l, i)), i)
	}
}

// lowerNavigation lowers "a.b", "a?.b" and "a::b".
func lowerNavigation(l *lang.Lowering, r tree.Role, i int32) {
	text := "."
	if l.Has(i, "::") {
		text = "::"
	}
	n := l.BeginText(tree.Member, r, text, i)
	if l.Has(i, "?.") {
		l.Flag(n, tree.Optional)
	}
	object := l.First(i)
	l.Need(tree.RoleObject, i, object)
	l.Need(tree.RoleProperty, i, findBehind(l, i, object, func(k string) bool { return k == "identifier" }))
	l.Close()
}

// lowerReference lowers "T::f" and "::f"; the latter is the function itself.
func lowerReference(l *lang.Lowering, r tree.Role, i int32) {
	object := findBehind(l, i, -1, isType)
	property := l.Find(i, "identifier")
	if property < 0 {
		property = l.Find(i, "class")
	}
	if object < 0 {
		l.Need(r, i, property)
		return
	}
	l.BeginText(tree.Member, r, "::", i)
	l.Node(tree.RoleObject, object)
	if property >= 0 {
		l.Same(tree.Name, tree.RoleProperty, property)
	}
	l.Close()
}

// lowerIndex lowers "a[b, c]".
func lowerIndex(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	object := l.First(i)
	l.Need(tree.RoleObject, i, object)
	for c := range l.Children(i) {
		if c != object {
			l.Node(tree.RoleIndex, c)
		}
	}
	l.Close()
}

// lowerCall lowers a call with its trailing lambda. The grammar takes "f(a) { b }" for a
// call of "f(a)" in places.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	callee, arguments, trailing := l.First(i), l.Find(i, "value_arguments"), l.Find(i, "annotated_lambda")
	if arguments < 0 && l.Kind(callee) == "call_expression" && l.Find(callee, "annotated_lambda") < 0 {
		arguments = l.Find(callee, "value_arguments")
		callee = l.First(callee)
	}
	l.Need(tree.RoleCallee, i, callee)
	l.Node(tree.RoleArgument, arguments)
	l.Node(tree.RoleArgument, l.Find(trailing, "lambda_literal"))
	l.Close()
}

// lowerArgument lowers an argument: a named one is a Keyword, "*a" a Spread.
func lowerArgument(l *lang.Lowering, r tree.Role, i int32) {
	if equals := l.Find(i, "="); equals >= 0 {
		l.Begin(tree.Keyword, r, i)
		l.Need(tree.RoleName, i, findIdentifier(l, i))
		l.Need(tree.RoleValue, i, behindToken(l, i, "="))
		l.Close()
		return
	}
	if l.Has(i, "*") {
		l.BeginText(tree.Spread, r, "*", i)
		l.Need(tree.RoleValue, i, l.First(i))
		l.Close()
		return
	}
	lang.Inner(l, r, i)
}

// operatorText returns the token between the operands.
func operatorText(l *lang.Lowering, i int32) string {
	for c := range l.Every(i) {
		if !l.Named(c) && !l.Extra(c) {
			return l.Source(c)
		}
	}
	return ""
}

// lowerUnary lowers the operators with one operand; "x!!" is a Unary too.
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	op, argument := l.Field(i, "operator"), l.Field(i, "argument")
	k, text := tree.Unary, l.Source(op)
	if text == "++" || text == "--" {
		k = tree.Update
	}
	n := l.BeginText(k, r, text, i)
	if k == tree.Update && op > argument {
		l.Flag(n, tree.Postfix)
	}
	l.Need(tree.RoleValue, i, argument)
	l.Close()
}

// lowerBinary lowers an operation of two operands.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, operatorText(l, i), i)
	left := l.First(i)
	l.Need(tree.RoleLeft, i, left)
	l.Need(tree.RoleRight, i, findBehind(l, i, left, func(string) bool { return true }))
	l.Close()
}

// lowerInfix lowers "a f b", a Binary whose operator is the name of the function.
func lowerInfix(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := range l.Children(i) {
		parts = append(parts, c)
	}
	if len(parts) != 3 {
		l.Fallback(r, i, l.Node)
		return
	}
	l.BeginText(tree.Binary, r, l.Source(parts[1]), i)
	l.Node(tree.RoleLeft, parts[0])
	l.Node(tree.RoleRight, parts[2])
	l.Close()
}

// lowerTypeCheck lowers "x is T" and "x !is T".
func lowerTypeCheck(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeTest, r, operatorText(l, i), i)
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	l.Need(tree.RoleType, i, l.Field(i, "right"))
	l.Close()
}

// lowerCast lowers "x as T" and "x as? T".
func lowerCast(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Cast, r, operatorText(l, i), i)
	l.Need(tree.RoleType, i, l.Field(i, "right"))
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	l.Close()
}

// lowerCharacter lowers a character.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	s := l.Source(i)
	if len(s) >= 2 {
		s = s[1 : len(s)-1]
	}
	l.Put(tree.Character, r, escapes.Unescape(s), i)
}

// escapes are those of strings and characters.
var escapes = &lang.Escapes{
	Letters: map[byte]string{'t': "\t", 'b': "\b", 'n': "\n", 'r': "\r", '\'': "'", '"': "\"", '\\': "\\", '$': "$"},
	Digits:  map[byte][2]int{'u': {4, 4}},
}

// lowerStringLiteral lowers a string; one with parts is a Template. Strings in three
// quotes have no escapes.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	source := l.Source(i)
	quote := uint32(1)
	value := func(s string) string { return escapes.Unescape(s) }
	if strings.HasPrefix(source, `"""`) {
		quote = 3
		value = func(s string) string { return s }
	}
	start, end := l.Range(i)
	if end < start+2*quote {
		l.Same(tree.String, r, i)
		return
	}
	source = l.File.Source[start+quote : end-quote]
	if strings.HasPrefix(source, "=~/") {
		l.Put(tree.String, r, source, i)
		return
	}
	if !l.Has(i, "interpolation") && !variablePart.MatchString(source) {
		l.Put(tree.String, r, value(source), i)
		return
	}
	l.Begin(tree.Template, r, i)
	at := start + quote
	for c := range l.Children(i) {
		if l.Kind(c) == "interpolation" {
			from, to := l.Range(c)
			lowerText(l, at, from, value)
			l.Node(tree.RolePart, c)
			at = to
		}
	}
	lowerText(l, at, end-quote, value)
	l.Close()
}

// variablePart is a variable in a string, which the grammar passes over in places.
var variablePart = regexp.MustCompile(`(?:^|[^\\$])(\$[\pL_][\pL\p{Nd}_]*)`)

// lowerText adds the part of a template between two bytes.
func lowerText(l *lang.Lowering, start, end uint32, value func(string) string) {
	add := func(from, to uint32) {
		if from < to {
			l.Leaf(tree.String, tree.RolePart, value(l.File.Source[from:to]), from, to)
		}
	}
	if start > end {
		return
	}
	at := start
	for _, m := range variablePart.FindAllStringSubmatchIndex(l.File.Source[start:end], -1) {
		from, to := start+uint32(m[2]), start+uint32(m[3])
		add(at, from)
		l.Leaf(tree.Name, tree.RolePart, l.File.Source[from+1:to], from+1, to)
		at = to
	}
	add(at, end)
}

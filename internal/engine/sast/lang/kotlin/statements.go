package kotlin

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// statementRules are the rules for what is done, and where the flow goes. Most have a value
// where one is wanted.
var statementRules = map[string]lang.Rule{
	"block":              lowerBlock,
	"assignment":         expressionRule(lowerAssignment),
	"for_statement":      labelledRule(lowerForEach),
	"while_statement":    labelledRule(lowerWhile),
	"do_while_statement": labelledRule(lowerDoWhile),

	"if_expression":      lowerIfExpression,
	"when_expression":    lowerWhen,
	"when_entry":         lowerWhenEntry,
	"range_test":         lowerRangeTest,
	"type_test":          lowerTypeTest,
	"try_expression":     lowerTry,
	"return_expression":  lang.Slots(tree.Return, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"throw_expression":   lang.Slots(tree.Throw, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"labeled_expression": lowerLabeledExpression,
	";":                  lang.Leaf(tree.Empty, ""),
}

// lowerBlock lowers braces with statements in them.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// isStatement reports whether the role is that of a statement.
// Then, Else and Body are statements here, because the rules of their parents know it; see
// lowerBranch.
func isStatement(r tree.Role) bool {
	switch r {
	case tree.RoleStatement, tree.RoleThen, tree.RoleElse, tree.RoleBody:
		return true
	}
	return false
}

// expressionRule returns the rule for an expression, which is an ExpressionStatement
// where a statement stands. Branches and bodies without braces are statements only
// where their parent is one, which the rules of those know.
func expressionRule(rule lang.Rule) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		if r != tree.RoleStatement {
			rule(l, r, i)
			return
		}
		l.Begin(tree.ExpressionStatement, r, i)
		rule(l, tree.RoleValue, i)
		l.Close()
	}
}

// lowerBranch lowers the body of a loop or a branch: a block, or a statement alone.
// "while (x);" has no body, so an empty statement is added.
func lowerBranch(l *lang.Lowering, r tree.Role, i, part int32) {
	if part < 0 {
		_, end := l.Range(i)
		l.Leaf(tree.Empty, r, "", end, end)
		return
	}
	before := l.Mark()
	l.Node(tree.RoleStatement, part)
	if l.Mark() == before {
		l.Lost(r, part)
		return
	}
	// The statement was lowered with the role of a statement, so that it is wrapped if necessary;
	// then it gets its own role.
	l.File.Nodes[before].Role = r
}

// labelledRule puts a loop with a label below a Label.
func labelledRule(rule lang.Rule) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		name := l.Find(i, "label")
		if name < 0 {
			rule(l, r, i)
			return
		}
		l.Begin(tree.Label, r, i)
		lowerLabel(l, tree.RoleName, name)
		rule(l, tree.RoleBody, i)
		l.Close()
	}
}

// lowerLabel lowers "name@".
// "outer@ for …": the sign belongs to the grammar's node.
func lowerLabel(l *lang.Lowering, r tree.Role, i int32) {
	s := l.Source(i)
	if n := len(s); n > 0 && s[n-1] == '@' {
		s = s[:n-1]
	}
	l.Put(tree.Name, r, s, i)
}

// lowerLabeledExpression lowers "name@ loop".
func lowerLabeledExpression(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Label, r, i)
	name := l.Find(i, "label")
	if name >= 0 {
		lowerLabel(l, tree.RoleName, name)
	}
	lowerBranch(l, tree.RoleBody, i, findBehind(l, i, name, func(string) bool { return true }))
	l.Close()
}

// lowerAssignment lowers "a = b" and the assignments with an operator.
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerForEach lowers "for (x in xs)"; several names in parentheses are a Tuple.
// for ((k, v) in map) takes pairs apart.
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	target := findBehind(l, i, -1, func(k string) bool {
		return k == "variable_declaration" || k == "multi_variable_declaration"
	})
	l.Node(tree.RoleTarget, target)
	iterable := behindToken(l, i, "in")
	l.Need(tree.RoleIterable, i, iterable)
	lowerBranch(l, tree.RoleBody, i, findBehind(l, i, max(iterable, target), func(string) bool { return true }))
	l.Close()
}

// lowerWhile lowers a loop that tests before its body.
func lowerWhile(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.While, r, i)
	condition := l.Field(i, "condition")
	l.Need(tree.RoleCondition, i, condition)
	lowerBranch(l, tree.RoleBody, i, findBehind(l, i, condition, func(string) bool { return true }))
	l.Close()
}

// lowerDoWhile lowers a loop that tests behind its body.
func lowerDoWhile(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.DoWhile, r, i)
	condition := l.Field(i, "condition")
	// Between "do" and "while" there may be nothing: do while (x).
	first := findBehind(l, i, l.Find(i, "label"), func(string) bool { return true })
	if first == condition {
		first = -1
	}
	lowerBranch(l, tree.RoleBody, i, first)
	l.Need(tree.RoleCondition, i, condition)
	l.Close()
}

// lowerIfExpression lowers an If where a statement stands, else a Conditional when it has
// both branches.
// "val a = if (c) 1 else 2" is a Conditional as in other languages; without an else it has no
// value.
func lowerIfExpression(l *lang.Lowering, r tree.Role, i int32) {
	// The branches have no fields: what is in front of "else" is the first, what is behind it the
	// second.
	condition, at := l.Field(i, "condition"), l.Find(i, "else")
	var then, other int32 = -1, -1
	for c := range l.Children(i) {
		switch {
		case c <= condition:
		case at >= 0 && c > at:
			other = c
		default:
			then = c
		}
	}
	if !isStatement(r) && then >= 0 && other >= 0 {
		l.Begin(tree.Conditional, r, i)
		l.Need(tree.RoleCondition, i, condition)
		l.Node(tree.RoleThen, singleExpression(l, then))
		l.Node(tree.RoleElse, singleExpression(l, other))
		l.Close()
		return
	}
	l.Begin(tree.If, r, i)
	l.Need(tree.RoleCondition, i, condition)
	lowerBranch(l, tree.RoleThen, i, then)
	if at >= 0 {
		lowerBranch(l, tree.RoleElse, i, other)
	}
	l.Close()
}

// singleExpression returns the only expression of a block, or the node itself.
// A block with several statements stays a block; its last expression is the value.
func singleExpression(l *lang.Lowering, i int32) int32 {
	if l.Kind(i) != "block" {
		return i
	}
	first := l.First(i)
	if first < 0 || findBehind(l, i, first, func(string) bool { return true }) >= 0 {
		return i
	}
	// Declarations and loops have no value.
	switch l.Kind(first) {
	case "property_declaration", "function_declaration", "class_declaration", "for_statement", "while_statement",
		"do_while_statement":

		return i
	}
	return first
}

// lowerWhen lowers a when; its cases do not run into each other.
// when (val x = f()) declares a variable for the cases.
func lowerWhen(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	if s := l.Find(i, "when_subject"); s >= 0 {
		value := behindToken(l, s, "=")
		if v := l.Find(s, "variable_declaration"); v >= 0 {
			l.BeginText(tree.Variable, tree.RoleInit, "val", s)
			l.Node(tree.RoleType, findBehind(l, v, -1, isType))
			l.Need(tree.RoleTarget, v, findIdentifier(l, v))
			l.Node(tree.RoleValue, value)
			l.Close()
			// The value that the cases compare is the variable, which the source does not repeat.
			l.Flag(l.Same(tree.Name, tree.RoleValue, findIdentifier(l, v)), tree.Implied)
		} else {
			// Annotations in front of the value are skipped.
			l.Node(tree.RoleValue, findBehind(l, s, -1, func(k string) bool { return k != "annotation" }))
		}
	}
	for c := range l.Children(i) {
		if l.Kind(c) == "when_entry" {
			l.Node(tree.RoleCase, c)
		}
	}
	l.Close()
}

// lowerWhenEntry lowers "a, b -> body" and "else -> body".
// The conditions are alternatives; "else" is the default.
func lowerWhenEntry(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Has(i, "else") {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	l.Parts(tree.RoleCondition, i, "condition")
	body := behindToken(l, i, "->")
	// A body without braces is the value of the case.
	switch {
	case body < 0:
		l.Need(tree.RoleBody, i, -1)
	case l.Kind(body) == "block":
		l.Node(tree.RoleBody, body)
	default:
		l.Flag(l.Begin(tree.Block, tree.RoleBody, body), tree.Implied)
		l.Node(tree.RoleStatement, body)
		l.Close()
	}
	l.Close()
}

// lowerRangeTest lowers "in x" of a when: a Unary with the operator.
// "in 1..9 ->" tests the value of the when: the left operand is implied.
func lowerRangeTest(l *lang.Lowering, r tree.Role, i int32) {
	text := "in"
	if l.Has(i, "!in") {
		text = "!in"
	}
	l.BeginText(tree.Unary, r, text, i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// lowerTypeTest lowers "is T" of a when: the type.
// "is T" is a pattern and matches like a type of other languages; "!is T" is its negation.
func lowerTypeTest(l *lang.Lowering, r tree.Role, i int32) {
	if !l.Has(i, "!is") {
		l.Need(r, i, l.First(i))
		return
	}
	l.BeginText(tree.Unary, r, "!is", i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// lowerTry lowers a try with its handlers; it has a value where one is wanted.
func lowerTry(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Need(tree.RoleBody, i, l.Find(i, "block"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_block":
			l.Begin(tree.Catch, tree.RoleHandler, c)
			l.Node(tree.RoleType, findBehind(l, c, -1, isType))
			l.Node(tree.RoleTarget, findIdentifier(l, c))
			l.Need(tree.RoleBody, c, l.Find(c, "block"))
			l.Close()
		case "finally_block":
			l.Need(tree.RoleFinally, c, l.First(c))
		}
	}
	l.Close()
}

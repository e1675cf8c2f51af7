package scala

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// statementRules are the rules for what is done, and where the flow goes. Most have a value
// where one is wanted.
var statementRules = map[string]lang.Rule{
	"block":               lowerBlock,
	"indented_block":      lowerBlock,
	"if_expression":       lowerIfExpression,
	"match_expression":    lowerMatch,
	"case_clause":         lowerCaseClause,
	"guard":               func(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, l.Field(i, "condition")) },
	"try_expression":      lowerTry,
	"while_expression":    lowerWhile,
	"do_while_expression": lowerDoWhile,
	"for_expression":      lowerForExpression,
	"return_expression":   lang.Slots(tree.Return, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"throw_expression":    lang.Slots(tree.Throw, "", lang.Slot{Role: tree.RoleValue}),

	"case_class_pattern": lowerClassPattern,
	"tuple_pattern":      lang.Around(tree.Tuple, "", tree.RoleElement),
	"typed_pattern":      lowerTypedPattern,
	"capture_pattern": lang.Slots(tree.Assign, "@", lang.Slot{Role: tree.RoleTarget, Field: "name"},
		lang.Slot{Role: tree.RoleValue, Field: "pattern"}),
	"alternative_pattern": lowerAlternative,
	"infix_pattern":       lowerInfixPattern,
	"repeat_pattern":      lang.Slots(tree.Spread, "*", lang.Slot{Role: tree.RoleValue, Field: "pattern"}),
	"stable_identifier":   lowerStable,
}

// expressionRule returns the rule for an expression, which is an ExpressionStatement
// where a statement stands.
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

// lowerBranch lowers the body of a loop or a branch as a statement.
func lowerBranch(l *lang.Lowering, r tree.Role, i, part int32) {
	before := l.Mark()
	if part >= 0 {
		l.Node(tree.RoleStatement, part)
	}
	if l.Mark() == before {
		_, end := l.Range(i)
		l.Leaf(tree.Empty, r, "", end, end)
		return
	}
	l.File.Nodes[before].Role = r
}

// lowerIfExpression lowers an If where a statement stands, else a Conditional when it has
// both branches.
func lowerIfExpression(l *lang.Lowering, r tree.Role, i int32) {
	then, other := l.Field(i, "consequence"), l.Field(i, "alternative")
	k, value := tree.If, false
	switch r {
	case tree.RoleStatement, tree.RoleThen, tree.RoleElse, tree.RoleBody:
	default:
		if value = then >= 0 && other >= 0; value {
			k = tree.Conditional
		}
	}
	l.Begin(k, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	if value {
		l.Node(tree.RoleThen, singleExpression(l, then))
		l.Node(tree.RoleElse, singleExpression(l, other))
	} else {
		lowerBranch(l, tree.RoleThen, i, then)
		if other >= 0 {
			lowerBranch(l, tree.RoleElse, i, other)
		}
	}
	l.Close()
}

// singleExpression returns the only expression of a block, or the node itself.
func singleExpression(l *lang.Lowering, i int32) int32 {
	if l.Kind(i) != "block" {
		return i
	}
	first := l.First(i)
	if first < 0 || childBehind(l, i, first) >= 0 {
		return i
	}
	switch l.Kind(first) {
	case "val_definition", "var_definition", "function_definition", "class_definition", "object_definition":
		return i
	}
	return first
}

// lowerMatch lowers "a match { … }", whose cases do not run into each other.
func lowerMatch(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	l.Part(tree.RoleValue, i, "value")
	for c := range l.Children(l.Field(i, "body")) {
		l.Node(tree.RoleCase, c)
	}
	l.Close()
}

// lowerCaseClause lowers "case p if g => body"; "_" is the default.
func lowerCaseClause(l *lang.Lowering, r tree.Role, i int32) {
	pattern := l.Field(i, "pattern")
	guard := l.Find(i, "guard")
	text := ""
	if l.Kind(pattern) == "wildcard" && guard < 0 {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	l.Node(tree.RoleCondition, pattern)
	l.Node(tree.RoleGuard, guard)
	lowerCaseBody(l, i)
	l.Close()
}

// lowerCaseBody lowers the statements behind the arrow.
func lowerCaseBody(l *lang.Lowering, i int32) {
	arrow := l.Find(i, "=>")
	_, end := l.Range(i)
	start := end
	if first := childBehind(l, i, max(arrow, l.Field(i, "pattern"))); first >= 0 {
		start, _ = l.Range(first)
	}
	l.Flag(l.Open(tree.Block, tree.RoleBody, start, end), tree.Implied)
	for c := range l.Children(i) {
		if c > arrow {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
}

// lowerTry lowers a try with its handlers.
func lowerTry(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_clause":
			lowerHandlers(l, c)
		case "finally_clause":
			lowerBranch(l, tree.RoleFinally, c, l.First(c))
		}
	}
	l.Close()
}

// lowerHandlers lowers the cases of a catch, or what stands in their place.
func lowerHandlers(l *lang.Lowering, i int32) {
	body := l.First(i)
	switch l.Kind(body) {
	case "case_block", "indented_cases":
		for c := range l.Children(body) {
			lowerHandler(l, c)
		}
	default:
		l.Node(tree.RoleHandler, body)
	}
}

// lowerHandler lowers "case e: T => body" of a catch to a Catch with the type.
func lowerHandler(l *lang.Lowering, i int32) {
	l.Begin(tree.Catch, tree.RoleHandler, i)
	pattern := l.Field(i, "pattern")
	if l.Kind(pattern) == "typed_pattern" {
		l.Part(tree.RoleType, pattern, "type")
		l.Part(tree.RoleTarget, pattern, "pattern")
	} else {
		l.Node(tree.RoleTarget, pattern)
	}
	l.Node(tree.RoleGuard, l.Find(i, "guard"))
	lowerCaseBody(l, i)
	l.Close()
}

// lowerWhile lowers a loop that tests before its body.
func lowerWhile(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.While, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerDoWhile lowers a loop that tests behind its body.
func lowerDoWhile(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.DoWhile, r, i)
	lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Close()
}

// lowerForExpression lowers a for: with "yield" a Comprehension, else loops in each
// other.
func lowerForExpression(l *lang.Lowering, r tree.Role, i int32) {
	var list []int32
	for e := range l.Children(l.Find(i, "enumerators")) {
		list = append(list, e)
	}
	body := l.Field(i, "body")
	if body < 0 {
		body = lastChild(l, i)
	}
	if l.Has(i, "yield") {
		l.BeginText(tree.Comprehension, r, "generator", i)
		l.Need(tree.RoleValue, i, body)
		lowerClauses(l, list)
		l.Close()
		return
	}
	loops{i, body}.lowerLoops(l, r, list)
}

// splitGenerator returns the parts of an enumerator: the pattern, the iterable behind
// "<-" and the guards; a part is -1 when it is missing.
func splitGenerator(l *lang.Lowering, e int32) (target, iterable int32, guards []int32) {
	target, iterable = -1, -1
	for c := range l.Children(e) {
		switch {
		case l.Kind(c) == "guard":
			guards = append(guards, c)
		case target < 0:
			target = c
		default:
			iterable = c
		}
	}
	return target, iterable, guards
}

// lowerClauses lowers the enumerators of a comprehension. A guard belongs to the generator
// before it; "x = e" is a generator of one element.
func lowerClauses(l *lang.Lowering, list []int32) {
	open := false
	for _, e := range list {
		target, iterable, guards := splitGenerator(l, e)
		if iterable >= 0 {
			if open {
				l.Close()
			}
			open = true
			l.Begin(tree.Clause, tree.RoleClause, e)
			l.Node(tree.RoleTarget, target)
			if l.Has(e, "=") {
				l.Flag(l.Begin(tree.List, tree.RoleIterable, iterable), tree.Implied)
				l.Node(tree.RoleElement, iterable)
				l.Close()
			} else {
				l.Node(tree.RoleIterable, iterable)
			}
		}
		for _, g := range guards {
			if open {
				l.Node(tree.RoleCondition, g)
			}
		}
	}
	if open {
		l.Close()
	}
}

// loops is a for without yield: the loops that its enumerators are, around its body.
type loops struct{ node, body int32 }

// lowerLoops lowers the enumerators from the outer one to the body: a generator is a
// ForEach, "x = e" a Variable before what follows, a guard an If around it.
func (f loops) lowerLoops(l *lang.Lowering, r tree.Role, list []int32) {
	if len(list) == 0 || l.TooDeep() {
		lowerBranch(l, r, f.node, f.body)
		return
	}
	e := list[0]
	target, iterable, guards := splitGenerator(l, e)
	switch {
	case iterable < 0:
		f.lowerGuarded(l, r, guards, list[1:])
	case l.Has(e, "="):
		l.Flag(l.Begin(tree.Block, r, e), tree.Implied)
		l.BeginText(tree.Variable, tree.RoleStatement, "val", e)
		l.Node(tree.RoleTarget, target)
		l.Node(tree.RoleValue, iterable)
		l.Close()
		f.lowerGuarded(l, tree.RoleStatement, guards, list[1:])
		l.Close()
	default:
		l.BeginText(tree.ForEach, r, "of", f.node)
		l.Node(tree.RoleTarget, target)
		l.Node(tree.RoleIterable, iterable)
		f.lowerGuarded(l, tree.RoleBody, guards, list[1:])
		l.Close()
	}
}

// lowerGuarded puts what follows below the guards.
func (f loops) lowerGuarded(l *lang.Lowering, r tree.Role, guards, list []int32) {
	if len(guards) == 0 || l.TooDeep() {
		f.lowerLoops(l, r, list)
		return
	}
	l.Begin(tree.If, r, guards[0])
	l.Node(tree.RoleCondition, guards[0])
	f.lowerGuarded(l, tree.RoleThen, guards[1:], list)
	l.Close()
}

// lowerClassPattern lowers "A(x, _)", which is written as a call, and is one.
func lowerClassPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	typ := l.Field(i, "type")
	lowerTypeAsExpression(l, tree.RoleCallee, typ)
	for c := range l.Children(i) {
		if c != typ {
			l.Node(tree.RoleArgument, c)
		}
	}
	l.Close()
}

// lowerTypedPattern lowers "name: T", which tests the type and declares the name.
func lowerTypedPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Variable, r, i)
	l.Part(tree.RoleType, i, "type")
	l.Part(tree.RoleTarget, i, "pattern")
	l.Close()
}

// lowerAlternative lowers "a | b" of a pattern to a Binary.
func lowerAlternative(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, "|", i)
	first := l.First(i)
	l.Need(tree.RoleLeft, i, first)
	l.Need(tree.RoleRight, i, childBehind(l, i, first))
	l.Close()
}

// lowerInfixPattern lowers "h :: t" of a pattern to a Binary.
func lowerInfixPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// lowerStable lowers "a.b" in a pattern.
func lowerStable(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, ".", i)
	first := l.First(i)
	l.Need(tree.RoleObject, i, first)
	l.Need(tree.RoleProperty, i, childBehind(l, i, first))
	l.Close()
}

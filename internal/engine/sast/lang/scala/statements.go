package scala

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var statementRules = map[string]lang.Rule{
	"block":               block,
	"indented_block":      block,
	"if_expression":       ifExpression,
	"match_expression":    match,
	"case_clause":         caseClause,
	"guard":               func(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, l.Field(i, "condition")) },
	"try_expression":      try,
	"while_expression":    while,
	"do_while_expression": doWhile,
	"for_expression":      forExpression,
	"return_expression":   lang.Slots(tree.Return, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"throw_expression":    lang.Slots(tree.Throw, "", lang.Slot{Role: tree.RoleValue}),

	"case_class_pattern": classPattern,
	"tuple_pattern":      lang.Around(tree.Tuple, "", tree.RoleElement),
	"typed_pattern":      typedPattern,
	"capture_pattern": lang.Slots(tree.Assign, "@", lang.Slot{Role: tree.RoleTarget, Field: "name"},
		lang.Slot{Role: tree.RoleValue, Field: "pattern"}),
	"alternative_pattern": alternative,
	"infix_pattern":       infixPattern,
	"repeat_pattern":      lang.Slots(tree.Spread, "*", lang.Slot{Role: tree.RoleValue, Field: "pattern"}),
	"stable_identifier":   stable,
}

// expression returns the rule for an expression, which is an ExpressionStatement
// where a statement stands.
func expression(rule lang.Rule) lang.Rule {
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

// branch lowers the body of a loop or a branch as a statement.
func branch(l *lang.Lowering, r tree.Role, i, part int32) {
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

// ifExpression lowers an If where a statement stands, else a Conditional when it has
// both branches.
func ifExpression(l *lang.Lowering, r tree.Role, i int32) {
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
		l.Node(tree.RoleThen, single(l, then))
		l.Node(tree.RoleElse, single(l, other))
	} else {
		branch(l, tree.RoleThen, i, then)
		if other >= 0 {
			branch(l, tree.RoleElse, i, other)
		}
	}
	l.Close()
}

// single returns the only expression of a block, or the node itself.
func single(l *lang.Lowering, i int32) int32 {
	if l.Kind(i) != "block" {
		return i
	}
	first := l.First(i)
	if first < 0 || behind(l, i, first) >= 0 {
		return i
	}
	switch l.Kind(first) {
	case "val_definition", "var_definition", "function_definition", "class_definition", "object_definition":
		return i
	}
	return first
}

func match(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	l.Part(tree.RoleValue, i, "value")
	for c := range l.Children(l.Field(i, "body")) {
		l.Node(tree.RoleCase, c)
	}
	l.Close()
}

// caseClause lowers "case p if g => body"; "_" is the default.
func caseClause(l *lang.Lowering, r tree.Role, i int32) {
	pattern := l.Field(i, "pattern")
	guard := l.Find(i, "guard")
	text := ""
	if l.Kind(pattern) == "wildcard" && guard < 0 {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	l.Node(tree.RoleCondition, pattern)
	l.Node(tree.RoleGuard, guard)
	caseBody(l, i)
	l.Close()
}

// caseBody lowers the statements behind the arrow.
func caseBody(l *lang.Lowering, i int32) {
	arrow := l.Find(i, "=>")
	_, end := l.Range(i)
	start := end
	if first := behind(l, i, max(arrow, l.Field(i, "pattern"))); first >= 0 {
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

func try(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	branch(l, tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_clause":
			handlers(l, c)
		case "finally_clause":
			branch(l, tree.RoleFinally, c, l.First(c))
		}
	}
	l.Close()
}

// handlers lowers the cases of a catch, or what stands in their place.
func handlers(l *lang.Lowering, i int32) {
	body := l.First(i)
	switch l.Kind(body) {
	case "case_block", "indented_cases":
		for c := range l.Children(body) {
			handler(l, c)
		}
	default:
		l.Node(tree.RoleHandler, body)
	}
}

func handler(l *lang.Lowering, i int32) {
	l.Begin(tree.Catch, tree.RoleHandler, i)
	pattern := l.Field(i, "pattern")
	if l.Kind(pattern) == "typed_pattern" {
		l.Part(tree.RoleType, pattern, "type")
		l.Part(tree.RoleTarget, pattern, "pattern")
	} else {
		l.Node(tree.RoleTarget, pattern)
	}
	l.Node(tree.RoleGuard, l.Find(i, "guard"))
	caseBody(l, i)
	l.Close()
}

func while(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.While, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	branch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

func doWhile(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.DoWhile, r, i)
	branch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Close()
}

// forExpression lowers a for: with "yield" a Comprehension, else loops in each
// other.
func forExpression(l *lang.Lowering, r tree.Role, i int32) {
	var list []int32
	for e := range l.Children(l.Find(i, "enumerators")) {
		list = append(list, e)
	}
	body := l.Field(i, "body")
	if body < 0 {
		body = last(l, i)
	}
	if l.Has(i, "yield") {
		l.BeginText(tree.Comprehension, r, "generator", i)
		l.Need(tree.RoleValue, i, body)
		clauses(l, list)
		l.Close()
		return
	}
	loops{i, body}.lower(l, r, list)
}

// generator returns the parts of an enumerator: the pattern, the iterable behind
// "<-" and the guards; a part is -1 when it is missing.
func generator(l *lang.Lowering, e int32) (target, iterable int32, guards []int32) {
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

// clauses lowers the enumerators of a comprehension. A guard belongs to the generator
// before it; "x = e" is a generator of one element.
func clauses(l *lang.Lowering, list []int32) {
	open := false
	for _, e := range list {
		target, iterable, guards := generator(l, e)
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

// lower lowers the enumerators from the outer one to the body: a generator is a
// ForEach, "x = e" a Variable before what follows, a guard an If around it.
func (f loops) lower(l *lang.Lowering, r tree.Role, list []int32) {
	if len(list) == 0 || l.TooDeep() {
		branch(l, r, f.node, f.body)
		return
	}
	e := list[0]
	target, iterable, guards := generator(l, e)
	switch {
	case iterable < 0:
		f.guarded(l, r, guards, list[1:])
	case l.Has(e, "="):
		l.Flag(l.Begin(tree.Block, r, e), tree.Implied)
		l.BeginText(tree.Variable, tree.RoleStatement, "val", e)
		l.Node(tree.RoleTarget, target)
		l.Node(tree.RoleValue, iterable)
		l.Close()
		f.guarded(l, tree.RoleStatement, guards, list[1:])
		l.Close()
	default:
		l.BeginText(tree.ForEach, r, "of", f.node)
		l.Node(tree.RoleTarget, target)
		l.Node(tree.RoleIterable, iterable)
		f.guarded(l, tree.RoleBody, guards, list[1:])
		l.Close()
	}
}

// guarded puts what follows below the guards.
func (f loops) guarded(l *lang.Lowering, r tree.Role, guards, list []int32) {
	if len(guards) == 0 || l.TooDeep() {
		f.lower(l, r, list)
		return
	}
	l.Begin(tree.If, r, guards[0])
	l.Node(tree.RoleCondition, guards[0])
	f.guarded(l, tree.RoleThen, guards[1:], list)
	l.Close()
}

func classPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	typ := l.Field(i, "type")
	typeAsExpression(l, tree.RoleCallee, typ)
	for c := range l.Children(i) {
		if c != typ {
			l.Node(tree.RoleArgument, c)
		}
	}
	l.Close()
}

// typedPattern lowers "name: T", which tests the type and declares the name.
func typedPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Variable, r, i)
	l.Part(tree.RoleType, i, "type")
	l.Part(tree.RoleTarget, i, "pattern")
	l.Close()
}

func alternative(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, "|", i)
	first := l.First(i)
	l.Need(tree.RoleLeft, i, first)
	l.Need(tree.RoleRight, i, behind(l, i, first))
	l.Close()
}

func infixPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// stable lowers "a.b" in a pattern.
func stable(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, ".", i)
	first := l.First(i)
	l.Need(tree.RoleObject, i, first)
	l.Need(tree.RoleProperty, i, behind(l, i, first))
	l.Close()
}

package java

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// statementRules are the rules for what is done, and where the flow goes.
var statementRules = map[string]lang.Rule{
	"block":                lowerBlock,
	"expression_statement": lang.Slots(tree.ExpressionStatement, "", lang.Slot{Role: tree.RoleValue}),
	"if_statement": lang.Slots(tree.If, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative", Optional: true}),
	"while_statement": lang.Slots(tree.While, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"do_statement": lang.Slots(tree.DoWhile, "",
		lang.Slot{Role: tree.RoleBody, Field: "body"}, lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":                lowerForStatement,
	"enhanced_for_statement":       lowerForEach,
	"labeled_statement":            lowerLabeled,
	"return_statement":             lang.Slots(tree.Return, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"throw_statement":              lang.Slots(tree.Throw, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"break_statement":              lang.Slots(tree.Break, "", lang.Slot{Role: tree.RoleLabel, Optional: true}),
	"continue_statement":           lang.Slots(tree.Continue, "", lang.Slot{Role: tree.RoleLabel, Optional: true}),
	"yield_statement":              lowerYield,
	"assert_statement":             lowerAssert,
	"synchronized_statement":       lowerSynchronized,
	"try_statement":                lowerTry,
	"try_with_resources_statement": lowerTry,
	"resource_specification":       lowerChildren,
	"resource":                     lowerResource,
	"catch_clause":                 lowerCatch,
	"switch_expression":            lowerSwitchOf,
	"switch_block_statement_group": lowerCaseGroup,
	"switch_rule":                  lowerCaseRule,
	"type_pattern":                 lowerTypedPattern,
	"record_pattern_component":     lowerTypedPattern,
	"record_pattern":               lowerRecordPattern,
	"pattern":                      lang.Inner,
	"guard":                        lang.Inner,
	";":                            lang.Leaf(tree.Empty, ""),

	"explicit_constructor_invocation": lowerConstructorCall,
}

// lowerForStatement lowers a counting loop; its initial part may be a declaration.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	l.Parts(tree.RoleInit, i, "init")
	l.Part(tree.RoleCondition, i, "condition")
	l.Parts(tree.RoleUpdate, i, "update")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerForEach lowers "for (T x : xs)".
// The modifiers and the type are children of the statement in the grammar; here they belong to
// the declaration of the variable.
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	typ, name := l.Field(i, "type"), l.Field(i, "name")
	if typ >= 0 && name >= 0 {
		start, _ := l.Range(typ)
		// "for (final T x : xs)": the declaration begins with its modifiers.
		if m := l.Find(i, "modifiers"); m >= 0 {
			start, _ = l.Range(m)
		}
		_, end := l.Range(name)
		v := l.Open(tree.Variable, tree.RoleTarget, start, end)
		// The text is "var" for an inferred type, otherwise empty.
		l.File.Nodes[v].Text = inferredKeyword(l, typ)
		lowerModifiers(l, i)
		lowerVariableType(l, typ, l.Field(i, "dimensions"))
		l.Node(tree.RoleTarget, name)
		l.Close()
	}
	l.Need(tree.RoleIterable, i, l.Field(i, "value"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerLabeled lowers "name: statement".
func lowerLabeled(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Label, r, i)
	name := l.First(i)
	l.Need(tree.RoleName, i, name)
	l.Need(tree.RoleBody, i, childAfter(l, i, name))
	l.Close()
}

// childAfter returns the child behind another one, or an empty statement; -1 when there
// is none.
// ";" alone is an empty statement, which the grammar does not name.
func childAfter(l *lang.Lowering, i, child int32) int32 {
	passed := false
	for c := range l.Every(i) {
		if passed && !l.Extra(c) && (l.Named(c) || l.Kind(c) == ";") {
			return c
		}
		passed = passed || c == child
	}
	return -1
}

// lowerYield lowers the statement that gives a switch its value.
// It is not Thread.yield() but the statement of switch expressions (Java 14).
func lowerYield(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.ExpressionStatement, r, i)
	l.Begin(tree.Yield, tree.RoleValue, i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
	l.Close()
}

// lowerAssert lowers "assert a : b"; b is the message.
// The first child is the condition, the second the message.
func lowerAssert(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Assert, r, i)
	role, any := tree.RoleCondition, false
	for c := range l.Children(i) {
		l.Node(role, c)
		role, any = tree.RoleValue, true
	}
	if !any {
		l.Need(tree.RoleCondition, i, -1)
	}
	l.Close()
}

// lowerSynchronized lowers "synchronized (a) { … }".
// The lock is an expression in parentheses; the text tells it from a try with resources.
func lowerSynchronized(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.With, r, "synchronized", i)
	l.Node(tree.RoleResource, l.Find(i, "parenthesized_expression"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerTry lowers a try with its resources and handlers.
func lowerTry(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Part(tree.RoleResource, i, "resources")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_clause":
			l.Node(tree.RoleHandler, c)
		case "finally_clause":
			l.Need(tree.RoleFinally, c, l.First(c))
		}
	}
	l.Close()
}

// lowerResource lowers a declaration in the head of a try, or the use of a variable.
func lowerResource(l *lang.Lowering, r tree.Role, i int32) {
	typ := l.Field(i, "type")
	if typ < 0 {
		// Since Java 9 a resource may be a variable that exists already: try (in) { }.
		lang.Inner(l, r, i)
		return
	}
	l.BeginText(tree.Variable, r, inferredKeyword(l, typ), i)
	lowerModifiers(l, i)
	lowerVariableType(l, typ, l.Field(i, "dimensions"))
	l.Need(tree.RoleTarget, i, l.Field(i, "name"))
	l.Part(tree.RoleValue, i, "value")
	l.Close()
}

// lowerCatch lowers "catch (A | B e)": a Type for each.
// "A | B" are alternatives; the variable has the type of their common base.
func lowerCatch(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Catch, r, i)
	if p := l.Find(i, "catch_formal_parameter"); p >= 0 {
		if types := l.Find(p, "catch_type"); types >= 0 {
			l.Nodes(tree.RoleType, types)
		}
		l.Part(tree.RoleTarget, p, "name")
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerSwitchOf lowers both switches, the statement and the expression. Groups after
// "case x:" run into each other, rules after "case x ->" do not.
func lowerSwitchOf(l *lang.Lowering, r tree.Role, i int32) {
	body := l.Field(i, "body")
	text := ""
	// A switch has one form only: the compiler rejects groups beside rules.
	if l.Has(body, "switch_block_statement_group") {
		text = "fallthrough"
	}
	l.BeginText(tree.Switch, r, text, i)
	l.Part(tree.RoleValue, i, "condition")
	if body >= 0 {
		l.Nodes(tree.RoleCase, body)
	}
	l.Close()
}

// lowerCaseGroup lowers "case a: case b: statements".
// Several labels in a row are conditions of one case, the statements behind them its body.
func lowerCaseGroup(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Case, r, i)
	start, end := l.Range(i)
	start = end
	for c := range l.Children(i) {
		if l.Kind(c) == "switch_label" {
			lowerLabelConditions(l, n, c)
		} else if start == end {
			// The body begins at the first statement; a group without any is empty and runs into
			// the next one.
			start, _ = l.Range(c)
		}
	}
	// The braces are missing in the source.
	l.Flag(l.Open(tree.Block, tree.RoleBody, start, end), tree.Implied)
	for c := range l.Children(i) {
		if l.Kind(c) != "switch_label" {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
	l.Close()
}

// lowerCaseRule lowers "case a, b -> body".
func lowerCaseRule(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Case, r, i)
	body := int32(-1)
	for c := range l.Children(i) {
		if l.Kind(c) == "switch_label" {
			lowerLabelConditions(l, n, c)
		} else {
			body = c
		}
	}
	switch {
	case body < 0:
		// Without a body the case is incomplete: damaged code.
		l.Need(tree.RoleBody, i, -1)
	case l.Kind(body) == "block":
		l.Node(tree.RoleBody, body)
	// An expression or a throw as the body: the value of the switch.
	default:
		l.Flag(l.Begin(tree.Block, tree.RoleBody, body), tree.Implied)
		l.Node(tree.RoleStatement, body)
		l.Close()
	}
	l.Close()
}

// lowerLabelConditions lowers the conditions of a case.
func lowerLabelConditions(l *lang.Lowering, n, i int32) {
	// "default:" is a label of its own, without a condition.
	if l.Has(i, "default") {
		l.File.Nodes[n].Text = "default"
	}
	for c := range l.Children(i) {
		switch {
		case l.Kind(c) == "guard":
			l.Node(tree.RoleGuard, c)
		case l.Source(c) == "default": // a name to the grammar, in "case null, default"
			l.File.Nodes[n].Text = "default"
		default:
			l.Node(tree.RoleCondition, c)
		}
	}
}

// lowerTypedPattern lowers "T name", which tests the type and declares the name, and "_".
func lowerTypedPattern(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := range l.Children(i) {
		parts = append(parts, c)
	}
	// Other forms, such as "var x" in a record or "_", are a single name.
	if len(parts) != 2 {
		lang.Inner(l, r, i)
		return
	}
	l.BeginText(tree.Variable, r, inferredKeyword(l, parts[0]), i)
	lowerVariableType(l, parts[0], -1)
	l.Node(tree.RoleTarget, parts[1])
	l.Close()
}

// lowerRecordPattern lowers "T(a, b)": an Other with Type and Element*.
// A pattern such as Point(int x, int y) tests the type and takes the components apart. It has
// no generic form.
func lowerRecordPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Other, r, "record_pattern", i)
	switch typ := l.First(i); l.Kind(typ) {
	// The grammar names the type like a variable.
	case "identifier":
		l.Same(tree.Type, tree.RoleType, typ)
	default:
		l.Need(tree.RoleType, i, typ)
	}
	l.Nodes(tree.RoleElement, l.Find(i, "record_pattern_body"))
	l.Close()
}

// lowerConstructorCall lowers "this(…);" and "super(…);".
// The range ends with the arguments, not with the semicolon.
func lowerConstructorCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.ExpressionStatement, r, i)
	start, end := l.Range(i)
	if arguments := l.Field(i, "arguments"); arguments >= 0 {
		_, end = l.Range(arguments)
	}
	l.Open(tree.Call, tree.RoleValue, start, end)
	// "outer.super(…)" is the call of a constructor of an inner class: the callee is a Member.
	if object := l.Field(i, "object"); object >= 0 {
		super := l.Field(i, "constructor")
		_, end := l.Range(super)
		m := l.Open(tree.Member, tree.RoleCallee, start, end)
		l.File.Nodes[m].Text = "."
		l.Node(tree.RoleObject, object)
		l.Same(tree.Name, tree.RoleProperty, super)
		l.Close()
	} else {
		l.Need(tree.RoleCallee, i, l.Field(i, "constructor"))
	}
	l.Part(tree.RoleArgument, i, "arguments")
	l.Close()
	l.Close()
}

package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// statementRules are the rules for what is done, and where the flow goes.
var statementRules = map[string]lang.Rule{
	"block":                lowerBlock,
	"empty_statement":      lang.Leaf(tree.Empty, ""),
	"expression_statement": wrapRule(tree.ExpressionStatement, "", tree.RoleValue),
	"if_statement": lang.Slots(tree.If, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative", Optional: true}),
	"while_statement": lang.Slots(tree.While, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"do_statement": lang.Slots(tree.DoWhile, "",
		lang.Slot{Role: tree.RoleBody, Field: "body"}, lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":      lowerForStatement,
	"foreach_statement":  lowerForEach,
	"return_statement":   optionalRule(tree.Return, tree.RoleValue),
	"throw_statement":    optionalRule(tree.Throw, tree.RoleValue),
	"throw_expression":   optionalRule(tree.Throw, tree.RoleValue),
	"break_statement":    lang.Leaf(tree.Break, ""),
	"continue_statement": lang.Leaf(tree.Continue, ""),
	"goto_statement":     optionalRule(tree.Goto, tree.RoleLabel),
	"labeled_statement":  lowerLabeled,
	"yield_statement":    lowerYield,
	"checked_statement":  lowerInner,
	"unsafe_statement":   withRule("unsafe"),
	"lock_statement":     withRule("lock"),
	"fixed_statement":    withRule("fixed"),
	"using_statement":    withRule("using"),
	"variable_declaration": func(l *lang.Lowering, r tree.Role, i int32) {
		lowerVariables(l, declaration{kind: tree.Variable, role: r, node: i, list: i})
	},
	"try_statement":         lowerTry,
	"switch_statement":      lowerSwitchStatement,
	"switch_section":        lowerSection,
	"switch_expression":     lowerSwitchExpression,
	"switch_expression_arm": lowerArm,
	"when_clause":           lowerInner,
	"tuple_pattern":         lang.Around(tree.Tuple, "", tree.RoleElement),

	"constant_pattern":      lowerInner,
	"parenthesized_pattern": lowerInner,
	"discard":               lang.Same(tree.Name),
	"declaration_pattern":   lowerDeclaredName,
	"var_pattern":           lowerDeclaredName,
	"relational_pattern":    lowerPrefixed,
	"negated_pattern":       wrapRule(tree.Unary, "not", tree.RoleValue),
	"and_pattern":           lowerBinary,
	"or_pattern":            lowerBinary,
}

// optionalRule returns the rule for a node with a part or none.
// partBehind with -1 is the first part; there may be none, as in "return;".
func optionalRule(k tree.Kind, r tree.Role) lang.Rule {
	return func(l *lang.Lowering, role tree.Role, i int32) {
		l.Begin(k, role, i)
		l.Node(r, partBehind(l, i, -1))
		l.Close()
	}
}

// lowerForStatement lowers a loop that counts; each of its parts may be missing or a list.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	l.Parts(tree.RoleInit, i, "initializer")
	l.Part(tree.RoleCondition, i, "condition")
	l.Parts(tree.RoleUpdate, i, "update")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerForEach lowers "foreach (T x in xs)".
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	t, left := l.Field(i, "type"), l.Field(i, "left")
	if t >= 0 && left >= 0 {
		// The declaration of the loop variable has no node of its own in the grammar. Its range is
		// from the type to the name.
		l.File.Nodes[l.Open(tree.Variable, tree.RoleTarget, l.CST.Nodes[t].Start,
			l.CST.Nodes[left].End)].Text = variableKeyword(l, t)
		lowerVariableType(l, t)
		l.Node(tree.RoleTarget, left)
		l.Close()
	} else {
		// "foreach (var (a, b) in pairs)": the target is a pattern without a type in front.
		l.Node(tree.RoleTarget, left)
	}
	l.Need(tree.RoleIterable, i, l.Field(i, "right"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerLabeled lowers "name: statement".
// The statement behind the label is the next part after the name.
func lowerLabeled(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Label, r, i)
	name := partBehind(l, i, -1)
	l.Need(tree.RoleName, i, name)
	l.Need(tree.RoleBody, i, partBehind(l, i, name))
	l.Close()
}

// lowerYield lowers "yield return x"; "yield break" ends the function.
// The Yield has the position of an expression, since other languages use its value; here it is
// put into an ExpressionStatement.
func lowerYield(l *lang.Lowering, r tree.Role, i int32) {
	value := partBehind(l, i, -1)
	if value < 0 {
		// "yield break;" has no value.
		l.Put(tree.Return, r, "", i)
		return
	}
	l.Begin(tree.ExpressionStatement, r, i)
	l.Begin(tree.Yield, tree.RoleValue, i)
	l.Node(tree.RoleValue, value)
	l.Close()
	l.Close()
}

// withRule returns the rule for a block with a resource, which is the first part when
// there are two.
// "using (var f = …) { }" has a resource, "unsafe { }" and "using var f = …;" have none. The
// text keeps them apart for patterns.
func withRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.With, r, text, i)
		first := partBehind(l, i, -1)
		if body := partBehind(l, i, first); body >= 0 {
			l.Node(tree.RoleResource, first)
			l.Node(tree.RoleBody, body)
		} else {
			l.Node(tree.RoleBody, first)
		}
		l.Close()
	}
}

// lowerTry lowers a try with its handlers.
func lowerTry(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_clause":
			lowerCatch(l, c)
		case "finally_clause":
			// The grammar puts the block into the clause, not into a field.
			l.Need(tree.RoleFinally, c, l.First(c))
		}
	}
	l.Close()
}

// lowerCatch lowers "catch (T e) when (c)"; type, name and filter may be missing.
func lowerCatch(l *lang.Lowering, i int32) {
	l.Begin(tree.Catch, tree.RoleHandler, i)
	// "catch { }" catches everything and has no declaration.
	if d := l.Find(i, "catch_declaration"); d >= 0 {
		lowerType(l, tree.RoleType, l.Field(d, "type"))
		l.Part(tree.RoleTarget, d, "name")
	}
	// The filter runs before the handler: catch (E e) when (e.Code == 404).
	if f := l.Find(i, "catch_filter_clause"); f >= 0 {
		l.Node(tree.RoleGuard, partBehind(l, f, -1))
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerSwitchStatement lowers the statement; a section without statements runs into the
// next one.
// In C# only an empty section falls through; the general form covers that, since other
// sections end with a jump.
func lowerSwitchStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Switch, r, "fallthrough", i)
	l.Part(tree.RoleValue, i, "value")
	if body := l.Field(i, "body"); body >= 0 {
		lowerChildren(l, tree.RoleCase, body)
	}
	l.Close()
}

// lowerSection lowers a label with its statements.
// A section has several labels and then statements: "case 1: case 2 when x > 0: a(); break;".
func lowerSection(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	// "default:" has no condition; the text marks the case.
	if l.Has(i, "default") {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	// What is behind the colon is the body. The last child of the labels is in front of it.
	colon := l.Find(i, ":")
	_, end := l.Range(i)
	// Without statements the body is empty and lies at the end of the section.
	start := end
	for c := range childParts(l, i) {
		switch {
		case c > colon && start == end:
			start, _ = l.Range(c)
		case c > colon:
		case l.Kind(c) == "when_clause":
			l.Node(tree.RoleGuard, c)
		default:
			l.Node(tree.RoleCondition, c)
		}
	}
	// The body is a block that the source does not spell.
	l.Flag(l.Open(tree.Block, tree.RoleBody, start, end), tree.Implied)
	for c := range childParts(l, i) {
		if c > colon {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
	l.Close()
}

// lowerSwitchExpression lowers "a switch { … }", whose arms do not run into each other.
func lowerSwitchExpression(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	value := partBehind(l, i, -1)
	l.Need(tree.RoleValue, i, value)
	for c := range l.Children(i) {
		if l.Kind(c) == "switch_expression_arm" {
			l.Node(tree.RoleCase, c)
		}
	}
	l.Close()
}

// lowerArm lowers "pattern => value"; "_" is the default.
func lowerArm(l *lang.Lowering, r tree.Role, i int32) {
	pattern := partBehind(l, i, -1)
	// "when" of an arm is a guard: the arm is only taken if both fit.
	guard := l.Find(i, "when_clause")
	text := ""
	// "_" with a guard is an ordinary arm, as it may not be taken.
	if l.Kind(pattern) == "discard" && guard < 0 {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	if text == "" {
		l.Node(tree.RoleCondition, pattern)
	}
	l.Node(tree.RoleGuard, guard)
	// The value is behind the pattern and the guard.
	value := partBehind(l, i, max(pattern, guard))
	if value < 0 {
		l.Need(tree.RoleBody, i, -1)
	} else {
		// The body of a Case is always a Block. The only expression of an Implied one is the value
		// of the switch.
		l.Flag(l.Begin(tree.Block, tree.RoleBody, value), tree.Implied)
		l.Begin(tree.ExpressionStatement, tree.RoleStatement, value)
		l.Node(tree.RoleValue, value)
		l.Close()
		l.Close()
	}
	l.Close()
}

// lowerDeclaredName lowers "T name" of a pattern, which declares the name.
// Examples are "case string s" and "is var x".
func lowerDeclaredName(l *lang.Lowering, r tree.Role, i int32) {
	t := l.Field(i, "type")
	text := variableKeyword(l, t)
	if t < 0 {
		text = "var"
	}
	l.BeginText(tree.Variable, r, text, i)
	lowerVariableType(l, t)
	target := l.Field(i, "name")
	if target < 0 {
		target = partBehind(l, i, t)
	}
	l.Node(tree.RoleTarget, target)
	l.Close()
}

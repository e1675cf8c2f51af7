package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var statementRules = map[string]lang.Rule{
	"block":                block,
	"empty_statement":      lang.Leaf(tree.Empty, ""),
	"expression_statement": wrap(tree.ExpressionStatement, "", tree.RoleValue),
	"if_statement": lang.Slots(tree.If, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative", Optional: true}),
	"while_statement": lang.Slots(tree.While, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"do_statement": lang.Slots(tree.DoWhile, "",
		lang.Slot{Role: tree.RoleBody, Field: "body"}, lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":      forStatement,
	"foreach_statement":  forEach,
	"return_statement":   optional(tree.Return, tree.RoleValue),
	"throw_statement":    optional(tree.Throw, tree.RoleValue),
	"throw_expression":   optional(tree.Throw, tree.RoleValue),
	"break_statement":    lang.Leaf(tree.Break, ""),
	"continue_statement": lang.Leaf(tree.Continue, ""),
	"goto_statement":     optional(tree.Goto, tree.RoleLabel),
	"labeled_statement":  labeled,
	"yield_statement":    yield,
	"checked_statement":  inner,
	"unsafe_statement":   with("unsafe"),
	"lock_statement":     with("lock"),
	"fixed_statement":    with("fixed"),
	"using_statement":    with("using"),
	"variable_declaration": func(l *lang.Lowering, r tree.Role, i int32) {
		variables(l, declaration{kind: tree.Variable, role: r, node: i, list: i})
	},
	"try_statement":         try,
	"switch_statement":      switchStatement,
	"switch_section":        section,
	"switch_expression":     switchExpression,
	"switch_expression_arm": arm,
	"when_clause":           inner,
	"tuple_pattern":         lang.Around(tree.Tuple, "", tree.RoleElement),

	"constant_pattern":      inner,
	"parenthesized_pattern": inner,
	"discard":               lang.Same(tree.Name),
	"declaration_pattern":   declared,
	"var_pattern":           declared,
	"relational_pattern":    prefixed,
	"negated_pattern":       wrap(tree.Unary, "not", tree.RoleValue),
	"and_pattern":           binary,
	"or_pattern":            binary,
}

// optional returns the rule for a node with a part or none.
func optional(k tree.Kind, r tree.Role) lang.Rule {
	return func(l *lang.Lowering, role tree.Role, i int32) {
		l.Begin(k, role, i)
		l.Node(r, part(l, i, -1))
		l.Close()
	}
}

func forStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	l.Parts(tree.RoleInit, i, "initializer")
	l.Part(tree.RoleCondition, i, "condition")
	l.Parts(tree.RoleUpdate, i, "update")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

func forEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	t, left := l.Field(i, "type"), l.Field(i, "left")
	if t >= 0 && left >= 0 {
		l.File.Nodes[l.Open(tree.Variable, tree.RoleTarget, l.CST.Nodes[t].Start,
			l.CST.Nodes[left].End)].Text = keyword(l, t)
		variableType(l, t)
		l.Node(tree.RoleTarget, left)
		l.Close()
	} else {
		l.Node(tree.RoleTarget, left)
	}
	l.Need(tree.RoleIterable, i, l.Field(i, "right"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

func labeled(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Label, r, i)
	name := part(l, i, -1)
	l.Need(tree.RoleName, i, name)
	l.Need(tree.RoleBody, i, part(l, i, name))
	l.Close()
}

// yield lowers "yield return x"; "yield break" ends the function.
func yield(l *lang.Lowering, r tree.Role, i int32) {
	value := part(l, i, -1)
	if value < 0 {
		l.Put(tree.Return, r, "", i)
		return
	}
	l.Begin(tree.ExpressionStatement, r, i)
	l.Begin(tree.Yield, tree.RoleValue, i)
	l.Node(tree.RoleValue, value)
	l.Close()
	l.Close()
}

// with returns the rule for a block with a resource, which is the first part when
// there are two.
func with(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.With, r, text, i)
		first := part(l, i, -1)
		if body := part(l, i, first); body >= 0 {
			l.Node(tree.RoleResource, first)
			l.Node(tree.RoleBody, body)
		} else {
			l.Node(tree.RoleBody, first)
		}
		l.Close()
	}
}

func try(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_clause":
			catch(l, c)
		case "finally_clause":
			l.Need(tree.RoleFinally, c, l.First(c))
		}
	}
	l.Close()
}

func catch(l *lang.Lowering, i int32) {
	l.Begin(tree.Catch, tree.RoleHandler, i)
	if d := l.Find(i, "catch_declaration"); d >= 0 {
		typ(l, tree.RoleType, l.Field(d, "type"))
		l.Part(tree.RoleTarget, d, "name")
	}
	if f := l.Find(i, "catch_filter_clause"); f >= 0 {
		l.Node(tree.RoleGuard, part(l, f, -1))
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// switchStatement lowers the statement; a section without statements runs into the
// next one.
func switchStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Switch, r, "fallthrough", i)
	l.Part(tree.RoleValue, i, "value")
	if body := l.Field(i, "body"); body >= 0 {
		children(l, tree.RoleCase, body)
	}
	l.Close()
}

// section lowers a label with its statements.
func section(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Has(i, "default") {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	colon := l.Find(i, ":")
	_, end := l.Range(i)
	start := end
	for c := range parts(l, i) {
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
	l.Flag(l.Open(tree.Block, tree.RoleBody, start, end), tree.Implied)
	for c := range parts(l, i) {
		if c > colon {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
	l.Close()
}

func switchExpression(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	value := part(l, i, -1)
	l.Need(tree.RoleValue, i, value)
	for c := range l.Children(i) {
		if l.Kind(c) == "switch_expression_arm" {
			l.Node(tree.RoleCase, c)
		}
	}
	l.Close()
}

// arm lowers "pattern => value"; "_" is the default.
func arm(l *lang.Lowering, r tree.Role, i int32) {
	pattern := part(l, i, -1)
	guard := l.Find(i, "when_clause")
	text := ""
	if l.Kind(pattern) == "discard" && guard < 0 {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	if text == "" {
		l.Node(tree.RoleCondition, pattern)
	}
	l.Node(tree.RoleGuard, guard)
	value := part(l, i, max(pattern, guard))
	if value < 0 {
		l.Need(tree.RoleBody, i, -1)
	} else {
		l.Flag(l.Begin(tree.Block, tree.RoleBody, value), tree.Implied)
		l.Begin(tree.ExpressionStatement, tree.RoleStatement, value)
		l.Node(tree.RoleValue, value)
		l.Close()
		l.Close()
	}
	l.Close()
}

// declared lowers "T name" of a pattern, which declares the name.
func declared(l *lang.Lowering, r tree.Role, i int32) {
	t := l.Field(i, "type")
	text := keyword(l, t)
	if t < 0 {
		text = "var"
	}
	l.BeginText(tree.Variable, r, text, i)
	variableType(l, t)
	target := l.Field(i, "name")
	if target < 0 {
		target = part(l, i, t)
	}
	l.Node(tree.RoleTarget, target)
	l.Close()
}

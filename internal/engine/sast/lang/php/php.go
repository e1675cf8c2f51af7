// Package php lowers PHP.
//
// A variable is a Name with its "$", so that a constant "x", a function "x" and the
// variable "$x" differ, a declared property and a static one ("A::$x") too. Names of
// functions are in lower case, because PHP does not tell cases apart there. Names
// of namespaces are dotted. What looks like a statement but is a function in effect
// (echo, print, exit, include) is a Call; a command in backquotes is a Call of "`";
// an array is a List, whose elements with keys are Pairs.
package php

import (
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is PHP inside of text.
var Language = &lang.Language{
	Name:      "php",
	Spellings: []string{"php"},
	Grammar:   cst.PHP,
	Lower:     table.Lower,
	Patterns:  patterns,
	Semantics: lang.Semantics{
		AssignDeclares: true,
		Constructor:    "__construct",
		Comment:        "//",
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.PHP, lang.Merge(statements, declarations, expressions, literals, types))

// statements are the rules for what is done, and where the flow goes.
var statements = map[string]lang.Rule{
	"program":              lang.Around(tree.FileKind, "", tree.RoleStatement),
	"php_tag":              lang.Skip,
	"text":                 lang.Skip,
	"text_interpolation":   lang.Skip,
	"compound_statement":   lang.Around(tree.Block, "", tree.RoleStatement),
	"colon_block":          lang.Around(tree.Block, "", tree.RoleStatement),
	"expression_statement": lowerExpressionStatement,
	"empty_statement":      lang.Leaf(tree.Empty, ""),
	"echo_statement":       callStatementRule("echo"),
	"exit_statement":       callStatementRule("exit"),
	"unset_statement":      lang.Around(tree.Delete, "", tree.RoleValue),
	"if_statement":         lowerIfStatement,
	"else_clause":          lowerBody,
	"while_statement": lang.Slots(tree.While, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"do_statement": lang.Slots(tree.DoWhile, "", lang.Slot{Role: tree.RoleBody, Field: "body"},
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":         lowerForStatement,
	"foreach_statement":     lowerForEach,
	"switch_statement":      switchOfRule("fallthrough"),
	"match_expression":      switchOfRule(""),
	"try_statement":         lowerTry,
	"catch_clause":          lowerCatch,
	"finally_clause":        lowerBody,
	"return_statement":      lang.Around(tree.Return, "", tree.RoleValue),
	"throw_expression":      lang.Around(tree.Throw, "", tree.RoleValue),
	"break_statement":       lang.Leaf(tree.Break, ""),
	"continue_statement":    lang.Leaf(tree.Continue, ""),
	"goto_statement":        lang.Around(tree.Goto, "", tree.RoleLabel),
	"named_label_statement": lang.Around(tree.Label, "", tree.RoleName),
	"global_declaration":    lowerGlobal,
}

// lowerExpressionStatement lowers a statement of an expression; the one after "<?=" is
// written out.
func lowerExpressionStatement(l *lang.Lowering, r tree.Role, i int32) {
	first := l.First(i)
	if l.Kind(first) == "throw_expression" {
		l.Node(r, first)
		return
	}
	start, _ := l.Range(i)
	l.Begin(tree.ExpressionStatement, r, i)
	if strings.HasSuffix(strings.TrimRight(l.File.Source[:start], " \t\r\n"), "<?=") {
		l.Begin(tree.Call, tree.RoleValue, i)
		l.Flag(l.Put(tree.Name, tree.RoleCallee, "echo", first), tree.Implied)
		l.Node(tree.RoleArgument, first)
		l.Close()
	} else {
		l.Need(tree.RoleValue, i, first)
	}
	l.Close()
}

// callStatementRule returns the rule for a statement that is a function in effect.
func callStatementRule(function string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(tree.ExpressionStatement, r, i)
		callOfRule(function)(l, tree.RoleValue, i)
		l.Close()
	}
}

// callOfRule returns the rule for an expression that is a function in effect.
func callOfRule(function string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		start, _ := l.Range(i)
		l.Begin(tree.Call, r, i)
		l.Leaf(tree.Name, tree.RoleCallee, function, start, start+uint32(min(len(function), len(l.Source(i)))))
		for c := range l.Children(i) {
			lowerParts(l, tree.RoleArgument, c)
		}
		l.Close()
	}
}

// lowerParts lowers the parts of a sequence beside each other.
func lowerParts(l *lang.Lowering, r tree.Role, i int32) {
	if l.Kind(i) != "sequence_expression" || l.TooDeep() {
		l.Node(r, i)
		return
	}
	for i >= 0 && l.Kind(i) == "sequence_expression" { // nested to the right
		next := int32(-1)
		for c := range l.Children(i) {
			if l.Kind(c) == "sequence_expression" {
				next = c
			} else {
				l.Node(r, c)
			}
		}
		i = next
	}
}

// lowerBody lowers a clause to what it holds.
func lowerBody(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, l.Field(i, "body")) }

// lowerIfStatement lowers an if with its clauses, each of which is the Else of the one
// before.
func lowerIfStatement(l *lang.Lowering, r tree.Role, i int32) {
	var clauses []int32
	for c := range l.Fields(i, "alternative") {
		clauses = append(clauses, c)
	}
	_, end := l.Range(i)
	ifPart(l, r, i)
	open := 1
	for _, c := range clauses {
		if l.Kind(c) != "else_if_clause" {
			l.Node(tree.RoleElse, c)
			continue
		}
		if l.TooDeep() {
			l.Lost(tree.RoleElse, c)
			break
		}
		n := ifPart(l, tree.RoleElse, c)
		l.File.Nodes[n].End = end
		open++
	}
	for range open {
		l.Close()
	}
}

// ifPart begins an If.
func ifPart(l *lang.Lowering, r tree.Role, i int32) int32 {
	n := l.Begin(tree.If, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Need(tree.RoleThen, i, l.Field(i, "body"))
	return n
}

// lowerForStatement lowers a loop that counts; each of its parts may be a list.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	for _, part := range []struct {
		field string
		role  tree.Role
	}{{"initialize", tree.RoleInit}, {"condition", tree.RoleCondition}, {"update", tree.RoleUpdate}} {
		if c := l.Field(i, part.field); c >= 0 {
			lowerParts(l, part.role, c)
		}
	}
	lowerBlockOf(l, i, "body")
	l.Close()
}

// lowerBlockOf lowers the statements of a field: the only one as it is, none or several
// as a Block.
func lowerBlockOf(l *lang.Lowering, i int32, field string) {
	var all []int32
	for c := range l.Fields(i, field) {
		if l.Named(c) && !l.Extra(c) {
			all = append(all, c)
		}
	}
	if len(all) == 1 {
		l.Node(tree.RoleBody, all[0])
		return
	}
	_, end := l.Range(i)
	start := end
	if len(all) > 0 {
		start, _ = l.Range(all[0])
	}
	l.Open(tree.Block, tree.RoleBody, start, end)
	for _, c := range all {
		l.Node(tree.RoleStatement, c)
	}
	l.Close()
}

// lowerForEach lowers "foreach ($xs as $k => $x)".
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	of := l.Field(i, "body")
	iterable, target := int32(-1), int32(-1)
	for c := range l.Children(i) {
		switch {
		case c == of:
		case iterable < 0:
			iterable = c
		case target < 0:
			target = c
		}
	}
	if l.Kind(target) == "pair" {
		l.BeginText(tree.ForEach, r, "range", i)
		l.Begin(tree.Tuple, tree.RoleTarget, target)
		l.Nodes(tree.RoleElement, target)
		l.Close()
	} else {
		l.BeginText(tree.ForEach, r, "of", i)
		l.Node(tree.RoleTarget, target)
	}
	l.Need(tree.RoleIterable, i, iterable)
	l.Need(tree.RoleBody, i, of)
	l.Close()
}

// switchOfRule returns the rule for a switch, or for a match, which has a value.
func switchOfRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Switch, r, text, i)
		l.Part(tree.RoleValue, i, "condition")
		if b := l.Field(i, "body"); b >= 0 {
			for c := range l.Children(b) {
				lowerCaseOf(l, c)
			}
		}
		l.Close()
	}
}

// lowerCaseOf lowers a case of a switch or match.
func lowerCaseOf(l *lang.Lowering, i int32) {
	switch l.Kind(i) {
	case "case_statement", "default_statement":
		text, value := "default", l.Field(i, "value")
		if l.Kind(i) == "case_statement" {
			text = ""
		}
		l.BeginText(tree.Case, tree.RoleCase, text, i)
		l.Node(tree.RoleCondition, value)
		_, end := l.Range(i)
		b := l.Open(tree.Block, tree.RoleBody, end, end)
		for c := range l.Children(i) {
			if c == value {
				continue
			}
			if start, _ := l.Range(c); start < l.File.Nodes[b].Start {
				l.File.Nodes[b].Start = start
			}
			l.Node(tree.RoleStatement, c)
		}
		l.Close()
		l.Close()
	case "match_conditional_expression", "match_default_expression":
		text := "default"
		if l.Kind(i) == "match_conditional_expression" {
			text = ""
		}
		value := l.Field(i, "return_expression")
		l.BeginText(tree.Case, tree.RoleCase, text, i)
		l.Nodes(tree.RoleCondition, l.Field(i, "conditional_expressions"))
		at := max(i, value)
		l.Begin(tree.Block, tree.RoleBody, at)
		l.Begin(tree.Yield, tree.RoleStatement, at)
		l.Node(tree.RoleValue, value)
		l.Close()
		l.Close()
		l.Close()
	default:
		l.Node(tree.RoleCase, i)
	}
}

// lowerTry lowers a try with its handlers.
func lowerTry(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "catch_clause":
			l.Node(tree.RoleHandler, c)
		case "finally_clause":
			l.Node(tree.RoleFinally, c)
		}
	}
	l.Close()
}

// lowerCatch lowers "catch (A | B $e)": a Type for each, and a name that may be missing.
func lowerCatch(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Catch, r, i)
	l.Nodes(tree.RoleType, l.Field(i, "type"))
	l.Part(tree.RoleTarget, i, "name")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerGlobal lowers "global $a, $b;".
func lowerGlobal(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Global, r, "global", i)
	l.Nodes(tree.RoleName, i)
	l.Close()
}

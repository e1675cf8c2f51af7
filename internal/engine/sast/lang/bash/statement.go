package bash

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerProgram lowers the script.
// The range is the whole file: the node of the grammar begins at the first command, behind the
// shebang.
func lowerProgram(l *lang.Lowering, r tree.Role, i int32) {
	l.Open(tree.FileKind, r, 0, uint32(len(l.File.Source)))
	lowerBody(l, i)
	l.Close()
}

// lowerBlock lowers "{ a; b; }" and the bodies between do and done.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	lowerBody(l, i)
	l.Close()
}

// lowerBody adds the statements of a list.
func lowerBody(l *lang.Lowering, i int32) {
	var list []int32
	for c := range l.Every(i) {
		list = append(list, c)
	}
	lowerStatements(l, list)
}

// lowerStatements adds the statements among the nodes. One with "&" behind it is a Spawn.
// Comments and separators have no meaning and are left out. The text of a here-document
// belongs to its redirection, which has been lowered with the command.
func lowerStatements(l *lang.Lowering, list []int32) {
	for n, c := range list {
		if !l.Named(c) || l.Extra(c) && l.Kind(c) != "ERROR" || l.Kind(c) == "heredoc_body" {
			continue
		}
		// "sleep 10 &" runs in the background: the command is the value of a Spawn.
		if n+1 < len(list) && l.Kind(list[n+1]) == "&" {
			l.Begin(tree.Spawn, tree.RoleStatement, c)
			l.Need(tree.RoleValue, c, c)
			l.Close()
			continue
		}
		lowerStatement(l, c)
	}
}

// own are the constructs that are statements of themselves.
// All other kinds are commands, pipelines and lists, which have a status and may stand in
// conditions.
var own = map[string]bool{
	"compound_statement": true, "if_statement": true, "while_statement": true, "for_statement": true,
	"c_style_for_statement": true, "case_statement": true, "function_definition": true, "ERROR": true,
}

// lowerStatement lowers one statement; a command, which has a value, stands below an
// ExpressionStatement.
func lowerStatement(l *lang.Lowering, i int32) {
	if own[l.Kind(i)] {
		l.Node(tree.RoleStatement, i)
		return
	}
	// The grammar sometimes takes commands of several lines for one. rowsOf separates them; each
	// becomes a statement of its own.
	switch l.Kind(i) {
	case "command", "list", "pipeline", "redirected_statement":
		if rows := rowsOf(l, i); len(rows) > 1 {
			for _, row := range rows {
				lowerSplitStatement(l, i, row)
			}
			return
		}
	}
	l.Begin(tree.ExpressionStatement, tree.RoleStatement, i)
	l.Need(tree.RoleValue, i, i)
	l.Close()
}

// lowerSplitStatement adds one of the statements that the grammar took for one.
// Mark shows whether anything was added: a row that is empty adds nothing and needs no
// statement around it.
func lowerSplitStatement(l *lang.Lowering, i int32, row []link) {
	m := l.Mark()
	lowerRow(l, tree.RoleValue, i, row)
	if l.Mark() == m {
		return
	}
	n := l.File.Nodes[m]
	l.Wrap(m, tree.ExpressionStatement, tree.RoleStatement, n.Start, n.End)
}

// lowerSequence adds commands as one value.
// "if a; b; then": all commands run, the last one decides. That is a Sequence.
func lowerSequence(l *lang.Lowering, r tree.Role, i int32, list []int32) {
	switch len(list) {
	case 0:
		l.Lost(r, i)
	case 1:
		l.Need(r, i, list[0])
	default:
		start, _ := l.Range(list[0])
		_, end := l.Range(list[len(list)-1])
		l.Open(tree.Sequence, r, start, end)
		for _, c := range list {
			l.Node(tree.RoleElement, c)
		}
		l.Close()
	}
}

// lowerIfStatement makes of every elif an If as Else.
// Every elif nests one level deeper. depth counts the nodes that have to be closed, all of
// which end with the statement.
func lowerIfStatement(l *lang.Lowering, r tree.Role, i int32) {
	depth := 1
	_, end := l.Range(i)
	l.Begin(tree.If, r, i)
	lowerBranch(l, i)
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "elif_clause":
			start, _ := l.Range(c)
			// The tree has a maximal depth: a script of a generator may have thousands of
			// branches. The rest is left out.
			if l.TooDeep() {
				continue
			}
			l.Open(tree.If, tree.RoleElse, start, end)
			depth++
			lowerBranch(l, c)
		case "else_clause":
			l.Node(tree.RoleElse, c)
		}
	}
	for ; depth > 0; depth-- {
		l.Close()
	}
}

// lowerBranch adds the condition, which is before "then", and the body behind it.
// The grammar has condition and body as siblings, separated by the word "then" only.
func lowerBranch(l *lang.Lowering, i int32) {
	var conditions, statements []int32
	start, end := l.Range(i)
	then := false
	for c := range l.Every(i) {
		switch kind := l.Kind(c); {
		case kind == "elif_clause" || kind == "else_clause":
		case kind == "then":
			then = true
			// The block begins right behind "then" and ends with the last statement.
			_, start = l.Range(c)
			end = start
		case then:
			statements = append(statements, c)
			if l.Named(c) {
				_, end = l.Range(c)
			}
		case l.Named(c) && !l.Extra(c):
			conditions = append(conditions, c)
		}
	}
	lowerSequence(l, tree.RoleCondition, i, conditions)
	l.Open(tree.Block, tree.RoleThen, start, max(start, end))
	lowerStatements(l, statements)
	l.Close()
}

// lowerWhileStatement lowers while and until.
// The statement until is a while with the negated condition.
func lowerWhileStatement(l *lang.Lowering, r tree.Role, i int32) {
	var conditions []int32
	for c := range l.Fields(i, "condition") {
		if l.Named(c) {
			conditions = append(conditions, c)
		}
	}
	l.Begin(tree.While, r, i)
	// The negation is implied: the source has no "!" there.
	if l.Has(i, "until") && len(conditions) > 0 {
		l.Flag(l.BeginText(tree.Unary, tree.RoleCondition, "!", conditions[0]), tree.Implied)
		lowerSequence(l, tree.RoleValue, i, conditions)
		l.Close()
	} else {
		lowerSequence(l, tree.RoleCondition, i, conditions)
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerForStatement lowers for and select. Without values they are the arguments.
// "for x in a b c" has several values, which are a Tuple; "for x in "$@"" has one.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	text := "of"
	if l.Has(i, "select") {
		text = "select"
	}
	l.BeginText(tree.ForEach, r, text, i)
	l.Part(tree.RoleTarget, i, "variable")
	var values []int32
	for c := range l.Fields(i, "value") {
		values = append(values, c)
	}
	switch len(values) {
	// "for x; do" runs over the arguments of the script: it is the same as "for x in "$@"".
	case 0:
		l.Flag(l.BeginText(tree.Unary, tree.RoleIterable, "$", i), tree.Implied)
		l.Flag(l.Put(tree.Name, tree.RoleValue, "@", i), tree.Implied)
		l.Close()
	case 1:
		l.Node(tree.RoleIterable, values[0])
	default:
		start, _ := l.Range(values[0])
		_, end := l.Range(values[len(values)-1])
		l.Open(tree.Tuple, tree.RoleIterable, start, end)
		for _, c := range values {
			l.Node(tree.RoleElement, c)
		}
		l.Close()
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerCountingFor lowers "for ((i = 0; i < n; i++))".
// Each part may be missing, as in C.
func lowerCountingFor(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	l.Parts(tree.RoleInit, i, "initializer")
	l.Parts(tree.RoleCondition, i, "condition")
	l.Parts(tree.RoleUpdate, i, "update")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerCaseStatement lowers "case a in …": a Switch whose cases do not run into each other.
// ";&" and ";;&" continue with the next case; only then is the switch one with fallthrough.
func lowerCaseStatement(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	for c := range l.Children(i) {
		if l.Field(c, "fallthrough") >= 0 {
			text = "fallthrough"
		}
	}
	l.BeginText(tree.Switch, r, text, i)
	l.Part(tree.RoleValue, i, "value")
	for c := range l.Children(i) {
		switch {
		case l.Kind(c) == "case_item":
			lowerCaseItem(l, c)
		case l.FieldName(c) != "value":
			l.Node(tree.RoleCase, c)
		}
	}
	l.Close()
}

// lowerCaseItem lowers one case; "*)" is the default, and keeps its pattern.
// A case has several patterns: "a|b)". They are alternatives.
func lowerCaseItem(l *lang.Lowering, i int32) {
	text := ""
	if l.Source(l.Field(i, "value")) == "*" {
		text = "default"
	}
	l.BeginText(tree.Case, tree.RoleCase, text, i)
	l.Parts(tree.RoleCondition, i, "value")
	var statements []int32
	behind := false
	_, start := l.Range(i)
	end := start
	for c := range l.Every(i) {
		switch {
		// The body begins behind the parenthesis.
		case l.Kind(c) == ")":
			behind = true
			_, start = l.Range(c)
		case behind:
			statements = append(statements, c)
		}
	}
	l.Open(tree.Block, tree.RoleBody, start, max(start, end))
	lowerStatements(l, statements)
	l.Close()
	l.Close()
}

// lowerFunction lowers a definition; a body that is no block is put into one.
// "f() if …; then …; fi" has a statement as its body, which is rare but valid (POSIX, section
// 2.9.5).
func lowerFunction(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Function, r, "function", i)
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	switch inner := l.Field(i, "body"); {
	case l.Kind(inner) == "compound_statement":
		l.Node(tree.RoleBody, inner)
	case inner >= 0:
		l.Begin(tree.Block, tree.RoleBody, inner)
		lowerStatement(l, inner)
		l.Close()
	}
	l.Close()
}

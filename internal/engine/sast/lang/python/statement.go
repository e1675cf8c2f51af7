package python

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerModule is the rule for the file. Its range is the whole file: that of the grammar
// begins at the first statement.
func lowerModule(l *lang.Lowering, r tree.Role, i int32) {
	l.Open(tree.FileKind, r, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerExpressionStatement also stands for annotated assignments, and for a tuple
// without parentheses.
func lowerExpressionStatement(l *lang.Lowering, r tree.Role, i int32) {
	first := l.First(i)
	// An annotation makes a declaration: "x: int = 1".
	if l.Kind(first) == "assignment" && l.Field(first, "type") >= 0 {
		lowerVariable(l, r, first)
		return
	}
	l.Begin(tree.ExpressionStatement, r, i)
	// "a, b" or "a," as a statement.
	if l.Has(i, ",") {
		l.Begin(tree.Tuple, tree.RoleValue, i)
		l.Nodes(tree.RoleElement, i)
		l.Close()
	} else {
		l.Need(tree.RoleValue, i, first)
	}
	l.Close()
}

// lowerVariable lowers "x: T = v".
// The value may be missing: "x: int" only declares.
func lowerVariable(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Variable, r, i)
	l.Part(tree.RoleType, i, "type")
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Part(tree.RoleValue, i, "right")
	l.Close()
}

// lowerImportStatement lowers every form of import: a node for each name.
func lowerImportStatement(l *lang.Lowering, r tree.Role, i int32) {
	module := l.Field(i, "module_name")
	text := compactName(l.Source(module))
	future := l.Kind(i) == "future_import_statement"
	if future {
		// from __future__ import x has a kind of its own in the grammar, without the module's
		// name.
		text = "__future__"
	}
	from := future || module >= 0
	any := false
	// One node per name: "from a import b, c as d" gives two, with the same range.
	bind := func(name, alias int32) {
		any = true
		if from {
			l.BeginText(tree.Import, r, text, i)
			lowerImportPath(l, i, module, text)
			if l.Kind(name) == "wildcard_import" {
				l.Put(tree.Name, tree.RoleName, "*", name)
			} else {
				l.Put(tree.Name, tree.RoleName, compactName(l.Source(name)), name)
			}
		} else {
			// "import a.b as c": the module itself is bound.
			l.BeginText(tree.Import, r, compactName(l.Source(name)), i)
			l.Node(tree.RolePath, name)
		}
		l.Node(tree.RoleAlias, alias)
		l.Close()
	}
	for c := range l.Children(i) {
		switch {
		case c == module:
		case l.Kind(c) == "aliased_import":
			bind(l.Field(c, "name"), l.Field(c, "alias"))
		case l.Kind(c) == "dotted_name" || l.Kind(c) == "wildcard_import":
			bind(c, -1)
		}
	}
	// Neither a name nor a star: an incomplete import while typing.
	if !any {
		l.Lost(r, i)
	}
}

// lowerImportPath adds the module of a from-import. A relative one is one Name, with its
// dots.
func lowerImportPath(l *lang.Lowering, i, module int32, text string) {
	switch {
	// The path of a future import is not a node of the concrete tree.
	case module < 0:
		l.Put(tree.Name, tree.RolePath, text, i)
	// "from ..pkg import x": the dots tell how far to go up.
	case l.Kind(module) == "relative_import":
		l.Put(tree.Name, tree.RolePath, text, module)
	default:
		l.Node(tree.RolePath, module)
	}
}

// compactName removes the blanks that may stand in a dotted name.
// A backslash continues the line: import os.\ (line end) path.
func compactName(s string) string {
	if strings.ContainsAny(s, " \t\\\r\n") {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\\\r\n", r) }),
			"")
	}
	return s
}

// lowerPrintStatement lowers the statement of Python 2 to a call.
func lowerPrintStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.ExpressionStatement, r, i)
	l.Begin(tree.Call, tree.RoleValue, i)
	l.Put(tree.Name, tree.RoleCallee, "print", l.Find(i, "print"))
	for c := range l.Children(i) {
		// print >>f, x writes to a file: it becomes the keyword argument of Python 3's print.
		if l.Kind(c) != "chevron" {
			l.Node(tree.RoleArgument, c)
			continue
		}
		l.Begin(tree.Keyword, tree.RoleArgument, c)
		l.Flag(l.Put(tree.Name, tree.RoleName, "file", c), tree.Implied)
		l.Need(tree.RoleValue, c, l.First(c))
		l.Close()
	}
	l.Close()
	l.Close()
}

// lowerExecStatement lowers "exec code in globals, locals" of Python 2 to a call.
// exec is a function in Python 3; rules for code injection (CWE-95) cover both through the
// call.
func lowerExecStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.ExpressionStatement, r, i)
	l.Begin(tree.Call, tree.RoleValue, i)
	l.Put(tree.Name, tree.RoleCallee, "exec", l.Find(i, "exec"))
	l.Nodes(tree.RoleArgument, i)
	l.Close()
	l.Close()
}

// lowerAssertStatement lowers "assert a, b"; b is the message.
func lowerAssertStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Assert, r, i)
	condition := l.First(i)
	l.Need(tree.RoleCondition, i, condition)
	for c := range l.Children(i) {
		if c != condition {
			l.Node(tree.RoleValue, c)
		}
	}
	l.Close()
}

// lowerDeleteStatement lowers "del a, b".
// "del a, b" has a list below it, "del a[0]" the expression directly.
func lowerDeleteStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Delete, r, i)
	if c := l.First(i); l.Kind(c) == "expression_list" {
		l.Nodes(tree.RoleValue, c)
	} else {
		l.Nodes(tree.RoleValue, i)
	}
	l.Close()
}

// valueStatementRule is the rule for a statement with an optional value.
func valueStatementRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(k, r, i)
		l.Node(tree.RoleValue, l.First(i))
		l.Close()
	}
}

// lowerRaiseStatement lowers "raise e from cause"; the cause is a second Value. The form
// of Python 2, "raise E, value", gives a Tuple.
func lowerRaiseStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Throw, r, i)
	l.Nodes(tree.RoleValue, i)
	l.Close()
}

// lowerIfStatement makes of every elif an If as Else.
// The alternatives are siblings in the concrete tree.
func lowerIfStatement(l *lang.Lowering, r tree.Role, i int32) {
	var rest []int32
	for c := range l.Fields(i, "alternative") {
		rest = append(rest, c)
	}
	_, end := l.Range(i)
	depth := 1
	l.Begin(tree.If, r, i)
	lowerBranch(l, i)
	for _, c := range rest {
		if l.Kind(c) != "elif_clause" {
			l.Node(tree.RoleElse, c)
			continue
		}
		start, _ := l.Range(c)
		// The limit of depth: generated dispatch tables have thousands of elif. The rest is
		// recorded as not understood.
		if l.TooDeep() {
			l.Unknown(tree.RoleElse, start, end)
			break
		}
		l.Open(tree.If, tree.RoleElse, start, end)
		depth++
		lowerBranch(l, c)
	}
	for ; depth > 0; depth-- {
		l.Close()
	}
}

// lowerBranch lowers what stands behind an else: the block of it.
// It is shared by if and elif, which have the same fields.
func lowerBranch(l *lang.Lowering, i int32) {
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Need(tree.RoleThen, i, l.Field(i, "consequence"))
}

// lowerTryStatement lowers a try with its handlers, else and finally.
func lowerTryStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "except_clause":
			l.Node(tree.RoleHandler, c)
		case "else_clause":
			l.Node(tree.RoleElse, c)
		case "finally_clause":
			l.Node(tree.RoleFinally, c)
		}
	}
	l.Close()
}

// lowerExceptClause lowers the forms "except E:", "except E as e:" and "except E, e:" of
// Python 2.
func lowerExceptClause(l *lang.Lowering, r tree.Role, i int32) {
	// except* (PEP 654) catches members of an exception group.
	text := ""
	if l.Has(i, "*") {
		text = "*"
	}
	l.BeginText(tree.Catch, r, text, i)
	value, alias := l.Field(i, "value"), l.Field(i, "alias")
	switch {
	// The grammar has "E as e" as a pattern.
	case l.Kind(value) == "as_pattern":
		l.Node(tree.RoleType, l.First(value))
		l.Part(tree.RoleTarget, value, "alias")
	// The name may be in a field of its own.
	case alias >= 0:
		l.Node(tree.RoleType, value)
		l.Node(tree.RoleTarget, alias)
	// The form of Python 2, or no name at all: the first expression is the type, a second one the
	// variable.
	default:
		target := tree.RoleType
		for c := range l.Fields(i, "value") {
			if l.Named(c) {
				l.Node(target, c)
				target = tree.RoleTarget
			}
		}
	}
	l.Need(tree.RoleBody, i, l.Find(i, "block"))
	l.Close()
}

// lowerWithStatement lowers with; each resource that is named is a Variable.
func lowerWithStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.With, r, "with", i)
	for c := range l.Children(l.Find(i, "with_clause")) {
		lowerWithItem(l, c)
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerWithItem lowers one resource. The grammar reads "with (a as b):" as an item in
// parentheses.
func lowerWithItem(l *lang.Lowering, i int32) {
	value := i
	if l.Kind(i) == "with_item" {
		value = l.Field(i, "value")
	}
	for l.Kind(value) == "parenthesized_expression" && l.Kind(l.First(value)) == "as_pattern" {
		value = l.First(value)
	}
	if l.Kind(value) == "tuple" && l.Has(value, "as_pattern") {
		for c := range l.Children(value) {
			lowerWithItem(l, c)
		}
		return
	}
	if l.Kind(value) != "as_pattern" {
		l.Need(tree.RoleResource, i, value)
		return
	}
	l.Begin(tree.Variable, tree.RoleResource, value)
	l.Need(tree.RoleTarget, value, l.Field(value, "alias"))
	l.Need(tree.RoleValue, value, l.First(value))
	l.Close()
}

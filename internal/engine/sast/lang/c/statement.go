package c

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerBlock lowers braces with statements in them.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerExpressionStatement lowers "e;", and ";" alone, which is Empty.
func lowerExpressionStatement(l *lang.Lowering, r tree.Role, i int32) {
	c := l.First(i)
	switch {
	// A lone semicolon, mostly the body of a loop.
	case c < 0:
		l.Put(tree.Empty, r, "", i)
	// delete is a statement of its own in the tree, since it ends the life of an object (CWE-416).
	case l.Kind(c) == "delete_expression":
		l.Node(r, c)
	default:
		l.Begin(tree.ExpressionStatement, r, i)
		l.Need(tree.RoleValue, i, c)
		l.Close()
	}
}

// lowerCondition adds the condition of a statement, which C++ may put after a
// declaration. A declaration that is the condition is a Variable.
func lowerCondition(l *lang.Lowering, i int32) {
	c := l.Field(i, "condition")
	// C has a plain expression in parentheses there; the node condition_clause exists in C++ only.
	if l.Kind(c) != "condition_clause" {
		l.Need(tree.RoleCondition, i, c)
		return
	}
	// C++17: if (auto it = m.find(k); it != m.end()).
	l.Part(tree.RoleInit, c, "initializer")
	l.Need(tree.RoleCondition, i, l.Field(c, "value"))
}

// lowerIfStatement lowers an if. That of C++ may declare a variable before its condition.
func lowerIfStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.If, r, i)
	lowerCondition(l, i)
	l.Need(tree.RoleThen, i, l.Field(i, "consequence"))
	l.Part(tree.RoleElse, i, "alternative")
	l.Close()
}

// lowerWhileStatement lowers a while; its condition may be a declaration in C++.
func lowerWhileStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.While, r, i)
	lowerCondition(l, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerForStatement lowers a loop that counts; each of its three parts may be missing.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	l.Part(tree.RoleInit, i, "initializer")
	l.Part(tree.RoleCondition, i, "condition")
	l.Part(tree.RoleUpdate, i, "update")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerForEach lowers "for (T x : xs)" of C++.
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	d := readDeclarator(l, l.Field(i, "declarator"))
	specifier := l.Field(i, "type")
	// The declaration has no node of its own; the range of the type is used.
	l.Begin(tree.Variable, tree.RoleTarget, max(specifier, i))
	lowerModifiers(l, i)
	lowerFullType(l, tree.RoleType, specifier, d.layers)
	l.Need(tree.RoleTarget, i, d.name)
	l.Close()
	l.Need(tree.RoleIterable, i, l.Field(i, "right"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerSwitchStatement lowers a switch; a case without a jump at its end runs into the
// next one.
// It is decided for the switch as a whole: as soon as one case runs on, all are treated so,
// which is correct because the others end with a jump.
func lowerSwitchStatement(l *lang.Lowering, r tree.Role, i int32) {
	list := l.Field(i, "body")
	var cases []int32
	text := ""
	if list >= 0 {
		for c := range l.Children(list) {
			cases = append(cases, c)
		}
	}
	for n, c := range cases {
		// The last case has nothing to run into.
		if n+1 < len(cases) && !leavesSwitch(l, c) {
			text = "fallthrough"
		}
	}
	l.BeginText(tree.Switch, r, text, i)
	// C++17 allows an initializer here, too.
	if clause := l.Field(i, "condition"); l.Kind(clause) == "condition_clause" {
		l.Part(tree.RoleInit, clause, "initializer")
		l.Part(tree.RoleValue, clause, "value")
	} else {
		l.Node(tree.RoleValue, clause)
	}
	for _, c := range cases {
		// Statements in front of the first label are unreachable; Duff's device is left as it is.
		if l.Kind(c) != "case_statement" {
			l.Node(tree.RoleCase, c)
			continue
		}
		lowerCaseStatement(l, c)
	}
	l.Close()
}

// lowerCaseStatement lowers "case a:" with the statements up to the next label.
func lowerCaseStatement(l *lang.Lowering, i int32) {
	value := l.Field(i, "value")
	text := ""
	// "default:" has no value.
	if value < 0 {
		text = "default"
	}
	l.BeginText(tree.Case, tree.RoleCase, text, i)
	l.Node(tree.RoleCondition, value)
	_, end := l.Range(i)
	start := end
	// The body begins behind the colon.
	for c := range l.Every(i) {
		if l.Kind(c) == ":" {
			_, start = l.Range(c)
			break
		}
	}
	l.Open(tree.Block, tree.RoleBody, start, end)
	for c := range l.Children(i) {
		if c != value {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
	l.Close()
}

// leavesSwitch reports whether the last statement of a case leaves the switch.
// A block in braces at the end of a case is followed to its own last statement: case 1: { …;
// break; }.
func leavesSwitch(l *lang.Lowering, i int32) bool {
	for {
		last := int32(-1)
		for c := range l.Children(i) {
			last = c
		}
		switch l.Kind(last) {
		case "compound_statement":
			i = last
			continue
		// An infinite loop or a call of exit also leaves; assuming that the case runs on is the
		// safe side.
		case "break_statement", "return_statement", "goto_statement", "continue_statement", "throw_statement":
			return true
		}
		return false
	}
}

// optionalValueRule returns the rule for a statement with an optional value.
func optionalValueRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(k, r, i)
		l.Node(tree.RoleValue, l.First(i))
		l.Close()
	}
}

// lowerLabeled lowers "name: statement".
func lowerLabeled(l *lang.Lowering, r tree.Role, i int32) {
	label := l.Field(i, "label")
	l.Begin(tree.Label, r, i)
	l.Node(tree.RoleName, label)
	// C23 allows a label at the end of a block; there is no body then.
	for c := range l.Children(i) {
		if c != label {
			l.Node(tree.RoleBody, c)
		}
	}
	l.Close()
}

// lowerTryStatement lowers try; "catch (...)" has no Type.
func lowerTryStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	for c := range l.Children(i) {
		if l.Kind(c) != "catch_clause" {
			continue
		}
		l.Begin(tree.Catch, tree.RoleHandler, c)
		// "catch (...)" has a parameter list without a declaration.
		if list := l.Field(c, "parameters"); list >= 0 {
			for p := range l.Children(list) {
				d := readDeclarator(l, l.Field(p, "declarator"))
				lowerFullType(l, tree.RoleType, l.Field(p, "type"), d.layers)
				l.Node(tree.RoleTarget, d.name)
			}
		}
		l.Need(tree.RoleBody, c, l.Field(c, "body"))
		l.Close()
	}
	l.Close()
}

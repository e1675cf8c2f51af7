package golang

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// statementRules are the rules for what is done, and where the flow goes.
var statementRules = map[string]lang.Rule{
	"block":                lowerBlock,
	"statement_list":       lowerChildren,
	"empty_statement":      lang.Skip,
	"expression_statement": statementRule(lang.Inner),
	"send_statement":       statementRule(lowerSend),
	"inc_statement":        statementRule(updateRule("++")),
	"dec_statement":        statementRule(updateRule("--")),
	"assignment_statement": statementRule(lowerAssignment),
	"short_var_declaration": lang.Slots(tree.Variable, ":=",
		lang.Slot{Role: tree.RoleTarget, Field: "left"}, lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"labeled_statement":     lowerLabeled,
	"fallthrough_statement": func(l *lang.Lowering, r tree.Role, i int32) { l.Fallback(r, i, l.Node) },
	"break_statement":       lang.Slots(tree.Break, "", lang.Slot{Role: tree.RoleLabel, Optional: true}),
	"continue_statement":    lang.Slots(tree.Continue, "", lang.Slot{Role: tree.RoleLabel, Optional: true}),
	"goto_statement":        lang.Slots(tree.Goto, "", lang.Slot{Role: tree.RoleLabel}),
	"label_name":            lang.Same(tree.Name),
	"return_statement":      lang.Slots(tree.Return, "", lang.Slot{Role: tree.RoleValue, Optional: true}),
	"go_statement":          lang.Slots(tree.Spawn, "", lang.Slot{Role: tree.RoleValue}),
	"defer_statement":       lang.Slots(tree.Defer, "", lang.Slot{Role: tree.RoleValue}),

	"if_statement":                lowerIfStatement,
	"for_statement":               lowerForStatement,
	"expression_switch_statement": lowerSwitchStatement,
	"type_switch_statement":       lowerTypeSwitch,
	"select_statement":            lowerSelectStatement,
	"expression_case":             lowerExpressionCase,
	"default_case":                lowerDefaultCase,
	"communication_case":          lowerCommunicationCase,
}

// lowerBlock lowers braces with statements in them.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// statementRule returns the rule for an expression that stands as a statement. Before a
// condition, and in the head of a loop, it is the bare expression.
// The tree has the same shape as in other languages: "for i := 0; i < n; i++" has the
// expression i++ as its Update and no statement.
func statementRule(expression lang.Rule) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		switch r {
		case tree.RoleInit, tree.RoleUpdate, tree.RoleCondition:
			expression(l, r, i)
		default:
			l.Begin(tree.ExpressionStatement, r, i)
			expression(l, tree.RoleValue, i)
			l.Close()
		}
	}
}

// lowerSend lowers "c <- v" as a Binary: data goes into the channel.
func lowerSend(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, "<-", i)
	l.Need(tree.RoleLeft, i, l.Field(i, "channel"))
	l.Need(tree.RoleRight, i, l.Field(i, "value"))
	l.Close()
}

// updateRule returns the rule for "i++" and "i--", which are statements in Go.
// The flag Postfix has no effect, as the value is never used, but keeps the form of other
// languages.
func updateRule(operator string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Flag(l.BeginText(tree.Update, r, operator, i), tree.Postfix)
		l.Need(tree.RoleValue, i, l.First(i))
		l.Close()
	}
}

// lowerAssignment lowers "a, b = c, d" and the assignments with an operator.
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerLabeled lowers "name: statement"; at the end of a block the statement is missing.
func lowerLabeled(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Label, r, i)
	name := l.Field(i, "label")
	l.Need(tree.RoleName, i, name)
	body := int32(-1)
	// The label is the first child; the last one that is not the label is the statement. A comment
	// is no child.
	for c := range l.Children(i) {
		if c != name {
			body = c
		}
	}
	// A label in front of the closing brace has no statement, so that an empty one is added.
	before := l.Mark()
	l.Node(tree.RoleBody, body)
	if l.Mark() == before {
		_, end := l.Range(i)
		l.Leaf(tree.Empty, tree.RoleBody, "", end, end)
	}
	l.Close()
}

// lowerIfStatement lowers an if with the statement before its condition.
func lowerIfStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.If, r, i)
	l.Part(tree.RoleInit, i, "initializer")
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Need(tree.RoleThen, i, l.Field(i, "consequence"))
	l.Part(tree.RoleElse, i, "alternative")
	l.Close()
}

// lowerForStatement lowers the four loops: over a range, with a clause, with a condition
// alone (a While), and without any.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	// The head is the first child besides the body: its kind decides which of the four loops it
	// is.
	body, head := l.Field(i, "body"), int32(-1)
	for c := range l.Children(i) {
		if c != body {
			head = c
			break
		}
	}
	switch l.Kind(head) {
	case "range_clause":
		l.BeginText(tree.ForEach, r, "range", i)
		// "for range xs" has no target. With one, the target is a Tuple also for a single name,
		// since the first one is the key and not the element.
		if left := l.Field(head, "left"); left >= 0 {
			l.Begin(tree.Tuple, tree.RoleTarget, left)
			l.Nodes(tree.RoleElement, left)
			l.Close()
		}
		l.Need(tree.RoleIterable, i, l.Field(head, "right"))
	case "for_clause":
		l.Begin(tree.For, r, i)
		l.Part(tree.RoleInit, head, "initializer")
		l.Part(tree.RoleCondition, head, "condition")
		l.Part(tree.RoleUpdate, head, "update")
	// "for { }" has no head at all.
	case "":
		l.Begin(tree.For, r, i)
	default:
		l.Begin(tree.While, r, i)
		l.Need(tree.RoleCondition, i, head)
	}
	l.Need(tree.RoleBody, i, body)
	l.Close()
}

// lowerSwitchStatement lowers a switch. When one of its cases runs into the next one, all
// do so in the tree, and the others end with a break.
// The generic Switch has one text for all of its cases. Where one case falls through, the
// others get an explicit break; see lowerCaseBody.
func lowerSwitchStatement(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	for c := range l.Children(i) {
		if fallsThrough(l, c) {
			text = "fallthrough"
		}
	}
	l.BeginText(tree.Switch, r, text, i)
	l.Part(tree.RoleInit, i, "initializer")
	l.Part(tree.RoleValue, i, "value")
	for c := range l.Children(i) {
		if k := l.Kind(c); k == "expression_case" || k == "default_case" {
			l.Node(tree.RoleCase, c)
		}
	}
	l.Close()
}

// fallsThrough reports whether a case ends with the word.
// The compiler allows the word only as the last statement of a case.
func fallsThrough(l *lang.Lowering, i int32) bool {
	last := int32(-1)
	for c := range l.Children(l.Find(i, "statement_list")) {
		last = c
	}
	return l.Kind(last) == "fallthrough_statement"
}

// lowerExpressionCase lowers a case of values.
func lowerExpressionCase(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Case, r, i)
	if values := l.Field(i, "value"); values >= 0 {
		l.Nodes(tree.RoleCondition, values)
	}
	lowerCaseBody(l, i, -1)
	l.Close()
}

// lowerDefaultCase lowers the default of a switch or a select.
func lowerDefaultCase(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Case, r, "default", i)
	lowerCaseBody(l, i, -1)
	l.Close()
}

// lowerCaseBody lowers the statements of a case, behind a first one that its head makes.
// first is the concrete node of "x := <-c" of a select, -1 for other cases.
func lowerCaseBody(l *lang.Lowering, i, first int32) {
	list := l.Find(i, "statement_list")
	_, end := l.Range(i)
	// A case without statements has an empty body at its end.
	start := end
	if list >= 0 {
		start, end = l.Range(list)
	}
	if first >= 0 {
		start, _ = l.Range(first)
	}
	body := l.Open(tree.Block, tree.RoleBody, start, end)
	l.Flag(body, tree.Implied)
	if first >= 0 {
		lowerReceived(l, first)
	}
	l.Node(tree.RoleStatement, list)
	nodes := l.File.Nodes
	// The parent of the body is the case, its parent the switch, whose text says that cases run
	// into each other.
	if nodes[nodes[nodes[body].Parent].Parent].Text == "fallthrough" && !fallsThrough(l, i) {
		l.Flag(l.Leaf(tree.Break, tree.RoleStatement, "", end, end), tree.Implied)
	}
	l.Close()
}

// lowerTypeSwitch lowers "switch x := v.(type)": x is a variable before the switch, and in
// a case of one type the variable of that case.
// Both are approximations of one variable with a type per case. They let the data flow from
// the value to the uses, and give the uses the type for models.
func lowerTypeSwitch(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	l.Part(tree.RoleInit, i, "initializer")
	alias, value := l.First(l.Field(i, "alias")), l.Field(i, "value")
	// The alias is declared by the switch and its value is the operand.
	if alias >= 0 {
		l.Open(tree.Variable, tree.RoleInit, l.CST.Nodes[alias].Start, l.CST.Nodes[value].End)
		l.File.Nodes[len(l.File.Nodes)-1].Text = ":="
		l.Node(tree.RoleTarget, alias)
		l.Need(tree.RoleValue, i, value)
		l.Close()
		// The switch then compares the alias, which the source does not spell.
		l.Flag(l.Same(tree.Name, tree.RoleValue, alias), tree.Implied)
	} else {
		l.Node(tree.RoleValue, value)
	}
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "type_case":
			lowerTypeCase(l, c, alias)
		case "default_case":
			l.Node(tree.RoleCase, c)
		}
	}
	l.Close()
}

// lowerTypeCase lowers a case of types. That of one type is a Variable of the type, so that
// the name of the switch has it in the case.
func lowerTypeCase(l *lang.Lowering, i, alias int32) {
	l.Begin(tree.Case, tree.RoleCase, i)
	var types []int32
	for t := range l.Fields(i, "type") {
		if l.Named(t) {
			types = append(types, t)
		}
	}
	for _, t := range types {
		switch {
		// "case nil" is a value and no type.
		case l.Source(t) == "nil":
			l.Same(tree.Null, tree.RoleCondition, t)
		// Only in a case of one type the variable has this type; with several it keeps that of the
		// value.
		case len(types) == 1 && alias >= 0:
			l.Begin(tree.Variable, tree.RoleCondition, t)
			l.Node(tree.RoleType, t)
			l.Flag(l.Same(tree.Name, tree.RoleTarget, alias), tree.Implied)
			l.Close()
		default:
			l.Node(tree.RoleCondition, t)
		}
	}
	lowerCaseBody(l, i, -1)
	l.Close()
}

// lowerSelectStatement lowers a select: a Switch without a value, whose conditions are
// the sends and receives.
// The text "select" lets patterns tell it from a switch; control flow takes any of its cases.
func lowerSelectStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Switch, r, "select", i)
	l.Nodes(tree.RoleCase, i)
	l.Close()
}

// lowerCommunicationCase lowers a case of a select. What is received is assigned by the
// first statement of the body.
func lowerCommunicationCase(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Case, r, i)
	communication, first := l.Field(i, "communication"), int32(-1)
	// "case v, ok := <-c": the receive is the condition, the assignment is done in the body.
	if l.Kind(communication) == "receive_statement" {
		if l.Field(communication, "left") >= 0 {
			first = communication
		}
		communication = l.Field(communication, "right")
	}
	l.Node(tree.RoleCondition, communication)
	lowerCaseBody(l, i, first)
	l.Close()
}

// lowerReceived lowers "x := <-c" or "x = <-c" of a select.
// The grammar does not say which of both it is; the operator does.
func lowerReceived(l *lang.Lowering, i int32) {
	left, right := l.Field(i, "left"), l.Field(i, "right")
	if l.Has(i, ":=") {
		l.BeginText(tree.Variable, tree.RoleStatement, ":=", i)
		l.Need(tree.RoleTarget, i, left)
		l.Need(tree.RoleValue, i, right)
		l.Close()
		return
	}
	l.Begin(tree.ExpressionStatement, tree.RoleStatement, i)
	l.BeginText(tree.Assign, tree.RoleValue, "=", i)
	l.Need(tree.RoleTarget, i, left)
	l.Need(tree.RoleValue, i, right)
	l.Close()
	l.Close()
}

package ruby

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerProgram lowers the file.
// The range is the whole file, including comments and the part behind __END__.
func lowerProgram(l *lang.Lowering, r tree.Role, i int32) {
	l.Open(tree.FileKind, r, 0, uint32(len(l.File.Source)))
	lowerBody(l, i)
	l.Close()
}

// lowerBlock lowers a list of statements; with rescue and the like it holds a Try.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	lowerBody(l, i)
	l.Close()
}

// own are the constructs that are statements of themselves.
// The grammar makes no difference between statements and expressions; everything else has a
// value and is wrapped.
var own = map[string]bool{
	"begin": true, "begin_block": true, "end_block": true, "if": true, "unless": true, "if_modifier": true,
	"unless_modifier": true, "while": true, "until": true, "while_modifier": true, "until_modifier": true, "for": true,
	"case": true, "case_match": true, "return": true, "break": true, "next": true, "method": true,
	"singleton_method": true,
	"class":            true, "module": true, "singleton_class": true, "ERROR": true, "empty_statement": true,
	"uninterpreted": true,
	"retry":         true, "redo": true, "alias": true, "undef": true, "rescue_modifier": true,
}

// lowerStatement adds a statement; an expression is wrapped.
func lowerStatement(l *lang.Lowering, i int32) {
	if own[l.Kind(i)] {
		l.Node(tree.RoleStatement, i)
		return
	}
	l.Begin(tree.ExpressionStatement, tree.RoleStatement, i)
	l.Need(tree.RoleValue, i, i)
	l.Close()
}

// lowerBody adds the statements of a list. Its rescue, else and ensure make it the body
// of a Try.
// A method body may have a rescue without "begin": def m … rescue … end.
func lowerBody(l *lang.Lowering, i int32) {
	if !handlesErrors(l, i) {
		for c := range l.Children(i) {
			lowerStatement(l, c)
		}
		return
	}
	lowerTry(l, tree.RoleStatement, i)
}

// handlesErrors reports whether a list of statements has a rescue or an ensure.
func handlesErrors(l *lang.Lowering, i int32) bool {
	for c := range l.Children(i) {
		if kind := l.Kind(c); kind == "rescue" || kind == "ensure" {
			return true
		}
	}
	return false
}

// lowerTry lowers the list of a begin with its rescue, else and ensure.
// The order in the tree is fixed: body, handlers, else, finally. In the source the parts are
// siblings of the statements.
func lowerTry(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	l.Begin(tree.Block, tree.RoleBody, i)
	for c := range l.Children(i) {
		if kind := l.Kind(c); kind != "rescue" && kind != "else" && kind != "ensure" {
			lowerStatement(l, c)
		}
	}
	l.Close()
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "rescue":
			lowerRescue(l, c)
		case "else":
			l.Node(tree.RoleElse, c)
		case "ensure":
			l.Node(tree.RoleFinally, c)
		}
	}
	l.Close()
}

// lowerRescue lowers "rescue A, B => e".
// "rescue" without classes catches StandardError; it has no Type.
func lowerRescue(l *lang.Lowering, i int32) {
	l.Begin(tree.Catch, tree.RoleHandler, i)
	l.Nodes(tree.RoleType, l.Field(i, "exceptions"))
	l.Part(tree.RoleTarget, i, "variable")
	lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerBranch adds a Block that the source may leave out.
// "if x then end" has no body. The implied block keeps the shape of the tree.
func lowerBranch(l *lang.Lowering, r tree.Role, i, part int32) {
	if part >= 0 {
		l.Node(r, part)
		return
	}
	_, end := l.Range(i)
	l.Flag(l.Leaf(tree.Block, r, "", end, end), tree.Implied)
}

// lowerBegin lowers "begin … end".
func lowerBegin(l *lang.Lowering, r tree.Role, i int32) {
	if handlesErrors(l, i) {
		lowerTry(l, r, i)
		return
	}
	lowerBlock(l, r, i)
}

// lowerTest adds a condition; negated, below an implied "!".
// unless and until are the negated forms of if and while.
func lowerTest(l *lang.Lowering, i int32, negated bool) {
	condition := l.Field(i, "condition")
	if !negated || condition < 0 {
		l.Need(tree.RoleCondition, i, condition)
		return
	}
	l.Flag(l.BeginText(tree.Unary, tree.RoleCondition, "!", condition), tree.Implied)
	l.Need(tree.RoleValue, i, condition)
	l.Close()
}

// conditionRule returns the rule for if and unless. As a value it is a Conditional.
func conditionRule(negated bool) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		if r == tree.RoleStatement {
			lowerIfStatement(l, r, i, negated)
		} else {
			lowerIfValue(l, r, i, negated)
		}
	}
}

// lowerIfStatement lowers an if where a statement stands; negated, that of unless.
func lowerIfStatement(l *lang.Lowering, r tree.Role, i int32, negated bool) {
	// Each elsif nests one level deeper.
	if l.TooDeep() {
		l.Lost(r, i)
		return
	}
	l.Begin(tree.If, r, i)
	lowerTest(l, i, negated)
	lowerBranch(l, tree.RoleThen, i, l.Field(i, "consequence"))
	// elsif of an unless tests its own condition without negation.
	if other := l.Field(i, "alternative"); l.Kind(other) == "elsif" {
		lowerIfStatement(l, tree.RoleElse, other, false)
	} else {
		l.Node(tree.RoleElse, other)
	}
	l.Close()
}

// lowerIfValue lowers an if whose value is wanted to a Conditional; an elsif is the else of
// the one before.
func lowerIfValue(l *lang.Lowering, r tree.Role, i int32, negated bool) {
	if l.TooDeep() {
		l.Lost(r, i)
		return
	}
	l.Begin(tree.Conditional, r, i)
	lowerTest(l, i, negated)
	lowerValue(l, tree.RoleThen, i, l.Field(i, "consequence"))
	if other := l.Field(i, "alternative"); l.Kind(other) == "elsif" {
		lowerIfValue(l, tree.RoleElse, other, false)
	} else {
		lowerValue(l, tree.RoleElse, i, other)
	}
	l.Close()
}

// lowerValue adds a list of statements as a value: the only one, or a Sequence.
// An empty branch has the value nil.
func lowerValue(l *lang.Lowering, r tree.Role, i, list int32) {
	if list < 0 {
		_, end := l.Range(i)
		l.Flag(l.Leaf(tree.Null, r, "nil", end, end), tree.Implied)
		return
	}
	lowerSequence(l, r, list)
}

// lowerSequence is the rule for statements where a value is wanted.
func lowerSequence(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := range l.Children(i) {
		// The text of a here-document is lowered where it begins; its body is skipped.
		if l.Kind(c) != "empty_statement" && l.Kind(c) != "heredoc_body" {
			parts = append(parts, c)
		}
	}
	switch len(parts) {
	case 0:
		l.Flag(l.Put(tree.Null, r, "nil", i), tree.Implied)
	case 1:
		l.Node(r, parts[0])
	default:
		l.Begin(tree.Sequence, r, i)
		for _, c := range parts {
			l.Node(tree.RoleElement, c)
		}
		l.Close()
	}
}

// modifierRule returns the rule for "s if c" and "s unless c".
func modifierRule(negated bool) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		only := l.Field(i, "body")
		// As a value, "x = (a if b)" is nil without the condition.
		if r != tree.RoleStatement {
			l.Begin(tree.Conditional, r, i)
			lowerTest(l, i, negated)
			l.Need(tree.RoleThen, i, only)
			_, end := l.Range(i)
			l.Flag(l.Leaf(tree.Null, tree.RoleElse, "nil", end, end), tree.Implied)
			l.Close()
			return
		}
		l.Begin(tree.If, r, i)
		lowerTest(l, i, negated)
		lowerLone(l, tree.RoleThen, i, only)
		l.Close()
	}
}

// lowerLone adds a Block of one statement.
// Modifiers have a single statement without braces; a Block is put around it for the common
// form.
func lowerLone(l *lang.Lowering, r tree.Role, i, only int32) {
	if only < 0 {
		l.Lost(r, i)
		return
	}
	l.Begin(tree.Block, r, only)
	lowerStatement(l, only)
	l.Close()
}

// loopRule returns the rule for while and until, which test after the body when that is
// "begin … end" before the word.
func loopRule(negated bool) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		part := l.Field(i, "body")
		switch l.Kind(part) {
		// "begin … end while c" runs the body at least once.
		case "begin":
			l.Begin(tree.DoWhile, r, i)
			l.Need(tree.RoleBody, i, part)
			lowerTest(l, i, negated)
		case "do":
			l.Begin(tree.While, r, i)
			lowerTest(l, i, negated)
			l.Node(tree.RoleBody, part)
		// "s while c" has a single statement.
		default:
			l.Begin(tree.While, r, i)
			lowerTest(l, i, negated)
			lowerLone(l, tree.RoleBody, i, part)
		}
		l.Close()
	}
}

// lowerForEach lowers "for a, b in xs".
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "pattern"))
	l.Need(tree.RoleIterable, i, l.Field(i, "value"))
	lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerSwitchCase lowers "case x when …" and "case x in …".
// "case" without a value tests its conditions in turn, like if and elsif.
func lowerSwitchCase(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	subject := l.Field(i, "value")
	l.Node(tree.RoleValue, subject)
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "when":
			l.Begin(tree.Case, tree.RoleCase, c)
			l.Parts(tree.RoleCondition, c, "pattern")
			lowerBranch(l, tree.RoleBody, c, l.Field(c, "body"))
			l.Close()
		case "in_clause":
			l.Begin(tree.Case, tree.RoleCase, c)
			l.Part(tree.RoleCondition, c, "pattern")
			lowerGuard(l, l.Field(c, "guard"))
			lowerBranch(l, tree.RoleBody, c, l.Field(c, "body"))
			l.Close()
		case "else":
			l.BeginText(tree.Case, tree.RoleCase, "default", c)
			l.Node(tree.RoleBody, c)
			l.Close()
		// Comments and signs of patterns between the cases.
		default:
			if c != subject {
				l.Node(tree.RoleCase, c)
			}
		}
	}
	l.Close()
}

// lowerGuard lowers the "if c" or "unless c" of a pattern.
// unless of a guard is negated, like the statement.
func lowerGuard(l *lang.Lowering, i int32) {
	if i < 0 {
		return
	}
	if l.Kind(i) != "unless_guard" {
		l.Need(tree.RoleGuard, i, l.Field(i, "condition"))
		return
	}
	l.Flag(l.BeginText(tree.Unary, tree.RoleGuard, "!", i), tree.Implied)
	l.Need(tree.RoleValue, i, l.Field(i, "condition"))
	l.Close()
}

// jumpRule returns the rule for a word with values, several of which are a Tuple.
// return, break and next have the same form: "return a, b" returns a list.
func jumpRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(k, r, i)
		if arguments := l.Find(i, "argument_list"); arguments >= 0 {
			n := 0
			for range l.Children(arguments) {
				n++
			}
			if n == 1 {
				l.Node(tree.RoleValue, l.First(arguments))
			} else if n > 1 {
				l.Node(tree.RoleValue, arguments)
			}
		}
		l.Close()
	}
}

// lowerRescueModifier lowers "a rescue b"; as a value too it is a Try, of two Blocks.
// "Integer(s) rescue 0" gives the value of the handler if the body raises StandardError.
func lowerRescueModifier(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Try, r, i)
	lowerLone(l, tree.RoleBody, i, l.Field(i, "body"))
	handler := l.Field(i, "handler")
	l.Begin(tree.Catch, tree.RoleHandler, max(handler, i))
	lowerLone(l, tree.RoleBody, i, handler)
	l.Close()
	l.Close()
}

package python

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerMatchStatement lowers match (PEP 634): a Switch whose cases do not run into each
// other.
func lowerMatchStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	subjects := 0
	for range l.Fields(i, "subject") {
		subjects++
	}
	// "match a, b:" matches a tuple without parentheses.
	if subjects > 1 {
		l.Begin(tree.Tuple, tree.RoleValue, l.Field(i, "subject"))
		l.Parts(tree.RoleElement, i, "subject")
		l.Close()
	} else {
		l.Part(tree.RoleValue, i, "subject")
	}
	for c := range l.Children(l.Field(i, "body")) {
		l.Node(tree.RoleCase, c)
	}
	l.Close()
}

// lowerCaseClause lowers a case. "case _:" is the default, and keeps its pattern.
// Several patterns without parentheses are a Tuple.
// The clause "case _ if x:" has a guard and may not be taken, so it is no default.
func lowerCaseClause(l *lang.Lowering, r tree.Role, i int32) {
	guard, body := l.Field(i, "guard"), l.Field(i, "consequence")
	var patterns []int32
	for c := range l.Children(i) {
		if c != guard && c != body {
			patterns = append(patterns, c)
		}
	}
	text := ""
	if len(patterns) == 1 && guard < 0 && l.Source(patterns[0]) == "_" {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	// A trailing comma makes a tuple of one: "case a,:".
	if len(patterns) > 1 || l.Has(i, ",") {
		start, _ := l.Range(patterns[0])
		_, end := l.Range(patterns[len(patterns)-1])
		l.Open(tree.Tuple, tree.RoleCondition, start, end)
		for _, c := range patterns {
			l.Node(tree.RoleElement, c)
		}
		l.Close()
	} else if len(patterns) == 1 {
		l.Node(tree.RoleCondition, patterns[0])
	}
	// The guard is wrapped in a clause of its own.
	if guard >= 0 {
		l.Need(tree.RoleGuard, guard, l.First(guard))
	}
	l.Need(tree.RoleBody, i, body)
	l.Close()
}

// lowerCasePattern stands for its only child; the grammar leaves "_" and the sign of a
// number as tokens.
// case -1: and case _: have no named child in the grammar.
func lowerCasePattern(l *lang.Lowering, r tree.Role, i int32) {
	switch {
	case l.Source(i) == "_":
		l.Put(tree.Name, r, "_", i)
	case l.Has(i, "-"):
		l.BeginText(tree.Unary, r, "-", i)
		l.Need(tree.RoleValue, i, l.First(i))
		l.Close()
	default:
		lang.Inner(l, r, i)
	}
}

// lowerClassPattern is written as a call, and is one.
// Point(x=0, y=y) has the form of a constructor call; a rule with a call pattern can match it.
func lowerClassPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	class := l.First(i)
	l.Need(tree.RoleCallee, i, class)
	for c := range l.Children(i) {
		if c != class {
			l.Node(tree.RoleArgument, c)
		}
	}
	l.Close()
}

// lowerKeywordPattern lowers "a=pattern" of a class pattern.
func lowerKeywordPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Keyword, r, i)
	name := l.First(i)
	l.Need(tree.RoleName, i, name)
	lowerOperand(l, tree.RoleValue, i, name)
	l.Close()
}

// lowerOperand lowers what follows the child after, in a pattern that the grammar does
// not wrap: a named child, "_", or a number with its sign.
// after is the index of the child in front, -1 for the first.
func lowerOperand(l *lang.Lowering, r tree.Role, i, after int32) {
	sign := int32(-1)
	for c := range l.Every(i) {
		switch {
		case c <= after || l.Extra(c):
		// "_" binds nothing, but a rule may ask for it; it is kept as a Name.
		case l.Source(c) == "_":
			l.Put(tree.Name, r, "_", c)
			return
		// The sign is a token in front of the number; both together are one operand.
		case l.Kind(c) == "-":
			sign = c
		case l.Named(c) && sign >= 0:
			start, _ := l.Range(sign)
			_, end := l.Range(c)
			l.Open(tree.Unary, r, start, end)
			l.File.Nodes[len(l.File.Nodes)-1].Text = "-"
			l.Node(tree.RoleValue, c)
			l.Close()
			return
		case l.Named(c):
			l.Node(r, c)
			return
		}
	}
	l.Lost(r, i)
}

// lowerSplatPattern lowers "*a" and "**a" of a pattern; "_" takes what nobody wants.
// [first, *rest] and {**rest}.
func lowerSplatPattern(l *lang.Lowering, r tree.Role, i int32) {
	text := "*"
	if l.Has(i, "**") {
		text = "**"
	}
	l.BeginText(tree.Spread, r, text, i)
	lowerOperand(l, tree.RoleValue, i, -1)
	l.Close()
}

// lowerUnionPattern lowers "a | b | c" as the operator is lowered: to the left.
func lowerUnionPattern(l *lang.Lowering, r tree.Role, i int32) {
	lowerLeftFold(l, fold{i: i, role: r, operands: unionOperands(l, i), operator: func(int) string { return "|" }})
}

// unionOperands returns the operands of a union; "_" and signs are tokens.
// A sign belongs to the number behind it, which is named.
func unionOperands(l *lang.Lowering, i int32) []int32 {
	var list []int32
	for c := range l.Every(i) {
		if !l.Extra(c) && (l.Named(c) || l.Source(c) == "_") {
			list = append(list, c)
		}
	}
	return list
}

// lowerDictPattern lowers a mapping pattern: keys and values by turns, and the rest.
func lowerDictPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Map, r, i)
	// The last key and the sign in front of it; -1 for none.
	key, sign := int32(-1), int32(-1)
	for c := range l.Every(i) {
		switch {
		case l.Extra(c):
		case l.Kind(c) == "-":
			sign = c
		case l.FieldName(c) == "key":
			key = c
		// The pair begins with the sign, where there is one.
		case l.FieldName(c) == "value" && key >= 0:
			from := key
			if sign >= 0 {
				from = sign
			}
			start, _ := l.Range(from)
			_, end := l.Range(c)
			l.Open(tree.Pair, tree.RoleElement, start, end)
			// {-1: x}: the key is a negative number.
			if sign >= 0 {
				l.BeginText(tree.Unary, tree.RoleKey, "-", key)
				l.Node(tree.RoleValue, key)
				l.Close()
			} else {
				l.Node(tree.RoleKey, key)
			}
			l.Node(tree.RoleValue, c)
			l.Close()
			key, sign = -1, -1
		// What is neither key nor value is the rest: {"a": x, **rest}.
		case l.Named(c):
			l.Node(tree.RoleElement, c)
		}
	}
	l.Close()
}

// lowerComplexPattern lowers "-1 + 2j".
// PEP 634 allows a signed real and an imaginary number as one literal.
func lowerComplexPattern(l *lang.Lowering, r tree.Role, i int32) {
	operator, negative, first := "", false, int32(-1)
	second := int32(-1)
	for c := range l.Every(i) {
		switch kind := l.Kind(c); {
		case l.Extra(c):
		case l.Named(c) && first < 0:
			first = c
		case l.Named(c):
			second = c
		// The first sign negates the real part, the second one is the operator.
		case first < 0:
			negative = kind == "-"
		default:
			operator = kind
		}
	}
	// Without a second number it is no complex one: damaged code.
	if second < 0 {
		l.Lost(r, i)
		return
	}
	l.BeginText(tree.Binary, r, operator, i)
	if negative {
		l.BeginText(tree.Unary, tree.RoleLeft, "-", first)
		l.Node(tree.RoleValue, first)
		l.Close()
	} else {
		l.Node(tree.RoleLeft, first)
	}
	l.Node(tree.RoleRight, second)
	l.Close()
}

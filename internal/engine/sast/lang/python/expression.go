package python

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerNumber keeps a number's text without separators and the "L" of Python 2.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), "lL"), i)
}

// lowerDottedName lowers "a.b.c" to Members.
func lowerDottedName(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := range l.Children(i) {
		parts = append(parts, c)
	}
	if len(parts) > maxParts {
		l.Lost(r, i)
		return
	}
	lowerMembers(l, r, parts)
}

// maxParts bounds a dotted name.
const maxParts = 200

// lowerMembers lowers the names as a chain of Members.
func lowerMembers(l *lang.Lowering, r tree.Role, parts []int32) {
	last := parts[len(parts)-1]
	if len(parts) == 1 {
		l.Node(r, last)
		return
	}
	start, _ := l.Range(parts[0])
	_, end := l.Range(last)
	m := l.Open(tree.Member, r, start, end)
	l.File.Nodes[m].Text = "."
	lowerMembers(l, tree.RoleObject, parts[:len(parts)-1])
	l.Node(tree.RoleProperty, last)
	l.Close()
}

// lowerCall lowers a call; a generator may stand in the place of the arguments. The call
// that stands for a typed metavariable has a type as its first argument.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	callee, arguments := l.Field(i, "function"), l.Field(i, "arguments")
	l.Need(tree.RoleCallee, i, callee)
	switch {
	case l.Kind(arguments) != "argument_list":
		l.Node(tree.RoleArgument, arguments)
	case l.Source(callee) == lang.TypedName:
		first := l.First(arguments)
		for c := range l.Children(arguments) {
			if c == first {
				lowerTypeReference(l, tree.RoleArgument, c)
			} else {
				l.Node(tree.RoleArgument, c)
			}
		}
	default:
		l.Nodes(tree.RoleArgument, arguments)
	}
	l.Close()
}

// lowerSubscript lowers "a[b, c]".
func lowerSubscript(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	l.Need(tree.RoleObject, i, l.Field(i, "value"))
	l.Parts(tree.RoleIndex, i, "subscript")
	l.Close()
}

// lowerSlice tells its parts by the colons before them.
func lowerSlice(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Slice, r, i)
	part := tree.RoleLow
	for c := range l.Every(i) {
		switch {
		case l.Kind(c) == ":":
			part = min(part+1, tree.RoleStep) // Low, High, Step are consecutive
		case l.Named(c) && !l.Extra(c):
			l.Node(part, c)
		}
	}
	l.Close()
}

// lowerAssignment lowers "a = b". One with a type is a Variable, where it is part of
// another assignment too.
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	if l.Field(i, "type") >= 0 || l.Field(i, "right") < 0 {
		lowerVariable(l, r, i)
		return
	}
	l.BeginText(tree.Assign, r, "=", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerAugmented lowers "a += b".
func lowerAugmented(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerBinary lowers an operation of two operands.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// lowerComparison lowers "a < b", and a chain "a < b < c" to the left.
func lowerComparison(l *lang.Lowering, r tree.Role, i int32) {
	var operands []int32
	for c := range l.Children(i) {
		operands = append(operands, c)
	}
	var operators []string
	for c := range l.Fields(i, "operators") {
		operators = append(operators, strings.Join(strings.Fields(l.Source(c)), " "))
	}
	lowerLeftFold(l, fold{i: i, role: r, operands: operands, operator: func(n int) string {
		if n < len(operators) {
			return operators[n]
		}
		return ""
	}})
}

// A fold is a row of operands with operators between them.
type fold struct {
	i        int32
	role     tree.Role
	operands []int32
	operator func(n int) string // between operands n and n+1
}

// lowerLeftFold adds the row as Binaries, to the left.
func lowerLeftFold(l *lang.Lowering, f fold) {
	n := len(f.operands)
	if n == 0 || l.TooDeep() {
		l.Lost(f.role, f.i)
		return
	}
	last := f.operands[n-1]
	if n == 1 {
		if l.Source(last) == "_" {
			l.Put(tree.Name, f.role, "_", last)
		} else {
			l.Node(f.role, last)
		}
		return
	}
	start, _ := l.Range(f.operands[0])
	_, end := l.Range(last)
	b := l.Open(tree.Binary, f.role, start, end)
	l.File.Nodes[b].Text = f.operator(n - 2)
	lowerLeftFold(l, fold{f.i, tree.RoleLeft, f.operands[:n-1], f.operator})
	lowerLeftFold(l, fold{f.i, tree.RoleRight, f.operands[n-1:], f.operator})
	l.Close()
}

// lowerUnary lowers "-a", "~a" and "not a".
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleValue, i, l.Field(i, "argument"))
	l.Close()
}

// lowerConditional lowers "then if condition else other".
func lowerConditional(l *lang.Lowering, r tree.Role, i int32) {
	parts := [3]int32{-1, -1, -1}
	n := 0
	for c := range l.Children(i) {
		if n < len(parts) {
			parts[n] = c
			n++
		}
	}
	l.Begin(tree.Conditional, r, i)
	l.Need(tree.RoleCondition, i, parts[1])
	l.Need(tree.RoleThen, i, parts[0])
	l.Need(tree.RoleElse, i, parts[2])
	l.Close()
}

// lowerYield lowers "yield a" and "yield from a".
func lowerYield(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Has(i, "from") {
		text = "from"
	}
	l.BeginText(tree.Yield, r, text, i)
	l.Node(tree.RoleValue, l.First(i))
	l.Close()
}

// lowerAsPattern lowers "value as name" where it is no part of a with or an except.
func lowerAsPattern(l *lang.Lowering, r tree.Role, i int32) {
	value, target := l.First(i), l.Field(i, "alias")
	if target < 0 {
		for c := range l.Children(i) {
			if c != value {
				target = c
			}
		}
	}
	l.BeginText(tree.Assign, r, "as", i)
	if target >= 0 {
		l.Node(tree.RoleTarget, target)
	} else if underscore := l.Find(i, "_"); underscore >= 0 {
		l.Put(tree.Name, tree.RoleTarget, "_", underscore)
	} else {
		l.Lost(tree.RoleTarget, i)
	}
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// comprehensionRule returns the rule for a comprehension; conditions belong to the
// clause before them.
func comprehensionRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Comprehension, r, text, i)
		body := l.Field(i, "body")
		l.Need(tree.RoleValue, i, body)
		open := false
		for c := range l.Children(i) {
			switch {
			case c == body:
			case l.Kind(c) == "for_in_clause":
				if open {
					l.Close()
				}
				openClause(l, c)
				open = true
			case l.Kind(c) == "if_clause" && open:
				l.Node(tree.RoleCondition, l.First(c))
			default:
				l.Node(tree.RoleElement, c)
			}
		}
		if open {
			l.Close()
		}
		l.Close()
	}
}

// openClause opens a Clause.
func openClause(l *lang.Lowering, i int32) {
	l.Begin(tree.Clause, tree.RoleClause, i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	var values []int32
	for c := range l.Fields(i, "right") {
		if l.Named(c) {
			values = append(values, c)
		}
	}
	if len(values) < 2 {
		l.Need(tree.RoleIterable, i, l.Field(i, "right"))
		return
	}
	l.Begin(tree.Tuple, tree.RoleIterable, i) // "for x in 1, 2" of Python 2
	for _, c := range values {
		l.Node(tree.RoleElement, c)
	}
	l.Close()
}

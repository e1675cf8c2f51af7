package hcl

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerExpression lowers a value with the attributes and indexes behind it; one in
// parentheses stands for its inner one.
func lowerExpression(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := range l.Children(i) {
		parts = append(parts, c)
	}
	lowerRow(l, r, i, parts)
}

// lowerRow lowers a row of concrete nodes: a value and its postfixes.
func lowerRow(l *lang.Lowering, r tree.Role, i int32, parts []int32) {
	n := len(parts)
	switch {
	case n == 0 || l.TooDeep():
		l.Lost(r, i)
		return
	case n == 1:
		l.Node(r, parts[0])
		return
	}
	last := parts[n-1]
	inner := func(r tree.Role) { lowerRow(l, r, i, parts[:n-1]) }
	start, _ := l.Range(parts[0])
	lowerPostfix(l, operand{role: r, start: start, inner: inner}, last)
}

// An operand is what stands before a postfix.
type operand struct {
	role  tree.Role
	start uint32
	inner func(tree.Role)
}

// lowerPostfix lowers one postfix of an operand.
func lowerPostfix(l *lang.Lowering, o operand, i int32) {
	_, end := l.Range(i)
	switch l.Kind(i) {
	case "get_attr":
		m := l.Open(tree.Member, o.role, o.start, end)
		l.File.Nodes[m].Text = "."
		o.inner(tree.RoleObject)
		l.Need(tree.RoleProperty, i, l.First(i))
		l.Close()
	case "index":
		l.Open(tree.Index, o.role, o.start, end)
		o.inner(tree.RoleObject)
		inner := l.First(i)
		if text, legacy := strings.CutPrefix(l.Source(inner), "."); legacy {
			l.Put(tree.Number, tree.RoleIndex, strings.TrimSpace(text), inner)
		} else {
			l.Nodes(tree.RoleIndex, inner)
		}
		l.Close()
	case "splat":
		lowerSplat(l, o, l.First(i))
	default:
		l.Open(tree.Other, o.role, o.start, end)
		l.File.Nodes[len(l.File.Nodes)-1].Text = l.Kind(i)
		o.inner(tree.RoleElement)
		l.Node(tree.RoleElement, i)
		l.Close()
	}
}

// lowerSplat lowers "[*]" or ".*", and the postfixes that belong to it.
func lowerSplat(l *lang.Lowering, o operand, i int32) {
	var behind []int32
	for c := range l.Children(i) {
		behind = append(behind, c)
	}
	star := l.Find(i, "[*]")
	if star < 0 {
		star = l.Find(i, ".*")
	}
	_, end := l.Range(max(star, i))
	each := func(r tree.Role) {
		l.Open(tree.Index, r, o.start, end)
		o.inner(tree.RoleObject)
		l.Put(tree.Name, tree.RoleIndex, "*", max(star, i))
		l.Close()
	}
	lowerChain(l, operand{o.role, o.start, each}, behind)
}

// lowerChain lowers an operand with several postfixes.
func lowerChain(l *lang.Lowering, o operand, behind []int32) {
	n := len(behind)
	switch {
	case n == 0:
		o.inner(o.role)
	case l.TooDeep():
		l.Lost(o.role, behind[n-1])
	default:
		rest := func(r tree.Role) { lowerChain(l, operand{r, o.start, o.inner}, behind[:n-1]) }
		lowerPostfix(l, operand{o.role, o.start, rest}, behind[n-1])
	}
}

// lowerCall lowers a function call; "..." spreads the last argument.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, l.First(i))
	var arguments []int32
	spread := false
	if list := l.Find(i, "function_arguments"); list >= 0 {
		for c := range l.Children(list) {
			if l.Kind(c) == "ellipsis" {
				spread = true
			} else {
				arguments = append(arguments, c)
			}
		}
	}
	for n, c := range arguments {
		lowerValue(l, tree.RoleArgument, c, spread && n == len(arguments)-1)
	}
	l.Close()
}

// lowerValue lowers a value that may have "..." behind it.
func lowerValue(l *lang.Lowering, r tree.Role, i int32, spread bool) {
	if !spread {
		l.Node(r, i)
		return
	}
	l.BeginText(tree.Spread, r, "...", i)
	l.Node(tree.RoleValue, i)
	l.Close()
}

// lowerBinary lowers an operation. The grammar puts the postfixes of the operands beside
// them.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	var left, right []int32
	operator := int32(-1)
	for c := range l.Every(i) {
		switch {
		case l.Extra(c):
		case !l.Named(c) && operator < 0:
			operator = c
		case operator < 0:
			left = append(left, c)
		case l.Named(c):
			right = append(right, c)
		}
	}
	l.BeginText(tree.Binary, r, l.Source(operator), i)
	lowerRow(l, tree.RoleLeft, i, left)
	lowerRow(l, tree.RoleRight, i, right)
	l.Close()
}

// lowerUnary lowers "-a" and "!a".
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	text := "!"
	if l.Has(i, "-") {
		text = "-"
	}
	var parts []int32
	for c := range l.Children(i) {
		parts = append(parts, c)
	}
	l.BeginText(tree.Unary, r, text, i)
	lowerRow(l, tree.RoleValue, i, parts)
	l.Close()
}

// lowerConditional lowers "a ? b : c". The grammar puts the postfixes of the operands
// beside them.
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
	l.Need(tree.RoleCondition, i, parts[0])
	l.Need(tree.RoleThen, i, parts[1])
	l.Need(tree.RoleElse, i, parts[2])
	l.Close()
}

// lowerForTuple lowers "[for x in xs : e]".
func lowerForTuple(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Comprehension, r, "list", i)
	l.Need(tree.RoleValue, i, l.Find(i, "expression"))
	lowerClause(l, i)
	l.Close()
}

// lowerForObject lowers "{for k, v in m : k => v}"; "..." behind the value groups by key.
func lowerForObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Comprehension, r, "map", i)
	var parts []int32
	for c := range l.Children(i) {
		if l.Kind(c) == "expression" {
			parts = append(parts, c)
		}
	}
	if len(parts) != 2 {
		l.Lost(tree.RoleValue, i)
		l.Close()
		return
	}
	start, _ := l.Range(parts[0])
	_, end := l.Range(parts[1])
	l.Open(tree.Pair, tree.RoleValue, start, end)
	l.Node(tree.RoleKey, parts[0])
	lowerValue(l, tree.RoleValue, parts[1], l.Has(i, "ellipsis"))
	l.Close()
	lowerClause(l, i)
	l.Close()
}

// lowerClause adds "for k, v in x" and the condition.
func lowerClause(l *lang.Lowering, i int32) {
	intro := l.Find(i, "for_intro")
	if intro < 0 {
		return
	}
	l.Begin(tree.Clause, tree.RoleClause, intro)
	var names []int32
	for c := range l.Children(intro) {
		if l.Kind(c) == "identifier" {
			names = append(names, c)
		}
	}
	if len(names) == 2 {
		start, _ := l.Range(names[0])
		_, end := l.Range(names[1])
		l.Open(tree.Tuple, tree.RoleTarget, start, end)
		l.Node(tree.RoleElement, names[0])
		l.Node(tree.RoleElement, names[1])
		l.Close()
	} else {
		l.Need(tree.RoleTarget, intro, l.Find(intro, "identifier"))
	}
	l.Need(tree.RoleIterable, intro, l.Find(intro, "expression"))
	if condition := l.Find(i, "for_cond"); condition >= 0 {
		l.Need(tree.RoleCondition, condition, l.First(condition))
	}
	l.Close()
}

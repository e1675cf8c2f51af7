package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerQuery lowers "from x in xs where a select b" as a Comprehension. "let" is a
// generator of one element; what orders the result is left out.
// A query (LINQ) filters and projects like a list comprehension of Python, so that both have
// one form and one set of patterns. "orderby", "into" and the direction have no influence on
// which data comes out.
func lowerQuery(l *lang.Lowering, r tree.Role, i int32) {
	// The value is behind everything else in the source, but is the first child of a
	// Comprehension. It is therefore searched for before the clauses are lowered.
	l.BeginText(tree.Comprehension, r, "generator", i)
	value := int32(-1)
	for c := range l.Children(i) {
		// "group x by k" has x as its value; the key only decides about groups.
		if k := l.Kind(c); k == "select_clause" || k == "group_clause" {
			value = partBehind(l, c, -1)
		}
	}
	l.Need(tree.RoleValue, i, value)
	// A Clause stays open until the next generator begins: the conditions behind it belong to it.
	open := false
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "from_clause", "join_clause", "let_clause":
			if open {
				l.Close()
			}
			open = true
			openGenerator(l, c)
		case "where_clause":
			// A condition without a generator in front of it only occurs in damaged code.
			if open {
				l.Node(tree.RoleCondition, partBehind(l, c, -1))
			}
		}
	}
	if open {
		l.Close()
	}
	l.Close()
}

// openGenerator opens a Clause and lowers its variable and what that is taken from.
// The clause is "from T x in xs", "join y in ys on a equals b" or "let z = e".
func openGenerator(l *lang.Lowering, i int32) {
	l.Begin(tree.Clause, tree.RoleClause, i)
	// A from clause names the variable in a field; the others have it as the first identifier.
	target := l.Field(i, "name")
	if target < 0 {
		target = l.Find(i, "identifier")
	}
	l.Need(tree.RoleTarget, i, target)
	// What follows "in", or "=" of a let, is the source of the elements.
	word := l.Find(i, "in")
	if word < 0 {
		word = l.Find(i, "=")
	}
	value := partBehind(l, i, max(word, target))
	// let z = e is treated as a loop over the list [e], which the source does not spell.
	if value < 0 || l.Kind(i) != "let_clause" {
		l.Need(tree.RoleIterable, i, value)
	} else {
		l.Flag(l.Begin(tree.List, tree.RoleIterable, value), tree.Implied)
		l.Node(tree.RoleElement, value)
		l.Close()
	}
	// The condition of a join is a comparison: a equals b becomes a == b.
	if l.Kind(i) != "join_clause" || value < 0 {
		return
	}
	if left := partBehind(l, i, value); left >= 0 {
		l.BeginText(tree.Binary, tree.RoleCondition, "==", left)
		l.Node(tree.RoleLeft, left)
		l.Need(tree.RoleRight, left, partBehind(l, i, left))
		l.Close()
	}
}

package csharp

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerQuery lowers "from x in xs where a select b" as a Comprehension. "let" is a
// generator of one element; what orders the result is left out.
func lowerQuery(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Comprehension, r, "generator", i)
	value := int32(-1)
	for c := range l.Children(i) {
		if k := l.Kind(c); k == "select_clause" || k == "group_clause" {
			value = partBehind(l, c, -1)
		}
	}
	l.Need(tree.RoleValue, i, value)
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
func openGenerator(l *lang.Lowering, i int32) {
	l.Begin(tree.Clause, tree.RoleClause, i)
	target := l.Field(i, "name")
	if target < 0 {
		target = l.Find(i, "identifier")
	}
	l.Need(tree.RoleTarget, i, target)
	word := l.Find(i, "in")
	if word < 0 {
		word = l.Find(i, "=")
	}
	value := partBehind(l, i, max(word, target))
	if value < 0 || l.Kind(i) != "let_clause" {
		l.Need(tree.RoleIterable, i, value)
	} else {
		l.Flag(l.Begin(tree.List, tree.RoleIterable, value), tree.Implied)
		l.Node(tree.RoleElement, value)
		l.Close()
	}
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

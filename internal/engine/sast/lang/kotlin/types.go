package kotlin

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// typeRules are the rules for types.
var typeRules = map[string]lang.Rule{
	"user_type":         lowerUserType,
	"nullable_type":     wrappedTypeRule("?"),
	"non_nullable_type": wrappedTypeRule("&"),
	"parenthesized_type": func(l *lang.Lowering, r tree.Role, i int32) {
		l.Need(r, i, findBehind(l, i, -1, isType))
	},
	"function_type":   lowerFunctionType,
	"type_projection": lowerProjection,
	"type_arguments":  lowerChildren,
	"dynamic":         lang.Leaf(tree.Type, "dynamic"),
}

// isType reports whether the grammar's kind is a type.
func isType(kind string) bool {
	switch kind {
	case "user_type", "nullable_type", "non_nullable_type", "parenthesized_type", "function_type":
		return true
	}
	return false
}

// lowerUserType lowers a.b.T<U>.
func lowerUserType(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Type, r, i)
	var parts []string
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "identifier":
			parts = append(parts, strings.Trim(l.Source(c), "`"))
		case "type_arguments":
			l.Nodes(tree.RoleArgument, c)
		}
	}
	l.File.Nodes[n].Text = strings.Join(parts, ".")
	l.Close()
}

// wrappedTypeRule returns the rule for types made of others: "T?" and "T & U".
func wrappedTypeRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Type, r, text, i)
		for c := range l.Children(i) {
			if isType(l.Kind(c)) {
				l.Node(tree.RoleElement, c)
			}
		}
		l.Close()
	}
}

// lowerFunctionType lowers "T.(U) -> V"; the receiver is the first parameter.
func lowerFunctionType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "func", i)
	list := l.Find(i, "function_type_parameters")
	for c := range l.Children(i) {
		if isType(l.Kind(c)) && c < list {
			lowerUnnamed(l, c)
		}
	}
	for c := range l.Children(list) {
		if l.Kind(c) == "parameter" {
			lowerParameter(l, list, -1, c)
		} else {
			lowerUnnamed(l, c)
		}
	}
	l.Node(tree.RoleReturnType, findBehind(l, i, list, isType))
	l.Close()
}

// lowerUnnamed lowers a parameter that is a type alone.
func lowerUnnamed(l *lang.Lowering, i int32) {
	l.Begin(tree.Parameter, tree.RoleParameter, i)
	l.Node(tree.RoleType, i)
	l.Close()
}

// lowerProjection lowers an argument of a type; its variance is left out.
func lowerProjection(l *lang.Lowering, r tree.Role, i int32) {
	if t := findBehind(l, i, -1, isType); t >= 0 {
		l.Node(r, t)
		return
	}
	l.Same(tree.Type, r, i)
}

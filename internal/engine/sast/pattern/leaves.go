package pattern

import (
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
	"strings"
)

// This file finds the places at which patterns are tried.

// matches returns the matches of a pattern in the whole file, from memory when
// another rule asked before.
func (f *File) matches(l *leaf, o *rule.Options) ([]Match, bool) {
	if got, ok := f.found[l.key]; ok {
		return got.matches, got.spent
	}
	var got found
	if f.has(l.words) {
		m := &matcher{file: f, options: o, steps: budget, inside: l.inside}
		switch {
		case l.imports != nil:
			got.matches = m.importGroups(l)
		case l.stmts != nil:
			got.matches = m.sequences(l)
		default:
			got.matches = m.roots(l)
		}
		got.spent = m.steps < 0
	}
	if !f.clock.late { // another rule may have more time
		f.found[l.key] = got
	}
	return got.matches, got.spent
}

// candidates are the kinds that a root of a kind can match besides its own.
var candidates = map[tree.Kind][]tree.Kind{
	tree.Name:      {tree.Name, tree.Member, tree.This, tree.Super, tree.Call},
	tree.Member:    {tree.Member, tree.Name, tree.Index},
	tree.Type:      {tree.Type},
	tree.String:    {tree.String, tree.Template, tree.Name, tree.Member, tree.Binary, tree.Cast, tree.Conditional},
	tree.Number:    {tree.Number, tree.Name, tree.Member, tree.Binary, tree.Unary, tree.Cast, tree.String},
	tree.Bool:      {tree.Bool, tree.Name, tree.Member, tree.Binary, tree.Unary, tree.String},
	tree.Null:      {tree.Null, tree.Name, tree.Member},
	tree.Character: {tree.Character, tree.Name, tree.Member},
	tree.Assign:    {tree.Assign, tree.Variable, tree.Field, tree.Function},
	tree.Lambda:    {tree.Lambda, tree.Function},
	tree.Unary:     {tree.Unary, tree.Number},
	tree.List:      {tree.List, tree.Comprehension}, tree.Set: {tree.Set, tree.Map, tree.Comprehension},
	tree.Map:  {tree.Map, tree.Set, tree.Comprehension},
	tree.Pair: {tree.Pair, tree.Keyword}, tree.Keyword: {tree.Keyword, tree.Pair},
	tree.Import: {tree.Import, tree.Variable, tree.Export},
	tree.Function: {tree.Function, tree.Lambda, tree.Variable, tree.Field, tree.Pair, tree.Export,
		tree.ExpressionStatement},
	tree.Variable: {tree.Variable, tree.Field, tree.Assign}, tree.Field: {tree.Field, tree.Variable},
	tree.Return: {tree.Return, tree.ExpressionStatement},
	tree.For:    {tree.For, tree.ForEach},
}

// roots tries a pattern that is one node.
func (m *matcher) roots(l *leaf) []Match {
	var out []Match
	try := func(t int32) {
		for _, e := range m.root(l.root, t, empty) {
			out = append(out, m.header(l, m.match(t, t, e)))
		}
	}
	m.places(l.root, try)
	return out
}

// header ends the match of a class without a body, "@A class $C", before the body
// that the source has in braces: only what the pattern shows is in its range.
func (m *matcher) header(l *leaf, out Match) Match {
	f := m.file.Tree
	if l.root.kind != tree.Class || strings.Contains(l.text, "{") || !f.Is(out.Node, tree.Class) {
		return out
	}
	if body := f.Child(out.Node, tree.RoleBody); body >= 0 && strings.HasPrefix(f.Source[f.Nodes[body].Start:], "{") {
		out.End = f.Nodes[body].Start
	}
	return out
}

// places calls try for every node at which the pattern may match.
func (m *matcher) places(root *node, try func(int32)) {
	f := m.file
	kinds := candidates[root.kind]
	switch {
	case root.kind == tree.ExpressionStatement:
		m.statementPlaces(root.kids[0], try)
		return
	case root.kind == tree.Metavariable, root.kind == tree.Ellipsis, root.kind == tree.Deep, root.kind == tree.Typed,
		root.kind == tree.Member && root.child(tree.RoleProperty) == nil:
		for i := range f.Tree.Nodes {
			if m.steps < 0 {
				return
			}
			if f.isExpression(int32(i)) {
				try(int32(i))
			}
		}
		if root.kind == tree.Deep && m.options.VardefAssign {
			for _, t := range f.kinds[tree.Variable] {
				try(t)
			}
		}
		return
	case kinds == nil:
		kinds = []tree.Kind{root.kind}
	}
	for _, k := range kinds {
		for _, t := range f.kinds[k] {
			if m.steps < 0 {
				return
			}
			if k.Expression() && root.kind.Expression() && k != tree.Keyword && k != tree.Pair &&
				root.kind != tree.Type && !f.isExpression(t) && root.kind == k {
				continue
			} else if k.Expression() && root.kind != k && k != tree.Keyword && k != tree.Pair && !f.isExpression(t) {
				continue
			}
			if k == tree.Call && !m.options.AttrExpr && f.Tree.Is(f.Tree.Nodes[t].Parent, tree.Annotation) {
				continue
			}
			if k == tree.Block && f.Tree.Is(f.Tree.Nodes[t].Parent, tree.Class) {
				continue // the members of a class are no statements
			}
			try(t)
		}
	}
	if root.kind == tree.Return && f.Language.Semantics.LastIsReturned {
		for i := range f.Tree.Nodes {
			switch n := &f.Tree.Nodes[i]; n.Role {
			case tree.RoleBody, tree.RoleThen, tree.RoleElse:
				if n.Kind.Expression() {
					try(int32(i))
				}
			}
		}
	}
	if root.kind == tree.Call && f.Language.Semantics.BareCalls {
		for _, t := range f.kinds[tree.Name] {
			if m.bareCall(t) {
				try(t)
			}
		}
	}
	if root.kind == tree.Call && m.options.AttrExpr {
		for _, a := range f.kinds[tree.Annotation] {
			if v := f.Tree.Child(a, tree.RoleValue); v >= 0 && !f.Tree.Is(v, tree.Call) {
				try(v)
			}
		}
	}
}

// statementPlaces calls try for the statements that may be the expression.
func (m *matcher) statementPlaces(p *node, try func(int32)) {
	f := m.file
	switch p.kind {
	case tree.Metavariable, tree.Ellipsis, tree.Deep:
		for i := range f.Tree.Nodes {
			if f.isStatement(int32(i)) {
				try(int32(i))
			}
		}
		return
	}
	for _, k := range []tree.Kind{tree.ExpressionStatement, tree.Variable, tree.Field, tree.Return, tree.Function} {
		for _, t := range f.kinds[k] {
			if m.steps < 0 {
				return
			}
			try(t)
		}
	}
}

// match makes the match of nodes.
func (m *matcher) match(first, last int32, e *env) Match {
	t := m.file.Tree
	out := Match{Start: t.Nodes[first].Start, End: t.Nodes[last].End, Node: first, Last: last, env: e, file: m.file}
	out.End = max(out.End, t.Nodes[first].End)
	return out
}

// sequences tries a pattern of several statements at every statement.
func (m *matcher) sequences(l *leaf) []Match {
	var out []Match
	f := m.file.Tree
	var list []int32
	for _, k := range []tree.Kind{tree.FileKind, tree.Block, tree.Other, tree.If, tree.Switch} {
		for _, parent := range m.file.kinds[k] {
			list = list[:0]
			role := tree.RoleStatement
			if k == tree.If || k == tree.Switch { // "if x := f(); x" is two statements
				role = tree.RoleInit
			}
			for c := range f.All(parent, role) {
				list = append(list, c)
			}
			if role == tree.RoleInit && len(list) > 0 {
				list = append(list, parent)
			}
			for i := range list {
				if m.steps < 0 {
					return out
				}
				for _, r := range m.statements(l.stmts, list[i:], empty, true) {
					if r.last >= 0 {
						out = append(out, m.match(list[i], r.last, r.env))
					}
				}
			}
		}
	}
	return out
}

// importGroups tries a pattern that imports several names of a module.
func (m *matcher) importGroups(l *leaf) []Match {
	var out []Match
	f := m.file.Tree
	all := m.file.kinds[tree.Import]
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && f.Nodes[all[j]].Start == f.Nodes[all[i]].Start &&
			f.Nodes[all[j]].End == f.Nodes[all[i]].End {
			j++
		}
		for _, e := range m.subset(l.imports, all[i:j], empty, true) {
			out = append(out, m.match(all[i], all[i], e))
		}
		i = j
	}
	for _, v := range m.file.kinds[tree.Variable] {
		es := empty.only()
		for _, p := range l.imports {
			es = m.then(es, func(e *env) []*env { return m.required(p, v, e) })
		}
		for _, e := range es {
			out = append(out, m.match(v, v, e))
		}
	}
	return out
}

package pattern

import (
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
	"strings"
)

// This file finds the places at which patterns are tried.

// leafMatches returns the matches of a pattern in the whole file, from memory when another rule
// asked before. Rules share many patterns, such as the sources of taint; evaluating each once per
// file is what makes hundreds of rules affordable.
func (f *File) leafMatches(l *leaf, o *rule.Options) ([]Match, bool) {
	if got, ok := f.found[l.key]; ok {
		return got.matches, got.spent
	}
	var got found
	if f.hasWords(l.words) {
		m := &matcher{file: f, options: o, steps: budget, inside: l.inside}
		switch {
		case l.imports != nil:
			got.matches = m.tryImportGroups(l)
		case l.stmts != nil:
			got.matches = m.trySequences(l)
		default:
			got.matches = m.tryRoots(l)
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

// tryRoots tries a pattern that is one node. Every environment that results is a match of its own.
// The nodes that can match are few, by the index of their kinds; the whole tree is not walked.
func (m *matcher) tryRoots(l *leaf) []Match {
	var out []Match
	try := func(t int32) {
		for _, e := range m.matchRoot(l.root, t, empty) {
			out = append(out, m.cutHeader(l, m.newMatch(t, t, e)))
		}
	}
	m.tryCandidates(l.root, try)
	return out
}

// cutHeader ends the match of a class without a body, "@A class $C", before the body that the
// source has in braces: only what the pattern shows is in its range. The finding of an annotation
// must not span a class of a thousand lines.
func (m *matcher) cutHeader(l *leaf, out Match) Match {
	f := m.file.Tree
	if l.root.kind != tree.Class || strings.Contains(l.text, "{") || !f.Is(out.Node, tree.Class) {
		return out
	}
	if body := f.Child(out.Node, tree.RoleBody); body >= 0 && strings.HasPrefix(f.Source[f.Nodes[body].Start:], "{") {
		out.End = f.Nodes[body].Start
	}
	return out
}

// tryCandidates calls try for every node at which the pattern may match. The kinds of
// candidates come from an index by kind, so that a pattern is not tried at every node.
func (m *matcher) tryCandidates(root *node, try func(int32)) {
	switch {
	case root.kind == tree.ExpressionStatement:
		m.tryStatements(root.kids[0], try)
		return
	case matchesAnyExpression(root):
		m.tryExpressions(root, try)
		return
	}
	kinds := candidates[root.kind]
	if kinds == nil {
		kinds = []tree.Kind{root.kind}
	}
	for _, k := range kinds {
		for _, t := range m.file.kinds[k] {
			if m.steps < 0 {
				return
			}
			if m.isCandidate(root.kind, k, t) {
				try(t)
			}
		}
	}
	m.tryImplicit(root, try)
}

// matchesAnyExpression reports whether the root of a pattern says nothing of the kind of
// what it matches.
func matchesAnyExpression(root *node) bool {
	switch root.kind {
	case tree.Metavariable, tree.Ellipsis, tree.Deep, tree.Typed:
		return true
	case tree.Member: // a chain of calls that begins with an ellipsis
		return root.child(tree.RoleProperty) == nil
	}
	return false
}

// tryExpressions tries a pattern at every expression. It is the slow path, for patterns such as
// "$X" and "<... $X ...>".
func (m *matcher) tryExpressions(root *node, try func(int32)) {
	f := m.file
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
}

// isCandidate reports whether a node of a kind may match a root of another one where it
// stands: labels are no expressions, annotations no calls unless the rule says so.
func (m *matcher) isCandidate(root, k tree.Kind, t int32) bool {
	f := m.file
	if k.Expression() && k != tree.Keyword && k != tree.Pair && (root != k || k != tree.Type) && !f.isExpression(t) {
		return false
	}
	switch k {
	case tree.Call:
		return m.options.AttrExpr || !f.Tree.Is(f.Tree.Nodes[t].Parent, tree.Annotation)
	case tree.Block: // the members of a class are no statements
		return !f.Tree.Is(f.Tree.Nodes[t].Parent, tree.Class)
	}
	return true
}

// tryImplicit tries a return at the last expressions of functions, and a call at names
// that are calls without parentheses (Ruby) and at annotations without arguments.
func (m *matcher) tryImplicit(root *node, try func(int32)) {
	f := m.file
	switch root.kind {
	case tree.Return:
		if f.Language.Semantics.LastIsReturned {
			m.tryBodies(try)
		}
	case tree.Call:
		if f.Language.Semantics.BareCalls {
			for _, t := range f.kinds[tree.Name] {
				if m.bareCall(t) {
					try(t)
				}
			}
		}
		if m.options.AttrExpr {
			for _, a := range f.kinds[tree.Annotation] {
				if v := f.Tree.Child(a, tree.RoleValue); v >= 0 && !f.Tree.Is(v, tree.Call) {
					try(v)
				}
			}
		}
	}
}

// tryBodies tries the bodies that are expressions. In Kotlin and Scala "fun f() = x" returns x. No
// statement stands there that a pattern of a return could match otherwise.
func (m *matcher) tryBodies(try func(int32)) {
	for i := range m.file.Tree.Nodes {
		switch n := &m.file.Tree.Nodes[i]; n.Role {
		case tree.RoleBody, tree.RoleThen, tree.RoleElse:
			if n.Kind.Expression() {
				try(int32(i))
			}
		}
	}
}

// tryStatements calls try for the statements that may be the expression. Any of these kinds holds
// an expression that a pattern "foo();" is meant for.
func (m *matcher) tryStatements(p *node, try func(int32)) {
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

// newMatch makes the match of nodes. The end is that of the longer one, as the last node may lie
// inside of the first.
func (m *matcher) newMatch(first, last int32, e *env) Match {
	t := m.file.Tree
	out := Match{Start: t.Nodes[first].Start, End: t.Nodes[last].End, Node: first, Last: last, env: e, file: m.file}
	out.End = max(out.End, t.Nodes[first].End)
	return out
}

// trySequences tries a pattern of several statements at every statement. Every list of statements
// is tried from each of its statements on.
func (m *matcher) trySequences(l *leaf) []Match {
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
				for _, r := range m.matchStatements(l.stmts, list[i:], empty, true) {
					if r.last >= 0 {
						out = append(out, m.newMatch(list[i], r.last, r.env))
					}
				}
			}
		}
	}
	return out
}

// tryImportGroups tries a pattern that imports several names of a module. The lowering makes one
// node of each name, all with the range of the statement.
func (m *matcher) tryImportGroups(l *leaf) []Match {
	var out []Match
	f := m.file.Tree
	all := m.file.kinds[tree.Import]
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && f.Nodes[all[j]].Start == f.Nodes[all[i]].Start &&
			f.Nodes[all[j]].End == f.Nodes[all[i]].End {
			j++
		}
		for _, e := range m.matchSubset(l.imports, all[i:j], empty, true) {
			out = append(out, m.newMatch(all[i], all[i], e))
		}
		i = j
	}
	for _, v := range m.file.kinds[tree.Variable] {
		es := empty.asResult()
		for _, p := range l.imports {
			es = m.andThen(es, func(e *env) []*env { return m.matchRequire(p, v, e) })
		}
		for _, e := range es {
			out = append(out, m.newMatch(v, v, e))
		}
	}
	return out
}

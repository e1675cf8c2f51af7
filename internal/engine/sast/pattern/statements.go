package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches statements. In a pattern of several statements each one follows
// the other directly; an ellipsis between them skips any number, and what comes
// after it may be nested: in blocks, in functions, in lambdas. A statement that is
// an expression also matches inside of an expression that does little with it, as
// "foo();" does in "x = foo();".

// A reach is a match of statements: the bindings and the last statement. Matching of statements
// works like that of lists, but has to know where a match ends: its range is that of the finding.
type reach struct {
	at   int
	env  *env
	last int32 // tree.None: none was matched
	open bool
	less bool // the source may have more
}

// reachEnvs drops how far the matches reach. A body is matched or not; where its last statement is
// does not matter.
func (m *matcher) reachEnvs(rs []reach) []*env {
	var out []*env
	for _, r := range rs {
		if len(out) > 0 && out[len(out)-1] == r.env {
			continue
		}
		out = m.joinResults(out, r.env.asResult())
	}
	return out
}

// matchStatements matches statements with those of a list, from its start. less says that
// the list may have more; after an ellipsis it always may.
func (m *matcher) matchStatements(ps []*node, ts []int32, e *env, less bool) []reach {
	if len(ps) == 1 && ps[0].isEllipsis() && !less {
		return []reach{{len(ts), e, lastOf(ts), false, true}}
	}
	rs := []reach{{0, e, tree.None, false, less}}
	for i, p := range ps {
		if p.isEllipsis() || p.ellipsisName() != "" {
			return m.afterEllipsis(ps[i:], ts, rs)
		}
		rs = m.nextStatement(p, ts, rs, false)
		if len(rs) == 0 || m.steps < 0 {
			return nil
		}
	}
	return endedReaches(rs, len(ts))
}

// endedReaches keeps the matches that may end where they do: at the end of the list, or anywhere
// if the source may have more.
func endedReaches(rs []reach, n int) []reach {
	out := rs[:0:0]
	for _, r := range rs {
		if r.less || r.at == n {
			out = append(out, r)
		}
	}
	return out
}

// lastOf returns the last node of a list, None when it is empty.
func lastOf(ts []int32) int32 {
	if len(ts) == 0 {
		return tree.None
	}
	return ts[len(ts)-1]
}

// afterEllipsis goes on with the first ellipsis of the pattern: once in the list as
// it is, once in the list with everything that is nested in it.
func (m *matcher) afterEllipsis(ps []*node, ts []int32, rs []reach) []reach {
	var out []reach
	for _, r := range rs {
		rest := ts[r.at:]
		if m.inside && len(ps) == 1 && ps[0].isEllipsis() {
			out = append(out, reach{len(ts), r.env, orLast(lastOf(rest), r.last), false, true})
			continue
		}
		out = append(out, m.matchFlat(ps, rest, r)...)
		if len(rest) == 0 || !m.options.DeeperStmt || ps[0].ellipsisName() != "" {
			continue
		}
		if flat := m.file.flattenStatements(rest[0], rest[len(rest)-1]); len(flat) > len(rest) {
			out = append(out, m.matchFlat(ps, flat, r)...)
		}
		if m.steps < 0 {
			return nil
		}
	}
	return uniqueReaches(out)
}

// orLast returns the first node unless it is None.
func orLast(last, otherwise int32) int32 {
	if last < 0 {
		return otherwise
	}
	return last
}

// matchFlat matches the rest of a pattern in a list that grows no more. Behind an ellipsis the
// pattern's statements may stand on different levels; the flattened list has them in the order of
// the source.
func (m *matcher) matchFlat(ps []*node, ts []int32, from reach) []reach {
	rs := []reach{{0, from.env, from.last, false, true}}
	for i, p := range ps {
		switch {
		case p.isEllipsis() && i == len(ps)-1:
			rs = m.ellipsisEndings(ts, rs)
		case p.isEllipsis():
			rs = openReaches(rs)
		case p.ellipsisName() != "":
			rs = m.bindStatements(p.ellipsisName(), ts, rs, i == len(ps)-1)
		default:
			rs = m.nextStatement(p, ts, rs, true)
		}
		if len(rs) == 0 || m.steps < 0 {
			return nil
		}
	}
	return endedReaches(rs, len(ts))
}

// ellipsisEndings makes a match of every statement at which a last ellipsis can end. Below
// pattern-inside only the longest one is made, as it covers the others.
func (m *matcher) ellipsisEndings(ts []int32, rs []reach) []reach {
	var out []reach
	for _, r := range rs {
		at := r.at
		if m.inside && len(ts) > at {
			at = len(ts)
		}
		for ; at <= len(ts) && m.steps >= 0; at++ {
			m.steps--
			last := r.last
			if at > 0 && at > r.at || m.inside && at > 0 {
				last = ts[at-1]
			}
			out = append(out, reach{at, r.env, last, false, true})
			if len(out) > maxEnvs {
				return append(out, reach{len(ts), r.env, lastOf(ts), false, true})
			}
		}
	}
	return out
}

// openReaches opens the places; of those with one environment the first is enough. See
// openPositions.
func openReaches(rs []reach) []reach {
	var out []reach
next:
	for _, r := range rs {
		for i := range out {
			if out[i].env == r.env {
				if r.at < out[i].at {
					out[i].at, out[i].last = r.at, r.last
				}
				continue next
			}
		}
		r.open = true
		out = append(out, r)
	}
	return out
}

// nextStatement matches one statement of the pattern at every place. Behind an ellipsis every
// later statement is tried.
func (m *matcher) nextStatement(p *node, ts []int32, rs []reach, less bool) []reach {
	var out []reach
	for _, r := range rs {
		for at := r.at; at < len(ts) && m.steps >= 0; at++ {
			for _, e := range m.matchNode(p, ts[at], r.env) {
				out = append(out, reach{at + 1, e, ts[at], false, r.less || less})
			}
			if !r.open {
				break
			}
		}
	}
	if len(out) > maxEnvs {
		m.steps = -1
		return nil
	}
	return out
}

// bindStatements binds a "$...X" to statements. Nothing may follow one at the end. Every length is
// tried, within the budget.
func (m *matcher) bindStatements(name string, ts []int32, rs []reach, last bool) []reach {
	var out []reach
	for _, r := range rs {
		for at := r.at; at <= len(ts) && m.steps >= 0; at++ {
			for end := at; end <= len(ts); end++ {
				m.steps--
				if last && end < len(ts) {
					continue
				}
				for _, e := range m.bindList(name, ts[at:end], r.env) {
					reached := r.last
					if end > at {
						reached = ts[end-1]
					}
					out = append(out, reach{end, e, reached, false, false})
				}
			}
			if !r.open {
				break
			}
		}
	}
	return out
}

// uniqueReaches drops equal matches that follow another. The plain and the flattened list share
// many matches.
func uniqueReaches(rs []reach) []reach {
	type key struct {
		env  *env
		last int32
	}
	seen := map[key]bool{}
	out := rs[:0]
	for _, r := range rs {
		if k := (key{r.env, r.last}); !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// matchBlock matches a body: a block with a block, and a block of one statement with the
// statement alone.
func (m *matcher) matchBlock(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch {
	case p.isEllipsis() || p.kind == tree.Metavariable:
		return m.matchNode(p, t, e)
	case p.kind == tree.Block:
		return m.matchBlockPattern(p, t, e)
	case n.Kind == tree.Block && n.Next > t+1 && f.Nodes[t+1].Next == n.Next:
		if p.kind.Expression() && f.Is(t+1, tree.Return) {
			return m.matchInner(p, f.Child(t+1, tree.RoleValue), e)
		}
		return m.matchNode(p, t+1, e)
	}
	return m.matchNode(p, t, e)
}

// matchBlockPattern matches a pattern that is a block with a body. Patterns of languages with
// braces have a block where the source may have a single statement.
func (m *matcher) matchBlockPattern(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch {
	case n.Kind == tree.Block && p.bodyMetavariable() != "" && n.Next > t+1:
		if f.Nodes[t+1].Next == n.Next {
			t++
		}
		return m.bindNode(p.bodyMetavariable(), t, e)
	case n.Kind == tree.Block:
		if n.Parent >= 0 && f.Nodes[n.Parent].Kind == tree.Class {
			return m.matchMembers(p, t, e)
		}
		return m.matchSlots(p, t, e)
	case n.Kind.Expression():
		return m.matchExpressionBody(p, t, e)
	case len(p.kids) == 1:
		return m.matchNode(p.kids[0], t, e)
	case len(p.kids) > 1:
		return m.reachEnvs(m.matchStatements(p.kids, []int32{t}, e, false))
	}
	return m.matchNode(p, t, e)
}

// bodyMetavariable returns the metavariable that is all of a block without braces: it
// stands for the whole body; "" for other blocks.
func (n *node) bodyMetavariable() string {
	if n.bare && len(n.kids) == 1 {
		return loneMetavariable(n.kids[0])
	}
	return ""
}

// loneMetavariable returns the metavariable that a statement is, "" for none. It is then bound to
// the statement as it stands.
func loneMetavariable(p *node) string {
	if p.kind == tree.ExpressionStatement {
		p = p.kids[0]
	}
	if p.kind == tree.Metavariable {
		return p.meta
	}
	return ""
}

// matchExpressionBody matches a block with the expression that is the whole body of a
// function: it is what "return" of it would be.
func (m *matcher) matchExpressionBody(p *node, t int32, e *env) []*env {
	var rest []*node
	for _, k := range p.kids {
		if !k.isEllipsis() {
			rest = append(rest, k)
		}
	}
	switch {
	case len(rest) == 0:
		if len(p.kids) == 0 {
			return nil
		}
		return e.asResult()
	case len(rest) > 1:
		return nil
	case rest[0].kind == tree.Return && len(rest[0].kids) == 1:
		return m.matchInner(rest[0].kids[0], t, e)
	case rest[0].kind == tree.ExpressionStatement:
		return m.matchDeep(rest[0].kids[0], t, e)
	}
	return nil
}

// matchMembers matches the body of a class: its members in any order. The order of members does
// not matter in any language.
func (m *matcher) matchMembers(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	start := len(m.stack)
	for c := range f.Children(t) {
		m.stack = append(m.stack, c)
	}
	out := m.matchSubset(p.kids, m.stack[start:len(m.stack):len(m.stack)], e, m.options.ImplicitEllipsis)
	m.stack = m.stack[:start]
	return out
}

// matchStatement matches a statement. Only returns, loops and declarations match something of
// another kind.
func (m *matcher) matchStatement(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch p.kind {
	case tree.ExpressionStatement:
		return m.matchExpressionStatement(p.kids[0], t, e)
	case tree.Block:
		if n.Kind == tree.Block {
			return m.matchBlock(p, t, e)
		}
		return nil
	case tree.Return:
		if value := m.returnedValue(p, t); value >= 0 {
			return m.matchInner(p.kids[0], value, e)
		}
	case tree.For:
		if (n.Kind == tree.For || n.Kind == tree.ForEach) && p.isHeadless() {
			return m.matchBodies(p.childrenWith(tree.RoleBody), []int32{f.Child(t, tree.RoleBody)}, e)
		}
	case tree.Class, tree.Function, tree.Variable, tree.Field, tree.TypeAlias:
		return m.matchDeclaration(p, t, e)
	}
	if p.kind != n.Kind || !sameText(p, n) {
		return nil
	}
	return m.matchSlots(p, t, e)
}

// returnedValue returns the expression that a function returns by ending with it; None
// when the node is no such one, or the pattern returns nothing.
func (m *matcher) returnedValue(p *node, t int32) int32 {
	n := &m.file.Tree.Nodes[t]
	if len(p.kids) != 1 || n.Kind != tree.ExpressionStatement && !n.Kind.Expression() || !m.implicitReturn(t) {
		return tree.None
	}
	if n.Kind == tree.ExpressionStatement {
		return m.file.Tree.Child(t, tree.RoleValue)
	}
	return t
}

// isHeadless reports whether the head of a loop is only an ellipsis. "for (...) { }" is any loop.
// Then the clauses of the head need not agree in number: the languages differ in what a loop has.
func (n *node) isHeadless() bool {
	seen := false
	for _, k := range n.kids {
		if k.role == tree.RoleBody {
			continue
		}
		if !k.isEllipsis() {
			return false
		}
		seen = true
	}
	return seen
}

// matchExpressionStatement matches a statement that is an expression. A metavariable is bound to
// the statement with its semicolon, or to the expression.
func (m *matcher) matchExpressionStatement(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	switch p.kind {
	case tree.Ellipsis:
		return e.asResult()
	case tree.Metavariable:
		out := m.bindValue(p.meta, m.exactBinding(t), e)
		if f.Nodes[t].Kind == tree.ExpressionStatement && strings.HasSuffix(f.Code(t), ";") {
			out = m.joinResults(out, m.bindNode(p.meta, t, e))
		}
		return out
	case tree.Deep:
		return m.matchDeepStatement(p.kids[0], t, e)
	}
	return m.matchInStatement(p, t, e)
}

// matchInStatement matches an expression with the one that a statement is, returns or
// assigns.
func (m *matcher) matchInStatement(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	value := f.Child(t, tree.RoleValue)
	switch n.Kind {
	case tree.ExpressionStatement:
		if !m.options.ImplicitDeepExprStmt {
			return m.matchNode(p, value, e)
		}
		return m.matchShallow(p, value, e)
	case tree.Return:
		if value >= 0 {
			return m.matchDeep(p, value, e)
		}
	case tree.Variable, tree.Field:
		if value < 0 || !m.options.VardefAssign {
			return nil
		}
		out := m.matchAssign(p, t, e)
		return m.joinResults(out, m.matchDeep(p, value, e))
	case tree.Function:
		if p.kind == tree.Assign && m.options.FlddefAssign {
			return m.matchAssign(p, t, e)
		}
	case tree.Defer, tree.Spawn:
		return nil
	}
	if n.Kind.Expression() { // a body that is an expression
		return m.matchShallow(p, t, e)
	}
	return nil
}

// matchShallow matches the expression, or one inside of it whose value the statement only keeps,
// passes or waits for. "x = await foo()" holds the statement "foo()" of a pattern; arguments
// count, conditions do not.
func (m *matcher) matchShallow(p *node, t int32, e *env) []*env {
	out := m.matchNode(p, t, e)
	f := m.file.Tree
	if m.steps < 0 || t < 0 {
		return out
	}
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Assign, tree.Cast, tree.Await, tree.Yield:
		if v := f.Child(t, tree.RoleValue); v >= 0 {
			out = m.joinResults(out, m.matchShallow(p, v, e))
		}
	case tree.Member:
		out = m.joinResults(out, m.matchShallow(p, f.Child(t, tree.RoleObject), e))
	case tree.Call, tree.List, tree.Tuple, tree.Set, tree.Map, tree.Sequence:
		for c := range f.Children(t) {
			if k := f.Nodes[c].Kind; k == tree.Keyword || k == tree.Pair {
				c = f.Child(c, tree.RoleValue)
			}
			out = m.joinResults(out, m.matchShallow(p, c, e))
		}
	}
	return out
}

// matchDeepStatement matches an expression anywhere in the expressions of a statement. Nested
// statements are not entered: they are tried by themselves.
func (m *matcher) matchDeepStatement(p *node, t int32, e *env) []*env {
	var out []*env
	f := m.file.Tree
	for c := range f.Children(t) {
		switch {
		case f.Nodes[c].Kind == tree.Block || f.Nodes[c].Kind.Statement() && f.Nodes[c].Role != tree.RoleInit:
			continue
		case m.file.isExpression(c):
			out = m.joinResults(out, m.matchDeep(p, c, e))
		default:
			out = m.joinResults(out, m.matchDeepChild(p, c, e))
		}
	}
	return out
}

// implicitReturn reports whether the statement is the last one of a function that
// returns its value, in a language that does so.
func (m *matcher) implicitReturn(t int32) bool {
	if !m.options.ImplicitReturn || !m.file.Language.Semantics.LastIsReturned {
		return false
	}
	f := m.file.Tree
	for i := t; ; {
		parent := f.Nodes[i].Parent
		if parent < 0 {
			return false
		}
		if k := f.Nodes[parent].Kind; k == tree.Function || k == tree.Lambda {
			return f.Nodes[i].Role == tree.RoleBody
		}
		if !isLastOf(f, i, parent) {
			return false
		}
		i = parent
	}
}

// isLastOf reports whether the value of a node is that of the construct around it. Both branches
// of an if are.
func isLastOf(f *tree.File, i, parent int32) bool {
	switch f.Nodes[parent].Kind {
	case tree.Block:
		return f.Nodes[i].Next == f.Nodes[parent].Next
	case tree.Try: // the last of its blocks that always runs
		last := f.Child(parent, tree.RoleFinally)
		if last >= 0 {
			return last == i
		}
		return f.Nodes[i].Role == tree.RoleBody
	case tree.If, tree.Case, tree.Switch, tree.ExpressionStatement, tree.Conditional:
		return true
	}
	return false
}

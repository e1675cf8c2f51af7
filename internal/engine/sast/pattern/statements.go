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

// A reach is a match of statements: the bindings and the last statement.
type reach struct {
	at   int
	env  *env
	last int32 // tree.None: none was matched
	open bool
	less bool // the source may have more
}

// ranges drops how far the matches reach.
func (m *matcher) ranges(rs []reach) []*env {
	var out []*env
	for _, r := range rs {
		if len(out) > 0 && out[len(out)-1] == r.env {
			continue
		}
		out = m.both(out, r.env.only())
	}
	return out
}

// statements matches statements with those of a list, from its start. less says that
// the list may have more; after an ellipsis it always may.
func (m *matcher) statements(ps []*node, ts []int32, e *env, less bool) []reach {
	if len(ps) == 1 && ps[0].isEllipsis() && !less {
		return []reach{{len(ts), e, lastOf(ts), false, true}}
	}
	rs := []reach{{0, e, tree.None, false, less}}
	for i, p := range ps {
		if p.isEllipsis() || p.many() != "" {
			return m.afterEllipsis(ps[i:], ts, rs)
		}
		rs = m.next(p, ts, rs, false)
		if len(rs) == 0 || m.steps < 0 {
			return nil
		}
	}
	return ended(rs, len(ts))
}

// ended keeps the matches that may end where they do.
func ended(rs []reach, n int) []reach {
	out := rs[:0:0]
	for _, r := range rs {
		if r.less || r.at == n {
			out = append(out, r)
		}
	}
	return out
}

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
		out = append(out, m.flat(ps, rest, r)...)
		if len(rest) == 0 || !m.options.DeeperStmt || ps[0].many() != "" {
			continue
		}
		if flat := m.file.flatten(rest[0], rest[len(rest)-1]); len(flat) > len(rest) {
			out = append(out, m.flat(ps, flat, r)...)
		}
		if m.steps < 0 {
			return nil
		}
	}
	return unique(out)
}

func orLast(last, otherwise int32) int32 {
	if last < 0 {
		return otherwise
	}
	return last
}

// flat matches the rest of a pattern in a list that grows no more.
func (m *matcher) flat(ps []*node, ts []int32, from reach) []reach {
	rs := []reach{{0, from.env, from.last, false, true}}
	for i, p := range ps {
		switch {
		case p.isEllipsis() && i == len(ps)-1:
			rs = m.endings(ts, rs)
		case p.isEllipsis():
			rs = openReaches(rs)
		case p.many() != "":
			rs = m.bindStatements(p.many(), ts, rs, i == len(ps)-1)
		default:
			rs = m.next(p, ts, rs, true)
		}
		if len(rs) == 0 || m.steps < 0 {
			return nil
		}
	}
	return ended(rs, len(ts))
}

// endings makes a match of every statement at which a last ellipsis can end.
func (m *matcher) endings(ts []int32, rs []reach) []reach {
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

// openReaches opens the places; of those with one environment the first is enough.
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

// next matches one statement of the pattern at every place.
func (m *matcher) next(p *node, ts []int32, rs []reach, less bool) []reach {
	var out []reach
	for _, r := range rs {
		for at := r.at; at < len(ts) && m.steps >= 0; at++ {
			for _, e := range m.node(p, ts[at], r.env) {
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

// bindStatements binds a "$...X" to statements. Nothing may follow one at the end.
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

// unique drops equal matches that follow another.
func unique(rs []reach) []reach {
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

// block matches a body: a block with a block, and a block of one statement with the
// statement alone.
func (m *matcher) block(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch {
	case p.isEllipsis() || p.kind == tree.Metavariable:
		return m.node(p, t, e)
	case p.kind == tree.Block && p.bare && len(p.kids) == 1 && lone(p.kids[0]) != "" && n.Kind == tree.Block && n.Next > t+1:

		if f.Nodes[t+1].Next == n.Next {
			t++
		}
		return m.bindNode(lone(p.kids[0]), t, e)
	case p.kind == tree.Block && n.Kind == tree.Block:
		if n.Parent >= 0 && f.Nodes[n.Parent].Kind == tree.Class {
			return m.members(p, t, e)
		}
		return m.same(p, t, e)
	case p.kind == tree.Block && n.Kind.Expression():
		return m.expressionBody(p, t, e)
	case p.kind == tree.Block && len(p.kids) == 1:
		return m.node(p.kids[0], t, e)
	case p.kind == tree.Block && len(p.kids) > 1:
		return m.ranges(m.statements(p.kids, []int32{t}, e, false))
	case n.Kind == tree.Block && n.Next > t+1 && f.Nodes[t+1].Next == n.Next:
		if p.kind.Expression() && f.Is(t+1, tree.Return) {
			return m.inner(p, f.Child(t+1, tree.RoleValue), e)
		}
		return m.node(p, t+1, e)
	}
	return m.node(p, t, e)
}

// lone returns the metavariable that a statement is, "" for none.
func lone(p *node) string {
	if p.kind == tree.ExpressionStatement {
		p = p.kids[0]
	}
	if p.kind == tree.Metavariable {
		return p.meta
	}
	return ""
}

// expressionBody matches a block with the expression that is the whole body of a
// function: it is what "return" of it would be.
func (m *matcher) expressionBody(p *node, t int32, e *env) []*env {
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
		return e.only()
	case len(rest) > 1:
		return nil
	case rest[0].kind == tree.Return && len(rest[0].kids) == 1:
		return m.inner(rest[0].kids[0], t, e)
	case rest[0].kind == tree.ExpressionStatement:
		return m.deep(rest[0].kids[0], t, e)
	}
	return nil
}

// members matches the body of a class: its members in any order.
func (m *matcher) members(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	start := len(m.stack)
	for c := range f.Children(t) {
		m.stack = append(m.stack, c)
	}
	out := m.subset(p.kids, m.stack[start:len(m.stack):len(m.stack)], e, m.options.ImplicitEllipsis)
	m.stack = m.stack[:start]
	return out
}

// statement matches a statement.
func (m *matcher) statement(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch p.kind {
	case tree.ExpressionStatement:
		return m.expressionStatement(p.kids[0], t, e)
	case tree.Block:
		if n.Kind == tree.Block {
			return m.block(p, t, e)
		}
		return nil
	case tree.Return:
		switch {
		case len(p.kids) != 1 || n.Kind != tree.ExpressionStatement && !n.Kind.Expression() || !m.implicitReturn(t):
		case n.Kind == tree.ExpressionStatement:
			return m.inner(p.kids[0], f.Child(t, tree.RoleValue), e)
		default:
			return m.inner(p.kids[0], t, e)
		}
	case tree.For:
		if (n.Kind == tree.For || n.Kind == tree.ForEach) && p.headless() {
			return m.bodies(p.all(tree.RoleBody), []int32{f.Child(t, tree.RoleBody)}, e)
		}
	case tree.Class, tree.Function, tree.Variable, tree.Field, tree.TypeAlias:
		return m.declarations(p, t, e)
	}
	if p.kind != n.Kind || !sameText(p, n) {
		return nil
	}
	return m.same(p, t, e)
}

// headless reports whether the head of a loop is only an ellipsis.
func (n *node) headless() bool {
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

// expressionStatement matches a statement that is an expression.
func (m *matcher) expressionStatement(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch {
	case p.kind == tree.Ellipsis:
		return e.only()
	case p.kind == tree.Metavariable:
		out := m.bind(p.meta, m.exactBinding(t), e)
		if n.Kind == tree.ExpressionStatement && strings.HasSuffix(f.Code(t), ";") {
			out = m.both(out, m.bindNode(p.meta, t, e))
		}
		return out
	case p.kind == tree.Deep:
		return m.deepStatement(p.kids[0], t, e)
	}
	switch n.Kind {
	case tree.ExpressionStatement:
		value := f.Child(t, tree.RoleValue)
		if !m.options.ImplicitDeepExprStmt {
			return m.node(p, value, e)
		}
		return m.shallow(p, value, e)
	case tree.Return:
		if value := f.Child(t, tree.RoleValue); value >= 0 {
			return m.deep(p, value, e)
		}
	case tree.Variable, tree.Field:
		value := f.Child(t, tree.RoleValue)
		if value < 0 || !m.options.VardefAssign {
			return nil
		}
		out := m.assign(p, t, e)
		return m.both(out, m.deep(p, value, e))
	case tree.Function:
		if p.kind == tree.Assign && m.options.FlddefAssign {
			return m.assign(p, t, e)
		}
	case tree.Defer, tree.Spawn:
		return nil
	}
	if n.Kind.Expression() { // a body that is an expression
		return m.shallow(p, t, e)
	}
	return nil
}

// shallow matches the expression, or one inside of it whose value the statement only
// keeps, passes or waits for.
func (m *matcher) shallow(p *node, t int32, e *env) []*env {
	out := m.node(p, t, e)
	f := m.file.Tree
	if m.steps < 0 || t < 0 {
		return out
	}
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Assign, tree.Cast, tree.Await, tree.Yield:
		if v := f.Child(t, tree.RoleValue); v >= 0 {
			out = m.both(out, m.shallow(p, v, e))
		}
	case tree.Member:
		out = m.both(out, m.shallow(p, f.Child(t, tree.RoleObject), e))
	case tree.Call, tree.List, tree.Tuple, tree.Set, tree.Map, tree.Sequence:
		for c := range f.Children(t) {
			if k := f.Nodes[c].Kind; k == tree.Keyword || k == tree.Pair {
				c = f.Child(c, tree.RoleValue)
			}
			out = m.both(out, m.shallow(p, c, e))
		}
	}
	return out
}

// deepStatement matches an expression anywhere in the expressions of a statement.
func (m *matcher) deepStatement(p *node, t int32, e *env) []*env {
	var out []*env
	f := m.file.Tree
	for c := range f.Children(t) {
		switch {
		case f.Nodes[c].Kind == tree.Block || f.Nodes[c].Kind.Statement() && f.Nodes[c].Role != tree.RoleInit:
			continue
		case m.file.isExpression(c):
			out = m.both(out, m.deep(p, c, e))
		default:
			out = m.both(out, m.deepChild(p, c, e))
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
		switch f.Nodes[parent].Kind {
		case tree.Function, tree.Lambda:
			return f.Nodes[i].Role == tree.RoleBody
		case tree.Block:
			if f.Nodes[i].Next != f.Nodes[parent].Next {
				return false
			}
		case tree.Try: // the last of its blocks that always runs
			if last := f.Child(parent, tree.RoleFinally); last >= 0 && last != i ||
				last < 0 && f.Nodes[i].Role != tree.RoleBody {
				return false
			}
		case tree.If, tree.Case, tree.Switch, tree.ExpressionStatement, tree.Conditional:
		default:
			return false
		}
		i = parent
	}
}

package pattern

import "merlon/internal/engine/sast/tree"

// This file matches operators. Some are associative, so that "a && b" is in
// "x && a && b"; of those some are commutative too, or are taken to be when the rule
// says so.

func associative(op string) bool {
	switch op {
	case "&&", "||", "and", "or", "|", "&", "^", "++", ".", "..":
		return true
	}
	return false
}

// commutative reports whether the rule lets the operands of the operator change
// places.
func (m *matcher) commutative(op string) bool {
	switch op {
	case "|", "&", "^":
		return !m.file.Language.Semantics.Pipes
	case "&&", "||", "and", "or":
		return m.options.CommutativeBoolOp
	case "==", "!=", "===", "!==":
		return m.options.SymmetricEq
	}
	return false
}

// operator matches a Binary or Unary.
func (m *matcher) operator(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != n.Kind || p.text != n.Text {
		if p.kind == tree.Unary && p.text == "-" && n.Kind == tree.Number && len(n.Text) > 0 && n.Text[0] == '-' {
			return m.value(p.kids[0], tree.Number, n.Text[1:], t, e)
		}
		return nil
	}
	if p.kind == tree.Unary {
		return m.children(p, t, e)
	}
	left, right := p.child(tree.RoleLeft), p.child(tree.RoleRight)
	tl, tr := f.Child(t, tree.RoleLeft), f.Child(t, tree.RoleRight)
	if left == nil || right == nil || tl < 0 || tr < 0 {
		return nil
	}
	switch {
	case m.options.ACMatching && associative(p.text):
		ps, ts := operands(p, p.text, nil), m.operands(t, n.Text, nil)
		if len(ts) > 200 {
			return nil
		}
		if m.commutative(p.text) {
			return m.anyOrder(ps, ts, e)
		}
		return m.inOrder(ps, ts, e)
	case right.kind == tree.Ellipsis:
		if out := m.inner(left, tl, e); len(out) > 0 {
			return out
		}
		return m.node(p, tl, e)
	}
	out := m.then(m.inner(left, tl, e), func(e *env) []*env { return m.inner(right, tr, e) })
	if m.options.ACMatching && m.commutative(p.text) {
		out = m.both(out, m.then(m.inner(left, tr, e), func(e *env) []*env { return m.inner(right, tl, e) }))
	}
	return out
}

// operands lists the operands of nested uses of one operator.
func operands(p *node, op string, out []*node) []*node {
	if p.kind == tree.Binary && p.text == op {
		return operands(p.child(tree.RoleRight), op, operands(p.child(tree.RoleLeft), op, out))
	}
	return append(out, p)
}

func (m *matcher) operands(t int32, op string, out []int32) []int32 {
	f := m.file.Tree
	if f.Is(t, tree.Binary) && f.Nodes[t].Text == op {
		return m.operands(f.Child(t, tree.RoleRight), op, m.operands(f.Child(t, tree.RoleLeft), op, out))
	}
	return append(out, t)
}

// inOrder matches operands in order. A metavariable may stand for several of them.
func (m *matcher) inOrder(ps []*node, ts []int32, e *env) []*env {
	switch {
	case len(ps) == 0 && len(ts) == 0:
		return e.only()
	case len(ps) == 0 || m.step():
		return nil
	}
	p := ps[0]
	switch {
	case p.kind == tree.Ellipsis:
		var out []*env
		for i := 0; i <= len(ts); i++ {
			out = m.both(out, m.inOrder(ps[1:], ts[i:], e))
		}
		return distinct(out)
	case p.kind == tree.Metavariable:
		var out []*env
		for i := 1; i <= len(ts); i++ {
			es := m.bindOperands(p.meta, ts[:i], e)
			out = m.both(out, m.then(es, func(e *env) []*env { return m.inOrder(ps[1:], ts[i:], e) }))
		}
		return out
	case len(ts) == 0:
		return nil
	}
	return m.then(m.inner(p, ts[0], e), func(e *env) []*env { return m.inOrder(ps[1:], ts[1:], e) })
}

// bindOperands binds a metavariable to one or several operands that follow another.
func (m *matcher) bindOperands(name string, ts []int32, e *env) []*env {
	if len(ts) == 1 {
		return m.bindNode(name, ts[0], e)
	}
	f := m.file.Tree
	b := Binding{Node: ts[0], Last: ts[0], Start: f.Nodes[ts[0]].Start, End: f.Nodes[ts[len(ts)-1]].End,
		declaration: tree.None}
	// The node that holds just these operands, if there is one.
	for i := f.Nodes[ts[0]].Parent; i >= 0 && f.Nodes[i].Kind == tree.Binary; i = f.Nodes[i].Parent {
		if f.Nodes[i].Start == b.Start && f.Nodes[i].End == b.End {
			return m.bindNode(name, i, e)
		}
	}
	b.Node, b.Last = tree.None, tree.None
	b.Text = f.Source[b.Start:b.End]
	return m.bind(name, b, e)
}

// anyOrder matches operands in any order; the source may have more. Metavariables and
// ellipses take what the others leave.
func (m *matcher) anyOrder(ps []*node, ts []int32, e *env) []*env {
	var fixed, free []*node
	for _, p := range ps {
		switch p.kind {
		case tree.Ellipsis:
		case tree.Metavariable:
			free = append(free, p)
		default:
			fixed = append(fixed, p)
		}
	}
	return distinct(m.choose(append(fixed, free...), ts, make([]bool, len(ts)), e, true))
}

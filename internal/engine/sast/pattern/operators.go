package pattern

import "merlon/internal/engine/sast/tree"

// This file matches operators. Some are associative, so that "a && b" is in
// "x && a && b"; of those some are commutative too, or are taken to be when the rule
// says so.

// maxOperands bounds the operands of one chain: matching them in any order is quadratic.
const maxOperands = 200

// isAssociative reports whether nested uses of the operator are compared as one list.
func isAssociative(op string) bool {
	switch op {
	case "&&", "||", "and", "or", "|", "&", "^", "++", ".", "..":
		return true
	}
	return false
}

// isCommutative reports whether the rule lets the operands of the operator change places. In
// languages with pipes "|" passes data on.
func (m *matcher) isCommutative(op string) bool {
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

// matchOperator matches a Binary or Unary. A negative number is a literal in some grammars and an
// operator in others.
func (m *matcher) matchOperator(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if p.kind != n.Kind || p.text != n.Text {
		if p.kind == tree.Unary && p.text == "-" && n.Kind == tree.Number && len(n.Text) > 0 && n.Text[0] == '-' {
			return m.matchValue(p.kids[0], tree.Number, n.Text[1:], t, e)
		}
		return nil
	}
	if p.kind == tree.Unary {
		return m.matchChildren(p, t, e)
	}
	return m.matchBinary(p, t, e)
}

// matchBinary matches two uses of one operator. Associative ones are compared as lists of
// their operands.
func (m *matcher) matchBinary(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	left, right := p.child(tree.RoleLeft), p.child(tree.RoleRight)
	tl, tr := f.Child(t, tree.RoleLeft), f.Child(t, tree.RoleRight)
	if left == nil || right == nil || tl < 0 || tr < 0 {
		return nil
	}
	switch {
	case m.options.ACMatching && isAssociative(p.text):
		ps, ts := patternOperands(p, p.text, nil), m.sourceOperands(t, p.text, nil)
		if len(ts) > maxOperands {
			return nil
		}
		if m.isCommutative(p.text) {
			return m.matchAnyOrder(ps, ts, e)
		}
		return m.matchInOrder(ps, ts, e)
	case right.kind == tree.Ellipsis:
		if out := m.matchInner(left, tl, e); len(out) > 0 {
			return out
		}
		return m.matchNode(p, tl, e)
	}
	out := m.andThen(m.matchInner(left, tl, e), func(e *env) []*env { return m.matchInner(right, tr, e) })
	if m.options.ACMatching && m.isCommutative(p.text) {
		swapped := m.andThen(m.matchInner(left, tr, e), func(e *env) []*env { return m.matchInner(right, tl, e) })
		out = m.joinResults(out, swapped)
	}
	return out
}

// patternOperands lists the operands of nested uses of one operator in a pattern. "a && b && c"
// nests to the left, but patterns may put parentheses anywhere.
func patternOperands(p *node, op string, out []*node) []*node {
	if p.kind == tree.Binary && p.text == op {
		return patternOperands(p.child(tree.RoleRight), op, patternOperands(p.child(tree.RoleLeft), op, out))
	}
	return append(out, p)
}

// sourceOperands lists the operands of nested uses of one operator in the source. Comments and
// parentheses are not in the tree, so the list is just what an author would see between the
// operators.
func (m *matcher) sourceOperands(t int32, op string, out []int32) []int32 {
	f := m.file.Tree
	if f.Is(t, tree.Binary) && f.Nodes[t].Text == op {
		return m.sourceOperands(f.Child(t, tree.RoleRight), op, m.sourceOperands(f.Child(t, tree.RoleLeft), op, out))
	}
	return append(out, t)
}

// matchInOrder matches operands in order. A metavariable may stand for several of them. In "a +
// $X" the metavariable is the rest of the sum.
func (m *matcher) matchInOrder(ps []*node, ts []int32, e *env) []*env {
	switch {
	case len(ps) == 0 && len(ts) == 0:
		return e.asResult()
	case len(ps) == 0 || m.countStep():
		return nil
	}
	p := ps[0]
	switch {
	case p.kind == tree.Ellipsis:
		var out []*env
		for i := 0; i <= len(ts); i++ {
			out = m.joinResults(out, m.matchInOrder(ps[1:], ts[i:], e))
		}
		return distinctEnvs(out)
	case p.kind == tree.Metavariable:
		var out []*env
		for i := 1; i <= len(ts); i++ {
			es := m.bindOperands(p.meta, ts[:i], e)
			out = m.joinResults(out, m.andThen(es, func(e *env) []*env { return m.matchInOrder(ps[1:], ts[i:], e) }))
		}
		return out
	case len(ts) == 0:
		return nil
	}
	return m.andThen(m.matchInner(p, ts[0], e), func(e *env) []*env { return m.matchInOrder(ps[1:], ts[1:], e) })
}

// bindOperands binds a metavariable to one or several operands that follow another. No node of the
// tree need hold just them; then the text is bound.
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
	return m.bindValue(name, b, e)
}

// matchAnyOrder matches operands in any order; the source may have more. Metavariables and
// ellipses take what the others leave.
func (m *matcher) matchAnyOrder(ps []*node, ts []int32, e *env) []*env {
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
	return distinctEnvs(m.chooseAny(append(fixed, free...), ts, make([]bool, len(ts)), e, true))
}

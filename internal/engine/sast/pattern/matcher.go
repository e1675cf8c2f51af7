package pattern

import (
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// budget is the number of steps that one pattern may take on one file: some tens of
// milliseconds. A step is a node compared with a node.
const budget = 4_000_000

// maxEnvs bounds the ways in which one pattern may match at one place.
const maxEnvs = 2000

// A matcher matches one pattern on one file.
type matcher struct {
	file    *File
	options *rule.Options
	steps   int
	inside  bool
	stack   []int32 // children of the nodes that are being matched
	derefs  int     // how many variables the match looked through
}

// step counts one comparison and reports whether the budget is spent.
func (m *matcher) step() bool {
	m.steps--
	if m.steps%clockSteps == 0 && m.file.clock.over(clockSteps) {
		m.steps = -1
	}
	return m.steps < 0
}

// then goes on with every environment.
func (m *matcher) then(es []*env, next func(*env) []*env) []*env {
	if len(es) == 1 {
		return next(es[0])
	}
	var out []*env
	for _, e := range es {
		out = m.both(out, next(e))
		if m.steps < 0 {
			break
		}
	}
	return out
}

// both joins two results.
func (m *matcher) both(a, b []*env) []*env {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	case len(a) == 1 && len(b) == 1 && a[0] == b[0]:
		return a
	case len(a)+len(b) > maxEnvs:
		m.steps = -1
		return a
	}
	return append(a[:len(a):len(a)], b...)
}

// root matches a pattern's root. What stands for a value (a constant, an import) is
// looked through only below it, so that one finding is not also found at every use.
func (m *matcher) root(p *node, t int32, e *env) []*env { return m.node(p, t, e) }

// inner matches a node below the root.
func (m *matcher) inner(p *node, t int32, e *env) []*env {
	out := m.node(p, t, e)
	if p.kind == tree.Ellipsis {
		return out
	}
	f := m.file.Tree
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Cast:
		if p.kind != tree.Cast {
			out = m.both(m.inner(p, f.Child(t, tree.RoleValue), e), out)
		}
	case tree.Name, tree.Member:
		if m.options.SymbolicPropagation && m.options.ConstantPropagation && m.file.Scope != nil && m.derefs < 50 &&
			n.Role != tree.RoleTarget && m.file.isExpression(t) {
			if v := m.file.Scope.Definition(t); v >= 0 && v != t && !m.file.holdsCode(v) {
				m.derefs++
				out = m.both(out, m.inner(p, v, e))
				m.derefs--
			}
		}
	}
	return out
}

// holdsCode reports whether a value is a function, or an object with a body of its
// own: such values have names to be spoken of by.
func (f *File) holdsCode(v int32) bool {
	switch f.Tree.Nodes[v].Kind {
	case tree.Lambda, tree.Function, tree.Class:
		return true
	case tree.New:
		return f.Tree.Child(v, tree.RoleBody) >= 0
	}
	return false
}

// node matches a pattern's node with a node of the file.
func (m *matcher) node(p *node, t int32, e *env) []*env {
	if m.step() || t < 0 {
		return nil
	}
	n := &m.file.Tree.Nodes[t]
	if n.Kind == tree.Variable && n.Role == tree.RoleTarget && p.kind != tree.Variable {
		t = m.file.Tree.Child(t, tree.RoleTarget) // "for (x of y)" declares x or not
		n = &m.file.Tree.Nodes[t]
	}
	switch p.kind {
	case tree.Metavariable:
		switch n.Kind {
		case tree.Keyword, tree.Error:
			return nil
		case tree.Pair: // "{a}" is a name
			if v := m.file.Tree.Child(t, tree.RoleValue); v >= 0 && m.file.Tree.Nodes[v].Flags&tree.Implied != 0 {
				t = v
			}
		case tree.Variable: // "for (const x of xs)" declares the name
			if n.Role == tree.RoleTarget {
				t = m.file.Tree.Child(t, tree.RoleTarget)
			}
		}
		return m.bindNode(p.meta, t, e)
	case tree.Ellipsis:
		return e.only()
	case tree.MetaEllipsis:
		return m.bindList(p.meta, []int32{t}, e)
	case tree.Deep:
		return m.deep(p.kids[0], t, e)
	case tree.Typed:
		return m.typed(p, t, e)
	case tree.String, tree.Number, tree.Bool, tree.Null, tree.Character, tree.Regex, tree.Template:
		return m.literal(p, t, e)
	case tree.Name, tree.Member, tree.Type:
		return m.name(p, t, e)
	case tree.Binary, tree.Unary:
		return m.operator(p, t, e)
	case tree.Import:
		return m.imports(p, t, e)
	case tree.Annotation:
		return m.annotation(p, t, e)
	case tree.Element:
		return m.element(p, t, e)
	case tree.List, tree.Tuple, tree.Set, tree.Map:
		return m.container(p, t, e)
	}
	if p.kind.Statement() {
		return m.statement(p, t, e)
	}
	return m.construct(p, t, e)
}

// construct matches what needs no more than equal kinds, texts and children, and the
// few expressions that also match something else.
func (m *matcher) construct(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	switch p.kind {
	case tree.Assign:
		return m.assign(p, t, e)
	case tree.Call:
		if n.Role == tree.RoleValue && n.Parent >= 0 && m.file.Tree.Nodes[n.Parent].Kind == tree.Annotation &&
			n.Kind != tree.Call {
			return m.bareAnnotation(p, t, e)
		}
		if n.Kind == tree.Name && m.bareCall(t) {
			return m.bareAnnotation(p, t, e)
		}
	case tree.Lambda:
		if n.Kind == tree.Function && n.Role != tree.RoleStatement {
			return m.same(p, t, e)
		}
	case tree.Keyword:
		if n.Kind == tree.Pair {
			return m.pair(p, t, e)
		}
	case tree.Pair:
		if n.Kind == tree.Keyword || n.Kind == tree.Pair {
			return m.pair(p, t, e)
		}
	case tree.Parameter:
		return m.parameter(p, t, e)
	}
	if p.kind != n.Kind || !sameText(p, n) {
		return nil
	}
	return m.same(p, t, e)
}

// bareCall reports whether a name is a call without arguments, and not what a call
// with arguments calls.
func (m *matcher) bareCall(t int32) bool {
	return m.file.Tree.Nodes[t].Role != tree.RoleCallee && m.file.Language.Semantics.BareCalls && m.file.Scope != nil &&
		m.file.Scope.Declaration(t) < 0 && m.file.isExpression(t)
}

// texts that say nothing that a pattern means.
var textless = [256]bool{
	tree.Function: true, tree.Lambda: true, tree.Import: true, tree.Package: true, tree.Element: true,
	tree.ForEach: true,
	tree.Switch:  true, tree.Template: true, tree.Cast: true, tree.Export: true,
}

// sameText reports whether the texts of two nodes of one kind agree.
func sameText(p *node, n *tree.Node) bool { return p.text == n.Text || textless[p.kind] }

// same matches the children by the slots of the pattern's kind.
func (m *matcher) same(p *node, t int32, e *env) []*env {
	spec := slots[p.kind]
	if spec == nil {
		return m.children(p, t, e)
	}
	out := e.only()
	for i := range spec {
		out = m.then(out, func(e *env) []*env { return m.slot(p, i, t, e) })
		if len(out) == 0 {
			return nil
		}
	}
	return out
}

// children matches all children in order, each with its role.
func (m *matcher) children(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	start := len(m.stack)
	for c := range f.Children(t) {
		m.stack = append(m.stack, c)
	}
	kids := m.stack[start:len(m.stack):len(m.stack)]
	out := m.list(p.kids, kids, e, false)
	m.stack = m.stack[:start]
	return out
}

// slot matches the children of one slot. The roles are those of the pattern's kind,
// so that a kind can match another one that has the same roles.
func (m *matcher) slot(p *node, s int, t int32, e *env) []*env {
	how, ps := slots[p.kind][s].mode, p.slots[s]
	switch how {
	case less, subset, prefix, option, loose:
		if len(ps) == 0 {
			return e.only()
		}
	}
	f := m.file.Tree
	row := &slotOf[p.kind]
	start := len(m.stack)
	for c := t + 1; c < f.Nodes[t].Next; c = f.Nodes[c].Next {
		if row[f.Nodes[c].Role] == int8(s) {
			m.stack = append(m.stack, c)
		}
	}
	ts := m.stack[start:len(m.stack):len(m.stack)]
	if p.kind == tree.Catch && how == list && len(ps) == 1 && ps[0].kind == tree.Tuple {
		ps, ts = ps[0].kids, m.elements(ts) // "except (A, B)"
	}
	out := m.slotOf(how, ps, ts, e)
	m.stack = m.stack[:start]
	return out
}

// elements returns the elements of a lone tuple, otherwise the list itself.
func (m *matcher) elements(ts []int32) []int32 {
	if len(ts) != 1 || !m.file.Tree.Is(ts[0], tree.Tuple) {
		return ts
	}
	var out []int32
	for c := range m.file.Tree.All(ts[0], tree.RoleElement) {
		out = append(out, c)
	}
	return out
}

// slotOf matches the children of a slot with those of the pattern.
func (m *matcher) slotOf(how mode, ps []*node, ts []int32, e *env) []*env {
	switch how {
	case one, maybe, less:
		switch {
		case len(ps) == 1 && len(ts) == 1:
			return m.inner(ps[0], ts[0], e)
		case len(ps) == 1 && len(ts) == 0 && (how != one && ps[0].kind == tree.Ellipsis || how == less && ps[0].kind == tree.Metavariable && ps[0].role == tree.RoleTarget):

			return e.only()
		case len(ps) == 1 || len(ts) == 1 && len(ps) == 0:
			return nil
		}
		return m.list(ps, ts, e, false)
	case list, loose:
		return m.list(ps, ts, e, false)
	case prefix:
		if m.file.Language.Semantics.UnorderedBases {
			return m.subset(ps, ts, e, true)
		}
		return m.list(ps, ts, e, true)
	case subset:
		if m.options.DecoratorsOrderMatters && len(ps) > 1 {
			return m.ordered(ps, ts, e)
		}
		return m.subset(ps, ts, e, true)
	case args:
		return m.arguments(ps, ts, e)
	case stmts:
		return m.ranges(m.statements(ps, ts, e, false))
	default: // body, option, clause
		return m.bodies(ps, ts, e)
	}
}

// bodies matches the body of a construct.
func (m *matcher) bodies(ps []*node, ts []int32, e *env) []*env {
	switch {
	case len(ps) == 0 && len(ts) == 0:
		return e.only()
	case len(ps) == 1 && len(ts) == 1:
		return m.block(ps[0], ts[0], e)
	case len(ps) == 1 && len(ts) == 0:
		if p := ps[0]; p.kind == tree.Block && len(p.kids) == 0 || p.isEllipsis() {
			return e.only()
		}
	}
	return nil
}

// deep matches the expression or any expression inside of it.
func (m *matcher) deep(p *node, t int32, e *env) []*env {
	out := m.node(p, t, e)
	if !m.options.DeeperExpr {
		return out
	}
	f := m.file.Tree
	for c := range f.Children(t) {
		switch f.Nodes[c].Kind {
		case tree.Block, tree.Class:
			continue
		}
		if m.steps < 0 {
			break
		}
		out = m.both(out, m.deepChild(p, c, e))
	}
	if n := &f.Nodes[t]; (n.Kind == tree.Name || n.Kind == tree.Member) && m.options.SymbolicPropagation &&
		m.file.Scope != nil && m.derefs < 50 {
		if v := m.file.Scope.Definition(t); v >= 0 && v != t {
			m.derefs++
			out = m.both(out, m.deep(p, v, e))
			m.derefs--
		}
	}
	return out
}

// deepChild goes into a child, which counts itself only when it is an expression.
func (m *matcher) deepChild(p *node, t int32, e *env) []*env {
	if m.file.isExpression(t) {
		return m.deep(p, t, e)
	}
	var out []*env
	for c := range m.file.Tree.Children(t) {
		switch m.file.Tree.Nodes[c].Kind {
		case tree.Block, tree.Class:
			continue
		}
		out = m.both(out, m.deepChild(p, c, e))
	}
	return out
}

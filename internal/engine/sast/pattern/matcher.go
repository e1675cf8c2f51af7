package pattern

import (
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// This file matches a node of a pattern with one of the source. What differs by construct is in
// files of its own.

// budget is the number of steps that one pattern may take on one file: some tens of
// milliseconds. A step is a node compared with a node.
const budget = 4_000_000

// maxDerefs bounds how many variables one match looks through.
const maxDerefs = 50

// maxEnvs bounds the ways in which one pattern may match at one place.
const maxEnvs = 2000

// A matcher matches one pattern on one file. It keeps a stack of children instead of allocating a
// list at every node.
type matcher struct {
	file    *File
	options *rule.Options
	steps   int
	inside  bool
	stack   []int32 // children of the nodes that are being matched
	derefs  int     // how many variables the match looked through
}

// countStep counts one comparison and reports whether the budget is spent. The timeout of the rule
// is counted along, in larger units.
func (m *matcher) countStep() bool {
	m.steps--
	if m.steps%clockSteps == 0 && m.file.clock.spendSteps(clockSteps) {
		m.steps = -1
	}
	return m.steps < 0
}

// andThen goes on with every environment. It is the conjunction of two comparisons: each way in
// which the first is possible goes on to the second. With one way, the usual case, nothing is
// allocated.
func (m *matcher) andThen(es []*env, next func(*env) []*env) []*env {
	if len(es) == 1 {
		return next(es[0])
	}
	var out []*env
	for _, e := range es {
		out = m.joinResults(out, next(e))
		if m.steps < 0 {
			break
		}
	}
	return out
}

// joinResults joins two results. It is the disjunction of two comparisons. The number of ways is
// bounded; beyond it the pattern gives up.
func (m *matcher) joinResults(a, b []*env) []*env {
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

// matchRoot matches a pattern's root. What stands for a value (a constant, an import) is
// looked through only below it, so that one finding is not also found at every use.
func (m *matcher) matchRoot(p *node, t int32, e *env) []*env { return m.matchNode(p, t, e) }

// matchInner matches a node below the root: what stands for a value is looked through. Casts are
// looked through, and names that hold one expression when the rule asks for symbolic propagation.
// At the root that would report every use instead of the one place.
func (m *matcher) matchInner(p *node, t int32, e *env) []*env {
	out := m.matchNode(p, t, e)
	if p.kind == tree.Ellipsis {
		return out
	}
	switch n := &m.file.Tree.Nodes[t]; n.Kind {
	case tree.Cast:
		if p.kind != tree.Cast {
			out = m.joinResults(m.matchInner(p, m.file.Tree.Child(t, tree.RoleValue), e), out)
		}
	case tree.Name, tree.Member:
		if v := m.symbolicValue(t, n); v >= 0 {
			m.derefs++
			out = m.joinResults(out, m.matchInner(p, v, e))
			m.derefs--
		}
	}
	return out
}

// symbolicValue returns the expression that a name stands for, if the rule follows such
// names; None otherwise. The depth is bounded, as definitions may name each other.
func (m *matcher) symbolicValue(t int32, n *tree.Node) int32 {
	if m.options.SymbolicPropagation && m.options.ConstantPropagation && m.file.Scope != nil && m.derefs < maxDerefs &&
		n.Role != tree.RoleTarget && m.file.isExpression(t) {
		if v := m.file.Scope.Definition(t); v >= 0 && v != t && !m.file.holdsCode(v) {
			return v
		}
	}
	return tree.None
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

// matchNode matches a pattern's node with a node of the file. Frequent kinds come first. Each
// comparison counts as one step of the budget.
func (m *matcher) matchNode(p *node, t int32, e *env) []*env {
	if m.countStep() || t < 0 {
		return nil
	}
	n := &m.file.Tree.Nodes[t]
	if n.Kind == tree.Variable && n.Role == tree.RoleTarget && p.kind != tree.Variable {
		t = m.file.Tree.Child(t, tree.RoleTarget) // "for (x of y)" declares x or not
	}
	switch p.kind {
	case tree.Metavariable:
		return m.matchMetavariable(p, t, e)
	case tree.Ellipsis:
		return e.asResult()
	case tree.String, tree.Number, tree.Bool, tree.Null, tree.Character, tree.Regex, tree.Template:
		return m.matchLiteral(p, t, e)
	case tree.Name, tree.Member, tree.Type:
		return m.matchName(p, t, e)
	case tree.Binary, tree.Unary:
		return m.matchOperator(p, t, e)
	}
	return m.matchRareNode(p, t, e)
}

// matchRareNode matches a node of a kind that patterns seldom have. Statements and constructs have
// functions of their own.
func (m *matcher) matchRareNode(p *node, t int32, e *env) []*env {
	switch p.kind {
	case tree.MetaEllipsis:
		return m.bindList(p.meta, []int32{t}, e)
	case tree.Deep:
		return m.matchDeep(p.kids[0], t, e)
	case tree.Typed:
		return m.matchTyped(p, t, e)
	case tree.Import:
		return m.matchImport(p, t, e)
	case tree.Annotation:
		return m.matchAnnotation(p, t, e)
	case tree.Element:
		return m.matchElement(p, t, e)
	case tree.List, tree.Tuple, tree.Set, tree.Map:
		return m.matchContainer(p, t, e)
	}
	if p.kind.Statement() {
		return m.matchStatement(p, t, e)
	}
	return m.matchConstruct(p, t, e)
}

// matchMetavariable binds a metavariable to a node that stands for a value or a name. A named
// argument is no value, and an error node is no code.
func (m *matcher) matchMetavariable(p *node, t int32, e *env) []*env {
	switch n := &m.file.Tree.Nodes[t]; n.Kind {
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
}

// matchConstruct matches what needs no more than equal kinds, texts and children, and the
// few expressions that also match something else.
func (m *matcher) matchConstruct(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	switch p.kind {
	case tree.Assign:
		return m.matchAssign(p, t, e)
	case tree.Call:
		if m.isBareForm(t, n) {
			return m.matchBareAnnotation(p, t, e)
		}
	case tree.Lambda:
		if n.Kind == tree.Function && n.Role != tree.RoleStatement {
			return m.matchSlots(p, t, e)
		}
	case tree.Keyword:
		if n.Kind == tree.Pair {
			return m.matchPair(p, t, e)
		}
	case tree.Pair:
		if n.Kind == tree.Keyword || n.Kind == tree.Pair {
			return m.matchPair(p, t, e)
		}
	case tree.Parameter:
		return m.matchParameter(p, t, e)
	}
	if p.kind != n.Kind || !sameText(p, n) {
		return nil
	}
	return m.matchSlots(p, t, e)
}

// isBareForm reports whether a node is a call without its parentheses: an annotation
// without arguments, or a name in a language that calls by the name alone.
func (m *matcher) isBareForm(t int32, n *tree.Node) bool {
	return n.Kind != tree.Call && n.Role == tree.RoleValue && m.file.Tree.Is(n.Parent, tree.Annotation) ||
		n.Kind == tree.Name && m.bareCall(t)
}

// bareCall reports whether a name is a call without arguments, and not what a call with arguments
// calls. Ruby and Scala call methods without parentheses; a declared variable is no call.
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

// matchSlots matches the children by the slots of the pattern's kind. Slots say for each kind what
// must be equal, what may be left out and what has no order.
func (m *matcher) matchSlots(p *node, t int32, e *env) []*env {
	spec := slots[p.kind]
	if spec == nil {
		return m.matchChildren(p, t, e)
	}
	out := e.asResult()
	for i := range spec {
		out = m.andThen(out, func(e *env) []*env { return m.matchSlot(p, i, t, e) })
		if len(out) == 0 {
			return nil
		}
	}
	return out
}

// matchChildren matches all children in order, each with its role. It is used for kinds without
// slots.
func (m *matcher) matchChildren(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	start := len(m.stack)
	for c := range f.Children(t) {
		m.stack = append(m.stack, c)
	}
	kids := m.stack[start:len(m.stack):len(m.stack)]
	out := m.matchList(p.kids, kids, e, false)
	m.stack = m.stack[:start]
	return out
}

// matchSlot matches the children of one slot. The roles are those of the pattern's kind, so that a
// kind can match another one that has the same roles. A slot that the pattern leaves empty and may
// leave out is not even collected.
func (m *matcher) matchSlot(p *node, s int, t int32, e *env) []*env {
	how, ps := slots[p.kind][s].mode, p.slots[s]
	switch how {
	case less, subset, prefix, option, loose:
		if len(ps) == 0 {
			return e.asResult()
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
		ps, ts = ps[0].kids, m.tupleElements(ts) // "except (A, B)"
	}
	out := m.matchSlotMode(how, ps, ts, e)
	m.stack = m.stack[:start]
	return out
}

// tupleElements returns the elements of a lone tuple, otherwise the list itself. Python's "except
// (A, B)" lists the types in a tuple.
func (m *matcher) tupleElements(ts []int32) []int32 {
	if len(ts) != 1 || !m.file.Tree.Is(ts[0], tree.Tuple) {
		return ts
	}
	var out []int32
	for c := range m.file.Tree.All(ts[0], tree.RoleElement) {
		out = append(out, c)
	}
	return out
}

// matchSlotMode matches the children of a slot with those of the pattern. The modes are those of
// the table in slots.go.
func (m *matcher) matchSlotMode(how mode, ps []*node, ts []int32, e *env) []*env {
	switch how {
	case one, maybe, less:
		return m.matchSingle(how, ps, ts, e)
	case list, loose:
		return m.matchList(ps, ts, e, false)
	case prefix:
		if m.file.Language.Semantics.UnorderedBases {
			return m.matchSubset(ps, ts, e, true)
		}
		return m.matchList(ps, ts, e, true)
	case subset:
		if m.options.DecoratorsOrderMatters && len(ps) > 1 {
			return m.matchOrdered(ps, ts, e)
		}
		return m.matchSubset(ps, ts, e, true)
	case args:
		return m.matchArguments(ps, ts, e)
	case stmts:
		return m.reachEnvs(m.matchStatements(ps, ts, e, false))
	default: // body, option, clause
		return m.matchBodies(ps, ts, e)
	}
}

// matchSingle matches a slot that has one child or none. An ellipsis may stand for its absence,
// such as that of a return value.
func (m *matcher) matchSingle(how mode, ps []*node, ts []int32, e *env) []*env {
	switch {
	case len(ps) == 1 && len(ts) == 1:
		return m.matchInner(ps[0], ts[0], e)
	case len(ps) == 1 && len(ts) == 0 && ps[0].mayBeNothing(how):
		return e.asResult()
	case len(ps) == 1 || len(ts) == 1 && len(ps) == 0:
		return nil
	}
	return m.matchList(ps, ts, e, false)
}

// mayBeNothing reports whether the only child of a slot matches its absence.
func (n *node) mayBeNothing(how mode) bool {
	return how != one && n.kind == tree.Ellipsis ||
		how == less && n.kind == tree.Metavariable && n.role == tree.RoleTarget
}

// matchBodies matches the body of a construct. A missing body equals an empty one. Ellipses equal
// nothing at all, too. A body that is there but stands for nothing is left to the comparison of
// blocks.
func (m *matcher) matchBodies(ps []*node, ts []int32, e *env) []*env {
	switch {
	case len(ps) == 0 && len(ts) == 0:
		return e.asResult()
	case len(ps) == 1 && len(ts) == 1:
		return m.matchBlock(ps[0], ts[0], e)
	case len(ps) == 1 && len(ts) == 0:
		if p := ps[0]; p.kind == tree.Block && len(p.kids) == 0 || p.isEllipsis() {
			return e.asResult()
		}
	}
	return nil
}

// matchDeep matches the expression or any expression inside of it. "<... $X ...>" asks for it.
// Blocks and classes inside are not entered: they are no part of the expression's value.
func (m *matcher) matchDeep(p *node, t int32, e *env) []*env {
	out := m.matchNode(p, t, e)
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
		out = m.joinResults(out, m.matchDeepChild(p, c, e))
	}
	if n := &f.Nodes[t]; (n.Kind == tree.Name || n.Kind == tree.Member) && m.options.SymbolicPropagation &&
		m.file.Scope != nil && m.derefs < maxDerefs {
		if v := m.file.Scope.Definition(t); v >= 0 && v != t {
			m.derefs++
			out = m.joinResults(out, m.matchDeep(p, v, e))
			m.derefs--
		}
	}
	return out
}

// matchDeepChild goes into a child, which counts itself only when it is an expression. Labels such
// as the name of a member are passed over but searched.
func (m *matcher) matchDeepChild(p *node, t int32, e *env) []*env {
	if m.file.isExpression(t) {
		return m.matchDeep(p, t, e)
	}
	var out []*env
	for c := range m.file.Tree.Children(t) {
		switch m.file.Tree.Nodes[c].Kind {
		case tree.Block, tree.Class:
			continue
		}
		out = m.joinResults(out, m.matchDeepChild(p, c, e))
	}
	return out
}

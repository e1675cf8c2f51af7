package rulematch

import (
	"cmp"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// This file finds the instructions for which the matches of rules stand.

// A markKind says what a mark does to a value. Marks of one instruction take effect
// in the order of their kinds.
type markKind uint8

const (
	MarkSanitizer markKind = iota
	MarkPropagator
	MarkSource
	MarkSink
)

// A Mark ties an instruction to a place of a rule.
type Mark struct {
	Kind  markKind
	Rule  int32 // in run.rules
	Spec  int32 // which of the rule's sources, sinks and so on
	Match *pattern.Match
	Node  int32  // that the match is shown at
	Whole bool   // the instruction is that of the place itself, not of a part
	From  ir.Var // of a propagator: what the data is in
}

// Marks are the marks of one function.
type Marks struct {
	At         map[int32][]Mark // by instruction
	Parameters map[int32][]Mark // by parameter
}

// marker finds the marks of one run.
type marker struct {
	rules *Set
	marks map[*ir.Function]*Marks
}

// FindMarks finds the marks of every rule of the run.
func (r *Set) FindMarks(units [][]*ir.Function) {
	var files []*ir.File
	seen := map[*ir.File]bool{}
	for _, unit := range units {
		for _, fn := range unit {
			if !seen[fn.File] {
				seen[fn.File] = true
				files = append(files, fn.File)
			}
		}
	}
	m := &marker{rules: r, marks: map[*ir.Function]*Marks{}}
	for k, rl := range r.Rules {
		for _, f := range files {
			if p := rl.Places[f.Tree.Path]; p != nil {
				m.markFile(int32(k), f, p)
			}
		}
	}
	for _, x := range m.marks {
		for _, list := range x.At {
			slices.SortStableFunc(list, func(a, b Mark) int {
				return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Spec, b.Spec))
			})
		}
	}
	r.Marks = m.marks
}

// markFile finds the marks of a rule in a file.
func (m *marker) markFile(k int32, f *ir.File, p *Places) {
	t := m.rules.Rules[k].Rule.Taint
	for i, list := range p.sources {
		for j := range list {
			m.markMatch(f, Mark{Kind: MarkSource, Rule: k, Spec: int32(i), Match: &list[j]}, t.Sources[i].Exact)
		}
	}
	for i, list := range p.sinks {
		for j := range list {
			m.markMatch(f, Mark{Kind: MarkSink, Rule: k, Spec: int32(i), Match: &list[j]}, t.Sinks[i].Exact)
		}
	}
	for i, list := range p.sanitizers {
		for j := range list {
			if t.Sanitizers[i].NotConflicting && conflictsWith(&list[j], p) {
				continue
			}
			m.markMatch(f, Mark{Kind: MarkSanitizer, Rule: k, Spec: int32(i), Match: &list[j]}, t.Sanitizers[i].Exact)
		}
	}
	for i, list := range p.propagators {
		for j := range list {
			mark := Mark{Kind: MarkPropagator, Rule: k, Spec: int32(i), Match: &list[j]}
			m.markPropagation(f, mark, &t.Propagators[i])
		}
	}
}

// conflictsWith reports whether a source or sink has the very range.
func conflictsWith(s *pattern.Match, p *Places) bool {
	for _, lists := range [][][]pattern.Match{p.sources, p.sinks} {
		for _, list := range lists {
			if slices.ContainsFunc(list, func(m pattern.Match) bool { return m.Start == s.Start && m.End == s.End }) {
				return true
			}
		}
	}
	return false
}

// markMatch marks what a match stands for: its own value, and the values inside of it
// unless it is exact.
func (m *marker) markMatch(f *ir.File, k Mark, exact bool) {
	first, last := k.Match.Node, k.Match.Last
	if first < 0 {
		first = nodeAt(f.Tree, k.Match.Start, k.Match.End)
		last = first
	}
	if first < 0 {
		return
	}
	k.Node = first
	own := valueNode(f, first)
	end := f.Tree.Nodes[max(first, last)].Next
	if first == last || last < 0 {
		k.Whole = true
		m.markNode(f, own, k)
		end = f.Tree.Nodes[first].Next
	}
	if exact && first == max(first, last) {
		return
	}
	k.Whole = false
	for n := first; n < end; n++ {
		if n != own || first != max(first, last) {
			m.markNode(f, n, k)
		}
	}
}

// nodeAt returns the outermost node with the range, tree.None when there is none.
func nodeAt(t *tree.File, start, end uint32) int32 {
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Start == start && n.End == end && n.Kind != tree.FileKind {
			return int32(i)
		}
	}
	return tree.None
}

// valueNode returns the node whose value a node stands for: that of a statement is
// its expression's.
func valueNode(f *ir.File, n int32) int32 {
	for range 8 {
		if fn, _, _ := f.Value(n); fn != nil {
			return n
		}
		var role tree.Role
		switch f.Tree.Nodes[n].Kind {
		case tree.ExpressionStatement, tree.Return, tree.Throw, tree.Variable, tree.Field, tree.Assign, tree.Keyword,
			tree.Pair,
			tree.Await, tree.Spread, tree.Attribute, tree.Cast, tree.Yield, tree.Annotation, tree.Spawn, tree.Defer:
			role = tree.RoleValue
		case tree.Parameter:
			role = tree.RoleTarget
		default:
			return n
		}
		child := f.Tree.Child(n, role)
		if child < 0 {
			return n
		}
		n = child
	}
	return n
}

// marksOf returns the marks of a function.
func (m *marker) marksOf(fn *ir.Function) *Marks {
	x := m.marks[fn]
	if x == nil {
		x = &Marks{At: map[int32][]Mark{}, Parameters: map[int32][]Mark{}}
		m.marks[fn] = x
	}
	return x
}

// markNode marks the instruction that gives a node its value, or the parameter that it
// names.
func (m *marker) markNode(f *ir.File, n int32, k Mark) {
	if fn, i, _ := f.Value(n); fn != nil {
		x := m.marksOf(fn)
		x.At[i] = append(x.At[i], k)
		return
	}
	p := n
	if f.Tree.Nodes[n].Role == tree.RoleTarget && f.Tree.Is(f.Tree.Nodes[n].Parent, tree.Parameter) {
		p = f.Tree.Nodes[n].Parent
	}
	if !f.Tree.Is(p, tree.Parameter) {
		return
	}
	fn := functionOf(f, p)
	if fn == nil {
		return
	}
	for i := range fn.Params {
		if fn.Params[i].Node == p {
			x := m.marksOf(fn)
			x.Parameters[int32(i)] = append(x.Parameters[int32(i)], k)
		}
	}
}

// functionOf returns the function whose parameter the node is.
func functionOf(f *ir.File, param int32) *ir.Function {
	owner := f.Tree.Nodes[param].Parent
	for _, fn := range f.Functions {
		if fn.Node == owner && (fn.Kind != ir.Initializer && fn.Kind != ir.StaticInit) {
			return fn
		}
	}
	return nil
}

// markPropagation marks the place where data comes to the second metavariable.
func (m *marker) markPropagation(f *ir.File, k Mark, p *rule.Propagator) {
	from, to := k.Match.Binding(p.From), k.Match.Binding(p.To)
	if from == nil || to == nil || from.Node < 0 || to.Node < 0 {
		return
	}
	fn, i, v := f.Value(valueNode(f, from.Node))
	fn2, j, _ := f.Value(valueNode(f, to.Node))
	if fn == nil || fn != fn2 {
		return
	}
	at := max(i, j)
	k.From = v
	k.Spec |= int32(j) << 8
	x := m.marksOf(fn)
	x.At[at] = append(x.At[at], k)
}

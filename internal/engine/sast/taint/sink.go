package taint

import (
	"cmp"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/tree"
)

// This file notes data that arrives at sinks.

// A source is a place of the program where data comes in.
type source struct {
	file *ir.File
	node int32
	kind string
	rule int32 // of a rule's own source, -1 for one of a model
	spec int32 // which of the rule's sources

	match *pattern.Match // of the rule's source
}

func (s *source) compare(t *source) int {
	return cmp.Or(cmp.Compare(s.file.Tree.Path, t.file.Tree.Path), cmp.Compare(s.node, t.node),
		cmp.Compare(s.kind, t.kind), cmp.Compare(s.rule, t.rule), cmp.Compare(s.spec, t.spec),
		compareMatches(s.match, t.match))
}

// A sinkKey is a place of the program where data of a kind must not arrive.
type sinkKey struct {
	fn   *ir.Function
	node int32
	kind string
	rule int32 // of a rule's own sink, -1 for one of a model
	spec int32

	match *pattern.Match // of the rule's sink
}

// A pendingSink is data that arrived at a sink.
type pendingSink struct {
	sinkKey
	block uint64 // data is harmless that is clean for one of these
	taint taint
}

func (k sinkKey) compare(l sinkKey) int {
	return cmp.Or(cmp.Compare(k.fn.File.Tree.Path, l.fn.File.Tree.Path), cmp.Compare(k.node, l.node),
		cmp.Compare(k.kind, l.kind), cmp.Compare(k.rule, l.rule), cmp.Compare(k.spec, l.spec),
		cmp.Compare(k.fn.Index, l.fn.Index), compareMatches(k.match, l.match))
}

// compareMatches orders matches by their ranges, then by what they bind.
func compareMatches(a, b *pattern.Match) int {
	if a == b || a == nil || b == nil {
		return 0
	}
	if c := cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)); c != 0 {
		return c
	}
	for _, name := range a.Names() {
		x, _ := a.Text(name)
		y, _ := b.Text(name)
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

// maxPending bounds the sinks of one summary.
const maxPending = 400

// sortedSinks returns the sinks in order.
func sortedSinks(m map[sinkKey]*pendingSink) []*pendingSink {
	list := make([]*pendingSink, 0, len(m))
	for _, p := range m {
		list = append(list, p)
	}
	slices.SortFunc(list, func(p, q *pendingSink) int { return p.compare(q.sinkKey) })
	if len(list) > maxPending {
		list = list[:maxPending]
	}
	return list
}

// arrives notes that data arrived at a sink.
func (a *analysis) arrives(k sinkKey, block uint64, t taint) {
	t = t.where(func(e *elem) bool { return e.clean&block == 0 })
	if k.kind == model.Inherited {
		t = onlyPicked(t)
	}
	if len(t) == 0 {
		return
	}
	if p := a.pending[k]; p != nil {
		a.pending[k] = &pendingSink{k, p.block, p.taint.union(t)}
		return
	}
	a.pending[k] = &pendingSink{k, block, t}
}

// sinks brings the sinks of the called function to the caller: with what the
// caller gave. What is decided already stays with the callee.
func (p *application) sinks() {
	if !slices.Contains(p.a.children, p.sum) {
		p.a.children = append(p.a.children, p.sum)
	}
	for _, s := range p.sum.pending {
		isInput := func(e *elem) bool { return e.atom.source == nil && e.atom.in.kind != inGlobal }
		inputs := s.taint.where(isInput)
		if len(inputs) == 0 {
			continue
		}
		if p.a.run.labels(s.sinkKey) {
			inputs = s.taint // what arrives is judged together
		}
		p.a.arrives(s.sinkKey, s.block, p.taint(inputs))
	}
}

// sinks notes what arrives at the sinks of a call.
func (c *callSite) sinks() {
	for _, e := range c.entries(model.Sinks, model.Call) {
		if !c.holds(e.If) {
			continue
		}
		m := &modelCall{callSite: c, callbacks: map[int]*callback{}}
		block := c.a.run.kindBits(e.Kind) | c.a.run.opens(e)
		with, joint := c.expressions(e)
		if len(e.Places) == 0 || joint && len(with) == 0 {
			continue
		}
		for _, place := range e.Places {
			m.callFor(place)
			for _, v := range m.values(place) {
				t := v.taint
				if e.Kind != model.Inherited {
					t = c.a.deep(c.st, c.a.textOf(c.st, v))
				}
				if joint {
					if v.known() && len(t) == 0 {
						c.a.run.tames(with)
					}
					t = meets(v, t, with)
				}
				c.a.arrives(c.a.sinkAt(c.in.Node, e.Kind), block, t)
			}
		}
	}
}

// callFor calls the callbacks whose results a place asks for.
func (m *modelCall) callFor(p model.Place) {
	if p.Base != model.Argument || !hasStep(p, model.Result) {
		return
	}
	for _, i := range m.positions(p) {
		if cb := m.callback(i); !cb.called {
			m.callWith(cb, i)
		}
	}
}

// sinkAt returns the key of a model's sink. A call whose name is on another line
// than its beginning is found at its name.
func (a *analysis) sinkAt(node int32, kind string) sinkKey {
	return sinkKey{fn: a.fn, node: place(a.fn.File.Tree, node), kind: kind, rule: -1}
}

// place returns the node to show for a call: the call, or its name when it stands
// on a later line.
func place(f *tree.File, node int32) int32 {
	callee := f.Child(node, tree.RoleCallee)
	if !f.Is(callee, tree.Member) {
		return node
	}
	name := f.Child(callee, tree.RoleProperty)
	if name < 0 || f.Line(f.Nodes[name].Start) == f.Line(f.Nodes[node].Start) {
		return node
	}
	return name
}

// assignedIs evaluates the conditions of a property on what is assigned: whether it is
// known to be a map, a list, a text.
func (a *analysis) assignedIs(x *value, list []model.Condition) bool {
	for i := range list {
		cond := &list[i]
		if cond.Test != model.Is || cond.Type || cond.Place.Base != model.Assigned {
			continue
		}
		kind := x.kind
		if id, ok := x.sole(); ok && kind == kindAny {
			kind = a.objects[id].kind
		}
		if want, ok := kindWords[cond.Word]; ok && (kind == want) == cond.Not {
			return false
		}
	}
	return true
}

// assigns notes what arrives at a property that is a sink.
func (a *analysis) assigns(st *state, i int32, owner, name string, x *value) {
	if a.noting {
		a.assignsAt(st, a.fn.Code[i].Node, owner, name, x)
	}
}

// assignsAt is assigns for a place of the source.
func (a *analysis) assignsAt(st *state, node int32, owner, name string, x *value) {
	r := a.run
	set := r.set(a.fn)
	seen := false
	check := func(full string) {
		for _, e := range set.Match(full)[model.Sinks] {
			if e.Form == model.Assignment && a.assignedIs(x, e.If) {
				seen = true
				a.arrives(a.sinkAt(node, e.Kind), r.kindBits(e.Kind)|r.opens(e), a.deep(st, a.textOf(st, x)))
			}
		}
	}
	for _, t := range r.types(a.fn, owner) {
		check(r.memberName(t, name))
	}
	if !seen && r.program.Class(owner) == nil {
		check("?." + name)
	}
}

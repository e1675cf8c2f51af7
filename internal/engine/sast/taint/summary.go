package taint

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// A summary says what a function does, in terms of its inputs. It belongs to the
// function alone, or to the function in a context.
type summary struct {
	fn      *ir.Function
	ctx     facts
	work    int64 // that it took, of one in a context that was computed apart
	objects []objInfo
	heap    []*object // what is left in objects: of inputs what was written
	result  *value
	thrown  *value
	pending []*pendingSink
	needs   []*atom
	never   bool // does not return

	// approves tells for which kinds a parameter is harmless after a call that
	// answers no, one that answers yes, and one that returns at all.
	approves [3][]approval
	over     bool
	children []*summary // that were applied
	cost     int        // instructions that it took to interpret the function and what it calls
	own      int        // instructions that it took to interpret the function
}

// The answers of approves.
const (
	answerNo = iota
	answerYes
	answerAny
)

// An approval is a parameter and the kinds for which it is approved of.
type approval struct {
	param int32
	kinds uint64
}

// same reports whether two summaries of a function say the same, whatever the ways are
// that data takes.
func (s *summary) same(t *summary) bool {
	if s.never != t.never || s.over != t.over || len(s.heap) != len(t.heap) || len(s.objects) != len(t.objects) ||
		!s.result.same(t.result) || !s.thrown.same(t.thrown) || !slices.Equal(s.needs, t.needs) {
		return false
	}
	for i := range s.approves {
		if !slices.Equal(s.approves[i], t.approves[i]) {
			return false
		}
	}
	for id := range s.heap {
		if !s.heap[id].same(t.heap[id]) {
			return false
		}
	}
	return slices.EqualFunc(s.objects, t.objects, func(a, b objInfo) bool {
		return a.key == b.key && a.depth == b.depth
	}) &&
		slices.EqualFunc(s.pending, t.pending, func(p, q *pendingSink) bool {
			return p.sinkKey == q.sinkKey && p.block == q.block && p.taint.same(q.taint)
		})
}

// A fact is what a context knows of an input: a constant, a function or a type.
type fact struct {
	atom  *atom
	c     constant
	fn    *ir.Function
	typ   string // of an object of the program
	api   string // the name by which models know the value
	keeps string // the global in which it keeps that
	take  bool   // a function that takes what it is given: see collector
}

// Facts are what is known of a function's inputs where it is called.
type facts []fact

// of returns the fact about an input, nil when there is none.
func (c facts) of(at *atom) *fact {
	for i := range c {
		if c[i].atom == at {
			return &c[i]
		}
	}
	return nil
}

// and returns the facts with those of others that are new, in order.
func (c facts) and(more facts) facts {
	out := slices.Clone(c)
	for _, f := range more {
		if out.of(f.atom) == nil && len(out) < maxFacts {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(f, g fact) int { return f.atom.compare(g.atom) })
	return out
}

// key returns a text that tells contexts apart.
func (c facts) key() string {
	var b strings.Builder
	for _, f := range c {
		b.WriteString(f.atom.path)
		b.WriteByte(byte('0' + f.atom.in.kind))
		b.WriteByte(byte('0' + f.atom.in.index))
		b.WriteByte(byte('0' + f.c.kind))
		b.WriteString(f.c.String())
		b.WriteByte(0)
		if f.fn != nil {
			b.WriteString(f.fn.File.Tree.Path)
			b.WriteByte(0)
			b.WriteString(itoa(f.fn.Index))
		}
		b.WriteByte(0)
		b.WriteString(f.typ)
		b.WriteByte(0)
		b.WriteString(f.api)
		if f.take {
			b.WriteByte('!')
			b.WriteString(f.keeps)
		}
		b.WriteByte(1)
	}
	return b.String()
}

// summary gathers what the last round noted.
func (a *analysis) summary() *summary {
	s := &summary{fn: a.fn, ctx: a.ctx, over: a.over, never: a.exit == nil, thrown: a.thrown}
	s.heap = a.endHeap()
	s.result = a.result
	if s.result == nil && a.exit != nil {
		s.result = unknown
	}
	if a.fn.Generator && a.result != nil && a.exit != nil {
		v := &value{objs: []objID{a.key(objKey{instr: -2}, objInfo{kind: kindList, own: true})}, kind: kindList}
		a.exit.put(v.objs[0], &object{size: unsized, elems: a.result})
		s.heap, s.result = a.endHeap(), v
	}
	for at := range a.needs {
		s.needs = append(s.needs, at)
	}
	slices.SortFunc(s.needs, (*atom).compare)
	s.pending = sortedSinks(a.pending)
	s.children = a.children
	s.own = max(len(a.fn.Code), a.steps/2)
	s.cost = s.own
	for _, child := range a.children {
		s.cost = min(s.cost+child.cost, 10*maxContextCost)
	}
	for i, kinds := range a.approvedFor {
		s.approves[i] = approvalList(kinds)
	}
	s.objects = a.objects
	a.prune(s)
	return s
}

// maxKept bounds the objects of a summary together with their fields: it is what each
// call of the function costs. Where many functions call each other it is less.
const maxKept = 120

// prune forgets the objects that nobody outside can reach. When there are too many
// of them, those that are farthest from the inputs and the result become taint of
// the values that refer to them.
func (a *analysis) prune(s *summary) {
	p := pruning{s: s, kept: make([]bool, len(s.heap)), most: a.kept}
	p.visit(s.result)
	p.visit(s.thrown)
	for id := range s.heap {
		if a.objects[id].atom != nil {
			p.mark(objID(id))
		}
	}
	for i := 0; i < len(p.queue); i++ {
		o := s.heap[p.queue[i]]
		for _, f := range o.fields {
			p.visit(f.val)
		}
		p.visit(o.elems)
		p.visit(o.keys)
		p.visit(o.text)
	}
	full := p.size >= a.kept
	old := &state{heap: s.heap}
	s.heap = make([]*object, len(s.heap))
	for _, id := range p.queue {
		o := old.heap[id]
		if full {
			o = o.clone()
			for i := range o.fields {
				o.fields[i].val = p.narrow(a, old, o.fields[i].val)
			}
			o.elems, o.keys = p.narrow(a, old, o.elems), p.narrow(a, old, o.keys)
		}
		s.heap[id] = o
	}
	if full {
		s.result, s.thrown = p.narrow(a, old, s.result), p.narrow(a, old, s.thrown)
	}
}

// pruning is the choice of the objects that a summary keeps.
type pruning struct {
	s     *summary
	kept  []bool
	queue []objID
	size  int // of what is kept
	most  int
}

func (p *pruning) mark(id objID) {
	if int(id) < len(p.kept) && !p.kept[id] && p.s.heap[id] != nil && p.size < p.most {
		p.size += 1 + len(p.s.heap[id].fields)
		p.kept[id] = true
		p.queue = append(p.queue, id)
	}
}

func (p *pruning) visit(v *value) {
	if v != nil {
		for _, id := range v.objs {
			p.mark(id)
		}
	}
}

// narrow returns the value without the objects that are not kept.
func (p *pruning) narrow(a *analysis, st *state, v *value) *value {
	if v == nil {
		return nil
	}
	var objs []objID
	for _, id := range v.objs {
		if int(id) >= len(p.kept) || p.kept[id] || st.heap[id] == nil {
			objs = append(objs, id)
		}
	}
	if len(objs) == len(v.objs) {
		return v
	}
	w := *v
	w.taint = v.taint.union(a.deep(st, v))
	w.objs = objs
	return &w
}

// approvals notes for which kinds each parameter is harmless at a return.
func (a *analysis) approvals(st *state, in *ir.Instr) {
	if !a.noting {
		return
	}
	a.approve(answerAny, st)
	if in.A == ir.NoVar {
		return
	}
	v := a.read(st, in.A)
	truth, known := v.truth()
	if !known && a.present(v) {
		truth, known = true, true
	}
	if !known || truth {
		yes := a.borrow(st)
		a.assume(yes, in.A, true, 0)
		a.approve(answerYes, yes)
		a.giveBack(yes)
	}
	if !known || !truth {
		no := a.borrow(st)
		a.assume(no, in.A, false, 0)
		a.approve(answerNo, no)
		a.giveBack(no)
	}
}

// present reports whether a value is known not to be nil: an object that the program
// makes, or an error that a library makes (Go).
func (a *analysis) present(v *value) bool {
	if !a.fn.File.Lang.Meaning.CommaOk {
		return false
	}
	if v.api == madeError {
		return true
	}
	for _, id := range v.objs {
		if info := &a.objects[id]; info.typ == "" || info.atom != nil {
			return false
		}
	}
	return len(v.objs) > 0
}

// madeError is the type that models give to errors that are there.
const madeError = "errors.errorString"

// approve joins what a return approves of with what others do.
func (a *analysis) approve(answer int, st *state) {
	first := a.approvedFor[answer] == nil
	if first {
		a.approvedFor[answer] = make([]uint64, len(a.fn.Params))
	}
	for i := range a.fn.Params {
		kinds := uint64(0)
		if p := a.fn.Params[i].Var; p != ir.NoVar {
			kinds = a.approvedOf(a.read(st, p), int32(i))
		}
		if first {
			a.approvedFor[answer][i] = kinds
		} else {
			a.approvedFor[answer][i] &= kinds
		}
	}
}

// approvedOf returns for which kinds a value that is the parameter is harmless.
func (a *analysis) approvedOf(v *value, param int32) uint64 {
	if len(v.taint) != 1 {
		return 0
	}
	e := v.taint[0]
	if e.atom.source != nil || e.atom.picked || e.atom.in != (input{inParam, param}) || e.atom.path != "" {
		return 0
	}
	return e.clean &^ a.run.bits[model.OwnKey]
}

// approvalList returns the parameters that are approved of.
func approvalList(kinds []uint64) []approval {
	var list []approval
	for i, k := range kinds {
		if k != 0 {
			list = append(list, approval{int32(i), k})
		}
	}
	return list
}

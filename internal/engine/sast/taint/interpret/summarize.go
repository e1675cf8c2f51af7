package interpret

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file makes the summary of a function from its last round.

// makeSummary gathers what the last round noted.
func (a *analysis) makeSummary() *summary.Summary {
	s := &summary.Summary{Function: a.Function, Context: a.Context, OverBudget: a.over, NeverReturns: a.exit == nil,
		Thrown: a.thrown}
	s.Heap = a.endHeap()
	s.Result = a.result
	if s.Result == nil && a.exit != nil {
		s.Result = value.Unknown
	}
	if a.Function.Generator && a.result != nil && a.exit != nil {
		v := &value.Value{Objects: []value.ObjectID{a.ObjectOf(value.ObjectKey{Instruction: -2},
			value.ObjectInfo{Kind: value.KindList, Complete: true})}, Kind: value.KindList}
		a.exit.Put(v.Objects[0], &value.Object{Size: value.Unsized, Elements: a.result})
		s.Heap, s.Result = a.endHeap(), v
	}
	for at := range a.Needs {
		s.Needs = append(s.Needs, at)
	}
	slices.SortFunc(s.Needs, (*taintset.Origin).Compare)
	s.Pending = summary.SortSinks(a.Pending)
	s.Callees = a.children
	s.OwnCost = max(len(a.Function.Code), a.steps/2)
	s.Cost = s.OwnCost
	for _, child := range a.children {
		s.Cost = min(s.Cost+child.Cost, 10*summary.MaxContextCost)
	}
	for i, kinds := range a.approvedFor {
		s.Approvals[i] = approvalList(kinds)
	}
	s.Objects = a.Objects
	a.pruneObjects(s)
	return s
}

// pruneObjects forgets the objects that nobody outside can reach. When there are too many
// of them, those that are farthest from the inputs and the result become taint of
// the values that refer to them.
func (a *analysis) pruneObjects(s *summary.Summary) {
	p := pruning{s: s, kept: make([]bool, len(s.Heap)), most: a.Kept}
	p.visitValue(s.Result)
	p.visitValue(s.Thrown)
	for id := range s.Heap {
		if a.Objects[id].Input != nil {
			p.markObject(value.ObjectID(id))
		}
	}
	for i := 0; i < len(p.queue); i++ {
		o := s.Heap[p.queue[i]]
		for _, f := range o.Fields {
			p.visitValue(f.Value)
		}
		p.visitValue(o.Elements)
		p.visitValue(o.Keys)
		p.visitValue(o.Text)
	}
	full := p.size >= a.Kept
	old := &frame.State{Heap: s.Heap}
	s.Heap = make([]*value.Object, len(s.Heap))
	for _, id := range p.queue {
		o := old.Heap[id]
		if full {
			o = o.Clone()
			for i := range o.Fields {
				o.Fields[i].Value = p.narrowValue(a.Frame, old, o.Fields[i].Value)
			}
			o.Elements, o.Keys = p.narrowValue(a.Frame, old, o.Elements), p.narrowValue(a.Frame, old, o.Keys)
		}
		s.Heap[id] = o
	}
	if full {
		s.Result, s.Thrown = p.narrowValue(a.Frame, old, s.Result), p.narrowValue(a.Frame, old, s.Thrown)
	}
}

// pruning is the choice of the objects that a summary keeps.
type pruning struct {
	s     *summary.Summary
	kept  []bool
	queue []value.ObjectID
	size  int // of what is kept
	most  int
}

// markObject keeps an object, as far as the summary may grow.
func (p *pruning) markObject(id value.ObjectID) {
	if int(id) < len(p.kept) && !p.kept[id] && p.s.Heap[id] != nil && p.size < p.most {
		p.size += 1 + len(p.s.Heap[id].Fields)
		p.kept[id] = true
		p.queue = append(p.queue, id)
	}
}

// visitValue keeps the objects of a value.
func (p *pruning) visitValue(v *value.Value) {
	if v != nil {
		for _, id := range v.Objects {
			p.markObject(id)
		}
	}
}

// narrowValue returns the value without the objects that are not kept.
func (p *pruning) narrowValue(a *frame.Frame, st *frame.State, v *value.Value) *value.Value {
	if v == nil {
		return nil
	}
	var objs []value.ObjectID
	for _, id := range v.Objects {
		if int(id) >= len(p.kept) || p.kept[id] || st.Heap[id] == nil {
			objs = append(objs, id)
		}
	}
	if len(objs) == len(v.Objects) {
		return v
	}
	w := *v
	w.Taint = v.Taint.Union(a.DeepTaint(st, v))
	w.Objects = objs
	return &w
}

// noteApprovals notes for which kinds each parameter is harmless at a return.
func (a *analysis) noteApprovals(st *frame.State, in *ir.Instr) {
	if !a.Noting {
		return
	}
	a.joinApproval(summary.WhenReturned, st)
	if in.A == ir.NoVar {
		return
	}
	v := a.Read(st, in.A)
	truth, known := v.Truth()
	if !known && a.isPresent(v) {
		truth, known = true, true
	}
	if !known || truth {
		yes := a.Borrow(st)
		a.Assume(yes, in.A, true, 0)
		a.joinApproval(summary.WhenTrue, yes)
		a.GiveBack(yes)
	}
	if !known || !truth {
		no := a.Borrow(st)
		a.Assume(no, in.A, false, 0)
		a.joinApproval(summary.WhenFalse, no)
		a.GiveBack(no)
	}
}

// isPresent reports whether a value is known not to be nil: an object that the program
// makes, or an error that a library makes (Go).
func (a *analysis) isPresent(v *value.Value) bool {
	if !a.Function.File.Lang.Semantics.CommaOk {
		return false
	}
	if v.API == madeError {
		return true
	}
	for _, id := range v.Objects {
		if info := &a.Objects[id]; info.Type == "" || info.Input != nil {
			return false
		}
	}
	return len(v.Objects) > 0
}

// madeError is the type that models give to errors that are there.
const madeError = "errors.errorString"

// joinApproval joins what a return approves of with what others do.
func (a *analysis) joinApproval(answer int, st *frame.State) {
	first := a.approvedFor[answer] == nil
	if first {
		a.approvedFor[answer] = make([]uint64, len(a.Function.Params))
	}
	for i := range a.Function.Params {
		kinds := uint64(0)
		if p := a.Function.Params[i].Var; p != ir.NoVar {
			kinds = a.approvedOf(a.Read(st, p), int32(i))
		}
		if first {
			a.approvedFor[answer][i] = kinds
		} else {
			a.approvedFor[answer][i] &= kinds
		}
	}
}

// approvedOf returns for which kinds a value that is the parameter is harmless.
func (a *analysis) approvedOf(v *value.Value, param int32) uint64 {
	if len(v.Taint) != 1 {
		return 0
	}
	e := v.Taint[0]
	if e.Origin.Source != nil || e.Origin.Picked ||
		e.Origin.In != (taintset.Input{Kind: taintset.Parameter, Index: param}) || e.Origin.Path != "" {
		return 0
	}
	return e.Clean &^ a.Run.Bits[model.OwnKey]
}

// approvalList returns the parameters that are approved of.
func approvalList(kinds []uint64) []summary.Approval {
	var list []summary.Approval
	for i, k := range kinds {
		if k != 0 {
			list = append(list, summary.Approval{Parameter: int32(i), Kinds: k})
		}
	}
	return list
}

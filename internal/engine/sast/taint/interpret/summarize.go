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
// The summary is all that callers see of the function: result, thrown value, changes of the
// heap, sinks that inputs reach, and the inputs whose value would make it more exact (Needs).
func (a *analysis) makeSummary() *summary.Summary {
	s := &summary.Summary{Function: a.Function, Context: a.Context, OverBudget: a.over, NeverReturns: a.exit == nil,
		Thrown: a.thrown}
	s.Heap = a.endHeap()
	s.Result = a.result
	// The function returns, but without a value (void): the result is unknown, not absent. A nil
	// Result means that it never returns.
	if s.Result == nil && a.exit != nil {
		s.Result = value.Unknown
	}
	// A generator returns an iterator at once. Its elements are what the body yields, so that a
	// caller's loop reads them with the usual operations of a list.
	if a.Function.Generator && a.result != nil && a.exit != nil {
		// -2 is no instruction: the object belongs to the function as a whole, and its key must be
		// the same in each round.
		v := &value.Value{Objects: []value.ObjectID{a.ObjectOf(value.ObjectKey{Instruction: -2},
			value.ObjectInfo{Kind: value.KindList, Complete: true})}, Kind: value.KindList}
		a.exit.Put(v.Objects[0], &value.Object{Size: value.Unsized, Elements: a.result})
		s.Heap, s.Result = a.endHeap(), v
	}
	// The map has no order; summaries must be equal from run to run, since findings and the order
	// of work follow from them.
	for at := range a.Needs {
		s.Needs = append(s.Needs, at)
	}
	slices.SortFunc(s.Needs, (*taintset.Origin).Compare)
	s.Pending = summary.SortSinks(a.Pending)
	s.Callees = a.children
	// A step is one interpretation of an instruction; loops run more than once. Half of the steps
	// is an estimate of what a repetition costs with other inputs.
	s.OwnCost = max(len(a.Function.Code), a.steps/2)
	s.Cost = s.OwnCost
	// The bound keeps the sum finite for recursive functions, which are children of each other.
	for _, child := range a.children {
		s.Cost = min(s.Cost+child.Cost, 10*summary.MaxContextCost)
	}
	// The index is WhenReturned, WhenTrue or WhenFalse.
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
// The bound on the size keeps large constructors and frameworks from copying thousands of
// objects into each caller.
func (a *analysis) pruneObjects(s *summary.Summary) {
	// First the result and what is thrown: the caller certainly sees these. The objects of the
	// inputs follow, as long as there is room.
	p := pruning{s: s, kept: make([]bool, len(s.Heap)), most: a.Kept}
	p.visitValue(s.Result)
	p.visitValue(s.Thrown)
	for id := range s.Heap {
		if a.Objects[id].Input != nil {
			p.markObject(value.ObjectID(id))
		}
	}
	// Breadth first: the nearest objects are kept when the limit is reached.
	for i := 0; i < len(p.queue); i++ {
		o := s.Heap[p.queue[i]]
		for _, f := range o.Fields {
			p.visitValue(f.Value)
		}
		p.visitValue(o.Elements)
		p.visitValue(o.Keys)
		p.visitValue(o.Text)
	}
	// size may exceed the limit by the fields of the last object; it is full from the limit on.
	full := p.size >= a.Kept
	old := &frame.State{Heap: s.Heap}
	// Identifiers of objects are indexes, so that the heap keeps its length with nil for what is
	// dropped.
	s.Heap = make([]*value.Object, len(s.Heap))
	for _, id := range p.queue {
		o := old.Heap[id]
		// Copies only where something was dropped: usually everything fits, and the objects are
		// shared with the last round.
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
// It is one breadth-first traversal from what the caller can reach.
type pruning struct {
	// The summary that is being made.
	s *summary.Summary
	// By object: it is in the summary.
	kept []bool
	// Objects that are kept, in the order in which they were reached; also the work list.
	queue []value.ObjectID
	size  int // of what is kept
	// The limit of size: objects and their fields together.
	most int
}

// markObject keeps an object, as far as the summary may grow.
// A limit that is reached cuts only new objects: those that are kept stay whole.
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
// The taint of the objects that are cut off is added to the value itself: the caller does not
// see the fields any more, but no flow is lost.
func (p *pruning) narrowValue(a *frame.Frame, st *frame.State, v *value.Value) *value.Value {
	if v == nil {
		return nil
	}
	var objs []value.ObjectID
	// An object that is not in the heap at all (nil) costs nothing and stays: it is an input or a
	// function.
	for _, id := range v.Objects {
		if int(id) >= len(p.kept) || p.kept[id] || st.Heap[id] == nil {
			objs = append(objs, id)
		}
	}
	if len(objs) == len(v.Objects) {
		return v
	}
	// Values are shared between states and are never changed in place.
	w := *v
	w.Taint = v.Taint.Union(a.DeepTaint(st, v))
	w.Objects = objs
	return &w
}

// noteApprovals notes for which kinds each parameter is harmless at a return.
// A function such as isSafe(x) checks its parameter with return values: what the check cleans
// is noted apart for "it returned at all" (it would have thrown otherwise), "it returned true"
// and "it returned false".
func (a *analysis) noteApprovals(st *frame.State, in *ir.Instr) {
	if !a.Noting {
		return
	}
	a.joinApproval(summary.WhenReturned, st)
	if in.A == ir.NoVar {
		return
	}
	v := a.Read(st, in.A)
	// The truth of the result decides which of the two cases can occur. In Go, an error that is
	// not nil counts as true: the caller tests err != nil.
	truth, known := v.Truth()
	if !known && a.isPresent(v) {
		truth, known = true, true
	}
	if !known || truth {
		// The state is copied before the assumption, since the two branches must not see each
		// other's.
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
	// A pointer of an interface type or a parameter may be nil.
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
// The outcomes are intersected: a parameter is clean only when it is so at every return. The
// first return sets the bits, all later ones can only remove some.
func (a *analysis) joinApproval(answer int, st *frame.State) {
	first := a.approvedFor[answer] == nil
	if first {
		a.approvedFor[answer] = make([]uint64, len(a.Function.Params))
	}
	for i := range a.Function.Params {
		kinds := uint64(0)
		// A parameter without a variable is a pattern or is never used; nothing can have checked
		// it.
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
// The value must be the whole parameter and nothing else. A part of it (x.name), a key that
// was picked from it or a mixture says nothing about the parameter itself.
func (a *analysis) approvedOf(v *value.Value, param int32) uint64 {
	if len(v.Taint) != 1 {
		return 0
	}
	e := v.Taint[0]
	if e.Origin.Source != nil || e.Origin.Picked ||
		e.Origin.In != (taintset.Input{Kind: taintset.Parameter, Index: param}) || e.Origin.Path != "" {
		return 0
	}
	// A check against the object's own keys (hasOwnProperty) is valid for the object at hand only,
	// so that it is not passed to callers.
	return e.Clean &^ a.Run.Bits[model.OwnKey]
}

// approvalList returns the parameters that are approved of.
// Parameters without a bit are left out: most functions approve of nothing.
func approvalList(kinds []uint64) []summary.Approval {
	var list []summary.Approval
	for i, k := range kinds {
		if k != 0 {
			list = append(list, summary.Approval{Parameter: int32(i), Kinds: k})
		}
	}
	return list
}

// Package interpret interprets a function over abstract values, block by block, until no
// state changes. It applies the summaries of functions that are called, and makes the
// summary of its own.
//
// The work on a function has three parts: a fixed point over the blocks, one more round that
// notes what arrives at sinks, calls and ends, and the summary. What a single function may
// cost is bounded by maxSteps and maxVisits; the order of functions and the budget of the
// whole analysis are left to the scheduler.
package interpret

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/guard"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// An analysis is the work on one function, in one context. It interprets the
// function over abstract values until nothing changes, and then once more to note
// what happens at calls and ends.
type analysis struct {
	// Reads and writes of values, and what checks prove.
	*guard.Guards
	// Matches of the patterns of rules in this function; nil without any.
	marks *rulematch.Marks

	in     []*frame.State // by block: the state at its start, nil for not reached
	except []*value.Value // by block: what is thrown into it

	// What the last round notes.
	// The join of all returned or yielded values; nil when there is none.
	result *value.Value
	// The join of what leaves the function as an exception.
	thrown *value.Value
	// The state in which it returns; nil while no return was reached.
	exit   *frame.State
	failed *frame.State // in which it ends by throwing
	// approvedFor has the kinds for which each parameter is harmless, by answer.
	approvedFor [3][]uint64

	children []*summary.Summary // that were applied, in order
	// Instructions that were interpreted, repetitions included.
	steps int
	over  bool // the budget is gone
}

// maxSteps bounds the instructions that are interpreted for one function.
// Beyond it the function is given up: its summary is marked as over budget, and the report
// says so.
const maxSteps = 300_000

// maxVisits bounds how often a block is interpreted.
// A state grows with each visit. A real loop is stable after two or three visits; a generated
// one with thousands of variables may need one per variable.
const maxVisits = 100

// New returns the analysis of the function of a frame.
func New(f *frame.Frame, s guard.Summarizer) *analysis {
	fn := f.Function
	return &analysis{
		Guards: &guard.Guards{Frame: f, Summaries: s}, marks: f.Run.Marks[fn],
		in: make([]*frame.State, len(fn.Blocks)), except: make([]*value.Value, len(fn.Blocks)),
	}
}

// Summarize interprets the function and returns what it does.
func (a *analysis) Summarize() *summary.Summary {
	// A declaration without a body: an interface method or an external function.
	if len(a.Function.Blocks) == 0 {
		return &summary.Summary{Function: a.Function, Context: a.Context}
	}
	a.in[0] = a.entryState()
	a.reachFixpoint()
	// States are final now. One more round notes what arrives at sinks, calls and ends:
	// noted earlier, it would be that of states which later ones replace.
	a.Noting = true
	for b := range a.Function.Blocks {
		if a.in[b] != nil {
			// The states do not flow anywhere in this round: they are final.
			a.interpretBlock(ir.BlockID(b), func(ir.BlockID, *frame.State) {})
		}
	}
	a.callEscaping()
	return a.makeSummary()
}

// reachFixpoint interprets the blocks in their order until no state changes. From the end of a
// loop it goes back to the beginning if that has changed: so all ways back there meet
// first, and what is behind the loop sees only what the loop does in the end (the
// recursive strategy of Bourdoncle, Efficient chaotic iteration strategies with
// widenings, 1993).
func (a *analysis) reachFixpoint() {
	// dirty: the state at the start of the block has changed since it was last interpreted.
	dirty := make([]bool, len(a.Function.Blocks))
	dirty[0] = true
	flow := func(to ir.BlockID, st *frame.State) {
		if next, changed := a.Merge(a.in[to], st); changed {
			a.in[to] = next
			dirty[to] = true
		}
	}
	heads := loopHeads(a.Function)
	visits := make([]uint8, len(a.Function.Blocks))
	for b := 0; b < len(dirty); {
		if dirty[b] {
			dirty[b] = false
			a.interpretBlock(ir.BlockID(b), flow)
			// States only grow and are finite, but a function that a generator wrote can
			// have so many of them that nobody waits for the end.
			visits[b]++
			if a.over || a.Run.IsStopped() {
				return
			}
			if visits[b] >= maxVisits || a.Summaries.Spent() {
				a.over = true
				return
			}
		}
		b = nextBlock(b, heads[b], dirty)
	}
}

// nextBlock returns the block to look at behind another one, with which the loops of the
// heads end: the innermost head that has changed, or the block that follows.
func nextBlock(b int, heads []int32, dirty []bool) int {
	for _, h := range heads {
		if dirty[h] {
			return int(h)
		}
	}
	return b + 1
}

// loopHeads returns for each block the beginnings of the loops of which it is the last
// one to lead back, innermost first.
func loopHeads(fn *ir.Function) [][]int32 {
	// An edge to a block that does not come later leads back to the head of a loop; so
	// does a handler of exceptions that stands before what it protects.
	last := make([]int32, len(fn.Blocks)) // by head: 1 + the last block that leads back
	for b := range fn.Blocks {
		for _, to := range fn.Blocks[b].Succs {
			if int(to) <= b {
				last[to] = int32(b) + 1
			}
		}
		if to := fn.Blocks[b].Except; to != ir.NoBlock && int(to) <= b {
			last[to] = int32(b) + 1
		}
	}
	// Inner heads come later in the order of blocks, so that going down gives them first.
	heads := make([][]int32, len(fn.Blocks))
	for h := len(last) - 1; h >= 0; h-- {
		if b := last[h] - 1; b >= 0 {
			heads[b] = append(heads[b], int32(h))
		}
	}
	return heads
}

// entryState returns the state in which the function begins.
func (a *analysis) entryState() *frame.State {
	// The receiver is an object of the class, or of the type that a function is written
	// for, as the methods of Go and the extensions of Kotlin are.
	// Parameters are inputs with origins of their own. Whether they are tainted is decided by each
	// caller.
	st := &frame.State{Vars: make([]*value.Value, a.Function.Vars)}
	if a.Function.This != ir.NoVar {
		v := a.Input(taintset.Input{Kind: taintset.Receiver}, "")
		if a.Function.Class != nil {
			v = v.WithAPI(a.Function.Class.Qualified)
		} else {
			v = v.WithAPI(a.Function.Owner)
		}
		a.Assign(st, a.Function.This, v)
	}
	for i := range a.Function.Params {
		p := &a.Function.Params[i]
		v := a.Input(taintset.Input{Kind: taintset.Parameter, Index: int32(i)}, "").WithAPI(p.Type)
		// Models may make a parameter a source: those of handlers of requests. One of a type
		// that holds no text is none.
		v = a.ParameterValue(st, i, v)
		if a.Run.IsHarmlessType(p.Type) {
			v = v.WithTaint(v.Taint.Filter(func(e *taintset.Element) bool { return e.Origin.Source == nil }))
		}
		v = a.markedParameter(st, int32(i), v)
		if p.Var != ir.NoVar {
			a.Assign(st, p.Var, v)
		}
	}
	return st
}

// interpretBlock interprets a block and gives the states at its end to its successors.
func (a *analysis) interpretBlock(id ir.BlockID, flow func(ir.BlockID, *frame.State)) {
	// The state at the start of the block must stay as it is, for later merges.
	st := a.Borrow(a.in[id])
	a.interpretFrom(st, id, flow)
	a.GiveBack(st)
}

// interpretFrom interprets a block from a state, which it changes.
func (a *analysis) interpretFrom(st *frame.State, id ir.BlockID, flow func(ir.BlockID, *frame.State)) {
	b := &a.Function.Blocks[id]
	// Only handlers of exceptions have an entry here.
	if a.except[id] != nil {
		a.bindException(st, id)
	}
	for i := b.Start; i < b.End; i++ {
		a.Scratch.Steps++
		if a.steps++; a.steps > maxSteps {
			a.over = true
			return
		}
		in := &a.Function.Code[i]
		// A jump is the last instruction of its block; patterns of rules may match it, too.
		if in.Op.Jumps() {
			// The marks are applied before the jump, while the operands are still in the state.
			a.applyMarks(st, i)
			a.interpretJump(st, i, b, flow)
			break
		}
		if !a.executeInstruction(st, i, b) {
			return // does not come back
		}
	}
	// Any instruction may throw. The state behind the last one holds what all have written,
	// since a block ends where a variable that a handler reads is set again.
	if b.Except != ir.NoBlock {
		flow(b.Except, st)
	}
}

// bindException gives the exception variable of a handler what calls threw.
// A handler begins with the instruction Catch, which has the variable of the exception.
func (a *analysis) bindException(st *frame.State, id ir.BlockID) {
	b := &a.Function.Blocks[id]
	for i := b.Start; i < b.End; i++ {
		if in := &a.Function.Code[i]; in.Op == ir.Catch {
			a.Assign(st, in.A, value.Join(a.Read(st, in.A), a.except[id]))
			return
		}
	}
}

// interpretJump interprets the end of a block.
func (a *analysis) interpretJump(st *frame.State, i int32, b *ir.Block, flow func(ir.BlockID, *frame.State)) {
	in := &a.Function.Code[i]
	switch in.Op {
	case ir.Return:
		// Results are collected in the last round only; earlier rounds have preliminary values.
		if in.A != ir.NoVar && a.Noting {
			v := a.Read(st, in.A)
			a.result = value.Join(a.result, v.WithTaint(v.Taint.At(a.Function, in.Node)))
			a.noteReturnSinks(st, in)
		}
		a.noteApprovals(st, in)
		a.noteExit(st)
	case ir.Throw:
		// A throw with a successor is caught in the same function.
		if a.Noting && len(b.Succs) == 0 {
			a.noteThrown(st, a.Read(st, in.A))
		}
	case ir.If:
		a.interpretBranch(st, in, b, flow)
		return
	// Stop is the end of the code without a return statement.
	case ir.Stop:
		a.noteExit(st)
	}
	for _, to := range b.Succs {
		flow(to, st)
	}
}

// noteThrown notes what the function throws, and the state in which it does.
func (a *analysis) noteThrown(st *frame.State, v *value.Value) {
	a.thrown = value.Join(a.thrown, v)
	a.failed, _ = a.Merge(a.failed, st)
}

// endHeap returns the objects that there are when the function ends. Those that only
// exist where it throws are among them.
// The caller needs both heaps: objects that exist only in the throwing state may be referred
// to by the exception.
func (a *analysis) endHeap() []*value.Object {
	switch {
	case a.failed == nil && a.exit == nil:
		return nil
	case a.failed == nil:
		return a.exit.Heap
	case a.exit == nil:
		return a.failed.Heap
	}
	heap := slices.Clone(a.exit.Heap)
	for i, o := range a.failed.Heap {
		switch {
		case i >= len(heap):
			heap = append(heap, o)
		// Inputs that only the throwing path has changed keep their state at the return.
		case heap[i] == nil && a.Objects[i].Input == nil:
			heap[i] = o
		}
	}
	return heap
}

// noteExit notes a state in which the function ends.
func (a *analysis) noteExit(st *frame.State) {
	if a.Noting {
		a.exit, _ = a.Merge(a.exit, st)
	}
}

// interpretBranch follows those ways of an If that can be taken.
func (a *analysis) interpretBranch(st *frame.State, in *ir.Instr, b *ir.Block, flow func(ir.BlockID, *frame.State)) {
	v := a.Read(st, in.A)
	// A condition that is known in every context leaves one way. One that hangs on an input
	// may be known to callers, which are asked for it.
	truth, known := v.Truth()
	if !known {
		a.Need(v)
	}
	if !known || truth {
		// Each way gets a state of its own, since the assumption of one must not be seen in the
		// other.
		then := a.Borrow(st)
		a.Assume(then, in.A, true, 0)
		flow(b.Succs[0], then)
		a.GiveBack(then)
	}
	if (!known || !truth) && len(b.Succs) > 1 {
		a.Assume(st, in.A, false, 0)
		flow(b.Succs[1], st)
	}
}

// executeInstruction interprets an instruction that is no jump. It returns false when the
// program does not come back from it.
func (a *analysis) executeInstruction(st *frame.State, i int32, b *ir.Block) bool {
	in := &a.Function.Code[i]
	if in.Op == ir.Invoke {
		if !a.invokeCall(st, i, b) {
			// The arguments of a call that ends the program have been computed: a sink on the call
			// itself still counts.
			a.applyMarks(st, i) // what it was given has arrived
			return false
		}
		// Approved members are recalled after the call has given its result, and what the call
		// writes is forgotten.
		a.Recall(st, in)
		a.Forget(st, in)
		a.applyMarks(st, i)
		return true
	}
	v := a.computeResult(st, i, in)
	if in.Op == ir.Await {
		a.throwRejection(st, in, b)
	}
	a.Forget(st, in)
	if in.Dst != ir.NoVar && v != nil {
		a.Assign(st, in.Dst, v)
	}
	a.applyMarks(st, i)
	return true
}

// computeResult returns what an instruction defines, and does what it does.
func (a *analysis) computeResult(st *frame.State, i int32, in *ir.Instr) *value.Value {
	switch in.Op {
	case ir.Const:
		return a.literalValue(i, in)
	case ir.Copy, ir.Enter:
		return a.copyOf(st, i, in)
	case ir.Await:
		return a.awaitedValue(st, in)
	// An argument that was not given: it has no value and no taint.
	case ir.Missing:
		return value.Unknown
	case ir.LoadField:
		return a.RecallMember(st, in, a.loadField(st, i, in))
	case ir.StoreField:
		a.storeField(st, i, in)
	case ir.LoadIndex:
		return a.RecallMember(st, in, a.loadIndex(st, i, in))
	case ir.StoreIndex:
		a.storeIndex(st, i, in)
	case ir.Slice:
		return a.Slice(st, i, in)
	case ir.LoadGlobal:
		return a.loadGlobal(st, i, in)
	case ir.StoreGlobal:
		a.storeGlobal(st, i, in)
	case ir.New:
		return a.newObject(st, i, in)
	case ir.Closure:
		return a.newClosure(st, i, in)
	case ir.ClassValue:
		// The name of a class as a value: it can be called or compared.
		return &value.Value{API: a.Function.File.Classes[in.X].Qualified, Kind: value.KindFunction}
	case ir.Unary, ir.Binary, ir.Concat, ir.Cast, ir.TypeTest:
		return a.applyOperator(st, in)
	case ir.Iterate:
		return a.iterateValue(st, i, in)
	case ir.Next:
		// Next reads any element: the order of iterations has no meaning here.
		return a.Load(st, a.Read(st, in.A), value.AnyKey)
	case ir.Yield:
		return a.noteYield(st, in)
	case ir.Catch:
		return a.Read(st, in.A).WithAPI(in.Text)
	case ir.Delete:
		a.removePart(st, in)
	}
	return value.Unknown
}

package taint

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// An analysis is the work on one function, in one context. It interprets the
// function over abstract values until nothing changes, and then once more to note
// what happens at calls and ends.
type analysis struct {
	run  *run
	work *worker
	fn   *ir.Function
	ctx  facts

	ids     map[objKey]objID
	objects []objInfo
	inputs  map[*atom]*value
	parts   map[partKey]*value
	// inputIDs has the objects of inputs.
	inputIDs map[*atom]objID
	marks    *marks
	detail
	places varPlaces
	boxed  map[ir.Var]bool // variables that live in cells, because functions share them

	in     []*state // by block: the state at its start, nil for not reached
	except []*value // by block: what is thrown into it
	noting bool     // the last round

	// What the last round notes.
	result  *value
	thrown  *value
	exit    *state
	failed  *state // in which it ends by throwing
	pending map[sinkKey]*pendingSink
	needs   map[*atom]bool
	applied map[objID]bool // function values that were called
	// approvedFor has the kinds for which each parameter is harmless, by answer.
	approvedFor [3][]uint64

	children []*summary // that were applied, in order
	steps    int
	over     bool // the budget is gone
}

// maxSteps bounds the instructions that are interpreted for one function.
const maxSteps = 300_000

// maxVisits bounds how often a block is interpreted.
const maxVisits = 100

func newAnalysis(w *worker, fn *ir.Function, ctx facts) *analysis {
	a := &analysis{
		run: w.run, work: w, fn: fn, ctx: ctx,
		ids: map[objKey]objID{}, inputs: map[*atom]*value{}, parts: map[partKey]*value{}, inputIDs: map[*atom]objID{},
		boxed: w.run.boxed[fn], marks: w.run.marks[fn],
		in: make([]*state, len(fn.Blocks)), except: make([]*value, len(fn.Blocks)),
		pending: map[sinkKey]*pendingSink{}, needs: map[*atom]bool{}, applied: map[objID]bool{},
	}
	a.detail = detailOf(w.run.unitOf[fn])
	a.places = w.run.placeVars(fn, a.marks != nil || len(fn.Blocks) <= 1)
	return a
}

// A detail is how much of what functions do is told apart. Functions that call each
// other pass every part of what they are given to each other, in every combination: the
// more there are, the less is told apart.
type detail struct {
	reach  int // parts of a path
	kept   int // objects of a summary together with their fields
	walk   int // objects whose parts are looked at for the data in a value
	rounds int // in which functions that call each other are computed
}

// detailOf returns the detail for functions that call each other.
func detailOf(unit []*ir.Function) detail {
	switch {
	case len(unit) <= someFunctions:
		return detail{maxPath, maxKept, maxWalk, maxRounds}
	case len(unit) <= manyFunctions:
		return detail{2, maxKept / 2, maxWalk / 2, 3}
	}
	return detail{1, maxKept / 5, maxWalk / 8, 2}
}

// These are few enough, and many, to call each other.
const (
	someFunctions = 4
	manyFunctions = 16
)

// summarize interprets the function and returns what it does.
func (a *analysis) summarize() *summary {
	if len(a.fn.Blocks) == 0 {
		return &summary{fn: a.fn, ctx: a.ctx}
	}
	a.in[0] = a.entry()
	a.settle()
	a.noting = true
	for b := range a.fn.Blocks {
		if a.in[b] != nil {
			a.block(ir.BlockID(b), func(ir.BlockID, *state) {})
		}
	}
	a.escapes()
	return a.summary()
}

// settle interprets the blocks in their order until no state changes. From the end of a
// loop it goes back to the beginning if that has changed: so all ways back there meet
// first, and what is behind the loop sees only what the loop does in the end (the
// recursive strategy of Bourdoncle, Efficient chaotic iteration strategies with
// widenings, 1993).
func (a *analysis) settle() {
	dirty := make([]bool, len(a.fn.Blocks))
	dirty[0] = true
	flow := func(to ir.BlockID, st *state) {
		if next, changed := a.merge(a.in[to], st); changed {
			a.in[to] = next
			dirty[to] = true
		}
	}
	heads := loopHeads(a.fn)
	visits := make([]uint8, len(a.fn.Blocks))
	for b := 0; b < len(dirty); {
		if dirty[b] {
			dirty[b] = false
			a.block(ir.BlockID(b), flow)
			visits[b]++
			if a.over || a.run.stopped() {
				return
			}
			if visits[b] >= maxVisits || a.work.spent() {
				a.over = true
				return
			}
		}
		b = next(b, heads[b], dirty)
	}
}

// next returns the block to look at behind another one, with which the loops of the
// heads end: the innermost head that has changed, or the block that follows.
func next(b int, heads []int32, dirty []bool) int {
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
	heads := make([][]int32, len(fn.Blocks))
	for h := len(last) - 1; h >= 0; h-- {
		if b := last[h] - 1; b >= 0 {
			heads[b] = append(heads[b], int32(h))
		}
	}
	return heads
}

// entry returns the state in which the function begins.
func (a *analysis) entry() *state {
	st := &state{vars: make([]*value, a.fn.Vars)}
	if a.fn.This != ir.NoVar {
		v := a.input(input{kind: inThis}, "")
		if a.fn.Class != nil {
			v = v.typed(a.fn.Class.Qualified)
		} else {
			v = v.typed(a.fn.Owner)
		}
		a.assign(st, a.fn.This, v)
	}
	for i := range a.fn.Params {
		p := &a.fn.Params[i]
		v := a.input(input{kind: inParam, index: int32(i)}, "").typed(p.Type)
		v = a.run.parameter(a, st, i, v)
		if a.run.harmless(p.Type) {
			v = v.with(v.taint.where(func(e *elem) bool { return e.atom.source == nil }))
		}
		v = a.markedParameter(st, int32(i), v)
		if p.Var != ir.NoVar {
			a.assign(st, p.Var, v)
		}
	}
	return st
}

// cell returns the object that holds a shared variable.
func (a *analysis) cell(v ir.Var) *value {
	if a.fn.Locals[v].Kind == ir.Captured {
		for k, c := range a.fn.Captures {
			if c.Inner == v {
				return a.input(input{kind: inCapture, index: int32(k)}, "")
			}
		}
	}
	return &value{objs: []objID{a.key(objKey{instr: -1, sub: int32(v)}, objInfo{own: true})}}
}

// content is the field of a cell.
const content = "="

// lend makes a cell that holds a value.
func (a *analysis) lend(st *state, i int32, v *value) *value {
	cell := a.make(st, i, 0, objInfo{kind: kindObject, own: true}, &object{size: unsized})
	o := st.object(cell.objs[0]).clone()
	o.many = false // the cell of an earlier round is given back
	o.self = nil
	o.set(content, v, maxFields)
	st.put(cell.objs[0], o)
	return cell
}

// contentOf returns what is in a value that is a cell, and any other value as it is.
func (a *analysis) contentOf(st *state, v *value) *value {
	id, ok := v.sole()
	if !ok || a.objects[id].atom != nil {
		return v
	}
	if x, ok := st.object(id).get(content); ok {
		return orUnknown(x).with(orUnknown(x).taint.union(st.object(id).self))
	}
	return v
}

// read returns the value of a variable.
func (a *analysis) read(st *state, v ir.Var) *value {
	if v < 0 {
		return unknown
	}
	if a.fn.IsLocal(v) && (a.boxed[v] || a.fn.Locals[v].Kind == ir.Captured) {
		out := a.load(st, a.cell(v), content)
		if out != nil {
			return out.typed(a.fn.Locals[v].Type)
		}
	}
	if x := a.variable(st, v); x != nil {
		return x
	}
	return unknown
}

// variable returns what a state has of a variable, nil for nothing.
func (a *analysis) variable(st *state, v ir.Var) *value {
	if k := int(a.places.of[v]); k < len(st.vars) {
		return st.vars[k]
	}
	return nil
}

// assign sets a variable.
func (a *analysis) assign(st *state, v ir.Var, x *value) {
	if v < 0 {
		return
	}
	if x == nil {
		x = unknown
	}
	if a.fn.IsLocal(v) {
		l := &a.fn.Locals[v]
		x = x.typed(l.Type)
		if a.boxed[v] || l.Kind == ir.Captured {
			a.store(st, a.cell(v), content, x)
			return
		}
	}
	st.vars[a.places.of[v]] = x
}

// block interprets a block and gives the states at its end to its successors.
func (a *analysis) block(id ir.BlockID, flow func(ir.BlockID, *state)) {
	st := a.borrow(a.in[id])
	a.follow(st, id, flow)
	a.giveBack(st)
}

// follow interprets a block from a state, which it changes.
func (a *analysis) follow(st *state, id ir.BlockID, flow func(ir.BlockID, *state)) {
	b := &a.fn.Blocks[id]
	if a.except[id] != nil {
		a.caught(st, id)
	}
	for i := b.Start; i < b.End; i++ {
		a.work.steps++
		if a.steps++; a.steps > maxSteps {
			a.over = true
			return
		}
		in := &a.fn.Code[i]
		if in.Op.Jumps() {
			a.after(st, i)
			a.jump(st, i, b, flow)
			break
		}
		if !a.exec(st, i, b) {
			return // does not come back
		}
	}
	if b.Except != ir.NoBlock {
		flow(b.Except, st)
	}
}

// caught gives the exception variable of a handler what calls threw.
func (a *analysis) caught(st *state, id ir.BlockID) {
	b := &a.fn.Blocks[id]
	for i := b.Start; i < b.End; i++ {
		if in := &a.fn.Code[i]; in.Op == ir.Catch {
			a.assign(st, in.A, join(a.read(st, in.A), a.except[id]))
			return
		}
	}
}

// jump interprets the end of a block.
func (a *analysis) jump(st *state, i int32, b *ir.Block, flow func(ir.BlockID, *state)) {
	in := &a.fn.Code[i]
	switch in.Op {
	case ir.Return:
		if in.A != ir.NoVar && a.noting {
			v := a.read(st, in.A)
			a.result = join(a.result, v.with(v.taint.at(a.fn, in.Node)))
			a.answers(st, in)
		}
		a.approvals(st, in)
		a.leave(st)
	case ir.Throw:
		if a.noting && len(b.Succs) == 0 {
			a.throws(st, a.read(st, in.A))
		}
	case ir.If:
		a.branch(st, in, b, flow)
		return
	case ir.Stop:
		a.leave(st)
	}
	for _, to := range b.Succs {
		flow(to, st)
	}
}

// throws notes what the function throws, and the state in which it does.
func (a *analysis) throws(st *state, v *value) {
	a.thrown = join(a.thrown, v)
	a.failed, _ = a.merge(a.failed, st)
}

// endHeap returns the objects that there are when the function ends. Those that only
// exist where it throws are among them.
func (a *analysis) endHeap() []*object {
	switch {
	case a.failed == nil && a.exit == nil:
		return nil
	case a.failed == nil:
		return a.exit.heap
	case a.exit == nil:
		return a.failed.heap
	}
	heap := slices.Clone(a.exit.heap)
	for i, o := range a.failed.heap {
		switch {
		case i >= len(heap):
			heap = append(heap, o)
		case heap[i] == nil && a.objects[i].atom == nil:
			heap[i] = o
		}
	}
	return heap
}

// leave notes a state in which the function ends.
func (a *analysis) leave(st *state) {
	if a.noting {
		a.exit, _ = a.merge(a.exit, st)
	}
}

// branch follows those ways of an If that can be taken.
func (a *analysis) branch(st *state, in *ir.Instr, b *ir.Block, flow func(ir.BlockID, *state)) {
	v := a.read(st, in.A)
	truth, known := v.truth()
	if !known {
		a.need(v)
	}
	if !known || truth {
		then := a.borrow(st)
		a.assume(then, in.A, true, 0)
		flow(b.Succs[0], then)
		a.giveBack(then)
	}
	if (!known || !truth) && len(b.Succs) > 1 {
		a.assume(st, in.A, false, 0)
		flow(b.Succs[1], st)
	}
}

// need notes that more could be said if the inputs in the value were known.
func (a *analysis) need(v *value) {
	if v == nil || v.known() {
		return
	}
	for _, e := range v.taint {
		if e.atom.source == nil && !e.atom.deep && !e.atom.picked && e.atom.in.kind != inGlobal &&
			strings.Count(e.atom.path, separator) <= 2 {
			a.needs[e.atom] = true
		}
	}
}

// needType notes that it would help to know as what models know a parameter.
func (a *analysis) needType(v *value) {
	for _, e := range v.taint {
		if e.atom.source == nil && !e.atom.deep && !e.atom.picked &&
			(e.atom.in.kind == inParam && (e.atom.path == "" || shared(e.atom)) ||
				e.atom.in.kind == inCapture && e.atom.path == separator+content ||
				e.atom.in.kind == inThis && e.atom.path != "" && strings.Count(e.atom.path, separator) == 1) {
			a.needs[e.atom] = true
		}
	}
}

// shared reports whether an input is a variable that a function value shares, which the
// function was given.
func shared(at *atom) bool {
	return strings.Count(at.path, separator) == 2 && at.path[len(separator)] == '#' &&
		strings.HasSuffix(at.path, separator+content)
}

// exec interprets an instruction that is no jump. It returns false when the
// program does not come back from it.
func (a *analysis) exec(st *state, i int32, b *ir.Block) bool {
	in := &a.fn.Code[i]
	if in.Op == ir.Invoke {
		if !a.invoke(st, i, b) {
			a.after(st, i) // what it was given has arrived
			return false
		}
		a.recalled(st, in)
		a.forget(st, in)
		a.after(st, i)
		return true
	}
	v := a.compute(st, i, in)
	if in.Op == ir.Await {
		a.rejected(st, in, b)
	}
	a.forget(st, in)
	if in.Dst != ir.NoVar && v != nil {
		a.assign(st, in.Dst, v)
	}
	a.after(st, i)
	return true
}

// compute returns what an instruction defines, and does what it does.
func (a *analysis) compute(st *state, i int32, in *ir.Instr) *value {
	switch in.Op {
	case ir.Const:
		return a.literal(i, in)
	case ir.Copy, ir.Enter:
		return a.copyOf(st, i, in)
	case ir.Await:
		return a.awaited(st, in)
	case ir.Missing:
		return unknown
	case ir.LoadField:
		return a.remembered(st, in, a.loadField(st, i, in))
	case ir.StoreField:
		a.storeField(st, i, in)
	case ir.LoadIndex:
		return a.remembered(st, in, a.loadIndex(st, i, in))
	case ir.StoreIndex:
		a.storeIndex(st, i, in)
	case ir.Slice:
		return a.slice(st, i, in)
	case ir.LoadGlobal:
		return a.loadGlobal(st, i, in)
	case ir.StoreGlobal:
		a.storeGlobal(st, i, in)
	case ir.New:
		return a.fresh(st, i, in)
	case ir.Closure:
		return a.closure(st, i, in)
	case ir.ClassValue:
		return &value{api: a.fn.File.Classes[in.X].Qualified, kind: kindFunction}
	case ir.Unary, ir.Binary, ir.Concat, ir.Cast, ir.TypeTest:
		return a.operator(st, in)
	case ir.Iterate:
		return a.iterate(st, i, in)
	case ir.Next:
		return a.load(st, a.read(st, in.A), anyKey)
	case ir.Yield:
		return a.yield(st, in)
	case ir.Catch:
		return a.read(st, in.A).typed(in.Text)
	case ir.Delete:
		a.remove(st, in)
	}
	return unknown
}

package ir

import (
	"fmt"
	"slices"
	"sync"

	"merlon/internal/engine/sast/tree"
)

// This file has what all of the lowering stands on: blocks, instructions, variables, and the
// numbering of the finished function.

// tempBase is where temporaries are numbered from while a function is built; how
// many locals there are is known only at its end.
const tempBase Var = 1 << 26

// A builder makes the code of one function. Code is written block by block while the tree is
// walked; blocks are numbered as they are created, jumps may name blocks that are not written yet,
// and finishFunction puts the reachable ones in their final order. The state below belongs to the
// point of the source that is being lowered: handlers, jump targets and labels are saved and
// restored around the construct that sets them.
type builder struct {
	*lowerer
	*scratch
	fn    *Function
	outer *builder

	cur   BlockID // the block that is being written, NoBlock after a jump
	temps Var
	vars  map[int32]Var // locals, by the Name that declares them

	handler      BlockID // where exceptions go now
	exc          Var     // the variable that the handler reads
	final        *final  // the innermost finally
	jumps        []target
	label        string // of the loop that comes next
	labels       map[string]BlockID
	result       Var     // what a return through a finally returns
	loopEnd      BlockID // the end of the innermost iteration
	caughtVar    Var     // in a handler, what it caught
	yieldVar     Var     // what a switch expression assigns
	deferred     []deferral
	spawned      []deferral // of the blocks that are open
	lent         []lent     // of the calls that are being evaluated
	nextBodies   []BlockID  // the bodies behind those of the open cases
	argumentsVar Var        // the list of all arguments, where the function names it
	overLimit    bool
}

// A scratch is the memory in which a function is drafted: how long its parts become is
// known at its end, where they are copied. The next function uses it again.
type scratch struct {
	code     []Instr
	blocks   []draft
	calls    []Call
	args     []Arg
	operands []Var
	number   []Var // by temporary
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// reset empties the memory. The slices keep their capacity, which is what makes the pool worth
// having.
func (s *scratch) reset() {
	*s = scratch{s.code[:0], s.blocks[:0], s.calls[:0], s.args[:0], s.operands[:0], s.number[:0]}
}

// A draft is a block that is not finished. Its instructions are already in the code; where they
// end and what follows is set when it is closed.
type draft struct {
	start, end int32 // -1 before it is started
	succs      []BlockID
	except     BlockID
}

// newBuilder begins the function with its entry block. No variable has a number yet, and no block
// of the outer function is visible: what is used of it is captured. The scratch space is taken
// from a pool, since most functions are small and there are many.
func (l *lowerer) newBuilder(fn *Function, outer *builder) *builder {
	b := &builder{lowerer: l, scratch: scratches.Get().(*scratch), fn: fn, outer: outer, cur: NoBlock, handler: NoBlock,
		exc: NoVar, result: NoVar, yieldVar: NoVar, caughtVar: NoVar, argumentsVar: NoVar}
	b.vars = map[int32]Var{}
	b.startBlock(b.newBlock())
	return b
}

// newBlock makes a block that is started later. Blocks that nothing jumps to are dropped by
// orderBlocks.
func (b *builder) newBlock() BlockID {
	b.blocks = append(b.blocks, draft{start: -1, except: NoBlock})
	return BlockID(len(b.blocks) - 1)
}

// startBlock begins to write the block; an open one falls through to it. The block must not have
// been started before.
func (b *builder) startBlock(id BlockID) {
	if b.cur != NoBlock {
		b.jumpTo(id)
	}
	b.cur = id
	b.blocks[id].start = int32(len(b.code))
}

// emitInstr appends the instruction. Code behind a jump goes to a block of its own, which nothing
// reaches. Behind the limit on instructions nothing is written any more; finishFunction then
// replaces the whole function by a Stop, because half a function would give wrong results.
func (b *builder) emitInstr(in Instr) {
	if b.overLimit {
		return
	}
	if len(b.code) >= b.limits.Instructions {
		b.overLimit = true
		return
	}
	if b.cur == NoBlock {
		b.startBlock(b.newBlock())
	}
	b.code = append(b.code, in)
}

// endBlock closes the open block, whose last instruction is a jump. What follows needs a new
// block, or cannot be reached. Beyond the limit nothing more is recorded.
func (b *builder) endBlock(succs ...BlockID) {
	if b.overLimit {
		return
	}
	d := &b.blocks[b.cur]
	d.end, d.succs = int32(len(b.code)), succs
	b.cur = NoBlock
}

// jumpTo ends the open block; without one it does nothing. Code behind a return or throw has no
// open block, so structured statements may end with a jump without asking whether their body ends.
func (b *builder) jumpTo(to BlockID) {
	if b.cur == NoBlock {
		return
	}
	b.emitInstr(newInstr(Jump, tree.None))
	b.endBlock(to)
}

// branchOn ends the open block by the condition.
func (b *builder) branchOn(node int32, cond Var, then, other BlockID) {
	b.emitInstr(newInstr(If, node, cond))
	b.endBlock(then, other)
}

// newInstr returns an instruction without a result; operands are A, B and C. The operands that are
// missing are NoVar and not 0, which is a variable.
func newInstr(op Op, node int32, operands ...Var) Instr {
	in := Instr{Op: op, Node: node, Dst: NoVar, A: NoVar, B: NoVar, C: NoVar}
	for i, v := range operands {
		switch i {
		case 0:
			in.A = v
		case 1:
			in.B = v
		case 2:
			in.C = v
		}
	}
	return in
}

// emitPlain emits an instruction without a result.
func (b *builder) emitPlain(op Op, node int32, text string, operands ...Var) {
	in := newInstr(op, node, operands...)
	in.Text = text
	b.emitInstr(in)
}

// emitValue emits an instruction whose result is a new temporary.
func (b *builder) emitValue(op Op, node int32, text string, operands ...Var) Var {
	in := newInstr(op, node, operands...)
	in.Text, in.Dst = text, b.newTemp()
	b.emitInstr(in)
	return in.Dst
}

// copyTo emits a copy to a variable.
func (b *builder) copyTo(dst Var, node int32, from Var) {
	in := newInstr(Copy, node, from)
	in.Dst = dst
	b.emitInstr(in)
}

// emitConstant emits a constant.
func (b *builder) emitConstant(node int32, kind ConstKind, text string) Var {
	in := newInstr(Const, node)
	in.Text, in.X, in.Dst = text, int32(kind), b.newTemp()
	b.emitInstr(in)
	return in.Dst
}

// emitUnknown emits a value of which nothing is known.
func (b *builder) emitUnknown(node int32, what string) Var {
	return b.emitConstant(node, ConstUnknown, what)
}

// newTemp returns a new temporary. Its number is provisional: emitBlocks gives the final one.
func (b *builder) newTemp() Var {
	b.temps++
	return tempBase + b.temps - 1
}

// emitCall emits a call. Where exceptions are caught it ends the block. The arguments are copied
// into one list of the function, where the call knows its part.
func (b *builder) emitCall(node int32, c Call, args []Arg) Var {
	in := newInstr(Invoke, node)
	in.X, in.Dst = int32(len(b.calls)), b.newTemp()
	c.first, c.count = int32(len(b.args)), int32(len(args))
	b.args = append(b.args, args...)
	b.calls = append(b.calls, c)
	b.emitInstr(in)
	b.mayThrow()
	return in.Dst
}

// mayThrow ends the block behind what may throw, in a region with a handler. So every point at
// which an exception can leave is the end of a block, and the state there is the state at the end
// of the block; an analysis needs no edges from the middle of blocks.
func (b *builder) mayThrow() {
	if b.handler != NoBlock && !b.overLimit {
		d, next := b.cur, b.newBlock()
		b.jumpTo(next)
		b.blocks[d].except = b.handler
		b.startBlock(next)
	}
}

// emitConcat emits the operands as one value. Templates and the parts of constructs without a
// generic kind become one value this way: data in one of the parts is data in the whole.
func (b *builder) emitConcat(node int32, text string, operands []Var) Var {
	in := newInstr(Concat, node)
	in.Text, in.X, in.B, in.Dst = text, int32(len(b.operands)), Var(len(operands)), b.newTemp()
	b.operands = append(b.operands, operands...)
	b.emitInstr(in)
	return in.Dst
}

// addLocal adds a named variable.
func (b *builder) addLocal(l Local) Var {
	b.fn.Locals = append(b.fn.Locals, l)
	return Var(len(b.fn.Locals) - 1)
}

// finishFunction ends the function: it orders the reachable blocks, numbers the variables
// and notes where each node's value is.
func (b *builder) finishFunction() {
	fn := b.fn
	if b.cur != NoBlock && !b.overLimit {
		b.emitPlain(Return, tree.None, "")
		b.endBlock()
	}
	if b.overLimit {
		b.skipNode(fn.Node, fmt.Sprintf("the function has more than %d instructions", b.limits.Instructions))
		b.reset()
		b.code = append(b.code, newInstr(Stop, fn.Node))
		b.blocks = append(b.blocks, draft{end: 1, except: NoBlock})
	}
	for id := range b.blocks {
		if b.blocks[id].start < 0 && !b.overLimit { // the label of a goto that is nowhere
			b.cur = NoBlock
			b.startBlock(BlockID(id))
			b.code = append(b.code, newInstr(Stop, fn.Node))
			b.endBlock()
		}
	}
	b.threadJumps()
	fn.args, fn.operands = append(fn.args, b.args...), append(fn.operands, b.operands...)
	b.emitBlocks(b.orderBlocks())
	b.linkCode()
	b.recordValues()
	b.reset()
	scratches.Put(b.scratch)
	b.scratch = nil
}

// emitBlocks writes the blocks in the order, with the final numbers of variables:
// temporaries are numbered behind the locals in the order of their first use, so that the
// printed form is stable.
func (b *builder) emitBlocks(order []BlockID) {
	fn := b.fn
	fn.Vars = len(fn.Locals)
	number := slices.Grow(b.number, int(b.temps))[:b.temps]
	b.number = number
	for i := range number {
		number[i] = NoVar
	}
	renamed := func(v Var) Var {
		if v < tempBase {
			return v
		}
		t := &number[v-tempBase]
		if *t == NoVar {
			*t = Var(fn.Vars)
			fn.Vars++
		}
		return *t
	}
	total, edges := int32(0), 0
	at := make([]BlockID, len(b.blocks))
	for i, id := range order {
		total += b.blocks[id].end - b.blocks[id].start
		edges += len(b.blocks[id].succs)
		at[id] = BlockID(i)
	}
	succs := make([]BlockID, 0, edges)
	fn.Code = make([]Instr, 0, total)
	fn.Blocks = make([]Block, len(order))
	for i, id := range order {
		d := &b.blocks[id]
		blk := &fn.Blocks[i]
		blk.Start, blk.Except = int32(len(fn.Code)), NoBlock
		b.emitBlockCode(b.code[d.start:d.end], renamed)
		blk.End = int32(len(fn.Code))
		from := len(succs)
		for _, s := range d.succs {
			succs = append(succs, at[s])
		}
		blk.Succs = succs[from:len(succs):len(succs)]
		if d.except != NoBlock {
			blk.Except = at[d.except]
		}
	}
}

// emitBlockCode appends the instructions of one block with their final variables. The
// operands of a Concat and of a call are outside of the instruction.
func (b *builder) emitBlockCode(code []Instr, renamed func(Var) Var) {
	fn := b.fn
	for _, in := range code {
		in.Dst, in.A, in.C = renamed(in.Dst), renamed(in.A), renamed(in.C)
		switch in.Op {
		case Concat: // B is the number of operands
			for k, v := range fn.Operands(&in) {
				fn.operands[int(in.X)+k] = renamed(v)
			}
		case Invoke:
			in.B = renamed(in.B)
			b.renameCall(&b.calls[in.X], int32(len(fn.Code)), renamed)
		default:
			in.B = renamed(in.B)
		}
		fn.Code = append(fn.Code, in)
	}
}

// renameCall gives the variables of a call their final numbers and notes where the call is.
// Numbers become final when the variables of the blocks are joined, at the end of the function.
func (b *builder) renameCall(c *Call, instr int32, renamed func(Var) Var) {
	c.Instr = instr
	c.Receiver, c.Callee = renamed(c.Receiver), renamed(c.Callee)
	args := b.fn.Args(c)
	for k := range args {
		args[k].Value = renamed(args[k].Value)
	}
}

// threadJumps leads edges past blocks that hold nothing but a jump. Ifs and loops leave many such
// blocks; without them the fixed points that run over the code need fewer rounds. A block that
// jumps to itself stays.
func (b *builder) threadJumps() {
	past := func(id BlockID) BlockID {
		for range len(b.blocks) { // a loop of jumps has no end
			d := &b.blocks[id]
			if d.end != d.start+1 || b.code[d.start].Op != Jump || d.succs[0] == id {
				break
			}
			id = d.succs[0]
		}
		return id
	}
	for i := range b.blocks {
		for k, s := range b.blocks[i].succs {
			b.blocks[i].succs[k] = past(s)
		}
	}
}

// orderBlocks returns the reachable blocks in reverse post-order. In this order all predecessors
// of a block but those of back edges come before it, so that a data-flow analysis in the order of
// the code converges fast. The search is iterative: generated code nests deeper than the stack
// allows.
func (b *builder) orderBlocks() []BlockID {
	type frame struct {
		id   BlockID
		next int
	}
	seen := make([]bool, len(b.blocks))
	var post []BlockID
	stack := []frame{{id: 0}}
	seen[0] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		d := &b.blocks[f.id]
		n := len(d.succs)
		to := NoBlock
		switch { // the last successor first, so that the first one comes first in the result
		case f.next == 0:
			to = d.except
		case f.next <= n:
			to = d.succs[n-f.next]
		default:
			post = append(post, f.id)
			stack = stack[:len(stack)-1]
			continue
		}
		f.next++
		if to != NoBlock && !seen[to] {
			seen[to] = true
			stack = append(stack, frame{id: to})
		}
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// linkCode fills in the predecessors and the definitions of temporaries, and leaves calls of code
// that is gone. Calls are renumbered by their place in the code, so that Function.Calls has no
// entries for unreachable calls.
func (b *builder) linkCode() {
	fn := b.fn
	fn.linkBlocks()
	fn.defs = make([]int32, fn.Vars-len(fn.Locals))
	for i := range fn.defs {
		fn.defs[i] = -1
	}
	calls := 0
	for i := range fn.Code {
		if fn.Code[i].Op == Invoke {
			calls++
		}
	}
	fn.Calls = make([]Call, 0, calls)
	for i := range fn.Code {
		in := &fn.Code[i]
		if t := int(in.Dst) - len(fn.Locals); t >= 0 && fn.defs[t] < 0 {
			fn.defs[t] = int32(i)
		}
		if in.Op == Invoke {
			fn.Calls = append(fn.Calls, b.calls[in.X])
			in.X = int32(len(fn.Calls) - 1)
		}
	}
}

// linkBlocks fills in the predecessors. The lists share one array: a function has thousands of
// blocks with one or two predecessors each.
func (fn *Function) linkBlocks() {
	into := make([]int32, len(fn.Blocks))
	total := int32(0)
	fn.eachEdge(func(_, to BlockID) { into[to]++; total++ })
	all := make([]BlockID, total)
	for i := range fn.Blocks {
		fn.Blocks[i].Preds, all = all[:0:into[i]], all[into[i]:]
	}
	fn.eachEdge(func(from, to BlockID) { fn.Blocks[to].Preds = append(fn.Blocks[to].Preds, from) })
}

// eachEdge calls f for each edge between blocks, those to handlers included. Both passes of
// linkBlocks use it, so that they count the same edges.
func (fn *Function) eachEdge(f func(from, to BlockID)) {
	for i := range fn.Blocks {
		for _, s := range fn.Blocks[i].Succs {
			f(BlockID(i), s)
		}
		if h := fn.Blocks[i].Except; h != NoBlock {
			f(BlockID(i), h)
		}
	}
}

// recordValues records for each node where its value is: the first instruction that has one. Later
// instructions of the same node, such as the conversion that follows a call, are details of the
// lowering.
func (b *builder) recordValues() {
	for i := range b.fn.Code {
		in := &b.fn.Code[i]
		if in.Node < 0 || in.result() == NoVar && in.Op != Invoke {
			continue
		}
		if p := &b.values[in.Node]; p.function < 0 {
			*p = valueLocation{b.fn.Index, int32(i)}
		}
	}
}

package ir

import (
	"fmt"
	"slices"
	"sync"

	"merlon/internal/engine/sast/tree"
)

// tempBase is where temporaries are numbered from while a function is built; how
// many locals there are is known only at its end.
const tempBase Var = 1 << 26

// A builder makes one function. Code is written block by block; finish puts the
// blocks in their final order.
type builder struct {
	*lowerer
	*scratch
	fn    *Function
	outer *builder

	cur   BlockID // the block that is being written, NoBlock after a jump
	temps Var
	vars  map[int32]Var // locals, by the Name that declares them

	handler   BlockID // where exceptions go now
	exc       Var     // the variable that the handler reads
	final     *final  // the innermost finally
	jumps     []target
	label     string // of the loop that comes next
	labels    map[string]BlockID
	result    Var     // what a return through a finally returns
	jumpsDone BlockID // the end of the innermost iteration
	caughtVar Var     // in a handler, what it caught
	yields    Var     // what a switch expression assigns
	deferred  []deferral
	spawned   []deferral // of the blocks that are open
	lent      []lent     // of the calls that are being evaluated
	next      []BlockID  // the bodies behind those of the open cases
	given     Var        // the list of all arguments, where the function names it
	over      bool
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

// reset empties the memory.
func (s *scratch) reset() {
	*s = scratch{s.code[:0], s.blocks[:0], s.calls[:0], s.args[:0], s.operands[:0], s.number[:0]}
}

// A draft is a block that is not finished.
type draft struct {
	start, end int32 // -1 before it is started
	succs      []BlockID
	except     BlockID
}

// newBuilder begins the function with its entry block.
func (l *lowerer) newBuilder(fn *Function, outer *builder) *builder {
	b := &builder{lowerer: l, scratch: scratches.Get().(*scratch), fn: fn, outer: outer, cur: NoBlock, handler: NoBlock,
		exc: NoVar, result: NoVar, yields: NoVar, caughtVar: NoVar, given: NoVar}
	b.vars = map[int32]Var{}
	b.start(b.newBlock())
	return b
}

// newBlock makes a block that is started later.
func (b *builder) newBlock() BlockID {
	b.blocks = append(b.blocks, draft{start: -1, except: NoBlock})
	return BlockID(len(b.blocks) - 1)
}

// start begins to write the block; an open one falls through to it.
func (b *builder) start(id BlockID) {
	if b.cur != NoBlock {
		b.jump(id)
	}
	b.cur = id
	b.blocks[id].start = int32(len(b.code))
}

// emit appends the instruction. Code behind a jump goes to a block of its own,
// which nothing reaches.
func (b *builder) emit(in Instr) {
	if b.over {
		return
	}
	if len(b.code) >= b.limits.Instructions {
		b.over = true
		return
	}
	if b.cur == NoBlock {
		b.start(b.newBlock())
	}
	b.code = append(b.code, in)
}

// end closes the open block, whose last instruction is a jump.
func (b *builder) end(succs ...BlockID) {
	if b.over {
		return
	}
	d := &b.blocks[b.cur]
	d.end, d.succs = int32(len(b.code)), succs
	b.cur = NoBlock
}

// jump ends the open block; without one it does nothing.
func (b *builder) jump(to BlockID) {
	if b.cur == NoBlock {
		return
	}
	b.emit(plain(Jump, tree.None))
	b.end(to)
}

// branch ends the open block by the condition.
func (b *builder) branch(node int32, cond Var, then, other BlockID) {
	b.emit(plain(If, node, cond))
	b.end(then, other)
}

// plain returns an instruction without a result; operands are A, B and C.
func plain(op Op, node int32, operands ...Var) Instr {
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

// do emits an instruction without a result.
func (b *builder) do(op Op, node int32, text string, operands ...Var) {
	in := plain(op, node, operands...)
	in.Text = text
	b.emit(in)
}

// value emits an instruction whose result is a new temporary.
func (b *builder) value(op Op, node int32, text string, operands ...Var) Var {
	in := plain(op, node, operands...)
	in.Text, in.Dst = text, b.temp()
	b.emit(in)
	return in.Dst
}

// copyTo emits a copy to a variable.
func (b *builder) copyTo(dst Var, node int32, from Var) {
	in := plain(Copy, node, from)
	in.Dst = dst
	b.emit(in)
}

// constant emits a constant.
func (b *builder) constant(node int32, kind ConstKind, text string) Var {
	in := plain(Const, node)
	in.Text, in.X, in.Dst = text, int32(kind), b.temp()
	b.emit(in)
	return in.Dst
}

// unknown emits a value of which nothing is known.
func (b *builder) unknown(node int32, what string) Var { return b.constant(node, ConstUnknown, what) }

func (b *builder) temp() Var {
	b.temps++
	return tempBase + b.temps - 1
}

// invoke emits a call. Where exceptions are caught it ends the block.
func (b *builder) invoke(node int32, c Call, args []Arg) Var {
	in := plain(Invoke, node)
	in.X, in.Dst = int32(len(b.calls)), b.temp()
	c.first, c.count = int32(len(b.args)), int32(len(args))
	b.args = append(b.args, args...)
	b.calls = append(b.calls, c)
	b.emit(in)
	b.mayThrow()
	return in.Dst
}

// mayThrow ends the block behind what may throw, in a region with a handler.
func (b *builder) mayThrow() {
	if b.handler != NoBlock && !b.over {
		d, next := b.cur, b.newBlock()
		b.jump(next)
		b.blocks[d].except = b.handler
		b.start(next)
	}
}

// concat emits the operands as one value.
func (b *builder) concat(node int32, text string, operands []Var) Var {
	in := plain(Concat, node)
	in.Text, in.X, in.B, in.Dst = text, int32(len(b.operands)), Var(len(operands)), b.temp()
	b.operands = append(b.operands, operands...)
	b.emit(in)
	return in.Dst
}

// addLocal adds a named variable.
func (b *builder) addLocal(l Local) Var {
	b.fn.Locals = append(b.fn.Locals, l)
	return Var(len(b.fn.Locals) - 1)
}

// finish ends the function: it orders the reachable blocks, numbers the variables
// and notes where each node's value is.
func (b *builder) finish() {
	fn := b.fn
	if b.cur != NoBlock && !b.over {
		b.do(Return, tree.None, "")
		b.end()
	}
	if b.over {
		b.skip(fn.Node, fmt.Sprintf("the function has more than %d instructions", b.limits.Instructions))
		b.reset()
		b.code = append(b.code, plain(Stop, fn.Node))
		b.blocks = append(b.blocks, draft{end: 1, except: NoBlock})
	}
	for id := range b.blocks {
		if b.blocks[id].start < 0 && !b.over { // the label of a goto that is nowhere
			b.cur = NoBlock
			b.start(BlockID(id))
			b.code = append(b.code, plain(Stop, fn.Node))
			b.end()
		}
	}
	b.thread()
	fn.args, fn.operands = append(fn.args, b.args...), append(fn.operands, b.operands...)
	b.emitBlocks(b.order())
	b.link()
	b.note()
	b.reset()
	scratches.Put(b.scratch)
	b.scratch = nil
}

// emitBlocks writes the blocks in the order, with the final numbers of variables.
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
	for _, id := range order {
		total += b.blocks[id].end - b.blocks[id].start
		edges += len(b.blocks[id].succs)
	}
	succs := make([]BlockID, 0, edges)
	fn.Code = make([]Instr, 0, total)
	at := make([]BlockID, len(b.blocks))
	for i, id := range order {
		at[id] = BlockID(i)
	}
	fn.Blocks = make([]Block, len(order))
	for i, id := range order {
		d := &b.blocks[id]
		blk := &fn.Blocks[i]
		blk.Start, blk.Except = int32(len(fn.Code)), NoBlock
		for _, in := range b.code[d.start:d.end] {
			in.Dst, in.A, in.C = renamed(in.Dst), renamed(in.A), renamed(in.C)
			if in.Op != Concat {
				in.B = renamed(in.B)
			}
			if in.Op == Invoke {
				b.renameCall(&b.calls[in.X], int32(len(fn.Code)), renamed)
			}
			if in.Op == Concat {
				for k, v := range fn.Operands(&in) {
					fn.operands[int(in.X)+k] = renamed(v)
				}
			}
			fn.Code = append(fn.Code, in)
		}
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

// renameCall gives the variables of a call their final numbers.
func (b *builder) renameCall(c *Call, instr int32, renamed func(Var) Var) {
	c.Instr = instr
	c.Receiver, c.Callee = renamed(c.Receiver), renamed(c.Callee)
	args := b.fn.Args(c)
	for k := range args {
		args[k].Value = renamed(args[k].Value)
	}
}

// thread leads edges past blocks that hold nothing but a jump.
func (b *builder) thread() {
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

// order returns the reachable blocks in reverse post-order.
func (b *builder) order() []BlockID {
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

// link fills in the predecessors and the definitions of temporaries, and leaves calls
// of code that is gone.
func (b *builder) link() {
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

// linkBlocks fills in the predecessors.
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

// eachEdge calls f for each edge between blocks, those to handlers included.
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

// note records for each node where its value is: the first instruction that has one.
func (b *builder) note() {
	for i := range b.fn.Code {
		in := &b.fn.Code[i]
		if in.Node < 0 || in.result() == NoVar && in.Op != Invoke {
			continue
		}
		if p := &b.values[in.Node]; p.function < 0 {
			*p = place{b.fn.Index, int32(i)}
		}
	}
}

package ir

import (
	"fmt"
	"slices"
)

// Check verifies the invariants of the form and returns the first fault: blocks
// that end in one jump, edges known on both ends, operands that are variables and
// defined on some way, calls before exceptional edges, values that are found from
// their nodes.
func (f *File) Check() error {
	if len(f.Functions) == 0 || f.Functions[0].Kind != TopLevel {
		return fmt.Errorf("no top-level function")
	}
	for i, fn := range f.Functions {
		if int(fn.Index) != i || fn.File != f {
			return fmt.Errorf("function %d has index %d", i, fn.Index)
		}
		if err := fn.checkCode(); err != nil {
			return fmt.Errorf("function %s (#%d): %w", fn.Qualified, i, err)
		}
	}
	for node := range f.values {
		fn, instr, _ := f.Value(int32(node))
		if fn != nil && int(instr) >= len(fn.Code) {
			return fmt.Errorf("node %d: instruction %d of %d", node, instr, len(fn.Code))
		}
	}
	return nil
}

// checkCode verifies the code of one function.
func (fn *Function) checkCode() error {
	defined := make([]bool, fn.Vars)
	for i := range fn.Code {
		if d := fn.Code[i].Dst; d >= 0 && int(d) < fn.Vars {
			defined[d] = true
		}
	}
	for i := range fn.Locals {
		defined[i] = true // entry values, captured values, and null
	}
	next := int32(0)
	for i := range fn.Blocks {
		blk := &fn.Blocks[i]
		if blk.Start != next || blk.End <= blk.Start {
			return fmt.Errorf("block %d is %d to %d after %d", i, blk.Start, blk.End, next)
		}
		next = blk.End
		if err := fn.checkBlock(BlockID(i), defined); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	if int(next) != len(fn.Code) {
		return fmt.Errorf("blocks end at %d of %d", next, len(fn.Code))
	}
	return fn.checkTables()
}

// checkTables verifies that calls and captures refer to what is there. They are numbers of each
// other, which the analyses follow without a look.
func (fn *Function) checkTables() error {
	for i, c := range fn.Calls {
		if c.Instr < 0 || int(c.Instr) >= len(fn.Code) || fn.Code[c.Instr].Op != Invoke ||
			int(fn.Code[c.Instr].X) != i {
			return fmt.Errorf("call %d: instruction %d", i, c.Instr)
		}
	}
	for _, c := range fn.Captures {
		if fn.Parent == nil || !fn.Parent.IsLocal(c.Outer) || !fn.IsLocal(c.Inner) {
			return fmt.Errorf("capture %d of %d", c.Inner, c.Outer)
		}
	}
	return nil
}

// checkBlock verifies one block: it ends in its only jump, a call that may throw stands directly
// in front of that jump, and every operand is defined somewhere.
func (fn *Function) checkBlock(id BlockID, defined []bool) error {
	blk := &fn.Blocks[id]
	for i := blk.Start; i < blk.End; i++ {
		in := &fn.Code[i]
		if in.Op.Jumps() != (i == blk.End-1) {
			return fmt.Errorf("%s at %d of %d to %d", in.Op, i, blk.Start, blk.End)
		}
		if in.Op == Invoke && blk.Except != NoBlock && i != blk.End-2 {
			return fmt.Errorf("call at %d in a block with an exceptional edge", i)
		}
		if int(in.Node) >= len(fn.File.Tree.Nodes) {
			return fmt.Errorf("node %d at %d", in.Node, i)
		}
		for _, v := range fn.usedVars(in) {
			if v != NoVar && (v < 0 || int(v) >= fn.Vars || !defined[v]) {
				return fmt.Errorf("operand %d of %q is never defined", v, fn.instrText(in))
			}
		}
	}
	return fn.checkEdges(id)
}

// usedVars returns the variables that an instruction reads; NoVar may be among them. Parts of a
// call and of a concatenation are in tables beside the code, so that all instructions have one
// size.
func (fn *Function) usedVars(in *Instr) []Var {
	switch in.Op {
	case Concat:
		return fn.Operands(in)
	case Invoke:
		c := &fn.Calls[in.X]
		list := []Var{c.Receiver, c.Callee}
		for _, a := range fn.Args(c) {
			list = append(list, a.Value)
		}
		return list
	}
	return []Var{in.A, in.B, in.C}
}

// checkEdges verifies that the jump at the end of a block has as many successors as its
// operation needs, and that both ends know each edge.
func (fn *Function) checkEdges(id BlockID) error {
	blk := &fn.Blocks[id]
	last := fn.Code[blk.End-1].Op
	if !validSuccessors(last, len(blk.Succs)) {
		return fmt.Errorf("%s with %d successors", last, len(blk.Succs))
	}
	to := blk.Succs
	if blk.Except != NoBlock {
		to = append(slices.Clone(to), blk.Except)
	}
	for _, s := range to {
		if s < 0 || int(s) >= len(fn.Blocks) || !slices.Contains(fn.Blocks[s].Preds, id) {
			return fmt.Errorf("edge to %d is not known there", s)
		}
	}
	for _, p := range blk.Preds {
		b := &fn.Blocks[p]
		if !slices.Contains(b.Succs, id) && b.Except != id {
			return fmt.Errorf("edge from %d is not known there", p)
		}
	}
	return nil
}

// validSuccessors reports whether a block that ends in the operation may have n
// successors.
func validSuccessors(last Op, n int) bool {
	switch last {
	case Jump:
		return n == 1
	case If:
		return n == 2
	case Dispatch:
		return n > 0
	case Return, Stop:
		return n == 0
	case Throw:
		return n <= 1
	}
	return true
}

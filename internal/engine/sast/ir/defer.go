package ir

import (
	"slices"

	"merlon/internal/engine/sast/tree"
)

// This file lowers calls that run later: deferred ones and those beside (Go).

// A deferral is a call that was deferred: what it calls with what is known then.
type deferral struct {
	node int32
	call Call
	args []Arg
}

// bodyAndDeferred lowers the body; deferred calls run on every way out of it, the
// last one first.
func (b *builder) bodyAndDeferred() {
	if !b.defers() {
		b.body()
		return
	}
	b.withFinally(b.body, func() {
		for _, d := range slices.Backward(b.deferred) {
			b.invoke(d.node, d.call, d.args)
		}
	})
}

// defers reports whether the function itself defers calls.
func (b *builder) defers() bool {
	n := &b.t.Nodes[b.fn.Node]
	for i := b.fn.Node; i < n.Next; i++ {
		if b.t.Nodes[i].Kind == tree.Defer && b.unit[i] == b.fn.Index {
			return true
		}
	}
	return false
}

// deferCall evaluates the callee and the arguments of a deferred call.
func (b *builder) deferCall(i int32) {
	if !b.t.Is(i, tree.Call) || b.converts(b.t.Child(i, tree.RoleCallee)) || b.final == nil {
		b.expr(i)
		return
	}
	c := b.callee(i)
	from := len(b.lent)
	b.deferred = append(b.deferred, deferral{i, c, b.arguments(i)})
	b.giveBack(from)
}

// spawn evaluates a call that runs beside what follows: it may see what the function
// does until the end of the block, and the function what the call does.
func (b *builder) spawn(i int32) {
	if !b.t.Is(i, tree.Call) || b.converts(b.t.Child(i, tree.RoleCallee)) {
		b.expr(i)
		return
	}
	c := b.callee(i)
	from := len(b.lent)
	args := b.arguments(i)
	b.invoke(i, c, args)
	b.giveBack(from)
	b.spawned = append(b.spawned, deferral{i, c, args})
}

// meet calls once more what the statements of a block have spawned, from the one with
// the number on.
func (b *builder) meet(from int) {
	for _, s := range b.spawned[from:] {
		if b.cur != NoBlock {
			b.invoke(s.node, s.call, s.args)
		}
	}
	b.spawned = b.spawned[:from]
}

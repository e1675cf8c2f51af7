package ir

import (
	"slices"

	"merlon/internal/engine/sast/tree"
)

// This file lowers calls that run later: deferred ones and those beside (Go).

// A deferral is a call that was deferred: its callee and arguments, which are evaluated at the
// statement and not when the call runs.
type deferral struct {
	node int32
	call Call
	args []Arg
}

// bodyAndDeferred lowers the body; deferred calls run on every way out of it, the
// last one first.
func (b *builder) bodyAndDeferred() {
	if !b.hasDefer() {
		b.lowerBody()
		return
	}
	b.withFinally(b.lowerBody, func() {
		for _, d := range slices.Backward(b.deferred) {
			b.emitCall(d.node, d.call, d.args)
		}
	})
}

// hasDefer reports whether the function itself defers calls. Deferred calls of nested functions
// are theirs.
func (b *builder) hasDefer() bool {
	n := &b.t.Nodes[b.fn.Node]
	for i := b.fn.Node; i < n.Next; i++ {
		if b.t.Nodes[i].Kind == tree.Defer && b.unit[i] == b.fn.Index {
			return true
		}
	}
	return false
}

// deferCall evaluates the callee and the arguments of a deferred call. What is no call runs at
// once.
func (b *builder) deferCall(i int32) {
	if !b.t.Is(i, tree.Call) || b.isConversion(b.t.Child(i, tree.RoleCallee)) || b.final == nil {
		b.lowerExpr(i)
		return
	}
	c := b.lowerCallee(i)
	from := len(b.lent)
	b.deferred = append(b.deferred, deferral{i, c, b.lowerArguments(i)})
	b.writeBackLent(from)
}

// spawnCall evaluates a call that runs beside what follows: it may see what the function
// does until the end of the block, and the function what the call does.
func (b *builder) spawnCall(i int32) {
	if !b.t.Is(i, tree.Call) || b.isConversion(b.t.Child(i, tree.RoleCallee)) {
		b.lowerExpr(i)
		return
	}
	c := b.lowerCallee(i)
	from := len(b.lent)
	args := b.lowerArguments(i)
	b.emitCall(i, c, args)
	b.writeBackLent(from)
	b.spawned = append(b.spawned, deferral{i, c, args})
}

// joinSpawned calls once more what the statements of a block have spawned, from the one with the
// number on. Two calls, one at each end, model that both sides can see each other's writes without
// modelling interleavings.
func (b *builder) joinSpawned(from int) {
	for _, s := range b.spawned[from:] {
		if b.cur != NoBlock {
			b.emitCall(s.node, s.call, s.args)
		}
	}
	b.spawned = b.spawned[:from]
}

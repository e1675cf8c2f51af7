package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file lowers what runs on the way out: try, catch, finally, with.
//
// A finally is lowered once. What leaves its try on any way enters it; behind it a
// Dispatch goes on to where each of them wanted to go. So the form stays linear in
// the source, at the price that the ways meet in the finally.

// A final is a finally that is open. Ways out of its region (return, break, continue) are noted as
// exits, and lead through it.
type final struct {
	outer *final
	entry BlockID
	exits []exit
}

// An exit is where a way out goes on behind a finally.
type exit struct {
	pad   BlockID
	to    BlockID // NoBlock is out of the function
	until *final
}

// leaveTo goes to the block, through every finally inside of until. Each distinct way out gets one
// exit of the finally, behind which it goes on through the next one outside.
func (b *builder) leaveTo(to BlockID, until *final) {
	f := b.final
	if f == until || f == nil {
		if to != NoBlock {
			b.jumpTo(to)
			return
		}
		v := b.result
		if len(b.fn.named) > 0 { // what runs on the way out may change them
			v = b.namedResult(tree.None)
		}
		b.emitPlain(Return, tree.None, "", v)
		b.endBlock()
		return
	}
	for _, e := range f.exits {
		if e.to == to && e.until == until {
			b.jumpTo(f.entry)
			return
		}
	}
	f.exits = append(f.exits, exit{b.newBlock(), to, until})
	b.jumpTo(f.entry)
}

// emitThrow leaves for the handler, or out of the function. The value is copied to the handler's
// variable, which several throws share.
func (b *builder) emitThrow(i int32, v Var) {
	if b.handler == NoBlock {
		b.emitPlain(Throw, i, "", v)
		b.endBlock()
		return
	}
	if v != NoVar {
		b.copyTo(b.exc, tree.None, v)
	}
	b.emitPlain(Throw, i, "", v)
	b.endBlock(b.handler)
}

// protectRegion runs the body with a handler, and makes sure that the handler can be
// reached although nothing in the body is a call.
func (b *builder) protectRegion(handler BlockID, exc Var, body func()) {
	outer, outerExc := b.handler, b.exc
	b.handler, b.exc = handler, exc
	if b.cur != NoBlock {
		b.startBlock(b.newBlock()) // so that calls before it are outside
	}
	from := len(b.blocks) - 1
	body()
	b.handler, b.exc = outer, outerExc
	for _, d := range b.blocks[from:] {
		if d.except == handler {
			return
		}
		for _, s := range d.succs {
			if s == handler {
				return
			}
		}
	}
	if b.cur == NoBlock {
		b.startBlock(b.newBlock())
	}
	next := b.newBlock()
	b.emitPlain(Dispatch, tree.None, "")
	b.endBlock(next, handler)
	b.startBlock(next)
}

// addException adds the hidden variable in which a handler finds what was thrown.
func (b *builder) addException() Var {
	return b.addLocal(Local{Name: "<exception>", Kind: Exception, Node: tree.None})
}

// lowerTry lowers a Try. The finally part is lowered once, and ends in a dispatch to wherever the
// ways into it were going.
func (b *builder) lowerTry(i int32) {
	finally := b.t.Child(i, tree.RoleFinally)
	if finally < 0 {
		b.lowerTryCatch(i)
		return
	}
	b.withFinally(func() { b.lowerTryCatch(i) }, func() { b.lowerStmt(finally) })
}

// withFinally runs the body, and the finally on every way out of it. Deferred calls (Go) are
// lowered with it too. The exception is thrown again behind the finally, unless the finally itself
// leaves or, in a language with recover, a deferred call has caught it.
func (b *builder) withFinally(body, finally func()) {
	f := &final{outer: b.final, entry: b.newBlock()}
	exc := b.addException()
	b.final = f
	b.protectRegion(f.entry, exc, body)
	b.final = f.outer
	normal, again := b.newBlock(), b.newBlock()
	reached := b.cur != NoBlock
	b.startBlock(f.entry)
	if b.m.Recover != "" {
		b.emitValue(Catch, tree.None, "", exc) // what calls have thrown
	}
	finally()
	if b.cur == NoBlock { // the finally itself leaves
		b.startBlock(b.newBlock())
	}
	succs := []BlockID{again}
	if reached {
		succs = append(succs, normal)
	}
	for _, e := range f.exits {
		succs = append(succs, e.pad)
	}
	b.emitPlain(Dispatch, tree.None, "")
	b.endBlock(succs...)
	b.startBlock(again)
	b.emitThrow(tree.None, b.emitValue(Copy, tree.None, "", exc))
	for _, e := range f.exits {
		b.startBlock(e.pad)
		b.leaveTo(e.to, e.until)
	}
	b.startBlock(normal)
}

// lowerTryCatch lowers a Try without its finally. The else part (Python) runs behind the body
// without the handler.
func (b *builder) lowerTryCatch(i int32) {
	run := func() {
		for r := range b.t.All(i, tree.RoleResource) {
			b.bindResource(r, false)
		}
		b.lowerStmt(b.t.Child(i, tree.RoleBody))
	}
	if b.t.Child(i, tree.RoleHandler) < 0 {
		run()
		b.lowerStmt(b.t.Child(i, tree.RoleElse))
		return
	}
	handler, done := b.newBlock(), b.newBlock()
	exc := b.addException()
	b.protectRegion(handler, exc, run)
	b.lowerStmt(b.t.Child(i, tree.RoleElse))
	b.jumpTo(done)
	b.startBlock(handler)
	b.lowerHandlers(i, exc, done)
	b.startBlock(done)
}

// lowerHandlers lowers the handlers of a Try. An exception that none takes goes on. Which handler
// takes an exception depends on its type at run time, so a Dispatch leads to all of them.
func (b *builder) lowerHandlers(i int32, exc Var, done BlockID) {
	var succs []BlockID
	var handlers []int32
	all := false
	for c := range b.t.All(i, tree.RoleHandler) {
		handlers = append(handlers, c)
		succs = append(succs, b.newBlock())
		all = all || b.t.Child(c, tree.RoleType) < 0 && b.t.Child(c, tree.RoleGuard) < 0
	}
	again := b.newBlock()
	if !all {
		succs = append(succs, again)
	}
	b.emitPlain(Dispatch, tree.None, "")
	b.endBlock(succs...)
	for k, c := range handlers {
		b.startBlock(succs[k])
		var types []string
		for t := range b.t.All(c, tree.RoleType) {
			types = append(types, b.typeName(t))
		}
		v := b.emitValue(Catch, c, strings.Join(types, "|"), exc)
		b.storeTarget(b.t.Child(c, tree.RoleTarget), v)
		if guard := b.t.Child(c, tree.RoleGuard); guard >= 0 {
			then := b.newBlock()
			b.branchCondition(guard, then, again)
			b.startBlock(then)
		}
		b.lowerHandlerBody(c, v)
		b.jumpTo(done)
	}
	b.startBlock(again)
	b.emitThrow(tree.None, b.emitValue(Copy, tree.None, "", exc))
}

// lowerHandlerBody lowers the body of a handler. A bare throw in it throws the exception
// again.
func (b *builder) lowerHandlerBody(c int32, v Var) {
	outer := b.caughtVar
	b.caughtVar = v
	b.lowerStmt(b.t.Child(c, tree.RoleBody))
	b.caughtVar = outer
}

// lowerWith lowers a With. A context manager may swallow or see exceptions; that it does
// is not followed.
func (b *builder) lowerWith(i int32) {
	enters := b.t.Text(i) == "with"
	for r := range b.t.All(i, tree.RoleResource) {
		b.bindResource(r, enters)
	}
	b.lowerStmt(b.t.Child(i, tree.RoleBody))
}

// bindResource binds a resource. Python's with calls a method to enter the resource, whose result
// is bound; Java and C# bind the resource itself.
func (b *builder) bindResource(r int32, enters bool) {
	target, value := tree.None, r
	if b.t.Is(r, tree.Variable) {
		target, value = b.t.Child(r, tree.RoleTarget), b.t.Child(r, tree.RoleValue)
	}
	if value < 0 {
		return
	}
	v := b.lowerExpr(value)
	if enters {
		v = b.emitValue(Enter, r, "", v)
	}
	b.storeTarget(target, v)
}

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

// A final is a finally that is open.
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

// leave goes to the block, through every finally inside of until.
func (b *builder) leave(to BlockID, until *final) {
	f := b.final
	if f == until || f == nil {
		if to != NoBlock {
			b.jump(to)
			return
		}
		v := b.result
		if len(b.fn.named) > 0 { // what runs on the way out may change them
			v = b.namedResult(tree.None)
		}
		b.do(Return, tree.None, "", v)
		b.end()
		return
	}
	for _, e := range f.exits {
		if e.to == to && e.until == until {
			b.jump(f.entry)
			return
		}
	}
	f.exits = append(f.exits, exit{b.newBlock(), to, until})
	b.jump(f.entry)
}

// throw leaves for the handler, or out of the function.
func (b *builder) throw(i int32, v Var) {
	if b.handler == NoBlock {
		b.do(Throw, i, "", v)
		b.end()
		return
	}
	if v != NoVar {
		b.copyTo(b.exc, tree.None, v)
	}
	b.do(Throw, i, "", v)
	b.end(b.handler)
}

// region runs the body with a handler, and makes sure that the handler can be
// reached although nothing in the body is a call.
func (b *builder) region(handler BlockID, exc Var, body func()) {
	outer, outerExc := b.handler, b.exc
	b.handler, b.exc = handler, exc
	if b.cur != NoBlock {
		b.start(b.newBlock()) // so that calls before it are outside
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
		b.start(b.newBlock())
	}
	next := b.newBlock()
	b.do(Dispatch, tree.None, "")
	b.end(next, handler)
	b.start(next)
}

func (b *builder) exception() Var {
	return b.addLocal(Local{Name: "<exception>", Kind: Exception, Node: tree.None})
}

// try lowers a Try.
func (b *builder) try(i int32) {
	finally := b.t.Child(i, tree.RoleFinally)
	if finally < 0 {
		b.tryCatch(i)
		return
	}
	b.withFinally(func() { b.tryCatch(i) }, func() { b.stmt(finally) })
}

// withFinally runs the body, and the finally on every way out of it.
func (b *builder) withFinally(body, finally func()) {
	f := &final{outer: b.final, entry: b.newBlock()}
	exc := b.exception()
	b.final = f
	b.region(f.entry, exc, body)
	b.final = f.outer
	normal, again := b.newBlock(), b.newBlock()
	reached := b.cur != NoBlock
	b.start(f.entry)
	if b.m.Recover != "" {
		b.value(Catch, tree.None, "", exc) // what calls have thrown
	}
	finally()
	if b.cur == NoBlock { // the finally itself leaves
		b.start(b.newBlock())
	}
	succs := []BlockID{again}
	if reached {
		succs = append(succs, normal)
	}
	for _, e := range f.exits {
		succs = append(succs, e.pad)
	}
	b.do(Dispatch, tree.None, "")
	b.end(succs...)
	b.start(again)
	b.throw(tree.None, b.value(Copy, tree.None, "", exc))
	for _, e := range f.exits {
		b.start(e.pad)
		b.leave(e.to, e.until)
	}
	b.start(normal)
}

// tryCatch lowers a Try without its finally.
func (b *builder) tryCatch(i int32) {
	run := func() {
		for r := range b.t.All(i, tree.RoleResource) {
			b.resource(r, false)
		}
		b.stmt(b.t.Child(i, tree.RoleBody))
	}
	if b.t.Child(i, tree.RoleHandler) < 0 {
		run()
		b.stmt(b.t.Child(i, tree.RoleElse))
		return
	}
	handler, done := b.newBlock(), b.newBlock()
	exc := b.exception()
	b.region(handler, exc, run)
	b.stmt(b.t.Child(i, tree.RoleElse))
	b.jump(done)
	b.start(handler)
	b.catches(i, exc, done)
	b.start(done)
}

// catches lowers the handlers of a Try. An exception that none takes goes on.
func (b *builder) catches(i int32, exc Var, done BlockID) {
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
	b.do(Dispatch, tree.None, "")
	b.end(succs...)
	for k, c := range handlers {
		b.start(succs[k])
		var types []string
		for t := range b.t.All(c, tree.RoleType) {
			types = append(types, b.typeName(t))
		}
		v := b.value(Catch, c, strings.Join(types, "|"), exc)
		b.store(b.t.Child(c, tree.RoleTarget), v)
		if guard := b.t.Child(c, tree.RoleGuard); guard >= 0 {
			then := b.newBlock()
			b.cond(guard, then, again)
			b.start(then)
		}
		b.caught(c, v)
		b.jump(done)
	}
	b.start(again)
	b.throw(tree.None, b.value(Copy, tree.None, "", exc))
}

// caught lowers the body of a handler. A bare throw in it throws the exception
// again.
func (b *builder) caught(c int32, v Var) {
	outer := b.caughtVar
	b.caughtVar = v
	b.stmt(b.t.Child(c, tree.RoleBody))
	b.caughtVar = outer
}

// with lowers a With. A context manager may swallow or see exceptions; that it does
// is not followed.
func (b *builder) with(i int32) {
	enters := b.t.Text(i) == "with"
	for r := range b.t.All(i, tree.RoleResource) {
		b.resource(r, enters)
	}
	b.stmt(b.t.Child(i, tree.RoleBody))
}

// resource binds a resource.
func (b *builder) resource(r int32, enters bool) {
	target, value := tree.None, r
	if b.t.Is(r, tree.Variable) {
		target, value = b.t.Child(r, tree.RoleTarget), b.t.Child(r, tree.RoleValue)
	}
	if value < 0 {
		return
	}
	v := b.expr(value)
	if enters {
		v = b.value(Enter, r, "", v)
	}
	b.store(target, v)
}

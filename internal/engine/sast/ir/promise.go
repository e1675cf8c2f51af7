package ir

import "merlon/internal/engine/sast/tree"

// A resolver is one of the two parameters of a promise's executor. A call of the first sets the
// element of the promise, which is in a variable of the function that makes it, one of the second
// its field "error". So what is passed to resolve comes out of the await.
type resolver struct {
	maker   *builder
	cell    Var
	rejects bool
}

// rejectedField is the field of a promise that holds what it was rejected with.
const rejectedField = "error"

// lowerPromise evaluates "new Promise((resolve, reject) => …)". The executor runs at once, and the
// promise has what resolve is given as its element. NoVar when the New is no such one. Without
// this, callbacks wrapped in promises would lose all data: resolve has no body to follow.
func (b *builder) lowerPromise(i int32) Var {
	typ, executor := b.t.Child(i, tree.RoleType), b.t.Child(i, tree.RoleArgument)
	if b.m.Promise == "" || !b.t.Is(typ, tree.Name) || b.t.Text(typ) != b.m.Promise || b.names.Declaration(typ) >= 0 ||
		!b.t.Is(executor, tree.Lambda) {
		return NoVar
	}
	parameter := b.t.Child(executor, tree.RoleParameter)
	if parameter == tree.None {
		return NoVar
	}
	resolve := b.t.Child(parameter, tree.RoleTarget)
	if !b.t.Is(resolve, tree.Name) {
		return NoVar
	}
	cell := b.addLocal(Local{Name: "<promise>", Kind: Hidden, Node: tree.None, Shared: true})
	b.copyTo(cell, tree.None, b.emitValue(New, tree.None, b.m.Promise))
	b.resolvers[resolve] = resolver{b, cell, false}
	if next := b.t.Nodes[parameter].Next; next < b.t.Nodes[executor].Next && b.t.Is(next, tree.Parameter) {
		if reject := b.t.Child(next, tree.RoleTarget); b.t.Is(reject, tree.Name) {
			b.resolvers[reject] = resolver{b, cell, true}
		}
	}
	run := b.lowerLambda(executor)
	b.aliasNode(typ, executor)
	b.emitCall(tree.None, Call{Kind: CallFunction, Receiver: NoVar, Callee: run, Direct: -1}, nil)
	return b.emitValue(Copy, i, "", cell)
}

// lowerResolverCall evaluates a call of a resolver; NoVar when the callee is none. Calling a
// resolver settles the promise that was made with it, so the argument is stored in the cell of the
// promise, from where "await" and "then" read it. The call itself has no result.
func (b *builder) lowerResolverCall(i, callee int32) Var {
	if len(b.resolvers) == 0 || !b.t.Is(callee, tree.Name) {
		return NoVar
	}
	r, ok := b.resolvers[b.names.Declaration(callee)]
	if !ok {
		return NoVar
	}
	cell := b.captureFrom(r.maker, r.cell)
	if cell == NoVar {
		return NoVar
	}
	v := NoVar
	if a := b.t.Child(i, tree.RoleArgument); a >= 0 {
		v = b.lowerExpr(a)
	} else {
		v = b.emitConstant(tree.None, ConstNull, "undefined")
	}
	if r.rejects {
		b.emitPlain(StoreField, i, rejectedField, cell, v)
	} else {
		b.emitPlain(StoreIndex, i, "", cell, NoVar, v)
	}
	return b.emitUnknown(tree.None, "resolve")
}

// captureFrom captures a variable of a function around this one; NoVar when that is none. The
// executor is often nested: resolve is called in a callback of a callback.
func (b *builder) captureFrom(maker *builder, v Var) Var {
	switch {
	case b == maker:
		return v
	case b.outer == nil:
		return NoVar
	}
	outer := b.outer.captureFrom(maker, v)
	if outer == NoVar {
		return NoVar
	}
	return b.captureVar(outer)
}

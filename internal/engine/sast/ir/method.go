package ir

import "merlon/internal/engine/sast/tree"

// This file lowers method expressions, "T.m" and "(*T).m" (Go): functions whose first
// parameter is the receiver.

// methodExpression returns the class whose method a Member names by the class; nil when
// it does not.
func (b *builder) methodExpression(i int32) *Class {
	if !b.m.ZeroValues || !b.t.Is(i, tree.Member) {
		return nil
	}
	object := b.t.Child(i, tree.RoleObject)
	if b.t.Is(object, tree.Unary) && b.t.Text(object) == "*" {
		object = b.t.Child(object, tree.RoleValue)
	}
	if !b.t.Is(object, tree.Name) {
		return nil
	}
	d := b.names.Declaration(object)
	if d < 0 || !b.t.Is(b.declaringNode(d), tree.Class) {
		return nil
	}
	if c, ok := b.owner[b.declaringNode(d)]; ok {
		return b.Classes[c]
	}
	return nil
}

// lowerMethodExpressionCall evaluates the call of a method expression as that of the method;
// NoVar for other calls.
func (b *builder) lowerMethodExpressionCall(i, callee int32) Var {
	c := b.methodExpression(callee)
	if c == nil || b.t.Count(i, tree.RoleArgument) == 0 {
		return NoVar
	}
	name := b.t.Text(b.t.Child(callee, tree.RoleProperty))
	args := b.lowerArguments(i)
	return b.emitCall(i, Call{Kind: CallMethod, Name: name, Type: c.Qualified, Qualified: joinName(c.Qualified, name),
		Receiver: args[0].Value, Callee: NoVar, Direct: -1}, args[1:])
}

package ir

import "merlon/internal/engine/sast/tree"

// This file lowers switches to chains of tests.

// switchStatement lowers a Switch to a chain of tests. With a result variable the
// values of the cases are assigned to it.
func (b *builder) switchStatement(i int32, result Var) {
	for c := range b.t.All(i, tree.RoleInit) {
		b.stmt(c)
	}
	v := NoVar
	if value := b.t.Child(i, tree.RoleValue); value >= 0 {
		v = b.expr(value)
	}
	done, other := b.newBlock(), NoBlock
	b.jumps = append(b.jumps, target{label: b.label, breaks: done, continues: NoBlock, final: b.final})
	b.label = ""
	var bodies []BlockID
	for c := range b.t.All(i, tree.RoleCase) {
		body := b.newBlock()
		bodies = append(bodies, body)
		if b.t.Text(c) == "default" {
			other = body
		}
		b.caseTests(c, v, body)
	}
	if other == NoBlock {
		other = done
	}
	b.jump(other)
	k := 0
	for c := range b.t.All(i, tree.RoleCase) {
		if b.cur != NoBlock && (b.t.Text(i) != "fallthrough" && k > 0) {
			b.jump(done)
		}
		b.start(bodies[k])
		next := NoBlock
		if k+1 < len(bodies) {
			next = bodies[k+1]
		}
		b.next = append(b.next, next)
		b.caseBody(c, result)
		b.next = b.next[:len(b.next)-1]
		k++
	}
	b.jumps = b.jumps[:len(b.jumps)-1]
	b.start(done)
}

// leaveSwitch leaves the innermost switch.
func (b *builder) leaveSwitch() {
	for k := len(b.jumps) - 1; k >= 0; k-- {
		if t := b.jumps[k]; t.continues == NoBlock && !t.block {
			b.leave(t.breaks, t.final)
			return
		}
	}
}

// caseTests lowers the tests of a case; what matches goes to the body.
func (b *builder) caseTests(c int32, v Var, body BlockID) {
	guard := b.t.Child(c, tree.RoleGuard)
	for k := range b.t.All(c, tree.RoleCondition) {
		next, hit := b.newBlock(), body
		if guard >= 0 {
			hit = b.newBlock()
		}
		if v == NoVar {
			b.cond(k, hit, next)
		} else {
			b.branch(k, b.pattern(k, v), hit, next)
		}
		if guard >= 0 {
			b.start(hit)
			b.cond(guard, body, next)
		}
		b.start(next)
	}
}

func (b *builder) caseBody(c int32, result Var) {
	body := b.t.Child(c, tree.RoleBody)
	if result != NoVar && body >= 0 {
		if evaluates(b.t.Nodes[body].Kind) {
			b.copyTo(result, body, b.expr(body))
			return
		}
		if only := body + 1; only < b.t.Nodes[body].Next && b.t.Nodes[only].Next == b.t.Nodes[body].Next &&
			b.t.Is(only, tree.ExpressionStatement) && !b.t.Is(b.t.Child(only, tree.RoleValue), tree.Yield) {
			b.copyTo(result, only, b.expr(b.t.Child(only, tree.RoleValue)))
			return
		}
		outer := b.yields
		b.yields = result
		defer func() { b.yields = outer }()
	}
	b.stmt(body)
}

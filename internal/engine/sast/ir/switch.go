package ir

import "merlon/internal/engine/sast/tree"

// This file lowers switches to chains of tests.

// lowerSwitch lowers a Switch to a chain of tests. With a result variable the values of the cases
// are assigned to it. Tests come first, then the bodies; a body falls through to the next one
// where the language says so.
func (b *builder) lowerSwitch(i int32, result Var) {
	for c := range b.t.All(i, tree.RoleInit) {
		b.lowerStmt(c)
	}
	v := NoVar
	if value := b.t.Child(i, tree.RoleValue); value >= 0 {
		v = b.lowerExpr(value)
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
		b.lowerCaseTests(c, v, body)
	}
	if other == NoBlock {
		other = done
	}
	b.jumpTo(other)
	k := 0
	for c := range b.t.All(i, tree.RoleCase) {
		if b.cur != NoBlock && (b.t.Text(i) != "fallthrough" && k > 0) {
			b.jumpTo(done)
		}
		b.startBlock(bodies[k])
		next := NoBlock
		if k+1 < len(bodies) {
			next = bodies[k+1]
		}
		b.nextBodies = append(b.nextBodies, next)
		b.lowerCaseBody(c, result)
		b.nextBodies = b.nextBodies[:len(b.nextBodies)-1]
		k++
	}
	b.jumps = b.jumps[:len(b.jumps)-1]
	b.startBlock(done)
}

// leaveSwitch leaves the innermost switch. Loops have a target for continue, which tells them
// apart.
func (b *builder) leaveSwitch() {
	for k := len(b.jumps) - 1; k >= 0; k-- {
		if t := b.jumps[k]; t.continues == NoBlock && !t.block {
			b.leaveTo(t.breaks, t.final)
			return
		}
	}
}

// lowerCaseTests lowers the tests of a case; what matches goes to the body. A guard is tested
// behind the pattern, whose names it may use.
func (b *builder) lowerCaseTests(c int32, v Var, body BlockID) {
	guard := b.t.Child(c, tree.RoleGuard)
	for k := range b.t.All(c, tree.RoleCondition) {
		next, hit := b.newBlock(), body
		if guard >= 0 {
			hit = b.newBlock()
		}
		if v == NoVar {
			b.branchCondition(k, hit, next)
		} else {
			b.branchOn(k, b.matchPattern(k, v), hit, next)
		}
		if guard >= 0 {
			b.startBlock(hit)
			b.branchCondition(guard, body, next)
		}
		b.startBlock(next)
	}
}

// lowerCaseBody lowers the body of a case. In a switch expression an expression body, or a block
// of one expression statement, is the value; otherwise a yield in the body gives it.
func (b *builder) lowerCaseBody(c int32, result Var) {
	body := b.t.Child(c, tree.RoleBody)
	if result != NoVar && body >= 0 {
		if hasValue(b.t.Nodes[body].Kind) {
			b.copyTo(result, body, b.lowerExpr(body))
			return
		}
		if only := body + 1; only < b.t.Nodes[body].Next && b.t.Nodes[only].Next == b.t.Nodes[body].Next &&
			b.t.Is(only, tree.ExpressionStatement) && !b.t.Is(b.t.Child(only, tree.RoleValue), tree.Yield) {
			b.copyTo(result, only, b.lowerExpr(b.t.Child(only, tree.RoleValue)))
			return
		}
		outer := b.yieldVar
		b.yieldVar = result
		defer func() { b.yieldVar = outer }()
	}
	b.lowerStmt(body)
}

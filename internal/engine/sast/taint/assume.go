package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file uses what a condition says once it has been decided.

// maxAssume bounds how deep a condition is looked into.
const maxAssume = 8

// assume changes the state to what holds when the condition has the value.
func (a *analysis) assume(st *state, cond ir.Var, holds bool, depth int) {
	i := a.fn.Def(cond)
	if i < 0 || depth > maxAssume {
		return
	}
	in := &a.fn.Code[i]
	switch in.Op {
	case ir.Copy:
		if !a.fn.IsLocal(in.A) {
			a.assume(st, in.A, holds, depth+1)
		} else if call := a.answered(in.A); call >= 0 {
			a.assumeCall(st, call, holds)
		} else {
			a.assumeAnswered(st, in.A, holds)
		}
		a.assumeTruth(st, cond, holds)
	case ir.Unary:
		switch in.Text {
		case "!", "not":
			a.assume(st, in.A, !holds, depth+1)
		case "~": // of a position: 0 for what was not found
			a.assume(st, in.A, holds, depth+1)
		}
	case ir.LoadField:
		if !holds {
			a.approveHost(st, cond) // an address without a host is one of the own site
		}
		a.assumeTruth(st, cond, holds)
	case ir.LoadIndex:
		a.assumeTruth(st, cond, holds)
		if holds {
			a.approveKey(st, in)
		}
	case ir.Binary:
		a.assumeBinary(st, in, holds, depth)
	case ir.Invoke:
		a.assumeCall(st, i, holds)
	}
}

// answered returns the call of a guard whose answer a variable holds, -1 when there is
// none: the variable is assigned once, and what the call was asked about is still known.
func (a *analysis) answered(v ir.Var) int32 {
	for range maxAssume {
		i := a.fn.Def(v)
		if a.fn.IsLocal(v) {
			if a.boxed[v] || a.fn.Locals[v].Kind == ir.Captured {
				return -1
			}
			i = a.assigned(v)
		}
		if i < 0 {
			return -1
		}
		switch in := &a.fn.Code[i]; in.Op {
		case ir.Copy:
			v = in.A
		case ir.Invoke:
			if call := a.fn.Call(in); a.run.set(a.fn).Guards(call.Name) || a.fn.File.Lang.Meaning.CommaOk &&
				a.ownCall(call) {
				return i
			}
			return -1
		default:
			return -1
		}
	}
	return -1
}

// assumeTruth uses that a value counts as false: it is nothing, an empty text or zero,
// which harms nobody.
func (a *analysis) assumeTruth(st *state, v ir.Var, holds bool) {
	if !holds && !a.run.plain {
		a.refine(st, v, func(x *value) *value { return a.approved(st, x, allKinds) })
	}
}

func (a *analysis) assumeBinary(st *state, in *ir.Instr, holds bool, depth int) {
	x, y := a.read(st, in.A), a.read(st, in.B)
	if in.Text == "in" || in.Text == "not in" {
		a.assumeOperator(st, in, "in", holds == (in.Text == "in"))
	}
	a.assumeFound(st, in, y, holds)
	switch in.Text {
	case "&&", "and":
		if holds {
			a.assume(st, in.A, true, depth+1)
			a.assume(st, in.B, true, depth+1)
		}
		return
	case "||", "or":
		if !holds {
			a.assume(st, in.A, false, depth+1)
			a.assume(st, in.B, false, depth+1)
		}
		return
	case "!=", "!==", "is not", "not in":
		holds = !holds
	case "==", "===", "is", "in":
	default:
		return
	}
	a.assumeKind(st, in.A, y, holds)
	a.assumeKind(st, in.B, x, holds)
	if !holds {
		a.assumeAnswer(st, in, x, y, depth)
		a.assumeKey(st, in.A, y)
		a.assumeKey(st, in.B, x)
		return
	}
	if in.Text == "in" || in.Text == "not in" {
		if a.allConstant(st, y) {
			a.clean(st, in.A, allKinds)
		}
		return
	}
	if y.c.kind == constBool {
		a.assume(st, in.A, y.c.n != 0, depth+1)
	}
	if call := a.answered(in.A); y.c.kind == constNull && call >= 0 {
		a.assumeCall(st, call, false) // nothing was found
	}
	a.assumeEqual(st, in.A, x, y)
	a.assumeEqual(st, in.B, y, x)
}

// assumeKind uses a comparison of what typeof answers (JavaScript): a number, a truth
// value or nothing is harmless, and a text is no size and no object with operators of a
// query.
func (a *analysis) assumeKind(st *state, v ir.Var, word *value, holds bool) {
	if word.c.kind != constString {
		return
	}
	i := a.fn.Def(v)
	if i < 0 || a.fn.Code[i].Op != ir.Unary || a.fn.Code[i].Text != "typeof" {
		return
	}
	of := a.fn.Code[i].A
	switch word.c.s {
	case "number", "bigint", "boolean", "undefined":
		if holds {
			a.clean(st, of, allKinds)
		} else if word.c.s == "number" {
			a.clean(st, of, a.run.bits[model.Buffer])
		}
	case "string":
		if holds {
			a.clean(st, of, a.run.bits[model.Buffer]|a.run.kindBits("nosql"))
		}
	}
}

// assumeAnswer looks through comparisons of an answer with a constant: f(x) == false.
func (a *analysis) assumeAnswer(st *state, in *ir.Instr, x, y *value, depth int) {
	if y.c.kind == constBool {
		a.assume(st, in.A, y.c.n == 0, depth+1)
	}
	if call := a.answered(in.A); y.c.kind == constNull && call >= 0 {
		a.assumeCall(st, call, true)
	}
	_ = x
}

// assumeEqual makes the variable the constant that it is equal to.
func (a *analysis) assumeEqual(st *state, v ir.Var, x, y *value) {
	if y.known() && !x.known() {
		if y.c.kind == constNull {
			return
		}
		a.refine(st, v, func(*value) *value { return &value{c: y.c, kind: y.kind} })
		a.approveHost(st, v)
		a.remember(st, v, allKinds)
	}
}

// allConstant reports whether every element of a collection is a constant.
func (a *analysis) allConstant(st *state, v *value) bool {
	if v.known() {
		return v.c.kind != constNull
	}
	if len(v.objs) == 0 {
		return false
	}
	for _, id := range v.objs {
		o, info := st.object(id), &a.objects[id]
		if o == nil && a.run.holdsConstants(info.atom) {
			continue
		}
		if o == nil || !info.own || len(o.self) > 0 || len(o.fields) == 0 && o.elems == nil {
			return false
		}
		if o.elems != nil && (!o.elems.known() && o.elems.kind != kindString || len(o.elems.taint) > 0) {
			return false
		}
		for _, f := range o.fields {
			if !f.val.known() && a.objects[id].kind != kindMap {
				return false
			}
		}
	}
	return true
}

// assumeCall cleans what a guard has approved of.
func (a *analysis) assumeCall(st *state, i int32, holds bool) {
	a.callSite(st, i).approve(holds)
	a.assumeSummary(st, i, holds)
}

// approve cleans what the guards that know the call approve of by its answer.
func (c *callSite) approve(holds bool) {
	for _, e := range c.matches(model.Guards) {
		if e.Negated == holds || !c.holds(e.If) {
			continue
		}
		bits := c.a.run.kindBits(e.Kind) & c.admitted(e)
		if bits == 0 {
			continue
		}
		for _, place := range e.Places {
			for _, v := range c.variables(place) {
				c.a.clean(c.st, v, bits)
			}
		}
	}
}

// clean makes what a variable holds harmless for the kinds, and what the variable or
// field that it was read from holds.
func (a *analysis) clean(st *state, v ir.Var, kinds uint64) {
	if bits := a.addressBits(); kinds&bits == bits {
		a.approveHost(st, v)
	}
	for range maxAssume {
		a.refine(st, v, func(x *value) *value { return a.approved(st, x, kinds) })
		a.remember(st, v, kinds)
		if v = a.sameAs(st, v); v == ir.NoVar {
			return
		}
	}
}

// ownCall reports whether a call means one function of the program.
func (a *analysis) ownCall(c *ir.Call) bool {
	return c.Direct >= 0 || len(a.run.program.Targets(a.fn, c)) == 1
}

// assumeAnswered uses that a variable says whether a key was found: "v, ok := m[key]".
func (a *analysis) assumeAnswered(st *state, v ir.Var, holds bool) {
	i := a.assigned(v)
	for range maxAssume {
		if i < 0 || a.fn.Code[i].Op != ir.Copy {
			break
		}
		i = a.assigned(a.fn.Code[i].A)
	}
	if !holds || i < 0 || a.fn.Code[i].Op != ir.Unary || a.fn.Code[i].Text != ir.Found {
		return
	}
	if i = a.fn.Def(a.fn.Code[i].A); i >= 0 && a.fn.Code[i].Op == ir.LoadIndex {
		a.approveKey(st, &a.fn.Code[i])
	}
}

// approveKey uses that a collection has the key, or the truth for the key: one whose
// keys are constants has no others (Go).
func (a *analysis) approveKey(st *state, in *ir.Instr) {
	if in.B == ir.NoVar || !a.fn.File.Lang.Meaning.CommaOk || !a.constantKeys(st, a.read(st, in.A)) {
		return
	}
	a.clean(st, in.B, allKinds)
	if i := a.fn.Def(in.B); i >= 0 && a.fn.Code[i].Op == ir.Copy {
		a.clean(st, a.fn.Code[i].A, allKinds)
	}
}

// constantKeys reports whether every key of a map is a constant.
func (a *analysis) constantKeys(st *state, v *value) bool {
	for _, id := range v.objs {
		o, info := st.object(id), &a.objects[id]
		if o == nil && a.run.holdsConstants(info.atom) {
			continue
		}
		if o == nil || !info.own || info.kind != kindMap || info.atom != nil || o.keys != nil || o.elems != nil ||
			len(o.self) > 0 || len(o.fields) == 0 {
			return false
		}
	}
	return len(v.objs) > 0
}

// sameAs returns the variable that a variable is another view of, as a file's
// canonical path is of the file: what is approved of the one holds for the other.
// It returns ir.NoVar when there is none.
func (a *analysis) sameAs(st *state, v ir.Var) ir.Var {
	i := a.assigned(v)
	for range maxAssume {
		if i < 0 || a.fn.Code[i].Op != ir.Copy {
			break
		}
		i = a.assigned(a.fn.Code[i].A)
	}
	if i >= 0 && a.fn.Code[i].Op == ir.LoadIndex && a.fn.Code[i].Text == "0" && a.fn.File.Lang.Meaning.CommaOk {
		i = a.fn.Def(a.fn.Code[i].A) // an error stands behind it
	}
	if i < 0 || a.fn.Code[i].Op != ir.Invoke {
		return ir.NoVar
	}
	c := a.callSite(st, i)
	view := func(kind string) bool {
		return slices.ContainsFunc(c.matches(model.Operations), func(e *model.Entry) bool { return e.Kind == kind })
	}
	of := c.call.Receiver
	switch {
	case view("value.relative") && len(c.args) > 1:
		of = c.args[1].from
	case !view("value.view"):
		return ir.NoVar
	}
	// What was read for a call inside of try is not kept behind it. A variable that is
	// assigned once still holds it.
	if i := a.fn.Def(of); i >= 0 && a.fn.Code[i].Op == ir.Copy && a.assigned(a.fn.Code[i].A) >= 0 &&
		a.fn.IsLocal(a.fn.Code[i].A) {
		return a.fn.Code[i].A
	}
	return of
}

// assigned returns the one instruction that gives the variable a value, -1 when there
// are none or several.
func (a *analysis) assigned(v ir.Var) int32 {
	if v < 0 || !a.fn.IsLocal(v) {
		return a.fn.Def(v)
	}
	found := int32(-1)
	for i := range a.fn.Code {
		if a.fn.Code[i].Dst == v {
			if found >= 0 {
				return -1
			}
			found = int32(i)
		}
	}
	return found
}

// approved returns the value made harmless. Its origins stay, so that a function
// which approves of its parameter can be told. Parts of inputs are no longer told
// apart, because they are approved of together.
func (a *analysis) approved(st *state, v *value, kinds uint64) *value {
	w := *v
	w.taint = a.deep(st, v).each(func(e *elem) bool {
		e.clean |= kinds
		return true
	})
	w.objs = nil
	for _, id := range v.objs {
		if a.objects[id].atom != nil {
			continue
		}
		// A library's object without parts that are known is its taint, which is here
		// already. In a loop the object stands for others, of which nothing was asked.
		if o := st.object(id); o == nil || !o.many && !o.opaque() {
			w.objs = append(w.objs, id)
		}
		a.cleanObject(st, id, kinds)
	}
	return &w
}

// cleanObject makes an object harmless.
func (a *analysis) cleanObject(st *state, id objID, kinds uint64) {
	o := st.object(id)
	if o == nil || o.many {
		return
	}
	o = o.clone()
	o.self = o.self.cleaned(kinds)
	if o.text != nil {
		o.text = o.text.with(o.text.taint.cleaned(kinds))
	}
	for i, f := range o.fields {
		if f.val != nil {
			o.fields[i].val = f.val.with(f.val.taint.cleaned(kinds))
		}
	}
	if o.elems != nil {
		o.elems = o.elems.with(o.elems.taint.cleaned(kinds))
	}
	st.put(id, o)
}

// refine changes the value of a variable and of where it was read from.
func (a *analysis) refine(st *state, v ir.Var, f func(*value) *value) {
	if v < 0 {
		return
	}
	old := a.read(st, v)
	st.vars[a.places.of[v]] = f(old)
	i := a.fn.Def(v)
	if i < 0 {
		return
	}
	switch in := &a.fn.Code[i]; in.Op {
	case ir.Copy:
		if in.A == ir.NoVar {
			return
		}
		if x := a.read(st, in.A); x.same(old) {
			if a.fn.IsLocal(in.A) {
				a.assign(st, in.A, f(x))
			} else {
				a.refine(st, in.A, f)
			}
		}
	case ir.LoadField:
		a.store(st, a.read(st, in.A), in.Text, f(old))
	case ir.LoadGlobal:
		if a.run.declares(in.Text) {
			a.store(st, a.globals(), in.Text, f(old))
		}
	case ir.LoadIndex:
		if key, known := a.indexKey(st, in); known {
			a.store(st, a.read(st, in.A), key, f(old))
		}
	case ir.Cast:
		a.refine(st, in.A, f)
	}
}

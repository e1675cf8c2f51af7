package frame

import (
	"merlon/internal/engine/sast/ir"
)

// A varPlaces says where states have the variables of a function. Those that several
// blocks use come first: a state between blocks has no others.
type varPlaces struct {
	of   []int32 // by variable
	kept int     // how many several blocks use
}

// placeVars places the variables. With all, every one is taken for used by several.
func (r *Run) placeVars(fn *ir.Function, all bool) varPlaces {
	p := varPlaces{of: make([]int32, fn.Vars), kept: fn.Vars}
	if all {
		for v := range p.of {
			p.of[v] = int32(v)
		}
		return p
	}
	briefs := findBriefs(fn)
	r.keepAsked(fn, briefs)
	p.kept = 0
	brief := fn.Vars - 1
	for v := range p.of {
		if briefs[v] {
			p.of[v] = int32(brief)
			brief--
		} else {
			p.of[v] = int32(p.kept)
			p.kept++
		}
	}
	return p
}

// findBriefs finds the temporaries that only one block uses: other blocks need not know
// of them.
func findBriefs(fn *ir.Function) []bool {
	home := make([]int32, fn.Vars) // 1 + the block that uses it, -1 for several
	note := func(v ir.Var, b int32) {
		switch {
		case v < 0 || int(v) >= fn.Vars:
		case home[v] == 0:
			home[v] = b + 1
		case home[v] != b+1:
			home[v] = -1
		}
	}
	for b := range fn.Blocks {
		for i := fn.Blocks[b].Start; i < fn.Blocks[b].End; i++ {
			eachVar(fn, &fn.Code[i], func(v ir.Var) { note(v, int32(b)) })
		}
	}
	out := make([]bool, fn.Vars)
	for v := len(fn.Locals); v < fn.Vars; v++ {
		out[v] = home[v] > 0
	}
	return out
}

// keepAsked keeps what calls were asked about whose answer a variable holds: a condition
// may ask for it later.
func (r *Run) keepAsked(fn *ir.Function, briefs []bool) {
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Op != ir.Copy || !fn.IsLocal(in.Dst) || in.A < 0 {
			continue
		}
		if d := fn.Def(in.A); d >= 0 && fn.Code[d].Op == ir.Invoke && r.ModelsOf(fn).Guards(fn.Call(&fn.Code[d]).Name) {
			eachVar(fn, &fn.Code[d], func(v ir.Var) {
				if v >= 0 && int(v) < fn.Vars {
					briefs[v] = false
				}
			})
		}
	}
}

// eachVar calls f for every variable of an instruction.
func eachVar(fn *ir.Function, in *ir.Instr, f func(ir.Var)) {
	f(in.Dst)
	switch in.Op {
	case ir.Concat:
		for _, v := range fn.Operands(in) {
			f(v)
		}
		return
	case ir.Invoke:
		c := fn.Call(in)
		f(c.Receiver)
		f(c.Callee)
		for _, arg := range fn.Args(c) {
			f(arg.Value)
		}
		return
	}
	f(in.A)
	f(in.B)
	f(in.C)
}

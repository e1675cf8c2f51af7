package survey

import (
	"strings"

	"merlon/internal/engine/sast/ir"
)

// noteMethods notes whose methods a function makes: what it stores into the prototype of
// another function, which is one with the name before it.
func (r *Survey) noteMethods(fn *ir.Function) {
	if !fn.File.Lang.Semantics.Prototypes {
		return
	}
	for i := range fn.Code {
		in := &fn.Code[i]
		switch in.Op {
		case ir.StoreGlobal:
			owner, rest, ok := strings.Cut(in.Text, ".prototype")
			if ok && (rest == "" || rest[0] == '.') {
				r.noteOwner(fn, owner, in.B)
			}
		case ir.StoreField:
			if owner := prototypeOwner(fn, in); owner != "" {
				r.noteOwner(fn, owner, in.B)
			}
		}
	}
}

// noteOwner notes that the functions in a variable are methods of what the function with the
// name makes.
// prototypeOwner returns the name of the constructor whose prototype, or a member of it, an
// instruction assigns; "" when it assigns anything else.
func prototypeOwner(fn *ir.Function, in *ir.Instr) string {
	maker := in.A
	if in.Text != "prototype" {
		d := fn.Def(in.A)
		if d < 0 || fn.Code[d].Op != ir.LoadField || fn.Code[d].Text != "prototype" {
			return ""
		}
		maker = fn.Code[d].A
	}
	return WrittenName(fn, maker, 0)
}

func (r *Survey) noteOwner(fn *ir.Function, owner string, methods ir.Var) {
	owner = strings.TrimPrefix(owner, fn.File.Module+".")
	qualified := fn.File.Module + "." + owner
	for _, method := range methodsOf(fn, methods, 0) {
		r.Owners[method] = qualified
	}
	for _, maker := range fn.File.Functions {
		if maker.Qualified == qualified && maker.Class == nil {
			r.Owners[maker] = qualified
		}
	}
	for i := range fn.Code { // const F = function () { … }, exports.F = function () { … }
		in := &fn.Code[i]
		made := ir.NoVar
		switch {
		case in.Op == ir.Copy && fn.IsLocal(in.Dst) && fn.Locals[in.Dst].Name == owner:
			made = in.A
		case in.Op == ir.StoreGlobal && in.Text == qualified:
			made = in.B
		}
		if d := fn.Def(made); d >= 0 && fn.Code[d].Op == ir.Closure {
			r.Owners[fn.File.Functions[fn.Code[d].X]] = qualified
		}
	}
}

// methodsOf returns the function that a variable is defined as, or those that are
// members of the object.
func methodsOf(fn *ir.Function, v ir.Var, depth int) []*ir.Function {
	i := fn.Def(v)
	if i < 0 || depth > 4 {
		return nil
	}
	switch in := &fn.Code[i]; in.Op {
	case ir.Copy:
		return methodsOf(fn, in.A, depth+1)
	case ir.Closure:
		return []*ir.Function{fn.File.Functions[in.X]}
	case ir.New:
		var list []*ir.Function
		for k := range fn.Code {
			switch st := &fn.Code[k]; {
			case st.A != in.Dst:
			case st.Op == ir.StoreField:
				list = append(list, methodsOf(fn, st.B, depth+1)...)
			case st.Op == ir.StoreIndex:
				list = append(list, methodsOf(fn, st.C, depth+1)...)
			}
		}
		return list
	}
	return nil
}

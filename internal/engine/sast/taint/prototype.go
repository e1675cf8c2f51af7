package taint

import (
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file knows that functions make objects: what a function has as its prototype,
// the objects that it constructs have too (JavaScript).

// prototype is the hidden field of an object that holds the one it inherits from.
const prototype = "#prototype"

// prototypeOf returns the prototype of a function of the program, made when it is
// asked for first.
func (a *analysis) prototypeOf(st *state, i int32, f *value) *value {
	id, sole := f.sole()
	if !sole || a.objects[id].fn == nil || !a.fn.File.Lang.Meaning.Prototypes {
		return unknown
	}
	v := a.make(st, i, 0, objInfo{kind: kindObject, own: true}, &object{size: unsized})
	a.store(st, f, "prototype", v)
	return v
}

// storeMade sets a part of an object that the function made: a local function and its
// prototype have names as if they were global.
func (a *analysis) storeMade(st *state, v *value, name string, x *value) {
	if id, sole := v.sole(); sole && a.objects[id].atom == nil {
		a.store(st, v, name, x)
	}
}

// inherit lets a new object inherit from the prototype of the function that makes it.
func (a *analysis) inherit(st *state, v, f *value) {
	if f == nil || !a.fn.File.Lang.Meaning.Prototypes {
		return
	}
	if p := a.load(st, f, "prototype"); len(p.objs) > 0 {
		a.store(st, v, prototype, p)
	}
}

// inherited returns what an object has from the one it inherits from, nil for nothing.
func (a *analysis) inherited(st *state, o *object, name string, depth int) *value {
	p, ok := o.get(prototype)
	if !ok || p == nil || depth > maxPath {
		return nil
	}
	var out *value
	for _, id := range p.objs {
		parent := st.object(id)
		if v, ok := parent.get(name); ok && v != nil {
			out = join(out, v)
		} else if parent != nil {
			out = join(out, a.inherited(st, parent, name, depth+1))
		}
	}
	return out
}

// own notes whose methods a function makes: what it stores into the prototype of
// another function, which is one with the name before it.
func (r *run) own(fn *ir.Function) {
	if !fn.File.Lang.Meaning.Prototypes {
		return
	}
	for i := range fn.Code {
		in := &fn.Code[i]
		switch in.Op {
		case ir.StoreGlobal:
			owner, rest, ok := strings.Cut(in.Text, ".prototype")
			if ok && (rest == "" || rest[0] == '.') {
				r.owns(fn, owner, in.B)
			}
		case ir.StoreField:
			maker := in.A
			if in.Text != "prototype" {
				if d := fn.Def(in.A); d < 0 || fn.Code[d].Op != ir.LoadField || fn.Code[d].Text != "prototype" {
					continue
				} else {
					maker = fn.Code[d].A
				}
			}
			if owner := written(fn, maker, 0); owner != "" {
				r.owns(fn, owner, in.B)
			}
		}
	}
}

// owns notes that the functions in a variable are methods of what the function with the
// name makes.
func (r *run) owns(fn *ir.Function, owner string, methods ir.Var) {
	owner = strings.TrimPrefix(owner, fn.File.Module+".")
	qualified := fn.File.Module + "." + owner
	for _, method := range methodsOf(fn, methods, 0) {
		r.owners[method] = qualified
	}
	for _, maker := range fn.File.Functions {
		if maker.Qualified == qualified && maker.Class == nil {
			r.owners[maker] = qualified
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
			r.owners[fn.File.Functions[fn.Code[d].X]] = qualified
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

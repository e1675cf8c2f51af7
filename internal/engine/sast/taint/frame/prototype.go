package frame

import (
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file models prototypes (JavaScript): what a function has as its prototype, the
// objects that it constructs inherit.

// prototype is the hidden field of an object that holds the one it inherits from.
const prototype = "#prototype"

// PrototypeOf returns the prototype of a function of the program, made when it is
// asked for first.
func (a *Frame) PrototypeOf(st *State, i int32, f *value.Value) *value.Value {
	id, sole := f.SoleObject()
	if !sole || a.Objects[id].Function == nil || !a.Function.File.Lang.Semantics.Prototypes {
		return value.Unknown
	}
	v := a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindObject, Complete: true},
		&value.Object{Size: value.Unsized})
	a.Store(st, f, "prototype", v)
	return v
}

// StoreMade sets a part of an object that the function made: a local function and its
// prototype have names as if they were global.
func (a *Frame) StoreMade(st *State, v *value.Value, name string, x *value.Value) {
	if id, sole := v.SoleObject(); sole && a.Objects[id].Input == nil {
		a.Store(st, v, name, x)
	}
}

// Inherit lets a new object inherit from the prototype of the function that makes it.
func (a *Frame) Inherit(st *State, v, f *value.Value) {
	if f == nil || !a.Function.File.Lang.Semantics.Prototypes {
		return
	}
	if p := a.Load(st, f, "prototype"); len(p.Objects) > 0 {
		a.Store(st, v, prototype, p)
	}
}

// inheritedPart returns what an object has from the one it inherits from, nil for nothing.
func (a *Frame) inheritedPart(st *State, o *value.Object, name string, depth int) *value.Value {
	p, ok := o.Get(prototype)
	if !ok || p == nil || depth > taintset.MaxPath {
		return nil
	}
	var out *value.Value
	for _, id := range p.Objects {
		parent := st.Object(id)
		if v, ok := parent.Get(name); ok && v != nil {
			out = value.Join(out, v)
		} else if parent != nil {
			out = value.Join(out, a.inheritedPart(st, parent, name, depth+1))
		}
	}
	return out
}

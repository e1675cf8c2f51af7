package frame

import (
	"merlon/internal/engine/sast/taint/value"
)

// This file follows data through objects that a framework gives to one function after
// the other: what a middleware keeps in the request, the handler finds there. Such
// fields are kept among the globals, once for all objects of the type.

// Share keeps what is written to a field of a shared object.
func (a *Frame) Share(st *State, owner, name string, x *value.Value) {
	if field := a.Run.SharedField(a.Function, owner, name); field != "" {
		a.Store(st, a.Globals(), field, x)
	}
}

// FromShared adds to a field that a function has not set what other functions have
// written to it.
func (a *Frame) FromShared(st *State, base *value.Value, owner, name string, v *value.Value) *value.Value {
	if !a.Run.Written[name] {
		return v
	}
	for _, id := range base.Objects {
		if _, own := st.Object(id).Get(name); own {
			return v // this function has set it
		}
	}
	field := a.Run.SharedField(a.Function, owner, name)
	if field == "" {
		return v
	}
	w := a.Load(st, a.Globals(), field)
	return v.WithTaint(v.Taint.Union(a.DeepTaint(st, w)))
}

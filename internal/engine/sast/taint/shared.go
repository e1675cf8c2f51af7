package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file follows data through objects that a framework gives to one function after
// the other: what a middleware keeps in the request, the handler finds there. Such
// fields are kept among the globals, once for all objects of the type.

// sharedField returns the global that stands for a field of a shared object, "" when
// objects of the type are not shared.
func (r *run) sharedField(fn *ir.Function, owner, name string) string {
	if owner == "" || r.local {
		return ""
	}
	k := [2]string{fn.File.Lang.Name, owner}
	shared, ok := r.sharedTypes.Load(k)
	if !ok {
		found := ""
		for _, t := range r.types(fn, owner) {
			if found == "" && slices.ContainsFunc(r.set(fn).Match(t)[model.Operations], func(e *model.Entry) bool {
				return e.Kind == "value.shared"
			}) {
				found = t
			}
		}
		shared, _ = r.sharedTypes.LoadOrStore(k, found)
	}
	if shared == "" {
		return ""
	}
	return shared.(string) + "#" + name
}

// share keeps what is written to a field of a shared object.
func (a *analysis) share(st *state, owner, name string, x *value) {
	if field := a.run.sharedField(a.fn, owner, name); field != "" {
		a.store(st, a.globals(), field, x)
	}
}

// fromShared adds to a field that a function has not set what other functions have
// written to it.
func (a *analysis) fromShared(st *state, base *value, owner, name string, v *value) *value {
	if !a.run.written[name] {
		return v
	}
	for _, id := range base.objs {
		if _, own := st.object(id).get(name); own {
			return v // this function has set it
		}
	}
	field := a.run.sharedField(a.fn, owner, name)
	if field == "" {
		return v
	}
	w := a.load(st, a.globals(), field)
	return v.with(v.taint.union(a.deep(st, w)))
}

package taint

import (
	"merlon/internal/engine/sast/ir"
)

// This file runs methods of the program that no call names: those that a class has for
// reading and writing a member, and for objects that are indexed or called.

// A hook is a method that runs without a call.
type hook struct {
	name string
	kind ir.Accessor
	sub  int32 // tells apart the objects that its kinds make at one instruction
	args []*value
}

// The numbers of the kinds.
const (
	subGet int32 = 0x6000_0000 + iota<<16
	subSet
	subMissing
	subItem
	subMember
	subRun
)

// get runs the getter of the name that the classes of a value have. It reports false
// when there is none.
func (a *analysis) get(st *state, i int32, base *value, name string) (*value, bool) {
	if v, ok := a.runMember(st, i, base, ir.GetterField+name, nil); ok {
		return v, true
	}
	if !a.run.accessors[name] {
		return nil, false
	}
	return a.runHook(st, i, base, hook{name: name, kind: ir.Getter, sub: subGet})
}

// runMember runs the functions that the objects of a value keep as an accessor. It
// reports false when none has one.
func (a *analysis) runMember(st *state, i int32, base *value, field string, args []*value) (*value, bool) {
	var result *value
	found := false
	for k, id := range base.objs {
		if !a.objects[id].accessors {
			continue
		}
		f, ok := st.object(id).get(field)
		if !ok || f == nil {
			continue
		}
		for _, f := range f.objs {
			fn := a.objects[f].fn
			if fn == nil || a.run.local && fn.Parent != a.fn {
				continue
			}
			found = true
			a.applied[f] = true
			x := &actuals{fn: fn, this: &value{objs: []objID{id}, api: base.api},
				params: make([]*value, len(fn.Params)),
				instr:  i, node: a.fn.Code[i].Node, sub: subMember | int32(k)}
			x.captures = a.captureOf(st, target{fn: fn, fun: &value{objs: []objID{f}}})
			copy(x.params, args)
			r, _ := a.apply(st, x)
			result = join(result, r)
		}
	}
	return orUnknown(result), found
}

// put runs the setter of the name that the classes of a value have.
func (a *analysis) put(st *state, i int32, base *value, name string, x *value) bool {
	if _, ok := a.runMember(st, i, base, ir.SetterField+name, []*value{x}); ok {
		return true
	}
	if !a.run.accessors[name] {
		return false
	}
	_, ok := a.runHook(st, i, base, hook{name: name, kind: ir.Setter, sub: subSet, args: []*value{x}})
	return ok
}

// missing runs what a class has for members that its objects do not have.
func (a *analysis) missing(st *state, i int32, base *value, name string) (*value, bool) {
	on := a.fn.File.Lang.Meaning.OnMissing
	if on == "" {
		return nil, false
	}
	return a.runHook(st, i, base, hook{name: on, sub: subMissing, args: []*value{stringValue(name)}})
}

// item runs what a class has for an index.
func (a *analysis) item(st *state, i int32, base, key *value) (*value, bool) {
	on := a.fn.File.Lang.Meaning.OnItem
	if on == "" {
		return nil, false
	}
	return a.runHook(st, i, base, hook{name: on, sub: subItem, args: []*value{key}})
}

// runHook runs a method on each object of a value whose class has it, and joins the
// results. It reports false when no class has it.
func (a *analysis) runHook(st *state, i int32, base *value, h hook) (*value, bool) {
	var result *value
	found := false
	for k, id := range base.objs {
		fn := a.hooked(base, id, h)
		if fn == nil {
			continue
		}
		found = true
		x := &actuals{fn: fn, this: &value{objs: []objID{id}, api: base.api}, params: make([]*value, len(fn.Params)),
			instr: i, node: a.fn.Code[i].Node, sub: h.sub | int32(k), captures: func(int) *value { return unknown }}
		copy(x.params, h.args)
		r, _ := a.apply(st, x)
		result = join(result, r)
	}
	return orUnknown(result), found
}

// hooked returns the method of an object's class, nil for none.
func (a *analysis) hooked(base *value, id objID, h hook) *ir.Function {
	typ := a.objects[id].typ
	if typ == "" {
		typ = base.api
	}
	if typ == "" {
		return nil
	}
	c := a.run.program.Class(typ)
	if c == nil {
		return nil
	}
	for _, fn := range a.run.program.Method(c, h.name) {
		if fn.Accessor == h.kind && !fn.Static && len(fn.Blocks) > 0 {
			return fn
		}
	}
	return nil
}

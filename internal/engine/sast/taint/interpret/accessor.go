package interpret

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/value"
)

// This file runs methods of the program that no call names: those that a class has for
// reading and writing a member, and for objects that are indexed or called.

// runGetter runs the getter of the name that the classes of a value have. It reports false
// when there is none.
// First the accessors that were defined on the objects themselves (defineProperty, object
// literals), then those of their classes.
func (a *analysis) runGetter(st *frame.State, i int32, base *value.Value, name string) (*value.Value, bool) {
	if v, ok := a.runMember(st, i, base, ir.GetterField+name, nil); ok {
		return v, true
	}
	// Accessors has the names of all getters and setters of the program; the set spares the search
	// through the classes at most accesses.
	if !a.Run.Accessors[name] {
		return nil, false
	}
	return a.RunHook(st, i, base, frame.Hook{Name: name, Kind: ir.Getter, Sub: frame.SubGet})
}

// runMember runs the functions that the objects of a value keep as an accessor. It
// reports false when none has one.
// A value may be several objects. The accessors of all of them run, and the results are
// joined.
func (a *analysis) runMember(st *frame.State, i int32, base *value.Value, field string,
	args []*value.Value) (*value.Value, bool) {
	var result *value.Value
	found := false
	for k, id := range base.Objects {
		// Most objects have none; the flag avoids the search through their fields.
		if !a.Objects[id].HasAccessors {
			continue
		}
		f, ok := st.Object(id).Get(field)
		if !ok || f == nil {
			continue
		}
		for _, f := range f.Objects {
			fn := a.Objects[f].Function
			// In a local analysis only functions inside of this one are followed.
			if fn == nil || a.Run.Local && fn.Parent != a.Function {
				continue
			}
			found = true
			// Applied marks the closure as called, so that it is not interpreted once more as an
			// entry point without a caller.
			a.Applied[f] = true
			x := &callsite.Actuals{Function: fn, Receiver: &value.Value{Objects: []value.ObjectID{id}, API: base.API},
				Parameters: make([]*value.Value, len(fn.Params)),
				// The index of the object is part of the call's identity: two objects at one
				// access are two calls.
				Instruction: i, Node: a.Function.Code[i].Node, Sub: frame.SubMember | int32(k)}
			x.Captures = callsite.CaptureOf(a.Frame, st,
				callsite.Target{Function: fn, Value: &value.Value{Objects: []value.ObjectID{f}}})
			copy(x.Parameters, args)
			r, _ := a.Apply(st, x)
			result = value.Join(result, r)
		}
	}
	return value.OrUnknown(result), found
}

// runSetter runs the setter of the name that the classes of a value have.
func (a *analysis) runSetter(st *frame.State, i int32, base *value.Value, name string, x *value.Value) bool {
	if _, ok := a.runMember(st, i, base, ir.SetterField+name, []*value.Value{x}); ok {
		return true
	}
	if !a.Run.Accessors[name] {
		return false
	}
	_, ok := a.RunHook(st, i, base, frame.Hook{Name: name, Kind: ir.Setter, Sub: frame.SubSet, Args: []*value.Value{x}})
	return ok
}

// runMissingHook runs what a class has for members that its objects do not have.
// Examples are __getattr__ of Python, method_missing of Ruby and __get of PHP. The hook gets
// the name as a constant text.
func (a *analysis) runMissingHook(st *frame.State, i int32, base *value.Value, name string) (*value.Value, bool) {
	on := a.Function.File.Lang.Semantics.OnMissing
	if on == "" {
		return nil, false
	}
	return a.RunHook(st, i, base,
		frame.Hook{Name: on, Sub: frame.SubMissing, Args: []*value.Value{value.FromString(name)}})
}

// runItemHook runs what a class has for an index.
// Examples are __getitem__ of Python and offsetGet of PHP. The key is passed as it is, tainted
// or not.
func (a *analysis) runItemHook(st *frame.State, i int32, base, key *value.Value) (*value.Value, bool) {
	on := a.Function.File.Lang.Semantics.OnItem
	if on == "" {
		return nil, false
	}
	return a.RunHook(st, i, base, frame.Hook{Name: on, Sub: frame.SubItem, Args: []*value.Value{key}})
}

// RunHook runs a method on each object of a value whose class has it, and joins the
// results. It reports false when no class has it.
func (a *analysis) RunHook(st *frame.State, i int32, base *value.Value, h frame.Hook) (*value.Value, bool) {
	var result *value.Value
	found := false
	for k, id := range base.Objects {
		fn := a.HookOf(base, id, h)
		if fn == nil {
			continue
		}
		found = true
		x := &callsite.Actuals{Function: fn, Receiver: &value.Value{Objects: []value.ObjectID{id}, API: base.API},
			Parameters:  make([]*value.Value, len(fn.Params)),
			Instruction: i, Node: a.Function.Code[i].Node, Sub: h.Sub | int32(k),
			// A method of a class captures no variables.
			Captures: func(int) *value.Value { return value.Unknown }}
		copy(x.Parameters, h.Args)
		r, _ := a.Apply(st, x)
		result = value.Join(result, r)
	}
	return value.OrUnknown(result), found
}

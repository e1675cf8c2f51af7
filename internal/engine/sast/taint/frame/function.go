package frame

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/value"
)

// This file models function values: methods that are taken for values and keep their
// receiver (Go), functions of libraries that collect what they are called with, and
// methods that run without a call, such as accessors.

// A Hook is a method that runs without a call.
type Hook struct {
	Name string
	Kind ir.Accessor
	Sub  int32 // tells apart the objects that its kinds make at one instruction
	Args []*value.Value
}

// The numbers of the kinds.
const (
	SubGet int32 = 0x6000_0000 + iota<<16
	SubSet
	SubMissing
	SubItem
	SubMember
	SubRun
)

// HookOf returns the method of an object's class, nil for none.
func (a *Frame) HookOf(base *value.Value, id value.ObjectID, h Hook) *ir.Function {
	typ := a.Objects[id].Type
	if typ == "" {
		typ = base.API
	}
	if typ == "" {
		return nil
	}
	c := a.Run.Program.Class(typ)
	if c == nil {
		return nil
	}
	for _, fn := range a.Run.Program.Method(c, h.Name) {
		if fn.Accessor == h.Kind && !fn.Static && len(fn.Blocks) > 0 {
			return fn
		}
	}
	return nil
}

// HoldsFunction reports whether the value holds what callValue calls.
func (a *Frame) HoldsFunction(v *value.Value) bool {
	return slices.ContainsFunc(v.Objects, func(id value.ObjectID) bool {
		return a.Objects[id].Collector || a.Objects[id].Function != nil
	})
}

// IsFunction reports whether the value may be a function of the program.
func (a *Frame) IsFunction(v *value.Value) bool {
	for _, id := range v.Objects {
		if a.Objects[id].Function != nil {
			return true
		}
	}
	return v.API != "" && len(v.Objects) == 0 && a.Run.FindFunction(v.API) != nil
}

// receiverPart is the part of a function value that holds its receiver.
const receiverPart = "#receiver"

// MethodValue returns the method of an object as a function that keeps the object; nil
// when its class has no such method.
func (a *Frame) MethodValue(st *State, i int32, base *value.Value, owner, name string) *value.Value {
	if !a.Function.File.Lang.Semantics.ZeroValues {
		return nil
	}
	if id, ok := base.SoleObject(); ok && a.Objects[id].Type != "" {
		owner = a.Objects[id].Type
	}
	fn := a.Run.FindMethod(owner, name, -1)
	if fn == nil || fn.This == ir.NoVar {
		return nil
	}
	v := a.Allocate(st, i, 3, value.ObjectInfo{Kind: value.KindFunction, Function: fn, Complete: true},
		&value.Object{Size: value.Unsized})
	a.Store(st, v, receiverPart, base)
	return v
}

// MethodExpression returns the method that a global names by its class, as a function
// without a receiver; nil for any other global.
func (a *Frame) MethodExpression(st *State, i int32, name string) *value.Value {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || !a.Function.File.Lang.Semantics.ZeroValues {
		return nil
	}
	fn := a.Run.FindMethod(name[:dot], name[dot+1:], -1)
	if fn == nil || fn.This == ir.NoVar {
		return nil
	}
	return a.Allocate(st, i, 3, value.ObjectInfo{Kind: value.KindFunction, Function: fn, Complete: true},
		&value.Object{Size: value.Unsized})
}

// ReceiverOf returns the receiver with which a method is called that is a value, nil
// when the first argument is the receiver.
func (a *Frame) ReceiverOf(st *State, id value.ObjectID) *value.Value {
	if a.Objects[id].Input == nil {
		if _, bound := st.Object(id).Get(receiverPart); !bound {
			return nil
		}
	}
	return a.Load(st, &value.Value{Objects: []value.ObjectID{id}}, receiverPart)
}

// ExpectsReceiver reports whether the function is a method whose values keep a receiver.
func ExpectsReceiver(fn *ir.Function) bool {
	return fn.This != ir.NoVar && (fn.Class != nil || fn.Owner != "") && fn.File.Lang.Semantics.ZeroValues
}

// IsCollector reports whether the value is a function that keeps its arguments.
func (a *Frame) IsCollector(v *value.Value) bool {
	for _, id := range v.Objects {
		if a.Objects[id].Collector {
			return true
		}
	}
	return false
}

// Collect gives the functions that keep their arguments one more.
func (a *Frame) Collect(st *State, f, arg *value.Value) {
	for _, id := range f.Objects {
		if a.Objects[id].Collector {
			a.StoreObject(st, id, value.AnyKey, arg, false)
		}
	}
}

// IsProgramType reports whether the program declares the type.
func (a *Frame) IsProgramType(name string) bool { return a.Run.Program.Class(name) != nil }

// PromisedValue returns what a promise gives. Of one that the program does not make, or that
// an async function is only taken to return, it may be the value itself.
func (a *Frame) PromisedValue(st *State, v *value.Value) *value.Value {
	given := a.Load(st, v, value.AnyKey)
	if id, sole := v.SoleObject(); sole && a.Objects[id].Complete && st.Object(id) != nil &&
		st.Object(id).Elements != nil {
		return given
	}
	return value.Join(v, given)
}

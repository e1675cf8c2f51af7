package callsite

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file finds the functions of the program that a call may mean: by the function
// value, the classes of the receiver, or the call graph.

// A Target is a function that a call may mean.
// Several targets are possible for a call through an interface or a variable of function type.
type Target struct {
	Function *ir.Function
	Value    *value.Value // the function value, nil for a method
	Receiver *value.Value
}

// Targets returns the functions of the program that the call may mean. They are
// certain when the values say so, and not only the types.
// The sources are tried from the most exact one on: the function value itself, a direct call
// of a named function, a function stored in the object, the class of each object, and last the
// call graph, which knows only names and types.
func (c *Site) Targets() (list []Target, certain bool) {
	if c.Call.Kind == ir.CallNew {
		return c.constructorTargets()
	}
	if c.Function != nil {
		if list := c.FunctionTargets(c.Function, c.Receiver); len(list) > 0 {
			return list, true
		}
	}
	// Direct is the index of a function of the same file, which cannot be overridden.
	if c.Call.Direct >= 0 {
		return []Target{{Function: c.Frame.Function.File.Functions[c.Call.Direct], Receiver: c.Receiver}}, true
	}
	// obj.handler(x), where handler is a function that the program has stored in the object.
	if c.Receiver != nil && c.Call.Kind == ir.CallMethod {
		if list := c.FunctionTargets(c.Frame.Load(c.State, c.Receiver, c.Call.Name), c.Receiver); len(list) > 0 {
			return list, true
		}
		if list := c.methodTargets(); len(list) > 0 {
			return list, true
		}
	}
	for _, fn := range c.Frame.Run.Program.Targets(c.Frame.Function, c.Call) {
		list = append(list, Target{Function: fn, Receiver: c.Receiver})
	}
	// With the object the choice among several methods would be exact; the callers may know it.
	if len(list) > 1 && c.Receiver != nil {
		c.Frame.Need(c.Receiver)
	}
	if c.Function != nil && (len(list) == 0 || slices.ContainsFunc(list, sharesVariables)) {
		c.Frame.Need(c.Function) // only who made the function value knows what it shares
	}
	// A method that is found by name and type only may be another one of a subclass.
	return list, c.Call.Kind != ir.CallMethod && len(list) > 0
}

// sharesVariables reports whether the function of a target shares variables with the one around it.
func sharesVariables(t Target) bool { return len(t.Function.Captures) > 0 }

// FunctionTargets returns the functions that a function value may be.
// A value with several functions gives several targets.
func (c *Site) FunctionTargets(f, this *value.Value) []Target {
	var list []Target
	for _, id := range f.Objects {
		info := &c.Frame.Objects[id]
		if info.Function != nil {
			t := Target{Function: info.Function, Value: &value.Value{Objects: []value.ObjectID{id}}, Receiver: this}
			// "this" of a function value without a receiver is the one that it was bound to.
			if this == nil && frame.ExpectsReceiver(info.Function) {
				t.Receiver = c.Frame.ReceiverOf(c.State, id)
			}
			list = append(list, t)
			// A function that has been called is not called once more as escaping.
			c.Frame.Applied[id] = true
		}
	}
	// Objects that can be called: __call__ of Python, __invoke of PHP.
	if on := c.Frame.Function.File.Lang.Semantics.OnCall; on != "" && len(list) == 0 {
		for _, id := range f.Objects {
			if fn := c.Frame.HookOf(f, id, frame.Hook{Name: on}); fn != nil {
				list = append(list,
					Target{Function: fn, Receiver: &value.Value{Objects: []value.ObjectID{id}, API: f.API}})
			}
		}
	}
	// A function of the program under its qualified name, when it was imported and not made here.
	if len(list) == 0 && f.API != "" {
		if fn := c.Frame.Run.FindFunction(f.API); fn != nil {
			list = append(list, Target{Function: fn, Receiver: this})
		}
	}
	return list
}

// methodTargets returns the methods that the classes of the receiver have.
// If the class of one of the objects is unknown, the list would be incomplete; then none is
// returned and the call graph decides.
func (c *Site) methodTargets() []Target {
	var list []Target
	for _, id := range c.Receiver.Objects {
		typ := c.Frame.Objects[id].Type
		if typ == "" {
			if c.Receiver.API == "" || c.Frame.Objects[id].Input == nil ||
				c.Frame.Objects[id].Input.In.Kind == taintset.Receiver {
				return nil
			}
			return nil
		}
		fn := c.Frame.Run.FindMethod(typ, c.Call.Name, len(c.Args))
		if fn == nil {
			return nil
		}
		list = append(list, Target{Function: fn, Receiver: &value.Value{Objects: []value.ObjectID{id},
			Taint: c.Receiver.Taint, API: c.Receiver.API}})
	}
	return list
}

// constructorTargets returns the constructors of the class of a New.
// The object is allocated before the constructor runs, so that the constructor fills it as its
// receiver.
func (c *Site) constructorTargets() ([]Target, bool) {
	a := c.Frame
	name := c.Call.Qualified
	if c.Function != nil && c.Function.API != "" && a.Run.Program.Class(c.Function.API) != nil {
		name = c.Function.API
	}
	class := a.Run.Program.Class(name)
	own := class != nil
	id := a.Allocate(c.State, c.Index, 0, value.ObjectInfo{Kind: value.KindObject, Complete: own,
		Type: c.classOf(name, own)}, &value.Object{Size: value.Unsized})
	id.API = name
	c.Receiver = id
	// JavaScript: new f() of a function; its prototype provides the methods.
	if c.Function != nil && !own {
		a.Inherit(c.State, id, c.Function)
		if list := c.FunctionTargets(c.Function, id); len(list) > 0 {
			return list, true
		}
	}
	var list []Target
	for _, fn := range a.Run.Program.Targets(a.Function, c.Call) {
		list = append(list, Target{Function: fn, Receiver: id})
	}
	return list, own
}

// classOf returns the class by which methods of a new object are found.
func (c *Site) classOf(name string, own bool) string {
	if own {
		return name
	}
	return ""
}

// MaxTargets bounds the functions that one call is taken to mean.
// Each target costs the application of a summary and a copy of the state. Interfaces with
// hundreds of implementations would cost more than they find.
const MaxTargets = 12

package callsite

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file binds arguments to the parameters of the functions that a call may mean.

// Actuals are what a called function's inputs are where it is called.
// It is what a summary is applied to: every input that the summary names is looked up here. A
// nil value says that the call does not give the input.
type Actuals struct {
	// The function that is called.
	Function *ir.Function
	// The object before the dot; nil for functions without one.
	Receiver *value.Value
	// By parameter; nil where no argument is given and the default applies.
	Parameters []*value.Value
	// Returns the k-th captured variable, as the closure shares it.
	Captures func(k int) *value.Value
	// The index of the calling instruction in the caller.
	Instruction int32
	Sub         int32 // tells several calls of one instruction apart
	Callback    bool  // a library calls the function, which it was given here
	// The node of the call, for traces.
	Node int32
}

// Input returns what the called function's input is.
func (x *Actuals) Input(a *frame.Frame, in taintset.Input) *value.Value {
	switch in.Kind {
	case taintset.Parameter:
		if int(in.Index) < len(x.Parameters) {
			return x.Parameters[in.Index]
		}
	case taintset.Receiver:
		return x.Receiver
	case taintset.Capture:
		return x.Captures(int(in.Index))
	case taintset.Global:
		return a.Globals()
	}
	return nil
}

// Bind gives the arguments to the parameters.
// A method that is called as a function takes its receiver from the arguments: C.method(obj,
// x) of Python.
func (c *Site) Bind(st *frame.State, t Target, sub int32) *Actuals {
	fn := t.Function
	x := &Actuals{Function: fn, Receiver: t.Receiver, Parameters: make([]*value.Value, len(fn.Params)),
		Instruction: c.Index, Node: c.Instruction.Node,
		// Sub tells the targets of one instruction apart.
		Sub: sub << 8}
	x.Captures = CaptureOf(c.Frame, st, t)
	args := c.Args
	if t.Value != nil && t.Receiver == nil && len(args) > 0 && !args[0].Many && frame.ExpectsReceiver(fn) {
		x.Receiver, args = args[0].Value, args[1:]
	}
	x.Bind(c.Frame, st, args, c.Index)
	return x
}

// CaptureOf returns the way to the cells that a function value shares.
// Closures share variables, they do not copy them. Where the cells are depends on where the
// call is made: in the function that made the closure, in a sibling, in the closure itself
// (recursion), or anywhere else with the closure as a value.
func CaptureOf(a *frame.Frame, st *frame.State, t Target) func(int) *value.Value {
	return func(k int) *value.Value {
		outer := t.Function.Captures[k].Outer
		if t.Function.Parent == a.Function.Parent && t.Function.Parent != nil { // both share the activation around them
			for j, c := range a.Function.Captures {
				if c.Outer == outer {
					return a.Input(taintset.Input{Kind: taintset.Capture, Index: int32(j)}, "")
				}
			}
		}
		// The value of the closure has its variables as fields.
		if t.Value != nil {
			return a.Load(st, t.Value, value.CaptureField(k))
		}
		switch {
		case t.Function.Parent == a.Function:
			return a.Captured(st, outer)
		case t.Function == a.Function:
			return a.Input(taintset.Input{Kind: taintset.Capture, Index: int32(k)}, "")
		}
		return value.Unknown
	}
}

// Bind finds the parameter of each argument.
// Arguments are bound in their order: names first, then positions; what is left over goes to a
// rest parameter (*args, **kwargs, ...rest).
func (x *Actuals) Bind(a *frame.Frame, st *frame.State, args []Argument, instr int32) {
	next := 0
	for _, arg := range args {
		if arg.Name != "" && arg.Name != "**" {
			if p := paramNamed(x.Function, arg.Name); p >= 0 {
				x.Parameters[p] = value.Join(x.Parameters[p], arg.Value)
				continue
			}
			// An unknown name is collected by **kwargs, under its name.
			if p := restParam(x.Function, ir.Keywords); p >= 0 {
				x.Parameters[p] = x.restCollection(a, st, p, instr, value.KindMap)
				a.Store(st, x.Parameters[p], arg.Name, arg.Value)
			}
			continue
		}
		// Keyword-only parameters (after * in Python) are skipped by positions.
		for next < len(x.Function.Params) && x.Function.Params[next].ByName {
			next++
		}
		switch {
		// A spread argument of unknown length may be at any of the remaining parameters.
		case arg.Many:
			for p := next; p < len(x.Parameters); p++ {
				x.Parameters[p] = value.Join(x.Parameters[p], arg.Value)
			}
		// Too many arguments are allowed in JavaScript and are ignored.
		case next >= len(x.Parameters):
		case x.Function.Params[next].Rest == ir.Positional:
			x.Parameters[next] = x.restCollection(a, st, next, instr, value.KindList)
			// A rest parameter stays the current one: it takes all further arguments.
			a.Push(st, x.Parameters[next], arg.Value)
		default:
			x.Parameters[next] = value.Join(x.Parameters[next], arg.Value)
			next++
		}
	}
}

// restCollection returns the collection of a parameter that takes all other arguments.
// The collection is an object of the caller, so that the elements can be told apart. It is
// made once per call and parameter.
func (x *Actuals) restCollection(a *frame.Frame, st *frame.State, p int, instr int32, kind value.Kind) *value.Value {
	if x.Parameters[p] != nil {
		return x.Parameters[p]
	}
	info := value.ObjectInfo{Kind: kind, Complete: true}
	o := &value.Object{}
	if kind == value.KindMap {
		o.Size = value.Unsized
	}
	// The offset of 1000 keeps it apart from the objects that the instruction allocates otherwise.
	id := a.ObjectOf(value.ObjectKey{Instruction: instr, Sub: 1000 + x.Sub + int32(p)}, info)
	st.Put(id, o)
	return &value.Value{Objects: []value.ObjectID{id}, Kind: kind}
}

// paramNamed returns the parameter of the name, -1 when there is none. Parameters that take
// a rest have no name for callers.
func paramNamed(fn *ir.Function, name string) int {
	for i := range fn.Params {
		if fn.Params[i].Name == name && fn.Params[i].Rest == ir.One {
			return i
		}
	}
	return -1
}

// restParam returns the parameter that takes the rest of the arguments, by place or by
// name; -1 when there is none.
func restParam(fn *ir.Function, kind ir.Spread) int {
	for i := range fn.Params {
		if fn.Params[i].Rest == kind {
			return i
		}
	}
	return -1
}

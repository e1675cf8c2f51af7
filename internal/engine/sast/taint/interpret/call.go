package interpret

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/libcall"
	"merlon/internal/engine/sast/taint/value"
)

// exitsProgram reports whether a model says that the call ends the program. Its sinks are
// asked before.
// Examples are exit(), abort() and System.exit(). Code behind the call is dead, which removes
// false positives after "if (!valid) die();".
func (a *analysis) exitsProgram(c *callsite.Site) bool {
	for _, e := range c.Matches(model.Exits) {
		if c.Holds(e.If) {
			// The arguments of exit may be sinks too: die($_GET["x"]) prints them.
			if a.Noting {
				a.modelCall(c).NoteSinks()
			}
			return true
		}
	}
	return false
}

// passThrown gives what a call throws to the handler around it, or out of the function.
// Values that are thrown carry taint: the message of an exception is often built from input
// and printed in the handler.
func (a *analysis) passThrown(st *frame.State, b *ir.Block, thrown *value.Value) {
	switch {
	case thrown == nil:
	case b.Except != ir.NoBlock:
		a.except[b.Except] = value.Join(a.except[b.Except], thrown)
	case a.Noting:
		a.noteThrown(st, thrown)
	}
}

// invokeCall interprets a call. It returns false when the program does not come back.
func (a *analysis) invokeCall(st *frame.State, i int32, b *ir.Block) bool {
	c := callsite.New(a.Frame, st, i)
	// An element of JSX is a call of its component.
	if c.Call.Kind == ir.CallMarkup && !a.Run.Plain {
		if v := a.interpretMarkup(c); c.Instruction.Dst != ir.NoVar {
			a.Assign(st, c.Instruction.Dst, v)
		}
		return true
	}
	if a.exitsProgram(c) {
		return false
	}
	// Rules that are followed in functions only look into functions inside of this one.
	targets, certain := c.Targets()
	if a.Run.Local {
		targets = slices.DeleteFunc(targets, func(t callsite.Target) bool { return t.Function.Parent != a.Function })
	}
	// Models come first: they know more of a library than its source would tell, and say
	// what a framework does with functions of the program.
	m := a.modelCall(c)
	result, modelled := m.ApplyModels(certain)
	if v, ok := a.modelCall(c).CallMade(); ok {
		result, modelled = value.Join(result, v), true
	}
	if a.Noting {
		m.NoteSinks()
	}
	c.Settle(targets)
	// Functions of the program that may be called are applied beside a model, unless the
	// model is for the very type and they are only guessed by their name.
	returns := true
	switch {
	// A model that matched and targets that are only guessed by name: the model wins, since a name
	// such as "get" fits many functions of the program.
	case len(targets) > 0 && !(modelled && !certain):
		var thrown, v *value.Value
		v, thrown, returns = a.applyAll(c, targets)
		a.passThrown(st, b, thrown)
		result = value.Join(result, v)
	// Neither a model nor a target: the general rule passes the taint of arguments and receiver to
	// the result.
	case !modelled:
		result = value.Join(result, m.CallUnknown())
	}
	// None of the functions returns: the program goes on in a handler, or nowhere.
	if !returns && b.Except == ir.NoBlock {
		return false
	}
	if !returns {
		result = value.Unknown
	}
	result = m.Finish(value.OrUnknown(result))
	if c.Instruction.Dst != ir.NoVar {
		a.Assign(st, c.Instruction.Dst, result)
	}
	return true
}

// modelCall returns the call at a site as models interpret it.
func (a *analysis) modelCall(c *callsite.Site) *libcall.Call { return libcall.New(c, a.Guards, a) }

// applyAll applies every target and joins what comes out.
// Each target starts from the same state. The states that come out are merged, since any of
// the targets may be the one that runs.
func (a *analysis) applyAll(c *callsite.Site, targets []callsite.Target) (result, thrown *value.Value, returns bool) {
	before := c.State
	var after *frame.State
	// MaxTargets bounds the cost of calls through interfaces that many classes implement.
	if len(targets) > callsite.MaxTargets {
		targets = targets[:callsite.MaxTargets]
	}
	for k, t := range targets {
		st := c.State
		// With one target the state is changed in place, which saves a copy for nearly all calls.
		if len(targets) > 1 {
			st = a.Borrow(before)
		}
		r, th := a.Apply(st, c.Bind(st, t, int32(k)))
		thrown = value.Join(thrown, th)
		// A nil result means that the target never returns; it adds nothing to the state behind
		// the call.
		if r == nil {
			continue
		}
		returns = true
		result = value.Join(result, r)
		if len(targets) > 1 {
			after, _ = a.MergeVars(after, st, a.Function.Vars) // the block goes on and needs its temporaries
			a.GiveBack(st)
		}
	}
	if after != nil {
		*c.State = *after
	}
	// The value of a constructor call is the object, not what the constructor returns.
	if c.Call.Kind == ir.CallNew {
		result = c.Receiver
	}
	return result, thrown, returns
}

// bindCallback gives the arguments of a call from within a library to the parameters of
// the function that the object is. A function that expects a receiver and has none takes
// the first argument for it: a method of a class that is given by its name.
func (a *analysis) bindCallback(st *frame.State, id value.ObjectID, args []*value.Value, site *callsite.Site,
	sub int32) *callsite.Actuals {
	fn := a.Objects[id].Function
	t := callsite.Target{Function: fn, Value: &value.Value{Objects: []value.ObjectID{id}}}
	x := &callsite.Actuals{Function: fn, Parameters: make([]*value.Value, len(fn.Params)),
		// The sub-index separates the calls of several callbacks at one instruction, and those of
		// the library from those of the program.
		Instruction: site.Index, Node: site.Instruction.Node, Sub: sub<<16 | 1, Callback: true}
	x.Captures = callsite.CaptureOf(a.Frame, st, t)
	list := make([]callsite.Argument, len(args))
	for i, v := range args {
		list[i] = callsite.Argument{Value: v, From: ir.NoVar}
	}
	// In JavaScript a function that uses "this" without a receiver is the common case of methods
	// passed by name.
	if frame.ExpectsReceiver(fn) {
		if x.Receiver = a.ReceiverOf(st, id); x.Receiver == nil && len(list) > 0 {
			x.Receiver, list = list[0].Value, list[1:]
		}
	}
	x.Bind(a.Frame, st, list, site.Index)
	return x
}

// CallValue calls a function value from within a library, with the arguments.
func (a *analysis) CallValue(st *frame.State, f *value.Value, args []*value.Value, site *callsite.Site,
	sub int32) *value.Value {
	if f == nil {
		return nil
	}
	// The value may be several functions; all are called and the results are joined.
	var result *value.Value
	for _, id := range f.Objects {
		info := &a.Objects[id]
		switch {
		// A collector is a function of the library (resolve): what it is called with is stored in
		// it.
		case info.Collector:
			for _, v := range args {
				a.StoreObject(st, id, value.AnyKey, v, false)
			}
		case info.Function != nil && !(a.Run.Local && info.Function.Parent != a.Function):
			a.Applied[id] = true
			r, _ := a.Apply(st, a.bindCallback(st, id, args, site, sub))
			result = value.Join(result, r)
		}
	}
	// No function: an object with a single method is one in Java and Kotlin (lambda interfaces).
	if result == nil && len(f.Objects) > 0 && !a.Run.Local {
		result = a.callObject(st, f, args, site, sub)
	}
	// A function of a library that was passed as a value: list.map(escape).
	if result == nil && f.API != "" && !a.IsFunction(f) {
		result = a.modelCall(site).CallLibrary(st, f.API, args)
	}
	return result
}

// callObject calls the only method of an object that stands for a function.
// The receiver of the call is the object. Its type decides which method that is: the one of
// Runnable, Comparator or Function.
func (a *analysis) callObject(st *frame.State, f *value.Value, args []*value.Value, site *callsite.Site,
	sub int32) *value.Value {
	var result *value.Value
	for _, id := range f.Objects {
		typ := a.Objects[id].Type
		if typ == "" {
			// The type may be known to the callers.
			a.Need(f)
			continue
		}
		fn := a.Run.SoleMethod(typ)
		if fn == nil {
			continue
		}
		x := &callsite.Actuals{Function: fn, Receiver: &value.Value{Objects: []value.ObjectID{id}},
			Parameters:  make([]*value.Value, len(fn.Params)),
			Instruction: site.Index, Node: site.Instruction.Node, Sub: sub<<16 | 1,
			Captures: func(int) *value.Value { return value.Unknown }}
		for i, v := range args {
			if i < len(x.Parameters) {
				x.Parameters[i] = v
			}
		}
		r, _ := a.Apply(st, x)
		result = value.Join(result, r)
	}
	return result
}

// callEscaping calls the function values that were made and never called: somebody
// else will.
// Without these calls a finding inside of a handler that is registered with an unknown library
// would be missed.
func (a *analysis) callEscaping() {
	if a.exit == nil {
		return
	}
	// Only closures that this function has made itself are called. Functions without captured
	// variables are analyzed as entry points anyway, with the same result.
	for id := range a.Objects {
		info := &a.Objects[id]
		if info.Function == nil || info.Key.From != nil || info.Input != nil || a.Applied[value.ObjectID(id)] ||
			len(info.Function.Captures) == 0 {
			continue
		}
		t := callsite.Target{Function: info.Function,
			Value: &value.Value{Objects: []value.ObjectID{value.ObjectID(id)}}}
		// A copy of the final state: the closure sees the variables as they are at the end.
		st := a.Borrow(a.exit)
		x := &callsite.Actuals{Function: info.Function, Parameters: make([]*value.Value, len(info.Function.Params)),
			Instruction: 0, Node: info.Function.Node,
			// The bit keeps the calls apart from all others at the instruction, whose sub-indexes
			// are smaller.
			Sub: 1 << 24}
		// The call is attributed to the instruction that made the closure, for the trace of
		// findings.
		if info.Key.Instruction >= 0 {
			x.Instruction, x.Node = info.Key.Instruction, a.Function.Code[info.Key.Instruction].Node
		}
		x.Captures = callsite.CaptureOf(a.Frame, st, t)
		a.Apply(st, x)
		a.GiveBack(st)
	}
}

// Package libcall interprets calls of libraries by their models: operations on texts,
// lists, maps and promises, flows between the places of a call, callbacks, sources,
// sanitizers and sinks.
//
// A model has entries of several forms for a function. The order within a call is fixed:
// operations are computed exactly, flows ("summaries") are moved where there is no operation,
// callbacks run with what the library passes to them, then results of callbacks move on;
// sanitizers, sources and types apply to the result at the end. Resolving the call to
// functions of the program is left to callsite, running them to interpret.
package libcall

import (
	"fmt"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/guard"
	"merlon/internal/engine/sast/taint/value"
)

// An Interpreter runs functions of the program for calls of libraries.
type Interpreter interface {
	// Apply calls a function with what it is given.
	Apply(st *frame.State, x *callsite.Actuals) (result, thrown *value.Value)
	// CallValue calls a function value with arguments; nil when it is none.
	CallValue(st *frame.State, f *value.Value, args []*value.Value, site *callsite.Site, sub int32) *value.Value
	// RunHook runs a method that no call names; false when no class has it.
	RunHook(st *frame.State, i int32, base *value.Value, h frame.Hook) (*value.Value, bool)
}

// A Call is a call that is interpreted by models.
// It is made anew for each pass, since callbacks keep state between the steps.
type Call struct {
	*callsite.PlaceReader
	// Learns what checks prove about values; sanitizers of arguments write into it.
	guards *guard.Guards
	// Runs callbacks and accessors of the program.
	program Interpreter
	// Callbacks that are not arguments themselves but inside of one, as in {success: function
	// (data) {}}.
	held []*heldCallback // of parts of arguments
}

// New returns the call of a library at a site.
func New(c *callsite.Site, g *guard.Guards, p Interpreter) *Call {
	return &Call{PlaceReader: callsite.NewPlaceReader(c), guards: g, program: p}
}

// withoutCallbacks returns the same call, of which no callback has been called yet.
func (m *Call) withoutCallbacks() *Call { return New(m.Site, m.guards, m.program) }

// ApplyModels interprets the call by what the models compute and summarize. It
// reports whether they know the call.
// certain is true when the call certainly goes to a function of the program: operations and
// flows are then left out, and only what a framework passes to callbacks applies.
func (m *Call) ApplyModels(certain bool) (*value.Value, bool) {
	known := false
	if !certain {
		known = m.applyOperations() || m.applyFlows()
	}
	m.fromLibrary()
	m.runCallbacks()
	if known {
		m.feedCallbacks()
		m.moveReturned()
	}
	return m.Result, known
}

// applyOperations computes the call when a model says how.
// The first operation whose conditions are valid decides; several for one function differ in
// conditions.
func (m *Call) applyOperations() bool {
	for _, e := range m.Matches(model.Operations) {
		if m.Holds(e.If) {
			if v, ok := m.computeOperation(e.Kind); ok {
				m.Result = value.Join(m.Result, v)
				return true
			}
		}
	}
	return false
}

// applyFlows moves what the summaries say.
// Flows are of four forms: between values, from a parameter of a callback, from the result of
// a callback, and none at all for functions that are known to pass nothing on.
func (m *Call) applyFlows() bool {
	known := false
	for _, e := range m.Matches(model.Summaries) {
		if !m.Holds(e.If) {
			continue
		}
		// A matching summary makes the call known even without flows. Unknown calls pass all
		// arguments to the result; known ones do not.
		known = true
		for _, f := range e.Flows {
			switch {
			case callsite.TakesFormal(f.From):
				// A callback gets a function from the library (resolve of a Promise): what it
				// passes to that is collected.
				m.collectFormals(f.From)
			case !callsite.HasStep(f.From, model.Result):
				// A flow from the result of a callback has to wait until the callback has run; see
				// moveReturned.
				m.moveValues(m.Values(f.From), f.To)
			case f.From.Base == model.This:
				m.Callback(-1) // a function that is called without arguments
			}
		}
	}
	// A constructor returns the object, which the flows have filled.
	if known && m.Call.Kind == ir.CallNew {
		m.Result = m.Frame.WholeValue(m.State, m.Receiver)
	} else if known && m.Result == nil {
		m.Result = value.Unknown
	}
	return known
}

// moveReturned moves what callbacks returned.
// It is the second half of applyFlows. Before the callbacks have run, their results are
// unknown.
func (m *Call) moveReturned() {
	for _, e := range m.Matches(model.Summaries) {
		if !m.Holds(e.If) {
			continue
		}
		for _, f := range e.Flows {
			if callsite.HasStep(f.From, model.Result) || callsite.TakesFormal(f.From) {
				m.moveValues(m.Values(f.From), f.To)
			}
		}
	}
}

// feedCallbacks calls the callbacks once more that are given what they returned.
// An example is reduce: the accumulator parameter is what the previous call returned. One
// repetition is enough, since taint only grows and a second one would pass the same.
func (m *Call) feedCallbacks() {
	for _, e := range m.Matches(model.Summaries) {
		if !m.Holds(e.If) {
			continue
		}
		for _, f := range e.Flows {
			if !callsite.HasStep(f.From, model.Result) || f.To.Base != model.Argument || len(f.To.Steps) != 1 ||
				f.To.Steps[0].Kind != model.Formal {
				continue
			}
			for _, i := range m.Positions(f.To) {
				m.feedCallback(m.Callback(i), f, i)
			}
		}
	}
}

// feedCallback calls a callback with what the flow brings to one of its parameters.
func (m *Call) feedCallback(cb *callsite.Callback, f model.Flow, arg int) {
	k := f.To.Steps[0].Index
	// A callback that has never run has returned nothing.
	if !cb.Called || k < 0 || k >= callsite.MaxFormals {
		return
	}
	v := cb.Parameters[k]
	for _, from := range m.Values(f.From) {
		v = value.Join(v, from)
	}
	// Nothing new arrives: the call would give the same result.
	if v.Same(cb.Parameters[k]) {
		return
	}
	cb.Parameters[k] = v
	m.callWith(cb, arg)
}

// fromLibrary adds what the library passes to callbacks by itself: sources and
// typed objects.
// Examples are the request object in app.get("/", (req, res) => …): a source in one parameter,
// a typed object in the other.
func (m *Call) fromLibrary() {
	for _, e := range m.Matches(model.Sources) {
		for _, p := range e.Places {
			if callsite.HasStep(p, model.Formal) && m.Holds(e.If) {
				m.moveValues([]*value.Value{m.Frame.Run.SourceValue(m.Frame.Function, e, m.Instruction.Node)}, p)
			}
		}
	}
	for _, e := range m.Matches(model.Types) {
		for _, p := range e.Places {
			if callsite.HasStep(p, model.Formal) && m.Holds(e.If) {
				m.moveValues([]*value.Value{{API: e.Type}}, p)
			}
		}
	}
}

// collectFormals gives the callbacks of a place a function that keeps what they pass to it.
// The index is that of the callback's parameter that is the function. A collector stands for
// it: an object that keeps everything it is called with.
func (m *Call) collectFormals(p model.Place) {
	k := p.Steps[slices.IndexFunc(p.Steps, func(s model.Step) bool { return s.Kind == model.Formal })].Index
	if p.Base != model.Argument || k < 0 || k >= callsite.MaxFormals {
		return
	}
	for _, i := range m.Positions(p) {
		m.Callback(i).Parameters[k] = m.Collector(i, k)
	}
}

// moveValues brings values to a place.
// Taint gets a step of the trace at the call, so that a finding shows the call on its path.
func (m *Call) moveValues(list []*value.Value, to model.Place) {
	for _, v := range list {
		if v == nil {
			continue
		}
		v = v.WithTaint(v.Taint.At(m.Frame.Function, m.Instruction.Node))
		switch to.Base {
		case model.This:
			m.putAtPlace(m.Receiver, -1, to, v)
		case model.Return:
			m.toResult(to, v)
		case model.Argument:
			for _, i := range m.Positions(to) {
				m.putAtPlace(m.Args[i].Value, i, to, v)
			}
		}
	}
}

// toResult brings a value to the result, or a part of it.
func (m *Call) toResult(to model.Place, v *value.Value) {
	if len(to.Steps) == 0 {
		// Unknown is the initial result of a known call; a flow replaces it and does not join it.
		if m.Result == value.Unknown {
			m.Result = nil
		}
		m.Result = value.Join(m.Result, v)
		return
	}
	// A part of the result needs an object to be stored in. The taint of the result so far is
	// kept.
	if m.Result == nil || len(m.Result.Objects) == 0 {
		taint := value.OrUnknown(m.Result).Taint
		m.Result = m.newResult(value.KindObject).WithTaint(taint)
	}
	m.putAtPlace(m.Result, -1, to, v)
}

// newResult makes the object that the call returns.
// A list begins empty, with positions that are known. Any other object has an unknown size.
func (m *Call) newResult(kind value.Kind) *value.Value {
	o := &value.Object{Size: value.Unsized}
	if kind == value.KindList {
		o.Size = 0
	}
	return m.Frame.Allocate(m.State, m.Index, 1, value.ObjectInfo{Kind: kind, Complete: true}, o)
}

// putAtPlace brings a value to a part of another.
// The steps of the location are walked one by one; missing objects on the way are created. arg
// is the index of the argument that the location begins at, -1 for the receiver and the
// result, -2 inside of a parameter of a callback.
func (m *Call) putAtPlace(base *value.Value, arg int, to model.Place, v *value.Value) {
	if base == nil {
		return
	}
	for k, s := range to.Steps {
		last := k == len(to.Steps)-1
		switch {
		// A parameter of a function that is inside of the argument.
		case s.Kind == model.Formal && arg >= 0 && k > 0:
			m.toHeld(base, fmt.Sprint(arg, to.Steps[:k]), s.Index, v)
			return
		case s.Kind == model.Formal && arg >= -1:
			m.toFormal(arg, s.Index, to.Steps[k+1:], v)
			return
		// Something within an element that is appended has no name to walk to; the whole flow is
		// dropped.
		case !last && s.Kind == model.Append:
			return
		case !last:
			next := m.Step(base, s)
			if len(next.Objects) == 0 {
				// 10+k keeps objects of different depths apart from each other and from the
				// result, which has 1.
				next = m.Frame.Allocate(m.State, m.Index, int32(10+k),
					value.ObjectInfo{Kind: value.KindObject, Complete: true}, &value.Object{Size: value.Unsized})
				m.storeStep(base, s, next)
			}
			base = next
		default:
			m.storeStep(base, s, v)
			return
		}
	}
	// Without steps, the location is the whole value.
	m.taintBase(base, arg, v)
}

// taintBase makes a whole object tainted, and the variable that holds a plain value.
// An object gets the taint itself. A plain value, such as a byte array or an out parameter of
// a text, lives in a variable, which is therefore refined.
func (m *Call) taintBase(base *value.Value, arg int, v *value.Value) {
	t := m.Frame.DeepTaint(m.State, v)
	m.Frame.TaintObject(m.State, base, t)
	from := m.Call.Receiver
	if arg >= 0 {
		from = m.Args[arg].From
	}
	if from >= 0 && len(t) > 0 {
		m.Frame.Refine(m.State, from, func(x *value.Value) *value.Value { return x.WithTaint(x.Taint.Union(t)) })
	}
}

// storeStep writes the last step of a place.
// Each kind of step has its write: a field by name, all elements, one more element, the
// element under the key that another argument gives, the keys, or everything inside.
func (m *Call) storeStep(base *value.Value, s model.Step, v *value.Value) {
	switch s.Kind {
	case model.Field:
		m.Frame.Store(m.State, base, s.Name, v)
	case model.Elements:
		m.Frame.Store(m.State, base, value.AnyKey, v)
	case model.Append:
		m.Frame.Push(m.State, base, v)
	case model.KeyOf:
		m.Frame.Store(m.State, base, m.KeyName(s.Index), v)
	case model.Keys:
		m.Frame.StoreKey(m.State, base, v)
	case model.Deep:
		m.Frame.TaintObject(m.State, base, m.Frame.DeepTaint(m.State, v))
	}
}

// toFormal passes a value to a parameter of a callback.
// A model can describe a part of the parameter only ("the field body of the first parameter");
// the parameter is then an object that is made here.
func (m *Call) toFormal(arg, formal int, rest []model.Step, v *value.Value) {
	cb := m.Callback(arg)
	if len(rest) > 0 { // a part of the parameter
		if rest[0].Kind == model.Formal || rest[0].Kind == model.Result {
			return
		}
		// The base of 7000 keeps these objects apart from others that the instruction allocates;
		// there is one per argument and parameter.
		info := value.ObjectInfo{Kind: value.KindObject}
		base := m.Frame.Allocate(m.State, m.Index, int32(7000+(arg+1)*callsite.MaxFormals+formal+1), info,
			&value.Object{Size: value.Unsized})
		m.putAtPlace(base, -2, model.Place{Steps: rest}, v)
		v = base
	}
	// Any stands for all parameters of the callback. A parameter behind MaxFormals is dropped.
	switch {
	case formal == model.Any:
		cb.Any = mergeTyped(cb.Any, v)
	case formal < callsite.MaxFormals:
		cb.Parameters[formal] = mergeTyped(cb.Parameters[formal], v)
	}
}

// mergeTyped joins what a library passes, where one says the value and the other its
// type.
// A source and a type entry for one parameter come separately. The join of a value without a
// type and one with it would lose the type.
func mergeTyped(a, b *value.Value) *value.Value {
	v := value.Join(a, b)
	if a != nil && b != nil && v.API == "" {
		v = v.WithAPI(a.API).WithAPI(b.API)
	}
	return v
}

package libcall

import (
	"math"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations that models give to calls.

// An operand list is the receiver and the arguments of a call, in order. A class
// or module as receiver is no operand.
func (m *Call) operandList() []*value.Value {
	var list []*value.Value
	if m.Receiver != nil && !m.isStatic() {
		list = append(list, m.Receiver)
	}
	for _, arg := range m.Args {
		list = append(list, arg.Value)
	}
	return list
}

// isStatic reports whether the receiver is a class or a module and not a value.
// A static call has no receiver among its operands: String.join(sep, list), Math.max(a, b).
// The models number operands without it.
func (m *Call) isStatic() bool {
	if m.Call.Kind == ir.CallNew {
		return true
	}
	i := m.Frame.Function.Def(m.Call.Receiver)
	if i < 0 {
		return false
	}
	in := &m.Frame.Function.Code[i]
	// A global name that the program does not declare, without a type, a constant or taint, is
	// taken for a class or module of a library.
	return in.Op == ir.ClassValue || in.Op == ir.LoadGlobal && !m.Frame.Run.Declares(in.Text) &&
		m.Receiver.Constant.Kind == value.NoConstant && len(m.Receiver.Taint) == 0 && m.Call.Type == ""
}

// computeOperation computes an operation. It reports false when the general rules say
// more.
// name is "group.operation" of the model file, for example "string.trim" or "list.add".
// Operations without a group concern values of any kind.
func (m *Call) computeOperation(name string) (*value.Value, bool) {
	args := m.operandList()
	group, op, _ := strings.Cut(name, ".")
	switch group {
	case "string":
		return m.textOperation(op, args)
	case "buffer":
		return m.bufferOperation(op, args)
	case "list":
		return m.listOperation(op, args)
	case "map":
		return m.mapOperation(op, args)
	case "number":
		return m.numberOperation(op, args), true
	case "call":
		return m.callOperation(op, args)
	case "regexp":
		if op == "remove" {
			return m.removeMatches(args)
		}
		return m.compileExpression(args)
	case "promise":
		return m.promiseAll(args)
	case "state":
		return m.keptState(), true
	case "object":
		if op == "bare" {
			return m.bareObject(), true
		}
		if op == "define" {
			return m.defineProperty(args)
		}
		return m.assignFields(args), true
	}
	return m.valueOperation(op, args)
}

// first returns the operand, unknown when there is none.
func operandAt(args []*value.Value, i int) *value.Value {
	if i < len(args) {
		return value.OrUnknown(args[i])
	}
	return value.Unknown
}

// numberOperation computes with numbers. A result that is not known is a number all the
// same, which holds no text.
func (m *Call) numberOperation(op string, args []*value.Value) *value.Value {
	x, y := operandAt(args, 0), operandAt(args, 1)
	switch {
	// parseInt(" 42 ") skips white space in all languages that are modeled.
	case op == "parse" && x.IsKnown():
		if n, ok := value.ParseNumber(strings.TrimSpace(x.Constant.String())); ok {
			return n
		}
	case op == "abs" && x.Constant.IsNumber():
		return &value.Value{Constant: value.Constant{Kind: x.Constant.Kind, Number: math.Abs(x.Constant.Number)},
			Kind: value.KindNumber}
	case op == "max" && x.Constant.IsNumber() && y.Constant.IsNumber():
		return &value.Value{Constant: value.Constant{Kind: x.Constant.Kind,
			Number: math.Max(x.Constant.Number, y.Constant.Number)}, Kind: value.KindNumber}
	case op == "min" && x.Constant.IsNumber() && y.Constant.IsNumber():
		return &value.Value{Constant: value.Constant{Kind: x.Constant.Kind,
			Number: math.Min(x.Constant.Number, y.Constant.Number)}, Kind: value.KindNumber}
	}
	return &value.Value{Kind: value.KindNumber}
}

// valueOperation computes the operations of values of any type.
func (m *Call) valueOperation(op string, args []*value.Value) (*value.Value, bool) {
	// The operand that an operation works on; Unknown when the call has none.
	x := operandAt(args, 0)
	switch op {
	case "promisify":
		return m.promisifyFunction()
	case "same":
		return m.Frame.WholeValue(m.State, x), true
	case "view", "settle", "relative":
		return nil, false // says something to guards and conditions only
	case "address":
		return m.parsedAddress(), true
	// A comparison of constants gives a truth value, and dead branches are not followed: the usual
	// cause of false positives behind feature flags.
	case "equals":
		if v := value.FoldBinary("==", x, operandAt(args, 1)); v != nil {
			return v, true
		}
		m.Frame.Need(x)
		m.Frame.Need(operandAt(args, 1))
		return &value.Value{Kind: value.KindBool}, true
	case "not":
		if v := value.FoldUnary("!", x); v != nil {
			return v, true
		}
		return &value.Value{Kind: value.KindBool}, true
	case "ends":
		return m.pipeEnds(), true
	case "property":
		return m.propertyOf(args), true
	}
	return &value.Value{Kind: value.KindString}, true
}

// propertyOf returns the property of a key: what the program has put there, otherwise
// what the configuration says.
// System.getProperty("key", fallback) of Java and its relatives. The operands are the key and
// the fallback.
func (m *Call) propertyOf(args []*value.Value) *value.Value {
	if o := m.Frame.SoleObject(m.State, m.Receiver); o != nil && operandAt(args, 1).IsKnown() {
		key := operandAt(args, 1).Constant.String()
		if k := slices.IndexFunc(o.Fields, func(f value.Field) bool { return f.Name == key }); k >= 0 &&
			o.Fields[k].Value != nil {
			return o.Fields[k].Value
		}
	}
	// A method of an object (props.getProperty(key)) has the object as the first operand, the
	// static form does not.
	if len(args) > 0 && m.Receiver != nil && !m.isStatic() {
		args = args[1:]
	}
	return m.configuredProperty(args)
}

// parsedAddress returns what a call makes of a text that it parses: an object of its own, to
// which the text is no other name.
// Examples are new URL(text) and URI.create(text). A check of the object (its host) therefore
// does not clean the text, and a check of the text does not clean the object.
func (m *Call) parsedAddress() *value.Value {
	var t taintset.Set
	for _, arg := range m.Args {
		t = t.Union(m.Frame.DeepTaint(m.State, arg.Value))
	}
	t = t.At(m.Frame.Function, m.Instruction.Node)
	v := m.Receiver
	// A constructor writes into the object that the instruction allocated.
	if v == nil || m.Call.Kind != ir.CallNew {
		v = m.newResult(value.KindObject)
	}
	m.Frame.TaintObject(m.State, v, t)
	return v.WithTaint(t)
}

// configuredProperty returns what the configuration files of the program say.
// Properties has the keys of .properties and application.yml files. Their texts count as
// literals of the program, so that rules for hard-coded secrets see them at the line of the
// use.
func (m *Call) configuredProperty(args []*value.Value) *value.Value {
	v := operandAt(args, 1)
	if key := operandAt(args, 0); key.IsKnown() {
		if text, ok := m.Frame.Run.Properties[key.Constant.String()]; ok {
			return m.Frame.LiteralSource(m.Instruction, value.FromString(text))
		}
	}
	if len(args) < 2 {
		return &value.Value{Kind: value.KindString}
	}
	return v
}

// callOperation calls function values.
// The operations are those of functions as values: f.call(this, x), f.apply(this, list),
// f.bind(this), callable.invoke(x), EventEmitter.on and emit, and reflection.
func (m *Call) callOperation(op string, args []*value.Value) (*value.Value, bool) {
	f := operandAt(args, 0)
	switch op {
	case "on", "emit":
		return m.handleEvent(op, args), true
	case "reflected":
		return m.callReflected(args)
	case "method":
		return m.reflectMethod(args)
	}
	// Thread.run and Runnable.run: the method of the object runs in place of the library's.
	if op == "run" {
		return m.program.RunHook(m.State, m.Index, f, frame.Hook{Name: "run", Sub: frame.SubRun})
	}
	// The operand 0 is the function itself.
	rest := args[min(1, len(args)):]
	// An unknown function value: a library function kept in a variable is called as such;
	// everything else is left to the general rules, which pass the taint of all arguments on.
	if !m.Frame.IsFunction(f) && !m.Frame.IsCollector(f) {
		if op == "invoke" && f.API != "" {
			m.CallLibrary(m.State, f.API, rest)
		}
		m.Frame.Need(f)
		return nil, false
	}
	switch op {
	case "apply":
		// The arguments are in a list. With an exact list each lands at its parameter, otherwise
		// every parameter may get every element.
		list := operandAt(args, 2)
		rest = nil
		if elems, ok := m.Frame.SoleObject(m.State, list).List(); ok {
			rest = elems
		} else {
			for i := range callsite.MaxFormals {
				rest = append(rest, m.Frame.Load(m.State, list, value.IndexKey(i)))
			}
		}
	case "call":
		// f.call(this, x) has the receiver in front of the arguments.
		rest = args[min(2, len(args)):]
	case "bind":
		// A bound function is the same function. Bound arguments are not modeled; bind with more
		// than the receiver is rare.
		return f, true
	}
	// The number 100 separates the inner call from other calls of the same instruction (the
	// sub-index of the call site).
	return value.OrUnknown(m.program.CallValue(m.State, f, rest, m.Site, 100)), true
}

// listeners begins the names of the parts that hold an object's listeners.
// The prefix cannot occur in a field name of a program. A field name therefore never collides
// with the listeners of an event of that name.
const listeners = "#on "

// handleEvent keeps a function for the events of a name, or calls those that are kept. What
// is called is not what a call of the library would be given.
func (m *Call) handleEvent(op string, args []*value.Value) *value.Value {
	emitter := operandAt(args, 0)
	name, known := m.Frame.KeyOf(operandAt(args, 1))
	// Without a constant event name it is not known which listeners run; the emitter is returned,
	// since on() calls are chained.
	if !known {
		return emitter
	}
	f := m.Frame.Load(m.State, emitter, listeners+name)
	if op == "on" {
		// The new function joins the ones that are registered already: all of them run.
		m.Frame.Store(m.State, emitter, listeners+name, value.Join(operandAt(args, 2), f))
		return emitter
	}
	m.program.CallValue(m.State, f, args[min(2, len(args)):], m.Site, 101)
	return &value.Value{Kind: value.KindBool}
}

package libcall

import (
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file interprets calls of which no model knows more: everything that goes in may
// come out.

// CallLibrary interprets a function of a library that is given to another one to call: a
// thread's target, what an executor runs, String::trim. Its sinks are asked, and what goes
// in comes out, but for what it makes harmless.
func (m *Call) CallLibrary(st *frame.State, name string, args []*value.Value) *value.Value {
	a, site := m.Frame, m.Site
	call := *site.Call
	call.Kind, call.Name, call.Qualified, call.Type, call.Receiver, call.Callee = ir.CallFunction, model.Last(name),
		name, "", ir.NoVar, ir.NoVar
	c := &callsite.Site{Frame: a, State: st, Index: site.Index, Instruction: site.Instruction, Call: &call}
	var t taintset.Set
	for _, v := range args {
		c.Args = append(c.Args, callsite.Argument{Value: value.OrUnknown(v), From: ir.NoVar,
			Node: site.Instruction.Node})
		t = t.Union(a.DeepTaint(st, value.OrUnknown(v)))
	}
	c.Names = c.FindNames()
	n := New(c, m.guards, m.program)
	if a.Noting {
		n.NoteSinks()
	}
	if len(t) == 0 || !a.Function.File.Lang.Semantics.FunctionsApart {
		return nil
	}
	return n.Finish(&value.Value{Taint: t.At(a.Function, site.Instruction.Node)})
}

// CallUnknown interprets a call of which no model knows more: everything that goes in
// may come out.
func (m *Call) CallUnknown() *value.Value {
	a := m.Frame
	if v := m.callGenerated(); v != nil {
		return v
	}
	// A function that collects what it is called with (a callback that is awaited) has no
	// code: what it is given is what another one reads.
	t := m.argumentTaint()
	if m.Function != nil && a.IsCollector(m.Function) {
		for _, arg := range m.Args {
			a.Collect(m.State, m.Function, arg.Value.WithTaint(arg.Value.Taint.At(a.Function, m.Instruction.Node)))
		}
	}
	from := t
	if m.returnsConstant() {
		t = nil
	}
	// What the receiver and the function itself hold comes out, too.
	if m.Receiver != nil && m.Call.Kind != ir.CallNew {
		t = t.Union(a.DeepTaint(m.State, m.Receiver))
	}
	if m.Function != nil && m.Call.Kind != ir.CallNew {
		t = t.Union(a.DerivedTaint(m.Function))
		a.Need(m.Function)
	}
	t = t.Sanitized(a.Run.SafeCalls | a.Run.AssignOnly)
	if m.Call.Kind == ir.CallNew {
		return m.makeObject(t)
	}
	// A method whose name says that it takes its arguments in changes its receiver. That of
	// a global would give the data of one request to all others.
	if m.Receiver != nil && len(from) > 0 && !a.Run.Plain && changesReceiver(m.Call.Name) && !m.isGlobal(m.Receiver) {
		a.TaintObject(m.State, m.Receiver, from.At(a.Function, m.Instruction.Node))
	}
	if m.Call.Kind == ir.CallSuper || m.Call.Kind == ir.CallSelf {
		a.TaintObject(m.State, m.Receiver, from.At(a.Function, m.Instruction.Node))
	}
	v := a.Allocate(m.State, m.Index, 1, value.ObjectInfo{Kind: value.KindAny}, &value.Object{Size: value.Unsized})
	return v.WithTaint(t.At(a.Function, m.Instruction.Node))
}

// argumentTaint returns the taint of the arguments of a call of which no model knows more.
// What a New keeps in a field of its object is not that of the object as a whole, and the
// values beside a statement of SQL choose rows only.
func (m *Call) argumentTaint() taintset.Set {
	a := m.Frame
	var t taintset.Set
	statement := m.isBoundStatement()
	for i, arg := range m.Args {
		if m.Call.Kind == ir.CallNew && m.keepsField(i) {
			continue
		}
		if statement {
			break
		}
		t = t.Union(a.DeepTaint(m.State, arg.Value))
		for _, id := range arg.Value.Objects {
			if a.Objects[id].Function == nil && a.Objects[id].Input != nil {
				m.needFunction(arg.Value)
			}
		}
	}
	return t
}

// returnsConstant reports whether the call returns one of the program's own values:
// valueOf of an enumeration.
func (m *Call) returnsConstant() bool {
	owner, ok := strings.CutSuffix(m.Call.Qualified, ".valueOf")
	if !ok {
		return false
	}
	class := m.Frame.Run.Program.Class(owner)
	return class != nil && class.Kind == "enum"
}

// makeObject returns the object of a New whose constructor is unknown: it holds the taint,
// but for what its class makes harmless.
func (m *Call) makeObject(t taintset.Set) *value.Value {
	a := m.Frame
	t = t.Sanitized(m.inheritedCleaning())
	a.TaintObject(m.State, m.Receiver, t.At(a.Function, m.Instruction.Node))
	if name := a.Function.File.Lang.Semantics.AfterFields; name != "" {
		m.program.RunHook(m.State, m.Index, m.Receiver, frame.Hook{Name: name, Sub: frame.SubRun})
	}
	return m.Receiver.WithTaint(t.At(a.Function, m.Instruction.Node))
}

// inheritedCleaning returns the kinds for which a New of a class of the program makes data
// harmless, because a class above it does: a member of an enumeration is one of the
// program's own values.
func (m *Call) inheritedCleaning() uint64 {
	bits := uint64(0)
	for _, t := range m.Frame.Run.TypesOf(m.Frame.Function, m.Receiver.API) {
		for _, e := range m.Frame.Run.ModelsOf(m.Frame.Function).Match(t)[model.Sanitizers] {
			if e.Form == model.Call && modelindex.IsReturn(e.Places) {
				bits |= m.Frame.Run.KindBits(e.Kind)
			}
		}
	}
	return bits
}

// keepsField gives an argument of a New to the field that takes it, where the program
// declares a class of fields without a constructor: a data class, a named tuple, a model of
// a library that makes one. It reports false when the object as a whole takes it.
func (m *Call) keepsField(i int) bool {
	class := m.Frame.Run.Program.Class(m.Receiver.API)
	if class == nil || !class.File.Lang.Semantics.SelfParameter && class.Kind != "record" || m.Args[i].Many {
		return false
	}
	name := m.Args[i].Name
	if typed, all := m.Frame.Run.DeclaredFields(m.Frame.Function, class); name == "" && i < len(typed) {
		name = typed[i]
	} else if name == "" || !slices.Contains(all, name) {
		return false
	}
	m.Frame.Store(m.State, m.Receiver, name, m.Args[i].Value)
	return true
}

// callGenerated interprets a method that a class of the program has but its source does not
// show: the accessor of a record's component, and what a tool makes of fields, getName and
// setName. It is nil for any other.
func (m *Call) callGenerated() *value.Value {
	name := m.Call.Name
	if m.Receiver == nil || m.Call.Kind != ir.CallMethod || len(m.Args) > 1 || name == "" ||
		m.Frame.Function.File.Lang.Semantics.SelfParameter {
		return nil
	}
	class := m.receiverClass()
	if class == nil {
		return nil
	}
	_, fields := m.Frame.Run.DeclaredFields(m.Frame.Function, class)
	if len(m.Args) == 0 {
		name = accessedField(name)
		if !slices.Contains(fields, name) || class.Kind != "record" && name == m.Call.Name {
			return nil
		}
		return m.Frame.Load(m.State, m.Receiver, name)
	}
	rest, ok := strings.CutPrefix(name, "set")
	if !ok || rest == "" || !slices.Contains(fields, strings.ToLower(rest[:1])+rest[1:]) {
		return nil
	}
	m.Frame.Store(m.State, m.Receiver, strings.ToLower(rest[:1])+rest[1:], m.Args[0].Value)
	return m.Receiver
}

// receiverClass returns the class of the program that the receiver is an object of, nil
// when it is none.
func (m *Call) receiverClass() *ir.Class {
	class := m.Frame.Run.Program.Class(m.Receiver.API)
	if class == nil && len(m.Receiver.Objects) == 1 {
		class = m.Frame.Run.Program.Class(m.Frame.Objects[m.Receiver.Objects[0]].Type)
	}
	return class
}

// getterPrefixes are what the names of methods that read a field begin with (JavaBeans).
var getterPrefixes = [...]string{"get", "is"}

// accessedField returns the field that a getter reads, by its name: "name" for getName.
// A method without such a prefix, as a record has, reads the field of its own name.
func accessedField(method string) string {
	for _, prefix := range getterPrefixes {
		if rest, ok := strings.CutPrefix(method, prefix); ok && rest != "" {
			method = strings.ToLower(rest[:1]) + rest[1:]
		}
	}
	return method
}

// needFunction notes that an input might be a function that a library calls.
func (m *Call) needFunction(v *value.Value) {
	if len(v.Objects) == 1 && len(v.Taint) <= 1 {
		m.Frame.Need(v)
	}
}

// placeholder matches a statement of SQL, or a part of one, whose values stand beside it.
var placeholder = regexp.MustCompile(`(?is)^\s*(select|insert|update|delete|with)\s.*\s(from|into|set|select)\s|(=|<|>|\slike|\sin)\s*\(?\s*(\?|\$\d|:[a-z_])`)

// isBoundStatement reports whether a call asks a database with a constant statement: what
// comes back is what the database holds, not the values that choose the rows.
func (m *Call) isBoundStatement() bool {
	return len(m.Args) > 1 && slices.ContainsFunc(m.Args, func(arg callsite.Argument) bool {
		return arg.Value.IsKnown() && placeholder.MatchString(arg.Value.Constant.String())
	})
}

// isGlobal reports whether a value is a global, or a part of one: a client of a database,
// a cache. What one request gives to it is not what every other request gets from it.
func (m *Call) isGlobal(v *value.Value) bool {
	for _, id := range v.Objects {
		if at := m.Frame.Objects[id].Input; at == nil || at.In.Kind != taintset.Global {
			return false
		}
	}
	return len(v.Objects) > 0
}

// setters are the first words of names of methods that take what they are given
// into their receiver.
var setters = []string{"set", "add", "append", "put", "push", "write", "insert", "with", "update", "load", "init",
	"store"}

// changesReceiver reports whether a method takes its arguments into its receiver, by its
// name.
func changesReceiver(name string) bool {
	low := strings.ToLower(name)
	return slices.ContainsFunc(setters, func(s string) bool { return strings.HasPrefix(low, s) })
}

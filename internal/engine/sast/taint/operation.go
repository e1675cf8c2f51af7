package taint

import (
	"math"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file computes the operations that models give to calls.

// An operand list is the receiver and the arguments of a call, in order. A class
// or module as receiver is no operand.
func (m *modelCall) operands() []*value {
	var list []*value
	if m.recv != nil && !m.static() {
		list = append(list, m.recv)
	}
	for _, arg := range m.args {
		list = append(list, arg.v)
	}
	return list
}

// static reports whether the receiver is a class or a module and not a value.
func (m *modelCall) static() bool {
	if m.call_().Kind == ir.CallNew {
		return true
	}
	i := m.a.fn.Def(m.call_().Receiver)
	if i < 0 {
		return false
	}
	in := &m.a.fn.Code[i]
	return in.Op == ir.ClassValue || in.Op == ir.LoadGlobal && !m.a.run.declares(in.Text) &&
		m.recv.c.kind == constNone && len(m.recv.taint) == 0 && m.call_().Type == ""
}

// operation computes an operation. It reports false when the general rules say
// more.
func (m *modelCall) operation(name string) (*value, bool) {
	args := m.operands()
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
			return m.remove(args)
		}
		return m.compile(args)
	case "promise":
		return m.promiseAll(args)
	case "state":
		return m.keptState(), true
	case "object":
		if op == "bare" {
			return m.bareObject(), true
		}
		if op == "define" {
			return m.define(args)
		}
		return m.assignFields(args), true
	}
	return m.valueOperation(op, args)
}

// first returns the operand, unknown when there is none.
func operand(args []*value, i int) *value {
	if i < len(args) {
		return orUnknown(args[i])
	}
	return unknown
}

// joinPath joins the arguments to a path. What is behind the first cannot choose how it
// begins.
func (m *modelCall) joinPath() *value {
	var t taint
	for i, arg := range m.args {
		part := m.a.textOf(m.st, arg.v).taint
		if i > 0 {
			part = part.cleaned(m.a.run.startBit)
		}
		t = t.union(part)
	}
	return (&value{kind: kindString}).with(t.at(m.a.fn, m.in.Node))
}

// textOperation computes with texts.
func (m *modelCall) textOperation(op string, args []*value) (*value, bool) {
	if op == "join" {
		return m.join(args), true
	}
	if op == "split" {
		return m.split(args), true
	}
	texts := make([]*value, len(args))
	for i, v := range args {
		texts[i] = m.a.textOf(m.st, v)
	}
	if op == "format" {
		if len(args) == 0 {
			return unknown, true
		}
		return m.a.format(m.st, m.in.Node, texts[0], args[1:]), true
	}
	if op == "concat" {
		return m.a.concat(m.st, m.in.Node, args...), true
	}
	if op == "path" {
		return m.joinPath(), true
	}
	s := operand(texts, 0)
	var t taint
	if carries[op] {
		t = s.taint
		if op == "replace" {
			t = t.union(operand(texts, 2).taint)
		}
		t = t.at(m.a.fn, m.in.Node)
	}
	if v := foldTextOperation(op, texts); v != nil {
		return v.with(t), true
	}
	for _, v := range texts {
		m.a.need(v)
	}
	v := &value{kind: textResults[op], taint: t}
	if op == "of" || op == "trim" && !strings.HasPrefix(s.start, " ") {
		v.start = s.start
	}
	if v.kind == kindAny {
		v.kind = kindString
	}
	return v, true
}

// carries has the operations whose result holds text of the first operand.
var carries = map[string]bool{
	"char": true, "substring": true, "slice": true, "upper": true, "lower": true, "trim": true, "replace": true,
	"repeat": true,
	"of":     true, "part": true,
}

var textResults = map[string]valueKind{
	"length": kindNumber, "equals": kindBool, "equalsfold": kindBool, "contains": kindBool, "starts": kindBool,
	"ends": kindBool, "index": kindNumber, "lastindex": kindNumber, "empty": kindBool,
}

// foldTextOperation computes with constant texts, nil when they are not.
func foldTextOperation(op string, args []*value) *value {
	for _, v := range args {
		if !v.known() {
			return nil
		}
	}
	if len(args) == 0 {
		return nil
	}
	s := args[0].c.String()
	switch op {
	case "length":
		return intValue(float64(len([]rune(s))))
	case "upper":
		return stringValue(strings.ToUpper(s))
	case "lower":
		return stringValue(strings.ToLower(s))
	case "trim":
		if len(args) == 1 {
			return stringValue(strings.TrimSpace(s))
		}
	case "empty":
		return boolValue(s == "")
	case "of":
		return stringValue(s)
	case "char":
		return stringChar(&value{c: constant{kind: constString, s: s}}, operand(args, 1))
	case "substring":
		return substring(s, args[1:])
	case "slice":
		var low, high *value
		if len(args) > 1 {
			low = args[1]
		}
		if len(args) > 2 {
			high = args[2]
		}
		return sliceText(&value{c: constant{kind: constString, s: s}}, low, high)
	}
	if len(args) < 2 {
		return nil
	}
	return foldTwoTexts(op, args[0].c, args[1].c, args)
}

func foldTwoTexts(op string, a, b constant, args []*value) *value {
	s, t := a.String(), b.String()
	switch op {
	case "equals":
		if eq, ok := equalConstants(a, b); ok {
			return boolValue(eq)
		}
	case "equalsfold":
		return boolValue(strings.EqualFold(s, t))
	case "contains":
		return boolValue(strings.Contains(s, t))
	case "starts":
		return boolValue(strings.HasPrefix(s, t))
	case "ends":
		return boolValue(strings.HasSuffix(s, t))
	case "index":
		return runeIndex(s, strings.Index(s, t))
	case "lastindex":
		return runeIndex(s, strings.LastIndex(s, t))
	case "repeat":
		if n := b.n; b.number() && n >= 0 && n*float64(len(s)) <= maxConst {
			return stringValue(strings.Repeat(s, int(n)))
		}
	case "replace":
		if len(args) > 2 && len(s) <= maxConst && args[2].known() {
			return stringValue(strings.ReplaceAll(s, t, args[2].c.String()))
		}
	}
	return nil
}

func runeIndex(s string, i int) *value {
	if i < 0 {
		return intValue(-1)
	}
	return intValue(float64(len([]rune(s[:i]))))
}

// substring returns a part by index; bounds are put in order.
func substring(s string, bounds []*value) *value {
	runes := []rune(s)
	from, to := 0, len(runes)
	for i, b := range bounds {
		if !b.c.number() {
			return nil
		}
		n := min(max(0, int(b.c.n)), len(runes))
		if i == 0 {
			from = n
		} else {
			to = n
		}
	}
	if from > to {
		from, to = to, from
	}
	return stringValue(string(runes[from:to]))
}

// split returns a list of the parts of a text.
func (m *modelCall) split(args []*value) *value {
	s, sep := m.a.textOf(m.st, operand(args, 0)), operand(args, 1)
	v := m.newResult(kindList)
	id := v.objs[0]
	o := m.st.object(id).clone()
	if s.c.isText() && sep.c.isText() && sep.c.s != "" && len(s.taint) == 0 {
		var list []*value
		for _, part := range strings.Split(s.c.s, sep.c.s) {
			list = append(list, stringValue(part))
		}
		o.setList(list)
	} else {
		o.blur()
		o.elems = &value{kind: kindString, taint: s.taint.at(m.a.fn, m.in.Node)}
	}
	m.st.put(id, o)
	return v
}

// join joins the elements of a list, or all operands.
func (m *modelCall) join(args []*value) *value {
	var parts []*value
	for _, v := range args {
		if list, ok := m.a.soleObject(m.st, v).list(); ok {
			for i, e := range list {
				if i > 0 && len(args) > 1 {
					parts = append(parts, unknown)
				}
				parts = append(parts, orUnknown(e))
			}
			continue
		}
		parts = append(parts, v)
	}
	return m.a.concat(m.st, m.in.Node, parts...)
}

// bufferOperation computes with a text that grows.
func (m *modelCall) bufferOperation(op string, args []*value) (*value, bool) {
	b := operand(args, 0)
	if op == "new" {
		b = m.recv
		if b == nil {
			b = m.newResult(kindObject)
		}
		text := stringValue("")
		if len(args) > 0 && !(args[0].kind == kindNumber) {
			text = m.a.textOf(m.st, args[0])
		}
		m.setText(b, text, true)
		return b, true
	}
	for _, id := range b.objs {
		o := m.st.object(id)
		old := unknown
		if o != nil && o.text != nil {
			old = o.text
		} else if m.a.objects[id].atom != nil {
			old = &value{kind: kindString, taint: taint{{atom: m.a.run.deepAtom(m.a.objects[id].atom)}}}
		}
		m.setText(&value{objs: []objID{id}}, m.grown(op, old, args), len(b.objs) == 1)
	}
	if op == "clear" {
		return unknown, true
	}
	if len(b.objs) == 0 {
		return m.a.concat(m.st, m.in.Node, args...), true
	}
	return b, true
}

// grown returns the text after an operation.
func (m *modelCall) grown(op string, old *value, args []*value) *value {
	switch op {
	case "append":
		return m.a.concat(m.st, m.in.Node, append([]*value{old}, args[1:]...)...)
	case "insert":
		if len(args) > 2 && args[1].known() && args[1].c.n == 0 {
			return m.a.concat(m.st, m.in.Node, args[2], old)
		}
		return m.a.concat(m.st, m.in.Node, append([]*value{old.with(old.taint)}, args[1:]...)...)
	case "reverse":
		if old.known() && len(old.taint) == 0 {
			r := []rune(old.c.String())
			for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
				r[i], r[j] = r[j], r[i]
			}
			return stringValue(string(r))
		}
		return &value{kind: kindString, taint: old.taint}
	case "clear":
		return stringValue("")
	}
	v := &value{kind: kindString, taint: old.taint}
	for _, arg := range args[1:] {
		v.taint = v.taint.union(m.a.textOf(m.st, arg).taint)
	}
	return v
}

// setText sets the text of an object.
func (m *modelCall) setText(b, text *value, strong bool) {
	for _, id := range b.objs {
		o := m.st.object(id).clone()
		if strong && !o.many {
			o.text = text
			o.self = nil
		} else {
			o.text = join(o.text, text)
		}
		m.st.put(id, o)
	}
}

func (m *modelCall) numberOperation(op string, args []*value) *value {
	x, y := operand(args, 0), operand(args, 1)
	switch {
	case op == "parse" && x.known():
		if n, ok := parseNumber(strings.TrimSpace(x.c.String())); ok {
			return n
		}
	case op == "abs" && x.c.number():
		return &value{c: constant{kind: x.c.kind, n: math.Abs(x.c.n)}, kind: kindNumber}
	case op == "max" && x.c.number() && y.c.number():
		return &value{c: constant{kind: x.c.kind, n: math.Max(x.c.n, y.c.n)}, kind: kindNumber}
	case op == "min" && x.c.number() && y.c.number():
		return &value{c: constant{kind: x.c.kind, n: math.Min(x.c.n, y.c.n)}, kind: kindNumber}
	}
	return &value{kind: kindNumber}
}

func (m *modelCall) valueOperation(op string, args []*value) (*value, bool) {
	x := operand(args, 0)
	switch op {
	case "promisify":
		return m.promisify()
	case "same":
		return m.a.whole(m.st, x), true
	case "view", "settle", "relative":
		return nil, false // says something to guards and conditions only
	case "address":
		return m.parsed(), true
	case "equals":
		if v := foldBinary("==", x, operand(args, 1)); v != nil {
			return v, true
		}
		m.a.need(x)
		m.a.need(operand(args, 1))
		return &value{kind: kindBool}, true
	case "not":
		if v := foldUnary("!", x); v != nil {
			return v, true
		}
		return &value{kind: kindBool}, true
	case "ends":
		return m.ends(), true
	case "property":
		// What has been put there under the key; otherwise the configuration counts.
		if o := m.a.soleObject(m.st, m.recv); o != nil && operand(args, 1).known() {
			key := operand(args, 1).c.String()
			if k := slices.IndexFunc(o.fields, func(f field) bool { return f.name == key }); k >= 0 &&
				o.fields[k].val != nil {
				return o.fields[k].val, true
			}
		}
		if len(args) > 0 && m.recv != nil && !m.static() {
			args = args[1:]
		}
		return m.property(args), true
	}
	return &value{kind: kindString}, true
}

// parsed returns what a call makes of a text that it parses: an object of its own, to
// which the text is no other name.
func (m *modelCall) parsed() *value {
	var t taint
	for _, arg := range m.args {
		t = t.union(m.a.deep(m.st, arg.v))
	}
	t = t.at(m.a.fn, m.in.Node)
	v := m.recv
	if v == nil || m.call_().Kind != ir.CallNew {
		v = m.newResult(kindObject)
	}
	m.a.taintObject(m.st, v, t)
	return v.with(t)
}

// property returns what the configuration files of the program say.
func (m *modelCall) property(args []*value) *value {
	v := operand(args, 1)
	if key := operand(args, 0); key.known() {
		if text, ok := m.a.run.options.Properties[key.c.String()]; ok {
			return m.a.literalSource(m.in, stringValue(text))
		}
	}
	if len(args) < 2 {
		return &value{kind: kindString}
	}
	return v
}

// callOperation calls function values.
func (m *modelCall) callOperation(op string, args []*value) (*value, bool) {
	f := operand(args, 0)
	switch op {
	case "on", "emit":
		return m.event(op, args), true
	case "reflected":
		return m.callReflected(args)
	case "method":
		return m.reflectMethod(args)
	}
	if op == "run" {
		return m.a.runHook(m.st, m.i, f, hook{name: "run", sub: subRun})
	}
	rest := args[min(1, len(args)):]
	if !m.a.isFunction(f) && !m.a.taken(f) {
		if op == "invoke" && f.api != "" {
			m.a.callLibrary(m.st, f.api, rest, m.callSite)
		}
		m.a.need(f)
		return nil, false
	}
	switch op {
	case "apply":
		list := operand(args, 2)
		rest = nil
		if elems, ok := m.a.soleObject(m.st, list).list(); ok {
			rest = elems
		} else {
			for i := range maxFormals {
				rest = append(rest, m.a.load(m.st, list, index(i)))
			}
		}
	case "call":
		rest = args[min(2, len(args)):]
	case "bind":
		return f, true
	}
	return orUnknown(m.a.callValue(m.st, f, rest, m.callSite, 100)), true
}

// listeners begins the names of the parts that hold an object's listeners.
const listeners = "#on "

// event keeps a function for the events of a name, or calls those that are kept. What
// is called is not what a call of the library would be given.
func (m *modelCall) event(op string, args []*value) *value {
	emitter := operand(args, 0)
	name, known := m.a.keyOf(operand(args, 1))
	if !known {
		return emitter
	}
	f := m.a.load(m.st, emitter, listeners+name)
	if op == "on" {
		m.a.store(m.st, emitter, listeners+name, join(operand(args, 2), f))
		return emitter
	}
	m.a.callValue(m.st, f, args[min(2, len(args)):], m.callSite, 101)
	return &value{kind: kindBool}
}

// taken reports whether the value is a function that keeps its arguments.
func (a *analysis) taken(v *value) bool {
	for _, id := range v.objs {
		if a.objects[id].take {
			return true
		}
	}
	return false
}

// keep gives the functions that keep their arguments one more.
func (a *analysis) keep(st *state, f, arg *value) {
	for _, id := range f.objs {
		if a.objects[id].take {
			a.storeObject(st, id, anyKey, arg, false)
		}
	}
}

// assignFields copies the fields of the others to the first.
func (m *modelCall) assignFields(args []*value) *value {
	to := operand(args, 0)
	for _, from := range args[min(1, len(args)):] {
		m.a.copyParts(m.st, to, from)
	}
	return to
}

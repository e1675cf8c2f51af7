package interpret

import (
	"cmp"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/value"
)

// This file interprets the instructions that are no calls.

// literalValue returns the value of a literal; a model may say that it is a source.
func (a *analysis) literalValue(i int32, in *ir.Instr) *value.Value {
	v := value.Unknown
	switch ir.ConstKind(in.X) {
	case ir.ConstString:
		v = value.FromString(in.Text)
	case ir.ConstCharacter:
		v = value.FromCharacter(in.Text)
	case ir.ConstNumber:
		// Numbers that cannot be represented exactly are numbers all the same, of unknown value.
		if n, ok := value.ParseNumber(in.Text); ok {
			v = n
		} else {
			v = &value.Value{Kind: value.KindNumber}
		}
	case ir.ConstBool:
		v = value.FromBool(strings.EqualFold(in.Text, "true"))
	case ir.ConstNull:
		// null is one shared value. It has no text and needs no check for sources.
		return value.Null
	case ir.ConstRegex:
		return a.RegexLiteral(in)
	}
	// Rules for hard-coded credentials have literals as their sources.
	if v.Constant.IsText() {
		v = a.LiteralSource(in, v)
	}
	return v
}

// copyOf copies a value. A promise is taken for what it promises.
func (a *analysis) copyOf(st *frame.State, i int32, in *ir.Instr) *value.Value {
	v := a.Read(st, in.A)
	switch in.Text {
	// &x of Go and C: a struct is an object already and has an address. A plain value is put into
	// a cell, so that a write through the pointer is seen by all.
	case "&", "&=":
		if len(v.Objects) == 0 && v.API == "" || in.Text == "&=" {
			return a.MakeCell(st, i, v)
		}
	// *p reads the cell.
	case "*":
		v = a.ContentOf(st, v)
	}
	// Only named variables add a step to the trace. Temporaries of the translation would fill it
	// with steps that the source does not show.
	if a.Function.IsLocal(in.Dst) && len(v.Taint) > 0 {
		return v.WithTaint(v.Taint.At(a.Function, in.Node))
	}
	return v
}

// awaitedValue returns what comes out of a promise. Where a function is async nobody
// says so, and what it returns is taken for its promise.
func (a *analysis) awaitedValue(st *frame.State, in *ir.Instr) *value.Value {
	// -1: an awaited value allocates nothing.
	v := a.copyOf(st, -1, in)
	// Promise names the type of promises of the language, "" where there are none.
	if v.API == "" || v.API != a.Function.File.Lang.Semantics.Promise {
		return v
	}
	return a.PromisedValue(st, v)
}

// throwRejection throws what a promise that is awaited was rejected with.
// It only applies in functions that await. A promise that is passed on unawaited keeps the
// error in its field.
func (a *analysis) throwRejection(st *frame.State, in *ir.Instr, b *ir.Block) {
	v := a.Read(st, in.A)
	if v.API == "" || v.API != a.Function.File.Lang.Semantics.Promise {
		return
	}
	thrown := a.Load(st, v, "error")
	switch {
	case thrown == value.Unknown:
	case b.Except != ir.NoBlock:
		a.except[b.Except] = value.Join(a.except[b.Except], thrown)
	case a.Noting:
		a.noteThrown(st, thrown)
	}
}

// loadField reads a.b.
func (a *analysis) loadField(st *frame.State, i int32, in *ir.Instr) *value.Value {
	v := a.fieldValue(st, i, in)
	// The length of a tainted text is a number. As a key it cannot be "__proto__".
	if in.Text == "length" { // an index, and no name
		v = v.WithTaint(v.Taint.Sanitized(a.Run.KeyBits))
	}
	return v
}

// fieldValue reads a member: of a getter, of the object, of its prototype, of a constant
// text, then of what models know under the name of its type.
func (a *analysis) fieldValue(st *frame.State, i int32, in *ir.Instr) *value.Value {
	base := a.Read(st, in.A)
	// A getter of the program replaces everything else: its result is what the expression is.
	if v, ok := a.runGetter(st, i, base, in.Text); ok {
		return v
	}
	v := a.Load(st, base, in.Text)
	// In languages with one number type the length is certainly a number, so that arithmetic with
	// it is clean.
	if in.Text == "length" && a.Function.File.Lang.Semantics.OneNumber && !a.Run.Plain && !v.IsKnown() {
		v = &value.Value{Kind: value.KindNumber, Objects: v.Objects}
	}
	// Nothing was stored under the name: a hook such as __getattr__ may produce it.
	if v == value.Unknown {
		if w, ok := a.runMissingHook(st, i, base, in.Text); ok {
			return w
		}
	}
	// C.prototype of a class or a function; needed for methods that are added later.
	if v == value.Unknown && in.Text == "prototype" {
		return a.PrototypeOf(st, i, base)
	}
	if base.Constant.IsText() && v == value.Unknown {
		return a.textField(base, in.Text)
	}
	// The models know types of members: the field "query" of an express.Request.
	if base.API != "" {
		v = v.WithAPI(a.Run.APIs[base.API+"."+in.Text])
	}
	return a.memberOf(st, i, base, in.Text, v)
}

// textField returns a field of a constant text: its length.
func (a *analysis) textField(base *value.Value, name string) *value.Value {
	if name == "length" && base.Constant.Kind == value.StringConstant {
		return value.FromInt(float64(len([]rune(base.Constant.Text))))
	}
	return value.Unknown
}

// memberOf gives what was read from a value its name for the models, and the taint
// that they say it has.
func (a *analysis) memberOf(st *frame.State, i int32, base *value.Value, name string, v *value.Value) *value.Value {
	in := &a.Function.Code[i]
	// The size of an exact list, spelled as a property in JavaScript, C# and Kotlin.
	if list, ok := a.SoleObject(st, base).List(); ok && (name == "length" || name == "Length" || name == "size") &&
		v == value.Unknown {
		return value.FromInt(float64(len(list)))
	}
	owner := base.API
	if owner == "" {
		owner = a.StaticType(in.Node)
	}
	if owner == "" {
		// The type of the base may be known to callers. With it, models and methods apply.
		a.NeedType(base)
		return a.UnknownMember(in.Node, name, v)
	}
	// A method that is read without being called: callback = obj.method.
	if v == value.Unknown {
		if m := a.MethodValue(st, i, base, owner, name); m != nil {
			return m
		}
	}
	// Several instances of a type share what the program has stored in the field anywhere, if the
	// instance at hand has nothing.
	v = a.FromShared(st, base, owner, name, v).WithAPI(a.Run.FieldType(a.Function, owner, name))
	return a.MemberValue(i, owner, name, v.WithAPI(a.Run.MemberName(owner, name)))
}

// storeField assigns to a.b: to a setter, or to the object and to what all objects of the
// type share.
func (a *analysis) storeField(st *frame.State, i int32, in *ir.Instr) {
	base, x := a.Read(st, in.A), a.Read(st, in.B)
	x = x.WithTaint(x.Taint.At(a.Function, in.Node))
	// A setter consumes the value; nothing is stored under the name itself.
	if a.runSetter(st, i, base, in.Text, x) {
		return
	}
	a.Store(st, base, in.Text, x)
	owner := base.API
	if owner == "" {
		owner = a.StaticType(in.Node)
	}
	// Share records the value for all objects of the type, for reads in functions that see another
	// instance.
	a.Share(st, owner, in.Text, x)
	// Assignments may be sinks: element.innerHTML = x, response.contentType = x.
	a.NoteAssignment(st, i, owner, in.Text, x)
}

// loadIndex reads x[k]: from the object, from a constant text, or from what a list that
// makes its elements when they are asked for would hold.
func (a *analysis) loadIndex(st *frame.State, i int32, in *ir.Instr) *value.Value {
	base := a.Read(st, in.A)
	// __getitem__ and its like replace the access.
	if v, ok := a.runItemHook(st, i, base, a.Read(st, in.B)); ok {
		return v
	}
	// An index below zero counts from the end, where the length is known.
	key, known := a.IndexKey(st, in)
	if strings.HasPrefix(key, "-") {
		key, known = a.FromEnd(st, base, key)
	}
	v := a.Load(st, base, key)
	// A character of a constant text: "abc"[1].
	if v == value.Unknown && base.Constant.IsText() && in.B != ir.NoVar {
		if c := value.CharacterAt(base, a.Read(st, in.B)); c != nil {
			return c
		}
	}
	// The object exists here and has nothing at the key: a default of the collection may apply.
	if id, sole := base.SoleObject(); v == value.Unknown && sole && st.Object(id) != nil {
		v = a.impliedElement(st, i, id, base, key)
	}
	// A key that is not known reads any part; one that a request chooses reads the part that
	// the sender wants.
	if !known && len(base.Taint) > 0 {
		v = v.WithTaint(v.Taint.Union(a.DerivedTaint(base)))
	}
	// A key from a request selects the element: the result counts as picked by the attacker, which
	// matters for prototype pollution and for calls of selected functions.
	if !known {
		v = a.PickedValue(st, in, base, v)
	}
	// In rules of users the taint of the index flows into the element, unless the rule says
	// otherwise ("taint_assume_safe_indexes").
	if a.Run.Plain && in.B != ir.NoVar {
		v = v.WithTaint(v.Taint.Union(a.DeepTaint(st, a.Read(st, in.B)).Sanitized(a.Run.SafeIndexes)))
	}
	// An access without an index operand is a position of a destructured result: a, b := f().
	if base.API != "" && key == "0" && in.B == ir.NoVar {
		return v.WithAPI(base.API) // of several results the model's type is that of the first
	}
	if base.API != "" && known {
		return a.MemberValue(i, base.API, key, v.WithAPI(a.Run.MemberName(base.API, key)))
	}
	return v
}

// impliedElement makes the element that a collection holds without an assignment: a
// list of a map with such defaults, or a row of an array of arrays, which nobody made. It
// is unknown for other collections.
func (a *analysis) impliedElement(st *frame.State, i int32, id value.ObjectID, base *value.Value,
	key string) *value.Value {
	var v *value.Value
	switch o := &a.Objects[id]; {
	// A missing element of a map with default lists becomes a list, so that d[k].append(x) is not
	// lost.
	case o.DefaultsToList:
		v = a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindList, Complete: true},
			&value.Object{Size: value.Unsized}).WithAPI("list")
	// A row of a two-dimensional array was never allocated on its own: new int[3][4], a[i][j] = x.
	case o.Complete && o.Kind == value.KindList:
		v = a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindAny}, &value.Object{Size: value.Unsized})
	default:
		return value.Unknown
	}
	a.Store(st, base, key, v)
	return v
}

// storeIndex assigns to a[k], or appends to a list that is being built. A key that is not
// known may be that of a prototype.
func (a *analysis) storeIndex(st *frame.State, i int32, in *ir.Instr) {
	base, x := a.Read(st, in.A), a.Read(st, in.C)
	x = x.WithTaint(x.Taint.At(a.Function, in.Node))
	// No key: the instruction builds a list, element by element.
	if in.B == ir.NoVar && (in.Text == "" || in.Text == spreadKey) {
		if in.Text == "" {
			a.Push(st, base, x)
		} else {
			// A spread: [...a, x] adds all elements of a.
			a.Spread(st, i, base, x)
		}
		return
	}
	key, known := a.IndexKey(st, in)
	a.Store(st, base, key, x)
	if base.API != "" {
		a.NoteAssignment(st, i, base.API, key, x)
	}
	// obj[key] = value with an unknown key may write to the prototype of all objects (CWE-1321),
	// if both are controlled.
	if !known && in.B != ir.NoVar {
		a.NotePollution(st, in, base, x)
		a.StoreKey(st, base, a.Read(st, in.B))
	}
}

// spreadKey is the key at which all parts of a value are stored.
const spreadKey = "..."

// loadGlobal reads a global, or a static or module variable.
func (a *analysis) loadGlobal(st *frame.State, i int32, in *ir.Instr) *value.Value {
	// The name of a global is that of its module or class, a dot, and its own.
	owner, name := "", model.Last(in.Text)
	if len(name) < len(in.Text) {
		owner = in.Text[:len(in.Text)-len(name)-1]
	}
	// Class::method and Class.method without a call.
	if m := a.MethodExpression(st, i, in.Text); m != nil {
		return m
	}
	v := value.Unknown
	// Operand A is the object for names that are both a global and a member, such as
	// module.exports.x.
	if in.A != ir.NoVar {
		base := a.Read(st, in.A)
		v = a.Load(st, base, name)
		if v == value.Unknown && name == "prototype" {
			v = a.PrototypeOf(st, i, base)
		}
		if base.API != "" && base.API != owner {
			v = a.MemberValue(i, base.API, name, v)
		}
	}
	// Only globals that the program sets are read from the heap; reading any other yields nothing
	// but a name.
	// The second case is the exports object of the file itself (CommonJS).
	if v == value.Unknown && (a.Run.Declares(in.Text) || a.Function.File.Lang.Semantics.Exports != "" &&
		in.Text == a.Function.File.Module) {
		v = a.Load(st, a.Globals(), in.Text)
	}
	if owner != "" {
		// For a static field the declared type is the type of the value.
		v = v.WithAPI(a.Run.FieldType(a.Function, owner, name))
	}
	return a.GlobalValue(in, v.WithAPI(cmp.Or(a.Run.APIs[in.Text], in.Text)))
}

// storeGlobal assigns to a global, or a static or module variable.
func (a *analysis) storeGlobal(st *frame.State, i int32, in *ir.Instr) {
	x := a.Read(st, in.B)
	x = x.WithTaint(x.Taint.At(a.Function, in.Node))
	a.Store(st, a.Globals(), in.Text, x)
	if in.A != ir.NoVar {
		a.StoreMade(st, a.Read(st, in.A), model.Last(in.Text), x)
	}
	// A global without a dot belongs to the pseudo-class "global", under which models list sinks
	// such as document.location.
	dot := strings.LastIndexByte(in.Text, '.')
	owner := "global"
	if dot > 0 {
		owner = in.Text[:dot]
	}
	a.NoteAssignment(st, i, owner, in.Text[dot+1:], x)
}

// newObject makes the object of a literal, or of a class before its constructor runs.
// Structs whose zero value is an object have their fields at once.
func (a *analysis) newObject(st *frame.State, i int32, in *ir.Instr) *value.Value {
	switch in.Text {
	// A set is treated as a list, since only membership matters for taint.
	case "[]", "()", "set":
		return a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindList, Complete: true}, &value.Object{})
	case "{}":
		return a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindMap, Complete: true},
			&value.Object{Size: value.Unsized})
	}
	class := a.Run.Program.Class(in.Text)
	// A class of a library without source: only its name is known. The constructor call gives the
	// rest.
	if class == nil && in.X == ir.Allocated {
		return &value.Value{API: in.Text}
	}
	v := a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindObject, Complete: true, Type: in.Text},
		&value.Object{Size: value.Unsized})
	v.API = in.Text
	// Go: var s T has zero fields, which are objects themselves if they are structs.
	if class != nil && class.Kind == "struct" && a.Function.File.Lang.Semantics.ZeroValues {
		a.FillZeroFields(st, i, v, class)
	}
	return v
}

// newClosure makes a function value; it shares the variables that it captures.
// Captured variables are fields of the closure. They are shared and not copied: a write inside
// is visible outside.
func (a *analysis) newClosure(st *frame.State, i int32, in *ir.Instr) *value.Value {
	fn := a.Function.File.Functions[in.X]
	v := a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindFunction, Function: fn, Complete: true},
		&value.Object{Size: value.Unsized})
	for k, c := range fn.Captures {
		a.Store(st, v, value.CaptureField(k), a.Captured(st, c.Outer))
	}
	return v
}

// iterateValue makes the object that Next takes values from: of the keys, of pairs of key
// and value, or of the elements.
func (a *analysis) iterateValue(st *frame.State, i int32, in *ir.Instr) *value.Value {
	base := a.Read(st, in.A)
	v := a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindObject, Complete: true},
		&value.Object{Size: value.Unsized})
	// Over keys: "for k in obj" of JavaScript, "for k := range m" of Go.
	switch in.Text {
	case "keys":
		a.Store(st, v, value.AnyKey, a.KeysOf(st, base))
	// Over pairs: "for k, v := range m", "for k, v in d.items()".
	case "entries":
		key, element := a.KeysOf(st, base), a.Load(st, base, value.AnyKey)
		// Go 1.23: range over a function. What it yields may be the key or the element.
		if given := a.yieldedToLoop(st, i, in, base); given != nil {
			key, element = value.Join(key, given), value.Join(element, given)
		}
		pair := a.Allocate(st, i, 1, value.ObjectInfo{Kind: value.KindList, Complete: true}, &value.Object{})
		a.Push(st, pair, key)
		a.Push(st, pair, element)
		a.Store(st, v, value.AnyKey, pair)
	default:
		e := a.ElementOf(st, i, base)
		// Models name the element of a library collection "[*]".
		if base.API != "" {
			e = a.MemberValue(i, base.API, "[*]", e)
		}
		a.Store(st, v, value.AnyKey, e)
	}
	return v
}

// yieldedToLoop returns what a function that is iterated over passes to the loop, which is a
// function for it; nil when the value is none (Go).
func (a *analysis) yieldedToLoop(st *frame.State, i int32, in *ir.Instr, f *value.Value) *value.Value {
	// X is 1 where the operand is known to be no function that passes elements to the loop.
	if in.X != 0 {
		return nil
	}
	a.Need(f)
	functions := &value.Value{}
	for _, id := range f.Objects {
		if a.Objects[id].Function != nil {
			functions.Objects = append(functions.Objects, id)
		}
	}
	if len(functions.Objects) == 0 {
		return nil
	}
	info := value.ObjectInfo{Kind: value.KindFunction, Complete: true, Collector: true}
	// Sub 2 separates the loop function from the pair, which has 1.
	loop := &value.Value{Objects: []value.ObjectID{a.ObjectOf(value.ObjectKey{Instruction: i, Sub: 2}, info)}}
	a.CallValue(st, functions, []*value.Value{loop}, &callsite.Site{Frame: a.Frame, State: st, Index: i,
		Instruction: in}, 1)
	if st.Object(loop.Objects[0]) == nil {
		return nil
	}
	return a.Load(st, loop, value.AnyKey)
}

// yielded is the part of a generator's result that holds what it gives.
// All yielded values join in the result of the generator; "yield from" adds the elements of
// another one.
func (a *analysis) noteYield(st *frame.State, in *ir.Instr) *value.Value {
	v := a.Read(st, in.A)
	if in.Text == "from" {
		v = a.Load(st, v, value.AnyKey)
	}
	if a.Noting {
		a.result = value.Join(a.result, v)
	}
	return value.Unknown
}

// removePart removes what is deleted; a key that is not known leaves everything.
// delete obj.x of JavaScript, del d[k] of Python, unset($a["k"]) of PHP.
func (a *analysis) removePart(st *frame.State, in *ir.Instr) {
	base := a.Read(st, in.A)
	name := in.Text
	if in.B != ir.NoVar {
		key, known := a.KeyOf(a.Read(st, in.B))
		if !known {
			return
		}
		name = key
	}
	if name == "" {
		return
	}
	a.RemoveKey(st, base, name)
}

package taint

import (
	"cmp"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file interprets the instructions that are no calls.

// literal returns the value of a literal; a model may say that it is a source.
func (a *analysis) literal(i int32, in *ir.Instr) *value {
	v := unknown
	switch ir.ConstKind(in.X) {
	case ir.ConstString:
		v = stringValue(in.Text)
	case ir.ConstCharacter:
		v = charValue(in.Text)
	case ir.ConstNumber:
		if n, ok := parseNumber(in.Text); ok {
			v = n
		} else {
			v = &value{kind: kindNumber}
		}
	case ir.ConstBool:
		v = boolValue(strings.EqualFold(in.Text, "true"))
	case ir.ConstNull:
		return nullValue
	case ir.ConstRegex:
		return a.regexLiteral(in)
	}
	if v.c.isText() {
		v = a.literalSource(in, v)
	}
	return v
}

// copyOf copies a value. A promise is taken for what it promises.
func (a *analysis) copyOf(st *state, i int32, in *ir.Instr) *value {
	v := a.read(st, in.A)
	switch in.Text {
	case "&", "&=":
		if len(v.objs) == 0 && v.api == "" || in.Text == "&=" {
			return a.lend(st, i, v)
		}
	case "*":
		v = a.contentOf(st, v)
	}
	if a.fn.IsLocal(in.Dst) && len(v.taint) > 0 {
		return v.with(v.taint.at(a.fn, in.Node))
	}
	return v
}

// awaited returns what comes out of a promise. Where a function is async nobody
// says so, and what it returns is taken for its promise.
func (a *analysis) awaited(st *state, in *ir.Instr) *value {
	v := a.copyOf(st, -1, in)
	if v.api == "" || v.api != a.fn.File.Lang.Meaning.Promise {
		return v
	}
	return a.promised(st, v)
}

// rejected throws what a promise that is awaited was rejected with.
func (a *analysis) rejected(st *state, in *ir.Instr, b *ir.Block) {
	v := a.read(st, in.A)
	if v.api == "" || v.api != a.fn.File.Lang.Meaning.Promise {
		return
	}
	thrown := a.load(st, v, "error")
	switch {
	case thrown == unknown:
	case b.Except != ir.NoBlock:
		a.except[b.Except] = join(a.except[b.Except], thrown)
	case a.noting:
		a.throws(st, thrown)
	}
}

func (a *analysis) loadField(st *state, i int32, in *ir.Instr) *value {
	v := a.field(st, i, in)
	if in.Text == "length" { // an index, and no name
		v = v.with(v.taint.cleaned(a.run.keyBits))
	}
	return v
}

func (a *analysis) field(st *state, i int32, in *ir.Instr) *value {
	base := a.read(st, in.A)
	if v, ok := a.get(st, i, base, in.Text); ok {
		return v
	}
	v := a.load(st, base, in.Text)
	if in.Text == "length" && a.fn.File.Lang.Meaning.OneNumber && !a.run.plain && !v.known() {
		v = &value{kind: kindNumber, objs: v.objs}
	}
	if v == unknown {
		if w, ok := a.missing(st, i, base, in.Text); ok {
			return w
		}
	}
	if v == unknown && in.Text == "prototype" {
		return a.prototypeOf(st, i, base)
	}
	if base.c.isText() && v == unknown {
		return a.textField(base, in.Text)
	}
	if base.api != "" {
		v = v.typed(a.run.apis[base.api+"."+in.Text])
	}
	return a.member(st, i, base, in.Text, v)
}

// textField returns a field of a constant text: its length.
func (a *analysis) textField(base *value, name string) *value {
	if name == "length" && base.c.kind == constString {
		return intValue(float64(len([]rune(base.c.s))))
	}
	return unknown
}

// member gives what was read from a value its name for the models, and the taint
// that they say it has.
func (a *analysis) member(st *state, i int32, base *value, name string, v *value) *value {
	in := &a.fn.Code[i]
	if list, ok := a.soleObject(st, base).list(); ok && (name == "length" || name == "Length" || name == "size") &&
		v == unknown {
		return intValue(float64(len(list)))
	}
	owner := base.api
	if owner == "" {
		owner = a.staticType(in.Node)
	}
	if owner == "" {
		a.needType(base)
		return a.unknownMember(in.Node, name, v)
	}
	if v == unknown {
		if m := a.methodValue(st, i, base, owner, name); m != nil {
			return m
		}
	}
	v = a.fromShared(st, base, owner, name, v).typed(a.run.fieldType(a.fn, owner, name))
	return a.run.value(a, i, owner, name, v.typed(a.run.memberName(owner, name)))
}

// soleObject returns the state of the only object that a value can be, nil when
// there are several.
func (a *analysis) soleObject(st *state, v *value) *object {
	if v == nil || len(v.objs) != 1 {
		return nil
	}
	return st.object(v.objs[0])
}

// sole returns the only object that a value can be.
func (v *value) sole() (objID, bool) {
	if v == nil || len(v.objs) != 1 {
		return 0, false
	}
	return v.objs[0], true
}

func (a *analysis) storeField(st *state, i int32, in *ir.Instr) {
	base, x := a.read(st, in.A), a.read(st, in.B)
	x = x.with(x.taint.at(a.fn, in.Node))
	if a.put(st, i, base, in.Text, x) {
		return
	}
	a.store(st, base, in.Text, x)
	owner := base.api
	if owner == "" {
		owner = a.staticType(in.Node)
	}
	a.share(st, owner, in.Text, x)
	a.assigns(st, i, owner, in.Text, x)
}

// indexKey returns the constant key of an index, and whether it is known.
func (a *analysis) indexKey(st *state, in *ir.Instr) (string, bool) {
	switch {
	case in.B != ir.NoVar:
		return a.keyOf(a.read(st, in.B))
	case in.Text == "": // what is received from a channel
		return anyKey, true
	}
	return in.Text, true
}

// keyOf returns the part that a value is the key of.
func (a *analysis) keyOf(v *value) (string, bool) {
	if v.known() && v.c.kind != constNull {
		return v.c.String(), true
	}
	a.need(v)
	return anyKey, false
}

func (a *analysis) loadIndex(st *state, i int32, in *ir.Instr) *value {
	base := a.read(st, in.A)
	if v, ok := a.item(st, i, base, a.read(st, in.B)); ok {
		return v
	}
	key, known := a.indexKey(st, in)
	if strings.HasPrefix(key, "-") {
		key, known = a.fromEnd(st, base, key)
	}
	v := a.load(st, base, key)
	if v == unknown && base.c.isText() && in.B != ir.NoVar {
		if c := stringChar(base, a.read(st, in.B)); c != nil {
			return c
		}
	}
	id, sole := base.sole()
	if v == unknown && sole && a.objects[id].makes && st.object(id) != nil {
		v = a.make(st, i, 0, objInfo{kind: kindList, own: true}, &object{size: unsized}).typed("list")
		a.store(st, base, key, v)
	}
	if v == unknown && sole && a.objects[id].own && a.objects[id].kind == kindList && st.object(id) != nil {
		// an array of arrays has rows that nobody made
		v = a.make(st, i, 0, objInfo{kind: kindAny}, &object{size: unsized})
		a.store(st, base, key, v)
	}
	if !known && len(base.taint) > 0 {
		v = v.with(v.taint.union(a.derived(base)))
	}
	if !known {
		v = a.pick(st, in, base, v)
	}
	if a.run.plain && in.B != ir.NoVar {
		v = v.with(v.taint.union(a.deep(st, a.read(st, in.B)).cleaned(a.run.safeIndexes)))
	}
	if base.api != "" && key == "0" && in.B == ir.NoVar {
		return v.typed(base.api) // of several results the model's type is that of the first
	}
	if base.api != "" && known {
		return a.run.value(a, i, base.api, key, v.typed(a.run.memberName(base.api, key)))
	}
	return v
}

// fromEnd returns the key of an element that is counted from the end of a list; of a
// map, the key itself.
func (a *analysis) fromEnd(st *state, base *value, key string) (string, bool) {
	n, err := strconv.Atoi(key)
	if err != nil || !a.isCollection(st, base) {
		return key, true
	}
	if list, ok := a.soleObject(st, base).list(); ok && len(list)+n >= 0 {
		return index(len(list) + n), true
	}
	return anyKey, false
}

func (a *analysis) storeIndex(st *state, i int32, in *ir.Instr) {
	base, x := a.read(st, in.A), a.read(st, in.C)
	x = x.with(x.taint.at(a.fn, in.Node))
	if in.B == ir.NoVar && (in.Text == "" || in.Text == spreadKey) {
		if in.Text == "" {
			a.push(st, base, x)
		} else {
			a.spread(st, i, base, x)
		}
		return
	}
	key, known := a.indexKey(st, in)
	a.store(st, base, key, x)
	if base.api != "" {
		a.assigns(st, i, base.api, key, x)
	}
	if !known && in.B != ir.NoVar {
		a.pollutes(st, in, base, x)
		a.storeKey(st, base, a.read(st, in.B))
	}
}

// spreadKey is the key at which all parts of a value are stored.
const spreadKey = "..."

// storeKey notes a key that is not known.
func (a *analysis) storeKey(st *state, base, key *value) {
	if len(key.taint) == 0 {
		return
	}
	for _, id := range base.objs {
		o := st.object(id).clone()
		o.keys = join(o.keys, key)
		st.put(id, o)
	}
}

// push adds an element at the end of a list.
func (a *analysis) push(st *state, base, x *value) {
	for _, id := range base.objs {
		o := st.object(id).clone()
		if list, ok := o.list(); ok && !o.many && len(base.objs) == 1 {
			o.setList(append(list, x))
		} else {
			o.blur()
			o.elems = join(o.elems, x)
		}
		st.put(id, o)
	}
}

func (a *analysis) slice(st *state, i int32, in *ir.Instr) *value {
	base := a.read(st, in.A)
	low, high := a.optional(st, in.B), a.optional(st, in.C)
	if v := sliceText(base, low, high); v != nil {
		return v.with(base.taint)
	}
	if len(base.objs) == 0 {
		return base.with(base.taint)
	}
	v := a.make(st, i, 0, objInfo{kind: kindList, own: true}, &object{size: unsized})
	id := v.objs[0]
	if list, ok := a.soleObject(st, base).list(); ok {
		if part, ok := cutList(list, low, high); ok {
			o := st.object(id).clone()
			o.setList(part)
			st.put(id, o)
			return v.with(a.derived(base))
		}
	}
	a.store(st, v, anyKey, a.load(st, base, anyKey))
	return v.with(a.derived(base))
}

// optional reads a variable that may be missing.
func (a *analysis) optional(st *state, v ir.Var) *value {
	if v == ir.NoVar {
		return nil
	}
	return a.read(st, v)
}

// loadGlobal reads a global, or a static or module variable.
func (a *analysis) loadGlobal(st *state, i int32, in *ir.Instr) *value {
	owner, name := "", model.Last(in.Text)
	if len(name) < len(in.Text) {
		owner = in.Text[:len(in.Text)-len(name)-1]
	}
	if m := a.methodExpression(st, i, in.Text); m != nil {
		return m
	}
	v := unknown
	if in.A != ir.NoVar {
		base := a.read(st, in.A)
		v = a.load(st, base, name)
		if v == unknown && name == "prototype" {
			v = a.prototypeOf(st, i, base)
		}
		if base.api != "" && base.api != owner {
			v = a.run.value(a, i, base.api, name, v)
		}
	}
	if v == unknown && (a.run.declares(in.Text) || a.fn.File.Lang.Meaning.Exports != "" &&
		in.Text == a.fn.File.Module) {
		v = a.load(st, a.globals(), in.Text)
	}
	if owner != "" {
		v = v.typed(a.run.fieldType(a.fn, owner, name))
	}
	return a.globalValue(in, v.typed(cmp.Or(a.run.apis[in.Text], in.Text)))
}

// globals returns the object whose fields are the globals of the program.
func (a *analysis) globals() *value { return a.input(input{kind: inGlobal}, "") }

func (a *analysis) storeGlobal(st *state, i int32, in *ir.Instr) {
	x := a.read(st, in.B)
	x = x.with(x.taint.at(a.fn, in.Node))
	a.store(st, a.globals(), in.Text, x)
	if in.A != ir.NoVar {
		a.storeMade(st, a.read(st, in.A), model.Last(in.Text), x)
	}
	dot := strings.LastIndexByte(in.Text, '.')
	owner := "global"
	if dot > 0 {
		owner = in.Text[:dot]
	}
	a.assigns(st, i, owner, in.Text[dot+1:], x)
}

// make makes the object of an instruction. One that is made again while it is
// there stands for several from then on.
func (a *analysis) make(st *state, i int32, sub int32, info objInfo, o *object) *value {
	id := a.key(objKey{instr: i, sub: sub}, info)
	if old := st.object(id); old != nil {
		o = a.joinObjects(&a.objects[id], old, o).clone()
		o.many = true
	}
	st.put(id, o)
	return &value{objs: []objID{id}, kind: info.kind}
}

func (a *analysis) fresh(st *state, i int32, in *ir.Instr) *value {
	switch in.Text {
	case "[]", "()", "set":
		return a.make(st, i, 0, objInfo{kind: kindList, own: true}, &object{})
	case "{}":
		return a.make(st, i, 0, objInfo{kind: kindMap, own: true}, &object{size: unsized})
	}
	class := a.run.program.Class(in.Text)
	if class == nil && in.X == ir.Allocated {
		return &value{api: in.Text}
	}
	v := a.make(st, i, 0, objInfo{kind: kindObject, own: true, typ: in.Text}, &object{size: unsized})
	v.api = in.Text
	if class != nil && class.Kind == "struct" && a.fn.File.Lang.Meaning.ZeroValues {
		z := zeroFields{a: a, st: st, instr: i}
		z.fill(v, class, 0)
	}
	return v
}

// closure makes a function value; it shares the variables that it captures.
func (a *analysis) closure(st *state, i int32, in *ir.Instr) *value {
	fn := a.fn.File.Functions[in.X]
	v := a.make(st, i, 0, objInfo{kind: kindFunction, fn: fn, own: true}, &object{size: unsized})
	for k, c := range fn.Captures {
		a.store(st, v, captureField(k), a.captured(st, c.Outer))
	}
	return v
}

// captured returns the cell of a variable that a function value shares. A variable
// that is captured before the analysis knows it as shared is read.
func (a *analysis) captured(st *state, outer ir.Var) *value {
	if outer < 0 {
		return unknown
	}
	return a.cell(outer)
}

func (a *analysis) iterate(st *state, i int32, in *ir.Instr) *value {
	base := a.read(st, in.A)
	v := a.make(st, i, 0, objInfo{kind: kindObject, own: true}, &object{size: unsized})
	switch in.Text {
	case "keys":
		a.store(st, v, anyKey, a.keysOf(st, base))
	case "entries":
		key, element := a.keysOf(st, base), a.load(st, base, anyKey)
		if given := a.given(st, i, in, base); given != nil {
			key, element = join(key, given), join(element, given)
		}
		pair := a.make(st, i, 1, objInfo{kind: kindList, own: true}, &object{})
		a.push(st, pair, key)
		a.push(st, pair, element)
		a.store(st, v, anyKey, pair)
	default:
		e := a.elementOf(st, i, base)
		if base.api != "" {
			e = a.run.value(a, i, base.api, "[*]", e)
		}
		a.store(st, v, anyKey, e)
	}
	return v
}

// given returns what a function that is iterated over passes to the loop, which is a
// function for it; nil when the value is none (Go).
func (a *analysis) given(st *state, i int32, in *ir.Instr, f *value) *value {
	if in.X != 0 {
		return nil
	}
	a.need(f)
	functions := &value{}
	for _, id := range f.objs {
		if a.objects[id].fn != nil {
			functions.objs = append(functions.objs, id)
		}
	}
	if len(functions.objs) == 0 {
		return nil
	}
	info := objInfo{kind: kindFunction, own: true, take: true}
	loop := &value{objs: []objID{a.key(objKey{instr: i, sub: 2}, info)}}
	a.callValue(st, functions, []*value{loop}, &callSite{a: a, st: st, i: i, in: in}, 1)
	if st.object(loop.objs[0]) == nil {
		return nil
	}
	return a.load(st, loop, anyKey)
}

// elementOf returns what iterating over a value gives: the elements of lists; of a
// map its keys in some languages, in others pairs, so something that is both.
func (a *analysis) elementOf(st *state, i int32, base *value) *value {
	id, ok := base.sole()
	if !ok || a.objects[id].kind != kindMap {
		return a.load(st, base, anyKey)
	}
	pair := a.make(st, i, 1, objInfo{kind: kindList, own: true}, &object{})
	keys := a.keysOf(st, base)
	a.push(st, pair, keys)
	a.push(st, pair, a.load(st, base, anyKey))
	return pair.with(keys.taint)
}

// keysOf returns what a key of the value may be.
func (a *analysis) keysOf(st *state, base *value) *value {
	var v *value
	for _, id := range base.objs {
		if at := a.objects[id].atom; at != nil {
			v = join(v, a.part(at, keysPart))
		}
		if o := st.object(id); o != nil {
			v = join(v, o.keys)
			for _, f := range o.fields {
				if !strings.HasPrefix(f.name, "#") && !isIndex(f.name) {
					v = join(v, stringValue(f.name))
				}
			}
			v = orUnknown(v).with(orUnknown(v).taint.union(o.self))
		}
	}
	v = orUnknown(v)
	return v.with(v.taint.union(a.derived(base)))
}

func orUnknown(v *value) *value {
	if v == nil {
		return unknown
	}
	return v
}

// yielded is the part of a generator's result that holds what it gives.
func (a *analysis) yield(st *state, in *ir.Instr) *value {
	v := a.read(st, in.A)
	if in.Text == "from" {
		v = a.load(st, v, anyKey)
	}
	if a.noting {
		a.result = join(a.result, v)
	}
	return unknown
}

func (a *analysis) remove(st *state, in *ir.Instr) {
	base := a.read(st, in.A)
	name := in.Text
	if in.B != ir.NoVar {
		key, known := a.keyOf(a.read(st, in.B))
		if !known {
			return
		}
		name = key
	}
	if name == "" {
		return
	}
	a.removeKey(st, base, name)
}

// removeKey removes a part of an object.
func (a *analysis) removeKey(st *state, base *value, name string) {
	id, ok := base.sole()
	if !ok {
		return
	}
	o := st.object(id).clone()
	if o.many {
		return
	}
	if list, ok := o.list(); ok && isIndex(name) {
		o.setList(without(list, name))
	} else {
		o.set(name, unknown, maxFields)
	}
	st.put(id, o)
}

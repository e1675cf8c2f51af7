package taint

import (
	"regexp"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file interprets operators.

// comparisons are the operators whose result is a truth value.
var comparisons = map[string]bool{
	"==": true, "!=": true, "===": true, "!==": true, "<": true, ">": true, "<=": true, ">=": true, "in": true,
	"not in": true,
	"is":     true, "is not": true, "instanceof": true, "<>": true,
}

func (a *analysis) operator(st *state, in *ir.Instr) *value {
	switch in.Op {
	case ir.Unary:
		v := a.read(st, in.A)
		if out := foldUnary(in.Text, v); out != nil {
			return out.with(v.taint)
		}
		switch in.Text {
		case ir.Found:
			return &value{kind: kindBool}
		case "!", "not":
			a.need(v)
			return &value{kind: kindBool, taint: a.answer(st, v)}
		case "typeof":
			return &value{kind: kindString}
		}
		if a.makesNumber(in.Text, unknown) {
			return &value{kind: kindNumber}
		}
		return &value{taint: a.numberTaint(a.whole(st, v).taint), kind: kindNumber}
	case ir.Binary:
		return a.binary(st, in)
	case ir.Concat:
		var parts []*value
		for _, v := range a.fn.Operands(in) {
			parts = append(parts, a.read(st, v))
		}
		return a.concat(st, in.Node, parts...)
	case ir.Cast:
		return a.cast(a.read(st, in.A), in)
	}
	a.need(a.read(st, in.A))
	return &value{kind: kindBool, taint: a.answer(st, a.read(st, in.A))}
}

// answer returns the taint of a comparison: none, but in rules that have places of
// their own that of what is compared.
func (a *analysis) answer(st *state, list ...*value) taint {
	if !a.run.plain {
		return nil
	}
	var t taint
	for _, v := range list {
		t = t.union(a.deep(st, v))
	}
	return t.cleaned(a.run.safeComparisons | a.run.assignOnly)
}

// cast returns the value as a type; a number is harmless.
func (a *analysis) cast(v *value, in *ir.Instr) *value {
	if a.run.harmless(in.Text) {
		if v.c.kind == constChar && in.Text != "char" {
			if n, ok := v.c.code(); ok {
				return intValue(n)
			}
		}
		return &value{c: v.c, kind: v.kind}
	}
	if in.Text == "" || v.api != "" && a.isProgramType(v.api) {
		return v
	}
	if v.api != "" && a.fn.File.Lang.Meaning.TextType != "" && !a.run.set(a.fn).Known(in.Text) &&
		!a.isProgramType(in.Text) {
		return v // "as any" says nothing of the value, which stays what it is
	}
	w := *v
	w.api = in.Text
	return &w
}

// isProgramType reports whether the program declares the type.
func (a *analysis) isProgramType(name string) bool { return a.run.program.Class(name) != nil }

// binary interprets an operator of two operands.
func (a *analysis) binary(st *state, in *ir.Instr) *value {
	x, y := a.whole(st, a.read(st, in.A)), a.whole(st, a.read(st, in.B))
	if v := foldBinary(in.Text, x, y); v != nil {
		if comparisons[in.Text] {
			return v
		}
		return v.with(x.taint.union(y.taint))
	}
	switch in.Text {
	case "+":
		if x.kind != kindNumber || y.kind != kindNumber {
			return a.counted(a.concat(st, in.Node, x, y), x, y)
		}
	case "%":
		if x.kind == kindString {
			return a.format(st, in.Node, x, []*value{y})
		}
	case ".", "..":
		return a.concat(st, in.Node, x, y)
	case "&&", "||", "and", "or", "??":
		return join(x, y)
	}
	if comparisons[in.Text] {
		a.need(x)
		a.need(y)
		if v := a.identity(x, y, in.Text); v != nil {
			return v
		}
		return &value{kind: kindBool, taint: a.answer(st, x, y)}
	}
	a.need(x)
	a.need(y)
	if a.makesNumber(in.Text, y) {
		return &value{kind: kindNumber}
	}
	if v := a.typedOperator(st, in, x, y); v != nil {
		return v
	}
	return &value{kind: kindNumber, taint: a.numberTaint(x.taint.union(y.taint))}
}

// typedOperator joins the operands of an operator whose result the models know for the
// type of one of them: a path and a name.
func (a *analysis) typedOperator(st *state, in *ir.Instr, x, y *value) *value {
	for _, v := range []*value{x, y} {
		for _, t := range a.run.types(a.fn, v.api) {
			for _, e := range a.run.set(a.fn).Match(t + "." + in.Text)[model.Types] {
				if e.Form == model.Call {
					return a.concat(st, in.Node, x, y).typed(e.Type)
				}
			}
		}
	}
	return nil
}

// identity compares a value that is certainly there with null.
func (a *analysis) identity(x, y *value, op string) *value {
	if x.c.kind == constNull {
		x, y = y, x
	}
	if y.c.kind != constNull || len(x.objs) == 0 {
		return nil
	}
	for _, id := range x.objs {
		if a.objects[id].atom != nil || !a.objects[id].own {
			return nil
		}
	}
	switch op {
	case "==", "===", "is":
		return boolValue(false)
	case "!=", "!==", "is not":
		return boolValue(true)
	}
	return nil
}

// numberTaint is what remains of taint in the result of arithmetic: numbers are
// harmless in most places, but a text may pass through operators that look like it.
func (a *analysis) numberTaint(t taint) taint {
	return t.cleaned(a.run.assignOnly)
}

// makesNumber reports whether an operator is there only to make a number of a text:
// +x, x | 0, x * 1.
func (a *analysis) makesNumber(op string, y *value) bool {
	if !a.fn.File.Lang.Meaning.OneNumber || a.run.plain {
		return false
	}
	switch op + y.c.String() {
	case "+", "|0", ">>0", ">>>0", "<<0", "-0", "*1", "/1":
		return op == "+" || y.c.number()
	}
	return false
}

// fixedHost matches the beginning of an address whose host is complete; schemes may
// stand in each other: "jdbc:postgresql://".
var fixedHost = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]*:){0,3}//[^/?#]+[/?#]|^/$|^/[^/\\]|^[?#]|^[A-Za-z0-9_.-]+/`)

// behindHost matches text that stands behind something unknown, as which the address
// has a host already, or is one of the own host: base + "/users/".
var behindHost = regexp.MustCompile(`(^|[^:/\\])[/?#]([^/\\]|$)`)

// concat joins texts. What stands behind the first part cannot choose how the
// text begins, and what stands behind a host cannot choose the host.
func (a *analysis) concat(st *state, node int32, parts ...*value) *value {
	v := &value{kind: kindString}
	var start strings.Builder
	exact, inPath := true, false
	for _, p := range parts {
		p = a.textOf(st, p)
		t := p.taint
		if start.Len() > 0 || !exact {
			bits := a.run.startBit
			if inPath || fixedHost.MatchString(start.String()) {
				bits |= a.run.hostBit
			}
			t = t.cleaned(bits)
		}
		v.taint = v.taint.union(t.at(a.fn, node).cleaned(a.run.assignOnly))
		inPath = inPath || !exact && p.known() && behindHost.MatchString(p.c.String())
		switch {
		case exact && p.known():
			start.WriteString(p.c.String())
		case exact:
			start.WriteString(p.start)
			exact = false
		}
		if start.Len() > maxConst {
			exact = false
		}
	}
	if exact {
		return stringValue(start.String()).with(v.taint)
	}
	v.start = start.String()
	if len(v.start) > maxStart {
		v.start = v.start[:maxStart]
	}
	return v
}

// textOf returns the value that a value has as a text.
func (a *analysis) textOf(st *state, v *value) *value {
	if v == nil {
		return unknown
	}
	if o := a.soleObject(st, v); o != nil && o.text != nil {
		return o.text.with(o.text.taint.union(o.self).union(v.taint))
	}
	if len(v.objs) > 0 {
		return v.with(a.deep(st, v))
	}
	return v
}

// format fills the values into a format as far as its beginning is known.
func (a *analysis) format(st *state, node int32, format *value, args []*value) *value {
	if len(args) == 1 {
		if list, ok := a.soleObject(st, args[0]).list(); ok {
			args = list
		}
	}
	if !format.c.isText() {
		parts := append([]*value{format}, args...)
		v := a.concat(st, node, parts...)
		return &value{kind: kindString, taint: v.taint, start: format.start}
	}
	var parts []*value
	rest := format.c.s
	used := 0
	for {
		verb := verbs.FindStringIndex(rest)
		if verb == nil {
			break
		}
		parts = append(parts, stringValue(rest[:verb[0]]))
		text := rest[verb[0]:verb[1]]
		rest = rest[verb[1]:]
		if text == "%%" {
			parts = append(parts, stringValue("%"))
			continue
		}
		if used < len(args) {
			x := args[used]
			if strings.ContainsAny(text[len(text)-1:], "dfxXoeg") {
				x = &value{c: x.c, kind: kindNumber}
			}
			parts = append(parts, x)
		} else {
			parts = append(parts, unknown)
		}
		used++
	}
	parts = append(parts, stringValue(rest))
	for ; used < len(args); used++ { // named and positional verbs
		if strings.ContainsAny(format.c.s, "({$") {
			parts = append(parts, args[used])
		}
	}
	return a.concat(st, node, parts...)
}

// verbs matches the verbs of printf, and the braces of other formats.
var verbs = regexp.MustCompile(`%%|%(?:\d+\$)?(?:\([^)]*\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]|\{[^{}]*\}`)

// stringChar returns the character of a constant text at a constant index.
func stringChar(text, index *value) *value {
	if text.c.kind != constString || !index.known() || !index.c.number() {
		return nil
	}
	runes := []rune(text.c.s)
	i := int(index.c.n)
	if i < 0 {
		i += len(runes)
	}
	if i < 0 || i >= len(runes) {
		return nil
	}
	return charValue(string(runes[i]))
}

// sliceText cuts a constant text; negative bounds count from its end.
func sliceText(text, low, high *value) *value {
	if !text.c.isText() {
		return nil
	}
	runes := []rune(text.c.s)
	from, to, ok := cutBounds(len(runes), low, high)
	if !ok {
		return nil
	}
	return stringValue(string(runes[from:to]))
}

// cutList cuts a list.
func cutList(list []*value, low, high *value) ([]*value, bool) {
	from, to, ok := cutBounds(len(list), low, high)
	if !ok {
		return nil, false
	}
	return list[from:to], true
}

// cutBounds returns the bounds of a part of n elements, whose ends are constants
// or missing.
func cutBounds(n int, low, high *value) (from, to int, ok bool) {
	to = n
	for _, b := range []struct {
		v   *value
		out *int
	}{{low, &from}, {high, &to}} {
		if b.v == nil || b.v.c.kind == constNull {
			continue
		}
		if !b.v.known() || !b.v.c.number() {
			return 0, 0, false
		}
		i := int(b.v.c.n)
		if i < 0 {
			i = max(0, i+n)
		}
		*b.out = min(i, n)
	}
	return from, max(from, to), true
}

// without returns the list without the element at the index.
func without(list []*value, index string) []*value {
	i, err := strconv.Atoi(index)
	if err != nil || i >= len(list) {
		return list
	}
	return append(append([]*value(nil), list[:i]...), list[i+1:]...)
}

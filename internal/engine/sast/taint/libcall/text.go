package libcall

import (
	"strings"

	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations of texts ("string.…"), and of buffers that grow
// ("buffer.…": StringBuilder, strings.Builder, io.StringIO).
//
// Each operation gives a constant where all operands are constants. That matters for the sinks
// as much as taint: a constant prefix decides whether a URL or a path can leave its root.

// joinPath joins the arguments to a path. What is behind the first cannot choose how it
// begins.
// Path traversal in a later element remains possible; only what needs control of the beginning
// (the host of a URL, an absolute path, the scheme) is ruled out.
func (m *Call) joinPath() *value.Value {
	var t taintset.Set
	for i, arg := range m.Args {
		part := m.Frame.TextOf(m.State, arg.Value).Taint
		if i > 0 {
			// StartBit is the kind of sinks for which only the beginning counts.
			part = part.Sanitized(m.Frame.Run.StartBit)
		}
		t = t.Union(part)
	}
	return (&value.Value{Kind: value.KindString}).WithTaint(t.At(m.Frame.Function, m.Instruction.Node))
}

// textOperation computes with texts.
// args[0] is the text itself for methods, the first argument for functions of a module. The
// result is false only where general rules apply.
func (m *Call) textOperation(op string, args []*value.Value) (*value.Value, bool) {
	// "join" and "split" need the lists themselves; the conversion to texts below would flatten
	// them.
	if op == "join" {
		return m.joinTexts(args), true
	}
	if op == "split" {
		return m.splitText(args), true
	}
	texts := make([]*value.Value, len(args))
	for i, v := range args {
		texts[i] = m.Frame.TextOf(m.State, v)
	}
	if op == "format" {
		if len(args) == 0 {
			return value.Unknown, true
		}
		return m.Frame.Format(m.State, m.Instruction.Node, texts[0], args[1:]), true
	}
	if op == "concat" {
		return m.Frame.Concat(m.State, m.Instruction.Node, args...), true
	}
	if op == "path" {
		return m.joinPath(), true
	}
	s := operandAt(texts, 0)
	// Operations such as length, index and equals give back a number or a truth value, from which
	// no attacker's text can be read. They drop the taint.
	var t taintset.Set
	if carries[op] {
		t = s.Taint
		// The third operand is the replacement. The second, the pattern, does not appear in the
		// result.
		if op == "replace" {
			t = t.Union(operandAt(texts, 2).Taint)
		}
		t = t.At(m.Frame.Function, m.Instruction.Node)
	}
	if v := value.FoldTextOperation(op, texts); v != nil {
		return v.WithTaint(t), true
	}
	// No constant came out. Need asks the callers for operands that depend on parameters: the
	// summary for a caller with constants is then computed again, exactly.
	for _, v := range texts {
		m.Frame.Need(v)
	}
	v := &value.Value{Kind: textResults[op], Taint: t}
	// Conversion and trimming keep the beginning, unless the beginning is what gets trimmed. The
	// prefix is what later checks of schemes and roots compare.
	if op == "of" || op == "trim" && !strings.HasPrefix(s.Prefix, " ") {
		v.Prefix = s.Prefix
	}
	if v.Kind == value.KindAny {
		v.Kind = value.KindString
	}
	return v, true
}

// carries has the operations whose result holds text of the first operand.
// An operation that is missing here returns something other than the text: a position, a
// length, a comparison.
var carries = map[string]bool{
	"char": true, "substring": true, "slice": true, "upper": true, "lower": true, "trim": true, "replace": true,
	"repeat": true,
	"of":     true, "part": true,
}

// textResults are the kinds of what the operations of texts return that return no text: a
// number, a truth.
// Every operation that is not listed returns a text.
var textResults = map[string]value.Kind{
	"length": value.KindNumber, "equals": value.KindBool, "equalsfold": value.KindBool, "contains": value.KindBool,
	"starts": value.KindBool,
	"ends":   value.KindBool, "index": value.KindNumber, "lastindex": value.KindNumber, "empty": value.KindBool,
}

// splitText returns a list of the parts of a text.
// Without a constant text the number of parts is unknown: each element may be any part and has
// the taint of the whole.
func (m *Call) splitText(args []*value.Value) *value.Value {
	s, sep := m.Frame.TextOf(m.State, operandAt(args, 0)), operandAt(args, 1)
	v := m.newResult(value.KindList)
	id := v.Objects[0]
	o := m.State.Object(id).Clone()
	// An empty separator splits into characters in some languages and is an error in others; it is
	// therefore not computed.
	if s.Constant.IsText() && sep.Constant.IsText() && sep.Constant.Text != "" && len(s.Taint) == 0 {
		var list []*value.Value
		for _, part := range strings.Split(s.Constant.Text, sep.Constant.Text) {
			list = append(list, value.FromString(part))
		}
		o.SetList(list)
	} else {
		o.ForgetPositions()
		o.Elements = &value.Value{Kind: value.KindString, Taint: s.Taint.At(m.Frame.Function, m.Instruction.Node)}
	}
	m.State.Put(id, o)
	return v
}

// joinTexts joins the elements of a list, or all operands.
// "join" has two forms: separator.join(list) of Python and list.join(separator) of JavaScript.
// Both come here with the list as one of the operands.
func (m *Call) joinTexts(args []*value.Value) *value.Value {
	var parts []*value.Value
	for _, v := range args {
		if list, ok := m.Frame.SoleObject(m.State, v).List(); ok {
			for i, e := range list {
				// Between two elements stands the separator, whose text does not matter here. It
				// is an unknown part, so that the result is not taken for a known constant.
				if i > 0 && len(args) > 1 {
					parts = append(parts, value.Unknown)
				}
				parts = append(parts, value.OrUnknown(e))
			}
			continue
		}
		parts = append(parts, v)
	}
	return m.Frame.Concat(m.State, m.Instruction.Node, parts...)
}

// bufferOperation computes with a text that grows.
// The text lives in the object of the buffer (Object.Text), not in the value, since append
// changes it in place and each alias sees the change.
func (m *Call) bufferOperation(op string, args []*value.Value) (*value.Value, bool) {
	b := operandAt(args, 0)
	if op == "new" {
		b = m.Receiver
		if b == nil {
			b = m.newResult(value.KindObject)
		}
		text := value.FromString("")
		// new StringBuilder(100) gives a capacity, not a text.
		if len(args) > 0 && !(args[0].Kind == value.KindNumber) {
			text = m.Frame.TextOf(m.State, args[0])
		}
		m.setText(b, text, true)
		return b, true
	}
	for _, id := range b.Objects {
		o := m.State.Object(id)
		old := value.Unknown
		if o != nil && o.Text != nil {
			old = o.Text
		} else if m.Frame.Objects[id].Input != nil {
			// The buffer is a parameter of this function: its text is whatever the caller has
			// written to it, named as "everything inside of this input".
			old = &value.Value{Kind: value.KindString,
				Taint: taintset.Set{{Origin: m.Frame.Run.Deep(m.Frame.Objects[id].Input)}}}
		}
		m.setText(&value.Value{Objects: []value.ObjectID{id}}, m.grownText(op, old, args), len(b.Objects) == 1)
	}
	// b.reset() returns nothing; the calls below return the buffer for chains such as
	// b.append(x).append(y).
	if op == "clear" {
		return value.Unknown, true
	}
	// No object is known, for example a buffer that a library returned. The taint must not be
	// lost, so the operands flow into the result.
	if len(b.Objects) == 0 {
		return m.Frame.Concat(m.State, m.Instruction.Node, args...), true
	}
	return b, true
}

// grownText returns the text after an operation.
// Insertion at position 0 keeps the order, so that a constant prefix stays exact. Any other
// position is treated as an append: the taint is the same, and the prefix of the old text is
// kept.
func (m *Call) grownText(op string, old *value.Value, args []*value.Value) *value.Value {
	switch op {
	case "append":
		return m.Frame.Concat(m.State, m.Instruction.Node, append([]*value.Value{old}, args[1:]...)...)
	case "insert":
		if len(args) > 2 && args[1].IsKnown() && args[1].Constant.Number == 0 {
			return m.Frame.Concat(m.State, m.Instruction.Node, args[2], old)
		}
		return m.Frame.Concat(m.State, m.Instruction.Node, append([]*value.Value{old.WithTaint(old.Taint)},
			args[1:]...)...)
	// Only a constant without taint is reversed. The prefix of a tainted text says nothing about
	// the reversed text.
	case "reverse":
		if old.IsKnown() && len(old.Taint) == 0 {
			r := []rune(old.Constant.String())
			for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
				r[i], r[j] = r[j], r[i]
			}
			return value.FromString(string(r))
		}
		return &value.Value{Kind: value.KindString, Taint: old.Taint}
	case "clear":
		return value.FromString("")
	}
	// Any other operation (replace, delete, setCharAt): the order is lost, the taint of old text
	// and operands remains.
	v := &value.Value{Kind: value.KindString, Taint: old.Taint}
	for _, arg := range args[1:] {
		v.Taint = v.Taint.Union(m.Frame.TextOf(m.State, arg).Taint)
	}
	return v
}

// setText sets the text of an object.
// A strong update replaces the text. A weak one joins both, since the object may stand for
// several buffers.
func (m *Call) setText(b, text *value.Value, strong bool) {
	for _, id := range b.Objects {
		o := m.State.Object(id).Clone()
		if strong && !o.Weak {
			o.Text = text
			// Self is the taint of the object as a whole. A new text overwrites what it was made
			// from.
			o.Self = nil
		} else {
			o.Text = value.Join(o.Text, text)
		}
		m.State.Put(id, o)
	}
}

package libcall

import (
	"strings"

	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations of texts, and of buffers that grow.

// joinPath joins the arguments to a path. What is behind the first cannot choose how it
// begins.
func (m *Call) joinPath() *value.Value {
	var t taintset.Set
	for i, arg := range m.Args {
		part := m.Frame.TextOf(m.State, arg.Value).Taint
		if i > 0 {
			part = part.Sanitized(m.Frame.Run.StartBit)
		}
		t = t.Union(part)
	}
	return (&value.Value{Kind: value.KindString}).WithTaint(t.At(m.Frame.Function, m.Instruction.Node))
}

// textOperation computes with texts.
func (m *Call) textOperation(op string, args []*value.Value) (*value.Value, bool) {
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
	var t taintset.Set
	if carries[op] {
		t = s.Taint
		if op == "replace" {
			t = t.Union(operandAt(texts, 2).Taint)
		}
		t = t.At(m.Frame.Function, m.Instruction.Node)
	}
	if v := value.FoldTextOperation(op, texts); v != nil {
		return v.WithTaint(t), true
	}
	for _, v := range texts {
		m.Frame.Need(v)
	}
	v := &value.Value{Kind: textResults[op], Taint: t}
	if op == "of" || op == "trim" && !strings.HasPrefix(s.Prefix, " ") {
		v.Prefix = s.Prefix
	}
	if v.Kind == value.KindAny {
		v.Kind = value.KindString
	}
	return v, true
}

// carries has the operations whose result holds text of the first operand.
var carries = map[string]bool{
	"char": true, "substring": true, "slice": true, "upper": true, "lower": true, "trim": true, "replace": true,
	"repeat": true,
	"of":     true, "part": true,
}

// textResults are the kinds of what the operations of texts return that return no text: a
// number, a truth.
var textResults = map[string]value.Kind{
	"length": value.KindNumber, "equals": value.KindBool, "equalsfold": value.KindBool, "contains": value.KindBool,
	"starts": value.KindBool,
	"ends":   value.KindBool, "index": value.KindNumber, "lastindex": value.KindNumber, "empty": value.KindBool,
}

// splitText returns a list of the parts of a text.
func (m *Call) splitText(args []*value.Value) *value.Value {
	s, sep := m.Frame.TextOf(m.State, operandAt(args, 0)), operandAt(args, 1)
	v := m.newResult(value.KindList)
	id := v.Objects[0]
	o := m.State.Object(id).Clone()
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
func (m *Call) joinTexts(args []*value.Value) *value.Value {
	var parts []*value.Value
	for _, v := range args {
		if list, ok := m.Frame.SoleObject(m.State, v).List(); ok {
			for i, e := range list {
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
func (m *Call) bufferOperation(op string, args []*value.Value) (*value.Value, bool) {
	b := operandAt(args, 0)
	if op == "new" {
		b = m.Receiver
		if b == nil {
			b = m.newResult(value.KindObject)
		}
		text := value.FromString("")
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
			old = &value.Value{Kind: value.KindString,
				Taint: taintset.Set{{Origin: m.Frame.Run.Deep(m.Frame.Objects[id].Input)}}}
		}
		m.setText(&value.Value{Objects: []value.ObjectID{id}}, m.grownText(op, old, args), len(b.Objects) == 1)
	}
	if op == "clear" {
		return value.Unknown, true
	}
	if len(b.Objects) == 0 {
		return m.Frame.Concat(m.State, m.Instruction.Node, args...), true
	}
	return b, true
}

// grownText returns the text after an operation.
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
	v := &value.Value{Kind: value.KindString, Taint: old.Taint}
	for _, arg := range args[1:] {
		v.Taint = v.Taint.Union(m.Frame.TextOf(m.State, arg).Taint)
	}
	return v
}

// setText sets the text of an object.
func (m *Call) setText(b, text *value.Value, strong bool) {
	for _, id := range b.Objects {
		o := m.State.Object(id).Clone()
		if strong && !o.Weak {
			o.Text = text
			o.Self = nil
		} else {
			o.Text = value.Join(o.Text, text)
		}
		m.State.Put(id, o)
	}
}

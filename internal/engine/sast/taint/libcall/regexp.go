package libcall

import (
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/value"
)

// removeMatches computes "regexp.remove": the text without some characters. It reports false
// when the expression is another one, or only the first match goes.
func (m *Call) removeMatches(args []*value.Value) (*value.Value, bool) {
	if len(args) != 3 || args[1].Constant.Kind != value.RegexConstant ||
		int(args[1].Constant.Number)&value.GlobalFlag == 0 || !args[2].Constant.IsText() {
		return nil, false
	}
	expr, flags, _ := args[1].Pattern()
	gone, ok := pcre.Class(expr, flags)
	if !ok {
		return nil, false
	}
	text := m.Frame.TextOf(m.State, args[0])
	left := gone.Without()
	if with := args[2].Constant.Text; with != "" {
		left = left.With(with)
	}
	bits := m.Frame.Run.HarmlessKinds(left)
	for kind, char := range modelindex.EscapedCharacters {
		if gone.HasAny(char) && args[2].Constant.Text != char {
			bits |= m.Frame.Run.KindBits(kind)
		}
	}
	t := text.Taint.Sanitized(bits)
	return (&value.Value{Kind: value.KindString}).WithTaint(t.At(m.Frame.Function, m.Instruction.Node)), true
}

// compileExpression computes "regexp.compile": the expression that a text is, or another one.
func (m *Call) compileExpression(args []*value.Value) (*value.Value, bool) {
	from := operandAt(args, 0)
	if !from.Constant.IsText() {
		return nil, false
	}
	flags := ""
	if f := operandAt(args, 1); f.Constant.IsText() {
		flags = f.Constant.Text
	}
	v := &value.Value{Kind: value.KindObject}
	if len(args) < 2 || args[1].Constant.IsText() {
		v.Constant = m.Frame.Run.PatternConstant(m.Frame.Function, from.Constant.Text, flags)
	}
	found := m.Frame.Run.ExpressionTaint(m.Frame.Function, m.Instruction.Node, from.Constant.Text, flags)
	if m.Frame.Noting {
		m.Frame.NoteExpression(m.Instruction.Node, found)
	}
	return v.WithTaint(from.Taint.Union(found)), true
}

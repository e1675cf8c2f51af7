package libcall

import (
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/value"
)

// removeMatches computes "regexp.remove": the text without some characters. It reports false
// when the expression is another one, or only the first match goes.
// An example is s.replace(/[<>"']/g, ""), a hand-written sanitizer. Whether it is sufficient
// depends on the characters that are left: without "<" and quotes no markup can be injected,
// without "/" and "." no path traversal.
func (m *Call) removeMatches(args []*value.Value) (*value.Value, bool) {
	// The global flag is required: without it JavaScript replaces only the first match, which is
	// the classic mistake of such sanitizers (CWE-116).
	if len(args) != 3 || args[1].Constant.Kind != value.RegexConstant ||
		int(args[1].Constant.Number)&value.GlobalFlag == 0 || !args[2].Constant.IsText() {
		return nil, false
	}
	expr, flags, _ := args[1].Pattern()
	// Only an expression that matches single characters of a class (or runs of them) is
	// understood; Class reports false for any other.
	gone, ok := pcre.Class(expr, flags)
	if !ok {
		return nil, false
	}
	text := m.Frame.TextOf(m.State, args[0])
	// left has the characters that the result can contain: the complement of the removed ones, and
	// those of the replacement.
	left := gone.Without()
	if with := args[2].Constant.Text; with != "" {
		left = left.With(with)
	}
	bits := m.Frame.Run.HarmlessKinds(left)
	// A kind whose context is ended by a single character (a quote in SQL) is sanitized as soon as
	// this one is removed or replaced.
	for kind, char := range modelindex.EscapedCharacters {
		if gone.HasAny(char) && args[2].Constant.Text != char {
			bits |= m.Frame.Run.KindBits(kind)
		}
	}
	t := text.Taint.Sanitized(bits)
	return (&value.Value{Kind: value.KindString}).WithTaint(t.At(m.Frame.Function, m.Instruction.Node)), true
}

// compileExpression computes "regexp.compile": the expression that a text is, or another one.
// The result has the expression as a constant, so that guards can evaluate what a match with
// it proves. Its taint contains the expression itself if it takes super-linear time
// (CWE-1333), and whatever the text is tainted with, for expressions that come from requests.
func (m *Call) compileExpression(args []*value.Value) (*value.Value, bool) {
	from := operandAt(args, 0)
	if !from.Constant.IsText() {
		return nil, false
	}
	// The flags are optional; without a constant value of them the language of the expression is
	// unknown and no constant is made.
	flags := ""
	if f := operandAt(args, 1); f.Constant.IsText() {
		flags = f.Constant.Text
	}
	v := &value.Value{Kind: value.KindObject}
	if len(args) < 2 || args[1].Constant.IsText() {
		v.Constant = m.Frame.Run.PatternConstant(m.Frame.Function, from.Constant.Text, flags)
	}
	found := m.Frame.Run.ExpressionTaint(m.Frame.Function, m.Instruction.Node, from.Constant.Text, flags)
	// Noting is the last round; findings are collected only there.
	if m.Frame.Noting {
		m.Frame.NoteExpression(m.Instruction.Node, found)
	}
	return v.WithTaint(from.Taint.Union(found)), true
}

package guard

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// approveKey uses that a collection has the key, or the truth for the key: one whose
// keys are constants has no others (Go).
func (a *Guards) approveKey(st *frame.State, in *ir.Instr) {
	if in.B == ir.NoVar || !a.Function.File.Lang.Semantics.CommaOk || !a.HasConstantKeys(st, a.Read(st, in.A)) {
		return
	}
	a.SanitizeVariable(st, in.B, taintset.AllKinds)
	if i := a.Function.Def(in.B); i >= 0 && a.Function.Code[i].Op == ir.Copy {
		a.SanitizeVariable(st, a.Function.Code[i].A, taintset.AllKinds)
	}
}

// heirs are the keys under which an object has what others inherit.
var heirs = map[string]bool{"__proto__": true, "constructor": true, "prototype": true}

// assumeKey uses that a text is none of the keys that reach inherited objects. One
// comparison is taken for all of them: who knows of one has looked for the others.
func (a *Guards) assumeKey(st *frame.State, v ir.Var, other *value.Value) {
	if other.Constant.IsText() && heirs[other.Constant.Text] {
		a.SanitizeVariable(st, v, a.Run.KeyBits)
	}
}

// assumeFound looks through a comparison of a position with a number: what is at -1
// was not found.
func (a *Guards) assumeFound(st *frame.State, in *ir.Instr, y *value.Value, holds bool) {
	if !y.Constant.IsNumber() {
		return
	}
	switch in.Text + " " + y.Constant.String() {
	case "=== -1", "== -1", "< 0", "<= -1":
		holds = !holds
	case "!== -1", "!= -1", ">= 0", "> -1":
	default:
		return
	}
	if i := a.Function.Def(in.A); i >= 0 && a.Function.Code[i].Op == ir.Invoke {
		a.assumeCall(st, i, holds)
	} else if call := a.guardCallOf(in.A); call >= 0 {
		a.assumeCall(st, call, holds)
	}
}

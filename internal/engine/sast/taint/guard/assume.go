package guard

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file uses what a condition says once it has been decided.

// Assume changes the state to what holds when the condition has the value.
// It is called for both branches of an if with a copy of the state each, and follows the
// condition to its parts. depth bounds the recursion through negations and operators.
func (a *Guards) Assume(st *frame.State, cond ir.Var, holds bool, depth int) {
	i := a.Function.Def(cond)
	if i < 0 || depth > survey.MaxDepth {
		return
	}
	in := &a.Function.Code[i]
	// Conditions have been translated to instructions: the definition of the condition variable
	// says what was tested.
	switch in.Op {
	case ir.Copy:
		// A temporary is followed to its own definition; a named variable may contain the result
		// of an earlier check: ok := isSafe(x).
		if !a.Function.IsLocal(in.A) {
			a.Assume(st, in.A, holds, depth+1)
		} else if call := a.guardCallOf(in.A); call >= 0 {
			a.assumeCall(st, call, holds)
		} else {
			a.assumeAnswered(st, in.A, holds)
		}
		a.assumeTruth(st, cond, holds)
	case ir.Unary:
		switch in.Text {
		case "!", "not":
			a.Assume(st, in.A, !holds, depth+1)
		// if (~list.indexOf(x)): the complement of -1 is 0, so that true means found.
		case "~": // of a position: 0 for what was not found
			a.Assume(st, in.A, holds, depth+1)
		}
	case ir.LoadField:
		if !holds {
			// A relative URL without a host leads to the own site, which is no open redirect
			// (CWE-601).
			a.approveHost(st, cond) // an address without a host is one of the own site
		}
		a.assumeTruth(st, cond, holds)
	case ir.LoadIndex:
		a.assumeTruth(st, cond, holds)
		// if (allowed[key]): the key is in the object.
		if holds {
			a.approveKey(st, in)
		}
	case ir.Binary:
		a.assumeBinary(st, in, holds, depth)
	case ir.Invoke:
		a.assumeCall(st, i, holds)
	}
}

// guardCallOf returns the call of a guard whose answer a variable holds, -1 when there is
// none: the variable is assigned once, and what the call was asked about is still known.
func (a *Guards) guardCallOf(v ir.Var) int32 {
	for range survey.MaxDepth {
		i := a.Function.Def(v)
		// The variable must have exactly one assignment, and no closure may change it in between.
		// Otherwise the check may have been about something else.
		if a.Function.IsLocal(v) {
			if a.Boxed[v] || a.Function.Locals[v].Kind == ir.Captured {
				return -1
			}
			i = a.SoleAssignment(v)
		}
		if i < 0 {
			return -1
		}
		switch in := &a.Function.Code[i]; in.Op {
		case ir.Copy:
			v = in.A
		case ir.Invoke:
			// Only calls that can be guards are of interest: those of models, and in Go functions
			// of the program that return an error or ok.
			if call := a.Function.Call(in); a.Run.ModelsOf(a.Function).Guards(call.Name) ||
				a.Function.File.Lang.Semantics.CommaOk &&
					a.ownCall(call) {
				return i
			}
			return -1
		default:
			return -1
		}
	}
	return -1
}

// assumeTruth uses that a value counts as false: it is nothing, an empty text or zero,
// which harms nobody.
// In a plain rule the user decides about sanitizers.
func (a *Guards) assumeTruth(st *frame.State, v ir.Var, holds bool) {
	if !holds && !a.Run.Plain {
		a.Refine(st, v, func(x *value.Value) *value.Value { return a.Sanitize(st, x, taintset.AllKinds) })
	}
}

// assumeBinary assumes that a comparison, or two conditions that are joined, hold or do
// not. The kinds "!=" and "not in" are the others, negated.
func (a *Guards) assumeBinary(st *frame.State, in *ir.Instr, holds bool, depth int) {
	x, y := a.Read(st, in.A), a.Read(st, in.B)
	// x in list: the operator itself can be a guard (an allow list).
	if in.Text == "in" || in.Text == "not in" {
		a.assumeOperator(st, in, "in", holds == (in.Text == "in"))
	}
	a.assumeFound(st, in, y, holds)
	switch in.Text {
	// a && b is true only if both are; if it is false, nothing is known about either.
	case "&&", "and":
		if holds {
			a.Assume(st, in.A, true, depth+1)
			a.Assume(st, in.B, true, depth+1)
		}
		return
	// By De Morgan, a || b is false only if both are.
	case "||", "or":
		if !holds {
			a.Assume(st, in.A, false, depth+1)
			a.Assume(st, in.B, false, depth+1)
		}
		return
	// Negated comparisons are the positive ones with the other outcome.
	case "!=", "!==", "is not", "not in":
		holds = !holds
	case "==", "===", "is", "in":
	default:
		return
	}
	a.assumeKind(st, in.A, y, holds)
	a.assumeKind(st, in.B, x, holds)
	// x != constant says little about x, but something about the result of a check: f(x) != false.
	if !holds {
		a.assumeAnswer(st, in, x, y, depth)
		a.assumeKey(st, in.A, y)
		a.assumeKey(st, in.B, x)
		return
	}
	// An allow list of constants makes the value one of them: clean for all kinds.
	if in.Text == "in" || in.Text == "not in" {
		if a.AllConstant(st, y) {
			a.SanitizeVariable(st, in.A, taintset.AllKinds)
		}
		return
	}
	// f(x) == true is f(x).
	if y.Constant.Kind == value.BoolConstant {
		a.Assume(st, in.A, y.Constant.Number != 0, depth+1)
	}
	// if err == nil, match == null: which outcome approves depends on the function and is decided
	// by assumeCall.
	if call := a.guardCallOf(in.A); y.Constant.Kind == value.NullConstant && call >= 0 {
		a.assumeCall(st, call, false) // nothing was found
	}
	a.assumeEqual(st, in.A, x, y)
	a.assumeEqual(st, in.B, y, x)
}

// assumeKind uses a comparison of what typeof answers (JavaScript): a number, a truth
// value or nothing is harmless, and a text is no size and no object with operators of a
// query.
func (a *Guards) assumeKind(st *frame.State, v ir.Var, word *value.Value, holds bool) {
	if word.Constant.Kind != value.StringConstant {
		return
	}
	i := a.Function.Def(v)
	if i < 0 || a.Function.Code[i].Op != ir.Unary || a.Function.Code[i].Text != "typeof" {
		return
	}
	of := a.Function.Code[i].A
	// undefined and the other kinds have no text at all; they cannot be injected anywhere.
	switch word.Constant.Text {
	case "number", "bigint", "boolean", "undefined":
		if holds {
			a.SanitizeVariable(st, of, taintset.AllKinds)
		} else if word.Constant.Text == "number" {
			// Not a number: the value cannot choose a size. The kind Buffer is about numbers as
			// the size of a buffer, whose content is old memory (CWE-908).
			a.SanitizeVariable(st, of, a.Run.Bits[model.Buffer])
		}
	case "string":
		// A text is no object with operators such as {"$gt": ""}, which is how NoSQL injection
		// works (CWE-943).
		if holds {
			a.SanitizeVariable(st, of, a.Run.Bits[model.Buffer]|a.Run.KindBits("nosql"))
		}
	}
}

// assumeAnswer looks through comparisons of an answer with a constant: f(x) == false.
func (a *Guards) assumeAnswer(st *frame.State, in *ir.Instr, x, y *value.Value, depth int) {
	if y.Constant.Kind == value.BoolConstant {
		a.Assume(st, in.A, y.Constant.Number == 0, depth+1)
	}
	if call := a.guardCallOf(in.A); y.Constant.Kind == value.NullConstant && call >= 0 {
		a.assumeCall(st, call, true)
	}
	_ = x
}

// assumeEqual makes the variable the constant that it is equal to.
// After if (x == "a") the variable is the constant, whatever it came from.
func (a *Guards) assumeEqual(st *frame.State, v ir.Var, x, y *value.Value) {
	if y.IsKnown() && !x.IsKnown() {
		// null is nothing to be equal to: no data.
		if y.Constant.Kind == value.NullConstant {
			return
		}
		a.Refine(st, v, func(*value.Value) *value.Value { return &value.Value{Constant: y.Constant, Kind: y.Kind} })
		a.approveHost(st, v)
		a.rememberMember(st, v, taintset.AllKinds)
	}
}

// ownCall reports whether a call means one function of the program.
// The summary of the one function says what its result proves about the parameters.
func (a *Guards) ownCall(c *ir.Call) bool {
	return c.Direct >= 0 || len(a.Run.Program.Targets(a.Function, c)) == 1
}

// assumeAnswered uses that a variable says whether a key was found: "v, ok := m[key]".
// The definition is followed through copies to the test of the map access.
func (a *Guards) assumeAnswered(st *frame.State, v ir.Var, holds bool) {
	i := a.SoleAssignment(v)
	for range survey.MaxDepth {
		if i < 0 || a.Function.Code[i].Op != ir.Copy {
			break
		}
		i = a.SoleAssignment(a.Function.Code[i].A)
	}
	if !holds || i < 0 || a.Function.Code[i].Op != ir.Unary || a.Function.Code[i].Text != ir.Found {
		return
	}
	if i = a.Function.Def(a.Function.Code[i].A); i >= 0 && a.Function.Code[i].Op == ir.LoadIndex {
		a.approveKey(st, &a.Function.Code[i])
	}
}

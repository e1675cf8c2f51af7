package survey

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/value"
)

// compiledExpression returns the value of a call that compiles an expression which the program
// spells, nil for any other call.
// The survey runs before the analysis of functions and sees definitions only, without states.
// It finds constants that are valid in the whole program: static fields, module constants,
// compiled expressions.
func (r *Survey) compiledExpression(fn *ir.Function, c *ir.Call, node int32, depth int) *value.Value {
	name := c.Qualified
	if c.Kind == ir.CallNew {
		name += ".new"
	}
	args := fn.Args(c)
	if r.Plain || len(args) == 0 || !slices.ContainsFunc(r.ModelsOf(fn).Match(name)[model.Operations],
		func(e *model.Entry) bool {
			return e.Kind == "regexp.compile"
		}) {
		return nil
	}
	text, letters := r.constantOf(fn, args[0].Value, depth+1), ""
	// Flags that are not known could change the language of the expression.
	if len(args) > 1 {
		flags := r.constantOf(fn, args[1].Value, depth+1)
		if flags == nil || !flags.Constant.IsText() {
			return nil
		}
		letters = flags.Constant.Text
	}
	if text == nil || !text.Constant.IsText() {
		return nil
	}
	v := &value.Value{Constant: r.PatternConstant(fn, text.Constant.Text, letters), Kind: value.KindObject}
	return v.WithTaint(r.ExpressionTaint(fn, node, text.Constant.Text, letters))
}

// constantOf returns the constant that a variable is defined as, or nil.
// Definitions are followed through copies, casts and operators. Four levels are enough for
// constants that people write: PREFIX + "a" + SUFFIX.
func (r *Survey) constantOf(fn *ir.Function, v ir.Var, depth int) *value.Value {
	i := fn.Def(v)
	// A variable with several assignments has no definition (below 0).
	if i < 0 || depth > 4 || r.marksSource(fn, i) {
		return nil
	}
	in := &fn.Code[i]
	switch in.Op {
	case ir.Copy, ir.Cast:
		return r.constantOf(fn, in.A, depth+1)
	case ir.Const:
		switch ir.ConstKind(in.X) {
		case ir.ConstString:
			return r.LiteralValue(fn, in, value.FromString(in.Text), r.LiteralEntries(fn, in.Text))
		case ir.ConstCharacter:
			return value.FromCharacter(in.Text)
		case ir.ConstNumber:
			n, _ := value.ParseNumber(in.Text)
			return n
		case ir.ConstBool:
			return value.FromBool(strings.EqualFold(in.Text, "true"))
		case ir.ConstRegex:
			return r.RegexValue(fn, in)
		}
	case ir.Invoke:
		return r.compiledExpression(fn, fn.Call(in), in.Node, depth)
	case ir.Binary:
		x, y := r.constantOf(fn, in.A, depth+1), r.constantOf(fn, in.B, depth+1)
		if x == nil || y == nil {
			return nil
		}
		if v := value.FoldBinary(in.Text, x, y); v != nil {
			return v.WithTaint(x.Taint.Union(y.Taint))
		}
	}
	return nil
}

// marksSource reports whether a rule takes the value of an instruction for a source:
// it is followed then, and not only known.
// A constant that a rule calls a source must keep its identity as data.
func (r *Survey) marksSource(fn *ir.Function, i int32) bool {
	m := r.Marks[fn]
	return m != nil && slices.ContainsFunc(m.At[i], func(k rulematch.Mark) bool {
		return k.Kind == rulematch.MarkSource
	})
}

// HoldsAlways reports whether conditions on arguments hold by the function's text alone.
// It is asked for entries of models where no call is interpreted yet. Conditions about other
// locations are false here, so that the entry waits for the analysis.
func (r *Survey) HoldsAlways(fn *ir.Function, c *ir.Call, list []model.Condition) bool {
	args := fn.Args(c)
	for i := range list {
		cond := &list[i]
		if cond.Place.Base != model.Argument || cond.Place.Index < 0 || cond.Place.Index >= len(args) ||
			len(cond.Place.Steps) > 0 {
			return false
		}
		v := args[cond.Place.Index].Value
		known := r.constantOf(fn, v, 0)
		holds := false
		switch {
		// A type condition on an argument: the name of a class that is passed as a value.
		case cond.Test == model.Is && cond.Type:
			holds = namesGlobal(fn, v, cond.Word)
		// Without a constant the condition cannot be decided from the text.
		case known == nil:
			return false
		case cond.Test == model.Like:
			holds = cond.Like.MatchString(known.Constant.String())
		case cond.Test == model.Equals:
			holds = value.EqualsWord(known.Constant, cond.Word)
		case cond.Test == model.Is:
			b, ok := known.Truth()
			holds = ok && b == (cond.Word == "true")
		}
		if holds == cond.Not {
			return false
		}
	}
	return true
}

package interpret

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file interprets operators: arithmetic, comparison, concatenation, casts and type tests
// of all languages. The text of the operator is that of the source; where one text has several
// meanings, the kinds of the operands decide.

// comparisons are the operators whose result is a truth value.
// A truth value carries no attacker's text. Their taint is dropped, except in rules that ask
// for it.
var comparisons = map[string]bool{
	"==": true, "!=": true, "===": true, "!==": true, "<": true, ">": true, "<=": true, ">=": true, "in": true,
	"not in": true,
	"is":     true, "is not": true, "instanceof": true, "<>": true,
}

// applyOperator computes an operator: to a constant where the operands are known, else to a
// value of the type that the operator gives, with the taint that it passes on.
func (a *analysis) applyOperator(st *frame.State, in *ir.Instr) *value.Value {
	switch in.Op {
	case ir.Unary:
		v := a.Read(st, in.A)
		if out := value.FoldUnary(in.Text, v); out != nil {
			// A constant folds also when it is tainted: -x of a known number stays a known number.
			return out.WithTaint(v.Taint)
		}
		switch in.Text {
		// Found is the ok of Go (v, ok := m[k]): a truth value that carries no taint.
		case ir.Found:
			return &value.Value{Kind: value.KindBool}
		case "!", "not":
			// !x hangs on the truth of x, which callers may know.
			a.Need(v)
			return &value.Value{Kind: value.KindBool, Taint: a.comparisonTaint(st, v)}
		case "typeof":
			return &value.Value{Kind: value.KindString}
		}
		// +x in JavaScript: a conversion to a number, which no text survives.
		if a.makesNumber(in.Text, value.Unknown) {
			return &value.Value{Kind: value.KindNumber}
		}
		return &value.Value{Taint: a.numberTaint(a.WholeValue(st, v).Taint), Kind: value.KindNumber}
	case ir.Binary:
		return a.binaryOperator(st, in)
	case ir.Concat:
		var parts []*value.Value
		for _, v := range a.Function.Operands(in) {
			parts = append(parts, a.Read(st, v))
		}
		return a.Concat(st, in.Node, parts...)
	// A cast may change the type that models are searched by, and conversions to numbers clean.
	case ir.Cast:
		return a.castValue(a.Read(st, in.A), in)
	}
	// What remains are type tests (instanceof, isinstance): a truth value that hangs on the
	// operand.
	a.Need(a.Read(st, in.A))
	return &value.Value{Kind: value.KindBool, Taint: a.comparisonTaint(st, a.Read(st, in.A))}
}

// comparisonTaint returns the taint of a comparison: none, but in rules that have places of
// their own that of what is compared.
// Plain marks rules that have sources and sinks of their own, without the knowledge of the
// built-in ones. Such a rule may ask whether a comparison depends on a source.
func (a *analysis) comparisonTaint(st *frame.State, list ...*value.Value) taintset.Set {
	if !a.Run.Plain {
		return nil
	}
	var t taintset.Set
	for _, v := range list {
		t = t.Union(a.DeepTaint(st, v))
	}
	// Taint of an assignment-only kind does not pass through operators at all.
	return t.Sanitized(a.Run.SafeComparisons | a.Run.AssignOnly)
}

// castValue returns the value as a type; a number is harmless.
func (a *analysis) castValue(v *value.Value, in *ir.Instr) *value.Value {
	if a.Run.IsHarmlessType(in.Text) {
		// (int) 'a' of Java and C is the code of the character. The number may later be a constant
		// index or a port.
		if v.Constant.Kind == value.CharacterConstant && in.Text != "char" {
			if n, ok := v.Constant.CharacterCode(); ok {
				return value.FromInt(n)
			}
		}
		return &value.Value{Constant: v.Constant, Kind: v.Kind}
	}
	// A class of the program is more exact than whatever the cast says, for example an interface.
	if in.Text == "" || v.API != "" && a.IsProgramType(v.API) {
		return v
	}
	// TextType is set for languages whose casts are erased when the program runs (TypeScript).
	if v.API != "" && a.Function.File.Lang.Semantics.TextType != "" && !a.Run.ModelsOf(a.Function).Known(in.Text) &&
		!a.IsProgramType(in.Text) {
		return v // "as any" says nothing of the value, which stays what it is
	}
	w := *v
	// The taint stays: a cast from Object to String changes nothing about the text.
	w.API = in.Text
	return &w
}

// binaryOperator interprets an operator of two operands.
func (a *analysis) binaryOperator(st *frame.State, in *ir.Instr) *value.Value {
	// Operands are read as a whole: an object that is added to a text contributes all its taint.
	x, y := a.WholeValue(st, a.Read(st, in.A)), a.WholeValue(st, a.Read(st, in.B))
	// Constants fold first. "a" + "b" stays a constant for checks of prefixes, and 1 == 2 makes a
	// branch dead.
	if v := value.FoldBinary(in.Text, x, y); v != nil {
		if comparisons[in.Text] {
			return v
		}
		return v.WithTaint(x.Taint.Union(y.Taint))
	}
	switch in.Text {
	case "+":
		// The sum of two numbers is arithmetic; as soon as one operand may be a text, it is a
		// concatenation.
		if x.Kind != value.KindNumber || y.Kind != value.KindNumber {
			return a.SumOf(a.Concat(st, in.Node, x, y), x, y)
		}
	case "%":
		// "…%s…" % values of Python is a format; in other languages the left operand is a number.
		if x.Kind == value.KindString {
			return a.Format(st, in.Node, x, []*value.Value{y})
		}
	// The concatenation of PHP (.).
	case ".", "..":
		return a.Concat(st, in.Node, x, y)
	// JavaScript, Python and Ruby return one of the operands, not a truth value: name || "guest".
	case "&&", "||", "and", "or", "??":
		return value.Join(x, y)
	}
	if comparisons[in.Text] {
		a.Need(x)
		a.Need(y)
		// The identity of an object with null is decided without the values.
		if v := a.compareIdentity(x, y, in.Text); v != nil {
			return v
		}
		return &value.Value{Kind: value.KindBool, Taint: a.comparisonTaint(st, x, y)}
	}
	// What remains is arithmetic. Its result hangs on both operands, which callers may know.
	a.Need(x)
	a.Need(y)
	if a.makesNumber(in.Text, y) {
		return &value.Value{Kind: value.KindNumber}
	}
	if v := a.typedOperator(st, in, x, y); v != nil {
		return v
	}
	return &value.Value{Kind: value.KindNumber, Taint: a.numberTaint(x.Taint.Union(y.Taint))}
}

// typedOperator joins the operands of an operator whose result the models know for the
// type of one of them: a path and a name.
// Python: Path(root) / name. The models name such operators as "pathlib.Path./" with a type,
// and the operator gets the semantics of a join.
func (a *analysis) typedOperator(st *frame.State, in *ir.Instr, x, y *value.Value) *value.Value {
	for _, v := range []*value.Value{x, y} {
		for _, t := range a.Run.TypesOf(a.Function, v.API) {
			for _, e := range a.Run.ModelsOf(a.Function).Match(t + "." + in.Text)[model.Types] {
				if e.Form == model.Call {
					return a.Concat(st, in.Node, x, y).WithAPI(e.Type)
				}
			}
		}
	}
	return nil
}

// compareIdentity compares a value that is certainly there with null.
// The object was made in this function and is complete, so it cannot be null. An input may be.
func (a *analysis) compareIdentity(x, y *value.Value, op string) *value.Value {
	// null == x and x == null are the same: null moves to the second operand.
	if x.Constant.Kind == value.NullConstant {
		x, y = y, x
	}
	if y.Constant.Kind != value.NullConstant || len(x.Objects) == 0 {
		return nil
	}
	for _, id := range x.Objects {
		if a.Objects[id].Input != nil || !a.Objects[id].Complete {
			return nil
		}
	}
	switch op {
	case "==", "===", "is":
		return value.FromBool(false)
	case "!=", "!==", "is not":
		return value.FromBool(true)
	}
	return nil
}

// numberTaint is what remains of taint in the result of arithmetic: numbers are
// harmless in most places, but a text may pass through operators that look like it.
// AssignOnly are the kinds that only plain assignment carries. They end at every operator.
func (a *analysis) numberTaint(t taintset.Set) taintset.Set {
	return t.Sanitized(a.Run.AssignOnly)
}

// makesNumber reports whether an operator is there only to make a number of a text:
// +x, x | 0, x * 1.
// OneNumber marks languages with a single number type, in which these idioms are the usual
// conversion (JavaScript). In a plain rule the user decides what cleans.
func (a *analysis) makesNumber(op string, y *value.Value) bool {
	if !a.Function.File.Lang.Semantics.OneNumber || a.Run.Plain {
		return false
	}
	// The operator and its constant operand together: "|0" is x | 0. The unary plus has no
	// operand.
	switch op + y.Constant.String() {
	case "+", "|0", ">>0", ">>>0", "<<0", "-0", "*1", "/1":
		return op == "+" || y.Constant.IsNumber()
	}
	return false
}

package value

import (
	"math"
	"strings"
)

// This file folds operators over constants.

// FoldUnary computes an operator of a constant, nil when it cannot.
func FoldUnary(op string, v *Value) *Value {
	if !v.IsKnown() {
		return nil
	}
	switch op {
	case "present":
		return FromBool(v.Constant.Kind != NullConstant)
	case "typeof":
		if name := typeNames[v.Kind]; name != "" {
			return FromString(name)
		}
	case "!", "not":
		if b, ok := v.Truth(); ok {
			return FromBool(!b)
		}
	case "-":
		if v.Constant.Kind == IntConstant {
			return FromInt(-v.Constant.Number)
		}
		if v.Constant.Kind == FloatConstant {
			return FromFloat(-v.Constant.Number)
		}
	case "+":
		if v.Constant.IsNumber() {
			return v
		}
	case "~":
		if v.Constant.Kind == IntConstant {
			return FromInt(float64(^int64(v.Constant.Number)))
		}
	}
	return nil
}

// typeNames has what "typeof" answers.
var typeNames = map[Kind]string{KindString: "string", KindNumber: "number", KindBool: "boolean"}

// FoldBinary computes an operator of two constants, nil when it cannot.
func FoldBinary(op string, a, b *Value) *Value {
	if !a.IsKnown() || !b.IsKnown() {
		return nil
	}
	switch op {
	case "==", "===", "is", "eq":
		if eq, ok := equalConstants(a.Constant, b.Constant); ok {
			return FromBool(eq)
		}
		return nil
	case "!=", "!==", "is not", "<>":
		if eq, ok := equalConstants(a.Constant, b.Constant); ok {
			return FromBool(!eq)
		}
		return nil
	case "&&", "||", "and", "or", "??":
		return foldLogic(op, a, b)
	}
	if a.Constant.IsText() && b.Constant.IsText() && (a.Constant.Kind == StringConstant ||
		b.Constant.Kind == StringConstant) {
		return foldText(op, a.Constant.Text, b.Constant.Text)
	}
	if op == "+" && (a.Constant.Kind == StringConstant || b.Constant.Kind == StringConstant) {
		return FromString(a.Constant.String() + b.Constant.String())
	}
	x, okX := a.Constant.CharacterCode()
	y, okY := b.Constant.CharacterCode()
	if !okX || !okY {
		return nil
	}
	return foldNumbers(op, x, y, a.Constant.Kind == FloatConstant || b.Constant.Kind == FloatConstant)
}

// foldLogic computes "&&", "||" and "??" as the languages do that return an operand; nil
// when the left one does not decide.
func foldLogic(op string, a, b *Value) *Value {
	isTrue, ok := a.Truth()
	switch {
	case op == "??" && a.Constant.Kind == NullConstant,
		ok && isTrue && (op == "&&" || op == "and"),
		ok && !isTrue && (op == "||" || op == "or"):
		return b
	case ok:
		return a
	}
	return nil
}

// equalConstants compares constants; ok is false where languages differ.
func equalConstants(a, b Constant) (equal, ok bool) {
	switch {
	case a.IsNumber() && b.IsNumber():
		return a.Number == b.Number, true
	case a.IsText() && b.IsText():
		return a.Text == b.Text, true
	case a.Kind == b.Kind:
		return a == b, true
	case a.Kind == NullConstant || b.Kind == NullConstant:
		return false, true
	case a.Kind == CharacterConstant && b.IsNumber() || b.Kind == CharacterConstant && a.IsNumber():
		x, _ := a.CharacterCode()
		y, _ := b.CharacterCode()
		return x == y, true
	}
	return false, false
}

// foldText computes with two texts; nil for operators that are not those of texts in every
// language.
func foldText(op, a, b string) *Value {
	switch op {
	case "+", ".", "..":
		return FromString(a + b)
	case "<":
		return FromBool(a < b)
	case ">":
		return FromBool(a > b)
	case "<=":
		return FromBool(a <= b)
	case ">=":
		return FromBool(a >= b)
	case "in":
		return FromBool(strings.Contains(b, a))
	case "not in":
		return FromBool(!strings.Contains(b, a))
	}
	return nil
}

// foldNumbers computes with two numbers; nil where languages differ, or where the result
// does not fit into a double.
func foldNumbers(op string, x, y float64, float bool) *Value {
	number := FromInt
	if float {
		number = FromFloat
	}
	switch op {
	case "<":
		return FromBool(x < y)
	case ">":
		return FromBool(x > y)
	case "<=":
		return FromBool(x <= y)
	case ">=":
		return FromBool(x >= y)
	case "+":
		return exactOrNil(number(x + y))
	case "-":
		return exactOrNil(number(x - y))
	case "*":
		return exactOrNil(number(x * y))
	case "/":
		return foldDivision(x, y, float)
	case "//":
		if y != 0 {
			return exactOrNil(number(math.Floor(x / y)))
		}
	case "%":
		if y != 0 {
			return exactOrNil(number(math.Mod(x, y)))
		}
	case "**":
		return exactOrNil(number(math.Pow(x, y)))
	}
	if !float && math.Abs(x) < 1<<31 && math.Abs(y) < 1<<31 {
		return foldBits(op, int64(x), int64(y))
	}
	return nil
}

// foldDivision divides. Whether 7/2 is 3 or 3.5 depends on the language, so only
// what comes out even is known.
func foldDivision(x, y float64, float bool) *Value {
	switch {
	case y == 0:
		return nil
	case float:
		return exactOrNil(FromFloat(x / y))
	case math.Mod(x, y) == 0:
		return FromInt(x / y)
	}
	return &Value{Kind: KindNumber, Constant: Constant{Kind: FloatConstant, Number: x / y}}
}

// foldBits computes with the bits of integers. Shifts whose result depends on the width of
// a type are not folded.
func foldBits(op string, x, y int64) *Value {
	switch op {
	case "&":
		return FromInt(float64(x & y))
	case "|":
		return FromInt(float64(x | y))
	case "^":
		return FromInt(float64(x ^ y))
	case "<<":
		if y >= 0 && y < 21 {
			return FromInt(float64(x << y))
		}
	case ">>":
		if y >= 0 && y < 32 {
			return FromInt(float64(x >> y))
		}
	}
	return nil
}

// exactOrNil gives up what a double does not hold exactly.
func exactOrNil(v *Value) *Value {
	if math.IsInf(v.Constant.Number, 0) || math.IsNaN(v.Constant.Number) || v.Constant.Kind == IntConstant &&
		math.Abs(v.Constant.Number) >= 1<<53 {
		return nil
	}
	return v
}

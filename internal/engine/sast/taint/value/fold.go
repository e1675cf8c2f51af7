package value

import (
	"math"
	"strings"
)

// This file folds operators over constants. It is used for checks of feature flags and modes,
// prefixes of URLs and paths, and numbers such as key sizes.
//
// One set of rules serves all languages. Where they differ, the result is nil (unknown) rather
// than that of one language: a wrong constant makes a live branch dead and hides findings.

// FoldUnary computes an operator of a constant, nil when it cannot.
// "present" is the internal test for null of optional chaining; typeof is that of JavaScript.
func FoldUnary(op string, v *Value) *Value {
	if !v.IsKnown() {
		return nil
	}
	switch op {
	// A constant that is not null is present.
	case "present":
		return FromBool(v.Constant.Kind != NullConstant)
	// typeof of null is "object" and is not in the table; it stays unknown.
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
// Other kinds (object, function, undefined) are not constants.
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
	// Two texts, at least one of which is no single character: 'a' + 'b' of Java is a number.
	if a.Constant.IsText() && b.Constant.IsText() && (a.Constant.Kind == StringConstant ||
		b.Constant.Kind == StringConstant) {
		return foldText(op, a.Constant.Text, b.Constant.Text)
	}
	// A text plus a number: JavaScript, Java and C# convert the number. Python raises an error, so
	// that the result does no harm.
	if op == "+" && (a.Constant.Kind == StringConstant || b.Constant.Kind == StringConstant) {
		return FromString(a.Constant.String() + b.Constant.String())
	}
	// Characters count as their code: 'a' + 1.
	x, okX := a.Constant.CharacterCode()
	y, okY := b.Constant.CharacterCode()
	if !okX || !okY {
		return nil
	}
	return foldNumbers(op, x, y, a.Constant.Kind == FloatConstant || b.Constant.Kind == FloatConstant)
}

// foldLogic computes "&&", "||" and "??" as the languages do that return an operand; nil
// when the left one does not decide.
// A language whose operators give a truth value (Go, Java) only uses the result in conditions,
// where the operand has the same truth.
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
// 1 == "1" is true in JavaScript and PHP and false elsewhere.
func equalConstants(a, b Constant) (equal, ok bool) {
	switch {
	case a.IsNumber() && b.IsNumber():
		return a.Number == b.Number, true
	case a.IsText() && b.IsText():
		return a.Text == b.Text, true
	case a.Kind == b.Kind:
		return a == b, true
	// null equals nothing but null; the case of two nulls is above.
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
// The order of texts is that of bytes. It agrees with the languages for ASCII, which is what
// programs compare.
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
	// "in" is that of Python: a part of the text.
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
	// The floor division of Python.
	case "//":
		if y != 0 {
			return exactOrNil(number(math.Floor(x / y)))
		}
	// For negative operands, languages differ in the sign of the remainder; programs rarely use it
	// with negative constants.
	case "%":
		if y != 0 {
			return exactOrNil(number(math.Mod(x, y)))
		}
	case "**":
		return exactOrNil(number(math.Pow(x, y)))
	}
	// Bits only for integers of 32 bits: wider ones depend on the type.
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
	// 7/2 is left as the fraction; a comparison with it is right in languages of one number type.
	return &Value{Kind: KindNumber, Constant: Constant{Kind: FloatConstant, Number: x / y}}
}

// foldBits computes with the bits of integers. Shifts whose result depends on the width of
// a type are not folded.
// The bounds of shifts keep the result within 2^53, where doubles are exact.
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
// 2^53 is the limit of exact integers of a double (IEEE 754).
func exactOrNil(v *Value) *Value {
	if math.IsInf(v.Constant.Number, 0) || math.IsNaN(v.Constant.Number) || v.Constant.Kind == IntConstant &&
		math.Abs(v.Constant.Number) >= 1<<53 {
		return nil
	}
	return v
}

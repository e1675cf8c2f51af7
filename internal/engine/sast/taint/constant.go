package taint

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file folds operators over constants.

// known reports whether the value is a constant.
func (v *value) known() bool { return v != nil && v.c.kind != constNone && v.c.kind != constRegex }

// truth returns whether a constant counts as true; known is false when that is not
// certain in every language.
func (v *value) truth() (isTrue, known bool) {
	if v == nil {
		return false, false
	}
	switch v.c.kind {
	case constBool, constInt, constFloat:
		return v.c.n != 0, true
	case constNull:
		return false, true
	case constString:
		return v.c.s != "", true
	}
	return false, false
}

// String returns the constant as the program would print it.
func (c constant) String() string {
	switch c.kind {
	case constInt:
		return strconv.FormatFloat(c.n, 'f', -1, 64)
	case constFloat:
		return strconv.FormatFloat(c.n, 'g', -1, 64)
	case constBool:
		return strconv.FormatBool(c.n != 0)
	case constNull:
		return "null"
	}
	return c.s
}

func (c constant) number() bool { return c.kind == constInt || c.kind == constFloat }
func (c constant) isText() bool { return c.kind == constString || c.kind == constChar }

// code returns the number of a character.
func (c constant) code() (float64, bool) {
	if c.kind == constChar {
		r, n := utf8.DecodeRuneInString(c.s)
		return float64(r), n > 0 && n == len(c.s)
	}
	return c.n, c.number()
}

// parseNumber reads a number as source code writes it.
func parseNumber(text string) (*value, bool) {
	text = strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && math.Abs(float64(n)) < 1<<53 {
		return intValue(float64(n)), true
	}
	if n, err := strconv.ParseInt(strings.TrimRight(text, "lLnuU"), 0, 64); err == nil && math.Abs(float64(n)) < 1<<53 {
		return intValue(float64(n)), true
	}
	if n, err := strconv.ParseFloat(strings.TrimRight(text, "fFdD"), 64); err == nil && !math.IsInf(n, 0) &&
		!math.IsNaN(n) {
		return floatValue(n), true
	}
	return nil, false
}

// foldUnary computes an operator of a constant, nil when it cannot.
func foldUnary(op string, v *value) *value {
	if !v.known() {
		return nil
	}
	switch op {
	case "present":
		return boolValue(v.c.kind != constNull)
	case "typeof":
		if name := typeNames[v.kind]; name != "" {
			return stringValue(name)
		}
	case "!", "not":
		if b, ok := v.truth(); ok {
			return boolValue(!b)
		}
	case "-":
		if v.c.kind == constInt {
			return intValue(-v.c.n)
		}
		if v.c.kind == constFloat {
			return floatValue(-v.c.n)
		}
	case "+":
		if v.c.number() {
			return v
		}
	case "~":
		if v.c.kind == constInt {
			return intValue(float64(^int64(v.c.n)))
		}
	}
	return nil
}

// typeNames has what "typeof" answers.
var typeNames = map[valueKind]string{kindString: "string", kindNumber: "number", kindBool: "boolean"}

// foldBinary computes an operator of two constants, nil when it cannot.
func foldBinary(op string, a, b *value) *value {
	if !a.known() || !b.known() {
		return nil
	}
	switch op {
	case "==", "===", "is", "eq":
		if eq, ok := equalConstants(a.c, b.c); ok {
			return boolValue(eq)
		}
		return nil
	case "!=", "!==", "is not", "<>":
		if eq, ok := equalConstants(a.c, b.c); ok {
			return boolValue(!eq)
		}
		return nil
	case "&&", "||", "and", "or", "??":
		return foldLogic(op, a, b)
	}
	if a.c.isText() && b.c.isText() && (a.c.kind == constString || b.c.kind == constString) {
		return foldText(op, a.c.s, b.c.s)
	}
	if op == "+" && (a.c.kind == constString || b.c.kind == constString) {
		return stringValue(a.c.String() + b.c.String())
	}
	x, okX := a.c.code()
	y, okY := b.c.code()
	if !okX || !okY {
		return nil
	}
	return foldNumbers(op, x, y, a.c.kind == constFloat || b.c.kind == constFloat)
}

func foldLogic(op string, a, b *value) *value {
	isTrue, ok := a.truth()
	switch {
	case op == "??" && a.c.kind == constNull, ok && isTrue && (op == "&&" || op == "and"), ok && !isTrue && (op == "||" || op == "or"):

		return b
	case ok:
		return a
	}
	return nil
}

// equalConstants compares constants; ok is false where languages differ.
func equalConstants(a, b constant) (equal, ok bool) {
	switch {
	case a.number() && b.number():
		return a.n == b.n, true
	case a.isText() && b.isText():
		return a.s == b.s, true
	case a.kind == b.kind:
		return a == b, true
	case a.kind == constNull || b.kind == constNull:
		return false, true
	case a.kind == constChar && b.number() || b.kind == constChar && a.number():
		x, _ := a.code()
		y, _ := b.code()
		return x == y, true
	}
	return false, false
}

func foldText(op, a, b string) *value {
	switch op {
	case "+", ".", "..":
		return stringValue(a + b)
	case "<":
		return boolValue(a < b)
	case ">":
		return boolValue(a > b)
	case "<=":
		return boolValue(a <= b)
	case ">=":
		return boolValue(a >= b)
	case "in":
		return boolValue(strings.Contains(b, a))
	case "not in":
		return boolValue(!strings.Contains(b, a))
	}
	return nil
}

func foldNumbers(op string, x, y float64, float bool) *value {
	number := intValue
	if float {
		number = floatValue
	}
	switch op {
	case "<":
		return boolValue(x < y)
	case ">":
		return boolValue(x > y)
	case "<=":
		return boolValue(x <= y)
	case ">=":
		return boolValue(x >= y)
	case "+":
		return bounded(number(x + y))
	case "-":
		return bounded(number(x - y))
	case "*":
		return bounded(number(x * y))
	case "/":
		return foldDivision(x, y, float)
	case "//":
		if y != 0 {
			return bounded(number(math.Floor(x / y)))
		}
	case "%":
		if y != 0 {
			return bounded(number(math.Mod(x, y)))
		}
	case "**":
		return bounded(number(math.Pow(x, y)))
	}
	if !float && math.Abs(x) < 1<<31 && math.Abs(y) < 1<<31 {
		return foldBits(op, int64(x), int64(y))
	}
	return nil
}

// foldDivision divides. Whether 7/2 is 3 or 3.5 depends on the language, so only
// what comes out even is known.
func foldDivision(x, y float64, float bool) *value {
	switch {
	case y == 0:
		return nil
	case float:
		return bounded(floatValue(x / y))
	case math.Mod(x, y) == 0:
		return intValue(x / y)
	}
	return &value{kind: kindNumber, c: constant{kind: constFloat, n: x / y}}
}

func foldBits(op string, x, y int64) *value {
	switch op {
	case "&":
		return intValue(float64(x & y))
	case "|":
		return intValue(float64(x | y))
	case "^":
		return intValue(float64(x ^ y))
	case "<<":
		if y >= 0 && y < 21 {
			return intValue(float64(x << y))
		}
	case ">>":
		if y >= 0 && y < 32 {
			return intValue(float64(x >> y))
		}
	}
	return nil
}

// bounded gives up what a double does not hold exactly.
func bounded(v *value) *value {
	if math.IsInf(v.c.n, 0) || math.IsNaN(v.c.n) || v.c.kind == constInt && math.Abs(v.c.n) >= 1<<53 {
		return nil
	}
	return v
}

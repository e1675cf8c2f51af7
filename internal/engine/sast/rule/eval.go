package rule

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Kind says what a Value is.
type Kind uint8

// The kinds of values.
const (
	KindCode Kind = iota // text of code that is no constant: equal only through str()
	KindBool
	KindInt
	KindFloat
	KindString
	KindList
)

// A Value is what an expression works with. Lists exist only in expressions; code compares with
// nothing but through str().
type Value struct {
	Kind  Kind
	Bool  bool
	Int   int64
	Float float64
	Str   string // KindString: without quotes. KindCode: the text
	List  []Value
}

// The constructors of values.

// BoolValue returns a boolean.
func BoolValue(b bool) Value { return Value{Kind: KindBool, Bool: b} }

// IntValue returns an integer.
func IntValue(n int64) Value { return Value{Kind: KindInt, Int: n} }

// FloatValue returns a float.
func FloatValue(f float64) Value { return Value{Kind: KindFloat, Float: f} }

// StringValue returns a string.
func StringValue(s string) Value { return Value{Kind: KindString, Str: s} }

// CodeValue returns the text of code that is no constant.
func CodeValue(text string) Value { return Value{Kind: KindCode, Str: text} }

// LiteralValue returns the value of a text that may be a literal, such as most languages write it:
// a number, a quoted string, true or false. Any other text is code. The languages differ in
// details, such as octal numbers; the engine resolves those before.
func LiteralValue(text string) Value {
	if v, ok := parseNumber(text, 0); ok {
		return v
	}
	switch text {
	case "true", "True", "TRUE":
		return BoolValue(true)
	case "false", "False", "FALSE":
		return BoolValue(false)
	}
	if inner, ok := unquote(text); ok {
		return StringValue(inner)
	}
	return CodeValue(text)
}

// unquote takes the quotes off a text that is one quoted string. Escapes stay as they are. A text
// with a quote inside is an expression of two strings, and no constant.
func unquote(text string) (string, bool) {
	if len(text) < 2 || strings.IndexByte("\"'`", text[0]) < 0 || text[len(text)-1] != text[0] {
		return "", false
	}
	inner := text[1 : len(text)-1]
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case '\\':
			i++
		case text[0]:
			return "", false
		}
	}
	return inner, true
}

// A Binder returns the value that a metavariable is bound to. The name has its
// sigil.
type Binder func(name string) (Value, bool)

// errUnknown is the error of an expression that cannot be decided: a metavariable
// is not bound, or bound to something that the operator does not take.
var errUnknown = errors.New("the comparison has no value")

// Holds says whether the expression is true. One that has no value, because it
// compares code with a number for example, does not hold.
func (e *Expr) Holds(bind Binder, now time.Time) bool {
	v, err := e.Eval(bind, now)
	return err == nil && v.Kind == KindBool && v.Bool
}

// Eval returns the value of the expression. now is what today() returns.
func (e *Expr) Eval(bind Binder, now time.Time) (Value, error) {
	return evaluator{bind, now, e.base}.evalNode(e.root)
}

// An evaluator evaluates one expression for one match. It is a value, not kept: an expression is
// shared by all matches.
type evaluator struct {
	bind Binder
	now  time.Time
	base int
}

// evalNode evaluates a node and what is below it. Arguments are evaluated before the operator,
// except for and/or, where one side may decide alone.
func (ev evaluator) evalNode(n *exprNode) (Value, error) {
	switch n.op {
	case "":
		return n.value, nil
	case "$":
		v, ok := ev.bind(n.name)
		if !ok {
			return Value{}, fmt.Errorf("%s is not bound: %w", n.name, errUnknown)
		}
		return v, nil
	case "and", "or":
		return ev.evalLogic(n)
	}
	args := make([]Value, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = ev.evalNode(a); err != nil {
			return Value{}, err
		}
	}
	if n.op == "[" {
		return Value{Kind: KindList, List: args}, nil
	}
	if _, ok := functions[n.op]; ok {
		return ev.callFunction(n, args)
	}
	if len(args) == 1 {
		return evalUnary(n.op, args[0])
	}
	return evalBinary(n.op, args[0], args[1])
}

// evalLogic evaluates both sides: one without a value leaves the whole without one,
// unless the other decides.
func (ev evaluator) evalLogic(n *exprNode) (Value, error) {
	decides := n.op == "or"
	var failed error
	for _, a := range n.args {
		v, err := ev.evalNode(a)
		switch {
		case err != nil:
			failed = err
		case v.Kind != KindBool:
			failed = errUnknown
		case v.Bool == decides:
			return v, nil
		}
	}
	return BoolValue(!decides), failed
}

// callFunction calls a function of the comparison language. A result of errUnknown makes
// the comparison false, as in the format.
func (ev evaluator) callFunction(n *exprNode, args []Value) (Value, error) {
	switch n.op {
	case "today":
		return FloatValue(float64(ev.now.Unix())), nil
	case "len":
		if args[0].Kind == KindList {
			return IntValue(int64(len(args[0].List))), nil
		}
		return IntValue(int64(utf8.RuneCountInString(args[0].asText()))), nil
	case "re.match", "re.search":
		if args[0].Kind == KindString || args[0].Kind == KindCode {
			ok, err := n.regex.Match(args[0].Str)
			return BoolValue(ok), err
		}
		return Value{}, errUnknown
	}
	return ev.convertValue(n.op, args[0])
}

// convertValue calls a function that reads a value as one of another kind. A text that is no such
// value makes the whole comparison false.
func (ev evaluator) convertValue(function string, v Value) (Value, error) {
	switch function {
	case "int":
		return ev.toInteger(v)
	case "float":
		if f, ok := parseNumber(v.asText(), 0); ok && v.Kind != KindList {
			return FloatValue(f.asFloat()), nil
		}
	case "str":
		if v.Kind != KindList {
			return StringValue(v.asText()), nil
		}
	case "strptime":
		if t, err := time.Parse(time.DateOnly, v.asText()); err == nil {
			return FloatValue(float64(t.Unix())), nil
		}
	case "parse_promql_duration":
		return promDuration(v.asText())
	}
	return Value{}, errUnknown
}

// toInteger is int(): a float is cut, a text is read in the base of the condition. Text in quotes
// counts as the number that it spells, since modes of files are often written so. A float beyond
// the range has no value.
func (ev evaluator) toInteger(v Value) (Value, error) {
	switch v.Kind {
	case KindInt:
		return v, nil
	case KindFloat:
		if math.Abs(v.Float) < 1<<62 {
			return IntValue(int64(v.Float)), nil
		}
	case KindString, KindCode:
		text := v.Str
		if inner, ok := unquote(text); ok {
			text = inner
		}
		if n, ok := parseNumber(text, ev.base); ok && n.Kind == KindInt {
			return n, nil
		}
	}
	return Value{}, errUnknown
}

// durationUnits are those of a duration of Prometheus, in milliseconds
// (https://prometheus.io/docs/prometheus/latest/querying/basics/#time-durations).
var durationUnits = map[string]int64{
	"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000, "y": 31_536_000_000,
}

// promDuration reads "1h30m" and returns milliseconds. Rules for Prometheus compare such
// durations.
func promDuration(s string) (Value, error) {
	total := int64(0)
	for rest := s; rest != ""; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseInt(rest[:digits], 10, 32)
		if err != nil {
			return Value{}, errUnknown
		}
		rest = rest[digits:]
		unit := rest[:len(rest)-len(strings.TrimLeft(rest, "msdhwy"))]
		size, ok := durationUnits[unit]
		if !ok {
			return Value{}, errUnknown
		}
		total += n * size
		rest = rest[len(unit):]
	}
	if s == "" {
		return Value{}, errUnknown
	}
	return IntValue(total), nil
}

// asText returns what str() makes of a value. Numbers are written in their shortest form, as
// Python does.
func (v Value) asText() string {
	switch v.Kind {
	case KindBool:
		if v.Bool {
			return "true"
		}
		return "false"
	case KindInt:
		return strconv.FormatInt(v.Int, 10)
	case KindFloat:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return v.Str
}

// isNumber reports whether the value is an integer or a float.
func (v Value) isNumber() bool { return v.Kind == KindInt || v.Kind == KindFloat }

// asFloat returns a number as a float.
func (v Value) asFloat() float64 {
	if v.Kind == KindInt {
		return float64(v.Int)
	}
	return v.Float
}

// evalUnary evaluates an operator of one operand. Only numbers have a sign, and only truth values
// a negation.
func evalUnary(op string, v Value) (Value, error) {
	switch {
	case op == "unary not" && v.Kind == KindBool:
		return BoolValue(!v.Bool), nil
	case op == "unary -" && v.Kind == KindInt:
		return IntValue(-v.Int), nil
	case op == "unary -" && v.Kind == KindFloat:
		return FloatValue(-v.Float), nil
	case op == "unary +" && v.isNumber():
		return v, nil
	case op == "unary ~" && v.Kind == KindInt:
		return IntValue(^v.Int), nil
	}
	return Value{}, errUnknown
}

// evalBinary evaluates an operator of two operands. Code that is no constant has no value,
// except as an element that is searched for.
func evalBinary(op string, a, b Value) (Value, error) {
	switch op {
	case "in":
		return containsValue(a, b)
	case "not in":
		v, err := containsValue(a, b)
		return BoolValue(!v.Bool), err
	}
	if a.Kind == KindCode || b.Kind == KindCode {
		return Value{}, errUnknown
	}
	switch op {
	case "==":
		return BoolValue(equalValues(a, b)), nil
	case "!=":
		return BoolValue(!equalValues(a, b)), nil
	case "<", "<=", ">", ">=":
		return compareValues(op, a, b)
	}
	return arithmetic(op, a, b)
}

// arithmetic evaluates an operator of two numbers, or joins two strings. Integers stay integers,
// so that "1 << 40" is exact.
func arithmetic(op string, a, b Value) (Value, error) {
	switch {
	case a.Kind == KindInt && b.Kind == KindInt:
		return intOp(op, a.Int, b.Int)
	case a.isNumber() && b.isNumber():
		return floatOp(op, a.asFloat(), b.asFloat())
	case op == "+" && a.Kind == KindString && b.Kind == KindString:
		return StringValue(a.Str + b.Str), nil
	}
	return Value{}, errUnknown
}

// containsValue is Python's in: an element of a list, or a part of a string. Whether code is in a
// list is not known.
func containsValue(a, b Value) (Value, error) {
	switch {
	case b.Kind == KindList && a.Kind != KindCode:
		for _, e := range b.List {
			if equalValues(a, e) {
				return BoolValue(true), nil
			}
		}
		return BoolValue(false), nil
	case a.Kind == KindString && b.Kind == KindString:
		return BoolValue(strings.Contains(b.Str, a.Str)), nil
	}
	return BoolValue(false), errUnknown
}

// equalValues compares two values; an integer equals a float of its value, as in Python. Lists are
// equal element by element; values of different kinds are not equal.
func equalValues(a, b Value) bool {
	if a.isNumber() && b.isNumber() {
		if a.Kind == KindInt && b.Kind == KindInt {
			return a.Int == b.Int
		}
		return a.asFloat() == b.asFloat()
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case KindBool:
		return a.Bool == b.Bool
	case KindList:
		if len(a.List) != len(b.List) {
			return false
		}
		for i := range a.List {
			if !equalValues(a.List[i], b.List[i]) {
				return false
			}
		}
		return true
	}
	return a.Str == b.Str
}

// compareValues evaluates an order of two numbers or two strings. Other values have none. An
// integer and a float are compared as floats, and texts by their bytes, as Python compares them.
func compareValues(op string, a, b Value) (Value, error) {
	order := 0
	switch {
	case a.Kind == KindInt && b.Kind == KindInt:
		order = orderOf(a.Int < b.Int, a.Int > b.Int)
	case a.isNumber() && b.isNumber():
		order = orderOf(a.asFloat() < b.asFloat(), a.asFloat() > b.asFloat())
	case a.Kind == KindString && b.Kind == KindString:
		order = strings.Compare(a.Str, b.Str)
	default:
		return Value{}, errUnknown
	}
	switch op {
	case "<":
		return BoolValue(order < 0), nil
	case "<=":
		return BoolValue(order <= 0), nil
	case ">":
		return BoolValue(order > 0), nil
	}
	return BoolValue(order >= 0), nil
}

// orderOf returns the order of two values, as cmp.Compare, of which one may be no number. A value
// that is no number (NaN) is neither less nor more, and so equal to all: the comparisons of floats
// come here.
func orderOf(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// intOp evaluates an operator of two integers. A division by zero has no value. Python's "/" gives
// a float, but rules of the format are written for the integer division of its engine.
func intOp(op string, a, b int64) (Value, error) {
	switch op {
	case "+":
		return IntValue(a + b), nil
	case "-":
		return IntValue(a - b), nil
	case "*":
		return IntValue(a * b), nil
	case "/", "//":
		if b != 0 && !(a == math.MinInt64 && b == -1) {
			return IntValue(a / b), nil
		}
	case "%":
		if b == -1 {
			return IntValue(0), nil // the smallest integer would overflow
		}
		if b != 0 {
			return IntValue(a % b), nil
		}
	case "**":
		return intPower(a, b)
	default:
		return bitOp(op, a, b)
	}
	return Value{}, errUnknown
}

// bitOp evaluates an operator on the bits of two integers. Shifts beyond the width of the type are
// refused, as Go would give 0 and Python a larger number.
func bitOp(op string, a, b int64) (Value, error) {
	switch op {
	case "&":
		return IntValue(a & b), nil
	case "|":
		return IntValue(a | b), nil
	case "^":
		return IntValue(a ^ b), nil
	}
	if b < 0 || b > 62 {
		return Value{}, errUnknown
	}
	switch op {
	case "<<":
		return IntValue(a << b), nil
	case ">>":
		return IntValue(a >> b), nil
	}
	return Value{}, errUnknown
}

// intPower has at most 63 steps: with a base beyond 1 the result has no room then. The bases 0, 1
// and -1 have small powers for any exponent; there only its parity counts, so that no huge
// exponent is counted down. A result without room is a float, which still compares.
func intPower(a, b int64) (Value, error) {
	if f := math.Pow(float64(a), float64(b)); b < 0 || math.Abs(f) >= 1<<63 {
		return FloatValue(f), nil
	}
	if a == 0 || a == 1 || a == -1 {
		b = b&1 + 2*int64(orderOf(false, b > 1))
	}
	out := int64(1)
	for ; b > 0; b-- {
		out *= a
	}
	return IntValue(out), nil
}

// floatOp evaluates an operator of two floats. Infinity is a possible result, and compares as
// such.
func floatOp(op string, a, b float64) (Value, error) {
	switch op {
	case "+":
		return FloatValue(a + b), nil
	case "-":
		return FloatValue(a - b), nil
	case "*":
		return FloatValue(a * b), nil
	case "/":
		return FloatValue(a / b), nil
	case "//":
		return FloatValue(math.Floor(a / b)), nil
	case "%":
		return FloatValue(math.Mod(a, b)), nil
	case "**":
		return FloatValue(math.Pow(a, b)), nil
	}
	return Value{}, errUnknown
}

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

// A Value is what an expression works with.
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

// LiteralValue returns the value of a text that may be a literal, such as most
// languages write it: a number, a quoted string, true or false. Any other text is
// code.
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

// unquote takes the quotes off a text that is one quoted string.
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
	return evaluator{bind, now, e.base}.eval(e.root)
}

type evaluator struct {
	bind Binder
	now  time.Time
	base int
}

func (ev evaluator) eval(n *exprNode) (Value, error) {
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
		return ev.logic(n)
	}
	args := make([]Value, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = ev.eval(a); err != nil {
			return Value{}, err
		}
	}
	if n.op == "[" {
		return Value{Kind: KindList, List: args}, nil
	}
	if _, ok := functions[n.op]; ok {
		return ev.call(n, args)
	}
	if len(args) == 1 {
		return unary(n.op, args[0])
	}
	return binary(n.op, args[0], args[1])
}

// logic evaluates both sides: one without a value leaves the whole without one,
// unless the other decides.
func (ev evaluator) logic(n *exprNode) (Value, error) {
	decides := n.op == "or"
	var failed error
	for _, a := range n.args {
		v, err := ev.eval(a)
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

func (ev evaluator) call(n *exprNode, args []Value) (Value, error) {
	switch n.op {
	case "today":
		return FloatValue(float64(ev.now.Unix())), nil
	case "int":
		return ev.integer(args[0])
	case "float":
		if v, ok := parseNumber(args[0].text(), 0); ok && args[0].Kind != KindList {
			return FloatValue(v.number()), nil
		}
	case "str":
		if args[0].Kind != KindList {
			return StringValue(args[0].text()), nil
		}
	case "len":
		if args[0].Kind == KindList {
			return IntValue(int64(len(args[0].List))), nil
		}
		return IntValue(int64(utf8.RuneCountInString(args[0].text()))), nil
	case "re.match", "re.search":
		if args[0].Kind == KindString || args[0].Kind == KindCode {
			ok, err := n.regex.Match(args[0].Str)
			return BoolValue(ok), err
		}
	case "strptime":
		if t, err := time.Parse(time.DateOnly, args[0].text()); err == nil {
			return FloatValue(float64(t.Unix())), nil
		}
	case "parse_promql_duration":
		return promDuration(args[0].text())
	}
	return Value{}, errUnknown
}

func (ev evaluator) integer(v Value) (Value, error) {
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

// units are those of a duration of Prometheus, in milliseconds
// (https://prometheus.io/docs/prometheus/latest/querying/basics/#time-durations).
var units = map[string]int64{
	"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000, "y": 31_536_000_000,
}

// promDuration reads "1h30m" and returns milliseconds.
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
		size, ok := units[unit]
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

// text returns what str() makes of a value.
func (v Value) text() string {
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

func (v Value) isNumber() bool { return v.Kind == KindInt || v.Kind == KindFloat }

func (v Value) number() float64 {
	if v.Kind == KindInt {
		return float64(v.Int)
	}
	return v.Float
}

func unary(op string, v Value) (Value, error) {
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

func binary(op string, a, b Value) (Value, error) {
	switch op {
	case "in":
		return contains(a, b)
	case "not in":
		v, err := contains(a, b)
		return BoolValue(!v.Bool), err
	}
	if a.Kind == KindCode || b.Kind == KindCode {
		return Value{}, errUnknown
	}
	switch op {
	case "==":
		return BoolValue(equal(a, b)), nil
	case "!=":
		return BoolValue(!equal(a, b)), nil
	case "<", "<=", ">", ">=":
		return compare(op, a, b)
	}
	switch {
	case a.Kind == KindInt && b.Kind == KindInt:
		return intOp(op, a.Int, b.Int)
	case a.isNumber() && b.isNumber():
		return floatOp(op, a.number(), b.number())
	case op == "+" && a.Kind == KindString && b.Kind == KindString:
		return StringValue(a.Str + b.Str), nil
	}
	return Value{}, errUnknown
}

// contains is Python's in: an element of a list, or a part of a string.
func contains(a, b Value) (Value, error) {
	switch {
	case b.Kind == KindList && a.Kind != KindCode:
		for _, e := range b.List {
			if equal(a, e) {
				return BoolValue(true), nil
			}
		}
		return BoolValue(false), nil
	case a.Kind == KindString && b.Kind == KindString:
		return BoolValue(strings.Contains(b.Str, a.Str)), nil
	}
	return BoolValue(false), errUnknown
}

func equal(a, b Value) bool {
	if a.isNumber() && b.isNumber() {
		if a.Kind == KindInt && b.Kind == KindInt {
			return a.Int == b.Int
		}
		return a.number() == b.number()
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
			if !equal(a.List[i], b.List[i]) {
				return false
			}
		}
		return true
	}
	return a.Str == b.Str
}

func compare(op string, a, b Value) (Value, error) {
	order := 0
	switch {
	case a.Kind == KindInt && b.Kind == KindInt:
		order = sign(a.Int < b.Int, a.Int > b.Int)
	case a.isNumber() && b.isNumber():
		order = sign(a.number() < b.number(), a.number() > b.number())
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

func sign(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

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
		return power(a, b)
	case "&":
		return IntValue(a & b), nil
	case "|":
		return IntValue(a | b), nil
	case "^":
		return IntValue(a ^ b), nil
	case "<<", ">>":
		if b < 0 || b > 62 {
			return Value{}, errUnknown
		}
		if op == "<<" {
			return IntValue(a << b), nil
		}
		return IntValue(a >> b), nil
	}
	return Value{}, errUnknown
}

// power has at most 63 steps: with a base beyond 1 the result has no room then.
func power(a, b int64) (Value, error) {
	if f := math.Pow(float64(a), float64(b)); b < 0 || math.Abs(f) >= 1<<63 {
		return FloatValue(f), nil
	}
	if a == 0 || a == 1 || a == -1 {
		b = b&1 + 2*int64(sign(false, b > 1))
	}
	out := int64(1)
	for ; b > 0; b-- {
		out *= a
	}
	return IntValue(out), nil
}

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

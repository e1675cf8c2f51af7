package value

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/pcre"
)

// GlobalFlag marks the flags of an expression that is for all matches in a text.
const GlobalFlag = 1 << 16

// Pattern returns the expression that a value is, or that its text spells.
func (v *Value) Pattern() (expr string, flags pcre.Flags, ok bool) {
	switch {
	case v == nil:
	case v.Constant.Kind == RegexConstant:
		return v.Constant.Text, pcre.Flags(int(v.Constant.Number) &^ GlobalFlag), true
	case v.Constant.Kind == StringConstant:
		return v.Constant.Text, 0, true
	}
	return "", 0, false
}

// EqualsWord reports whether a constant is what a model spells.
func EqualsWord(c Constant, word string) bool {
	if n, err := strconv.ParseFloat(word, 64); err == nil && c.IsNumber() {
		return n == c.Number
	}
	return c.String() == word
}

// IsKnown reports whether the value is a constant.
func (v *Value) IsKnown() bool {
	return v != nil && v.Constant.Kind != NoConstant && v.Constant.Kind != RegexConstant
}

// Truth returns whether a constant counts as true; known is false when that is not
// certain in every language.
func (v *Value) Truth() (isTrue, known bool) {
	if v == nil {
		return false, false
	}
	switch v.Constant.Kind {
	case BoolConstant, IntConstant, FloatConstant:
		return v.Constant.Number != 0, true
	case NullConstant:
		return false, true
	case StringConstant:
		return v.Constant.Text != "", true
	}
	return false, false
}

// String returns the constant as the program would print it.
func (c Constant) String() string {
	switch c.Kind {
	case IntConstant:
		return strconv.FormatFloat(c.Number, 'f', -1, 64)
	case FloatConstant:
		return strconv.FormatFloat(c.Number, 'g', -1, 64)
	case BoolConstant:
		return strconv.FormatBool(c.Number != 0)
	case NullConstant:
		return "null"
	}
	return c.Text
}

// IsNumber reports whether the constant is a number.
func (c Constant) IsNumber() bool { return c.Kind == IntConstant || c.Kind == FloatConstant }

// IsText reports whether the constant is a text or a character.
func (c Constant) IsText() bool { return c.Kind == StringConstant || c.Kind == CharacterConstant }

// CharacterCode returns the number of a character.
func (c Constant) CharacterCode() (float64, bool) {
	if c.Kind == CharacterConstant {
		r, n := utf8.DecodeRuneInString(c.Text)
		return float64(r), n > 0 && n == len(c.Text)
	}
	return c.Number, c.IsNumber()
}

// ParseNumber reads a number as source code writes it.
func ParseNumber(text string) (*Value, bool) {
	text = strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && math.Abs(float64(n)) < 1<<53 {
		return FromInt(float64(n)), true
	}
	if n, err := strconv.ParseInt(strings.TrimRight(text, "lLnuU"), 0, 64); err == nil && math.Abs(float64(n)) < 1<<53 {
		return FromInt(float64(n)), true
	}
	if n, err := strconv.ParseFloat(strings.TrimRight(text, "fFdD"), 64); err == nil && !math.IsInf(n, 0) &&
		!math.IsNaN(n) {
		return FromFloat(n), true
	}
	return nil, false
}

// a Constant is a known value.
type Constant struct {
	Kind   constKind
	Text   string
	Number float64 // numbers, booleans
}

// constKind says what a constant is of.
type constKind uint8

const (
	NoConstant constKind = iota
	StringConstant
	CharacterConstant
	IntConstant
	FloatConstant
	BoolConstant
	NullConstant
	RegexConstant // s is the expression, n its flags; no constant to compute with
)

// ValueKind returns what a value that is the constant is.
func (c Constant) ValueKind() Kind {
	switch c.Kind {
	case StringConstant:
		return KindString
	case IntConstant, FloatConstant:
		return KindNumber
	case BoolConstant:
		return KindBool
	case NullConstant:
		return kindNull
	}
	return KindAny
}

// MaxConstant bounds constant texts.
const MaxConstant = 4096

// FromString returns the value of a text; of one that is too long only the beginning.
func FromString(s string) *Value {
	if len(s) > MaxConstant {
		return &Value{Kind: KindString, Prefix: s[:MaxPrefix]}
	}
	return &Value{Constant: Constant{Kind: StringConstant, Text: s}, Kind: KindString}
}

// FromCharacter returns the value of a character.
func FromCharacter(s string) *Value {
	return &Value{Constant: Constant{Kind: CharacterConstant, Text: s}, Kind: KindString}
}

// FromInt returns the value of an integer.
func FromInt(n float64) *Value {
	return &Value{Constant: Constant{Kind: IntConstant, Number: n}, Kind: KindNumber}
}

// FromFloat returns the value of a number with a fraction.
func FromFloat(n float64) *Value {
	return &Value{Constant: Constant{Kind: FloatConstant, Number: n}, Kind: KindNumber}
}

// FromBool returns the value of a truth value.
func FromBool(b bool) *Value {
	v := &Value{Constant: Constant{Kind: BoolConstant}, Kind: KindBool}
	if b {
		v.Constant.Number = 1
	}
	return v
}

// Null is the value of null, nil, None and undefined.
var Null = &Value{Constant: Constant{Kind: NullConstant}, Kind: kindNull}

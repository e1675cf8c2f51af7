package value

import (
	"strconv"
	"strings"
)

// FoldTextOperation computes with constant texts, nil when they are not.
// Operations count in characters and not in bytes, as the modeled languages do (UTF-16 in Java
// and JavaScript agrees for all but rare characters).
func FoldTextOperation(op string, args []*Value) *Value {
	// A single unknown operand makes the result unknown.
	for _, v := range args {
		if !v.IsKnown() {
			return nil
		}
	}
	if len(args) == 0 {
		return nil
	}
	s, second := args[0].Constant.String(), Unknown
	if len(args) > 1 {
		second = args[1]
	}
	switch op {
	case "length":
		return FromInt(float64(len([]rune(s))))
	case "upper":
		return FromString(strings.ToUpper(s))
	case "lower":
		return FromString(strings.ToLower(s))
	// trim with an argument removes other characters, which differs among languages.
	case "trim":
		if len(args) == 1 {
			return FromString(strings.TrimSpace(s))
		}
	case "empty":
		return FromBool(s == "")
	case "of":
		return FromString(s)
	case "char":
		return CharacterAt(&Value{Constant: Constant{Kind: StringConstant, Text: s}}, second)
	case "substring":
		// substring of Java and JavaScript puts its bounds in order, slice counts from the end.
		return cutSubstring(s, args[1:])
	case "slice":
		var low, high *Value
		if len(args) > 1 {
			low = args[1]
		}
		if len(args) > 2 {
			high = args[2]
		}
		return SliceText(&Value{Constant: Constant{Kind: StringConstant, Text: s}}, low, high)
	}
	if len(args) < 2 {
		return nil
	}
	return foldTwoTexts(op, args[0].Constant, args[1].Constant, args)
}

// foldTwoTexts computes the operations of two texts, nil when the second is not one.
// The result is nil also for an operation that it does not know.
func foldTwoTexts(op string, a, b Constant, args []*Value) *Value {
	s, t := a.String(), b.String()
	switch op {
	case "equals":
		if eq, ok := equalConstants(a, b); ok {
			return FromBool(eq)
		}
	case "equalsfold":
		return FromBool(strings.EqualFold(s, t))
	case "contains":
		return FromBool(strings.Contains(s, t))
	case "starts":
		return FromBool(strings.HasPrefix(s, t))
	case "ends":
		return FromBool(strings.HasSuffix(s, t))
	case "index":
		return runeIndex(s, strings.Index(s, t))
	case "lastindex":
		return runeIndex(s, strings.LastIndex(s, t))
	// MaxConstant bounds constants: "a" * 1000000000 would allocate a gigabyte.
	case "repeat":
		if n := b.Number; b.IsNumber() && n >= 0 && n*float64(len(s)) <= MaxConstant {
			return FromString(strings.Repeat(s, int(n)))
		}
	case "replace":
		if len(args) > 2 && len(s) <= MaxConstant && args[2].IsKnown() {
			return FromString(strings.ReplaceAll(s, t, args[2].Constant.String()))
		}
	}
	return nil
}

// runeIndex returns the number of characters before a byte; -1 stays -1, which languages
// return for a text that was not found.
func runeIndex(s string, i int) *Value {
	if i < 0 {
		return FromInt(-1)
	}
	return FromInt(float64(len([]rune(s[:i]))))
}

// cutSubstring returns a part by index; bounds are put in order.
// Bounds outside of the text are moved to its ends (ECMA-262, String.prototype.substring).
func cutSubstring(s string, bounds []*Value) *Value {
	runes := []rune(s)
	from, to := 0, len(runes)
	for i, b := range bounds {
		if !b.Constant.IsNumber() {
			return nil
		}
		n := min(max(0, int(b.Constant.Number)), len(runes))
		if i == 0 {
			from = n
		} else {
			to = n
		}
	}
	if from > to {
		from, to = to, from
	}
	return FromString(string(runes[from:to]))
}

// CharacterAt returns the character of a constant text at a constant index.
// A negative index counts from the end (Python, Ruby, at of JavaScript).
func CharacterAt(text, index *Value) *Value {
	if text.Constant.Kind != StringConstant || !index.IsKnown() || !index.Constant.IsNumber() {
		return nil
	}
	runes := []rune(text.Constant.Text)
	i := int(index.Constant.Number)
	if i < 0 {
		i += len(runes)
	}
	if i < 0 || i >= len(runes) {
		return nil
	}
	return FromCharacter(string(runes[i]))
}

// SliceText cuts a constant text; negative bounds count from its end.
// A missing bound is the start or the end.
func SliceText(text, low, high *Value) *Value {
	if !text.Constant.IsText() {
		return nil
	}
	runes := []rune(text.Constant.Text)
	from, to, ok := cutBounds(len(runes), low, high)
	if !ok {
		return nil
	}
	return FromString(string(runes[from:to]))
}

// CutList cuts a list.
func CutList(list []*Value, low, high *Value) ([]*Value, bool) {
	from, to, ok := cutBounds(len(list), low, high)
	if !ok {
		return nil, false
	}
	return list[from:to], true
}

// cutBounds returns the bounds of a part of n elements, whose ends are constants
// or missing.
// Python: text[a:b]. Bounds that are out of range are cut, and crossed ones give nothing.
func cutBounds(n int, low, high *Value) (from, to int, ok bool) {
	to = n
	for _, b := range []struct {
		v   *Value
		out *int
	}{{low, &from}, {high, &to}} {
		// None and null stand for a missing bound.
		if b.v == nil || b.v.Constant.Kind == NullConstant {
			continue
		}
		if !b.v.IsKnown() || !b.v.Constant.IsNumber() {
			return 0, 0, false
		}
		i := int(b.v.Constant.Number)
		if i < 0 {
			i = max(0, i+n)
		}
		*b.out = min(i, n)
	}
	return from, max(from, to), true
}

// RemoveAt returns the list without the element at the index.
func RemoveAt(list []*Value, index string) []*Value {
	i, err := strconv.Atoi(index)
	if err != nil || i >= len(list) {
		return list
	}
	return append(append([]*Value(nil), list[:i]...), list[i+1:]...)
}

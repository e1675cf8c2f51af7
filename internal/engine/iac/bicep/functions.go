package bicep

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file has the functions of Bicep and of JSON templates, by their names in lower
// case
// (https://learn.microsoft.com/azure/azure-resource-manager/templates/template-functions).
// Each is false for arguments that it does not take, and for a result beyond the limits.

// applyFunction returns what a function makes of values that are known.
func applyFunction(name string, args []any) (any, bool) {
	if len(args) == 1 {
		if f := unaryFunctions[name]; f != nil {
			return f(args[0])
		}
		return nil, false
	}
	if v, ok := applyArithmetic(name, args); ok {
		return v, true
	}
	if f := functions[name]; f != nil {
		return f(args)
	}
	return nil, false
}

// functions are those of any number of values but one.
// The key is the name in lower case, the value computes the result and is false when it cannot.
// "array" and "createarray" of several values are the same; "array" of one is in unaryFunctions.
var functions = map[string]func(args []any) (any, bool){
	"equals":       equalValues,
	"concat":       concatValues,
	"format":       formatText,
	"union":        mergeValues,
	"contains":     containsValue,
	"createarray":  func(args []any) (any, bool) { return args, true },
	"array":        func(args []any) (any, bool) { return args, true },
	"createobject": createObject,
	"replace":      replaceText,
	"join":         joinTexts,
	"split":        splitText,
	"startswith": func(args []any) (any, bool) {
		text, part, ok := twoTexts(args)
		// ARM compares without regard to case, also in endsWith.
		return strings.HasPrefix(strings.ToLower(text), strings.ToLower(part)), ok
	},
	"endswith": func(args []any) (any, bool) {
		text, part, ok := twoTexts(args)
		return strings.HasSuffix(strings.ToLower(text), strings.ToLower(part)), ok
	},
}

// arithmetic are the functions of two numbers. JSON templates call them by name, add(1, 2); the
// operators of Bicep are computed under the same names.
var arithmetic = map[string]func(a, b int64) (any, bool){
	"add": func(a, b int64) (any, bool) { return a + b, true },
	"sub": func(a, b int64) (any, bool) { return a - b, true },
	"mul": func(a, b int64) (any, bool) { return a * b, true },
	"div": func(a, b int64) (any, bool) {
		if b == 0 {
			return nil, false
		}
		return a / b, true
	},
	"mod": func(a, b int64) (any, bool) {
		if b == 0 {
			return nil, false
		}
		return a % b, true
	},
	"less":            func(a, b int64) (any, bool) { return a < b, true },
	"lessorequals":    func(a, b int64) (any, bool) { return a <= b, true },
	"greater":         func(a, b int64) (any, bool) { return a > b, true },
	"greaterorequals": func(a, b int64) (any, bool) { return a >= b, true },
	"range":           numberRange,
}

// applyArithmetic is a function of two numbers. Operators have names with capitals.
func applyArithmetic(name string, args []any) (any, bool) {
	f := arithmetic[strings.ToLower(name)]
	if f == nil || len(args) != 2 {
		return nil, false
	}
	a, first := args[0].(int64)
	b, second := args[1].(int64)
	if !first || !second {
		return nil, false
	}
	return f(a, b)
}

// numberRange counts from a number on, at most maxList numbers.
func numberRange(start, count int64) (any, bool) {
	if count < 0 || count > maxList {
		return nil, false
	}
	out := []any{}
	for i := range count {
		out = append(out, start+i)
	}
	return out, true
}

// unaryFunctions are those of one value.
var unaryFunctions = map[string]func(v any) (any, bool){
	"not": func(v any) (any, bool) {
		on, ok := v.(bool)
		return !on, ok
	},
	"-": func(v any) (any, bool) {
		n, ok := v.(int64)
		return -n, ok
	},
	"empty": func(v any) (any, bool) {
		n, ok := lengthOf(v)
		return n == 0, ok
	},
	"length": func(v any) (any, bool) {
		n, ok := lengthOf(v)
		return int64(n), ok
	},
	"string":  func(v any) (any, bool) { return scalarText(v) },
	"int":     toInt,
	"bool":    toBool,
	"tolower": onText(strings.ToLower),
	"toupper": onText(strings.ToUpper),
	"trim":    onText(strings.TrimSpace),
	"base64":  onText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"concat":  func(v any) (any, bool) { return v, true },
	"union":   func(v any) (any, bool) { return v, true },
	"array": func(v any) (any, bool) {
		if list, ok := v.([]any); ok {
			return list, true
		}
		return []any{v}, true
	},
	"createarray": func(v any) (any, bool) { return []any{v}, true },
	"first": func(v any) (any, bool) {
		list, _ := v.([]any)
		if len(list) == 0 {
			return nil, false
		}
		return list[0], true
	},
	"last": func(v any) (any, bool) {
		list, _ := v.([]any)
		if len(list) == 0 {
			return nil, false
		}
		return list[len(list)-1], true
	},
}

// onText makes a function of a value that must be a text.
func onText(f func(string) string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		text, ok := v.(string)
		return f(text), ok
	}
}

// toInt converts a number, or the text of one.
func toInt(v any) (any, bool) {
	if n, ok := v.(int64); ok {
		return n, true
	}
	text, isText := v.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, isText && err == nil
}

// toBool converts a truth value, or a text, of which "true" in any case is true.
func toBool(v any) (any, bool) {
	on, isBool := v.(bool)
	text, isText := v.(string)
	return on || strings.EqualFold(text, "true"), isBool || isText
}

// equalValues compares two values by what they print, as 1 and "1" are equal.
func equalValues(args []any) (any, bool) {
	return len(args) == 2 && fmt.Sprint(args[0]) == fmt.Sprint(args[1]), len(args) == 2
}

// replaceText replaces a part of a text. Its result is bounded before it is made.
func replaceText(args []any) (any, bool) {
	if len(args) != 3 {
		return nil, false
	}
	text, first := args[0].(string)
	part, second := args[1].(string)
	with, third := args[2].(string)
	if !first || !second || !third || part == "" || strings.Count(text, part)*len(with) >= maxText {
		return nil, false
	}
	return strings.ReplaceAll(text, part, with), true
}

// twoTexts returns arguments that are two texts.
func twoTexts(args []any) (a, b string, ok bool) {
	if len(args) != 2 {
		return "", "", false
	}
	a, first := args[0].(string)
	b, second := args[1].(string)
	return a, b, first && second
}

// joinTexts joins the scalars of a list.
func joinTexts(args []any) (any, bool) {
	if len(args) != 2 {
		return nil, false
	}
	by, isText := args[1].(string)
	list, ok := args[0].([]any)
	var parts []string
	for _, v := range list {
		part, isScalar := scalarText(v)
		parts, ok = append(parts, part), ok && isScalar
	}
	return strings.Join(parts, by), isText && ok && len(parts)*len(by) < maxText
}

// splitText cuts a text at each occurrence of another.
func splitText(args []any) (any, bool) {
	text, by, ok := twoTexts(args)
	if !ok || by == "" {
		return nil, false
	}
	out := []any{}
	for part := range strings.SplitSeq(text, by) {
		out = append(out, part)
	}
	return out, true
}

// lengthOf returns the length of a text, list or object.
func lengthOf(v any) (int, bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case string:
		return len(v), true
	case []any:
		return len(v), true
	case map[string]any:
		return len(v), true
	}
	return 0, false
}

// concatValues joins lists, or texts.
func concatValues(args []any) (any, bool) {
	if len(args) == 0 {
		return nil, false
	}
	if _, ok := args[0].([]any); ok {
		out := []any{}
		for _, a := range args {
			list, ok := a.([]any)
			if !ok || len(out)+len(list) > maxList {
				return nil, false
			}
			out = append(out, list...)
		}
		return out, true
	}
	var b strings.Builder
	for _, a := range args {
		text, ok := scalarText(a)
		if !ok || b.Len()+len(text) > maxText {
			return nil, false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// formatText puts values into "{0}".
func formatText(args []any) (any, bool) {
	if len(args) == 0 {
		return nil, false
	}
	out, ok := args[0].(string)
	if !ok {
		return nil, false
	}
	for i, a := range args[1:] {
		text, ok := scalarText(a)
		// A placeholder with a format, "{0:x}", is left as it is: ARM formats by the rules of .NET.
		sign := "{" + strconv.Itoa(i) + "}"
		if !ok || len(out)+strings.Count(out, sign)*len(text) > maxText {
			return nil, false
		}
		out = strings.ReplaceAll(out, sign, text)
	}
	return out, true
}

// mergeValues merges objects, inner ones too, or joins lists without repeating an item.
func mergeValues(args []any) (any, bool) {
	if len(args) == 0 {
		return nil, false
	}
	if _, ok := args[0].(map[string]any); ok {
		out := map[string]any{}
		for _, a := range args {
			m, ok := a.(map[string]any)
			if !ok {
				return nil, false
			}
			for key, v := range m {
				inner, isMap := v.(map[string]any)
				// union() merges inner objects but replaces inner lists.
				if old, ok := out[key].(map[string]any); ok && isMap {
					v, _ = mergeValues([]any{old, inner})
				}
				out[key] = v
			}
		}
		return out, true
	}
	all, ok := concatValues(args)
	list, isList := all.([]any)
	if !ok || !isList {
		return nil, false
	}
	var out []any
	for _, v := range list {
		// Quadratic in the number of items, which concatValues has bounded to maxList.
		if !slices.ContainsFunc(out, func(have any) bool { return fmt.Sprint(have) == fmt.Sprint(v) }) {
			out = append(out, v)
		}
	}
	return out, true
}

// containsValue is contains(): of a text a part, of a list an item, of an object a key.
func containsValue(args []any) (any, bool) {
	if len(args) != 2 {
		return nil, false
	}
	text, isText := args[1].(string)
	switch in := args[0].(type) {
	case string:
		return strings.Contains(in, text), isText
	case []any:
		return slices.ContainsFunc(in, func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(args[1]) }), true
	case map[string]any:
		_, ok := memberOf(in, text)
		return ok, isText
	}
	return nil, false
}

// createObject is createObject(key, value, …).
func createObject(args []any) (any, bool) {
	out := map[string]any{}
	for i := 0; i+1 < len(args); i += 2 {
		key, ok := args[i].(string)
		if !ok {
			return nil, false
		}
		out[key] = args[i+1]
	}
	return out, len(args)%2 == 0
}

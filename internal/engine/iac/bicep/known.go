package bicep

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file computes expressions whose parts are all known: those of Bicep, and those
// between the brackets of JSON templates, which have the same functions
// (https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-functions).

// Limits of one computation.
const (
	maxSteps = 100_000
	maxText  = 64 << 10
	maxList  = 1000
)

// An Environment says what names stand for.
type Environment interface {
	// Parameter returns the value of a parameter that is known.
	Parameter(name string) (any, bool)
	// Variable returns the value of a variable that is known.
	Variable(name string) (any, bool)
	// Turn returns the index of the turn, from 0, of the loop of the name, or of the
	// innermost for "".
	Turn(loop string) (int64, bool)
}

// Compute returns the value of an expression of a JSON template, without its brackets,
// if it is known. Values are nil, bool, string, int64, []any and map[string]any.
func Compute(text string, env Environment) (any, bool) {
	if len(text) > maxText {
		return nil, false
	}
	values := 0
	p, err := newParser(&lexer{src: strings.ReplaceAll(text, "''", `\'`), line: 1, begins: true}, 0, &values)
	if err != nil {
		return nil, false
	}
	e, err := p.parseExpression()
	if err != nil || p.tok.kind != end {
		return nil, false
	}
	k := evaluator{env: env}
	return k.evaluate(e)
}

// evaluator computes expressions.
type evaluator struct {
	env   Environment
	names map[string]any // of loops and lambdas
	depth int
	steps int
}

// evaluate returns the value of an expression, if all that it needs is known. Steps and
// depth are bounded: a variable can refer to others in many ways.
func (k *evaluator) evaluate(e *expr) (any, bool) {
	if k.steps++; e == nil || k.steps > maxSteps || k.depth > maxDepth {
		return nil, false
	}
	k.depth++
	defer func() { k.depth-- }()
	switch e.what {
	case literal:
		return e.value, true
	case textParts:
		return k.evaluateText(e)
	case ident:
		if v, ok := k.names[e.name]; ok {
			return v, true
		}
		if v, ok := k.env.Variable(e.name); ok {
			return v, true
		}
		return k.env.Parameter(e.name)
	case array:
		return k.evaluateList(e.items)
	case object:
		return k.evaluateObject(e)
	case member:
		return k.evaluateMember(e)
	case index:
		return k.evaluateIndex(e)
	case operation:
		return k.evaluateOperation(e)
	case call:
		return k.evaluateCall(e)
	case loop:
		return k.evaluateLoop(e)
	}
	return nil, false
}

// evaluateText joins the parts of a string with interpolations.
func (k *evaluator) evaluateText(e *expr) (any, bool) {
	var b strings.Builder
	for _, item := range e.items {
		v, ok := k.evaluate(item)
		text, scalar := scalarText(v)
		if !ok || !scalar || b.Len()+len(text) > maxText {
			return nil, false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// scalarText returns the text of a scalar as the functions of templates write it: True,
// not true.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case bool:
		return strings.ToUpper(strconv.FormatBool(v)[:1]) + strconv.FormatBool(v)[1:], true
	}
	return "", false
}

func (k *evaluator) evaluateList(items []*expr) (any, bool) {
	out := make([]any, 0, len(items))
	for _, item := range items {
		v, ok := k.evaluate(item)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// evaluateObject returns an object of known fields; nothing with a spread, which may
// replace any of them.
func (k *evaluator) evaluateObject(e *expr) (any, bool) {
	if len(e.nested) > 0 || e.spread {
		return nil, false
	}
	out := map[string]any{}
	for _, f := range e.fields {
		key, ok := k.evaluate(f.key)
		name, text := key.(string)
		v, also := k.evaluate(f.value)
		if !ok || !text || !also {
			return nil, false
		}
		out[name] = v
	}
	return out, true
}

// memberOf returns a member; names do not depend on case.
func memberOf(v any, name string) (any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	if v, ok := m[name]; ok {
		return v, true
	}
	for key, v := range m {
		if strings.EqualFold(key, name) {
			return v, true
		}
	}
	return nil, false
}

func (k *evaluator) evaluateMember(e *expr) (any, bool) {
	base, ok := k.evaluate(e.base)
	if !ok {
		return nil, false
	}
	return memberOf(base, e.name)
}

// evaluateIndex returns an item of a list or a member of an object.
func (k *evaluator) evaluateIndex(e *expr) (any, bool) {
	base, ok := k.evaluate(e.base)
	at, also := k.evaluate(e.items[0])
	if !ok || !also {
		return nil, false
	}
	switch at := at.(type) {
	case string:
		return memberOf(base, at)
	case int64:
		if list, ok := base.([]any); ok && at >= 0 && at < int64(len(list)) {
			return list[at], true
		}
	}
	return nil, false
}

// evaluateLoop returns a list made of another.
func (k *evaluator) evaluateLoop(e *expr) (any, bool) {
	v, ok := k.evaluate(e.items[0])
	list, isList := v.([]any)
	if !ok || !isList || len(list) > maxList {
		return nil, false
	}
	out := []any{}
	for i, item := range list {
		one, ok := k.forItem(e, item, i).evaluate(e.items[1])
		if !ok {
			return nil, false
		}
		out = append(out, one)
	}
	return out, true
}

// forItem returns an evaluator for one turn of a loop or lambda.
func (k *evaluator) forItem(e *expr, item any, i int) *evaluator {
	inner := &evaluator{env: k.env, names: map[string]any{}, depth: k.depth, steps: k.steps + 100}
	for name, v := range k.names {
		inner.names[name] = v
	}
	for at, name := range e.names {
		if at == 0 {
			inner.names[name] = item
		} else {
			inner.names[name] = int64(i)
		}
	}
	return inner
}

// evaluateOperation computes an operator. Of "if", "and", "or" and "coalesce" only the
// operands that count must be known.
func (k *evaluator) evaluateOperation(e *expr) (any, bool) {
	switch operationName(e) {
	case "if":
		cond, ok := k.evaluate(e.items[0])
		on, isBool := cond.(bool)
		switch {
		case !ok || !isBool:
			return nil, false
		case on:
			return k.evaluate(e.items[1])
		}
		return k.evaluate(e.items[2])
	case "and", "or":
		decides := operationName(e) == "or"
		sure := true
		for _, item := range e.items {
			v, ok := k.evaluate(item)
			on, isBool := v.(bool)
			if ok && isBool && on == decides {
				return decides, true
			}
			sure = sure && ok && isBool
		}
		return !decides, sure
	case "coalesce":
		for _, item := range e.items {
			v, ok := k.evaluate(item)
			if !ok {
				return nil, false
			}
			if v != nil {
				return v, true
			}
		}
		return nil, true
	}
	args, ok := k.evaluateList(e.items)
	if !ok {
		return nil, false
	}
	list := args.([]any)
	if operationName(e) == "not-equals" {
		same, ok := applyFunction("equals", list)
		on, _ := same.(bool)
		return !on, ok
	}
	if e.name == "=~" || e.name == "!~" {
		a, text := list[0].(string)
		b, also := list[1].(string)
		return strings.EqualFold(a, b) == (e.name == "=~"), text && also
	}
	return applyFunction(operationName(e), list)
}

// evaluateCall returns the value of a function of known arguments.
func (k *evaluator) evaluateCall(e *expr) (any, bool) {
	if e.base != nil {
		if e.base.what != ident || e.base.name != "az" && e.base.name != "sys" {
			return nil, false
		}
	}
	name := strings.ToLower(e.name)
	switch name {
	case "if", "and", "or", "coalesce":
		if name == "if" && len(e.items) != 3 {
			return nil, false
		}
		return k.evaluateOperation(&expr{what: operation, name: name, items: e.items})
	case "filter", "map":
		return k.evaluateEach(name, e)
	}
	args, ok := k.evaluateList(e.items)
	if !ok {
		return nil, false
	}
	list := args.([]any)
	if name == "copyindex" {
		return k.copyIndex(list)
	}
	if len(list) == 1 {
		of, _ := list[0].(string)
		switch name {
		case "parameters":
			return k.env.Parameter(of)
		case "variables":
			return k.env.Variable(of)
		}
	}
	return applyFunction(name, list)
}

// copyIndex is copyIndex(loop, offset), of which either may be absent.
func (k *evaluator) copyIndex(args []any) (any, bool) {
	loop, offset := "", int64(0)
	if len(args) > 0 {
		if name, ok := args[0].(string); ok {
			loop, args = name, args[1:]
		}
	}
	if len(args) > 0 {
		n, ok := args[0].(int64)
		if !ok || len(args) > 1 {
			return nil, false
		}
		offset = n
	}
	i, ok := k.env.Turn(loop)
	return i + offset, ok
}

// evaluateEach is filter and map.
func (k *evaluator) evaluateEach(name string, e *expr) (any, bool) {
	if len(e.items) != 2 || e.items[1].what != lambda {
		return nil, false
	}
	v, ok := k.evaluate(e.items[0])
	list, isList := v.([]any)
	if !ok || !isList || len(list) > maxList {
		return nil, false
	}
	out := []any{}
	for i, item := range list {
		one, ok := k.forItem(e.items[1], item, i).evaluate(e.items[1].items[0])
		if !ok {
			return nil, false
		}
		if name == "map" {
			out = append(out, one)
		} else if one == true {
			out = append(out, item)
		}
	}
	return out, true
}

// applyFunction is a function of values.
func applyFunction(name string, args []any) (any, bool) {
	texts, numbers, allTexts, allNumbers := []string{}, []int64{}, true, true
	for _, a := range args {
		text, ok := a.(string)
		texts, allTexts = append(texts, text), allTexts && ok
		number, ok := a.(int64)
		numbers, allNumbers = append(numbers, number), allNumbers && ok
	}
	switch {
	case len(args) == 1:
		return applyToOne(name, args[0])
	case len(args) == 2 && allNumbers:
		if v, ok := applyArithmetic(name, numbers[0], numbers[1]); ok {
			return v, true
		}
	}
	switch name {
	case "equals":
		return len(args) == 2 && fmt.Sprint(args[0]) == fmt.Sprint(args[1]), len(args) == 2
	case "concat":
		return concatValues(args)
	case "format":
		return formatText(args)
	case "union":
		return mergeValues(args)
	case "contains":
		return containsValue(args)
	case "createarray", "array":
		return args, true
	case "startswith", "endswith", "split", "join":
		return applyToTexts(name, args)
	case "replace":
		if allTexts && len(texts) == 3 && texts[1] != "" && strings.Count(texts[0], texts[1])*len(texts[2]) < maxText {
			return strings.ReplaceAll(texts[0], texts[1], texts[2]), true
		}
	case "createobject":
		return createObject(args)
	}
	return nil, false
}

// applyArithmetic is a function of two numbers.
func applyArithmetic(name string, a, b int64) (any, bool) {
	switch name {
	case "add":
		return a + b, true
	case "sub":
		return a - b, true
	case "mul":
		return a * b, true
	case "div":
		if b != 0 {
			return a / b, true
		}
	case "mod":
		if b != 0 {
			return a % b, true
		}
	case "less":
		return a < b, true
	case "lessorequals", "lessOrEquals":
		return a <= b, true
	case "greater":
		return a > b, true
	case "greaterorequals", "greaterOrEquals":
		return a >= b, true
	case "range":
		if b >= 0 && b <= maxList {
			out := []any{}
			for i := range b {
				out = append(out, a+i)
			}
			return out, true
		}
	}
	return nil, false
}

// applyToOne is a function of one value.
func applyToOne(name string, v any) (any, bool) {
	text, isText := v.(string)
	switch name {
	case "not":
		on, ok := v.(bool)
		return !on, ok
	case "-":
		n, ok := v.(int64)
		return -n, ok
	case "empty", "length":
		n, ok := lengthOf(v)
		if name == "empty" {
			return n == 0, ok
		}
		return int64(n), ok
	case "string":
		return scalarText(v)
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		if number, ok := v.(int64); ok {
			return number, true
		}
		return n, isText && err == nil
	case "bool":
		on, ok := v.(bool)
		return on || strings.EqualFold(text, "true"), ok || isText
	case "tolower":
		return strings.ToLower(text), isText
	case "toupper":
		return strings.ToUpper(text), isText
	case "trim":
		return strings.TrimSpace(text), isText
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(text)), isText
	case "concat", "union":
		return v, true
	case "createarray", "array":
		if list, ok := v.([]any); ok && name == "array" {
			return list, true
		}
		return []any{v}, true
	case "first", "last":
		list, _ := v.([]any)
		if len(list) == 0 {
			return nil, false
		}
		if name == "first" {
			return list[0], true
		}
		return list[len(list)-1], true
	}
	return nil, false
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
	out, ok := args[0].(string)
	if !ok {
		return nil, false
	}
	for i, a := range args[1:] {
		text, ok := scalarText(a)
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
	if _, ok := args[0].(map[string]any); ok {
		out := map[string]any{}
		for _, a := range args {
			m, ok := a.(map[string]any)
			if !ok {
				return nil, false
			}
			for key, v := range m {
				inner, isMap := v.(map[string]any)
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

// applyToTexts is a function of two texts.
func applyToTexts(name string, args []any) (any, bool) {
	if len(args) != 2 {
		return nil, false
	}
	text, isText := args[0].(string)
	other, also := args[1].(string)
	switch {
	case name == "join" && also:
		list, ok := args[0].([]any)
		var parts []string
		for _, v := range list {
			part, isWord := scalarText(v)
			parts, ok = append(parts, part), ok && isWord
		}
		return strings.Join(parts, other), ok && len(parts)*len(other) < maxText
	case !isText || !also:
	case name == "startswith":
		return strings.HasPrefix(strings.ToLower(text), strings.ToLower(other)), true
	case name == "endswith":
		return strings.HasSuffix(strings.ToLower(text), strings.ToLower(other)), true
	case name == "split" && other != "":
		out := []any{}
		for part := range strings.SplitSeq(text, other) {
			out = append(out, part)
		}
		return out, true
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

// nodeAt gives a computed value one position.
func nodeAt(v any, at *document.Node) *document.Node {
	out := &document.Node{Line: at.Line, Column: at.Column}
	switch v := v.(type) {
	case map[string]any:
		out.Fields = map[string]*document.Node{}
		for key, e := range v {
			out.Fields[key] = nodeAt(e, at)
		}
	case []any:
		for _, e := range v {
			out.Items = append(out.Items, nodeAt(e, at))
		}
	}
	return out
}

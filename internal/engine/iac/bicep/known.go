package bicep

import (
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
	// JSON templates double a quote in a text, Bicep escapes it; the same parser reads both.
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
	// of expressions and of variables in each other
	depth int
	// evaluated expressions, at most maxSteps
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
		return k.evaluateName(e.name)
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

// evaluateList computes expressions that must all be known.
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

// evaluateMember computes a field of an object.
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
	// A turn begins with the steps of the evaluator around it, and some more for the copy of names.
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
	switch name := operationName(e); name {
	case "if":
		return k.evaluateIf(e.items)
	case "and", "or":
		return k.evaluateLogical(e.items, name == "or")
	case "coalesce":
		return k.firstNotNull(e.items)
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

// evaluateIf returns the branch that the condition chooses; the other one may be unknown.
func (k *evaluator) evaluateIf(items []*expr) (any, bool) {
	condition, ok := k.evaluate(items[0])
	on, isBool := condition.(bool)
	switch {
	case !ok || !isBool:
		return nil, false
	case on:
		return k.evaluate(items[1])
	}
	return k.evaluate(items[2])
}

// evaluateLogical is "and" and "or": one operand of the deciding value is enough.
func (k *evaluator) evaluateLogical(items []*expr, decides bool) (any, bool) {
	// "false && unknown" is false all the same.
	sure := true
	for _, item := range items {
		v, ok := k.evaluate(item)
		on, isBool := v.(bool)
		if ok && isBool && on == decides {
			return decides, true
		}
		sure = sure && ok && isBool
	}
	return !decides, sure
}

// firstNotNull is "coalesce". An operand that is not known could be the one.
func (k *evaluator) firstNotNull(items []*expr) (any, bool) {
	for _, item := range items {
		v, ok := k.evaluate(item)
		if !ok || v != nil {
			return v, ok
		}
	}
	return nil, true
}

// evaluateName returns what a name stands for: of a loop, a variable or a parameter.
func (k *evaluator) evaluateName(name string) (any, bool) {
	if v, ok := k.names[name]; ok {
		return v, true
	}
	if v, ok := k.env.Variable(name); ok {
		return v, true
	}
	return k.env.Parameter(name)
}

// isNamespace reports whether an expression is one of the two namespaces that functions are in.
func isNamespace(e *expr) bool { return e.what == ident && (e.name == "az" || e.name == "sys") }

// evaluateCall returns the value of a function of known arguments.
func (k *evaluator) evaluateCall(e *expr) (any, bool) {
	// A method, such as storage.listKeys(), asks the cloud.
	if e.base != nil && !isNamespace(e.base) {
		return nil, false
	}
	name := strings.ToLower(e.name)
	switch name {
	case "if", "and", "or", "coalesce":
		if name == "if" && len(e.items) != 3 {
			return nil, false
		}
		return k.evaluateOperation(&expr{what: operation, name: name, items: e.items})
	// Their second argument is a lambda, which has no value of its own.
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

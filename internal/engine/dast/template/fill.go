package template

import (
	"errors"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file puts values in the place of {{name}} and {{expression}}.

// maxClosings bounds the }} that are tried for one {{.
const maxClosings = 8

// fillExpressions replaces what can be evaluated, and returns the first name that has no value;
// what is no expression stays as it is, such as a payload of {{7*7}}. Values that are
// put in are not looked at again: what a target answers is never evaluated.
func fillExpressions(s string, e *evaluation) (filled, missing string) {
	return fillAs(s, e, func(v string) string { return v })
}

// fillAs is fillExpressions with values written in another way. The parts between marks
// are taken from the left. Two braces that begin no expression stay, and what follows
// the first of them is tried again, so that {{{name}}} is a name between braces.
func fillAs(s string, e *evaluation, write func(string) string) (filled, missing string) {
	if !strings.Contains(s, "{{") {
		return s, ""
	}
	var out strings.Builder
	for {
		open := strings.Index(s, "{{")
		if open < 0 {
			break
		}
		out.WriteString(s[:open])
		s = s[open:]
		value, n, lacks := evaluateMarked(s, e)
		if n == 0 {
			value, n = "{", 1
		} else {
			value = write(value)
		}
		out.WriteString(value)
		s = s[n:]
		if missing == "" {
			missing = lacks
		}
	}
	out.WriteString(s)
	return out.String(), missing
}

// variableName is the name of a variable.
var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// evaluateMarked evaluates the expression that begins the text, and returns how long it
// is; 0: there is none. Since }} may stand inside of a string of the expression, up to
// maxClosings of them are tried as its end, the nearest first.
func evaluateMarked(s string, e *evaluation) (value string, length int, missing string) {
	end := 2
	for range maxClosings {
		i := strings.Index(s[end:], "}}")
		if i < 0 {
			return "", 0, missing
		}
		inner := s[2 : end+i]
		end += i + 2
		if v, ok := e.values[strings.TrimSpace(inner)]; ok {
			return textOf(v), end, ""
		}
		if variableName.MatchString(inner) && functions[inner] == nil {
			return "", 0, inner
		}
		x, err := parseExpression(fillQuoted(inner, e))
		if err != nil || !x.isMeant(e.values) {
			continue
		}
		v, err := x.root.eval(e)
		if err == nil {
			return textOf(v), end, ""
		}
		var unknown errUnknown
		if errors.As(err, &unknown) {
			missing = unknown.name
		}
	}
	return "", 0, missing
}

// isMeant reports whether the text is meant as an expression: it calls a function or
// names a value. {{7*7}} is a payload.
func (x *expression) isMeant(v values) bool {
	for _, name := range x.names {
		if _, ok := v[name]; ok {
			return true
		}
	}
	return callsFunction(x.root)
}

// callsFunction reports whether a part of an expression calls a function.
func callsFunction(n node) bool {
	switch n := n.(type) {
	case call:
		return true
	case unary:
		return callsFunction(n.x)
	case binary:
		return callsFunction(n.x) || callsFunction(n.y)
	case choice:
		return callsFunction(n.test) || callsFunction(n.yes) || callsFunction(n.no)
	case list:
		for _, i := range n.items {
			if callsFunction(i) {
				return true
			}
		}
	}
	return false
}

// escaper keeps a value inside of the string that it is put into.
var escaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`, `"`, `\"`)

// quotedName matches a name to fill in inside of another expression.
var quotedName = lazyregexp.New(`\{\{([A-Za-z_][A-Za-z0-9_.-]*)\}\}`)

// fillQuoted fills in names inside of an expression, where they stand in strings. There
// they are escaped: a value cannot end its string and go on as an expression.
func fillQuoted(s string, e *evaluation) string {
	return quotedName.ReplaceAllStringFunc(s, func(m string) string {
		if v, ok := e.values[m[2:len(m)-2]]; ok {
			return escaper.Replace(textOf(v))
		}
		return m
	})
}

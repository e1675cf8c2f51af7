package ansible

import (
	"regexp"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file computes the templates in values whose parts are all known: names, fields and
// items of them, literals, and a few filters.

// placeholder matches one "{{ expression }}".
var placeholder = lazyregexp.New(`(?s)\{\{-?(.*?)-?\}\}`)

// maxOpen bounds variables that are made of others.
// Real chains have two or three links; a circle (a: "{{ b }}", b: "{{ a }}") ends here.
const maxOpen = 20

// maxText bounds what a text becomes, in bytes.
const maxText = 1 << 20

// isTemplate reports whether a text is to be computed.
func isTemplate(s string) bool { return strings.Contains(s, "{{") || strings.Contains(s, "{%") }

// computeText returns what a text with placeholders becomes; false if it is not known. A
// text that is one placeholder has the type of its value.
func (s *scope) computeText(text string) (any, bool) {
	// Statements are a programming language with loops: they are not evaluated.
	if strings.Contains(text, "{%") || strings.Contains(text, "{#") {
		return nil, false
	}
	trimmed := strings.TrimSpace(text)
	// "{{ port }}" is the number itself, "port {{ port }}" a text.
	if at := placeholder.FindStringIndex(trimmed); at != nil && at[0] == 0 && at[1] == len(trimmed) {
		return s.computeExpression(placeholder.FindStringSubmatch(trimmed)[1])
	}
	all := true
	out := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		v, ok := s.computeExpression(placeholder.FindStringSubmatch(m)[1])
		with, isScalar := scalarText(v)
		all = all && ok && isScalar
		return with
	})
	return out, all && len(out) <= maxText
}

// scalarText returns the text of a scalar, as Jinja writes it.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		// Jinja prints Python values: True, not true.
		if v {
			return "True", true
		}
		return "False", true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// A state is what is known of a value.
type state int

const (
	unknown state = iota
	known
	undefined // nothing in the tree defines it
)

var (
	pathStart = lazyregexp.New(`^[A-Za-z_]\w*`)
	// .name, ['name'], ["name"] or [0]
	pathStep = lazyregexp.New(`^(?:\.([A-Za-z_]\w*)|\[\s*(?:'([^']*)'|"([^"]*)"|(-?\d+))\s*\])`)
	// a filter with at most one level of parentheses
	filter = lazyregexp.New(`^\s*\|\s*([a-z_]+)\s*(?:\(([^()]*)\))?`)
)

// computeExpression computes "value | filter | filter(argument)".
func (s *scope) computeExpression(text string) (any, bool) {
	text = strings.TrimSpace(text)
	v, is, rest := s.readOperand(text)
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		m := filter.FindStringSubmatch(rest)
		if m == nil {
			return nil, false
		}
		rest = rest[len(m[0]):]
		// The only filter that takes an undefined value.
		if m[1] == "default" || m[1] == "d" {
			v, is = s.applyDefault(v, is, m[2])
			continue
		}
		if is != known {
			return nil, false
		}
		if v, is = applyFilter(v, m[1], m[2]); is != known {
			return nil, false
		}
	}
	return v, is == known
}

// applyDefault is the filter "default".
func (s *scope) applyDefault(v any, is state, argument string) (any, state) {
	value, also, found := strings.Cut(argument, ",")
	empty := is == known && (v == "" || v == false || v == nil)
	// default(x, true) also replaces values that are false or empty.
	switch always := found && strings.Contains(strings.ToLower(also), "true"); {
	case is == unknown, is == known && !(always && empty):
		return v, is
	}
	other, is, rest := s.readOperand(strings.TrimSpace(value))
	if strings.TrimSpace(rest) != "" || strings.TrimSpace(value) == "omit" {
		return nil, unknown
	}
	return other, is
}

// applyFilter applies a filter to a known value.
func applyFilter(v any, name, argument string) (any, state) {
	text, isScalar := scalarText(v)
	// Filters with arguments (regex_replace, combine, …) are not computed.
	if !isScalar || strings.TrimSpace(argument) != "" {
		return nil, unknown
	}
	switch name {
	case "mandatory":
		return v, known
	case "string":
		return text, known
	case "lower":
		return strings.ToLower(text), known
	case "upper":
		return strings.ToUpper(text), known
	case "trim":
		return strings.TrimSpace(text), known
	case "int":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, unknown
		}
		return n, known
	case "bool":
		return truthOf(text)
	}
	return nil, unknown
}

// truthOf is the filter "bool" of a text.
func truthOf(text string) (any, state) {
	switch strings.ToLower(text) {
	case "yes", "on", "1", "true":
		return true, known
	case "no", "off", "0", "false", "":
		return false, known
	}
	return nil, unknown
}

// number matches a literal number at the begin of an expression.
var number = regexp.MustCompile(`^-?\d+(?:\.\d+)?`)

// readOperand reads a literal or a variable with its fields; rest is what follows.
func (s *scope) readOperand(text string) (v any, is state, rest string) {
	if text == "" {
		return nil, unknown, ""
	}
	if quote := text[0]; quote == '\'' || quote == '"' {
		return readQuoted(text)
	}
	if m := number.FindString(text); m != "" {
		if n, err := strconv.ParseInt(m, 10, 64); err == nil {
			return n, known, text[len(m):]
		}
		return m, known, text[len(m):]
	}
	name := pathStart.FindString(text)
	rest = text[len(name):]
	switch name {
	case "":
		return nil, unknown, ""
	case "true", "True":
		return true, known, rest
	case "false", "False":
		return false, known, rest
	case "none", "None":
		return nil, known, rest
	}
	v, is = s.variableValue(name)
	for {
		m := pathStep.FindStringSubmatch(rest)
		if m == nil {
			return v, is, rest
		}
		rest = rest[len(m[0]):]
		if is == known {
			v, is = s.memberOf(v, m[1]+m[2]+m[3], m[4])
		}
	}
}

// readQuoted reads a text in quotes; one with an escape is not known.
func readQuoted(text string) (v any, is state, rest string) {
	end := strings.IndexByte(text[1:], text[0])
	if end < 0 || strings.Contains(text[1:1+end], `\`) {
		return nil, unknown, ""
	}
	return text[1 : 1+end], known, text[end+2:]
}

// memberOf returns a field or an item of a value, computed.
func (s *scope) memberOf(v any, key, index string) (any, state) {
	switch v := v.(type) {
	case map[string]any:
		field, ok := v[key]
		if !ok || index != "" {
			return nil, undefined
		}
		return s.computeWhole(field)
	case []any:
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(v) {
			return nil, unknown
		}
		return s.computeWhole(v[i])
	}
	return nil, unknown
}

// computeWhole computes a value that must be known as a whole.
func (s *scope) computeWhole(v any) (any, state) {
	// Variables that refer to each other can multiply: the budget counts every value.
	if s.budget.depth++; s.budget.depth > document.MaxDepth || s.budget.spendValue() {
		s.budget.depth--
		return nil, unknown
	}
	defer func() { s.budget.depth-- }()
	switch v := v.(type) {
	case document.Unknown:
		return nil, unknown
	case string:
		if !isTemplate(v) {
			return v, known
		}
		if out, ok := s.computeText(v); ok {
			return out, known
		}
		return nil, unknown
	case map[string]any:
		return s.computeFields(v)
	case []any:
		return s.computeItems(v)
	}
	return v, known
}

// computeFields computes all fields of a map, or the list that a file of tasks is.
func (s *scope) computeFields(m map[string]any) (any, state) {
	if list, ok := m[document.Playbooks].([]any); ok && len(m) == 1 {
		return s.computeWhole(list)
	}
	out := make(map[string]any, len(m))
	for key, e := range m {
		one, is := s.computeWhole(e)
		if is != known {
			return nil, unknown
		}
		out[key] = one
	}
	return out, known
}

// computeItems computes all items of a list.
func (s *scope) computeItems(list []any) (any, state) {
	out := make([]any, len(list))
	for i, e := range list {
		one, is := s.computeWhole(e)
		if is != known {
			return nil, unknown
		}
		out[i] = one
	}
	return out, known
}

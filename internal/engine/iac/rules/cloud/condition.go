package cloud

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/iac/terraform"
)

// This file reads and asks conditions: "PATH", "!PATH" or "PATH OPERATOR VALUE".
//
// A path names arguments and blocks, "settings.ip_configuration.ipv4_enabled".
// "name{key=value}" takes the blocks whose argument has the value, "/" before a
// path begins at the resource, and "path|value" gives the provider's default for
// an absent argument. The operators are == != in notin >= <= ~ !~ has lacks; texts
// are compared without regard to case, as most providers do.

// truth is the answer to a condition. What is not known is never a flaw.
type truth int8

const (
	// The order matters: max of two is "or", min would be "and".
	no truth = iota
	unknown
	yes
)

// truthOf is the truth of something that is known.
func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// negate is yes for no, and unknown for unknown.
func (t truth) negate() truth { return yes - t }

// condition is one line of a rule.
type condition struct {
	// as in the rule, for messages
	text string
	path []step
	root bool // begins at the resource
	// an operator, or "present" and "absent" for a path alone
	op    string
	value any
	// of ~ and !~, otherwise nil
	pattern *regexp.Regexp
	absent  any // what stands for an absent value
}

// step is a part of a path.
type step struct {
	name        string
	key, wanted string // the filter, if any
}

// operators are those that take a value.
var operators = map[string]bool{"==": true, "!=": true, "in": true, "notin": true, ">=": true, "<=": true, "~": true,
	"!~": true, "has": true, "lacks": true}

// parseCondition reads a line.
func parseCondition(text string) (*condition, error) {
	c := &condition{text: text}
	path, rest := cutOutside(strings.TrimSpace(text), ' ')
	if strings.HasPrefix(path, "!") {
		c.op, path = "absent", path[1:]
	} else {
		c.op = "present"
	}
	if err := c.parseOperator(rest); err != nil {
		return nil, err
	}
	if at := strings.LastIndex(path, "|"); at >= 0 {
		if err := yaml.Unmarshal([]byte(path[at+1:]), &c.absent); err != nil {
			return nil, fmt.Errorf("condition %q: the default cannot be read", text)
		}
		path = path[:at]
	}
	if strings.HasPrefix(path, "/") {
		c.root, path = true, path[1:]
	}
	return c, c.parsePath(path)
}

// parseOperator reads "OPERATOR VALUE"; without one the condition is about presence.
func (c *condition) parseOperator(text string) error {
	op, value, _ := strings.Cut(strings.TrimSpace(text), " ")
	if op == "" {
		return nil
	}
	// "!path == 1" would be read in two ways.
	if !operators[op] || c.op == "absent" {
		return fmt.Errorf("condition %q: unknown operator %q", c.text, op)
	}
	c.op = op
	if err := yaml.Unmarshal([]byte(value), &c.value); err != nil || value == "" {
		return fmt.Errorf("condition %q: the value cannot be read", c.text)
	}
	switch op {
	case "~", "!~":
		re, err := regexp.Compile("(?i)" + fmt.Sprint(c.value))
		if err != nil {
			return fmt.Errorf("condition %q: %w", c.text, err)
		}
		c.pattern = re
	case "in", "notin":
		if _, list := c.value.([]any); !list {
			return fmt.Errorf("condition %q: %s wants a list", c.text, c.op)
		}
	}
	return nil
}

// parsePath reads the names of a path with their filters.
func (c *condition) parsePath(path string) error {
	for path != "" {
		var part string
		part, path = cutOutside(path, '.')
		s := step{name: part}
		if name, filter, ok := strings.Cut(part, "{"); ok {
			key, value, equal := strings.Cut(strings.TrimSuffix(filter, "}"), "=")
			if !equal {
				return fmt.Errorf("condition %q: a filter is {key=value}", c.text)
			}
			s = step{name, key, value}
		}
		if s.name == "" {
			return fmt.Errorf("condition %q: a part of the path is empty", c.text)
		}
		c.path = append(c.path, s)
	}
	if len(c.path) == 0 {
		return fmt.Errorf("condition %q: no path", c.text)
	}
	return nil
}

// cutOutside cuts a text at the first such byte that is not within braces.
func cutOutside(text string, at byte) (before, after string) {
	// A filter may contain the separator: "rule{port=1.5}.cidr".
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		case at:
			if depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// findValues follows the path.
func (c *condition) findValues(b *terraform.Block) []terraform.Hit { return followPath(b, c.path) }

// followPath returns what a path leads to: one hit for each block on the way.
func followPath(b *terraform.Block, path []step) []terraform.Hit {
	s := path[0]
	if len(path) == 1 && s.key == "" {
		return b.Lookup(s.name)
	}
	// Unsure: the block stands for an unknown number. Open: a dynamic block may add more.
	all, unsure := b.All(s.name), b.Unsure || b.Open[s.name]
	if s.key != "" {
		var kept []*terraform.Block
		for _, inner := range all {
			switch equalValues(inner.Value(s.key), s.wanted) {
			case yes:
				kept = append(kept, inner)
			// The block may or may not be one of those that the filter selects.
			case unknown:
				unsure = true
			}
		}
		all = kept
	}
	if len(all) == 0 {
		if a := b.Attributes[s.name]; a != nil {
			if _, ok := a.Value.(terraform.Unknown); ok {
				unsure = true
			}
		}
		return []terraform.Hit{{Block: b, Place: b.Place, Unsure: unsure}}
	}
	var out []terraform.Hit
	for _, inner := range all {
		if len(path) == 1 {
			out = append(out, terraform.Hit{Value: inner, Block: b, Place: inner.Place, Unsure: inner.Unsure})
			continue
		}
		out = append(out, followPath(inner, path[1:])...)
	}
	return out
}

// isMet evaluates the condition on one hit.
func (c *condition) isMet(h terraform.Hit) truth {
	v := h.Value
	if v == nil {
		if h.Unsure {
			return unknown
		}
		v = c.absent
	}
	t := c.evaluate(v)
	if h.Unsure && t != unknown {
		// A written value decides also in a block that may not exist; its presence alone does not.
		if _, block := v.(*terraform.Block); block || c.op == "absent" {
			return unknown
		}
	}
	return t
}

// evaluate evaluates the condition on a value.
func (c *condition) evaluate(v any) truth {
	if _, ok := v.(terraform.Unknown); ok {
		switch c.op {
		case "present":
			return yes
		case "absent":
			return no
		}
		return unknown
	}
	switch c.op {
	case "present":
		return truthOf(!isEmpty(v))
	case "absent":
		return truthOf(isEmpty(v))
	case "==":
		return equalValues(v, c.value)
	case "!=":
		return equalValues(v, c.value).negate()
	case "in":
		return anyEqual(v, c.value.([]any))
	case "notin":
		return anyEqual(v, c.value.([]any)).negate()
	case ">=", "<=":
		return compareNumbers(v, c.value, c.op)
	case "~":
		return c.matchPattern(v)
	case "!~":
		return c.matchPattern(v).negate()
	case "has":
		return containsValue(v, c.value)
	default: // lacks
		return containsValue(v, c.value).negate()
	}
}

// isEmpty reports whether a value says nothing: null, an empty text or list.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// equalValues compares two values, the second of a rule.
func equalValues(v, want any) truth {
	switch v := v.(type) {
	case terraform.Unknown:
		return unknown
	case nil:
		return truthOf(want == nil)
	case string:
		// "${var.env}-logs" may become any text.
		if terraform.Symbolic(v) {
			return unknown
		}
		return truthOf(want != nil && strings.EqualFold(v, scalarText(want)))
	case bool, float64, int:
		return truthOf(want != nil && strings.EqualFold(scalarText(v), scalarText(want)))
	case []any:
		// Terraform converts a list with one item where a provider has changed the type of an
		// argument.
		if len(v) == 1 {
			return equalValues(v[0], want)
		}
	}
	return no
}

// scalarText writes a value the way Terraform turns it into a text.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// anyEqual reports whether a value is one of the list.
func anyEqual(v any, list []any) truth {
	out := no
	for _, want := range list {
		out = max(out, equalValues(v, want))
	}
	return out
}

// compareNumbers orders two values as numbers.
func compareNumbers(v, want any, op string) truth {
	text := scalarText(v)
	if v == nil {
		return no
	}
	if terraform.Symbolic(text) {
		return unknown
	}
	// Durations and versions begin with their number: "90d", "1.24".
	n, err := strconv.ParseFloat(strings.TrimRight(text, "dhms"), 64)
	limit, err2 := strconv.ParseFloat(scalarText(want), 64)
	if err != nil || err2 != nil {
		return unknown
	}
	if op == ">=" {
		return truthOf(n >= limit)
	}
	return truthOf(n <= limit)
}

// matchPattern matches a text, or any text of a list, with the pattern.
func (c *condition) matchPattern(v any) truth {
	if list, ok := v.([]any); ok {
		out := no
		for _, e := range list {
			out = max(out, c.matchPattern(e))
		}
		return out
	}
	if _, ok := v.(terraform.Unknown); ok {
		return unknown
	}
	if v == nil {
		return no
	}
	if _, ok := v.(map[string]any); ok {
		return unknown
	}
	text := scalarText(v)
	if c.pattern.MatchString(text) {
		return yes
	}
	if terraform.Symbolic(text) {
		return unknown
	}
	return no
}

// containsValue reports whether a list has the value, or an object the key.
func containsValue(v, want any) truth {
	list, ok := v.([]any)
	if !ok {
		if object, ok := v.(map[string]any); ok {
			_, has := object[scalarText(want)]
			return truthOf(has)
		}
		if v == nil {
			return no
		}
		list = []any{v}
	}
	out := no
	for _, e := range list {
		out = max(out, equalValues(e, want))
	}
	return out
}

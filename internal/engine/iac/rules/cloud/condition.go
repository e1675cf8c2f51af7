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
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth { return yes - t }

// condition is one line of a rule.
type condition struct {
	text    string
	path    []step
	root    bool // begins at the resource
	op      string
	value   any
	pattern *regexp.Regexp
	absent  any // what stands for an absent value
}

// step is a part of a path.
type step struct {
	name        string
	key, wanted string // the filter, if any
}

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
	if op, value, _ := strings.Cut(strings.TrimSpace(rest), " "); op != "" {
		if !operators[op] || c.op == "absent" {
			return nil, fmt.Errorf("condition %q: unknown operator %q", text, op)
		}
		c.op = op
		if err := yaml.Unmarshal([]byte(value), &c.value); err != nil || value == "" {
			return nil, fmt.Errorf("condition %q: the value cannot be read", text)
		}
	}
	if at := strings.LastIndex(path, "|"); at >= 0 {
		if err := yaml.Unmarshal([]byte(path[at+1:]), &c.absent); err != nil {
			return nil, fmt.Errorf("condition %q: the default cannot be read", text)
		}
		path = path[:at]
	}
	if c.op == "~" || c.op == "!~" {
		re, err := regexp.Compile("(?i)" + fmt.Sprint(c.value))
		if err != nil {
			return nil, fmt.Errorf("condition %q: %w", text, err)
		}
		c.pattern = re
	}
	if _, list := c.value.([]any); (c.op == "in" || c.op == "notin") && !list {
		return nil, fmt.Errorf("condition %q: %s wants a list", text, c.op)
	}
	if strings.HasPrefix(path, "/") {
		c.root, path = true, path[1:]
	}
	for path != "" {
		var part string
		part, path = cutOutside(path, '.')
		s := step{name: part}
		if name, filter, ok := strings.Cut(part, "{"); ok {
			key, value, equal := strings.Cut(strings.TrimSuffix(filter, "}"), "=")
			if !equal {
				return nil, fmt.Errorf("condition %q: a filter is {key=value}", text)
			}
			s = step{name, key, value}
		}
		if s.name == "" {
			return nil, fmt.Errorf("condition %q: a part of the path is empty", text)
		}
		c.path = append(c.path, s)
	}
	if len(c.path) == 0 {
		return nil, fmt.Errorf("condition %q: no path", text)
	}
	return c, nil
}

// cutOutside cuts a text at the first such byte that is not within braces.
func cutOutside(text string, at byte) (before, after string) {
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

// hits follows the path.
func (c *condition) hits(b *terraform.Block) []terraform.Hit { return follow(b, c.path) }

func follow(b *terraform.Block, path []step) []terraform.Hit {
	s := path[0]
	if len(path) == 1 && s.key == "" {
		return b.Lookup(s.name)
	}
	all, unsure := b.All(s.name), b.Unsure || b.Open[s.name]
	if s.key != "" {
		var kept []*terraform.Block
		for _, inner := range all {
			switch equal(inner.Value(s.key), s.wanted) {
			case yes:
				kept = append(kept, inner)
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
		out = append(out, follow(inner, path[1:])...)
	}
	return out
}

// holds asks the condition of one hit.
func (c *condition) holds(h terraform.Hit) truth {
	v := h.Value
	if v == nil {
		if h.Unsure {
			return unknown
		}
		v = c.absent
	}
	t := c.ask(v)
	if h.Unsure && t != unknown {
		if _, block := v.(*terraform.Block); block || c.op == "absent" {
			return unknown
		}
	}
	return t
}

func (c *condition) ask(v any) truth {
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
		return truthOf(!empty(v))
	case "absent":
		return truthOf(empty(v))
	case "==":
		return equal(v, c.value)
	case "!=":
		return equal(v, c.value).not()
	case "in":
		return anyEqual(v, c.value.([]any))
	case "notin":
		return anyEqual(v, c.value.([]any)).not()
	case ">=", "<=":
		return compare(v, c.value, c.op)
	case "~":
		return c.match(v)
	case "!~":
		return c.match(v).not()
	case "has":
		return contains(v, c.value)
	default: // lacks
		return contains(v, c.value).not()
	}
}

func empty(v any) bool {
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

// equal compares two values, the second of a rule.
func equal(v, want any) truth {
	switch v := v.(type) {
	case terraform.Unknown:
		return unknown
	case nil:
		return truthOf(want == nil)
	case string:
		if terraform.Symbolic(v) {
			return unknown
		}
		return truthOf(want != nil && strings.EqualFold(v, scalar(want)))
	case bool, float64, int:
		return truthOf(want != nil && strings.EqualFold(scalar(v), scalar(want)))
	case []any:
		if len(v) == 1 {
			return equal(v[0], want)
		}
	}
	return no
}

// scalar writes a value the way Terraform turns it into a text.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func anyEqual(v any, list []any) truth {
	out := no
	for _, want := range list {
		out = max(out, equal(v, want))
	}
	return out
}

func compare(v, want any, op string) truth {
	text := scalar(v)
	if v == nil {
		return no
	}
	if terraform.Symbolic(text) {
		return unknown
	}
	// Durations and versions begin with their number: "90d", "1.24".
	n, err := strconv.ParseFloat(strings.TrimRight(text, "dhms"), 64)
	limit, err2 := strconv.ParseFloat(scalar(want), 64)
	if err != nil || err2 != nil {
		return unknown
	}
	if op == ">=" {
		return truthOf(n >= limit)
	}
	return truthOf(n <= limit)
}

func (c *condition) match(v any) truth {
	if list, ok := v.([]any); ok {
		out := no
		for _, e := range list {
			out = max(out, c.match(e))
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
	text := scalar(v)
	if c.pattern.MatchString(text) {
		return yes
	}
	if terraform.Symbolic(text) {
		return unknown
	}
	return no
}

func contains(v, want any) truth {
	list, ok := v.([]any)
	if !ok {
		if object, ok := v.(map[string]any); ok {
			_, has := object[scalar(want)]
			return truthOf(has)
		}
		if v == nil {
			return no
		}
		list = []any{v}
	}
	out := no
	for _, e := range list {
		out = max(out, equal(e, want))
	}
	return out
}

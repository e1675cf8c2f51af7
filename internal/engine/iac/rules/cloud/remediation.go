package cloud

import (
	"fmt"
	"strings"
)

// maxListed limits the values that a remediation lists: longer lists are spellings of one
// value, such as any address, which the text of the group names.
const maxListed = 6

// remediation returns what to do about a finding of the check: the arguments to set, which
// follow from its conditions, and the text that its group has for all checks. An argument
// that the text names already is not repeated.
func (c *check) remediation(text string) string {
	var out []string
	add := func(sentence, argument string) {
		if sentence != "" && !strings.Contains(text, argument) {
			out = append(out, sentence)
		}
	}
	for _, m := range c.must {
		add(m.instruction(c.each), m.path[len(m.path)-1].name)
	}
	for _, w := range c.with {
		add(w.instruction(len(c.must) > 0), w.kind)
	}
	return strings.Join(append(out, text), " ")
}

// instruction says how to meet the condition, such as "Set `encrypted` to `true`.". It is
// empty for a pattern, which is not readable.
func (c *condition) instruction(each []step) string {
	argument := c.argument(each)
	values := c.listValues()
	if len(values) > maxListed {
		return ""
	}
	list := strings.Join(values, " or ")
	switch c.op {
	case "present":
		return fmt.Sprintf("Set %s.", argument)
	case "absent":
		return fmt.Sprintf("Remove %s.", argument)
	case "==", "in":
		return fmt.Sprintf("Set %s to %s.", argument, list)
	case "!=", "notin":
		return fmt.Sprintf("Do not set %s to %s.", argument, list)
	case ">=":
		return fmt.Sprintf("Set %s to at least %s.", argument, list)
	case "<=":
		return fmt.Sprintf("Set %s to at most %s.", argument, list)
	case "has":
		return fmt.Sprintf("Add %s to %s.", list, argument)
	case "lacks":
		return fmt.Sprintf("Remove %s from %s.", list, argument)
	}
	return ""
}

// argument names the path of the condition, with the entry of a list that it is about.
func (c *condition) argument(each []step) string {
	path := c.path
	if !c.root {
		path = append(append([]step(nil), each...), path...)
	}
	var names, filters []string
	for _, s := range path {
		names = append(names, s.name)
		if s.key != "" {
			filters = append(filters, fmt.Sprintf("`%s` is `%s`", s.key, s.wanted))
		}
	}
	name := "`" + strings.Join(names, ".") + "`"
	if len(filters) > 0 {
		name += " (where " + strings.Join(filters, " and ") + ")"
	}
	return name
}

// listValues returns the values of the condition as they are written in code.
func (c *condition) listValues() []string {
	list, ok := c.value.([]any)
	if !ok {
		list = []any{c.value}
	}
	var out []string
	for _, v := range list {
		text := "null" // a cipher of this name is read as YAML's null
		if v != nil {
			text = scalarText(v)
		}
		out = append(out, "`"+text+"`")
	}
	return out
}

// instruction says which resource to add; it is an alternative where arguments of the
// resource itself meet the rule too.
func (w related) instruction(alternative bool) string {
	verb := "Add"
	if alternative {
		verb = "Or add"
	}
	return fmt.Sprintf("%s `%s` for the resource.", verb, w.kind)
}

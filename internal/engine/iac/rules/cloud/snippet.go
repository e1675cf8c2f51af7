package cloud

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file writes the code of a remediation from the conditions of a check: the resource with the
// arguments that meet them.

// A sample is an argument or a block of the example.
type sample struct {
	name   string
	value  string // in the format of the example; empty for a block
	note   string // what to do where no value can be written
	blocks []*sample
}

// A dialect writes samples in a format.
type dialect struct {
	fence   string
	comment string
	write   func(s *sample, indent string) []string
	quote   func(v any) string
}

// dialects are the formats, by the language of the rule.
var dialects = map[string]dialect{
	"":                       {"hcl", "#", writeHCL, quoteHCL},
	"CloudFormation":         {"yaml", "#", writeYAML, quoteYAML},
	"Azure Resource Manager": {"bicep", "//", writeBicep, quoteBicep},
}

// snippet returns the example as a code block. The second result is the code of the resource's
// arguments if any resource can take them as they are: each is a fixed value.
func (c *check) snippet(language string) (block, arguments string) {
	d, ok := dialects[language]
	if !ok {
		d = dialects[""]
	}
	root := &sample{}
	exact := len(c.with) == 0 && len(c.each) == 0 && len(c.must) > 0
	for _, m := range c.must {
		if !root.add(m, c.each, d) {
			exact = false
		}
	}
	var lines []string
	for _, s := range root.blocks {
		lines = append(lines, d.write(s, "  ")...)
	}
	var out []string
	if len(lines) > 0 {
		out = openResource(d.fence, c.types[0], lines)
	}
	for _, w := range c.with {
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, w.snippet(d, c.types[0])...)
	}
	if exact && d.fence == "hcl" {
		arguments = strings.Join(lines, "\n")
	}
	return "```" + d.fence + "\n" + strings.Join(out, "\n") + "\n```", arguments
}

// openResource puts the arguments into a resource of the type.
func openResource(fence, kind string, lines []string) []string {
	switch fence {
	case "yaml":
		out := []string{"Example:", "  Type: " + kind, "  Properties:"}
		for _, line := range lines {
			out = append(out, "  "+line)
		}
		return out
	case "bicep":
		return slices.Concat([]string{"resource example '" + kind + "@<version>' = {"}, lines, []string{"}"})
	}
	head := fmt.Sprintf("resource %q \"example\" {", kind)
	switch kind {
	case "output", "provider", "variable", "module":
		head = fmt.Sprintf("%s \"example\" {", kind)
	}
	return slices.Concat([]string{head}, lines, []string{"}"})
}

// snippet writes the resource that makes up for what the resource itself does not set.
func (w related) snippet(d dialect, kind string) []string {
	root := &sample{}
	for _, m := range w.must {
		root.add(m, nil, d)
	}
	var lines []string
	if w.by != "" {
		reference := kind + ".example.id"
		if d.fence == "yaml" {
			reference = "!Ref Example"
		}
		by := &sample{}
		var path []step
		for _, name := range strings.Split(w.by, ".") {
			path = append(path, step{name: name})
		}
		by.put(path, &sample{value: reference})
		for _, s := range by.blocks {
			lines = append(lines, d.write(s, "  ")...)
		}
	}
	for _, s := range root.blocks {
		lines = append(lines, d.write(s, "  ")...)
	}
	return openResource(d.fence, w.kind, lines)
}

// add puts what meets the condition into the example. It reports whether that is a fixed value.
func (s *sample) add(m *condition, each []step, d dialect) bool {
	path := m.path
	if !m.root {
		path = append(slices.Clone(each), path...)
	}
	leaf, exact := m.sampleValue(d)
	return s.put(path, leaf) && exact
}

// put puts the leaf at the end of the path. It reports whether no part selects one block of many.
func (s *sample) put(path []step, leaf *sample) bool {
	plain := true
	at := s
	for i, p := range path {
		own := at.child(p.name)
		if p.key != "" {
			plain = false
			own.child(p.key).value = strconv.Quote(p.wanted)
		}
		if i == len(path)-1 {
			own.join(leaf)
		}
		at = own
	}
	return plain
}

// join takes the value of a leaf; lists of the same argument become one.
func (s *sample) join(leaf *sample) {
	before, list := strings.CutSuffix(s.value, "]")
	if more, ok := strings.CutPrefix(leaf.value, "["); ok && list {
		s.value = before + ", " + more
		return
	}
	s.value, s.note = leaf.value, leaf.note
}

// child returns the argument or block of the name.
func (s *sample) child(name string) *sample {
	for _, b := range s.blocks {
		if b.name == name {
			return b
		}
	}
	own := &sample{name: name}
	s.blocks = append(s.blocks, own)
	return own
}

// sampleValue returns a value that meets the condition, and whether it is right for any resource.
func (c *condition) sampleValue(d dialect) (*sample, bool) {
	list, ok := c.value.([]any)
	if !ok {
		list = []any{c.value}
	}
	name := c.path[len(c.path)-1].name
	switch c.op {
	case "==":
		return &sample{value: d.quote(c.value)}, true
	case "in":
		return &sample{value: d.quote(list[len(list)-1])}, len(list) == 1
	case ">=", "<=":
		if strings.Contains(strings.ToLower(name), "version") {
			return &sample{value: d.quote(scalarText(c.value))}, true
		}
		return &sample{value: d.quote(c.value)}, true
	case "has":
		var all []string
		for _, v := range list {
			all = append(all, d.quote(v))
		}
		return &sample{value: "[" + strings.Join(all, ", ") + "]"}, false
	case "!=", "notin":
		if b, ok := list[0].(bool); ok && len(list) == 1 {
			return &sample{value: d.quote(!b)}, true
		}
		return &sample{note: "another value than " + printList(list)}, false
	case "lacks":
		return &sample{note: "without " + printList(list)}, false
	case "absent":
		return &sample{note: "leave it out"}, false
	case "~", "!~":
		return &sample{note: "as described above"}, false
	}
	if isBlockName(name) {
		return &sample{value: "{}", note: "with the arguments of yours"}, false
	}
	return &sample{value: d.quote(placeholder(name))}, false
}

// isBlockName reports whether arguments of such names are blocks.
func isBlockName(name string) bool {
	for _, end := range []string{"configuration", "config", "options", "settings", "_info", "_logs", "_rule",
		"_block"} {
		if strings.HasSuffix(strings.ToLower(name), end) {
			return true
		}
	}
	return false
}

// printList names the first values of a list.
func printList(list []any) string {
	var out []string
	for _, v := range list[:min(len(list), maxListed)] {
		out = append(out, scalarText(v))
	}
	return strings.Join(out, ", ")
}

// placeholder is a text that stands for a value of the reader.
func placeholder(name string) string {
	lower := strings.ToLower(name)
	switch {
	case strings.Contains(lower, "kms") || strings.Contains(lower, "key"):
		return "<id of a key>"
	case strings.Contains(lower, "log"):
		return "<destination of logs>"
	}
	return "<" + strings.ReplaceAll(name, "_", " ") + ">"
}

// isComment reports whether the leaf has no value to write.
func (s *sample) isComment() bool { return len(s.blocks) == 0 && s.value == "" }

// remark is the note behind a value.
func (s *sample) remark(comment string) string {
	if s.note == "" {
		return ""
	}
	return " " + comment + " " + s.note
}

func writeHCL(s *sample, indent string) []string {
	switch {
	case s.isComment():
		return []string{indent + "# " + s.name + ": " + s.note}
	case s.value == "{}":
		return []string{indent + s.name + " {", indent + "  # " + s.note, indent + "}"}
	case len(s.blocks) == 0:
		return []string{indent + s.name + " = " + s.value + s.remark("#")}
	}
	out := []string{indent + s.name + " {"}
	for _, b := range s.blocks {
		out = append(out, writeHCL(b, indent+"  ")...)
	}
	return append(out, indent+"}")
}

func writeYAML(s *sample, indent string) []string {
	switch {
	case s.isComment():
		return []string{indent + "# " + s.name + ": " + s.note}
	case len(s.blocks) == 0:
		return []string{indent + s.name + ": " + s.value + s.remark("#")}
	}
	out := []string{indent + s.name + ":"}
	for _, b := range s.blocks {
		out = append(out, writeYAML(b, indent+"  ")...)
	}
	return out
}

func writeBicep(s *sample, indent string) []string {
	switch {
	case s.isComment():
		return []string{indent + "// " + s.name + ": " + s.note}
	case len(s.blocks) == 0:
		return []string{indent + s.name + ": " + s.value + s.remark("//")}
	}
	out := []string{indent + s.name + ": {"}
	for _, b := range s.blocks {
		out = append(out, writeBicep(b, indent+"  ")...)
	}
	return append(out, indent+"}")
}

func quoteHCL(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return scalarText(v)
}

func quoteYAML(v any) string {
	if s, ok := v.(string); ok && (s == "" || strings.ContainsAny(s, ":#{}[],&*<>|%@` ")) {
		return strconv.Quote(s)
	}
	return scalarText(v)
}

func quoteBicep(v any) string {
	if s, ok := v.(string); ok {
		return "'" + s + "'"
	}
	return scalarText(v)
}

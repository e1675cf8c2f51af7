package remedy

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// This file merges settings into manifests of Kubernetes and files of Compose in block style. Lines
// that are not concerned stay as they are, with their comments.

// A mapping is a map of a document with its positions.
type mapping struct {
	value map[string]any
	node  *document.Node
}

// yamlMerge is one edit of a file. It fails where a line is not written as expected: through an
// alias or a template, in flow style, or where a value is a text of several lines.
type yamlMerge struct {
	lines  []string
	edits  []finding.Edit
	failed bool
}

// mergeYAML returns the edits that put the code of the advice into the container, pod, service or
// object of the target; nil where that is not possible or changes nothing.
func mergeYAML(file *source, d *document.Document, t Target, a Advice) []finding.Edit {
	if file.templated {
		return nil
	}
	at, ok := findMapping(d, t, a.Kind)
	if !ok {
		return nil
	}
	var wanted yaml.Node
	if err := yaml.Unmarshal([]byte(a.Code), &wanted); err != nil || len(wanted.Content) != 1 {
		return nil
	}
	m := &yamlMerge{lines: file.lines}
	m.merge(at, wanted.Content[0])
	if m.failed {
		return nil
	}
	return m.edits
}

// findMapping returns the map of the document that the code belongs to.
func findMapping(d *document.Document, t Target, kind string) (mapping, bool) {
	root := mapping{d.Root, d.Lines}
	switch kind {
	case "container":
		return chooseMapping(listContainers(root), t)
	case "pod":
		return chooseMapping(listPods(root), t)
	case "service":
		var all []mapping
		for _, name := range root.child("services").keys() {
			all = append(all, root.child("services").child(name))
		}
		return chooseMapping(all, t)
	}
	is, _ := d.Root["kind"].(string)
	return root, is == kind
}

// child returns a map below the map; its value is nil where there is none.
func (m mapping) child(key string) mapping {
	value, _ := m.value[key].(map[string]any)
	if m.node == nil || value == nil {
		return mapping{}
	}
	return mapping{value, m.node.Fields[key]}
}

// isOwn reports whether the field is written in the map itself. What an alias or a merge key brings in
// is written above it.
func (m mapping) isOwn(key string) bool {
	return m.node != nil && m.node.Fields[key] != nil && m.node.Fields[key].Line >= m.node.Line
}

// keys returns the own keys of the map in the order of their lines.
func (m mapping) keys() []string {
	var out []string
	for key := range m.value {
		if m.isOwn(key) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, y := m.node.Fields[a], m.node.Fields[b]
		if x.Line != y.Line {
			return x.Line - y.Line
		}
		return strings.Compare(a, b)
	})
	return out
}

// listPods returns the specifications of pods: the maps that have containers.
func listPods(m mapping) []mapping {
	if m.value == nil || m.node == nil {
		return nil
	}
	if _, ok := m.value["containers"].([]any); ok {
		return []mapping{m}
	}
	var out []mapping
	for _, key := range m.keys() {
		out = append(out, listPods(m.child(key))...)
	}
	return out
}

// listContainers returns the containers of all pods.
func listContainers(m mapping) []mapping {
	var out []mapping
	for _, pod := range listPods(m) {
		for _, field := range []string{"initContainers", "containers"} {
			list, _ := pod.value[field].([]any)
			node := pod.node.Fields[field]
			for i, one := range list {
				value, ok := one.(map[string]any)
				if ok && node != nil && i < len(node.Items) {
					out = append(out, mapping{value, node.Items[i]})
				}
			}
		}
	}
	return out
}

// namedContainer is how queries name a container in the words for a place.
var namedContainer = regexp.MustCompile(`ontainers\.name=(?:\{\{)?([^.}]+)`)

// chooseMapping returns the map that the target is about: by its name in the words of the query, by
// its lines, or because it is the only one.
func chooseMapping(all []mapping, t Target) (mapping, bool) {
	if name := namedContainer.FindStringSubmatch(t.Key); name != nil {
		var found []mapping
		for _, m := range all {
			if m.value["name"] == name[1] {
				found = append(found, m)
			}
		}
		if len(found) == 1 {
			return found[0], true
		}
	}
	for _, m := range all {
		first, last := m.node.Line, m.node.Line
		lineRange(m.node, &first, &last)
		if first <= t.Line && t.Line <= last {
			return m, true
		}
	}
	if len(all) == 1 {
		return all[0], true
	}
	return mapping{}, false
}

// lineRange widens a range to the lines of the node and what is below it.
func lineRange(n *document.Node, first, last *int) {
	if n == nil || n.Path != "" {
		return
	}
	if n.Line > 0 {
		*first, *last = min(*first, n.Line), max(*last, n.Line)
	}
	for _, below := range n.Fields {
		lineRange(below, first, last)
	}
	for _, below := range n.Items {
		lineRange(below, first, last)
	}
}

// anchored is the line of a value that is used elsewhere by an alias.
var anchored = regexp.MustCompile(`[:-]\s+&\S`)

// merge puts the wanted fields into the map.
func (m *yamlMerge) merge(at mapping, wanted *yaml.Node) {
	// A map with an anchor is part of others, too.
	if wanted.Kind != yaml.MappingNode || at.node.Line > 0 && anchored.MatchString(m.lines[at.node.Line-1]) {
		m.failed = true
		return
	}
	var added []string
	for i := 0; i+1 < len(wanted.Content); i += 2 {
		key, want := wanted.Content[i].Value, wanted.Content[i+1]
		have, ok := at.value[key]
		if !ok {
			added = append(added, writeField(key, want)...)
			continue
		}
		if !at.isOwn(key) {
			m.failed = true
			return
		}
		node := at.node.Fields[key]
		switch below := have.(type) {
		case map[string]any:
			if want.Kind == yaml.MappingNode && len(below) > 0 {
				m.merge(mapping{below, node}, want)
				continue
			}
			m.replaceField(key, have, node, want)
		case []any:
			m.addItems(below, node, key, want)
		default:
			m.replaceField(key, have, node, want)
		}
	}
	if len(added) > 0 && !m.failed {
		m.insertFields(at, added)
	}
}

// writeField returns the lines of a field in block style, without an indent.
func writeField(key string, value *yaml.Node) []string {
	switch value.Kind {
	case yaml.MappingNode:
		out := []string{key + ":"}
		for i := 0; i+1 < len(value.Content); i += 2 {
			out = append(out, indentLines(writeField(value.Content[i].Value, value.Content[i+1]), "  ")...)
		}
		return out
	case yaml.SequenceNode:
		out := []string{key + ":"}
		for _, one := range value.Content {
			out = append(out, "  - "+one.Value)
		}
		return out
	}
	return []string{key + ": " + value.Value}
}

// indentLines puts an indent before each line.
func indentLines(lines []string, indent string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = indent + line
	}
	return out
}

// keyAt returns the column of a key in its line: what stands before it is blank, but for the dash of a
// list. It is false where the line is written otherwise, as through an alias.
func (m *yamlMerge) keyAt(n *document.Node, key string) (column int, alone, ok bool) {
	if n == nil || n.Path != "" || n.Unknown || n.Line < 1 || n.Line > len(m.lines) || n.Column < 1 {
		return 0, false, false
	}
	line := m.lines[n.Line-1]
	if n.Column > len(line) || !strings.HasPrefix(strings.Trim(line[n.Column-1:], `"'`), key) {
		return 0, false, false
	}
	before := line[:n.Column-1]
	return n.Column, strings.Trim(before, " ") == "", strings.Trim(before, " -") == ""
}

// insertFields puts fields into a map in block style: before its second field, or before its first
// one if that has a line of its own.
func (m *yamlMerge) insertFields(at mapping, added []string) {
	keys := at.keys()
	if len(keys) == 0 {
		m.failed = true
		return
	}
	first := at.node.Fields[keys[0]]
	column, alone, ok := m.keyAt(first, keys[0])
	line := first.Line
	if len(keys) > 1 {
		second := at.node.Fields[keys[1]]
		other, own, plain := m.keyAt(second, keys[1])
		if !plain || !own || other != column {
			m.failed = true
			return
		}
		line, alone = second.Line, true
	}
	switch value := at.value[keys[0]].(type) {
	case map[string]any, []any:
	default:
		if !alone && m.isOneLine(first, keys[0], value) {
			line, alone = first.Line+1, true
		}
	}
	if !ok || !alone {
		m.failed = true
		return
	}
	indent := strings.Repeat(" ", column-1)
	// A comment above belongs to the field below it.
	for line > 1 && strings.HasPrefix(m.lines[line-2], indent+"#") {
		line--
	}
	m.edits = append(m.edits, insertBefore(line, indentLines(added, indent)...))
}

// oneLine is a plain or quoted value with a comment behind it.
var oneLine = regexp.MustCompile(`^(["']?[\w./:@+-]*["']?)(\s+#.*|\s*)$`)

// isOneLine reports whether the value of the field is a known scalar that ends in its line.
func (m *yamlMerge) isOneLine(n *document.Node, key string, value any) bool {
	_, _, ok := m.keyAt(n, key)
	if !ok || n.Tag != "" || value == nil {
		return false
	}
	_, rest, found := strings.Cut(m.lines[n.Line-1][n.Column-1:], ":")
	return found && oneLine.MatchString(strings.TrimLeft(rest, " "))
}

// replaceField replaces the value of a field: a scalar in its line, or an empty map.
func (m *yamlMerge) replaceField(key string, have any, n *document.Node, want *yaml.Node) {
	if s, ok := have.(string); ok && s == want.Value && want.Kind == yaml.ScalarNode {
		return
	}
	column, _, ok := m.keyAt(n, key)
	if !ok || n.Tag != "" {
		m.failed = true
		return
	}
	line := m.lines[n.Line-1]
	head, rest, _ := strings.Cut(line[column-1:], ":")
	head, rest = line[:column-1]+head+":", strings.TrimLeft(rest, " ")
	fields, isMap := have.(map[string]any)
	switch {
	case want.Kind == yaml.ScalarNode && m.isOneLine(n, key, have):
		value := oneLine.FindStringSubmatch(rest)
		m.edits = append(m.edits, replaceLines(n.Line, n.Line, head+" "+want.Value+value[2]))
	case isMap && len(fields) == 0 && strings.HasPrefix(rest, "{}") || have == nil && rest == "":
		lines := writeField(key, want)
		lines = append([]string{head + strings.TrimPrefix(lines[0], key+":")},
			indentLines(lines[1:], strings.Repeat(" ", column-1))...)
		m.edits = append(m.edits, replaceLines(n.Line, n.Line, lines...))
	default:
		m.failed = true
	}
}

// addItems adds the wanted items to a list, in its style.
func (m *yamlMerge) addItems(have []any, n *document.Node, key string, want *yaml.Node) {
	column, _, ok := m.keyAt(n, key)
	if !ok || want.Kind != yaml.SequenceNode {
		m.failed = true
		return
	}
	var added []string
	for _, one := range want.Content {
		if !slices.ContainsFunc(have, func(v any) bool { return v == one.Value }) {
			added = append(added, one.Value)
		}
	}
	line := m.lines[n.Line-1]
	_, rest, _ := strings.Cut(line[column-1:], ":")
	rest = strings.TrimSpace(rest)
	switch {
	case len(added) == 0:
	case strings.HasPrefix(rest, "["):
		end := strings.LastIndexByte(line, ']')
		if end < 0 || strings.ContainsAny(line, "#{") {
			m.failed = true
			return
		}
		by := ", "
		if len(have) == 0 {
			by = ""
		}
		m.edits = append(m.edits, replaceLines(n.Line, n.Line,
			strings.TrimRight(line[:end], " ")+by+strings.Join(added, ", ")+line[end:]))
	case len(n.Items) > 0 && n.Items[0].Path == "" && n.Items[0].Line > n.Line && n.Items[0].Line <= len(m.lines):
		first := m.lines[n.Items[0].Line-1]
		text := strings.TrimLeft(first, " ")
		if !strings.HasPrefix(text, "- ") {
			m.failed = true
			return
		}
		indent := first[:len(first)-len(text)]
		m.edits = append(m.edits, insertBefore(n.Items[0].Line, indentLines(added, indent+"- ")...))
	default:
		m.failed = true
	}
}

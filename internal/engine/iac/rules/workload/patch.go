package workload

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// This file writes the settings of the restricted profile into a manifest. Only a manifest in
// block style that holds what was decoded is edited: a template of Helm or an overlay of Kustomize
// puts the lines together from several files, and gets the fragment to merge by hand.

// A manifest is the text of a document while it is edited.
type manifest struct {
	lines  []string
	edits  []finding.Edit
	failed bool // a place is not written as expected: nothing is changed
}

// editsOf returns the edits of the document's file; nil when it cannot be edited.
func (p *podSecurity) editsOf(doc *document.Document) []finding.Edit {
	if doc.Text == nil || doc.Format != document.YAML {
		return nil
	}
	m := &manifest{}
	for _, line := range bytes.Split(doc.Text, []byte("\n")) {
		m.lines = append(m.lines, string(line))
	}
	if settings := p.podSettings(); len(settings) > 0 {
		m.addSettings(p.pod, settings)
	}
	for _, c := range p.containers {
		if settings := p.containerSettings(c); len(settings) > 0 {
			m.addSettings(c, settings)
		}
	}
	if m.failed {
		return nil
	}
	// What is inserted before a line comes before the replacement of this line.
	slices.SortFunc(m.edits, func(a, b finding.Edit) int {
		return cmp.Or(a.StartLine-b.StartLine, a.EndLine-b.EndLine)
	})
	return m.edits
}

// newContext returns the lines of a security context with the settings.
func newContext(settings []setting) []string {
	out := []string{"securityContext:"}
	for _, one := range settings {
		out = append(out, indentLines("  ", one.lines)...)
	}
	return out
}

// addSettings puts settings into the security context of a pod or container, and makes one where
// there is none.
func (m *manifest) addSettings(s spot, settings []setting) {
	context := s.valueAt("securityContext")
	if !context.isPresent() {
		m.insertContext(s, settings)
		return
	}
	fields, _ := context.value.(map[string]any)
	if len(fields) == 0 {
		// "securityContext: {}" becomes a block.
		indent, ok := m.keyIndent(context.node, "securityContext:")
		if !ok || !strings.HasSuffix(strings.TrimSpace(m.lines[context.node.Line-1]), "{}") {
			m.failed = true
			return
		}
		m.replace(context.node.Line, newContext(settings), indent)
		return
	}
	m.mergeContext(context, settings)
}

// mergeContext puts settings into a block that has others. A setting with another value is
// replaced where it is one line.
func (m *manifest) mergeContext(context spot, settings []setting) {
	first := firstKey(context.node)
	indent, ok := m.keyIndent(first, "")
	if !ok || first.Line == context.node.Line { // flow style
		m.failed = true
		return
	}
	var added []string
	for _, one := range settings {
		have := context.valueAt(one.key)
		_, plain := m.keyIndent(have.node, one.key+":")
		switch {
		case !have.isPresent():
			added = append(added, one.lines...)
		case one.key == "capabilities":
			m.dropAll(have)
		case plain && len(one.lines) == 1:
			m.replace(have.node.Line, one.lines, indent)
		default:
			m.failed = true
		}
	}
	if len(added) > 0 {
		m.insert(first.Line, added, indent)
	}
}

// dropAll makes capabilities drop all. An existing list is replaced by hand: what it drops now is
// part of ALL.
func (m *manifest) dropAll(capabilities spot) {
	first := firstKey(capabilities.node)
	if first == nil || capabilities.valueAt("drop").isPresent() {
		m.failed = true
		return
	}
	indent, ok := m.keyIndent(first, "")
	if !ok || first.Line == capabilities.node.Line {
		m.failed = true
		return
	}
	m.insert(first.Line, []string{"drop: [ALL]"}, indent)
}

// insertContext makes a security context: before the containers of a pod, behind the name of a
// container.
func (m *manifest) insertContext(s spot, settings []setting) {
	block := newContext(settings)
	if list := s.valueAt("containers"); list.isPresent() {
		indent, ok := m.keyIndent(list.node, "containers:")
		if m.failed = m.failed || !ok; ok {
			m.insert(list.node.Line, block, indent)
		}
		return
	}
	name := s.valueAt("name")
	indent, ok := m.keyIndent(name.node, "name:")
	if m.failed = m.failed || !ok; ok {
		m.insert(name.node.Line+1, block, indent)
	}
}

// keyIndent returns the indent of a key in block style: what stands before it is blank, but for
// the dash of a list. It is false where the line is written otherwise, as through an alias.
func (m *manifest) keyIndent(n *document.Node, key string) (string, bool) {
	if n == nil || n.Path != "" || n.Line < 1 || n.Line > len(m.lines) || n.Column < 1 {
		return "", false
	}
	line := m.lines[n.Line-1]
	if n.Column > len(line) || !strings.HasPrefix(line[n.Column-1:], key) {
		return "", false
	}
	before := line[:n.Column-1]
	if strings.Trim(before, " -") != "" {
		return "", false
	}
	return strings.Repeat(" ", len(before)), true
}

// replace puts lines in place of one line.
func (m *manifest) replace(at int, lines []string, indent string) {
	m.edits = append(m.edits, finding.Edit{StartLine: at, EndLine: at, Lines: indentLines(indent, lines)})
}

// insert puts lines before a line.
func (m *manifest) insert(at int, lines []string, indent string) {
	m.edits = append(m.edits, finding.Edit{StartLine: at, EndLine: at - 1, Lines: indentLines(indent, lines)})
}

// firstKey returns the field of a map that is written first.
func firstKey(n *document.Node) *document.Node {
	var first *document.Node
	if n != nil {
		for _, below := range n.Fields {
			if below.Line > 0 && (first == nil || below.Line < first.Line) {
				first = below
			}
		}
	}
	return first
}

// indentLines puts an indent before each line.
func indentLines(indent string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = indent + line
	}
	return out
}

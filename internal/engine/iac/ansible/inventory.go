package ansible

import (
	"path"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 2 << 20

// Match reports whether a file with the name may be an inventory or configuration.
// What it is, Decode says by the content.
func Match(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch path.Ext(base) {
	// Any tool has .ini files; Decode rejects those without hosts.
	case ".ini":
		return true
	case ".cfg", ".conf":
		return strings.Contains(base, "ansible") || base == "defaults.cfg"
	}
	return base == "hosts" || base == "inventory"
}

// Decode reads a file. The document is nil when the file is neither an inventory
// nor a configuration. The error is errs.TooLarge.
func Decode(name string, text []byte) (*document.Document, error) {
	if len(text) > MaxSize {
		return nil, errs.E(errs.TooLarge, "%d bytes; inventories are read up to %d", len(text), MaxSize)
	}
	d := &document.Document{Platform: document.Ansible, Format: document.INI, Path: name, Text: text}
	sections := splitSections(string(text))
	switch path.Ext(strings.ToLower(name)) {
	case ".cfg", ".conf":
		d.Root, d.Lines = readConfiguration(sections)
	default:
		if !isInventory(sections) {
			return nil, nil
		}
		d.Root, d.Lines = readInventory(sections)
	}
	return d, nil
}

// A section is a part of an INI file under one name.
type section struct {
	name  string // "" before the first
	line  int
	lines []line
}

// A line is one line that is neither empty nor a comment.
type line struct {
	text   string
	number int
}

// splitSections cuts a text into its sections.
func splitSections(text string) []section {
	out := []section{{line: 1}}
	number := 0
	for l := range strings.Lines(text) {
		number++
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' || l[0] == ';' {
			continue
		}
		if l[0] == '[' {
			if name, _, ok := strings.Cut(l[1:], "]"); ok {
				out = append(out, section{name: strings.TrimSpace(name), line: number})
				continue
			}
		}
		last := &out[len(out)-1]
		last.lines = append(last.lines, line{l, number})
	}
	return out
}

// readConfiguration reads "key = value" lines. Values that are numbers, truth values or
// lists have that type.
func readConfiguration(sections []section) (map[string]any, *document.Node) {
	groups, at := map[string]any{}, map[string]*document.Node{}
	for _, s := range sections {
		if s.name == "" {
			continue
		}
		values, lines := map[string]any{}, map[string]*document.Node{}
		for _, l := range s.lines {
			key, value, ok := strings.Cut(l.text, "=")
			if !ok {
				continue
			}
			// ansible.cfg allows a comment behind a value only after " ;".
			value, _, _ = strings.Cut(value, " ;")
			key = strings.ToLower(strings.TrimSpace(key))
			values[key] = typedSetting(strings.TrimSpace(value))
			lines[key] = &document.Node{Line: l.number}
		}
		groups[s.name] = values
		at[s.name] = &document.Node{Line: s.line, Fields: lines}
	}
	return map[string]any{"groups": groups},
		&document.Node{Line: 1, Fields: map[string]*document.Node{"groups": {Line: 1, Fields: at}}}
}

// typedSetting gives a value its type.
func typedSetting(s string) any {
	if b, err := strconv.ParseBool(s); err == nil {
		return b
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	if s == "[]" {
		return []any{}
	}
	if !strings.Contains(s, ",") {
		return s
	}
	list := []any{}
	for part := range strings.SplitSeq(s, ",") {
		list = append(list, strings.TrimSpace(part))
	}
	return list
}

// isInventory reports whether the text has hosts in groups: variables of Ansible,
// or sections with what only inventories have.
func isInventory(sections []section) bool {
	groups := false
	for _, s := range sections {
		if strings.HasSuffix(s.name, ":children") || strings.HasSuffix(s.name, ":vars") {
			return true
		}
		for _, l := range s.lines {
			if strings.Contains(l.text, "ansible_") {
				return true
			}
			// "web1.example.org" or "web[01:20].example.org ansible_port=22".
			host, rest, _ := strings.Cut(l.text, " ")
			if strings.ContainsAny(host, "=:") && !strings.Contains(host, "[") ||
				rest != "" && !strings.Contains(rest, "=") {
				return false // "key=value", as any other INI file has it
			}
			// A list of plain words could be anything; a name with a dot in a section is taken for
			// a host.
			groups = groups || s.name != "" && strings.Contains(host, ".")
		}
	}
	return groups
}

// A group is a group of hosts.
type group struct {
	// of the first mention
	line int
	// variables by host
	hosts map[string]any
	lines map[string]*document.Node
	// of [name:vars]
	vars map[string]any
	// names in [name:children], in order
	children []string
	// another group contains it, so it is not at the top
	child bool
}

// readInventory reads hosts with their variables into groups.
func readInventory(sections []section) (map[string]any, *document.Node) {
	groups := map[string]*group{}
	get := func(name string, number int) *group {
		if groups[name] == nil {
			groups[name] = &group{line: number, hosts: map[string]any{}, lines: map[string]*document.Node{},
				vars: map[string]any{}}
		}
		return groups[name]
	}
	for _, s := range sections {
		name, kind, _ := strings.Cut(s.name, ":")
		if name == "" {
			name = "ungrouped"
		}
		if s.name == "" && len(s.lines) == 0 {
			continue
		}
		g := get(name, s.line)
		for _, l := range s.lines {
			switch kind {
			case "children":
				child, _, _ := strings.Cut(l.text, " ")
				get(child, l.number).child = true
				g.children = append(g.children, child)
			case "vars":
				if key, value, ok := strings.Cut(l.text, "="); ok {
					g.vars[strings.TrimSpace(key)] = typedVariable(strings.TrimSpace(value))
				}
			default:
				g.addHost(l)
			}
		}
	}
	children, at := map[string]any{}, map[string]*document.Node{}
	for name, g := range groups {
		if !g.child {
			children[name], at[name] = g.toDocument(groups, map[string]bool{name: true})
		}
	}
	return map[string]any{"all": map[string]any{"children": children}},
		&document.Node{Line: 1, Fields: map[string]*document.Node{
			"all": {Line: 1, Fields: map[string]*document.Node{"children": {Line: 1, Fields: at}}},
		}}
}

// addHost reads "name variable=value …".
func (g *group) addHost(l line) {
	words := strings.Fields(l.text)
	vars, lines := map[string]any{}, map[string]*document.Node{}
	for _, w := range words[1:] {
		if w[0] == '#' {
			break
		}
		if key, value, ok := strings.Cut(w, "="); ok {
			vars[key], lines[key] = typedVariable(value), &document.Node{Line: l.number}
		}
	}
	g.hosts[words[0]] = vars
	g.lines[words[0]] = &document.Node{Line: l.number, Fields: lines}
}

// typedVariable gives the value of a host's variable its type.
func typedVariable(s string) any {
	s = strings.Trim(s, `"'`)
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	if b, err := strconv.ParseBool(s); err == nil {
		return b
	}
	return s
}

// toDocument returns a group with the groups in it; open are those around it, so that a
// group in itself ends.
func (g *group) toDocument(groups map[string]*group, open map[string]bool) (map[string]any, *document.Node) {
	out := map[string]any{}
	at := &document.Node{Line: g.line, Fields: map[string]*document.Node{}}
	if len(g.hosts) > 0 {
		out["hosts"], at.Fields["hosts"] = g.hosts, &document.Node{Line: g.line, Fields: g.lines}
	}
	if len(g.vars) > 0 {
		out["vars"], at.Fields["vars"] = g.vars, &document.Node{Line: g.line}
	}
	children, lines := map[string]any{}, map[string]*document.Node{}
	for _, name := range g.children {
		// A group stands once below another, however deep groups name each other.
		if open[name] {
			continue
		}
		open[name] = true
		children[name], lines[name] = groups[name].toDocument(groups, open)
	}
	if len(children) > 0 {
		out["children"], at.Fields["children"] = children, &document.Node{Line: g.line, Fields: lines}
	}
	return out, at
}

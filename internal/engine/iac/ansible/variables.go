package ansible

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file finds the variables that files define.

// decodedFile is one decoded file of the tree.
type decodedFile struct {
	// the documents; nil when the file is encrypted or no YAML
	trees []document.Tree
	text  []byte
	// of reading or decoding
	err error
	// the file exists
	there  bool
	hidden bool // encrypted
}

// readFile decodes a file, at most once.
func (p *project) readFile(name string) *decodedFile {
	if f, ok := p.cache[name]; ok {
		return f
	}
	f := &decodedFile{}
	p.cache[name] = f
	// A name from a template may lead out of the tree ("../../etc/passwd").
	if !fs.ValidPath(name) {
		f.err = fs.ErrInvalid
		return f
	}
	if f.text, f.err = fs.ReadFile(p.files, name); f.err != nil {
		return f
	}
	f.there = true
	// An encrypted file begins with "$ANSIBLE_VAULT;1.1;AES256". It defines variables that nobody
	// can see, so undefined ones are unknown instead.
	if f.hidden = strings.HasPrefix(string(f.text), "$ANSIBLE_VAULT"); !f.hidden {
		f.trees, f.err = document.DecodeYAML(f.text)
	}
	return f
}

// fileVars returns the variables that a file defines, and whether it is encrypted.
func (p *project) fileVars(name string) (map[string]any, bool) {
	f := p.readFile(name)
	if len(f.trees) == 0 {
		return nil, f.hidden
	}
	return visibleVars(f.trees[0].Root, f.trees[0].Lines), f.hidden
}

// visibleVars leaves values as they are, but those with a tag, such as encrypted ones:
// nobody knows them.
func visibleVars(root map[string]any, n *document.Node) map[string]any {
	out := make(map[string]any, len(root))
	for name, v := range root {
		out[name] = withoutTagged(v, n.Fields[name])
	}
	return out
}

// withoutTagged replaces values with a tag by Unknown.
func withoutTagged(v any, n *document.Node) any {
	if n == nil {
		return v
	}
	// !vault marks one encrypted value, !unsafe one that is no template.
	if n.Tag != "" {
		return document.Unknown{}
	}
	switch v := v.(type) {
	case map[string]any:
		return visibleVars(v, n)
	case []any:
		out := slices.Clone(v)
		for i := range min(len(out), len(n.Items)) {
			out[i] = withoutTagged(v[i], n.Items[i])
		}
		return out
	}
	return v
}

// varsEndings are those that files of variables and tasks may have.
var varsEndings = []string{"", ".yml", ".yaml", ".json"}

// findFile returns the first file of the name, with one of the endings.
func (p *project) findFile(name string) (string, bool) {
	for _, end := range varsEndings {
		if f := p.readFile(name + end); f.there {
			return name + end, true
		}
	}
	return "", false
}

// varsFiles lists the files of variables of a folder, or the file of the name.
func (p *project) varsFiles(name string) []string {
	if one, ok := p.findFile(name); ok {
		return []string{one}
	}
	var out []string
	for _, e := range p.readFolder(name) {
		if !e.IsDir() && slices.Contains(varsEndings, path.Ext(e.Name())) {
			out = append(out, path.Join(name, e.Name()))
		}
	}
	return out
}

// readFolder lists a folder; one that is not there is empty.
func (p *project) readFolder(dir string) []fs.DirEntry {
	if !fs.ValidPath(dir) {
		return nil
	}
	entries, err := fs.ReadDir(p.files, dir)
	if err != nil {
		return nil
	}
	return entries
}

// A definition is a variable of a group or of a host.
type definition struct {
	group string // "" is a host's
	value any
}

// readVarsFolder puts the variables of a folder's files and folders under the group that each is
// named after; those of hosts have none. It reports whether one is encrypted.
func (p *project) readVarsFolder(folder string, ofHosts bool, put func(string, map[string]any)) (hidden bool) {
	for _, e := range p.readFolder(folder) {
		group := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		if ofHosts {
			group = ""
		}
		names := []string{path.Join(folder, e.Name())}
		if e.IsDir() {
			// group_vars/web/ may be a folder of files, which Ansible joins.
			names = p.varsFiles(names[0])
		}
		for _, name := range names {
			values, encrypted := p.fileVars(name)
			put(group, values)
			hidden = hidden || encrypted
		}
	}
	return hidden
}

// groupVars returns the variables of groups and hosts that may apply to plays of the
// folder.
func (p *project) groupVars(dir string) (defined map[string][]definition, hidden bool) {
	if known, ok := p.inventories[dir]; ok {
		return known.defined, known.hidden
	}
	defined = map[string][]definition{}
	put := func(group string, values map[string]any) {
		for name, v := range values {
			defined[name] = append(defined[name], definition{group, v})
		}
	}
	for _, base := range p.dirs {
		if !isNear(base, dir) {
			continue
		}
		for _, kind := range []string{"group_vars", "host_vars"} {
			hidden = p.readVarsFolder(path.Join(base, kind), kind == "host_vars", put) || hidden
		}
	}
	for _, d := range p.hosts {
		if isNear(path.Dir(d.Path), dir) {
			eachGroup(d.Root, put, 0)
		}
	}
	p.inventories[dir] = inventoryVars{defined, hidden}
	return defined, hidden
}

// isNear reports whether a folder is around or in another.
func isNear(a, b string) bool {
	in := func(outer, inner string) bool {
		return outer == "." || outer == inner || strings.HasPrefix(inner, outer+"/")
	}
	// Inventories lie beside the playbooks, above them, or in a folder such as inventories/prod.
	return in(a, b) || in(b, a)
}

// eachGroup calls put with the variables of an inventory's groups and hosts.
func eachGroup(groups map[string]any, put func(string, map[string]any), depth int) {
	if depth > document.MaxDepth {
		return
	}
	for name, g := range groups {
		group, _ := g.(map[string]any)
		vars, _ := group["vars"].(map[string]any)
		put(name, vars)
		hosts, _ := group["hosts"].(map[string]any)
		for _, h := range hosts {
			values, _ := h.(map[string]any)
			put("", values)
		}
		children, _ := group["children"].(map[string]any)
		eachGroup(children, put, depth+1)
	}
}

// valuesOfGroup returns the values that a group with a name defines.
func valuesOfGroup(all []definition, group string) []any {
	var out []any
	for _, d := range all {
		if d.group == group && group != "" {
			out = append(out, d.value)
		}
	}
	return out
}

// hostLayer makes the layer of what groups and hosts define for a play.
func hostLayer(defined map[string][]definition, hosts string) layer {
	out := layer{}
	// localhost is in the group "all" and has variables of its own, but is in no other group.
	local := hosts == "localhost" || hosts == "127.0.0.1"
	for name, all := range defined {
		sure, others := valuesOfGroup(all, hosts), []any{}
		if len(sure) == 0 {
			sure = valuesOfGroup(all, "all")
		}
		for _, d := range all {
			if d.group != "all" && d.group != hosts && (!local || d.group == "") {
				others = append(others, d.value)
			}
		}
		every := append(slices.Clone(sure), others...)
		switch {
		case len(every) == 0:
		// Production and staging differ: the value depends on the inventory.
		case !allEqual(every):
			out[name] = candidate{value: document.Unknown{}}
		default:
			out[name] = candidate{value: every[0], maybe: len(sure) == 0}
		}
	}
	return out
}

// allEqual reports whether all values are the same.
func allEqual(values []any) bool {
	for _, v := range values[1:] {
		if fmt.Sprint(v) != fmt.Sprint(values[0]) {
			return false
		}
	}
	return true
}

// readNamedVars reads the first file of the name in the folders.
func (p *project) readNamedVars(dirs []string, name string) (l layer, found, hidden bool) {
	for _, dir := range dirs {
		if file, ok := p.findFile(path.Join(dir, name)); ok {
			values, encrypted := p.fileVars(file)
			return certainLayer(values), true, encrypted
		}
	}
	return layer{}, false, false
}

// readVarsFiles makes the layer of files that are named by a text, of which later ones are
// stronger. A text that is not known names all files that match.
func (p *project) readVarsFiles(s *scope, dirs []string, name any) (l layer, found, hidden bool) {
	l = layer{}
	if list, isList := name.([]any); isList { // the first that is there
		for _, one := range list {
			below, also, encrypted := p.readVarsFiles(s, dirs, one)
			for name, c := range below {
				l.addPossible(name, c.value)
			}
			found, hidden = found || also, hidden || encrypted
		}
		return l, found, hidden
	}
	text, _ := name.(string)
	with, ok := s.computeText(text)
	if exact, isText := with.(string); ok && isText {
		return p.readNamedVars(dirs, exact)
	}
	for _, file := range p.matchingFiles(dirs, text) {
		values, encrypted := p.fileVars(file)
		found, hidden = true, hidden || encrypted
		for name, v := range values {
			l.addPossible(name, v)
		}
	}
	return l, found, hidden
}

// addPossible adds a value that a variable may have. With two different ones it is unknown.
func (l layer) addPossible(name string, v any) {
	if before, has := l[name]; has && fmt.Sprint(before.value) != fmt.Sprint(v) {
		v = document.Unknown{}
	}
	l[name] = candidate{value: v, maybe: true}
}

// matchingFiles lists the files that a template of a name may stand for.
func (p *project) matchingFiles(dirs []string, text string) []string {
	if strings.Contains(text, "{%") {
		return nil
	}
	pattern := placeholder.ReplaceAllString(text, "*")
	var out []string
	for _, dir := range dirs {
		parent := path.Dir(path.Join(dir, pattern))
		// A pattern in the folder could match the whole tree.
		if strings.Contains(parent, "*") {
			continue
		}
		for _, e := range p.readFolder(parent) {
			name := path.Join(parent, e.Name())
			for _, end := range varsEndings {
				if ok, _ := path.Match(path.Base(pattern)+end, e.Name()); ok && !e.IsDir() &&
					!slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// collectFacts adds the variables that a task sets, given as a map or as "name=value" words.
func collectFacts(arguments any, out layer) {
	facts, _ := arguments.(map[string]any)
	for name := range facts {
		out[name] = candidate{value: document.Unknown{}}
	}
	text, _ := arguments.(string)
	for word := range strings.FieldsSeq(text) {
		if name, _, ok := strings.Cut(word, "="); ok {
			out[name] = candidate{value: document.Unknown{}}
		}
	}
}

// collectRuntimeVars collects the variables that tasks set while they run, in any file:
// their values are not known then.
func collectRuntimeVars(v any, out layer, depth int) {
	if depth > document.MaxDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["register"].(string); ok {
			out[name] = candidate{value: document.Unknown{}}
		}
		collectFacts(v["set_fact"], out)
		collectFacts(v["ansible.builtin.set_fact"], out)
		prompts, _ := v["vars_prompt"].([]any)
		for _, p := range prompts {
			if one, ok := p.(map[string]any); ok {
				if name, ok := one["name"].(string); ok {
					out[name] = candidate{value: document.Unknown{}}
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			collectRuntimeVars(v[key], out, depth+1)
		}
	case []any:
		for _, e := range v {
			collectRuntimeVars(e, out, depth+1)
		}
	}
}

package ansible

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file goes from plays to roles and files of tasks.

// Limits of one tree.
const (
	maxNested = 10      // files and roles in each other
	maxVisits = 2000    // files of tasks, as plays use them
	maxUses   = 4       // of one file, with different values
	maxCopies = 16      // of a task in a loop
	maxValues = 500_000 // computed
)

// A project is a tree with Ansible's files.
type project struct {
	// the tree; nothing outside of it is read
	files fs.FS
	dirs  []string // that may hold variables of groups
	// each file is decoded once, by its path
	cache map[string]*decodedFile
	hosts []*document.Document // inventories
	// by the folder of the playbook
	inventories map[string]inventoryVars
	// shared by all playbooks
	budget *budget
	// files of tasks evaluated so far, at most maxVisits
	visits int

	out  map[string][]*document.Document // by the file
	seen map[string]map[string]bool      // what files become, by the file
	// variables set at run time by any task; their values are unknown
	facts layer

	rendered []Rendered
}

// inventoryVars is what the inventories near a folder define.
type inventoryVars struct {
	defined map[string][]definition
	hidden  bool
}

// Evaluate returns the documents with playbooks and files of tasks in the form that they
// have where they are used, others as they are; paths are the files of the tree. What
// leads nowhere is among the gaps of the documents. It also returns the templates that tasks
// fill in and that are infrastructure code themselves. Nothing given is changed.
func Evaluate(files fs.FS, paths []string, docs []*document.Document) ([]*document.Document, []Rendered) {
	p := &project{
		files: files, cache: map[string]*decodedFile{}, inventories: map[string]inventoryVars{},
		budget: &budget{left: maxValues},
		out:    map[string][]*document.Document{}, seen: map[string]map[string]bool{}, facts: layer{},
	}
	lists := map[string]*document.Document{}
	var out []*document.Document
	for _, d := range docs {
		switch {
		// Only the first document of a file: a playbook has one.
		case d.Platform == document.Ansible && isList(d) && lists[d.Path] == nil:
			lists[d.Path] = d
			collectRuntimeVars(d.Root[document.Playbooks], p.facts, 0)
			continue
		case d.Platform == document.Ansible && (d.Root["all"] != nil || d.Root["ungrouped"] != nil):
			p.hosts = append(p.hosts, d)
		}
		out = append(out, d)
	}
	if len(lists) == 0 {
		return docs, nil
	}
	p.dirs = listFolders(paths)
	names := slices.Sorted(maps.Keys(lists))
	for _, name := range names {
		if isPlaybook(lists[name]) {
			p.evaluatePlaybook(lists[name])
		}
	}
	for _, name := range names {
		if len(p.out[name]) == 0 {
			// Roles without a playbook, as in a repository of a collection, are evaluated with
			// their defaults.
			p.evaluateUnused(lists[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.out)) {
		out = append(out, p.out[name]...)
	}
	if p.budget.left < 0 && len(out) > 0 {
		last := out[len(out)-1]
		last.Gaps = append(last.Gaps, document.Gap{Code: "too-complex", Path: last.Path,
			Message: fmt.Sprintf("only the first %d values of playbooks are computed", maxValues)})
	}
	return out, p.rendered
}

// listFolders lists the folders of files, and those around them.
func listFolders(paths []string) []string {
	all := map[string]bool{".": true}
	for _, name := range paths {
		for dir := path.Dir(name); !all[dir]; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	var out []string
	for dir := range all {
		// The folders themselves define nothing; their parents are what group_vars belongs to.
		if base := path.Base(dir); base != "group_vars" && base != "host_vars" && base != "tasks" &&
			base != "handlers" && base != "templates" {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// isList reports whether a document is a list of plays or tasks.
func isList(d *document.Document) bool {
	_, ok := d.Root[document.Playbooks].([]any)
	return ok && d.Lines != nil && d.Lines.Fields[document.Playbooks] != nil
}

// isPlaybook reports whether a list is one of plays.
func isPlaybook(d *document.Document) bool {
	list, _ := d.Root[document.Playbooks].([]any)
	return slices.ContainsFunc(list, func(v any) bool {
		one, _ := v.(map[string]any)
		return one["hosts"] != nil || one["import_playbook"] != nil || one["ansible.builtin.import_playbook"] != nil
	})
}

// taskList is a list of tasks with its positions, in a file.
type taskList struct {
	file  string
	items []any
	nodes []*document.Node
}

// addTask appends a task with its positions.
func (l *taskList) addTask(v any, n *document.Node) {
	l.items, l.nodes = append(l.items, v), append(l.nodes, n)
}

// listAt reads the list under a key of a map.
func listAt(file string, m map[string]any, n *document.Node, key string) taskList {
	items, _ := m[key].([]any)
	at := n.Fields[key]
	if at == nil || len(items) != len(at.Items) {
		return taskList{file: file}
	}
	return taskList{file, items, at.Items}
}

// taskPlace is where tasks run.
type taskPlace struct {
	dir  string // of the playbook
	role string // folder of the role; "" in a play
	deep int
	gaps *[]document.Gap // of the file that is looked at
	file string
}

// evaluatePlaybook evaluates the plays of a file.
func (p *project) evaluatePlaybook(d *document.Document) {
	own, made := *d, taskList{file: d.Path}
	own.Gaps = nil
	all := listAt(d.Path, d.Root, d.Lines, document.Playbooks)
	for i, v := range all.items {
		play, ok := v.(map[string]any)
		n := all.nodes[i]
		if !ok || n == nil {
			continue
		}
		for _, key := range []string{"import_playbook", "ansible.builtin.import_playbook"} {
			if name, ok := play[key].(string); ok && !isTemplate(name) && strings.HasPrefix(path.Ext(name), ".y") &&
				p.readFile(path.Join(path.Dir(d.Path), name)).err != nil {
				own.Gaps = append(own.Gaps, newGap(d.Path, n.Fields[key],
					"the playbook %s is not analyzed: it is not "+
						"part of the tree, and nothing is fetched", name))
			}
		}
		s, at := p.playScope(play, n, d, &own.Gaps)
		// The play without its tasks stays an item of its own: queries check "become", "hosts" and
		// others there.
		rest, restAt := maps.Clone(play), *n
		restAt.Fields = maps.Clone(n.Fields)
		for _, key := range taskKeys {
			delete(rest, key)
			delete(restAt.Fields, key)
		}
		made.addTask(rest, &restAt)
		p.evaluateRoles(listAt(d.Path, play, n, "roles"), s, at)
		for _, key := range taskKeys {
			p.evaluateTasks(listAt(d.Path, play, n, key), s, at, &made)
		}
	}
	own.Root, own.Lines = made.toTree(d)
	p.out[d.Path] = append(p.out[d.Path], &own)
}

// taskKeys are the lists of tasks of a play.
var taskKeys = []string{"pre_tasks", "tasks", "post_tasks", "handlers"}

// toTree returns the list in the form of a document.
func (l *taskList) toTree(d *document.Document) (map[string]any, *document.Node) {
	at := *d.Lines
	below := *d.Lines.Fields[document.Playbooks]
	below.Items = l.nodes
	at.Fields = map[string]*document.Node{document.Playbooks: &below}
	if l.items == nil {
		l.items = []any{}
	}
	return map[string]any{document.Playbooks: l.items}, &at
}

// playScope makes the scope of a play.
func (p *project) playScope(play map[string]any, n *document.Node, d *document.Document,
	gaps *[]document.Gap) (*scope, taskPlace) {
	dir := path.Dir(d.Path)
	hosts, _ := play["hosts"].(string)
	s := p.baseScope(dir, hosts)
	if vars, ok := play["vars"].(map[string]any); ok && n.Fields["vars"] != nil {
		s = s.withLayers(certainLayer(visibleVars(vars, n.Fields["vars"])))
	}
	listed := listAt(d.Path, play, n, "vars_files")
	for i, one := range listed.items {
		// An item that is a list: the first file that exists is used.
		if m, ok := one.(map[string]any); ok {
			one = m[document.Playbooks]
		}
		l, found, hidden := p.readVarsFiles(s, []string{dir}, one)
		if !found {
			*gaps = append(*gaps, newGap(d.Path, listed.nodes[i],
				"the variables of %v are not known: it is not part of "+
					"the tree", one))
		}
		s = s.withLayers(l)
		// With a file missing or encrypted an undefined variable may be defined there.
		s.hidden = s.hidden || hidden || !found
	}
	return s, taskPlace{dir: dir, gaps: gaps, file: d.Path}
}

// baseScope is the scope of groups and hosts, and of what tasks set.
func (p *project) baseScope(dir, hosts string) *scope {
	defined, hidden := p.groupVars(dir)
	s := &scope{hidden: hidden, open: map[string]bool{}, budget: p.budget}
	return s.withLayers(hostLayer(defined, hosts))
}

// newGap is a reference that leads nowhere.
func newGap(file string, n *document.Node, format string, args ...any) document.Gap {
	g := document.Gap{Code: "unavailable", Path: file, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		g.Line = n.Line
	}
	return g
}

// evaluateRoles evaluates the roles of a play, or those that a role depends on.
func (p *project) evaluateRoles(l taskList, s *scope, at taskPlace) {
	for i, v := range l.items {
		name, _ := v.(string)
		given := layer{}
		if m, ok := v.(map[string]any); ok {
			if name, _ = m["role"].(string); name == "" {
				name, _ = m["name"].(string)
			}
			given = roleParameters(m, l.nodes[i])
		}
		p.evaluateRole(roleUse{name, "main", given, l.nodes[i]}, s, at)
	}
}

// roleParameters are the variables that a role is given.
func roleParameters(m map[string]any, n *document.Node) layer {
	out := layer{}
	for key, v := range m {
		switch key {
		// Keywords of a role entry; every other key is a parameter.
		case "role", "name", "tags", "when", "vars", "become", "become_user", "become_method", "delegate_to", "src",
			"version":
		default:
			out[key] = candidate{value: v}
		}
	}
	if vars, ok := m["vars"].(map[string]any); ok && n != nil && n.Fields["vars"] != nil {
		maps.Copy(out, certainLayer(visibleVars(vars, n.Fields["vars"])))
	}
	return out
}

// roleUse is a use of a role.
type roleUse struct {
	name  string
	from  string // the file of its tasks
	given layer
	node  *document.Node
}

// evaluateRole evaluates one role of the tree.
func (p *project) evaluateRole(u roleUse, s *scope, at taskPlace) {
	name, file := u.name, at.file
	text, ok := s.computeText(name)
	if plain, is := text.(string); ok && is {
		name = plain
	}
	if name == "" {
		return
	}
	dir, found := p.findRole(name, at)
	if !found {
		why := "it is not part of the tree, and nothing is fetched"
		if isTemplate(name) {
			why = "its name is not known"
		}
		*at.gaps = append(*at.gaps, newGap(file, u.node, "the role %s is not analyzed: %s", name, why))
		return
	}
	// Roles may depend on each other in a circle; at is a copy, so siblings do not add up.
	if at.deep++; at.deep > maxNested {
		g := newGap(file, u.node, "roles are inside each other too deeply, or in a circle")
		g.Code = "too-complex"
		*at.gaps = append(*at.gaps, g)
		return
	}
	inner := p.roleScope(dir, s).withLayers(u.given)
	below := at
	below.role = dir
	if meta, ok := p.findFile(path.Join(dir, "meta", "main")); ok {
		if trees := p.readFile(meta).trees; len(trees) > 0 {
			below.file = meta
			p.evaluateRoles(listAt(meta, trees[0].Root, trees[0].Lines, "dependencies"), inner, below)
		}
	}
	// Handlers are evaluated even when nothing notifies them: queries check them as well.
	for _, part := range [][2]string{{"tasks", u.from}, {"handlers", "main"}} {
		if name, ok := p.findFile(path.Join(dir, part[0], part[1])); ok {
			p.evaluateFile(name, inner, below)
		}
	}
}

// roleScope adds the variables and defaults of a role to a scope.
func (p *project) roleScope(dir string, s *scope) *scope {
	merged := func(part string) (map[string]any, bool) {
		out, hidden := map[string]any{}, false
		for _, name := range p.varsFiles(path.Join(dir, part, "main")) {
			values, encrypted := p.fileVars(name)
			maps.Copy(out, values)
			hidden = hidden || encrypted
		}
		return out, hidden
	}
	vars, one := merged("vars")
	defaults, two := merged("defaults")
	out := s.withLayers(certainLayer(vars)).withDefaults(certainLayer(defaults))
	out.hidden = out.hidden || one || two
	return out
}

// findRole finds a role: beside the playbook and around it, beside the role that refers to
// it.
func (p *project) findRole(name string, at taskPlace) (string, bool) {
	if isTemplate(name) {
		return "", false
	}
	var tries []string
	if at.role != "" {
		tries = append(tries, path.Join(path.Dir(at.role), name))
	}
	// Ansible also searches roles_path of the configuration; the folders above cover the usual
	// layouts.
	for dir := at.dir; ; dir = path.Dir(dir) {
		tries = append(tries, path.Join(dir, "roles", name), path.Join(dir, name))
		if dir == "." || dir == "/" {
			break
		}
	}
	for _, dir := range tries {
		if slices.ContainsFunc(p.readFolder(dir), func(e fs.DirEntry) bool {
			return e.IsDir() && slices.Contains([]string{"tasks", "defaults", "meta", "handlers", "vars"}, e.Name())
		}) {
			return dir, true
		}
	}
	return "", false
}

// evaluateFile evaluates a file of tasks as it is used. The number of uses is bounded:
// roles that include each other have no end.
func (p *project) evaluateFile(name string, s *scope, at taskPlace) {
	if p.visits++; p.visits > maxVisits || at.deep > maxNested {
		g := newGap(at.file, nil, "roles and files of tasks are used too often, or in a circle: %s is not followed",
			name)
		g.Code = "too-complex"
		*at.gaps = append(*at.gaps, g)
		return
	}
	f := p.readFile(name)
	var malformed *document.Malformed
	if errors.As(f.err, &malformed) {
		*at.gaps = append(*at.gaps, document.Gap{Code: "malformed", Path: name, Line: malformed.Line,
			Message: "it cannot be read: " + malformed.Message})
	}
	if len(f.trees) == 0 {
		return
	}
	d := &document.Document{Platform: document.Ansible, Format: document.YAML, Path: name, Root: f.trees[0].Root,
		Lines: f.trees[0].Lines, Text: f.text}
	if !isList(d) {
		return
	}
	made := taskList{file: name}
	at.file, at.gaps = name, &d.Gaps
	p.evaluateTasks(listAt(name, d.Root, d.Lines, document.Playbooks), s, at, &made)
	d.Root, d.Lines = made.toTree(d)
	// Two uses with equal results would only double the findings.
	key := fmt.Sprint(d.Root) // maps are printed in order
	if p.seen[name] == nil {
		p.seen[name] = map[string]bool{}
	}
	switch {
	case p.seen[name][key]:
		return
	case len(p.seen[name]) >= maxUses:
		g := newGap(name, nil, "only the first %d different uses of the file are analyzed", maxUses)
		g.Code = "too-complex"
		if last := p.out[name][maxUses-1]; !slices.Contains(last.Gaps, g) {
			last.Gaps = append(last.Gaps, g)
		}
		return
	}
	p.seen[name][key] = true
	p.out[name] = append(p.out[name], d)
}

// evaluateUnused evaluates a file of tasks that nothing of the tree uses, or that is named
// in a way that cannot be followed.
func (p *project) evaluateUnused(d *document.Document) {
	dir := path.Dir(d.Path)
	at := taskPlace{dir: dir, file: d.Path, gaps: &[]document.Gap{}}
	s := p.baseScope(dir, "")
	if base := path.Base(dir); base == "tasks" || base == "handlers" {
		at.role, at.dir = path.Dir(dir), path.Dir(path.Dir(dir))
		if path.Base(at.dir) == "roles" {
			at.dir = path.Dir(at.dir)
		}
		s = p.roleScope(at.role, p.baseScope(at.dir, ""))
	}
	p.evaluateFile(d.Path, s, at)
	if len(p.out[d.Path]) == 0 {
		p.out[d.Path] = []*document.Document{d} // the limits
	}
}

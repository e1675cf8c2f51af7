package ansible

import (
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file looks at tasks with the variables that hold for them.

// unevaluated are the keys of a task that are no templates, or are looked at otherwise:
// queries find a task by its name as it is written.
var unevaluated = map[string]bool{
	"name": true, "when": true, "register": true, "loop": true, "loop_control": true, "vars": true, "until": true,
	"changed_when": true,
	"failed_when":  true, "block": true, "rescue": true, "always": true, "notify": true, "listen": true, "tags": true,
}

// evaluateTasks adds tasks as they run; blocks become their tasks.
func (p *project) evaluateTasks(l taskList, s *scope, at taskPlace, made *taskList) {
	for i, v := range l.items {
		task, ok := v.(map[string]any)
		n := l.nodes[i]
		if !ok || n == nil {
			continue
		}
		// The YAML reader wraps a list inside of a list in a map with this key.
		if nested, is := task[document.Playbooks].([]any); is && len(task) == 1 {
			p.evaluateTasks(taskList{l.file, nested, n.Fields[document.Playbooks].Items}, s, at, made)
			continue
		}
		// Variables that some task sets at run time (set_fact, register) have no known value.
		inner := s.withLayers(p.facts)
		if vars, ok := task["vars"].(map[string]any); ok && n.Fields["vars"] != nil {
			inner = inner.withLayers(certainLayer(visibleVars(vars, n.Fields["vars"])))
		}
		if p.evaluateBlock(l, i, inner, at, made) {
			continue
		}
		// include_vars affects the tasks after it, thus the outer scope and not only this task.
		if l, ok := p.includedVars(task, n, inner, at); ok {
			s = s.withLayers(l)
		}
		p.followIncludes(task, n, inner, at)
		for _, turn := range loopScopes(task, n, inner) {
			p.renderTemplate(task, n, turn, at)
			made.addTask(evaluateTask(task, n, turn))
		}
	}
}

// evaluateBlock adds the tasks of a block in the list; false if the task there is none.
func (p *project) evaluateBlock(l taskList, i int, s *scope, at taskPlace, made *taskList) bool {
	task, _ := l.items[i].(map[string]any)
	block := false
	for _, key := range []string{"block", "rescue", "always"} {
		if _, has := task[key].([]any); has && s.budget.depth < document.MaxDepth {
			// The depth is bounded because blocks nest in each other as deeply as the file does.
			block = true
			s.budget.depth++
			p.evaluateTasks(listAt(l.file, task, l.nodes[i], key), s, at, made)
			s.budget.depth--
		}
	}
	return block
}

// evaluateTask evaluates the values of a task.
func evaluateTask(task map[string]any, n *document.Node, s *scope) (map[string]any, *document.Node) {
	out, at := maps.Clone(task), *n
	at.Fields = maps.Clone(n.Fields)
	for key, v := range task {
		if !unevaluated[key] && !strings.HasPrefix(key, "with_") && n.Fields[key] != nil {
			out[key], at.Fields[key] = s.evaluateValue(v, n.Fields[key])
		}
	}
	return out, &at
}

// loopVariable returns the name of the variable that holds the item of a task's turn.
func loopVariable(task map[string]any) string {
	control, _ := task["loop_control"].(map[string]any)
	if name, ok := control["loop_var"].(string); ok {
		return name
	}
	return "item"
}

// loopScopes returns the scopes of a task's turns: one for each item of a known list.
func loopScopes(task map[string]any, n *document.Node, s *scope) []*scope {
	item := loopVariable(task)
	looping := false
	for key, v := range task {
		plain := key == "loop" || key == "with_items" || key == "with_list"
		// with_dict, with_fileglob and other lookups give items that are not computed here.
		if looping = looping || plain || strings.HasPrefix(key, "with_"); !plain {
			continue
		}
		if items, is := s.computeWhole(v); is == known {
			if list, ok := items.([]any); ok && len(list) > 0 {
				// Otherwise a loop over twenty names would give twenty equal findings.
				if !mentionsVariable(task, item) {
					return []*scope{s} // all turns are the same
				}
				var out []*scope
				// The first items stand for all: more copies would only repeat the finding.
				for _, one := range list[:min(len(list), maxCopies)] {
					out = append(out, s.withLayers(layer{item: {value: asLiteral(one)}}))
				}
				return out
			}
		}
	}
	if looping {
		return []*scope{s.withLayers(layer{item: {value: document.Unknown{}}})}
	}
	return []*scope{s}
}

// mentionsVariable reports whether a template in the value may name the variable.
func mentionsVariable(v any, variable string) bool {
	switch v := v.(type) {
	case string:
		return isTemplate(v) && strings.Contains(v, variable)
	case map[string]any:
		for _, e := range v {
			if mentionsVariable(e, variable) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return mentionsVariable(e, variable) })
	}
	return false
}

// asLiteral keeps a computed value from being computed again: one that looks like a
// template is not known.
func asLiteral(v any) any {
	// A value from outside that contains "{{" would run as an expression (CVE-2021-3583).
	if text, ok := v.(string); ok && isTemplate(text) {
		return document.Unknown{}
	}
	return v
}

// moduleCall returns the argument of a task that calls one of the modules, by its short
// name.
func moduleCall(task map[string]any, n *document.Node, modules ...string) (string, any, *document.Node) {
	for _, m := range modules {
		// The same module under its short name and its two collections.
		for _, prefix := range []string{"", "ansible.builtin.", "ansible.legacy."} {
			if v, ok := task[prefix+m]; ok && n.Fields[prefix+m] != nil {
				return m, v, n.Fields[prefix+m]
			}
		}
	}
	return "", nil, nil
}

// argumentText returns a text of a module's arguments, which may be one text: "x" or
// "file=x name=y".
func argumentText(v any, keys ...string) string {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keys {
			if text, ok := v[key].(string); ok {
				return text
			}
		}
	case string:
		for word := range strings.FieldsSeq(v) {
			key, value, ok := strings.Cut(word, "=")
			for _, want := range keys {
				if ok && key == want {
					return strings.Trim(value, `'"`)
				}
			}
		}
		// A free-form argument without "key=": the text itself, such as "include_tasks:
		// install.yml".
		if !strings.Contains(v, "=") || strings.Contains(v, "{{") {
			return v
		}
	}
	return ""
}

// includedVars returns the variables that a task reads from files.
func (p *project) includedVars(task map[string]any, n *document.Node, s *scope, at taskPlace) (layer, bool) {
	module, v, place := moduleCall(task, n, "include_vars")
	if module == "" {
		return nil, false
	}
	name := argumentText(v, "file", "_raw_params")
	if name == "" {
		name = "{{ dir }}"
	}
	dirs := []string{path.Dir(at.file)}
	if at.role != "" {
		dirs = append([]string{path.Join(at.role, "vars")}, append(dirs, at.role)...)
	}
	l, found, hidden := p.readVarsFiles(s, dirs, name)
	if !found || hidden {
		if !found {
			*at.gaps = append(*at.gaps, newGap(at.file, place, "the variables of %s are not known: it is not part of "+
				"the tree", name))
		}
		return nil, false
	}
	// Whether the condition is met is not known, so these values are only candidates.
	if _, conditional := task["when"]; conditional {
		for name, c := range l {
			c.maybe = true
			l[name] = c
		}
	}
	return l, true
}

// followIncludes evaluates the files of tasks and the roles that a task names.
func (p *project) followIncludes(task map[string]any, n *document.Node, s *scope, at taskPlace) {
	if module, v, place := moduleCall(task, n, "include_role", "import_role"); module != "" {
		from := argumentText(v, "tasks_from")
		if from == "" {
			from = "main"
		}
		p.evaluateRole(roleUse{name: argumentText(v, "name"), from: from, node: place}, s, at)
		return
	}
	module, v, place := moduleCall(task, n, "import_tasks", "include_tasks", "include")
	if module == "" {
		return
	}
	name := argumentText(v, "file", "_raw_params")
	dirs := []string{path.Dir(at.file)}
	if at.role != "" {
		dirs = append(dirs, path.Join(at.role, "tasks"), at.role)
	}
	at.deep++
	text, ok := s.computeText(name)
	exact, isText := text.(string)
	if !ok || !isText {
		// "{{ ansible_os_family }}.yml" is only known on the host: each file that fits is
		// evaluated.
		fitting := p.matchingFiles(dirs, name)
		for _, file := range fitting {
			p.evaluateFile(file, s, at)
		}
		if len(fitting) == 0 {
			*at.gaps = append(*at.gaps, newGap(at.file, place, "the tasks of %s are not analyzed: the name is "+
				"not known", name))
		}
		return
	}
	for _, dir := range dirs {
		if file, ok := p.findFile(path.Join(dir, exact)); ok {
			p.evaluateFile(file, s, at)
			return
		}
	}
	*at.gaps = append(*at.gaps, newGap(at.file, place,
		"the tasks of %s are not analyzed: it is not part of the tree, "+
			"and nothing is fetched", exact))
}

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

// tasks adds tasks as they run; blocks become their tasks.
func (p *project) tasks(l list, s *scope, at place, made *list) {
	for i, v := range l.items {
		task, ok := v.(map[string]any)
		n := l.nodes[i]
		if !ok || n == nil {
			continue
		}
		if nested, is := task[document.Playbooks].([]any); is && len(task) == 1 {
			p.tasks(list{l.file, nested, n.Fields[document.Playbooks].Items}, s, at, made)
			continue
		}
		inner := s.with(p.facts)
		if vars, ok := task["vars"].(map[string]any); ok && n.Fields["vars"] != nil {
			inner = inner.with(surely(visible(vars, n.Fields["vars"])))
		}
		block := false
		for _, key := range []string{"block", "rescue", "always"} {
			if _, has := task[key].([]any); has && s.budget.depth < document.MaxDepth {
				block = true
				s.budget.depth++
				p.tasks(of(l.file, task, n, key), inner, at, made)
				s.budget.depth--
			}
		}
		if block {
			continue
		}
		if l, ok := p.includes(task, n, inner, at); ok {
			s = s.with(l)
		}
		p.follow(task, n, inner, at)
		for _, turn := range turns(task, n, inner) {
			p.template(task, n, turn, at)
			made.add(turned(task, n, turn))
		}
	}
}

// turned evaluates the values of a task.
func turned(task map[string]any, n *document.Node, s *scope) (map[string]any, *document.Node) {
	out, at := maps.Clone(task), *n
	at.Fields = maps.Clone(n.Fields)
	for key, v := range task {
		if !unevaluated[key] && !strings.HasPrefix(key, "with_") && n.Fields[key] != nil {
			out[key], at.Fields[key] = s.evaluate(v, n.Fields[key])
		}
	}
	return out, &at
}

// turns returns the scopes of a task's turns: one for each item of a known list.
func turns(task map[string]any, n *document.Node, s *scope) []*scope {
	item := "item"
	if control, ok := task["loop_control"].(map[string]any); ok {
		if name, ok := control["loop_var"].(string); ok {
			item = name
		}
	}
	looping := false
	for key, v := range task {
		plain := key == "loop" || key == "with_items" || key == "with_list"
		if looping = looping || plain || strings.HasPrefix(key, "with_"); !plain {
			continue
		}
		if items, is := s.whole(v); is == known {
			if list, ok := items.([]any); ok && len(list) > 0 {
				if !names(task, item) {
					return []*scope{s} // all turns are the same
				}
				var out []*scope
				for _, one := range list[:min(len(list), maxCopies)] {
					out = append(out, s.with(layer{item: {value: literal(one)}}))
				}
				return out
			}
		}
	}
	if looping {
		return []*scope{s.with(layer{item: {value: document.Unknown{}}})}
	}
	return []*scope{s}
}

// names reports whether a template in the value may name the variable.
func names(v any, variable string) bool {
	switch v := v.(type) {
	case string:
		return isTemplate(v) && strings.Contains(v, variable)
	case map[string]any:
		for _, e := range v {
			if names(e, variable) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return names(e, variable) })
	}
	return false
}

// literal keeps a computed value from being computed again: one that looks like a
// template is not known.
func literal(v any) any {
	if text, ok := v.(string); ok && isTemplate(text) {
		return document.Unknown{}
	}
	return v
}

// called returns the argument of a task that calls one of the modules, by its short name.
func called(task map[string]any, n *document.Node, modules ...string) (string, any, *document.Node) {
	for _, m := range modules {
		for _, prefix := range []string{"", "ansible.builtin.", "ansible.legacy."} {
			if v, ok := task[prefix+m]; ok && n.Fields[prefix+m] != nil {
				return m, v, n.Fields[prefix+m]
			}
		}
	}
	return "", nil, nil
}

// argument returns a text of a module's arguments, which may be one text: "x" or
// "file=x name=y".
func argument(v any, keys ...string) string {
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
		if !strings.Contains(v, "=") || strings.Contains(v, "{{") {
			return v
		}
	}
	return ""
}

// includes returns the variables that a task reads from files.
func (p *project) includes(task map[string]any, n *document.Node, s *scope, at place) (layer, bool) {
	module, v, place := called(task, n, "include_vars")
	if module == "" {
		return nil, false
	}
	name := argument(v, "file", "_raw_params")
	if name == "" {
		name = "{{ dir }}"
	}
	dirs := []string{path.Dir(at.file)}
	if at.role != "" {
		dirs = append([]string{path.Join(at.role, "vars")}, append(dirs, at.role)...)
	}
	l, found, hidden := p.reads(s, dirs, name)
	if !found || hidden {
		if !found {
			*at.gaps = append(*at.gaps, gap(at.file, place, "the variables of %s are not known: it is not part of "+
				"the tree", name))
		}
		return nil, false
	}
	if _, conditional := task["when"]; conditional {
		for name, c := range l {
			c.maybe = true
			l[name] = c
		}
	}
	return l, true
}

// follow goes into the files of tasks and the roles that a task names.
func (p *project) follow(task map[string]any, n *document.Node, s *scope, at place) {
	if module, v, place := called(task, n, "include_role", "import_role"); module != "" {
		from := argument(v, "tasks_from")
		if from == "" {
			from = "main"
		}
		p.role(use{name: argument(v, "name"), from: from, node: place}, s, at)
		return
	}
	module, v, place := called(task, n, "import_tasks", "include_tasks", "include")
	if module == "" {
		return
	}
	name := argument(v, "file", "_raw_params")
	dirs := []string{path.Dir(at.file)}
	if at.role != "" {
		dirs = append(dirs, path.Join(at.role, "tasks"), at.role)
	}
	at.deep++
	text, ok := s.compute(name)
	exact, isText := text.(string)
	if !ok || !isText {
		fitting := p.fitting(dirs, name)
		for _, file := range fitting {
			p.visit(file, s, at)
		}
		if len(fitting) == 0 {
			*at.gaps = append(*at.gaps, gap(at.file, place, "the tasks of %s are not looked at: the name is "+
				"not known", name))
		}
		return
	}
	for _, dir := range dirs {
		if file, ok := p.find(path.Join(dir, exact)); ok {
			p.visit(file, s, at)
			return
		}
	}
	*at.gaps = append(*at.gaps, gap(at.file, place, "the tasks of %s are not looked at: it is not part of the tree, "+
		"and nothing is fetched", exact))
}

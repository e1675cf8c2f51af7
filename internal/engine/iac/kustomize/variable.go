package kustomize

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file puts variables ("vars") into the objects: $(NAME) in a text stands for the
// value of a field of an object. Kustomize looks for them in the fields that it has
// listed; a text elsewhere that has the name of a variable in it means the same. See
// https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/vars/.

// maxSubstituted bounds the bytes of texts with variables.
// A variable may stand in thousands of texts, each of which is copied.
const maxSubstituted = 16 << 20

// A variable is an entry of "vars" in a kustomization.
type variable struct {
	name, path string // its own, and that of the field
	// nil when no object matches; the variable is then reported
	object *object
	// of the entry, for messages
	line int
	file string
}

// listVariables reads those of a kustomization. Each takes its value from one of the
// objects that the kustomization has, as that one is in the end.
func (k *kustomization) listVariables(objects []*object) []variable {
	var out []variable
	for _, e := range k.listEntries("vars") {
		m, _ := e.value.(map[string]any)
		name, _ := m["name"].(string)
		ref, _ := m["objref"].(map[string]any)
		version, _ := ref["apiVersion"].(string)
		kind, _ := ref["kind"].(string)
		called, _ := ref["name"].(string)
		fields, _ := m["fieldref"].(map[string]any)
		if fields == nil {
			// Both spellings occur in real files.
			fields, _ = m["fieldRef"].(map[string]any)
		}
		path := fieldPath(fields, "fieldpath")
		if s, ok := fields["fieldPath"].(string); ok {
			path = s
		}
		v := variable{name: name, path: path, line: e.lines.Line, file: k.path}
		if i := slices.IndexFunc(objects, func(o *object) bool {
			return o.kind() == kind && o.hasName(called) && (version == "" || o.root["apiVersion"] == version)
		}); i >= 0 {
			v.object = objects[i]
		}
		out = append(out, v)
	}
	return out
}

// substituteVars puts the variables into the objects.
func (b *builder) substituteVars(vars []variable, objects []*object) {
	if len(vars) == 0 {
		return
	}
	values := map[string]any{}
	for _, v := range vars {
		value, err := v.resolveValue()
		if err != nil {
			b.addProblem(v.file, v.line, "variable %s: %w", v.name, err)
			continue
		}
		values["$("+v.name+")"] = value
	}
	s := substitution{values: values, names: sortedKeys(values), left: maxSubstituted}
	for _, o := range objects {
		if root, ok := s.substituteValue(o.root, 0); ok {
			o.root, o.changed = root.(map[string]any), true // a map stays one
		}
	}
	if s.left < 0 {
		b.addProblem(vars[0].file, vars[0].line, "variables: more than %d bytes of texts with them", maxSubstituted)
	}
}

// resolveValue returns the scalar that the variable stands for.
func (v variable) resolveValue() (any, error) {
	if v.object == nil {
		return nil, errors.New("no object that it takes the value from")
	}
	// "spec.ports[0].port": the index becomes a step of its own.
	places, err := v.object.findFields(splitPath(strings.ReplaceAll(v.path, "[", ".[")), false)
	if err != nil || len(places) == 0 {
		return nil, fmt.Errorf("%s/%s has no field %.80q", v.object.kind(), v.object.name(), v.path)
	}
	value, _, err := findValue(v.object.root, v.object.lines, places[0])
	switch value := value.(type) {
	case map[string]any, []any, nil:
		return nil, errors.New("the field is no scalar")
	case string:
		if len(value) > maxText {
			return nil, fmt.Errorf("a text of more than %d bytes", maxText)
		}
	}
	return value, err
}

// A substitution puts values in the place of names.
type substitution struct {
	values map[string]any
	names  []string // in order
	left   int      // bytes that may be written
}

// substituteValue returns the value with the variables, and whether there are any in it.
func (s *substitution) substituteValue(v any, depth int) (any, bool) {
	if depth > document.MaxDepth {
		return v, false
	}
	switch v := v.(type) {
	case string:
		return s.substituteText(v)
	case map[string]any:
		var out map[string]any
		for key, e := range v {
			with, changed := s.substituteValue(e, depth+1)
			if !changed {
				continue
			}
			if out == nil {
				out = maps.Clone(v)
			}
			out[key] = with
		}
		if out != nil {
			return out, true
		}
	case []any:
		var out []any
		for i, e := range v {
			with, changed := s.substituteValue(e, depth+1)
			if !changed {
				continue
			}
			if out == nil {
				out = append(out, v...)
			}
			out[i] = with
		}
		if out != nil {
			return out, true
		}
	}
	return v, false
}

// substituteText returns a text with the variables. One that is a variable and nothing
// else takes the value as it is.
func (s *substitution) substituteText(text string) (any, bool) {
	// A number stays a number: "containerPort: $(PORT)".
	if value, ok := s.values[text]; ok {
		return value, true
	}
	if !strings.Contains(text, "$(") {
		return text, false
	}
	out := text
	// In a fixed order, because the value of one may contain the name of another.
	for _, name := range s.names {
		if n := strings.Count(out, name); n > 0 {
			with := fmt.Sprint(s.values[name])
			if s.left -= len(out) + n*len(with); s.left < 0 {
				return text, false
			}
			out = strings.ReplaceAll(out, name, with)
		}
	}
	return out, out != text
}

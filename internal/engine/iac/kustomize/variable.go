package kustomize

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file puts variables ("vars") into the objects: $(NAME) in a text stands for the
// value of a field of an object. Kustomize looks for them in the fields that it has
// listed; a text elsewhere that has the name of a variable in it means the same. See
// https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/vars/.

// maxSubstituted bounds the bytes of texts with variables.
const maxSubstituted = 16 << 20

// A variable is an entry of "vars" in a kustomization.
type variable struct {
	entry
	file string
}

// substitute puts the variables into the objects.
func (b *builder) substitute(vars []variable, objects []*object) {
	if len(vars) == 0 {
		return
	}
	values := map[string]any{}
	for _, v := range vars {
		name, value, err := v.value(objects)
		if err != nil {
			b.problem(v.file, v.lines.Line, "variable %s: %v", name, err)
			continue
		}
		values["$("+name+")"] = value
	}
	s := substitution{values: values, names: sortedKeys(values), left: maxSubstituted}
	for _, o := range objects {
		if root, ok := s.value(o.root, 0); ok {
			o.root, o.changed = root.(map[string]any), true // a map stays one
		}
	}
	if s.left < 0 {
		b.problem(vars[0].file, vars[0].lines.Line, "variables: more than %d bytes of texts with them", maxSubstituted)
	}
}

// value returns the name of the variable, and the scalar that it stands for.
func (v variable) value(objects []*object) (string, any, error) {
	m, _ := v.entry.value.(map[string]any)
	name, _ := m["name"].(string)
	ref, _ := m["objref"].(map[string]any)
	version, _ := ref["apiVersion"].(string)
	kind, _ := ref["kind"].(string)
	called, _ := ref["name"].(string)
	fields, _ := m["fieldref"].(map[string]any)
	if fields == nil {
		fields, _ = m["fieldRef"].(map[string]any)
	}
	path := field(fields, "fieldpath")
	if s, ok := fields["fieldPath"].(string); ok {
		path = s
	}
	for _, o := range objects {
		if o.kind() != kind || !o.called(called) || version != "" && o.root["apiVersion"] != version {
			continue
		}
		places, err := o.places(splitPath(strings.ReplaceAll(path, "[", ".[")), false)
		if err != nil || len(places) == 0 {
			return name, nil, fmt.Errorf("%s/%s has no field %.80q", kind, called, path)
		}
		value, _, err := find(o.root, o.lines, places[0])
		switch value.(type) {
		case map[string]any, []any, nil:
			return name, nil, errors.New("the field is no scalar")
		}
		if text, ok := value.(string); ok && len(text) > maxText {
			return name, nil, fmt.Errorf("a text of more than %d bytes", maxText)
		}
		return name, value, err
	}
	return name, nil, errors.New("no object that it takes the value from")
}

// A substitution puts values in the place of names.
type substitution struct {
	values map[string]any
	names  []string // in order
	left   int      // bytes that may be written
}

// value returns the value with the variables, and whether there are any in it.
func (s *substitution) value(v any, depth int) (any, bool) {
	if depth > document.MaxDepth {
		return v, false
	}
	switch v := v.(type) {
	case string:
		return s.text(v)
	case map[string]any:
		var out map[string]any
		for key, e := range v {
			with, changed := s.value(e, depth+1)
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
			with, changed := s.value(e, depth+1)
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

// text returns a text with the variables. One that is a variable and nothing else takes
// the value as it is.
func (s *substitution) text(text string) (any, bool) {
	if value, ok := s.values[text]; ok {
		return value, true
	}
	if !strings.Contains(text, "$(") {
		return text, false
	}
	out := text
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

package requestgen

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
)

// A NegativeCase is an input that breaks the description in one place.
type NegativeCase struct {
	Input *Input
	// Kind is "type", "required", "minimum", "maximum", "length", "enum", "format" or "property".
	Kind string
	// At is the location: "query:page", "json:/user/name".
	At string
	// Note says what is wrong, for the report: "is missing though it is required".
	Note string
}

// maxViolations bounds the cases of one operation.
const maxViolations = 80

// NegativeCases returns inputs that differ from a valid one in one place where the
// description forbids it, in the order of the description.
func NegativeCases(valid *Input) []NegativeCase {
	var out []NegativeCase
	add := func(v NegativeCase) {
		if len(out) < maxViolations {
			out = append(out, v)
		}
	}
	for i, p := range valid.Operation.Parameters {
		if isLeftOut(p) {
			continue
		}
		at := p.In + ":" + p.Name
		with := func(v any) *Input {
			c := *valid
			c.Values = slices.Clone(valid.Values)
			c.Values[i] = v
			return &c
		}
		if p.Required && p.In != "path" {
			add(NegativeCase{with(absent{}), "required", at, "is missing though it is required"})
		}
		for _, w := range wrongValues(Flat(p.Schema), false) {
			if w.text() != "" || p.In != "path" {
				add(NegativeCase{with(w.value), w.kind, at, w.note})
			}
		}
	}
	if valid.Media != nil {
		kind := string(bodyKind(valid.Media.Type))
		breakBody(valid, kind, add)
	}
	return out
}

// An object is a part of a body whose properties are still to be broken.
type object struct {
	schema *apispec.Schema
	// fields are its members in the valid body; nil: it is missing there.
	fields map[string]any
	path   []string
}

// breakBody breaks the properties of the body, and then those of nested objects, level by level, so
// that the limit cuts off the deepest.
func breakBody(valid *Input, kind string, add func(NegativeCase)) {
	fields, _ := valid.Body.(map[string]any)
	open := []object{{Flat(valid.Media.Schema), fields, nil}}
	prefix := kind + ":"
	if kind == "json" {
		prefix = "json:/"
	}
	for len(open) > 0 {
		o := open[0]
		open = open[1:]
		for _, p := range o.schema.Properties {
			here := append(slices.Clone(o.path), p.Name)
			at, s := prefix+strings.Join(here, "/"), Flat(p.Schema)
			if s.ReadOnly {
				continue
			}
			below, given := o.fields[p.Name]
			if given && slices.Contains(o.schema.Required, p.Name) {
				add(NegativeCase{withReplacedBody(valid, here, absent{}), "required", at, "is missing though it is " +
					"required"})
			}
			for _, w := range wrongValues(s, kind == "json") {
				add(NegativeCase{withReplacedBody(valid, here, w.value), w.kind, at, w.note})
			}
			if fields, ok := below.(map[string]any); ok && len(here) < 4 {
				open = append(open, object{s, fields, here})
			}
		}
		if here := append(slices.Clone(o.path), extra); o.schema.Closed {
			add(NegativeCase{withReplacedBody(valid, here, "merlon"), "property", prefix + strings.Join(here, "/"),
				"is a property that the description does not allow"})
		}
	}
}

// extra is the name of a property that no description contains.
const extra = "merlonExtra"

// withReplacedBody returns a copy of the input with another value in the body.
func withReplacedBody(in *Input, path []string, v any) *Input {
	c := *in
	c.Body = putValue(in.Body, path, v)
	return &c
}

// putValue returns a copy of a body with the value at a path; absent removes the member. What is
// not on the path is shared with the original body.
func putValue(in any, path []string, v any) any {
	fields, ok := in.(map[string]any)
	if !ok || len(path) == 0 {
		return v
	}
	out := make(map[string]any, len(fields)+1)
	for name, below := range fields {
		out[name] = below
	}
	if _, drop := v.(absent); drop && len(path) == 1 {
		delete(out, path[0])
		return out
	}
	out[path[0]] = putValue(out[path[0]], path[1:], v)
	return out
}

// A wrongValue is a value that a schema does not allow, with the kind of the violation and a note.
type wrongValue struct {
	value any
	kind  string
	note  string
}

// text returns the value as it is written in a query or a path.
func (w wrongValue) text() string { return writePlain(w.value) }

// wrongValues returns values that the schema does not allow. typed says that values have types, as
// in JSON; in a query every value is a text, so that a text is wrong only for numbers and booleans.
func wrongValues(s *apispec.Schema, typed bool) []wrongValue {
	var out []wrongValue
	add := func(kind string, v any, format string, args ...any) {
		out = append(out, wrongValue{v, kind, fmt.Sprintf(format, args...)})
	}
	if len(s.Enum) > 0 {
		add("enum", "merlonOther", "is none of the values that the description lists")
		return out
	}
	switch k := kindOf(s); k {
	case "integer", "number", "boolean":
		add("type", "merlon", "is a text where the description has %s", articleFor(k))
		if k == "boolean" {
			break
		}
		if s.Minimum != nil {
			add("minimum", *s.Minimum-1, "is %v, below the minimum %v", *s.Minimum-1, *s.Minimum)
		}
		if s.Maximum != nil {
			add("maximum", *s.Maximum+1, "is %v, above the maximum %v", *s.Maximum+1, *s.Maximum)
		}
	case "string":
		if typed && len(s.Types) > 0 {
			add("type", []any{map[string]any{"merlon": true}}, "is a list where the description has a text")
		}
		if s.MaxLength >= 0 && s.MaxLength < maxText*5 {
			add("length", strings.Repeat("a", s.MaxLength+1), "has %d characters, more than %d", s.MaxLength+1,
				s.MaxLength)
		}
		if s.MinLength > 0 {
			add("length", "", "is empty, and %d characters are the least", s.MinLength)
		}
		if formats[s.Format] != "" && s.Format != "binary" && s.Format != "byte" || s.Format == "email" {
			add("format", "merlon not a "+s.Format, "is not of the format %s", s.Format)
		}
	case "array", "object":
		if typed && len(s.Types) > 0 {
			add("type", "merlon", "is a text where the description has %s", articleFor(k))
		}
	}
	return out
}

// articleFor returns the name of a type with its article.
func articleFor(kind string) string {
	switch kind {
	case "integer", "array", "object":
		return "an " + kind
	}
	return "a " + kind
}

package apispec

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/document"
)

// A Schema describes a value, in the terms of JSON Schema. A schema that several references name is
// shared, and may contain itself: code that walks schemas has to count the depth.
type Schema struct {
	Name  string   // of the reference: "User"; empty when it stands in its place
	Types []string // "object", "array", "string", "integer", "number", "boolean", "null"; empty: not said

	Format   string
	Pattern  string // ECMA 262
	Enum     []any  // also the one value of const
	Default  any
	Examples []any

	Minimum, Maximum     *float64
	ExclusiveMinimum     bool // of Minimum
	ExclusiveMaximum     bool
	MultipleOf           float64 // 0: none
	MinLength, MaxLength int     // characters; -1: not said
	MinItems, MaxItems   int     // -1: not said
	UniqueItems          bool

	Items      *Schema
	Properties []Property
	Required   []string
	Additional *Schema // of properties that are not named; nil: not said
	Closed     bool    // there are no others

	AllOf, OneOf, AnyOf []*Schema

	Nullable  bool
	ReadOnly  bool
	WriteOnly bool

	Line    int
	Pointer string
}

// A Property is a named part of an object.
type Property struct {
	Name   string
	Schema *Schema
}

// Is reports whether the schema says that the value is of the type, or allows it.
func (s *Schema) Is(name string) bool { return slices.Contains(s.Types, name) }

// Property returns the schema of a property, also of one that a part (AllOf) defines; nil: there is
// none.
func (s *Schema) Property(name string) *Schema { return s.findProperty(name, 0) }

// findProperty returns the schema of a property by its name, also where parts of the
// schema define it, down to a limit.
func (s *Schema) findProperty(name string, depth int) *Schema {
	if s == nil || depth > maxDepth {
		return nil
	}
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	for _, part := range s.AllOf {
		if found := part.findProperty(name, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// unknownSchema returns a schema that allows anything.
func unknownSchema() *Schema {
	return &Schema{MinLength: -1, MaxLength: -1, MinItems: -1, MaxItems: -1}
}

// readSchema returns the schema at the pointer, which is never nil. It is filled in later
// (readPending), so that deep nesting takes no stack.
func (r *reader) readSchema(n *document.Node, pointer string) *Schema {
	if known, ok := r.schemas[pointer]; ok {
		return known
	}
	s := unknownSchema()
	r.schemas[pointer] = s // before it is read: it may hold itself
	switch {
	case n == nil || n.Kind == document.Bool: // true is any value
		return s
	case !n.IsMap():
		r.addDefect(n, pointer, "a schema is expected to be a map")
		return s
	}
	s.Line, s.Pointer = n.Line, pointer
	to := r.referredSchema(n, pointer)
	if to != nil && isPlainReference(n) {
		r.schemas[pointer] = to
		return to
	}
	r.pending = append(r.pending, pending{s, n, pointer, to})
	r.api.Schemas = append(r.api.Schemas, s)
	return s
}

// referredSchema returns the schema that a reference names; nil: there is no reference, or it is
// broken.
func (r *reader) referredSchema(n *document.Node, pointer string) *Schema {
	if ref := n.Get("$ref"); ref == nil || ref.Kind != document.String {
		return nil
	}
	target, at := r.followReference(n, pointer)
	if target == nil {
		return nil
	}
	to := r.readSchema(target, at)
	if to.Name == "" {
		to.Name = at[strings.LastIndexByte(at, '/')+1:]
	}
	return to
}

// isPlainReference reports whether nothing beside a reference restricts the value. In OpenAPI 3.1
// such members count, in 3.0 they are ignored.
func isPlainReference(n *document.Node) bool {
	for _, e := range n.Entries {
		if e.Key != "$ref" && e.Key != "description" && e.Key != "summary" && e.Key != "title" &&
			!strings.HasPrefix(e.Key, "x-") {
			return false
		}
	}
	return true
}

// A pending is a schema that is known but not read yet.
type pending struct {
	schema  *Schema
	node    *document.Node
	pointer string
	// to is what it refers to beside its own members; nil: nothing.
	to *Schema
}

// readPending reads the schemas that are pending.
func (r *reader) readPending() {
	for len(r.pending) > 0 {
		last := r.pending[len(r.pending)-1]
		r.pending = r.pending[:len(r.pending)-1]
		r.fillSchema(last.schema, last.node, last.pointer)
		if last.to != nil {
			last.schema.AllOf = append(last.schema.AllOf, last.to)
		}
	}
}

// followReference returns the node that a reference names, and its pointer. A reference that leads
// nowhere, in a circle or out of the document is a defect and gives nil.
func (r *reader) followReference(n *document.Node, pointer string) (*document.Node, string) {
	for range maxDepth {
		ref := n.Get("$ref").Text()
		if ref == "" {
			return n, pointer
		}
		at, local := strings.CutPrefix(ref, "#")
		if !local {
			r.addDefect(n, pointer, "the reference %.100q leads out of the document and is not followed", ref)
			return nil, ""
		}
		target := r.root.Find(at)
		if target == nil {
			r.addDefect(n, pointer, "the reference %.100q leads nowhere", ref)
			return nil, ""
		}
		n, pointer = target, at
	}
	r.addDefect(n, pointer, "the reference leads in a circle")
	return nil, ""
}

// fillSchema reads the members of a schema, and begins the schemas within it.
func (r *reader) fillSchema(s *Schema, n *document.Node, pointer string) {
	r.readConstraints(s, n, pointer)
	below := func(key string) *Schema {
		if v := n.Get(key); v != nil {
			return r.readSchema(v, document.Join(pointer, key))
		}
		return nil
	}
	if items := n.Get("items"); items.IsMap() {
		s.Items = below("items")
	} else if items.IsList() && len(items.Items) > 0 { // a tuple of older drafts
		s.Items = r.readSchema(items.Items[0], document.Join(pointer, "items", "0"))
	}
	if props := n.Get("properties"); props != nil && !props.IsMap() {
		r.addDefect(props, document.Join(pointer, "properties"), "properties are expected to be a map")
	}
	for _, e := range n.Get("properties").Pairs() {
		s.Properties = append(s.Properties,
			Property{e.Key, r.readSchema(e.Value, document.Join(pointer, "properties", e.Key))})
		if e.Value.Get("required").True() { // draft 3, and a common mistake
			s.Required = append(s.Required, e.Key)
			r.addDefect(e.Value.Get("required"), document.Join(pointer, "properties", e.Key, "required"),
				"required is a "+
					"list of the object's properties, not a word of the property")
		}
	}
	switch required := n.Get("required"); {
	case required.IsList():
		for _, item := range required.Items {
			if name := item.Text(); name != "" && !slices.Contains(s.Required, name) {
				s.Required = append(s.Required, name)
			}
		}
	case required != nil && required.Kind != document.Bool:
		r.addDefect(required, document.Join(pointer, "required"), "required is expected to be a list of names")
	}
	if extra := n.Get("additionalProperties"); extra.False() {
		s.Closed = true
	} else if extra.IsMap() {
		s.Additional = below("additionalProperties")
	}
	parts := func(key string) (out []*Schema) {
		for i, item := range n.Get(key).List() {
			out = append(out, r.readSchema(item, document.Join(pointer, key, strconv.Itoa(i))))
		}
		return out
	}
	s.AllOf, s.OneOf, s.AnyOf = parts("allOf"), parts("oneOf"), parts("anyOf")
}

// readConstraints reads the members with single values: types, enumeration, limits, examples.
func (r *reader) readConstraints(s *Schema, n *document.Node, pointer string) {
	s.Format, s.Pattern = strings.ToLower(n.Get("format").Text()), n.Get("pattern").Text()
	switch typ := n.Get("type"); {
	case typ.IsList():
		for _, item := range typ.Items {
			r.readTypes(s, item, pointer)
		}
	case typ != nil:
		r.readTypes(s, typ, pointer)
	case n.Get("properties") != nil:
		s.Types = []string{"object"}
	case n.Get("items") != nil:
		s.Types = []string{"array"}
	}
	for _, item := range n.Get("enum").List() {
		s.Enum = append(s.Enum, item.Any())
	}
	if c := n.Get("const"); c != nil {
		s.Enum = []any{c.Any()}
	}
	s.Default = n.Get("default").Any()
	for _, key := range []string{"example", "x-example"} {
		if v := n.Get(key); v != nil {
			s.Examples = append(s.Examples, v.Any())
		}
	}
	for _, item := range n.Get("examples").List() {
		s.Examples = append(s.Examples, item.Any())
	}
	s.Minimum, s.ExclusiveMinimum = readBound(n, "minimum", "exclusiveMinimum")
	s.Maximum, s.ExclusiveMaximum = readBound(n, "maximum", "exclusiveMaximum")
	if v, ok := n.Get("multipleOf").Number(); ok && v > 0 {
		s.MultipleOf = v
	}
	for key, to := range map[string]*int{"minLength": &s.MinLength, "maxLength": &s.MaxLength, "minItems": &s.MinItems,
		"maxItems": &s.MaxItems} {
		if v, ok := n.Get(key).Number(); ok && v >= 0 {
			*to = int(min(v, math.MaxInt32))
		}
	}
	s.UniqueItems = n.Get("uniqueItems").True()
	s.Nullable = n.Get("nullable").True() || n.Get("x-nullable").True() || s.Is("null")
	s.ReadOnly, s.WriteOnly = n.Get("readOnly").True(), n.Get("writeOnly").True()
}

// types maps the types of JSON Schema to themselves, and what people write instead to the type they
// mean.
var types = map[string]string{
	"object": "object", "array": "array", "string": "string", "integer": "integer", "number": "number",
	"boolean": "boolean", "null": "null", "file": "file",
	"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number",
	"decimal": "number",
	"bool":    "boolean", "date": "string", "datetime": "string", "date-time": "string", "uuid": "string",
	"text": "string", "str": "string", "list": "array", "dict": "object", "map": "object",
}

// readTypes reads the type of a schema. A wrong one is a defect, and read as what it most likely
// means.
func (r *reader) readTypes(s *Schema, n *document.Node, pointer string) {
	name := n.Text()
	if n != nil && n.Kind == document.Null {
		name = "null" // unquoted in YAML
	}
	typ := types[strings.ToLower(name)]
	if typ != name {
		r.addDefect(n, document.Join(pointer, "type"), "%.40q is no type of JSON Schema", name)
	}
	switch typ {
	case "":
		return
	case "file":
		typ, s.Format = "string", "binary"
	}
	if !slices.Contains(s.Types, typ) {
		s.Types = append(s.Types, typ)
	}
}

// readBound reads a limit with its exclusive form: a boolean beside the limit in OpenAPI 3.0 (draft
// 4), a number of its own since draft 6.
func readBound(n *document.Node, inclusive, exclusive string) (*float64, bool) {
	if e := n.Get(exclusive); e != nil && e.Kind != document.Bool {
		if v, ok := e.Number(); ok {
			return &v, true
		}
	}
	if v, ok := n.Get(inclusive).Number(); ok {
		return &v, n.Get(exclusive).True()
	}
	return nil, false
}

// Infer returns a schema that the value is an example of: its types, with all members required.
func Infer(v any) *Schema { return inferSchema(v, 0) }

// inferSchema makes the schema of an example, for descriptions that have nothing else.
func inferSchema(v any, depth int) *Schema {
	s := unknownSchema()
	if depth > maxDepth {
		return s
	}
	switch v := v.(type) {
	case bool:
		s.Types = []string{"boolean"}
	case int64:
		s.Types = []string{"integer"}
	case float64:
		s.Types = []string{"number"}
	case string:
		s.Types = []string{"string"}
	case []any:
		s.Types = []string{"array"}
		if len(v) > 0 {
			s.Items = inferSchema(v[0], depth+1)
		}
		return s
	case map[string]any:
		s.Types = []string{"object"}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			s.Properties = append(s.Properties, Property{name, inferSchema(v[name], depth+1)})
		}
		s.Required = names // the example sends all of it
		return s
	default:
		return s
	}
	s.Examples = []any{v}
	return s
}

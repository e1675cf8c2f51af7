package apispec

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"merlon/internal/document"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
)

// This file reads schemas of GraphQL (https://spec.graphql.org/October2021/), as text
// in the schema definition language and as the answer to an introspection.

// maxTokens bounds the tokens of a schema, which is untrusted input.
const maxTokens = 400_000

// A graph is a GraphQL schema while it is read, in the form of an introspection.
type graph struct {
	*reader
	// roots are pairs of a kind of operation and the name of its type: "query", "Query".
	roots [][2]string
	// types are the types by name.
	types map[string]*graphType
	// values are the schemas of their values, by name; with "?" before the name those that allow
	// null.
	values map[string]*Schema
}

// A graphType is a named type.
type graphType struct {
	kind   ast.DefinitionKind
	name   string
	fields []graphField
	// names are the values of an enumeration, or the types of a union.
	names []string
	line  int
}

// A graphField is a field of a type, an argument of a field, or a field of an input.
type graphField struct {
	name string
	typ  *ast.Type
	args []graphField
	// preset: it has a default, so that it is not required.
	preset bool
	// value is the default; nil: there is none, or it cannot be read.
	value any
	line  int
	// old: it is deprecated.
	old bool
	// guard is the directive that requires a sign-in; empty: none.
	guard string
}

// guards matches names of directives by which schemas say that a field requires a sign-in: @auth,
// @authenticated, @requireRole, @aws_iam.
var guards = lazyregexp.New(`(?i)^(is_?|requires?_?)?(auth|auth(enticated?|ori[sz]ed?)|signed_?in|logged_?in|login|login_?required)$|^(require|has)s?_?(any_?)?(roles?|permissions?|scopes?)$|^(protected|guarded|aws_auth|aws_cognito_user_pools|aws_iam)$`)

// authDirective returns the name of the directive among these that asks for a sign-in; empty:
// none does.
func authDirective(list ast.DirectiveList) string {
	for _, d := range list {
		if guards.MatchString(d.Name) {
			return d.Name
		}
	}
	return ""
}

// keyword matches the beginning of a definition, where a broken schema is cut into pieces.
var keyword = lazyregexp.New(`(?m)^[ \t]*(?:extend[ \t]+)?(?:type|interface|union|enum|input|scalar|schema|directive)\b[ \t]*(?:[A-Za-z_@{]|$)`)

// IsSDL reports whether the text is a schema in the schema definition language. JSON and YAML begin
// differently, or have no line that is the head of a definition.
func IsSDL(text []byte) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(head) == 0 || head[0] == '{' || head[0] == '[' || bytes.HasPrefix(head, []byte("---")) {
		return false
	}
	return definition.Match(text[:min(len(text), 64<<10)]) // a schema begins with definitions
}

// definition is a whole head of a definition: no YAML has such a line.
var definition = lazyregexp.New(`(?m)^[ \t]*(?:extend[ \t]+)?(?:(?:type|interface|enum|input)[ \t]+[A-Za-z_]\w*[^:\n]*\{|schema\b[^:\n]*\{|union[ \t]+\w+[^:\n]*=|scalar[ \t]+\w+)`)

// readSDL reads a schema in the schema definition language.
func readSDL(text []byte) (*API, error) {
	g := newGraph(&reader{api: &API{Format: GraphQL, SecuritySchemes: map[string]SecurityScheme{}},
		schemas: map[string]*Schema{},
		keyed:   map[string]bool{}})
	doc, err := parser.ParseSchemaWithLimit(&ast.Source{Name: "schema", Input: string(text)}, maxTokens)
	if err == nil {
		g.readDefinitions(doc, 0)
	} else {
		g.readPieces(text, err)
	}
	g.readOperations()
	if len(g.types) == 0 {
		return nil, errs.E(errs.Invalid, "the description is no schema of GraphQL: %v", err)
	}
	return g.api, nil
}

// newGraph returns a reader of a schema that knows no types yet.
func newGraph(r *reader) *graph {
	return &graph{reader: r, types: map[string]*graphType{}, values: map[string]*Schema{}}
}

// readPieces reads a text with an error of syntax one definition at a time, so that only the broken
// ones are lost.
func (g *graph) readPieces(text []byte, whole error) {
	starts := keyword.Compiled().FindAllIndex(text, maxTokens/4)
	bad := 0
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		before := bytes.Count(text[:s[0]], []byte("\n"))
		doc, err := parser.ParseSchemaWithLimit(&ast.Source{Name: "schema", Input: string(text[s[0]:end])}, maxTokens)
		if err == nil {
			g.readDefinitions(doc, before)
			continue
		}
		bad++
		g.addDefect(&document.Node{Line: before + lineOf(err)}, "", "a definition cannot be read: %s", messageOf(err))
	}
	if bad == 0 {
		g.addDefect(&document.Node{Line: lineOf(whole)}, "", "%s", messageOf(whole))
	}
}

// lineOf returns the line of a parser's error, 1 where it has none.
func lineOf(err error) int {
	if e, ok := err.(*gqlerror.Error); ok && len(e.Locations) > 0 {
		return e.Locations[0].Line
	}
	return 1
}

// messageOf returns what an error of the parser says, without its place.
func messageOf(err error) string {
	if e, ok := err.(*gqlerror.Error); ok {
		return e.Message
	}
	return err.Error()
}

// readDefinitions adds the definitions of a text that begins before lines after the document does.
func (g *graph) readDefinitions(doc *ast.SchemaDocument, before int) {
	for _, s := range slices.Concat(doc.Schema, doc.SchemaExtension) {
		for _, o := range s.OperationTypes {
			g.roots = append(g.roots, [2]string{string(o.Operation), o.Type})
		}
	}
	for _, d := range slices.Concat(doc.Definitions, doc.Extensions) {
		t := g.types[d.Name]
		if t == nil {
			t = &graphType{kind: d.Kind, name: d.Name}
			if d.Position != nil {
				t.line = d.Position.Line + before
			}
			g.types[d.Name] = t
		}
		for _, f := range d.Fields {
			field := graphField{name: f.Name, typ: f.Type, old: f.Directives.ForName("deprecated") != nil,
				preset: f.DefaultValue != nil,
				guard:  cmp.Or(authDirective(f.Directives), authDirective(d.Directives))}
			if f.Position != nil {
				field.line = f.Position.Line + before
			}
			if f.DefaultValue != nil {
				field.value, _ = f.DefaultValue.Value(nil) // a default that cannot be read is none
			}
			for _, a := range f.Arguments {
				arg := graphField{name: a.Name, typ: a.Type, line: field.line, preset: a.DefaultValue != nil}
				if a.DefaultValue != nil {
					arg.value, _ = a.DefaultValue.Value(nil)
				}
				field.args = append(field.args, arg)
			}
			t.fields = append(t.fields, field)
		}
		for _, v := range d.EnumValues {
			t.names = append(t.names, v.Name)
		}
		t.names = append(t.names, d.Types...)
	}
}

// schemaOf returns the schema in the response to an introspection, with or without the members data
// and __schema around it; nil: there is none.
func schemaOf(root *document.Node) *document.Node {
	for _, n := range []*document.Node{root.At("data", "__schema"), root.Get("__schema"), root} {
		if n.Get("types").IsList() && (n.Get("queryType") != nil || n.Get("mutationType") != nil) {
			return n
		}
	}
	return nil
}

// readIntrospection reads the response to an introspection (GraphQL, section 4.2).
func (r *reader) readIntrospection() error {
	g, n := newGraph(r), schemaOf(r.root)
	for _, kind := range []string{"query", "mutation", "subscription"} {
		if name := n.At(kind+"Type", "name").Text(); name != "" {
			g.roots = append(g.roots, [2]string{kind, name})
		}
	}
	for i, item := range n.Get("types").List() {
		t := &graphType{kind: ast.DefinitionKind(item.Get("kind").Text()), name: item.Get("name").Text(),
			line: item.Line}
		if t.name == "" || t.kind == "" {
			r.addDefect(item, document.Join("/types", number(i)), "a type without a name or a kind")
			continue
		}
		t.fields = g.readFields(item.Get("fields"), "args")
		t.fields = append(t.fields, g.readFields(item.Get("inputFields"), "")...)
		for _, key := range []string{"enumValues", "possibleTypes"} {
			for _, v := range item.Get(key).List() {
				t.names = append(t.names, v.Get("name").Text())
			}
		}
		g.types[t.name] = t
	}
	g.readOperations()
	return nil
}

// readFields reads the fields of a type. args is the member with their arguments; empty: they have
// none.
func (g *graph) readFields(list *document.Node, args string) []graphField {
	var out []graphField
	for _, n := range list.List() {
		f := graphField{name: n.Get("name").Text(), typ: typeOf(n.Get("type"), 0), line: n.Line,
			old: n.Get("isDeprecated").True(), preset: n.Get("defaultValue").Text() != ""}
		if f.name == "" || f.typ == nil {
			g.addDefect(n, "", "a field without a name or a type")
			continue
		}
		if args != "" {
			f.args = g.readFields(n.Get(args), "")
		}
		out = append(out, f)
	}
	return out
}

// typeOf reads a reference to a type: NON_NULL and LIST wrap a named type; nil: it is incomplete.
func typeOf(n *document.Node, depth int) *ast.Type {
	if n == nil || depth > maxDepth {
		return nil
	}
	switch n.Get("kind").Text() {
	case "NON_NULL":
		if t := typeOf(n.Get("ofType"), depth+1); t != nil {
			t.NonNull = true
			return t
		}
		return nil
	case "LIST":
		if t := typeOf(n.Get("ofType"), depth+1); t != nil {
			return ast.ListType(t, nil)
		}
		return nil
	}
	if name := n.Get("name").Text(); name != "" {
		return ast.NamedType(name, nil)
	}
	return nil
}

// readOperations makes an operation of each field of the root types, with the usual names of these
// where the schema does not name them.
func (g *graph) readOperations() {
	if len(g.roots) == 0 {
		g.roots = [][2]string{{"query", "Query"}, {"mutation", "Mutation"}, {"subscription", "Subscription"}}
	}
	for _, root := range g.roots {
		t := g.types[root[1]]
		if t == nil {
			continue
		}
		for _, f := range t.fields {
			if strings.HasPrefix(f.name, "__") {
				continue
			}
			g.readOperation(root[0], t.name, f)
		}
	}
}

// readOperation adds a field of a root type as an operation, with a document that requests it and
// one variable for each argument. Body and response get schemas like those of OpenAPI, so that
// generation, comparison and attack treat them alike.
func (g *graph) readOperation(kind, root string, f graphField) {
	o := &Operation{ID: root + "." + f.name, Method: "POST", Tags: []string{kind}, Line: f.line, Deprecated: f.old,
		BodyRequired: true}
	if f.guard != "" {
		o.Security = []SecurityRequirement{{{Scheme: "@" + f.guard}}}
	}
	variables := unknownSchema()
	variables.Types = []string{"object"}
	var declared []string
	declare := func(name string, a graphField) {
		s := g.valueSchema(a.typ, 0)
		if a.value != nil {
			copied := *s
			copied.Default, s = a.value, &copied
		}
		variables.Properties = append(variables.Properties, Property{name, s})
		if a.typ.NonNull && !a.preset {
			variables.Required = append(variables.Required, name)
		}
		declared = append(declared, "$"+name+": "+a.typ.String())
	}
	var given []string
	for _, a := range f.args {
		declare(a.name, a)
		given = append(given, a.name+": $"+a.name)
	}
	text := f.name + writeArguments(given) + g.selectionOf(f.typ.Name(), 0, func(f graphField) string {
		var given []string
		for _, a := range f.args {
			name := f.name + strings.ToUpper(a.name[:1]) + a.name[1:]
			if below := a.typ.Name(); len(declared) < maxArguments && (below == "String" || below == "ID") &&
				!place.MatchString(a.name) && variables.Property(name) == nil {
				declare(name, a)
				given = append(given, a.name+": $"+name)
			}
		}
		return writeArguments(given)
	})
	head := kind
	if len(declared) > 0 {
		head += "(" + strings.Join(declared, ", ") + ")"
	}
	o.Call = &GraphQLCall{Kind: kind, Field: f.name, Text: head + " { " + text + " }"}
	query := unknownSchema()
	query.Types, query.Enum = []string{"string"}, []any{o.Call.Text}
	body := unknownSchema()
	body.Types, body.Required, body.Line = []string{"object"}, []string{"query"}, f.line
	body.Properties = []Property{{"query", query}}
	if len(declared) > 0 {
		body.Properties, body.Required = append(body.Properties, Property{"variables", variables}),
			append(body.Required, "variables")
	}
	o.Bodies = []*Media{{Type: "application/json", Schema: body, Line: f.line}}
	data, answer := unknownSchema(), unknownSchema()
	data.Types, data.Properties, data.Nullable = []string{"object"}, []Property{{f.name, g.valueSchema(f.typ, 0)}}, true
	answer.Types, answer.Properties = []string{"object"}, []Property{{"data", data}}
	o.Responses = []*Response{{Status: "200", Line: f.line,
		Bodies: []*Media{{Type: "application/json", Schema: answer, Line: f.line}}}}
	g.addOperation(o)
}

// writeArguments writes the arguments of a field in parentheses; nothing where there are none.
func writeArguments(given []string) string {
	if len(given) == 0 {
		return ""
	}
	return "(" + strings.Join(given, ", ") + ")"
}

// Limits of what an operation asks for.
const (
	// selectionDepth is how deep objects in objects are requested.
	selectionDepth = 2
	// maxSelected bounds the fields that are requested of one type.
	maxSelected = 30
	// maxArguments bounds the variables, after which nested fields get no arguments.
	maxArguments = 20
)

// place matches arguments that say which part of a list is returned: a value that no response has
// given is refused.
var place = lazyregexp.New(`(?i)^(?:after|before|cursor|first|last|page_?token)$`)

// selectionOf returns the selection of a type: its scalars, and those of nested objects. Fields
// with a required argument are left out. given writes the arguments of the others.
func (g *graph) selectionOf(name string, depth int, given func(graphField) string) string {
	t := g.types[name]
	if t == nil || t.kind == ast.Scalar || t.kind == ast.Enum {
		return ""
	}
	fields := []string{}
	for _, f := range t.fields {
		if len(fields) == maxSelected || slices.ContainsFunc(f.args, func(a graphField) bool {
			return a.typ.NonNull && !a.preset
		}) {
			continue
		}
		below := g.types[f.typ.Name()]
		switch {
		case below == nil || below.kind == ast.Scalar || below.kind == ast.Enum:
			fields = append(fields, f.name+given(f))
		case depth < selectionDepth:
			fields = append(fields, f.name+given(f)+g.selectionOf(below.name, depth+1, given))
		}
	}
	if len(fields) == 0 {
		fields = []string{"__typename"}
	}
	return " { " + strings.Join(fields, " ") + " }"
}

// scalars maps names of scalars, in small letters, to a type and a format of JSON Schema: those of
// the language, and the usual ones of libraries. Unknown scalars get no type.
var scalars = map[string][2]string{
	"int": {"integer", "int32"}, "float": {"number", ""}, "string": {"string", ""}, "boolean": {"boolean", ""},
	"id":       {"string", ""},
	"datetime": {"string", "date-time"}, "timestamp": {"string", "date-time"}, "date": {"string", "date"},
	"time": {"string", "time"},
	"uuid": {"string", "uuid"}, "email": {"string", "email"}, "emailaddress": {"string", "email"},
	"url": {"string", "uri"}, "uri": {"string", "uri"},
	"long": {"integer", "int64"}, "bigint": {"integer", "int64"}, "decimal": {"number", ""}, "json": {"object", ""},
	"jsonobject": {"object", ""}, "upload": {"string", "binary"},
}

// valueSchema returns the schema of the values of a type. In GraphQL each type allows null unless
// it is marked with "!".
func (g *graph) valueSchema(t *ast.Type, depth int) *Schema {
	if depth > maxDepth {
		return unknownSchema()
	}
	if t.Elem != nil {
		s := unknownSchema()
		s.Types, s.Items, s.Nullable = []string{"array"}, g.valueSchema(t.Elem, depth+1), !t.NonNull
		return s
	}
	s := g.namedSchema(t.NamedType)
	if t.NonNull {
		return s
	}
	nullable := g.values["?"+t.NamedType]
	if nullable == nil {
		nullable = unknownSchema()
		nullable.AllOf, nullable.Nullable, nullable.Name, nullable.Types = []*Schema{s}, true, s.Name, s.Types
		g.values["?"+t.NamedType] = nullable
	}
	return nullable
}

// namedSchema returns the schema of a named type without null. It is entered before its fields are
// read: types refer to each other in circles.
func (g *graph) namedSchema(name string) *Schema {
	if s := g.values[name]; s != nil {
		return s
	}
	s := unknownSchema()
	g.values[name] = s
	t := g.types[name]
	if t == nil || t.kind == ast.Scalar {
		known := scalars[strings.ToLower(name)]
		if known[0] != "" {
			s.Types, s.Format = []string{known[0]}, known[1]
		}
		return s
	}
	s.Name, s.Line = name, t.line
	switch t.kind {
	case ast.Enum:
		s.Types = []string{"string"}
		for _, v := range t.names {
			s.Enum = append(s.Enum, v)
		}
	case ast.Union:
		s.Types = []string{"object"}
	default:
		s.Types = []string{"object"}
		for _, f := range t.fields {
			s.Properties = append(s.Properties, Property{f.name, g.valueSchema(f.typ, 0)})
			if t.kind == ast.InputObject && f.typ.NonNull && !f.preset {
				s.Required = append(s.Required, f.name)
			}
		}
	}
	return s
}

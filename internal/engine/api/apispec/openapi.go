package apispec

import (
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// This file reads OpenAPI 2.0, 3.0 and 3.1 (https://spec.openapis.org/oas/).

// methods are the members of a path that are operations; query is of OpenAPI 3.2.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// readOpenAPI reads a description in the format of OpenAPI 3, or of Swagger 2.
func (r *reader) readOpenAPI() {
	root := r.root
	r.api.Version = or(root.Get("openapi").Text(), root.Get("swagger").Text())
	r.api.Title = root.At("info", "title").Text()
	if r.v2 {
		r.api.Servers = hostServers(root, root.Get("schemes"))
	} else {
		r.api.Servers = r.readServers(root.Get("servers"), "/servers")
	}
	r.readSchemes()
	paths := root.Get("paths")
	if paths != nil && !paths.IsMap() {
		r.addDefect(paths, "/paths", "paths are expected to be a map")
	}
	for _, e := range paths.Pairs() {
		if strings.HasPrefix(e.Key, "x-") {
			continue
		}
		r.readPath(e)
	}
	for _, at := range []string{"/components/schemas", "/definitions"} {
		for _, e := range root.Find(at).Pairs() {
			r.readSchema(e.Value, document.Join(at, e.Key))
		}
	}
}

// readPath reads the operations of one path.
func (r *reader) readPath(e document.Entry) {
	pointer := document.Join("/paths", e.Key)
	item, at := r.followReference(e.Value, pointer)
	if item == nil {
		return
	}
	if !item.IsMap() {
		r.addDefect(item, pointer, "a path is expected to be a map of operations")
		return
	}
	common := r.readParameters(item.Get("parameters"), document.Join(at, "parameters"))
	for _, method := range methods {
		n := item.Get(method)
		if n == nil {
			continue
		}
		here := document.Join(at, method)
		if !n.IsMap() {
			r.addDefect(n, here, "an operation is expected to be a map")
			continue
		}
		o := &Operation{Method: strings.ToUpper(method), Path: "/" + strings.TrimLeft(e.Key, "/"), Pointer: here}
		o.Line, _ = item.Place(method)
		r.readOperation(o, n, common)
		r.setServer(o, n, item)
		r.addOperation(o)
	}
}

// setServer sets the server of the operation: its own, that of its path, or that of the document.
func (r *reader) setServer(o *Operation, n, item *document.Node) {
	var own []string
	switch {
	case r.v2 && n.Get("schemes").IsList():
		own = hostServers(r.root, n.Get("schemes"))
	case n.Get("servers").IsList():
		own = r.readServers(n.Get("servers"), o.Pointer+"/servers")
	case item.Get("servers").IsList():
		own = r.readServers(item.Get("servers"), o.Pointer+"/../servers")
	}
	if own = append(own, r.api.Servers...); len(own) > 0 {
		o.Server = own[0]
	}
}

// A located is a parameter with its node, for defects.
type located struct {
	*Parameter
	node    *document.Node
	pointer string
}

// readParameters reads a list of parameters and follows references. Without a style, parameters of
// query and cookie are exploded (OpenAPI 3, section 4.8.12.2).
func (r *reader) readParameters(list *document.Node, pointer string) []located {
	if list.IsMap() { // a common mistake: a map of name to parameter
		r.addDefect(list, pointer, "parameters are expected to be a list")
	}
	var out []located
	for i, item := range list.List() {
		n, at := r.followReference(item, document.Join(pointer, number(i)))
		if n == nil {
			continue
		}
		name, in := n.Get("name").Text(), n.Get("in").Text()
		if name == "" && in != "body" || in == "" {
			r.addDefect(n, at, "a parameter without a name or without a location")
			continue
		}
		p := &Parameter{In: strings.ToLower(in), Name: name, Required: n.Get("required").True() || in == "path",
			Style: n.Get("style").Text(), Line: item.Line, Pointer: at}
		p.Explode = n.Get("explode").True() || n.Get("explode") == nil &&
			(p.Style == "form" || p.Style == "" && (in == "query" || in == "cookie"))
		r.readSchemaAndExample(p, n, at)
		out = append(out, located{p, n, at})
	}
	return out
}

// readSchemaAndExample reads schema and example of a parameter.
func (r *reader) readSchemaAndExample(p *Parameter, n *document.Node, at string) {
	switch content := n.Get("content").Pairs(); {
	case n.Get("schema") != nil:
		p.Schema = r.readSchema(n.Get("schema"), document.Join(at, "schema"))
	case len(content) > 0:
		p.Type = mediaType(content[0].Key)
		p.Schema = r.readSchema(content[0].Value.Get("schema"), document.Join(at, "content", content[0].Key, "schema"))
	case n.Get("type") != nil || n.Get("enum") != nil: // OpenAPI 2: the parameter is the schema
		p.Schema = unknownSchema()
		p.Schema.Line, p.Schema.Pointer = n.Line, at
		r.fillSchema(p.Schema, n, at)
		r.api.Schemas = append(r.api.Schemas, p.Schema)
		p.Schema.Required, p.Explode = nil, n.Get("collectionFormat").Text() == "multi"
	default:
		p.Schema = unknownSchema()
	}
	p.Example = r.readExample(n)
}

// readExample returns the example of a parameter or of a media type; nil: there is none.
func (r *reader) readExample(n *document.Node) any {
	for _, key := range []string{"example", "x-example"} {
		if v := n.Get(key); v != nil {
			return v.Any()
		}
	}
	for _, e := range n.Get("examples").Pairs() {
		if v, _ := r.followReference(e.Value, ""); v.Get("value") != nil {
			return v.Get("value").Any()
		}
	}
	return nil
}

// braces matches a parameter in the template of a path.
var braces = lazyregexp.New(`\{([^{}/]+)\}`)

// readOperation reads an operation. Parameters of its path are inherited, unless it has one of the
// same name and location.
func (r *reader) readOperation(o *Operation, n *document.Node, common []located) {
	o.ID, o.Summary = n.Get("operationId").Text(), n.Get("summary").Text()
	o.Deprecated = n.Get("deprecated").True()
	for _, t := range n.Get("tags").List() {
		o.Tags = append(o.Tags, t.Text())
	}
	own := r.readParameters(n.Get("parameters"), document.Join(o.Pointer, "parameters"))
	for _, c := range common {
		if !slices.ContainsFunc(own, func(p located) bool { return p.Name == c.Name && p.In == c.In }) {
			own = append(own, c)
		}
	}
	var form []located
	for _, p := range own {
		switch p.In {
		case "path", "query", "header", "cookie":
			o.Parameters = append(o.Parameters, p.Parameter)
		case "body":
			o.BodyRequired = p.Required
			for _, t := range r.mediaTypes(n, "consumes") {
				o.Bodies = append(o.Bodies, &Media{Type: t, Schema: p.Schema, Example: p.Example, Line: p.Line})
			}
		case "formdata":
			form = append(form, p)
		default:
			r.addDefect(p.node, p.pointer, "a parameter in %.40q", p.In)
		}
	}
	if len(form) > 0 {
		r.readFormData(o, n, form)
	}
	for _, m := range braces.FindAllStringSubmatch(o.Path, -1) {
		if !slices.ContainsFunc(o.Parameters, func(p *Parameter) bool { return p.In == "path" && p.Name == m[1] }) {
			r.addDefect(n, o.Pointer, "the path has {%.60s}, which no parameter describes", m[1])
			o.Parameters = append(o.Parameters, &Parameter{In: "path", Name: m[1], Required: true,
				Schema: unknownSchema(),
				Line:   o.Line})
		}
	}
	r.readRequestBody(o, n)
	r.readResponses(o, n)
	o.Security = r.readSecurity(n)
}

// readFormData makes a body of the parameters in formData (OpenAPI 2). A file requires multipart.
func (r *reader) readFormData(o *Operation, n *document.Node, form []located) {
	s := unknownSchema()
	s.Types, s.Line = []string{"object"}, form[0].Line
	file := false
	for _, p := range form {
		s.Properties = append(s.Properties, Property{p.Name, p.Schema})
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
		if p.Example != nil {
			p.Schema.Examples = append(p.Schema.Examples, p.Example)
		}
		file = file || p.Schema.Format == "binary"
	}
	types := slices.DeleteFunc(r.mediaTypes(n, "consumes"), func(t string) bool {
		return t != "multipart/form-data" && (file || t != "application/x-www-form-urlencoded")
	})
	if len(types) == 0 {
		types = []string{map[bool]string{true: "multipart/form-data", false: "application/x-www-form-urlencoded"}[file]}
	}
	o.BodyRequired = len(s.Required) > 0
	for _, t := range types {
		o.Bodies = append(o.Bodies, &Media{Type: t, Schema: s, Line: s.Line})
	}
}

// mediaTypes returns the media types of an operation, else those of the document, else JSON
// (OpenAPI 2).
func (r *reader) mediaTypes(n *document.Node, key string) []string {
	list := n.Get(key)
	if !list.IsList() {
		list = r.root.Get(key)
	}
	var out []string
	for _, item := range list.List() {
		if t := mediaType(item.Text()); t != "" {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		out = []string{"application/json"}
	}
	return out
}

// readRequestBody reads OpenAPI 3's request body.
func (r *reader) readRequestBody(o *Operation, n *document.Node) {
	given := n.Get("requestBody")
	if given == nil || r.v2 {
		return
	}
	body, at := r.followReference(given, document.Join(o.Pointer, "requestBody"))
	if body == nil {
		return
	}
	o.BodyRequired = body.Get("required").True()
	o.Bodies = append(o.Bodies, r.readContent(body, at)...)
}

// readContent reads a body in each of its types.
func (r *reader) readContent(n *document.Node, at string) []*Media {
	var out []*Media
	for _, e := range n.Get("content").Pairs() {
		here := document.Join(at, "content", e.Key)
		out = append(out, &Media{Type: mediaType(e.Key),
			Schema: r.readSchema(e.Value.Get("schema"), document.Join(here, "schema")), Example: r.readExample(e.Value),
			Line: e.Line})
	}
	return out
}

// readResponses reads the responses by their status; in OpenAPI 2 their schema stands beside the
// media types, in OpenAPI 3 within each.
func (r *reader) readResponses(o *Operation, n *document.Node) {
	list := n.Get("responses")
	for _, e := range list.Pairs() {
		if strings.HasPrefix(e.Key, "x-") {
			continue
		}
		given, at := r.followReference(e.Value, document.Join(o.Pointer, "responses", e.Key))
		if given == nil {
			continue
		}
		answer := &Response{Status: strings.ToUpper(e.Key), Line: e.Line, Headers: map[string]*Schema{}}
		if answer.Status == "DEFAULT" {
			answer.Status = "default"
		}
		if s := given.Get("schema"); r.v2 && s != nil {
			schema := r.readSchema(s, document.Join(at, "schema"))
			for _, t := range r.mediaTypes(n, "produces") {
				answer.Bodies = append(answer.Bodies,
					&Media{Type: t, Schema: schema, Example: given.At("examples", t).Any(), Line: e.Line})
			}
		}
		answer.Bodies = append(answer.Bodies, r.readContent(given, at)...)
		for _, h := range given.Get("headers").Pairs() {
			header, where := r.followReference(h.Value, document.Join(at, "headers", h.Key))
			if header.Get("schema") != nil {
				answer.Headers[strings.ToLower(h.Key)] = r.readSchema(header.Get("schema"),
					document.Join(where, "schema"))
			} else {
				answer.Headers[strings.ToLower(h.Key)] = unknownSchema()
			}
		}
		r.readLinks(o, answer.Status, given, at)
		o.Responses = append(o.Responses, answer)
	}
}

// readLinks reads which operations take values of a response.
func (r *reader) readLinks(o *Operation, status string, answer *document.Node, at string) {
	for _, e := range answer.Get("links").Pairs() {
		n, _ := r.followReference(e.Value, document.Join(at, "links", e.Key))
		if n == nil {
			continue
		}
		l := Link{Status: status,
			Operation:  or(n.Get("operationId").Text(), strings.TrimPrefix(n.Get("operationRef").Text(), "#")),
			Parameters: map[string]string{}}
		for _, p := range n.Get("parameters").Pairs() {
			l.Parameters[p.Key] = p.Value.Text()
		}
		if l.Operation != "" {
			o.Links = append(o.Links, l)
		}
	}
}

// readSecurity returns the alternatives of the operation, else those of the document. An empty list
// at the operation removes the document's.
func (r *reader) readSecurity(n *document.Node) []SecurityRequirement {
	list := n.Get("security")
	if list == nil {
		list = r.root.Get("security")
	}
	var out []SecurityRequirement
	for _, item := range list.List() {
		need := SecurityRequirement{}
		for _, e := range item.Pairs() {
			one := SchemeScopes{Scheme: e.Key}
			for _, s := range e.Value.List() {
				one.Scopes = append(one.Scopes, s.Text())
			}
			need = append(need, one)
		}
		out = append(out, need)
	}
	return out
}

// readSchemes reads the security schemes.
func (r *reader) readSchemes() {
	list, pointer := r.root.At("components", "securitySchemes"), "/components/securitySchemes"
	if r.v2 {
		list, pointer = r.root.Get("securityDefinitions"), "/securityDefinitions"
	}
	for _, e := range list.Pairs() {
		n, _ := r.followReference(e.Value, document.Join(pointer, e.Key))
		if n == nil {
			continue
		}
		s := SecurityScheme{Type: n.Get("type").Text(), Scheme: strings.ToLower(n.Get("scheme").Text()),
			In: strings.ToLower(n.Get("in").Text()), Name: n.Get("name").Text(), Line: e.Line}
		if s.Type == "basic" { // OpenAPI 2
			s.Type, s.Scheme = "http", "basic"
		}
		r.api.SecuritySchemes[e.Key] = s
	}
}

// readServers reads the servers of OpenAPI 3, with defaults for their variables.
func (r *reader) readServers(list *document.Node, pointer string) []string {
	var out []string
	for _, n := range list.List() {
		address := n.Get("url").Text()
		address = braces.ReplaceAllStringFunc(address, func(m string) string {
			v := n.At("variables", m[1:len(m)-1])
			if d := v.Get("default").Text(); d != "" {
				return d
			}
			if list := v.Get("enum").List(); len(list) > 0 {
				return list[0].Text()
			}
			r.addDefect(n, pointer, "the variable %.40s of the server has no value", m)
			return ""
		})
		if address != "" {
			out = append(out, address)
		}
	}
	return out
}

// hostServers makes servers of OpenAPI 2's schemes, host and path.
func hostServers(root, schemes *document.Node) []string {
	host, base := root.Get("host").Text(), "/"+strings.Trim(root.Get("basePath").Text(), "/")
	if host == "" {
		return []string{base}
	}
	var out []string
	for _, s := range schemes.List() {
		if s.Text() == "https" || s.Text() == "http" {
			out = append(out, s.Text()+"://"+host+base)
		}
	}
	if len(out) == 0 {
		out = []string{"//" + host + base}
	}
	return out
}

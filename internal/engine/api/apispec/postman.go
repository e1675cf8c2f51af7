package apispec

import (
	"net/url"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// This file reads Postman collections of the formats 2.0 and 2.1
// (https://schema.postman.com/).

// A postman reads a collection, with the variables that it defines.
type postman struct {
	*reader
	variables map[string]string
}

// readPostman reads a collection, also one inside of an answer of Postman's API.
func (r *reader) readPostman() {
	root := r.root
	if c := root.Get("collection"); c.Get("item") != nil { // as the API of Postman answers
		root = c
	}
	r.api.Version = "2.0"
	if strings.Contains(root.At("info", "schema").Text(), "v2.1") {
		r.api.Version = "2.1"
	}
	r.api.Title = root.At("info", "name").Text()
	p := &postman{reader: r, variables: map[string]string{}}
	p.learnVariables(root.Get("variable"))
	p.readItems(group{pointer: "", items: root.Get("item"), auth: root.Get("auth")}, 0)
}

// learnVariables records the variables that are enabled. Their values are texts.
func (p *postman) learnVariables(list *document.Node) {
	for _, v := range list.List() {
		if key := or(v.Get("key").Text(), v.Get("id").Text()); key != "" && !v.Get("disabled").True() {
			p.variables[key] = v.Get("value").Text()
		}
	}
}

// A group is a folder of a collection with what its requests inherit.
type group struct {
	pointer string
	items   *document.Node
	auth    *document.Node // inherited
	tags    []string
}

// readItems reads the requests of a folder and of nested folders. These inherit the sign-in, and
// the names of the folders as tags.
func (p *postman) readItems(g group, depth int) {
	if depth > maxDepth {
		p.addDefect(g.items, g.pointer, "has more than %d folders inside each other", maxDepth)
		return
	}
	for i, item := range g.items.List() {
		at := document.Join(g.pointer, "item", number(i))
		auth := g.auth
		if own := item.Get("auth"); own != nil {
			auth = own
		}
		if item.Get("item").IsList() {
			p.learnVariables(item.Get("variable"))
			p.readItems(group{at, item.Get("item"), auth, append(slices.Clone(g.tags), item.Get("name").Text())},
				depth+1)
			continue
		}
		p.readRequest(item, at, auth, g.tags)
	}
}

// readRequest reads one request, which may be written as an address alone.
func (p *postman) readRequest(item *document.Node, at string, auth *document.Node, tags []string) {
	n := item.Get("request")
	if n == nil {
		p.addDefect(item, at, "an item without a request")
		return
	}
	o := &Operation{ID: item.Get("name").Text(), Summary: item.Get("name").Text(), Tags: tags, Line: item.Line,
		Pointer: at}
	if !n.IsMap() { // the whole request is an address
		if o.Method = "GET"; !p.readAddress(o, n) {
			p.addDefect(item, at, "a request without an address")
			return
		}
		p.addOperation(o)
		return
	}
	o.Method = strings.ToUpper(or(p.expandVariables(n.Get("method").Text()), "GET"))
	if !p.readAddress(o, n.Get("url")) {
		p.addDefect(n, at, "a request without an address")
		return
	}
	for _, h := range n.Get("header").List() {
		if name := h.Get("key").Text(); name != "" && !h.Get("disabled").True() &&
			!strings.EqualFold(name, "Content-Type") {
			p.addParameter(o, "header", name, h)
		}
	}
	p.readBody(o, n.Get("body"), n.Get("header"))
	if own := n.Get("auth"); own != nil {
		auth = own
	}
	p.readAuth(o, auth)
	p.readResponses(o, item)
	p.addOperation(o)
}

// variable matches the use of a variable in a text.
var variable = lazyregexp.New(`\{\{([^{}]+)\}\}`)

// expandVariables replaces variables that the collection gives a value; the others stay, such as
// those of an environment, which is exported separately.
func (p *postman) expandVariables(s string) string {
	for range 5 { // values may name variables
		next := variable.ReplaceAllStringFunc(s, func(m string) string {
			if v, ok := p.variables[strings.TrimSpace(m[2:len(m)-2])]; ok {
				return v
			}
			return m
		})
		if next == s || len(next) > 1<<16 {
			break
		}
		s = next
	}
	return s
}

// addParameter adds a value outside of the body.
func (p *postman) addParameter(o *Operation, in, name string, n *document.Node) {
	value := p.expandVariables(n.Get("value").Text())
	one := &Parameter{In: in, Name: name, Required: in == "path", Schema: unknownSchema(), Line: n.Line}
	one.Schema.Types = []string{"string"}
	if value != "" && !variable.MatchString(value) {
		one.Example = value
	}
	o.Parameters = append(o.Parameters, one)
}

// readAddress reads the address of a request, which is a text or an object of its parts. False:
// there is none.
func (p *postman) readAddress(o *Operation, n *document.Node) bool {
	raw := n.Text()
	if n.IsMap() {
		raw = n.Get("raw").Text()
		if raw == "" {
			raw = assembleAddress(n)
		}
	}
	raw, query, _ := strings.Cut(p.expandVariables(raw), "?")
	if raw == "" {
		return false
	}
	raw, _, _ = strings.Cut(raw, "#")
	server, rest := "", raw
	if i := strings.Index(raw, "://"); i >= 0 {
		host, below, _ := strings.Cut(raw[i+3:], "/")
		server, rest = raw[:i+3]+host, below
	} else if host, below, ok := strings.Cut(raw, "/"); ok && host != "" && (strings.Contains(host, "{{") ||
		strings.ContainsAny(host, ".:")) || !ok {
		rest = below // a variable that nobody gave a value, or a host without a scheme
		if !strings.Contains(host, "{{") {
			server = "//" + host
		}
	}
	if !strings.Contains(server, "{{") {
		o.Server = server
	}
	p.readPath(o, rest, n.Get("variable"))
	if list := n.Get("query"); list.IsList() {
		for _, q := range list.Items {
			if name := q.Get("key").Text(); name != "" && !q.Get("disabled").True() {
				p.addParameter(o, "query", name, q)
			}
		}
		return true
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && name != "" {
			v, _ := url.QueryUnescape(value) // what cannot be unescaped has no example
			p.addParameter(o, "query", name,
				&document.Node{Kind: document.Map, Line: n.Line,
					Entries: []document.Entry{{Key: "value", Value: &document.Node{Kind: document.String, Value: v}}}})
		}
	}
	return true
}

// assembleAddress makes an address of its parts.
func assembleAddress(n *document.Node) string {
	join := func(n *document.Node, by string) string {
		if !n.IsList() {
			return n.Text()
		}
		var out []string
		for _, item := range n.Items {
			out = append(out, or(item.Text(), item.Get("value").Text()))
		}
		return strings.Join(out, by)
	}
	address := join(n.Get("host"), ".")
	if proto := n.Get("protocol").Text(); proto != "" && address != "" {
		address = proto + "://" + address
	}
	if port := n.Get("port").Text(); port != "" {
		address += ":" + port
	}
	return address + "/" + strings.TrimLeft(join(n.Get("path"), "/"), "/")
}

// readPath reads the path: ":id" and "{{id}}" are parameters, and what was sent in the place
// of one is too.
func (p *postman) readPath(o *Operation, path string, variables *document.Node) {
	values := map[string]*document.Node{}
	for _, v := range variables.List() {
		values[or(v.Get("key").Text(), v.Get("id").Text())] = v
	}
	var steps []string
	for step := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		name := ""
		if rest, ok := strings.CutPrefix(step, ":"); ok {
			name = rest
		} else if m := variable.FindStringSubmatch(step); m != nil {
			name = strings.TrimSpace(m[1])
		}
		if name != "" {
			step = "{" + name + "}"
			n := values[name]
			if n == nil {
				n = &document.Node{Line: o.Line}
			}
			p.addParameter(o, "path", name, n)
		} else if object.MatchString(step) {
			step = p.parameterOfSegment(o, steps, step)
		}
		steps = append(steps, step)
	}
	o.Path = "/" + strings.Join(steps, "/")
}

// readBody reads the body by its mode: raw, urlencoded, formdata or graphql.
func (p *postman) readBody(o *Operation, n, headers *document.Node) {
	m := &Media{}
	if n != nil {
		m.Line = n.Line
	}
	switch n.Get("mode").Text() {
	case "raw":
		text := p.expandVariables(n.Get("raw").Text())
		m.Type = rawType(n, headers, text)
		m.Schema, m.Example = p.readRawBody(m.Type, text)
	case "urlencoded":
		m.Type = "application/x-www-form-urlencoded"
		m.Schema = p.readForm(n.Get("urlencoded"))
	case "formdata":
		m.Type = "multipart/form-data"
		m.Schema = p.readForm(n.Get("formdata"))
	case "graphql":
		m.Type = "application/json"
		query := unknownSchema()
		query.Types, query.Enum = []string{"string"}, []any{n.At("graphql", "query").Text()}
		m.Schema = unknownSchema()
		m.Schema.Types, m.Schema.Required = []string{"object"}, []string{"query"}
		m.Schema.Properties = []Property{{"query", query}}
		if v, err := document.ParseFirst([]byte(n.At("graphql", "variables").Text()), Limits); err == nil {
			m.Schema.Properties = append(m.Schema.Properties, Property{"variables", Infer(v.Any())})
			m.Schema.Required = append(m.Schema.Required, "variables")
		}
	default:
		return
	}
	o.Bodies, o.BodyRequired = []*Media{m}, true
}

// rawType returns the media type of a text body: by the header, by the language of the editor, else
// by its first character.
func rawType(n, headers *document.Node, text string) string {
	for _, h := range headers.List() {
		if strings.EqualFold(h.Get("key").Text(), "Content-Type") {
			return mediaType(h.Get("value").Text())
		}
	}
	switch n.At("options", "raw", "language").Text() {
	case "json":
		return "application/json"
	case "xml":
		return "application/xml"
	}
	if head := strings.TrimSpace(text); strings.HasPrefix(head, "{") || strings.HasPrefix(head, "[") {
		return "application/json"
	}
	return "text/plain"
}

// readRawBody returns the schema of a body that is a text, and the example.
func (p *postman) readRawBody(typ, text string) (*Schema, any) {
	if strings.HasSuffix(typ, "json") {
		// Numbers and texts may be variables that have no value: "{{id}}".
		bare := variable.ReplaceAllString(text, "0")
		if v, err := document.ParseFirst([]byte(bare), Limits); err == nil {
			return Infer(v.Any()), v.Any()
		}
	}
	return unknownSchema(), text
}

// readForm makes the schema of a form; disabled fields are left out.
func (p *postman) readForm(list *document.Node) *Schema {
	s := unknownSchema()
	s.Types = []string{"object"}
	for _, f := range list.List() {
		name := f.Get("key").Text()
		if name == "" || f.Get("disabled").True() {
			continue
		}
		field := unknownSchema()
		field.Types = []string{"string"}
		if f.Get("type").Text() == "file" {
			field.Format = "binary"
		} else if v := p.expandVariables(f.Get("value").Text()); v != "" {
			field.Examples = []any{v}
		}
		s.Properties, s.Required = append(s.Properties, Property{name, field}), append(s.Required, name)
	}
	return s
}

// readAuth reads how a request signs in. The type of Postman is also the name of the scheme.
func (p *postman) readAuth(o *Operation, n *document.Node) {
	typ := n.Get("type").Text()
	if n == nil || typ == "" || typ == "noauth" {
		return
	}
	s := SecurityScheme{Type: "http", Scheme: typ, Line: n.Line}
	switch typ {
	case "apikey":
		s = SecurityScheme{Type: "apiKey", In: "header", Line: n.Line}
		for _, v := range n.Get("apikey").List() {
			switch v.Get("key").Text() {
			case "key":
				s.Name = p.expandVariables(v.Get("value").Text())
			case "in":
				s.In = v.Get("value").Text()
			}
		}
	case "oauth2":
		s = SecurityScheme{Type: "oauth2", Line: n.Line}
	}
	p.api.SecuritySchemes[typ] = s
	o.Security = []SecurityRequirement{{{Scheme: typ}}}
}

// readResponses reads saved responses. They are examples: what else the API returns is not known.
func (p *postman) readResponses(o *Operation, item *document.Node) {
	for _, n := range item.Get("response").List() {
		status := n.Get("code").Text()
		if status == "" || slices.ContainsFunc(o.Responses, func(r *Response) bool { return r.Status == status }) {
			continue
		}
		r := &Response{Status: status, Line: n.Line, Headers: map[string]*Schema{}}
		if v, err := document.ParseFirst([]byte(n.Get("body").Text()), Limits); err == nil {
			r.Bodies = []*Media{{Type: "application/json", Schema: Infer(v.Any()), Example: v.Any(), Line: n.Line}}
		}
		o.Responses = append(o.Responses, r)
	}
}

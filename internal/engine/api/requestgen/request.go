package requestgen

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
)

// An Input is what an operation is sent with, before it is written as a request. Values are in the
// form of encoding/json: string, int64, float64, bool, nil, []any, map[string]any.
type Input struct {
	Operation *apispec.Operation
	// Media is the type of the body; nil: there is no body.
	Media *apispec.Media
	// Values are those of the parameters, in the order of the description; absent for one that is
	// left out.
	Values []any
	// Body is the value of the body, and means nothing without Media.
	Body any
}

// absent is the value of a parameter that is left out; nil is the JSON value null.
type absent struct{}

// ValidInput returns a valid input of the operation: what options.Known knows, else examples of the
// description, else generated values. Parameters of the path are always there.
func ValidInput(o *apispec.Operation, options Options) *Input {
	in := &Input{Operation: o, Values: make([]any, len(o.Parameters))}
	for i, p := range o.Parameters {
		in.Values[i] = absent{}
		if isLeftOut(p) || p.In == "header" && slices.Contains(options.Headers, strings.ToLower(p.Name)) ||
			!p.Required && !options.Optional && p.In != "path" {
			continue
		}
		in.Values[i] = parameterValue(p, options)
	}
	// A body of GET or DELETE has no meaning (RFC 9110, section 9.3.1), unless the description
	// requires it.
	if in.Media = chooseMedia(o); in.Media == nil || !o.BodyRequired && !options.Optional &&
		(o.Method == "GET" || o.Method == "DELETE") {
		in.Media = nil
		return in
	}
	m := &maker{Options: options, in: "body"}
	in.Body = m.makeValue("", in.Media.Schema, 0)
	if in.Media.Example != nil && (options.Known == nil || len(Flat(in.Media.Schema).Properties) == 0) {
		in.Body = in.Media.Example
	}
	return in
}

// parameterValue returns a valid value of a parameter: a known one, else the example if it fits the
// schema, else a generated one.
func parameterValue(p *apispec.Parameter, options Options) any {
	if options.Known != nil {
		if v, ok := options.Known(p.In, p.Name, Flat(p.Schema)); ok {
			return v
		}
	}
	if p.Example != nil && (len(p.Schema.Types) == 0 || fitsSchema(Flat(p.Schema), p.Example) ||
		kindOf(Flat(p.Schema)) == "string") {
		return p.Example
	}
	m := &maker{Options: options, in: p.In}
	return m.makeValue(p.Name, p.Schema, 0)
}

// isLeftOut reports whether a parameter is set by the client: OpenAPI (section 4.8.12.2) says that
// descriptions of Accept, Content-Type and Authorization are ignored.
func isLeftOut(p *apispec.Parameter) bool {
	return p.In == "header" &&
		slices.Contains([]string{"accept", "content-type", "authorization", "content-length", "host", "connection"},
			strings.ToLower(p.Name))
}

// chooseMedia chooses the media type of the body: those whose parts can be attacked go before
// others. nil: there is no body.
func chooseMedia(o *apispec.Operation) *apispec.Media {
	var best *apispec.Media
	rank := 0
	for _, m := range o.Bodies {
		r := 1
		switch bodyKind(m.Type) {
		case message.JSON:
			r = 5
		case message.Form:
			r = 4
		case message.Multipart:
			r = 3
		case message.XML:
			r = 2
		}
		if r > rank {
			best, rank = m, r
		}
	}
	return best
}

// bodyKind returns the form of a body by its media type. Wildcards are JSON.
func bodyKind(t string) message.BodyKind {
	switch {
	case t == "application/json", strings.HasSuffix(t, "+json"), t == "text/json", t == "*/*", t == "application/*":
		return message.JSON
	case t == "application/x-www-form-urlencoded":
		return message.Form
	case strings.HasPrefix(t, "multipart/"):
		return message.Multipart
	case t == "application/xml", t == "text/xml", strings.HasSuffix(t, "+xml"):
		return message.XML
	}
	return message.Text
}

// Request writes the input as a request below the base. origin is the kind of the description, as
// in message.Request.
func (in *Input) Request(base *url.URL, origin string) (*message.Request, error) {
	o := in.Operation
	path := strings.TrimPrefix(o.Address(base), base.Scheme+"://"+base.Host)
	if path == "" {
		path = "/"
	}
	r := &message.Request{Method: o.Method, Scheme: base.Scheme, Host: base.Host, Path: path, Template: path, ID: o.ID,
		Origin: origin, Types: map[string]string{}, Choices: map[string][]string{}}
	// All GraphQL operations have one address; their identifier distinguishes them on the sitemap.
	if o.Call != nil {
		r.Template += "#" + o.ID
		r.Types["json:/query"] = message.Constant
	}
	for i, p := range o.Parameters {
		if _, no := in.Values[i].(absent); !no {
			writeParameter(r, p, in.Values[i])
		}
	}
	r.Path = escapePath(r.Path)
	if in.Media != nil {
		body, err := in.writeBody(r)
		if err != nil {
			return nil, err
		}
		r.Body = body
	}
	if _, err := url.ParseRequestURI(r.Path); err != nil {
		return nil, errs.E(errs.Invalid, "the path %.100q of the description is none", o.Path)
	}
	return r, nil
}

// escapePath encodes what a path must not contain, such as braces around names that nothing
// describes.
func escapePath(path string) string {
	return (&url.URL{Path: path, RawPath: path}).EscapedPath()
}

// writeParameter writes a parameter into the path, the query, a header or a cookie, with the type
// of its value for the attack.
func writeParameter(r *message.Request, p *apispec.Parameter, v any) {
	s := Flat(p.Schema)
	text := writePlain(v)
	if strings.HasSuffix(p.Type, "json") {
		text = encodeJSON(v)
	}
	switch p.In {
	case "path":
		r.Path = strings.ReplaceAll(r.Path, "{"+p.Name+"}", url.PathEscape(text))
	case "query":
		r.Query = append(r.Query, writeQuery(p, v, text)...)
	case "header":
		r.Header = append(r.Header, message.Param{Name: p.Name, Value: text})
	case "cookie":
		r.Cookies = append(r.Cookies, message.Param{Name: p.Name, Value: text})
	}
	if t := typeOf(s); t != "" {
		r.Types[p.In+":"+p.Name] = t
	}
	if p.In == "query" {
		recordChoices(r, p.In+":"+p.Name, s, v)
	}
}

// maxListed bounds the other values of an enumeration that are kept for each parameter.
const maxListed = 8

// recordChoices records the other values of an enumeration: a value that the description lists may
// show more than the one that is sent, such as role=admin.
func recordChoices(r *message.Request, key string, s *apispec.Schema, v any) {
	for _, other := range s.Enum {
		switch other.(type) {
		case string, int64, float64:
			if writePlain(other) != writePlain(v) && len(r.Choices[key]) < maxListed {
				r.Choices[key] = append(r.Choices[key], writePlain(other))
			}
		}
	}
}

// writeQuery writes a query parameter in its style (OpenAPI, section 4.8.12.4): ids=1&ids=2 (form,
// exploded), ids=1,2 (form), filter[name]=x (deepObject).
func writeQuery(p *apispec.Parameter, v any, text string) []message.Param {
	var out []message.Param
	switch v := v.(type) {
	case []any:
		if p.Explode && p.Type == "" {
			for _, item := range v {
				out = append(out, message.Param{Name: p.Name, Value: writePlain(item)})
			}
			return out
		}
	case map[string]any:
		if p.Type != "" || p.Style != "deepObject" && !p.Explode {
			break
		}
		for _, name := range sortedKeys(v) {
			full := name
			if p.Style == "deepObject" {
				full = p.Name + "[" + name + "]"
			}
			out = append(out, message.Param{Name: full, Value: writePlain(v[name])})
		}
		return out
	}
	return []message.Param{{Name: p.Name, Value: text}}
}

// sortedKeys returns the names of the members in their order, so that every scan writes
// the same request.
func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// writePlain writes a value outside of a document; lists and objects as comma-separated texts.
func writePlain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = writePlain(item)
		}
		return strings.Join(parts, ",")
	case map[string]any:
		var parts []string
		for _, name := range sortedKeys(v) {
			parts = append(parts, name, writePlain(v[name]))
		}
		return strings.Join(parts, ",")
	}
	return encodeJSON(v)
}

// encodeJSON writes a value as JSON, with <, > and & as they are: payloads stay readable.
func encodeJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // a number that JSON does not have
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// typeOf returns the type of a value for the attack, as message.Request.Types does; empty: a text.
func typeOf(s *apispec.Schema) string {
	switch s.Format {
	case "binary":
		return "file"
	case "password", "email":
		return s.Format
	case "uri", "url":
		return "url"
	}
	switch t := kindOf(s); t {
	case "integer", "number", "boolean":
		return t
	}
	return ""
}

// writeBody writes the body in the form of its media type.
func (in *Input) writeBody(r *message.Request) (message.Body, error) {
	t := in.Media.Type
	if t == "*/*" || t == "application/*" {
		t = ""
	}
	b := message.Body{Kind: bodyKind(in.Media.Type), Type: t}
	fields, _ := in.Body.(map[string]any)
	schema := Flat(in.Media.Schema)
	switch b.Kind {
	case message.JSON:
		b.Text = []byte(encodeJSON(in.Body))
		recordTypes(r, "", schema, in.Body, 0)
	case message.Form, message.Multipart:
		if b.Kind == message.Multipart {
			b.Type = "" // with the boundary
		}
		for _, name := range sortedKeys(fields) {
			b.Params = append(b.Params, writeField(r, b.Kind, name, Flat(schema.Property(name)), fields[name])...)
		}
	case message.XML:
		if text, ok := in.Body.(string); ok {
			b.Text = []byte(text)
			break
		}
		var out strings.Builder
		writeElement(&out, nameOr(schema.Name, "root"), in.Body, 0)
		b.Text = []byte(out.String())
	default:
		b.Text = []byte(writePlain(in.Body))
	}
	return b, nil
}

// nameOr returns a name, or another one where it is empty.
func nameOr(name, other string) string {
	if name != "" {
		return name
	}
	return other
}

// writeField writes a field of a form; a list becomes several fields of one name.
func writeField(r *message.Request, kind message.BodyKind, name string, s *apispec.Schema, v any) []message.Param {
	if list, ok := v.([]any); ok {
		var out []message.Param
		for _, item := range list {
			out = append(out, writeField(r, kind, name, Flat(s.Items), item)...)
		}
		return out
	}
	p := message.Param{Name: name, Value: writePlain(v)}
	if s.Format == "binary" && kind == message.Multipart {
		p.File, p.Type = "merlon.txt", "text/plain"
	}
	if t := typeOf(s); t != "" {
		r.Types[string(kind)+":"+name] = t
	}
	recordChoices(r, string(kind)+":"+name, s, v)
	return []message.Param{p}
}

// recordTypes records the types of the leaves of a JSON body by their pointer, and which names of
// members clients may choose.
func recordTypes(r *message.Request, pointer string, s *apispec.Schema, v any, depth int) {
	if depth > maxDepth+2 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			at := pointer + "/" + message.EscapePointer(name)
			if p := s.Property(name); p != nil {
				recordTypes(r, at, Flat(p), below, depth+1)
			} else if s.Additional != nil && len(s.Properties) == 0 {
				r.Types[string(message.InJSONName)+":"+at] = message.Free
				recordTypes(r, at, Flat(s.Additional), below, depth+1)
			}
		}
	case []any:
		for i, below := range v {
			recordTypes(r, fmt.Sprintf("%s/%d", pointer, i), Flat(s.Items), below, depth+1)
		}
	case string:
		if t := typeOf(s); t != "" {
			r.Types["json:"+pointer] = t
		}
		recordChoices(r, "json:"+pointer, s, v)
	}
}

// writeElement writes a value as an XML element; the items of a list become elements of one name.
// Characters that a name must not contain are replaced.
func writeElement(b *strings.Builder, name string, v any, depth int) {
	if list, ok := v.([]any); ok && depth > 0 {
		for _, item := range list {
			writeElement(b, name, item, depth+1)
		}
		return
	}
	name = strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
	b.WriteString("<" + name + ">")
	if fields, ok := v.(map[string]any); ok {
		for _, below := range sortedKeys(fields) {
			writeElement(b, below, fields[below], depth+1)
		}
	} else {
		_ = xml.EscapeText(b, []byte(writePlain(v))) // a builder takes everything
	}
	b.WriteString("</" + name + ">")
}

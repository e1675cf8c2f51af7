package apispec

import (
	"net/url"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// This file reads HTTP archives, format 1.2
// (http://www.softwareishard.com/blog/har-12-spec/).

// passive matches media types of the parts of pages, which no API returns.
var passive = lazyregexp.New(`^(image|font|audio|video)/|^text/css|javascript|font-woff`)

// own matches headers that a client sets by itself, and those with credentials.
var own = lazyregexp.New(`(?i)^(:.*|host|connection|content-length|content-type|cookie|user-agent|accept.*|origin|referer|sec-.*|upgrade-insecure-requests|cache-control|pragma|dnt|te|priority|if-.*|authorization|x-forwarded-.*)$`)

// readHAR reads a recording of a browser. Requests that differ only in values become one operation,
// with the responses of all of them.
func (r *reader) readHAR() {
	log := r.root.Get("log")
	r.api.Version, r.api.Title = log.Get("version").Text(), log.At("creator", "name").Text()
	known := map[string]*Operation{}
	for i, e := range log.Get("entries").List() {
		at := document.Join("/log/entries", number(i))
		o := r.readEntry(e, at)
		if o == nil {
			continue
		}
		key := o.Method + " " + o.Server + o.Path
		for _, p := range o.Parameters {
			if p.In == "query" {
				key += "&" + p.Name
			}
		}
		if first := known[key]; first != nil {
			for _, answer := range o.Responses {
				if !slices.ContainsFunc(first.Responses, func(r *Response) bool { return r.Status == answer.Status }) {
					first.Responses = append(first.Responses, answer)
				}
			}
			continue
		}
		known[key] = o
		r.addOperation(o)
	}
}

// readEntry reads one request with its response; nil: it does not belong to an API.
func (r *reader) readEntry(e *document.Node, at string) *Operation {
	n := e.Get("request")
	address, err := url.Parse(n.Get("url").Text())
	if err != nil || address.Host == "" {
		r.addDefect(e, at, "a request without an address")
		return nil
	}
	content := mediaType(e.At("response", "content", "mimeType").Text())
	if address.Scheme != "http" && address.Scheme != "https" || passive.MatchString(content) {
		return nil
	}
	o := &Operation{Method: strings.ToUpper(or(n.Get("method").Text(), "GET")), Server: address.Scheme + "://" +
		address.Host, Line: e.Line, Pointer: at}
	r.readSegments(o, address)
	query := address.Query()
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		r.readSent(o, "query", name, query.Get(name))
	}
	for _, h := range n.Get("headers").List() {
		name := h.Get("name").Text()
		if name != "" && !own.MatchString(name) {
			r.readSent(o, "header", name, h.Get("value").Text())
		}
	}
	r.readPosted(o, n.Get("postData"))
	if status := e.At("response", "status").Text(); len(status) == 3 {
		answer := &Response{Status: status, Line: e.Line, Headers: map[string]*Schema{}}
		if content != "" {
			m := &Media{Type: content, Schema: unknownSchema(), Line: e.Line}
			if text := e.At("response", "content"); strings.HasSuffix(content, "json") && text.Get("encoding") == nil {
				if v, err := document.ParseFirst([]byte(text.Get("text").Text()), Limits); err == nil {
					m.Schema, m.Example = Infer(v.Any()), v.Any()
				}
			}
			answer.Bodies = []*Media{m}
		}
		o.Responses = []*Response{answer}
	}
	return o
}

// readSent adds a parameter with the value that was sent as its example.
func (r *reader) readSent(o *Operation, in, name, value string) {
	p := &Parameter{In: in, Name: name, Required: in == "path", Schema: unknownSchema(), Example: value, Line: o.Line}
	p.Schema.Types = []string{"string"}
	o.Parameters = append(o.Parameters, p)
}

// object matches a segment of a path that names one of many objects: a number, a UUID, a long
// hexadecimal text such as an identifier of MongoDB.
var object = lazyregexp.New(`^(\d+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{24,64})$`)

// readSegments reads the path; a segment that names an object becomes a parameter.
func (r *reader) readSegments(o *Operation, address *url.URL) {
	steps := strings.Split(strings.TrimPrefix(address.EscapedPath(), "/"), "/")
	for i, step := range steps {
		if object.MatchString(step) {
			steps[i] = r.parameterOfSegment(o, steps[:i], step)
		}
	}
	o.Path = "/" + strings.Join(steps, "/")
}

// parameterOfSegment adds a parameter for a segment that names an object, called by the word before
// it, and returns the segment of the template: /users/42 becomes /users/{userId}.
func (r *reader) parameterOfSegment(o *Operation, steps []string, step string) string {
	name := "id"
	for _, before := range slices.Backward(steps) {
		if !strings.HasPrefix(before, "{") {
			name = strings.TrimSuffix(before, "s") + "Id"
			break
		}
	}
	for slices.Contains(steps, "{"+name+"}") {
		name += "2"
	}
	r.readSent(o, "path", name, step)
	return "{" + name + "}"
}

// readPosted reads the body of a request.
func (r *reader) readPosted(o *Operation, n *document.Node) {
	if n == nil {
		return
	}
	m := &Media{Type: mediaType(n.Get("mimeType").Text()), Schema: unknownSchema(), Line: n.Line}
	text := n.Get("text").Text()
	form := strings.HasSuffix(m.Type, "form-urlencoded") || strings.HasPrefix(m.Type, "multipart/")
	switch {
	case form:
		fields := map[string]any{}
		for _, p := range n.Get("params").List() {
			fields[p.Get("name").Text()] = p.Get("value").Text()
		}
		if values, err := url.ParseQuery(text); err == nil && len(fields) == 0 &&
			!strings.HasPrefix(m.Type, "multipart/") {
			for name := range values {
				fields[name] = values.Get(name)
			}
		}
		m.Schema = Infer(fields)
	case strings.HasSuffix(m.Type, "json"):
		v, err := document.ParseFirst([]byte(text), Limits)
		if err != nil {
			r.addDefect(n, o.Pointer, "a body that is no JSON")
			m.Example = text
			break
		}
		m.Schema, m.Example = Infer(v.Any()), v.Any()
	case text == "":
		return
	default:
		m.Example = text
	}
	o.Bodies, o.BodyRequired = []*Media{m}, true
}

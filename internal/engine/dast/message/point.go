package message

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An In says where in a request a point is.
type In string

// Where points are. The names of parameters are points of their own: what reads
// them all reads the names too.
const (
	InPath      In = "path"
	InQuery     In = "query"
	InForm      In = "form"
	InMultipart In = "multipart"
	// InFileName is the name of a file in multipart.
	InFileName   In = "filename"
	InJSON       In = "json"
	InXML        In = "xml"
	InHeader     In = "header"
	InHeaderName In = "header-name"
	InCookie     In = "cookie"
	InQueryName  In = "query-name"
	InFormName   In = "form-name"
	InCookieName In = "cookie-name"
	// InJSONName is the name of a member; Name is the pointer to it.
	InJSONName In = "json-name"
)

// A Point is a location in a request where a value can be replaced.
type Point struct {
	In In
	// Name is that of the parameter; in JSON a pointer (RFC 6901); in XML a path of element names;
	// in a path the name or the number of the segment.
	Name string
	// Index distinguishes points of one name: the index of the parameter in its list, the number of
	// the segment from 0, the number of the leaf; -1: the parameter is not in the request.
	Index int
	// Value is the present one.
	Value string
	// Type is as in Request.Types; of a JSON leaf "string", "number", "boolean" or "null".
	Type string
	// Inner is the value within this one that the point means, such as JSON in a cookie; nil: the
	// whole value.
	Inner *Inner
}

// Constant is the type of a value that makes the operation: with another one it is
// another operation, so that it is no point.
const Constant = "constant"

// Free is the type of the name of a member of JSON that clients choose, or that the
// application is seen to read. Those of other members are no points: what reads a document
// into a structure leaves out names that it does not know.
const Free = "free"

// Key names the point in an operation: "query:id", "json:/user/name", and, for a value within
// another one, "cookie:user (base 64)".
func (p Point) Key() string {
	if p.Inner != nil {
		return string(p.In) + ":" + p.Name + " (" + p.Packed() + ")"
	}
	return string(p.In) + ":" + p.Name
}

// Names reports whether the point is the name of a parameter.
func (p Point) Names() bool {
	return p.In == InQueryName || p.In == InFormName || p.In == InCookieName || p.In == InHeaderName ||
		p.In == InJSONName
}

// Points returns the values of the request that can be replaced: query, body, path
// segments that look like values, cookies and headers that it has, in this order.
func (r *Request) Points() []Point { return r.pointsWith(false) }

// pointsWith is Points, with the values that make the operation or without.
func (r *Request) pointsWith(constants bool) []Point {
	var out []Point
	add := func(p Point) {
		if t := r.Types[p.Key()]; t != "" {
			p.Type = t
		}
		if constants || p.Type != Constant {
			out = append(out, p)
		}
	}
	for i, p := range firstParameters(r.Query) {
		add(Point{In: InQuery, Name: p.Name, Index: i, Value: p.Value})
	}
	switch r.Body.Kind {
	case Form:
		for i, p := range firstParameters(r.Body.Params) {
			add(Point{In: InForm, Name: p.Name, Index: i, Value: p.Value})
		}
	case Multipart:
		for i, p := range firstParameters(r.Body.Params) {
			add(Point{In: InMultipart, Name: p.Name, Index: i, Value: p.Value})
			if p.File != "" {
				add(Point{In: InFileName, Name: p.Name, Index: i, Value: p.File})
			}
		}
	case JSON:
		for i, leaf := range jsonLeaves(r.Body.Text) {
			add(Point{In: InJSON, Name: leaf.pointer, Index: i, Value: leaf.value, Type: leaf.kind})
		}
	case XML:
		for i, leaf := range xmlLeaves(r.Body.Text) {
			add(Point{In: InXML, Name: leaf.name, Index: i, Value: leaf.value})
		}
	}
	for _, p := range r.pathPoints() {
		add(p)
	}
	for i, p := range firstParameters(r.Cookies) {
		add(Point{In: InCookie, Name: p.Name, Index: i, Value: p.Value})
	}
	for i, p := range r.Header {
		if IsAttackableHeader(p.Name) {
			add(Point{In: InHeader, Name: p.Name, Index: i, Value: p.Value})
		}
	}
	return out
}

// firstParameters are as many parameters as are insertion points.
func firstParameters(list []Param) []Param { return list[:min(len(list), maxValues)] }

// HasTooManyPoints reports whether the query or the body has more values than those that are
// insertion points, the first maxValues of each.
func (r *Request) HasTooManyPoints() bool {
	return len(r.Query) > maxValues || len(r.Body.Params) > maxValues || r.Body.Kind == JSON &&
		len(jsonLeaves(r.Body.Text)) == maxValues ||
		r.Body.Kind == XML && len(xmlLeaves(r.Body.Text)) == maxValues
}

// fixed are headers without which a request is another request.
var fixed = map[string]bool{"Host": true, "Content-Type": true, "Content-Length": true, "Authorization": true,
	"Cookie": true, "Accept": true,
	"Accept-Encoding": true, "Connection": true}

// IsAttackableHeader reports whether a header with the name can be changed, and the request
// stays the request that it is.
func IsAttackableHeader(name string) bool { return !fixed[http.CanonicalHeaderKey(name)] }

// Names returns the names of parameters as points; not those of passwords: a form that
// comes without the password and without its confirmation may give the user none.
func (r *Request) Names() []Point {
	var out []Point
	add := func(in, value In, list []Param) {
		for i, p := range firstParameters(list) {
			at := Point{In: in, Name: p.Name, Index: i, Value: p.Name}
			if r.Types[at.Key()] != Constant && r.Types[string(value)+":"+p.Name] != "password" {
				out = append(out, at)
			}
		}
	}
	add(InQueryName, InQuery, r.Query)
	if r.Body.Kind == Form {
		add(InFormName, InForm, r.Body.Params)
	}
	add(InCookieName, InCookie, r.Cookies)
	for i, p := range r.Header {
		if IsAttackableHeader(p.Name) {
			out = append(out, Point{In: InHeaderName, Name: p.Name, Index: i, Value: p.Name})
		}
	}
	for _, at := range r.Members() {
		if at.Type == Free { // one stands for all: they go the same way
			out = append(out, at)
			break
		}
	}
	return out
}

// Members returns the names of the members of a JSON body that hold a text, a number or the
// like, each once.
func (r *Request) Members() []Point {
	if r.Body.Kind != JSON {
		return nil
	}
	var out []Point
	for i, l := range jsonLeaves(r.Body.Text) {
		at := Point{In: InJSONName, Name: l.pointer, Index: i, Value: l.member}
		at.Type = r.Types[at.Key()]
		if l.nameEnd > 0 && at.Type != Constant && r.Types[string(InJSON)+":"+l.pointer] != "password" {
			out = append(out, at)
		}
	}
	return out
}

// HeaderPoint is a header that the request does not have.
func HeaderPoint(name string) Point { return Point{In: InHeader, Name: name, Index: -1} }

// splitPath splits the path; the first is the one behind the first slash.
func (r *Request) splitPath() []string { return strings.Split(strings.TrimPrefix(r.Path, "/"), "/") }

// pathPoints returns the segments of the path that are values: those that the
// template names, and without a template those that look like an identifier.
func (r *Request) pathPoints() []Point {
	var out []Point
	var names []string
	if r.Template != "" {
		names = strings.Split(strings.TrimPrefix(r.Template, "/"), "/")
	}
	all := r.splitPath()
	for i, s := range all {
		at := segmentPoint(i, s)
		switch {
		case len(names) == len(all):
			if open := strings.IndexByte(names[i], '{'); open >= 0 && strings.HasSuffix(names[i], "}") {
				at.Name, at.Value = strings.Trim(names[i][open:], "{}"), strings.TrimPrefix(at.Value, names[i][:open])
				out = append(out, at)
			}
		case LooksLikeIdentifier(at.Value):
			out = append(out, at)
		}
	}
	return out
}

// Segment is the i-th segment of the path, from 0, as a value.
func (r *Request) Segment(i int) Point { return segmentPoint(i, r.splitPath()[i]) }

// segmentPoint is the point of a segment of the path. Its name is its number, from 1,
// since segments have no names.
func segmentPoint(i int, s string) Point {
	value, err := url.PathUnescape(s)
	if err != nil {
		value = s
	}
	return Point{In: InPath, Name: fmt.Sprint(i + 1), Index: i, Value: value}
}

// LooksLikeIdentifier reports whether the segment of a path looks like the value of a
// parameter: a number, a UUID, a long word of hexadecimal digits, an address of mail.
func LooksLikeIdentifier(segment string) bool {
	if segment == "" || len(segment) > 200 {
		return false
	}
	digits, hex := 0, 0
	for _, c := range segment {
		switch {
		case c >= '0' && c <= '9':
			digits, hex = digits+1, hex+1
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '-':
			hex++
		}
	}
	return digits == len(segment) || hex == len(segment) && digits > 1 && len(segment) >= 16 ||
		strings.Contains(segment, "@") && strings.Contains(segment, ".")
}

// With returns a copy of the request with the value at the point. A JSON leaf
// becomes a string; see WithJSON for others.
func (r *Request) With(p Point, value string) *Request {
	if p.Inner != nil {
		return r.With(p.Inner.outer, packValue(p.Inner.outer.Value, p.Inner.layers, value, false))
	}
	c := r.Clone()
	switch p.In {
	case InQuery:
		setParam(&c.Query, p, value)
	case InForm, InMultipart:
		setParam(&c.Body.Params, p, value)
	case InCookie:
		setParam(&c.Cookies, p, value)
	case InHeader:
		setParam(&c.Header, p, value)
	case InQueryName:
		setName(c.Query, p, value)
	case InFormName:
		setName(c.Body.Params, p, value)
	case InCookieName:
		setName(c.Cookies, p, value)
	case InHeaderName:
		setName(c.Header, p, value)
	case InFileName:
		if p.Index >= 0 && p.Index < len(c.Body.Params) {
			c.Body.Params[p.Index].File = value
		}
	case InPath:
		c.setSegment(p, value)
	case InJSON:
		c.Body.Text = setJSON(r.Body.Text, p, quoteJSON(value))
	case InJSONName:
		c.Body.Text = setMember(r.Body.Text, p, value)
	case InXML:
		c.Body.Text = setXML(r.Body.Text, p, value)
	}
	return c
}

// WithJSON returns a copy whose JSON leaf at the point is the given JSON text. The
// point may name a member that is not there: it is added. So it is with a value of JSON
// within that of a parameter; within another kind of text, the JSON is a text.
func (r *Request) WithJSON(p Point, text string) *Request {
	if p.Inner != nil {
		return r.With(p.Inner.outer, packValue(p.Inner.outer.Value, p.Inner.layers, text, p.HoldsJSON()))
	}
	c := r.Clone()
	c.Body.Text = setJSON(r.Body.Text, p, []byte(text))
	return c
}

// setParam replaces a parameter by its place in the list, or adds one. The list may be
// shared with other requests, so that adding copies it.
func setParam(list *[]Param, p Point, value string) {
	if p.Index >= 0 && p.Index < len(*list) {
		(*list)[p.Index].Value = value
		(*list)[p.Index].Bare = false
		return
	}
	*list = append(slices.Clip(*list), Param{Name: p.Name, Value: value})
}

// setName renames a parameter by its place in the list.
func setName(list []Param, p Point, name string) {
	if p.Index >= 0 && p.Index < len(list) {
		list[p.Index].Name = name
	}
}

// setSegment replaces a segment, but for what the template fixes of it.
func (r *Request) setSegment(p Point, value string) {
	segments := r.splitPath()
	if p.Index < 0 || p.Index >= len(segments) {
		return
	}
	prefix := ""
	if names := strings.Split(strings.TrimPrefix(r.Template, "/"), "/"); r.Template != "" &&
		len(names) == len(segments) {
		if open := strings.IndexByte(names[p.Index], '{'); open > 0 {
			prefix = names[p.Index][:open]
		}
	}
	segments[p.Index] = url.PathEscape(prefix + value)
	r.Path = "/" + strings.Join(segments, "/")
}

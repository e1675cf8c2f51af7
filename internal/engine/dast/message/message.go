// Package message is the model of what a dynamic analysis sends and receives: a
// request whose parameters are insertion points, and its answer. Crawlers, API
// descriptions, browsers and the code's routes all make requests of this kind; checks
// change one point at a time.
//
// A Request is a value that is never changed after it was made: With and its kin
// return copies. What it holds is decoded; HTTP encodes it.
package message

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// A Request is a request as it can be sent.
type Request struct {
	// Method is in upper case.
	Method string
	// Scheme is "http" or "https".
	Scheme string
	// Host has the port where it is not that of the scheme.
	Host string
	// Path is encoded, and begins with a slash.
	Path string
	// Query, Header and Cookies keep order and repetitions.
	Query   []Param
	Header  []Param
	Cookies []Param
	Body    Body
	// RawQuery is a query that is sent as it is, in the place of Query: nothing in it
	// is an insertion point.
	RawQuery string

	// Template names the operation where a description or the code does: the path
	// with names in braces. Without one, two addresses are the same operation when
	// site.Shape says so.
	Template string
	// ID is the operation's name in its description.
	ID string
	// Origin says what told of the request: "link", "form", "openapi", …
	Origin string
	// Types says of a point, by Point.Key, what it takes: "integer", "number",
	// "boolean", "file", "password", "email", "url", …, or Constant. Missing ones are unknown.
	Types map[string]string
	// Choices are, by Point.Key, the other values of a parameter of which the page or the
	// description lists all.
	Choices map[string][]string
	// Referer is the page that the request was found on.
	Referer string
	// Guest says that it is sent by somebody who has not signed in, whoever the scan is.
	Guest bool
	// Label is what the button says that sends the form; empty: it is none, or has no text.
	Label string
	// Effect is what the operation does, as far as it was judged when the request was found;
	// empty: it was not judged yet. Requests that are made of this one have the same.
	Effect Effect
	// Shown are the names of the fields that the page itself fills in and a user may change:
	// the form most likely edits what they show.
	Shown []string
	// Via is the form that has to be sent before, each time: the answer to it leads to the
	// page with this one. nil: none has to.
	Via *Request
}

// A Param is a name with a value.
type Param struct {
	Name, Value string
	// Bare: in a query it stands without "=".
	Bare bool
	// File is the name of a file in multipart; empty: a plain field.
	File string
	// Type is the Content-Type of the part.
	Type string
}

// A BodyKind says how a body is written.
type BodyKind string

// The kinds of bodies. Text is sent as it is, and has no insertion points.
const (
	NoBody    BodyKind = ""
	Form      BodyKind = "form"
	Multipart BodyKind = "multipart"
	JSON      BodyKind = "json"
	XML       BodyKind = "xml"
	Text      BodyKind = "text"
)

// A Body is the body of a request.
type Body struct {
	Kind BodyKind
	// Params are those of Form and Multipart.
	Params []Param
	// Text is that of JSON, XML and Text.
	Text []byte
	// Type is the Content-Type where it is not the usual one of the kind.
	Type string
}

// Parse returns the GET request of an absolute address. The fragment is left out.
func Parse(address string) (*Request, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("address %.200q: %w", address, err)
	}
	return FromURL(u)
}

// FromURL returns the GET request of an address with scheme and host.
func FromURL(u *url.URL) (*Request, error) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("address %.200q is not http or https, or names no host", u.Redacted())
	}
	r := &Request{Method: http.MethodGet, Scheme: u.Scheme, Host: canonicalHost(u), Path: u.EscapedPath(),
		Query: ParseQuery(u.RawQuery)}
	if r.Path == "" {
		r.Path = "/"
	}
	return r, nil
}

// canonicalHost is the host in lower case, without the port that the scheme has anyway.
func canonicalHost(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return host
}

// ParseQuery reads the query of an address, or a form, as servers do: pairs between
// "&"; what cannot be decoded stays as it is.
func ParseQuery(raw string) []Param {
	var out []Param
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, equal := strings.Cut(pair, "=")
		out = append(out, Param{Name: unescapeText(name), Value: unescapeText(value), Bare: !equal})
	}
	return out
}

// unescapeText decodes a part of a query; what cannot be decoded stays.
func unescapeText(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return s
}

// EncodeQuery writes parameters as a query or a form. A space is %20, which every reader
// decodes; those that take addresses apart by themselves leave a plus as it is.
func EncodeQuery(params []Param) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(Escape(p.Name))
		if !p.Bare || p.Value != "" {
			b.WriteByte('=')
			b.WriteString(Escape(p.Value))
		}
	}
	return b.String()
}

// Escape writes a text as it stands in a query.
func Escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// Base is scheme and host, without a slash at the end.
func (r *Request) Base() string { return r.Scheme + "://" + r.Host }

// Address is the whole address.
func (r *Request) Address() string {
	if q := r.encodedQuery(); q != "" {
		return r.Base() + r.Path + "?" + q
	}
	return r.Base() + r.Path
}

// encodedQuery is the query as it is sent.
func (r *Request) encodedQuery() string {
	if r.RawQuery != "" {
		return r.RawQuery
	}
	return EncodeQuery(r.Query)
}

// Location is the address without the query: what findings name.
func (r *Request) Location() string {
	if r.Template != "" {
		return r.Base() + r.Template
	}
	return r.Base() + r.Path
}

// URL is the address, parsed.
func (r *Request) URL() *url.URL {
	u := &url.URL{Scheme: r.Scheme, Host: r.Host, RawQuery: r.encodedQuery()}
	path, err := url.PathUnescape(r.Path)
	if err != nil { // a payload that no server decodes either
		u.Opaque = "//" + r.Host + r.Path
		u.Path = r.Path
		return u
	}
	u.Path, u.RawPath = path, r.Path
	return u
}

// Clone returns a copy that shares nothing that changes.
func (r *Request) Clone() *Request {
	c := *r
	c.Query = slices.Clone(r.Query)
	c.Header = slices.Clone(r.Header)
	c.Cookies = slices.Clone(r.Cookies)
	c.Body.Params = slices.Clone(r.Body.Params)
	return &c
}

// HeaderValue returns the first value of a header; empty when there is none.
func (r *Request) HeaderValue(name string) string {
	for _, h := range r.Header {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// SetHeader returns a copy whose header has this one value.
func (r *Request) SetHeader(name, value string) *Request {
	c := r.WithoutHeader(name)
	c.Header = append(c.Header, Param{Name: name, Value: value})
	return c
}

// WithoutHeader returns a copy without the header.
func (r *Request) WithoutHeader(name string) *Request {
	c := r.Clone()
	c.Header = slices.DeleteFunc(c.Header, func(p Param) bool { return strings.EqualFold(p.Name, name) })
	return c
}

// Content returns the body as it is sent, and its Content-Type; both are empty
// without a body.
func (r *Request) Content() (content []byte, contentType string) {
	b := &r.Body
	switch b.Kind {
	case Form:
		content, contentType = []byte(EncodeQuery(b.Params)), "application/x-www-form-urlencoded"
	case Multipart:
		return b.encodeMultipart()
	case JSON:
		content, contentType = b.Text, "application/json"
	case XML:
		content, contentType = b.Text, "application/xml"
	case Text:
		content, contentType = b.Text, "text/plain"
	default:
		return nil, ""
	}
	if b.Type != "" {
		contentType = b.Type
	}
	return content, contentType
}

// boundary is fixed, so that the same request is the same bytes. No value holds it:
// multipart replaces it where one does.
const boundary = "----form-7MA4YWxkTrZu0gW"

// encodeMultipart writes the parts (RFC 7578). Names are sent as they are but for quotes
// and line ends.
func (b *Body) encodeMultipart() ([]byte, string) {
	limit := boundary
	for _, p := range b.Params {
		for strings.Contains(p.Value, limit) {
			limit += "x"
		}
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	_ = w.SetBoundary(limit) // it is valid
	quote := strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A")
	for _, p := range b.Params {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, quote.Replace(p.Name))
		if p.File != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, quote.Replace(p.File))
			h.Set("Content-Type", "application/octet-stream")
		}
		h.Set("Content-Disposition", disposition)
		if p.Type != "" {
			h.Set("Content-Type", p.Type)
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(part, p.Value)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	_ = w.Close() // a buffer takes everything
	return out.Bytes(), "multipart/form-data; boundary=" + limit
}

// HTTP returns the request for a client. Headers of the request stand before what a
// session adds.
func (r *Request) HTTP(ctx context.Context) (*http.Request, error) {
	content, contentType := r.Content()
	var body io.Reader
	if r.Body.Kind != NoBody {
		body = bytes.NewReader(content)
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, r.Base()+"/", body)
	if err != nil {
		return nil, fmt.Errorf("request %s %s: %w", r.Method, r.Base(), err)
	}
	out.URL = r.URL()
	for _, h := range r.Header {
		switch {
		case !validHeader(h.Name, h.Value):
			return nil, fmt.Errorf("header %.100q cannot be sent", h.Name)
		case strings.EqualFold(h.Name, "Host"):
			out.Host = h.Value
		default:
			out.Header.Add(h.Name, h.Value)
		}
	}
	if contentType != "" && out.Header.Get("Content-Type") == "" {
		out.Header.Set("Content-Type", contentType)
	}
	if r.Referer != "" && out.Header.Get("Referer") == "" && validHeader("Referer", r.Referer) {
		out.Header.Set("Referer", r.Referer)
	}
	if len(r.Cookies) > 0 {
		out.Header.Set("Cookie", CookieHeader(r.Cookies))
	}
	return out, nil
}

// CookieHeader writes cookies as the value of a header. What a cookie may not hold, and
// the percent sign, is percent-encoded, as most applications write and read it.
func CookieHeader(cookies []Param) string {
	parts := make([]string, len(cookies))
	for i, c := range cookies {
		parts[i] = cookieText(c.Name) + "=" + cookieText(c.Value)
	}
	return strings.Join(parts, "; ")
}

// cookieText writes a value so that every server reads it as one cookie (RFC 6265,
// section 4.1.1).
func cookieText(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == ';' || c == ',' || c == '"' || c == '\\' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// validHeader reports whether net/http sends the header.
func validHeader(name, value string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// MediaType returns the media type of a Content-Type, in lower case and without
// parameters.
func MediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(contentType, ";")
	}
	return strings.ToLower(strings.TrimSpace(media))
}

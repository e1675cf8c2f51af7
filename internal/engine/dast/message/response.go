package message

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"merlon/internal/lazyregexp"
)

// A Response is a response as it was read. It is safe for concurrent use: text and document are
// made once.
type Response struct {
	Request *Request
	Status  int
	// Proto is the version: "HTTP/1.1".
	Proto  string
	Header http.Header
	// Body is decompressed, and cut at the limit of the scan.
	Body []byte
	// Truncated: the body was longer, or broke off.
	Truncated bool
	// Took is the time to the end of the body.
	Took time.Duration
	// Sent is the request as it was sent, with what the session added; credentials are replaced.
	Sent string

	// Another response with the same body, whose text and document this one uses; nil: none.
	same   *Response
	decode sync.Once
	text   string
	parse  sync.Once
	doc    *html.Node
	// The error of the HTML parser.
	failed error
	mu     sync.Mutex
	// Results of MatchesBody, by expression.
	shown map[*lazyregexp.Regexp]bool
}

// ShareBody reports whether the answer has the body and the type of another one, and lets it
// take what was read of that one and is read later: its text, its document, and what was
// searched in it. It is called before anybody else knows the answer.
func (r *Response) ShareBody(known *Response) bool {
	if known.same != nil {
		known = known.same
	}
	if r == known || r.Header.Get("Content-Type") != known.Header.Get("Content-Type") ||
		!bytes.Equal(r.Body, known.Body) {
		return false
	}
	r.Body, r.same = known.Body, known
	return true
}

// Shared reports whether the answer shares what is read of it, and its body, with another
// one.
func (r *Response) Shared() bool { return r.same != nil }

// MatchesBody reports whether the text of the answer matches, which is searched once for all
// answers that share it.
func (r *Response) MatchesBody(what *lazyregexp.Regexp) bool {
	if r.same != nil {
		return r.same.MatchesBody(what)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.shown[what]
	if !known {
		found = what.MatchString(r.Text())
		if r.shown == nil {
			r.shown = map[*lazyregexp.Regexp]bool{}
		}
		r.shown[what] = found
	}
	return found
}

// Copy returns the answer without what was read of it: a parsed page takes many times
// the room of its text.
func (r *Response) Copy() *Response {
	return &Response{Request: r.Request, Status: r.Status, Proto: r.Proto, Header: r.Header, Body: r.Body,
		Truncated: r.Truncated, Took: r.Took, Sent: r.Sent}
}

// MediaType returns the media type of the answer; without a header, what the body
// looks like.
func (r *Response) MediaType() string {
	if t := r.Header.Get("Content-Type"); t != "" {
		return MediaType(t)
	}
	return MediaType(http.DetectContentType(r.Body))
}

// IsDownload reports whether a browser saves the answer as a file instead of showing it (RFC 6266).
func (r *Response) IsDownload() bool {
	disposition, _, _ := strings.Cut(r.Header.Get("Content-Disposition"), ";")
	disposition = strings.TrimSpace(disposition)
	return disposition != "" && !strings.EqualFold(disposition, "inline")
}

// IsHTML reports whether a browser shows the answer as a page.
func (r *Response) IsHTML() bool {
	switch r.MediaType() {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

// IsData reports whether the answer is for programs: JSON or XML.
func (r *Response) IsData() bool {
	t := r.MediaType()
	if t == "text/xml" {
		return true
	}
	kind, is := strings.CutPrefix(t, "application/")
	return is && !r.IsHTML() && (kind == "json" || kind == "xml" || strings.HasSuffix(kind, "+json") ||
		strings.HasSuffix(kind, "+xml"))
}

// Text is the body in UTF-8.
func (r *Response) Text() string {
	if r.same != nil {
		return r.same.Text()
	}
	r.decode.Do(func() {
		text := r.Body
		if enc, name, _ := charset.DetermineEncoding(text[:min(len(text), 1024)],
			r.Header.Get("Content-Type")); name != "utf-8" && name != "windows-1252" {
			if decoded, err := enc.NewDecoder().Bytes(text); err == nil {
				text = decoded
			}
		}
		r.text = strings.ToValidUTF8(string(text), "\uFFFD")
	})
	return r.text
}

// Document is the body as a parsed page (HTML 5), whatever its type; it must not be
// changed. It takes some twenty times the room of the text.
func (r *Response) Document() *html.Node {
	if r.same != nil {
		return r.same.Document()
	}
	r.parse.Do(func() {
		r.doc, r.failed = html.Parse(strings.NewReader(r.Text()))
		if r.failed != nil { // the parser takes everything but its own limits
			r.doc = &html.Node{Type: html.DocumentNode}
		}
	})
	return r.doc
}

// ParseError says why Document is empty although the body is not: a page whose elements
// are in each other more than 512 levels deep. nil: it was parsed.
func (r *Response) ParseError() error {
	r.Document()
	if r.same != nil {
		return r.same.failed
	}
	return r.failed
}

// Location is the absolute address that the answer redirects to; nil: none.
func (r *Response) Location() *url.URL {
	if r.Status < 300 || r.Status > 399 {
		return nil
	}
	to, err := url.Parse(r.Header.Get("Location"))
	if err != nil || r.Header.Get("Location") == "" {
		return nil
	}
	return r.Request.URL().ResolveReference(to)
}

// WithTrailingSlash is the same request for the path with a slash at its end, or without the one
// that it has, where the answer redirects to that: so frameworks tell which of the two
// they have. nil: it does not.
func (r *Response) WithTrailingSlash() *Request {
	to, at := r.Location(), r.Request.URL()
	if to == nil || to.Host != at.Host || to.Scheme != at.Scheme || to.Path == at.Path ||
		strings.TrimRight(to.Path, "/") != strings.TrimRight(at.Path, "/") {
		return nil
	}
	there := r.Request.Clone()
	there.Path = to.EscapedPath()
	if there.Template != "" {
		there.Template = strings.TrimRight(there.Template, "/")
		if strings.HasSuffix(there.Path, "/") {
			there.Template += "/"
		}
	}
	return there
}

// DecodeJSON returns the value that a text begins with, its numbers as json.Number: they
// keep their digits. nil: it is null, or no JSON.
func DecodeJSON(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

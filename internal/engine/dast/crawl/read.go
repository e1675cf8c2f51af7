package crawl

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/crawl/script"
	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file reads answers for addresses.

// PageContent is what an answer tells.
type PageContent struct {
	Requests []*message.Request
	Sockets  []string
	Routes   []string                      // that script shows in the browser: paths
	choosers map[*message.Request]*chooser // forms in which nothing is typed
	scripted []*scriptForm
	code     scriptCode // of the answer, and of what it includes
}

// formatInt writes a number.
func formatInt(n int) string { return strconv.Itoa(n) }

// ReadPage returns everything that an answer leads to.
func ReadPage(resp *message.Response) *PageContent { return ReadPageWith(resp, nil) }

// ReadPageWith is ReadPage with the values that the scan types into fields.
func ReadPageWith(resp *message.Response, values *formvalue.Generator) *PageContent {
	r := &reader{values: values, base: resp.Request.URL(),
		found: &PageContent{choosers: map[*message.Request]*chooser{}}}
	r.readHeaders(resp.Header)
	media := resp.MediaType()
	name := path.Base(resp.Request.Path)
	text := resp.Text()
	switch {
	case name == "robots.txt":
		r.readRobots(text)
	case strings.Contains(media, "html"):
		r.readDocument(resp.Document())
		r.readFrames(text)
	case strings.Contains(media, "css") || strings.HasSuffix(name, ".css"):
		r.readStyle(text)
	case isScript(media, name):
		r.readScript(text)
	case strings.HasSuffix(name, ".map"):
		r.readSourceMap(text)
	case strings.Contains(media, "json"):
		r.readJSON(text)
	case strings.Contains(media, "xml"):
		r.readXML(text)
	case strings.HasPrefix(media, "text/"):
		r.readAddresses(text, "text")
	}
	return r.found
}

// isScript reports whether a response is JavaScript, by its media type or its name.
func isScript(media, name string) bool {
	return strings.Contains(media, "javascript") || strings.Contains(media, "ecmascript") ||
		strings.HasSuffix(name, ".js") || strings.HasSuffix(name, ".mjs")
}

// reader reads one response and collects what it leads to.
type reader struct {
	values *formvalue.Generator
	base   *url.URL
	found  *PageContent
	deep   int // fragments inside of fragments
}

// addAddress adds an address.
func (r *reader) addAddress(text, origin string) {
	trimmed := strings.TrimSpace(text)
	lower := strings.ToLower(trimmed)
	if strings.HasPrefix(lower, "ws:") || strings.HasPrefix(lower, "wss:") {
		r.found.Sockets = append(r.found.Sockets, trimmed)
		return
	} else if code, ok := strings.CutPrefix(lower, "javascript:"); ok {
		r.readScript(trimmed[len(trimmed)-len(code):])
		return
	} else if strings.HasPrefix(lower, "data:") {
		r.readDataURL(text)
		return
	}
	if q := Resolve(r.base, text, origin); q != nil {
		r.found.Requests = append(r.found.Requests, q)
	}
}

// readDataURL reads a document inside of an address (RFC 2397).
func (r *reader) readDataURL(address string) {
	media, body, _ := strings.Cut(address, ",")
	if !strings.Contains(media, "html") && !strings.Contains(media, "xml") {
		return
	}
	if strings.HasSuffix(media, ";base64") {
		decoded, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return
		}
		body = string(decoded)
	} else if decoded, err := url.PathUnescape(body); err == nil {
		body = decoded
	}
	r.readFragment(body)
}

// readHeaders reads those that name addresses (RFC 9110, RFC 8288). Link may hold
// several addresses.
func (r *reader) readHeaders(h http.Header) {
	for _, name := range []string{"Location", "Content-Location", "SourceMap", "X-SourceMap"} {
		if v := h.Get(name); v != "" {
			r.addAddress(v, "header")
		}
	}
	if m := refresh.FindStringSubmatch(h.Get("Refresh")); m != nil {
		r.addAddress(m[1], "header")
	}
	for _, v := range h.Values("Link") {
		for _, m := range linkHeader.FindAllStringSubmatch(v, -1) {
			r.addAddress(m[1], "header")
		}
	}
}

var (
	// refresh and the others match where addresses stand in headers, styles, texts and
	// XML.
	refresh    = lazyregexp.New(`(?is)^\s*\d+(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*['"]?(.*?)['"]?\s*$`)
	linkHeader = lazyregexp.New(`<([^>]*)>`)
	styleURL   = lazyregexp.New(`(?i)url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')`)
	plainURL   = lazyregexp.New(`(?i)\b(?:https?|wss?)://[^\s"'<>\\)\]}]+`)
	xmlLoc     = lazyregexp.New(`(?is)<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</`)
	xmlAttr    = lazyregexp.New(`(?i)\s(?:href|src|url|location|action|endpoint|schemaLocation|xml:base)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	xmlText    = lazyregexp.New(`>\s*((?:https?://|/)[^<>\s]+)\s*<`)
)

// firstGroup returns the first group of a match that is not empty.
func firstGroup(groups []string) string {
	for _, g := range groups[1:] {
		if g != "" {
			return g
		}
	}
	return ""
}

// readRobots reads a robots file (RFC 9309): what is not to be visited is there. A
// pattern is cut before its first asterisk.
func (r *reader) readRobots(text string) {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(strings.TrimSpace(value), "#")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "allow", "disallow":
			value = strings.TrimSuffix(value, "$")
			if i := strings.IndexByte(value, '*'); i >= 0 {
				value = value[:strings.LastIndexByte(value[:i], '/')+1]
			}
			if strings.HasPrefix(value, "/") {
				r.addAddress(value, "robots")
			}
		case "sitemap":
			r.addAddress(value, "robots")
		}
	}
}

// readStyle finds the addresses in a style sheet: of images, fonts and imported sheets.
func (r *reader) readStyle(text string) {
	for _, m := range styleURL.FindAllStringSubmatch(text, -1) {
		r.addAddress(firstGroup(m), "style")
	}
}

// readXML finds addresses in XML: those of a sitemap, of attributes that hold one, and
// texts that look like one. Namespaces of the W3C are names, not pages.
func (r *reader) readXML(text string) {
	for _, m := range xmlLoc.FindAllStringSubmatch(text, -1) {
		r.addAddress(html.UnescapeString(m[1]), "sitemap")
	}
	for _, m := range xmlAttr.FindAllStringSubmatch(text, -1) {
		if v := firstGroup(m); !strings.Contains(v, "www.w3.org") {
			r.addAddress(html.UnescapeString(v), "xml")
		}
	}
	for _, m := range xmlText.FindAllStringSubmatch(text, -1) {
		r.addAddress(html.UnescapeString(m[1]), "xml")
	}
}

// readJSON reads the strings of a document that are addresses. Keys count as well; the
// number of tokens is bounded.
func (r *reader) readJSON(text string) {
	dec := json.NewDecoder(strings.NewReader(text))
	for range 200_000 {
		token, err := dec.Token()
		if err != nil {
			return
		}
		if s, ok := token.(string); ok && script.LooksLikeAddress(s) {
			r.addAddress(s, "json")
		}
	}
}

// readAddresses finds whole addresses in plain text.
func (r *reader) readAddresses(text, origin string) {
	for _, a := range plainURL.FindAllString(text, 1000) {
		r.addAddress(strings.TrimRight(a, ".,;:!?"), origin)
	}
}

// readScript mines code. Calls that the code makes are requests with plausible values.
func (r *reader) readScript(code string) {
	mined := script.ExtractCalls(code)
	r.found.Routes = append(r.found.Routes, mined.Routes...)
	r.found.code.headers = r.found.code.headers || mined.Headers
	r.found.code.fields = r.found.code.fields || mined.Fields
	for _, call := range mined.Calls {
		q := Resolve(r.base, call.Address, "script")
		switch {
		case strings.HasPrefix(call.Address, "ws"):
			r.addAddress(call.Address, "script")
			continue
		case q == nil:
			continue
		}
		if call.Method != "" {
			q.Method = call.Method
		}
		for _, name := range call.Query {
			q.Query = append(q.Query, message.Param{Name: name, Value: r.sampleValue(&call, name)})
		}
		for _, name := range call.Headers {
			q.Header = append(q.Header, message.Param{Name: name, Value: r.sampleValue(&call, name)})
		}
		if q.Method != http.MethodGet && len(call.Body) > 0 {
			q.Body = r.bodyOf(&call)
		}
		r.found.Requests = append(r.found.Requests, q)
	}
}

// fileName are names of fields that take a file.
var fileName = lazyregexp.New(`(?i)file|image|photo|picture|avatar|upload|attachment|document`)

// sampleValue is a plausible value of what a call sends. The scan's own values are
// used, so that they are found again.
func (r *reader) sampleValue(call *script.Call, name string) string {
	return filling{values: r.values, of: call.Address, stores: call.Method != "" &&
		call.Method != http.MethodGet}.valueOf(name, "")
}

// bodyOf is what a call sends, with plausible values. A field that is named like a file
// gets one.
func (r *reader) bodyOf(call *script.Call) message.Body {
	if call.Kind == script.JSON {
		return message.Body{Kind: message.JSON, Text: r.jsonBody(call)}
	}
	out := message.Body{Kind: message.Form}
	for _, name := range call.Body {
		p := message.Param{Name: name, Value: r.sampleValue(call, name)}
		if call.Kind == script.Multipart && fileName.MatchString(name) {
			p = message.Param{Name: name, Value: r.values.Mark() + "\n", File: r.values.Mark() + ".txt",
				Type: "text/plain"}
		}
		out.Params = append(out.Params, p)
	}
	if call.Kind == script.Multipart {
		out.Kind = message.Multipart
	}
	return out
}

// jsonBody is an object with the names and plausible values.
func (r *reader) jsonBody(call *script.Call) []byte {
	body := map[string]string{}
	for _, name := range call.Body {
		body[name] = r.sampleValue(call, name)
	}
	out, _ := json.Marshal(body) // strings can be written
	return out
}

// readSourceMap mines the sources that a map holds (Source Map, revision 3). The
// original sources name more addresses than the minified code.
func (r *reader) readSourceMap(text string) {
	var m struct {
		SourcesContent []string `json:"sourcesContent"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return
	}
	for _, s := range m.SourcesContent {
		r.readScript(s)
	}
}

package template

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/publicsuffix"

	"merlon/internal/engine/dast/message"
)

// This file makes requests of shapes.

// errMissing says that a request names something without a value: it is not sent.
type errMissing struct{ name string }

// Error implements error.
func (e errMissing) Error() string { return fmt.Sprintf("%q has no value", e.name) }

// targetValues returns the values that name the target. They have the names that the
// format gives them; registered domains are taken from the public suffix list.
func targetValues(base *url.URL) values {
	host := base.Hostname()
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	root := base.Scheme + "://" + base.Host
	whole := root + strings.TrimSuffix(base.EscapedPath(), "/")
	v := values{"BaseURL": whole, "RootURL": root, "Hostname": base.Host, "Host": host, "Port": port,
		"Scheme": base.Scheme,
		"Path":   strings.TrimSuffix(path.Dir(base.Path+"x"), "/"), "File": strings.TrimPrefix(path.Base(base.Path),
			"/"),
		"Input": base.String(), "FQDN": host, "RDN": host, "DN": host, "TLD": "", "SD": ""}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		name, tld, _ := strings.Cut(domain, ".")
		v["RDN"], v["DN"], v["TLD"], v["SD"] = domain, name, tld, strings.TrimSuffix(strings.TrimSuffix(host, domain),
			".")
	}
	return v
}

// buildRequest fills in a request. A section that is lenient sends names without a
// value as they stand.
func (b *block) buildRequest(s *shape, e *evaluation) (*message.Request, error) {
	fillIn := func(text string) (string, error) {
		out, missing := fillExpressions(text, e)
		if missing != "" && !b.lenient {
			return "", errMissing{missing}
		}
		return out, nil
	}
	if s.raw != "" {
		whole, err := fillIn(s.raw)
		if err != nil {
			return nil, err
		}
		return parseRaw(whole, e.values, b.merge)
	}
	at, err := fillIn(s.path)
	if err != nil {
		return nil, err
	}
	r, err := resolveTarget(at, e.values, false)
	if err != nil {
		return nil, err
	}
	r.Method = s.method
	for _, h := range s.headers {
		value, err := fillIn(h.text)
		if err != nil {
			return nil, err
		}
		r.Header = append(r.Header, message.Param{Name: h.name, Value: value})
	}
	body, err := fillIn(s.body)
	if err != nil {
		return nil, err
	}
	setBody(r, body)
	return r, nil
}

// setBody gives the request a body as it is; its header says of what type. The parser
// of points does not take it apart: a template says itself what it changes.
func setBody(r *message.Request, body string) {
	if body != "" {
		r.Body = message.Body{Kind: message.Text, Text: []byte(body), Type: r.HeaderValue("Content-Type")}
		*r = *r.WithoutHeader("Content-Type")
	}
}

// resolveTarget reads an address, or a path on the target; with merge a path is below
// the target's own. The path is sent as it is written, dots and escapes too, because
// templates attack with them. An address with a user in it is refused: it would look
// like another host than it is.
func resolveTarget(at string, v values, merge bool) (*message.Request, error) {
	if !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://") {
		if !strings.HasPrefix(at, "/") {
			at = "/" + at
		}
		root := textOf(v["RootURL"])
		if merge {
			root = textOf(v["BaseURL"])
		}
		at = root + at
	}
	at, _, _ = strings.Cut(at, "#")
	whole, query, asks := strings.Cut(at, "?")
	scheme, rest, _ := strings.Cut(whole, "://")
	host, below, _ := strings.Cut(rest, "/")
	if u, err := url.Parse(scheme + "://" + host + "/"); err != nil || u.User != nil || u.Host == "" {
		return nil, fmt.Errorf("%.100q is no address", at)
	}
	r, err := message.Parse(scheme + "://" + host + "/")
	if err != nil {
		return nil, err
	}
	r.Path, r.Origin = "/"+encodeRequestLine(below), "template"
	if asks {
		r.RawQuery = encodeRequestLine(query)
	}
	return r, nil
}

// encodeRequestLine writes what no request line holds as percent and two digits, and leaves all
// else as it is.
func encodeRequestLine(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// parseRaw reads a request as text: a request line, headers, an empty line, a body.
// Its length and the connection are the client's own business.
func parseRaw(whole string, v values, merge bool) (*message.Request, error) {
	head, body := splitHead(strings.TrimLeft(whole, " \t\r\n"))
	first, rest, _ := strings.Cut(head, "\n")
	first = strings.TrimSpace(first)
	method, at, ok := strings.Cut(first, " ")
	if !ok {
		return nil, fmt.Errorf("%.60q is no request line", first)
	}
	if i := strings.LastIndex(at, " HTTP/"); i >= 0 {
		at = at[:i]
	}
	r, err := resolveTarget(strings.TrimSpace(at), v, merge)
	if err != nil {
		return nil, err
	}
	r.Method = strings.ToUpper(method)
	for line := range strings.Lines(rest) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if name = strings.TrimSpace(name); ok && name != "" {
			addRawHeader(r, name, value)
		}
	}
	if !strings.Contains(strings.ToLower(r.HeaderValue("Content-Type")), "multipart") {
		body = strings.TrimRight(body, "\r\n")
	} else if !strings.Contains(body, "\r\n") {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	setBody(r, body)
	return r, nil
}

// splitHead divides a raw request at its first empty line, whatever its line ends are.
// Files of templates have either kind of line end.
func splitHead(whole string) (head, body string) {
	head = whole
	for _, gap := range []string{"\r\n\r\n", "\n\n", "\n\r\n"} {
		if i := strings.Index(whole, gap); i >= 0 && i < len(head) {
			head, body = whole[:i], whole[i+len(gap):]
		}
	}
	return head, body
}

// addRawHeader adds a header line. Those about the connection are the client's own.
// Cookies become cookies of the request, so that they join those of the session.
func addRawHeader(r *message.Request, name, value string) {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Length", "Connection", "Transfer-Encoding", "Accept-Encoding", "Proxy-Connection":
	case "Cookie":
		for pair := range strings.SplitSeq(value, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if name != "" {
				r.Cookies = append(r.Cookies, message.Param{Name: name, Value: value})
			}
		}
	default:
		r.Header = append(r.Header, message.Param{Name: name, Value: strings.TrimSpace(value)})
	}
}

// payloadSets are the payloads of each run of a section, one after another; without
// payloads there is one set without any. Which values stand together is what the attack
// says: those of the same place (pitchfork), each with each (clusterbomb), or one at a
// time.
func (b *block) payloadSets() []map[string]string {
	if len(b.payloads) == 0 {
		return []map[string]string{nil}
	}
	var out []map[string]string
	switch b.attack {
	case "pitchfork":
		for i := range countCombinations(b) {
			set := map[string]string{}
			for _, p := range b.payloads {
				set[p.name] = p.values[i]
			}
			out = append(out, set)
		}
	case "clusterbomb":
		for i := range countCombinations(b) {
			set := map[string]string{}
			for _, p := range b.payloads {
				set[p.name] = p.values[i%len(p.values)]
				i /= len(p.values)
			}
			out = append(out, set)
		}
	default:
		for _, p := range b.payloads {
			for _, value := range p.values {
				out = append(out, map[string]string{p.name: value})
			}
		}
	}
	return out
}

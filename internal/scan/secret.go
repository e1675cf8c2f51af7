package scan

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/redact"
)

// This file collects the secrets of a target, and redacts them in the messages of a scan. A
// report is read by more people than the credentials of the test users are meant for.

// Redact returns a Handler that redacts the secrets of the set in each message before it
// forwards it to h. It is the boundary of a scan: every message passes it.
func Redact(h Handler, secrets *redact.Set) Handler { return redacting{h, secrets} }

// redacting redacts copies of messages: analyzers may still use the originals.
type redacting struct {
	h       Handler
	secrets *redact.Set
}

func (r redacting) Config(m *Config) error     { return r.h.Config(redact.Copy(r.secrets, m)) }
func (r redacting) Progress(m *Progress) error { return r.h.Progress(redact.Copy(r.secrets, m)) }
func (r redacting) Rule(m *finding.Rule) error { return r.h.Rule(redact.Copy(r.secrets, m)) }
func (r redacting) Status(m *Status) error     { return r.h.Status(redact.Copy(r.secrets, m)) }
func (r redacting) Package(m *finding.Package) error {
	return r.h.Package(redact.Copy(r.secrets, m))
}
func (r redacting) Finding(m *finding.Finding) error {
	return r.h.Finding(redact.Copy(r.secrets, m))
}
func (r redacting) Operation(m *finding.Operation) error {
	return r.h.Operation(redact.Copy(r.secrets, m))
}

// Secrets returns the secrets of the target: header values, credentials of identities, and
// credentials in URLs.
func (t *Target) Secrets() *redact.Set {
	s := &redact.Set{}
	t.AddSecrets(s)
	return s
}

// AddSecrets adds the secrets of the target to a set.
func (t *Target) AddSecrets(s *redact.Set) {
	for _, text := range slices.Concat([]string{t.URL}, t.Seeds, t.Include, t.Exclude) {
		addAddress(s, text)
	}
	for _, d := range slices.Concat(t.Descriptions, t.Templates) {
		addAddress(s, d.URL)
	}
	for _, d := range t.Descriptions {
		addDescription(s, d.Text)
	}
	for _, h := range t.Headers {
		addHeader(s, h)
	}
	for i := range t.Identities {
		AddSecrets(s, &t.Identities[i])
	}
}

// AddSecrets adds the credentials of an identity.
func AddSecrets(s *redact.Set, i *Identity) {
	s.AddPublic(i.Name)
	addAddress(s, i.Marker.URL)
	s.Add("totp", i.TOTP)
	s.Add("totp", strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "=", "").Replace(i.TOTP)))
	addHeader(s, Header{Name: "Authorization", Value: i.Bearer})
	addHeader(s, Header{Name: "Cookie", Value: i.Cookie})
	for _, h := range i.Header {
		addHeader(s, h)
	}
	if b := i.Basic; b != nil {
		addPair(s, b.User, b.Password)
	}
	if f := i.Form; f != nil {
		addAddress(s, f.URL)
		addPair(s, f.User, f.Password)
		for name, value := range f.Fields {
			addValue(s, name, value)
		}
	}
	if j := i.JSON; j != nil {
		addAddress(s, j.URL)
		addBody(s, string(j.Body))
	}
	if o := i.OAuth; o != nil {
		for _, text := range []string{o.Issuer, o.Authorize, o.Token, o.Redirect} {
			addAddress(s, text)
		}
		addPair(s, o.ClientID, o.ClientSecret)
		addPair(s, url.QueryEscape(o.ClientID), url.QueryEscape(o.ClientSecret))
		addPair(s, o.User, o.Password)
		addValue(s, "refresh_token", o.Refresh)
		addValue(s, "client_secret", o.ClientSecret)
	}
	for _, step := range i.Steps {
		addAddress(s, step.Open)
		addValue(s, redact.Password, step.Value)
	}
}

// addValue adds a value unless it is a template for a one-time password.
func addValue(s *redact.Set, name, value string) {
	if !strings.Contains(value, "{{totp}}") {
		s.Add(name, value)
	}
}

// addPair adds a user name, which is public, with its password, also encoded as HTTP Basic
// credentials (RFC 7617, section 2).
func addPair(s *redact.Set, user, password string) {
	s.AddPublic(user)
	if password == "" {
		return
	}
	addValue(s, redact.Password, password)
	s.Add("Authorization", base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// publicHeaders are headers that say how a client works, and are no secrets.
var publicHeaders = lazyregexp.New(`(?i)^(accept(-.*)?|user-agent|host|content-type|referer|origin|cache-control|pragma|connection|te|dnt|via|forwarded|` +
	`x-forwarded-(for|host|proto|port)|x-requested-with|sec-.*|upgrade-insecure-requests)$`)

// quotedText matches the quoted parameters of an Authorization header, such as those of Digest
// (RFC 7616).
var quotedText = lazyregexp.New(`"([^"]+)"`)

// addHeader adds the value of a header, as a whole and without its public parts: the
// authentication scheme (RFC 9110, section 11.4), the names of cookies.
func addHeader(s *redact.Set, h Header) {
	value := strings.TrimSpace(h.Value)
	if value == "" || publicHeaders.MatchString(h.Name) {
		return
	}
	if strings.EqualFold(h.Name, "Cookie") {
		for pair := range strings.SplitSeq(value, ";") {
			name, of, _ := strings.Cut(strings.TrimSpace(pair), "=")
			s.Add(name, strings.Trim(of, `"`))
			if plain, err := url.QueryUnescape(of); err == nil {
				s.Add(name, plain)
			}
		}
		return
	}
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok || !authScheme.MatchString(scheme) {
		s.Add(h.Name, value)
		return
	}
	if rest = strings.TrimSpace(rest); strings.EqualFold(scheme, "basic") {
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil {
			if user, password, ok := strings.Cut(string(pair), ":"); ok {
				addPair(s, user, password)
			}
		}
	}
	s.Add(h.Name, value)
	s.Add(h.Name, rest)
	for _, m := range quotedText.FindAllStringSubmatch(rest, 20) {
		s.Add(h.Name, m[1])
	}
}

// authScheme is the name of a scheme.
var authScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// addAddress adds the credentials in a URL or URL pattern: user and password, and query values
// whose name or format is that of a credential. The rest of the URL is public.
func addAddress(s *redact.Set, text string) {
	rest, fragment, _ := strings.Cut(text, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if before, after, ok := strings.Cut(rest, "://"); ok {
		authority, path, _ := strings.Cut(after, "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			user, password, both := strings.Cut(authority[:at], ":")
			for _, read := range []func(string) string{func(t string) string { return t }, unescapeQuery} {
				if both {
					addPair(s, read(user), read(password))
				} else {
					s.Add("Authorization", read(user)) // a token instead of a user name
				}
			}
			authority = authority[at+1:]
		}
		rest = before + "://" + authority + "/" + path
	}
	s.AddPublic(rest)
	for _, list := range []string{query, fragment} {
		for pair := range strings.SplitSeq(list, "&") {
			name, value, _ := strings.Cut(pair, "=")
			name, value = unescapeQuery(name), unescapeQuery(value)
			if redact.IsCredentialName(name) {
				s.Add(name, value)
			} else {
				s.AddObtained(name, value)
			}
		}
	}
}

// MaskAddress returns a URL with its credentials redacted.
func MaskAddress(address string) string {
	s := &redact.Set{}
	addAddress(s, address)
	return s.RedactText(address)
}

// unescapeQuery decodes a query component; an invalid one is returned unchanged.
func unescapeQuery(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// publicMembers are members of a sign-in that everybody may see.
var publicMembers = lazyregexp.New(`(?i)^(user|user_?name|login|e?-?mail|name|account|realm|tenant|organi[sz]ation|domain|client_?id|grant_?type|scope|locale|language|remember(_?me)?|action|method|type|version)$`)

// addBody adds the values in the body of a sign-in request: JSON, a form, XML, or any text.
func addBody(s *redact.Set, body string) {
	var root any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if d.Decode(&root) == nil {
		addMembers(s, "", root, 0)
		return
	}
	if !strings.Contains(body, "=") || strings.HasPrefix(strings.TrimSpace(body), "<") {
		addValue(s, "body", body)
		for _, m := range xmlText.FindAllStringSubmatch(body, 100) {
			addMembers(s, m[1], m[2], 0)
		}
		return
	}
	for pair := range strings.SplitSeq(body, "&") {
		name, value, _ := strings.Cut(pair, "=")
		addMembers(s, unescapeQuery(name), unescapeQuery(value), 0)
	}
}

// xmlText is an element or an attribute of XML with a text.
var xmlText = lazyregexp.New(`([\w.-]+)(?:\s[^<>]*)?>([^<>]+)<`)

// maxDepth bounds the nesting of a JSON body.
const maxDepth = 20

// addMembers adds the strings and numbers of a JSON value by the name of their member. Members
// such as the user name are public.
func addMembers(s *redact.Set, name string, v any, depth int) {
	switch v := v.(type) {
	case string:
		if publicMembers.MatchString(name) {
			s.AddPublic(v)
		} else {
			addValue(s, name, v)
		}
	case json.Number:
		addMembers(s, name, v.String(), depth)
	case map[string]any:
		for k, inner := range v {
			if depth < maxDepth {
				addMembers(s, k, inner, depth+1)
			}
		}
	case []any:
		for _, inner := range v {
			if depth < maxDepth {
				addMembers(s, name, inner, depth+1)
			}
		}
	}
}

// The rest of this file redacts detected secrets from the snippets of all analyzers. Without it, a SAST
// finding on the same line would show the credential that the secret analyzer redacted.

// maxRedactedLines bounds the memory for redacted lines.
const maxRedactedLines = 200_000

// redactedLines are redacted lines of files, by path and line number.
type redactedLines struct {
	lines map[string]map[int]string
	count int
}

// collectLines records the redacted lines of the secret findings in the outcome.
func (c *redactedLines) collectLines(o *outcome) {
	for i := range o.hits {
		f := &o.hits[i].Finding
		if f.Secret == nil || f.Snippet == nil {
			continue
		}
		for n, line := range f.Snippet.Lines {
			if !strings.Contains(line, finding.Redacted) || c.count == maxRedactedLines {
				continue
			}
			if c.lines == nil {
				c.lines = map[string]map[int]string{}
			}
			if c.lines[f.Location.Path] == nil {
				c.lines[f.Location.Path] = map[int]string{}
			}
			c.lines[f.Location.Path][f.Snippet.StartLine+n] = line
			c.count++
		}
	}
}

// redactFinding replaces lines in the snippets of a finding by their redacted form. The
// fingerprint was computed before from the original code, so it does not change.
func (c *redactedLines) redactFinding(f *finding.Finding) {
	if f.Secret != nil || c.count == 0 {
		return
	}
	f.Snippet = c.redactSnippet(f.Location.Path, f.Snippet)
	if f.Fix != nil && c.coversFix(f.Fix) {
		f.Fix = nil // it would show the secret
	}
	for i := range f.Steps {
		f.Steps[i].Snippet = c.redactSnippet(f.Steps[i].Location.Path, f.Steps[i].Snippet)
	}
}

// coversFix reports whether the fix rewrites a line with a secret.
func (c *redactedLines) coversFix(fix *finding.Fix) bool {
	for _, e := range fix.Edits {
		for n := e.StartLine; n <= e.EndLine; n++ {
			if _, ok := c.lines[fix.Path][n]; ok {
				return true
			}
		}
	}
	return false
}

// redactSnippet returns a copy of the snippet with redacted lines, because findings share
// snippets.
func (c *redactedLines) redactSnippet(path string, s *finding.Snippet) *finding.Snippet {
	lines := c.lines[path]
	if s == nil || lines == nil {
		return s
	}
	out := &finding.Snippet{StartLine: s.StartLine, Lines: append([]string(nil), s.Lines...)}
	for i := range out.Lines {
		if line, ok := lines[out.StartLine+i]; ok {
			out.Lines[i] = line
		}
	}
	return out
}

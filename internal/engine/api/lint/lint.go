// Package lint finds in descriptions of APIs (OpenAPI 2, 3.0 and 3.1) what the OWASP
// API Security Top 10 of 2023 warns of, with the line. It says what the description
// says: what the running API does is another analysis.
package lint

import (
	"cmp"
	_ "embed" // the manual
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/api/apispec"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer lints descriptions of APIs.
var Analyzer = &scan.Analyzer{
	ID:       "api/lint",
	Version:  1,
	Analysis: finding.API,
	Doc:      doc,
	Rules:    list,
	Match: func(p string) bool {
		switch strings.ToLower(path.Ext(p)) {
		case ".json", ".yaml", ".yml":
			return true
		}
		return false
	},
	File: run,
}

// declared is how a description of an API begins: the key with its version, at the
// margin in YAML.
var declared = lazyregexp.New(`(?m)(?:^["']?|^\s*"|[{,]\s*")(?:openapi["']?\s*:\s*["']?3\.|swagger["']?\s*:\s*["']?2\.)`)

func run(p *scan.FilePass) error {
	if p.Size > apispec.Limits.Size {
		return nil // no description is as large
	}
	text, err := p.ReadFile()
	if err != nil {
		return err
	}
	if !declared.Match(text) {
		return nil
	}
	root, err := document.ParseFirst(text, apispec.Limits)
	if err != nil {
		r := scan.Reason{Code: "malformed", Path: p.Path, Message: err.Error()}
		var at *document.Error
		if errors.As(err, &at) {
			r.Line, r.Message = at.Line, at.Message
		}
		p.Degrade(r)
		return nil
	}
	if f := apispec.Detect(root); f != apispec.OpenAPI2 && f != apispec.OpenAPI3 {
		return nil
	}
	api, err := apispec.FromTree(root)
	if err != nil {
		return err
	}
	d := &specification{pass: p, api: api, root: root, told: map[string]bool{}}
	d.check()
	for _, f := range api.Defects {
		if strings.Contains(f.Message, "out of the document") {
			p.Degrade(scan.Reason{Code: "unavailable", Path: p.Path, Line: f.Line, Message: "parts of the " +
				"description are in other files, which were not looked at as parts of it"})
			break
		}
	}
	return nil
}

// document is a description that is looked at.
type specification struct {
	pass *scan.FilePass
	api  *apispec.API
	root *document.Node
	told map[string]bool // parameters, which operations may share
}

func (d *specification) check() {
	d.schemas()
	d.schemes()
	d.hosts()
	for _, o := range d.api.Operations {
		n := d.root.Find(o.Pointer)
		if n == nil {
			continue
		}
		d.protected(o, n)
		d.parameters(o)
		d.answers(o, n)
	}
}

// at is a place: the key of a map, in the document's terms.
type at struct {
	pointer string // of the map
	node    *document.Node
	key     string
}

// tell reports a vulnerability of the rule at the place.
func (d *specification) tell(id string, place at, format string, args ...any) {
	line, column := place.node.Place(place.key)
	rule := Rules[id]
	d.pass.Report(rule, finding.Finding{
		Message:  fmt.Sprintf(format, args...),
		Location: finding.Location{Path: d.pass.Path, StartLine: line, EndLine: line, StartColumn: column},
		Identity: id + " " + place.pointer, EquivalentRules: same[id],
	})
}

// named names an operation for people.
func named(o *apispec.Operation) string {
	return cmp.Or(o.Method+" "+clip(o.Path), "the operation")
}

func clip(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}

// where names a schema for people, by the end of its pointer.
func where(pointer string) string {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, s := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	n := len(steps)
	switch {
	case n >= 2 && steps[n-2] == "properties":
		return fmt.Sprintf("property %q", clip(steps[n-1]))
	case n >= 2 && (steps[n-2] == "schemas" || steps[n-2] == "definitions"):
		return fmt.Sprintf("schema %q", clip(steps[n-1]))
	case steps[n-1] == "items":
		return "items of " + where("/"+strings.Join(escape(steps[:n-1]), "/"))
	case n > 2 && slices.Contains(steps, "parameters"):
		return "a parameter"
	}
	return "a schema"
}

func escape(steps []string) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
	}
	return out
}

// schemas checks that values are bounded. Texts and numbers that only the server
// sends cannot be too long or too large for it; what it answers in arrays can.
func (d *specification) schemas() {
	answers := d.onlyAnswered()
	slices.SortFunc(d.api.Schemas, func(a, b *apispec.Schema) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Pointer, b.Pointer))
	})
	for _, s := range d.api.Schemas {
		n := d.root.Find(s.Pointer)
		if !n.IsMap() || n.Get("type") == nil { // a part of another, which says the type
			continue
		}
		place := at{s.Pointer, n, "type"}
		if s.Is("array") && s.MaxItems < 0 && len(s.Enum) == 0 {
			d.tell("array-limit", d.property(s, place), "The array of %s has no maxItems", where(s.Pointer))
		}
		if answers[s] || s.ReadOnly {
			continue
		}
		if s.Is("string") && len(s.Enum) == 0 && s.Format != "binary" {
			d.text(s, place)
		}
		if s.Is("integer") && len(s.Enum) == 0 {
			if s.Format != "int32" && s.Format != "int64" {
				d.tell("integer-format", place, "The integer of %s has no format int32 or int64", where(s.Pointer))
			}
			if s.Minimum == nil || s.Maximum == nil {
				d.tell("integer-limit", place, "The integer of %s has no minimum and maximum", where(s.Pointer))
			}
		}
	}
}

// onlyAnswered returns the schemas that only the server's answers have.
func (d *specification) onlyAnswered() map[*apispec.Schema]bool {
	var asked, answered []*apispec.Schema
	for _, o := range d.api.Operations {
		for _, p := range o.Parameters {
			asked = append(asked, p.Schema)
		}
		for _, m := range o.Bodies {
			asked = append(asked, m.Schema)
		}
		for _, r := range o.Responses {
			for _, m := range r.Bodies {
				answered = append(answered, m.Schema)
			}
			for _, h := range r.Headers {
				answered = append(answered, h)
			}
		}
	}
	out := reached(answered)
	for s := range reached(asked) {
		delete(out, s)
	}
	return out
}

// reached returns the schemas with those that they hold.
func reached(open []*apispec.Schema) map[*apispec.Schema]bool {
	seen := map[*apispec.Schema]bool{}
	for len(open) > 0 {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		open = append(append(append(append(open, s.Items, s.Additional), s.AllOf...), s.OneOf...), s.AnyOf...)
		for _, p := range s.Properties {
			open = append(open, p.Schema)
		}
	}
	return seen
}

// property is the place of the schema's own name, and the given one where it has
// none.
func (d *specification) property(s *apispec.Schema, place at) at {
	above, name := cutLast(s.Pointer)
	if n := d.root.Find(above); n.Get(name) != nil {
		return at{s.Pointer, n, name}
	}
	return place
}

// cutLast splits a pointer before its last step, which is decoded.
func cutLast(pointer string) (above, name string) {
	above = parent(pointer)
	name = strings.TrimPrefix(pointer[len(above):], "/")
	return above, strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// fixed are formats whose values have a length of their own.
var fixed = []string{"date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6", "byte"}

func (d *specification) text(s *apispec.Schema, place at) {
	if s.MaxLength < 0 && (!slices.Contains(fixed, s.Format) || s.Format == "byte") {
		d.tell("string-limit", place, "The string of %s has no maxLength", where(s.Pointer))
	}
	if s.Format == "" && s.Pattern == "" {
		d.tell("string-restricted", place, "The string of %s has neither format nor pattern nor enum", where(s.Pointer))
	}
}

// schemes checks how one signs in.
func (d *specification) schemes() {
	pointer := "/components/securitySchemes"
	if d.api.Format == apispec.OpenAPI2 {
		pointer = "/securityDefinitions"
	}
	for _, e := range d.root.Find(pointer).Pairs() {
		n, here := e.Value, document.Join(pointer, e.Key)
		if !n.IsMap() || n.Get("$ref") != nil {
			continue
		}
		s := d.api.SecuritySchemes[e.Key]
		name := clip(e.Key)
		switch {
		case s.Type == "http" && s.Scheme == "basic":
			d.tell("no-http-basic", at{here, n, cmp.Or(has(n, "scheme"), "type")}, "The security scheme %q is "+
				"HTTP Basic", name)
		case s.Type == "http" && (s.Scheme == "negotiate" || s.Scheme == "oauth"):
			d.tell("auth-insecure-schemes", at{here, n, "scheme"}, "The security scheme %q uses %s, which is "+
				"outdated", name, s.Scheme)
		case s.Type == "apiKey" && (s.In == "query" || s.In == "path"):
			d.tell("no-api-keys-in-url", at{here, n, "in"}, "The security scheme %q puts the key into the "+
				"address", name)
		}
		token := s.Type == "oauth2" || s.Type == "http" && s.Scheme == "bearer" &&
			strings.EqualFold(n.Get("bearerFormat").Text(), "jwt")
		if token && !strings.Contains(n.Get("description").Text(), "8725") {
			d.tell("jwt-best-practices", at{here, n, cmp.Or(has(n, "bearerFormat"), "type")}, "The security scheme "+
				"%q uses tokens and does not say that they follow RFC 8725", name)
		}
	}
}

// has returns the key when the map has it.
func has(n *document.Node, key string) string {
	if n.Get(key) != nil {
		return key
	}
	return ""
}

// local are servers that only the developer's own machine reaches.
var local = lazyregexp.New(`(?i)^(http|ws)://(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|host\.docker\.internal)([:/]|$)`)

// hosts checks that the API is offered by HTTPS.
func (d *specification) hosts() {
	if d.api.Format == apispec.OpenAPI2 {
		d.insecure("", d.root)
		for _, o := range d.api.Operations {
			d.insecure(o.Pointer, d.root.Find(o.Pointer))
		}
		return
	}
	seen := map[*document.Node]bool{}
	check := func(pointer string, list *document.Node) {
		for i, n := range list.List() {
			address := strings.ToLower(n.Get("url").Text())
			if (strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "ws://")) &&
				!local.MatchString(address) && !seen[n] {
				seen[n] = true
				d.tell("security-hosts-https", at{fmt.Sprintf("%s/servers/%d", pointer, i), n, "url"}, "The server "+
					"%s is reached without encryption", clip(n.Get("url").Text()))
			}
		}
	}
	check("", d.root.Get("servers"))
	for _, e := range d.root.Get("paths").Pairs() {
		here := document.Join("/paths", e.Key)
		check(here, e.Value.Get("servers"))
		for _, op := range e.Value.Pairs() {
			check(document.Join(here, op.Key), op.Value.Get("servers"))
		}
	}
}

// insecure checks the schemes of OpenAPI 2.
func (d *specification) insecure(pointer string, n *document.Node) {
	host := strings.ToLower(d.root.Get("host").Text())
	if local.MatchString("http://" + host) {
		return
	}
	for i, s := range n.Get("schemes").List() {
		if v := strings.ToLower(s.Text()); v == "http" || v == "ws" {
			d.tell("security-hosts-https", at{fmt.Sprintf("%s/schemes/%d", pointer, i), s, ""}, "The API is offered "+
				"by %s, without encryption", v)
		}
	}
}

// protected checks that an operation needs a sign-in.
func (d *specification) protected(o *apispec.Operation, n *document.Node) {
	safe := o.Method == "GET" || o.Method == "HEAD"
	if !safe && o.Method != "POST" && o.Method != "PUT" && o.Method != "PATCH" && o.Method != "DELETE" {
		return
	}
	self := at{o.Pointer, d.root.Find(parent(o.Pointer)), strings.ToLower(o.Method)}
	own := n.Get("security")
	explicit := own
	if explicit == nil {
		explicit = d.root.Get("security")
	}
	switch {
	case explicit == nil && safe:
		d.tell("protection-global-safe", self, "%s needs no sign-in", named(o))
	case explicit == nil:
		d.tell("protection-global-unsafe", self, "%s changes something and needs no sign-in", named(o))
	case !safe && !o.RequiresAuthentication():
		place := self
		if own != nil {
			place = at{o.Pointer, n, "security"}
		}
		d.tell("protection-global-unsafe-strict", place, "%s changes something, and its sign-in is optional or "+
			"switched off", named(o))
	}
}

func parent(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return ""
	}
	return pointer[:i]
}

// secret are names of parameters that carry credentials: those of tokens that let in, and
// all that end in a word for a secret.
var secret = lazyregexp.New(`(?i)^((access|refresh|id|auth|authorization|oauth|session|bearer|app|application|reset|verification|activation|confirmation|(new[_-]?)?e?mail)?[_-]?token|` +
	`([a-z0-9]+[_-]?)*(secret|password|passwd|passphrase)([_-]?key)?|pwd|api[_-]?(key|token)|x-api-key|authorization|jwt|session_?id)$`)

// numeric are names of parameters that name one of many.
var numeric = lazyregexp.New(`^(?:(?i)id|[a-z0-9_-]+[_-](?i:id)|.*[a-z0-9]I[dD])$`)

// parameters checks what stands in the address.
func (d *specification) parameters(o *apispec.Operation) {
	for _, p := range o.Parameters {
		if p.Pointer == "" || p.In != "path" && p.In != "query" {
			continue
		}
		if d.told[p.Pointer] {
			continue
		}
		d.told[p.Pointer] = true
		n := d.root.Find(p.Pointer)
		if secret.MatchString(p.Name) && !strings.HasSuffix(strings.ToLower(p.Name), "page_token") {
			d.tell("no-credentials-in-url", at{p.Pointer, n, "name"}, "The parameter %q of %s puts a credential into "+
				"the address", clip(p.Name), named(o))
		}
		if p.In == "path" && numeric.MatchString(p.Name) && (p.Schema.Is("integer") || p.Schema.Is("number")) {
			d.tell("no-numeric-ids", at{p.Pointer, n, "name"}, "The parameter %q of %s is a number that can be "+
				"guessed", clip(p.Name), named(o))
		}
	}
}

// covers reports whether an operation describes an answer of one of the statuses.
func covers(o *apispec.Operation, statuses ...string) bool {
	for _, r := range o.Responses {
		if r.Status == "default" || slices.Contains(statuses, r.Status) {
			return true
		}
	}
	return false
}

// limits are the headers that tell a client how much it may ask.
var limits = lazyregexp.New(`^(x-)?rate-?limit(-(limit|policy|remaining|reset))?$`)

func (d *specification) answers(o *apispec.Operation, n *document.Node) {
	place := at{o.Pointer, n, "responses"}
	if n.Get("responses") == nil {
		place = at{o.Pointer, d.root.Find(parent(o.Pointer)), strings.ToLower(o.Method)}
	}
	public := len(o.Security) == 0 && n.Get("security") != nil
	if !public && !covers(o, "401", "4XX") {
		d.tell("define-error-responses-401", place, "%s describes no answer 401", named(o))
	}
	if !covers(o, "429", "4XX") {
		d.tell("define-error-responses-429", place, "%s describes no answer 429", named(o))
	}
	if !covers(o, "500", "5XX") {
		d.tell("define-error-responses-500", place, "%s describes no answer 500", named(o))
	}
	if (len(o.Parameters) > 0 || len(o.Bodies) > 0) && !covers(o, "400", "422", "4XX") {
		d.tell("define-error-validation", place, "%s describes no answer 400, 422 or 4XX to input that is "+
			"not valid", named(o))
	}
	limited, any := false, false
	for _, r := range o.Responses {
		any = any || strings.HasPrefix(r.Status, "2") || strings.HasPrefix(r.Status, "4")
		for h := range r.Headers {
			limited = limited || limits.MatchString(h)
		}
		if _, ok := r.Headers["retry-after"]; r.Status == "429" && !ok {
			key := at{document.Join(o.Pointer, "responses", "429"), n.Get("responses"), "429"}
			d.tell("rate-limit-retry-after", key, "The answer 429 of %s has no header Retry-After", named(o))
		}
	}
	if any && !limited {
		d.tell("rate-limit", place, "No answer of %s tells a rate limit", named(o))
	}
}

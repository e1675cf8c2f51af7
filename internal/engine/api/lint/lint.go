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
	"merlon/internal/severity"
)

//go:embed doc.md
var doc string

// Analyzer lints descriptions of APIs.
var Analyzer = &scan.Analyzer{
	ID:       "api/lint",
	Version:  1,
	Analysis: finding.API,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return texts.All(), nil },
	Match: func(p string) bool {
		switch strings.ToLower(path.Ext(p)) {
		case ".json", ".yaml", ".yml":
			return true
		}
		return false
	},
	File: analyzeFile,
}

// specificationStart is how a description of an API begins: the key with its version, at the
// margin in YAML.
var specificationStart = lazyregexp.New(`(?m)(?:^["']?|^\s*"|[{,]\s*")(?:openapi["']?\s*:\s*["']?3\.|swagger["']?\s*:\s*["']?2\.)`)

// analyzeFile checks one file when it is a description of OpenAPI. A description that
// cannot be read degrades the analyzer, and one whose parts are in other files says so
// once.
func analyzeFile(p *scan.FilePass) error {
	if p.Size > apispec.Limits.Size {
		return nil // no description is as large
	}
	text, err := p.ReadFile()
	if err != nil {
		return err
	}
	if !specificationStart.Match(text) {
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
	d := &specification{pass: p, api: api, root: root, reported: map[string]bool{},
		held: map[string][]finding.Finding{}}
	d.checkSpecification()
	d.reportHeld()
	for _, f := range api.Defects {
		if strings.Contains(f.Message, "out of the document") {
			p.Degrade(scan.Reason{Code: "unavailable", Path: p.Path, Line: f.Line, Message: "the description refers " +
				"to other files, which were not analyzed as parts of it"})
			break
		}
	}
	return nil
}

// specification is a description that is analyzed.
type specification struct {
	pass     *scan.FilePass
	api      *apispec.API
	root     *document.Node
	reported map[string]bool              // parameters, which operations may share
	held     map[string][]finding.Finding // by rule; see reportWeighed
}

// checkSpecification runs every check. The parts that operations share come first, so
// that each is reported once, where it is declared.
func (d *specification) checkSpecification() {
	d.checkSchemas()
	d.checkSecuritySchemes()
	d.checkServers()
	for _, o := range d.api.Operations {
		n := d.root.Find(o.Pointer)
		if n == nil {
			continue
		}
		d.checkAuthentication(o, n)
		d.checkParameters(o)
		d.checkResponses(o, n)
	}
}

// at is a place: the key of a map, in the document's terms.
type at struct {
	pointer string // of the map
	node    *document.Node
	key     string
}

// report reports a vulnerability of the rule at the place.
func (d *specification) report(id string, place at, format string, args ...any) {
	d.reportWeighed(id, place, weight{}, format, args...)
}

// A weight is how severe a finding is by itself; an empty impact is that of the rule.
type weight struct {
	impact finding.Severity
	terms  []finding.SeverityTerm
}

// reportWeighed is report with a weight. The findings of a rule in
// one document have one cause: they are held until all are known, so that their message can count
// them.
func (d *specification) reportWeighed(id string, place at, w weight, format string, args ...any) {
	line, column := place.node.Place(place.key)
	cause := id + " " + d.pass.Path
	if slices.ContainsFunc(w.terms, func(t finding.SeverityTerm) bool { return t.Points < severity.Harmless }) {
		cause += " public" // by design, which is another decision
	}
	d.held[id] = append(d.held[id], finding.Finding{
		Severity: w.impact, Terms: w.terms,
		Message:  fmt.Sprintf(format, args...),
		Location: finding.Location{Path: d.pass.Path, StartLine: line, EndLine: line, StartColumn: column},
		Identity: id + " " + place.pointer, EquivalentRules: same[id], Cause: cause,
	})
}

// reportHeld reports what was held, rule by rule.
func (d *specification) reportHeld() {
	for _, rule := range texts.All() {
		id := path.Base(rule.ID)
		of := map[string]int{}
		for _, f := range d.held[id] {
			of[f.Cause]++
		}
		for _, f := range d.held[id] {
			if n := of[f.Cause]; n > 1 {
				f.Message += fmt.Sprintf("; %d places of the document are like this", n)
			}
			d.pass.Report(rule, f)
		}
	}
}

// nameOperation names an operation for people.
func nameOperation(o *apispec.Operation) string {
	return cmp.Or(o.Method+" "+shortenName(o.Path), "the operation")
}

// shortenName cuts a name for a message.
func shortenName(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}

// nameSchema names a schema for people, by the end of its pointer.
func nameSchema(pointer string) string {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, s := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	n := len(steps)
	switch {
	case n >= 2 && steps[n-2] == "properties":
		return fmt.Sprintf("property %q", shortenName(steps[n-1]))
	case n >= 2 && (steps[n-2] == "schemas" || steps[n-2] == "definitions"):
		return fmt.Sprintf("schema %q", shortenName(steps[n-1]))
	case steps[n-1] == "items":
		return "items of " + nameSchema("/"+strings.Join(escapeSteps(steps[:n-1]), "/"))
	case n > 2 && slices.Contains(steps, "parameters"):
		return "a parameter"
	}
	return "a schema"
}

// escapeSteps writes the steps of a JSON pointer as RFC 6901 does.
func escapeSteps(steps []string) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
	}
	return out
}

// checkSchemas checks that values are bounded. Texts and numbers that only the server
// sends cannot be too long or too large for it; what it answers in arrays can. Without
// a bound one request can exhaust the server (API4:2023).
func (d *specification) checkSchemas() {
	answers := d.responseSchemas()
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
			d.report("array-limit", d.propertyPlace(s, place), "The array of %s has no maxItems", nameSchema(s.Pointer))
		}
		if answers[s] || s.ReadOnly {
			continue
		}
		if len(s.Enum) > 0 {
			continue
		}
		if s.Is("string") && s.Format != "binary" {
			d.checkString(s, place)
		}
		if s.Is("integer") {
			d.checkInteger(s, place)
		}
	}
}

// checkInteger checks that an integer has a width and bounds, without which a server can
// overflow or reserve what it names.
func (d *specification) checkInteger(s *apispec.Schema, place at) {
	if s.Format != "int32" && s.Format != "int64" {
		d.report("integer-format", place, "The integer of %s has no format int32 or int64", nameSchema(s.Pointer))
	}
	if s.Minimum == nil || s.Maximum == nil {
		d.report("integer-limit", place, "The integer of %s has no minimum and maximum", nameSchema(s.Pointer))
	}
}

// responseSchemas returns the schemas that only responses of the server have.
func (d *specification) responseSchemas() map[*apispec.Schema]bool {
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
	out := reachableSchemas(answered)
	for s := range reachableSchemas(asked) {
		delete(out, s)
	}
	return out
}

// reachableSchemas returns the schemas with those inside of them. A schema may hold
// itself.
func reachableSchemas(open []*apispec.Schema) map[*apispec.Schema]bool {
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

// propertyPlace is the location of the schema's own name, and the given one where it
// has none.
func (d *specification) propertyPlace(s *apispec.Schema, place at) at {
	above, name := splitPointer(s.Pointer)
	if n := d.root.Find(above); n.Get(name) != nil {
		return at{s.Pointer, n, name}
	}
	return place
}

// splitPointer splits a pointer before its last step, which is decoded.
func splitPointer(pointer string) (above, name string) {
	above = parentPointer(pointer)
	name = strings.TrimPrefix(pointer[len(above):], "/")
	return above, strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// fixedLengthFormats are formats whose values have a length of their own. byte is text
// in base64, which has none.
var fixedLengthFormats = []string{"date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6", "byte"}

// checkString checks that a string has a greatest length, and a form that says what it
// may hold.
func (d *specification) checkString(s *apispec.Schema, place at) {
	if s.MaxLength < 0 && (!slices.Contains(fixedLengthFormats, s.Format) || s.Format == "byte") {
		d.report("string-limit", place, "The string of %s has no maxLength", nameSchema(s.Pointer))
	}
	if s.Format == "" && s.Pattern == "" {
		d.report("string-restricted", place, "The string of %s has neither format nor pattern nor enum",
			nameSchema(s.Pointer))
	}
}

// checkSecuritySchemes checks how clients authenticate (API2:2023, broken authentication).
func (d *specification) checkSecuritySchemes() {
	pointer := "/components/securitySchemes"
	if d.api.Format == apispec.OpenAPI2 {
		pointer = "/securityDefinitions"
	}
	for _, e := range d.root.Find(pointer).Pairs() {
		n := e.Value
		if !n.IsMap() || n.Get("$ref") != nil {
			continue
		}
		s, here, name := d.api.SecuritySchemes[e.Key], document.Join(pointer, e.Key), shortenName(e.Key)
		d.checkSecurityScheme(s, n, here, name)
		if usesTokens(s, n) && !strings.Contains(n.Get("description").Text(), "8725") {
			d.report("jwt-best-practices", at{here, n, cmp.Or(presentKey(n, "bearerFormat"), "type")}, "The security "+
				"scheme %q uses tokens and does not say that they follow RFC 8725", name)
		}
	}
}

// checkSecurityScheme checks one scheme: HTTP Basic sends the password with each request,
// Negotiate and OAuth 1 are outdated, and a key in the address gets into logs.
func (d *specification) checkSecurityScheme(s apispec.SecurityScheme, n *document.Node, here, name string) {
	switch {
	case s.Type == "http" && s.Scheme == "basic":
		d.report("no-http-basic", at{here, n, cmp.Or(presentKey(n, "scheme"), "type")}, "The security scheme %q is "+
			"HTTP Basic", name)
	case s.Type == "http" && (s.Scheme == "negotiate" || s.Scheme == "oauth"):
		d.report("auth-insecure-schemes", at{here, n, "scheme"}, "The security scheme %q uses %s, which is "+
			"outdated", name, s.Scheme)
	case s.Type == "apiKey" && (s.In == "query" || s.In == "path"):
		d.report("no-api-keys-in-url", at{here, n, "in"}, "The security scheme %q puts the key into the "+
			"address", name)
	}
}

// usesTokens reports whether a scheme is known to use JSON Web Tokens, for which RFC 8725
// lists the best current practices.
func usesTokens(s apispec.SecurityScheme, n *document.Node) bool {
	return s.Type == "oauth2" || s.Type == "http" && s.Scheme == "bearer" &&
		strings.EqualFold(n.Get("bearerFormat").Text(), "jwt")
}

// presentKey returns the key when the map has it.
func presentKey(n *document.Node, key string) string {
	if n.Get(key) != nil {
		return key
	}
	return ""
}

// localServer are servers that only the developer's own machine reaches. Such a server
// needs no certificate.
var localServer = lazyregexp.New(`(?i)^(http|ws)://(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|host\.docker\.internal)([:/]|$)`)

// checkServers checks that the API is served over HTTPS only.
func (d *specification) checkServers() {
	if d.api.Format == apispec.OpenAPI2 {
		d.checkTransportSchemes("", d.root)
		for _, o := range d.api.Operations {
			d.checkTransportSchemes(o.Pointer, d.root.Find(o.Pointer))
		}
		return
	}
	seen := map[*document.Node]bool{}
	check := func(pointer string, list *document.Node) {
		for i, n := range list.List() {
			address := strings.ToLower(n.Get("url").Text())
			if (strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "ws://")) &&
				!localServer.MatchString(address) && !seen[n] {
				seen[n] = true
				d.report("security-hosts-https", at{fmt.Sprintf("%s/servers/%d", pointer, i), n, "url"}, "The server "+
					"%s is reached without encryption", shortenName(n.Get("url").Text()))
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

// checkTransportSchemes checks the list schemes of OpenAPI 2, of the API or of an
// operation.
func (d *specification) checkTransportSchemes(pointer string, n *document.Node) {
	host := strings.ToLower(d.root.Get("host").Text())
	if localServer.MatchString("http://" + host) {
		return
	}
	var terms []finding.SeverityTerm
	if slices.ContainsFunc(n.Get("schemes").List(), func(s *document.Node) bool {
		return strings.EqualFold(s.Text(), "https") || strings.EqualFold(s.Text(), "wss")
	}) { // the server may only redirect to it
		terms = []finding.SeverityTerm{{Points: severity.Harmless, Reason: "encryption is offered too"}}
	}
	for i, s := range n.Get("schemes").List() {
		if v := strings.ToLower(s.Text()); v == "http" || v == "ws" {
			d.reportWeighed("security-hosts-https", at{fmt.Sprintf("%s/schemes/%d", pointer, i), s, ""},
				weight{terms: terms},
				"The API is offered by %s, without encryption", v)
		}
	}
}

// checkAuthentication checks that an operation requires authentication. An operation
// that only reads may be public on purpose, and is a rule of its own.
func (d *specification) checkAuthentication(o *apispec.Operation, n *document.Node) {
	safe := o.Method == "GET" || o.Method == "HEAD"
	if !safe && !slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, o.Method) {
		return
	}
	self := at{o.Pointer, d.root.Find(parentPointer(o.Pointer)), strings.ToLower(o.Method)}
	own := n.Get("security")
	explicit := own
	if explicit == nil {
		explicit = d.root.Get("security")
	}
	switch {
	case explicit == nil && safe:
		d.reportWeighed("protection-global-safe", self, weight{terms: publicTerms(o)}, "%s needs no sign-in",
			nameOperation(o))
	case explicit == nil:
		d.reportWeighed("protection-global-unsafe", self, d.weighUnprotected(o), "%s changes something and needs no "+
			"sign-in",
			nameOperation(o))
	case !safe && !o.RequiresAuthentication():
		place := self
		if own != nil {
			place = at{o.Pointer, n, "security"}
		}
		d.reportWeighed("protection-global-unsafe-strict", place, weight{terms: publicTerms(o)}, "%s changes "+
			"something, and its "+
			"sign-in is optional or switched off", nameOperation(o))
	}
}

// publicTerms returns the terms of an operation that is public by its purpose, or that takes the
// session as a parameter. Either weighs so much that no impact is left in the default profile.
func publicTerms(o *apispec.Operation) []finding.SeverityTerm {
	const nothing = 2 * severity.Harmless
	switch {
	case isPublicByPurpose(o):
		return []finding.SeverityTerm{{Points: nothing, Reason: "the operation is public by its purpose"}}
	case takesSession(o):
		return []finding.SeverityTerm{{Points: nothing, Reason: "the operation takes a credential as a parameter"}}
	}
	return nil
}

// weighUnprotected returns the impact and the terms of an operation that changes something without
// signing in. In a document whose other operations require it, one without it is probably forgotten.
// A document that knows no security at all may leave that to a gateway.
func (d *specification) weighUnprotected(o *apispec.Operation) weight {
	terms := publicTerms(o)
	secured := slices.ContainsFunc(d.api.Operations, (*apispec.Operation).RequiresAuthentication)
	switch {
	case !secured:
		return weight{finding.Low, terms}
	case isForAdministrators(o):
		return weight{finding.Medium, append(terms, finding.SeverityTerm{Points: severity.Raised,
			Reason: "the operation is for administrators"})}
	case slices.ContainsFunc(d.api.Operations, func(other *apispec.Operation) bool {
		return other.Path == o.Path && other.RequiresAuthentication()
	}):
		return weight{finding.Medium, append(terms, finding.SeverityTerm{Points: severity.Raised,
			Reason: "other operations of the path require to sign in"})}
	}
	return weight{finding.Medium, terms}
}

// parentPointer returns a pointer without its last step.
func parentPointer(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return ""
	}
	return pointer[:i]
}

// credentialName are names of parameters that carry credentials: those of tokens that let in, and
// all that end in a word for a secret.
var credentialName = lazyregexp.New(`(?i)^((access|refresh|id|auth|authorization|oauth|session|bearer|app|application|reset|verification|activation|confirmation|(new[_-]?)?e?mail)?[_-]?token|` +
	`([a-z0-9]+[_-]?)*(secret|password|passwd|passphrase)([_-]?key)?|pwd|api[_-]?(key|token)|x-api-key|authorization|jwt|session_?id)$`)

// identifierName matches parameters that name one object of many. A number in them can
// be counted up (API1:2023, broken object level authorization).
var identifierName = lazyregexp.New(`^(?:(?i)id|[a-z0-9_-]+[_-](?i:id)|.*[a-z0-9]I[dD])$`)

// checkParameters checks what stands in the address, which gets into logs, histories
// and Referer headers. Parameters that operations share are reported once.
func (d *specification) checkParameters(o *apispec.Operation) {
	for _, p := range o.Parameters {
		if p.Pointer == "" || p.In != "path" && p.In != "query" {
			continue
		}
		if d.reported[p.Pointer] {
			continue
		}
		d.reported[p.Pointer] = true
		n := d.root.Find(p.Pointer)
		if credentialName.MatchString(p.Name) && !strings.HasSuffix(strings.ToLower(p.Name), "page_token") {
			var terms []finding.SeverityTerm
			if isPublicByPurpose(o) { // the link of a mail has no other place for a token that works once
				terms = publicTerms(o)
			}
			d.reportWeighed("no-credentials-in-url", at{p.Pointer, n, "name"}, weight{terms: terms},
				"The parameter %q of %s "+
					"puts a "+
					"credential into the address", shortenName(p.Name), nameOperation(o))
		}
		if p.In == "path" && identifierName.MatchString(p.Name) && (p.Schema.Is("integer") || p.Schema.Is("number")) {
			d.report("no-numeric-ids", at{p.Pointer, n, "name"}, "The parameter %q of %s is a number that can be "+
				"guessed", shortenName(p.Name), nameOperation(o))
		}
	}
}

// describesStatus reports whether an operation describes a response with one of the
// statuses, or a default one.
func describesStatus(o *apispec.Operation, statuses ...string) bool {
	for _, r := range o.Responses {
		if r.Status == "default" || slices.Contains(statuses, r.Status) {
			return true
		}
	}
	return false
}

// rateLimitHeader matches the headers that tell a client its rate limit: the draft of
// the IETF and those with X- before it.
var rateLimitHeader = lazyregexp.New(`^(x-)?rate-?limit(-(limit|policy|remaining|reset))?$`)

// checkResponses checks that an operation describes how it refuses requests, and that it
// limits their rate (API4:2023, unrestricted resource consumption).
func (d *specification) checkResponses(o *apispec.Operation, n *document.Node) {
	place := at{o.Pointer, n, "responses"}
	if n.Get("responses") == nil {
		place = at{o.Pointer, d.root.Find(parentPointer(o.Pointer)), strings.ToLower(o.Method)}
	}
	public := len(o.Security) == 0 && n.Get("security") != nil
	if !public && !describesStatus(o, "401", "4XX") {
		d.report("define-error-responses-401", place, "%s describes no answer 401", nameOperation(o))
	}
	if !describesStatus(o, "429", "4XX") {
		d.report("define-error-responses-429", place, "%s describes no answer 429", nameOperation(o))
	}
	if !describesStatus(o, "500", "5XX") {
		d.report("define-error-responses-500", place, "%s describes no answer 500", nameOperation(o))
	}
	if (len(o.Parameters) > 0 || len(o.Bodies) > 0) && !describesStatus(o, "400", "422", "4XX") {
		d.report("define-error-validation", place, "%s describes no answer 400, 422 or 4XX to input that is "+
			"not valid", nameOperation(o))
	}
	d.checkRateLimit(o, n, place)
}

// checkRateLimit checks that a response tells the client its rate limit, and that one
// with the status 429 says when to try again (RFC 6585, section 4).
func (d *specification) checkRateLimit(o *apispec.Operation, n *document.Node, place at) {
	limited, any := false, false
	for _, r := range o.Responses {
		any = any || strings.HasPrefix(r.Status, "2") || strings.HasPrefix(r.Status, "4")
		for h := range r.Headers {
			limited = limited || rateLimitHeader.MatchString(h)
		}
		if _, ok := r.Headers["retry-after"]; r.Status == "429" && !ok {
			key := at{document.Join(o.Pointer, "responses", "429"), n.Get("responses"), "429"}
			d.report("rate-limit-retry-after", key, "The answer 429 of %s has no header Retry-After", nameOperation(o))
		}
	}
	if any && !limited {
		d.report("rate-limit", place, "No answer of %s tells a rate limit", nameOperation(o))
	}
}

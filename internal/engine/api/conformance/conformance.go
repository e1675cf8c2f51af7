// Package conformance compares the responses of an API with its description: status, media type and
// body (JSON Schema as OpenAPI uses it). What a schema does not say is allowed, and what cannot be
// parsed is not compared: a deviation should be a mistake of the API or of its description, not of
// this reader.
//
// It also finds credentials in responses, which no description makes right. Requests are made
// elsewhere (requestgen), findings by the caller.
//
// Budget: maxBreaches deviations, maxItems items of a list, maxDepth levels.
package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/message"
)

// A Kind is a way of breaking a description.
type Kind string

// The kinds of breaches.
const (
	// Failure is a status of class 5xx.
	Failure Kind = "failure"
	// Status is one that is not described.
	Status Kind = "status"
	// MediaType is one that is not described for the status.
	MediaType Kind = "media-type"
	// Body is a body that violates its schema.
	Body Kind = "body"
	// Property is a property that the schema does not name, or that is only to be written. It may
	// be data that should not be there (API3:2023).
	Property Kind = "property"
	// Credential is a value that looks like somebody's credential.
	Credential Kind = "credential"
)

// A Deviation is one difference between a response and the description.
type Deviation struct {
	Kind Kind
	// Pointer is the location in the body (RFC 6901), with 0 for each index; empty: the whole
	// response.
	Pointer string
	// Note is a sentence for the report without a full stop.
	Note string
}

// Limits of one answer.
const (
	// maxBreaches bounds the deviations of one response.
	maxBreaches = 30
	// maxItems bounds the items of a list that are compared.
	maxItems = 200
	// maxDepth bounds the nesting of bodies and schemas, which may be recursive.
	maxDepth = 30
)

// Compare compares a response with the operation's description. Without any described response,
// only failures and credentials are reported.
func Compare(o *apispec.Operation, resp *message.Response) []Deviation {
	var out []Deviation
	if resp.Status >= 500 {
		out = append(out, Deviation{Kind: Failure, Note: fmt.Sprintf("answers %d %s", resp.Status,
			http.StatusText(resp.Status))})
	}
	doc, decoded := decodeBody(resp)
	v := &validator{seen: map[string]bool{}}
	if decoded && resp.Status < 300 {
		v.findCredentials(doc, "", 0)
	}
	if len(o.Responses) == 0 {
		return append(out, v.out...)
	}
	described := describedResponse(o, resp.Status)
	if described == nil {
		if resp.Status < 500 {
			out = append(out, Deviation{Kind: Status, Note: fmt.Sprintf("responds with %d, which the description "+
				"does not declare", resp.Status)})
		}
		return append(out, v.out...)
	}
	media, other := describedBody(described, resp)
	switch {
	case other != "":
		out = append(out, Deviation{Kind: MediaType, Note: other})
	case media != nil && decoded:
		v.checkValue(media.Schema, doc, "", 0)
	}
	return append(out, v.out...)
}

// describedResponse returns the description of a status: by the status, its class ("4XX"), or
// "default", in this order (OpenAPI, section 4.8.16); nil: there is none.
func describedResponse(o *apispec.Operation, status int) *apispec.Response {
	for _, name := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX", "default"} {
		for _, r := range o.Responses {
			if r.Status == name {
				return r
			}
		}
	}
	return nil
}

// describedBody returns the described body of the response's media type, or in other a note that
// there is none. A response to HEAD and one without a body have nothing to compare.
func describedBody(described *apispec.Response, resp *message.Response) (media *apispec.Media, other string) {
	if len(described.Bodies) == 0 || len(resp.Body) == 0 || resp.Status == http.StatusNoContent ||
		resp.Request != nil && resp.Request.Method == http.MethodHead {
		return nil, ""
	}
	got := message.MediaType(resp.Header.Get("Content-Type"))
	var names []string
	for _, m := range described.Bodies {
		if coversType(m.Type, got) {
			return m, ""
		}
		names = append(names, m.Type)
	}
	if got == "" {
		return described.Bodies[0], ""
	}
	return nil, fmt.Sprintf("responds with a body of the type %.60s, and the description has %s", got,
		strings.Join(names, ", "))
}

// coversType reports whether the described media type covers that of the response: "*/*", "text/*",
// and application/json for each type with the suffix +json (RFC 6839).
func coversType(described, got string) bool {
	if described == got || described == "*/*" || described == "" {
		return true
	}
	if prefix, ok := strings.CutSuffix(described, "/*"); ok {
		return strings.HasPrefix(got, prefix+"/")
	}
	return described == "application/json" && strings.HasSuffix(got, "+json")
}

// decodeBody decodes a JSON body, with numbers as json.Number; false: it is none, or was cut off.
func decodeBody(resp *message.Response) (any, bool) {
	if t := resp.MediaType(); !strings.HasSuffix(t, "json") || resp.Truncated {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(resp.Body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	return v, true
}

// A validator walks a body along its schema and collects deviations. seen has each kind with its
// location.
type validator struct {
	out  []Deviation
	seen map[string]bool
}

// addDeviation adds a deviation, once for each kind and location, up to a limit.
func (v *validator) addDeviation(kind Kind, pointer, format string, args ...any) {
	key := string(kind) + pointer
	if v.seen[key] || len(v.out) >= maxBreaches {
		return
	}
	v.seen[key] = true
	v.out = append(v.out, Deviation{kind, pointer, fmt.Sprintf(format, args...)})
}

// describeLocation names a location in a body for the report.
func describeLocation(pointer string) string {
	if pointer == "" {
		return "the body"
	}
	return fmt.Sprintf("%.100q", pointer)
}

// checkValue compares a value with its schema. Alternatives are compared one by one; of allOf the
// merged schema counts.
func (v *validator) checkValue(given *apispec.Schema, doc any, pointer string, depth int) {
	if given == nil || depth > maxDepth {
		return
	}
	if doc == nil && allowsNull(given, 0) {
		return
	}
	s := given
	if alternatives := append(slices.Clone(s.OneOf), s.AnyOf...); len(alternatives) > 0 {
		if !slices.ContainsFunc(alternatives, func(one *apispec.Schema) bool {
			return matchesType(one, doc, depth+1)
		}) {
			v.addDeviation(Body, pointer, "%s is none of the alternatives of its schema", describeLocation(pointer))
		}
		alone := *s
		alone.OneOf, alone.AnyOf = nil, nil
		if len(alone.Properties) == 0 && len(alone.AllOf) == 0 {
			return
		}
		s = &alone
		if s.Closed || len(alternatives) > 0 {
			alone.Closed = false // the alternatives name properties too
			alone.Additional = &apispec.Schema{MinLength: -1, MaxLength: -1, MinItems: -1, MaxItems: -1}
		}
	}
	s = requestgen.Flat(s)
	if !v.checkType(s, doc, pointer) {
		return
	}
	switch doc := doc.(type) {
	case map[string]any:
		v.checkObject(s, doc, pointer, depth)
	case []any:
		v.checkArray(s, doc, pointer, depth)
	case string:
		v.checkText(s, doc, pointer)
	case json.Number:
		v.checkNumber(s, doc, pointer)
	}
}

// allowsNull reports whether null is allowed. Where a schema has no type at all, it is.
func allowsNull(s *apispec.Schema, depth int) bool {
	if s.Nullable || len(s.Types) == 0 && len(s.AllOf) == 0 && len(s.OneOf) == 0 && len(s.AnyOf) == 0 {
		return true
	}
	for _, list := range [][]*apispec.Schema{s.OneOf, s.AnyOf} {
		for _, one := range list {
			if depth < maxDepth && allowsNull(one, depth+1) {
				return true
			}
		}
	}
	return false
}

// matchesType reports whether the value is valid for the schema; unnamed properties do not count.
func matchesType(s *apispec.Schema, doc any, depth int) bool {
	probe := &validator{seen: map[string]bool{}}
	probe.checkValue(s, doc, "", depth)
	return !slices.ContainsFunc(probe.out, func(b Deviation) bool { return b.Kind == Body })
}

// typeName returns the JSON Schema type of a decoded value; 1.0 is an integer.
func typeName(doc any) string {
	switch doc := doc.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if f, err := doc.Float64(); err == nil && f == math.Trunc(f) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// checkType compares the type and the enumeration, and reports whether both are right: only then
// further limits mean anything.
func (v *validator) checkType(s *apispec.Schema, doc any, pointer string) bool {
	name := typeName(doc)
	if len(s.Types) > 0 && !s.Is(name) && !(name == "integer" && s.Is("number")) {
		v.addDeviation(Body, pointer, "%s is of the type %s, and the schema has %s", describeLocation(pointer), name,
			strings.Join(s.Types, " or "))
		return false
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(doc) }) {
		v.addDeviation(Body, pointer, "%s is none of the values that the schema lists", describeLocation(pointer))
		return false
	}
	return true
}

// checkObject checks an object: its required properties, and each one by its own
// schema. What may only be sent need not be in an answer.
func (v *validator) checkObject(s *apispec.Schema, doc map[string]any, pointer string, depth int) {
	for _, name := range s.Required {
		if _, ok := doc[name]; ok {
			continue
		}
		if p := s.Property(name); p == nil || !requestgen.Flat(p).WriteOnly {
			v.addDeviation(Body, pointer+"/"+message.EscapePointer(name), "%s lacks the required property %.60q",
				describeLocation(pointer),
				name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		here := pointer + "/" + message.EscapePointer(name)
		switch p := s.Property(name); {
		case p != nil && requestgen.Flat(p).WriteOnly:
			v.addDeviation(Property, here, "%s has the property %.60q, which is only to be "+
				"written", describeLocation(pointer), name)
		case p != nil:
			v.checkValue(p, doc[name], here, depth+1)
		case s.Additional != nil:
			v.checkValue(s.Additional, doc[name], here, depth+1)
		case s.Closed:
			v.addDeviation(Body, here, "%s has the property %.60q, and the schema allows no others than "+
				"it names", describeLocation(pointer), name)
		case len(s.Properties) > 0:
			v.addDeviation(Property, here, "%s has the property %.60q, which the schema does "+
				"not name", describeLocation(pointer), name)
		}
	}
}

// checkArray checks how many items a list has, and its items up to a limit. All have
// the same place in the report, since they have the same schema.
func (v *validator) checkArray(s *apispec.Schema, doc []any, pointer string, depth int) {
	if s.MinItems >= 0 && len(doc) < s.MinItems || s.MaxItems >= 0 && len(doc) > s.MaxItems {
		v.addDeviation(Body, pointer, "%s has %d items, and the schema another number", describeLocation(pointer),
			len(doc))
	}
	for _, item := range doc[:min(len(doc), maxItems)] {
		v.checkValue(s.Items, item, pointer+"/0", depth+1)
	}
}

// checkText checks the length of a text in characters, and its pattern where that can
// be compiled.
func (v *validator) checkText(s *apispec.Schema, doc, pointer string) {
	n := utf8.RuneCountInString(doc)
	if s.MinLength >= 0 && n < s.MinLength || s.MaxLength >= 0 && n > s.MaxLength {
		v.addDeviation(Body, pointer, "%s has %d characters, and the schema allows another number",
			describeLocation(pointer), n)
	}
	if re := compilePattern(s.Pattern); re != nil && !re.MatchString(doc) {
		v.addDeviation(Body, pointer, "%s does not match the pattern of the schema", describeLocation(pointer))
	}
}

// patterns caches compiled patterns of schemas, which many responses are compared with.
var patterns sync.Map // by text: *regexp.Regexp, nil where it cannot be compiled

// compilePattern compiles a pattern (ECMA-262) as RE2; nil: it has lookaheads or the like, and is
// not checked.
func compilePattern(pattern string) *regexp.Regexp {
	if pattern == "" || len(pattern) > 1000 {
		return nil
	}
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp) // nothing else is stored
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		re = nil
	}
	patterns.Store(pattern, re)
	return re
}

// checkNumber checks the limits of a number. One beyond float64 is left alone.
func (v *validator) checkNumber(s *apispec.Schema, doc json.Number, pointer string) {
	f, err := doc.Float64()
	if err != nil {
		return
	}
	below := s.Minimum != nil && (f < *s.Minimum || s.ExclusiveMinimum && f == *s.Minimum)
	above := s.Maximum != nil && (f > *s.Maximum || s.ExclusiveMaximum && f == *s.Maximum)
	if below || above {
		v.addDeviation(Body, pointer, "%s is %s, outside of the limits of the schema", describeLocation(pointer), doc)
	}
}

// secret matches names of properties whose values give access, or identify a person: passwords and
// their hashes, secrets of clients and of one-time passwords, private keys, numbers of cards.
var secret = regexp.MustCompile(`(?i)^(user_?|plain_?|hashed_?|old_?)?(password|passwd|pwd|passphrase)(_?(hash|salt|digest|plain))?$|^(client_?|totp_?|otp_?|mfa_?)secret$|^(private_?key|secret_?key|security_?answer|ssn|card_?number|cvv|cvc)$`)

// findCredentials finds properties that are named as credentials and have a value. Masked values
// ("****") do not count, nor do tokens: to issue them is what such an operation is for.
func (v *validator) findCredentials(doc any, pointer string, depth int) {
	if depth > maxDepth {
		return
	}
	switch doc := doc.(type) {
	case []any:
		for _, item := range doc[:min(len(doc), maxItems)] {
			v.findCredentials(item, pointer+"/0", depth+1)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(doc)) {
			below, here := doc[name], pointer+"/"+message.EscapePointer(name)
			if text, ok := below.(string); ok && secret.MatchString(name) && len(text) >= 3 &&
				strings.Trim(text, "*•xX.") != "" && !strings.HasPrefix(text, "/") { // PWD is a folder
				v.addDeviation(Credential, here, "the response contains a value of %s", describeLocation(here))
			}
			v.findCredentials(below, here, depth+1)
		}
	}
}

// Package conformance compares what an API answers with what its description says:
// status, media type, body. It reads descriptions and answers as far as they can be
// read; what a schema does not say is allowed.
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
	Failure    Kind = "failure"    // the status is 5xx
	Status     Kind = "status"     // no answer of the status is described
	MediaType  Kind = "media-type" // the answer of the status is described with other types
	Body       Kind = "body"       // the body breaks its schema
	Property   Kind = "property"   // the body has properties that the schema does not name
	Credential Kind = "credential" // the body holds what looks like somebody's credential
)

// A Deviation is where an answer is not what the description says.
type Deviation struct {
	Kind    Kind
	Pointer string // in the body (RFC 6901); indexes of lists are 0
	Note    string // for people, one sentence without a full stop
}

// Limits of one answer.
const (
	maxBreaches = 30
	maxItems    = 200 // of a list that are looked at
	maxDepth    = 30
)

// Compare compares an answer with the operation's description. Without any described
// answer, only failures and credentials are told.
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

// describedResponse returns the described answer of a status: the status itself before its
// class, and the default last.
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

// describedBody returns the described body of the answer's type, or says that there is none.
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

// coversType reports whether the described type covers the other: "*/*", "text/*", and
// JSON in any of its names.
func coversType(described, got string) bool {
	if described == got || described == "*/*" || described == "" {
		return true
	}
	if prefix, ok := strings.CutSuffix(described, "/*"); ok {
		return strings.HasPrefix(got, prefix+"/")
	}
	return described == "application/json" && strings.HasSuffix(got, "+json")
}

// decodeBody decodes a JSON body.
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

// validator walks a body along its schema.
type validator struct {
	out  []Deviation
	seen map[string]bool
}

// addDeviation records a deviation, once for each kind and place, up to a limit.
func (v *validator) addDeviation(kind Kind, pointer, format string, args ...any) {
	key := string(kind) + pointer
	if v.seen[key] || len(v.out) >= maxBreaches {
		return
	}
	v.seen[key] = true
	v.out = append(v.out, Deviation{kind, pointer, fmt.Sprintf(format, args...)})
}

// describeLocation names a place in a body for people.
func describeLocation(pointer string) string {
	if pointer == "" {
		return "the body"
	}
	return fmt.Sprintf("%.100q", pointer)
}

// checkValue compares a value with its schema.
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

// allowsNull reports whether null is allowed.
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

// matchesType reports whether the value is of the schema.
func matchesType(s *apispec.Schema, doc any, depth int) bool {
	probe := &validator{seen: map[string]bool{}}
	probe.checkValue(s, doc, "", depth)
	return !slices.ContainsFunc(probe.out, func(b Deviation) bool { return b.Kind == Body })
}

// typeName names the type of a decoded value.
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

// checkType compares the type and the list of values.
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

// patterns are the compiled patterns of schemas, which are used for many answers.
var patterns sync.Map // by text: *regexp.Regexp, nil where it cannot be compiled

// compilePattern returns the pattern where it has a meaning in RE2; others are not checked.
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

// checkNumber checks the limits of a number. One that no float64 holds is left alone.
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

// secret are names of properties whose values let somebody in.
var secret = regexp.MustCompile(`(?i)^(user_?|plain_?|hashed_?|old_?)?(password|passwd|pwd|passphrase)(_?(hash|salt|digest|plain))?$|^(client_?|totp_?|otp_?|mfa_?)secret$|^(private_?key|secret_?key|security_?answer|ssn|card_?number|cvv|cvc)$`)

// findCredentials looks for properties that are named as credentials and have a value. A
// token that the operation itself hands out is what it is for.
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

// Package requestgen makes requests from a description: valid ones (ValidInput), and ones that
// break the description in one place (NegativeCases). The same description and seed give the same
// requests.
//
// value.go generates values from schemas, request.go writes them as messages, violate.go breaks
// them. It sends nothing, and does not know which objects exist: Options.Known connects it with the
// caller's store.
//
// Budget: maxMade values and maxSize bytes of text for one body. Descriptions are untrusted input:
// schemas may be recursive, patterns large, minimum lengths enormous.
package requestgen

import (
	"fmt"
	"hash/fnv"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/lazyregexp"
)

// Limits of a generated value.
const (
	// maxDepth bounds objects nested in each other, also required ones: a schema may require
	// itself.
	maxDepth = 6
	// maxOptional is the depth of optional properties; a body of GraphQL takes two levels itself.
	maxOptional = 4
	// maxProperties bounds the properties of an object that are not required.
	maxProperties = 60
	// maxText bounds the characters of a text with a minimum length.
	maxText = 2000
	// maxMade bounds the values within one value. Beyond it, it ends, valid or not.
	maxMade = 1000
	// maxSize bounds the bytes of its texts likewise.
	maxSize = 64 << 10
)

// Options say which of the valid values are made. The zero value makes required properties only.
type Options struct {
	// Optional adds what the description does not require.
	Optional bool
	// Seed distinguishes the free texts of one scan from those of another.
	Seed uint64
	// Values are those that the scan types elsewhere: its mark, addresses that nobody has, and
	// passwords; nil: those of no scan.
	Values *formvalue.Generator
	// Plain leaves out what gives rights, or has its lowest value.
	Plain bool
	// Headers are names, in small letters, of headers that are not set, since whoever sends
	// the request sets them.
	Headers []string
	// Known returns a value for a parameter or a property where one is known, such as
	// the identifier of an object that exists; nil: none is.
	Known func(in, name string, s *apispec.Schema) (any, bool)
}

// Flat returns the schema with its parts (allOf) merged, and the first of its alternatives (oneOf,
// anyOf) that is not null. For nil it returns an empty schema, which allows anything. The result
// may share parts with s and must not be changed.
func Flat(s *apispec.Schema) *apispec.Schema { return flatten(s, 0) }

// flatten merges the parts of a schema into one without parts. Recursive parts are followed
// maxDepth times.
func flatten(s *apispec.Schema, depth int) *apispec.Schema {
	if s == nil {
		return &apispec.Schema{MinLength: -1, MaxLength: -1, MinItems: -1, MaxItems: -1}
	}
	if len(s.AllOf) == 0 && len(s.OneOf) == 0 && len(s.AnyOf) == 0 || depth > maxDepth {
		return s
	}
	out := *s
	out.AllOf, out.OneOf, out.AnyOf = nil, nil, nil
	out.Properties, out.Required = slices.Clone(s.Properties), slices.Clone(s.Required)
	parts := slices.Clone(s.AllOf)
	for _, list := range [][]*apispec.Schema{s.OneOf, s.AnyOf} {
		for _, one := range list {
			if len(one.Types) != 1 || one.Types[0] != "null" {
				parts = append(parts, one)
				break
			}
		}
	}
	for _, p := range parts {
		mergeSchema(&out, flatten(p, depth+1))
	}
	return &out
}

// mergeSchema merges the part into the schema: properties of both, and the stricter of two lengths.
// Where both have a type or a format, that of the schema remains.
func mergeSchema(s, p *apispec.Schema) {
	if len(s.Types) == 0 {
		s.Types = p.Types
	}
	for _, prop := range p.Properties {
		if !slices.ContainsFunc(s.Properties, func(q apispec.Property) bool { return q.Name == prop.Name }) {
			s.Properties = append(s.Properties, prop)
		}
	}
	s.Required = append(s.Required, p.Required...)
	text := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	text(&s.Format, p.Format)
	text(&s.Pattern, p.Pattern)
	text(&s.Name, p.Name)
	if len(s.Enum) == 0 {
		s.Enum = p.Enum
	}
	if s.Default == nil {
		s.Default = p.Default
	}
	s.Examples = append(slices.Clip(s.Examples), p.Examples...)
	if s.Minimum == nil {
		s.Minimum, s.ExclusiveMinimum = p.Minimum, p.ExclusiveMinimum
	}
	if s.Maximum == nil {
		s.Maximum, s.ExclusiveMaximum = p.Maximum, p.ExclusiveMaximum
	}
	s.MultipleOf = max(s.MultipleOf, p.MultipleOf)
	s.MinLength, s.MinItems = max(s.MinLength, p.MinLength), max(s.MinItems, p.MinItems)
	least := func(to *int, from int) {
		if *to < 0 || from >= 0 && from < *to {
			*to = from
		}
	}
	least(&s.MaxLength, p.MaxLength)
	least(&s.MaxItems, p.MaxItems)
	if s.Items == nil {
		s.Items = p.Items
	}
	if s.Additional == nil {
		s.Additional = p.Additional
	}
	s.Closed, s.Nullable = s.Closed || p.Closed, s.Nullable || p.Nullable
	s.ReadOnly, s.WriteOnly = s.ReadOnly || p.ReadOnly, s.WriteOnly || p.WriteOnly
}

// A maker generates the values of one request.
type maker struct {
	Options
	// in is where the value will be: "path", "query", "header", "cookie", "body".
	in string
	// made counts the values, size the bytes of their texts so far.
	made, size int
}

// isFull reports whether a limit is reached: lists of objects that contain lists would fill the
// memory.
func (m *maker) isFull() bool { return m.made > maxMade || m.size > maxSize }

// makeValue returns a valid value: a known one, one of the description, else a generated one.
func (m *maker) makeValue(name string, s *apispec.Schema, depth int) any {
	s = Flat(s)
	m.made++
	if m.Known != nil {
		if v, ok := m.Known(m.in, name, s); ok {
			return v
		}
	}
	if v, ok := givenValue(s, depth); ok {
		return v
	}
	switch kindOf(s) {
	case "object":
		return m.makeObject(s, depth)
	case "array":
		return m.makeArray(name, s, depth)
	case "integer":
		return makeInteger(s)
	case "number":
		return makeFloat(s)
	case "boolean":
		return !m.Plain || !sideeffect.IsPrivilegeField(name)
	case "null":
		return nil
	}
	text := m.makeText(name, s)
	m.size += len(text)
	return text
}

// kindOf returns the type that a value gets, without "null" where there is another; "string" where
// the schema has no type.
func kindOf(s *apispec.Schema) string {
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	if len(s.Properties) > 0 || s.Additional != nil {
		return "object"
	}
	if s.Items != nil {
		return "array"
	}
	if len(s.Types) > 0 {
		return "null"
	}
	return "string"
}

// givenValue returns a value that the description itself contains: the default or the first of an
// enumeration, an example, or the default. Objects are built from the values of their properties.
func givenValue(s *apispec.Schema, depth int) (any, bool) {
	if len(s.Enum) > 0 {
		if s.Default != nil && slices.ContainsFunc(s.Enum, func(v any) bool {
			return fmt.Sprint(v) == fmt.Sprint(s.Default)
		}) {
			return s.Default, true
		}
		for _, v := range s.Enum {
			if v != nil {
				return v, true
			}
		}
		return nil, true
	}
	if kindOf(s) == "object" && len(s.Properties) > 0 || depth > maxDepth {
		return nil, false // its properties have values of their own
	}
	for _, v := range append(slices.Clone(s.Examples), s.Default) {
		if v != nil && fitsSchema(s, v) {
			return v, true
		}
	}
	return nil, false
}

// fitsSchema reports whether an example is of the schema's type: in real descriptions many are not,
// such as "1" for an integer.
func fitsSchema(s *apispec.Schema, v any) bool {
	switch v := v.(type) {
	case string:
		return kindOf(s) == "string" && (s.MaxLength < 0 || utf8.RuneCountInString(v) <= s.MaxLength)
	case bool:
		return kindOf(s) == "boolean"
	case int64, float64:
		return kindOf(s) == "integer" || kindOf(s) == "number"
	case []any:
		return kindOf(s) == "array"
	case map[string]any:
		return kindOf(s) == "object"
	}
	return false
}

// freeName is the member of an object whose names clients choose (additionalProperties).
const freeName = "label"

// makeObject makes an object with its required properties and some of the others, without those
// that only responses contain (readOnly).
func (m *maker) makeObject(s *apispec.Schema, depth int) any {
	out := map[string]any{}
	for _, p := range s.Properties {
		required := slices.Contains(s.Required, p.Name)
		// Many descriptions list no required properties, although their server rejects an empty
		// object.
		wanted := required || m.Optional || len(s.Required) == 0 && depth < 2
		if m.Plain && !required && sideeffect.IsPrivilegeField(p.Name) {
			continue // nobody gets rights that he does not have to have
		}
		if !wanted || !required && (depth >= maxOptional || len(out) >= maxProperties) || depth >= maxDepth ||
			m.isFull() || Flat(p.Schema).ReadOnly {
			continue
		}
		out[p.Name] = m.makeValue(p.Name, p.Schema, depth+1)
	}
	if s.Additional != nil && len(s.Properties) == 0 && depth < maxDepth && !m.isFull() {
		out[freeName] = m.makeValue(freeName, s.Additional, depth+1)
	}
	return out
}

// makeArray makes a list with as many items as required, else one. uniqueItems is met by a number
// at the end of each text.
func (m *maker) makeArray(name string, s *apispec.Schema, depth int) any {
	n := 1
	if s.MinItems > 1 {
		n = min(s.MinItems, 20)
	}
	if s.MaxItems == 0 || depth >= maxDepth {
		n = 0
	}
	out := make([]any, 0, n)
	for i := range n {
		if i > 0 && m.isFull() {
			break
		}
		v := m.makeValue(strings.TrimSuffix(name, "s"), s.Items, depth+1)
		if text, ok := v.(string); ok && s.UniqueItems && i > 0 {
			v = text + strconv.Itoa(i)
		} else if number, ok := v.(int64); ok && s.UniqueItems {
			v = number + int64(i)
		}
		out = append(out, v)
	}
	return out
}

// makeInteger makes 1, or the integer nearest to it that the limits and the step allow.
func makeInteger(s *apispec.Schema) any {
	low, high := numberBounds(s, 1)
	v := int64(1)
	if float64(v) < low {
		v = int64(math.Ceil(low))
	}
	if float64(v) > high {
		v = int64(math.Floor(high))
	}
	if step := int64(s.MultipleOf); step > 1 {
		v = (v + step - 1) / step * step
	}
	return v
}

// makeFloat makes a number within the limits that is a multiple of the step.
func makeFloat(s *apispec.Schema) any {
	low, high := numberBounds(s, 1e-3)
	v := min(max(1.5, low), high)
	if s.MultipleOf > 0 {
		v = math.Ceil(v/s.MultipleOf) * s.MultipleOf
	}
	return v
}

// numberBounds returns the limits of a number; an exclusive one is moved by step.
func numberBounds(s *apispec.Schema, step float64) (low, high float64) {
	low, high = -1e15, 1e15
	if s.Minimum != nil {
		low = max(low, *s.Minimum)
		if s.ExclusiveMinimum {
			low += step
		}
	}
	if s.Maximum != nil {
		high = min(high, *s.Maximum)
		if s.ExclusiveMaximum {
			high -= step
		}
	}
	return low, high
}

// formats maps formats of OpenAPI and JSON Schema to a valid value. Addresses are from ranges for
// documentation (RFC 5737, RFC 3849), the telephone number and the card number are those of tests.
// A new format needs a row here, and in makeText if its value depends on the scan.
var formats = map[string]string{
	"date": "2026-01-15", "date-time": "2026-01-15T10:00:00Z", "time": "10:00:00Z", "duration": "PT1H",
	"uuid": "5f0c9f6e-2b1d-4c6a-9a51-0d8f5e7b3c21", "guid": "5f0c9f6e-2b1d-4c6a-9a51-0d8f5e7b3c21",
	"uri-reference": "/",
	"ipv4":          "192.0.2.1", "ip": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "bWVybG9u", "binary": "merlon",
	"regex": "^a$", "json-pointer": "/a",
	"phone": "+15550100", "credit-card": "4111111111111111",
}

// words maps endings of names to formats, for texts whose schema has none. Names are compared in
// small letters without separators; the first row that matches counts.
var words = []struct{ name, format string }{
	{"email", "email"}, {"mail", "email"}, {"uuid", "uuid"}, {"website", "uri"}, {"url", "uri"}, {"uri", "uri"},
	{"phone", "phone"}, {"birthday", "date"},
	{"date", "date"}, {"createdat", "date-time"}, {"updatedat", "date-time"}, {"password", "password"},
	{"hostname", "hostname"}, {"ipaddress", "ipv4"},
}

// ends matches names of times until which something is valid: such a time has to be after its
// beginning, and mostly in the future.
var ends = lazyregexp.New(`(?i)^(end|expir|until|due|deadline|valid_?(to|until)|to$)|_(end|until|to|expir\w*)(_|$)|(End|Until|Expir\w*)(s|At|On|Date|Time|$)`)

// makeText returns a text that the schema allows: by its pattern, its format, its name, else a text
// with the mark of the scan, by which created objects are found again.
func (m *maker) makeText(name string, s *apispec.Schema) string {
	if s.Pattern != "" {
		if v, ok := textMatching(s.Pattern, s.MinLength, s.MaxLength); ok {
			return v
		}
	}
	format := s.Format
	if format == "" {
		plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
		for _, w := range words {
			if strings.HasSuffix(plain, w.name) {
				format = w.format
				break
			}
		}
	}
	v := formats[format]
	switch format {
	case "date", "date-time":
		if ends.MatchString(name) {
			v = "2036" + v[4:]
		}
	case "email", "idn-email":
		v = m.makeWord(name) + "." + m.Values.Email()
	case "uri", "url", "iri":
		v = m.Values.URL()
	case "hostname", "idn-hostname":
		v = m.Values.Host()
	case "password":
		v = m.Values.Password(name)
	}
	switch {
	case v == "" && m.Plain && sideeffect.IsPrivilegeField(name):
		v = "user"
	case v == "":
		v = m.Values.Mark() + m.makeWord(name)
	}
	return resizeText(v, s.MinLength, s.MaxLength)
}

// makeWord returns four letters that depend on the name and the seed alone.
func (m *maker) makeWord(name string) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s", m.Seed, name) // a hash takes everything
	n, out := h.Sum64(), make([]byte, 4)
	for i := range out {
		out[i] = 'a' + byte(n%26)
		n /= 26
	}
	return string(out)
}

// resizeText pads or cuts a text to the limits; low and high are -1 where there are none.
func resizeText(v string, low, high int) string {
	if n := utf8.RuneCountInString(v); low > n {
		v += strings.Repeat("a", min(low, maxText)-min(n, maxText))
	}
	if high >= 0 && utf8.RuneCountInString(v) > high {
		v = string([]rune(v)[:high])
	}
	return v
}

// textMatching returns a text of the given length that the pattern matches; false: none was found.
// A few numbers of repetitions are tried, and the result is verified with the pattern itself.
func textMatching(pattern string, low, high int) (string, bool) {
	if len(pattern) > 1000 {
		return "", false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	whole, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, repeat := range []int{0, 1, 3, max(low, 0), max(low, 0) / 2} {
		var b strings.Builder
		writeExpression(&b, re.Simplify(), min(repeat, 200))
		v := b.String()
		n := utf8.RuneCountInString(v)
		if n == 0 || !whole.MatchString(v) || high >= 0 && n > high {
			continue
		}
		if n < low {
			if v = resizeText(v, low, high); !whole.MatchString(v) {
				continue
			}
		}
		return v, true
	}
	return "", false
}

// writeExpression writes a text that the expression matches. Of alternatives it takes the first;
// what may be repeated is repeated repeat times.
func writeExpression(b *strings.Builder, re *syntax.Regexp, repeat int) {
	if b.Len() > maxText {
		return
	}
	times := 1
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
		return
	case syntax.OpCharClass:
		b.WriteRune(charOfClass(re.Rune))
		return
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
		return
	case syntax.OpAlternate:
		writeExpression(b, re.Sub[0], repeat)
		return
	case syntax.OpStar, syntax.OpQuest:
		times = repeat
		if re.Op == syntax.OpQuest {
			times = min(repeat, 1)
		}
	case syntax.OpPlus:
		times = max(repeat, 1)
	}
	for range times {
		for _, sub := range re.Sub {
			writeExpression(b, sub, repeat)
		}
	}
}

// charOfClass returns a character of a class: "a", "1" or "A" if it contains one of them, else its
// first.
func charOfClass(ranges []rune) rune {
	for _, want := range "a1A" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}

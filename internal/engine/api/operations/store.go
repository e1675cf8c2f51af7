package operations

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file keeps values that operations have given, for those that take them.

// A value is one that a response, or a request that was accepted, has shown.
type value struct {
	// v is a string or a json.Number.
	v any
	// created: it is of an object that the scan has created.
	created bool
}

// A store contains values by name: by the bare name ("id"), by what the operation is about
// ("user.id"), by the path ("at /users"), and by a link of the description ("link getUser id").
type store struct {
	values map[string][]value
}

// maxValues bounds the values of one name, and maxLooked what is looked at of one
// answer.
const (
	// maxValues bounds the values of one name.
	maxValues = 8
	// maxLooked bounds the members of one response that are read.
	maxLooked = 2000
	// maxDepth bounds the nesting of JSON, here and in the checks.
	maxDepth = 12
)

// newStore returns a store in which no value is known.
func newStore() *store { return &store{values: map[string][]value{}} }

// normalizeName writes a name without separators, in small letters: user_id, userId and User-ID
// agree.
func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// addValue adds a value under a name, if it is new. Only texts and numbers can refer to an object;
// created says that the scan has created the object.
func (s *store) addValue(name string, v any, created bool) {
	switch v := v.(type) {
	case string:
		// Longer texts are content, not identifiers.
		if v == "" || len(v) > 300 {
			return
		}
	case json.Number:
	default:
		return
	}
	list := s.values[name]
	for i := range list {
		if fmt.Sprint(list[i].v) == fmt.Sprint(v) {
			list[i].created = list[i].created || created
			return
		}
	}
	one := value{v, created}
	switch {
	case len(list) < maxValues:
		s.values[name] = append(list, one)
	// An object of the scan may be changed, so it displaces an older value.
	case created:
		s.values[name] = append([]value{one}, list[:maxValues-1]...)
	}
}

// learnFrom adds the values of a successful response, and those of its request where that has
// created an object: APIs often return only the identifier.
func (s *store) learnFrom(o *apispec.Operation, resp *message.Response) {
	if resp.Status >= 300 {
		return
	}
	made, about := createsObject(o, resp), subjectOf(o)
	s.keepPlaced(o, resp, made, about)
	looked := 0
	s.walkDocument(message.DecodeJSON(resp.Body), about, made, 0, &looked)
	if body := resp.Request.Body; made && body.Kind == message.JSON && o.Call == nil {
		s.walkDocument(message.DecodeJSON(body.Text), about, true, 0, &looked)
	}
	for _, p := range resp.Request.Body.Params {
		if made && p.File == "" {
			s.keepValue(about, p.Name, p.Value, true)
		}
	}
	// 201 with Location: /users/7 (RFC 9110, section 15.3.2).
	if to, err := url.Parse(resp.Header.Get("Location")); err == nil && made && to.Path != "" {
		steps := strings.Split(strings.Trim(to.Path, "/"), "/")
		s.keepValue(about, "id", steps[len(steps)-1], true)
	}
	s.keepLinked(o, resp, made, about)
}

// keepLinked keeps the values that the links of a description take out of a response for
// the parameters of other operations (OpenAPI 3.1, section 4.8.20). A parameter may be
// written with where it stands: "path.id".
func (s *store) keepLinked(o *apispec.Operation, resp *message.Response, made bool, about string) {
	for _, l := range o.Links {
		for name, expression := range l.Parameters {
			pointer, ok := strings.CutPrefix(expression, "$response.body#")
			if !ok {
				continue
			}
			_, bare, dotted := strings.Cut(name, ".")
			if !dotted {
				bare = name
			}
			s.addValue("link "+l.Operation+" "+bare, followPointer(message.DecodeJSON(resp.Body), pointer), made &&
				identifiesItself(about, normalizeName(pointer[strings.LastIndexByte(pointer, '/')+1:])))
		}
	}
}

// keepPlaced adds the identifiers of the object of a response under the path: two collections may
// use the same noun, such as /users and /admin/users.
func (s *store) keepPlaced(o *apispec.Operation, resp *message.Response, made bool, about string) {
	if o.Call != nil || strings.Contains(o.Path, "{") {
		return
	}
	m, made := unwrapObject(message.DecodeJSON(resp.Body), made, about)
	path := strings.TrimRight(o.Path, "/")
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if n := normalizeName(name); identifiesItself(about, n) && hasIdentifier(map[string]any{n: m[name]}, about) {
			s.addValue("at "+path, m[name], made)
			if i := strings.LastIndexByte(path, '/'); made && i > 0 &&
				apispec.Makes(path[i+1:]) { // "/cards/create" adds to "/cards"
				s.addValue("at "+path[:i], m[name], made)
			}
		}
	}
}

// unwrapObject returns the object that a response is about, out of the lists and objects
// around it. Of a list it is the first; with others beside it, it is not known to be the
// one that was made.
func unwrapObject(v any, made bool, about string) (map[string]any, bool) {
	for range maxWraps {
		if list, is := v.([]any); is && len(list) > 0 {
			v, made = list[0], made && len(list) == 1
		}
		m, is := v.(map[string]any)
		if !is || hasIdentifier(m, about) {
			break
		}
		v = wrappedMember(m, about)
	}
	m, _ := v.(map[string]any)
	return m, made
}

// wrappedMember is the member of a response that holds what the response is about: the one that is
// called so, or the only one; nil: there is none.
func wrappedMember(m map[string]any, about string) any {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch below := m[name].(type) {
		case map[string]any, []any:
			if len(m) == 1 || apispec.Same(apispec.Thing(name), about) {
				return below
			}
		}
	}
	return nil
}

// maxWraps bounds the objects that wrap what an answer is about.
const maxWraps = 3

// followPointer follows a JSON pointer.
func followPointer(v any, pointer string) any {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return v
}

// walkDocument adds the values of a document. Of a document about a created object, only the
// outermost object with an identifier counts as created: those within it may belong to others, such
// as the author of a comment.
func (s *store) walkDocument(v any, about string, made bool, depth int, looked *int) {
	if *looked++; depth > maxDepth || *looked > maxLooked {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.walkDocument(item, about, made && len(v) == 1, depth+1, looked)
		}
	case map[string]any:
		inside, wraps := countObjects(v), made && !hasIdentifier(v, about)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch below := v[name].(type) {
			case map[string]any, []any:
				inner := cmp.Or(apispec.Thing(name), about)
				s.walkDocument(below, inner,
					wraps && (apispec.Same(inner, about) || inside == 1 && !persons.MatchString(inner)), depth+1,
					looked)
			default:
				s.keepValue(about, name, below, made)
			}
		}
	}
}

// countObjects returns how many members of an object are objects themselves.
func countObjects(v map[string]any) int {
	n := 0
	for _, below := range v {
		if _, is := below.(map[string]any); is {
			n++
		}
	}
	return n
}

// persons matches members that say who owns an object or made it: that user was not created.
var persons = lazyregexp.New(`^(user|owner|author|creator|customer|member|profile|sender|recipient|receiver)$`)

// keepValue adds a value by its name, and by what it is about.
func (s *store) keepValue(about, name string, v any, made bool) {
	name = normalizeName(name)
	made = made && identifiesItself(about, name)
	s.addValue(name, v, made)
	if about != "" {
		s.addValue(about+"."+name, v, made)
	}
}

// findValue returns a value for a parameter of the operation: the n-th that fits. created says
// whether it is of an object that the scan has created; operations that change something get these
// first, and with own nothing else.
func (s *store) findValue(o *apispec.Operation, name string, schema *apispec.Schema, n int,
	own bool) (v any, created, ok bool) {
	names := valueNames(o, name, own)
	changes := o.Method != "GET" && o.Method != "HEAD"
	for _, made := range creationOrder(changes, own) {
		for _, key := range names {
			for _, one := range s.values[key] {
				typed, fits := fitType(schema, one.v)
				if !fits || made && !one.created || !made && changes && one.created {
					continue
				}
				if n--; n < 0 {
					return typed, one.created, true
				}
			}
		}
	}
	return nil, false, false
}

// creationOrder returns the passes through the values: only created ones, created ones before the
// others, or all together.
func creationOrder(changes, own bool) []bool {
	switch {
	case own:
		return []bool{true}
	case changes:
		return []bool{true, false}
	}
	return []bool{false}
}

// valueNames returns the names under which the store may hold a value for a parameter,
// the surest first: a link of the description, what was asked at the same path, the
// property of the thing that the path names, and last the bare name, which another kind
// of object may have given.
func valueNames(o *apispec.Operation, name string, own bool) []string {
	short := normalizeName(name)
	var names []string
	for _, id := range []string{o.ID, o.Pointer} {
		names = append(names, "link "+id+" "+name)
	}
	about := nounBefore(o.Path, name)
	if about == "" {
		about = subjectOf(o)
	}
	if i := strings.Index(o.Path, "/{"+name+"}"); i > 0 {
		names = append(names, "at "+o.Path[:i])
	}
	names = append(names, about+"."+short)
	for _, id := range []string{"id", "uuid", "guid", "key", "name", "slug", "number", "title"} {
		if rest, ok := strings.CutSuffix(short, id); ok && rest != "" {
			names = append(names, apispec.Singular(rest)+"."+id)
		}
	}
	if rest, ok := strings.CutPrefix(short, about); ok && rest != "" {
		names = append(names, about+"."+rest)
	}
	if !own && !slices.Contains([]string{"id", "name", "key", "number"}, short) {
		names = append(names, short)
	}
	if short == about { // /books/{book}
		names = append(names, about+".id", about+".name")
	}
	return names
}

// nounBefore returns the noun before a parameter in the path: "user" of /users/{id}.
func nounBefore(path, name string) string {
	i := strings.Index(path, "{"+name+"}")
	if i < 0 {
		return ""
	}
	return apispec.Noun(path[:i])
}

// fitType converts the value to the type of the schema; false: it does not fit. Values of an
// enumeration come from the schema itself.
func fitType(s *apispec.Schema, v any) (any, bool) {
	text := fmt.Sprint(v)
	if s.Is("integer") || s.Is("number") {
		var f float64
		if _, err := fmt.Sscan(text, &f); err != nil || strings.Trim(text, "-0123456789.eE+") != "" {
			return nil, false
		}
		return json.Number(text), true
	}
	if len(s.Types) > 0 && !s.Is("string") || len(s.Enum) > 0 || s.MaxLength >= 0 && len(text) > s.MaxLength {
		return nil, false
	}
	return text, true
}

// hasSent reports whether a recorded request (Postman, HAR) has a value for the parameter of the
// path: it named an existing object when it was recorded.
func (c *call) hasSent(name string) bool {
	return c.origin != "openapi" && slices.ContainsFunc(c.operation.Parameters, func(p *apispec.Parameter) bool {
		text, is := p.Example.(string)
		return p.In == "path" && p.Name == name && is && text != ""
	})
}

// credentialHeaders returns the headers, in small letters, that carry credentials. The session sets
// them, whatever the description says of them.
func (e *examination) credentialHeaders() []string {
	var out []string
	for i := range e.Target.Identities {
		one := &e.Target.Identities[i]
		for _, h := range one.Header {
			out = append(out, strings.ToLower(h.Name))
		}
		if one.JSON != nil && one.JSON.Header != "" {
			out = append(out, strings.ToLower(one.JSON.Header))
		}
	}
	if e.joined != nil && e.header != "" {
		out = append(out, strings.ToLower(e.header))
	}
	for _, p := range e.opens {
		if p.in == "header" {
			out = append(out, strings.ToLower(p.name))
		}
	}
	return out
}

// generatorOptions returns how the operation's input is made: with known values in the path, the
// n-th ones, and for references to other objects. What changes or removes an object is
// given those that the scan has made, but in the profile full.
func (e *examination) generatorOptions(c *call, n int, optional bool) requestgen.Options {
	full := e.Target.Profile.Allows(scan.Full)
	k := knownValues{examination: e, call: c, n: n, own: e.altersObject(c.operation) && !full}
	return requestgen.Options{Optional: optional, Seed: e.Seed, Values: e.Values, Plain: !full,
		Headers: e.credentialHeaders(), Known: k.find}
}

// knownValues provides the input of one request with values that responses have shown.
type knownValues struct {
	*examination
	call *call
	// n says which of the fitting values is used: another attempt takes another one.
	n int
	// own: only values of objects that the scan has created.
	own bool
}

// find returns a value for a parameter or a member, and whether one is known. It records
// in the call whether the object that the request is about is one that the scan has
// made, because only such may be changed or removed.
func (k knownValues) find(in, name string, s *apispec.Schema) (any, bool) {
	names := k.namesTarget(in, name)
	if !isReference(in, name) && !names || in != "path" && !holdsIdentifier(s) {
		return nil, false
	}
	if in == "path" && k.n == 0 && isReadMethod(k.call) && k.call.hasSent(name) {
		return nil, false
	}
	o := k.call.operation
	v, created, ok := k.store.findValue(o, name, s, k.n, k.own && (in == "path" || names))
	last := in == "path" && strings.LastIndex(o.Path, "{"+name+"}") == strings.LastIndexByte(o.Path, '{')
	// PUT at an unused identifier creates an object (RFC 9110, section 9.3.4).
	if !ok && k.own && last && o.Method == http.MethodPut && strings.HasSuffix(o.Path, "}") {
		v, ok = k.unusedIdentifier(s)
		created = ok
	}
	if (last || names) && ok {
		k.call.created = created
	}
	return v, ok
}

// namesTarget reports whether a value outside of the path says which object the operation
// changes.
func (k knownValues) namesTarget(in, name string) bool {
	return (in == "query" || in == "body") && k.own && !isRemovalName(k.call) &&
		namesObject(k.call.operation, normalizeName(name))
}

// holdsIdentifier reports whether values of the schema can be identifiers.
func holdsIdentifier(s *apispec.Schema) bool {
	return len(s.Types) == 0 || s.Is("string") || s.Is("integer")
}

// isReference reports whether a value refers to another object: in the path always, and
// elsewhere where its name ends in id. A plain id in a body is the object's own.
func isReference(in, name string) bool {
	short := normalizeName(name)
	return in == "path" || (in == "query" || in == "body") && short != "id" &&
		(strings.HasSuffix(short, "id") || strings.HasSuffix(short, "uuid"))
}

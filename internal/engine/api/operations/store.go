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

// A value is one that an answer, or a request that was accepted, has shown.
type value struct {
	v       any
	created bool // of an object that the scan has made
}

// A store holds values by name: "id" of what is below /users is "user.id".
type store struct {
	values map[string][]value
}

// maxValues bounds the values of one name, and maxLooked what is looked at of one
// answer.
const (
	maxValues = 8
	maxLooked = 2000
	maxDepth  = 12
)

func newStore() *store { return &store{values: map[string][]value{}} }

// plain writes a name without marks, in small letters.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func (s *store) add(name string, v any, created bool) {
	switch v := v.(type) {
	case string:
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
	case created: // what the scan has made counts more than what was there
		s.values[name] = append([]value{one}, list[:maxValues-1]...)
	}
}

// learn keeps what an accepted request and its answer show.
func (s *store) learn(o *apispec.Operation, resp *message.Response) {
	if resp.Status >= 300 {
		return
	}
	made, about := makes(o, resp), subject(o)
	s.place(o, resp, made, about)
	looked := 0
	s.walk(message.DecodeJSON(resp.Body), about, made, 0, &looked)
	if body := resp.Request.Body; made && body.Kind == message.JSON && o.Call == nil {
		s.walk(message.DecodeJSON(body.Text), about, true, 0, &looked)
	}
	for _, p := range resp.Request.Body.Params {
		if made && p.File == "" {
			s.keep(about, p.Name, p.Value, true)
		}
	}
	if to, err := url.Parse(resp.Header.Get("Location")); err == nil && made && to.Path != "" {
		steps := strings.Split(strings.Trim(to.Path, "/"), "/")
		s.keep(about, "id", steps[len(steps)-1], true)
	}
	for _, l := range o.Links {
		for name, expression := range l.Parameters {
			if pointer, ok := strings.CutPrefix(expression, "$response.body#"); ok {
				_, bare, dotted := strings.Cut(name, ".")
				if !dotted {
					bare = name
				}
				s.add("link "+l.Operation+" "+bare, at(message.DecodeJSON(resp.Body), pointer), made &&
					itself(about, plain(pointer[strings.LastIndexByte(pointer, '/')+1:])))
			}
		}
	}
}

// place keeps the identifiers of what an answer is about under the path that it was asked
// at: there may be several things of one name.
func (s *store) place(o *apispec.Operation, resp *message.Response, made bool, about string) {
	if o.Call != nil || strings.Contains(o.Path, "{") {
		return
	}
	v := message.DecodeJSON(resp.Body)
	for range maxWraps {
		if list, is := v.([]any); is && len(list) > 0 {
			v, made = list[0], made && len(list) == 1
		}
		m, is := v.(map[string]any)
		if !is || identified(m, about) {
			break
		}
		v = wrapped(m, about)
	}
	m, _ := v.(map[string]any)
	path := strings.TrimRight(o.Path, "/")
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if n := plain(name); itself(about, n) && identified(map[string]any{n: m[name]}, about) {
			s.add("at "+path, m[name], made)
			if i := strings.LastIndexByte(path, '/'); made && i > 0 &&
				apispec.Makes(path[i+1:]) { // "/cards/create" adds to "/cards"
				s.add("at "+path[:i], m[name], made)
			}
		}
	}
}

// wrapped is the member of a response that holds what the response is about: the one that is
// called so, or the only one; nil: there is none.
func wrapped(m map[string]any, about string) any {
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

// at follows a JSON pointer.
func at(v any, pointer string) any {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return v
}

// walk keeps the values of a document. Of one that tells of an object which the scan has
// made, that is the outermost object with an identifier: what stands within it may be
// others'.
func (s *store) walk(v any, about string, made bool, depth int, looked *int) {
	if *looked++; depth > maxDepth || *looked > maxLooked {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.walk(item, about, made && len(v) == 1, depth+1, looked)
		}
	case map[string]any:
		inside := 0
		for _, below := range v {
			if _, is := below.(map[string]any); is {
				inside++
			}
		}
		wraps := made && !identified(v, about)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch below := v[name].(type) {
			case map[string]any, []any:
				inner := cmp.Or(apispec.Thing(name), about)
				s.walk(below, inner,
					wraps && (apispec.Same(inner, about) || inside == 1 && !persons.MatchString(inner)), depth+1,
					looked)
			default:
				s.keep(about, name, below, made)
			}
		}
	}
}

// persons are names of members that tell whose an object is, or who made it.
var persons = lazyregexp.New(`^(user|owner|author|creator|customer|member|profile|sender|recipient|receiver)$`)

// keep adds a value by its name, and by what it is about.
func (s *store) keep(about, name string, v any, made bool) {
	name = plain(name)
	made = made && itself(about, name)
	s.add(name, v, made)
	if about != "" {
		s.add(about+"."+name, v, made)
	}
}

// find returns a value for a parameter of the operation: the n-th that fits. It tells
// whether it is of an object that the scan has made; what changes something gets these
// first, and with own nothing else.
func (s *store) find(o *apispec.Operation, name string, schema *apispec.Schema, n int,
	own bool) (v any, created, ok bool) {
	short := plain(name)
	var names []string
	for _, id := range []string{o.ID, o.Pointer} {
		names = append(names, "link "+id+" "+name)
	}
	about := before(o.Path, name)
	if about == "" {
		about = subject(o)
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
	if short != "id" && short != "name" && short != "key" && short != "number" && !own {
		names = append(names, short)
	}
	if short == about { // /books/{book}
		names = append(names, about+".id", about+".name")
	}
	changes := o.Method != "GET" && o.Method != "HEAD"
	for _, made := range []bool{true, false} {
		if made && !changes && !own || !made && own {
			continue
		}
		for _, key := range names {
			for _, one := range s.values[key] {
				typed, fits := fit(schema, one.v)
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

// before returns the noun that stands before a parameter in the path.
func before(path, name string) string {
	i := strings.Index(path, "{"+name+"}")
	if i < 0 {
		return ""
	}
	return apispec.Noun(path[:i])
}

// fit gives the value the type of the schema.
func fit(s *apispec.Schema, v any) (any, bool) {
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

// sent reports whether a collection has a value for the parameter of the path, which was
// asked for once.
func (c *call) sent(name string) bool {
	return c.origin != "openapi" && slices.ContainsFunc(c.operation.Parameters, func(p *apispec.Parameter) bool {
		text, is := p.Example.(string)
		return p.In == "path" && p.Name == name && is && text != ""
	})
}

// carriers are the headers, in small letters, by which identities show who they are: what a
// description says of them is left to the session.
func (e *examination) carriers() []string {
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

// options returns how the operation's input is made: with known values in the path, the
// n-th ones, and for references to other objects. What changes or removes an object is
// given those that the scan has made, but in the profile full.
func (e *examination) options(c *call, n int, optional bool) requestgen.Options {
	own := e.alters(c.operation) && !e.Target.Profile.Allows(scan.Full)
	return requestgen.Options{Optional: optional, Seed: e.Seed, Values: e.Values,
		Plain: !e.Target.Profile.Allows(scan.Full), Headers: e.carriers(),
		Known: func(in, name string, s *apispec.Schema) (any, bool) {
			short := plain(name)
			reference := in == "path" || (in == "query" || in == "body") && short != "id" &&
				(strings.HasSuffix(short, "id") || strings.HasSuffix(short, "uuid"))
			names := (in == "query" || in == "body") && own && !removing(c) && names(c.operation, short)
			if !reference && !names || in != "path" && (len(s.Types) > 0 && !s.Is("string") && !s.Is("integer")) {
				return nil, false
			}
			if in == "path" && n == 0 && reads(c) && c.sent(name) {
				return nil, false
			}
			v, created, ok := e.store.find(c.operation, name, s, n, own && (in == "path" || names))
			last := in == "path" &&
				strings.LastIndex(c.operation.Path, "{"+name+"}") == strings.LastIndexByte(c.operation.Path, '{')
			if !ok && own && last && c.operation.Method == http.MethodPut && strings.HasSuffix(c.operation.Path, "}") {
				v, ok = e.unused(s)
				created = ok
			}
			if (last || names) && ok {
				c.created = created
			}
			return v, ok
		}}
}

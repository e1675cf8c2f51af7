package operations

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/lazyregexp"
)

// This file tells what the scan has made from what was there before: up to the profile
// standard nothing else is changed.

var (
	// searching are names of operations that make nothing, though they are asked by POST.
	searching = lazyregexp.New(`(?i)log[-_]?(in|out)|sign[-_]?(in|out)|authenticat|token|search|query|filter|find|lookup|list|^get|check|validate|verify|/(auth|sessions?)\b`)
	// joins are names of operations that make users.
	joins = lazyregexp.New(`(?i)regist(er|ration)|sign[-_]?up|enrol`)
)

// lastName is what an operation calls itself: the field of GraphQL, else its identifier in
// the description without what stands before it, or the last word of its path.
func lastName(o *apispec.Operation) []string {
	if o.Call != nil {
		return []string{o.Call.Field}
	}
	return []string{o.ID[strings.LastIndexAny(o.ID, "./")+1:], o.Path[strings.LastIndexByte(o.Path, '/')+1:]}
}

// altersObject reports whether the operation changes or removes an object that was there
// before it is asked.
func (e *examination) altersObject(o *apispec.Operation) bool {
	rewrites := slices.ContainsFunc(lastName(o), func(name string) bool {
		return apispec.Rewrites(name) || sitemap.NamesRemoval(name)
	})
	if o.Call != nil {
		return o.Call.Kind == "mutation" && rewrites
	}
	switch o.Method {
	case http.MethodDelete, http.MethodPatch:
		return true
	case http.MethodPut: // where nothing else adds to what has items, this does
		return strings.HasSuffix(o.Path, "}") || e.isDescribed(http.MethodPost, o.Path) || !e.hasItems(o.Path)
	case http.MethodPost:
		if strings.HasSuffix(o.Path, "}") { // an object's own address, which is no name of a thing to do
			return e.isDescribed(http.MethodGet, o.Path) || e.isDescribed(http.MethodDelete, o.Path)
		}
		return rewrites && (strings.Contains(o.Path, "{") || slices.ContainsFunc(takenNames(o), func(name string) bool {
			return namesObject(o, name)
		}))
	}
	return false
}

// hasItems reports whether the description has an operation on an item of the path.
func (e *examination) hasItems(path string) bool {
	return slices.ContainsFunc(e.calls, func(c *call) bool {
		rest, below := strings.CutPrefix(c.operation.Path, path+"/{")
		return below && strings.IndexByte(rest, '}') == len(rest)-1
	})
}

// selfsame are paths of what belongs to the user who asks.
var selfsame = lazyregexp.New(`(?i)/(my|profile|account|user|preferences|userinfo)(/|$)`)

// changesOwnAccount reports whether the operation changes what belongs to the account that the scan has
// registered: no path says whose it is.
func (e *examination) changesOwnAccount(o *apispec.Operation) bool {
	return e.joined != nil && o.Call == nil && !strings.Contains(o.Path, "{") && selfsame.MatchString(o.Path)
}

// isDescribed reports whether the description has an operation of the method and path.
func (e *examination) isDescribed(method, path string) bool {
	return slices.ContainsFunc(e.calls, func(c *call) bool {
		return c.operation.Method == method && c.operation.Path == path
	})
}

// takenNames are the names of what the operation takes beside its path, without marks.
func takenNames(o *apispec.Operation) []string {
	var out []string
	for _, p := range o.Parameters {
		if p.In == "query" {
			out = append(out, normalizeName(p.Name))
		}
	}
	for _, m := range o.Bodies {
		if m.Schema != nil {
			for _, p := range m.Schema.Properties {
				out = append(out, normalizeName(p.Name))
			}
		}
	}
	return out
}

// namesObject reports whether a value of this name, which stands in no path, says which object
// the operation changes.
func namesObject(o *apispec.Operation, name string) bool {
	if strings.Contains(o.Path, "{") {
		return false // the path does
	}
	about := subjectOf(o)
	switch name {
	case "id", "uuid", "guid", about + "id", about + "uuid", about + "guid":
		return true
	}
	return false
}

// subjectOf is what an operation is about.
func subjectOf(o *apispec.Operation) string {
	if o.Call != nil {
		return apispec.Subject(o.Call.Field)
	}
	if joins.MatchString(o.Path) {
		return "user"
	}
	return apispec.Noun(o.Path)
}

// createsObject reports whether the operation, answered so, has made an object.
func createsObject(o *apispec.Operation, resp *message.Response) bool {
	named := func(re *lazyregexp.Regexp) bool {
		return re.MatchString(o.Path) || slices.ContainsFunc(lastName(o), re.MatchString)
	}
	switch {
	case o.Call != nil:
		return o.Call.Kind == "mutation" && !apispec.Rewrites(o.Call.Field) && !sitemap.NamesRemoval(o.Call.Field) &&
			!searching.MatchString(o.Call.Field)
	case o.Method == http.MethodPut:
		return resp.Status == http.StatusCreated
	case o.Method != http.MethodPost || slices.ContainsFunc(lastName(o), apispec.Rewrites):
		return false
	}
	return resp.Status == http.StatusCreated || !named(searching)
}

// identifiesItself reports whether a property of this name says which object it is, of an object
// of what about names; else it may say which other one belongs to it.
func identifiesItself(about, name string) bool {
	for _, end := range []string{"uuid", "guid", "id", "key", "code", "number", "slug", "name", "title"} {
		if stem, is := strings.CutSuffix(name, end); is {
			return stem == "" || strings.HasSuffix(about, stem) || about != "" && strings.HasSuffix(stem, about)
		}
	}
	return true
}

// hasIdentifier reports whether an object has a property that tells it from others of its
// kind.
func hasIdentifier(v map[string]any, about string) bool {
	for name, value := range v {
		switch n := normalizeName(name); n {
		case "id", "uuid", "guid", "key", "slug", about + "id", about + "uuid", about + "guid":
			if value != nil {
				return true
			}
		default:
			for _, end := range []string{"uuid", "guid", "id"} {
				if stem, is := strings.CutSuffix(n, end); is && value != nil && apispec.Same(stem, about) {
					return true
				}
			}
		}
	}
	return false
}

// unusedIdentifier returns an identifier that names nothing yet, for what an operation makes under
// the name that it is given; false: the schema asks for another one than a text.
func (e *examination) unusedIdentifier(s *apispec.Schema) (any, bool) {
	if len(s.Types) > 0 && !s.Is("string") || len(s.Enum) > 0 || s.Pattern != "" || s.MaxLength >= 0 &&
		s.MaxLength < 14 {
		return nil, false
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, e.Seed) // a hash takes everything
	digits := fmt.Sprintf("%016x", h.Sum64())
	switch s.Format {
	case "":
		return "mx" + digits[:12], true
	case "uuid", "guid":
		return digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-a" + digits[1:4] + "-" + digits[4:16], true
	}
	return nil, false
}

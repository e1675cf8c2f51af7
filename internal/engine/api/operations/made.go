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
	// searching matches operations that create nothing, though their method is POST.
	searching = lazyregexp.New(`(?i)log[-_]?(in|out)|sign[-_]?(in|out)|authenticat|token|search|query|filter|find|lookup|list|^get|check|validate|verify|/(auth|sessions?)\b`)
	// joins matches operations that create users.
	joins = lazyregexp.New(`(?i)regist(er|ration)|sign[-_]?up|enrol`)
)

// lastName returns the names of an operation: its GraphQL field, else the last part of its
// identifier in the description ("users.create" gives "create") and the last segment of its path.
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
	// PUT at a collection creates where nothing else does: the path has items, and no POST.
	case http.MethodPut:
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

// selfsame matches paths of what belongs to the user who requests them.
var selfsame = lazyregexp.New(`(?i)/(my|profile|account|user|preferences|userinfo)(/|$)`)

// changesOwnAccount reports whether the operation changes the account that the scan has registered:
// no parameter of the path names another user.
func (e *examination) changesOwnAccount(o *apispec.Operation) bool {
	return e.joined != nil && o.Call == nil && !strings.Contains(o.Path, "{") && selfsame.MatchString(o.Path)
}

// isDescribed reports whether the description has an operation of the method and path.
func (e *examination) isDescribed(method, path string) bool {
	return slices.ContainsFunc(e.calls, func(c *call) bool {
		return c.operation.Method == method && c.operation.Path == path
	})
}

// takenNames returns the normalized names of the query parameters and body members.
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

// namesObject reports whether a value of this name, outside of the path, says which object the
// operation changes: POST /users/update {"id": 7}.
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

// subjectOf returns the noun of the objects that an operation is about.
func subjectOf(o *apispec.Operation) string {
	if o.Call != nil {
		return apispec.Subject(o.Call.Field)
	}
	if joins.MatchString(o.Path) {
		return "user"
	}
	return apispec.Noun(o.Path)
}

// createsObject reports whether the operation has created an object, by its method, its name and
// the status of its response.
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

// identifiesItself reports whether a property identifies the object that contains it. Of an order,
// orderId does; userId says whose it is.
func identifiesItself(about, name string) bool {
	for _, end := range []string{"uuid", "guid", "id", "key", "code", "number", "slug", "name", "title"} {
		if stem, is := strings.CutSuffix(name, end); is {
			return stem == "" || strings.HasSuffix(about, stem) || about != "" && strings.HasSuffix(stem, about)
		}
	}
	return true
}

// hasIdentifier reports whether an object has a property that distinguishes it from others of its
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

// unusedIdentifier returns an identifier that names nothing yet, for operations that create an
// object under a given name; false: the schema requires another format. It depends on the seed
// alone, so that a later request finds the object again.
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

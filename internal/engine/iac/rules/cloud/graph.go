package cloud

import (
	"slices"

	"merlon/internal/engine/iac/terraform"
)

// This file joins resources: which one speaks of which.

// graph is the resources of a project by type, and who names whom.
type graph struct {
	project *terraform.Project
	types   map[string][]*terraform.Resource
	named   map[*terraform.Resource][]*terraform.Resource // by whom a resource is named
}

// newGraph indexes the resources of all modules once; every rule uses the same index. Data sources
// have keys of their own, "data.TYPE", because they are not deployed by this code.
func newGraph(p *terraform.Project) *graph {
	g := &graph{project: p, types: map[string][]*terraform.Resource{},
		named: map[*terraform.Resource][]*terraform.Resource{}}
	for _, m := range p.Modules {
		for _, r := range m.Resources {
			if r.Data {
				g.types["data."+r.Type] = append(g.types["data."+r.Type], r)
			} else {
				g.types[r.Type] = append(g.types[r.Type], r)
			}
			for _, to := range r.Refs() {
				g.named[to] = append(g.named[to], r)
			}
		}
	}
	return g
}

// related is a resource that may satisfy a rule for another.
type related struct {
	// its type
	kind string
	// the argument that names the other; "" when one in the same root module is enough
	by string
	// what it must say; all of them
	must []*condition
}

// isSatisfied reports whether a related resource satisfies its conditions for the
// resource.
func (g *graph) isSatisfied(list []related, r *terraform.Resource) truth {
	out := no
	for _, w := range list {
		for _, other := range g.types[w.kind] {
			speaks := truthOf(w.by == "" && other.Module.Root == r.Module.Root)
			if w.by != "" {
				speaks = g.refersTo(other, w.by, r)
			}
			if speaks == no {
				continue
			}
			t := speaks
			for _, c := range w.must {
				for _, h := range c.findValues(other.Body) {
					// min is "and" over the conditions, max below is "or" over the resources.
					t = min(t, c.isMet(h))
				}
			}
			out = max(out, t)
		}
	}
	return out
}

// refersTo reports whether the argument of one resource names the other: by a reference,
// or by its name as a text.
func (g *graph) refersTo(other *terraform.Resource, by string, r *terraform.Resource) truth {
	out := no
	for _, h := range other.Body.Lookup(by) {
		// A block or an absent argument names nothing.
		if h.Attr == nil {
			continue
		}
		if slices.Contains(h.Attr.Refs, r) {
			return yes
		}
		if len(h.Attr.Refs) > 0 {
			continue // it names others
		}
		switch namedByText(h.Value, r, other.Module.Root == r.Module.Root) {
		case yes:
			return yes
		case unknown:
			out = unknown
		}
	}
	return out
}

// namedByText reports whether a value that refers to nothing names the resource as a text.
// A single text counts within one root module only.
func namedByText(v any, r *terraform.Resource, sameRoot bool) truth {
	switch v := v.(type) {
	case terraform.Unknown:
		if sameRoot {
			return unknown
		}
	case string:
		return truthOf(v != "" && sameRoot && hasName(r, v))
	// A list of names is specific enough to count across root modules as well.
	case []any:
		for _, e := range v {
			if text, ok := e.(string); ok && text != "" && hasName(r, text) {
				return yes
			}
		}
	}
	return no
}

// hasName reports whether the text is the resource's name for the provider.
func hasName(r *terraform.Resource, text string) bool {
	// The arguments by which providers name resources.
	for _, name := range []string{"bucket", "name", "identifier", "cluster_identifier", "id"} {
		if v, ok := r.Body.Value(name).(string); ok && v == text {
			return true
		}
	}
	return false
}

// listReferrers returns the resources of the type whose argument names the resource.
func (g *graph) listReferrers(kind, by string, r *terraform.Resource) []*terraform.Resource {
	var out []*terraform.Resource
	for _, other := range g.types[kind] {
		if g.refersTo(other, by, r) == yes {
			out = append(out, other)
		}
	}
	return out
}

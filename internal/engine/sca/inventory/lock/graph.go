// Package lock reads lock files that say which package brought which: each
// becomes a graph, from which follow how a package came in, whether it is only
// for development, and the shortest path to it.
package lock

import (
	"slices"

	"merlon/internal/finding"
)

// A Graph is what a lock file says.
type Graph struct {
	Ecosystem string // of the nodes, as OSV spells it
	Nodes     []Node
	// Rooted is set when the local nodes say what the project asks for.
	Rooted bool
	// Marked is set when the file itself says which packages are for development.
	Marked bool
	// Broken are lines that should name a package and could not be read, at most 20.
	Broken []int
}

// A Node is a package, or a part of the project.
type Node struct {
	Name, Version string
	Line          int
	Local         bool   // a part of the project; it is no package
	Manifest      string // of a local node: the file that says what it asks for
	Foreign       bool   // comes from a repository or an address, not from the registry
	Dev           bool   // the file says that it is for development only
	Licenses      []string
	Deps          []Dep
}

// A Dep is an edge.
type Dep struct {
	To  int
	Dev bool // of a local node: asked for in development only
}

// maxVia bounds the path that is told; of a longer one the middle is left out.
const maxVia = 20

// A Found is a package with how it came in.
type Found struct {
	finding.Package
	Foreign  bool
	Manifest string // of a direct one: the manifest that asks for it, when known
}

// Packages returns the packages, each name and version once, in the order of the
// file. PURL and Path are left to the caller.
func (g *Graph) Packages() []Found {
	n := len(g.Nodes)
	w := graphWalk{g: g, parent: make([]int, n), root: make([]int, n), depth: make([]int, n), early: make([]int, n),
		ids: make([]string, n)}
	// The first search leaves out what is for development: what only the second one reaches is for
	// development alone.
	w.searchFrom(true)
	shipped := slices.Clone(w.parent)
	w.searchFrom(false)
	var out []Found
	at := map[string]int{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Local || n.Name == "" {
			continue
		}
		f := Found{Foreign: n.Foreign, Package: finding.Package{
			Ecosystem: g.Ecosystem, Name: n.Name, Version: n.Version, Line: n.Line, Dev: n.Dev, Licenses: n.Licenses,
		}}
		if g.Rooted {
			f.Scope = finding.Transitive
			if w.parent[i] == isRoot {
				f.Scope, f.Manifest = finding.Direct, g.Nodes[w.root[i]].Manifest
			}
			f.Via = w.pathTo(i)
			if !g.Marked {
				f.Dev = w.parent[i] != unseen && shipped[i] == unseen
			}
		}
		k, seen := at[w.nodeID(i)]
		if !seen {
			at[w.nodeID(i)] = len(out)
			out = append(out, f)
			continue
		}
		out[k].mergeFound(f)
	}
	return out
}

// mergeFound takes over what a further entry of the same package says.
func (f *Found) mergeFound(o Found) {
	f.Dev = f.Dev && o.Dev
	f.Foreign = f.Foreign && o.Foreign
	if f.Scope == finding.Direct {
		return
	}
	switch {
	case o.Scope == finding.Direct:
		f.Scope, f.Manifest, f.Via, f.Line = o.Scope, o.Manifest, nil, o.Line
	// The shortest path is shown: it needs the fewest upgrades.
	case len(o.Via) > 0 && (len(f.Via) == 0 || len(o.Via) < len(f.Via)):
		f.Via = o.Via
	}
}

// Marks in walk.parent.
const (
	unseen = -1
	isRoot = -2
)

// graphWalk is a search of the graph, breadth first.
type graphWalk struct {
	g      *Graph
	parent []int // the node that brought it first, or a mark
	root   []int // the local node that asks for a direct one
	depth  []int // nodes on the path to it
	early  []int // the node on that path that stands at maxVia/2
	ids    []string
}

// searchFrom searches from what the local nodes require; only what is shipped, or all.
func (w *graphWalk) searchFrom(shipped bool) {
	for i := range w.parent {
		w.parent[i], w.depth[i] = unseen, 0
	}
	queue := make([]int, 0, len(w.parent))
	for i := range w.g.Nodes {
		n := &w.g.Nodes[i]
		if !n.Local {
			continue
		}
		for _, d := range n.Deps {
			// Projects of a workspace are roots themselves.
			if (d.Dev && shipped) || w.g.Nodes[d.To].Local || w.parent[d.To] != unseen {
				continue
			}
			w.parent[d.To], w.root[d.To] = isRoot, i
			queue = append(queue, d.To)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, d := range w.g.Nodes[i].Deps {
			if !w.g.Nodes[d.To].Local && w.parent[d.To] == unseen {
				w.parent[d.To], w.depth[d.To], w.early[d.To] = i, w.depth[i]+1, w.early[i]
				if w.depth[d.To] == maxVia/2 {
					w.early[d.To] = i
				}
				queue = append(queue, d.To)
			}
		}
	}
}

// nodeID returns "name@version".
func (w *graphWalk) nodeID(i int) string {
	if w.ids[i] == "" {
		n := &w.g.Nodes[i]
		w.ids[i] = n.Name + "@" + n.Version
	}
	return w.ids[i]
}

// pathTo returns the nodes from the direct dependency to the parent.
func (w *graphWalk) pathTo(i int) []string {
	n := w.depth[i]
	if n == 0 {
		return nil
	}
	out := make([]string, min(n, maxVia))
	p, at := w.parent[i], len(out)-1
	if n > maxVia {
		for ; at > maxVia/2; at, p = at-1, w.parent[p] {
			out[at] = w.nodeID(p)
		}
		out[at] = "…"
		p, at = w.early[i], at-1
	}
	for ; at >= 0; at, p = at-1, w.parent[p] {
		out[at] = w.nodeID(p)
	}
	return out
}

package taint

import (
	"cmp"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/tree"
)

// A Point is a place of the program.
type Point struct {
	File *ir.File
	Node int32
}

// A Finding is data that reaches a sink.
type Finding struct {
	Rule *Rule
	Kind string  // of the model's sink; "" for one of the rule itself
	Path []Point // from the source to the sink, both included

	// Expression is the regular expression that the data is matched with; nil at a sink
	// of another kind than model.Match.
	Expression *Point

	sink   sinkKey
	source *source
	size   int32
}

// Match returns what a sink of the rule's own matched, nil for one of a model.
func (f *Finding) Match() *pattern.Match { return f.sink.match }

// SourceMatch returns what a source of the rule's own matched, nil for one of a model.
func (f *Finding) SourceMatch() *pattern.Match { return f.source.match }

// Sink returns the place that the data reaches.
func (f *Finding) Sink() Point { return f.Path[len(f.Path)-1] }

// Source returns the place where the data comes in.
func (f *Finding) Source() Point { return f.Path[0] }

// Number reports whether the data comes in as a parameter that holds no text: what a
// framework could not convert never arrives.
func (f *Finding) Number() bool {
	t, at := f.source.file.Tree, f.source.node
	if at < 0 || !t.Is(at, tree.Parameter) {
		return false
	}
	typ := t.Child(at, tree.RoleType)
	return typ >= 0 && (primitive[t.Text(typ)] || primitive[f.source.file.Names.Qualified(typ)])
}

// maxPoints bounds the points of a path: the first and the last ones are kept.
const maxPoints = 100

// points lists the places of a way, in order.
func points(s *step, out []Point, depth int) []Point {
	if s == nil || depth > 200 || len(out) > 10*maxPoints {
		return out
	}
	var chain []*step
	for ; s != nil; s = s.prev {
		chain = append(chain, s)
	}
	for _, s := range slices.Backward(chain) {
		p := Point{s.fn.File, s.node}
		if len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
		out = points(s.inner, out, depth+1)
	}
	return out
}

// path returns the way of an element to a sink.
func path(s *source, ways []*step, sink sinkKey) []Point {
	out := []Point{{s.file, s.node}}
	for _, w := range ways {
		out = points(w, out, 0)
	}
	end := Point{sink.fn.File, sink.node}
	if out[len(out)-1] != end {
		out = append(out, end)
	}
	out = slices.CompactFunc(out, func(a, b Point) bool { return a == b })
	if len(out) > maxPoints {
		out = slices.Concat(out[:maxPoints/2], out[len(out)-maxPoints/2:])
	}
	return out
}

// A findings set keeps the best finding for each rule and place.
type findings struct {
	best map[findingKey]*Finding
}

// A findingKey is what makes two findings one flaw.
type findingKey struct {
	rule *Rule
	file *ir.File
	node int32
	span [2]uint32 // of the match of a sink of the rule's own
}

// add adds a finding unless there is a better one.
func (s *findings) add(f *Finding, ways ...*step) {
	for _, w := range ways {
		f.size += w.length()
	}
	k := f.key()
	if old := s.best[k]; old != nil && !f.better(old) {
		return
	}
	f.Path = path(f.source, ways, f.sink)
	s.best[k] = f
}

func (f *Finding) key() findingKey {
	k := findingKey{rule: f.Rule, file: f.sink.fn.File, node: f.sink.node}
	if m := f.sink.match; m != nil {
		k.span = [2]uint32{m.Start, m.End}
	}
	return k
}

// better orders findings of one flaw: data that comes from outside of tests, the
// shorter way, then the earlier source.
func (f *Finding) better(g *Finding) bool {
	if a, b := lang.Aside(f.source.file.Tree.Path), lang.Aside(g.source.file.Tree.Path); a != b {
		return b
	}
	return cmp.Or(cmp.Compare(f.size, g.size), f.source.compare(g.source), f.sink.compare(g.sink)) < 0
}

// list returns the findings in the order of their sinks.
func (s *findings) list() []*Finding {
	list := make([]*Finding, 0, len(s.best))
	for _, f := range s.best {
		list = append(list, f)
	}
	slices.SortFunc(list, func(f, g *Finding) int {
		return cmp.Or(f.sink.compare(g.sink), cmp.Compare(f.Rule.Rule.ID, g.Rule.Rule.ID), f.source.compare(g.source))
	})
	return list
}

// String returns "path:line" of the point.
func (p Point) String() string {
	return p.File.Tree.Path + ":" + itoa(int32(p.Line()))
}

// Line returns the line of the point, from 1.
func (p Point) Line() int {
	if p.Node == tree.None {
		return 1
	}
	return p.File.Tree.Line(p.File.Tree.Nodes[p.Node].Start)
}

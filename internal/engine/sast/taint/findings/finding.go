package findings

import (
	"cmp"
	"slices"
	"strconv"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/tree"
)

// A Point is a place of the program.
type Point struct {
	File *ir.File
	Node int32
}

// A Finding is data that reaches a sink.
type Finding struct {
	Rule *rulematch.Rule
	Kind string  // of the model's sink; "" for one of the rule itself
	Path []Point // from the source to the sink, both included

	// Expression is the regular expression that the data is matched with; nil at a sink
	// of another kind than model.Match.
	Expression *Point

	sink   summary.SinkKey
	source *taintset.Source
	size   int32
}

// Match returns what a sink of the rule's own matched, nil for one of a model.
func (f *Finding) Match() *pattern.Match { return f.sink.Match }

// SourceMatch returns what a source of the rule's own matched, nil for one of a model.
func (f *Finding) SourceMatch() *pattern.Match { return f.source.Match }

// Sink returns the place that the data reaches.
func (f *Finding) Sink() Point { return f.Path[len(f.Path)-1] }

// Source returns the place where the data comes in.
func (f *Finding) Source() Point { return f.Path[0] }

// Number reports whether the data comes in as a parameter that holds no text: what a
// framework could not convert never arrives.
func (f *Finding) Number() bool {
	t, at := f.source.File.Tree, f.source.Node
	if at < 0 || !t.Is(at, tree.Parameter) {
		return false
	}
	typ := t.Child(at, tree.RoleType)
	return typ >= 0 && (modelindex.PrimitiveTypes[t.Text(typ)] ||
		modelindex.PrimitiveTypes[f.source.File.Names.Qualified(typ)])
}

// maxPoints bounds the points of a path: the first and the last ones are kept.
const maxPoints = 100

// listPoints lists the places of a way, in order.
func listPoints(s *taintset.Step, out []Point, depth int) []Point {
	if s == nil || depth > 200 || len(out) > 10*maxPoints {
		return out
	}
	var chain []*taintset.Step
	for ; s != nil; s = s.Previous {
		chain = append(chain, s)
	}
	for _, s := range slices.Backward(chain) {
		p := Point{s.Function.File, s.Node}
		if len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
		out = listPoints(s.Inner, out, depth+1)
	}
	return out
}

// tracePath returns the way of an element to a sink.
func tracePath(s *taintset.Source, ways []*taintset.Step, sink summary.SinkKey) []Point {
	out := []Point{{s.File, s.Node}}
	for _, w := range ways {
		out = listPoints(w, out, 0)
	}
	end := Point{sink.Function.File, sink.Node}
	if out[len(out)-1] != end {
		out = append(out, end)
	}
	out = slices.CompactFunc(out, func(a, b Point) bool { return a == b })
	if len(out) > maxPoints {
		out = slices.Concat(out[:maxPoints/2], out[len(out)-maxPoints/2:])
	}
	return out
}

// A Set set keeps the best finding for each rule and place.
type Set struct {
	Best map[Key]*Finding
}

// A Key is what makes two findings one flaw.
type Key struct {
	rule *rulematch.Rule
	file *ir.File
	node int32
	span [2]uint32 // of the match of a sink of the rule's own
}

// addFinding adds a finding unless there is a better one.
func (s *Set) addFinding(f *Finding, ways ...*taintset.Step) {
	for _, w := range ways {
		f.size += w.Length()
	}
	k := f.Key()
	if old := s.Best[k]; old != nil && !f.isBetterThan(old) {
		return
	}
	f.Path = tracePath(f.source, ways, f.sink)
	s.Best[k] = f
}

// Key returns the rule and the location of the finding.
func (f *Finding) Key() Key {
	k := Key{rule: f.Rule, file: f.sink.Function.File, node: f.sink.Node}
	if m := f.sink.Match; m != nil {
		k.span = [2]uint32{m.Start, m.End}
	}
	return k
}

// isBetterThan orders findings of one flaw: data that comes from outside of tests, the
// shorter way, then the earlier source.
func (f *Finding) isBetterThan(g *Finding) bool {
	if a, b := lang.Aside(f.source.File.Tree.Path), lang.Aside(g.source.File.Tree.Path); a != b {
		return b
	}
	return cmp.Or(cmp.Compare(f.size, g.size), f.source.Compare(g.source), f.sink.Compare(g.sink)) < 0
}

// List returns the findings in the order of their sinks.
func (s *Set) List() []*Finding {
	list := make([]*Finding, 0, len(s.Best))
	for _, f := range s.Best {
		list = append(list, f)
	}
	slices.SortFunc(list, func(f, g *Finding) int {
		return cmp.Or(f.sink.Compare(g.sink), cmp.Compare(f.Rule.Rule.ID, g.Rule.Rule.ID), f.source.Compare(g.source))
	})
	return list
}

// String returns "path:line" of the point.
func (p Point) String() string {
	return p.File.Tree.Path + ":" + strconv.Itoa(p.Line())
}

// Line returns the line of the point, from 1.
func (p Point) Line() int {
	if p.Node == tree.None {
		return 1
	}
	return p.File.Tree.Line(p.File.Tree.Nodes[p.Node].Start)
}

// Package findings makes findings of summaries. It joins what globals and fields hold
// when all summaries are there, reports data at sinks as the rules ask, and merges
// findings of one flaw.
package findings

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/syncmap"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// A conclusion gathers what the summaries say that count: those of functions that
// nobody in the program calls, and those that they apply.
type conclusion struct {
	run   *frame.Run
	sums  *syncmap.Map[summary.Key, *summary.Summary]
	part  bool
	used  map[*summary.Summary]bool
	order []*summary.Summary
	roots map[*summary.Summary]bool
	heap  map[string]taintset.Set // what globals hold, by path
	under map[string]taintset.Set // what all paths below one hold
	found Set
	rules []*rulematch.Rule
	// library are the functions whose parameters callers outside of the program
	// choose; nil when no rule asks for that.
	library *library
	callers *callers
	// cut says that not all of what globals hold was followed: there is too much of it.
	cut  bool
	work int64 // parts of objects, and origins in them, that were followed into globals
}

// Collect returns the findings of the rules, in the order of their sinks. whole is false
// when not all of what globals hold was followed. A part of a program has no callers
// outside of it.
func Collect(r *frame.Run, sums *syncmap.Map[summary.Key, *summary.Summary], units [][]*ir.Function,
	rules []*rulematch.Rule,
	part bool) (found []*Finding, whole bool) {
	c := &conclusion{run: r, sums: sums, part: part, used: map[*summary.Summary]bool{},
		roots: map[*summary.Summary]bool{}, heap: map[string]taintset.Set{},
		under: map[string]taintset.Set{},
		found: Set{map[Key]*Finding{}}, rules: rules, callers: newCallers()}
	c.collectSummaries(units)
	if slices.ContainsFunc(rules, (*rulematch.Rule).AsksLibrary) {
		c.addLibrary(units)
	}
	c.gatherGlobals()
	for _, s := range c.order {
		c.reportSinks(s)
	}
	return c.found.List(), !c.cut
}

// collectSummaries finds the summaries that count. Callers come behind callees in the units,
// so going backwards, what nobody has applied is a root.
func (c *conclusion) collectSummaries(units [][]*ir.Function) {
	reached := map[*ir.Function]bool{}
	var visit func(s *summary.Summary)
	visit = func(s *summary.Summary) {
		if c.used[s] {
			return
		}
		c.used[s] = true
		reached[s.Function] = true
		c.order = append(c.order, s)
		for _, child := range s.Callees {
			visit(child)
		}
	}
	for _, unit := range slices.Backward(units) {
		called := slices.ContainsFunc(unit, func(fn *ir.Function) bool { return reached[fn] })
		for _, fn := range unit {
			if called && !c.run.IsEntrypoint(fn) {
				continue
			}
			if s, ok := c.sums.Load(summary.Key{Function: fn}); ok {
				c.roots[s] = true
				visit(s)
			}
		}
	}
}

// addLibrary makes the functions of the program's interface roots.
func (c *conclusion) addLibrary(units [][]*ir.Function) {
	if c.part || isApplication(c.run.Origins, c.sums) {
		return
	}
	c.library = findLibrary(c.run, c.sums, c.order)
	for _, unit := range units {
		for _, fn := range unit {
			if !c.library.isCallable(fn) {
				continue
			}
			if s, ok := c.sums.Load(summary.Key{Function: fn}); ok && !c.roots[s] {
				c.roots[s] = true
				if !c.used[s] {
					c.used[s] = true
					c.order = append(c.order, s)
				}
			}
		}
	}
}

// globalPath returns the path of an input among the globals, "" when it is none.
func (c *conclusion) globalPath(s *summary.Summary, at *taintset.Origin) string {
	switch {
	case at.In.Kind == taintset.Global:
		return at.Path
	case at.In.Kind == taintset.Receiver && c.roots[s] && at.Path != "":
		if own := c.run.ReceiverPath(s.Function); own != "" {
			return own + at.Path
		}
	}
	return ""
}

// gatherInput gathers what a summary writes to an object that it was given, when that is
// a global or a part of one. It reports whether that was new.
func (c *conclusion) gatherInput(s *summary.Summary, at *taintset.Origin, o *value.Object) bool {
	base := c.globalPath(s, at)
	if at.In.Kind == taintset.Receiver && at.Path == "" && c.roots[s] {
		base = c.run.ReceiverPath(s.Function)
	}
	if base == "" && at.In.Kind != taintset.Global {
		return false
	}
	g := gather{c: c, s: s, seen: map[value.ObjectID]int{}}
	g.gatherObject(base, o, 0)
	return g.grown
}

// gatherGlobals gathers what the summaries write to globals, until nothing is new. What a
// function writes stays in it where rules are followed in functions only.
func (c *conclusion) gatherGlobals() {
	for range frame.MaxRounds {
		before := len(c.heap)
		grown := false
		for _, s := range c.order {
			if c.run.Local && s.Function.Kind != ir.TopLevel {
				continue
			}
			if c.work > maxGathered {
				c.cut = true
				return
			}
			for id, o := range s.Heap {
				if at := s.Objects[id].Input; o != nil && at != nil && c.gatherInput(s, at, o) {
					grown = true
				}
			}
		}
		if !grown && len(c.heap) == before {
			return
		}
	}
}

// maxGathered bounds the work on globals. It takes a processor some ten seconds.
const maxGathered = 20_000_000

// maxNames bounds the names by which one object is known: a variable of the module and
// what it exports may be the same.
const maxNames = 3

// gather writes the parts of an object to the globals.
type gather struct {
	c     *conclusion
	s     *summary.Summary
	seen  map[value.ObjectID]int
	grown bool
}

// gatherObject gathers what an object holds below a path of a global: its fields, its
// elements, and what it is tainted with as a whole.
func (g *gather) gatherObject(base string, o *value.Object, depth int) {
	for _, f := range o.Fields {
		g.gatherValue(base+taintset.Separator+f.Name, f.Value, depth+1)
	}
	g.gatherValue(base+taintset.Separator+value.AnyKey, o.Elements, depth+1)
	g.addTaint(base, o.Self)
	if o.Text != nil {
		g.addTaint(base, o.Text.Taint)
	}
}

// gatherValue gathers a value below a path. An object with several names is gathered under
// a few of them only: lists that contain themselves would go on without end.
func (g *gather) gatherValue(base string, v *value.Value, depth int) {
	if v == nil || depth > taintset.MaxPath {
		return
	}
	g.addTaint(base, v.Taint)
	for _, id := range v.Objects {
		if int(id) < len(g.s.Heap) && g.s.Heap[id] != nil && g.seen[id] < maxNames {
			g.seen[id]++
			g.gatherObject(base, g.s.Heap[id], depth)
		}
	}
}

// addTaint adds taint to what a global holds. Work is counted, because every summary may
// write to every global.
func (g *gather) addTaint(base string, t taintset.Set) {
	if base == "" {
		return
	}
	g.c.work += 1 + int64(len(t))
	t = g.c.resolveTaint(g.s, t)
	if old := g.c.heap[base]; !old.Covers(t) {
		g.c.setGlobalTaint(base, old.Union(t))
		g.grown = true
	}
}

// resolveTaint returns the taint with the globals replaced by what they hold, and without
// what callers would have to say.
func (c *conclusion) resolveTaint(s *summary.Summary, t taintset.Set) taintset.Set {
	var out taintset.Set
	for _, e := range t {
		if e.Origin.Source != nil {
			out = out.Union(taintset.Set{e})
			continue
		}
		if at := e.Origin; at.In.Kind == taintset.Parameter && c.library != nil && c.roots[s] &&
			c.library.isCallable(s.Function) {
			src := c.run.LibrarySource(s.Function, at.In.Index)
			c.callers.noteGiver(src.Source, s)
			if at.Picked {
				src = c.run.Intern(taintset.OriginKey{Source: src.Source, Picked: true})
			}
			out = out.Union(taintset.Set{{Origin: src, Clean: e.Clean, Trace: e.Trace}})
			continue
		}
		p := c.globalPath(s, e.Origin)
		if p == "" {
			continue
		}
		held := c.globalTaint(p, e.Origin.Deep).FilterMap(func(h *taintset.Element) bool {
			if e.Origin.IsGlobal() && h.Origin.Source.Kind == model.Library &&
				!c.callers.isNear(h.Origin.Source, s.Function) {
				return false // see Library
			}
			h.Trace = taintset.Extend(h.Trace, s.Function, firstNode(e.Trace, s.Function), e.Trace)
			return true
		})
		if e.Origin.Picked {
			held = c.run.PickedBy(held)
		}
		out = out.Union(held.Sanitized(e.Clean))
	}
	return out
}

// firstNode returns the node at which a way begins.
func firstNode(s *taintset.Step, fn *ir.Function) int32 {
	if s == nil {
		return fn.Node
	}
	for s.Previous != nil {
		s = s.Previous
	}
	return s.Node
}

// globalTaint returns what a global holds: at the path, at each path above it as a whole,
// and below it when all parts count.
func (c *conclusion) globalTaint(p string, deep bool) taintset.Set {
	t := c.heap[p]
	for i := strings.LastIndex(p, taintset.Separator); i > 0; i = strings.LastIndex(p[:i], taintset.Separator) {
		t = t.Union(c.heap[p[:i]+taintset.Separator+value.AnyKey]).Union(c.heap[p[:i]].Filter(isGivenByCaller))
	}
	if deep {
		t = t.Union(c.under[p])
	}
	return t
}

// isGivenByCaller reports whether somebody outside chose a value with all of its parts.
func isGivenByCaller(e *taintset.Element) bool {
	return !e.Origin.Picked && e.Origin.Source.Kind == model.Library
}

// setGlobalTaint sets what a path holds, which is at least what it held, and so what those above
// it hold below them.
func (c *conclusion) setGlobalTaint(p string, t taintset.Set) {
	for i := strings.LastIndex(p, taintset.Separator); i > 0; i = strings.LastIndex(p[:i], taintset.Separator) {
		c.under[p[:i]] = c.under[p[:i]].Union(t)
	}
	c.heap[p] = t
}

// reportSinks makes findings of the data at the sinks of a summary.
func (c *conclusion) reportSinks(s *summary.Summary) {
	for _, p := range s.Pending {
		if len(p.Taint) == 0 {
			continue
		}
		arrived := c.resolveTaint(s, p.Taint).Filter(func(e *taintset.Element) bool {
			return e.Clean&p.Harmless == 0 && (p.Kind != model.Inherited || e.Origin.Picked)
		})
		for k, r := range c.rules {
			c.reportRule(int32(k), r, p, arrived)
		}
	}
}

// isWanted reports whether the rule is about data of the source at the sink: data that is
// not harmless for it and, where the rule asks for the beginning of a text, that can be
// there.
func (c *conclusion) isWanted(k int32, r *rulematch.Rule, p *summary.PendingSink, e taintset.Element) bool {
	if r.AsksForPrefix() && e.Clean&c.run.StartBit == 0 {
		return false
	}
	return e.Clean&c.run.RuleBit(k) == 0 && r.Wants(k, e.Origin.Source, p) &&
		unifyMetavariables(r, e.Origin.Source, p)
}

// reportExpression makes the finding of a slow regular expression, unless it is matched
// with texts of the program alone.
func (c *conclusion) reportExpression(r *rulematch.Rule, p *summary.PendingSink, with *taintset.Element) {
	source := with.Origin.Source
	if _, tame := c.run.MatchedWithConstant.Load(with.Origin); tame && p.Node == source.Node &&
		p.Function.File == source.File {
		return
	}
	at := &Point{source.File, source.Node}
	c.found.addFinding(&Finding{Rule: r, Kind: p.Kind, Expression: at, sink: p.SinkKey, source: source}, with.Trace)
}

// reportRule makes the findings of one rule at a sink.
func (c *conclusion) reportRule(k int32, r *rulematch.Rule, p *summary.PendingSink, arrived taintset.Set) {
	if p.Rule >= 0 && (p.Rule != k || !c.meetsRequirements(k, r, p, arrived)) ||
		p.Rule < 0 && !r.AppliesTo(p.Function.File.Lang) {
		return
	}
	var with *taintset.Element
	if p.Rule < 0 && p.Kind == model.Match {
		if with = r.SlowExpression(k, p, arrived); with == nil {
			return
		}
		if r.AsksForExpressions() {
			c.reportExpression(r, p, with)
			return
		}
	}
	for _, e := range arrived {
		if with != nil && e.Origin.Source.IsExpression() || !c.isWanted(k, r, p, e) {
			continue
		}
		f := &Finding{Rule: r, Kind: p.Kind, sink: p.SinkKey, source: e.Origin.Source}
		if with != nil {
			f.Expression = &Point{with.Origin.Source.File, with.Origin.Source.Node}
		}
		c.found.addFinding(f, e.Trace)
	}
}

// meetsRequirements evaluates what a sink of a rule asks of the labels that arrive.
func (c *conclusion) meetsRequirements(k int32, r *rulematch.Rule, p *summary.PendingSink, arrived taintset.Set) bool {
	s := &r.Rule.Taint.Sinks[p.Spec]
	has := func(label string) bool { return c.run.HasLabel(k, arrived, label) }
	for _, each := range s.RequiresEach {
		if !each.Requires.Eval(has) {
			return false
		}
	}
	if s.Requires != nil {
		return s.Requires.Eval(has)
	}
	return true
}

// unifyMetavariables reports whether source and sink agree on the metavariables that both bind,
// where the rule asks for that.
func unifyMetavariables(r *rulematch.Rule, s *taintset.Source, p *summary.PendingSink) bool {
	if !r.Rule.Options.TaintUnifyMetavariables || s.Match == nil || p.Match == nil {
		return true
	}
	for _, name := range p.Match.Names() {
		x, ok := s.Match.Text(name)
		if y, _ := p.Match.Text(name); ok && x != y {
			return false
		}
	}
	return true
}

package taint

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file makes findings of summaries.

// A conclusion gathers what the summaries say that count: those of functions that
// nobody in the program calls, and those that they apply.
type conclusion struct {
	run   *run
	used  map[*summary]bool
	order []*summary
	roots map[*summary]bool
	heap  map[string]taint // what globals hold, by path
	under map[string]taint // what all paths below one hold
	found findings
	rules []*Rule
	// library are the functions whose parameters callers outside of the program
	// choose; nil when no rule asks for that.
	library *library
	callers *callers
	// cut says that not all of what globals hold was followed: there is too much of it.
	cut  bool
	work int64 // parts of objects, and origins in them, that were followed into globals
}

func (r *run) conclude(units [][]*ir.Function, rules []*Rule) (found []*Finding, whole bool) {
	c := &conclusion{run: r, used: map[*summary]bool{}, roots: map[*summary]bool{}, heap: map[string]taint{},
		under: map[string]taint{},
		found: findings{map[findingKey]*Finding{}}, rules: rules, callers: newCallers()}
	c.reach(units)
	if slices.ContainsFunc(rules, (*Rule).asksLibrary) {
		c.addLibrary(units)
	}
	c.globals()
	for _, s := range c.order {
		c.sinks(s)
	}
	return c.found.list(), !c.cut
}

// reach finds the summaries that count. Callers come behind callees in the units,
// so going backwards, what nobody has applied is a root.
func (c *conclusion) reach(units [][]*ir.Function) {
	reached := map[*ir.Function]bool{}
	var visit func(s *summary)
	visit = func(s *summary) {
		if c.used[s] {
			return
		}
		c.used[s] = true
		reached[s.fn] = true
		c.order = append(c.order, s)
		for _, child := range s.children {
			visit(child)
		}
	}
	for _, unit := range slices.Backward(units) {
		called := slices.ContainsFunc(unit, func(fn *ir.Function) bool { return reached[fn] })
		for _, fn := range unit {
			if called && !c.run.entry(fn) {
				continue
			}
			if s, ok := c.run.summaries.Load(summaryKey{fn: fn}); ok {
				c.roots[s.(*summary)] = true
				visit(s.(*summary))
			}
		}
	}
}

// addLibrary makes the functions of the program's interface roots.
func (c *conclusion) addLibrary(units [][]*ir.Function) {
	if c.run.options.Part || c.run.application() {
		return
	}
	c.library = findLibrary(c.run, c.order)
	for _, unit := range units {
		for _, fn := range unit {
			if !c.library.has(fn) {
				continue
			}
			if s, ok := c.run.summaries.Load(summaryKey{fn: fn}); ok && !c.roots[s.(*summary)] {
				c.roots[s.(*summary)] = true
				if !c.used[s.(*summary)] {
					c.used[s.(*summary)] = true
					c.order = append(c.order, s.(*summary))
				}
			}
		}
	}
}

// ownPath is the path by which the fields of an object are known that nobody in
// the program makes: there is one for each class, "" for a function of none.
func (r *run) ownPath(fn *ir.Function) string {
	if fn.Class != nil {
		return separator + "this " + fn.Class.Qualified
	}
	if owner := r.owners[fn]; owner != "" {
		return separator + "this " + owner
	}
	return ""
}

// globalPath returns the path of an input among the globals, "" when it is none.
func (c *conclusion) globalPath(s *summary, at *atom) string {
	switch {
	case at.in.kind == inGlobal:
		return at.path
	case at.in.kind == inThis && c.roots[s] && at.path != "":
		if own := c.run.ownPath(s.fn); own != "" {
			return own + at.path
		}
	}
	return ""
}

// globals gathers what the summaries write to globals, until nothing is new. What a
// function writes stays in it where rules are followed in functions only.
func (c *conclusion) globals() {
	for range maxRounds {
		before := len(c.heap)
		grown := false
		for _, s := range c.order {
			if c.run.local && s.fn.Kind != ir.TopLevel {
				continue
			}
			if c.work > maxGathered {
				c.cut = true
				return
			}
			for id, o := range s.heap {
				at := s.objects[id].atom
				if o == nil || at == nil {
					continue
				}
				base := c.globalPath(s, at)
				if at.in.kind == inThis && at.path == "" && c.roots[s] {
					base = c.run.ownPath(s.fn)
				}
				if base == "" && at.in.kind != inGlobal {
					continue
				}
				g := gather{c: c, s: s, seen: map[objID]int{}}
				g.object(base, o, 0)
				grown = grown || g.grown
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
	s     *summary
	seen  map[objID]int
	grown bool
}

func (g *gather) object(base string, o *object, depth int) {
	for _, f := range o.fields {
		g.value(base+separator+f.name, f.val, depth+1)
	}
	g.value(base+separator+anyKey, o.elems, depth+1)
	g.add(base, o.self)
	if o.text != nil {
		g.add(base, o.text.taint)
	}
}

func (g *gather) value(base string, v *value, depth int) {
	if v == nil || depth > maxPath {
		return
	}
	g.add(base, v.taint)
	for _, id := range v.objs {
		if int(id) < len(g.s.heap) && g.s.heap[id] != nil && g.seen[id] < maxNames {
			g.seen[id]++
			g.object(base, g.s.heap[id], depth)
		}
	}
}

func (g *gather) add(base string, t taint) {
	if base == "" {
		return
	}
	g.c.work += 1 + int64(len(t))
	t = g.c.real(g.s, t)
	if old := g.c.heap[base]; !old.covers(t) {
		g.c.hold(base, old.union(t))
		g.grown = true
	}
}

// real returns the taint with the globals replaced by what they hold, and without
// what callers would have to say.
func (c *conclusion) real(s *summary, t taint) taint {
	var out taint
	for _, e := range t {
		if e.atom.source != nil {
			out = out.union(taint{e})
			continue
		}
		if at := e.atom; at.in.kind == inParam && c.library != nil && c.roots[s] && c.library.has(s.fn) {
			src := c.run.librarySource(s.fn, at.in.index)
			c.callers.gave(src.source, s)
			if at.picked {
				src = c.run.atom(atomKey{source: src.source, picked: true})
			}
			out = out.union(taint{{src, e.clean, e.trace}})
			continue
		}
		p := c.globalPath(s, e.atom)
		if p == "" {
			continue
		}
		held := c.held(p, e.atom.deep).each(func(h *elem) bool {
			if e.atom.global() && h.atom.source.kind == model.Library && !c.callers.calls(h.atom.source, s.fn) {
				return false // see Library
			}
			h.trace = then(h.trace, s.fn, firstNode(e.trace, s.fn), e.trace)
			return true
		})
		if e.atom.picked {
			held = c.run.picked(held)
		}
		out = out.union(held.cleaned(e.clean))
	}
	return out
}

// firstNode returns the node at which a way begins.
func firstNode(s *step, fn *ir.Function) int32 {
	if s == nil {
		return fn.Node
	}
	for s.prev != nil {
		s = s.prev
	}
	return s.node
}

// held returns what a global holds: at the path, at each path above it as a whole,
// and below it when all parts count.
func (c *conclusion) held(p string, deep bool) taint {
	t := c.heap[p]
	for i := strings.LastIndex(p, separator); i > 0; i = strings.LastIndex(p[:i], separator) {
		t = t.union(c.heap[p[:i]+separator+anyKey]).union(c.heap[p[:i]].where(given))
	}
	if deep {
		t = t.union(c.under[p])
	}
	return t
}

// given reports whether somebody outside chose a value with all of its parts.
func given(e *elem) bool { return !e.atom.picked && e.atom.source.kind == model.Library }

// hold sets what a path holds, which is at least what it held, and so what those above
// it hold below them.
func (c *conclusion) hold(p string, t taint) {
	for i := strings.LastIndex(p, separator); i > 0; i = strings.LastIndex(p[:i], separator) {
		c.under[p[:i]] = c.under[p[:i]].union(t)
	}
	c.heap[p] = t
}

// sinks makes findings of the data at the sinks of a summary.
func (c *conclusion) sinks(s *summary) {
	for _, p := range s.pending {
		if len(p.taint) == 0 {
			continue
		}
		arrived := c.real(s, p.taint).where(func(e *elem) bool {
			return e.clean&p.block == 0 && (p.kind != model.Inherited || e.atom.picked)
		})
		for k, r := range c.rules {
			c.report(int32(k), r, p, arrived)
		}
	}
}

// report makes the findings of one rule at a sink.
func (c *conclusion) report(k int32, r *Rule, p *pendingSink, arrived taint) {
	if p.rule >= 0 && (p.rule != k || !c.required(k, r, p, arrived)) || p.rule < 0 && !r.speaks(p.fn.File.Lang) {
		return
	}
	var with *elem
	if p.rule < 0 && p.kind == model.Match {
		if with = r.slow(k, p, arrived); with == nil {
			return
		}
		if r.expressionsOnly() {
			if _, tame := c.run.tame.Load(with.atom); tame && p.node == with.atom.source.node &&
				p.fn.File == with.atom.source.file {
				return // it is matched with texts of the program
			}
			at := &Point{with.atom.source.file, with.atom.source.node}
			c.found.add(&Finding{Rule: r, Kind: p.kind, Expression: at, sink: p.sinkKey, source: with.atom.source},
				with.trace)
			return
		}
	}
	for _, e := range arrived {
		if with != nil && e.atom.source.isExpression() {
			continue
		}
		if r.asksBehind() && e.clean&c.run.startBit == 0 {
			continue
		}
		if e.clean&c.run.ruleBit(k) != 0 || !r.wants(k, e.atom.source, p) || !unifies(r, e.atom.source, p) {
			continue
		}
		f := &Finding{Rule: r, Kind: p.kind, sink: p.sinkKey, source: e.atom.source}
		if with != nil {
			f.Expression = &Point{with.atom.source.file, with.atom.source.node}
		}
		c.found.add(f, e.trace)
	}
}

// required evaluates what a sink of a rule asks of the labels that arrive.
func (c *conclusion) required(k int32, r *Rule, p *pendingSink, arrived taint) bool {
	s := &r.Rule.Taint.Sinks[p.spec]
	has := func(label string) bool { return c.run.hasLabel(k, arrived, label) }
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

// unifies reports whether source and sink agree on the metavariables that both bind,
// where the rule asks for that.
func unifies(r *Rule, s *source, p *pendingSink) bool {
	if !r.Rule.Options.TaintUnifyMetavariables || s.match == nil || p.match == nil {
		return true
	}
	for _, name := range p.match.Names() {
		x, ok := s.match.Text(name)
		if y, _ := p.match.Text(name); ok && x != y {
			return false
		}
	}
	return true
}

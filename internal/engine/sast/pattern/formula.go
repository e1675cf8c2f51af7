package pattern

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"

	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// This file evaluates formulas: it joins the matches of patterns by their ranges and
// by what their metavariables are bound to. The rules are those of the format: in a
// conjunction the smaller range stays, with the metavariables of both; a negation
// removes equal ranges, one below pattern-inside all that lie inside.

// A rangeKind says what a match means in a conjunction.
type rangeKind uint8

const (
	plain    rangeKind = iota
	inside             // of pattern-inside: only what lies in it
	expr               // of pattern-regex
	anywhere           // the file holds it somewhere
)

// maxPairs bounds the comparisons of ranges of one rule on one file.
const maxPairs = 20_000_000

// maxRegex bounds the matches of one regular expression in one text.
const maxRegex = 100_000

// An evaluation is that of one program on one file, or on the part of it that a
// metavariable is bound to.
type evaluation struct {
	file    *File
	options *rule.Options
	lo, hi  int32  // the nodes that count
	text    string // what regular expressions see
	base    uint32 // where it is in the file
	whole   bool   // the file itself
	outer   *env   // bindings of the match around
	pairs   int
	spent   bool
	depth   int // of conditions in conditions
}

// formula returns the matches of a formula.
func (ev *evaluation) formula(g *form) []Match {
	if ev.whole {
		if got, ok := ev.file.formulas[g.key]; ok {
			return got
		}
	}
	if ev.file.clock.over(formulaSteps) {
		ev.spent = true
		return nil
	}
	out := ev.operator(g)
	for i := range g.where {
		if len(out) == 0 {
			break
		}
		out = ev.filter(&g.where[i], out)
	}
	out = ev.focus(g.focus, out)
	if g.fix != "" {
		out = slices.Clone(out)
		for i := range out {
			out[i].Fix = g.fix
		}
	}
	if g.as != "" {
		out = ev.named(g.as, out)
	}
	if ev.whole && len(g.kids) > 0 && !ev.spent {
		if ev.file.formulas == nil {
			ev.file.formulas = map[string][]Match{}
		}
		ev.file.formulas[g.key] = out
	}
	return out
}

// operator evaluates a formula without its conditions.
func (ev *evaluation) operator(g *form) []Match {
	switch g.op {
	case rule.OpPattern:
		if g.text != nil {
			return ev.textMatches(g)
		}
		return ev.pattern(g.leaf)
	case rule.OpRegex:
		return ev.regex(g)
	case rule.OpAny:
		var out []Match
		for _, k := range g.kids {
			out = append(out, ev.formula(k)...)
		}
		return unify(out)
	case rule.OpInside, rule.OpAnywhere:
		kind := inside
		if g.op == rule.OpAnywhere {
			kind = anywhere
		}
		out := slices.Clone(ev.formula(g.kids[0]))
		for i := range out {
			out[i].kind = kind
		}
		return out
	case rule.OpAll:
		return ev.all(g)
	}
	return nil
}

// pattern returns the matches of a pattern among the nodes that count.
func (ev *evaluation) pattern(l *leaf) []Match {
	out, spent := ev.file.matches(l, ev.options)
	ev.spent = ev.spent || spent
	if ev.whole {
		return out
	}
	within := ev.label(l)
	for _, m := range out {
		if m.Node < ev.lo || m.Node >= ev.hi || m.Last >= ev.hi {
			continue
		}
		if e, ok := ev.merge(ev.outer, m.env); ok {
			m.env = e
			within = append(within, m)
		}
	}
	return within
}

// label matches a pattern with the node itself where that is no place for it elsewhere:
// a mere label, such as the name of a member, is an expression here, and an expression
// is a statement.
func (ev *evaluation) label(l *leaf) []Match {
	if l.stmts != nil || l.imports != nil {
		return nil
	}
	expression := ev.file.isExpression(ev.lo)
	if !(nameLike(ev.file.Tree.Nodes[ev.lo].Kind) && !expression) &&
		!(expression && l.root.kind == tree.ExpressionStatement) {
		return nil
	}
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	e := ev.outer
	if e == nil {
		e = empty
	}
	var out []Match
	for _, e := range m.root(l.root, ev.lo, e) {
		out = append(out, m.match(ev.lo, ev.lo, e))
	}
	return out
}

// all evaluates a conjunction: first what must match, the ranges of pattern-inside
// last, then a lone metavariable, then what must not match.
func (ev *evaluation) all(g *form) []Match {
	var first, second [][]Match
	selector := ""
	positives := 0
	for _, k := range g.kids {
		if k.op != rule.OpNot {
			positives++
		}
	}
	for _, k := range g.kids {
		if k.op == rule.OpNot {
			continue
		}
		if k.selector != "" && positives > 1 && (selector == "" || selector == k.selector) && len(k.where) == 0 &&
			len(k.focus) == 0 && k.fix == "" && k.as == "" {
			selector = k.selector
			positives--
			continue
		}
		ms := ev.formula(k)
		if len(ms) == 0 {
			return nil
		}
		if ms[0].kind == inside {
			second = append(second, ms)
		} else {
			first = append(first, ms)
		}
	}
	sets := append(first, second...)
	if len(sets) == 0 {
		sets = [][]Match{ev.everything(selector)}
		selector = ""
	}
	out := sets[0]
	for _, s := range sets[1:] {
		if out = ev.intersect(out, s); len(out) == 0 {
			return nil
		}
	}
	if selector != "" {
		out = ev.intersect(out, ev.selected(selector, out))
	}
	for _, k := range g.kids {
		if k.op == rule.OpNot && len(out) > 0 {
			out = ev.without(out, ev.exclusions(k.kids[0]))
		}
	}
	return out
}

// exclusions returns the matches of what must not match. If they may not be all,
// everything is excluded: what is found must hold.
func (ev *evaluation) exclusions(g *form) []Match {
	before := ev.spent
	ev.spent = false
	out := ev.formula(g)
	if ev.spent {
		return []Match{{Node: tree.None, Last: tree.None, kind: anywhere, file: ev.file}}
	}
	ev.spent = before
	return out
}

// everything is the range that a conjunction without anything positive starts from:
// what a metavariable is bound to, or all expressions for a lone metavariable.
func (ev *evaluation) everything(selector string) []Match {
	whole := Match{Start: ev.base, End: ev.base + uint32(len(ev.text)), Node: ev.lo, Last: ev.lo, env: ev.outer,
		file: ev.file}
	if whole.env == nil {
		whole.env = empty
	}
	if selector == "" {
		return []Match{whole}
	}
	return ev.selected(selector, []Match{whole})
}

// selected returns the expressions inside of the matches, bound to the metavariable.
func (ev *evaluation) selected(name string, in []Match) []Match {
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	nodes := ev.file.Tree.Nodes
	var out []Match
	seen := map[int32]bool{}
	for _, r := range in {
		lo, hi := ev.lo, ev.hi
		if r.Node >= 0 {
			lo, hi = max(lo, r.Node), min(hi, nodes[r.Last].Next)
		}
		for i := lo; i < hi; i++ {
			if n := &nodes[i]; n.Start < r.Start || n.End > r.End || seen[i] || !ev.file.isExpression(i) {
				continue
			}
			seen[i] = true
			for _, e := range m.bindNode(name, i, empty) {
				out = append(out, m.match(i, i, e))
			}
		}
	}
	return out
}

// regex returns the matches of a regular expression. Its groups are $1, $2 and so on,
// and by their names.
func (ev *evaluation) regex(g *form) []Match {
	if !ev.whole && !ev.file.clock.reads(ev.text) {
		ev.spent = true
		return nil
	}
	all, err := g.regex.FindAll(ev.text, maxRegex)
	if err != nil || len(all) == maxRegex {
		ev.spent = true
	}
	outer := ev.outer
	if outer == nil {
		outer = empty
	}
	names := g.regex.Names()
	var out []Match
	for _, spans := range all {
		e := outer
		for i := 2; i+1 < len(spans); i += 2 {
			if spans[i] < 0 {
				continue
			}
			b := Binding{Node: tree.None, Last: tree.None, declaration: tree.None, Text: ev.text[spans[i]:spans[i+1]],
				Start: ev.base + uint32(spans[i]), End: ev.base + uint32(spans[i+1])}
			name := strconv.Itoa(i / 2)
			e = e.with("$"+name, b)
			if i/2 < len(names) && names[i/2] != "" {
				e = e.with("$"+names[i/2], b)
			}
		}
		out = append(out, Match{Start: ev.base + uint32(spans[0]), End: ev.base + uint32(spans[1]), Node: tree.None,
			Last: tree.None,
			env:  e, kind: expr, file: ev.file})
	}
	return out
}

// textMatches returns the matches of a pattern of plain text.
func (ev *evaluation) textMatches(g *form) []Match {
	if !ev.whole && !ev.file.clock.reads(ev.text) {
		ev.spent = true
		return nil
	}
	all, err := g.text.Find(ev.text)
	if err != nil {
		ev.spent = true
	}
	var out []Match
	for _, t := range all {
		e := empty
		for _, b := range t.Bindings {
			e = e.with(b.Name, Binding{Node: tree.None, Last: tree.None, declaration: tree.None,
				Text:  ev.text[b.Start:b.End],
				Start: ev.base + uint32(b.Start), End: ev.base + uint32(b.End)})
		}
		if e, ok := ev.merge(ev.outer, e); ok {
			out = append(out, Match{Start: ev.base + uint32(t.Start), End: ev.base + uint32(t.End), Node: tree.None,
				Last: tree.None,
				env:  e, file: ev.file})
		}
	}
	return out
}

// merge joins two environments, if what both bind is the same code.
func (ev *evaluation) merge(a, b *env) (*env, bool) {
	if a == nil {
		return b, true
	}
	if b == nil {
		return a, true
	}
	out := a
	ok := b.each(func(name string, v *Binding) bool {
		if old := a.get(name); old != nil {
			return ev.same(name, old, v)
		}
		out = out.with(name, *v)
		return true
	})
	return out, ok
}

// same reports whether two bindings of a name agree. The numbered groups of
// expressions always do: nobody gave them that name.
func (ev *evaluation) same(name string, a, b *Binding) bool {
	if len(name) > 1 && name[1] >= '0' && name[1] <= '9' {
		return true
	}
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	return m.unify(a, b)
}

// agree reports whether all names that both bind are bound to the same code.
func (ev *evaluation) agree(a, b *env) bool {
	return a == b || a.each(func(name string, v *Binding) bool {
		old := b.get(name)
		return old == nil || ev.same(name, old, v)
	})
}

// included reports whether a lies in b and both agree.
func (ev *evaluation) included(a, b *Match) bool {
	ev.pairs++
	return (a.Start >= b.Start && a.End <= b.End || b.kind == anywhere) && ev.agree(a.env, b.env)
}

// tired reports whether too many ranges were compared, or for too long.
func (ev *evaluation) tired() bool {
	return ev.pairs > maxPairs || ev.pairs%clockSteps == 0 && ev.file.clock.over(clockSteps)
}

// intersect joins every match with each of the other set that it lies in or that lies
// in it.
func (ev *evaluation) intersect(as, bs []Match) []Match {
	bs = slices.Clone(bs)
	slices.SortStableFunc(bs, func(a, b Match) int { return cmp.Compare(a.Start, b.Start) })
	var out []Match
	for i := range as {
		a := &as[i]
		for j := range bs {
			b := &bs[j]
			if b.Start > a.End && b.kind != anywhere && a.kind != anywhere {
				break
			}
			if ev.tired() {
				ev.spent = true
				return unify(out)
			}
			if ev.included(a, b) && (a.kind != inside || b.kind == inside) {
				out = append(out, ev.joined(a, b))
			} else if ev.included(b, a) && (b.kind != inside || a.kind == inside) {
				out = append(out, ev.joined(b, a))
			}
		}
	}
	return unify(out)
}

// joined is the match a with the metavariables of b that it lacks.
func (ev *evaluation) joined(a, b *Match) Match {
	out := *a
	b.env.each(func(name string, v *Binding) bool {
		if a.env.get(name) == nil {
			out.env = out.env.with(name, *v)
		}
		return true
	})
	return out
}

// without removes the matches that the others exclude.
func (ev *evaluation) without(ms, not []Match) []Match {
	if len(not) == 0 {
		return ms
	}
	not = slices.Clone(not)
	slices.SortStableFunc(not, func(a, b Match) int { return cmp.Compare(a.Start, b.Start) })
	var out []Match
	for i := range ms {
		if !ev.excluded(&ms[i], not) {
			out = append(out, ms[i])
		}
	}
	return out
}

func (ev *evaluation) excluded(m *Match, not []Match) bool {
	for j := range not {
		n := &not[j]
		if n.Start > m.End && n.kind != anywhere {
			return false
		}
		if ev.tired() {
			ev.spent = true
			return true
		}
		var hit bool
		switch n.kind {
		case inside:
			hit = ev.included(m, n)
		case expr:
			hit = ev.included(m, n) || ev.included(n, m)
		case anywhere:
			hit = true
		default:
			hit = m.Start == n.Start && m.End == n.End && ev.agree(m.env, n.env)
		}
		if hit {
			return true
		}
	}
	return false
}

// focus moves the ranges to metavariables: of one list to each of its names, of
// several lists to what lies in all.
func (ev *evaluation) focus(lists [][]string, ms []Match) []Match {
	if len(lists) == 0 {
		return ms
	}
	var out []Match
	for i := range ms {
		ranges := ev.focused(lists[0], &ms[i])
		for _, names := range lists[1:] {
			var both []Match
			for _, a := range ranges {
				for _, b := range ev.focused(names, &ms[i]) {
					if c, ok := smaller(a, b); ok {
						both = append(both, c)
					}
				}
			}
			ranges = both
		}
		out = append(out, ranges...)
	}
	return unify(out)
}

// focused returns the match with its range on each of the metavariables.
func (ev *evaluation) focused(names []string, m *Match) []Match {
	var out []Match
	for _, name := range names {
		b := m.env.get(name)
		if b == nil || b.list && b.Node < 0 {
			continue
		}
		f := *m
		f.Start, f.End, f.Node, f.Last = b.Start, b.End, b.Node, b.Last
		if c, ok := smaller(f, *m); ok {
			out = append(out, c)
		}
	}
	return out
}

// smaller returns the one of two ranges that lies in the other.
func smaller(a, b Match) (Match, bool) {
	switch {
	case a.Start >= b.Start && a.End <= b.End:
		return a, true
	case b.Start >= a.Start && b.End <= a.End:
		return b, true
	}
	return Match{}, false
}

// named binds the ranges to a metavariable.
func (ev *evaluation) named(name string, ms []Match) []Match {
	var out []Match
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	for _, match := range ms {
		b := Binding{Node: match.Node, Last: match.Last, Start: match.Start, End: match.End,
			declaration: m.declaration(match.Node)}
		if match.Node < 0 {
			b.Text = ev.file.Tree.Source[b.Start:b.End]
		}
		for _, e := range m.bind(name, b, match.env) {
			match.env = e
			out = append(out, match)
		}
	}
	return out
}

var seed = maphash.MakeSeed()

// unify drops matches of equal place and equal bindings; the first one stays.
func unify(ms []Match) []Match {
	if len(ms) < 2 {
		return ms
	}
	type key struct {
		start, end uint32
		kind       rangeKind
		hash       uint64
	}
	seen := make(map[key]bool, len(ms))
	out := make([]Match, 0, len(ms))
	for _, m := range ms {
		k := key{m.Start, m.End, m.kind, m.env.hash()}
		if !seen[k] {
			seen[k] = true
			out = append(out, m)
		}
	}
	return out
}

// hash tells environments apart, whatever the order of their bindings.
func (e *env) hash() uint64 {
	var sum uint64
	for ; e != nil; e = e.next {
		if e.name == "" {
			continue
		}
		var h maphash.Hash
		h.SetSeed(seed)
		h.WriteString(e.name)
		h.WriteString(strconv.Itoa(int(e.value.Start)) + ":" + strconv.Itoa(int(e.value.End)) + e.value.Text)
		sum += h.Sum64()
	}
	return sum
}

// sorted orders matches by their place.
func sorted(ms []Match) []Match {
	out := unify(slices.Clone(ms))
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return out
}

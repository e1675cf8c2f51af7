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

// A rangeKind says what a match means in a conjunction. The result of pattern-inside only
// restricts, that of pattern-regex has no node, and the one of an anywhere applies to the whole
// file.
type rangeKind uint8

const (
	plainRange    rangeKind = iota
	insideRange             // of pattern-inside: only what lies in it
	regexRange              // of pattern-regex
	anywhereRange           // the file contains it somewhere
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

// evalFormula returns the matches of a formula. Results for the whole file are kept by the
// formula's key: rules of one family share most of their formulas, above all the negative ones.
func (ev *evaluation) evalFormula(g *compiledFormula) []Match {
	if ev.whole {
		if got, ok := ev.file.formulas[g.key]; ok {
			return got
		}
	}
	if ev.file.clock.spendSteps(formulaSteps) {
		ev.spent = true
		return nil
	}
	out := ev.evalOperator(g)
	for i := range g.where {
		if len(out) == 0 {
			break
		}
		out = ev.filterMatches(&g.where[i], out)
	}
	out = ev.labelMatches(g, ev.focusMatches(g.focus, out))
	if ev.whole && len(g.kids) > 0 && !ev.spent {
		if ev.file.formulas == nil {
			ev.file.formulas = map[string][]Match{}
		}
		ev.file.formulas[g.key] = out
	}
	return out
}

// labelMatches gives the matches the fix of the formula and its metavariable (as). The
// matches may be in a cache, so they are copied.
func (ev *evaluation) labelMatches(g *compiledFormula, ms []Match) []Match {
	if g.fix != "" {
		ms = slices.Clone(ms)
		for i := range ms {
			ms[i].Fix = g.fix
		}
	}
	if g.as != "" {
		ms = ev.nameMatches(g.as, ms)
	}
	return ms
}

// evalOperator evaluates a formula without its conditions. The result is shared with the cache, so
// callers copy it before they change it.
func (ev *evaluation) evalOperator(g *compiledFormula) []Match {
	switch g.op {
	case rule.OpPattern:
		if g.text != nil {
			return ev.evalText(g)
		}
		return ev.evalPattern(g.leaf)
	case rule.OpRegex:
		return ev.evalRegex(g)
	case rule.OpAny:
		var out []Match
		for _, k := range g.kids {
			out = append(out, ev.evalFormula(k)...)
		}
		return dropDuplicates(out)
	case rule.OpInside, rule.OpAnywhere:
		kind := insideRange
		if g.op == rule.OpAnywhere {
			kind = anywhereRange
		}
		out := slices.Clone(ev.evalFormula(g.kids[0]))
		for i := range out {
			out[i].kind = kind
		}
		return out
	case rule.OpAll:
		return ev.evalAll(g)
	}
	return nil
}

// evalPattern returns the matches of a pattern among the nodes that count. In a nested evaluation
// only matches within the metavariable's range count, and their bindings must agree with those
// outside.
func (ev *evaluation) evalPattern(l *leaf) []Match {
	out, spent := ev.file.leafMatches(l, ev.options)
	ev.spent = ev.spent || spent
	if ev.whole {
		return out
	}
	within := ev.evalLabel(l)
	for _, m := range out {
		if m.Node < ev.lo || m.Node >= ev.hi || m.Last >= ev.hi {
			continue
		}
		if e, ok := ev.mergeEnvs(ev.outer, m.env); ok {
			m.env = e
			within = append(within, m)
		}
	}
	return within
}

// evalLabel matches a pattern with the node itself where that is no place for it elsewhere:
// a mere label, such as the name of a member, is an expression here, and an expression
// is a statement.
func (ev *evaluation) evalLabel(l *leaf) []Match {
	if l.stmts != nil || l.imports != nil {
		return nil
	}
	expression := ev.file.isExpression(ev.lo)
	if !(isNameLike(ev.file.Tree.Nodes[ev.lo].Kind) && !expression) &&
		!(expression && l.root.kind == tree.ExpressionStatement) {
		return nil
	}
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	e := ev.outer
	if e == nil {
		e = empty
	}
	var out []Match
	for _, e := range m.matchRoot(l.root, ev.lo, e) {
		out = append(out, m.newMatch(ev.lo, ev.lo, e))
	}
	return out
}

// evalAll evaluates a conjunction: first what must match, the ranges of pattern-inside
// last, then a lone metavariable, then what must not match.
func (ev *evaluation) evalAll(g *compiledFormula) []Match {
	sets, selector := ev.evalPositives(g)
	if sets == nil {
		return nil
	}
	out := sets[0]
	for _, s := range sets[1:] {
		if out = ev.intersectMatches(out, s); len(out) == 0 {
			return nil
		}
	}
	if selector != "" {
		out = ev.intersectMatches(out, ev.selectExpressions(selector, out))
	}
	for _, k := range g.kids {
		if k.op == rule.OpNot && len(out) > 0 {
			out = ev.subtractMatches(out, ev.evalExclusions(k.kids[0]))
		}
	}
	return out
}

// evalPositives evaluates the parts of a conjunction that must match, and returns their
// matches, ranges of pattern-inside last; nil when one of them has none. A part that is a
// lone metavariable would match every expression of the file: it is returned as selector,
// to be evaluated within the matches of the other parts.
func (ev *evaluation) evalPositives(g *compiledFormula) (sets [][]Match, selector string) {
	var first, second [][]Match
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
		if positives > 1 && k.isSelector() && (selector == "" || selector == k.selector) {
			selector = k.selector
			positives--
			continue
		}
		ms := ev.evalFormula(k)
		if len(ms) == 0 {
			return nil, ""
		}
		if ms[0].kind == insideRange {
			second = append(second, ms)
		} else {
			first = append(first, ms)
		}
	}
	if sets = append(first, second...); len(sets) == 0 {
		return [][]Match{ev.wholeRange(selector)}, ""
	}
	return sets, selector
}

// isSelector reports whether a formula is a lone metavariable without conditions.
func (g *compiledFormula) isSelector() bool {
	return g.selector != "" && len(g.where) == 0 && len(g.focus) == 0 && g.fix == "" && g.as == ""
}

// evalExclusions returns the matches of what must not match. If they may not be all,
// everything is excluded: what is found must hold.
func (ev *evaluation) evalExclusions(g *compiledFormula) []Match {
	before := ev.spent
	ev.spent = false
	out := ev.evalFormula(g)
	if ev.spent {
		return []Match{{Node: tree.None, Last: tree.None, kind: anywhereRange, file: ev.file}}
	}
	ev.spent = before
	return out
}

// wholeRange is the range that a conjunction without anything positive starts from: what a
// metavariable is bound to, or all expressions for a lone metavariable. It makes "patterns:
// [pattern-not: …]" possible.
func (ev *evaluation) wholeRange(selector string) []Match {
	whole := Match{Start: ev.base, End: ev.base + uint32(len(ev.text)), Node: ev.lo, Last: ev.lo, env: ev.outer,
		file: ev.file}
	if whole.env == nil {
		whole.env = empty
	}
	if selector == "" {
		return []Match{whole}
	}
	return ev.selectExpressions(selector, []Match{whole})
}

// selectExpressions returns the expressions inside of the matches, bound to the metavariable. Each
// expression counts once, although ranges overlap.
func (ev *evaluation) selectExpressions(name string, in []Match) []Match {
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
				out = append(out, m.newMatch(i, i, e))
			}
		}
	}
	return out
}

// evalRegex returns the matches of a regular expression. Its groups are $1, $2 and so on, and by
// their names. Unlike patterns it sees comments and the insides of strings.
func (ev *evaluation) evalRegex(g *compiledFormula) []Match {
	if !ev.whole && !ev.file.clock.countRead(ev.text) {
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
			env:  e, kind: regexRange, file: ev.file})
	}
	return out
}

// evalText returns the matches of a pattern of plain text. It is used for the language generic,
// whose patterns have no tree.
func (ev *evaluation) evalText(g *compiledFormula) []Match {
	if !ev.whole && !ev.file.clock.countRead(ev.text) {
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
		if e, ok := ev.mergeEnvs(ev.outer, e); ok {
			out = append(out, Match{Start: ev.base + uint32(t.Start), End: ev.base + uint32(t.End), Node: tree.None,
				Last: tree.None,
				env:  e, file: ev.file})
		}
	}
	return out
}

// mergeEnvs joins two environments, if what both bind is the same code. The second result is false
// when they disagree.
func (ev *evaluation) mergeEnvs(a, b *env) (*env, bool) {
	if a == nil {
		return b, true
	}
	if b == nil {
		return a, true
	}
	out := a
	ok := b.each(func(name string, v *Binding) bool {
		if old := a.get(name); old != nil {
			return ev.sameBinding(name, old, v)
		}
		out = out.with(name, *v)
		return true
	})
	return out, ok
}

// sameBinding reports whether two bindings of a name agree. The numbered groups of expressions
// always do: nobody gave them that name. Two expressions in one formula both have a group 1.
func (ev *evaluation) sameBinding(name string, a, b *Binding) bool {
	if len(name) > 1 && name[1] >= '0' && name[1] <= '9' {
		return true
	}
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	return m.sameCode(a, b)
}

// bindingsAgree reports whether all names that both bind are bound to the same code. It is the
// join condition of two matches.
func (ev *evaluation) bindingsAgree(a, b *env) bool {
	return a == b || a.each(func(name string, v *Binding) bool {
		old := b.get(name)
		return old == nil || ev.sameBinding(name, old, v)
	})
}

// isIncluded reports whether a lies in b and both agree. Each call counts as one comparison
// towards maxPairs.
func (ev *evaluation) isIncluded(a, b *Match) bool {
	ev.pairs++
	return (a.Start >= b.Start && a.End <= b.End || b.kind == anywhereRange) && ev.bindingsAgree(a.env, b.env)
}

// overLimit reports whether too many ranges were compared, or for too long. The clock is asked
// rarely: it is shared state.
func (ev *evaluation) overLimit() bool {
	return ev.pairs > maxPairs || ev.pairs%clockSteps == 0 && ev.file.clock.spendSteps(clockSteps)
}

// intersectMatches joins every match with each of the other set that it lies in or that lies in
// it. Both sets are sorted by start, so that the inner loop can stop early. A range of
// pattern-inside never becomes the result by itself.
func (ev *evaluation) intersectMatches(as, bs []Match) []Match {
	bs = slices.Clone(bs)
	slices.SortStableFunc(bs, func(a, b Match) int { return cmp.Compare(a.Start, b.Start) })
	var out []Match
	for i := range as {
		a := &as[i]
		for j := range bs {
			b := &bs[j]
			if b.Start > a.End && b.kind != anywhereRange && a.kind != anywhereRange {
				break
			}
			if ev.overLimit() {
				ev.spent = true
				return dropDuplicates(out)
			}
			if ev.isIncluded(a, b) && (a.kind != insideRange || b.kind == insideRange) {
				out = append(out, ev.joinMatch(a, b))
			} else if ev.isIncluded(b, a) && (b.kind != insideRange || a.kind == insideRange) {
				out = append(out, ev.joinMatch(b, a))
			}
		}
	}
	return dropDuplicates(out)
}

// joinMatch is the match a with the metavariables of b that it lacks. What both bind is equal
// already.
func (ev *evaluation) joinMatch(a, b *Match) Match {
	out := *a
	b.env.each(func(name string, v *Binding) bool {
		if a.env.get(name) == nil {
			out.env = out.env.with(name, *v)
		}
		return true
	})
	return out
}

// subtractMatches removes the matches that the others exclude. Both lists are sorted by start, so
// that most pairs are never compared.
func (ev *evaluation) subtractMatches(ms, not []Match) []Match {
	if len(not) == 0 {
		return ms
	}
	not = slices.Clone(not)
	slices.SortStableFunc(not, func(a, b Match) int { return cmp.Compare(a.Start, b.Start) })
	var out []Match
	for i := range ms {
		if !ev.isExcluded(&ms[i], not) {
			out = append(out, ms[i])
		}
	}
	return out
}

// isExcluded reports whether a match is excluded: by an equal range, or one around it for
// pattern-not-inside, or one that overlaps for an expression. The list is sorted by start. Without
// the time to compare all, the match is excluded: a missed finding is better than a false one
// here.
func (ev *evaluation) isExcluded(m *Match, not []Match) bool {
	for j := range not {
		n := &not[j]
		if n.Start > m.End && n.kind != anywhereRange {
			return false
		}
		if ev.overLimit() {
			ev.spent = true
			return true
		}
		var hit bool
		switch n.kind {
		case insideRange:
			hit = ev.isIncluded(m, n)
		case regexRange:
			hit = ev.isIncluded(m, n) || ev.isIncluded(n, m)
		case anywhereRange:
			hit = true
		default:
			hit = m.Start == n.Start && m.End == n.End && ev.bindingsAgree(m.env, n.env)
		}
		if hit {
			return true
		}
	}
	return false
}

// focusMatches moves the ranges to metavariables: of one list to each of its names, of several
// lists to what lies in all. A finding then points at the argument and not at the whole call.
func (ev *evaluation) focusMatches(lists [][]string, ms []Match) []Match {
	if len(lists) == 0 {
		return ms
	}
	var out []Match
	for i := range ms {
		ranges := ev.focusRanges(lists[0], &ms[i])
		for _, names := range lists[1:] {
			var both []Match
			for _, a := range ranges {
				for _, b := range ev.focusRanges(names, &ms[i]) {
					if c, ok := smallerRange(a, b); ok {
						both = append(both, c)
					}
				}
			}
			ranges = both
		}
		out = append(out, ranges...)
	}
	return dropDuplicates(out)
}

// focusRanges returns the match with its range on each of the metavariables. A metavariable that
// is not bound, or bound to nothing, gives no range.
func (ev *evaluation) focusRanges(names []string, m *Match) []Match {
	var out []Match
	for _, name := range names {
		b := m.env.get(name)
		if b == nil || b.list && b.Node < 0 {
			continue
		}
		f := *m
		f.Start, f.End, f.Node, f.Last = b.Start, b.End, b.Node, b.Last
		if c, ok := smallerRange(f, *m); ok {
			out = append(out, c)
		}
	}
	return out
}

// smallerRange returns the one of two ranges that lies in the other. Ranges that only overlap have
// none.
func smallerRange(a, b Match) (Match, bool) {
	switch {
	case a.Start >= b.Start && a.End <= b.End:
		return a, true
	case b.Start >= a.Start && b.End <= a.End:
		return b, true
	}
	return Match{}, false
}

// nameMatches binds the ranges to a metavariable. Taint rules refer to it in their messages. A
// range that is no node, such as a match of a regular expression, is bound as its text. A name
// that is already bound to something else drops the match.
func (ev *evaluation) nameMatches(name string, ms []Match) []Match {
	var out []Match
	m := &matcher{file: ev.file, options: ev.options, steps: budget}
	for _, match := range ms {
		b := Binding{Node: match.Node, Last: match.Last, Start: match.Start, End: match.End,
			declaration: m.declarationOf(match.Node)}
		if match.Node < 0 {
			b.Text = ev.file.Tree.Source[b.Start:b.End]
		}
		for _, e := range m.bindValue(name, b, match.env) {
			match.env = e
			out = append(out, match)
		}
	}
	return out
}

var seed = maphash.MakeSeed()

// dropDuplicates drops matches of equal place and equal bindings; the first one stays. Two
// branches of pattern-either often match the same code.
func dropDuplicates(ms []Match) []Match {
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

// hash tells environments apart, whatever the order of their bindings. The sum of the hashes of
// its parts does not depend on their order.
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

// sortMatches orders matches by their place. The order of findings must not depend on that of the
// patterns.
func sortMatches(ms []Match) []Match {
	out := dropDuplicates(slices.Clone(ms))
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return out
}

package generic

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxPattern  = 64 << 10  // bytes
	stepsEach   = 200       // of one search, for each item of the document
	stepsAtMost = 100 << 20 // of one search
)

// A Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	text  string
	items []item
	span  uint32 // lines that one ellipsis may add

	// From this item on, nothing compares with a metavariable that is bound before:
	// whether the rest matches depends on the place alone.
	free int
}

// Parse reads a pattern. span is Options.GenericMaxSpan of a rule: how many lines
// beyond its own one ellipsis may reach.
func Parse(text string, span int) (*Pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes; the limit is %d", len(text), maxPattern)
	}
	p := &Pattern{text: text, items: buildBlocks("", tokenize(text, true)), span: uint32(span)}
	seen := map[string]bool{}
	for i := range p.items {
		name := p.metavariableName(&p.items[i])
		if name == "" {
			continue
		}
		if p.items[i].kind == ellipsis && i > 0 && p.items[i-1].kind == ellipsis {
			return nil, fmt.Errorf("%s cannot follow another ellipsis", name)
		}
		if seen[name] {
			p.free = i + 1
		}
		seen[name] = true
	}
	if !slices.ContainsFunc(p.items, func(it item) bool {
		return it.kind == word || it.kind == char || it.kind == metavar
	}) {
		return nil, fmt.Errorf("the pattern has no word")
	}
	return p, nil
}

// metavariableName returns the metavariable that an item is, with its sigil, "" for none.
func (p *Pattern) metavariableName(it *item) string {
	if it.kind == metavar || it.kind == ellipsis && p.text[it.start] == '$' {
		return p.text[it.start:it.end]
	}
	return ""
}

// A Binding is what a metavariable stands for.
type Binding struct {
	Name       string // with its sigil: "$X", "$...X"
	Text       string
	Start, End int // bytes of the document
}

// A Match is a range of a document with its bindings, which are sorted by name.
type Match struct {
	Start, End int
	Bindings   []Binding
}

// Find returns the matches of the pattern, by their start. No two of them start or
// end at the same place: of those that end together the shortest stays, or the
// longest if the pattern ends with an ellipsis. complete is false when the search was
// given up because the text offers too many ways to match.
func (p *Pattern) Find(d *Document) (matches []Match, complete bool) {
	if !p.mayMatch(d) {
		return nil, true
	}
	s := &search{doc: d, pattern: p, steps: min(stepsAtMost, stepsEach*(len(d.items)+1000)),
		failed: map[place]struct{}{}}
	longest := p.items[len(p.items)-1].kind == ellipsis
	byEnd := map[int]int{} // index in matches
	for _, at := range p.startAtoms(d) {
		m, ok := s.matchAt(at)
		if len(matches) >= maxMatches {
			s.steps = 0
		}
		if s.steps <= 0 {
			break
		}
		if !ok {
			continue
		}
		if old, taken := byEnd[m.End]; taken {
			if longest {
				continue
			}
			matches[old].End = -1
		}
		byEnd[m.End] = len(matches)
		matches = append(matches, m)
	}
	return slices.DeleteFunc(matches, func(m Match) bool { return m.End < 0 }), s.steps > 0
}

// mayMatch says whether the document has every word and character of the pattern. It spares most
// searches.
func (p *Pattern) mayMatch(d *Document) bool {
	for _, it := range p.items {
		switch it.kind {
		case word:
			if len(d.words[p.text[it.start:it.end]]) == 0 {
				return false
			}
		case char:
			if len(d.chars[p.text[it.start]]) == 0 {
				return false
			}
		}
	}
	return true
}

// startAtoms returns the atoms where a match may begin: where the first atom of the pattern is, or
// at the beginning of each block if the pattern begins with an ellipsis. The index of the document
// makes most searches short.
func (p *Pattern) startAtoms(d *Document) []int32 {
	switch first := p.items[0]; first.kind {
	case word:
		return d.words[p.text[first.start:first.end]]
	case char:
		return d.chars[p.text[first.start]]
	case ellipsis:
		var out []int32
		for i, it := range d.items {
			if it.kind <= char && (i == 0 || d.items[i-1].kind == open) {
				out = append(out, int32(i))
			}
		}
		return out
	}
	var out []int32
	for i, it := range d.items {
		if it.kind == word {
			out = append(out, int32(i))
		}
	}
	return out
}

// A place is where a search failed: no match of the pattern from item pattern on
// begins at item doc in the block that ends at end.
type place struct{ pattern, doc, end int32 }

// A search looks for one pattern in one document.
type search struct {
	doc     *Document
	pattern *Pattern
	steps   int // left
	failed  map[place]struct{}

	first int32 // where the match begins
	env   []Binding
}

// A gap is an ellipsis that is skipping. What it skipped becomes the value of its metavariable.
type gap struct {
	on         bool
	max        uint32 // last line
	start, end uint32 // what it skipped
	name       string
}

// matchAt looks for a match that begins at an atom. Bindings of an earlier attempt are dropped.
// The search is bounded by the block of that atom, which a match does not leave.
func (s *search) matchAt(first int32) (Match, bool) {
	s.first, s.env = first, s.env[:0]
	last, ok := s.matchFrom(0, first, s.doc.items[first].other, -1)
	if !ok {
		return Match{}, false
	}
	start, end := int(s.doc.items[first].start), int(s.doc.items[first].start)
	if last >= 0 {
		end = int(s.doc.items[last].end)
	}
	return Match{Start: start, End: end, Bindings: sortBindings(s.env)}, true
}

// sortBindings returns a copy of bindings, sorted by name.
func sortBindings(all []Binding) []Binding {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Binding) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// matchFrom matches the pattern from item pi on against the document from item di on, up
// to the shut of a block, or of the whole, at end. last is the last atom that
// matched, -1 for none. It returns the last atom of the match.
func (s *search) matchFrom(pi, di, end, last int32) (int32, bool) {
	items := s.doc.items
	var g gap
	for {
		if s.steps--; s.steps <= 0 {
			return 0, false
		}
		if int(pi) == len(s.pattern.items) {
			return s.finishMatch(di, last, g)
		}
		switch p := &s.pattern.items[pi]; p.kind {
		case shut: // of a block of the pattern: the block of the document must end too
			if !g.on && di < end && items[di].kind != shut {
				return 0, false
			}
			return s.finishMatch(di, last, g)
		case ellipsis:
			g = s.extendGap(g, s.pattern.metavariableName(p), last)
			pi++
		case open:
			var ok bool
			if pi, di, last, g, ok = s.matchBlock(pi, di, end, last, g); !ok {
				return 0, false
			}
			if pi < 0 {
				return s.finishMatch(di, last, g)
			}
		default:
			for di < end && items[di].kind >= open {
				di++
			}
			if g.on {
				return s.matchBehind(pi, di, end, g)
			}
			if di >= end || !s.matchAtom(p, di) {
				return 0, false
			}
			last = di
			pi, di = pi+1, di+1
		}
	}
}

// matchBehind matches the pattern from an atom on behind an ellipsis: it tries each atom
// of the document that the ellipsis reaches.
func (s *search) matchBehind(pi, di, end int32, g gap) (int32, bool) {
	items := s.doc.items
	for {
		for di < end && items[di].kind >= open {
			di++
		}
		if di >= end || items[di].line > g.max {
			return 0, false
		}
		if to, ok := s.tryAtom(pi, di, end, g); ok {
			return to, true
		}
		g.end = items[di].end
		di++
		if s.steps--; s.steps <= 0 {
			return 0, false
		}
	}
}

// tryAtom tries to end an ellipsis at an atom. A failure behind the last metavariable that is
// compared depends on the place alone and is remembered, which keeps the search polynomial.
func (s *search) tryAtom(pi, di, end int32, g gap) (int32, bool) {
	mark := len(s.env)
	if s.closeGap(g) && s.matchAtom(&s.pattern.items[pi], di) {
		here := place{pi + 1, di + 1, end}
		free := int(here.pattern) >= s.pattern.free
		if _, known := s.failed[here]; !known || !free {
			if to, ok := s.matchFrom(pi+1, di+1, end, di); ok {
				return to, true
			}
			if free && s.steps > 0 {
				s.failed[here] = struct{}{}
			}
		}
	}
	s.env = s.env[:mark]
	return 0, false
}

// matchBlock matches a block of the pattern. Its results are where to go on; the first is
// -1 when the rest of the pattern may be empty, and is.
func (s *search) matchBlock(pi, di, end, last int32, g gap) (int32, int32, int32, gap, bool) {
	items := s.doc.items
	after := s.pattern.items[pi].other + 1
	switch {
	case di >= end || items[di].kind == shut:
		return -1, di, last, g, s.matchesNothing(pi+1) && s.matchesNothing(after)
	case items[di].kind == open:
		if !s.closeGap(g) {
			return 0, 0, 0, g, false
		}
		to, ok := s.matchFrom(pi+1, di+1, items[di].other, last)
		return after, items[di].other + 1, to, gap{}, ok
	case g.on && items[di].line <= g.max:
		g.end = items[di].end
		return pi, di + 1, last, g, true
	}
	return after, di, last, gap{}, s.closeGap(g) && s.matchesNothing(pi+1)
}

// matchesNothing says whether the pattern from an item to the end of its block matches
// nothing.
func (s *search) matchesNothing(pi int32) bool {
	for ; int(pi) < len(s.pattern.items); pi++ {
		switch s.pattern.items[pi].kind {
		case shut:
			return true
		case open:
			if !s.matchesNothing(pi + 1) {
				return false
			}
			pi = s.pattern.items[pi].other
		case ellipsis:
		default:
			return false
		}
	}
	return true
}

// lastEnd returns the end and the line of the last atom that matched, or the start
// of the match.
func (s *search) lastEnd(last int32) (offset, line uint32) {
	if last < 0 {
		return s.doc.items[s.first].start, s.doc.items[s.first].line
	}
	return s.doc.items[last].end, s.doc.items[last].line
}

// extendGap begins an ellipsis, or lets one that is skipping reach further. Two ellipses in a row
// reach twice as far.
func (s *search) extendGap(g gap, name string, last int32) gap {
	if g.on {
		g.max += s.pattern.span
		return g
	}
	offset, line := s.lastEnd(last)
	return gap{on: true, max: line + s.pattern.span, start: offset, end: offset, name: name}
}

// closeGap ends an ellipsis and binds its name. An ellipsis without a name takes anything.
func (s *search) closeGap(g gap) bool {
	return !g.on || g.name == "" || s.bindName(g.name, g.start, g.end)
}

// bindName binds a metavariable, or reports whether it has the same text as before. White space
// around the text is not part of it, and white space within it counts.
func (s *search) bindName(name string, start, end uint32) bool {
	text := s.doc.text[start:end]
	for i := range s.env {
		if s.env[i].Name == name {
			return s.env[i].Text == text
		}
	}
	s.env = append(s.env, Binding{name, text, int(start), int(end)})
	return true
}

// matchAtom matches one atom. Case counts.
func (s *search) matchAtom(p *item, di int32) bool {
	it := &s.doc.items[di]
	switch p.kind {
	case metavar:
		return it.kind == word && s.bindName(s.pattern.metavariableName(p), it.start, it.end)
	case word:
		return it.kind == word && s.doc.text[it.start:it.end] == s.pattern.text[p.start:p.end]
	}
	return it.kind == char && s.doc.text[it.start] == s.pattern.text[p.start]
}

// finishMatch ends a match. An ellipsis at its end takes what is left of the innermost
// block, as far as its lines go.
func (s *search) finishMatch(di, last int32, g gap) (int32, bool) {
	if !g.on {
		return last, true
	}
	items := s.doc.items
	depth := 0
	for ; int(di) < len(items); di++ {
		switch items[di].kind {
		case open:
			depth++
			continue
		case shut:
			depth--
		default:
			if items[di].line > g.max {
				depth = -1
			} else {
				last = di
			}
		}
		if depth < 0 {
			break
		}
	}
	g.end, _ = s.lastEnd(last)
	return last, s.closeGap(g)
}

package pcre

import "regexp/syntax"

// Limits of an automaton. What is beyond is not analysed.
const (
	maxPositions = 3000
	maxArcs      = 60_000
	maxGrowSteps = 200_000 // of the searches in one automaton
)

// An automaton has a position for each place of the expression that takes a
// character, after Glushkov ("The abstract theory of automata", 1961). Assertions of
// the beginning and the end are positions that take no character, so that no way leads
// through them.
type automaton struct {
	chars  []charset
	follow [][]arc
	ends   []bool // the position is the end of the text
	first  []arc  // the positions at which a match begins
	stops  []bool // the match may end at the position, whatever comes
	arcs   int
	steps  int
	full   bool // a limit is reached
}

// An arc leads to a position; ways says by how many ways, where two stand for more. Ambiguity is a
// matter of ways, so they are counted.
type arc struct {
	to   int32
	ways uint8
}

// A fragment is a part of the expression. It is what Glushkov's construction knows of a part:
// where it begins, where it ends, whether it may be empty.
type fragment struct {
	first, last []arc
	empty       uint8 // by how many ways it takes nothing
}

// newAutomaton makes the automaton of an expression; nil when it is too large. Positions from
// which a match can always end are marked: there the engine does not go back.
func newAutomaton(re *syntax.Regexp) *automaton {
	a := &automaton{}
	f := a.buildFragment(re)
	if a.full {
		return nil
	}
	a.first = f.first
	a.stops = make([]bool, len(a.chars))
	for _, x := range f.last {
		a.stops[x.to] = !a.ends[x.to]
	}
	for p := range a.chars { // "takes all that is left" does not fail
		if a.chars[p] != everything || !a.hasArc(int32(p), int32(p)) {
			continue
		}
		for _, x := range a.follow[p] {
			a.stops[p] = a.stops[p] || a.ends[x.to]
		}
	}
	return a
}

// hasArc reports whether one position leads to the other.
func (a *automaton) hasArc(from, to int32) bool {
	for _, x := range a.follow[from] {
		if x.to == to {
			return true
		}
	}
	return false
}

// addPosition adds a position and returns the fragment that is only it. Beyond the limit the
// automaton is given up.
func (a *automaton) addPosition(c charset, end bool) fragment {
	if len(a.chars) >= maxPositions {
		a.full = true
		return fragment{empty: 1}
	}
	at := []arc{{int32(len(a.chars)), 1}}
	a.chars = append(a.chars, c)
	a.follow = append(a.follow, nil)
	a.ends = append(a.ends, end)
	return fragment{first: at, last: at}
}

// buildFragment returns the fragment of an expression. Fragments are joined from the leaves up, as
// in Glushkov's construction.
func (a *automaton) buildFragment(re *syntax.Regexp) fragment {
	if a.full {
		return fragment{empty: 1}
	}
	switch re.Op {
	case syntax.OpLiteral:
		f := fragment{empty: 1}
		for _, r := range re.Rune {
			f = a.concatFragments(f, a.addPosition(literalSet(r, re.Flags&syntax.FoldCase != 0), false))
		}
		return f
	case syntax.OpCharClass:
		return a.addPosition(classSet(re.Rune), false)
	case syntax.OpAnyChar:
		return a.addPosition(everything, false)
	case syntax.OpAnyCharNotNL:
		c := everything
		c[0] &^= 1 << '\n'
		return a.addPosition(c, false)
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpNoMatch:
		return a.addPosition(nothing, false)
	case syntax.OpEndLine, syntax.OpEndText:
		return a.addPosition(nothing, true)
	case syntax.OpCapture:
		return a.buildFragment(re.Sub[0])
	case syntax.OpConcat:
		f := fragment{empty: 1}
		for _, sub := range re.Sub {
			f = a.concatFragments(f, a.buildFragment(sub))
		}
		return f
	case syntax.OpAlternate:
		var f fragment
		for _, sub := range re.Sub {
			g := a.buildFragment(sub)
			f = fragment{joinArcs(f.first, g.first, 1), joinArcs(f.last, g.last, 1), capWays(f.empty + g.empty)}
		}
		return f
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return a.repeatFragment(re)
	}
	return fragment{empty: 1} // \b and what matches nothing but takes its place
}

// capWays bounds a number of ways: one and several is all that matters.
func capWays(n uint8) uint8 { return min(n, 2) }

// joinArcs joins lists of arcs; those of the second come by so many ways more. An arc to one
// position by two lists has the ways of both.
func joinArcs(list, more []arc, times uint8) []arc {
	if times == 0 || len(more) == 0 {
		return list
	}
	at := make(map[int32]int, len(list))
	out := append([]arc(nil), list...)
	for i, x := range out {
		at[x.to] = i
	}
	for _, x := range more {
		if i, ok := at[x.to]; ok {
			out[i].ways = capWays(out[i].ways + x.ways*times)
			continue
		}
		at[x.to] = len(out)
		out = append(out, arc{x.to, capWays(x.ways * times)})
	}
	return out
}

// connectFragments lets every position at which one part ends lead to where another begins. Arcs
// are bounded, since alternatives in a loop multiply them.
func (a *automaton) connectFragments(last, first []arc) {
	for _, p := range last {
		before := len(a.follow[p.to])
		a.follow[p.to] = joinArcs(a.follow[p.to], first, p.ways)
		if a.arcs += len(a.follow[p.to]) - before; a.arcs > maxArcs {
			a.full = true
			return
		}
	}
}

// concatFragments returns one fragment behind another.
func (a *automaton) concatFragments(f, g fragment) fragment {
	a.connectFragments(f.last, g.first)
	return fragment{joinArcs(f.first, g.first, f.empty), joinArcs(g.last, f.last, g.empty), capWays(f.empty * g.empty)}
}

// loopFragment repeats a part. A round that takes nothing is not tried. That keeps the ways to
// take nothing from growing without end, as engines do not try it either.
func (a *automaton) loopFragment(f fragment, least int) fragment {
	a.connectFragments(f.last, f.first)
	if least == 0 {
		f.empty = 1
	}
	f.empty = min(f.empty, 1)
	return f
}

// Counts are unrolled so far; more rounds tell nothing new, except where each can
// already take any number of characters.
const (
	maxRequired = 3
	maxOptional = 2
	manyRounds  = 8
)

// repeatFragment returns a repetition. Counts are unrolled up to a few rounds.
func (a *automaton) repeatFragment(re *syntax.Regexp) fragment {
	sub := re.Sub[0]
	switch re.Op {
	case syntax.OpStar:
		return a.loopFragment(a.buildFragment(sub), 0)
	case syntax.OpPlus:
		return a.loopFragment(a.buildFragment(sub), 1)
	case syntax.OpQuest:
		f := a.buildFragment(sub)
		f.empty = 1
		return f
	}
	if re.Max == 0 {
		return fragment{empty: 1} // look-around
	}
	if re.Max >= manyRounds && isUnbounded(sub) {
		return a.loopFragment(a.buildFragment(sub), re.Min)
	}
	f := fragment{empty: 1}
	for range min(re.Min, maxRequired) {
		f = a.concatFragments(f, a.buildFragment(sub))
	}
	if re.Max < 0 {
		return a.concatFragments(f, a.loopFragment(a.buildFragment(sub), 0))
	}
	tail := fragment{empty: 1}
	for range min(re.Max-re.Min, maxOptional) { // x{0,2} is (x(x)?)?
		tail = a.concatFragments(a.buildFragment(sub), tail)
		tail.empty = 1
	}
	return a.concatFragments(f, tail)
}

// isUnbounded says whether a part can take any number of characters. A part that may occur at most
// zero times is the outline of a look-around, whose inside takes nothing of the text.
func isUnbounded(re *syntax.Regexp) bool {
	if re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 {
		return true
	}
	if re.Op == syntax.OpRepeat && re.Max == 0 {
		return false
	}
	for _, sub := range re.Sub {
		if isUnbounded(sub) {
			return true
		}
	}
	return false
}

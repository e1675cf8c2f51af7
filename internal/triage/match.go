package triage

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
)

// This file pairs what is new with what is gone: the same flawed code under
// another path is the same finding in a renamed file.

// A matchCandidate is a flaw at a place, on either side of a pairing.
type matchCandidate struct {
	index int // of the finding, on its side
	code  Digest
	path  string
	line  int
	gone  bool // was missing before this scan already
}

// pairRenamed calls found for pairs of an old and a new spot with the same code, each
// spot at most once. Where one code stands several times, spots in files of the
// same name belong together, then they are paired in the order of path and line;
// what vanished in this scan goes before what vanished earlier. The pairs that
// are left after some have been applied are paired as before, so that a scan that
// is applied again after a crash ends as if nothing had happened.
func pairRenamed(before, after []matchCandidate, found func(old, new int)) {
	order := func(a, b matchCandidate) int {
		return cmp.Or(bytes.Compare(a.code[:], b.code[:]), strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line),
			cmp.Compare(a.index, b.index))
	}
	slices.SortFunc(before, order)
	slices.SortFunc(after, order)
	for len(before) > 0 && len(after) > 0 {
		switch c := bytes.Compare(before[0].code[:], after[0].code[:]); {
		case c < 0:
			before = before[countSameCode(before):]
		case c > 0:
			after = after[countSameCode(after):]
		default:
			b, a := countSameCode(before), countSameCode(after)
			pairGroup(before[:b], after[:a], found)
			before, after = before[b:], after[a:]
		}
	}
}

// countSameCode returns how many spots at the beginning have the same code.
func countSameCode(s []matchCandidate) int {
	n := 1
	for n < len(s) && s[n].code == s[0].code {
		n++
	}
	return n
}

// pairGroup pairs spots of one code, which are sorted by path and line.
func pairGroup(before, after []matchCandidate, found func(old, new int)) {
	for _, gone := range []bool{false, true} {
		var rest []matchCandidate
		byName := map[string][]matchCandidate{}
		for _, s := range before {
			if s.gone == gone {
				byName[path.Base(s.path)] = append(byName[path.Base(s.path)], s)
			}
		}
		if len(byName) == 0 {
			continue
		}
		for _, s := range after {
			name := path.Base(s.path)
			if list := byName[name]; len(list) > 0 {
				found(list[0].index, s.index)
				byName[name] = list[1:]
				continue
			}
			rest = append(rest, s)
		}
		var left []matchCandidate
		for _, list := range byName {
			left = append(left, list...)
		}
		slices.SortFunc(left, func(a, b matchCandidate) int {
			return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.index, b.index))
		})
		n := min(len(left), len(rest))
		for i := range n {
			found(left[i].index, rest[i].index)
		}
		after = rest[n:]
	}
}

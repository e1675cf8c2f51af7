package taintset

import (
	"slices"
)

// A Builder unites many taints at once, in memory that is used again: what calls and
// globals bring is the union of tens of small taints, of which few survive.
type Builder struct {
	out, spare []passage
	// sole is the only taint that was added, as it was; nil when there were others.
	sole Set
	// Added counts the origins that were added.
	Added int64
}

// A passage is an origin in a mix, with the way that it has still to be given.
type passage struct {
	Element
	through NextStep
	size    int32 // of the whole way
}

// Reset empties the mix.
func (m *Builder) Reset() { m.out, m.sole = m.out[:0], nil }

// Add unites the mix with a taint that came by a way and was made harmless for kinds.
// As in a union, an origin is clean only for what all ways made it clean for, and the
// first of the shortest ways stays.
func (m *Builder) Add(t Set, kinds uint64, w NextStep) {
	if len(t) == 0 {
		return
	}
	m.Added += int64(len(t))
	if len(m.out) == 0 {
		for _, e := range t {
			m.out = append(m.out, newPassage(e, kinds, &w))
		}
		if kinds == 0 && w.Function == nil {
			m.sole = t
		}
		return
	}
	if m.coversAll(t, kinds, &w) {
		return
	}
	m.sole = nil
	m.mergeInto(t, kinds, &w)
}

// newPassage returns what an element is behind a step, with the kinds for which it is
// harmless there.
func newPassage(e Element, kinds uint64, w *NextStep) passage {
	e.Clean |= kinds
	return passage{Element: e, through: *w, size: w.traceSize(e.Trace)}
}

// coversAll reports whether the mix says all that the taint would add.
func (m *Builder) coversAll(t Set, kinds uint64, w *NextStep) bool {
	from := 0
	for _, e := range t {
		e.Clean |= kinds
		i := from
		for i < len(m.out) && m.out[i].Origin != e.Origin {
			i++
		}
		if i == len(m.out) {
			if len(m.out) == maxTaint && m.out[i-1].Origin.Compare(e.Origin) < 0 {
				return true
			}
			if !slices.ContainsFunc(m.out, func(p passage) bool { return p.absorbsPart(&e) }) {
				return false
			}
			continue
		}
		if p := &m.out[i]; p.Clean&^e.Clean != 0 || p.size > w.traceSize(e.Trace) {
			return false
		}
		from = i + 1
	}
	return true
}

// mergeInto unites two sorted lists.
func (m *Builder) mergeInto(t Set, kinds uint64, w *NextStep) {
	out := m.spare[:0]
	var f filter
	i, k := 0, 0
	for (i < len(m.out) || k < len(t)) && len(out) < maxTaint {
		c := 0
		switch {
		case i == len(m.out):
			c = 1
		case k == len(t):
			c = -1
		default:
			c = m.out[i].Origin.Compare(t[k].Origin)
		}
		var p passage
		switch {
		case c < 0:
			p = m.out[i]
			i++
		case c > 0:
			p = newPassage(t[k], kinds, w)
			k++
		default:
			p = m.out[i]
			q := newPassage(t[k], kinds, w)
			clean := p.Clean & q.Clean
			if q.size < p.size {
				p = q
			}
			p.Clean = clean
			i, k = i+1, k+1
		}
		if f.acceptElement(&p.Element) {
			out = append(out, p)
		}
	}
	m.out, m.spare = out, m.out
}

// Set returns what the mix holds, each origin with its way.
func (m *Builder) Set() Set {
	if m.sole != nil || len(m.out) == 0 {
		return m.sole
	}
	out := make(Set, len(m.out))
	var s steps
	for i := range m.out {
		p := &m.out[i]
		out[i] = p.Element
		if w := &p.through; w.Function != nil {
			out[i].Trace = s.appendStep(p.Trace, w, len(m.out)-i)
		}
	}
	return out
}

package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// A mix unites many taints at once, in memory that is used again: what calls and
// globals bring is the union of tens of small taints, of which few survive.
type mix struct {
	out, spare []passage
	// sole is the only taint that was added, as it was; nil when there were others.
	sole taint
	// passed counts the origins that were added.
	passed int64
}

// A passage is an origin in a mix, with the way that it has still to be given.
type passage struct {
	elem
	through way
	size    int32 // of the whole way
}

// A way is one step that is to be added: a place of a function, and the way through
// the function that is called there. The zero value adds none.
type way struct {
	fn    *ir.Function
	node  int32
	inner *step
}

// size returns the size of a trace with the step of the way.
func (w *way) size(trace *step) int32 {
	if w.fn == nil || w.inner == nil && trace != nil && trace.fn == w.fn && trace.node == w.node {
		return trace.length()
	}
	return longer(1, trace.length(), w.inner.length())
}

// reset empties the mix.
func (m *mix) reset() { m.out, m.sole = m.out[:0], nil }

// add unites the mix with a taint that came by a way and was made harmless for kinds.
// As in a union, an origin is clean only for what all ways made it clean for, and the
// first of the shortest ways stays.
func (m *mix) add(t taint, kinds uint64, w way) {
	if len(t) == 0 {
		return
	}
	m.passed += int64(len(t))
	if len(m.out) == 0 {
		for _, e := range t {
			m.out = append(m.out, passing(e, kinds, &w))
		}
		if kinds == 0 && w.fn == nil {
			m.sole = t
		}
		return
	}
	if m.covers(t, kinds, &w) {
		return
	}
	m.sole = nil
	m.merge(t, kinds, &w)
}

func passing(e elem, kinds uint64, w *way) passage {
	e.clean |= kinds
	return passage{elem: e, through: *w, size: w.size(e.trace)}
}

// covers reports whether the mix says all that the taint would add.
func (m *mix) covers(t taint, kinds uint64, w *way) bool {
	from := 0
	for _, e := range t {
		e.clean |= kinds
		i := from
		for i < len(m.out) && m.out[i].atom != e.atom {
			i++
		}
		if i == len(m.out) {
			if len(m.out) == maxTaint && m.out[i-1].atom.compare(e.atom) < 0 {
				return true
			}
			if !slices.ContainsFunc(m.out, func(p passage) bool { return p.absorbs(&e) }) {
				return false
			}
			continue
		}
		if p := &m.out[i]; p.clean&^e.clean != 0 || p.size > w.size(e.trace) {
			return false
		}
		from = i + 1
	}
	return true
}

// merge unites two sorted lists.
func (m *mix) merge(t taint, kinds uint64, w *way) {
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
			c = m.out[i].atom.compare(t[k].atom)
		}
		var p passage
		switch {
		case c < 0:
			p = m.out[i]
			i++
		case c > 0:
			p = passing(t[k], kinds, w)
			k++
		default:
			p = m.out[i]
			q := passing(t[k], kinds, w)
			clean := p.clean & q.clean
			if q.size < p.size {
				p = q
			}
			p.clean = clean
			i, k = i+1, k+1
		}
		if f.takes(&p.elem) {
			out = append(out, p)
		}
	}
	m.out, m.spare = out, m.out
}

// taint returns what the mix holds, each origin with its way.
func (m *mix) taint() taint {
	if m.sole != nil || len(m.out) == 0 {
		return m.sole
	}
	out := make(taint, len(m.out))
	var s steps
	for i := range m.out {
		p := &m.out[i]
		out[i] = p.elem
		if w := &p.through; w.fn != nil {
			out[i].trace = s.then(p.trace, w, len(m.out)-i)
		}
	}
	return out
}

// steps makes steps, several at a time: those of one taint live and die together.
type steps struct{ free []step }

// then returns the trace with the step of a way; more is how many steps may be asked
// for, with this one.
func (s *steps) then(trace *step, w *way, more int) *step {
	if w.inner == nil && trace != nil && trace.fn == w.fn && trace.node == w.node {
		return trace
	}
	if len(s.free) == 0 {
		s.free = make([]step, more)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	*p = step{fn: w.fn, node: w.node, prev: trace, inner: w.inner, size: w.size(trace)}
	return p
}

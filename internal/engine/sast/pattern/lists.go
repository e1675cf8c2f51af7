package pattern

import "merlon/internal/engine/sast/tree"

// This file matches lists: in order with ellipses, in any order, and arguments.

// A place is how far a list is matched: the next element of the source, with the
// bindings so far. An open place has passed an ellipsis: it also stands for every
// place behind it.
type place struct {
	at   int
	env  *env
	open bool
}

// list matches a list with another one in order. less says that the source may have
// more at the end.
func (m *matcher) list(ps []*node, ts []int32, e *env, less bool) []*env {
	if len(ps) == len(ts) && !anyEllipsis(ps) {
		out := e.only()
		for i, p := range ps {
			t := ts[i]
			out = m.then(out, func(e *env) []*env { return m.inner(p, t, e) })
			if len(out) == 0 {
				return nil
			}
		}
		return out
	}
	places := []place{{0, e, false}}
	for _, p := range ps {
		places = m.advance(p, ts, places)
		if len(places) == 0 || m.steps < 0 {
			return nil
		}
	}
	var out []*env
	for _, pl := range places {
		if less || pl.open || pl.at == len(ts) {
			out = m.both(out, pl.env.only())
		}
	}
	return out
}

func anyEllipsis(ps []*node) bool {
	for _, p := range ps {
		if p.isEllipsis() || p.many() != "" {
			return true
		}
	}
	return false
}

// advance matches one element of the pattern at every place.
func (m *matcher) advance(p *node, ts []int32, places []place) []place {
	if p.isEllipsis() {
		return opened(places)
	}
	var next []place
	if name := p.many(); name != "" {
		for _, pl := range places {
			m.from(pl, len(ts), true, func(at int) {
				for end := at; end <= len(ts) && m.steps >= 0; end++ {
					m.steps--
					for _, e := range m.bindList(name, ts[at:end], pl.env) {
						next = append(next, place{end, e, false})
					}
				}
			})
		}
		return next
	}
	for _, pl := range places {
		m.from(pl, len(ts), false, func(at int) {
			for _, e := range m.inner(p, ts[at], pl.env) {
				next = append(next, place{at + 1, e, false})
			}
		})
	}
	return m.bounded(next)
}

// from calls f for the place, and for all places behind an open one.
func (m *matcher) from(pl place, n int, end bool, f func(at int)) {
	if end {
		n++
	}
	for at := pl.at; at < n && m.steps >= 0; at++ {
		f(at)
		if !pl.open {
			return
		}
	}
}

// opened opens the places. Of those with one environment the first is enough.
func opened(places []place) []place {
	var out []place
next:
	for _, pl := range places {
		for i := range out {
			if out[i].env == pl.env {
				out[i].at = min(out[i].at, pl.at)
				continue next
			}
		}
		out = append(out, place{pl.at, pl.env, true})
	}
	return out
}

// bounded ends a match that has too many ways.
func (m *matcher) bounded(places []place) []place {
	if len(places) > maxEnvs {
		m.steps = -1
		return nil
	}
	return places
}

// subset matches every element of the pattern with another one of the source, in any
// order. Ellipses only allow more.
func (m *matcher) subset(ps []*node, ts []int32, e *env, less bool) []*env {
	var rest []*node
	for _, p := range ps {
		switch {
		case p.isEllipsis():
			less = true
		case p.many() != "":
			less = true
			rest = append(rest, p)
		default:
			rest = append(rest, p)
		}
	}
	if len(rest) > len(ts) && !hasMany(rest) {
		return nil
	}
	used := make([]bool, len(ts))
	return m.choose(rest, ts, used, e, less)
}

func hasMany(ps []*node) bool {
	for _, p := range ps {
		if p.many() != "" {
			return true
		}
	}
	return false
}

// ordered matches annotations in their order, the source may have more between them,
// and everything else in any order.
func (m *matcher) ordered(ps []*node, ts []int32, e *env) []*env {
	var list, rest []*node
	for _, p := range ps {
		if p.kind == tree.Annotation {
			list = append(list, &node{kind: tree.Ellipsis}, p)
		} else {
			rest = append(rest, p)
		}
	}
	var annotations, others []int32
	for _, t := range ts {
		if m.file.Tree.Is(t, tree.Annotation) {
			annotations = append(annotations, t)
		} else {
			others = append(others, t)
		}
	}
	return m.then(m.list(list, annotations, e, true), func(e *env) []*env { return m.subset(rest, others, e, true) })
}

// choose matches the first element of the pattern with any that is not used.
func (m *matcher) choose(ps []*node, ts []int32, used []bool, e *env, less bool) []*env {
	if len(ps) == 0 {
		if !less {
			for _, u := range used {
				if !u {
					return nil
				}
			}
		}
		return e.only()
	}
	p := ps[0]
	if name := p.many(); name != "" {
		return m.leftover(name, ps[1:], ts, used, e)
	}
	var out []*env
	for i, t := range ts {
		if used[i] || m.steps < 0 {
			continue
		}
		es := m.inner(p, t, e)
		if len(es) == 0 {
			continue
		}
		used[i] = true
		found := m.then(es, func(e *env) []*env { return m.choose(ps[1:], ts, used, e, less) })
		used[i] = false
		out = m.both(out, found)
		if len(found) > 0 && p.ground {
			break
		}
	}
	return out
}

// leftover binds a "$...X" to what no other element matches, once those have chosen.
func (m *matcher) leftover(name string, ps []*node, ts []int32, used []bool, e *env) []*env {
	for i, p := range ps {
		if p.many() == "" { // it comes last
			rest := append(append(append([]*node(nil), p), ps[:i]...), ps[i+1:]...)
			return m.choose(append(rest, &node{kind: tree.MetaEllipsis, meta: name}), ts, used, e, true)
		}
	}
	var free []int32
	for i, t := range ts {
		if !used[i] {
			free = append(free, t)
		}
	}
	out := m.bindList(name, free, e)
	for _, p := range ps {
		out = m.then(out, func(e *env) []*env { return m.bindList(p.many(), free, e) })
	}
	return out
}

// arguments matches the arguments of a call: keywords in any order, the others in
// theirs.
func (m *matcher) arguments(ps []*node, ts []int32, e *env) []*env {
	if last := lastOf(ts); last >= 0 && m.file.Language.Semantics.BlocksApart && m.file.Tree.Is(last, tree.Lambda) &&
		blockBehind(m.file.Tree.Code(last)) {
		if len(ps) == 0 || ps[len(ps)-1].kind != tree.Lambda && !ps[len(ps)-1].isEllipsis() {
			ts = ts[:len(ts)-1]
		}
	}
	var plain, keywords []*node
	for _, p := range ps {
		if p.kind == tree.Keyword {
			keywords = append(keywords, p)
		} else {
			plain = append(plain, p)
		}
	}
	if len(keywords) == 0 {
		if len(ps) > 1 && ps[0].isEllipsis() && len(ts) > 0 && m.file.Tree.Is(ts[0], tree.Type) {
			ts = ts[1:] // of "make(chan int, 1)", which is no value
		}
		return m.list(ps, ts, e, false)
	}
	return m.keywords(keywords, plain, ts, e)
}

// blockBehind reports whether the code of a function is that of a block.
func blockBehind(code string) bool {
	return len(code) > 1 && (code[0] == '{' || code[:2] == "do")
}

// keywords matches the first keyword with one of the source, and goes on without it.
func (m *matcher) keywords(keywords, plain []*node, ts []int32, e *env) []*env {
	if len(keywords) == 0 {
		return m.list(plain, ts, e, false)
	}
	p := keywords[0]
	f := m.file.Tree
	name := p.child(tree.RoleName)
	fixed := name != nil && name.kind == tree.Name
	var out []*env
	for i, t := range ts {
		if k := f.Nodes[t].Kind; k != tree.Keyword && k != tree.Pair || fixed && k == tree.Keyword &&
			f.Name(t) != name.text {
			continue
		}
		es := m.inner(p, t, e)
		if len(es) == 0 {
			continue
		}
		rest := append(append([]int32(nil), ts[:i]...), ts[i+1:]...)
		out = m.both(out, m.then(es, func(e *env) []*env { return m.keywords(keywords[1:], plain, rest, e) }))
	}
	return out
}

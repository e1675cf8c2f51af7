package pattern

import "merlon/internal/engine/sast/tree"

// This file matches lists: in order with ellipses, in any order, and arguments.

// A position is how far a list is matched: the next element of the source, with the bindings so
// far. An open place has passed an ellipsis: it also stands for every place behind it. The set of
// positions makes matching of ellipses polynomial: no position is visited twice for the same
// bindings.
type position struct {
	at   int
	env  *env
	open bool
}

// matchList matches a list with another one in order. less says that the source may have
// more at the end.
func (m *matcher) matchList(ps []*node, ts []int32, e *env, less bool) []*env {
	if len(ps) == len(ts) && !anyEllipsis(ps) {
		out := e.asResult()
		for i, p := range ps {
			t := ts[i]
			out = m.andThen(out, func(e *env) []*env { return m.matchInner(p, t, e) })
			if len(out) == 0 {
				return nil
			}
		}
		return out
	}
	places := []position{{0, e, false}}
	for _, p := range ps {
		places = m.advanceAll(p, ts, places)
		if len(places) == 0 || m.steps < 0 {
			return nil
		}
	}
	var out []*env
	for _, pl := range places {
		if less || pl.open || pl.at == len(ts) {
			out = m.joinResults(out, pl.env.asResult())
		}
	}
	return out
}

// anyEllipsis reports whether an element stands for any number of elements.
func anyEllipsis(ps []*node) bool {
	for _, p := range ps {
		if p.isEllipsis() || p.ellipsisName() != "" {
			return true
		}
	}
	return false
}

// advanceAll matches one element of the pattern at every place. An ellipsis only marks the
// positions as open, which costs nothing; a "$...X" tries every length.
func (m *matcher) advanceAll(p *node, ts []int32, places []position) []position {
	if p.isEllipsis() {
		return openPositions(places)
	}
	var next []position
	if name := p.ellipsisName(); name != "" {
		for _, pl := range places {
			m.eachPosition(pl, len(ts), true, func(at int) {
				for end := at; end <= len(ts) && m.steps >= 0; end++ {
					m.steps--
					for _, e := range m.bindList(name, ts[at:end], pl.env) {
						next = append(next, position{end, e, false})
					}
				}
			})
		}
		return next
	}
	for _, pl := range places {
		m.eachPosition(pl, len(ts), false, func(at int) {
			for _, e := range m.matchInner(p, ts[at], pl.env) {
				next = append(next, position{at + 1, e, false})
			}
		})
	}
	return m.boundPositions(next)
}

// eachPosition calls f for the place, and for all places behind an open one. End tells whether the
// position behind the last element counts too.
func (m *matcher) eachPosition(pl position, n int, end bool, f func(at int)) {
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

// openPositions opens the places. Of those with one environment the first is enough. The others
// lie behind it and are covered.
func openPositions(places []position) []position {
	var out []position
next:
	for _, pl := range places {
		for i := range out {
			if out[i].env == pl.env {
				out[i].at = min(out[i].at, pl.at)
				continue next
			}
		}
		out = append(out, position{pl.at, pl.env, true})
	}
	return out
}

// boundPositions ends a match that has too many ways. The pattern then has spent its budget, which
// is reported.
func (m *matcher) boundPositions(places []position) []position {
	if len(places) > maxEnvs {
		m.steps = -1
		return nil
	}
	return places
}

// matchSubset matches every element of the pattern with another one of the source, in any order.
// Ellipses only allow more. Modifiers, annotations and members of maps have no order.
func (m *matcher) matchSubset(ps []*node, ts []int32, e *env, less bool) []*env {
	var rest []*node
	for _, p := range ps {
		switch {
		case p.isEllipsis():
			less = true
		case p.ellipsisName() != "":
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
	return m.chooseAny(rest, ts, used, e, less)
}

// hasMany reports whether an element binds several elements to a name.
func hasMany(ps []*node) bool {
	for _, p := range ps {
		if p.ellipsisName() != "" {
			return true
		}
	}
	return false
}

// matchOrdered matches annotations in their order, the source may have more between them, and
// everything else in any order. The order of decorators changes what they do in Python.
func (m *matcher) matchOrdered(ps []*node, ts []int32, e *env) []*env {
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
	return m.andThen(m.matchList(list, annotations, e, true), func(e *env) []*env {
		return m.matchSubset(rest, others, e, true)
	})
}

// chooseAny matches the first element of the pattern with any that is not used. It backtracks over
// the choices, unless the element binds nothing: then the first that fits is as good as any other.
func (m *matcher) chooseAny(ps []*node, ts []int32, used []bool, e *env, less bool) []*env {
	if len(ps) == 0 {
		if !less {
			for _, u := range used {
				if !u {
					return nil
				}
			}
		}
		return e.asResult()
	}
	p := ps[0]
	if name := p.ellipsisName(); name != "" {
		return m.bindLeftover(name, ps[1:], ts, used, e)
	}
	var out []*env
	for i, t := range ts {
		if used[i] || m.steps < 0 {
			continue
		}
		es := m.matchInner(p, t, e)
		if len(es) == 0 {
			continue
		}
		used[i] = true
		found := m.andThen(es, func(e *env) []*env { return m.chooseAny(ps[1:], ts, used, e, less) })
		used[i] = false
		out = m.joinResults(out, found)
		if len(found) > 0 && p.ground {
			break
		}
	}
	return out
}

// bindLeftover binds a "$...X" to what no other element matches, once those have chosen. Several
// such names are bound to the same rest.
func (m *matcher) bindLeftover(name string, ps []*node, ts []int32, used []bool, e *env) []*env {
	for i, p := range ps {
		if p.ellipsisName() == "" { // it comes last
			rest := append(append(append([]*node(nil), p), ps[:i]...), ps[i+1:]...)
			return m.chooseAny(append(rest, &node{kind: tree.MetaEllipsis, meta: name}), ts, used, e, true)
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
		out = m.andThen(out, func(e *env) []*env { return m.bindList(p.ellipsisName(), free, e) })
	}
	return out
}

// matchArguments matches the arguments of a call: keywords in any order, the others in
// theirs.
func (m *matcher) matchArguments(ps []*node, ts []int32, e *env) []*env {
	if m.endsWithBlock(ts) && (len(ps) == 0 || ps[len(ps)-1].kind != tree.Lambda && !ps[len(ps)-1].isEllipsis()) {
		ts = ts[:len(ts)-1]
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
		return m.matchList(ps, ts, e, false)
	}
	return m.matchKeywords(keywords, plain, ts, e)
}

// endsWithBlock reports whether the last argument is a block behind the parentheses
// (Ruby), which a pattern need not name.
func (m *matcher) endsWithBlock(ts []int32) bool {
	last := lastOf(ts)
	return last >= 0 && m.file.Language.Semantics.BlocksApart && m.file.Tree.Is(last, tree.Lambda) &&
		blockBehind(m.file.Tree.Code(last))
}

// blockBehind reports whether the code of a function is that of a block.
func blockBehind(code string) bool {
	return len(code) > 1 && (code[0] == '{' || code[:2] == "do")
}

// matchKeywords matches the first keyword with one of the source, and goes on without it.
// Positional arguments keep their order once the keywords are taken out.
func (m *matcher) matchKeywords(keywords, plain []*node, ts []int32, e *env) []*env {
	if len(keywords) == 0 {
		return m.matchList(plain, ts, e, false)
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
		es := m.matchInner(p, t, e)
		if len(es) == 0 {
			continue
		}
		rest := append(append([]int32(nil), ts[:i]...), ts[i+1:]...)
		out = m.joinResults(out, m.andThen(es, func(e *env) []*env {
			return m.matchKeywords(keywords[1:], plain, rest, e)
		}))
	}
	return out
}

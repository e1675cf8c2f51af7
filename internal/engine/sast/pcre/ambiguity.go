package pcre

// findGrowth looks for ambiguity. A search that begins anywhere is a loop over everything in front
// of the expression. The worst growth that is found counts.
func (a *automaton) findGrowth(search bool) Growth {
	loops := a.findLoops()
	for _, l := range loops {
		if a.isExponential(l) {
			return Exponential
		}
	}
	for i, l := range loops {
		for k, m := range loops {
			if i != k && a.shareText(l, m) {
				return Polynomial
			}
		}
	}
	if !search {
		return Linear
	}
	start := a.addPosition(everything, false).first
	if a.full {
		return Linear
	}
	a.stops = append(a.stops, false)
	a.follow[start[0].to] = joinArcs(start, a.first, 1)
	for _, l := range loops {
		if a.shareText([]int32{start[0].to}, l) {
			return Rescans
		}
	}
	return Linear
}

// findLoops returns the strongly connected components that have an arc, of the positions
// at which a match may not stop (Tarjan, "Depth-first search and linear graph
// algorithms", 1972).
func (a *automaton) findLoops() [][]int32 {
	t := &components{a: a, index: make([]int32, len(a.chars)), low: make([]int32, len(a.chars)),
		on: make([]bool, len(a.chars))}
	for p := range a.chars {
		if t.index[p] == 0 && !a.stops[p] {
			t.visitPosition(int32(p))
		}
	}
	return t.out
}

// components is the state of Tarjan's algorithm.
type components struct {
	a          *automaton
	index, low []int32
	on         []bool
	stack      []int32
	next       int32
	out        [][]int32
}

// visitPosition visits a position and those that follow it, and collects its component when it is
// the root of one. The depth is bounded by the number of positions.
func (t *components) visitPosition(p int32) {
	t.next++
	t.index[p], t.low[p], t.on[p] = t.next, t.next, true
	t.stack = append(t.stack, p)
	for _, x := range t.a.follow[p] {
		switch {
		case t.a.stops[x.to]:
		case t.index[x.to] == 0:
			t.visitPosition(x.to)
			t.low[p] = min(t.low[p], t.low[x.to])
		case t.on[x.to]:
			t.low[p] = min(t.low[p], t.index[x.to])
		}
	}
	if t.low[p] != t.index[p] {
		return
	}
	var list []int32
	for {
		q := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[q] = false
		list = append(list, q)
		if q == p {
			break
		}
	}
	if len(list) > 1 || t.a.hasArc(p, p) {
		t.out = append(t.out, list)
	}
}

// isExponential says whether a position of the loop comes back to itself by two ways over the same
// text: either two ways have the same positions, or a pair of different positions is reached from
// a pair of equal ones, and reaches one. Such as "(a+)+" and "(a|a)*".
func (a *automaton) isExponential(loop []int32) bool {
	within := map[int32]bool{}
	for _, p := range loop {
		within[p] = true
	}
	back := map[int32][]arc{}
	for _, p := range loop {
		for _, x := range a.follow[p] {
			if !within[x.to] || a.chars[x.to] == nothing {
				continue
			}
			if x.ways > 1 {
				return true
			}
			back[x.to] = append(back[x.to], arc{p, 1})
		}
	}
	// A pair is at its second element's characters only if both take one of them, so
	// going back looks at the pair that is left, not at the one that is reached.
	from := a.reachablePairs(loop, func(p int32) []arc { return a.follow[p] }, within)
	to := a.reachablePairs(loop, func(p int32) []arc { return back[p] }, within)
	for k := range from {
		if to[k] && k[0] != k[1] {
			return true
		}
	}
	return false
}

// reachablePairs returns the pairs of positions that the pairs of equal ones reach. The number of
// steps is bounded, as pairs grow with the square of the loop.
func (a *automaton) reachablePairs(loop []int32, next func(int32) []arc, within map[int32]bool) map[[2]int32]bool {
	seen := map[[2]int32]bool{}
	var work [][2]int32
	for _, p := range loop {
		seen[[2]int32{p, p}] = true
		work = append(work, [2]int32{p, p})
	}
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		for _, x := range next(k[0]) {
			if !within[x.to] {
				continue
			}
			for _, y := range next(k[1]) {
				if a.steps++; a.steps > maxGrowSteps {
					return nil
				}
				n := [2]int32{x.to, y.to}
				if within[y.to] && !seen[n] && a.chars[x.to].overlaps(a.chars[y.to]) {
					seen[n] = true
					work = append(work, n)
				}
			}
		}
	}
	return seen
}

// shareText says whether a text leads from a position of the first loop to itself, from there to a
// position of the second, and from that to itself. Such as "a*a*": where the one ends and the
// other begins is open.
func (a *automaton) shareText(l, m []int32) bool {
	in := [2]map[int32]bool{{}, {}}
	for i, loop := range [2][]int32{l, m} {
		for _, p := range loop {
			in[i][p] = true
		}
	}
	for _, p := range l {
		for _, q := range m {
			if a.chars[p].overlaps(a.chars[q]) && a.reachesTriple(p, q, in) {
				return true
			}
		}
	}
	return false
}

// reachesTriple says whether (p, p, q) reaches (p, q, q), three ways over the same text. It is the
// condition of Weber and Seidl for polynomial ambiguity.
func (a *automaton) reachesTriple(p, q int32, in [2]map[int32]bool) bool {
	start, goal := [3]int32{p, p, q}, [3]int32{p, q, q}
	seen := map[[3]int32]bool{start: true}
	work := [][3]int32{start}
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		for _, x := range a.follow[k[0]] {
			if !in[0][x.to] {
				continue
			}
			for _, z := range a.follow[k[2]] {
				c := a.chars[x.to].intersect(a.chars[z.to])
				if !in[1][z.to] || c == nothing {
					continue
				}
				for _, y := range a.follow[k[1]] {
					if a.steps++; a.steps > maxGrowSteps {
						return false
					}
					n := [3]int32{x.to, y.to, z.to}
					if seen[n] || a.stops[y.to] || !c.overlaps(a.chars[y.to]) {
						continue
					}
					if n == goal {
						return true
					}
					seen[n] = true
					work = append(work, n)
				}
			}
		}
	}
	return false
}

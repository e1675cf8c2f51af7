package history

import (
	"bytes"
	"container/heap"
	"hash/maphash"
	"strings"

	"merlon/internal/engine/secrets/git"
)

// This file puts commits in order, and finds the lines that a version brings.

// loadCommits reads the commits that the tips lead to, and returns them so that each
// comes behind its parents, else by their time.
func (w *historyWalk) loadCommits(tips []git.Hash) []*git.Commit {
	w.readCommits(tips)
	children := map[git.Hash][]*git.Commit{}
	waits := map[git.Hash]int{}
	for _, c := range w.commits {
		if c == nil {
			continue
		}
		for _, p := range c.Parents {
			if w.commits[p] != nil {
				children[p] = append(children[p], c)
				waits[c.ID]++
			}
		}
	}
	return w.orderCommits(children, waits)
}

// readCommits reads the commits that the tips lead to into commits.
func (w *historyWalk) readCommits(tips []git.Hash) {
	queue := tips
	for len(queue) > 0 && w.pass.Context.Err() == nil {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, ok := w.commits[id]; ok {
			continue
		}
		c, err := w.repo.Commit(id)
		w.commits[id] = c // nil for one that cannot be read
		if err != nil {
			if w.countUnreadable(err) != nil {
				w.damage["the repository is larger than the limit of a scan"]++
				break
			}
			continue
		}
		queue = append(queue, c.Parents...)
	}
}

// orderCommits returns the commits in a topological order (Kahn's algorithm): waits is
// how many parents each one still waits for. Of those that are ready the oldest comes first.
func (w *historyWalk) orderCommits(children map[git.Hash][]*git.Commit, waits map[git.Hash]int) []*git.Commit {
	var ready commitHeap
	for _, c := range w.commits {
		if c != nil && waits[c.ID] == 0 {
			ready = append(ready, c)
		}
	}
	heap.Init(&ready)
	var out []*git.Commit
	for len(ready) > 0 {
		c := heap.Pop(&ready).(*git.Commit)
		out = append(out, c)
		for _, child := range children[c.ID] {
			if waits[child.ID]--; waits[child.ID] == 0 {
				heap.Push(&ready, child)
			}
		}
	}
	return out
}

// commitHeap orders by time, then by name.
type commitHeap []*git.Commit

// Len implements heap.Interface.
func (h commitHeap) Len() int { return len(h) }

// Swap implements heap.Interface.
func (h commitHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Less reports whether commit i comes first.
func (h commitHeap) Less(i, j int) bool {
	if h[i].Committed != h[j].Committed {
		return h[i].Committed < h[j].Committed
	}
	return bytes.Compare(h[i].ID[:], h[j].ID[:]) < 0
}

// Push implements heap.Interface.
func (h *commitHeap) Push(c any) { *h = append(*h, c.(*git.Commit)) }

// Pop implements heap.Interface.
func (h *commitHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// around is the number of lines around new ones that are looked at with them:
// an id and its key, or a name and its value, stand near each other.
const around = 3

var seed = maphash.MakeSeed()

// addedLines returns the ranges of lines of the text that none of the texts before has,
// and the same with some lines around them.
func addedLines(text string, before []string) (fresh, near [][2]int) {
	if len(before) == 0 {
		all := [][2]int{{0, len(text)}}
		return all, all
	}
	start, end := changedRange(text, before[0])
	if len(before) > 1 {
		start, end = 0, len(text)
	}
	known := map[uint64]struct{}{}
	for i, old := range before {
		from, to := 0, len(old)
		if i == 0 && len(before) == 1 {
			from, to = start, len(old)-(len(text)-end)
		}
		eachLine(old, from, to, func(a, b int) { known[maphash.String(seed, old[a:b])] = struct{}{} })
	}
	eachLine(text, start, end, func(a, b int) {
		if _, ok := known[maphash.String(seed, text[a:b])]; ok || b-a < 5 {
			return
		}
		if n := len(fresh); n > 0 && fresh[n-1][1] == a {
			fresh[n-1][1] = b
		} else {
			fresh = append(fresh, [2]int{a, b})
		}
	})
	return fresh, nearRanges(text, fresh)
}

// nearRanges returns the ranges with the lines around them, those that touch as one.
func nearRanges(text string, ranges [][2]int) (near [][2]int) {
	for _, r := range ranges {
		a, b := widenRange(text, r[0], r[1])
		if n := len(near); n > 0 && near[n-1][1] >= a {
			near[n-1][1] = b
		} else {
			near = append(near, [2]int{a, b})
		}
	}
	return near
}

// changedRange returns the range of whole lines of the text outside of which it is the
// same as the old one.
func changedRange(text, old string) (start, end int) {
	n := min(len(text), len(old))
	for start < n && text[start] == old[start] {
		start++
	}
	start = strings.LastIndexByte(text[:start], '\n') + 1
	tail := 0
	for tail < n-start && text[len(text)-1-tail] == old[len(old)-1-tail] {
		tail++
	}
	end = len(text) - tail
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		return start, min(end+i+1, len(text))
	}
	return start, len(text)
}

// eachLine calls fn with the bounds of the lines of the range, ends included.
func eachLine(text string, from, to int, fn func(a, b int)) {
	for from < to {
		end := to
		if i := strings.IndexByte(text[from:to], '\n'); i >= 0 {
			end = from + i + 1
		}
		fn(from, end)
		from = end
	}
}

// widenRange returns the range with some lines before and behind it.
func widenRange(text string, start, end int) (int, int) {
	for range around {
		if start > 0 {
			start = strings.LastIndexByte(text[:start-1], '\n') + 1
		}
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			end += i + 1
		} else {
			end = len(text)
		}
	}
	return start, end
}

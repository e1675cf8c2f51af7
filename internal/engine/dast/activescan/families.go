package activescan

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"sync"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// This file spreads the attack over a target of thousands of operations, so that what it
// gets to, before the time or the requests of the scan are used up, stands for the whole.

const (
	// maxAlike is how many operations of a large family are attacked in vain before the
	// rest of it is left out. Programs that answer to any address are one family.
	maxAlike = 100
	// large is from how many operations on a family is not attacked whole.
	large = 500
	// crowd is from how many operations on they are not attacked in the order in which
	// they were found.
	crowd = 500
)

// families are operations that take the same kinds of values and answer alike
// (site.Outline), with what became of them. The zero value has seen none.
type families struct {
	mu sync.Mutex
	of map[string]*family
}

// A family is counted by round, the quick one first.
type family struct {
	size int
	vain [2]int // attacked, and nothing found
	left [2]int // not attacked
	told bool   // one of them has a flaw, so that all are attacked
}

// familyOf names the family of an operation. Empty: it has none, because it takes no value
// and costs little, or because nobody knows what it answers.
func familyOf(e sitemap.Entry) string {
	if e.Outline == 0 {
		return ""
	}
	var kinds []string
	for _, p := range e.Request.Points() {
		if p.In != message.InCookie && p.In != message.InHeader {
			kinds = append(kinds, string(p.In))
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	slices.Sort(kinds)
	return fmt.Sprint(e.Request.Method, kinds, e.Outline)
}

// roundIndex returns the index of a round in the counts of a family.
func roundIndex(slow bool) int {
	if slow {
		return 1
	}
	return 0
}

// familyFor returns the family of an operation; nil: it has none.
func (f *families) familyFor(e sitemap.Entry) *family {
	key := familyOf(e)
	if key == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]*family{}
	}
	if f.of[key] == nil {
		f.of[key] = &family{}
	}
	return f.of[key]
}

// countSizes takes note of how large the families of all operations are.
func (f *families) countSizes(entries []sitemap.Entry) {
	sizes := map[*family]int{}
	for _, e := range entries {
		if of := f.familyFor(e); of != nil {
			sizes[of]++
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range f.of {
		of.size = sizes[of]
	}
}

// beginMember reports whether an operation of the family is to be attacked, and counts those
// that are not.
func (f *families) beginMember(of *family, slow bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of == nil || of.size < large || of.told || of.vain[roundIndex(slow)] < maxAlike {
		return true
	}
	of.left[roundIndex(slow)]++
	return false
}

// endMember takes note of an operation of the family that was attacked to its end.
func (f *families) endMember(of *family, slow, vain bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case of == nil:
	case vain:
		of.vain[roundIndex(slow)]++
	default:
		of.told = true
	}
}

// omittedCount is how many operations were left out.
func (f *families) omittedCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, of := range f.of {
		n += max(of.left[0], of.left[1])
	}
	return n
}

// leftOut says which operations were not attacked.
func (r *Engine) leftOut() {
	for _, reason := range slices.Concat(r.gaps.Take("unreadable", false), r.overlong.takeReasons()) {
		r.ReportGap(reason)
	}
	if n := r.families.omittedCount(); n > 0 {
		r.ReportGap(scan.Reason{Code: "too-many-operations", Beyond: true, Message: fmt.Sprintf("%d operations were "+
			"not attacked: each accepts the same kinds of values, and responds alike, as %d others without findings", n,
			maxAlike)})
	}
	quick, slow := r.unfinished[0].takeEntries(), r.unfinished[1].takeEntries()
	for _, e := range quick {
		r.Sitemap.MarkUnfinished(e.Request, "the scan ended before the attack on it did")
	}
	if len(quick) > 0 {
		r.ReportGap(scan.Reason{Code: "too-many-operations", Message: fmt.Sprintf("the scan ended before %d "+
			"operations "+
			"were attacked to their end: %s", len(quick), describeEntries(quick))})
	} else if len(slow) > 0 {
		r.ReportGap(scan.Reason{Code: "too-many-operations", Message: fmt.Sprintf("the scan ended before the timing "+
			"attacks on %d operations did: %s", len(slow), describeEntries(slow))})
	}
}

// orderEntries returns many operations in the order in which they are attacked: those that are
// the first ones of their family and of their folder, then those that are at most the
// second ones of either, and so on.
func orderEntries(entries []sitemap.Entry) []sitemap.Entry {
	if len(entries) <= crowd {
		return entries
	}
	type ranked struct {
		sitemap.Entry
		rank int
	}
	seen := map[string]int{}
	list := make([]ranked, len(entries))
	for i, e := range entries {
		list[i].Entry = e
		for _, key := range []string{cmp.Or(familyOf(e), "alone"+strconv.Itoa(i)), e.Request.Method + " " +
			path.Dir(sitemap.PathShape(e.Request))} {
			list[i].rank = max(list[i].rank, seen[key])
			seen[key]++
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]sitemap.Entry, len(list))
	for i, r := range list {
		out[i] = r.Entry
	}
	return out
}

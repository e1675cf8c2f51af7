package activescan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/dast/sitemap"
)

// This file names the operations whose attack the end of the scan has cut off.

// unfinished are the operations of a round whose attack has not ended. The zero value has
// none; it is safe for concurrent use.
type unfinished struct {
	mu    sync.Mutex
	known map[string]bool // shapes of operations whose attack has ended
	all   []sitemap.Entry
}

// setEntries sets the operations of the round.
func (u *unfinished) setEntries(entries []sitemap.Entry) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known, u.all = map[string]bool{}, entries
}

// markEnded records that the attack on an operation has ended.
func (u *unfinished) markEnded(e sitemap.Entry) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known[sitemap.OperationKey(e.Request)] = true
}

// takeEntries returns the operations whose attack has not ended, in the order of the round.
func (u *unfinished) takeEntries() []sitemap.Entry {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(u.all), func(e sitemap.Entry) bool {
		return e.Withheld || u.known[sitemap.OperationKey(e.Request)]
	})
}

// SkipAll records that none of the operations of the sitemap is attacked, because the scan has
// ended before.
func (r *Engine) SkipAll() {
	r.unfinished[0].setEntries(r.Sitemap.Entries())
	r.leftOut()
}

// maxListed bounds the operations that a reason names.
const maxListed = 30

// describeEntries names operations, "GET /path", a bounded number of them.
func describeEntries(entries []sitemap.Entry) string {
	var names []string
	for _, e := range entries {
		if name := e.Request.Method + " " + sitemap.PathShape(e.Request); !slices.Contains(names, name) {
			if len(names) == maxListed {
				names = append(names, fmt.Sprintf("and others (%d operations in all)", len(entries)))
				break
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

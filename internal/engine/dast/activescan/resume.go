package activescan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// This file lets a run go on where an earlier attempt of the same scan was ended. Kept
// is only where nothing was found: an operation that has shown a vulnerability, or what could
// not be looked at, or that holds a value which pages are searched for, is attacked
// again, so that nothing that was told is lost with the attempt that told it.

// kept is the form in which a run is kept. Every number is the first half of a SHA-256.
type kept struct {
	Version int      `json:"version"` // 1
	Done    []string `json:"done"`
}

// A resumption is what is finished, by operation and round.
type resumption struct {
	mu     sync.Mutex
	before map[string]bool // by an earlier attempt
	done   map[string]finished
	last   time.Time // when it was kept
	checks string    // their names
}

// finished is an operation of this attempt.
type finished struct {
	facts *facts
	at    time.Time
}

// restoreCheckpoint reads what an earlier attempt has kept. What is of another form, such as that of
// another version, is left: the run begins anew.
func (r *Engine) restoreCheckpoint() {
	r.resumption.before, r.resumption.done, r.resumption.checks = map[string]bool{}, map[string]finished{}, ""
	for _, c := range r.Rules {
		if r.isAllowed(c) {
			r.resumption.checks += c.ID + " "
		}
	}
	var k kept
	if len(r.Checkpoint) == 0 || len(r.Checkpoint) > scan.MaxCheckpoint || json.Unmarshal(r.Checkpoint, &k) != nil ||
		k.Version != 1 {
		return
	}
	for _, key := range k.Done {
		r.resumption.before[key] = true
	}
}

// checkpointKey names an operation in a round of these checks.
func (r *Engine) checkpointKey(e sitemap.Entry, slow bool) string {
	round := "quick"
	if slow {
		round = "slow"
	}
	sum := sha256.Sum256([]byte(round + "\x00" + r.resumption.checks + "\x00" + sitemap.OperationKey(e.Request)))
	return hex.EncodeToString(sum[:16])
}

// wasScanned reports whether an earlier attempt has attacked the operation in vain.
func (r *Engine) wasScanned(e sitemap.Entry, slow bool) bool {
	return len(r.resumption.before) > 0 && r.resumption.before[r.checkpointKey(e, slow)]
}

// recordFinished notes that an operation was attacked to its end, and keeps what is finished from
// time to time. What finished just now may still be called about by the target (OASTRequest).
func (r *Engine) recordFinished(op *operation, slow bool) {
	if r.SaveCheckpoint == nil {
		return
	}
	every := r.CheckpointInterval
	switch {
	case every > 0:
	case r.OAST == nil:
		every = 2 * time.Second // nothing calls later
	default:
		every = 10 * time.Second
	}
	now := time.Now()
	s := &r.resumption
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[r.checkpointKey(op.entry, slow)] = finished{op.facts, now}
	if now.Sub(s.last) < every {
		return
	}
	s.last = now
	all := maps.Clone(s.before)
	r.mu.Lock()
	for key, f := range s.done {
		if !f.facts.again && now.Sub(f.at) >= every {
			all[key] = true
		}
	}
	r.mu.Unlock()
	text, err := json.Marshal(kept{Version: 1, Done: slices.Sorted(maps.Keys(all))})
	if err == nil { // strings always have a form
		r.SaveCheckpoint(text)
	}
}

// forceRescan says that a later attempt has to attack the operation again.
func (t *OperationScan) forceRescan() {
	if t.op == nil { // the sweep of pages, which every attempt makes
		return
	}
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	t.op.facts.again = true
}

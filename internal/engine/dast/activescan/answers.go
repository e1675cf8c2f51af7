package activescan

import (
	"hash/maphash"
	"slices"
	"sync"

	"merlon/internal/engine/dast/message"
)

// This file keeps cheap what is large: a target that answers thousands of requests with
// the same page of megabytes has it read and searched once, and in memory once.

const (
	// minShared is the size from which answers are looked up, in bytes: a smaller one is
	// read as fast.
	minShared = 4 << 10
	// maxShared bounds the bodies of all answers that are known. What is read of one, a
	// parsed page above all, takes some twenty times as much.
	maxShared = 8 << 20
	// maxAsked bounds the bodies of the answers that are kept for one point (Probe.SendCached).
	maxAsked = 16 << 20
)

// answers are the last ones that differ. The zero value has seen none; it is safe for
// concurrent use.
type answers struct {
	once  sync.Once
	seed  maphash.Seed
	mu    sync.Mutex
	known []known // the oldest first
	size  int     // of their bodies
}

// A known is an answer by the hash of its body.
type known struct {
	sum  uint64
	resp *message.Response
}

// hashSeed is the seed of hashes of answers.
func (a *answers) hashSeed() maphash.Seed {
	a.once.Do(func() { a.seed = maphash.MakeSeed() })
	return a.seed
}

// shareBody lets an answer that is new take what was read of the same one before.
func (a *answers) shareBody(resp *message.Response) {
	if resp == nil || len(resp.Body) < minShared || len(resp.Body) > maxShared {
		return
	}
	sum := maphash.Bytes(a.hashSeed(), resp.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.known {
		if k.sum == sum && resp.ShareBody(k.resp) {
			return
		}
	}
	a.known = append(a.known, known{sum, resp})
	a.size += len(resp.Body)
	for a.size > maxShared {
		a.size -= len(a.known[0].resp.Body)
		a.known = slices.Delete(a.known, 0, 1)
	}
}

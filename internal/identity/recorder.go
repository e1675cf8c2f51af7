package identity

import (
	"context"
	"sync"
	"time"
)

// Every sign-in event is a record in one hash chain, which only one transaction
// at a time can extend. The recorder therefore commits in groups, as databases
// write their logs: while one group is being written, the next one gathers; each
// caller waits until its own group is safe.

// groupTimeout bounds the writing of one group.
const groupTimeout = 30 * time.Second

// A recorder writes uses in groups.
type recorder struct {
	store Guard

	mu      sync.Mutex
	next    *group // gathers; nil when nobody waits
	writing bool   // a goroutine is at it
}

// A group is written in one transaction.
type group struct {
	uses []Use
	done chan struct{}
	err  error // set before done is closed
}

func newRecorder(store Guard) *recorder { return &recorder{store: store} }

// recordUse returns when the use is stored. The use of a caller that stops waiting
// is stored all the same.
func (r *recorder) recordUse(ctx context.Context, u Use) error {
	g := r.joinGroup(u)
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// joinGroup adds the use to the group that gathers, and sees to it that somebody
// writes.
func (r *recorder) joinGroup(u Use) *group {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &group{done: make(chan struct{})}
	}
	r.next.uses = append(r.next.uses, u)
	if !r.writing {
		r.writing = true
		go r.writeGroup()
	}
	return r.next
}

// writeGroup writes groups until nobody waits. It serves many callers, so it does not
// end with the request of one.
func (r *recorder) writeGroup() {
	for {
		r.mu.Lock()
		g := r.next
		r.next = nil
		r.writing = g != nil
		r.mu.Unlock()
		if g == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
		g.err = r.store.RecordUses(ctx, g.uses)
		cancel()
		close(g.done)
	}
}

package activescan

import (
	"context"
	"iter"
	"sync"

	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
)

// This file shares the time of a round among operations: each one is attacked with some
// requests before any gets more, so that a form of hundreds of fields does not keep the others
// waiting, and a scan that is cut off has looked at every operation.

// How many requests an operation gets until it is another one's turn, and how many of those that
// measure time. Most operations need fewer in all.
const (
	perTurn     = 300
	perSlowTurn = 40
)

// A turn is the attack on one operation, which pauses and goes on.
type turn struct {
	entry sitemap.Entry
	op    *operation
	of    *family
	slow  bool
	next  func() (struct{}, bool) // attacks until the turn is over; false: to the end
	stop  func()                  // gives the rest up
	begun bool
	err   error // that ended the attack
}

// errGivenUp ends the checks of an operation that is not attacked any more. It is Invalid, so
// that it is no reason by itself.
var errGivenUp = errs.E(errs.Invalid, "the attack on the operation was aborted")

// beginOperation prepares the attack on the operation, alone or beside others, and reports whether it is
// attacked.
func (r *Engine) beginOperation(ctx context.Context, t *turn, alone bool) bool {
	e := t.entry
	if e.Withheld {
		return false
	}
	if why := sitemap.ForbiddenReason(e.Request); why != "" {
		r.Sitemap.RecordFailure(e.Request, why)
		return false
	}
	if why := r.SideEffects.RefusalReason(e.Request); why != "" {
		r.Sitemap.ExcludeFromScan(e.Request, why) // an attack may remove what the operation as it stands does not
		return false
	}
	t.of = r.families.familyFor(e)
	if r.wasScanned(e, t.slow) {
		r.families.endMember(t.of, t.slow, true)
		return false
	}
	if !r.families.beginMember(t.of, t.slow) {
		return false
	}
	t.op = r.operationOf(e)
	t.op.wait.alone = alone
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.op.yield = func() bool { return yield(struct{}{}) }
		t.err = r.runRules(ctx, t.op, t.slow)
	})
	return true
}

// continueOperation attacks the operation until its turn is over, and reports whether there is more to do.
func (r *Engine) continueOperation(t *turn) (more bool) {
	if t.begun && !r.families.beginMember(t.of, t.slow) { // enough others like it were attacked meanwhile
		t.stop()
		return false
	}
	t.begun = true
	t.op.wait.turn = t.op.wait.asked.Load() + perTurn
	if t.slow {
		t.op.wait.turn = t.op.wait.asked.Load() + perSlowTurn
	}
	if _, more = t.next(); more {
		t.op.dropResponses()
	}
	return more
}

// endOperation concludes the attack on the operation. Its error is one that ends the run; over tells that
// it takes too long to answer beside others.
func (r *Engine) endOperation(t *turn) (over bool, err error) {
	over, err = t.op.wait.over.Load(), t.err
	if !t.slow {
		r.recordUsualDuration(t.op)
	}
	switch {
	case t.op.wait.left.Load():
		r.recordTimeout(t.op)
		return false, err
	case !over && err == nil:
		if r.SideEffects.Exhausted(t.op.entry.Request) {
			r.Sitemap.MarkUnfinished(t.op.entry.Request, sideeffect.Enough)
		}
		r.families.endMember(t.of, t.slow, !t.op.told.Load())
		r.recordFinished(t.op, t.slow)
	}
	return over, err
}

// endTurn ends the turn of an operation that has had its requests. It returns when the next one
// begins, with an error where there is none.
func (op *operation) endTurn() error {
	if op.yield == nil || op.wait.asked.Load() < op.wait.turn || op.yield() {
		return nil
	}
	return errGivenUp
}

// dropResponses drops what is known of the operation's answers: by the next turn, others may have
// changed its page.
func (op *operation) dropResponses() {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.first, op.once = sync.Once{}, sync.Once{}
	op.answer, op.base, op.err = nil, nil, nil
	op.askedAt, op.asked, op.size = "", nil, 0
	op.wait.ended.Store(0)
}

// turns are operations that wait for their turn, and those that have one. Several workers take
// them.
type turns struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []*turn
	active  int
}

// newTurns returns the order of operations, in which each waits for its turn.
func newTurns(list []*turn) *turns {
	q := &turns{waiting: list}
	q.changed.L = &q.mu
	return q
}

// nextTurn returns the operation that has waited longest; nil: all have ended.
func (q *turns) nextTurn() *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.active == 0 {
			return nil
		}
		q.changed.Wait()
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.active++
	return t
}

// returnTurn returns an operation after its turn. With more it waits for another one.
func (q *turns) returnTurn(t *turn, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active--
	if more {
		q.waiting = append(q.waiting, t)
	}
	q.changed.Broadcast()
}

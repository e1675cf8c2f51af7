package taint

import (
	"sync"

	"merlon/internal/engine/sast/ir"
)

// This file keeps workers from doing the same work: who needs functions at which
// another worker is waits for them. Workers take the functions in their order, so one
// waits only for earlier ones, and some worker always goes on.

// turns are the groups of functions that call each other, as workers take them.
type turns struct {
	of   map[*ir.Function]int
	lock sync.Mutex
	some sync.Cond // some group is done
	done []bool
}

func newTurns(units [][]*ir.Function) *turns {
	t := &turns{of: map[*ir.Function]int{}, done: make([]bool, len(units))}
	t.some.L = &t.lock
	for i, unit := range units {
		for _, fn := range unit {
			t.of[fn] = i
		}
	}
	return t
}

// end notes that a group is done.
func (t *turns) end(turn int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.done[turn] = true
	t.some.Broadcast()
}

// wait waits until a function's group is done, if that is before the one at which the
// worker is: another worker has taken it. It reports whether it is.
func (t *turns) wait(fn *ir.Function, turn int) bool {
	want, ok := t.of[fn]
	if !ok || want >= turn {
		return false
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	for !t.done[want] {
		t.some.Wait()
	}
	return true
}

package scheduler

import (
	"sync"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/summary"
)

// This file orders the work. Functions that call each other are one task; tasks are in
// the order of the groups, callees first. What a task may use is what earlier ones have
// found: so the result does not depend on which worker is faster. Who needs a group that
// another worker computes waits for it. Workers take the groups in their order, so one
// waits only for earlier ones, and some worker always goes on.

// schedule are the groups of functions that call each other, as workers take them.
type schedule struct {
	of      map[*ir.Function]int
	lock    sync.Mutex
	some    sync.Cond // some group is done
	done    []bool
	budgets []int64 // by span of groups
}

// span is the number of groups whose budget is set together: from what all groups before
// them have taken.
const span = 256

// newSchedule returns a schedule of groups of functions that call each other, none of them
// done.
func newSchedule(units [][]*ir.Function) *schedule {
	t := &schedule{of: map[*ir.Function]int{}, done: make([]bool, len(units))}
	t.some.L = &t.lock
	for i, unit := range units {
		for _, fn := range unit {
			t.of[fn] = i
		}
	}
	return t
}

// turnOf returns the number of the last group of which a function and what a context
// knows speak; a function of no group comes behind all of them.
func (t *schedule) turnOf(fn *ir.Function, ctx summary.Facts) int {
	last, ok := t.of[fn]
	if !ok {
		return len(t.done)
	}
	for i := range ctx {
		if f := ctx[i].Function; f != nil {
			n, ok := t.of[f]
			if !ok {
				return len(t.done)
			}
			last = max(last, n)
		}
	}
	return last
}

// taskBudget returns what a task of the group may take.
func (t *schedule) taskBudget(turn int) int64 { return t.budgets[turn/span] }

// endTurn notes that a group is done.
func (t *schedule) endTurn(turn int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.done[turn] = true
	t.some.Broadcast()
}

// waitTurn waits until an earlier group is done.
func (t *schedule) waitTurn(turn int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for !t.done[turn] {
		t.some.Wait()
	}
}

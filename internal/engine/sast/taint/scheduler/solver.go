// Package scheduler computes the summaries of all functions, callees first, by several
// workers. Functions that call each other are computed until their summaries stand
// still. Budgets bound the work; what is given up is reported.
package scheduler

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/syncmap"
)

// A Meter counts what is done.
type Meter struct {
	done   atomic.Int64
	Total  int
	Report func(done, total int) // nil for nobody
}

// countOne counts one more, and tells every now and then.
func (m *Meter) countOne() {
	if n := int(m.done.Add(1)); m.Report != nil && (n%64 == 0 || n == m.Total) {
		m.Report(n, m.Total)
	}
}

// A Budget bounds the work, in steps: instructions, what joining states costs, origins that
// calls bring and origins in parts of values. What is over it is given up, and said to
// be. Zero fields take their defaults.
type Budget struct {
	Base     int64 // for all functions together; 60,000,000
	Function int64 // and for each of them; 8,000
	// Task bounds one task, functions that call each other or a summary in a context,
	// with what it asks of others; 10,000,000, which take a processor about five seconds.
	// When little is left, a task may take an eighth of that at most.
	Task  int64
	Least int64 // that a task may always take; 20,000
}

// share is the part of what is left that one task may take.
const share = 8

// withDefaults returns the budget with what it does not say filled in. The numbers are in
// steps of the interpreter.
func (b Budget) withDefaults() Budget {
	b.Base, b.Function = cmp.Or(b.Base, 60_000_000), cmp.Or(b.Function, 8_000)
	b.Task, b.Least = cmp.Or(b.Task, 10_000_000), cmp.Or(b.Least, 20_000)
	return b
}

// taskBudget returns what a task may take when so much is left for all.
func (b Budget) taskBudget(left int64) int64 { return min(max(left/share, b.Least), b.Task) }

// A solver computes the summaries of a program.
type solver struct {
	*frame.Run
	budget    Budget
	meter     *Meter
	turns     *schedule
	work      atomic.Int64 // that all tasks which are done took
	Summaries syncmap.Map[summary.Key, *summary.Summary]
}

// New returns a solver for the functions of a run, in groups that call each other.
func New(r *frame.Run, units [][]*ir.Function, b Budget, m *Meter) *solver {
	return &solver{Run: r, budget: b, meter: m, turns: newSchedule(units)}
}

// SummarizeAll computes the summary of every function, callees first. It notes the
// functions that are given up, and why.
func (r *solver) SummarizeAll(ctx context.Context, units [][]*ir.Function, workers int, given map[*ir.Function]string) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	b := r.budget.withDefaults()
	all := b.Base
	for _, unit := range units {
		all += b.Function * int64(len(unit))
	}
	team := make([]*worker, workers)
	for i := range team {
		team[i] = newWorker(r)
	}
	for from := 0; from < len(units) && ctx.Err() == nil; from += span {
		r.turns.budgets = append(r.turns.budgets, b.taskBudget(all-r.work.Load()))
		r.summarizeSpan(ctx, team, units[:min(from+span, len(units))], from)
	}
	for _, w := range team {
		w.reportGivenUp(given)
	}
}

// summarizeSpan computes the summaries of the functions from a group on.
func (r *solver) summarizeSpan(ctx context.Context, team []*worker, units [][]*ir.Function, from int) {
	var next atomic.Int64
	next.Store(int64(from))
	var wait sync.WaitGroup
	for _, w := range team {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					break
				}
				w.beginTask(i, r.turns.taskBudget(i))
				for _, fn := range units[i] {
					w.Summary(fn, nil)
				}
				w.publishTask()
				r.turns.endTurn(i)
				r.meter.countOne()
			}
		})
	}
	wait.Wait()
}

// publishSummary makes a summary known to all workers. If another one was faster, it returns
// that worker's, which says the same.
func (r *solver) publishSummary(key summary.Key, s *summary.Summary) *summary.Summary {
	p, had := r.Summaries.LoadOrStore(key, s)
	if !had {
		r.work.Add(s.Work)
	}
	return p
}

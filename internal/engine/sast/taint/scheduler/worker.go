package scheduler

import (
	"math"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/interpret"
	"merlon/internal/engine/sast/taint/summary"
)

// A worker computes summaries. Functions that call each other are computed on each
// other's provisional summaries until those stand still; a summary that rests on
// one which is still provisional is kept only until that one is done.
type worker struct {
	run   *solver
	stack []*computation
	open  map[summary.Key]*computation
	memo  map[summary.Key]memo
	// before has the summaries of the round before, of functions that call each other.
	before map[summary.Key]memo
	// final has the summaries of the task at hand that rest on no provisional one.
	final   map[summary.Key]*summary.Summary
	charged map[*summary.Summary]bool // summaries in contexts whose work is in used
	over    []*ir.Function            // functions whose budget was not enough
	large   []*ir.Function            // functions that were not looked at for what a caller knows
	turn    int                       // the number of the functions at hand
	budget  int64                     // of the task at hand
	used    int64                     // by the summaries in contexts that the task has asked for
	inner   *worker                   // for the summaries in contexts that this one asks for

	frame.Scratch
}

// beginTask begins a task: functions that call each other, or one summary in a context; turn
// is the number of the functions.
func (w *worker) beginTask(turn int, budget int64) {
	w.turn, w.budget, w.used, w.Steps, w.Arriving.Added, w.Deep.Added = turn, budget, 0, 0, 0, 0
	clear(w.final)
	clear(w.charged)
}

// workDone returns what the task at hand has taken so far.
func (w *worker) workDone() int64 { return w.Steps + w.Arriving.Added + w.Deep.Added }

// Spent reports whether the task at hand has taken too much. Everything is counted, so
// that the result depends on the program alone.
func (w *worker) Spent() bool { return w.workDone()+w.used > w.budget }

// A computation is a summary that is being computed.
type computation struct {
	key      summary.Key
	index    int
	low      int // the lowest frame on whose provisional summary this one rests
	recursed bool
	current  *summary.Summary
	basis
}

// A memo is a summary that rests on provisional ones, the lowest of which is low.
type memo struct {
	sum *summary.Summary
	low int
	basis
}

// A basis is the provisional summaries on which one rests, in the order in which they
// were asked for. As long as they stay, the one that rests on them does.
type basis struct {
	uses  []use
	loose bool // it hangs on what is being computed around it as well
}

// A use is a provisional summary that was asked for; nil for what was not there yet.
type use struct {
	fn  *ir.Function
	ctx summary.Facts
	sum *summary.Summary
}

// newWorker returns a worker of a run, with tables of its own: workers share only summaries
// that are finished.
func newWorker(r *solver) *worker {
	return &worker{run: r, open: map[summary.Key]*computation{}, memo: map[summary.Key]memo{},
		before: map[summary.Key]memo{}, final: map[summary.Key]*summary.Summary{}, charged: map[*summary.Summary]bool{},
		Scratch: frame.Scratch{Lookups: frame.NewLookups()}}
}

// Limits of the work on summaries.
const (
	maxStack  = 80
	maxNested = 3 // contexts of one function on the stack
)

// Summary returns the summary of a function in a context, nil when it is only
// being computed for the first time.
func (w *worker) Summary(fn *ir.Function, ctx summary.Facts) *summary.Summary {
	key := summary.Key{Function: fn, Context: ctx.Key()}
	if turn := w.run.turns.turnOf(fn, ctx); turn < w.turn {
		return w.earlierSummary(key, ctx, turn)
	}
	if s := w.final[key]; s != nil {
		return s
	}
	if f := w.open[key]; f != nil {
		f.recursed = true
		w.restOn(f.index)
		return w.useProvisional(fn, ctx, f.current)
	}
	if m, ok := w.memo[key]; ok {
		w.restOn(m.low)
		return w.useProvisional(fn, ctx, m.sum)
	}
	if len(w.stack) >= maxStack || len(ctx) > 0 && w.isNested(fn) {
		w.stack[len(w.stack)-1].loose = true
		if len(ctx) > 0 {
			return w.Summary(fn, nil)
		}
		w.restOn(0)
		return w.before[key].sum
	}
	if len(ctx) == 0 && len(w.stack) == 0 {
		if unit := w.run.UnitOf[fn]; len(unit) > 1 && unit[0] != fn {
			w.Summary(unit[0], nil)
			if s := w.final[key]; s != nil {
				return s
			}
		}
	}
	return w.computeSummary(key, ctx)
}

// earlierSummary returns the summary of a function in a context that speaks only of functions
// which come before those at hand. Whoever asks first computes it, as a task of its own
// with a budget of its own: so it says the same for everybody, and what it takes is
// charged to everybody who asks.
func (w *worker) earlierSummary(key summary.Key, ctx summary.Facts, turn int) *summary.Summary {
	sum, ok := w.run.Summaries.Load(key)
	if !ok {
		if w.run.turns.waitTurn(turn); w.run.IsStopped() {
			return nil
		}
		if sum, ok = w.run.Summaries.Load(key); !ok {
			sum = w.computeApart(key, ctx, turn)
		}
	}
	if len(ctx) > 0 && !w.charged[sum] {
		w.charged[sum] = true
		w.used += sum.Work
	}
	return sum
}

// computeApart computes a summary in a context as a task of its own.
func (w *worker) computeApart(key summary.Key, ctx summary.Facts, turn int) *summary.Summary {
	if w.inner == nil {
		w.inner = newWorker(w.run)
	}
	w.inner.beginTask(turn, w.run.turns.taskBudget(turn))
	s := w.inner.Summary(key.Function, ctx)
	s.Work = w.inner.workDone()
	return w.run.publishSummary(key, s)
}

// publishTask makes the summaries of the functions at hand known, and what they took.
func (w *worker) publishTask() {
	for key, s := range w.final {
		if w.run.turns.turnOf(key.Function, s.Context) == w.turn {
			w.run.publishSummary(key, s)
		}
	}
	w.run.work.Add(w.workDone())
}

// NoteLarge notes a function that is too large to be looked at for what a caller knows.
func (w *worker) NoteLarge(fn *ir.Function) {
	if !slices.Contains(w.large, fn) {
		w.large = append(w.large, fn)
	}
}

// reportGivenUp notes why functions were given up, or a part of what they are called with was.
func (w *worker) reportGivenUp(why map[*ir.Function]string) {
	for _, fn := range w.large {
		if why[fn] == "" {
			why[fn] = "the function is too large to be analysed for each caller: the functions that it is given, and " +
				"what it is called back with, are not followed in it"
		}
	}
	for _, fn := range w.over {
		why[fn] = "the function, or what it calls, is too large to be analysed whole"
	}
	if w.inner != nil {
		w.inner.reportGivenUp(why)
	}
}

// restOn notes that the summary being computed rests on a provisional one.
func (w *worker) restOn(low int) {
	if n := len(w.stack); n > 0 {
		w.stack[n-1].low = min(w.stack[n-1].low, low)
	}
}

// isNested reports whether the function is on the stack in several contexts.
func (w *worker) isNested(fn *ir.Function) bool {
	n := 0
	for _, f := range w.stack {
		if f.key.Function == fn && f.key.Context != "" {
			n++
		}
	}
	return n >= maxNested
}

// useProvisional notes that the summary being computed uses a provisional one, and returns that.
func (w *worker) useProvisional(fn *ir.Function, ctx summary.Facts, s *summary.Summary) *summary.Summary {
	if n := len(w.stack); n > 0 {
		f := w.stack[n-1]
		f.uses = append(f.uses, use{fn, ctx, s})
	}
	return s
}

// computeSummary computes a summary. The first of several functions that call each other
// is computed until all of them stand still; the others once in each of its rounds,
// resting on what they were in the round before.
func (w *worker) computeSummary(key summary.Key, ctx summary.Facts) *summary.Summary {
	f := &computation{key: key, index: len(w.stack), low: math.MaxInt, current: w.before[key].sum}
	w.stack = append(w.stack, f)
	w.open[key] = f
	weight := -1
	for left := frame.DetailOf(w.run.UnitOf[key.Function]).Rounds; ; left-- {
		f.recursed = false
		w.computeRound(f, ctx)
		if f.low < f.index || !f.recursed || left == 1 || w.run.IsStopped() {
			break
		}
		now := f.current.Weight() + w.weighProvisional(f.index)
		if now == weight {
			break
		}
		weight = now
		w.before[key] = memo{f.current, f.low, f.basis}
		w.dropProvisional(f.index)
	}
	w.stack = w.stack[:f.index]
	delete(w.open, key)
	if f.current.OverBudget {
		w.over = append(w.over, key.Function)
	}
	if f.low < f.index {
		w.memo[key] = memo{f.current, f.low, f.basis}
		w.restOn(f.low)
		return w.useProvisional(key.Function, ctx, f.current)
	}
	w.finalizeSummaries(f)
	return f.current
}

// computeRound computes a summary once, unless what it rested on in the round before is still
// so. One that says what it said before stays the same.
func (w *worker) computeRound(f *computation, ctx summary.Facts) {
	before := w.before[f.key]
	if before.sum != nil && !before.loose && w.isBasisUnchanged(before.uses) {
		f.current, f.basis = before.sum, before.basis
		return
	}
	f.basis = basis{}
	f.current = interpret.New(frame.New(w.run.Run, &w.Scratch, f.key.Function, ctx), w).Summarize()
	if before.sum != nil && f.current.Same(before.sum) {
		f.current = before.sum
	}
}

// isBasisUnchanged reports whether provisional summaries are still what they were.
func (w *worker) isBasisUnchanged(uses []use) bool {
	for _, u := range uses {
		if w.Summary(u.fn, u.ctx) != u.sum {
			return false
		}
	}
	return true
}

// weighProvisional measures the summaries that rest on a frame.
func (w *worker) weighProvisional(index int) int {
	n := 0
	for _, m := range w.memo {
		if m.low >= index {
			n += 1 + m.sum.Weight()
		}
	}
	return n
}

// dropProvisional drops the summaries that rest on a frame that is computed once more; what
// they said is where the next round begins.
func (w *worker) dropProvisional(index int) {
	for k, m := range w.memo {
		if m.low >= index {
			w.before[k] = m
			delete(w.memo, k)
		}
	}
}

// finalizeSummaries makes a summary final, and those that rest only on it.
func (w *worker) finalizeSummaries(f *computation) {
	w.final[f.key] = f.current
	for k, m := range w.memo {
		if m.low >= f.index {
			if w.final[k] == nil {
				w.final[k] = m.sum
			}
			delete(w.memo, k)
		}
	}
	if f.index == 0 {
		clear(w.before)
	}
}

package taint

import (
	"math"
	"time"

	"merlon/internal/engine/sast/ir"
)

// A summaryKey names a function in a context.
type summaryKey struct {
	fn  *ir.Function
	ctx string
}

// A worker computes summaries. Functions that call each other are computed on each
// other's provisional summaries until those stand still; a summary that rests on
// one which is still provisional is kept only until that one is done.
type worker struct {
	run   *run
	stack []*frame
	open  map[summaryKey]*frame
	memo  map[summaryKey]memo
	// before has the summaries of the round before, of functions that call each other.
	before map[summaryKey]memo
	over   []*ir.Function // functions whose budget was not enough
	until  time.Time      // when the work on the functions at hand must end
	turn   int            // the number of the functions at hand

	idle []*state // whose memory is used again
	lookups

	arriving, deep mix   // of what calls bring, and of what parts of values hold
	walk           int64 // counts the walks through parts of values
	steps          int64 // counts the instructions
}

// begin begins with functions that call each other; turn is their number.
func (w *worker) begin(turn int) {
	w.turn, w.steps, w.arriving.passed, w.deep.passed = turn, 0, 0, 0
	w.until = time.Now().Add(unitTime)
}

// spent reports whether the functions at hand, or all, have taken too much.
func (w *worker) spent() bool {
	if w.steps+w.arriving.passed+w.deep.passed > maxWork {
		return true
	}
	now := time.Now()
	return now.After(w.until) || now.After(w.run.until)
}

// A frame is a summary that is being computed.
type frame struct {
	key      summaryKey
	index    int
	low      int // the lowest frame on whose provisional summary this one rests
	recursed bool
	current  *summary
	basis
}

// A memo is a summary that rests on provisional ones, the lowest of which is low.
type memo struct {
	sum *summary
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
	ctx facts
	sum *summary
}

func newWorker(r *run) *worker {
	return &worker{run: r, open: map[summaryKey]*frame{}, memo: map[summaryKey]memo{},
		before: map[summaryKey]memo{}, lookups: newLookups()}
}

// Limits of the work on summaries.
const (
	maxStack  = 80
	maxRounds = 4
	maxNested = 3 // contexts of one function on the stack
)

// summary returns the summary of a function in a context, nil when it is only
// being computed for the first time.
func (w *worker) summary(fn *ir.Function, ctx facts) *summary {
	key := summaryKey{fn, ctx.key()}
	if s, ok := w.run.summaries.Load(key); ok {
		return s.(*summary)
	}
	if f := w.open[key]; f != nil {
		f.recursed = true
		w.rest(f.index)
		return w.use(fn, ctx, f.current)
	}
	if m, ok := w.memo[key]; ok {
		w.rest(m.low)
		return w.use(fn, ctx, m.sum)
	}
	if len(ctx) == 0 && w.wait(fn) {
		if s, ok := w.run.summaries.Load(key); ok {
			return s.(*summary)
		}
	}
	if len(w.stack) >= maxStack || len(ctx) > 0 && w.nested(fn) {
		w.stack[len(w.stack)-1].loose = true
		if len(ctx) > 0 {
			return w.summary(fn, nil)
		}
		w.rest(0)
		return w.before[key].sum
	}
	if len(ctx) == 0 && len(w.stack) == 0 {
		if unit := w.run.unitOf[fn]; len(unit) > 1 && unit[0] != fn {
			w.summary(unit[0], nil)
			if s, ok := w.run.summaries.Load(key); ok {
				return s.(*summary)
			}
		}
	}
	return w.compute(key, ctx)
}

// wait waits for another worker that is at a function. It reports false when none is.
func (w *worker) wait(fn *ir.Function) bool {
	start := time.Now()
	if !w.run.turns.wait(fn, w.turn) {
		return false
	}
	w.until = w.until.Add(time.Since(start))
	return true
}

// rest notes that the summary being computed rests on a provisional one.
func (w *worker) rest(low int) {
	if n := len(w.stack); n > 0 {
		w.stack[n-1].low = min(w.stack[n-1].low, low)
	}
}

// nested reports whether the function is on the stack in several contexts.
func (w *worker) nested(fn *ir.Function) bool {
	n := 0
	for _, f := range w.stack {
		if f.key.fn == fn && f.key.ctx != "" {
			n++
		}
	}
	return n >= maxNested
}

// use notes that the summary being computed uses a provisional one, and returns that.
func (w *worker) use(fn *ir.Function, ctx facts, s *summary) *summary {
	if n := len(w.stack); n > 0 {
		f := w.stack[n-1]
		f.uses = append(f.uses, use{fn, ctx, s})
	}
	return s
}

// compute computes a summary. The first of several functions that call each other
// is computed until all of them stand still; the others once in each of its rounds,
// resting on what they were in the round before.
func (w *worker) compute(key summaryKey, ctx facts) *summary {
	f := &frame{key: key, index: len(w.stack), low: math.MaxInt, current: w.before[key].sum}
	w.stack = append(w.stack, f)
	w.open[key] = f
	weight := -1
	for left := detailOf(w.run.unitOf[key.fn]).rounds; ; left-- {
		f.recursed = false
		w.round(f, ctx)
		if f.low < f.index || !f.recursed || left == 1 || w.run.stopped() {
			break
		}
		now := f.current.weight() + w.weight(f.index)
		if now == weight {
			break
		}
		weight = now
		w.before[key] = memo{f.current, f.low, f.basis}
		w.forget(f.index)
	}
	w.stack = w.stack[:f.index]
	delete(w.open, key)
	if f.current.over {
		w.over = append(w.over, key.fn)
	}
	if f.low < f.index {
		w.memo[key] = memo{f.current, f.low, f.basis}
		w.rest(f.low)
		return w.use(key.fn, ctx, f.current)
	}
	w.settle(f)
	return f.current
}

// round computes a summary once, unless what it rested on in the round before is still
// so. One that says what it said before stays the same.
func (w *worker) round(f *frame, ctx facts) {
	before := w.before[f.key]
	if before.sum != nil && !before.loose && w.stands(before.uses) {
		f.current, f.basis = before.sum, before.basis
		return
	}
	f.basis = basis{}
	f.current = newAnalysis(w, f.key.fn, ctx).summarize()
	if before.sum != nil && f.current.same(before.sum) {
		f.current = before.sum
	}
}

// stands reports whether provisional summaries are still what they were.
func (w *worker) stands(uses []use) bool {
	for _, u := range uses {
		if w.summary(u.fn, u.ctx) != u.sum {
			return false
		}
	}
	return true
}

// weight measures the summaries that rest on a frame.
func (w *worker) weight(index int) int {
	n := 0
	for _, m := range w.memo {
		if m.low >= index {
			n += 1 + m.sum.weight()
		}
	}
	return n
}

// forget drops the summaries that rest on a frame that is computed once more; what
// they said is where the next round begins.
func (w *worker) forget(index int) {
	for k, m := range w.memo {
		if m.low >= index {
			w.before[k] = m
			delete(w.memo, k)
		}
	}
}

// settle makes a summary final, and those that rest only on it.
func (w *worker) settle(f *frame) {
	w.run.summaries.LoadOrStore(f.key, f.current)
	for k, m := range w.memo {
		if m.low >= f.index {
			w.run.summaries.LoadOrStore(k, m.sum)
			delete(w.memo, k)
		}
	}
	if f.index == 0 {
		clear(w.before)
	}
}

// weight measures how much a summary says. It only grows from round to round.
func (s *summary) weight() int {
	n := len(s.result.taintOf()) + len(s.thrown.taintOf()) + len(s.needs)
	for _, p := range s.pending {
		n += 1 + len(p.taint)
	}
	for _, o := range s.heap {
		if o == nil {
			continue
		}
		n += 1 + len(o.self) + len(o.elems.taintOf()) + len(o.text.taintOf())
		for _, f := range o.fields {
			n += 1 + len(f.val.taintOf())
		}
	}
	return n
}

func (v *value) taintOf() taint {
	if v == nil {
		return nil
	}
	return v.taint
}

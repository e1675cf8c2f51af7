package activescan

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file bounds what one operation may cost that takes long to answer: one that
// sleeps, works, or waits for another system. Many applications answer the requests of
// a session one after the other, so that such an operation holds up all others.

// Limits say how long operations may keep the scan waiting.
type Limits struct {
	// Deferred is how long an operation whose answers take Slow on average is waited for
	// beside others. It is set aside then, and begun again when nothing else is under
	// way: it may have waited for others itself.
	Deferred time.Duration // 15 s
	Slow     time.Duration // 1 s
	// Total is how long it is waited for when it is alone. What is left is a reason.
	Total time.Duration // 2 min
	// Longest is how long any operation is waited for, and its answers are looked at: one of
	// hundreds of values may take hours although it answers soon. What is left is a reason.
	Longest time.Duration // 15 min
}

// orDefault fills in what is not set.
func (p Limits) orDefault() Limits {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&p.Deferred, 15 * time.Second}, {&p.Slow, time.Second}, {&p.Total, 2 * time.Minute},
		{&p.Longest, 15 * time.Minute}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return p
}

// errAside ends the checks of an operation that is waited for no longer. It is Invalid,
// so that it is no reason by itself.
var errAside = errs.E(errs.Invalid, "the operation responds too slowly")

// waited is how long an operation was waited for.
type waited struct {
	alone bool // nothing else is under way
	asked atomic.Int64
	turn  int64        // how often it is asked until the turn is over
	spent atomic.Int64 // nanoseconds
	ended atomic.Int64 // when the last answer came, in nanoseconds; 0: none has
	own   atomic.Int64 // nanoseconds between an answer and the next request
	late  atomic.Int64 // answers that took longer than those before by more than apart
	over  atomic.Bool
	left  atomic.Bool // for good, not set aside
}

// asides are operations that are left for later. Several workers add them.
type asides struct {
	mu   sync.Mutex
	list []sitemap.Entry
}

// addEntry keeps a request for later.
func (a *asides) addEntry(e sitemap.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, e)
}

// some is how many operations may be slow before it is the target that is.
const some = 8

// scanDeferred attacks the operations that were set aside: one after the other, or several at
// once where they are so many that nothing is left that they could hold up.
func (r *Engine) scanDeferred(aside []sitemap.Entry, attack func(sitemap.Entry)) {
	slots := make(chan struct{}, 1)
	if len(aside) > some {
		slots = make(chan struct{}, max(1, r.Parallel))
	}
	var workers sync.WaitGroup
	for _, e := range aside {
		slots <- struct{}{}
		workers.Go(func() {
			attack(e)
			<-slots
		})
	}
	workers.Wait()
}

// sendTimed sends by the function, as long as the operation is worth waiting for.
func (t *OperationScan) sendTimed(send func() (*message.Response, error)) (*message.Response, error) {
	w := &t.op.wait
	if w.over.Load() {
		return nil, errAside
	}
	t.Sitemap.CountResponses(t.Request, 1)
	began := time.Now()
	if ended := w.ended.Load(); ended > 0 {
		w.own.Add(max(0, began.UnixNano()-ended))
	}
	resp, err := send()
	t.engine.answers.shareBody(resp)
	took := time.Since(began)
	w.ended.Store(time.Now().UnixNano())
	if resp != nil {
		took = resp.Took // without what the limits of the scan have cost
	}
	asked, spent := w.asked.Add(1), time.Duration(w.spent.Add(int64(took)))
	if asked > 2 && took > spent/time.Duration(asked)+apart { // the first ones may have to begin something
		w.late.Add(1)
	}
	limit := t.engine.Limits.orDefault()
	switch {
	case w.alone && spent > limit.Total, spent+time.Duration(w.own.Load()) > limit.Longest:
		w.left.Store(true)
		w.over.Store(true)
	case !w.alone && spent > limit.Deferred && spent > limit.Slow*time.Duration(asked):
		w.over.Store(true)
	}
	return resp, err
}

// slowest are operations that were waited for in vain. Several workers add them.
type slowest struct {
	mu    sync.Mutex
	known map[string]*waitedFor
	order []string
}

// waitedFor are the operations of one method and path: they differ in their parameters.
type waitedFor struct {
	path              string
	operations, asked int64
	spent             time.Duration
}

// recordTimeout takes note of an operation that was waited for in vain.
func (r *Engine) recordTimeout(op *operation) {
	name := op.entry.Request.Method + " " + sitemap.PathShape(op.entry.Request)
	r.overlong.mu.Lock()
	defer r.overlong.mu.Unlock()
	w := r.overlong.known[name]
	if w == nil {
		if r.overlong.known == nil {
			r.overlong.known = map[string]*waitedFor{}
		}
		w = &waitedFor{path: r.Location(op.entry.Request)}
		r.overlong.known[name] = w
		r.overlong.order = append(r.overlong.order, name)
	}
	w.operations++
	w.asked += op.wait.asked.Load()
	w.spent += time.Duration(op.wait.spent.Load() + op.wait.own.Load())
}

// takeReasons says of operations that were waited for in vain that they were not examined to
// the end, once for each path and method.
func (s *slowest) takeReasons() []scan.Reason {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []scan.Reason
	for _, name := range s.order {
		w := s.known[name]
		message := fmt.Sprintf("%s takes %s to respond: after %d requests its remaining checks were skipped", name,
			(w.spent / time.Duration(max(w.asked, 1))).Round(10*time.Millisecond), w.asked)
		if w.operations > 1 {
			message += fmt.Sprintf(", in %d operations that differ in their parameters", w.operations)
		}
		out = append(out, scan.Reason{Code: "timeout", Path: w.path, Message: message})
	}
	s.known, s.order = nil, nil
	return out
}

// Location is the path by which findings name the place of a request: the same in the next
// scan, whatever that finds.
func (r *Engine) Location(at *message.Request) string { return r.locationAt(at, sitemap.PathShape(at)) }

// locationAt names another path of the request's host.
func (r *Engine) locationAt(at *message.Request, path string) string {
	u := at.URL()
	u.Path, u.RawPath, u.RawQuery = path, "", ""
	return r.Target.Path(u)
}

// RuleIDs lists those of the rules of the run's checks that which names, by their ids.
func (r *Engine) RuleIDs(which func(*Rule) []*finding.Rule) []string {
	var out []string
	for _, c := range r.Rules {
		if !r.isAllowed(c) {
			continue
		}
		for _, rule := range which(c) {
			if !slices.Contains(out, rule.ID) {
				out = append(out, rule.ID)
			}
		}
	}
	return out
}

// recordUsualDuration keeps how long the operation takes to answer on average, and whether that varies.
func (r *Engine) recordUsualDuration(op *operation) {
	if asked := op.wait.asked.Load(); asked > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		op.facts.usual = time.Duration(op.wait.spent.Load() / asked)
		op.facts.varies = op.wait.late.Load() > 1
	}
}

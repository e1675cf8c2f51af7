package activescan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file proves vulnerabilities by what the target sends to a listener of ours. A call may come
// with the answer, or minutes later: what was sent is remembered until the run ends.

// A OASTPayload is an address of the listener that was made for one place of one request.
type OASTPayload struct {
	Token string
	URL   string
	Host  string // a name; empty: no name leads to the listener
}

// HostAndPath is the OAST payload's address without its scheme; its name in the place of the host, where
// it has one, so that it is seen that it is looked up.
func (b OASTPayload) HostAndPath() string {
	_, at, _ := strings.Cut(b.URL, "://")
	authority, rest, _ := strings.Cut(at, "/")
	if b.Host == "" {
		return authority + "/" + rest
	}
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return b.Host + authority[i:] + "/" + rest
	}
	return b.Host + "/" + rest
}

// URLWithHostName is the OAST payload's address with its name as Place has it.
func (b OASTPayload) URLWithHostName() string {
	scheme, _, _ := strings.Cut(b.URL, "://")
	return scheme + "://" + b.HostAndPath()
}

// A ExpectedInteraction is an OAST payload as it stands in a request, with the vulnerability that a call proves.
type ExpectedInteraction struct {
	OASTPayload OASTPayload
	Rule        *finding.Rule
	Point       *message.Point // nil: the operation as a whole
	Payload     string
	// RequiresHTTP says that a request has to come: a name that was only looked up makes the
	// vulnerability likely.
	RequiresHTTP bool
	FoundMark    string // what is said of the point; see Probe.Mark
	Location     string // see Flaw.Place
	Proof        string // what a call means, as a sentence
	// Control is an address of the same request that only what asks for every link asks
	// for: nothing is proven when it is asked for as well. nil: there is none.
	Control *OASTPayload
	// Synchronous says that the target itself has to call, before it answers, both times. People
	// who look at what was sent may do so at once: no call of their browsers counts.
	Synchronous bool
	// JudgeResponse looks at the answer to a request that was called for, and may name another
	// rule, and say what more it shows; nil: it does not matter.
	JudgeResponse func(*message.Response) (*finding.Rule, string)
}

// A OASTRequest makes a request with fresh OAST payloads. It is called once more for the second proof,
// and has to return the same expected interactions in the same order.
type OASTRequest func(bait func() OASTPayload) (*message.Request, []ExpectedInteraction)

// lures is what a run waits for.
type lures struct {
	mu      sync.Mutex
	next    int                 // calls that were looked at
	waiting map[string]*waiting // by token
	last    time.Time           // when something was sent
	control sync.Once
	noisy   bool // addresses are asked for that nothing reads
}

// waiting is an expected interaction that nothing has called for yet.
type waiting struct {
	trial  *OperationScan
	lure   OASTRequest
	number int // of the hook
	hook   ExpectedInteraction
	calls  []scan.Interaction
	silent bool // a second proof, which is not told by itself
	asking bool // its own Lure is under way, and takes a call that comes with the answer
}

const (
	maxWaiting = 50_000 // hooks that a run remembers
	patience   = 2 * time.Second
	poll       = 50 * time.Millisecond
)

// OASTWait is how long a call may take that a proof waits for.
func (r *Engine) OASTWait() time.Duration {
	if r.OASTTimeout > 0 {
		return r.OASTTimeout
	}
	return patience
}

// newOASTPayload returns a fresh OAST payload.
func (r *Engine) newOASTPayload() OASTPayload {
	b := OASTPayload{Token: r.OAST.NewToken()}
	b.URL, b.Host = r.OAST.Address(b.Token)
	return b
}

// SendOAST sends the request of a OAST request. Vulnerabilities are told now where the listener is called with
// the answer, else when it is called later. Without a listener nothing is sent.
func (t *OperationScan) SendOAST(lure OASTRequest) (called bool, err error) {
	if t.OAST == nil {
		return false, nil
	}
	r, hooks := lure(t.engine.newOASTPayload)
	list := t.engine.registerExpected(t, lure, hooks, false)
	defer t.engine.releaseExpected(list)
	resp, err := t.Send(r)
	if err != nil {
		return false, err
	}
	t.engine.collectInteractions()
	type flaw struct {
		rule *finding.Rule
		at   *message.Point
	}
	told := map[flaw]bool{}
	for _, w := range list {
		same := flaw{w.hook.Rule, w.hook.Point}
		if !t.engine.takeInteraction(w, false) || told[same] { // one proof is enough
			continue
		}
		called, told[same] = true, true
		if err := w.confirmWithSecondRequest(t, []*message.Response{resp}); err != nil {
			return true, err
		}
	}
	return called, nil
}

// SendOASTAtPoints makes one request with a payload at each of the points, which write makes with
// fresh OAST payloads. The expected interactions get their point and payload here. Without points nothing is sent.
func (t *OperationScan) SendOASTAtPoints(points []message.Point,
	write func(at message.Point, bait func() OASTPayload) (payload string, hooks []ExpectedInteraction)) error {
	if len(points) == 0 {
		return nil
	}
	_, err := t.SendOAST(func(bait func() OASTPayload) (*message.Request, []ExpectedInteraction) {
		r := t.Request
		var all []ExpectedInteraction
		for i, at := range points {
			payload, hooks := write(at, bait)
			r = r.With(at, payload)
			for _, h := range hooks {
				h.Point, h.Payload = &points[i], payload
				all = append(all, h)
			}
		}
		return r, all
	})
	return err
}

// registerExpected notes what is waited for from now on.
func (r *Engine) registerExpected(t *OperationScan, lure OASTRequest, hooks []ExpectedInteraction,
	silent bool) []*waiting {
	r.lures.mu.Lock()
	defer r.lures.mu.Unlock()
	if r.lures.waiting == nil {
		r.lures.waiting = map[string]*waiting{}
	}
	r.lures.last = time.Now()
	var out []*waiting
	for i, h := range hooks {
		w := &waiting{trial: t, lure: lure, number: i, hook: h, silent: silent, asking: !silent}
		out = append(out, w)
		if len(r.lures.waiting) < maxWaiting {
			r.lures.waiting[h.OASTPayload.Token] = w
		}
	}
	return out
}

// releaseExpected leaves calls that come from now on to the harvest. Of those that had to come
// with the answer it is too late.
func (r *Engine) releaseExpected(list []*waiting) {
	r.lures.mu.Lock()
	defer r.lures.mu.Unlock()
	for _, w := range list {
		w.asking = false
		if w.hook.Synchronous {
			delete(r.lures.waiting, w.hook.OASTPayload.Token)
		}
	}
}

// collectInteractions gives calls that have arrived to those who wait for them.
func (r *Engine) collectInteractions() {
	r.lures.mu.Lock()
	defer r.lures.mu.Unlock()
	calls := r.OAST.Interactions(r.lures.next)
	r.lures.next += len(calls)
	for _, c := range calls {
		if w := r.lures.waiting[c.Token]; w != nil && !(w.hook.Synchronous && c.Browser) {
			w.calls = append(w.calls, c)
		}
	}
}

// takeInteraction reports whether something has arrived that proves the expected interaction, for the first time.
// In the end a name that was looked up is enough.
func (r *Engine) takeInteraction(w *waiting, end bool) bool {
	r.lures.mu.Lock()
	defer r.lures.mu.Unlock()
	token := w.hook.OASTPayload.Token
	if r.lures.waiting[token] != w || len(w.calls) == 0 || !end && w.hook.RequiresHTTP && !hasHTTPInteraction(w.calls) {
		return false
	}
	delete(r.lures.waiting, token)
	return true
}

// hasHTTPInteraction reports whether more than a name was asked for.
func hasHTTPInteraction(calls []scan.Interaction) bool {
	for _, c := range calls {
		if c.Protocol != "dns" {
			return true
		}
	}
	return false
}

// confirmInteractions tells what late calls prove.
func (r *Engine) confirmInteractions(ctx context.Context, end bool) error {
	if r.OAST == nil {
		return nil
	}
	r.collectInteractions()
	r.lures.mu.Lock()
	var due []*waiting
	for _, w := range r.lures.waiting {
		if len(w.calls) > 0 && !w.silent && !w.asking {
			due = append(due, w)
		}
	}
	r.lures.mu.Unlock()
	for _, w := range due {
		if !r.takeInteraction(w, end) {
			continue
		}
		t := *w.trial
		t.Context = ctx
		if err := r.recoverRule(&t, func() error { return w.confirmWithSecondRequest(&t, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// awaitLateInteractions waits, in the end, for calls that are still under way.
func (r *Engine) awaitLateInteractions(ctx context.Context) error {
	if r.OAST == nil {
		return nil
	}
	for {
		r.lures.mu.Lock()
		left, last := len(r.lures.waiting), r.lures.last
		r.lures.mu.Unlock()
		over := left == 0 || time.Since(last) > 3*r.OASTWait()
		if err := r.confirmInteractions(ctx, over); err != nil || over {
			return err
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitInteraction waits for a call, for a while.
func (t *OperationScan) awaitInteraction(w *waiting) bool {
	for end := time.Now().Add(t.OASTWait()); ; {
		t.engine.collectInteractions()
		if t.engine.takeInteraction(w, false) {
			return true
		}
		if time.Now().After(end) {
			t.engine.takeInteraction(w, true) // it is not waited for any more
			return len(w.calls) > 0
		}
		select {
		case <-time.After(poll):
		case <-t.Context.Done():
			return false
		}
	}
}

// secondProofArrived reports whether the second proof came, in the time that its expected interaction leaves it.
func (t *OperationScan) secondProofArrived(w *waiting) bool {
	if !w.hook.Synchronous {
		return t.awaitInteraction(w)
	}
	t.engine.collectInteractions()
	return t.engine.takeInteraction(w, false)
}

// ListenerIsQuiet reports whether an address that nothing of the application reads stays unasked
// for: a device before the target may ask for whatever it sees. It is looked at once.
func (t *OperationScan) ListenerIsQuiet() bool {
	t.engine.lures.control.Do(func() {
		base, err := message.FromURL(t.Scope.Base())
		if err != nil {
			return
		}
		b := t.engine.newOASTPayload()
		w := t.engine.registerExpected(t, nil, []ExpectedInteraction{{OASTPayload: b}}, true)[0]
		base.Query = append(base.Query, message.Param{Name: t.RandomLetters(8), Value: b.URL})
		if _, err := t.Client.Send(t.Context, base, t.As); err != nil || !t.awaitInteraction(w) {
			return
		}
		t.engine.lures.noisy = true
		t.ReportGap(scan.Reason{Code: "unavailable", Message: "OAST interactions were discarded: a device in front " +
			"of the target requests every URL that it sees"})
	})
	return !t.engine.lures.noisy
}

// wasRequested reports whether an OAST payload that nobody waits for was asked for.
func (r *Engine) wasRequested(b *OASTPayload) bool {
	return b != nil && slices.ContainsFunc(r.OAST.Interactions(0), func(c scan.Interaction) bool {
		return c.Token == b.Token
	})
}

// confirmWithSecondRequest repeats what was called for, with another address, and tells the vulnerability.
func (w *waiting) confirmWithSecondRequest(t *OperationScan, answers []*message.Response) error {
	if !t.ListenerIsQuiet() {
		return nil
	}
	h := w.hook
	r, hooks := w.lure(t.engine.newOASTPayload)
	again := t.engine.registerExpected(t, w.lure, hooks, true)
	if w.number >= len(again) { // the lure is not what it was
		return nil
	}
	resp, err := t.Send(r)
	if err != nil {
		return err
	}
	answers = append(answers, resp)
	repeated := t.secondProofArrived(again[w.number])
	if h.Synchronous && !repeated || t.engine.wasRequested(h.Control) ||
		t.engine.wasRequested(hooks[w.number].Control) {
		return nil
	}
	f := Alert{Rule: h.Rule, Point: h.Point, Location: h.Location, Payload: hooks[w.number].Payload, Request: r,
		Responses:     answers,
		ResponseNotes: []string{"an address of the listener", "another one"}}
	if h.JudgeResponse != nil {
		rule, more := hooks[w.number].JudgeResponse(resp)
		if rule != nil {
			f.Rule = rule
		}
		if more != "" {
			f.Proof = append(f.Proof, more)
		}
	}
	call := w.calls[0]
	f.Proof = append([]string{fmt.Sprintf("%s The URL was created for this value only; it was requested over %s, "+
		"from %s: %s.", h.Proof, call.Protocol, call.From, strings.ReplaceAll(call.Request, "\n", ", "))}, f.Proof...)
	switch {
	case h.RequiresHTTP && !hasHTTPInteraction(append(w.calls, again[w.number].calls...)):
		f.Confidence = finding.MediumConfidence
		f.Proof = append(f.Proof, "Its name was looked up; no request came.")
	case repeated:
		f.Proof = append(f.Proof, "A second URL in its place was requested as well.")
	default:
		f.Confidence = finding.MediumConfidence
		f.Proof = append(f.Proof, "A second URL in its place was not requested in time.")
	}
	f.Proof = append(f.Proof, "A control URL, sent where nothing reads it, was not requested.")
	if h.FoundMark != "" && h.Point != nil {
		p := &Probe{OperationScan: *t, Point: *h.Point}
		p.MarkFound(h.FoundMark)
	}
	t.RaiseAlert(f)
	return nil
}

package activescan

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
)

// This file is what a check can do.

// A Baseline is what the operation returns without an attack, twice, for comparisons.
type Baseline struct {
	First, Second *message.Response
	// Stable reports whether both are the same page but for places that are known to
	// change, so that a difference means something.
	Stable bool
	// The parts of the page that change by themselves.
	known *changing
	// The page of First.
	page *Page
}

// errNoBaseline means that the operation did not respond twice. It is Invalid, so that checks skip
// it.
var errNoBaseline = errs.E(errs.Invalid, "the operation gave no baseline")

// FirstResponse is what the operation answers without an attack, the answer that was seen when
// it was found, if that was kept.
func (t *OperationScan) FirstResponse() (*message.Response, error) {
	t.op.first.Do(func() {
		if t.op.answer == nil {
			t.op.answer, t.op.err = t.Send(t.Request)
		}
	})
	if t.op.answer == nil {
		return nil, t.op.err
	}
	return t.op.answer, nil
}

// Baseline asks the operation a second time, once for all checks. An error means that
// nothing can be compared. Where the answer is another one than when the operation was
// found, a new one is asked for: what changes by itself changes within moments.
func (t *OperationScan) Baseline() (*Baseline, error) {
	t.op.once.Do(func() {
		first, err := t.FirstResponse()
		if err != nil {
			return
		}
		second, err := t.Send(t.Request)
		if err != nil {
			t.op.err = err
			return
		}
		if t.op.entry.Response != nil && !NewPage(first).Equal(NewPage(second)) {
			first = second
			if err := t.RunExclusively(func() (err error) { second, err = t.Send(t.Request); return err }); err != nil {
				t.op.err = err
				return
			}
		}
		t.op.base = newBaseline(first, second)
		t.reportBrokenPage()
	})
	if t.op.base == nil {
		if t.op.err != nil && !errs.Is(t.op.err, errs.Unavailable) {
			return nil, t.op.err
		}
		return nil, errNoBaseline
	}
	return t.op.base, nil
}

// reportBrokenPage tells of a page that was there when it was found and is an error now, twice: what
// an attack says about the page cannot be seen in an error.
func (t *OperationScan) reportBrokenPage() {
	found, b := t.op.entry.Seen, t.op.base
	if t.Request.Method == http.MethodGet && found.Outcome == finding.Reached &&
		found.Status < http.StatusInternalServerError &&
		b.First.Status >= http.StatusInternalServerError && b.Second.Status >= http.StatusInternalServerError {
		t.engine.gaps.Add(t.Location(t.Request), "", fmt.Sprintf("GET %s returned %d when it was crawled, and %d "+
			"when it was attacked", sitemap.PathShape(t.Request), found.Status, b.Second.Status))
	}
}

// CachedBaseline is the Baseline that a check has asked for already; nil: none has, or the
// operation gave none.
func (t *OperationScan) CachedBaseline() *Baseline { return t.op.base }

// newBaseline learns from two answers what changes by itself.
func newBaseline(first, second *message.Response) *Baseline {
	known := learnChanges(NewPage(first), NewPage(second))
	b := &Baseline{First: first, Second: second, known: known, page: newPage(first, known, " ")}
	b.Stable = b.page.Equal(newPage(second, known, " "))
	return b
}

// isIdentical reports whether the answer is the first one of the baseline to a byte, so that nothing
// has to be compared, whatever it repeats.
func (b *Baseline) isIdentical(resp *message.Response) bool {
	return resp.Status == b.First.Status && resp.Header.Get("Location") == b.First.Header.Get("Location") &&
		resp.Text() == b.First.Text()
}

// Matches reports whether an answer is the page of the baseline, apart from what changes
// by itself and from the payloads that it may repeat.
func (b *Baseline) Matches(resp *message.Response, payloads ...string) bool {
	return b.isIdentical(resp) || b.page.Equal(newPage(resp, b.known, " ", payloads...))
}

// Page is the page of the baseline.
func (b *Baseline) Page() *Page { return b.page }

// PageOf reads an answer to a payload at the point for comparison with the baseline and
// with other answers of the same probe: what changes by itself is left out, and where
// the answer repeats the payload, the point's own value stands instead.
func (p *Probe) PageOf(resp *message.Response, payload string) *Page {
	var known *changing
	if b := p.op.base; b != nil {
		known = b.known
		if b.isIdentical(resp) {
			return b.page
		}
	}
	return newPage(resp, known, p.Point.Value, payload)
}

// SendCached is Try for what several checks ask at a point: an answer that one of them has got
// already is given to the others.
func (p *Probe) SendCached(value string) (*message.Response, error) {
	p.op.mu.Lock()
	p.op.resetForPoint(p.Point)
	resp := p.op.asked[value]
	p.op.mu.Unlock()
	if resp != nil {
		return resp, nil
	}
	resp, err := p.SendValue(value)
	if err == nil {
		p.op.mu.Lock()
		if !resp.Shared() {
			p.op.size += len(resp.Body)
		}
		if p.op.size <= maxAsked {
			p.op.asked[value] = resp
		}
		p.op.mu.Unlock()
	}
	return resp, err
}

// Send sends a request as the run's identity, with fresh tokens.
func (t *OperationScan) Send(r *message.Request) (*message.Response, error) {
	send := func() (*message.Response, error) { return t.sendWithFreshToken(r, t.Client.Send) }
	if t.way == nil || r.Method == http.MethodGet {
		return t.sendTimed(send)
	}
	r = t.way.renameObject(t, r)
	resp, err := t.sendTimed(send)
	if err == nil {
		t.way.recordCreation(t, resp)
	}
	return resp, err
}

// SendExclusively is Send while nothing else is under way, for measuring time.
func (t *OperationScan) SendExclusively(r *message.Request) (*message.Response, error) {
	return t.sendTimed(func() (*message.Response, error) { return t.sendWithFreshToken(r, t.Client.SendExclusively) })
}

// SendAnonymously sends a request without any identity.
func (t *OperationScan) SendAnonymously(r *message.Request) (*message.Response, error) {
	return t.SendAs(r, nil)
}

// SendAs sends a request as another identity; nil: nobody.
func (t *OperationScan) SendAs(r *message.Request, as traffic.Session) (*message.Response, error) {
	return t.sendTimed(func() (*message.Response, error) { return t.Client.Send(t.Context, r, as) })
}

// sendWithFreshToken sends a request with fresh tokens. Nothing else is under way meanwhile: many
// applications have one token for each session, and every page makes it another one.
func (t *OperationScan) sendWithFreshToken(r *message.Request,
	send func(context.Context, *message.Request, traffic.Session) (*message.Response, error)) (*message.Response,
	error) {
	r = t.engine.SideEffects.AddMark(t.Request, r)
	switch {
	case t.only && t.engine.RenewCSRFToken != nil:
		return send(t.Context, t.engine.RenewCSRFToken(t.Context, r), t.As)
	case t.only:
		return send(t.Context, r, t.As)
	}
	if t.engine.RenewCSRFToken == nil || !crawl.HasFreshToken(r) {
		t.engine.renewing.RLock()
		defer t.engine.renewing.RUnlock()
		return send(t.Context, r, t.As)
	}
	t.engine.renewing.Lock()
	defer t.engine.renewing.Unlock()
	return send(t.Context, t.engine.RenewCSRFToken(t.Context, r), t.As)
}

// SendFollowingRedirects sends a request and follows redirects inside of the scope, up to 5.
func (t *OperationScan) SendFollowingRedirects(r *message.Request) (*message.Response, error) {
	return t.followRedirects(r, t.Send)
}

func (t *OperationScan) followRedirects(r *message.Request,
	send func(*message.Request) (*message.Response, error)) (*message.Response,
	error) {
	resp, err := send(r)
	for range 5 {
		if err != nil {
			return nil, err
		}
		to := resp.Location()
		if to == nil {
			return resp, nil
		}
		next, parseErr := message.FromURL(to)
		if parseErr != nil || t.Scope.Allows(next) != nil || sitemap.IsDangerous(next.Address()) {
			return resp, nil
		}
		resp, err = send(next)
	}
	return resp, err
}

// SendAsReader asks for the operation scan's own request, as Follow does, and as the identity that was
// seen to be shown a value that was left elsewhere (Rule.CheckStored).
func (t *OperationScan) SendAsReader() (*message.Response, error) {
	if t.way != nil {
		if err := t.way.openListPage(t); err != nil {
			return nil, err
		}
	}
	if t.reader == nil {
		return t.SendFollowingRedirects(t.Request)
	}
	return t.followRedirects(t.Request, func(r *message.Request) (*message.Response, error) {
		return t.SendAs(r, t.reader)
	})
}

// ReaderName is the name of the identity of Shown, where it is not the one that attacks.
func (t *OperationScan) ReaderName() string {
	if t.reader == nil {
		return ""
	}
	return t.reader.Name()
}

// ForEach calls f with 0 to n-1, as many at once as the run attacks operations, each as a
// check of its own: a crash, or an error that ends nothing, concerns one call alone. The
// error is one that ends the run.
func (t *OperationScan) ForEach(n int, f func(i int) error) error {
	var workers sync.WaitGroup
	var mu sync.Mutex
	var ended error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == n || ended != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(n, max(1, t.engine.Parallel)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := t.engine.recoverRule(t, func() error { return f(i) }); err != nil {
					mu.Lock()
					ended = err
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return ended
}

// SendValue sends the request with the value at the point.
func (p *Probe) SendValue(value string) (*message.Response, error) {
	return p.Send(p.Request.With(p.Point, value))
}

// AlreadyFound reports whether the check, or another one, has already said what of this point;
// Mark says it. Checks that would prove the same vulnerability twice agree on a word, such as
// "sql".
func (p *Probe) AlreadyFound(what string) bool {
	p.op.mu.Lock()
	defer p.op.mu.Unlock()
	return p.op.facts.found[p.Point.Key()+" "+what]
}

// MarkFound says that what was found at this point. What is found at a value shows that it
// is read by the name of its parameter (Read).
func (p *Probe) MarkFound(what string) {
	p.MarkRead()
	p.op.mu.Lock()
	defer p.op.mu.Unlock()
	p.op.facts.found[p.Point.Key()+" "+what] = true
}

// MarkRead says that the value of this point decides the answer by more than being there:
// the application reads it by the name of its parameter, so that the name is no point
// of attack. What takes in all names finds nothing by a name that it does not know.
func (p *Probe) MarkRead() {
	p.op.mu.Lock()
	defer p.op.mu.Unlock()
	p.op.facts.found[p.Point.Key()] = true
	p.op.facts.found[p.Point.Outer().Key()] = true
}

// RaiseAlert reports a vulnerability at the probe's point.
func (p *Probe) RaiseAlert(f Alert) {
	if f.Point == nil {
		at := p.Point
		f.Point = &at
	}
	p.OperationScan.RaiseAlert(f)
}

// maxExchanges bounds the evidence of one finding.
const maxExchanges = 6

// RaiseAlert reports a vulnerability of the operation. The same rule at the same point of the same
// operation is told once.
func (t *OperationScan) RaiseAlert(f Alert) {
	t.forceRescan()
	if t.op != nil {
		t.op.told.Store(true)
	}
	if f.Request == nil {
		f.Request = t.Request
	}
	op, chosen := f.operation()
	live := &finding.Live{URL: op.Location() + chosen, Method: f.Request.Method, Payload: escapeInvalidUTF8(f.Payload),
		Curl: f.Request.Curl(f.sentRequestText())}
	for _, step := range f.Proof {
		live.Proof = append(live.Proof, escapeInvalidUTF8(step))
	}
	identity := f.identify(op, chosen)
	if f.Point != nil {
		live.Parameter, live.In = f.Point.Name, string(f.Point.In)
		if how := f.Point.Packed(); how != "" {
			live.Proof = append(live.Proof, fmt.Sprintf("The value stands within that of %s, which is written in %s: "+
				"it was packed so again.", f.Point.Outer().Name, how))
		}
	}
	if t.As != nil && !f.Anonymous {
		live.Identity = t.As.Name()
	}
	if t.engine.isReported(f.Rule.ID + " " + identity) {
		return
	}
	if f.SharedCause == "" && f.Location == "" && t.isSharedByPages(&f) {
		f.SharedCause = strings.TrimSpace("query " + f.Point.Name + " of every page of " + op.Base() + " " + f.Key)
		live.Proof = append(live.Proof, "A page that is not known to take the parameter shows it in the same way: "+
			"what reads it is shared.")
	}
	live.Exchanges = f.exchanges()
	at := t.Location(op)
	if strings.HasPrefix(f.Location, "/") {
		at = t.engine.locationAt(op, f.Location)
		if f.Location != "/" { // else it is an example
			live.URL = f.Request.Base() + f.Location
		}
	}
	t.engine.ReportFinding(f.Rule, finding.Finding{Severity: f.Severity, Confidence: f.Confidence, Message: f.Message,
		Location: finding.Location{Path: at},
		Identity: identity, Cause: f.causeOf(op), Live: live})
}

// operation returns the request of an alert without a payload in its path, and the parameter
// that chooses the page of a program.
func (f *Alert) operation() (op *message.Request, chosen string) {
	op = f.Request
	if f.Point != nil && f.Point.In == message.InPath {
		op = op.With(*f.Point, f.Point.Value)
	}
	if f.Point != nil {
		return op, sitemap.PageSelector(f.Request.With(*f.Point, f.Point.Value))
	}
	return op, sitemap.PageSelector(op)
}

// identify returns what makes two alerts of a rule the same: the method and place of the
// operation with the point, or the place of a thing that any request may show.
func (f *Alert) identify(op *message.Request, chosen string) string {
	place := f.Location
	if place == "" {
		place = op.Base() + sitemap.PathShape(op) + chosen
	}
	identity := f.Request.Method + " " + place + " " + f.Key
	if f.Location != "" { // whichever request showed it
		identity = place + " " + f.Key
	}
	if f.Point != nil {
		identity += " " + string(f.Point.In) + ":" + f.Point.Name // a parameter and the value within it are one
	}
	return identity
}

// isReported reports whether an alert of this key was raised before, and remembers it.
func (r *Engine) isReported(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reported == nil {
		r.reported = map[string]bool{}
	}
	again := r.reported[key]
	r.reported[key] = true
	return again
}

// exchanges returns the last of the requests and responses that prove the alert, with their
// notes.
func (f *Alert) exchanges() []finding.Exchange {
	responses, notes := f.Responses, f.ResponseNotes
	if n := len(responses); n > maxExchanges {
		responses = responses[n-maxExchanges:]
		notes = notes[min(n-maxExchanges, len(notes)):]
	}
	var out []finding.Exchange
	for i, a := range responses {
		note := ""
		if i < len(notes) {
			note = notes[i]
		}
		out = append(out, a.Exchange(note))
	}
	return out
}

// causeOf is what the vulnerability has in common with those of other operations that are the same: the
// header that every page reads, or the parameter that chooses the page of a program. Empty: it
// is one of the operation alone.
func (f *Alert) causeOf(op *message.Request) string {
	switch {
	case f.SharedCause != "" || f.Location != "" || f.Point == nil:
		return f.SharedCause
	case f.Point.In == message.InHeader:
		return strings.TrimSpace("header " + strings.ToLower(f.Point.Name) + " of " + op.Base() + " " + f.Key)
	case f.Point.In == message.InQuery && sitemap.SelectsPage(f.Request.With(*f.Point, f.Point.Value), f.Point.Name):
		return strings.TrimSpace("query " + f.Point.Name + " of " + op.Base() + sitemap.PathShape(op) + " " + f.Key)
	}
	return ""
}

// escapeInvalidUTF8 writes the bytes of a text that are no characters as an address has them: "%E5".
func escapeInvalidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); c == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// sentRequestText is a request like the one that shows the vulnerability, as it was sent: it tells where the
// session put its credentials; without one of its method, any to the same host, such as
// for the page that shows what was stored. Empty: nobody's session is needed, or none was
// answered.
func (f *Alert) sentRequestText() string {
	any := ""
	for _, a := range f.Responses {
		switch {
		case f.Anonymous || a.Request.Base() != f.Request.Base() || a.Sent == "":
		case a.Request.Method == f.Request.Method:
			return a.Sent
		case any == "":
			any = a.Sent
		}
	}
	return any
}

// RecordStoredPayload remembers a value that the request leaves in the application: pages are
// searched for it in the end, and Rule.CheckStored is asked about those that hold it.
func (p *Probe) RecordStoredPayload(token, payload string) {
	p.forceRescan()
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
	if p.engine.tokens == nil {
		p.engine.tokens = map[string]StoredPayload{}
	}
	p.engine.tokens[token] = StoredPayload{Token: token, Rule: p.check, Request: p.Request, Point: p.Point,
		Payload: payload}
}

// BreakingValue is a value with characters that end strings and expressions of many
// languages behind the point's own. Checks of injections begin with it (Probe.SendCached): an
// answer that it does not change tells that there is little to find for them all.
func (p *Probe) BreakingValue() string { return p.OriginalValue() + `'"(` }

// OriginalValue is the point's value, or "1" where there is none.
func (p *Probe) OriginalValue() string {
	if p.Point.Value == "" {
		return "1"
	}
	return p.Point.Value
}

// UnknownValue returns a value of the same kind and length that most likely names nothing, for
// all checks of a point the same one.
func (p *Probe) UnknownValue() string {
	p.op.mu.Lock()
	defer p.op.mu.Unlock()
	p.op.resetForPoint(p.Point)
	if p.op.other == "" {
		p.op.other = p.newUnknownValue()
	}
	return p.op.other
}

// newUnknownValue makes a value of the same form as the original one that the
// application most likely does not know.
func (p *Probe) newUnknownValue() string {
	v := p.OriginalValue()
	if strings.Trim(v, "0123456789") == "" {
		return fmt.Sprint(p.RandomNumber(1e6, 9e6))
	}
	return p.RandomLetters(max(6, min(len(v), 12)))
}

// RecordFact remembers something of the target for the rest of the run, such as the kind of
// its database; Noted tells whether it was.
func (r *Engine) RecordFact(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.notes == nil {
		r.notes = map[string]bool{}
	}
	r.notes[what] = true
}

// RecordPersistedPayload says that the operation may have kept what a check has sent, with something in
// it that does not belong there.
func (t *OperationScan) RecordPersistedPayload() {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	if t.engine.remains == nil {
		t.engine.remains = map[string]bool{}
	}
	t.engine.remains[t.Request.Method+" "+t.Request.Location()] = true
}

// PersistedPayloads returns the operations that may have kept something, "POST http://host/path",
// sorted.
func (r *Engine) PersistedPayloads() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.remains))
}

// HasFact reports whether it was noted.
func (r *Engine) HasFact(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes[what]
}

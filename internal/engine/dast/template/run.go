package template

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file runs templates.

// A run is one run of a template: it sends the template's requests and collects matches. A
// confirmation is a run of its own, with new random values.
type run struct {
	set      *Set
	template *Template
	trial    *activescan.OperationScan
	// The scan's identity, or nobody, with a cookie jar of this run on top.
	as traffic.Session
	// What is known so far: target, random texts, variables, and what extractors have taken.
	values values
	// The listener's token of the present request; empty: the template does not listen.
	token string
	// The run repeats a match, so nothing is taken from the cache.
	repeats bool
	// The match that it repeats; nil: it runs everything.
	only *hit
	// What kept it from its end, for the report; empty: nothing did.
	left string
	done map[int]bool
}

// A hit is a match. Section, shape and payloads say which request it was, so that it can be
// repeated.
type hit struct {
	template *Template
	// The indexes of the section and of the request in it.
	section int
	shape   int
	// The set of payloads by name; nil: the section has none.
	payloads map[string]string
	request  *message.Request
	// Where the payload of a fuzzing template stands; nil: the request is the template's own, or
	// has several.
	point   *message.Point
	payload string
	answers []*message.Response
	// Names of the matchers that matched.
	names []string
	// Values of the extractors, which the report shows.
	taken []string
	proof []string
	// A random address beside it matches too, so that it is reported with low confidence.
	weak  bool
	trial *activescan.OperationScan
	// awaited is set while the match depends on calls that have not arrived.
	awaited *oastMatch
}

// An oastMatch is what later calls of the target are matched with.
type oastMatch struct {
	// The token in the address that the request contained.
	token string
	// The matchers of the section, and the values that they had without a call.
	judge  *judge
	values values
}

// beginRun starts a run of a template. A template for guests is run without the
// identity of the scan.
func (s *Set) beginRun(t *activescan.OperationScan, tpl *Template) *run {
	r := &run{set: s, template: tpl, trial: t, done: map[int]bool{}}
	var inner traffic.Session
	if !tpl.Anonymous {
		inner = t.As
	}
	r.as = newVisitor(inner)
	r.values = r.initialValues(nil)
	return r
}

// initialValues returns the values that a run begins with: the target, random ones, the
// template's own, and a set of payloads. A template that waits for calls gets an
// address of the listener that nobody else has, so that a call tells which request
// caused it.
func (r *run) initialValues(payloads map[string]string) values {
	v := targetValues(r.trial.Scope.Base())
	e := &evaluation{values: v, number: r.trial.RandomNumber}
	for i := range 10 {
		name := "randstr"
		if i > 0 {
			name = fmt.Sprintf("randstr_%d", i)
		}
		v[name] = r.trial.RandomLetters(27)
	}
	// Templates expect a host name in {{interactsh-url}}, not an address.
	if r.template.Listens && r.trial.OAST != nil {
		r.token = r.trial.OAST.NewToken()
		at, host := r.trial.OAST.Address(r.token)
		if host == "" {
			_, host, _ = strings.Cut(at, "://")
		}
		v["interactsh-url"], v["interactsh_url"] = host, host
	}
	// In the order of the template: a variable may use those before it.
	for _, p := range r.template.variable {
		v[p.name], _ = fillExpressions(p.text, e) // a name without a value is told where it is used
	}
	for name, value := range payloads {
		v[name], _ = fillExpressions(value, e)
	}
	return v
}

// newEvaluation returns what expressions are evaluated with at this point of the run.
func (r *run) newEvaluation() *evaluation {
	return &evaluation{values: r.values, number: r.trial.RandomNumber}
}

// runTemplates runs the templates that have requests of their own. What kept templates
// from their end is told once, by cause, not for each of them.
func (s *Set) runTemplates(t *activescan.OperationScan, slow bool) error {
	var wanted []*Template
	for _, tpl := range s.runnable {
		if !tpl.Fuzzes && tpl.Slow == slow {
			wanted = append(wanted, tpl)
		}
	}
	each := t.ForEach
	if slow { // what measures time is alone
		each = func(n int, f func(int) error) error {
			for i := range n {
				if err := f(i); err != nil {
					return err
				}
			}
			return nil
		}
	}
	err := each(len(wanted), func(i int) error { return s.executeTemplate(t, wanted[i]) })
	if collected := s.collectMatches(t); err == nil {
		err = collected
	}
	s.mu.Lock()
	reportCauses(s.left, "not run to their end", t.ReportGap)
	clear(s.left)
	s.mu.Unlock()
	return err
}

// executeTemplate runs a template, confirms what matches, and reports it. Matches that
// wait for calls are confirmed by the calls.
func (s *Set) executeTemplate(t *activescan.OperationScan, tpl *Template) error {
	r := s.beginRun(t, tpl)
	hits, err := r.runSections()
	if err != nil {
		return err
	}
	if r.left != "" {
		s.mu.Lock()
		s.left[r.left] = append(s.left[r.left], tpl.name)
		s.mu.Unlock()
	}
	for i := range hits {
		h := &hits[i]
		if h.awaited != nil {
			s.awaitInteractions(*h)
			continue
		}
		ok, err := s.confirmMatch(t, h)
		if err != nil {
			return err
		}
		if ok {
			r.reportMatch(*h)
		}
	}
	return nil
}

// runSections runs the sections in their order. A flow calls them in its own order;
// without one they run as they stand.
func (r *run) runSections() ([]hit, error) {
	var hits []hit
	var failed error
	section := func(i int) bool {
		if i < 0 || i >= len(r.template.sections) || failed != nil {
			return false
		}
		found, ok, err := r.runSection(i)
		hits, failed = append(hits, found...), err
		return ok
	}
	if r.template.flow == nil {
		for i := range r.template.sections {
			section(i)
		}
		return hits, failed
	}
	e := r.newEvaluation()
	// http(1) runs the first section, http("id") the one of that name, http() all of them.
	e.extra = map[string]func([]any) (any, error){"http": func(args []any) (any, error) {
		if len(args) == 1 {
			if n, ok := args[0].(float64); ok {
				return section(int(n) - 1), nil
			}
			return section(slices.IndexFunc(r.template.sections, func(b *block) bool { return b.id == args[0] })), nil
		}
		ok := true
		for i := range r.template.sections {
			ok = section(i) && ok
		}
		return ok, nil
	}}
	if _, err := r.template.flow.root.eval(e); err != nil && failed == nil {
		r.left = "its flow cannot be followed"
	}
	return hits, failed
}

// runSection runs one section with each set of payloads. It succeeds when something
// matches, or a value is taken for what follows. Values of the payloads are forgotten
// after each set, and values that extractors took stay for the sections that follow.
func (r *run) runSection(n int) (hits []hit, ok bool, err error) {
	b := r.template.sections[n]
	sets := b.payloadSets()
	// A confirmation needs the set of payloads that matched, not a few thousand others.
	if r.only != nil && r.only.section == n {
		sets = []map[string]string{r.only.payloads}
	}
	for _, payloads := range sets {
		before := r.values
		r.values = maps.Clone(before)
		e := r.newEvaluation()
		for name, value := range payloads {
			r.values[name], _ = fillExpressions(value, e) // a name without a value is told where it is used
		}
		found, success, err := r.sendRequests(n, payloads)
		for name := range payloads {
			delete(r.values, name)
		}
		if err != nil {
			return hits, ok, err
		}
		hits, ok = append(hits, found...), ok || success
		if len(found) > 0 && b.stop {
			break
		}
	}
	return hits, ok, nil
}

// sendRequests sends the requests of a section with one set of payloads. A request
// whose values are not known is left out, and so is one that would end the session.
func (r *run) sendRequests(n int, payloads map[string]string) (hits []hit, ok bool, err error) {
	b := r.template.sections[n]
	var all []*message.Response
	ok = len(b.judge.matchers)+len(b.extractors) == 0
	for i := range b.shapes {
		req, err := b.buildRequest(&b.shapes[i], r.newEvaluation())
		if err != nil {
			r.recordUnfinished(err)
			continue
		}
		if sitemap.IsDangerous(req.Address()) && !r.trial.Target.Profile.Allows(scan.Full) {
			r.left = "they ask for what may end the session or destroy something, which needs the profile full"
			continue
		}
		answers, err := r.sendFollowing(b, req)
		if err != nil {
			if traffic.IsFinal(err) {
				return hits, ok, err
			}
			r.recordUnfinished(err)
			continue
		}
		all = append(all, answers[0])
		numberOf := 0
		if b.history {
			numberOf = i + 1
		}
		h, took := r.matchChain(b, answers, numberOf)
		ok = ok || took || h != nil
		if h == nil || !b.judge.isReportable() && len(b.judge.matchers) > 0 {
			continue
		}
		h.section, h.shape, h.payloads, h.request = n, i, payloads, h.answers[0].Request
		if b.history {
			h.answers = slices.Clone(all)
		}
		hits = append(hits, *h)
		if b.stop {
			break
		}
	}
	return hits, ok, nil
}

// recordUnfinished remembers what kept the template from its end.
func (r *run) recordUnfinished(err error) {
	var missing errMissing
	switch {
	case errors.As(err, &missing):
		if !slices.ContainsFunc(r.template.sections, func(b *block) bool { return b.extractsValue(missing.name) }) {
			r.left = fmt.Sprintf("%.60q has no value", missing.name)
		} // otherwise an earlier answer did not hold it: there is no match
	case errs.Is(err, errs.Forbidden):
		r.left = "they ask for addresses outside of the scope"
	case errs.Is(err, errs.Unavailable):
		r.left = "requests got no response"
	default:
		r.left = "requests cannot be sent"
	}
}

// extractsValue reports whether the section takes the value out of answers.
func (b *block) extractsValue(name string) bool {
	return slices.ContainsFunc(b.extractors, func(x extractor) bool { return x.Name == name })
}

// sendFollowing sends a request and follows redirects as far as the section says; the last
// answer comes first.
func (r *run) sendFollowing(b *block, req *message.Request) ([]*message.Response, error) {
	resp, err := r.sendOrReuse(req, b.cookies)
	if err != nil {
		return nil, err
	}
	answers := []*message.Response{resp}
	for range b.redirects {
		to := answers[0].Location()
		if to == nil {
			break
		}
		next, err := message.FromURL(to)
		// The scope counts, whatever the template says about hosts.
		if err != nil || !b.away && next.Host != req.Host || r.trial.Scope.Allows(next) != nil ||
			sitemap.IsDangerous(next.Address()) {
			break
		}
		resp, err := r.sendOrReuse(next, b.cookies)
		if err != nil {
			return nil, err
		}
		answers = slices.Insert(answers, 0, resp)
	}
	return answers, nil
}

// Limits of the cache of answers to plain requests, which many templates share.
const (
	// maxCached bounds the responses that are kept.
	maxCached = 512
	// maxCachedBody bounds the bytes of one that is kept: 128 MiB in all, though pages are mostly
	// small.
	maxCachedBody = 256 << 10
)

// sendOrReuse sends one request, or takes the answer that another template got to the same.
func (r *run) sendOrReuse(req *message.Request, cookies bool) (*message.Response, error) {
	visitor := r.as.(*visitor)
	// The section wants no cookies of the requests before it.
	if !cookies {
		visitor = newVisitor(visitor.inner)
	}
	key := r.cacheKey(req, visitor)
	if known := r.set.cachedResponse(key); known != nil {
		// The cookies of a response count for each template that gets it.
		visitor.Seen(known)
		return known, nil
	}
	t := r.trial
	t.Sitemap.CountResponses(t.Request, 1)
	send := t.Client.Send
	// Time is measured without other requests of the scan.
	if r.template.Slow {
		send = t.Client.SendExclusively
	}
	resp, err := send(t.Context, req, visitor)
	if err == nil && key != "" && len(resp.Body) <= maxCachedBody {
		r.set.keepResponse(key, resp)
	}
	return resp, err
}

// cacheKey is the same for plain requests of the same identity; "": the response depends on
// more than the address, or has to be new.
func (r *run) cacheKey(req *message.Request, v *visitor) string {
	if req.Method != http.MethodGet || req.Body.Kind != message.NoBody || len(req.Header)+len(req.Cookies) > 0 ||
		v.used || r.repeats || r.template.Slow {
		return ""
	}
	return v.Name() + " " + req.Address()
}

// cachedResponse returns the response that is kept under the key; nil: there is none.
func (s *Set) cachedResponse(key string) *message.Response {
	if key == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache[key]
}

// keepResponse keeps a response while there is room.
func (s *Set) keepResponse(key string, resp *message.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cache) < maxCached {
		s.cache[key] = resp
	}
}

// matchChain matches an answer, and those that led to it. What extractors take for
// later requests becomes a value. Matchers see the values of the run and those of the
// answer, which replace them. Values of the last answer go before those of the
// redirects that led to it.
func (r *run) matchChain(b *block, answers []*message.Response, n int) (found *hit, took bool) {
	given := maps.Clone(r.values)
	for i, resp := range answers {
		more := responseValues(resp)
		v := maps.Clone(given)
		maps.Copy(v, more)
		if n > 0 {
			numberAnswer(v, more, n)
			if i == 0 {
				numberAnswer(r.values, more, n)
			}
		}
		e := &evaluation{values: v, number: r.trial.RandomNumber}
		taken, kept := b.applyExtractors(e)
		for name, value := range kept {
			if _, have := r.values[name]; i == 0 || !have {
				r.values[name], took = value, true
			}
		}
		if found == nil {
			found = r.applyMatchers(b, resp, e, taken)
		}
	}
	return found, took
}

// applyMatchers applies the matchers of a section to an answer. Without matchers a
// value that was taken is the match.
func (r *run) applyMatchers(b *block, resp *message.Response, e *evaluation, taken []string) *hit {
	h := &hit{template: r.template, trial: r.trial, answers: []*message.Response{resp}, taken: taken}
	// A template for extraction alone, such as one that reads a version.
	if len(b.judge.matchers) == 0 {
		if len(taken) == 0 {
			return nil
		}
		return h
	}
	if r.template.Listens {
		e.values["interactsh_protocol"], e.values["interactsh_request"], e.values["interactsh_response"],
			e.values["interactsh_ip"] = "", "", "", ""
	}
	ok, names := b.judge.matchResponse(e)
	if ok {
		h.names = names
		return h
	}
	// It does not match now, but may when the target calls the listener.
	if r.template.Listens && b.judge.usesOAST() {
		h.request, h.awaited = resp.Request, &oastMatch{token: r.token, judge: &b.judge, values: maps.Clone(e.values)}
		return h
	}
	return nil
}

// applyExtractors applies the extractors to an answer: values to show, and values for what
// follows, by name.
func (b *block) applyExtractors(e *evaluation) (shown []string, kept map[string]string) {
	kept = map[string]string{}
	for i := range b.extractors {
		x := &b.extractors[i]
		got := x.extractFrom(e)
		if len(got) == 0 {
			continue
		}
		if x.Name != "" {
			e.values[x.Name] = got[0]
		}
		if x.Internal {
			kept[x.Name] = got[0]
		} else {
			shown = append(shown, got...)
		}
	}
	return shown, kept
}

// usesOAST reports whether a matcher looks at calls of the target.
func (j *judge) usesOAST() bool {
	return slices.ContainsFunc(j.matchers, func(m *matcher) bool {
		return strings.HasPrefix(m.Part, "interactsh") ||
			slices.ContainsFunc(m.DSL, func(s string) bool { return strings.Contains(s, "interactsh") })
	})
}

// matchInjection matches the answers to an injection, and keeps with the match where its
// payload stood.
func (r *run) matchInjection(b *block, answers []*message.Response, in injection) (*hit, error) {
	h, _ := r.matchChain(b, answers, 0)
	if h != nil {
		h.request, h.point, h.payload = in.request, in.point, in.payload
	}
	return h, nil
}

// maxPending bounds matches that wait for calls.
const maxPending = 10_000

// awaitInteractions keeps a match until calls have had time to arrive. Beyond the limit
// it is forgotten: a target that never calls must not fill the memory.
func (s *Set) awaitInteractions(h hit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) < maxPending {
		s.pending = append(s.pending, h)
	}
}

// poll is how often is looked for calls.
const poll = 50 * time.Millisecond

// collectMatches reports the matches whose calls arrive in time. It looks again and
// again until the time is over, and gives up those that are left.
func (s *Set) collectMatches(t *activescan.OperationScan) error {
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	for end := time.Now().Add(t.OASTWait()); len(pending) > 0; {
		by := map[string][]scan.Interaction{}
		for _, c := range t.OAST.Interactions(0) {
			by[c.Token] = append(by[c.Token], c)
		}
		pending = slices.DeleteFunc(pending, func(h hit) bool {
			proof, names, ok := h.matchInteractions(by[h.awaited.token])
			// A device before the target may request every address that it sees; then a call proves
			// nothing.
			if ok && t.ListenerIsQuiet() {
				h.proof, h.names = append(h.proof, proof), names
				(&run{set: s, template: h.template, trial: h.trial}).reportMatch(h)
			}
			return ok
		})
		if time.Now().After(end) {
			break
		}
		select {
		case <-time.After(poll):
		case <-t.Context.Done():
			return t.Context.Err()
		}
	}
	return nil
}

// matchInteractions matches calls.
func (h *hit) matchInteractions(calls []scan.Interaction) (proof string, names []string, ok bool) {
	for _, call := range calls {
		v := maps.Clone(h.awaited.values)
		v["interactsh_protocol"], v["interactsh_request"], v["interactsh_ip"] = call.Protocol, call.Request, call.From
		if ok, names := h.awaited.judge.matchResponse(&evaluation{values: v, number: h.trial.RandomNumber}); ok {
			return fmt.Sprintf("The target sent something by %s to an address made for this request alone.",
				call.Protocol), names, true
		}
	}
	return "", nil, false
}

// confirmMatch runs the template once more, with other random values: a match that does not
// come back is none. Where it asks for a fixed path alone, a random one beside it tells
// whether any address matches.
func (s *Set) confirmMatch(t *activescan.OperationScan, h *hit) (bool, error) {
	r := s.beginRun(t, h.template)
	r.repeats, r.only = true, h
	hits, err := r.runSections()
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(hits, func(again hit) bool {
		return again.section == h.section && again.shape == h.shape && again.awaited == nil
	})
	if at < 0 {
		return false, nil
	}
	h.proof = append(h.proof, "The template was run again with other random values and matched again.")
	// A request with payloads, or one that depends on others, has no counterpart at a random
	// address.
	b := h.template.sections[h.section]
	if len(h.payloads) > 0 || b.history || !b.shapes[h.shape].isFixedPath() {
		return true, nil
	}
	other := h.request.Clone()
	other.Path = path.Join(path.Dir(other.Path), t.RandomLetters(10)) + path.Ext(other.Path)
	answers, err := r.sendFollowing(b, other)
	if err != nil {
		return true, ignorableError(err)
	}
	if control, _ := r.matchChain(b, answers, 0); control != nil && control.awaited == nil {
		h.weak = true
		h.answers = append(h.answers, control.answers...)
		h.proof = append(h.proof, "A random name beside it matches as well: the application may respond to "+
			"everything like this.")
	} else {
		h.proof = append(h.proof, "A random name beside it does not match.")
	}
	return true, nil
}

// isFixedPath reports whether a request asks by GET for one path that the template writes
// out.
func (s *shape) isFixedPath() bool {
	path := strings.TrimPrefix(s.path, "{{BaseURL}}")
	return s.raw == "" && s.method == http.MethodGet && !strings.Contains(path, "{{") && strings.Trim(path, "/") != ""
}

// ignorableError returns errors that end the run, and none else.
func ignorableError(err error) error {
	if traffic.IsFinal(err) {
		return err
	}
	return nil
}

// reportMatch reports a match. A match that any address gives is told with little
// confidence.
func (r *run) reportMatch(h hit) {
	proof := []string{fmt.Sprintf("The response matches the template %s (%s).", r.template.ID, r.template.Rule.Name)}
	if len(h.names) > 0 {
		proof[0] += " Matchers: " + shorten(strings.Join(h.names, ", "), 500) + "."
	}
	if len(h.taken) > 0 {
		proof = append(proof, "It extracted from the response: "+shorten(strings.Join(h.taken, ", "), 500))
	}
	payload := h.payload
	if payload == "" && len(h.payloads) > 0 {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(h.payloads)) {
			parts = append(parts, name+"="+h.payloads[name])
		}
		payload = strings.Join(parts, ", ")
	}
	f := activescan.Alert{Rule: r.template.Rule, Request: h.request, Point: h.point, Payload: payload,
		Proof: append(proof, h.proof...), Responses: h.answers, Anonymous: r.template.Anonymous}
	if h.weak {
		f.Confidence = finding.LowConfidence
	}
	h.trial.RaiseAlert(f)
}

// A visitor is the session of one run of a template: cookies of its own, on top of the
// scan's identity, which it does not touch.
type visitor struct {
	inner traffic.Session
	jar   *cookiejar.Jar
	used  bool // the jar holds something
}

// newVisitor returns a session with an empty jar on top of another one.
func newVisitor(inner traffic.Session) *visitor {
	jar, _ := cookiejar.New(nil) // it cannot fail without options
	return &visitor{inner: inner, jar: jar}
}

// Prepare implements traffic.Session.
func (v *visitor) Prepare(ctx context.Context, req *http.Request) error {
	for _, c := range v.jar.Cookies(cleanCookieURL(req.URL)) {
		if _, err := req.Cookie(c.Name); err != nil {
			req.AddCookie(c)
		}
	}
	if v.inner == nil {
		return nil
	}
	return v.inner.Prepare(ctx, req)
}

// cleanCookieURL is an address as cookie jars want it.
func cleanCookieURL(u *url.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
}

// Seen implements traffic.Session.
func (v *visitor) Seen(resp *message.Response) {
	if set := (&http.Response{Header: resp.Header}).Cookies(); len(set) > 0 {
		v.jar.SetCookies(cleanCookieURL(resp.Request.URL()), set)
		v.used = true
	}
}

// Name implements traffic.Session.
func (v *visitor) Name() string {
	if v.inner == nil {
		return ""
	}
	return v.inner.Name()
}

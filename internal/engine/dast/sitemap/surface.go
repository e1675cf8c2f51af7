package sitemap

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// A Map is everything that is known of what the target offers. It is safe for concurrent use.
type Map struct {
	mu sync.Mutex
	// By OperationKey.
	known map[string]*Entry
	// The same in the order of finding.
	order []*Entry
	// How many operations it takes.
	limit int
	// How many more were found.
	left     int
	variants Variants
	// The bytes of the kept responses.
	kept int
}

// An Entry is one operation.
type Entry struct {
	// Request is the first that was seen, with headers and cookies that were learned later.
	Request *message.Request
	Seen    finding.Operation
	// Withheld says that no request is sent to attack the operation.
	Withheld bool
	// Unfinished is why the attack on the operation did not end; empty: it did.
	Unfinished string
	// Response is the response to the request when it was found, so that no check has to repeat it;
	// nil: it was not requested, or the response is too long to keep.
	Response *message.Response
	// Outline is that of the last answer that is recorded; 0: none is.
	Outline uint64
}

const (
	// maxAnswer bounds the bytes of a response that is kept.
	maxAnswer = 64 << 10
	// maxAnswers bounds those of all.
	maxAnswers = 64 << 20
)

// New returns an empty sitemap that holds up to limit operations.
func New(limit int) *Map {
	return &Map{known: map[string]*Entry{}, limit: limit}
}

// Add adds the request's operation and reports whether it is new. One that is out of
// room is counted and not kept, and one of a page that has enough of its parameters
// (Varieties) is not kept.
func (s *Map) Add(r *message.Request) bool {
	key := OperationKey(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[key]; ok {
		return false
	}
	if len(s.order) >= s.limit {
		s.left++
		return false
	}
	if taken, covered := s.variants.Take(r); !taken {
		if !covered {
			s.left++
		}
		return false
	}
	e := &Entry{Request: r, Seen: finding.Operation{Method: r.Method, URL: r.Location(), ID: r.ID,
		Origin:  cmp.Or(r.Origin, "link"),
		Outcome: finding.NotReached, Reason: "it was not requested", Parameters: describeParameters(r)}}
	if r.Template == "" {
		e.Seen.URL = r.Base() + r.Path
	}
	s.known[key] = e
	s.order = append(s.order, e)
	return true
}

// describeParameters returns the keys of the request's points, each once.
func describeParameters(r *message.Request) []string {
	out, seen := []string{}, map[string]bool{}
	for _, p := range r.Points() {
		if k := p.Key(); !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// Enrich adds headers and cookies, as far as they are new by name, to the known operation
// of the request, and reports whether it has learnt something. Neither makes another
// operation of it.
func (s *Map) Enrich(r *message.Request, headers, cookies []message.Param) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[OperationKey(r)]
	if e == nil {
		return false
	}
	c := e.Request.Clone()
	c.Header = joinByName(c.Header, headers, strings.EqualFold)
	c.Cookies = joinByName(c.Cookies, cookies, func(a, b string) bool { return a == b })
	if len(c.Header) == len(e.Request.Header) && len(c.Cookies) == len(e.Request.Cookies) {
		return false
	}
	e.Request, e.Seen.Parameters = c, describeParameters(c)
	s.keepResponse(e, nil)
	return true
}

// joinByName appends those that have a new name.
func joinByName(list, more []message.Param, same func(a, b string) bool) []message.Param {
	for _, p := range more {
		if !slices.ContainsFunc(list, func(known message.Param) bool { return same(known.Name, p.Name) }) {
			list = append(list, p)
		}
	}
	return list
}

// RecordResponse records an answer to a request that is of an operation of the sitemap, as
// it stands: not of an attack.
func (s *Map) RecordResponse(resp *message.Response, as string) {
	outline := Outline(resp)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[OperationKey(resp.Request)]
	if e == nil {
		return
	}
	outcome, reason := Outcome(resp)
	if e.Seen.Outcome == finding.Reached && outcome != finding.Reached {
		return // it has shown that it works
	}
	e.Outline = outline
	e.Seen.Outcome, e.Seen.Reason, e.Seen.Status, e.Seen.As = outcome, reason, resp.Status, as
	if resp.Request == e.Request && resp.Sent != "" { // it was asked with just this request
		s.keepResponse(e, resp)
	}
}

// RecordOutline records what the answer to the operation of the request looks like, and
// nothing else of it.
func (s *Map) RecordOutline(r *message.Request, resp *message.Response) {
	outline := Outline(resp)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil {
		e.Outline = outline
	}
}

// keepResponse puts an answer into an entry, as far as there is room. The caller holds mu.
func (s *Map) keepResponse(e *Entry, resp *message.Response) {
	if e.Response != nil {
		s.kept -= len(e.Response.Body)
		e.Response = nil
	}
	if resp != nil && len(resp.Body) <= maxAnswer && s.kept+len(resp.Body) <= maxAnswers {
		e.Response = resp.Copy()
		s.kept += len(resp.Body)
	}
}

// RecordFailure records why an operation was not reached.
func (s *Map) RecordFailure(r *message.Request, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil && e.Seen.Outcome == finding.NotReached {
		e.Seen.Reason = reason
	}
}

// Withhold adds an operation that is not to be asked, and why. One that is known already
// stays as it is.
func (s *Map) Withhold(r *message.Request, reason string) {
	if !s.Add(r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil {
		e.Seen.Reason, e.Withheld = reason, true
	}
}

// ExcludeFromScan says that a known operation is not attacked, and why.
func (s *Map) ExcludeFromScan(r *message.Request, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil {
		e.Seen.Reason, e.Withheld = reason, true
	}
}

// MarkUnfinished says why the attack on a known operation ended early.
func (s *Map) MarkUnfinished(r *message.Request, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil {
		e.Unfinished = cmp.Or(e.Unfinished, reason)
	}
}

// RecordProxyPath says that the known operation is taken after another request alone.
func (s *Map) RecordProxyPath(r, via *message.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil {
		e.Request = e.Request.Clone()
		e.Request.Via = via
	}
}

// CountResponses counts requests that were sent for the operation of r.
func (s *Map) CountResponses(r *message.Request, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[OperationKey(r)]; e != nil {
		e.Seen.Requests += n
	}
}

// Entries returns copies of the operations in the order in which they were found.
func (s *Map) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Entry, len(s.order))
	for i, e := range s.order {
		out[i] = *e
	}
	return out
}

// Len is the number of operations.
func (s *Map) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.order)
}

// OmittedCount is the number of operations that found no room.
func (s *Map) OmittedCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Outcome says what an answer to an ordinary request means for its operation.
func Outcome(r *message.Response) (outcome finding.Outcome, reason string) {
	switch {
	case r.Status == http.StatusUnauthorized:
		return finding.Refused, "401: authentication required"
	case r.Status == http.StatusForbidden:
		return finding.Refused, "403: the identity may not"
	case r.Status == http.StatusNotFound || r.Status == http.StatusGone:
		return finding.NotReached, http.StatusText(r.Status) + ": there is no such thing"
	case r.Status == http.StatusMethodNotAllowed:
		return finding.Refused, "405: the method is not allowed"
	case r.Status == http.StatusTooManyRequests:
		return finding.Refused, "429: too many requests"
	case r.Status >= 400 && r.Status < 500:
		return finding.Refused, http.StatusText(r.Status) + ": the request is not accepted"
	case r.Status == http.StatusBadGateway || r.Status == http.StatusServiceUnavailable ||
		r.Status == http.StatusGatewayTimeout:
		return finding.NotReached, http.StatusText(r.Status) + ": the application behind it does not respond"
	}
	return finding.Reached, ""
}

// Package traffic is the only way from a dynamic analysis to its target. A [Client] decides whether
// a request may be sent (scope, side effects, sign-ins), identifies it, counts and limits it, and
// notices when the target cannot take more (backoff.go) or is gone. Redirects are responses and are
// never followed.
//
// Budget: Options.Requests and Options.Bytes for the whole scan, Options.Rate requests a second and
// Options.Parallel at once. Errors for which IsFinal is true end the scan of the target.
package traffic

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// Options say how to send. Zero numbers stand for the defaults.
type Options struct {
	// Scope is what may be requested.
	Scope *sitemap.Scope
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	// ID is the identifier of the scan, sent in each request as Header, so that operators recognize
	// it.
	ID string
	// Agent is the header User-Agent; empty: DefaultAgent.
	Agent string
	// Headers are sent with each request to the target's own host.
	Headers []scan.Header
	// Rate bounds the requests a second; 0: 300.
	Rate float64
	// Parallel bounds the requests at once; 0: 4.
	Parallel int
	// Requests bounds them in all; 0: 200,000.
	Requests int
	// Bytes bounds the responses in all; 0: 16 GiB.
	Bytes int64
	// Body bounds the bytes of one response that are kept; 0: 4 MiB.
	Body int64
	// Timeout bounds one request, to the end of its response; 0: 30 s.
	Timeout time.Duration
	// SideEffects decides what may be sent to the target, except for sign-ins; nil: everything.
	SideEffects SideEffectGuard
	// SignIns says that attempts to sign in go on, with invented accounts, until the first sign
	// of a lock. Otherwise each address gets a few.
	SignIns bool
}

// A SideEffectGuard decides by what requests do whether they are sent.
type SideEffectGuard interface {
	// Begin returns an error that says why the request is not sent; else end takes the
	// answer, nil where there is none.
	Begin(r *message.Request) (end func(*message.Response), err error)
	// Browse is Begin for a request of a browser, whose answer is not seen.
	Browse(r *message.Request) error
}

// vouched is the key of contexts of callers that answer for what they send.
type vouched struct{}

// WithoutSideEffectCheck returns a context for a caller that answers for the effects of what it sends, such as
// a sign-in or a change of an object that the caller has created: the Guard is not asked.
func WithoutSideEffectCheck(ctx context.Context) context.Context {
	return context.WithValue(ctx, vouched{}, true)
}

// Header names the scan in every request.
const Header = "X-Merlon-Scan"

// DefaultAgent is what the scanner calls itself.
const DefaultAgent = "Mozilla/5.0 (compatible; Merlon security scan)"

// A Session adds to a request what makes it a user's.
type Session interface {
	// Prepare adds headers and cookies. It may send requests itself, to sign in.
	Prepare(ctx context.Context, req *http.Request) error
	// Seen looks at an answer: cookies, and whether the session still holds.
	Seen(resp *message.Response)
	// Name is the identity's; empty: nobody.
	Name() string
}

// These end a scan of the target. Errors of Send wrap them.
var (
	// ErrBudgetExhausted: a limit of the scan is reached, not of the target.
	ErrBudgetExhausted = errors.New("the number of requests, bytes or minutes of the scan is used up")
	// ErrUnreachable: maxFailing requests in a row got no response.
	ErrUnreachable = errors.New("the target does not respond any more")
	// ErrLimited: for some time the target has done nothing but limit requests, see backoff.go.
	ErrLimited = errors.New("the target responds only that it limits requests")
)

// IsFinal reports whether the error means that nothing more can be sent.
func IsFinal(err error) bool {
	return errors.Is(err, ErrBudgetExhausted) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrLimited) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// A Client sends requests. It is safe for concurrent use.
type Client struct {
	o         Options
	transport *http.Transport
	limiter   *rate.Limiter
	// One is taken by each request under way, all by one that has to be alone.
	slots chan struct{}
	// Taken by the request that takes all slots, so that two do not wait for each other.
	alone chan struct{}

	// Requests that were sent.
	sent atomic.Int64
	// Bytes of their responses.
	bytes atomic.Int64
	// Requests without a response, in all.
	failed atomic.Int64
	// The same in a row.
	failing atomic.Int64
	back    *backoff

	signIns signIns
	// Texts that no address may contain, see Protect.
	passwords sync.Map

	// The last encrypted connection.
	certificate atomic.Pointer[tls.ConnectionState]
	// The session of somebody who is not signed in, see Receive.
	guest Session

	mu sync.Mutex
	// The number of the request with which the present run of refusals began.
	since int
	// The length of that run.
	refused int
	// Routes whose responses were read in part only, at most maxPartial.
	partial map[string]bool
}

// maxPartial bounds the routes that are reported.
const maxPartial = 1000

// maxFailing is how many requests in a row may stay without a response, until the target counts as
// gone.
const maxFailing = 20

// New returns a client.
func New(o Options) *Client {
	set(&o.Rate, 300)
	set(&o.Parallel, 4)
	set(&o.Requests, 200_000)
	set(&o.Bytes, 16<<30)
	set(&o.Body, 4<<20)
	set(&o.Timeout, 30*time.Second)
	if o.Agent == "" {
		o.Agent = DefaultAgent
	}
	c := &Client{o: o, limiter: rate.NewLimiter(rate.Limit(o.Rate), max(1, int(math.Ceil(o.Rate/10)))),
		slots: make(chan struct{}, o.Parallel), alone: make(chan struct{}, 1), back: newBackoff(),
		partial: map[string]bool{}}
	c.signIns.accounts, c.signIns.routes = map[string]string{}, map[string]*attempts{}
	if !o.SignIns {
		c.signIns.limit = maxAttempts
	}
	c.transport = &http.Transport{
		DialContext: o.Dial,
		// An application with a bad certificate, or that knows old ciphers only, is
		// examined like any other; either is a finding of its own.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10,
			CipherSuites: cipherSuites()}, //nolint:gosec // see above
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  o.Timeout,
		MaxResponseHeaderBytes: 1 << 20,
		MaxIdleConnsPerHost:    o.Parallel,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // compressed answers are bounded here
	}
	return c
}

// set gives a field that was not set its usual value.
func set[T int | int64 | float64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Receive sets the session of somebody who has not signed in: in the place of any other, it
// sends what is a guest's. It is set before anything is sent.
func (c *Client) Receive(guest Session) { c.guest = guest }

// Sent is the number of requests that were sent.
func (c *Client) Sent() int { return int(c.sent.Load()) }

// Failed is the number of requests that got no answer.
func (c *Client) Failed() int { return int(c.failed.Load()) }

// TLS is the state of the last encrypted connection; nil: none.
func (c *Client) TLS() *tls.ConnectionState { return c.certificate.Load() }

// cipherSuites are all ciphers that the standard library knows.
func cipherSuites() []uint16 {
	var out []uint16
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		out = append(out, s.ID)
	}
	return out
}

// Handshake makes an encrypted connection to the target's own host as the settings say,
// and closes it. It counts as a request.
func (c *Client) Handshake(ctx context.Context, config *tls.Config) (*tls.ConnectionState, error) {
	base := c.o.Scope.Base()
	address := base.Host
	if base.Port() == "" {
		address = net.JoinHostPort(base.Hostname(), "443")
	}
	r, err := message.FromURL(base)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the target cannot be requested")
	}
	if err := c.waitForTurn(ctx, r); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	raw, err := c.o.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connection to %s: %w", address, err)
	}
	conn := tls.Client(raw, config)
	defer func() { _ = conn.Close() }() // nothing was written
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("handshake with %s: %w", address, err)
	}
	state := conn.ConnectionState()
	return &state, nil
}

// ThrottledTime returns for how long the client has paused because the target requested it.
func (c *Client) ThrottledTime() time.Duration { return c.back.totalPause() }

// RateLimitedRoutes lists the routes that are no longer requested, because the target responds to
// them much less often than to others: "POST https://example.org/login".
func (c *Client) RateLimitedRoutes() []string { return c.back.limitedRoutes() }

// TruncatedRoutes lists the routes that gave a page, a script or data of which only a part was
// read: it is longer than what is kept, or it broke off.
func (c *Client) TruncatedRoutes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.partial))
}

// IsRefusal reports whether the status says that the target will not answer a client, as
// firewalls do once they have seen enough of it.
func IsRefusal(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotAcceptable, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// RefusalRun returns how many of the last responses in a row were refusals, and which request got
// the first of them.
func (c *Client) RefusalRun() (since, run int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.refused
}

// countStatus takes note of the status of an answer.
func (c *Client) countStatus(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !IsRefusal(status) {
		c.refused = 0
		return
	}
	if c.refused == 0 {
		c.since = c.Sent()
	}
	c.refused++
}

// recordTruncated records a response that was read in part only. Of videos and archives the
// beginning is enough.
func (c *Client) recordTruncated(resp *message.Response) {
	if t := resp.MediaType(); !strings.HasPrefix(t, "text/") && !strings.HasSuffix(t, "json") &&
		!strings.HasSuffix(t, "xml") && !strings.HasSuffix(t, "script") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.partial) < maxPartial {
		c.partial[routeKey(resp.Request)] = true
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Admit takes one request out of the budget for a sender of its own, such as a browser: it waits
// for its turn, and returns an error when it must not be sent.
func (c *Client) Admit(ctx context.Context, r *message.Request) error {
	if err := c.o.Scope.Allows(r); err != nil {
		return err
	}
	if why := sitemap.ForbiddenReason(r); why != "" {
		return errs.E(errs.Forbidden, "%s", why)
	}
	if err := c.refusePasswordInQuery(r); err != nil {
		return err
	}
	if c.o.SideEffects != nil {
		if err := c.o.SideEffects.Browse(r); err != nil {
			return err
		}
	}
	if _, err := c.signIns.admitAttempt(ctx, r); err != nil {
		return err
	}
	return c.waitForTurn(ctx, r)
}

// waitForTurn waits until the request may be sent, and counts it.
func (c *Client) waitForTurn(ctx context.Context, r *message.Request) error {
	if c.failing.Load() >= maxFailing {
		return ErrUnreachable
	}
	if err := c.back.waitForRoute(ctx, routeKey(r)); err != nil {
		return err
	}
	if err := c.limiter.Wait(ctx); err != nil {
		if ctx.Err() == nil { // the wait would be longer than the deadline
			return fmt.Errorf("%w: no time is left", ErrBudgetExhausted)
		}
		return ctx.Err()
	}
	// Counted before it is sent, so that parallel requests cannot exceed the limit.
	if c.sent.Add(1) > int64(c.o.Requests) {
		c.sent.Add(-1)
		return fmt.Errorf("%w: %d requests", ErrBudgetExhausted, c.o.Requests)
	}
	if c.bytes.Load() > c.o.Bytes {
		return fmt.Errorf("%w: %d bytes", ErrBudgetExhausted, c.o.Bytes)
	}
	return nil
}

// Send sends a request as the session; a nil session is nobody. An answer of any
// status is no error.
func (c *Client) Send(ctx context.Context, r *message.Request, as Session) (*message.Response, error) {
	return c.deliverRequest(ctx, r, as, false)
}

// SendApart is Send for a sign-in: beside the target, it also sends to hosts for which apart is
// true.
func (c *Client) SendApart(ctx context.Context, r *message.Request, as Session,
	apart func(*message.Request) bool) (*message.Response, error) {
	if apart(r) {
		return c.forwardRequest(ctx, r, as, false)
	}
	return c.deliverRequest(ctx, r, as, false)
}

// SendExclusively is Send while no other request is under way, for what is measured.
func (c *Client) SendExclusively(ctx context.Context, r *message.Request, as Session) (*message.Response, error) {
	return c.deliverRequest(ctx, r, as, true)
}

// deliverRequest sends a request that the scope allows. No request leaves by another
// way.
func (c *Client) deliverRequest(ctx context.Context, r *message.Request, as Session,
	alone bool) (*message.Response, error) {
	if err := c.o.Scope.Allows(r); err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Location(), err)
	}
	return c.forwardRequest(ctx, r, as, alone)
}

// forwardRequest sends a request that may be sent.
func (c *Client) forwardRequest(ctx context.Context, r *message.Request, as Session,
	alone bool) (*message.Response, error) {
	if err := c.refusePasswordInQuery(r); err != nil {
		return nil, err
	}
	// A page for visitors must not get the session of a user.
	if r.Guest && as != nil {
		as = c.guest
	}
	req, err := r.HTTP(ctx)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "a request that cannot be sent")
	}
	c.addScanHeaders(req, r)
	// A form that arrives on a connection that the target closes at that moment is sent
	// again, as net/http does with what only asks: nothing of an answer was seen.
	if key := "Idempotency-Key"; len(req.Header[key]) == 0 {
		req.Header[key] = nil // says so, and is not sent
	}
	end := func(*message.Response) {}
	if c.o.SideEffects != nil && ctx.Value(vouched{}) == nil {
		if end, err = c.o.SideEffects.Begin(r); err != nil {
			return nil, err
		}
	}
	var resp *message.Response
	defer func() { end(resp) }()
	if as != nil {
		if err := as.Prepare(WithoutSideEffectCheck(ctx), req); err != nil {
			return nil, err
		}
	}
	counted, err := c.signIns.admitAttempt(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := c.waitForTurn(ctx, r); err != nil {
		return nil, err
	}
	resp, err = c.roundTrip(ctx, r, req, alone)
	if err != nil {
		return nil, err
	}
	c.signIns.recordAttemptResponse(resp, counted)
	if as != nil {
		as.Seen(resp)
	}
	return resp, nil
}

// addScanHeaders adds what every request has.
func (c *Client) addScanHeaders(req *http.Request, r *message.Request) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.o.Agent)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "text/html,application/xhtml+xml,application/json,*/*;q=0.8")
	}
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	req.Header.Set(Header, c.o.ID)
	// Headers of the target may contain credentials, such as those of a test environment.
	if c.o.Scope.Trusts(r.Scheme, r.Host) {
		for _, h := range c.o.Headers {
			if req.Header.Get(h.Name) == "" {
				req.Header.Set(h.Name, h.Value)
			}
		}
	}
}

// acquireSlot waits until a request may be under way, or until it is the only one.
func (c *Client) acquireSlot(ctx context.Context, alone bool) (leave func(), err error) {
	taken := 0
	leave = func() {
		for ; taken > 0; taken-- {
			<-c.slots
		}
		if alone {
			<-c.alone
		}
	}
	want := 1
	if alone {
		want = cap(c.slots)
		select {
		case c.alone <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for taken < want {
		select {
		case c.slots <- struct{}{}:
			taken++
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	return leave, nil
}

// roundTrip sends the request and reads the answer.
func (c *Client) roundTrip(ctx context.Context, r *message.Request, req *http.Request,
	alone bool) (*message.Response, error) {
	leave, err := c.acquireSlot(ctx, alone)
	if err != nil {
		return nil, err
	}
	defer leave()
	limited, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	content, _ := r.Content()
	began := time.Now()
	got, err := c.transport.RoundTrip(req.WithContext(limited))
	if err != nil {
		return nil, c.countFailure(ctx, req, err)
	}
	defer func() { _ = got.Body.Close() }() // what matters of it was read
	resp := &message.Response{Request: r, Status: got.StatusCode, Proto: got.Proto, Header: got.Header,
		Sent: message.Dump(req, content)}
	resp.Body, resp.Truncated, err = c.readBody(got)
	resp.Took = time.Since(began)
	if got.TLS != nil {
		c.certificate.Store(got.TLS)
	}
	if err != nil && len(resp.Body) == 0 {
		return nil, c.countFailure(ctx, req, err)
	}
	if resp.Truncated = resp.Truncated || err != nil; resp.Truncated && ctx.Err() == nil {
		c.recordTruncated(resp)
	}
	if limited.Err() == nil {
		c.failing.Store(0)
	} else if err := c.countEndless(ctx); err != nil { // it goes on for ever
		return nil, err
	}
	c.back.recordRateLimit(routeKey(r), got)
	c.countStatus(got.StatusCode)
	return resp, nil
}

// readBody reads what is kept of an answer. One that breaks off is what came of it.
func (c *Client) readBody(got *http.Response) (content []byte, truncated bool, err error) {
	counted := &counter{r: got.Body, n: &c.bytes}
	var from io.Reader = counted
	switch strings.ToLower(got.Header.Get("Content-Encoding")) {
	case "gzip", "x-gzip":
		if from, err = gzip.NewReader(counted); err != nil {
			if errors.Is(err, io.EOF) { // an empty body
				return nil, false, nil
			}
			return nil, false, fmt.Errorf("the response is not gzip: %w", err)
		}
	case "deflate":
		from = flate.NewReader(counted)
	case "", "identity":
	default:
		return nil, false, fmt.Errorf("the response is encoded as %.20q, which was not "+
			"requested", got.Header.Get("Content-Encoding"))
	}
	content, err = io.ReadAll(io.LimitReader(from, c.o.Body+1))
	if int64(len(content)) > c.o.Body {
		return content[:c.o.Body], true, nil
	}
	return content, false, err
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// countEndless counts an answer that did not end in time, of which there is a part: a target
// that gives nothing else is as good as one that does not answer.
func (c *Client) countEndless(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if n := c.failing.Add(1); n >= maxFailing {
		return fmt.Errorf("%w: %d responses in a row did not end in time", ErrUnreachable, n)
	}
	return nil
}

// countFailure counts a request without an answer.
func (c *Client) countFailure(ctx context.Context, req *http.Request, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.failed.Add(1)
	if n := c.failing.Add(1); n >= maxFailing {
		return fmt.Errorf("%w: %d requests in a row, the last with %s", ErrUnreachable, n, networkErrorText(err))
	}
	// The cause is text alone: an answer that is late says of itself that a deadline is
	// over, which is what ends a scan.
	return errs.Wrap(errs.Unavailable, errors.New(networkErrorText(err)), "%s %s://%s%s got no response", req.Method,
		req.URL.Scheme,
		req.URL.Host, req.URL.EscapedPath())
}

// networkErrorText is what people want to know of an error of the network.
func networkErrorText(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no response in time"
	}
	return err.Error()
}

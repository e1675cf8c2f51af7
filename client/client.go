// Package client is a Go client of the public API. The command line and the
// integration tests use it; it imports nothing of the service.
//
//	id := client.Identity{BaseURL: "https://api.example.com"}
//	c, err := client.New(client.Options{BaseURL: id.BaseURL, Source: id.PersonalToken("mpat_…")})
//	projects, err := c.TeamProjects(ctx, teamID, client.Page{Number: 1, Size: 20})
//
// Calls that may be repeated are repeated when the connection breaks and when the
// service says that it is busy. Failures that the service describes are *Error.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Source gives access tokens. It is called before every request, so it keeps a
// token until it ends. The token that the service has just refused is given as
// rejected, otherwise empty: what is returned then must be another one. A Source
// may be called from several goroutines.
type Source func(ctx context.Context, rejected string) (string, error)

// Static is a Source that has one access token and no way to another.
func Static(accessToken string) Source {
	return func(_ context.Context, rejected string) (string, error) {
		if rejected != "" {
			return "", errors.New("the access token is not accepted any more")
		}
		return accessToken, nil
	}
}

// Options say which service a Client talks to, and as whom.
type Options struct {
	BaseURL string // of the region's API, without a slash at the end
	// Source is nil for calls without sign-in, such as that for the identifiers of applications.
	Source Source // nil: only the open calls work
	// HTTP is nil for a client that all Clients share, with its pool of connections.
	HTTP      *http.Client
	UserAgent string        // default "merlon-client"
	Attempts  int           // of one call; default 5
	Pause     time.Duration // before the second attempt, doubled for each further one; default 500 ms
}

// A Client calls the API. It is safe for concurrent use.
type Client struct{ Options }

// New returns a Client.
func New(o Options) (*Client, error) {
	base, err := checkAddress(o.BaseURL)
	if err != nil {
		return nil, err
	}
	o.BaseURL = base
	if o.HTTP == nil {
		o.HTTP = sharedHTTP()
	}
	if o.UserAgent == "" {
		o.UserAgent = "merlon-client"
	}
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.Pause == 0 {
		o.Pause = 500 * time.Millisecond
	}
	return &Client{o}, nil
}

// checkAddress returns an http or https address without slashes at its end.
func checkAddress(address string) (string, error) {
	u, err := url.Parse(address)
	// A query or user information in the base would become part of every address, and credentials
	// part of every error message.
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("%q is not an http or https address", address)
	}
	return strings.TrimRight(address, "/"), nil
}

// sharedHTTP has no limit for a whole call, because uploads may take hours, but
// for each part that has no reason to.
var sharedHTTP = sync.OnceValue(func() *http.Client {
	return &http.Client{Transport: &http.Transport{
		// The timeouts bound what never takes long: connecting, the TLS handshake and the wait
		// for the head of a response. The body may take as long as the context allows.
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 2 * time.Minute,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   8,
	}}
})

// maxAnswer bounds an answer that is kept in memory, in bytes.
// A page of findings with code is some megabytes at most.
const maxAnswer = 64 << 20

// A call is one operation.
// query and out may be nil.
type call struct {
	method string
	path   []string // parts, escaped here
	query  url.Values
	in     any // sent as JSON; nil for no body
	out    any // filled from the answer; nil throws it away
}

// do makes the call, as often as it takes. A POST carries an Idempotency-Key, by
// which the service knows it again, so that it may be repeated like the others.
func (c *Client) do(ctx context.Context, op call) error {
	var body []byte
	if op.in != nil {
		var err error
		if body, err = json.Marshal(op.in); err != nil {
			return err
		}
	}
	address := c.BaseURL
	// Each part is escaped by itself, so an id with a slash cannot lead to another operation.
	for _, part := range op.path {
		address += "/" + url.PathEscape(part)
	}
	if len(op.query) > 0 {
		address += "?" + op.query.Encode()
	}
	header := http.Header{"Accept": {"application/json"}}
	if op.in != nil {
		header.Set("Content-Type", "application/json")
	}
	// One key for all attempts: the service recognizes a repeated request by it.
	if op.method == http.MethodPost {
		header.Set("Idempotency-Key", rand.Text())
	}
	return c.repeat(ctx, func(token string) (*http.Request, error) {
		// A new reader each time: an attempt consumes the body.
		req, err := http.NewRequestWithContext(ctx, op.method, address, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = header.Clone()
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		return req, nil
	}, op.out)
}

// repeat sends what request makes until there is an answer that another attempt
// would not change.
func (c *Client) repeat(ctx context.Context, request func(token string) (*http.Request, error), out any) error {
	rejected := ""
	for attempt := 1; ; attempt++ {
		token := ""
		if c.Source != nil {
			var err error
			if token, err = c.Source(ctx, rejected); err != nil {
				return fmt.Errorf("get an access token: %w", err)
			}
		}
		req, err := request(token)
		if err != nil {
			return err
		}
		err = c.once(req, out)
		// Once only: a second 401 with a new token means that the sign-in itself is not valid.
		// The attempt does not count, since the token may have expired between two calls.
		if failure := (*Error)(nil); errors.As(err, &failure) && failure.Status == http.StatusUnauthorized &&
			token != "" && rejected == "" {
			rejected = token
			attempt--
			continue
		}
		if attempt >= c.Attempts || !worthRepeating(err) {
			return err
		}
		// When the context ends during the pause, the error of the last attempt says more than
		// "context canceled".
		if wait(ctx, pause(err, c.Pause, attempt)) != nil {
			return err
		}
	}
}

// once sends one request and reads the answer.
func (c *Client) once(req *http.Request, out any) error {
	req.Header.Set("User-Agent", c.UserAgent)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // was read, or is of no use
	// One byte more than allowed shows that the response is too large.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("read the response to %s %s: %w", req.Method, req.URL.Path, err)
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("the response to %s %s is too large", req.Method, req.URL.Path)
	}
	if resp.StatusCode/100 != 2 {
		return readError(resp, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("the response to %s %s does not match the API: %w", req.Method, req.URL.Path, err)
	}
	return nil
}

// worthRepeating reports whether the failure may pass.
func worthRepeating(err error) bool {
	if failure := (*Error)(nil); errors.As(err, &failure) {
		switch failure.Status {
		// Statuses of an overloaded service or of a proxy before it; 500 is a bug and would come
		// again.
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
			http.StatusGatewayTimeout:

			return true
		}
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	// A *url.Error is a connection that was refused or broken, an unexpected EOF a body that was
	// cut off.
	var connection *url.Error
	return errors.As(err, &connection) || errors.Is(err, io.ErrUnexpectedEOF)
}

// pause returns how long to wait before the next attempt: as long as the service
// asks for, or twice as long as the last time, with a quarter of chance so that
// many clients do not come back at once.
func pause(err error, first time.Duration, attempt int) time.Duration {
	// 30 seconds between two attempts at most, and a minute if the service asks for more.
	const longest = 30 * time.Second
	if failure := (*Error)(nil); errors.As(err, &failure) && failure.RetryAfter > 0 {
		return min(failure.RetryAfter, 2*longest)
	}
	d := min(time.Duration(float64(first)*math.Pow(2, float64(attempt-1))), longest)
	// Between 7/8 and 9/8 of the duration.
	return d - d/8 + mathrand.N(d/4+1)
}

// wait waits, unless the context ends first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// retryAfter reads the header of that name, in seconds (RFC 9110, section
// 10.2.3); the form with a date is not used by the service.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	// More than 2^20 seconds (12 days) is treated as an invalid value.
	if err != nil || seconds < 0 || seconds > 1<<20 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// Package outbound is the one way out: an HTTP client for addresses that people
// have entered, such as a mirror of advisories or a registry of images.
//
// It decides at connect time, on the address that a name has been resolved to, so
// that neither a name nor a redirect leads to this machine, its network or a
// cloud's metadata service; an administrator's allow-list names the exceptions.
// Redirects, bodies and time are limited. It logs the host and the outcome, never
// paths, queries or headers, and its errors hold none either. No variable of the
// environment changes where it goes.
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"merlon/internal/errs"
)

// CodeRefused is the code of the error for an address or a way that is not
// allowed.
const CodeRefused = "outbound_refused"

// Refused reports whether the client refused to ask, and no other did.
func Refused(err error) bool {
	var e *errs.Error
	return errors.As(err, &e) && e.Code == CodeRefused
}

// Options say where requests may go and how.
type Options struct {
	Agent   string   // what the client calls itself, such as "merlon/1.2"
	Allow   []string // networks, addresses and host names that may be reached although they are not public
	Proxy   string   // address of a proxy, http:// or https://, with user and password if need be; empty: none
	NoProxy []string // networks, addresses and host names that are reached without the proxy
	Own     []string // host names of this service, which are refused like its addresses
	CAFile  string   // PEM of further certificate authorities; empty: those of the system alone
	Log     *slog.Logger

	// Setting names Allow in errors; empty: "outbound-allow".
	Setting string
	// Plain lets every host be asked without encryption, not only those of Allow.
	Plain bool
	// Closed are addresses, host:port, that Dial refuses whatever Allow says: those of
	// the service's own parts. Without a host it is the port of this machine.
	Closed []string
}

// Limits bound one request. A zero field stands for the default.
type Limits struct {
	Body      int64         // bytes of the answer, after decompression; default 64 MiB
	Time      time.Duration // from the request to the end of the answer; default 2 minutes
	Redirects int           // default 5; negative: the redirect itself is the answer
}

// A Client sends requests. It is safe for concurrent use.
type Client struct {
	agent     string
	allow     list
	direct    list // reached without the proxy
	ownNames  list
	proxy     *url.URL
	transport *http.Transport
	log       *slog.Logger
	own       func() ([]netip.Addr, error)
	resolver  *net.Resolver
	setting   string
	plain     bool
	closed    []string
}

const (
	defaultBody      = 64 << 20
	defaultTime      = 2 * time.Minute
	defaultRedirects = 5
	connectTime      = 15 * time.Second
	headerTime       = time.Minute
	maxHeader        = 256 << 10
)

// New returns a client; an Invalid error names the option that cannot be.
func New(o Options) (*Client, error) {
	c := &Client{agent: o.Agent, log: o.Log, own: ownAddresses, resolver: net.DefaultResolver, setting: o.Setting,
		plain: o.Plain, closed: o.Closed}
	if c.setting == "" {
		c.setting = "outbound-allow"
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if c.allow, err = parseList(c.setting, o.Allow); err != nil {
		return nil, err
	}
	if c.direct, err = parseList("outbound-no-proxy", o.NoProxy); err != nil {
		return nil, err
	}
	if c.ownNames, err = parseList("own name", o.Own); err != nil {
		return nil, err
	}
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return nil, errs.E(errs.Invalid, "outbound-proxy is not an http or https address") // it may hold a password
		}
		c.proxy = u
	}
	roots, err := loadAuthorities(o.CAFile)
	if err != nil {
		return nil, err
	}
	c.transport = &http.Transport{
		Proxy:                  c.proxyFor,
		DialContext:            c.dialGuarded,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    4,
		MaxIdleConns:           32,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}
	return c, nil
}

// loadAuthorities returns the system's and those of the file; nil stands for the
// system's.
func loadAuthorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "cannot read outbound-ca-file %s", path)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificate authorities: %w", err)
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errs.E(errs.Invalid, "outbound-ca-file %s contains no certificate", path)
	}
	return pool, nil
}

// Do sends a request within the limits. The body must be closed; reading more
// than the limit from it fails with TooLarge. An answer of any status is no
// error. Errors name the host and never the rest of the address.
func (c *Client) Do(req *http.Request, l Limits) (*http.Response, error) {
	limit := l.Redirects
	if limit == 0 {
		limit = defaultRedirects
	}
	client := http.Client{
		Transport: c.RoundTripper(l),
		Timeout:   l.Time,
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if limit < 0 {
				return http.ErrUseLastResponse
			}
			if len(via) > limit {
				return errs.E(errs.Unavailable, "%s redirects more than %d times", via[0].URL.Hostname(), limit)
			}
			return checkRedirect(next, via)
		},
	}
	if client.Timeout == 0 {
		client.Timeout = defaultTime
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, c.explainError(req, err)
	}
	return resp, nil
}

// checkRedirect refuses a step from https to http, and takes what was said to one
// host in confidence away before another is asked.
func checkRedirect(next *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	if last.URL.Scheme == "https" && next.URL.Scheme != "https" {
		e := errs.E(errs.Forbidden, "%s redirects to an address without encryption: refused", last.URL.Hostname())
		e.Code = CodeRefused
		return e
	}
	next.Header.Del("Referer") // it would tell the path
	next.URL.User = nil
	for _, step := range via {
		if originOf(step.URL) != originOf(next.URL) {
			for name := range next.Header {
				if !harmless[name] {
					next.Header.Del(name)
				}
			}
		}
	}
	return nil
}

// originOf returns scheme and host of a URL, which decide where credentials may be sent.
func originOf(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// harmless are the headers that another host may see after a redirect.
var harmless = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Range": true, "User-Agent": true,
	"If-None-Match": true, "If-Modified-Since": true,
}

// explainError names the host instead of the whole address, which may hold secrets.
func (c *Client) explainError(req *http.Request, err error) error {
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	var known *errs.Error
	if errors.As(err, &known) {
		return known
	}
	if ctxErr := req.Context().Err(); errors.Is(ctxErr, context.Canceled) {
		return ctxErr
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errs.E(errs.Unavailable, "%s did not respond in time", req.URL.Host)
	}
	return errs.Wrap(errs.Unavailable, hideAddresses(err), "cannot reach %s", req.URL.Host)
}

// RoundTripper returns the guarded transport alone, for a library that has a
// client of its own: each request that it sends is checked, limited and logged,
// and each redirect is another request. Limits.Time and Redirects are the
// library's affair.
func (c *Client) RoundTripper(l Limits) http.RoundTripper {
	if l.Body == 0 {
		l.Body = defaultBody
	}
	return roundTripper{c, l}
}

// roundTripper applies the limits and the log of a Client to each request, redirects included.
type roundTripper struct {
	c      *Client
	limits Limits
}

// RoundTrip implements http.RoundTripper.
func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := t.sendRequest(req)
	log := t.c.log.With("method", req.Method, "host", req.URL.Host, "took", time.Since(began).Round(time.Millisecond))
	if err != nil {
		log.WarnContext(req.Context(), "outgoing request failed", "error", err.Error())
		return nil, err
	}
	log.InfoContext(req.Context(), "outgoing request", "status", resp.StatusCode)
	return resp, nil
}

// sendRequest sends a request, and limits the size of the response.
func (t roundTripper) sendRequest(req *http.Request) (*http.Response, error) {
	if err := t.c.checkURL(req.Context(), req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as http.RoundTripper promises
		}
		return nil, err
	}
	if t.c.agent != "" {
		req = req.Clone(req.Context())
		req.Header.Set("User-Agent", t.c.agent)
	}
	resp, err := t.c.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if _, err := url.Parse(resp.Header.Get("Location")); err != nil {
		resp.Header.Del("Location") // the error of http.Client would quote it
	}
	if resp.ContentLength > t.limits.Body && req.Method != http.MethodHead {
		_ = resp.Body.Close() // nothing of it was read
		return nil, tooLarge(req.URL.Hostname(), t.limits.Body)
	}
	resp.Body = &body{ReadCloser: resp.Body, host: req.URL.Hostname(), limit: t.limits.Body, left: t.limits.Body}
	return resp, nil
}

// checkURL refuses what can be refused before a connection is made. Plain http
// is for hosts that the allow-list names.
func (c *Client) checkURL(ctx context.Context, u *url.URL) error {
	host := u.Hostname()
	e := errs.E(errs.Forbidden, "")
	e.Code = CodeRefused
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		e.Message = fmt.Sprintf("%q is refused: only https is allowed", u.Scheme)
		return e
	case host == "":
		return errs.E(errs.Invalid, "the address names no host")
	case u.Scheme == "http" && !c.plain && !c.allow.containsHost(host):
		e.Message = host + " is refused without encryption: use https, or an administrator can allow it with " +
			c.setting
		return e
	case c.ownNames.containsHost(host) && !c.allow.containsHost(host):
		e.Message = host + " is refused: it is this service"
		return e
	case c.proxy != nil && !c.direct.containsHost(host):
		return c.checkBehindProxy(ctx, host)
	}
	return nil
}

// checkBehindProxy decides on the addresses of a host that the proxy will connect
// to. A name that only the proxy can resolve is left to the proxy.
func (c *Client) checkBehindProxy(ctx context.Context, host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		return c.checkAddress(host, ip)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	addresses, err := c.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil //nolint:nilerr // a network that needs a proxy often has no public names
	}
	for _, ip := range addresses {
		if err := c.checkAddress(host, ip); err != nil {
			return err
		}
	}
	return nil
}

// proxyFor implements http.Transport.Proxy.
func (c *Client) proxyFor(req *http.Request) (*url.URL, error) {
	if c.proxy == nil || c.direct.containsHost(req.URL.Hostname()) {
		return nil, nil
	}
	return c.proxy, nil
}

// dialGuarded connects, and has each address checked after its name was resolved and
// before a packet is sent.
func (c *Client) dialGuarded(ctx context.Context, network, address string) (net.Conn, error) {
	if c.proxy != nil && strings.EqualFold(address, hostPort(c.proxy)) { // the proxy was configured
		d := net.Dialer{Timeout: connectTime, Resolver: c.resolver}
		return d.DialContext(ctx, network, address)
	}
	return c.dialWithGuard(ctx, network, address, c.checkAddress)
}

// dialWithGuard connects to an address that the guard lets through.
func (c *Client) dialWithGuard(ctx context.Context, network, address string,
	guard func(host string, ip netip.Addr) error) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	own, err := c.own()
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "cannot determine the addresses of this machine")
	}
	closed := c.closedTo(ctx, address, own)
	d := net.Dialer{Timeout: connectTime, Resolver: c.resolver}
	d.Control = func(_, resolved string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return fmt.Errorf("connect to %s: %w", host, err)
		}
		ip := ap.Addr().Unmap()
		if slices.Contains(closed, netip.AddrPortFrom(machineAddress(ip, own), ap.Port())) {
			e := errs.E(errs.Forbidden, "%s is refused: it is a part of this service", address)
			e.Code = CodeRefused
			return e
		}
		return guard(host, ap.Addr())
	}
	return d.DialContext(ctx, network, address)
}

// closedTo returns the closed addresses that have the port of the address.
func (c *Client) closedTo(ctx context.Context, address string, own []netip.Addr) []netip.AddrPort {
	_, port, err := net.SplitHostPort(address)
	var out []netip.AddrPort
	for _, closed := range c.closed {
		host, p, splitErr := net.SplitHostPort(closed)
		number, parseErr := net.LookupPort("tcp", p)
		if err != nil || splitErr != nil || parseErr != nil || p != port {
			continue
		}
		ips, err := c.addressesOf(ctx, host)
		if err != nil {
			continue // what has no address is reached by nobody
		}
		for _, ip := range ips {
			out = append(out, netip.AddrPortFrom(machineAddress(ip, own), uint16(number)))
		}
	}
	return out
}

// addressesOf returns the addresses of a host; without one, those of this machine.
func (c *Client) addressesOf(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return c.own()
	}
	return c.resolver.LookupNetIP(ctx, "ip", host)
}

// Dial connects to host:port without a proxy, and decides on the address that the host
// has been resolved to. A refusal is an error of which Refused is true.
func (c *Client) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return c.explainDial(c.dialWithGuard(ctx, network, address, c.checkDial))
}

// DialListed does the same, and connects to nothing but what the allow-list names.
func (c *Client) DialListed(ctx context.Context, network, address string) (net.Conn, error) {
	return c.explainDial(c.dialWithGuard(ctx, network, address, func(host string, ip netip.Addr) error {
		if c.allowEntry(host, ip) == "" {
			return c.refuseAddress(host, ip, "not on the list")
		}
		return nil
	}))
}

// maxPinned bounds the addresses of a host that are tried.
const maxPinned = 16

// DialPinned connects to the host of the address at one of the given addresses, wherever its
// name leads now. What Dial refuses is refused here as well.
func (c *Client) DialPinned(ctx context.Context, network, address string, pinned []netip.Addr) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	err = errs.E(errs.Unavailable, "%s has no address", host)
	for _, ip := range pinned[:min(len(pinned), maxPinned)] {
		limited, cancel := context.WithTimeout(ctx, connectTime/time.Duration(min(len(pinned), 3)))
		conn, dialErr := c.dialWithGuard(limited, network, net.JoinHostPort(ip.String(), port),
			func(_ string, ip netip.Addr) error {
				return c.checkDial(host, ip)
			})
		cancel()
		if dialErr == nil {
			return conn, nil
		}
		if err = dialErr; ctx.Err() != nil {
			break
		}
	}
	return c.explainDial(nil, err)
}

// Addresses returns the addresses that a host has now.
func (c *Client) Addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ips, err := c.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, hideAddresses(err), "%s has no address", host)
	}
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return ips, nil
}

// explainDial takes a refusal out of the net package's error, and says of other errors what
// happened without the addresses that they quote.
func (c *Client) explainDial(conn net.Conn, err error) (net.Conn, error) {
	var known *errs.Error
	switch {
	case err == nil:
		return conn, nil
	case errors.As(err, &known):
		return nil, known
	}
	return nil, hideAddresses(err)
}

// checkDial also refuses this service's own names.
func (c *Client) checkDial(host string, ip netip.Addr) error {
	if c.ownNames.containsHost(host) && !c.allow.containsHost(host) {
		e := errs.E(errs.Forbidden, "%s is refused: it is this service", host)
		e.Code = CodeRefused
		return e
	}
	return c.checkAddress(host, ip)
}

// Listed returns the entries of the allow-list that name every address of the host;
// none when an address is not on it.
func (c *Client) Listed(ctx context.Context, host string) ([]string, error) {
	if len(c.allow.hosts)+len(c.allow.prefixes) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ips, err := c.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, hideAddresses(err), "%s has no address", host)
	}
	var entries []string
	for _, ip := range ips {
		entry := c.allowEntry(host, ip)
		if entry == "" {
			return nil, nil
		}
		if !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// hostPort is the address that a connection to u is made to.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// A body fails with TooLarge after its limit.
type body struct {
	io.ReadCloser
	host  string
	limit int64
	left  int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, tooLarge(b.host, b.limit)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, tooLarge(b.host, b.limit)
	}
	return n, err
}

// tooLarge is the error for a response body beyond the limit.
func tooLarge(host string, limit int64) error {
	return errs.E(errs.TooLarge, "%s responds with more than %d bytes", host, limit)
}

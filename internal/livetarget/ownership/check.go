package ownership

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"merlon/internal/errs"
	"merlon/internal/outbound"
)

// This file looks for tokens.

// limits bound one look. A redirect is not followed: it would show who controls
// another place.
var limits = outbound.Limits{Body: 1 << 20, Time: 15 * time.Second, Redirects: -1}

// checkChallenge returns nil when the token stands at the place, a Conflict error when something
// else does, and any other error when nobody can tell.
//
// Seen are the addresses of the host that go with it: the one that served the token, or
// for a record in the DNS those that the host has now.
func (o *Verifier) checkChallenge(ctx context.Context, p Challenge, host string) (seen []netip.Addr, err error) {
	if p.Method == DNS {
		if err := o.checkDNS(ctx, p); err != nil {
			return nil, err
		}
		return o.Resolve(ctx, host)
	}
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if at, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
			seen = []netip.Addr{at.Addr().Unmap()}
		}
	}}
	err = o.checkHTTP(httptrace.WithClientTrace(ctx, trace), p)
	return seen, err
}

// checkHTTP looks at an address of the web.
func (o *Verifier) checkHTTP(ctx context.Context, p Challenge) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Where, nil)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "%s is no address", p.Where)
	}
	resp, err := o.Client.Do(req, limits)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read as far as it is of interest
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode >= 500 {
			return errs.E(errs.Unavailable, "%s responds with the status %d", p.Where, resp.StatusCode)
		}
		return errNotPublished(p, fmt.Sprintf("the response has the status %d (redirects are not "+
			"followed)", resp.StatusCode))
	}
	if p.Method == Header {
		if slices.ContainsFunc(resp.Header.Values(headerName), func(v string) bool {
			return equalTokens(strings.TrimSpace(v), p.token)
		}) {
			return nil
		}
		return errNotPublished(p, "the response does not have the header")
	}
	if p.Method == File {
		return findInFile(resp.Body, p)
	}
	return findInPage(resp.Body, p)
}

// checkDNS looks for the token in a TXT record of the host.
func (o *Verifier) checkDNS(ctx context.Context, p Challenge) error {
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	records, err := o.TXT(ctx, p.Where+".")
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return errNotPublished(p, "there is no such record")
	case err != nil:
		return errs.Wrap(errs.Unavailable, err, "the DNS does not respond for %s", p.Where)
	}
	if slices.ContainsFunc(records, func(r string) bool { return equalTokens(strings.TrimSpace(r), p.Value) }) {
		return nil
	}
	return errNotPublished(p, "the record has other content")
}

// findInFile wants the token and nothing else: a page that shows what it was asked for
// proves nothing.
func findInFile(body io.Reader, p Challenge) error {
	text, err := io.ReadAll(io.LimitReader(body, 1<<10))
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "%s cannot be read", p.Where)
	}
	if equalTokens(strings.TrimSpace(string(text)), p.Value) {
		return nil
	}
	return errNotPublished(p, "the file has other content")
}

// findInPage wants the element in the head of the page, where what visitors write does
// not come to stand. A page that is too long is looked at as far as it was read.
func findInPage(body io.Reader, p Challenge) error {
	page, err := html.Parse(io.LimitReader(body, 512<<10))
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "%s cannot be read", p.Where)
	}
	for n := range page.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Meta || n.Parent == nil || n.Parent.DataAtom != atom.Head {
			continue
		}
		var name, content string
		for _, a := range n.Attr {
			switch a.Key {
			case "name":
				name = a.Val
			case "content":
				content = a.Val
			}
		}
		if strings.EqualFold(name, metaName) && equalTokens(strings.TrimSpace(content), p.token) {
			return nil
		}
	}
	return errNotPublished(p, "the page has no such element in its head")
}

// equalTokens compares tokens in constant time.
func equalTokens(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// errNotPublished is the error that the challenge is not published yet, with the reason for the
// user.
func errNotPublished(p Challenge, why string) error {
	return errs.E(errs.Conflict, "the token was not found at %s (%s): %s", p.Where, p.Method, why)
}

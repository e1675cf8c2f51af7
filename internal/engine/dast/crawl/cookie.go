package crawl

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file keeps the cookies that the application sets for itself: what it reads from
// them it reads from whoever sends the request.

// A cookieSource is a cookie with the page that set it.
type cookieSource struct {
	message.Param
	path string // requests below it get the cookie (RFC 6265, section 5.1.4)
	by   *message.Request
	in   bool // it was set when the identity signed in, or is named as a session: which pages read it is asked
}

const (
	// maxCookies bounds the cookies that are attacked. Browsers keep some 180 of one site, so
	// that no application needs many.
	maxCookies   = 100
	maxPerCookie = 3  // operations that one cookie is attacked on
	maxReaders   = 40 // pages that are asked whether they read a cookie
)

// credentialCookie is in the names of cookies that hold a session, or a secret that belongs to
// it: another value is another visitor, and tells nothing of what a value does.
var credentialCookie = lazyregexp.New(`(?i)sess|(^|[^a-z])s?sid($|[^a-z])|token|auth|jwt|csrf|xsrf|ticket|remember|verification|^__(Host|Secure)-|^(_ga|_gid|_fbp|__utm|__cf|cf_|awsalb|incap_|visid_|bigip|bnsc)`)

// unreadCookie is in the names of cookies that no page reads by its value: secrets that bind a form to a
// session, and what counts visitors and spreads load.
var unreadCookie = lazyregexp.New(`(?i)csrf|xsrf|verification|^(_ga|_gid|_fbp|__utm|__cf|cf_|awsalb|incap_|visid_|bigip|bnsc)`)

// isChosenValue reports whether the value of a cookie that is named as a session was
// chosen and not drawn, as a user's name or a small document. A number is not: another
// one may be another user's. Only such a value can be changed with effect.
func isChosenValue(value string) bool {
	return wordsValue.MatchString(value) || structuredValue.MatchString(value)
}

var (
	wordsValue      = lazyregexp.New(`^[A-Za-z]{2,12}([ _.@-][A-Za-z]{2,12}){0,4}$`)
	structuredValue = lazyregexp.New(`^[\[{].*[\]}]$|^[A-Za-z_]{2,20}[=:][A-Za-z]{2,12}([&|;,][A-Za-z_]{2,20}[=:][A-Za-z]{2,12})*$`)
)

// Signed keeps the cookies of an answer to a sign-in that are no credentials: who somebody
// is, what he may, or how he likes it.
func (c *Crawler) Signed(resp *message.Response) { c.recordCookies(resp, true) }

// recordCookies keeps the cookies of an answer. Those that hold a session or a random
// value are left out: changing them proves nothing.
func (c *Crawler) recordCookies(resp *message.Response, in bool) {
	for _, set := range (&http.Response{Header: resp.Header}).Cookies() {
		value, err := url.PathUnescape(set.Value)
		if err != nil {
			value = set.Value
		}
		named := credentialCookie.MatchString(set.Name)
		if value == "" || set.MaxAge < 0 ||
			named && (unreadCookie.MatchString(set.Name) || !isChosenValue(value)) || isSecretValue(value) {
			continue
		}
		below := set.Path
		if !strings.HasPrefix(below, "/") {
			below = path.Dir(resp.Request.Path)
		}
		key := set.Name + " " + below
		c.mu.Lock()
		switch _, known := c.cookies[key]; {
		case known:
		case len(c.cookies) < maxCookies:
			c.cookies[key] = cookieSource{message.Param{Name: set.Name, Value: value}, below, resp.Request, in || named}
		default:
			c.result.tooManyCookies = true
		}
		c.mu.Unlock()
	}
}

// isSecretValue reports whether a value looks like one that was drawn: long, with
// letters and digits, and without what words and numbers are put together by. What is
// written in base 64 and holds words was made of something. Such values are drawn anew
// for each visitor.
func isSecretValue(value string) bool {
	return len(value) >= 20 && randomValue.MatchString(value) && strings.ContainsAny(value, "0123456789") &&
		strings.ContainsAny(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz") && !holdsWord(value)
}

// holdsWord reports whether a text in base 64 holds a word.
func holdsWord(value string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_",
		"/").Replace(strings.TrimRight(value, "=")))
	return err == nil && wordPattern.Match(plain)
}

// wordPattern is what one in 300 random texts of 40 characters holds.
var wordPattern = lazyregexp.New(`[a-z]{4}`)

var randomValue = lazyregexp.New(`^(s:)?[A-Za-z0-9+/=_.-]+$`)

// enrichWithCookies gives the cookies to the operations that are most likely to read
// them: those of the address that set them, forms of that page before others, then
// those below the cookie's path. Which pages read what a sign-in has set is asked. A
// cookie is tested on few operations, because most read none.
func (c *Crawler) enrichWithCookies(ctx context.Context) error {
	entries := c.Surface.Entries()
	for _, key := range slices.Sorted(maps.Keys(c.cookies)) {
		cookie := c.cookies[key]
		var fit []sitemap.Entry
		for _, e := range entries {
			if e.Request.Host == cookie.by.Host && isWithinPath(e.Request.Path, cookie.path) &&
				sitemap.ForbiddenReason(e.Request) == "" {
				fit = append(fit, e)
			}
		}
		if cookie.in {
			readers, err := c.cookieReaders(ctx, cookie, fit)
			if err != nil {
				return err
			}
			fit = readers
			delete(c.cookies, key)
		}
		slices.SortStableFunc(fit, func(a, b sitemap.Entry) int {
			return cookie.distanceTo(a.Request) - cookie.distanceTo(b.Request)
		})
		for _, e := range fit[:min(len(fit), maxPerCookie)] {
			c.Surface.Enrich(e.Request, nil, []message.Param{cookie.Param})
		}
	}
	return nil
}

// cookieReaders returns the pages that answer otherwise when a cookie has another value
// of the same kind, and the same as before when it has its own again. The second
// request shows that the difference is not by chance.
func (c *Crawler) cookieReaders(ctx context.Context, cookie cookieSource, pages []sitemap.Entry) ([]sitemap.Entry,
	error) {
	other := cookie.Value + "x"
	if n, err := strconv.Atoi(cookie.Value); err == nil {
		other = strconv.Itoa(n + 7919)
	}
	var out []sitemap.Entry
	asked := 0
	for _, e := range pages {
		if e.Request.Method != http.MethodGet || e.Response == nil || !c.Submit || len(out) == maxPerCookie {
			continue
		}
		if asked++; asked > maxReaders {
			break
		}
		changed := e.Request.Clone()
		changed.Cookies = append(changed.Cookies, message.Param{Name: cookie.Name, Value: other})
		differs := true
		for _, r := range []*message.Request{changed, e.Request} {
			resp, err := c.Client.Send(ctx, r, c.As)
			if traffic.IsFinal(err) {
				return nil, err
			}
			if like := err == nil && isAlike(e.Response, resp); like == (r == changed) {
				differs = false
				break
			}
		}
		if differs {
			out = append(out, e)
		}
	}
	return out, nil
}

// isAlike reports whether two answers are the same but for digits, and for what they set.
func isAlike(a, b *message.Response) bool {
	return a.Status == b.Status && digits.ReplaceAllString(a.Text(), "0") == digits.ReplaceAllString(b.Text(), "0")
}

// distanceTo is how far an operation is from what a cookie was set for. The nearest
// operations are tested first.
func (c *cookieSource) distanceTo(r *message.Request) int {
	far := 0
	if r.Referer != c.by.Address() && r.Path != c.by.Path {
		far += 4
	}
	if r.Body.Kind == message.NoBody {
		far += 2
		if len(r.Query) == 0 {
			far++
		}
	}
	return far
}

// isWithinPath reports whether a request for the path gets a cookie of the other one.
// This is the path match of RFC 6265, section 5.1.4.
func isWithinPath(at, cookie string) bool {
	rest, ok := strings.CutPrefix(at, cookie)
	return ok && (rest == "" || strings.HasSuffix(cookie, "/") || strings.HasPrefix(rest, "/"))
}

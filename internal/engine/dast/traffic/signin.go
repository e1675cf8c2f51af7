package traffic

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
)

// This file keeps the scan from locking anybody out. Applications lock an account or an
// address after a few wrong passwords, most of them after four or five; what any part of the
// scan sends to a sign-in form counts together.

// maxAttempts is how many refused sign-ins one address of the target gets, and one account, as
// long as the scan is not told to go further.
const maxAttempts = 3

// signIns are the attempts of a scan to sign in, apart from those with its own accounts and
// their passwords. It is safe for concurrent use.
type signIns struct {
	limit    int // of refused attempts per route; 0: none
	mu       sync.Mutex
	accounts map[string]string // of the scan's own identities: the password by the name
	routes   map[string]*attempts
	locked   string // the first sign of a lock; empty: none was seen
}

// attempts are those at one route.
type attempts struct {
	refused int
	first   *message.Response // that was refused
	left    string            // why no more are sent; empty: they are
}

// ProtectAccount has the client send no wrong password with the account of an identity.
func (c *Client) ProtectAccount(name, password string) {
	if name != "" && password != "" {
		c.signIns.mu.Lock()
		defer c.signIns.mu.Unlock()
		c.signIns.accounts[name] = password
	}
}

// A SignIn is a route where attempts to sign in were left out, and why.
type SignIn struct {
	Route, Reason string
}

// SignIns returns the routes where attempts to sign in were left out, and the first sign of a
// lock; empty: none was seen.
func (c *Client) SignIns() (left []SignIn, locked string) {
	c.signIns.mu.Lock()
	defer c.signIns.mu.Unlock()
	for route, a := range c.signIns.routes {
		if a.left != "" {
			left = append(left, SignIn{route, a.left})
		}
	}
	slices.SortFunc(left, func(a, b SignIn) int { return strings.Compare(a.Route, b.Route) })
	return left, c.signIns.locked
}

// WithSignIn returns a context for the requests by which an identity signs in, which are not
// counted.
func WithSignIn(ctx context.Context) context.Context {
	return context.WithValue(ctx, signingIn{}, true)
}

// signingIn is the key under which a context says that its requests sign in.
type signingIn struct{}

// Route is the name of a request in SignIns, Limited and Partial.
func Route(r *message.Request) string { return routeKey(r) }

// asksPassword reports whether a request signs in, registers, recovers or changes a password.
// What only asks (GET) does not: applications count what is sent.
func asksPassword(r *message.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return sitemap.IsPasswordRecovery(r.Path) || slices.ContainsFunc(r.Points(), func(p message.Point) bool {
		return isPassword(r, p)
	})
}

// isPassword reports whether a point takes a password.
func isPassword(r *message.Request, p message.Point) bool {
	switch p.In {
	case message.InForm, message.InMultipart, message.InJSON, message.InXML:
		return r.Types[p.Key()] == "password" || passwordName.MatchString(p.Name)
	}
	return false
}

// admitAttempt counts an attempt that is about to be sent. Its error says why it is not.
func (s *signIns) admitAttempt(ctx context.Context, r *message.Request) (counted bool, err error) {
	if ctx.Value(signingIn{}) != nil || !asksPassword(r) {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own, genuine := s.namesOwnAccount(r)
	if genuine {
		return false, nil
	}
	at := s.routes[routeKey(r)]
	if at == nil {
		at = &attempts{}
		s.routes[routeKey(r)] = at
	}
	why := ""
	switch {
	case s.locked != "":
		why = "attempts to sign in ended at the first sign of a lock: " + s.locked
	case own:
		why = "no wrong password is sent with the account of the scan"
	case s.limit > 0 && at.refused >= s.limit:
		why = fmt.Sprintf("it has rejected %d sign-in attempts: more could lock the account, and are left to the "+
			"profile full", at.refused)
	default:
		at.refused++ // until the answer says that it was not refused
		return true, nil
	}
	if at.left == "" || s.locked != "" {
		at.left = why
	}
	return false, errs.E(errs.Forbidden, "%s: %s", routeKey(r), why)
}

// namesOwnAccount reports whether a request names an account of the scan's own identities, and whether
// it comes with the password of that one. mu is held.
func (s *signIns) namesOwnAccount(r *message.Request) (own, genuine bool) {
	secrets, passwords := map[string]bool{}, []string{}
	for _, p := range r.Points() {
		if isPassword(r, p) {
			secrets[p.Value] = true
		} else if password, ok := s.accounts[p.Value]; ok {
			passwords = append(passwords, password)
		}
	}
	return len(passwords) > 0, slices.ContainsFunc(passwords, func(p string) bool { return secrets[p] })
}

// recordAttemptResponse looks at the response to an attempt: whether it was refused, and for signs of a lock.
// counted says that the attempt was counted.
func (s *signIns) recordAttemptResponse(resp *message.Response, counted bool) {
	if !counted {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.routes[routeKey(resp.Request)]
	if why := at.lockReason(resp); why != "" && s.locked == "" {
		s.locked = why
		return
	}
	if isRefusedAttempt(resp) {
		if at.first == nil {
			at.first = resp
		}
		return
	}
	at.refused--
}

// isRefusedAttempt reports whether a response refuses an attempt as such. What fails, or does not know
// the request, has counted nothing.
func isRefusedAttempt(resp *message.Response) bool {
	switch {
	case resp.Status >= 500, resp.Status == http.StatusNotFound, resp.Status == http.StatusMethodNotAllowed,
		resp.Status == http.StatusUnsupportedMediaType:
		return false
	case resp.Status >= 400:
		return true
	}
	return !resp.IsData()
}

// lockReason says why a response is the sign of a lock; empty: it is none.
func (a *attempts) lockReason(resp *message.Response) string {
	name := resp.Request.Method + " " + resp.Request.Location()
	switch {
	case resp.Status == http.StatusTooManyRequests, resp.Status == http.StatusLocked:
		return fmt.Sprintf("%s answered %d", name, resp.Status)
	case resp.Status >= 400 && resp.Header.Get("Retry-After") != "":
		return fmt.Sprintf("%s answered %d with Retry-After", name, resp.Status)
	case a.first == nil:
		return ""
	case resp.Status != a.first.Status && (resp.Status == http.StatusForbidden ||
		resp.Status == http.StatusNotAcceptable || resp.Status == http.StatusServiceUnavailable):
		return fmt.Sprintf("%s answered %d, after %d before", name, resp.Status, a.first.Status)
	}
	if word := lockWords.FindString(resp.Text()); word != "" && !strings.Contains(strings.ToLower(a.first.Text()),
		strings.ToLower(word)) {
		return fmt.Sprintf("%s answered %q", name, word)
	}
	return ""
}

// lockWords are those by which pages in English, German, French, Spanish, Italian, Portuguese,
// Dutch and Japanese say that somebody is locked out.
var lockWords = lazyregexp.New(`(?i)captcha|turnstile|too many (?:\w+ ){0,3}(?:attempts|requests|tries|log-?ins|failures)|rate.?limit|locked|suspended|(?:temporarily|been) (?:blocked|banned|disabled)|try again (?:later|in \d)` +
	`|zu viele|gesperrt|blockiert|versuchen sie es (?:später|in \d)|trop de |bloqué|verrouillé|réessaye[rz]` +
	`|demasiad[oa]s|bloquead[oa]|más tarde|tropp[ie] |bloccat[oa]|più tardi|muitas tentativas|mais tarde|te veel|geblokkeerd|vergrendeld|試行回数|ロック`)

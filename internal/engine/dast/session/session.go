// Package session signs the scan in as an identity of the target, proves that the sign-in worked,
// and signs in again when the session is lost.
//
// New checks the settings of an identity, [Session.SignIn] runs the one way of signing in that they
// name: a form, a JSON request, a flow of OAuth 2, recorded steps in a browser, or fixed headers
// and cookies, which need no request. Afterwards the session is a traffic.Session: the client calls
// Prepare before each request and Seen after each response. Prepare adds cookies and headers, and
// renews the session where it is lost or about to expire; Seen keeps new cookies and looks for
// signs of a sign-out.
//
// A suspicion is not enough to sign in again: the proof page (see proofPage) is requested first,
// because applications also redirect a signed-in user to the sign-in page for what he may not see.
//
// Budget: at most maxSigns sign-ins per scan and maxFails failures in a row, one proof per
// proveEvery requests or proveAfter. The package leaves to others: sending (traffic), reading forms
// (crawl), running script (browser).
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/redact"
	"merlon/internal/scan"
)

// Options say what a session needs.
type Options struct {
	// Client sends all requests of the sign-in, within the rate and the request budget of the scan.
	Client *traffic.Client
	// Scope says which hosts belong to the target: credentials are sent to these alone.
	Scope *sitemap.Scope
	// Now is the clock for one-time passwords, proofs and renewals; New sets time.Now where it is
	// nil.
	Now func() time.Time
	// Browse signs in with a browser: by recorded steps, or by a form that script shows;
	// nil: there is no browser.
	Browse func(context.Context, *Session, browser.Login) (*browser.SignInState, error)
	// Look sees the answers of the first sign-in, without credentials; nil: nobody does.
	Look func(*message.Response)
	// Secrets gets what the identity signs in with and what it is given for it.
	Secrets *redact.Set
}

// A Session is an identity signed in. It implements traffic.Session and is safe for
// concurrent use.
type Session struct {
	// The fields up to status are set by New and never change.
	o        Options
	identity scan.Identity
	// The patterns of the marker: in matches a page of a signed-in user, out one of a visitor; nil:
	// the identity has no such pattern.
	in, out *regexp.Regexp
	// The page of the marker, whose response shows whether the session is valid; nil: the marker
	// applies to any page.
	page *message.Request
	// The status that the marker expects of the page; 0: it names none.
	status int

	// Guards the fields that follow, down to landed.
	mu sync.Mutex
	// The cookies of the session, by host and path; reset begins with an empty jar at each sign-in.
	jar *cookiejar.Jar
	// Names of cookies that the target has set, at most maxNames; nil until the first one.
	names map[string]bool
	// Headers that each request to the target gets: those of the identity, and the token of the
	// sign-in.
	header []scan.Header
	// Credentials that the application has issued, such as an API key; they outlive a sign-in.
	handed []Credential
	// The session is known to be invalid; the next Prepare signs in again.
	lost bool
	// A sign-in has succeeded once. Before that nothing can be lost, and nothing is renewed.
	ever bool
	// Sign-ins that were begun, failed ones included.
	signs int
	// How often a valid session was lost. Above ten, responses are no longer trusted (IsUnstable).
	losses int
	// When the session was lost for the first time; zero: never.
	first time.Time
	// Sign-ins in a row that failed.
	fails int
	// Since when the session is lost; zero: it is valid.
	gone time.Time
	// When the session is to be renewed, a little before its token expires; zero: that is not
	// known.
	ends time.Time
	// Why the session was lost the last time, for the report.
	why string
	// Why the session may be lost; empty: there is no sign of it. The next request proves it.
	doubt string
	// Responses in a row that led to the sign-in page, where there is no proof page.
	led int
	// Routes ("GET https://host/path") that lead to the sign-in page although the session is valid,
	// such as pages of administrators. They raise no second doubt. At most maxNames.
	kept map[string]bool
	// Requests since the session was proven.
	asked int
	// When the session was proven.
	proved time.Time
	// A page that differs for a visitor, found by findProofPage; nil: none is known.
	learnt *message.Request
	// The form is sent by script, so that later sign-ins use the browser at once.
	script bool
	// The page on which the first sign-in ended; nil: it ended on none, as with a JSON request.
	landed *message.Request

	// Held during a sign-in, so that workers that notice the loss at the same time sign in once. It
	// is taken before mu, never while mu is held.
	signing sync.Mutex
}

// maxSigns bounds the sign-ins of one scan, and maxFails those in a row that fail: an
// account must not be locked.
const (
	maxSigns = 200
	maxFails = 2
)

// New returns a session that is not signed in yet. An Invalid error names what is
// wrong with the identity.
func New(identity scan.Identity, o Options) (*Session, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Session{o: o, identity: identity, status: identity.Marker.Status}
	fail := func(format string, args ...any) (*Session, error) {
		return nil, errs.E(errs.Invalid, "identity %.100q: "+format, append([]any{identity.Name}, args...)...)
	}
	// Several ways would contradict each other: it would be unclear whose failure ends the scan. A
	// fixed cookie or header may stand beside any of them.
	ways := 0
	for _, set := range []bool{identity.Form != nil, identity.JSON != nil, identity.OAuth != nil, identity.Bearer != "",
		identity.Basic != nil, len(identity.Steps) > 0} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		return fail("%d ways of signing in are set, not one", ways)
	}
	var err error
	if identity.Marker.In != "" {
		if s.in, err = regexp.Compile(identity.Marker.In); err != nil {
			return fail("marker: %v", err)
		}
	}
	if identity.Marker.Out != "" {
		if s.out, err = regexp.Compile(identity.Marker.Out); err != nil {
			return fail("marker: %v", err)
		}
	}
	if identity.Marker.URL != "" {
		if s.page, err = s.request(identity.Marker.URL); err != nil {
			return fail("marker: %v", err)
		}
	}
	// A secret that is no base32 is reported now, not in the middle of the sign-in.
	if len(identity.TOTP) > 0 {
		if _, err := totp(identity.TOTP, o.Now()); err != nil {
			return fail("%v", err)
		}
	}
	scan.AddSecrets(o.Secrets, &s.identity)
	// The client refuses requests with the password in their query. Where it equals the user name,
	// that would refuse each page of the user.
	if f := identity.Form; f != nil && f.Password != f.User {
		o.Client.Protect(f.Password)
	}
	// An old session cookie can make the sign-in page redirect to the start page without a form.
	s.reset()
	return s, nil
}

// request returns the request of an address of the target.
func (s *Session) request(address string) (*message.Request, error) {
	u, err := s.o.Scope.Base().Parse(address)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%.200q is no address", address)
	}
	r, err := message.FromURL(u)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%v", err)
	}
	// A typing error in the sign-in address must not send the password to a foreign host.
	if !s.o.Scope.Hosts(r.Host) && !s.isSignInHost(r) {
		if err := s.o.Scope.Allows(r); err != nil {
			return nil, errs.E(errs.Invalid, "credentials are sent to the target alone, not to %s: include its "+
				"address in the scope", r.Host)
		}
	}
	return r, nil
}

// reset forgets the session and begins with what is fixed.
func (s *Session) reset() {
	s.jar, _ = cookiejar.New(nil) // it cannot fail without options
	s.header = nil
	base := s.o.Scope.Base()
	if s.identity.Cookie != "" {
		s.jar.SetCookies(base, parseCookies(s.identity.Cookie))
	}
	s.header = append(s.header, s.identity.Header...)
	if s.identity.Bearer != "" {
		s.header = append(s.header, scan.Header{Name: "Authorization", Value: "Bearer " + s.identity.Bearer})
	}
	if b := s.identity.Basic; b != nil {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(b.User, b.Password)
		s.header = append(s.header, scan.Header{Name: "Authorization", Value: r.Header.Get("Authorization")})
	}
}

// parseCookies reads the value of a header Cookie.
func parseCookies(header string) []*http.Cookie {
	cookies, err := http.ParseCookie(header)
	if err != nil {
		return nil
	}
	for _, c := range cookies {
		// The header Cookie names no path, and the jar would otherwise derive one from the base
		// address.
		c.Path = "/"
	}
	return cookies
}

// Name implements traffic.Session.
func (s *Session) Name() string { return s.identity.Name }

// signsIn reports whether the identity has to do something to be signed in.
func (s *Session) signsIn() bool {
	i := &s.identity
	return i.Form != nil || i.JSON != nil || i.OAuth != nil || len(i.Steps) > 0
}

// Prepare implements traffic.Session. A session that is lost signs in again first.
func (s *Session) Prepare(ctx context.Context, req *http.Request) error {
	s.mu.Lock()
	// Without the limits a wrong password would be sent for each request, until the account is
	// locked.
	again := (s.lost || s.needsRenewal()) && s.signsIn() && s.ever && s.fails < maxFails && s.signs < maxSigns
	s.mu.Unlock()
	// Requests of a sign-in itself must not start another one: signing is held, so that would
	// deadlock.
	if ctx.Value(signingIn{}) == nil {
		var err error
		switch {
		case again:
			err = s.renew(ctx)
		case s.isProofDue():
			err = s.verifySession(ctx)
		}
		if traffic.IsFinal(err) {
			return err
		}
	}
	s.add(req)
	return nil
}

// signingIn marks the context of the requests of a sign-in.
type signingIn struct{}

// renew signs in again, once for all who wait.
func (s *Session) renew(ctx context.Context) error {
	s.signing.Lock()
	defer s.signing.Unlock()
	s.mu.Lock()
	// Another worker may have signed in while this one waited for the lock.
	lost := s.lost || s.needsRenewal()
	s.mu.Unlock()
	if !lost {
		return nil
	}
	return s.signIn(ctx)
}

// add puts the session into a request. What the request itself says stays: an attack
// on a cookie or a header is the request's own.
func (s *Session) add(req *http.Request) {
	// A check of the header Host sends a foreign name to the target's address. Trust depends on
	// where the connection goes.
	own := s.o.Scope.Trusts(req.URL.Scheme, req.URL.Host) // whatever the header Host says
	if at, err := message.FromURL(jarURL(req.URL)); !own && (err != nil || !s.isSignInHost(at)) {
		return // credentials are for the target alone, and cookies for who set them
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.header {
		if own && req.Header.Get(h.Name) == "" {
			req.Header.Set(h.Name, h.Value)
		}
	}
	if own {
		for _, c := range s.handed {
			c.addTo(req)
		}
	}
	sent := map[string]bool{}
	for _, c := range req.Cookies() {
		sent[c.Name] = true
	}
	var cookies []string
	// Cookies of the request stand first: servers that see a name twice mostly take the first
	// value.
	if said := req.Header.Get("Cookie"); said != "" {
		cookies = append(cookies, said)
	}
	for _, c := range s.jar.Cookies(jarURL(req.URL)) { // the oldest first
		if !sent[c.Name] && len(cookies) < maxCookies {
			cookies = append(cookies, c.Name+"="+c.Value)
		}
	}
	if len(cookies) > 0 {
		req.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
}

// maxCookies is how many cookies a request takes of the session: browsers keep some 180 of
// one site.
const maxCookies = 180

// jarURL is an address as cookie jars want it.
func jarURL(u *url.URL) *url.URL {
	c := *u
	if c.Opaque != "" {
		c.Opaque = ""
	}
	return &c
}

// Seen implements traffic.Session: it keeps cookies and looks for signs that the
// session is lost.
func (s *Session) Seen(resp *message.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.o.Scope.Hosts(resp.Request.Host) || s.isSignInHost(resp.Request) {
		// Cookies that only repeat an attack, and those above the limit of names, do not enter the
		// jar.
		if set := (&http.Response{Header: resp.Header}).Cookies(); len(set) > 0 {
			repeated := s.repeats(resp.Request)
			set = slices.DeleteFunc(set, func(c *http.Cookie) bool { return repeated(c) || s.tooMany(c) })
			s.jar.SetCookies(jarURL(resp.Request.URL()), set)
			s.recordCookies(resp.Request, set)
		}
	}
	if s.lost || !s.ever || !s.signsIn() {
		return
	}
	s.detectLoss(resp)
}

// repeats returns what reports whether a cookie that the session has already gets a value that
// the request itself has sent: the language, the level or the like that somebody chooses, which
// may be an attack. Everything that is asked for later would be asked with it. mu is held.
func (s *Session) repeats(r *message.Request) func(*http.Cookie) bool {
	sent, has := map[string]bool{}, map[string]string{}
	if s.ever {
		for _, p := range r.Points() {
			if p.In != message.InCookie && p.In != message.InPath && p.Value != "" {
				sent[p.Value] = true
			}
		}
	}
	// The jar is read only where the request has sent values, because this runs for each response.
	if len(sent) > 0 {
		for _, c := range s.jar.Cookies(jarURL(r.URL())) {
			has[c.Name] = c.Value
		}
	}
	return func(c *http.Cookie) bool {
		if old := has[c.Name]; old == "" || old == c.Value {
			return false
		}
		// A language cookie often comes back percent-encoded: "de%2DCH" for "de-CH".
		plain, err := url.QueryUnescape(c.Value)
		return sent[c.Value] || err == nil && sent[plain]
	}
}

// Pages are those that show who is signed in: the one on which the sign-in ended, and that
// of the marker. An application may have no other way in.
func (s *Session) Pages() []*message.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*message.Request
	for _, r := range []*message.Request{s.landed, s.page} {
		if r != nil {
			seed := &message.Request{Method: http.MethodGet, Scheme: r.Scheme, Host: r.Host, Path: r.Path,
				Query: slices.Clone(r.Query), Origin: "sign-in"}
			out = append(out, seed)
		}
	}
	return out
}

// maxNames is how many names of cookies are kept: looking through more for each request
// would take longer than the request.
const maxNames = 1000

// tooMany reports whether the target has set cookies of so many names that another one is
// not kept. mu is held.
func (s *Session) tooMany(c *http.Cookie) bool {
	if s.names == nil {
		s.names = map[string]bool{}
	}
	// Some applications set a cookie with a new name for each page, such as "seen_4711".
	if s.names[c.Name] || len(s.names) < maxNames {
		s.names[c.Name] = true
		return false
	}
	return true
}

// lose notes that the session does not hold any more.
func (s *Session) lose(why string) {
	if s.ever && !s.lost {
		if s.losses++; s.losses == 1 {
			s.first = s.o.Now()
		}
	}
	s.lost, s.why = true, why
	// A second loss before the next sign-in keeps the earlier time.
	if s.gone.IsZero() {
		s.gone = s.o.Now()
	}
}

// tellsOut says why an answer shows that nobody is signed in; empty: it does not.
func (s *Session) tellsOut(resp *message.Response) string {
	switch {
	case s.out != nil && (s.out.MatchString(resp.Text()) || s.out.MatchString(resp.Head())):
		return "a response contains the marker of a signed-out user"
	case s.page != nil && sitemap.OperationKey(s.page) == sitemap.OperationKey(resp.Request) && !s.holds(resp):
		return "the page of the marker does not show the session"
	case s.out == nil && s.identity.Form != nil && s.leadsToLogin(resp):
		return "the application leads to the page for signing in"
	case s.out == nil && s.identity.JSON != nil && resp.Status == http.StatusUnauthorized && s.page == nil:
		// An API returns 401 also for an operation that needs another role.
		return "" // any operation may refuse; only the marker tells
	}
	return ""
}

// leadsToLogin reports whether the answer redirects to the login page.
func (s *Session) leadsToLogin(resp *message.Response) bool {
	to := resp.Location()
	login, err := s.o.Scope.Base().Parse(s.identity.Form.URL)
	return err == nil && to != nil && to.Host == login.Host && to.Path == login.Path &&
		// The sign-in page that redirects to itself, to set a first cookie, shows no loss.
		resp.Request.Path != login.EscapedPath()
}

// holds reports whether the answer of the marker's page shows the session.
func (s *Session) holds(resp *message.Response) bool {
	switch {
	case s.status != 0 && resp.Status != s.status:
		return false
	// The pattern may match a header: an API shows the user there and not in its body.
	case s.in != nil:
		return s.in.MatchString(resp.Text()) || s.in.MatchString(resp.Head())
	case s.out != nil:
		return !s.out.MatchString(resp.Text())
	}
	return s.status != 0 || resp.Status < 300
}

// SignIn signs in and proves it. An identity that has nothing to do is proven by its
// marker alone.
func (s *Session) SignIn(ctx context.Context) error {
	s.signing.Lock()
	defer s.signing.Unlock()
	return s.signIn(ctx)
}

// signIn forgets what the session holds, signs the identity in by the way that its
// settings say, and proves it. A form that does not work without its script is tried
// again in a browser.
func (s *Session) signIn(ctx context.Context) error {
	// The sign-in sends a POST, which the guard against side effects would otherwise have to judge.
	ctx = traffic.WithSignIn(traffic.WithoutSideEffectCheck(context.WithValue(ctx, signingIn{}, true)))
	s.mu.Lock()
	s.reset()
	s.signs++
	s.mu.Unlock()
	landed, err := s.enter(ctx)
	if err == nil {
		err = s.prove(ctx, landed)
	}
	// Only the first sign-in tries the browser. A form that worked once needs none, and a second
	// attempt with the same password counts towards a lockout.
	if err != nil && !traffic.IsFinal(err) && s.identity.Form != nil && !s.script && !s.ever {
		landed, err = nil, s.enterByScript(ctx, err)
	}
	if err == nil {
		err = s.findProofPage(ctx, landed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.header {
		scan.AddSecrets(s.o.Secrets, &scan.Identity{Header: []scan.Header{h}})
	}
	// A sign-in is a proof by itself, whatever its result.
	s.asked, s.proved, s.doubt, s.led = 0, s.o.Now(), "", 0
	if err != nil {
		s.fails++
		s.lose(err.Error())
		return err
	}
	if landed != nil && landed.Request.Method == http.MethodGet && s.landed == nil {
		s.landed = landed.Request
	}
	s.fails, s.lost, s.ever, s.gone = 0, false, true, time.Time{}
	s.ends = tokenRenewalTime(s.header, s.o.Now())
	return nil
}

// enter does what the identity has to do, and returns the page on which it ends; nil:
// none.
func (s *Session) enter(ctx context.Context) (*message.Response, error) {
	switch i := &s.identity; {
	case i.Form != nil && s.script:
		return nil, s.browseForm(ctx)
	case i.Form != nil:
		return s.submitPasswordForm(ctx, i.Form)
	case i.JSON != nil:
		return nil, s.json(ctx, i.JSON)
	case i.OAuth != nil:
		return nil, s.runOAuthGrant(ctx, i.OAuth)
	case len(i.Steps) > 0:
		return nil, s.browse(ctx, browser.Login{Steps: slices.Clone(i.Steps)})
	}
	return nil, nil
}

// fill puts a one-time password in the place of {{totp}}.
func (s *Session) fill(text string) (string, error) {
	if !strings.Contains(text, "{{totp}}") {
		return text, nil
	}
	code, err := totp(s.identity.TOTP, s.o.Now())
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(text, "{{totp}}", code), nil
}

// prove checks that the session holds. Without a marker it finds one: what the page
// after the sign-in has and the same page has not for a visitor.
func (s *Session) prove(ctx context.Context, landed *message.Response) error {
	// The identity has a marker: it decides alone.
	if page := s.proofPage(); page != nil && (s.page != nil || s.hasMarker()) {
		resp, err := s.follow(ctx, page, 3)
		if err != nil {
			return err
		}
		if !s.holds(resp) {
			return errs.E(errs.Unavailable, "signing in as %q failed: %s %s returned %d without "+
				"the marker", s.identity.Name, page.Method, page.Location(), resp.Status)
		}
		return nil
	}
	if landed == nil {
		return nil
	}
	// Without a marker, a form that is shown again is the one reliable sign of a wrong password:
	// most applications return 200 for it.
	if s.asks(landed) {
		return errs.E(errs.Unavailable, "signing in as %q failed: the application shows the "+
			"form again", s.identity.Name)
	}
	return nil
}

// asks reports whether the page has a form with a password.
func (s *Session) asks(resp *message.Response) bool {
	return resp.Status == http.StatusUnauthorized || resp.Status == http.StatusForbidden || loginForm(resp) != nil
}

// follow sends a request within a sign-in and follows redirects.
func (s *Session) follow(ctx context.Context, r *message.Request, steps int) (*message.Response, error) {
	for ; ; steps-- {
		resp, err := s.o.Client.Send(ctx, r, s)
		if err != nil {
			return nil, err
		}
		s.showResponse(resp)
		to := resp.Location()
		// A redirect that is left over is returned as it is: the caller decides by its status.
		if to == nil || steps == 0 {
			return resp, nil
		}
		next, err := message.FromURL(to)
		// A redirect out of the scope ends here. The response before it often has set the cookie
		// already.
		if err != nil || s.o.Scope.Allows(next) != nil {
			return resp, nil
		}
		r = next
	}
}

// json signs in by a request and takes the token out of its answer.
func (s *Session) json(ctx context.Context, l *scan.JSONLogin) error {
	r, err := s.request(l.URL)
	if err != nil {
		return err
	}
	r.Method = http.MethodPost
	if l.Method != "" {
		r.Method = strings.ToUpper(l.Method)
	}
	body, err := s.fill(string(l.Body))
	if err != nil {
		return err
	}
	r.Body = message.Body{Kind: message.Text, Text: []byte(body), Type: l.Type}
	if r.Body.Type == "" {
		r.Body.Type = "application/json"
	}
	resp, err := s.o.Client.Send(ctx, r, s)
	if err != nil {
		return err
	}
	s.showResponse(resp)
	if resp.Status >= 400 {
		return errs.E(errs.Unavailable, "signing in as %q failed: %s returned %d", s.identity.Name, r.Location(),
			resp.Status)
	}
	s.recordCredentials(resp.Body)
	token, err := findToken(resp.Body, l.Token)
	if err != nil {
		// Single-page applications often sign in by JSON and keep the session in a cookie.
		if l.Token == "" && len(resp.Header.Values("Set-Cookie")) > 0 {
			return nil // the session is a cookie
		}
		return errs.E(errs.Unavailable, "signing in as %q: %v", s.identity.Name, err)
	}
	name, prefix := l.Header, l.Prefix
	if name == "" {
		name = "Authorization"
	}
	// RFC 6750, section 2.1. A header of another name, such as X-Auth-Token, takes the token alone.
	if prefix == "" && strings.EqualFold(name, "Authorization") {
		prefix = "Bearer "
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = append(s.header, scan.Header{Name: name, Value: strings.TrimSpace(prefix + token)})
	return nil
}

// findToken finds a token in a JSON text: at the pointer, else the only string whose name
// says that it is one, else the longest that looks like one.
func findToken(text []byte, pointer string) (string, error) {
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return "", fmt.Errorf("the response is not JSON, so it contains no token")
	}
	if pointer != "" {
		return tokenAt(root, pointer)
	}
	best, rank := "", 0
	walkStrings(root, "", 0, func(name, value string) {
		if r := rankToken(name, value); r > rank && value != "" {
			best, rank = value, r
		}
	})
	if rank == 0 {
		return "", fmt.Errorf("the response has no token")
	}
	return best, nil
}

// tokenAt returns the text at a pointer (RFC 6901) into objects.
func tokenAt(root any, pointer string) (string, error) {
	at := root
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		// A step into what is no object gives nil, and the remaining steps keep it nil.
		object, _ := at.(map[string]any)
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	if s, ok := at.(string); ok && s != "" {
		return s, nil
	}
	return "", fmt.Errorf("the response has no text at %s", pointer)
}

// rankToken returns how likely a member is the token to send, by its name and the form of its
// value; 0: it is none. The access token goes before the ID token, which names the user for the
// client and which many APIs refuse. A refresh token only obtains new tokens and opens nothing.
func rankToken(name, value string) int {
	switch n := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)); {
	case n == "accesstoken":
		return 5
	case n == "token" || n == "authtoken" || n == "jwt" || n == "authenticationtoken":
		return 4
	case n == "idtoken" || n == "sessiontoken":
		return 3
	case jwt.MatchString(value):
		return 2
	case strings.HasSuffix(n, "token") && n != "refreshtoken":
		return 1
	}
	return 0
}

// jwt matches the form of a JSON Web Token.
var jwt = lazyregexp.New(`^[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*$`)

// walkStrings gives each string below a value to f, with its name.
func walkStrings(v any, name string, depth int, f func(name, value string)) {
	// Bounds the stack: the text comes from the target. Sign-in responses are flat in practice.
	if depth > 20 {
		return
	}
	switch v := v.(type) {
	case string:
		f(name, v)
	case map[string]any:
		for k, inner := range v {
			walkStrings(inner, k, depth+1, f)
		}
	case []any:
		for _, inner := range v {
			walkStrings(inner, name, depth+1, f)
		}
	}
}

// A State says how the session is.
type State struct {
	// Lost reports that the session is invalid now.
	Lost bool
	// Since is when the session was lost for good; zero: it is valid.
	Since time.Time
	// Why is the sign of the last loss, or the error of the last sign-in.
	Why string
	// Signs counts the sign-ins so far, failed ones included.
	Signs int
	// Losses is how often it was lost, with or without another sign-in, and First when that
	// began.
	Losses int
	First  time.Time
}

// IsUnstable reports whether the session was lost so often that what was asked says little:
// with each loss one answer at least is that to a visitor.
// Ten losses happen in a long scan of an application with short sessions.
func (s *State) IsUnstable() bool { return s.Losses > 10 }

// State returns how the session is now.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{Lost: s.lost, Since: s.gone, Why: s.why, Signs: s.signs, Losses: s.losses, First: s.first}
}

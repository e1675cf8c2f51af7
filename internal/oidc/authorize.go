package oidc

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// This file holds the authorization endpoint and the page on which a person
// agrees: OpenID Connect Core 1.0, section 3.1.2, with PKCE S256 for everybody
// (RFC 9700, section 2.1.1).

const (
	requestLife = 30 * time.Minute // to sign in and agree
	codeLife    = time.Minute
	maxParam    = 1024 // bytes of state, nonce and the like
	sealRequest = "oidc authorization request"
)

// A request is an authorization request on its way through the pages. It travels
// sealed in their address: strangers leave no trace in the database, and every
// process can go on with it.
type request struct {
	ClientID    string        `json:"c"`
	RedirectURI string        `json:"r"`
	State       string        `json:"s,omitempty"`
	Nonce       string        `json:"n,omitempty"`
	Scopes      []string      `json:"o"`
	Challenge   string        `json:"h"`
	Offline     bool          `json:"f,omitempty"` // gives a refresh token
	Hint        string        `json:"e,omitempty"` // e-mail address to sign in with
	Ask         bool          `json:"k,omitempty"` // for consent, whatever was agreed to before
	Subject     tenant.UserID `json:"u,omitempty"` // who must be signed in; empty for anybody
	AuthAfter   time.Time     `json:"a"`           // the password must have been typed since; zero for any time
	CreatedAt   time.Time     `json:"t"`
}

// sealRequest returns the request as an opaque parameter. It is sealed and not only signed:
// the address of the page stays in histories and logs.
func (p *Provider) sealRequest(r request) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic("oidc: a request has no JSON form: " + err.Error()) // impossible
	}
	return base64.RawURLEncoding.EncodeToString(p.Box.Seal(text, sealRequest))
}

// openRequest reads what sealRequest wrote.
func (p *Provider) openRequest(sealed string) (request, *client, error) {
	// One error for all reasons: the person can do nothing else in any case.
	over := errs.E(errs.Invalid, "invalid or expired sign-in request: go back to the application and start again")
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return request{}, nil, over
	}
	text, err := p.Box.Open(raw, sealRequest)
	if err != nil {
		return request{}, nil, over
	}
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return request{}, nil, over
	}
	c, now := p.clients[r.ClientID], p.Now()
	// The application is checked again: it may have been removed from the configuration since.
	if c == nil || c.checkRedirect(r.RedirectURI) != nil || now.After(r.CreatedAt.Add(requestLife)) ||
		now.Before(r.CreatedAt.Add(-skew)) {
		return request{}, nil, over
	}
	return r, c, nil
}

// A refusal is what the authorization endpoint sends back to the application.
type refusal struct{ code, description string }

// handleAuthorize answers /oidc/auth. What is wrong with the application or its address
// is shown to the person; everything else goes back to the application.
func (p *Provider) handleAuthorize(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, err := v.authorizeForm(w, r)
	if err != nil {
		return err
	}
	c := p.clients[form.Get("client_id")]
	if c == nil {
		return errs.E(errs.Invalid, "unknown client_id")
	}
	back := form.Get("redirect_uri")
	if err := c.checkRedirect(back); err != nil {
		return errs.E(errs.Invalid, "%s", err)
	}
	req := request{
		ClientID: c.id, RedirectURI: back, State: form.Get("state"), Nonce: form.Get("nonce"),
		Scopes: knownScopes(strings.Fields(form.Get("scope"))), Challenge: form.Get("code_challenge"),
		Hint: form.Get("login_hint"), CreatedAt: p.Now(),
	}
	prompts := strings.Fields(form.Get("prompt"))
	no := p.completeRequest(form, &req, prompts)
	if hint := form.Get("id_token_hint"); no == nil && hint != "" {
		about, err := p.openToken(r.Context(), hint, "JWT") // an expired one will do
		if err != nil || about.AuthorizedParty != c.id {
			no = &refusal{"invalid_request", "invalid id_token_hint: not issued by this server or not to this " +
				"application"}
		}
		req.Subject = tenant.UserID(about.Subject)
	}
	if no != nil {
		p.sendBack(w, r, req, url.Values{"error": {no.code}, "error_description": {no.description}})
		return nil
	}
	if slices.Contains(prompts, "none") {
		return p.authorizeSilently(w, r, c, req)
	}
	http.Redirect(w, r, "/auth/consent?request="+p.sealRequest(req), http.StatusSeeOther)
	return nil
}

// authorizeSilently answers a request with prompt=none, which shows no page: with a
// code when the person is signed in and has agreed before, else with what would
// have to be asked.
func (p *Provider) authorizeSilently(w http.ResponseWriter, r *http.Request, c *client, req request) error {
	no := refusal{"login_required", "user not signed in"}
	se, err := p.currentSession(r)
	switch {
	case errs.Is(err, errs.Unauthenticated):
	case err != nil:
		return err
	case se.AuthTime.Before(req.AuthAfter):
		no.description = "re-authentication required"
	case req.Subject != "" && req.Subject != se.UserID:
		no.description = "a different user is signed in"
	default:
		agreed, err := p.hasConsent(r.Context(), c, req, se)
		if err != nil {
			return err
		}
		if agreed {
			return p.sendCode(w, r, req, se)
		}
		no = refusal{"consent_required", "consent required"}
	}
	p.sendBack(w, r, req, url.Values{"error": {no.code}, "error_description": {no.description}})
	return nil
}

// hasConsent reports whether the person has agreed before to what the application asks
// for. Only an application with a secret may rely on that: any program on the
// person's machine can pass for a native one (RFC 8252, section 8.6).
func (p *Provider) hasConsent(ctx context.Context, c *client, req request, se identity.Session) (bool, error) {
	if c.native || req.Ask {
		return false, nil
	}
	consents, err := p.Store.Consents(ctx, se.UserID)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(consents, func(consent grant.Consent) bool { return consent.ClientID == c.id })
	more := func(s string) bool { return !slices.Contains(consents[i].Scopes, s) }
	return i >= 0 && !slices.ContainsFunc(req.Scopes, more), nil
}

// sendCode sends the browser back with a code.
func (p *Provider) sendCode(w http.ResponseWriter, r *http.Request, req request, se identity.Session) error {
	code, err := p.newCode(r.Context(), req, se)
	if err != nil {
		return err
	}
	p.sendBack(w, r, req, url.Values{"code": {code}})
	return nil
}

// authorizeForm returns the parameters of a request, each once.
func (v *visit) authorizeForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if len(r.URL.RawQuery) > maxForm {
		return nil, errs.E(errs.TooLarge, "request too long")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, errs.E(errs.Invalid, "malformed request")
	}
	for name, values := range r.Form {
		// RFC 6749, section 3.1: parameters must not be included more than once. resource may (RFC
		// 8707, section 2).
		if len(values) > 1 && name != "resource" {
			return nil, errs.E(errs.Invalid, "duplicate parameter %s (%d times)", safeParameterName(name), len(values))
		}
		for _, value := range values {
			if err := checkText(safeParameterName(name), value, maxForm); err != nil {
				return nil, errs.E(errs.Invalid, "%s", err)
			}
		}
	}
	return r.Form, nil
}

// completeRequest says what is wrong with a request, or completes it and returns nil.
func (p *Provider) completeRequest(form url.Values, req *request, prompts []string) *refusal {
	if no := checkLengths(form, req); no != nil {
		return no
	}
	if no := checkParameters(form, req, prompts); no != nil {
		return no
	}
	if err := p.checkResource(form["resource"]); err != nil {
		return &refusal{"invalid_target", "invalid resource: must be " + p.BaseURL}
	}
	req.Scopes = withAPI(req.Scopes, form["resource"], tenant.AllTokenScopes)
	if slices.Contains(prompts, "login") || slices.Contains(prompts, "select_account") {
		// Both prompts mean that a session from before does not count.
		req.AuthAfter = req.CreatedAt
	}
	req.Ask = slices.Contains(prompts, "consent")
	if text := form.Get("max_age"); text != "" {
		age, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return &refusal{"invalid_request", "invalid max_age: must be a number of seconds"}
		}
		if since := req.CreatedAt.Add(-time.Duration(age) * time.Second); since.After(req.AuthAfter) {
			req.AuthAfter = since
		}
	}
	// Core 1.0, section 11: offline access is given only where it is asked about.
	req.Offline = slices.Contains(req.Scopes, "offline_access") && slices.Contains(prompts, "consent")
	if !req.Offline {
		req.Scopes = slices.DeleteFunc(req.Scopes, func(s string) bool { return s == "offline_access" })
	}
	return nil
}

// checkLengths bounds the parameters that are stored with the request or given back: anybody
// can send a browser here with megabytes of them.
func checkLengths(form url.Values, req *request) *refusal {
	for _, name := range []string{"state", "nonce", "login_hint"} {
		if len(form.Get(name)) <= maxParam {
			continue
		}
		if name == "state" {
			req.State = "" // what cannot be taken cannot be given back
		}
		return &refusal{"invalid_request", name + " exceeds " + strconv.Itoa(maxParam) + " bytes"}
	}
	return nil
}

// checkParameters refuses what this provider does not offer: request objects (OpenID Connect
// Core 1.0, section 6), flows other than the code with PKCE (RFC 9700, section 2.1), and
// requests that are not of OpenID Connect.
func checkParameters(form url.Values, req *request, prompts []string) *refusal {
	switch mode := form.Get("response_mode"); {
	case form.Get("request") != "":
		return &refusal{"request_not_supported", "unsupported parameter: request objects are not supported"}
	case form.Get("request_uri") != "":
		return &refusal{"request_uri_not_supported", "unsupported parameter: request objects are not supported"}
	case form.Get("response_type") == "":
		return &refusal{"invalid_request", "missing response_type"}
	case form.Get("response_type") != "code":
		return &refusal{"unsupported_response_type", "unsupported response_type: only code is supported"}
	case mode != "" && mode != "query":
		return &refusal{"invalid_request", "unsupported response_mode: only query is supported"}
	case !isChallenge(req.Challenge) || form.Get("code_challenge_method") != "S256":
		return &refusal{"invalid_request", "PKCE required: send code_challenge with code_challenge_method=S256"}
	case len(req.Scopes) == 0 || !slices.Contains(req.Scopes, "openid"):
		return &refusal{"invalid_scope", "missing scope openid"}
	case slices.Contains(prompts, "none") && len(prompts) > 1:
		return &refusal{"invalid_request", "invalid prompt: none cannot be combined with other values"}
	}
	return nil
}

// isChallenge reports whether the text is a SHA-256 in base64url.
func isChallenge(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == 32
}

// sendBack sends the browser to the application, with the issuer, so that an
// application with several providers knows whom it hears (RFC 9207).
func (p *Provider) sendBack(w http.ResponseWriter, r *http.Request, req request, result url.Values) {
	// The registered address may have a query of its own, which is kept (RFC 6749, section
	// 3.1.2).
	u, err := url.Parse(req.RedirectURI)
	if err != nil {
		panic("oidc: a checked redirect address cannot be read: " + err.Error()) // impossible
	}
	q := u.Query()
	for name, values := range result {
		q[name] = values
	}
	if req.State != "" {
		q.Set("state", req.State)
	}
	q.Set("iss", p.issuer)
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
}

// consentView is what the consent page shows.
type consentView struct {
	Sealed string
	Client string
	Host   string // where the browser goes next
	Email  string
	Scopes []string
	Ends   string // when the access ends, in words
	Kept   bool   // the consent is remembered
}

// accessEnds says in words how long the access of an application lasts.
func (p *Provider) accessEnds(offline bool) string {
	if offline {
		return "The access ends on " + pageTime(p.Now().Add(p.RefreshLifetime)) + ", or when you revoke it on your " +
			"account page."
	}
	return fmt.Sprintf("The access ends when you sign out in this browser, and after %d minutes at the "+
		"latest.", int(p.longestLifetime().Minutes()))
}

// getConsent asks a person who is signed in whether the application may act.
func (p *Provider) getConsent(w http.ResponseWriter, r *http.Request, v *visit) error {
	sealed := r.URL.Query().Get("request")
	req, c, err := p.openRequest(sealed)
	if err != nil {
		return err
	}
	se, err := p.currentSession(r)
	if errs.Is(err, errs.Unauthenticated) || err == nil && se.AuthTime.Before(req.AuthAfter) {
		v.signInFirst(w, r, req.Hint)
		return nil
	}
	if err != nil {
		return err
	}
	if req.Subject != "" && req.Subject != se.UserID {
		// Whoever signs in for this request must be the person of the id_token_hint
		// (Core 1.0, section 3.1.2.1).
		if se.AuthTime.Before(req.CreatedAt) {
			v.signInFirst(w, r, req.Hint)
			return nil
		}
		p.sendBack(w, r, req, url.Values{"error": {"login_required"},
			"error_description": {"a different user signed in"}})
		return nil
	}
	agreed, err := p.hasConsent(r.Context(), c, req, se)
	if err != nil {
		return err
	}
	if agreed {
		return p.sendCode(w, r, req, se)
	}
	u, err := p.People.User(r.Context(), se.UserID)
	if err != nil {
		return err
	}
	back, err := url.Parse(req.RedirectURI)
	if err != nil {
		return err
	}
	view := consentView{Sealed: sealed, Client: c.name, Host: back.Scheme + "://" + back.Host, Email: u.Email,
		Scopes: scopesInWords(req.Scopes),
		Ends:   p.accessEnds(req.Offline), Kept: !c.native}
	v.formAction = formAction(back)
	return v.renderPage(w, http.StatusOK, "consent", view)
}

// formAction is the source that the content security policy of the consent page
// needs, because browsers apply it to the redirect that follows the form. The
// policy has no way to write an IPv6 address.
func formAction(u *url.URL) string {
	if u.Scheme != "http" && u.Scheme != "https" || strings.Contains(u.Host, "[") {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// postConsent sends the person back with a code, or without.
func (p *Provider) postConsent(w http.ResponseWriter, r *http.Request, v *visit) error {
	req, c, err := p.openRequest(r.PostForm.Get("request"))
	if err != nil {
		return err
	}
	se, err := p.currentSession(r)
	if err != nil {
		return err
	}
	if se.AuthTime.Before(req.AuthAfter) || req.Subject != "" && req.Subject != se.UserID {
		return errs.E(errs.Unauthenticated, "sign in again first")
	}
	// Anything but an explicit consent is a refusal.
	if r.PostForm.Get("decision") != "allow" {
		p.sendBack(w, r, req, url.Values{"error": {"access_denied"}, "error_description": {"consent denied"}})
		return nil
	}
	if !c.native {
		err := p.Store.AddConsent(r.Context(), grant.Consent{UserID: se.UserID, ClientID: c.id, Scopes: req.Scopes,
			IP: remoteIP(r)})
		if err != nil {
			return err
		}
	}
	return p.sendCode(w, r, req, se)
}

// newCode stores an authorization code and returns it. The code is random and stored as its
// hash, bound to client, redirect address and PKCE challenge.
func (p *Provider) newCode(ctx context.Context, req request, se identity.Session) (string, error) {
	code, now := rand.Text(), p.Now()
	err := p.Store.AddCode(ctx, grant.Code{
		Hash: grant.Hash(code), UserID: se.UserID, ClientID: req.ClientID, SessionID: string(se.ID),
		RedirectURI: req.RedirectURI,
		Challenge:   req.Challenge, Nonce: req.Nonce, Scopes: req.Scopes, Offline: req.Offline,
		AuthTime: se.AuthTime, CreatedAt: now, ExpiresAt: now.Add(codeLife),
	})
	return code, err
}

// logoutView is what the sign-out page shows.
type logoutView struct {
	Email string // of who is signed in
	Next  string // where to go afterwards; may be empty
	State string
	App   string // the application that asked
}

// signedOutView is what the page after signing out shows. The address was checked;
// the template would not take the scheme of an editor.
type signedOutView struct{ Next template.URL }

// endSession answers /oidc/end_session (OpenID Connect RP-Initiated Logout 1.0).
// An ID token that the provider issued for the person who is signed in proves
// that an application of theirs asks; otherwise the person is asked.
func (p *Provider) endSession(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, err := v.authorizeForm(w, r)
	if err != nil {
		return err
	}
	view := logoutView{Next: form.Get("post_logout_redirect_uri"), State: form.Get("state"), App: form.Get("client_id")}
	var hinted string
	if hint := form.Get("id_token_hint"); hint != "" {
		about, err := p.openToken(r.Context(), hint, "JWT") // an expired one will do
		if err != nil || view.App != "" && view.App != about.AuthorizedParty {
			return errs.E(errs.Invalid, "invalid id_token_hint: not issued by this server or not to this application")
		}
		view.App, hinted = about.AuthorizedParty, about.Subject
	}
	if err := p.checkLogout(view); err != nil {
		return err
	}
	se, err := p.currentSession(r)
	if errs.Is(err, errs.Unauthenticated) {
		return p.signedOut(w, r, v, view)
	}
	if err != nil {
		return err
	}
	if hinted != "" && hinted == string(se.UserID) {
		if err := p.signOut(w, r); err != nil {
			return err
		}
		return p.signedOut(w, r, v, view)
	}
	u, err := p.People.User(r.Context(), se.UserID)
	if err != nil {
		return err
	}
	view.Email = u.Email
	return v.renderPage(w, http.StatusOK, "sign-out", view)
}

// checkLogout refuses an address to go to that is not the application's.
func (p *Provider) checkLogout(view logoutView) error {
	if view.Next == "" {
		return nil
	}
	c := p.clients[view.App]
	if c == nil {
		return errs.E(errs.Invalid, "post_logout_redirect_uri requires the client_id or id_token_hint of a "+
			"registered client")
	}
	if err := c.postLogout(view.Next); err != nil {
		return errs.E(errs.Invalid, "%s", err)
	}
	return nil
}

// postSignOut ends the session after the person said so.
func (p *Provider) postSignOut(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := logoutView{Next: r.PostForm.Get("next"), State: r.PostForm.Get("state"), App: r.PostForm.Get("app")}
	if err := p.checkLogout(view); err != nil {
		return err
	}
	if err := p.signOut(w, r); err != nil {
		return err
	}
	return p.signedOut(w, r, v, view)
}

// signedOut shows that nobody is signed in, with the way back to the
// application: a link, because the content security policy forbids the pages to
// send a form elsewhere.
func (p *Provider) signedOut(w http.ResponseWriter, r *http.Request, v *visit, view logoutView) error {
	if view.Next == "" {
		return v.renderPage(w, http.StatusOK, "signed-out", signedOutView{})
	}
	u, err := url.Parse(view.Next)
	if err != nil {
		return errors.New("a checked address cannot be read")
	}
	if view.State != "" {
		q := u.Query()
		q.Set("state", view.State)
		u.RawQuery = q.Encode()
	}
	if r.Method == http.MethodGet {
		http.Redirect(w, r, u.String(), http.StatusSeeOther)
		return nil
	}
	return v.renderPage(w, http.StatusOK, "signed-out",
		signedOutView{template.URL(u.String())}) //nolint:gosec // checkLogout knows it
}

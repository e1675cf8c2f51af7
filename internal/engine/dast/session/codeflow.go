package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file walks through the code flow of OAuth 2 (RFC 6749, section 4.1) with PKCE
// (RFC 7636) as a browser without script would: it fills in the issuer's forms, agrees,
// and takes the code out of the redirect, which it never opens.

// maxPages bounds the pages and redirects of one flow. An issuer with a second factor and consent
// needs about ten. A loop of redirects ends here.
const maxPages = 20

// A flow is one walk through the code flow.
type flow struct {
	*Session
	// login is what the identity names: client, scope, user and password.
	login *scan.OAuthLogin
	// redirect is where the issuer sends the code. The client is registered with it, and the flow
	// ends there without requesting it: the application would otherwise redeem the code, which is
	// valid once.
	redirect *url.URL
	// state is a random text that the redirect has to repeat (RFC 6749, section 10.12), else the
	// code may belong to another flow.
	state string
	// verifier is the secret of PKCE (RFC 7636, section 4.1): 52 characters of base32, at least 43
	// are required.
	verifier string
	// named: the name of the user was entered.
	named bool
	// signed: the password was entered. A page that requests it again has refused it.
	signed bool
	// agreed counts the forms of consent that were submitted.
	agreed int
}

// codeFlow gets a token by the code flow: it requests the authorization endpoint (RFC 6749, section
// 4.1.1), follows its pages to the redirect, and redeems the code at the token endpoint (section
// 4.1.3).
func (s *Session) codeFlow(ctx context.Context, l *scan.OAuthLogin) error {
	at, err := s.endpoints(ctx, l)
	if err != nil {
		return err
	}
	f := &flow{Session: s, login: l, state: rand.Text(), verifier: rand.Text() + rand.Text()}
	if f.redirect, err = s.o.Scope.Base().Parse(l.Redirect); err != nil || l.Redirect == "" {
		return errs.E(errs.Invalid, "signing in as %q: the code flow needs the redirect address that the client is "+
			"registered with", s.identity.Name)
	}
	r, err := s.request(at.Authorize)
	if err != nil {
		return err
	}
	// Method S256 (RFC 7636, section 4.2). Issuers without PKCE ignore both parameters.
	digest := sha256.Sum256([]byte(f.verifier))
	r.Query = append(r.Query, message.Param{Name: "response_type", Value: "code"},
		message.Param{Name: "client_id", Value: l.ClientID},
		message.Param{Name: "redirect_uri", Value: f.redirect.String()},
		message.Param{Name: "state", Value: f.state},
		message.Param{Name: "code_challenge", Value: base64.RawURLEncoding.EncodeToString(digest[:])},
		message.Param{Name: "code_challenge_method", Value: "S256"})
	if l.Scope != "" {
		r.Query = append(r.Query, message.Param{Name: "scope", Value: l.Scope},
			// OpenID Connect asks for a nonce in some flows; the scan does not check the ID token.
			message.Param{Name: "nonce", Value: rand.Text()})
	}
	// The report shows requests of the flow. Whoever reads it must not be able to redeem the code.
	s.o.Secrets.Add("state", f.state)
	s.o.Secrets.Add("code_verifier", f.verifier)
	code, err := f.followFlow(ctx, r)
	if err != nil {
		return err
	}
	s.o.Secrets.AddObtained("code", code)
	return s.requestToken(ctx, l, []message.Param{{Name: "grant_type", Value: "authorization_code"},
		{Name: "code", Value: code}, {Name: "redirect_uri", Value: f.redirect.String()},
		{Name: "client_id", Value: l.ClientID}, {Name: "code_verifier", Value: f.verifier}})
}

// flowError returns an error that names the identity and why the flow failed.
func (f *flow) flowError(format string, args ...any) error {
	return errs.E(errs.Unavailable, "signing in as %q failed: "+format,
		append([]any{f.identity.Name}, args...)...)
}

// followFlow goes from page to page until the redirect brings the code, and returns the code. Each
// step is either a redirect or a page with a form that the user would submit.
func (f *flow) followFlow(ctx context.Context, r *message.Request) (string, error) {
	for range maxPages {
		resp, err := f.sendInFlow(ctx, r)
		if err != nil {
			return "", err
		}
		// Before the status: 303 after a form, 302 between hosts.
		if to := resp.Location(); to != nil {
			if f.isRedirectURI(to) {
				return f.extractCode(to.Query())
			}
			next, err := message.FromURL(to)
			if err != nil {
				return "", f.flowError("%s leads to %.200q", r.Location(), to.Redacted())
			}
			r = next
			continue
		}
		// The error page of an issuer often has a form too, such as a search, which must not be
		// submitted.
		if resp.Status >= 400 {
			return "", f.flowError("%s answers %d", r.Location(), resp.Status)
		}
		if r, err = f.nextRequest(resp); err != nil {
			return "", err
		}
		if f.isRedirectURI(r.URL()) { // a form that sends the code (OAuth 2.0 Form Post Response Mode)
			return f.extractCode(formValues(r))
		}
	}
	return "", f.flowError("there is no code after %d pages", maxPages)
}

// isRedirectURI reports whether the address is the redirect. Query and fragment are not compared:
// they carry the code. Neither is a slash at the end, which servers add.
func (f *flow) isRedirectURI(to *url.URL) bool {
	return to.Scheme == f.redirect.Scheme && strings.EqualFold(to.Host, f.redirect.Host) &&
		strings.TrimSuffix(to.EscapedPath(), "/") == strings.TrimSuffix(f.redirect.EscapedPath(), "/")
}

// extractCode takes the code out of what the redirect brings.
func (f *flow) extractCode(v url.Values) (string, error) {
	switch {
	// RFC 6749, section 4.1.2.1: access_denied, invalid_scope and the like.
	case v.Get("error") != "":
		return "", f.flowError("the issuer returned %.100q: %.200q", v.Get("error"), v.Get("error_description"))
	// An error may come without a state, a code may not.
	case v.Get("state") != f.state:
		return "", f.flowError("the redirect brings another state than was sent")
	case v.Get("code") == "":
		return "", f.flowError("the redirect brings no code")
	}
	return v.Get("code"), nil
}

// formValues returns the values that a form sends, in its address and in its body.
func formValues(r *message.Request) url.Values {
	out := url.Values{}
	for _, list := range [][]message.Param{r.Query, r.Body.Params} {
		for _, p := range list {
			out.Add(p.Name, p.Value)
		}
	}
	return out
}

var (
	// agree matches buttons and addresses that consent: name="allow", /oauth/authorize.
	agree = lazyregexp.New(`(?i)allow|accept|approve|authori[sz]e|grant|agree|consent|confirm|continue|yes|true|submit`)
	// disagree matches those that refuse or sign out. It is tested first, because "disallow"
	// contains "allow".
	disagree = lazyregexp.New(`(?i)den(?:y|ied)|cancel|reject|refuse|decline|disallow|sign-?out|log-?out|\bno\b|false`)
	// oneTime matches names of fields for a one-time password.
	oneTime = lazyregexp.New(`(?i)otp|totp|code|token|2fa|mfa|pin`)
)

// nextRequest returns the request by which a user goes on from a page: his name and password,
// a one-time password, his consent.
func (f *flow) nextRequest(resp *message.Response) (*message.Request, error) {
	var forms []*message.Request
	if resp.IsHTML() {
		for _, r := range crawl.ReadPage(resp).Requests {
			if r.Origin == "form" {
				forms = append(forms, r)
			}
		}
	}
	r, err := f.chooseForm(resp, forms)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, f.flowError("%s has no form for sign-in or consent: use steps for pages that scripts render",
			resp.Request.Location())
	}
	r.Referer = resp.Request.Address()
	return r.SetHeader("Origin", resp.Request.Base()), nil
}

// chooseForm picks a form of the page and fills it in; nil: there is none. A form with a password
// goes first, then one for the name of the user alone, then one for a one-time password, last a
// consent.
func (f *flow) chooseForm(resp *message.Response, forms []*message.Request) (*message.Request, error) {
	account := &scan.FormLogin{User: f.login.User, Password: f.login.Password}
	if form := loginForm(resp); form != nil {
		if f.signed {
			return nil, f.flowError("the issuer requests the password again")
		}
		f.named, f.signed = true, true
		return f.fillCredentials(form, account)
	}
	for _, form := range forms {
		if typed := typedField(form, userName); typed != "" && !f.named &&
			!f.signed { // the password comes on the next page
			f.named = true
			return f.fillCredentials(form,
				&scan.FormLogin{User: f.login.User, Fields: map[string]string{typed: f.login.User}})
		}
		// Only after the password: a field named "token" before it is something else.
		if typed := typedField(form, oneTime); typed != "" && f.signed && f.identity.TOTP != "" {
			return f.fillCredentials(form, &scan.FormLogin{Fields: map[string]string{typed: "{{totp}}"}})
		}
	}
	var chosen *message.Request
	for _, form := range forms {
		// The action of the form and the button that submits it. The text of the page is not used:
		// "I do not agree" stands beside the button that agrees.
		said := form.Path
		for _, p := range form.Points() {
			if form.Types[p.Key()] == "button" {
				said += " " + p.Name + "=" + p.Value
			}
		}
		switch {
		case disagree.MatchString(said):
		// The first form that does not refuse, unless a later one expressly agrees.
		case chosen == nil, agree.MatchString(said) && !agree.MatchString(chosen.Path):
			chosen = form
		}
	}
	// Account selection, consent and "stay signed in" are three. More means that the page comes
	// again.
	if f.agreed++; f.agreed > 3 {
		return nil, f.flowError("the issuer requests consent repeatedly")
	}
	return chosen, nil
}

// sendInFlow sends a request of the flow: to the target, and to the hosts that the identity names.
// The issuer is usually outside of the scope; there the scan signs in and attacks nothing.
func (s *Session) sendInFlow(ctx context.Context, r *message.Request) (*message.Response, error) {
	return s.o.Client.SendApart(ctx, r, s, s.isSignInHost)
}

// isSignInHost reports whether the request goes to a host that the identity signs in at: scheme,
// name and port are those of the issuer or of one of its endpoints.
func (s *Session) isSignInHost(r *message.Request) bool {
	l := s.identity.OAuth
	if l == nil {
		return false
	}
	for _, text := range []string{l.Issuer, l.Authorize, l.Token} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			continue
		}
		if named, err := message.FromURL(u); err == nil && named.Base() == r.Base() {
			return true
		}
	}
	return false
}

// needsBasicAuth reports whether the token endpoint takes the secret of a client as HTTP Basic
// alone. The form field is the default: all servers in use take it, although RFC 6749, section
// 2.3.1 requires only Basic.
func (e *endpoints) needsBasicAuth() bool {
	basic := false
	for _, m := range e.Methods {
		switch m {
		case "client_secret_post":
			return false
		case "client_secret_basic":
			basic = true
		}
	}
	return basic
}

// addClientSecret adds the secret of a confidential client. A public client has none and proves
// itself by PKCE. In HTTP Basic both parts are percent-encoded first (RFC 6749, section 2.3.1).
func addClientSecret(r *message.Request, l *scan.OAuthLogin, basic bool) *message.Request {
	switch {
	case l.ClientSecret == "":
	case basic:
		h := http.Request{Header: http.Header{}}
		h.SetBasicAuth(url.QueryEscape(l.ClientID), url.QueryEscape(l.ClientSecret))
		return r.SetHeader("Authorization", h.Header.Get("Authorization"))
	default:
		r.Body.Params = append(r.Body.Params, message.Param{Name: "client_secret", Value: l.ClientSecret})
	}
	return r
}

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

// maxPages bounds the pages and redirects of one flow.
const maxPages = 20

// A flow is one walk through the code flow.
type flow struct {
	*Session
	login    *scan.OAuthLogin
	redirect *url.URL
	state    string
	verifier string
	named    bool // the user's name was given
	signed   bool // the password was given
	agreed   int  // consents
}

// codeFlow gets a token by the code flow.
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
	digest := sha256.Sum256([]byte(f.verifier))
	r.Query = append(r.Query, message.Param{Name: "response_type", Value: "code"},
		message.Param{Name: "client_id", Value: l.ClientID},
		message.Param{Name: "redirect_uri", Value: f.redirect.String()},
		message.Param{Name: "state", Value: f.state},
		message.Param{Name: "code_challenge", Value: base64.RawURLEncoding.EncodeToString(digest[:])},
		message.Param{Name: "code_challenge_method", Value: "S256"})
	if l.Scope != "" {
		r.Query = append(r.Query, message.Param{Name: "scope", Value: l.Scope},
			message.Param{Name: "nonce", Value: rand.Text()})
	}
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

// flowError says why the flow did not work.
func (f *flow) flowError(format string, args ...any) error {
	return errs.E(errs.Unavailable, "signing in as %q failed: "+format,
		append([]any{f.identity.Name}, args...)...)
}

// followFlow goes from page to page until the redirect brings the code.
func (f *flow) followFlow(ctx context.Context, r *message.Request) (string, error) {
	for range maxPages {
		resp, err := f.sendInFlow(ctx, r)
		if err != nil {
			return "", err
		}
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

// isRedirectURI reports whether the address is the redirect.
func (f *flow) isRedirectURI(to *url.URL) bool {
	return to.Scheme == f.redirect.Scheme && strings.EqualFold(to.Host, f.redirect.Host) &&
		strings.TrimSuffix(to.EscapedPath(), "/") == strings.TrimSuffix(f.redirect.EscapedPath(), "/")
}

// extractCode takes the code out of what the redirect brings.
func (f *flow) extractCode(v url.Values) (string, error) {
	switch {
	case v.Get("error") != "":
		return "", f.flowError("the issuer returned %.100q: %.200q", v.Get("error"), v.Get("error_description"))
	case v.Get("state") != f.state:
		return "", f.flowError("the redirect brings another state than was sent")
	case v.Get("code") == "":
		return "", f.flowError("the redirect brings no code")
	}
	return v.Get("code"), nil
}

// formValues are what a form sends.
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
	agree    = lazyregexp.New(`(?i)allow|accept|approve|authori[sz]e|grant|agree|consent|confirm|continue|yes|true|submit`)
	disagree = lazyregexp.New(`(?i)den(?:y|ied)|cancel|reject|refuse|decline|disallow|sign-?out|log-?out|\bno\b|false`)
	oneTime  = lazyregexp.New(`(?i)otp|totp|code|token|2fa|mfa|pin`)
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

// chooseForm picks a form of the page and fills it in; nil: there is none.
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
		if typed := typedField(form, oneTime); typed != "" && f.signed && f.identity.TOTP != "" {
			return f.fillCredentials(form, &scan.FormLogin{Fields: map[string]string{typed: "{{totp}}"}})
		}
	}
	var chosen *message.Request
	for _, form := range forms {
		said := form.Path // what the form, and the button that sends it, say
		for _, p := range form.Points() {
			if form.Types[p.Key()] == "button" {
				said += " " + p.Name + "=" + p.Value
			}
		}
		switch {
		case disagree.MatchString(said):
		case chosen == nil, agree.MatchString(said) && !agree.MatchString(chosen.Path):
			chosen = form
		}
	}
	if f.agreed++; f.agreed > 3 {
		return nil, f.flowError("the issuer requests consent repeatedly")
	}
	return chosen, nil
}

// sendInFlow sends a request of the flow: to the target, and to the hosts that the identity
// names.
func (s *Session) sendInFlow(ctx context.Context, r *message.Request) (*message.Response, error) {
	return s.o.Client.SendApart(ctx, r, s, s.isSignInHost)
}

// isSignInHost reports whether the host is one that the identity signs in at.
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
// alone.
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

// addClientSecret adds what proves the client.
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

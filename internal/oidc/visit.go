package oidc

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// This file is what all pages share: cookies, protection of forms, headers,
// templates. The pages need no script.

// Cookies. The prefix __Host- makes browsers insist on Secure, on the path / and
// on this very host, so that no sister host can plant one. Browsers take Secure
// cookies over plain HTTP from localhost and 127.0.0.1 only: elsewhere signing in
// needs HTTPS.
const (
	sessionCookie = "__Host-merlon_session"
	browserCookie = "__Host-merlon_browser" // ties forms to a browser before anybody signed in
)

// sessionClient stands for the browser session where an application is named.
const sessionClient = "session"

//go:embed pages
var files embed.FS

// templates holds each page inside the layout.
var templates = parseTemplates()

// parseTemplates parses each page together with the layout. A mistake in a page ends the
// program when it starts.
func parseTemplates() map[string]*template.Template {
	layout := template.Must(template.ParseFS(files, "pages/layout.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{
		"sign-in", "consent", "sign-up", "verify", "forgot", "recover", "password", "device",
		"account", "sign-out", "signed-out", "message",
	} {
		all[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, "pages/"+name+".html"))
	}
	return all
}

// A visit is one request for a page.
type visit struct {
	p          *Provider
	csrf       string // hidden field of every form
	formAction string // where the page's form may lead besides here
}

// A page answers a visit. An error is shown in place of it.
type page func(*Provider, http.ResponseWriter, *http.Request, *visit) error

// registerPages is the table of pages.
func (p *Provider) registerPages(mux *http.ServeMux) {
	cop := http.NewCrossOriginProtection()
	if err := cop.AddTrustedOrigin(p.AuthURL); err != nil {
		panic("oidc: a checked address is no origin: " + err.Error()) // impossible
	}
	for _, row := range []struct {
		path string
		get  page
		post page
	}{
		{identity.SignInPath, (*Provider).getSignIn, (*Provider).postSignIn},
		{identity.SignUpPath, (*Provider).getSignUp, (*Provider).postSignUp},
		{identity.VerifyPath, (*Provider).getVerify, (*Provider).postVerify},
		{identity.ForgotPath, (*Provider).getForgot, (*Provider).postForgot},
		{identity.RecoveryPath, (*Provider).getRecover, (*Provider).postRecover},
		{"/auth/consent", (*Provider).getConsent, (*Provider).postConsent},
		{"/auth/device", (*Provider).getDevice, (*Provider).postDevice},
		{"/auth/password", (*Provider).getPassword, (*Provider).postPassword},
		{"/auth/account", (*Provider).getAccount, (*Provider).postAccount},
		{"/auth/sign-out", (*Provider).endSession, (*Provider).postSignOut},
	} {
		mux.Handle("GET "+row.path, p.handlePage(row.get))
		mux.Handle("POST "+row.path, p.handlePage(p.guardForm(cop, row.post)))
	}
	// OpenID Connect lets applications send these from their own pages; neither
	// changes anything by itself.
	for _, method := range []string{"GET", "POST"} {
		mux.Handle(method+" /oidc/auth", p.handlePage((*Provider).handleAuthorize))
		mux.Handle(method+" /oidc/end_session", p.handlePage((*Provider).endSession))
	}
	mux.Handle("GET /auth/{$}", http.RedirectHandler("/auth/account", http.StatusSeeOther))
	mux.Handle("GET /auth/style.css",
		p.handlePage(func(_ *Provider, w http.ResponseWriter, r *http.Request, _ *visit) error {
			w.Header().Set("Cache-Control", "public, max-age=3600")
			http.ServeFileFS(w, r, files, "pages/style.css")
			return nil
		}))
	mux.Handle("POST /auth/renew", p.handleMachine(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := cop.Check(r); err != nil {
			op.WriteError(w, r, oauthError(http.StatusForbidden, "invalid_request", "cross-site session renewal "+
				"rejected"),
				nil)
			return
		}
		p.handleRenew(w, r)
	})))
	mux.Handle("/auth/", p.handlePage(func(*Provider, http.ResponseWriter, *http.Request, *visit) error {
		return errs.E(errs.NotFound, "page not found")
	}))
}

// handlePage wraps a page: headers, the browser's cookie, errors.
func (p *Provider) handlePage(show page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		v := &visit{p: p}
		v.csrf = p.formToken(v.browserCookie(w, r), r)
		h.Set("Content-Security-Policy", v.contentPolicy())
		if err := show(p, w, r, v); err != nil {
			p.showError(w, r, v, err)
		}
	})
}

// guardForm refuses a form that was not filled in on our page in this browser.
func (p *Provider) guardForm(cop *http.CrossOriginProtection, next page) page {
	return func(p *Provider, w http.ResponseWriter, r *http.Request, v *visit) error {
		if _, err := r.Cookie(browserCookie); err != nil {
			return errs.E(errs.Forbidden, "missing cookie: allow cookies for this site, which must use https or be "+
				"localhost")
		}
		if err := cop.Check(r); err != nil {
			return errs.E(errs.Forbidden, "cross-site form submission rejected")
		}
		if err := checkForm(w, r); err != nil {
			return errs.E(errs.Invalid, "malformed form body")
		}
		if !hmac.Equal([]byte(r.PostForm.Get("csrf")), []byte(v.csrf)) {
			return errs.E(errs.Forbidden, "the form has expired: go back, reload the page, and try again")
		}
		return next(p, w, r, v)
	}
}

// browserCookie returns the value of the browser's cookie, a new one if it has none.
func (v *visit) browserCookie(w http.ResponseWriter, r *http.Request) string {
	if c, err := r.Cookie(browserCookie); err == nil && len(c.Value) == len(rand.Text()) {
		return c.Value
	}
	value := rand.Text()
	// The style sheet may be cached, and a cached response must not set a cookie.
	if r.Method == http.MethodGet && r.URL.Path != "/auth/style.css" {
		setCookie(w, browserCookie, value, 0)
	}
	return value
}

// setCookie sets a cookie for so many seconds; 0 until the browser closes,
// negative to remove it.
func setCookie(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds,
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// formToken ties a form to the browser and to who is signed in.
func (p *Provider) formToken(browser string, r *http.Request) string {
	mac := hmac.New(sha256.New, p.formKey)
	// The token changes with the session: a form that was loaded before signing in cannot be
	// sent afterwards.
	mac.Write([]byte(browser + "\n"))
	if c, err := r.Cookie(sessionCookie); err == nil {
		mac.Write([]byte(c.Value))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// contentPolicy returns the content security policy: styles of this host, no scripts, no
// frames, and forms that lead only here or to the application.
func (v *visit) contentPolicy() string {
	return "default-src 'none'; style-src 'self'; form-action " + strings.TrimSpace("'self' "+v.formAction) +
		"; frame-ancestors 'none'; base-uri 'none'"
}

// renderPage writes a page.
func (v *visit) renderPage(w http.ResponseWriter, status int, name string, view any) error {
	var b bytes.Buffer
	err := templates[name].ExecuteTemplate(&b, "layout", struct {
		CSRF   string
		SignUp bool
		View   any
	}{v.csrf, v.p.SignUp, view})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", v.contentPolicy())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the browser may be gone
	return nil
}

// A message is a page that only says something.
type message struct{ Title, Text, Link, LinkText string }

// pageStatus gives the HTTP status of an error that is shown as a page.
func pageStatus(err error) int {
	switch errs.KindOf(err) {
	case errs.Invalid:
		return http.StatusBadRequest
	case errs.Unauthenticated:
		return http.StatusUnauthorized
	case errs.Forbidden:
		return http.StatusForbidden
	case errs.NotFound:
		return http.StatusNotFound
	case errs.Conflict:
		return http.StatusConflict
	case errs.TooLarge:
		return http.StatusRequestEntityTooLarge
	case errs.TooMany:
		return http.StatusTooManyRequests
	case errs.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// showError shows an error in place of a page.
func (p *Provider) showError(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	status, text := pageStatus(err), "Something went wrong on our side."
	var e *errs.Error
	if errors.As(err, &e) && e.Kind != errs.Internal {
		text = toSentence(e.Message)
		if wait := e.Members["retryAfter"]; wait != "" {
			w.Header().Set("Retry-After", wait)
		}
	}
	if status >= http.StatusInternalServerError {
		p.Log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "error", err)
	}
	m := message{Title: "Request failed", Text: text}
	if errs.Is(err, errs.Unauthenticated) {
		m.Link, m.LinkText = identity.SignInPath, "Sign in"
	}
	if err := v.renderPage(w, status, "message", m); err != nil {
		p.Log.ErrorContext(r.Context(), "show error page", "error", err)
	}
}

// toSentence makes a sentence of an error's text.
func toSentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// signInFirst sends the browser to the sign-in page, and then back here.
func (v *visit) signInFirst(w http.ResponseWriter, r *http.Request, email string) {
	q := url.Values{"next": {r.URL.RequestURI()}}
	if email != "" {
		q.Set("email", email)
	}
	http.Redirect(w, r, identity.SignInPath+"?"+q.Encode(), http.StatusSeeOther)
}

// localReturnPath returns where to go after signing in: a page of ours, whatever was asked.
func localReturnPath(asked string) string {
	u, err := url.Parse(asked)
	// "//evil.example" has a host, and browsers read "\" as "/" (open redirect, CWE-601).
	if err != nil || len(asked) > maxForm || u.IsAbs() || u.Host != "" || strings.Contains(asked, "\\") {
		return "/auth/account"
	}
	switch u.Path {
	case "/auth/consent", "/auth/device", "/auth/password", "/auth/account":
		return u.EscapedPath() + "?" + u.RawQuery
	}
	return "/auth/account"
}

// currentSession returns the session of the request's cookie, or an Unauthenticated
// error.
func (p *Provider) currentSession(r *http.Request) (identity.Session, error) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return identity.Session{}, errs.E(errs.Unauthenticated, "user not signed in in this browser")
	}
	return p.People.Session(r.Context(), c.Value)
}

// signOut ends the session; the access tokens that were made for it end with it.
func (p *Provider) signOut(w http.ResponseWriter, r *http.Request) error {
	setCookie(w, sessionCookie, "", -1)
	se, err := p.currentSession(r)
	if errs.Is(err, errs.Unauthenticated) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.People.SignOut(r.Context(), sessionActor(r, se), se.ID)
}

// sessionActor is who acts in a session.
func sessionActor(r *http.Request, se identity.Session) tenant.Actor {
	return tenant.Actor{UserID: se.UserID, ClientID: sessionClient, IP: remoteIP(r), UserAgent: r.UserAgent()}
}

// pageOrigin is where a request for a page came from.
func pageOrigin(r *http.Request) identity.Origin {
	return identity.Origin{IP: remoteIP(r), UserAgent: r.UserAgent(), ClientID: sessionClient}
}

package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// This file holds the pages around an account: signing in and up, the links of
// mails, the password, sessions; and the renewal of a session's access token.

// signInView is what the sign-in page shows.
type signInView struct {
	Next, Email, Problem string
}

// getSignIn shows the form, with the address that a mail or an application has filled in.
func (p *Provider) getSignIn(w http.ResponseWriter, r *http.Request, v *visit) error {
	q := r.URL.Query()
	return v.renderPage(w, http.StatusOK, "sign-in", signInView{Next: localReturnPath(q.Get("next")),
		Email: q.Get("email")})
}

// postSignIn signs a person in. One message for all failures does not reveal which addresses
// have an account (CWE-204).
func (p *Provider) postSignIn(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := signInView{Next: localReturnPath(r.PostForm.Get("next")), Email: r.PostForm.Get("email")}
	se, err := p.People.SignIn(r.Context(), identity.Credentials{
		Email: view.Email, Password: r.PostForm.Get("password"), IP: remoteIP(r), UserAgent: r.UserAgent(),
	})
	if errs.Is(err, errs.Unauthenticated) {
		view.Problem = "Wrong e-mail address or password, or the e-mail address is not confirmed yet."
		return v.renderPage(w, http.StatusUnauthorized, "sign-in", view)
	}
	if err != nil {
		return err
	}
	// Whoever was signed in before is not any more.
	if err := p.signOut(w, r); err != nil {
		return err
	}
	w.Header().Del("Set-Cookie")
	setCookie(w, sessionCookie, se.Token, int(se.ExpiresAt.Sub(p.Now())/time.Second))
	http.Redirect(w, r, view.Next, http.StatusSeeOther)
	return nil
}

// signUpView is what the sign-up page shows.
type signUpView struct{ Email, Problem string }

// getSignUp shows the form, unless only invited people may have accounts.
func (p *Provider) getSignUp(w http.ResponseWriter, _ *http.Request, v *visit) error {
	if !p.SignUp {
		return errs.E(errs.NotFound, "sign-up is disabled: ask an administrator for an invitation")
	}
	return v.renderPage(w, http.StatusOK, "sign-up", signUpView{})
}

// postSignUp sends a link to the address. It asks for nothing else: name and
// password are chosen behind the link, by whoever reads the mail.
func (p *Provider) postSignUp(w http.ResponseWriter, r *http.Request, v *visit) error {
	if !p.SignUp {
		return errs.E(errs.NotFound, "sign-up is disabled: ask an administrator for an invitation")
	}
	view := signUpView{Email: r.PostForm.Get("email")}
	err := p.People.SignUp(r.Context(), view.Email, pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.renderPage(w, http.StatusBadRequest, "sign-up", view)
	}
	if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "message", message{Title: "Check your e-mail",
		Text: "We have sent an e-mail to " + view.Email + ". Follow the link in it to choose your name and password."})
}

// linkView is what the pages behind the links of mails show. Following a link
// only shows a page: programs that look at mails follow links too.
type linkView struct {
	Token, FirstName, LastName, Problem string
}

// getVerify shows the form behind the link of a sign-up mail.
func (p *Provider) getVerify(w http.ResponseWriter, r *http.Request, v *visit) error {
	return v.renderPage(w, http.StatusOK, "verify", linkView{Token: r.URL.Query().Get("token")})
}

// postVerify makes the account with the name and the password that were chosen
// behind the link.
func (p *Provider) postVerify(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := r.PostForm
	view := linkView{Token: f.Get("token"), FirstName: f.Get("first_name"), LastName: f.Get("last_name")}
	_, err := p.People.VerifyEmail(r.Context(), view.Token, identity.NewUser{
		Password: f.Get("password"), Names: identity.Names{FirstName: view.FirstName, LastName: view.LastName},
	}, pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.renderPage(w, http.StatusBadRequest, "verify", view)
	}
	if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "message", message{Title: "Your account is ready",
		Text: "Your e-mail address is confirmed.", Link: identity.SignInPath, LinkText: "Sign in"})
}

// getForgot shows the form that asks for the address.
func (p *Provider) getForgot(w http.ResponseWriter, r *http.Request, v *visit) error {
	return v.renderPage(w, http.StatusOK, "forgot", signInView{Email: r.URL.Query().Get("email")})
}

// postForgot sends a mail if the address has an account. The page is the same if it has
// none.
func (p *Provider) postForgot(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := signInView{Email: r.PostForm.Get("email")}
	err := p.People.StartRecovery(r.Context(), view.Email, pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.renderPage(w, http.StatusBadRequest, "forgot", view)
	}
	if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "message", message{Title: "Check your e-mail",
		Text: "We have sent an e-mail to " + view.Email + ". Follow the link in it to choose a new password."})
}

// getRecover shows the form behind the link of a recovery mail.
func (p *Provider) getRecover(w http.ResponseWriter, r *http.Request, v *visit) error {
	return v.renderPage(w, http.StatusOK, "recover", linkView{Token: r.URL.Query().Get("token")})
}

// postRecover sets a new password and ends all access: whoever needs the recovery may have
// lost the account to somebody else.
func (p *Provider) postRecover(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := linkView{Token: r.PostForm.Get("token")}
	_, ended, err := p.People.Recover(r.Context(), view.Token, r.PostForm.Get("password"), pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.renderPage(w, http.StatusBadRequest, "recover", view)
	}
	if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "message", message{Title: "Password changed",
		Text: "All browsers, applications and devices are signed out, and all personal access tokens are deleted: " +
			endedText(ended) + ".",
		Link: identity.SignInPath, LinkText: "Sign in"})
}

// getPassword shows the form to a person who is signed in.
func (p *Provider) getPassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	if _, err := p.currentSession(r); errs.Is(err, errs.Unauthenticated) {
		v.signInFirst(w, r, "")
		return nil
	} else if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "password", linkView{})
}

// endedText says in numbers what a change of the password ended.
func endedText(n identity.Ended) string {
	return fmt.Sprintf("%d browser sessions, %d applications or devices, %d personal access tokens", n.Sessions,
		n.Grants, n.Tokens)
}

// postPassword changes the password and keeps this browser signed in.
func (p *Provider) postPassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	se, err := p.currentSession(r)
	if err != nil {
		return err
	}
	c := identity.PasswordChange{Current: r.PostForm.Get("current"), New: r.PostForm.Get("password"),
		Tokens: r.PostForm.Get("tokens") == "delete"}
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		c.Keep = cookie.Value
	}
	ended, err := p.People.ChangePassword(r.Context(), sessionActor(r, se), c)
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Forbidden) {
		return v.renderPage(w, pageStatus(err), "password", linkView{Problem: problemText(err)})
	}
	if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "message", message{Title: "Password changed",
		Text: changedText(c.Tokens, ended), Link: "/auth/account", LinkText: "Your account"})
}

// changedText says what a change of the password ended, and what it did not.
func changedText(tokens bool, n identity.Ended) string {
	text := "All other browsers and all applications and devices are signed out"
	if tokens {
		return text + ", and all personal access tokens are deleted: " + endedText(n) + "."
	}
	return text + fmt.Sprintf(": %d browser sessions, %d applications or devices. Your personal access tokens "+
		"still work.", n.Sessions, n.Grants)
}

// tookBack is why something that a person revoked is gone, as the audit log says it.
const tookBack = "revoked by the user"

// accountView is what the account page shows.
type accountView struct {
	User     identity.User
	Sessions []sessionView
	Apps     []accessView // applications that may act while the person is away
	Consents []accessView // applications that do not ask again
	Tokens   []accessView // personal access tokens
}

// accessView is something that acts for the person.
type accessView struct {
	ID, Name, Scopes, Since, LastUsed, Ends string
}

// pageTime is how pages write a moment; they cannot know the reader's zone.
func pageTime(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// sessionView is a browser session; Here marks the one that shows the page.
type sessionView struct {
	ID, IP, UserAgent, LastUsed string
	Here                        bool
}

// getAccount shows everything that can act for the person, so that a stolen session or token
// is noticed.
func (p *Provider) getAccount(w http.ResponseWriter, r *http.Request, v *visit) error {
	se, err := p.currentSession(r)
	if errs.Is(err, errs.Unauthenticated) {
		v.signInFirst(w, r, "")
		return nil
	}
	if err != nil {
		return err
	}
	view := accountView{}
	if view.User, err = p.People.User(r.Context(), se.UserID); err != nil {
		return err
	}
	sessions, err := p.People.Sessions(r.Context(), sessionActor(r, se))
	if err != nil {
		return err
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, sessionView{ID: string(s.ID), IP: s.IP, UserAgent: s.UserAgent,
			LastUsed: pageTime(s.LastUsedAt), Here: s.ID == se.ID})
	}
	if view.Apps, err = p.appAccess(r.Context(), se.UserID); err != nil {
		return err
	}
	if view.Consents, err = p.listConsents(r.Context(), se.UserID); err != nil {
		return err
	}
	tokens, err := p.People.Tokens(r.Context(), sessionActor(r, se), se.UserID)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		view.Tokens = append(view.Tokens,
			accessView{ID: t.Name, Name: t.Name, Scopes: strings.Join(t.Scopes.Names(), ", "),
				Since: pageTime(t.CreatedAt), LastUsed: pageTime(t.LastUsedAt), Ends: pageTime(t.ExpiresAt)})
	}
	return v.renderPage(w, http.StatusOK, "account", view)
}

// appAccess returns the person's grants that outlive a browser session, latest use
// first.
func (p *Provider) appAccess(ctx context.Context, user tenant.UserID) ([]accessView, error) {
	grants, err := p.Store.ActiveGrants(ctx, user)
	var list []accessView
	for _, g := range grants {
		if !slices.Contains(g.Scopes, "offline_access") {
			continue
		}
		list = append(list, accessView{ID: g.ID, Name: p.appName(g.ClientID), Scopes: strings.Join(g.Scopes, ", "),
			Since: pageTime(g.CreatedAt), LastUsed: pageTime(g.LastUsedAt), Ends: pageTime(g.ExpiresAt)})
	}
	return list, err
}

// listConsents returns the applications that do not ask the person again.
func (p *Provider) listConsents(ctx context.Context, user tenant.UserID) ([]accessView, error) {
	consents, err := p.Store.Consents(ctx, user)
	var list []accessView
	for _, c := range consents {
		list = append(list, accessView{ID: c.ClientID, Name: p.appName(c.ClientID),
			Scopes: strings.Join(c.Scopes, ", "), Since: pageTime(c.CreatedAt)})
	}
	return list, err
}

// appName is what pages call an application; its identifier when it is no longer
// configured.
func (p *Provider) appName(clientID string) string {
	if c := p.clients[clientID]; c != nil {
		return c.name
	}
	return clientID
}

// postAccount ends one of the person's sessions, with what was given in it, or
// takes back an application's grant, a consent or a personal access token.
func (p *Provider) postAccount(w http.ResponseWriter, r *http.Request, _ *visit) error {
	se, err := p.currentSession(r)
	if err != nil {
		return err
	}
	by, f := sessionActor(r, se), r.PostForm
	switch {
	case f.Get("grant") != "":
		err = p.takeBack(r.Context(), by, f.Get("grant"))
	case f.Get("consent") != "":
		err = p.withdrawConsent(r.Context(), by, f.Get("consent"))
	case f.Get("token") != "":
		err = p.People.DeleteToken(r.Context(), by, se.UserID, f.Get("token"))
	default:
		err = p.People.EndSession(r.Context(), by, identity.SessionID(f.Get("session")))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/auth/account", http.StatusSeeOther)
	return nil
}

// takeBack revokes a grant of the person; one of somebody else is NotFound. With a
// grant of an application that does not ask again goes the consent: otherwise the
// application would get the next grant without a question.
func (p *Provider) takeBack(ctx context.Context, by tenant.Actor, id string) error {
	grants, err := p.Store.ActiveGrants(ctx, by.UserID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(grants, func(g grant.Grant) bool { return g.ID == id })
	if i < 0 {
		return errs.E(errs.NotFound, "application access revoked")
	}
	if c := p.clients[grants[i].ClientID]; c == nil || !c.native {
		return p.withdrawConsent(ctx, by, grants[i].ClientID)
	}
	return p.Store.RevokeGrant(ctx, id, tookBack)
}

// withdrawConsent takes back the person's consent to an application, with every grant.
func (p *Provider) withdrawConsent(ctx context.Context, by tenant.Actor, clientID string) error {
	return p.Store.WithdrawConsent(ctx, grant.Consent{UserID: by.UserID, ClientID: clientID, IP: by.IP}, tookBack)
}

// problemText is the sentence that a form shows above its fields.
func problemText(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return toSentence(e.Message)
	}
	return "Some fields are invalid."
}

// handleRenew answers /auth/renew: the session's cookie for an access token.
func (p *Provider) handleRenew(w http.ResponseWriter, r *http.Request) {
	se, err := p.currentSession(r)
	if err != nil {
		op.WriteError(w, r, p.toClientError(r.Context(), err, "login_required"), nil)
		return
	}
	token, _, err := p.accessToken(r.Context(), issue{
		user: se.UserID, client: sessionClient, scopes: withAPI(exchangeScopes, []string{p.BaseURL},
			tenant.AllTokenScopes), madeFor: string(se.ID), until: se.ExpiresAt,
	})
	if err != nil {
		op.WriteError(w, r, p.toClientError(r.Context(), err, ""), nil)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // the browser may be gone
		AccessToken string `json:"accessToken"`
	}{token})
}

package oidc

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/errs"
	"merlon/internal/identity"
)

// This file holds the pages around an account: signing in and up, the links of
// mails, the password, sessions; and the renewal of a session's access token.

// signInView is what the sign-in page shows.
type signInView struct {
	Next, Email, Problem string
}

func (p *Provider) getSignIn(w http.ResponseWriter, r *http.Request, v *visit) error {
	q := r.URL.Query()
	return v.show(w, http.StatusOK, "sign-in", signInView{Next: next(q.Get("next")), Email: q.Get("email")})
}

func (p *Provider) postSignIn(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := signInView{Next: next(r.PostForm.Get("next")), Email: r.PostForm.Get("email")}
	se, err := p.People.SignIn(r.Context(), identity.Credentials{
		Email: view.Email, Password: r.PostForm.Get("password"), IP: remoteIP(r), UserAgent: r.UserAgent(),
	})
	if errs.Is(err, errs.Unauthenticated) {
		view.Problem = "The e-mail address or the password is wrong, or the address is not confirmed yet."
		return v.show(w, http.StatusUnauthorized, "sign-in", view)
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
type signUpView struct {
	Email, FirstName, LastName, Problem string
}

func (p *Provider) getSignUp(w http.ResponseWriter, _ *http.Request, v *visit) error {
	if !p.SignUp {
		return errs.E(errs.NotFound, "signing up is turned off here: ask an administrator for an invitation")
	}
	return v.show(w, http.StatusOK, "sign-up", signUpView{})
}

func (p *Provider) postSignUp(w http.ResponseWriter, r *http.Request, v *visit) error {
	if !p.SignUp {
		return errs.E(errs.NotFound, "signing up is turned off here: ask an administrator for an invitation")
	}
	f := r.PostForm
	view := signUpView{Email: f.Get("email"), FirstName: f.Get("first_name"), LastName: f.Get("last_name")}
	err := p.People.SignUp(r.Context(), identity.NewUser{
		Email: view.Email, Password: f.Get("password"), Names: identity.Names{FirstName: view.FirstName, LastName: view.LastName},
	}, pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.show(w, http.StatusBadRequest, "sign-up", view)
	}
	if err != nil {
		return err
	}
	return v.show(w, http.StatusOK, "message", message{Title: "Look into your mail",
		Text: "We have sent a mail to " + view.Email + ". Follow the link in it to go on."})
}

// linkView is what the pages behind the links of mails show. Following a link
// only shows a page: programs that look at mails follow links too.
type linkView struct {
	Token, Problem string
}

func (p *Provider) getVerify(w http.ResponseWriter, r *http.Request, v *visit) error {
	return v.show(w, http.StatusOK, "verify", linkView{Token: r.URL.Query().Get("token")})
}

func (p *Provider) postVerify(w http.ResponseWriter, r *http.Request, v *visit) error {
	if _, err := p.People.VerifyEmail(r.Context(), r.PostForm.Get("token"), pageOrigin(r)); err != nil {
		return err
	}
	return v.show(w, http.StatusOK, "message", message{Title: "Your account is ready",
		Text: "Your e-mail address is confirmed.", Link: identity.SignInPath, LinkText: "Sign in"})
}

func (p *Provider) getForgot(w http.ResponseWriter, r *http.Request, v *visit) error {
	return v.show(w, http.StatusOK, "forgot", signInView{Email: r.URL.Query().Get("email")})
}

func (p *Provider) postForgot(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := signInView{Email: r.PostForm.Get("email")}
	err := p.People.StartRecovery(r.Context(), view.Email, pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.show(w, http.StatusBadRequest, "forgot", view)
	}
	if err != nil {
		return err
	}
	return v.show(w, http.StatusOK, "message", message{Title: "Look into your mail",
		Text: "We have sent a mail to " + view.Email + ". It says how to choose a new password."})
}

func (p *Provider) getRecover(w http.ResponseWriter, r *http.Request, v *visit) error {
	return v.show(w, http.StatusOK, "recover", linkView{Token: r.URL.Query().Get("token")})
}

func (p *Provider) postRecover(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := linkView{Token: r.PostForm.Get("token")}
	_, err := p.People.Recover(r.Context(), view.Token, r.PostForm.Get("password"), pageOrigin(r))
	if errs.Is(err, errs.Invalid) {
		view.Problem = problemText(err)
		return v.show(w, http.StatusBadRequest, "recover", view)
	}
	if err != nil {
		return err
	}
	return v.show(w, http.StatusOK, "message", message{Title: "Your password is changed",
		Text: "Every browser and application was signed out.", Link: identity.SignInPath, LinkText: "Sign in"})
}

func (p *Provider) getPassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	if _, err := p.session(r); errs.Is(err, errs.Unauthenticated) {
		v.signInFirst(w, r, "")
		return nil
	} else if err != nil {
		return err
	}
	return v.show(w, http.StatusOK, "password", linkView{})
}

func (p *Provider) postPassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	se, err := p.session(r)
	if err != nil {
		return err
	}
	c := identity.PasswordChange{Current: r.PostForm.Get("current"), New: r.PostForm.Get("password")}
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		c.Keep = cookie.Value
	}
	err = p.People.ChangePassword(r.Context(), sessionActor(r, se), c)
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Forbidden) {
		return v.show(w, pageStatus(err), "password", linkView{Problem: problemText(err)})
	}
	if err != nil {
		return err
	}
	return v.show(w, http.StatusOK, "message", message{Title: "Your password is changed",
		Text: "Every other browser, and every application, was signed out.", Link: "/auth/account", LinkText: "Your account"})
}

// accountView is what the account page shows.
type accountView struct {
	User     identity.User
	Sessions []sessionView
}

type sessionView struct {
	ID, IP, UserAgent, LastUsed string
	Here                        bool
}

func (p *Provider) getAccount(w http.ResponseWriter, r *http.Request, v *visit) error {
	se, err := p.session(r)
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
			LastUsed: s.LastUsedAt.UTC().Format("2006-01-02 15:04 UTC"), Here: s.ID == se.ID})
	}
	return v.show(w, http.StatusOK, "account", view)
}

// postAccount ends one of the person's sessions, and its access tokens.
func (p *Provider) postAccount(w http.ResponseWriter, r *http.Request, _ *visit) error {
	se, err := p.session(r)
	if err != nil {
		return err
	}
	id := identity.SessionID(r.PostForm.Get("session"))
	if err := p.People.EndSession(r.Context(), sessionActor(r, se), id); err != nil {
		return err
	}
	if err := p.Store.RevokeTokens(r.Context(), p.tokensEnd(), string(id)); err != nil {
		return err
	}
	http.Redirect(w, r, "/auth/account", http.StatusSeeOther)
	return nil
}

// problemText is the sentence that a form shows above its fields.
func problemText(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return sentence(e.Message)
	}
	return "Something is wrong with what you entered."
}

// renew answers /auth/renew: the session's cookie for an access token.
func (p *Provider) renew(w http.ResponseWriter, r *http.Request) {
	se, err := p.session(r)
	if err != nil {
		op.WriteError(w, r, p.fail(r.Context(), err, "login_required"), nil)
		return
	}
	token, _, err := p.accessToken(r.Context(), issue{
		user: se.UserID, client: sessionClient, scopes: exchangeScopes, madeFor: string(se.ID), until: se.ExpiresAt,
	})
	if err != nil {
		op.WriteError(w, r, p.fail(r.Context(), err, ""), nil)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // the browser may be gone
		AccessToken string `json:"accessToken"`
	}{token})
}

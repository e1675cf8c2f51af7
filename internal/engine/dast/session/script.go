package session

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file signs in where script has to run.

// browse signs in with the browser and adopts the cookies and tokens that the browser has then.
func (s *Session) browse(ctx context.Context, l browser.Login) error {
	if s.o.Browse == nil {
		return errs.E(errs.Unavailable, "signing in as %q needs a browser", s.identity.Name)
	}
	l.TOTP = s.code
	state, err := s.o.Browse(ctx, s, l)
	if err != nil {
		return err
	}
	// Neither a cookie nor a token: the steps ran, but nobody is signed in. Without this error the
	// scan would attack as a visitor and report that it was signed in.
	if len(state.Cookies) == 0 && len(state.Storage) == 0 && state.Authorization == "" {
		return errs.E(errs.Unavailable, "signing in as %q left no cookie and no token in the browser", s.identity.Name)
	}
	s.AdoptBrowserState(state)
	// The header that scripts of the page have sent. Requests outside of the browser need it.
	if state.Authorization != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.header = append(s.header, scan.Header{Name: "Authorization", Value: state.Authorization})
	}
	return nil
}

// browseForm signs in by the form of the identity with the browser. The fragment of the address
// stays: routers of single-page applications show the form at "#/login".
func (s *Session) browseForm(ctx context.Context) error {
	page, err := s.request(s.identity.Form.URL)
	if err != nil {
		return err
	}
	whole := *s.identity.Form
	_, fragment, _ := strings.Cut(whole.URL, "#")
	if whole.URL = page.Address(); fragment != "" {
		whole.URL += "#" + fragment
	}
	return s.browse(ctx, browser.Login{Form: &whole})
}

// enterByScript signs in with the browser where the form in the markup did not work, for the reason
// of failed: a script may render the form, or compute what it sends.
func (s *Session) enterByScript(ctx context.Context, failed error) error {
	if s.o.Browse == nil {
		return failed
	}
	s.mu.Lock()
	s.reset()
	s.mu.Unlock()
	err := s.browseForm(ctx)
	if err == nil {
		err = s.prove(ctx, nil)
	}
	if err != nil && !traffic.IsFinal(err) {
		return errs.Wrap(errs.Unavailable, err, "%v; with its script", failed)
	}
	// Later sign-ins begin with the browser.
	s.script = err == nil
	return err
}

// AdoptBrowserState takes the cookies of the browser into the session. Cookies and stored items are
// added to the secrets.
func (s *Session) AdoptBrowserState(state *browser.SignInState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jar.SetCookies(s.o.Scope.Base(), state.Cookies)
	for _, c := range state.Cookies {
		s.o.Secrets.AddObtained(c.Name, c.Value)
	}
	for _, kept := range state.Storage {
		for _, items := range []map[string]string{kept.Local, kept.Session} {
			for name, value := range items {
				s.recordScriptStorage(name, value)
			}
		}
	}
}

// code returns the one-time password of this moment. The browser calls it when it reaches the
// field, because a code is valid for 30 seconds.
func (s *Session) code() (string, error) {
	if s.identity.TOTP == "" {
		return "", errs.E(errs.Invalid, "identity %.100q has no secret of one-time passwords", s.identity.Name)
	}
	return totp(s.identity.TOTP, s.o.Now())
}

var (
	// secretMember matches members for the password: "password", "pwd", "clientSecret".
	secretMember = lazyregexp.New(`(?i)pass|pwd|secret`)
	// userMember matches members for the user: "email", "username", "login".
	userMember = lazyregexp.New(`(?i)mail|user|login|account|name|ident`)
)

// Login returns how the form of the application is filled in for an identity that signs in by a
// JSON request, with the user and the password of that request: its scripts keep the token
// themselves, so pages are signed in only after a sign-in in the browser. Nil: the identity has no
// such request.
func (s *Session) Login() *browser.Login {
	if s.identity.JSON == nil {
		return nil
	}
	var root any
	if json.Unmarshal([]byte(s.identity.JSON.Body), &root) != nil {
		return nil
	}
	type member struct{ name, value string }
	var users, secrets []member
	walkStrings(root, "", 0, func(name, value string) {
		switch {
		case secretMember.MatchString(name):
			secrets = append(secrets, member{name, value})
		case userMember.MatchString(name):
			users = append(users, member{name, value})
		}
	})
	if len(users) == 0 || len(secrets) == 0 {
		return nil
	}
	// Members come in no order. A confirmation has the longer name.
	short := func(a, b member) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	}
	return &browser.Login{Form: &scan.FormLogin{User: slices.MinFunc(users, short).value,
		Password: slices.MinFunc(secrets, short).value}, TOTP: s.code}
}

// Secrets returns the user and the password by which the identity signs in, empty where there are
// none. Attacks avoid both: a wrong password with the real user could lock the account.
func (s *Session) Secrets() (user, password string) {
	switch l := s.Login(); {
	case l != nil:
		return l.Form.User, l.Form.Password
	case s.identity.Form != nil:
		return s.identity.Form.User, s.identity.Form.Password
	}
	return "", ""
}

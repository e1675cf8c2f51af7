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

// browse signs in with the browser and takes what the session then consists of.
func (s *Session) browse(ctx context.Context, l browser.Login) error {
	if s.o.Browse == nil {
		return errs.E(errs.Unavailable, "signing in as %q needs a browser", s.identity.Name)
	}
	l.TOTP = s.code
	state, err := s.o.Browse(ctx, s, l)
	if err != nil {
		return err
	}
	if len(state.Cookies) == 0 && len(state.Storage) == 0 && state.Authorization == "" {
		return errs.E(errs.Unavailable, "signing in as %q left no cookie and no token in the browser", s.identity.Name)
	}
	s.AdoptBrowserState(state)
	if state.Authorization != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.header = append(s.header, scan.Header{Name: "Authorization", Value: state.Authorization})
	}
	return nil
}

// browseForm signs in by the form of the identity with the browser.
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

// enterByScript signs in with the browser where the form as the markup has it did not work,
// for the reason of failed: its script may show it, or send it.
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
	s.script = err == nil
	return err
}

// AdoptBrowserState takes the cookies that a browser holds for the session.
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

// code is a one-time password.
func (s *Session) code() (string, error) {
	if s.identity.TOTP == "" {
		return "", errs.E(errs.Invalid, "identity %.100q has no secret of one-time passwords", s.identity.Name)
	}
	return totp(s.identity.TOTP, s.o.Now())
}

var (
	secretMember = lazyregexp.New(`(?i)pass|pwd|secret`)
	userMember   = lazyregexp.New(`(?i)mail|user|login|account|name|ident`)
)

// Login is how the application's own form is filled in for an identity that signs in
// by a request of JSON, with the user and the password of that request: its scripts
// hold the token themselves. Nil: the identity has no such request.
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

// Secrets are the texts by which the identity signs in: none of them is attacked with.
func (s *Session) Secrets() (user, password string) {
	switch l := s.Login(); {
	case l != nil:
		return l.Form.User, l.Form.Password
	case s.identity.Form != nil:
		return s.identity.Form.User, s.identity.Form.Password
	}
	return "", ""
}

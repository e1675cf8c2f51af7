package operations

import (
	"context"
	"fmt"
	"net/url"

	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/generate"
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file compares what several users may do.

// api is what is compared.
func (e *examination) api() *authz.API {
	a := &authz.API{Base: e.Scope.Base(), Seed: e.Seed, Session: e.Session(), Header: e.header, Created: func(what string) {
		e.Progress(40, "made for the comparison of users and not removed: "+what)
	}, Untried: e.untried}
	calls := map[*authz.Operation]*call{}
	for _, c := range e.calls {
		o := &authz.Operation{Operation: c.operation, Origin: c.origin, Answer: c.answer}
		a.Operations = append(a.Operations, o)
		calls[o] = c
	}
	a.Options = func(o *authz.Operation) generate.Options { return e.options(calls[o], 0, true) }
	return a
}

// untried says that an operation was not tried for what rules find, by the path of what
// they would have found there; nil: that none was.
func (e *examination) untried(o *authz.Operation, rules []*finding.Rule, why string) {
	reason := scan.Reason{Code: "unavailable", Message: why}
	if o != nil {
		reason.Message = o.Path + ": " + why
		if at, err := url.Parse(o.Address(e.Scope.Base())); err == nil {
			reason.Path = e.Target.Path(at)
		}
	}
	for _, r := range rules {
		reason.Rules = append(reason.Rules, r.ID)
	}
	e.Degrade(reason)
}

// join registers an account where the target has no identity and the API offers that:
// the scan goes on as that user, who sees more than nobody does.
func (e *examination) join(ctx context.Context) error {
	if len(e.Target.Identities) > 0 || !e.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	u, err := authz.Join(&attack.Trial{Run: e.Run, Context: ctx}, e.api())
	if traffic.Over(err) {
		return err
	}
	if u == nil {
		return nil
	}
	e.joined, e.As, e.Run.As = u, u.Session, u.Session
	e.Progress(6, "registered "+u.Name()+" to explore as")
	return nil
}

// authorized signs the other identities in and examines who may do what.
func (e *examination) authorized(t *attack.Trial) error {
	a := e.api()
	if e.joined != nil {
		a.Users = append(a.Users, e.joined)
	}
	for i, identity := range e.Target.Identities {
		if i == 0 {
			if !e.As.State().Lost {
				a.Users = append(a.Users, &authz.User{Identity: identity, Session: e.As})
			}
			continue
		}
		s, err := session.New(identity, a.Session)
		if err != nil {
			e.Degrade(scan.Reason{Code: "malformed", Message: err.Error()})
			continue
		}
		if err := s.SignIn(t.Context); traffic.Over(err) {
			return err
		} else if err != nil {
			e.Degrade(scan.Reason{Code: "unavailable", Message: err.Error() + "; what it may do was not compared"})
			continue
		}
		a.Users = append(a.Users, &authz.User{Identity: identity, Session: s})
	}
	if err := authz.Examine(t, a); err != nil {
		return fmt.Errorf("comparing users: %w", err)
	}
	return nil
}

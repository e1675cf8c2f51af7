package operations

import (
	"fmt"

	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/generate"
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

// This file compares what several users may do.

// authorized signs the other identities in and examines who may do what.
func (e *examination) authorized(t *attack.Trial) error {
	o := e.Session()
	a := &authz.API{Base: e.Scope.Base(), Seed: e.Seed, Session: o, Header: e.header, Created: func(what string) {
		e.Progress(40, "made for the comparison of users and not removed: "+what)
	}}
	for i, identity := range e.Target.Identities {
		if i == 0 {
			if !e.As.State().Lost {
				a.Users = append(a.Users, &authz.User{Identity: identity, Session: e.As})
			}
			continue
		}
		s, err := session.New(identity, o)
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
	calls := map[*authz.Operation]*call{}
	for _, c := range e.calls {
		o := &authz.Operation{Operation: c.operation, Origin: c.origin, Answer: c.answer}
		a.Operations = append(a.Operations, o)
		calls[o] = c
	}
	a.Options = func(o *authz.Operation) generate.Options { return e.options(calls[o], 0, true) }
	if err := authz.Examine(t, a); err != nil {
		return fmt.Errorf("comparing users: %w", err)
	}
	return nil
}

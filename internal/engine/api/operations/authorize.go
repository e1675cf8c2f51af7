package operations

import (
	"context"
	"fmt"
	"net/url"

	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file compares what several users may do.

// comparedAPI is what is compared.
func (e *examination) comparedAPI() *authz.API {
	a := &authz.API{Base: e.Scope.Base(), Seed: e.Seed, Session: e.Session(), Header: e.header,
		Created: func(what string) {
			e.Progress(40, "made for the comparison of users and not removed: "+what)
		}, Untried: e.reportUntried, Judged: func(o *authz.Operation, v finding.Authorization) {
			for _, c := range e.calls {
				if c.operation == o.Operation {
					c.seen.Authorization = &v
				}
			}
		}}
	calls := map[*authz.Operation]*call{}
	for _, c := range e.calls {
		if e.isHarmful(c) {
			c.seen.Authorization = &finding.Authorization{Reason: "it moves money or sends messages, which only the " +
				"profile full does"}
			continue
		}
		o := &authz.Operation{Operation: c.operation, Origin: c.origin, Answer: c.answer}
		a.Operations = append(a.Operations, o)
		calls[o] = c
	}
	a.Options = func(o *authz.Operation) requestgen.Options {
		options := e.generatorOptions(calls[o], 0, true)
		options.Plain = false // rights are what is compared, of accounts that the scan has registered
		return options
	}
	return a
}

// isHarmful reports whether an operation moves money or reaches people, so that it is no
// matter for a comparison of users.
func (e *examination) isHarmful(c *call) bool {
	if e.Target.Profile.Allows(scan.Full) {
		return false
	}
	r := c.request
	if r == nil {
		var err error
		if r, err = requestgen.ValidInput(c.operation, requestgen.Options{Values: e.Values}).Request(e.Scope.Base(),
			c.origin); err != nil {
			return false
		}
	}
	judged := e.sideEffect(c, r)
	return judged == message.Money || judged == message.Messages
}

// reportUntried says that an operation was not tried for what rules find, by the path of what
// they would have found there; nil: that none was.
func (e *examination) reportUntried(o *authz.Operation, rules []*finding.Rule, why string) {
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

// registerAccount registers an account where the target has no identity and the API offers that:
// the scan goes on as that user, who sees more than nobody does.
func (e *examination) registerAccount(ctx context.Context) error {
	if len(e.Target.Identities) > 0 || !e.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	u, err := authz.RegisterUser(e.Engine.NewScan(ctx), e.comparedAPI())
	if traffic.IsFinal(err) {
		return err
	}
	if u == nil {
		return nil
	}
	e.joined, e.As, e.Engine.As = u, u.Session, u.Session
	e.Progress(6, "registered "+u.Name()+" to explore as")
	return nil
}

// signOthersIn signs in the identities beside the first.
func (e *examination) signOthersIn(ctx context.Context) error {
	for _, identity := range e.Target.Identities[min(1, len(e.Target.Identities)):] {
		s, err := session.New(identity, e.Session())
		if err != nil {
			return err
		}
		if err := e.SignIn(ctx, s); err != nil {
			return err
		}
		if !s.State().Lost {
			e.others = append(e.others, &authz.User{Identity: identity, Session: s})
		}
	}
	return nil
}

// scanAuthorization examines who may do what.
func (e *examination) scanAuthorization(t *activescan.OperationScan) error {
	a := e.comparedAPI()
	if e.joined != nil {
		a.Users = append(a.Users, e.joined)
	}
	if len(e.Target.Identities) > 0 && !e.As.State().Lost {
		a.Users = append(a.Users, &authz.User{Identity: e.Target.Identities[0], Session: e.As})
	}
	a.Users = append(a.Users, e.others...)
	if err := authz.ScanAPI(t, a); err != nil {
		return fmt.Errorf("comparing users: %w", err)
	}
	return nil
}

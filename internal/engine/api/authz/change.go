package authz

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
)

// This file changes what the examination has made, with properties that users should not
// set.

// A change is one request that changes something, and how the result is read.
type change struct {
	of *Operation
	// make makes the request, with extra properties in its body.
	make func(extra map[string]any) (*message.Request, error)
	as   *User
	// read returns the object's properties as the API shows them now.
	read func() (map[string]any, []*message.Response, error)
	// what is "the object" or "the account", for the report.
	what string
}

// probeGains sends the change with properties that give more than before and that it
// does not take, and reads them back. Then it sends what was there before. A change
// without the properties comes first, so that what it changes by itself is not taken
// for them.
func (e *examination) probeGains(c change, before map[string]any) error {
	extra := e.privilegedProperties(c.of, before)
	if len(extra) == 0 {
		return nil
	}
	plainly, err := c.make(nil)
	if err != nil {
		return nil
	}
	if resp, err := e.sendAs(plainly, c.as); err != nil || !isSuccess(resp) {
		return err
	}
	still, _, err := c.read()
	if err != nil {
		return err
	}
	r, err := c.make(extra)
	if err != nil {
		return nil
	}
	resp, err := e.sendAs(r, c.as)
	if err != nil || !isSuccess(resp) {
		return err
	}
	after, answers, err := c.read()
	if err != nil {
		return err
	}
	old := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if fmt.Sprint(after[name]) != fmt.Sprint(extra[name]) || fmt.Sprint(still[name]) != fmt.Sprint(before[name]) {
			continue
		}
		old[name] = before[name]
		e.RaiseAlert(activescan.Alert{Rule: massAssignment, Request: r,
			Point:     &message.Point{In: message.InJSON, Name: c.of.propertyPointer(name)},
			Payload:   fmt.Sprint(extra[name]),
			Responses: append([]*message.Response{resp}, answers...),
			ResponseNotes: []string{c.what + " is changed with the " +
				"property", "it is read"},
			Message: fmt.Sprintf("%s %s stores %q, which its description does not take", c.of.Method, c.of.Path, name),
			Proof: []string{fmt.Sprintf("The scan has made %s. Changed without the property, it has "+
				"%s = %v.", c.what, name, still[name]),
				fmt.Sprintf("Changed with %s = %v, it has that value when it is read.", name, extra[name])}})
	}
	if len(old) == 0 {
		return nil
	}
	if r, err = c.make(old); err == nil {
		_, err = e.sendAs(r, c.as)
	}
	return err
}

// probeObjectAssignment changes an object of the examination as its owner.
func (e *examination) probeObjectAssignment(k *kind, mine *object, own *message.Response) error {
	for _, o := range k.about {
		if !o.replacesBody() {
			continue
		}
		c := change{of: o, as: mine.as, what: "the object"}
		words := maps.Clone(mine.words) // what is known of it stays
		c.make = func(extra map[string]any) (*message.Request, error) {
			text := e.freshWords(words)
			_, parameter := o.collectionPath()
			return e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
				if in == "path" && name == parameter {
					return mine.id, true
				}
				if v, known := stepValue(o, mine.within, in, name); known {
					return v, true
				}
				return text(in, name, s)
			}, extra)
		}
		c.read = func() (map[string]any, []*message.Response, error) {
			resp, err := e.readObject(k, mine, mine.as)
			if err != nil || resp == nil || !isSuccess(resp) {
				return nil, nil, err
			}
			return mine.findObject(resp), []*message.Response{resp}, nil
		}
		if err := e.probeGains(c, mine.findObject(own)); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// probePromotion changes an account of the examination as its user, with properties that the
// operation does not take.
func (e *examination) probePromotion(u *User) error {
	before, _, err := e.ownProfile(u)
	if err != nil || len(before) == 0 {
		return err
	}
	for _, o := range e.Operations {
		if !o.replacesBody() || slices.ContainsFunc(o.bodySchema().Required, sitemap.IsPassword) ||
			len(e.privilegedProperties(o, before)) == 0 {
			continue
		}
		if names := pathParameters(o.Path); len(names) > 1 || len(names) == 0 && !itself.MatchString(o.Path) {
			continue
		}
		c := change{of: o, as: u, what: "the account"}
		c.make = func(extra map[string]any) (*message.Request, error) {
			return e.promotionRequest(o, u, before, extra)
		}
		c.read = func() (map[string]any, []*message.Response, error) { return e.ownProfile(u) }
		if err := e.probeGains(c, before); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// promotionRequest makes the request that changes the user's account, with the properties
// of before and extra ones that its description does not take.
func (e *examination) promotionRequest(o *Operation, u *User, before, extra map[string]any) (*message.Request,
	error) {
	found := len(pathParameters(o.Path)) == 0
	r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
		if v, shown := before[name]; in == "body" && shown && privileged.MatchString(normalizeName(name)) {
			return v, true // as it is: whether he may set it is asked by itself
		}
		if in != "path" {
			return u.account.credentialValues(in, name, s)
		}
		v, known := u.account.nameFor(name, before)
		found = found || known
		return v, known
	}, extra)
	if err == nil && !found {
		err = fmt.Errorf("%s does not name the account", o.Path)
	}
	return r, err
}

// nameFor returns by which value a parameter of a path names the account: its name, its
// address, or an identifier among what the API shows of it.
func (a *account) nameFor(parameter string, shown map[string]any) (any, bool) {
	switch {
	case isEmailName(parameter):
		return a.email, true
	case isUserIdentifier(parameter) && !strings.HasSuffix(normalizeName(parameter), "id"):
		return a.name, true
	}
	return identifierAmong(shown, parameter)
}

// An entry is a response that shows what an account has when it is registered or signs in: some
// APIs have no operation that shows users themselves.
type entry struct {
	resp *message.Response
	// shown contains the properties that decide what the user may do.
	shown map[string]any
	// what is "registration" or "sign-in".
	what string
}

// entryResponses returns the responses of a sign-in and of the registration, where these show such
// properties; the sign-in comes first, because it shows what was stored.
func (e *examination) entryResponses(u *User) ([]entry, error) {
	var out []entry
	add := func(resp *message.Response, what string) {
		shown := map[string]any{}
		for _, at := range objectsOf(message.DecodeJSON(resp.Body)) {
			for name, v := range at {
				if _, known := shown[name]; !known && privileged.MatchString(normalizeName(name)) {
					shown[name] = v
				}
			}
		}
		if len(shown) > 0 {
			out = append(out, entry{resp, shown, what})
		}
	}
	if r, err := e.signIn(u.account.name, u.account.email, u.account.password); err == nil {
		resp, err := e.sendAs(r, nil)
		if err != nil {
			return nil, err
		}
		if isSuccess(resp) {
			add(resp, "sign-in")
		}
	}
	if u.account.answer != nil && isSuccess(u.account.answer) {
		add(u.account.answer, "registration")
	}
	return out, nil
}

// reportEntryProperty reports a property that an account was registered with and that its sign-in
// shows, else the response of the registration, with less confidence: that may only repeat the
// request.
func (e *examination) reportEntryProperty(u *User, entries []entry, name string, before, extra any) {
	for _, one := range entries {
		if fmt.Sprint(one.shown[name]) != fmt.Sprint(extra) {
			continue
		}
		f := activescan.Alert{Rule: massAssignment, Request: u.account.request,
			Point:   &message.Point{In: message.InJSON, Name: e.register.propertyPointer(name)},
			Payload: fmt.Sprint(extra),
			Message: fmt.Sprintf("%s %s stores %q, which its description does not take", e.register.Method,
				e.register.Path, name),
			Responses: []*message.Response{u.account.answer}, ResponseNotes: []string{"an account is registered " +
				"with the " +
				"property"},
			Proof: []string{fmt.Sprintf("An account that was registered without the property is shown with "+
				"%s = %v.", name, before),
				fmt.Sprintf("The response of the %s of an account that was registered with %s = %v shows that value.",
					one.what, name, extra)}}
		if one.what == "registration" {
			f.Confidence = finding.MediumConfidence
		} else {
			f.Responses, f.ResponseNotes = append(f.Responses, one.resp), append(f.ResponseNotes, "it signs in")
		}
		e.RaiseAlert(f)
		return
	}
}

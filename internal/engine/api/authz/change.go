package authz

import (
	"fmt"
	"maps"
	"net/http"
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
	of   *Operation
	make func(extra map[string]any) (*message.Request, error)
	as   *User
	// read returns the object's properties as the API shows them now.
	read func() (map[string]any, []*message.Response, error)
	what string // "the object", "the account"
}

// gained sends the change with properties that give more than before and that it does
// not take, and reads them back. Then it sends what was there before.
func (e *examination) gained(c change, before map[string]any) error {
	extra := e.gains(c.of, before)
	if len(extra) == 0 {
		return nil
	}
	plainly, err := c.make(nil)
	if err != nil {
		return nil
	}
	if resp, err := e.send(plainly, c.as); err != nil || !ok(resp) {
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
	resp, err := e.send(r, c.as)
	if err != nil || !ok(resp) {
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
			Point: &message.Point{In: message.InJSON, Name: c.of.pointer(name)}, Payload: fmt.Sprint(extra[name]),
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
		_, err = e.send(r, c.as)
	}
	return err
}

// reassigned changes an object of the examination as its owner.
func (e *examination) reassigned(k *kind, mine *object, own *message.Response) error {
	for _, o := range k.about {
		if o.Method != http.MethodPatch && o.Method != http.MethodPut || o.body() == nil ||
			sitemap.IsDangerous(o.Path) {
			continue
		}
		c := change{of: o, as: mine.as, what: "the object"}
		words := maps.Clone(mine.words) // what is known of it stays
		c.make = func(extra map[string]any) (*message.Request, error) {
			text := e.fresh(words)
			_, parameter := o.collection()
			return e.request(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
				if in == "path" && name == parameter {
					return mine.id, true
				}
				if v, known := step(o, mine.within, in, name); known {
					return v, true
				}
				return text(in, name, s)
			}, extra)
		}
		c.read = func() (map[string]any, []*message.Response, error) {
			resp, err := e.see(k, mine, mine.as)
			if err != nil || resp == nil || !ok(resp) {
				return nil, nil, err
			}
			return mine.in(resp), []*message.Response{resp}, nil
		}
		if err := e.gained(c, mine.in(own)); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// promoted changes an account of the examination as its user.
func (e *examination) promoted(u *User) error {
	before, _, err := e.shown(u)
	if err != nil || len(before) == 0 {
		return err
	}
	for _, o := range e.Operations {
		if o.Call != nil || o.Method != http.MethodPatch && o.Method != http.MethodPut || o.body() == nil ||
			slices.ContainsFunc(o.body().Required, sitemap.IsPassword) || sitemap.IsDangerous(o.Path) ||
			len(e.gains(o, before)) == 0 {
			continue
		}
		names := parameters(o.Path)
		if len(names) > 1 || len(names) == 0 && !itself.MatchString(o.Path) {
			continue
		}
		c := change{of: o, as: u, what: "the account"}
		c.make = func(extra map[string]any) (*message.Request, error) {
			found := len(names) == 0
			r, err := e.request(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
				if v, shown := before[name]; in == "body" && shown && privileged.MatchString(plain(name)) {
					return v, true // as it is: whether he may set it is asked by itself
				}
				if in != "path" {
					return u.account.credentials(in, name, s)
				}
				v, known := u.account.named(name, before)
				found = found || known
				return v, known
			}, extra)
			if err == nil && !found {
				err = fmt.Errorf("%s does not name the account", o.Path)
			}
			return r, err
		}
		c.read = func() (map[string]any, []*message.Response, error) { return e.shown(u) }
		if err := e.gained(c, before); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// named returns by which value a parameter of a path names the account: its name, its
// address, or an identifier among what the API shows of it.
func (a *account) named(parameter string, shown map[string]any) (any, bool) {
	switch {
	case mail(parameter):
		return a.email, true
	case identifies(parameter) && !strings.HasSuffix(plain(parameter), "id"):
		return a.name, true
	}
	return identifier(shown, parameter)
}

// An entry is a response that tells what an account has as it is made or let in: some APIs
// have no operation that shows users themselves.
type entry struct {
	resp  *message.Response
	shown map[string]any // properties that decide what the user may do
	what  string         // "registration" or "sign-in"
}

// entries are the responses of the registration of an account and of a sign-in, where these
// show such properties; the sign-in comes first.
func (e *examination) entries(u *User) ([]entry, error) {
	var out []entry
	add := func(resp *message.Response, what string) {
		shown := map[string]any{}
		for _, at := range objectsOf(message.DecodeJSON(resp.Body)) {
			for name, v := range at {
				if _, known := shown[name]; !known && privileged.MatchString(plain(name)) {
					shown[name] = v
				}
			}
		}
		if len(shown) > 0 {
			out = append(out, entry{resp, shown, what})
		}
	}
	if r, err := e.signIn(u.account.name, u.account.email, u.account.password); err == nil {
		resp, err := e.send(r, nil)
		if err != nil {
			return nil, err
		}
		if ok(resp) {
			add(resp, "sign-in")
		}
	}
	if u.account.answer != nil && ok(u.account.answer) {
		add(u.account.answer, "registration")
	}
	return out, nil
}

// entered tells of a property that an account was registered with and that its sign-in shows,
// else the response of the registration, which is less sure: it may repeat the request.
func (e *examination) entered(u *User, entries []entry, name string, before, extra any) {
	for _, one := range entries {
		if fmt.Sprint(one.shown[name]) != fmt.Sprint(extra) {
			continue
		}
		f := activescan.Alert{Rule: massAssignment, Request: u.account.request,
			Point: &message.Point{In: message.InJSON, Name: e.register.pointer(name)}, Payload: fmt.Sprint(extra),
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
			f.Confidence = finding.Likely
		} else {
			f.Responses, f.ResponseNotes = append(f.Responses, one.resp), append(f.ResponseNotes, "it signs in")
		}
		e.RaiseAlert(f)
		return
	}
}

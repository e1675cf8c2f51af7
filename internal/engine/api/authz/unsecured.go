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

// This file asks operations for which the description requires no sign-in without one: what they
// show of a user who is known to the scan is compared with what the second user is shown.

// scanUnsecured requests the read operations for which the description requires no sign-in.
func (e *examination) scanUnsecured() error {
	asked := 0
	for _, o := range e.Operations {
		if o.Call != nil || o.Method != http.MethodGet || o.RequiresAuthentication() || o.Answer == nil ||
			sitemap.IsDangerous(o.Path) ||
			len(e.Users) == 0 || asked == maxObjects {
			continue
		}
		asked++
		if err := e.probeUnsecured(o); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// probeUnsecured requests one of them without a sign-in. Where the response contains personal data
// of a user, it is compared with that to the second user.
func (e *examination) probeUnsecured(o *Operation) error {
	r := o.Answer.Request
	if _, parameter := o.collectionPath(); isUserIdentifier(parameter) && strings.Count(o.Path, "{") == 1 {
		if names := e.Users[0].userNames(); len(names) > 0 {
			about, err := e.buildRequest(o, false, func(in, _ string, _ *apispec.Schema) (any, bool) {
				return names[0], in == "path"
			}, nil)
			if err != nil {
				return nil
			}
			r = about
		}
	}
	nobody, err := e.sendAs(r, nil)
	if err != nil || !isSuccess(nobody) {
		return err
	}
	whose, names := e.personal(nobody)
	if whose == "" {
		return nil
	}
	f := activescan.Alert{Rule: personalData, Anonymous: true, Request: r, Responses: []*message.Response{nobody},
		ResponseNotes: []string{"nobody"},
		Message: fmt.Sprintf("%s %s shows the %s of users without a sign-in", o.Method, o.Path,
			strings.Join(names, " and ")),
		Proof: []string{"The description requires no sign-in.", fmt.Sprintf("Without one the response contains the "+
			"%s of %s, who is a user.", strings.Join(names, " and "), whose)}}
	if slices.ContainsFunc(names, func(name string) bool { return !contacts.MatchString(normalizeName(name)) }) {
		f.Severity = finding.High
	}
	if len(e.Users) > 1 {
		other, err := e.sendAs(r, e.Users[1])
		if err != nil {
			return err
		}
		e.recordVerdict(o, other)
		f.Responses, f.ResponseNotes = append(f.Responses, other), append(f.ResponseNotes, "another user")
		f.Proof = append(f.Proof, fmt.Sprintf("%s gets %d.", e.Users[1].Name(), other.Status))
	}
	e.RaiseAlert(f)
	return nil
}

// personal returns a user whom a response is about, with the names of the properties that are
// personal; empty: it is about none. What the request contains is not disclosed by the response.
func (e *examination) personal(resp *message.Response) (whose string, names []string) {
	doc := message.DecodeJSON(resp.Body)
	content, _ := resp.Request.Content()
	for _, u := range e.Users {
		for _, name := range u.userNames() {
			for _, at := range objectsHolding(doc, name) {
				for _, property := range slices.Sorted(maps.Keys(at)) {
					text := fmt.Sprint(at[property])
					if !IsPersonal(property) || !isScalar(at[property]) || len(text) < 5 ||
						strings.Contains(resp.Request.Address(), text) || strings.Contains(string(content), text) {
						continue
					}
					names = append(names, property)
				}
				if len(names) > 0 {
					return u.Name(), names
				}
			}
		}
	}
	return "", nil
}

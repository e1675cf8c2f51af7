package authz

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
)

// This file deletes the objects that the authorization tests have created.

// removeCreated removes what the examination has made, as the user who made it, and
// tells what stays. A scan must leave the target as it was.
func (e *examination) removeCreated() error {
	for _, m := range slices.Backward(e.made) { // what is within others first
		if m.gone {
			continue
		}
		gone, err := e.removeObject(m)
		if traffic.IsFinal(err) {
			return err
		}
		if !gone && e.Created != nil {
			e.Created(fmt.Sprintf("%s %s as %s: %s", m.of.Method, m.of.Path, m.as.Name(),
				strings.Join(slices.Sorted(maps.Values(m.words)), ", ")))
		}
	}
	return nil
}

// removeObject removes an object, and reports whether the API says so.
func (e *examination) removeObject(m *object) (bool, error) {
	if m.of.Call != nil {
		return e.removeByMutation(m)
	}
	for _, o := range e.Operations {
		if o.Call != nil || o.Method != http.MethodDelete || sitemap.IsDangerous(o.Path) {
			continue
		}
		id, err := e.removalIdentifier(o, m)
		if err != nil {
			return false, err
		}
		if id == nil {
			continue
		}
		r, err := e.itemRequest(o, id, m.within, nil)
		if err != nil {
			continue
		}
		resp, err := e.sendAs(r, m.as)
		return err == nil && isSuccess(resp), err
	}
	return e.removeByAction(m)
}

// removalIdentifier returns by what a DELETE operation names the object; nil: it is about
// something else. An account is named by what it was registered with.
func (e *examination) removalIdentifier(o *Operation, m *object) (any, error) {
	path, parameter := o.collectionPath()
	switch {
	case m.of != e.register:
		if path == e.collectionOf(m.of) {
			return e.identifierFor(m, parameter)
		}
	case isUserIdentifier(parameter) && (strings.HasPrefix(m.of.Path, path) || users.MatchString(path)) &&
		m.as.account != nil:
		if isEmailName(parameter) {
			return m.as.account.email, nil
		}
		return m.as.account.name, nil
	}
	return nil, nil
}

// removeByAction removes an object by an action that is named so, where no DELETE does.
func (e *examination) removeByAction(m *object) (bool, error) {
	o := e.removalAction(e.collectionOf(m.of))
	if o == nil || m.of == e.register {
		return false, nil
	}
	id, err := e.identifierFor(m, parameterBehind(o, e.collectionOf(m.of)))
	if err != nil || id == nil {
		return false, err
	}
	r, err := e.itemRequest(o, id, m.within, nil)
	if err != nil {
		return false, nil
	}
	resp, err := e.sendAs(r, m.as)
	return err == nil && isSuccess(resp), err
}

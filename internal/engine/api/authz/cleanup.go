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

// removeCreated removes what the examination has made, as the user who made it, and tells what
// stays.
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
		path, parameter := o.collectionPath()
		if o.Call != nil || o.Method != http.MethodDelete || sitemap.IsDangerous(o.Path) {
			continue
		}
		var id any
		switch {
		case m.of == e.register && isUserIdentifier(parameter) && (strings.HasPrefix(m.of.Path, path) ||
			users.MatchString(path)) && m.as.account != nil:
			if id = m.as.account.name; isEmailName(parameter) {
				id = m.as.account.email
			}
		case m.of != e.register && path == e.collectionOf(m.of):
			var err error
			if id, err = e.identifierFor(m, parameter); err != nil {
				return false, err
			}
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
	if o := e.removalAction(e.collectionOf(m.of)); o != nil && m.of != e.register {
		id, err := e.identifierFor(m, parameterBehind(o, e.collectionOf(m.of)))
		if err != nil || id == nil {
			return false, err
		}
		if r, err := e.itemRequest(o, id, m.within, nil); err == nil {
			resp, err := e.sendAs(r, m.as)
			return err == nil && isSuccess(resp), err
		}
	}
	return false, nil
}

package authz

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/traffic"
)

// This file examines actions about an object, whose paths go on behind it
// ("/cards/{card_id}/freeze"): what they show another user, and what they change for him.

// maxActions bounds the actions that are sent for one kind of object.
const maxActions = 20

// probeActions asks actions that change the object as another user. The owner reads the object
// before, twice, and after: members that were the same twice, and then are what was sent or
// another word ("frozen", true), were changed. Other numbers may be times and counters.
func (e *examination) probeActions(k *kind, mine *object, stranger *User) error {
	asked := 0
	for _, o := range k.actions {
		if o.Method == http.MethodGet || o.Method == http.MethodHead || mine.gone || asked == maxActions {
			continue
		}
		asked++
		if err := e.probeAction(k, o, mine, stranger); traffic.IsFinal(err) {
			return err
		} else if err != nil {
			e.recordSkipped(o, err.Error())
		}
	}
	return nil
}

// objectState returns the scalar members of the object as its owner reads them now, with the
// response.
func (e *examination) objectState(k *kind, m *object) (map[string]string, *message.Response, error) {
	resp, err := e.readObject(k, m, m.as)
	if err != nil || resp == nil {
		return nil, resp, err
	}
	out := map[string]string{}
	for name, v := range m.findIn(resp, k.parameter) {
		switch v.(type) {
		case map[string]any, []any:
		default:
			out[name] = fmt.Sprint(v)
		}
	}
	return out, resp, nil
}

// findIn is findObject for an object whose values may have changed: it is also found by its
// identifier.
func (m *object) findIn(resp *message.Response, parameter string) map[string]any {
	if at := m.findObject(resp); at != nil {
		return at
	}
	for _, at := range objectsOf(message.DecodeJSON(resp.Body)) {
		if v, is := identifierAmong(at, parameter); is && fmt.Sprint(v) == fmt.Sprint(m.id) {
			return at
		}
	}
	return nil
}

// probeAction sends one action about the object as another user and compares what the owner
// reads before and after.
func (e *examination) probeAction(k *kind, o *Operation, mine *object, stranger *User) error {
	first, _, err := e.objectState(k, mine)
	if err != nil {
		return err
	}
	before, shown, err := e.objectState(k, mine)
	if err != nil {
		return err
	}
	if len(before) == 0 {
		return errors.New("the object is not shown to its owner at the moment")
	}
	r, sent, err := e.actionRequest(o, mine)
	if err != nil {
		return fmt.Errorf("no request of it could be made: %w", err)
	}
	resp, err := e.sendAs(r, stranger)
	if err != nil {
		return err
	}
	if e.recordVerdict(o, resp); !isSuccess(resp) {
		return nil
	}
	after, then, err := e.objectState(k, mine)
	if err != nil || then == nil {
		return err
	}
	what, which := "changes", ""
	switch {
	case len(after) > 0:
		if which = changedMember(first, before, after, sent); which == "" {
			return nil
		}
	case k.isGone(mine, then) || then.Status == http.StatusForbidden:
		what, mine.gone = "removes", true
	default:
		return nil
	}
	proof := []string{fmt.Sprintf("As %s an object was created, and read twice.", mine.as.Name()), mine.private,
		fmt.Sprintf("As %s, the response to the request about it is %d.", stranger.Name(), resp.Status)}
	if which != "" {
		proof = append(proof, fmt.Sprintf("%s then reads %s = %.60s, which was %.60s both times "+
			"before.", mine.as.Name(), which, after[which], before[which]))
	} else {
		proof = append(proof, fmt.Sprintf("%s then gets %d, without the object.", mine.as.Name(), then.Status))
	}
	e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: r, Responses: []*message.Response{shown, resp, then},
		ResponseNotes: []string{"its owner reads the object", "another user " + what + " it",
			"its owner reads it then"},
		Message: fmt.Sprintf("%s %s %s the objects of other users", o.Method, o.Path, what), Proof: proof})
	return nil
}

// actionRequest makes the request of an action about the object, with random words and
// numbers where it takes them, and returns the values, which then prove what changed.
func (e *examination) actionRequest(o *Operation, mine *object) (*message.Request, []string, error) {
	words, numbers := map[string]string{}, map[string]json.Number{}
	text := e.freshWords(words)
	r, err := e.addressedRequest(o, mine, func(in, name string, s *apispec.Schema) (any, bool) {
		if in == "body" && (s.Is("integer") || s.Is("number")) && len(s.Enum) == 0 && s.Minimum == nil &&
			s.Maximum == nil {
			if numbers[name] == "" {
				numbers[name] = json.Number(fmt.Sprint(e.RandomNumber(11, 97)))
			}
			return numbers[name], true
		}
		return text(in, name, s)
	})
	sent := slices.Collect(maps.Values(words))
	for _, n := range numbers {
		sent = append(sent, n.String())
	}
	return r, sent, err
}

// changedMember returns a member that was the same twice and then is what was sent, or
// another word; "": there is none. Other digits may be a time or a counter.
func changedMember(first, before, after map[string]string, sent []string) string {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		now, has := after[name]
		if has && now != before[name] && first[name] == before[name] &&
			(slices.Contains(sent, now) || !strings.ContainsAny(now+before[name], "0123456789")) {
			return name
		}
	}
	return ""
}

// probeReadActions requests actions that read as another user, and reports those that show him what
// only the object contains.
func (e *examination) probeReadActions(k *kind, mine *object, stranger *User) error {
	asked := 0
	for _, o := range k.actions {
		if o.Method != http.MethodGet || o == k.read || mine.gone || asked == maxActions {
			continue
		}
		asked++
		r, err := e.itemRequest(o, mine.id, mine.within, nil)
		if err != nil {
			e.recordSkipped(o, fmt.Sprintf("no request of it could be made: %v", err))
			continue
		}
		own, err := e.sendAs(r, mine.as)
		switch {
		case err != nil:
			return err
		case !isSuccess(own):
			e.recordSkipped(o, fmt.Sprintf("the response to the owner of the object is %d", own.Status))
		case len(mine.seenWords(own)) == 0:
			e.recordSkipped(o, "its response to the owner contains nothing that identifies the object")
		default:
			if err := e.shownTo(k, o, mine, own, stranger); err != nil {
				return err
			}
		}
	}
	return nil
}

// removalAction returns an action that removes an object of the collection; nil: there is none.
func (e *examination) removalAction(path string) *Operation {
	for _, o := range e.itemActions(path) {
		if removalRank(o) == 1 && o.Method != http.MethodGet {
			return o
		}
	}
	return nil
}

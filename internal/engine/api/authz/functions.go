package authz

import (
	"fmt"
	"net/http"
	"strings"

	"merlon/internal/engine/api/describe"
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file examines operations that are meant for a higher role.

// elevated are words of paths and tags of operations that administrators use.
var elevated = lazyregexp.New(`(?i)(^|[/_. -])(admins?|administrat(or|ors|ion)|superusers?|back-?office|moderat(or|ors|ion))([/_. -]|$)`)

// higher says why the operation is meant for a higher role; empty: nothing says that.
func higher(o *Operation) string {
	if elevated.MatchString(o.Path) {
		return "its path says that it is for administrators"
	}
	for _, tag := range o.Tags {
		if elevated.MatchString(tag) {
			return fmt.Sprintf("the description lists it under %q", tag)
		}
	}
	for _, r := range o.Security {
		for _, n := range r {
			for _, scope := range n.Scopes {
				if strings.Contains(strings.ToLower(scope), "admin") {
					return fmt.Sprintf("the description requires the scope %q", scope)
				}
			}
		}
	}
	return ""
}

// roles returns the given users of the highest and the lowest role; no lowest one where
// they have the same.
func (e *examination) roles() (high, low *User) {
	for _, u := range e.Users {
		if u.account == nil && u.Identity.Role > 0 && (high == nil || u.Identity.Role > high.Identity.Role) {
			high = u
		}
	}
	for _, u := range e.Users {
		if high != nil && u.account == nil && u.Identity.Role > 0 && u.Identity.Role < high.Identity.Role && (low == nil || u.Identity.Role < low.Identity.Role) {
			low = u
		}
	}
	return high, low
}

// functions asks what is meant for a higher role as the users of the highest and the
// lowest role; only what reads is asked.
func (e *examination) functions() error {
	high, low := e.roles()
	if low == nil {
		return nil
	}
	for _, o := range e.Operations {
		why := higher(o)
		if why == "" || o.Call != nil || o.Method != http.MethodGet || site.Dangerous(o.Path) {
			continue
		}
		if err := e.function(o, why, high, low); traffic.Over(err) {
			return err
		}
	}
	return nil
}

func (e *examination) function(o *Operation, why string, high, low *User) error {
	r, err := e.request(o, false, func(string, string, *describe.Schema) (any, bool) { return nil, false }, nil)
	if err != nil {
		return nil
	}
	may, err := e.send(r, high)
	if err != nil || !ok(may) || len(may.Body) == 0 {
		return err
	}
	nobody, err := e.send(r, nil)
	if err != nil || ok(nobody) {
		return err // it is open: a missing sign-in is told elsewhere
	}
	should, err := e.send(r, low)
	if err != nil || should.Status != may.Status || attack.NewPage(may).Like(attack.NewPage(should)) < 0.9 {
		return err
	}
	other := r.Clone()
	other.Path, other.Template = strings.TrimRight(r.Path, "/")+"/"+e.Random(12), ""
	control, err := e.send(other, low)
	if err != nil || ok(control) && attack.NewPage(control).Like(attack.NewPage(should)) > 0.9 {
		return err
	}
	e.Flaw(attack.Flaw{Rule: function, Request: r, Answers: []*message.Response{may, should, nobody, control},
		Notes:   []string{"the user of the higher role", "the one of the lower role", "nobody", "an address that does not exist"},
		Message: fmt.Sprintf("%s %s answers a user of a lower role", o.Method, o.Path),
		Proof: []string{"It is meant for a higher role: " + why + ".",
			fmt.Sprintf("As %s (role %d) and as %s (role %d) the answer is %d with the same content.", high.Name(), high.Identity.Role, low.Name(), low.Identity.Role, may.Status),
			fmt.Sprintf("Nobody gets %d, and an address that does not exist %d.", nobody.Status, control.Status)}})
	return nil
}

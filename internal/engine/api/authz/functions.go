package authz

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file examines operations that are meant for a higher role, or for users at all.

// elevated matches words of paths and tags of operations for administrators.
var elevated = lazyregexp.New(`(?i)(^|[/_. -])(admins?|administrat(or|ors|ion)|superusers?|back-?office|moderat(or|ors|ion))([/_. -]|$)`)

// higherRoleReason returns why the operation is meant for a higher role; empty: nothing says so.
// The path, the tags and the scopes of the description decide, because the response of an operation
// that is open by mistake shows nothing.
func higherRoleReason(o *Operation) string {
	if elevated.MatchString(o.Path) {
		return "its path indicates that it is for administrators"
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

// extremeRoles returns the given users of the highest and the lowest role; no lowest
// one where they have the same. Where all that are given have a role above the first
// one, an account that the examination has registered is the lowest: anybody can have
// that. Roles are what the target's configuration says of its identities.
func (e *examination) extremeRoles() (high, low *User) {
	for _, u := range e.Users {
		if u.account == nil && u.Identity.Role > 0 && (high == nil || u.Identity.Role > high.Identity.Role) {
			high = u
		}
	}
	for _, u := range e.Users {
		if high != nil && u.account == nil && u.Identity.Role > 0 && u.Identity.Role < high.Identity.Role &&
			(low == nil || u.Identity.Role < low.Identity.Role) {
			low = u
		}
	}
	if low == nil && high != nil && high.Identity.Role > 1 {
		low = e.ordinary
	}
	return high, low
}

// scanFunctions requests the read operations for a higher role as the users of the highest and the
// lowest role.
func (e *examination) scanFunctions() error {
	high, low := e.extremeRoles()
	if low == nil {
		return nil
	}
	for _, o := range e.Operations {
		why := higherRoleReason(o)
		if why == "" || o.Call != nil || o.Method != http.MethodGet || sitemap.IsDangerous(o.Path) {
			continue
		}
		if err := e.probeFunction(o, why, high, low); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// probeFunction asks one operation as the users of both roles (API5:2023, broken
// function level authorization). It is a vulnerability when the lower role gets the
// same content, nobody gets it, and another address does not respond so.
func (e *examination) probeFunction(o *Operation, why string, high, low *User) error {
	r, err := e.buildRequest(o, false, knowNothing, nil)
	if err != nil {
		return nil
	}
	may, err := e.sendAs(r, high)
	if err != nil || !isSuccess(may) || len(may.Body) == 0 {
		return err
	}
	nobody, err := e.sendAs(r, nil)
	if err != nil || isSuccess(nobody) {
		return err // it is open: a missing sign-in is told elsewhere
	}
	should, err := e.sendAs(r, low)
	if err == nil {
		e.recordVerdict(o, should)
	}
	if err == nil && !isSuccess(should) {
		return e.probeDetours(may, should, low)
	}
	if err != nil || should.Status != may.Status ||
		activescan.NewPage(may).Similarity(activescan.NewPage(should)) < 0.9 {
		return err
	}
	other := r.Clone()
	other.Path, other.Template = strings.TrimRight(r.Path, "/")+"/"+e.RandomLetters(12), ""
	control, err := e.sendAs(other, low)
	if err != nil || isSuccess(control) && activescan.NewPage(control).Similarity(activescan.NewPage(should)) > 0.9 {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: function, Request: r, Responses: []*message.Response{may, should, nobody,
		control},
		ResponseNotes: []string{"the user of the higher role", "the one of the lower role", "nobody",
			"an address that " +
				"does not exist"},
		Message: fmt.Sprintf("%s %s responds to a user of a lower role", o.Method, o.Path),
		Proof: []string{"It is meant for a higher role: " + why + ".",
			fmt.Sprintf("As %s (role %d) and as %s (role %d), the response is %d with the same content.", high.Name(),
				high.Identity.Role, low.Name(), low.Identity.Role, may.Status),
			fmt.Sprintf("Without a session the response is %d; a URL that does not exist returns %d.", nobody.Status,
				control.Status)}})
	return nil
}

// probeRanks creates objects of each kind as the user of the highest role, and changes and removes
// them as the user of the lowest. Kinds that the lowest may create himself are left out.
func (e *examination) probeRanks() error {
	high, low := e.extremeRoles()
	if low == nil || !e.mayChange() {
		return nil
	}
	for _, k := range e.objectKinds() {
		if slices.ContainsFunc(e.made, func(m *object) bool {
			return m.of == k.maker && (m.as.account != nil || m.as.Identity.Role <= low.Identity.Role)
		}) {
			continue // he may make one
		}
		mine, _, err := e.createAndRead(k, high)
		if traffic.IsFinal(err) {
			return err
		}
		if err != nil {
			continue
		}
		for _, who := range []*User{nil, low} {
			if err := e.probeOverreach(k, mine, who); traffic.IsFinal(err) {
				return err
			}
		}
	}
	return nil
}

// probeAnonymousChange is probeOverreach as nobody. It returns what the owner reads of the object
// afterwards; nil: the object is gone.
func (e *examination) probeAnonymousChange(k *kind, mine *object, own *message.Response) (*message.Response, error) {
	before := len(e.proven)
	if err := e.probeOverreach(k, mine, nil); err != nil || mine.gone {
		return nil, err
	}
	if len(e.proven) == before {
		return own, nil
	}
	own, err := e.readObject(k, mine, mine.as)
	if err != nil || own == nil || !isSuccess(own) {
		return nil, err
	}
	return own, nil
}

// probeOverreach changes and removes the object as somebody (nil: nobody) who is refused to
// make one like it: who may not make it has nothing to change about others'.
func (e *examination) probeOverreach(k *kind, mine *object, who *User) error {
	if mine.gone {
		return nil
	}
	_, may, err := e.attemptCreation(k.maker, who, mine.within, true, nil)
	if err != nil || may == nil || may.Status != http.StatusUnauthorized && may.Status != http.StatusForbidden {
		return err
	}
	refused := []*message.Response{may}
	for _, method := range writing {
		i := slices.IndexFunc(k.about, func(o *Operation) bool { return o.Method == method })
		if i < 0 || e.proven[k.about[i]] {
			continue
		}
		what, answers, err := e.probeWrite(k, k.about[i], mine, who)
		if err != nil {
			return err
		}
		if what != "" {
			e.proven[k.about[i]] = true
			e.reportOverreach(k.about[i], mine, who, what, slices.Concat(refused, answers))
		} else if len(answers) > 0 && (answers[0].Status == http.StatusUnauthorized ||
			answers[0].Status == http.StatusForbidden) {
			refused = append(refused, answers[0])
		}
	}
	return nil
}

// reportOverreach reports that somebody changed or removed the object. The last two responses are
// that one and what its owner reads afterwards; those before refuse the same user.
func (e *examination) reportOverreach(o *Operation, mine *object, who *User, what string, answers []*message.Response) {
	n := len(answers) - 2
	f := activescan.Alert{Rule: function, Request: answers[n].Request, Responses: answers,
		Confidence: finding.MediumConfidence,
		Message:    fmt.Sprintf("%s %s lets a user change what users like him may not make", o.Method, o.Path)}
	name := "Nobody, without a sign-in,"
	if who == nil {
		f.Rule, f.Anonymous, f.Confidence = unauthenticated, true, finding.HighConfidence
		f.Message = fmt.Sprintf("%s %s %s objects without a sign-in", o.Method, o.Path, what)
	} else {
		name = who.Name()
	}
	if n > 1 { // the description asks for the same right of the object's other operations
		f.Confidence = finding.HighConfidence
	}
	f.Proof = []string{fmt.Sprintf("%s made an object with random values, and reads it.", mine.as.Name())}
	for _, a := range answers[:n] {
		f.ResponseNotes = append(f.ResponseNotes, "refused")
		f.Proof = append(f.Proof, fmt.Sprintf("%s is refused %s with %d.", name, operationTemplate(a.Request),
			a.Status))
	}
	f.ResponseNotes = append(f.ResponseNotes, "the request that "+what+" the object", "its owner reads it then")
	f.Proof = append(f.Proof, fmt.Sprintf("%s gets %d for the request that %s that object, and %s reads the "+
		"result (%d).", name, answers[n].Status, what, mine.as.Name(), answers[n+1].Status))
	e.RaiseAlert(f)
}

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
	"merlon/internal/lazyregexp"
)

// This file examines what others learn of an account and do to it, and how long what
// lets somebody in does so. All accounts are those of the examination.

// contacts matches normalized names of properties by which a person is reached.
var contacts = lazyregexp.New(`mail|phone|mobile|^tel`)

// probeExposedAddresses reports where the API shows an ordinary user the e-mail address or
// telephone number of another one (API3:2023, CWE-359). Both are random, so nothing else can be
// mistaken for them.
func (e *examination) probeExposedAddresses(owner, stranger *User) error {
	_, answers, err := e.profileShownTo(owner, stranger)
	if err != nil {
		return err
	}
	for _, resp := range answers {
		names := contactMembers(resp, owner.account)
		if len(names) == 0 {
			continue
		}
		nobody, err := e.sendAs(resp.Request, nil)
		if err != nil {
			return err
		}
		who := fmt.Sprintf("Without a session the response is %d.", nobody.Status)
		if isSuccess(nobody) && (holdsValue(nobody, owner.account.email) || holdsValue(nobody, owner.account.phone)) {
			who = "Even without a session the response is the same."
		}
		e.RaiseAlert(activescan.Alert{Rule: personalData, Request: resp.Request,
			Responses:     []*message.Response{resp, nobody},
			ResponseNotes: []string{"another user", "nobody"},
			Message: fmt.Sprintf("%s shows users the %s of other users", operationTemplate(resp.Request),
				strings.Join(names, " and ")),
			Proof: []string{fmt.Sprintf("The accounts %s and %s were registered, with random "+
				"values.", owner.Name(), stranger.Name()),
				fmt.Sprintf("As %s, the response contains what only %s has sent: %s.", stranger.Name(), owner.Name(),
					strings.Join(names, ", ")), who}})
	}
	return nil
}

// contactMembers returns the names of a response's members that contain an address of the account.
func contactMembers(resp *message.Response, a *account) []string {
	var names []string
	for _, value := range []string{a.email, a.phone} {
		for _, at := range objectsHolding(message.DecodeJSON(resp.Body), value) {
			for name, v := range at {
				if v == value && contacts.MatchString(normalizeName(name)) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// entrusted reports whether a property takes what a user gives to the application alone, such as
// the number of a card. Passwords, tokens and addresses are tested elsewhere.
func entrusted(name string) bool {
	n := normalizeName(name)
	return secrets.MatchString(n) && !sitemap.IsPassword(name) && !strings.Contains(n, "token") &&
		!contacts.MatchString(n)
}

// IsPersonal reports whether a property of this name says how a person is reached, or contains what
// is for its owner alone.
func IsPersonal(name string) bool {
	return contacts.MatchString(normalizeName(name)) || secrets.MatchString(normalizeName(name))
}

// maxEntrusted bounds the operations that are sent such values.
const maxEntrusted = 3

// probeConfidentialValues sends operations, as one user, random values of what is for its owner
// alone, and reads the user's account as another one.
func (e *examination) probeConfidentialValues(owner, stranger *User) error {
	asked := 0
	for _, o := range e.Operations {
		if !e.takesConfidential(o) || asked == maxEntrusted {
			continue
		}
		words := map[string]string{}
		fresh := e.freshWords(words)
		r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
			if v, is := owner.account.credentialValues(in, name, s); is && !entrusted(name) {
				return v, true
			}
			return fresh(in, name, s)
		}, nil)
		if err != nil {
			continue
		}
		asked++
		if resp, err := e.sendAs(r, owner); traffic.IsFinal(err) {
			return err
		} else if err != nil || !isSuccess(resp) {
			continue
		}
		_, answers, err := e.profileShownTo(owner, stranger)
		if err != nil {
			return err
		}
		if err := e.reportConfidentialLeak(r, words, answers, owner, stranger); err != nil {
			return err
		}
	}
	return nil
}

// takesConfidential reports whether an operation takes what is for its owner alone, and is
// neither the registration nor the sign-in, which are tested elsewhere.
func (e *examination) takesConfidential(o *Operation) bool {
	return o.Call == nil && (o.Method == http.MethodPost || o.Method == http.MethodPut) &&
		!strings.Contains(o.Path, "{") && o.takesProperty(entrusted) && o != e.register && o != e.login &&
		!sitemap.IsDangerous(o.Path)
}

// reportConfidentialLeak reports responses to another user that contain the values of the request.
func (e *examination) reportConfidentialLeak(r *message.Request, words map[string]string, answers []*message.Response,
	owner, stranger *User) error {
	for _, resp := range answers {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(words)) {
			if entrusted(name) && holdsValue(resp, words[name]) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			continue
		}
		nobody, err := e.sendAs(resp.Request, nil)
		if err != nil {
			return err
		}
		e.RaiseAlert(activescan.Alert{Rule: personalData, Severity: finding.High, Request: resp.Request,
			Responses: []*message.Response{resp, nobody}, ResponseNotes: []string{"another user", "nobody"},
			Message: fmt.Sprintf("%s shows users the %s of other users", operationTemplate(resp.Request),
				strings.Join(names, " and ")),
			Proof: []string{fmt.Sprintf("As %s, an account of the scan, %s was sent random "+
				"values.", owner.Name(), operationTemplate(r)),
				fmt.Sprintf("As %s, another user, the response contains them: %s. Without a session the "+
					"response is %d.", stranger.Name(),
					strings.Join(names, ", "), nobody.Status)}})
	}
	return nil
}

// operationTemplate names the operation of a request for people.
func operationTemplate(r *message.Request) string {
	if r.Template != "" {
		return r.Method + " " + r.Template
	}
	return r.Method + " " + r.Path
}

// accountOperations returns the operations that change an account: one that the path or the body
// names, or that of the requesting user. own says that the user changes his own; then an operation
// may take a password, if it does not require one.
func (e *examination) accountOperations(own bool) []*Operation {
	var out []*Operation
	for _, o := range e.Operations {
		if !o.replacesBody() || o == e.register || o == e.login {
			continue
		}
		if o.takesProperty(sitemap.IsPassword) &&
			(!own || slices.ContainsFunc(o.bodySchema().Required, sitemap.IsPassword)) {
			continue
		}
		if n := len(pathParameters(o.Path)); n == 1 ||
			n == 0 && (itself.MatchString(o.Path) || o.takesProperty(isUserIdentifier)) {
			out = append(out, o)
		}
	}
	return out
}

// accountRequest makes the request of such an operation about the account; nil: no value is known
// for its path.
func (e *examination) accountRequest(o *Operation, whose *account, shown map[string]any,
	known func(in, name string, s *apispec.Schema) (any, bool), extra map[string]any) *message.Request {
	found := !strings.Contains(o.Path, "{")
	r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
		if in == "path" {
			v, named := whose.nameFor(name, shown)
			found = found || named
			return v, named
		}
		if v, is := whose.credentialValues(in, name, s); is {
			return v, true
		}
		return known(in, name, s)
	}, extra)
	if err != nil || !found {
		return nil
	}
	return r
}

// applyChange sends a request that changes the owner's account as a user, and returns what the
// owner is shown of it afterwards, with all responses, the one to the request first; nil: it was
// refused.
func (e *examination) applyChange(r *message.Request, as, owner *User) (map[string]any, []*message.Response, error) {
	resp, err := e.sendAs(r, as)
	if err != nil || !isSuccess(resp) {
		return nil, nil, err
	}
	after, answers, err := e.ownProfile(owner)
	return after, append([]*message.Response{resp}, answers...), err
}

// probeAccountChange changes the account of one user as another one, with random words,
// and reads it as its owner. The words are random, so that only this request can have
// written them.
func (e *examination) probeAccountChange(owner, stranger *User) error {
	before, _, err := e.ownProfile(owner)
	if err != nil || len(before) == 0 {
		return err
	}
	for _, o := range e.accountOperations(false) {
		if !strings.Contains(o.Path, "{") && !o.takesProperty(isUserIdentifier) {
			continue // nothing says whose account it is
		}
		if o.takesProperty(func(name string) bool { return privileged.MatchString(normalizeName(name)) }) {
			continue // a random role would break the account
		}
		words := map[string]string{}
		r := e.accountRequest(o, owner.account, before, e.freshWords(words), nil)
		if r == nil || len(words) == 0 {
			continue
		}
		after, answers, err := e.applyChange(r, stranger, owner)
		if err != nil {
			return err
		}
		e.recordTested(o)
		for _, name := range slices.Sorted(maps.Keys(words)) {
			// A member that was not shown before may be one that the API only repeats.
			if _, had := before[name]; !had || after[name] != words[name] {
				continue
			}
			e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: r, Responses: answers,
				ResponseNotes: []string{"another user " +
					"changes the account", "its owner reads it then"},
				Message: fmt.Sprintf("%s %s changes the accounts of other users", o.Method, o.Path),
				Proof: []string{fmt.Sprintf("The accounts %s and %s were registered.", owner.Name(), stranger.Name()),
					fmt.Sprintf("As %s a random %q was sent for %s: the response is %d.", stranger.Name(), name,
						owner.Name(), answers[0].Status),
					fmt.Sprintf("%s reads it in his account, where %v was before.", owner.Name(), before[name])}})
			break
		}
	}
	return nil
}

// probeAccountRemoval removes the account of one user as another one. The proof is that the owner
// can no longer sign in.
func (e *examination) probeAccountRemoval(owner, stranger *User) error {
	before, _, err := e.ownProfile(owner)
	if err != nil {
		return err
	}
	for _, o := range e.Operations {
		if !removesAccount(o) {
			continue
		}
		r := e.accountRequest(o, owner.account, before, knowNothing, nil)
		if r == nil {
			continue
		}
		resp, err := e.sendAs(r, stranger)
		if err != nil {
			return err
		}
		if e.recordVerdict(o, resp); !isSuccess(resp) {
			continue
		}
		return e.confirmRemoval(o, r, resp, owner, stranger)
	}
	return nil
}

// removesAccount reports whether the operation deletes a user whom its path names.
func removesAccount(o *Operation) bool {
	if o.Call != nil || o.Method != http.MethodDelete || len(pathParameters(o.Path)) != 1 ||
		sitemap.IsDangerous(o.Path) {
		return false
	}
	path, parameter := o.collectionPath()
	return parameter != "" && (isUserIdentifier(parameter) || users.MatchString(path))
}

// confirmRemoval proves that the owner can no longer sign in, and that the other user still can: a
// sign-in that fails for everybody would prove nothing.
func (e *examination) confirmRemoval(o *Operation, r *message.Request, resp *message.Response,
	owner, stranger *User) error {
	if still, err := e.signInWithPassword(owner.account, owner.account.password); still != nil || err != nil {
		return err
	}
	if other, err := e.signInWithPassword(stranger.account, stranger.account.password); other == nil || err != nil {
		return err
	}
	login, err := e.signIn(owner.account.name, owner.account.email, owner.account.password)
	if err != nil {
		return nil
	}
	after, err := e.sendAs(login, nil)
	if err != nil {
		return err
	}
	for _, m := range e.made {
		m.gone = m.gone || m.as == owner && m.of == e.register
	}
	e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: r, Responses: []*message.Response{resp, after},
		ResponseNotes: []string{"another user removes the account", "its owner signs in then"},
		Message:       fmt.Sprintf("%s %s removes the accounts of other users", o.Method, o.Path),
		Proof: []string{fmt.Sprintf("The accounts %s and %s were registered, and "+
			"signed in.", owner.Name(), stranger.Name()),
			fmt.Sprintf("As %s that of %s was removed: the response is %d.", stranger.Name(), owner.Name(),
				resp.Status),
			fmt.Sprintf("%s can no longer sign in with the same password (%d), and %s can.", owner.Name(),
				after.Status, stranger.Name())}})
	return nil
}

// probeSelfPromotion sets a privileged property of a user's own account, such as his role, by an
// operation whose description takes it: it is for others to set. Afterwards the former value is
// restored.
func (e *examination) probeSelfPromotion(u *User) error {
	before, _, err := e.ownProfile(u)
	if err != nil {
		return err
	}
	for _, o := range e.accountOperations(true) {
		for _, p := range o.bodySchema().Properties {
			v, has := before[p.Name]
			if !has || !privileged.MatchString(normalizeName(p.Name)) {
				continue
			}
			with := e.escalatedValue(p.Name, v)
			if text, is := with.(string); with == nil || is && !elevates.MatchString(text) {
				continue
			}
			set := func(value any) *message.Request {
				return e.accountRequest(o, u.account, before, func(in, name string, _ *apispec.Schema) (any, bool) {
					return value, in == "body" && name == p.Name
				}, nil)
			}
			r := set(with)
			if r == nil {
				continue
			}
			after, answers, err := e.applyChange(r, u, u)
			if err != nil {
				return err
			}
			if fmt.Sprint(after[p.Name]) != fmt.Sprint(with) {
				continue
			}
			e.RaiseAlert(activescan.Alert{Rule: ownRole, Request: r, Responses: answers,
				ResponseNotes: []string{"the user sets it", "he reads it then"},
				Point:         &message.Point{In: message.InJSON, Name: o.propertyPointer(p.Name)},
				Payload:       fmt.Sprint(with),
				Message:       fmt.Sprintf("%s %s lets users set their own %q", o.Method, o.Path, p.Name),
				Proof: []string{fmt.Sprintf("The account %s was registered, and has %s = %v.", u.Name(), p.Name, v),
					fmt.Sprintf("As that user it was set to %v: the response is %d, and the account has the value "+
						"when it is read.", with, answers[0].Status)}})
			if back := set(v); back != nil {
				if _, err := e.sendAs(back, u); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// leaves matches paths of operations that end a session.
var leaves = lazyregexp.New(`(?i)/(log|sign)[-_]?(out|off)/?$`)

// findInsidePage returns the responses of a page that the user gets and nobody else does; nil:
// there is none.
func (e *examination) findInsidePage(as *User) (in, nobody *message.Response, err error) {
	for _, o := range e.Operations {
		if !o.isFixedRead() || o.Answer == nil || !isSuccess(o.Answer) {
			continue
		}
		page, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		if nobody, err = e.sendAs(page, nil); err != nil {
			return nil, nil, err
		}
		if isSuccess(nobody) {
			continue
		}
		if in, err = e.sendAs(page, as); err != nil || isSuccess(in) {
			return in, nobody, err
		}
	}
	return nil, nil, nil
}

// knowNothing is the source of values for requests that need none of the examination's.
func knowNothing(string, string, *apispec.Schema) (any, bool) { return nil, false }

// probeLogout signs in once more, signs out, and repeats a request with the credentials of before.
// A token that stays valid can be used by whoever has copied it (CWE-613). Tokens without state are
// often only deleted in the browser.
func (e *examination) probeLogout(u *User) error {
	i := slices.IndexFunc(e.Operations, func(o *Operation) bool {
		return o.Call == nil && leaves.MatchString(o.Path) && !strings.Contains(o.Path, "{") &&
			slices.Contains([]string{http.MethodPost, http.MethodGet, http.MethodDelete}, o.Method)
	})
	if i < 0 {
		return nil
	}
	s, err := e.signInWithPassword(u.account, u.account.password)
	if s == nil || err != nil {
		return err
	}
	as := &User{account: u.account, Session: s}
	in, nobody, err := e.findInsidePage(as)
	if in == nil || err != nil {
		return err
	}
	leave, err := e.buildRequest(e.Operations[i], true, knowNothing, nil)
	if err != nil {
		return nil
	}
	out, err := e.sendAs(leave, as)
	if err != nil || out.Status >= 400 {
		return err
	}
	return e.sessionPersists(outlives, as, []*message.Response{in, out, nobody}, fmt.Sprintf("%s %s does not end the "+
		"session", e.Operations[i].Method, e.Operations[i].Path), "signed out")
}

// sessionPersists repeats the request of a page with the session that should have ended, and
// reports it where the page is still shown. The responses are that of the page before, that of the
// request that should have ended the session, and that to nobody; words continues "the user …".
func (e *examination) sessionPersists(rule *finding.Rule, as *User, answers []*message.Response, message,
	words string) error {
	in, out, nobody := answers[0], answers[1], answers[2]
	still, err := e.sendAs(in.Request, as)
	if err != nil || !isSuccess(still) || activescan.NewPage(in).Similarity(activescan.NewPage(still)) < 0.9 {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: rule, Request: in.Request, Responses: append(slices.Clone(answers), still),
		Message:       message,
		ResponseNotes: []string{"before the user " + words, "he " + words, "nobody", "the same request as before"},
		Proof: []string{fmt.Sprintf("%s signed in and got %s (%d), which is not returned without a "+
			"session (%d).", as.Name(), operationTemplate(in.Request), in.Status, nobody.Status),
			fmt.Sprintf("The user %s: the response is %d. The same request with the same credentials still "+
				"succeeds (%d).", words, out.Status, still.Status)}})
	return nil
}

// currents matches parts of names of properties that take the current password.
var currents = lazyregexp.New(`old|current|existing|previous|present`)

// probePasswordChange changes the password of the account as its own user: with a wrong current
// password, where one is required, and while another session is open. A thief keeps a session that
// survives.
func (e *examination) probePasswordChange(u *User) error {
	for _, o := range e.Operations {
		if !e.changesOwnPassword(o) {
			continue
		}
		if o.takesProperty(takesCurrentPassword) {
			if err := e.probeWrongPassword(o, u); err != nil {
				return err
			}
		}
		s, err := e.signInWithPassword(u.account, u.account.password)
		if s == nil || err != nil {
			return err
		}
		before := &User{account: u.account, Session: s}
		in, nobody, err := e.findInsidePage(before)
		if in == nil || err != nil {
			return err
		}
		done, resp, err := e.changePassword(o, u, u.account.password)
		if err != nil {
			return err
		}
		if done {
			return e.sessionPersists(outlivesPassword, before, []*message.Response{in, resp, nobody},
				fmt.Sprintf("%s %s leaves the user's other sessions open", o.Method, o.Path), "changed the password")
		}
	}
	return nil
}

// changesOwnPassword reports whether the operation sets the password of the requesting user:
// neither that of a user whom the path names, nor with a code that was sent to him.
func (e *examination) changesOwnPassword(o *Operation) bool {
	return o.Call == nil && o.isWriteMethod() && !strings.Contains(o.Path, "{") && !sitemap.IsDangerous(o.Path) &&
		o != e.register && o != e.login && strings.Contains(normalizeName(o.nameWords()), "passw") &&
		!isRecovery(o) && o.takesProperty(sitemap.IsPassword) && !o.takesProperty(takesSentCode)
}

// takesCurrentPassword reports whether a property takes the current password.
func takesCurrentPassword(name string) bool {
	return sitemap.IsPassword(name) && currents.MatchString(normalizeName(name))
}

// probeWrongPassword changes the password with a random text as the current one (CWE-620): a
// session that was left open would be enough to take over the account.
func (e *examination) probeWrongPassword(o *Operation, u *User) error {
	done, resp, err := e.changePassword(o, u, e.drawCredentials().password)
	if !done || err != nil {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: unproven, Request: resp.Request,
		Responses:     []*message.Response{resp},
		ResponseNotes: []string{"with a wrong password as the present one"},
		Message: fmt.Sprintf("%s %s changes the password without the right present one", o.Method,
			o.Path),
		Proof: []string{fmt.Sprintf("The account %s was registered, and a random text sent as its present password: "+
			"the response is %d.", u.Name(), resp.Status),
			"The user signs in with the new password then, and no longer with the one before."}})
	return nil
}

// isRecovery reports whether the operation is for users who have forgotten their password.
func isRecovery(o *Operation) bool {
	return sitemap.IsPasswordRecovery(o.nameWords()) || loses.MatchString(o.nameWords())
}

// takesSentCode reports whether a property takes a code that was sent by e-mail or telephone.
func takesSentCode(name string) bool { return codes.MatchString(normalizeName(name)) }

// changePassword changes the password of the account. It reports true if the new password lets the
// user in, and the former does not.
func (e *examination) changePassword(o *Operation, u *User, current string) (bool, *message.Response, error) {
	fresh := e.drawCredentials().password
	r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
		a := *u.account
		if a.password = fresh; currents.MatchString(normalizeName(name)) {
			a.password = current
		}
		return a.credentialValues(in, name, s)
	}, nil)
	if err != nil {
		return false, nil, nil
	}
	resp, err := e.sendAs(r, u)
	if err != nil || !isSuccess(resp) {
		return false, resp, err
	}
	with, err := e.signInWithPassword(u.account, fresh)
	if with == nil || err != nil {
		return false, resp, err
	}
	old := u.account.password
	u.account.password, u.Session = fresh, with
	without, err := e.signInWithPassword(u.account, old)
	return without == nil, resp, err
}

var (
	// loses matches the ends of names of operations for users who have lost something, mostly their
	// password.
	loses = lazyregexp.New(`(?i)(reset|forgot(ten)?|recover|lost)[-_/]?(my[-_]?)?$`)
	// codes matches normalized names of properties that take a code that was sent to somebody.
	codes = lazyregexp.New(`^(otp|pin|code|onetime(code|password)|((reset|verification|verify|confirmation|security|sms|email)(password)?)?(code|pin|otp)|resetpasswordcode)$`)
)

// scanPasswordReset tests how a user gets another password: whether the responses show who exists,
// and whether codes can be guessed. Codes of a few digits need a limit of attempts (CWE-640).
func (e *examination) scanPasswordReset(u *User) error {
	sent, err := e.requestResets(u)
	if !sent || err != nil {
		return err
	}
	for _, o := range e.Operations {
		if o.Call != nil || o.Method != http.MethodPost && o.Method != http.MethodPut ||
			strings.Contains(o.Path, "{") || !o.takesProperty(isUserIdentifier) || !o.takesProperty(takesSentCode) {
			continue
		}
		if !e.allowsBruteForce(o) {
			continue
		}
		if err := e.sendWrongCodes(o, u); err != nil {
			return err
		}
	}
	return nil
}

// requestResets requests a new password by each operation for that, and reports whether one was
// accepted, so that a code has been sent.
func (e *examination) requestResets(u *User) (sent bool, err error) {
	for _, o := range e.Operations {
		if !e.requestsReset(o) {
			continue
		}
		r, err := e.buildRequest(o, true, u.account.credentialValues, nil)
		if err != nil {
			continue
		}
		resp, err := e.sendAs(r, nil)
		if err != nil {
			return sent, err
		}
		sent = sent || isSuccess(resp)
		if !e.allowsBruteForce(o) {
			continue
		}
		if err := e.probeEnumeration(o, u); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// requestsReset reports whether the operation sends somebody a way to a new password: it
// takes who that is, and neither the password nor a code.
func (e *examination) requestsReset(o *Operation) bool {
	return o.Call == nil && o.Method == http.MethodPost && !strings.Contains(o.Path, "{") &&
		!sitemap.IsDangerous(o.Path) && o != e.login && o != e.register && o.takesProperty(isUserIdentifier) &&
		isRecovery(o) && !o.takesProperty(sitemap.IsPassword) && !o.takesProperty(takesSentCode)
}

// sendWrongCodes sends wrong codes for the account. A limit shows as another response, and ends the
// test. 422 says that the format of the code is wrong, so nothing was compared.
func (e *examination) sendWrongCodes(o *Operation, u *User) error {
	var answers []*message.Response
	first, property := "", ""
	for range attempts {
		code := fmt.Sprint(e.RandomNumber(1000, 9999))
		r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
			if in == "body" && codes.MatchString(normalizeName(name)) {
				property = name
				return code, true
			}
			return u.account.credentialValues(in, name, s)
		}, nil)
		if err != nil {
			return nil
		}
		resp, err := e.sendAs(r, nil)
		if err != nil {
			return err
		}
		says := maskWords(resp, code, u.account.email, u.account.name)
		if len(answers) == 0 {
			first = says
		}
		answers = append(answers, resp)
		if says != first || hasRateLimitHeaders(resp) || resp.Status < 400 || resp.Status >= 500 ||
			resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusNotFound ||
			resp.Status == http.StatusUnprocessableEntity {
			return nil
		}
	}
	e.RaiseAlert(activescan.Alert{Rule: codeLimit, Request: answers[0].Request,
		Responses:     []*message.Response{answers[0], answers[attempts-1]},
		ResponseNotes: []string{"the first attempt", "the last one"},
		Point:         &message.Point{In: message.InJSON, Name: o.propertyPointer(property)},
		Message:       fmt.Sprintf("%s %s does not limit guesses of a code", o.Method, o.Path),
		Proof: []string{fmt.Sprintf("A code was requested as %s. %d wrong ones were sent in a row; every response is "+
			"the same (%d), and none indicates a limit.", u.Name(), attempts, answers[0].Status)}})
	return nil
}

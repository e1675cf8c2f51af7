package authz

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file examines accounts: how they are made, and how users sign in.

// An account is a user that the examination has registered, with random values that nobody else
// has.
type account struct {
	name, email, password string
	// phone has the area code 555, which is not assigned; APIs often require it to be unique.
	phone string
	// request registered the account, answer is its response; nil before that.
	request *message.Request
	answer  *message.Response
}

// credentialValues returns the account's values for properties of a body, by their names.
func (a *account) credentialValues(in, name string, s *apispec.Schema) (any, bool) {
	switch {
	case in != "body", len(s.Properties) > 0, s.Is("array"): // "user" may be all of him
		return nil, false
	case sitemap.IsPassword(name):
		return a.password, true
	case isEmailName(name):
		return a.email, true
	case isUserIdentifier(name):
		return a.name, true
	case phoned.MatchString(normalizeName(name)) && a.phone != "":
		if s.Is("integer") || s.Is("number") {
			return json.Number(a.phone), true
		}
		return a.phone, true
	}
	return nil, false
}

// phoned matches normalized names of properties that take a telephone number.
var phoned = lazyregexp.New(`phone|mobile|^(tel|cell)(no|number)?$`)

// drawCredentials returns random credentials. The password has capitals, small letters, digits and
// a sign, as most rules for passwords require; the domain example is reserved (RFC 2606).
func (e *examination) drawCredentials() *account {
	name := "mx" + e.RandomLetters(10)
	return &account{name: name, email: name + "@merlon.example", password: "Mx1-" + e.RandomLetters(12),
		phone: fmt.Sprintf("1555%07d", e.RandomNumber(0, 9_999_999))}
}

// registerAndSignIn registers an account and signs in with it. Without an error, a nil
// user says that it did not work. The first request has every property that the
// description names, the second only those that it requires.
func (e *examination) registerAndSignIn(extra map[string]any) (*User, error) {
	a := e.drawCredentials()
	for _, optional := range []bool{true, false} {
		r, err := e.buildRequest(e.register, optional, a.credentialValues, extra)
		if err != nil {
			return nil, nil // the description does not allow to make one
		}
		resp, err := e.sendAs(r, nil)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(resp.Request.Path, "/") &&
			!strings.HasSuffix(r.Path, "/") { // as is usual of its framework
			e.register.Slash, e.login.Slash = true, true
		}
		if a.request, a.answer = r, resp; isSuccess(resp) {
			break
		}
	}
	if !isSuccess(a.answer) {
		return nil, nil
	}
	u := &User{account: a}
	var err error
	if u.Session, err = e.signInWithPassword(a, a.password); u.Session == nil {
		return nil, err
	}
	if err := e.findTokenCarrier(u); err != nil {
		return nil, err
	}
	e.made = append(e.made, &object{of: e.register, as: u, words: map[string]string{"name": a.name}})
	return u, nil
}

// signInWithPassword signs in with a password; nil: that fails. The session renews itself like one
// of a given identity.
func (e *examination) signInWithPassword(a *account, password string) (*session.Session, error) {
	r, err := e.signIn(a.name, a.email, password)
	if err != nil {
		return nil, nil
	}
	content, kind := r.Content()
	login := &scan.JSONLogin{URL: r.Address(), Body: scan.LoginBody(content), Type: kind, Header: e.Header}
	if e.prefix != "" {
		login.Prefix = e.prefix
	}
	if m := e.signInModel(e.login); m != nil {
		login.Token, login.Header, login.Prefix = m.Token, m.Header, m.Prefix
	}
	s, err := session.New(scan.Identity{Name: a.name, JSON: login}, e.Session)
	if err != nil {
		return nil, nil
	}
	if err := s.SignIn(e.Context); traffic.IsFinal(err) {
		return nil, err
	} else if err != nil {
		return nil, nil
	}
	return s, nil
}

// prefixes are what frameworks expect before a token: RFC 6750, Django REST framework, and its
// plugin for JWT; a space stands for nothing. The usual one comes first.
var prefixes = []string{"Bearer ", "Token ", "JWT ", " "}

// findTokenCarrier finds the prefix that the API expects before the token: an operation that
// refuses a request of nobody accepts that of the account.
func (e *examination) findTokenCarrier(u *User) error {
	if e.prefix != "" || e.Header != "" && !strings.EqualFold(e.Header, "Authorization") ||
		e.signInModel(e.login) != nil {
		return nil
	}
	asked := 0
	for _, o := range e.Operations {
		if !o.isFixedRead() || asked == len(prefixes) {
			continue
		}
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		nobody, err := e.sendAs(r, nil)
		if err != nil {
			return err
		}
		if nobody.Status != http.StatusUnauthorized && nobody.Status != http.StatusForbidden {
			continue
		}
		asked++
		if found, err := e.tryPrefixes(u, r); found || err != nil {
			return err
		}
	}
	return nil
}

// tryPrefixes signs in with each prefix before the token until the request is accepted,
// and reports whether it is. Without one the usual prefix stays.
func (e *examination) tryPrefixes(u *User, r *message.Request) (bool, error) {
	for _, e.prefix = range prefixes {
		s, err := e.signInWithPassword(u.account, u.account.password)
		if err != nil {
			return false, err
		}
		if s == nil {
			break
		}
		resp, err := e.sendAs(r, &User{account: u.account, Session: s})
		if err != nil {
			return false, err
		}
		if isSuccess(resp) {
			u.Session = s
			return true, nil
		}
	}
	e.prefix = ""
	return false, nil
}

// signIn makes the request of a sign-in, with name and e-mail address wherever the operation takes
// them.
func (e *examination) signIn(name, email, password string) (*message.Request, error) {
	a := account{name: name, email: email, password: password}
	return e.buildRequest(e.login, true, a.credentialValues, nil)
}

// scanAccounts tests registration and sign-in, and appends accounts to the users until there are
// two to compare.
func (e *examination) scanAccounts() error {
	if e.login == nil {
		return nil
	}
	team, err := e.registerTeam()
	if err != nil {
		return err
	}
	first, spare := team[0], team[2]
	e.ordinary = team[1]
	if spare == nil && e.register != nil && e.mayChange() {
		e.Untried(nil, []*finding.Rule{passwordChange, personalData, massAssignment, ownRole, outlives, codeLimit},
			fmt.Sprintf("tests that need accounts of the scan were skipped: %s %s created no account that can "+
				"sign in", e.register.Method, e.register.Path))
	}
	if first != nil {
		if err := e.probeMassAssignment(first); err != nil {
			return err
		}
	}
	for _, step := range e.accountSteps(first, spare) {
		if err := step(); traffic.IsFinal(err) {
			return err
		}
	}
	for _, u := range team[:2] {
		if u != nil && len(e.Users) < 2 && !slices.Contains(e.Users, u) {
			e.Users = append(e.Users, u)
		}
	}
	return nil
}

// registerTeam registers the accounts that the tests need: the first compares, the second stays
// ordinary, the third is the target of the others' tests and may not survive them. Where one cannot
// be registered, it and those after it are nil.
func (e *examination) registerTeam() ([3]*User, error) {
	var team [3]*User
	if len(e.Users) > 0 && e.Users[0].account != nil {
		team[0] = e.Users[0]
	}
	for i := range team {
		if team[i] != nil || e.register == nil || !e.mayChange() {
			continue
		}
		var err error
		if team[i], err = e.registerAndSignIn(nil); team[i] == nil || err != nil {
			return team, err
		}
	}
	return team, nil
}

// accountSteps returns the tests of accounts in their order. What may break the account under test
// comes last: brute force may lock it, promotion may change it, removal ends it.
func (e *examination) accountSteps(first, spare *User) []func() error {
	var steps []func() error
	if e.allowsBruteForce(e.login) {
		steps = append(steps, func() error { return e.probeEnumeration(e.login, spare) },
			func() error { return e.probeRateLimit(spare) })
	}
	if spare == nil {
		return steps
	}
	return slices.Concat([]func() error{
		func() error { return e.probeExposedAddresses(spare, first) },
		func() error { return e.probeConfidentialValues(spare, first) },
		func() error { return e.probeImpersonation(spare, first) },
		func() error { return e.probeAccountChange(spare, first) },
		func() error { return e.probeLogout(spare) },
		func() error { return e.probePasswordChange(spare) },
		func() error { return e.scanPasswordReset(spare) },
		func() error { return e.probeWeakPasswords(spare, first) },
	}, steps, []func() error{
		func() error { return e.probePromotion(spare) },
		func() error { return e.probeSelfPromotion(spare) },
		func() error { return e.probeAccountRemoval(spare, first) },
	})
}

// maxShown bounds the operations that are requested to see what the API shows of one object.
const maxShown = 12

// ownProfile returns what the API shows the user of himself: the scalars of the objects that
// contain his name or e-mail address, by name, with the responses.
func (e *examination) ownProfile(u *User) (map[string]any, []*message.Response, error) {
	return e.profileShownTo(u, u)
}

// profileShownTo returns what the API shows somebody else of the user, as ownProfile does.
func (e *examination) profileShownTo(u, as *User) (map[string]any, []*message.Response, error) {
	out := map[string]any{}
	var answers []*message.Response
	asked := 0
	if id := u.account.issuedIdentifier(); id != nil { // by which identifier others know it
		out["id"] = id
	}
	for _, o := range e.Operations {
		if !showsAccount(o) || asked == maxShown {
			continue
		}
		r := e.profileRequest(o, u, out)
		if r == nil {
			continue
		}
		asked++
		resp, err := e.sendAs(r, as)
		if traffic.IsFinal(err) {
			return nil, nil, err
		}
		if err != nil || !isSuccess(resp) {
			continue
		}
		v := message.DecodeJSON(resp.Body)
		list := append(objectsHolding(v, u.account.name), objectsHolding(v, u.account.email)...)
		for _, object := range list {
			mergeMissing(out, object)
		}
		if len(list) > 0 {
			answers = append(answers, resp)
		}
	}
	return out, answers, nil
}

// issuedIdentifier returns the identifier in the response to the registration; nil: none.
func (a *account) issuedIdentifier() any {
	if a.answer == nil {
		return nil
	}
	for _, at := range objectsOf(message.DecodeJSON(a.answer.Body)) {
		if v, found := at["id"]; found && isScalar(v) {
			return v
		}
	}
	return nil
}

// showsAccount reports whether a read operation may show an account: its path names
// nothing, or a single user.
func showsAccount(o *Operation) bool {
	if o.Call != nil || o.Method != http.MethodGet || sitemap.IsDangerous(o.Path) || o.Answer == nil {
		return false
	}
	if !strings.Contains(o.Path, "{") {
		return true
	}
	path, parameter := o.collectionPath()
	return strings.Count(o.Path, "{") == 1 && parameter != "" &&
		(isUserIdentifier(parameter) || users.MatchString(path))
}

// profileRequest makes the request of an operation about the user; nil: there is no value for its
// path.
func (e *examination) profileRequest(o *Operation, u *User, shown map[string]any) *message.Request {
	named := true
	r, err := e.buildRequest(o, false, func(in, name string, _ *apispec.Schema) (any, bool) {
		if in != "path" {
			return nil, false
		}
		v, known := u.account.nameFor(name, shown)
		named = named && known
		return v, known
	}, nil)
	if err != nil || !named {
		return nil
	}
	return r
}

// mergeMissing adds the members of an object that are not known yet.
func mergeMissing(known, object map[string]any) {
	for name, value := range object {
		if _, is := known[name]; !is {
			known[name] = value
		}
	}
}

// probeMassAssignment registers an account with properties that the registration does not take, but
// that the API shows of accounts, and reads them back. Frameworks that bind every member of the
// body to the object store them (CWE-915, API3:2023): {"email": …, "role": "admin"}.
func (e *examination) probeMassAssignment(plainly *User) error {
	before, _, err := e.ownProfile(plainly)
	if err != nil {
		return err
	}
	first, err := e.entryResponses(plainly)
	if err != nil {
		return err
	}
	for _, entry := range first {
		mergeMissing(before, entry.shown)
	}
	if len(before) == 0 {
		e.Untried(e.register, []*finding.Rule{massAssignment}, "mass assignment at registration was not tested: no "+
			"response shows the properties of an account")
		return nil
	}
	extra := e.privilegedProperties(e.register, before)
	if len(extra) == 0 {
		return nil
	}
	u, err := e.registerAndSignIn(extra)
	if u == nil || err != nil {
		return err
	}
	after, answers, err := e.ownProfile(u)
	if err != nil {
		return err
	}
	entries, err := e.entryResponses(u)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if fmt.Sprint(after[name]) != fmt.Sprint(extra[name]) {
			e.reportEntryProperty(u, entries, name, before[name], extra[name])
			continue
		}
		e.RaiseAlert(activescan.Alert{Rule: massAssignment, Request: u.account.request,
			Point:   &message.Point{In: message.InJSON, Name: e.register.propertyPointer(name)},
			Payload: fmt.Sprint(extra[name]),
			Message: fmt.Sprintf("%s %s stores %q, which its description does not take", e.register.Method,
				e.register.Path, name),
			Responses:     append([]*message.Response{u.account.answer}, answers...),
			ResponseNotes: []string{"an account is registered with the property", "the account is read"},
			Proof: []string{
				fmt.Sprintf("An account that was registered without the property has %s = %v.", name, before[name]),
				fmt.Sprintf("An account that was registered with %s = %v has that value when it is read.", name,
					extra[name]),
			}})
	}
	return nil
}

// probeWeakPasswords sets the password of one account of the examination as another one, by each
// operation that takes a password and whose path names a user.
func (e *examination) probeWeakPasswords(owner, stranger *User) error {
	for _, o := range e.Operations {
		if o.Call != nil || !o.isWriteMethod() || !o.takesProperty(sitemap.IsPassword) || sitemap.IsDangerous(o.Path) {
			continue
		}
		if o == e.register || o == e.login || !strings.Contains(o.Path, "{") {
			continue
		}
		if err := e.probePassword(o, owner, stranger); err != nil {
			return err
		}
	}
	return nil
}

// probePassword sets the password of the owner's account as another user, by one
// operation. It counts when the owner's new password lets in and the old one does not.
// The examination keeps the new password, so that later tests still sign in.
func (e *examination) probePassword(o *Operation, owner, stranger *User) error {
	shown, _, err := e.ownProfile(owner)
	if err != nil {
		return err
	}
	changed := e.drawCredentials().password
	r := e.passwordRequest(o, owner, stranger, changed, shown)
	if r == nil { // whose account it is could not be told: nobody else's is touched
		return nil
	}
	resp, err := e.sendAs(r, stranger)
	if err != nil {
		return err
	}
	if e.recordVerdict(o, resp); !isSuccess(resp) {
		return nil
	}
	with, err := e.signInWithPassword(owner.account, changed)
	if with == nil || err != nil {
		return err
	}
	without, err := e.signInWithPassword(owner.account, owner.account.password)
	if without != nil || err != nil {
		return err // every password will do: that proves nothing
	}
	old := owner.account.password
	owner.account.password, owner.Session = changed, with
	login, err := e.signIn(owner.account.name, owner.account.email, old)
	if err != nil {
		return nil
	}
	control, err := e.sendAs(login, nil)
	if err != nil {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: passwordChange, Request: r, Responses: []*message.Response{resp, control},
		ResponseNotes: []string{"another account sets the password", "the old password is refused"},
		Message:       fmt.Sprintf("%s %s sets the password of another user", o.Method, o.Path),
		Proof: []string{
			fmt.Sprintf("The accounts %s and %s were registered.", owner.account.name, stranger.account.name),
			fmt.Sprintf("As %s, a new password was set for %s: the response is %d.", stranger.account.name,
				owner.account.name, resp.Status),
			fmt.Sprintf("%s signs in with the new password, and no longer with the old one.", owner.account.name),
		}})
	return nil
}

// passwordRequest makes the request that sets the owner's password. Where the present one
// is asked for, it is that of the user who sends it: he does not know another. nil: nothing
// in the path names the owner.
func (e *examination) passwordRequest(o *Operation, owner, stranger *User, changed string,
	shown map[string]any) *message.Request {
	found := false
	a := owner.account
	r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
		switch {
		case in == "body" && sitemap.IsPassword(name) && (strings.Contains(normalizeName(name), "old") ||
			strings.Contains(normalizeName(name), "current")):
			return stranger.account.password, true
		case in == "body":
			return (&account{name: a.name, email: a.email, password: changed}).credentialValues(in, name, s)
		case in != "path":
			return nil, false
		}
		v, known := a.nameFor(name, shown)
		found = found || known
		return v, known
	}, nil)
	if err != nil || !found {
		return nil
	}
	return r
}

// maskWords returns what a response says, without the words and with 0 for numbers. Two responses
// that differ only in what was sent, in times and in counters are then equal.
func maskWords(resp *message.Response, words ...string) string {
	text := resp.Text()
	for _, w := range words {
		text = strings.ReplaceAll(text, w, "…")
	}
	return fmt.Sprintf("%d %s ", resp.Status, resp.Header.Get("Location")) + digits.ReplaceAllString(text, "0")
}

// allowsBruteForce reports whether wrong passwords and codes may be sent in a row. Below the
// profile full that could lock out the scan's own address, and with it the other tests. Otherwise
// the operation is marked as unfinished.
func (e *examination) allowsBruteForce(o *Operation) bool {
	if e.Target.Profile.Allows(scan.Full) {
		return true
	}
	if o != nil && o.Answer != nil {
		e.Sitemap.MarkUnfinished(o.Answer.Request, "rate limits of sign-in were not tested: wrong passwords can lock "+
			"accounts; the profile full tests them")
	}
	return false
}

// digits matches numbers, which become 0 where two texts are compared.
var digits = lazyregexp.New(`[0-9]+`)

// probeEnumeration requests an operation with wrong passwords, alternating between a user who
// exists and users who do not. With a list of users an attacker needs only passwords (CWE-204). An
// account of the examination is preferred, because no other is locked then.
func (e *examination) probeEnumeration(o *Operation, u *User) error {
	known := e.existingAccount(u)
	if known.name == "" {
		return nil
	}
	var answers []*message.Response
	var says []string
	// Two rounds: a response that differs each time, by a number or a delay, shows nothing.
	for i := range 4 {
		a := *e.drawCredentials()
		if i%2 == 0 {
			a.name, a.email = known.name, known.email
		}
		r, err := e.buildRequest(o, true, a.credentialValues, nil)
		if err != nil {
			return nil
		}
		resp, err := e.sendAs(r, nil)
		if err != nil {
			return err
		}
		answers = append(answers, resp)
		says = append(says, maskWords(resp, a.password, a.email, a.name))
	}
	if says[0] != says[2] || says[1] != says[3] || says[0] == says[1] ||
		slices.ContainsFunc(answers, func(a *message.Response) bool {
			return a.Status >= 500 || a.Status == http.StatusTooManyRequests
		}) {
		return nil
	}
	e.RaiseAlert(activescan.Alert{Rule: enumeration, Request: answers[0].Request, Responses: answers,
		ResponseNotes: []string{"a user who exists", "one who does not", "the one who exists again",
			"another one who does not"},
		Message: fmt.Sprintf("%s %s tells whether a user exists", o.Method, o.Path),
		Proof: []string{
			"It was requested four times with wrong passwords, alternating between an existing user and random names.",
			fmt.Sprintf("The response for the existing user is the same twice (%d); for the others it differs (%d), "+
				"also twice.",
				answers[0].Status, answers[1].Status),
		}})
	return nil
}

// existingAccount returns the names of a user who is known to exist: of the account, or of
// the first user that was given.
func (e *examination) existingAccount(u *User) account {
	if u != nil {
		return *u.account
	}
	var known account
	if len(e.Users) > 0 {
		for _, name := range e.Users[0].userNames() {
			if strings.Contains(name, "@") {
				known.email = name
			} else {
				known.name = name
			}
		}
		known.name, known.email = cmp.Or(known.name, known.email), cmp.Or(known.email, known.name)
	}
	return known
}

// attempts is how often a wrong password or code is sent: limits are mostly five or ten.
const attempts = 15

// probeRateLimit sends wrong passwords, for an account of the examination where there is one, so
// that limits per account are seen as well, else for a name that nobody has. Without a limit
// passwords can be guessed (API4:2023, CWE-307).
func (e *examination) probeRateLimit(u *User) error {
	a := e.drawCredentials()
	if u != nil {
		a = u.account
	}
	var answers []*message.Response
	first := ""
	for range attempts {
		password := "Mx1-" + e.RandomLetters(12)
		r, err := e.signIn(a.name, a.email, password)
		if err != nil {
			return nil
		}
		resp, err := e.sendAs(r, nil)
		if err != nil {
			return err
		}
		says := maskWords(resp, password, a.email, a.name)
		if len(answers) == 0 {
			first = says
		}
		if answers = append(answers, resp); says != first || hasRateLimitHeaders(resp) || resp.Status >= 500 ||
			resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusNotFound {
			return nil
		}
	}
	proof := []string{fmt.Sprintf("%d wrong passwords were sent in a row; every response is the same (%d), and none "+
		"indicates a limit.", attempts, answers[0].Status)}
	if u != nil {
		still, err := e.signInWithPassword(a, a.password)
		if still == nil || err != nil {
			return err
		}
		u.Session = still
		proof = append(proof, "After that the right password is still accepted: the account is not locked.")
	}
	e.RaiseAlert(activescan.Alert{Rule: rateLimit, Request: answers[0].Request,
		Responses:     []*message.Response{answers[0], answers[attempts-1]},
		ResponseNotes: []string{"the first attempt", "the last one"},
		Message:       fmt.Sprintf("%s %s does not limit attempts to sign in", e.login.Method, e.login.Path),
		Proof:         proof})
	return nil
}

// hasRateLimitHeaders reports whether a header shows a limit: RateLimit of the IETF draft, its
// predecessors X-RateLimit-*, or Retry-After (RFC 9110, section 10.2.3).
func hasRateLimitHeaders(resp *message.Response) bool {
	for name := range resp.Header {
		if n := strings.ToLower(name); strings.Contains(n, "ratelimit") || strings.Contains(n, "rate-limit") ||
			n == "retry-after" {
			return true
		}
	}
	return false
}

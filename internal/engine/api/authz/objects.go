package authz

import (
	"cmp"
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
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file examines objects: who sees and changes what one user has made.

// An object is something that the examination has created.
type object struct {
	// The operation that created it, as the user as.
	of *Operation
	as *User
	// The random values that it was created with, by property: nobody else knows them.
	words map[string]string
	// The members of its request, and answer its response.
	sent   map[string]any
	answer *message.Response
	// What names it in paths, a string or a json.Number; nil: that is not known.
	id   any
	gone bool
	// The objects around it, in the order of its path.
	within []*object
	// private says why it is its owner's alone; empty: that is not known.
	private string
}

// maxObjects bounds the kinds of objects that are examined.
const maxObjects = 40

// freshWords returns random words for the free texts of an object, and records them. Found in a
// response, they prove whose object is shown.
func (e *examination) freshWords(words map[string]string) func(in, name string, s *apispec.Schema) (any, bool) {
	return func(in, name string, s *apispec.Schema) (any, bool) {
		if words == nil || in != "body" || !takesFreeText(s) || !isFreeTextName(name) {
			return nil, false
		}
		// Twelve letters occur nowhere by chance, and fit most columns.
		length := 12
		if s.MaxLength >= 0 {
			length = min(length, s.MaxLength)
		}
		if words[name] == "" {
			words[name] = e.RandomLetters(max(length, s.MinLength))
		}
		return words[name], true
	}
}

// takesFreeText reports whether the schema takes any text that is long enough to be
// found again.
func takesFreeText(s *apispec.Schema) bool {
	return len(s.Enum) == 0 && s.Format == "" && s.Pattern == "" && (s.MaxLength < 0 || s.MaxLength >= 8) &&
		(len(s.Types) == 0 && len(s.Properties) == 0 && s.Items == nil || s.Is("string"))
}

// isFreeTextName reports whether a property of this name takes words, not an identifier or
// a value of a form that the schema leaves unsaid.
func isFreeTextName(name string) bool {
	n := normalizeName(name)
	return name != "" && !strings.HasSuffix(n, "id") && !isEmailName(n) && !sitemap.IsPassword(n) &&
		!strings.Contains(n, "date") && !strings.Contains(n, "url") && !strings.Contains(n, "phone")
}

// errRefused means that the API does not let the user create an object: no gap, but its decision.
var errRefused = errors.New("the API does not let this user make one")

// denials are the statuses by which an operation refuses the user whatever the request contains.
var denials = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
	http.StatusGone, http.StatusNotImplemented}

// createObject makes an object as the user, and before what its path names. An error that does
// not end the scan says why there is none.
func (e *examination) createObject(o *Operation, as *User, extra map[string]any) (*object, error) {
	within, err := e.surroundingObjects(o, as)
	if err != nil {
		return nil, err
	}
	if len(within) < strings.Count(o.Path, "{") {
		return nil, fmt.Errorf("what the path of %s %s names is made by no operation", o.Method, o.Path)
	}
	why := fmt.Errorf("%s %s accepts no free text that could identify an object", o.Method, o.Path)
	for _, optional := range []bool{true, false} {
		made, resp, err := e.attemptCreation(o, as, within, optional, extra)
		if made != nil || err != nil {
			return made, err
		}
		if resp == nil {
			continue
		}
		if why = fmt.Errorf("%s %s answered %d", o.Method, o.Path, resp.Status); slices.Contains(denials, resp.Status) {
			why = fmt.Errorf("%w: %w", why, errRefused)
		}
	}
	return nil, why
}

// attemptCreation tries to make an object as the user, and returns the answer; without
// one there is nothing to send by which it could be told from others. Values that the
// API gives stand for random ones where it takes no text.
func (e *examination) attemptCreation(o *Operation, as *User, within []*object, optional bool,
	extra map[string]any) (*object, *message.Response, error) {
	words := map[string]string{}
	fresh := e.freshWords(words)
	r, err := e.buildRequest(o, optional, func(in, name string, s *apispec.Schema) (any, bool) {
		if v, known := stepValue(o, within, in, name); known {
			return v, true
		}
		return fresh(in, name, s)
	}, extra)
	if err != nil || len(words) == 0 && !e.isSoleCreator(o) {
		return nil, nil, nil
	}
	resp, err := e.sendAs(r, as)
	if err != nil || !isSuccess(resp) {
		return nil, resp, err
	}
	if len(words) == 0 {
		words = issuedValues(resp)
	}
	sent := map[string]any{}
	for _, at := range objectsOf(message.DecodeJSON(r.Body.Text)) {
		for name, v := range at {
			if _, outer := sent[name]; !outer {
				sent[name] = v
			}
		}
	}
	made := &object{of: o, as: as, words: words, sent: sent, answer: resp, within: within}
	e.made = append(e.made, made)
	return made, resp, nil
}

// isSoleCreator reports whether the operation is an action that creates objects without any free
// text: only the values that the application gives them distinguish them from others.
func (e *examination) isSoleCreator(o *Operation) bool { return e.homes[o] != "" }

// issuedValues are the values of a response that no other object has, such as the number of a new
// card: long ones with digits that are no times.
func issuedValues(resp *message.Response) map[string]string {
	out := map[string]string{}
	for _, at := range objectsOf(message.DecodeJSON(resp.Body)) {
		if _, is := identifierAmong(at, "id"); !is {
			continue
		}
		for name, v := range at {
			if text, is := v.(string); is && isIssued(name, text) {
				out[name] = text
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// isIssued reports whether a value is one that the application has given to the object:
// neither a time nor the identifier of its owner.
func isIssued(name, text string) bool {
	n := normalizeName(name)
	return len(text) >= minIssued && strings.ContainsAny(text, "0123456789") && !strings.ContainsAny(text, " :/") &&
		!strings.Contains(n, "date") && !strings.Contains(n, "time") && !strings.HasSuffix(n, "at") &&
		!strings.Contains(n, "user") && !strings.Contains(n, "owner") && !strings.Contains(n, "account")
}

// minIssued is how long a value is at least that nothing else has by chance.
const minIssued = 10

// pathParameters are the names of the parameters of a path, in order.
func pathParameters(path string) []string {
	var out []string
	for _, s := range strings.Split(path, "/") {
		if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
			out = append(out, strings.Trim(s, "{}"))
		}
	}
	return out
}

// stepValue returns the value of a parameter of the operation's path: it names what the object
// is made within.
func stepValue(o *Operation, within []*object, in, name string) (any, bool) {
	if i := slices.Index(pathParameters(o.Path), name); in == "path" && i >= 0 && i < len(within) {
		return within[i].id, true
	}
	return nil, false
}

// surroundingObjects returns the objects that the path of the operation names, which it makes as the
// user where they are not there yet; fewer when one cannot be made.
func (e *examination) surroundingObjects(o *Operation, as *User) ([]*object, error) {
	i := strings.LastIndexByte(o.Path, '{')
	if i < 1 {
		return nil, nil
	}
	name := strings.Trim(o.Path[i:], "{}")
	if end := strings.IndexByte(o.Path[i:], '/'); end > 0 {
		name = strings.Trim(o.Path[i:i+end], "{}")
	}
	maker := e.creatingOperation(strings.TrimRight(o.Path[:i], "/"))
	if maker == nil || maker == e.register || maker == e.login {
		return nil, nil
	}
	for _, m := range e.made {
		if m.of == maker && m.as == as && m.id != nil && !m.gone {
			return append(slices.Clone(m.within), m), nil
		}
	}
	m, err := e.createObject(maker, as, nil)
	if err != nil {
		return nil, err
	}
	if m.id, err = e.requireIdentifier(m, name); err != nil {
		return nil, err
	}
	return append(slices.Clone(m.within), m), nil
}

// seenWords are the object's words that the answer holds.
func (m *object) seenWords(resp *message.Response) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.words)) {
		if holdsValue(resp, m.words[name]) {
			out = append(out, name)
		}
	}
	return out
}

// findObject finds the object in an answer.
func (m *object) findObject(resp *message.Response) map[string]any {
	v := message.DecodeJSON(resp.Body)
	for _, name := range slices.Sorted(maps.Keys(m.words)) {
		if list := objectsHolding(v, m.words[name]); len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

// identifierAmong returns the member of an object that a parameter of a path means: cardId is the
// member cardId, else id.
func identifierAmong(of map[string]any, parameter string) (any, bool) {
	want := normalizeName(parameter)
	short := want
	for _, end := range []string{"uuid", "guid", "id", "key", "slug", "name", "number", "title"} {
		if strings.HasSuffix(want, end) {
			short = end
			break
		}
	}
	for _, try := range []string{want, short, "id", "_id", "uuid", "guid"} {
		for name, v := range of {
			if normalizeName(name) == normalizeName(try) && isScalar(v) && fmt.Sprint(v) != "" {
				return v, true
			}
		}
	}
	return nil, false
}

// isScalar reports whether a value of JSON can be an identifier: a text or a number.
func isScalar(v any) bool {
	switch v.(type) {
	case string, json.Number:
		return true
	}
	return false
}

// identifierFor returns the value by which the parameter names the object: from the response that
// created it, from what was sent, or from the list, in the order of certainty and cost.
func (e *examination) identifierFor(m *object, parameter string) (any, error) {
	if at := m.findObject(m.answer); at != nil {
		if v, found := identifierAmong(at, parameter); found {
			return v, nil
		}
	}
	for _, at := range objectsOf(message.DecodeJSON(m.answer.Body)) { // it tells the identifier alone
		if v, found := identifierAmong(at, parameter); found {
			return v, nil
		}
	}
	for name, v := range m.sent {
		if normalizeName(name) == normalizeName(parameter) && isScalar(v) {
			return v, nil
		}
	}
	if to := m.answer.Header.Get("Location"); to != "" {
		return to[strings.LastIndexByte(strings.TrimRight(to, "/"), '/')+1:], nil
	}
	list, err := e.fetchList(m.of, m.as, m.within)
	if err != nil {
		return nil, err
	}
	for _, page := range list {
		if v, found := identifierAmong(m.findObject(page), parameter); found {
			return v, nil
		}
	}
	return nil, nil
}

// maxPages bounds the pages of a list that are read.
const maxPages = 5

var (
	// cursors are names of parameters that take where a list goes on, and nexts those of
	// properties that tell it.
	cursors = lazyregexp.New(`^(cursor|after|next|(next)?pagetoken|continuation(token)?|startingafter|startafter|marker|offsettoken)$`)
	nexts   = lazyregexp.New(`^(next|cursor|nextcursor|after|endcursor|(next)?pagetoken|nextpage|continuation(token)?|nextmarker|marker)$`)
)

// nextPage tells where a list goes on; empty: nowhere.
func nextPage(page *message.Response) string {
	for _, at := range objectsOf(message.DecodeJSON(page.Body)) {
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if v := at[name]; nexts.MatchString(normalizeName(name)) && isScalar(v) && len(fmt.Sprint(v)) < 2000 {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

// fetchList asks for the collection that the operation adds to, page by page; nil:
// there is none, or it is refused. A list that gives the same cursor again ends there.
func (e *examination) fetchList(o *Operation, as *User, within []*object) ([]*message.Response, error) {
	all := cmp.Or(e.lists[e.collectionOf(o)], e.operationAt(http.MethodGet, e.collectionOf(o)))
	if all == nil {
		return nil, nil
	}
	var pages []*message.Response
	at := ""
	for range maxPages {
		r, err := e.buildRequest(all, at != "", func(in, name string, _ *apispec.Schema) (any, bool) {
			if in == "query" && at != "" && cursors.MatchString(normalizeName(name)) {
				return at, true
			}
			return stepValue(all, within, in, name)
		}, nil)
		if err != nil {
			return pages, nil
		}
		resp, err := e.sendAs(r, as)
		if err != nil || !isSuccess(resp) {
			return pages, err
		}
		pages = append(pages, resp)
		takes := slices.ContainsFunc(all.Parameters, func(p *apispec.Parameter) bool {
			return p.In == "query" && cursors.MatchString(normalizeName(p.Name))
		})
		if then := nextPage(resp); !takes || then == "" || then == at {
			break
		} else {
			at = then
		}
	}
	return pages, nil
}

// isListed reports whether one of the pages shows the object.
func (m *object) isListed(pages []*message.Response) bool {
	return slices.ContainsFunc(pages, func(p *message.Response) bool { return len(m.seenWords(p)) > 0 })
}

// itemRequest makes the request of an operation about one object, which is within others.
func (e *examination) itemRequest(o *Operation, id any, within []*object,
	words map[string]string) (*message.Request, error) {
	return e.addressedRequest(o, &object{id: id, within: within}, e.freshWords(words))
}

// addressedRequest makes the request of an operation about one object; values are those of anything
// else that it takes.
func (e *examination) addressedRequest(o *Operation, m *object,
	text func(in, name string, s *apispec.Schema) (any, bool)) (*message.Request, error) {
	id, within, parameter := m.id, m.within, ""
	if names := pathParameters(o.Path); len(within) < len(names) {
		parameter = names[len(within)]
	}
	return e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
		if in == "path" && name == parameter {
			return id, true
		}
		if v, known := stepValue(o, within, in, name); known {
			return v, true
		}
		return text(in, name, s)
	}, nil)
}

// scanObjects makes an object of each kind as one user, and asks for it as another one.
// Each kind that could not be tested is reported with the reason.
func (e *examination) scanObjects() error {
	if len(e.Users) < 2 || !e.mayChange() {
		return nil
	}
	for _, k := range e.objectKinds() {
		err := e.scanKind(k, e.Users[0], e.Users[1])
		if traffic.IsFinal(err) {
			return err
		}
		if err != nil && !errors.Is(err, errRefused) {
			e.reportUntried(k, err)
		}
		why := "nothing shows that an object which the scan creates is its owner's alone"
		if err != nil {
			why = err.Error()
		}
		for _, o := range k.allOperations() {
			e.recordSkipped(o, why)
		}
	}
	return nil
}

// reportUntried tells that a kind of object was not examined: the operation that makes it, and
// those about it.
func (e *examination) reportUntried(k *kind, why error) {
	e.Untried(k.maker, []*finding.Rule{massAssignment}, fmt.Sprintf("mass assignment was not tested: %v", why))
	said := map[string]bool{}
	for _, o := range k.allOperations() {
		if !said[o.Path] {
			said[o.Path] = true
			e.Untried(o, []*finding.Rule{objectRead, objectWrite, massAssignment}, fmt.Sprintf("authorization was "+
				"not tested with an object of the scan: %v", why))
		}
	}
}

// scanKind examines one kind of object. An error that does not end the scan says why that
// could not be done to the end.
func (e *examination) scanKind(k *kind, owner, stranger *User) error {
	mine, own, err := e.createAndRead(k, owner)
	if err != nil {
		return err
	}
	if err := e.probeStoredProperties(k, mine.findObject(own), owner); err != nil {
		return err
	}
	if err := e.probeObjectAssignment(k, mine, own); err != nil {
		return err
	}
	if own, err = e.probeAnonymousChange(k, mine, own); own == nil || err != nil {
		return err
	}
	if mine.private, err = e.privacyReason(mine, own, owner, stranger); mine.private == "" || err != nil {
		return err
	}
	e.privates[k.maker] = mine.private
	restore := func() error { // an earlier test may have removed the object; nil: it cannot be created again
		if mine == nil || !mine.gone {
			return nil
		}
		why := mine.private
		if mine, _, err = e.createAndRead(k, owner); mine == nil || err != nil {
			return err
		}
		mine.private = why
		return nil
	}
	var failed error
	for _, f := range []func() error{
		func() error { return e.probeForeignObject(k, mine, own, stranger) },
		func() error { return e.probeReadActions(k, mine, stranger) },
		func() error { return e.probeReferences(mine, k.parameter, stranger) },
		func() error { return e.probeRetargeting(k, mine, stranger) },
		func() error {
			if err := restore(); mine == nil || err != nil {
				return err
			}
			return e.probeActions(k, mine, stranger)
		},
		func() error {
			if err := restore(); mine == nil || err != nil {
				return err
			}
			return e.probeForeignChange(k, mine, stranger)
		},
	} {
		err := f()
		if traffic.IsFinal(err) {
			return err
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// owns matches normalized names of properties that say who owns an object.
var owns = lazyregexp.New(`^(owner|user|author|creator|createdby|account|customer|member|belongsto|seller|buyer)(id|name|uuid|email)?$|^(userid|username|email)$`)

// secrets matches normalized names of properties that are for their owner alone.
var secrets = lazyregexp.New(`secret|private|password|token|apikey|accesskey|creditcard|cardnumber|^cvc|^cvv|cvc$|cvv$|iban|ssn|passport|salary|medical|diagnosis|(^|phone|home|street|billing|shipping)address$|phone|birth`)

// privacyReason returns how the API shows that an object is its owner's alone; empty: it does not
// show that. Without such a reason an object that others may see would be a false positive.
func (e *examination) privacyReason(mine *object, own *message.Response, owner, stranger *User) (string, error) {
	if nobody, err := e.sendAs(own.Request, nil); err != nil || isSuccess(nobody) && len(mine.seenWords(nobody)) > 0 {
		return "", err // it is public, or lacks any sign-in: that is told elsewhere
	}
	if n := len(mine.within); n > 0 {
		if why := e.privates[mine.within[n-1].of]; why != "" {
			return "It is part of another object, which is its owner's alone. " + why, nil
		}
	}
	his, err := e.fetchList(mine.of, owner, mine.within)
	if err != nil {
		return "", err
	}
	others, err := e.fetchList(mine.of, stranger, mine.within)
	if err != nil {
		return "", err
	}
	if mine.isListed(his) && len(others) > 0 && !mine.isListed(others) {
		return fmt.Sprintf("The list of %s contains the object for its owner, and not for the other user.",
				mine.of.Path),
			nil
	}
	named, err := e.ownerProperty(mine.findObject(own), owner)
	if named == "" || err != nil {
		return "", err
	}
	for _, name := range mine.seenWords(own) {
		if secrets.MatchString(normalizeName(name)) && !slices.ContainsFunc(others, func(p *message.Response) bool {
			return holdsValue(p, mine.words[name])
		}) {
			return fmt.Sprintf("%s, and its %q is shown in no list.", named, name), nil
		}
	}
	return "", nil
}

// ownerProperty says by which property an object names the user as its owner; empty: by
// none. The user's names and identifiers are compared as whole values.
func (e *examination) ownerProperty(object map[string]any, owner *User) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text := fmt.Sprint(object[name])
		if !owns.MatchString(normalizeName(name)) || !isScalar(object[name]) {
			continue
		}
		is := slices.Contains(owner.userNames(), text)
		if !is {
			self, err := e.ownIdentifiers(owner)
			if err != nil {
				return "", err
			}
			is = slices.Contains(self, text)
		}
		if is {
			return fmt.Sprintf("The object names %s as its %s", text, name), nil
		}
	}
	return "", nil
}

// probeForeignObject asks for the object as another user. Controls: that user's own
// object, and one that does not exist. This is broken object level authorization
// (API1:2023, BOLA, also called IDOR).
func (e *examination) probeForeignObject(k *kind, mine *object, own *message.Response, stranger *User) error {
	if k.read == nil {
		return nil // the list is told to be different for the two
	}
	return e.shownTo(k, k.read, mine, own, stranger)
}

// shownTo asks an operation that shows the object to its owner as another user.
func (e *examination) shownTo(k *kind, read *Operation, mine *object, own *message.Response, stranger *User) error {
	r := own.Request
	resp, err := e.sendAs(r, stranger)
	if err != nil {
		return err
	}
	if e.recordVerdict(read, resp); !isSuccess(resp) || !slices.Equal(mine.seenWords(resp), mine.seenWords(own)) {
		return nil
	}
	absent, err := e.itemRequest(read, e.absentIdentifier(mine, k.parameter, own), mine.within, nil)
	if err != nil {
		return nil
	}
	none, err := e.sendAs(absent, stranger)
	if err != nil || isSuccess(none) && len(mine.seenWords(none)) > 0 {
		return err
	}
	proof := []string{
		fmt.Sprintf("As %s an object was made with random values; %s answers %s with them.", mine.as.Name(), r.Path,
			mine.as.Name()),
		mine.private,
		fmt.Sprintf("As %s the same request gives the same object (%d), with values that only %s has "+
			"sent: %s.", stranger.Name(), resp.Status, mine.as.Name(), strings.Join(mine.seenWords(resp), ", ")),
		fmt.Sprintf("An object that does not exist returns %d, and without a session the object is not "+
			"returned.", none.Status),
	}
	answers, notes := []*message.Response{own, resp, none},
		[]string{"the owner reads the object", "another user reads it", "an object that does not exist"}
	if theirs, err := e.createObject(mine.of, stranger, nil); traffic.IsFinal(err) {
		return err
	} else if err == nil {
		if other, err := e.readAsOwner(k, theirs); err != nil {
			return err
		} else if other != nil {
			if len(mine.seenWords(other)) > 0 {
				return nil // one answer for all identifiers
			}
			proof = append(proof, fmt.Sprintf("The other user's own object is a different one: the response depends "+
				"only on the identifier (%d).", other.Status))
			answers, notes = append(answers, other), append(notes, "the other user's own object")
		}
	}
	e.RaiseAlert(activescan.Alert{Rule: objectRead, Request: r, Responses: answers, ResponseNotes: notes, Proof: proof,
		Message: fmt.Sprintf("%s %s shows the objects of other users", read.Method, read.Path)})
	return nil
}

// readAsOwner reads an object as the user who made it; nil: it cannot be read.
func (e *examination) readAsOwner(k *kind, theirs *object) (*message.Response, error) {
	var err error
	if theirs.id, err = e.identifierFor(theirs, k.parameter); theirs.id == nil || err != nil {
		return nil, err
	}
	return e.readObject(k, theirs, theirs.as)
}

// absentIdentifier is an identifier of the same kind that names nothing. It has the
// same form, so that a parser does not refuse it before the lookup.
func (e *examination) absentIdentifier(mine *object, parameter string, own *message.Response) any {
	if v, found := identifierAmong(mine.findObject(own), parameter); found {
		if _, number := v.(json.Number); number {
			return json.Number(fmt.Sprint(e.RandomNumber(700_000_000, 900_000_000)))
		}
	}
	if text := fmt.Sprint(mine.id); len(text) == 36 && strings.Count(text, "-") == 4 { // a UUID (RFC 9562)
		digits := fmt.Sprintf("%08x%08x%08x", e.RandomNumber(0, 1<<31-2), e.RandomNumber(0, 1<<31-2),
			e.RandomNumber(0, 1<<31-2))
		return digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-a" + digits[17:20] + "-" +
			digits[20:] + digits[:8]
	}
	return e.RandomLetters(14)
}

// writing are the methods that change or remove one object; the one that removes it is last.
var writing = []string{http.MethodPatch, http.MethodPut, http.MethodDelete}

// probeWrite changes or removes the object by an operation about it as somebody (nil: nobody),
// and reads it as its owner, as written.
func (e *examination) probeWrite(k *kind, o *Operation, mine *object,
	as *User) (what string, answers []*message.Response, err error) {
	words := map[string]string{}
	r, err := e.itemRequest(o, mine.id, mine.within, words)
	if err != nil || o.Method != http.MethodDelete && len(words) == 0 {
		return "", nil, nil
	}
	return e.sendChange(k, r, words, mine, as)
}

// sendChange sends a request that changes the object, to the words, or removes it, and reads
// it as its owner. What says what happened: "changes" or "removes"; empty: nothing that the
// owner sees. The answers are that to the request, and what the owner reads.
func (e *examination) sendChange(k *kind, r *message.Request, words map[string]string, mine *object,
	as *User) (what string, answers []*message.Response, err error) {
	resp, err := e.sendAs(r, as)
	if err != nil || !isSuccess(resp) {
		return "", []*message.Response{resp}, err
	}
	now, either := &object{words: words}, maps.Clone(mine.words)
	for name, word := range words {
		either["new "+name] = word
	}
	look := &object{id: mine.id, within: mine.within, words: either}
	after, err := e.readObject(k, look, mine.as)
	switch {
	case err != nil || after == nil:
		return "", []*message.Response{resp}, err
	case isSuccess(after) && len(now.seenWords(after)) > 0:
		maps.Copy(mine.words, words)
		what = "changes"
	case k.isGone(look, after):
		mine.gone = true
		what = "removes"
	default:
		return "", []*message.Response{resp}, nil
	}
	return what, []*message.Response{resp, after}, nil
}

// probeForeignChange changes and removes the object as another user, and reads it as its owner.
func (e *examination) probeForeignChange(k *kind, mine *object, stranger *User) error {
	for _, method := range writing {
		i := slices.IndexFunc(k.about, func(o *Operation) bool { return o.Method == method })
		if i < 0 {
			continue
		}
		what, answers, err := e.probeWrite(k, k.about[i], mine, stranger)
		if err != nil {
			return err
		}
		if len(answers) > 0 {
			e.recordVerdict(k.about[i], answers[0])
		}
		if what == "" {
			continue
		}
		e.proven[k.about[i]] = true
		e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: answers[0].Request, Responses: answers,
			ResponseNotes: []string{"another user " + what + " the object", "its owner reads it then"},
			Message:       fmt.Sprintf("%s %s %s the objects of other users", method, k.about[i].Path, what),
			Proof: []string{fmt.Sprintf("As %s an object was made.", mine.as.Name()), mine.private,
				fmt.Sprintf("As %s the request that %s it returns %d; after that %s reads the result (%d).",
					stranger.Name(), what, answers[0].Status, mine.as.Name(), answers[1].Status)}})
	}
	return nil
}

// probeStoredProperties makes the object again with properties that users should not set, and reads
// them back.
func (e *examination) probeStoredProperties(k *kind, shown map[string]any, owner *User) error {
	o := k.maker
	extra := e.privilegedProperties(o, shown)
	if len(extra) == 0 {
		return nil
	}
	with, err := e.createObject(o, owner, extra)
	if traffic.IsFinal(err) {
		return err
	}
	if err != nil {
		return nil // it takes none with these properties
	}
	resp, err := e.readAsOwner(k, with)
	if resp == nil || err != nil || !isSuccess(resp) {
		return err
	}
	after := with.findObject(resp)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if fmt.Sprint(after[name]) != fmt.Sprint(extra[name]) {
			continue
		}
		e.RaiseAlert(activescan.Alert{Rule: massAssignment, Request: with.answer.Request,
			Point: &message.Point{In: message.InJSON, Name: o.propertyPointer(name)}, Payload: fmt.Sprint(extra[name]),
			Responses: []*message.Response{with.answer, resp}, ResponseNotes: []string{"an object is made with the " +
				"property", "it is read"},
			Message: fmt.Sprintf("%s %s stores %q, which its description does not take", o.Method, o.Path, name),
			Proof: []string{fmt.Sprintf("An object that was made without the property has %s = %v.", name, shown[name]),
				fmt.Sprintf("One that was made with %s = %v has that value when it is read.", name, extra[name])}})
	}
	return nil
}

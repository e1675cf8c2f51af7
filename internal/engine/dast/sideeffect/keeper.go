package sideeffect

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// MaxCreated is how many objects a scan creates by one form or operation, attacks included,
// unless its profile is full.
const MaxCreated = 5

// reserved is how many of them are left for the proof that something is stored, which is sent when
// everything else is done.
const reserved = 3

// A Guard holds a scan to what its profile may do, and lists what it creates. It is safe for
// concurrent use. A nil *Guard allows everything and lists nothing.
type Guard struct {
	profile scan.Profile
	signed  bool
	mark    string
	mu      sync.Mutex
	// The last proofs of the scan are being sent, see StartFinalRound.
	final bool
	// By operationKey.
	by map[string]*creator
	// The same in the order of their first request, for the report.
	order []*creator
	// Restricted effects of forms, by operation and by address.
	forms map[string]message.Effect
	// Operations that create the same kind of object, see kindPatterns.
	kinds map[string][]*creator
}

// A creator is an operation that may create objects.
type creator struct {
	// The first request that created something.
	request *message.Request
	// Requests under way: they may each create one.
	under int
	// Objects that it created.
	created int
	// How often it changed objects of the scan.
	changed int
	// Requests that a browser sent, whose responses are not seen.
	browser int
	// It creates objects although its response does not say so.
	stores bool
	// Its responses name what was created.
	tells bool
	// The objects, at most maxListed.
	list []finding.CreatedObject
	// The patterns of kinds that it belongs to.
	kinds []string
}

// createdCount returns how many objects it has created, or may have.
func (op *creator) createdCount() int { return op.created + op.browser }

// NewGuard returns the guard of a scan that acts as a user (signed) or as nobody, with the mark of
// its values.
func NewGuard(profile scan.Profile, signed bool, mark string) *Guard {
	return &Guard{profile: profile, signed: signed, mark: mark, by: map[string]*creator{},
		forms: map[string]message.Effect{}, kinds: map[string][]*creator{}}
}

// Classify returns the effect of a request: the one that is recorded in it, else its own
// classification. A request of a browser does not show what its form showed, so it has the effect
// that the form had when it was seen. So has a request for the address alone that such a form is
// sent to, unless it is the page of the form.
func (k *Guard) Classify(r *message.Request, about string) message.Effect {
	if k == nil || r.Effect != "" {
		return r.Effect
	}
	e := Classify(Operation{Request: r, Signed: k.signed && !r.Guest, Mark: k.mark, About: about})
	if k.signed && e == message.Creates && (r.Body.Kind == message.Form || r.Body.Kind == message.Multipart) &&
		isRegistration(r) {
		e = message.Messages // who has an account needs no other one, and each is told to administrators
	}
	form := strings.HasPrefix(r.Origin, "form") && e.Restricted()
	if !form && e.Restricted() {
		return e
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case form:
		k.forms[operationKey(r)] = e
		if r.Method == http.MethodPost && len(r.Query) > 0 && r.Referer != r.Address() {
			k.forms[formAddress(r)] = e
		}
	case !isUnsafeMethod(r.Method):
		return cmp.Or(k.forms[formAddress(r)], e)
	case r.Origin == "browser":
		return cmp.Or(k.forms[operationKey(r)], e)
	}
	return e
}

// formAddress names what a form is sent to, by which some programs choose what to do whatever the
// method is: to ask for it without the fields of the form sends them empty.
func formAddress(r *message.Request) string {
	query := slices.Clone(r.Query)
	slices.SortFunc(query, func(a, b message.Param) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return r.Base() + r.Path + "?" + message.EncodeQuery(query)
}

// RefusalReason says why a request is not sent, whatever was created already; empty: it may be.
func (k *Guard) RefusalReason(r *message.Request) string {
	if k == nil || k.profile.Allows(scan.Full) {
		return ""
	}
	return Explain(k.Classify(r, ""))
}

// Limited reports whether the profile bounds what is created and changed.
func (k *Guard) Limited() bool { return k != nil && !k.profile.Allows(scan.Full) }

// operationKey names the operation of a request.
func operationKey(r *message.Request) string {
	return r.Method + " " + r.Base() + sitemap.PathShape(r) + " " + sitemap.PageKey(r)
}

// Begin asks whether a request may be sent. Its error says why not; else end takes the
// answer, or nil where there is none.
func (k *Guard) Begin(r *message.Request) (end func(*message.Response), err error) {
	if k == nil {
		return func(*message.Response) {}, nil
	}
	e := k.Classify(r, "")
	if why := k.RefusalReason(r); why != "" {
		return nil, errs.E(errs.Forbidden, "%s", why)
	}
	if r.Method == http.MethodDelete {
		return func(resp *message.Response) { k.recordRemoval(r, resp) }, nil
	}
	if e != message.Creates && e != message.Owned {
		return func(*message.Response) {}, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	op := k.creatorOf(r)
	if k.Limited() {
		switch {
		case e == message.Owned && op.changed >= MaxCreated:
			return nil, errs.E(errs.Forbidden, "%s", Enough)
		case e == message.Owned:
		case op.createdCount()+op.under >= k.creationLimit() && op.created > 0, k.isKindExhausted(op):
			return nil, errs.E(errs.Forbidden, "%s", Enough)
		case op.created > 0 && !op.tells && !k.isMarked(r):
			return nil, errs.E(errs.Forbidden, "it would create an object without the mark of the scan")
		}
	}
	op.under++
	return func(resp *message.Response) { k.recordCreation(op, r, resp) }, nil
}

// creationLimit is how many objects an operation may create by now. The caller holds mu.
func (k *Guard) creationLimit() int {
	if k.final {
		return MaxCreated
	}
	return MaxCreated - reserved
}

// StartFinalRound says that what follows are the last proofs of the scan.
func (k *Guard) StartFinalRound() {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.final = true
	}
}

// Enough says why an operation was not attacked to its end.
var Enough = fmt.Sprintf("not attacked further: below the profile full a scan creates at most %d objects by one "+
	"operation, and by operations that differ in one word of their path", MaxCreated)

// Browse decides whether a browser may send a request, whose response is not seen here. It counts
// as one that created something.
func (k *Guard) Browse(r *message.Request) error {
	if k == nil {
		return nil
	}
	if why := k.RefusalReason(r); why != "" {
		return errs.E(errs.Forbidden, "%s", why)
	}
	if k.Classify(r, "") != message.Creates {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	op := k.creatorOf(r)
	if k.Limited() && (op.createdCount()+op.under >= k.creationLimit() || k.isKindExhausted(op)) {
		return errs.E(errs.Forbidden, "%s", Enough)
	}
	op.browser++
	return nil
}

// Exhausted reports whether the operation of a request has created as much as it may.
func (k *Guard) Exhausted(r *message.Request) bool {
	if !k.Limited() {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	op := k.by[operationKey(r)]
	return op != nil && (op.created > 0 && op.createdCount() >= k.creationLimit() || k.isKindExhausted(op))
}

// KindExhausted reports whether a request is to create an object of a kind of which enough were created by
// other operations.
func (k *Guard) KindExhausted(r *message.Request) bool {
	if !k.Limited() || k.Classify(r, "") != message.Creates {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isKindExhausted(k.creatorOf(r))
}

// Creates reports whether the operation of a request was seen to create something.
func (k *Guard) Creates(r *message.Request) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	op := k.by[operationKey(r)]
	return op != nil && op.created+op.browser > 0
}

// SkipsPoint reports whether a point is not attacked below the profile full: fields that say what
// somebody may do, and of an operation on an object of the scan what may name another one.
func (k *Guard) SkipsPoint(r *message.Request, at message.Point) bool {
	name := strings.ToLower(at.Name)
	switch r.Effect {
	case message.Owned:
		return at.In == message.InPath || at.In == message.InQuery || at.Names() || at.Type == "hidden" ||
			at.Type == "button" || IsPrivilegeField(name) || strings.HasSuffix(name, "id")
	case message.Creates:
		return IsPrivilegeField(name)
	}
	return false
}

// creatorOf returns that of a request. The caller holds mu.
func (k *Guard) creatorOf(r *message.Request) *creator {
	op := k.by[operationKey(r)]
	if op == nil {
		op = &creator{request: r, kinds: kindPatterns(r)}
		k.by[operationKey(r)] = op
		k.order = append(k.order, op)
		for _, kind := range op.kinds {
			k.kinds[kind] = append(k.kinds[kind], op)
		}
	}
	return op
}

// AddMark puts the scan's mark before values of a request that creates something, where an attack
// hasAny replaced all values that had it: the object can then be found again. of is the request
// without the attack.
func (k *Guard) AddMark(of, r *message.Request) *message.Request {
	if !k.Limited() {
		return r
	}
	if r.Effect == "" && r.Method == of.Method && sitemap.PathShape(r) == sitemap.PathShape(of) {
		r = r.Clone()
		r.Effect = of.Effect
	}
	if r.Effect != message.Creates || k.isMarked(r) {
		return r
	}
	if !k.isMarked(of) { // it is the page of what was created
		k.mu.Lock()
		if op := k.by[operationKey(r)]; op != nil {
			of = op.request
		}
		k.mu.Unlock()
	}
	old := map[string]string{}
	for _, p := range of.Points() {
		old[p.Key()] = p.Value
	}
	for _, p := range r.Points() {
		if strings.Contains(old[p.Key()], k.mark) && p.In != message.InHeader && p.In != message.InCookie {
			return r.With(p, k.mark+p.Value)
		}
	}
	return r
}

// isMarked reports whether something of the request can be found again.
func (k *Guard) isMarked(r *message.Request) bool {
	content, _ := r.Content()
	return strings.Contains(string(content), k.mark) || strings.Contains(message.EncodeQuery(r.Query), k.mark) ||
		strings.Contains(r.Path, k.mark)
}

// recordCreation takes the answer to a request that may have created an object.
func (k *Guard) recordCreation(op *creator, r *message.Request, resp *message.Response) {
	k.mu.Lock()
	defer k.mu.Unlock()
	op.under--
	if resp == nil {
		return
	}
	created, where := isCreated(resp)
	// An account may exist although its page says that the mail about it could not be sent.
	unsure := !created && isRegistration(r) && resp.Status < 300 && resp.IsHTML()
	created = created || unsure || repeats(resp, k.mark)
	if !created && (!op.stores || resp.Status >= 300) {
		return
	}
	if r.Effect == message.Owned {
		op.changed++
		return
	}
	op.tells = where != "" && resp.Location() == nil
	op.addObject(r, where)
	if unsure && len(op.list) == op.created {
		op.list[op.created-1].Reason = "the response does not show whether an account was created"
	}
}

// maxListed bounds the objects that are listed for one operation.
const maxListed = 50

// addObject lists an object.
func (op *creator) addObject(r *message.Request, where string) {
	if op.created++; op.created == 1 {
		op.request = r
	}
	if len(op.list) < maxListed {
		op.list = append(op.list, finding.CreatedObject{Where: where})
	}
}

// RecordCreated says that the operation of a request has created an object that is seen on a page,
// although its answer does not tell so.
func (k *Guard) RecordCreated(r *message.Request, where string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if op := k.creatorOf(r); !op.stores {
		op.stores = true
		op.addObject(r, where)
	}
}

// isSignInAddress reports whether an address is that of a sign-in.
func isSignInAddress(u *url.URL) bool {
	return slices.ContainsFunc(slices.Concat(wordsOf(u.Path), wordsOf(u.Query().Get("do")),
		wordsOf(u.Query().Get("action"))), func(w string) bool {
		return signIn[w]
	})
}

// isRegistration reports whether a request makes an account, so that it leads to the sign-in.
func isRegistration(r *message.Request) bool {
	return Operation{Request: r}.collectWords().hasAny(register)
}

// recordRemoval takes the answer to a request that removes an object.
func (k *Guard) recordRemoval(r *message.Request, resp *message.Response) {
	if resp == nil || resp.Status >= 300 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, op := range k.order {
		for i := range op.list {
			if op.list[i].Where == r.Base()+r.Path {
				op.list[i].Removed = true
			}
		}
	}
}

// Created is what the scan has created, by the request of each operation.
func (k *Guard) Created() []CreatedObjects {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []CreatedObjects
	for _, op := range k.order {
		if op.created+op.browser == 0 {
			continue
		}
		list := slices.Clone(op.list)
		for range min(op.browser, maxListed-len(list)) {
			list = append(list, finding.CreatedObject{Reason: "a browser sent the request: its response was not " +
				"captured"})
		}
		for i := range list {
			list[i].Mark = k.mark
		}
		out = append(out, CreatedObjects{Request: op.request, Objects: list, Count: op.created + op.browser})
	}
	return out
}

// CreatedObjects are the objects that one operation has created.
type CreatedObjects struct {
	Request *message.Request
	Objects []finding.CreatedObject
	Count   int
}

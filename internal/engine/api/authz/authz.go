// Package authz examines who may do what in a running API (OWASP API1, API2, API3 and API5:2023).
// It compares identities: what one of them owns is requested as another one, as nobody, and beside
// something that does not exist; what one sends beyond the description is read back.
//
// [ScanAPI] runs the steps: accounts (accounts.go, person.go), tokens, functions of a higher role
// (functions.go), other ways to a refused operation (detour.go), operations without sign-in
// (unsecured.go), lists of users (others.go), objects of the scan (kinds.go, objects.go,
// actions.go, change.go), and GraphQL (graph.go). judged.go records for each operation whether it
// was tested.
//
// In the profile standard it creates the objects and, where the API offers registration, the
// accounts that it needs; objects of others are never changed. cleanup.go removes what was created
// where the API allows that, and reports the rest.
//
// Budget: maxObjects kinds of objects, maxActions actions and maxReferences references for each.
package authz

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/check/jwt"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// An API is what is examined, with what the analyzer provides.
type API struct {
	// Operations are those of all descriptions that the profile allows to request.
	Operations []*Operation
	// Users are signed in, in the order of the target; the analyzer has explored as the first one.
	// An examination appends accounts of its own until there are two.
	Users []*User
	// Base is the address that the paths of operations are below.
	Base *url.URL
	// Seed begins the random values of requests.
	Seed uint64
	// Options say how a valid input of an operation is made; what this package knows
	// better it replaces.
	Options func(o *Operation) requestgen.Options
	// Session holds what new sessions need.
	Session session.Options
	// Header carries the token of a user; empty: Authorization, or what an identity that
	// was given says.
	Header string
	// Created is told what the examination has made and could not remove.
	Created func(what string)
	// Untried is told that it could not be tried whether an operation (nil: any) has the
	// vulnerabilities that the rules find, and why.
	Untried func(o *Operation, rules []*finding.Rule, why string)
	// Judged is told in the end of each operation whether it was tested that another user is
	// kept out of what it names; nil: nobody asks.
	Judged func(o *Operation, a finding.Authorization)
}

// An Operation is one of the description. Answer is the response to a valid request as the first
// user; nil: there is none. Origin is the kind of the description, such as "openapi".
type Operation struct {
	*apispec.Operation
	Origin string
	Answer *message.Response
}

// A User is an identity that is signed in.
type User struct {
	Identity scan.Identity
	Session  *session.Session
	// The account behind an identity that this examination has registered; nil: the identity was
	// given.
	account *account
}

// Name returns the name of the user for the report.
func (u *User) Name() string {
	if u.account != nil {
		return u.account.name
	}
	return u.Identity.Name
}

// userNames returns the texts by which the API may know the user: the names and e-mail addresses
// that he signs in with. Texts of one or two characters would match anything.
func (u *User) userNames() []string {
	var out []string
	if u.account != nil {
		out = append(out, u.account.name, u.account.email)
	}
	i := &u.Identity
	if i.JSON != nil {
		fields, isJSON := message.DecodeJSON([]byte(i.JSON.Body)).(map[string]any)
		if values, err := url.ParseQuery(string(i.JSON.Body)); err == nil &&
			!isJSON { // a form, as of OAuth's password grant
			fields = map[string]any{}
			for name := range values {
				fields[name] = values.Get(name)
			}
		}
		for name, v := range fields {
			if text, ok := v.(string); ok && isUserIdentifier(name) {
				out = append(out, text)
			}
		}
	}
	if i.Form != nil {
		out = append(out, i.Form.User)
	}
	if i.OAuth != nil {
		out = append(out, i.OAuth.User)
	}
	if i.Basic != nil {
		out = append(out, i.Basic.User)
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < 3 })
}

// An examination is one run of the steps over one API.
type examination struct {
	*activescan.OperationScan
	*API
	// The operations to register and to sign in; nil: the API has none.
	register, login *Operation
	// What stands before the tokens of accounts, such as "Token "; empty: "Bearer ".
	prefix string
	// What was created, in that order; removal goes backwards.
	made []*object
	// The identifiers of each user's own account, see ownIdentifiers.
	selves map[*User][]string
	// Why what the operation creates belongs to its owner alone, see privacyReason.
	privates map[*Operation]string
	// The texts that the API shows the highest user of himself, see highestRole; nil: not requested
	// yet.
	titles map[string]string
	// Operations for which other ways were tried, at most maxDetours.
	detoured int
	// Operations that were reported to change what they should not: one report is enough.
	proven map[*Operation]bool
	// An account of the examination that has no special role; nil: none.
	ordinary *User
	// Paths of the collections that actions add to: "/cards" for POST /cards/create.
	homes map[*Operation]string
	// Operations that list such a collection, by its path.
	lists map[string]*Operation
	// What was tested for each operation, see judged.go.
	judged map[*Operation]finding.Authorization
}

// RegisterUser registers an account with the API and signs in with it, so that a scan without an
// identity sees what users see. Without an error, a nil user means that this failed, or that the
// API does not offer it.
func RegisterUser(t *activescan.OperationScan, a *API) (*User, error) {
	e := findAccountOperations(t, a)
	if e.register == nil || e.login == nil {
		return nil, nil
	}
	return e.registerAndSignIn(nil)
}

// ScanAPI examines the API. An error is one that ends the scan; a step that fails for another
// reason does not keep the others from running.
func ScanAPI(t *activescan.OperationScan, a *API) error {
	e := findAccountOperations(t, a)
	for _, u := range a.Users {
		if u.account != nil {
			e.made = append(e.made, &object{of: e.register, as: u, words: map[string]string{"name": u.account.name}})
		}
	}
	// Also when the scan ends early: the report then says what was not tested.
	defer e.reportVerdicts()
	for _, step := range []func() error{e.scanAccounts, e.scanTokens, e.scanFunctions, e.probeAnonymousDetours,
		e.scanUnsecured, e.probeOtherLists, e.scanObjects,
		e.probeRanks, e.scanGraphQL} {
		if err := step(); traffic.IsFinal(err) {
			return err
		}
	}
	return e.removeCreated()
}

// findAccountOperations returns an examination with the operations to register and to sign in.
func findAccountOperations(t *activescan.OperationScan, a *API) *examination {
	e := &examination{OperationScan: t, API: a, selves: map[*User][]string{}, privates: map[*Operation]string{},
		proven: map[*Operation]bool{}, judged: map[*Operation]finding.Authorization{}}
	for _, o := range a.Operations {
		switch {
		case o.Call != nil || sitemap.IsDangerous(o.Path):
		case e.register == nil && isRegistration(o):
			e.register = o
		case e.login == nil && signsIn(o):
			e.login = o
		}
	}
	if e.login == nil || !e.isSignInOf(e.login) {
		e.findUnnamedSignIn()
	}
	e.findCreatingActions()
	return e
}

// isSignInOf reports whether a given identity signs in by the operation.
func (e *examination) isSignInOf(o *Operation) bool { return e.signInModel(o) != nil }

// signInModel returns how a given identity signs in by the operation; nil: none does. It tells
// where the token is in the response and where it is sent, which accounts of the scan need too.
func (e *examination) signInModel(o *Operation) *scan.JSONLogin {
	for _, u := range e.Users {
		if u.Identity.JSON == nil {
			continue
		}
		if at, err := e.Base.Parse(u.Identity.JSON.URL); err == nil && o.Address(e.Base) == at.Scheme+"://"+at.Host+
			at.EscapedPath() {
			return u.Identity.JSON
		}
	}
	return nil
}

// findUnnamedSignIn finds the operation to sign in where its name does not tell: a given identity
// uses it, or it takes a user and a password and nothing else, and its response is described with a
// token.
func (e *examination) findUnnamedSignIn() {
	for _, sure := range []func(*Operation) bool{e.isSignInOf, looksLikeSignIn} {
		for _, o := range e.Operations {
			if o.Call == nil && o.Method == http.MethodPost && o != e.register && !sitemap.IsDangerous(o.Path) &&
				o.takesProperty(sitemap.IsPassword) && o.takesProperty(isUserIdentifier) && sure(o) {
				e.login = o
				return
			}
		}
		if e.login != nil {
			return
		}
	}
}

// tokens matches normalized names of properties that contain what a user proves his requests with.
var tokens = lazyregexp.New(`^((access|auth|authentication|id|session|bearer|refresh|api|user)?(token|key|jwt)|jwt|bearer|sessionid|session|ticket|expiresin)$`)

// looksLikeSignIn reports whether the operation has the shape of a sign-in. More than four
// properties are those of a registration.
func looksLikeSignIn(o *Operation) bool {
	if o == nil || strings.Contains(o.Path, "{") || len(o.bodySchema().Properties) > 4 {
		return false
	}
	for _, name := range o.bodySchema().Required {
		if !sitemap.IsPassword(name) && !isUserIdentifier(name) {
			return false
		}
	}
	for _, r := range o.Responses {
		for _, m := range r.Bodies {
			if slices.ContainsFunc(propertyNames(m.Schema, 0), func(name string) bool {
				return tokens.MatchString(normalizeName(name))
			}) {
				return true
			}
		}
	}
	return false
}

// propertyNames returns the names of a schema's properties, and of those nested in them.
func propertyNames(s *apispec.Schema, depth int) []string {
	if s == nil || depth > 4 {
		return nil
	}
	var out []string
	for _, p := range requestgen.Flat(s).Properties {
		out = append(append(out, p.Name), propertyNames(p.Schema, depth+1)...)
	}
	return out
}

// scanTokens examines the token of an account of the examination. The token of a given user is
// examined by the check jwt itself.
func (e *examination) scanTokens() error {
	if len(e.Users) == 0 || e.Users[0].account == nil || e.As == traffic.Session(e.Users[0].Session) {
		return nil
	}
	var pages []*message.Request
	for _, o := range e.Operations {
		if o.Call == nil && o.Method == http.MethodGet && o.Answer != nil {
			pages = append(pages, o.Answer.Request)
		}
	}
	return jwt.Examine(e.OperationScan, e.Users[0].Session, pages)
}

// mayChange reports whether the profile allows creating objects and changing them.
func (e *examination) mayChange() bool { return e.Target.Profile.Allows(scan.Standard) }

// sendAs sends the request as the user; nil: as nobody. A redirect to the same path with a slash is
// followed, as clients of Django and FastAPI do.
func (e *examination) sendAs(r *message.Request, as *User) (*message.Response, error) {
	e.Sitemap.CountResponses(r, 1)
	var session traffic.Session
	if as != nil && as.Session != nil {
		session = as.Session
	}
	ctx := traffic.WithoutSideEffectCheck(e.Context) // what is changed here was made here
	resp, err := e.Client.Send(ctx, r, session)
	if err == nil {
		if there := resp.WithTrailingSlash(); there != nil {
			return e.Client.Send(ctx, there, session)
		}
	}
	return resp, err
}

// buildRequest makes a valid request of the operation. known returns values that replace generated
// ones, by location ("path", "query", "body") and name; extra properties are added to the body.
func (e *examination) buildRequest(o *Operation, optional bool,
	known func(in, name string, s *apispec.Schema) (any, bool),
	extra map[string]any) (*message.Request, error) {
	options := requestgen.Options{Seed: e.Seed}
	if e.Options != nil {
		options = e.Options(o)
	}
	rest := options.Known
	options.Optional = optional
	options.Known = func(in, name string, s *apispec.Schema) (any, bool) {
		if v, ok := known(in, name, s); ok {
			return v, true
		}
		if rest == nil {
			return nil, false
		}
		return rest(in, name, s)
	}
	input := requestgen.ValidInput(o.Operation, options)
	if len(extra) > 0 {
		_, names := o.wrappedBody()
		fields := withProperties(input.Body, names, extra)
		if fields == nil {
			return nil, fmt.Errorf("%s %s takes no object", o.Method, o.Path)
		}
		input.Body = fields
	}
	return input.Request(e.Base, o.Origin)
}

// bodySchema is the schema of what the operation takes, without what only wraps it; nil: it
// takes no object.
func (o *Operation) bodySchema() *apispec.Schema {
	s, _ := o.wrappedBody()
	return s
}

// maxWraps bounds the objects that wrap what an operation takes.
const maxWraps = 3

// wrappedBody returns the schema of the body's object and the names of the objects around it, outer
// ones first: an operation that takes {"user": {"email": …}} takes a user, as Rails APIs do.
func (o *Operation) wrappedBody() (*apispec.Schema, []string) {
	for _, m := range o.Bodies {
		s := requestgen.Flat(m.Schema)
		if len(s.Properties) == 0 {
			continue
		}
		var names []string
		for len(s.Properties) == 1 && len(names) < maxWraps {
			inner := requestgen.Flat(s.Properties[0].Schema)
			if len(inner.Properties) == 0 {
				break
			}
			names = append(names, s.Properties[0].Name)
			s = inner
		}
		return s, names
	}
	return nil, nil
}

// propertyPointer is where a property of what the operation takes is in its body (RFC 6901).
func (o *Operation) propertyPointer(name string) string {
	_, names := o.wrappedBody()
	out := ""
	for _, n := range append(names, name) {
		out += "/" + message.EscapePointer(n)
	}
	return out
}

// withProperties returns the body with more properties, inside of what wraps it; nil: it is no
// object.
func withProperties(body any, names []string, extra map[string]any) map[string]any {
	fields, is := body.(map[string]any)
	if !is {
		return nil
	}
	fields = maps.Clone(fields)
	if len(names) == 0 {
		maps.Copy(fields, extra)
		return fields
	}
	inner := withProperties(fields[names[0]], names[1:], extra)
	if inner == nil {
		return nil
	}
	fields[names[0]] = inner
	return fields
}

// takesProperty reports whether the operation's body has a property of which f is true.
func (o *Operation) takesProperty(f func(name string) bool) bool {
	s := o.bodySchema()
	return s != nil && slices.ContainsFunc(s.Properties, func(p apispec.Property) bool { return f(p.Name) })
}

// nameWords returns the path and the identifier of the operation, for matches by words.
func (o *Operation) nameWords() string {
	return o.Path + " " + o.ID[strings.LastIndexAny(o.ID, "./")+1:]
}

// collectionPath is the path without its last parameter, and that parameter; both are empty
// when the path does not end in one.
func (o *Operation) collectionPath() (path, parameter string) {
	whole := o.trimmedPath()
	i := strings.LastIndexByte(whole, '/')
	last := whole[i+1:]
	if i < 1 || !strings.HasPrefix(last, "{") || !strings.HasSuffix(last, "}") {
		return "", ""
	}
	return whole[:i], strings.Trim(last, "{}")
}

// trimmedPath is the operation's path without a slash at its end, which some frameworks write.
func (o *Operation) trimmedPath() string { return strings.TrimRight(o.Path, "/") }

// isFixedRead reports whether the operation reads by GET, at a path without parameters, so
// that it can be asked as anybody without knowing any object.
func (o *Operation) isFixedRead() bool {
	return o.Call == nil && o.Method == http.MethodGet && !strings.Contains(o.Path, "{") &&
		!sitemap.IsDangerous(o.Path)
}

// replacesBody reports whether the operation changes something by PATCH or PUT with a body
// that the description names.
func (o *Operation) replacesBody() bool {
	return o.Call == nil && (o.Method == http.MethodPatch || o.Method == http.MethodPut) && o.bodySchema() != nil &&
		!sitemap.IsDangerous(o.Path)
}

// isWriteMethod reports whether the method can carry a body that changes something.
func (o *Operation) isWriteMethod() bool {
	return o.Method == http.MethodPost || o.Method == http.MethodPut || o.Method == http.MethodPatch
}

// operationAt finds the operation of a method and a path.
func (e *examination) operationAt(method, path string) *Operation {
	for _, o := range e.Operations {
		if o.Call == nil && o.Method == method && o.trimmedPath() == strings.TrimRight(path, "/") {
			return o
		}
	}
	return nil
}

// normalizeName writes a name without marks, in small letters.
func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// isUserIdentifier reports whether a property of this name says who a user is.
func isUserIdentifier(name string) bool {
	switch n := normalizeName(name); n {
	case "username", "user", "login", "loginname", "userid", "name", "nickname", "handle":
		return true
	default:
		return isEmailName(n)
	}
}

// isEmailName reports whether a property of this name takes an e-mail address.
func isEmailName(name string) bool {
	n := normalizeName(name)
	return n == "mail" || strings.HasSuffix(n, "email") || n == "emailaddress"
}

var (
	// joins matches names of operations that register users.
	joins = lazyregexp.New(`(?i)regist(er|ration)|sign[-_]?up|(create|add|new)[-_]?(user|account|customer|member)|enrol`)
	// users matches paths of collections of users, where POST registers one.
	users = lazyregexp.New(`(?i)/(users?|accounts?|customers?|members?)/?$`)
	// logs matches names of operations that sign in or out.
	logs = lazyregexp.New(`(?i)log[-_]?in|sign[-_]?in|authenticat|/(auth|token|sessions?)\b`)
)

// isRegistration reports whether the operation registers a user: it takes a password
// and who somebody is, and is named or placed so.
func isRegistration(o *Operation) bool {
	return o.Method == http.MethodPost && o.takesProperty(sitemap.IsPassword) && o.takesProperty(isUserIdentifier) &&
		!logs.MatchString(o.nameWords()) && !strings.Contains(o.Path, "{") &&
		(joins.MatchString(o.nameWords()) || users.MatchString(o.Path))
}

// signsIn reports whether the operation signs in, by what it takes and how it is named.
func signsIn(o *Operation) bool {
	return o.Method == http.MethodPost && o.takesProperty(sitemap.IsPassword) && o.takesProperty(isUserIdentifier) &&
		logs.MatchString(o.nameWords()) && !strings.Contains(o.Path, "{")
}

// isSuccess reports whether the response has a status of class 2xx (RFC 9110, section 15.3).
func isSuccess(resp *message.Response) bool { return resp.Status >= 200 && resp.Status < 300 }

// Limits of what is looked at of one answer.
const (
	maxDepth  = 12
	maxLooked = 20_000
)

// objectsHolding returns the objects of a document that hold the text as a value of their own.
func objectsHolding(v any, text string) []map[string]any {
	return slices.DeleteFunc(objectsOf(v), func(at map[string]any) bool {
		for _, below := range at {
			if s, is := below.(string); is && s == text {
				return false
			}
		}
		return true
	})
}

// objectsOf returns the objects of a document, outer ones first.
func objectsOf(v any) []map[string]any {
	var out []map[string]any
	looked := 0
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if looked++; depth > maxDepth || looked > maxLooked {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, below := range v {
				walk(below, depth+1)
			}
		case map[string]any:
			out = append(out, v)
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], depth+1)
			}
		}
	}
	walk(v, 0)
	return out
}

// holdsValue reports whether the body holds the text as a JSON value.
func holdsValue(resp *message.Response, text string) bool {
	return len(objectsHolding(message.DecodeJSON(resp.Body), text)) > 0
}

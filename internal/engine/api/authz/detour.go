package authz

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file asks in other ways for what is refused, and says to be somebody else.

// A detour is another way to request the same thing: the proxy that checks requests and the
// application that routes them may parse them differently (CWE-436). It changes the request and
// returns a description for the report; empty: it does not apply.
type detour func(r *message.Request) string

// detourByPath returns a detour that changes the path: f gets the folder, with its slash, and the
// last segment.
func detourByPath(name string, f func(folder, last string) string) detour {
	return func(r *message.Request) string {
		folder, last := path.Split(strings.TrimRight(r.Path, "/"))
		if last == "" {
			return ""
		}
		r.Path = f(folder, last)
		return name
	}
}

// detourByHeader returns a detour by a header that replaces the path, as some servers let a proxy
// do. The proxy sees the path "/", which is open.
func detourByHeader(header string) detour {
	return func(r *message.Request) string {
		*r = *r.SetHeader(header, r.Path)
		r.Path = "/"
		return "requested as / with the path in " + header
	}
}

// detours are those that are tried, in this order: spellings that routers normalize and access
// rules do not, headers that replace the path, headers that claim the request comes from the server
// itself, and a header that replaces the method. To add one, make sure that it keeps the meaning of
// the request.
var detours = []detour{
	detourByPath("with a slash behind the path", func(folder, last string) string { return folder + last + "/" }),
	detourByPath("with two slashes in the path", func(folder, last string) string { return folder + "/" + last }),
	detourByPath("with a dot in the path", func(folder, last string) string { return folder + "%2e/" + last }),
	detourByPath("with a letter of the path encoded", func(folder, last string) string {
		return folder + fmt.Sprintf("%%%02x", last[0]) + last[1:]
	}),
	detourByPath("in capitals", func(folder, last string) string { return folder + strings.ToUpper(last) }),
	detourByPath("with .json behind the path", func(folder, last string) string { return folder + last + ".json" }),
	detourByPath("with a parameter of the path", func(folder, last string) string { return folder + last + ";a=b" }),
	detourByHeader("X-Original-URL"),
	detourByHeader("X-Rewrite-URL"),
	func(r *message.Request) string {
		for _, name := range []string{"X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP",
			"X-Originating-IP"} {
			*r = *r.SetHeader(name, "127.0.0.1")
		}
		return "as if from the server's own machine (X-Forwarded-For and its like)"
	},
	func(r *message.Request) string {
		*r = *r.SetHeader("X-HTTP-Method-Override", r.Method)
		r.Method = http.MethodPost
		return "by POST with X-HTTP-Method-Override"
	},
}

// maxDetours bounds the operations for which detours are tried, at a dozen requests each.
const maxDetours = 3

// probeDetours requests in other ways, as somebody (nil: nobody) who is refused, what may contains,
// the response of an authorized user. Controls: an address that does not exist, requested in the
// same way, and the unchanged request, refused as before.
func (e *examination) probeDetours(may, refused *message.Response, as *User) error {
	if refused.Status != http.StatusUnauthorized && refused.Status != http.StatusForbidden ||
		e.detoured == maxDetours || len(may.Body) == 0 {
		return nil
	}
	e.detoured++
	whole := may.Request
	like := func(resp *message.Response) bool {
		return resp.Status == may.Status && activescan.NewPage(may).Similarity(activescan.NewPage(resp)) >= 0.9
	}
	for _, way := range detours {
		r := whole.Clone()
		name := way(r)
		if name == "" || r.Method != whole.Method &&
			(!e.mayChange() || e.operationAt(r.Method, whole.Template) != nil ||
				whole.Template == "") {
			continue
		}
		resp, err := e.sendAs(r, as)
		if err != nil {
			return err
		}
		if !like(resp) {
			continue
		}
		absent := whole.Clone()
		absent.Path, absent.Template = path.Dir(strings.TrimRight(whole.Path, "/"))+"/"+e.RandomLetters(12), ""
		way(absent)
		none, err := e.sendAs(absent, as)
		if err != nil {
			return err
		}
		still, err := e.sendAs(whole, as)
		if err != nil || like(none) || isSuccess(still) {
			return err
		}
		who := "Nobody, without a sign-in,"
		if as != nil {
			who = as.Name()
		}
		e.RaiseAlert(activescan.Alert{Rule: detourOpen, Request: r, Responses: []*message.Response{may, still, none,
			resp},
			Anonymous: as == nil, Location: whole.Location(),
			ResponseNotes: []string{"who may", "who may not", "a URL that does not exist, requested in " +
				"that way", "requested in that way"},
			Message: fmt.Sprintf("%s is denied, and allowed %s", operationTemplate(whole), name),
			Proof: []string{fmt.Sprintf("%s is refused %s with %d, before "+
				"and after.", who, operationTemplate(whole), refused.Status),
				fmt.Sprintf("Requested %s, the response is %d with the content that an authorized user gets.", name,
					resp.Status),
				fmt.Sprintf("A URL that does not exist, requested in the same way, returns %d.", none.Status)}})
		return nil
	}
	return nil
}

// probeAnonymousDetours asks in other ways, as nobody, for what only users get.
func (e *examination) probeAnonymousDetours() error {
	if len(e.Users) == 0 {
		return nil
	}
	e.detoured = 0
	var folders []string
	for _, o := range e.Operations {
		if !o.isFixedRead() || o.Answer == nil || !isSuccess(o.Answer) || !o.RequiresAuthentication() {
			continue
		}
		folder := path.Dir(o.trimmedPath())
		if slices.Contains(folders, folder) || len(folders) == maxDetours {
			continue // what checks requests is seldom another one for each of them
		}
		folders = append(folders, folder)
		may, err := e.sendAs(o.Answer.Request, e.Users[0])
		if err != nil {
			return err
		}
		if !isSuccess(may) {
			continue
		}
		refused, err := e.sendAs(o.Answer.Request, nil)
		if err != nil {
			return err
		}
		if err := e.probeDetours(may, refused, nil); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// claims are headers by which gateways pass the authenticated user to applications.
var claims = []string{"X-User-Id", "X-User", "X-Username", "X-User-Name", "X-User-Email", "X-Auth-User",
	"X-Authenticated-User", "X-Forwarded-User", "X-Remote-User", "Remote-User",
	"X-Account-Id", "X-Customer-Id", "X-Member-Id", "X-Consumer-Username", "X-WEBAUTH-USER"}

// claimed are parameters of queries for the same.
var claimed = []string{"user", "user_id", "userId", "username", "email", "account_id", "accountId", "id"}

// maxClaims bounds the operations that are sent such claims.
const maxClaims = 3

// claiming matches normalized names of described headers and cookies that say who sends the
// request.
var claiming = lazyregexp.New(`user|account|customer|member|owner|tenant|profile`)

// probeImpersonation asks for what is a user's own as another one, and as nobody, who
// says in headers and parameters to be the first. What comes back holds values that
// only the first has sent. Controls: the same without them, and with a user that there
// is not. An application that trusts them must not be reachable past its gateway
// (CWE-290).
func (e *examination) probeImpersonation(owner, stranger *User) error {
	shown, _, err := e.ownProfile(owner)
	if err != nil {
		return err
	}
	asked := 0
	for _, o := range e.Operations {
		if !o.isFixedRead() || o.Answer == nil || asked == maxClaims {
			continue
		}
		plainly, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		his, err := e.sendAs(plainly, owner)
		if err != nil {
			return err
		}
		without, err := e.sendAs(plainly, stranger)
		if err != nil {
			return err
		}
		if !isSuccess(his) || !owner.account.isShownIn(his) || owner.account.isShownIn(without) {
			continue // not his own, or everybody's
		}
		asked++
		id, _ := identifierAmong(shown, "id")
		for _, who := range []*User{nil, stranger} {
			if err := e.claimIdentity(&personal{of: o, request: plainly, owner: owner, id: id, without: without},
				who); traffic.IsFinal(err) {
				return err
			}
		}
	}
	return nil
}

// isShownIn reports whether an answer holds what only the account has sent.
func (a *account) isShownIn(resp *message.Response) bool {
	return holdsValue(resp, a.name) || holdsValue(resp, a.email)
}

// A personal is an operation that shows a user what belongs to him.
type personal struct {
	of      *Operation
	request *message.Request
	owner   *User
	// id is that of the owner; nil: it is not known.
	id any
	// without is the response to another user who claims nothing.
	without *message.Response
}

// claimIdentity claims to be the owner in all ways at once, and then in each. All at once costs one
// request where nothing is trusted, which is nearly always.
func (e *examination) claimIdentity(own *personal, who *User) error {
	owner, id := own.owner, own.id
	points := own.claimPoints()
	resp, err := e.sendAs(own.claim(owner.account, id, points...), who)
	if err != nil || !isSuccess(resp) || !owner.account.isShownIn(resp) {
		return err
	}
	for _, p := range points {
		resp, err := e.sendAs(own.claim(owner.account, id, p), who)
		if err != nil {
			return err
		}
		if !isSuccess(resp) || !owner.account.isShownIn(resp) {
			continue
		}
		nobody := e.drawCredentials()
		control, err := e.sendAs(own.claim(nobody, e.RandomNumber(700_000_000, 900_000_000), p), who)
		if err != nil || owner.account.isShownIn(control) || isSuccess(control) && nobody.isShownIn(control) {
			return err // it says again what it was told
		}
		name := "nobody, without a sign-in,"
		if who != nil {
			name = who.Name()
		}
		e.RaiseAlert(activescan.Alert{Rule: claimedIdentity, Request: resp.Request, Point: &p,
			Responses: []*message.Response{own.without, control, resp}, Anonymous: who == nil,
			ResponseNotes: []string{"another user, as usual", "with a user that there is not", "with the user whose " +
				"data it is"},
			Message: fmt.Sprintf("%s shows the data of whom %q names", operationTemplate(resp.Request), p.Name),
			Proof: []string{fmt.Sprintf("The account %s was registered, with random values.", owner.Name()),
				fmt.Sprintf("As %s, the response contains what only %s has sent, where %q names that user (%d).", name,
					owner.Name(), p.Name, resp.Status),
				fmt.Sprintf("Without that, and for a user that there is not (%d), it does not.", control.Status)}})
		return nil
	}
	return nil
}

// claimPoints returns the headers, cookies and parameters that may say who asks: the usual
// ones of gateways, and those that the description names so.
func (own *personal) claimPoints() []message.Point {
	var points []message.Point
	for _, name := range claims {
		points = append(points, message.Point{In: message.InHeader, Name: name})
	}
	for _, p := range own.of.Parameters {
		if (p.In == "header" || p.In == "cookie") && claiming.MatchString(normalizeName(p.Name)) {
			points = append(points, message.Point{In: message.In(p.In), Name: p.Name})
		}
	}
	for _, name := range claimed {
		points = append(points, message.Point{In: message.InQuery, Name: name})
	}
	return points
}

// claim returns the request with an account named at the points: by its address, its
// identifier or its name, as the name of the point says.
func (own *personal) claim(a *account, id any, points ...message.Point) *message.Request {
	r := own.request.Clone()
	for _, p := range points {
		value := a.name
		if n := normalizeName(p.Name); isEmailName(n) {
			value = a.email
		} else if strings.HasSuffix(n, "id") && id != nil {
			value = fmt.Sprint(id)
		}
		switch p.In {
		case message.InHeader:
			r = r.SetHeader(p.Name, value)
		case message.InCookie:
			r.Cookies = append(slices.Clone(r.Cookies), message.Param{Name: p.Name, Value: value})
		default:
			r.Query = append(slices.Clone(r.Query), message.Param{Name: p.Name, Value: value})
		}
	}
	return r
}

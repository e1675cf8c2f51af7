package graphql

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file asks who may send what from where, and whom the service believes.

// decodeJSON decodes a part of a token or of a response.
func decodeJSON(text []byte, v any) error { return json.Unmarshal(text, v) }

// probeCSRF sends a mutation without effect, the name of its root type, in the ways in which pages
// of other sites can without a CORS preflight: by GET, as a form, as text/plain. With a session
// cookie each is a forged request (CWE-352).
func (a *asker) probeCSRF() error {
	const text = "mutation { __typename }"
	resp, got, err := a.sendQuery(a.queryRequest(text, nil))
	if err != nil || !got.isClean() { // there are no mutations
		return err
	}
	name := got.Data["__typename"]
	get := a.At.Clone()
	get.Method, get.Query = http.MethodGet, append(get.Query, message.Param{Name: "query", Value: text})
	form := a.At.Clone()
	form.Body = message.Body{Kind: message.Form, Params: []message.Param{{Name: "query", Value: text}}}
	plain := a.queryRequest(text, nil)
	plain.Body.Kind, plain.Body.Type = message.Text, "text/plain"
	for _, way := range []struct {
		r    *message.Request
		name string
	}{{get, "in an address, by GET,"}, {form, "as a form"}, {plain, "as text/plain"}} {
		forged, got, err := a.sendQuery(way.r)
		if err != nil {
			return err
		}
		if !got.isClean() || got.Data["__typename"] != name {
			continue
		}
		f := activescan.Alert{Rule: asForm, Request: way.r, Responses: []*message.Response{resp, forged},
			ResponseNotes: []string{"as usual", "as another site can send it"},
			Proof: []string{fmt.Sprintf("A mutation that is sent %s is executed: it returns the name of its type, "+
				"%v, as over POST as JSON. It changed nothing.", way.name, name)}}
		if way.r == get {
			f.Rule = overGET
		}
		a.RaiseAlert(f)
	}
	return nil
}

// tools are where consoles usually are, beside the endpoint, and what their pages hold.
var (
	// tools are the paths of consoles beside the endpoint; empty: the endpoint itself.
	tools = []string{"", "graphiql", "playground", "graphql/playground", "graphql/console", "altair", "voyager",
		"console", "explorer"}
	// toolOf matches the script that loads a console, or the call that starts it.
	toolOf = lazyregexp.New(`(?i)<script[^>]{0,300}\bsrc\s*=[^>]{0,300}(graphiql|graphql-playground|altair|voyager|embeddable-(?:sandbox|explorer))[^>]{0,200}>|(GraphQLPlayground\.init|GraphiQL\.createFetcher|AltairGraphQL\.init|GraphQLVoyager\.init|new EmbeddedSandbox)`)
	// refused matches errors that deny an operation.
	refused = lazyregexp.New(`(?i)reject|den(?:y|ied)|disabled|forbidden|not allowed|not permitted|block`)
)

// probeConsoles opens the pages of consoles as nobody, and tries whether they are protected only by
// a word in a cookie.
func (a *asker) probeConsoles() error {
	folder := path.Dir(a.At.Path)
	for _, tool := range tools {
		page := a.At.Clone()
		page.Method, page.Header, page.Template = http.MethodGet, []message.Param{{Name: "Accept", Value: "text/html"}},
			""
		if tool != "" {
			page.Path = path.Join(folder, tool)
		}
		resp, err := a.SendAnonymously(page)
		if err != nil {
			return err
		}
		m := toolOf.FindStringSubmatch(resp.Text())
		if resp.Status != http.StatusOK || !resp.IsHTML() || m == nil {
			continue
		}
		again, err := a.SendAnonymously(page)
		if err != nil || toolOf.FindString(again.Text()) == "" {
			return err
		}
		a.RaiseAlert(activescan.Alert{Rule: console, Request: page, Responses: []*message.Response{resp},
			Message: fmt.Sprintf("A console for developers is at %s", page.Path),
			Proof:   []string{fmt.Sprintf("The page loads or starts %s without a session, twice.", m[1]+m[2])}})
		if err := a.probeConsoleHeader(page); err != nil {
			return err
		}
	}
	return nil
}

// opposite replaces words by which a cookie switches a protection: env=graphiql:disable becomes
// env=graphiql:enable.
var opposite = strings.NewReplacer("disabled", "enabled", "disable", "enable", "false", "true", "off", "on", "deny",
	"allow", "no", "yes", "0", "1")

// probeConsoleHeader sends a query to the address of a console. Where it is denied, it is sent
// again with the opposite of what the cookies of the application say.
func (a *asker) probeConsoleHeader(page *message.Request) error {
	e := &Endpoint{At: page.Clone()}
	e.At.Method, e.At.Header = http.MethodPost, nil
	query := e.queryRequest("{ __typename }", nil)
	closed, err := a.SendAnonymously(query)
	if err != nil || !refused.MatchString(readResponse(closed).errorText()) || readResponse(closed).isClean() {
		return err
	}
	home, err := a.SendAnonymously(a.Request)
	if err != nil {
		return err
	}
	for _, c := range (&http.Response{Header: home.Header}).Cookies() {
		flipped := opposite.Replace(c.Value)
		if flipped == c.Value || len(c.Value) > 60 {
			continue
		}
		told := query.Clone()
		told.Cookies = []message.Param{{Name: c.Name, Value: c.Value}}
		still, err := a.SendAnonymously(told)
		if err != nil {
			return err
		}
		with := query.Clone()
		with.Cookies = []message.Param{{Name: c.Name, Value: flipped}}
		open, err := a.SendAnonymously(with)
		if err != nil {
			return err
		}
		if !readResponse(open).isClean() || readResponse(still).isClean() {
			continue
		}
		a.RaiseAlert(activescan.Alert{Rule: consoleBypass, Request: with, Responses: []*message.Response{closed, still,
			open},
			ResponseNotes: []string{"without a cookie", "with the cookie as the application " +
				"sets it", "with the other word"},
			Payload: c.Name + "=" + flipped, Point: &message.Point{In: message.InCookie, Name: c.Name},
			Proof: []string{fmt.Sprintf("Without a cookie, and with %s=%s, the service refuses: "+
				"%.200q.", c.Name, c.Value, readResponse(closed).errorText()),
				fmt.Sprintf("With %s=%s it responds.", c.Name,
					flipped)}})
		e.At.Cookies = with.Cookies
		return a.probeDebugErrors(e)
	}
	return a.probeDebugErrors(e)
}

// scanAccess runs the checks of authentication and authorization; the first error ends them.
func (a *asker) scanAccess() error {
	for _, f := range []func() error{a.probeUnsignedTokens, a.deniedVariants, a.probeOpenMutations} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// tokenName is how arguments are named that take a token.
var (
	// tokenName matches arguments that take a token.
	tokenName = lazyregexp.New(`(?i)^(?:jwt|(?:access|auth|id|bearer|session)?_?token)$`)
	// userName matches members that contain the name of a user.
	userName = lazyregexp.New(`(?i)^(?:user_?name|login|user|name|email)$`)
)

// maxUsers bounds the users whose names are tried.
const maxUsers = 4

// probeUnsignedTokens sends forged tokens to queries that take a token as an argument.
func (a *asker) probeUnsignedTokens() error {
	for _, o := range a.Operations {
		for name := range o.sentVariables() {
			if o.Call.Kind == "query" && tokenName.MatchString(name) {
				if err := a.proveForgedToken(o, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// forgedToken writes a token (RFC 7519) that names a user in each of the usual claims, with an
// invalid signature. It expires in 2096.
func forgedToken(user, alg, signature string) string {
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil { // a map of texts and numbers
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"alg": alg, "typ": "JWT"}) + "." +
		part(map[string]any{"sub": user, "identity": user, "username": user, "user": user, "name": user, "email": user,
			"type": "access", "fresh": false, "iat": 1700000000, "nbf": 1700000000, "exp": 4000000000, "jti": "1"}) +
		"." + base64.RawURLEncoding.EncodeToString([]byte(signature))
}

// userNames returns names of users that responses have shown, after "admin".
func (a *asker) userNames() []string {
	out := []string{"admin"}
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		switch v := v.(type) {
		case map[string]any:
			for key, below := range v {
				if s, ok := below.(string); ok && userName.MatchString(key) && s != "" && len(s) < 100 &&
					!slices.Contains(out, s) && len(out) < maxUsers {
					out = append(out, s)
				}
				walk(below, depth+1)
			}
		case []any:
			for _, below := range v[:min(len(v), 20)] {
				walk(below, depth+1)
			}
		}
	}
	for _, o := range a.Operations {
		if o.hasData() {
			walk(readResponse(o.Answer).Data, 0)
		}
	}
	return out
}

// proveForgedToken proves that the claims of a token are trusted: the token of an existing user
// gives data, that of a user who does not exist gives none, and a text that is no token is refused.
func (a *asker) proveForgedToken(o *Operation, name string) error {
	try := func(value string) (*message.Response, *answer, error) {
		variables := o.sentVariables()
		variables[name] = value
		return a.sendQuery(a.queryRequest(o.Call.Text, variables))
	}
	none, got, err := try(a.RandomLetters(20))
	if err != nil || got.isClean() && got.Data[o.Call.Field] != nil {
		return err
	}
	for _, way := range []struct{ alg, signature string }{{"HS256", a.RandomLetters(32)}, {"none", ""}} {
		nobody, got, err := try(forgedToken(a.RandomLetters(12), way.alg, way.signature))
		if err != nil {
			return err
		}
		if got.isClean() && got.Data[o.Call.Field] != nil {
			continue
		}
		for _, user := range a.userNames() {
			forged, got, err := try(forgedToken(user, way.alg, way.signature))
			if err != nil {
				return err
			}
			if !got.isClean() || got.Data[o.Call.Field] == nil {
				continue
			}
			a.RaiseAlert(activescan.Alert{Rule: unsignedToken, Request: forged.Request,
				Point:     &message.Point{In: message.InJSON, Name: "/variables/" + name},
				Responses: []*message.Response{none, nobody, forged},
				ResponseNotes: []string{"with a text that is no token", "with a forged token of a user who does " +
					"not exist", "with a forged token of a user"},
				Proof: []string{fmt.Sprintf("A token for %q with the algorithm %s and an invalid signature returns "+
					"data of %s.", user, way.alg, o.Call.Field),
					"The same with a random name, and a text that is no token, give none."}})
			return nil
		}
	}
	return nil
}

// unsignedIn matches errors that require a sign-in: those are correct, and no deny list.
var unsignedIn = lazyregexp.New(`(?i)unauth|not (?:logged|signed) in|(?:log|sign)[ -]?in\b|authenticat|credential|permission|\btoken\b`)

// deniedVariants sends queries that are denied by name in another notation.
func (a *asker) deniedVariants() error {
	for _, o := range a.Operations {
		if o.Call.Kind != "query" || o.Answer == nil || o.hasData() {
			continue
		}
		said := readResponse(o.Answer).errorText()
		if !refused.MatchString(said) || unsignedIn.MatchString(said) {
			continue
		}
		if err := a.probeRewrittenField(o, said); err != nil {
			return err
		}
	}
	return nil
}

// probeRewrittenField requests a denied field under an alias, and under names of operations that a
// deny list may permit. A list of forbidden texts is not one of forbidden fields.
func (a *asker) probeRewrittenField(o *Operation, said string) error {
	doc, field := o.rootField()
	if field == nil {
		return nil
	}
	head := doc.Operations[0]
	names := []string{"IntrospectionQuery", "getData", "query"}
	for _, other := range a.Operations {
		if other.hasData() && len(names) < 5 {
			names = append(names, other.Call.Field)
		}
	}
	ways := []func() string{func() string { field.Alias = "a"; return "under an alias" }}
	for _, name := range names {
		ways = append(ways, func() string {
			field.Alias, head.Name = field.Name, name
			return "as a query of the name " + name
		})
	}
	for _, way := range ways {
		how := way()
		resp, got, err := a.sendQuery(a.queryRequest(writeDocument(doc), o.sentVariables()))
		if err != nil {
			return err
		}
		if !got.isClean() || got.Data[field.Alias] == nil {
			continue
		}
		control, still, err := a.sendQuery(o.Request)
		if err != nil || still.isClean() || !refused.MatchString(still.errorText()) {
			return err
		}
		a.RaiseAlert(activescan.Alert{Rule: denyList, Request: resp.Request,
			Responses:     []*message.Response{control, resp},
			ResponseNotes: []string{"as it is denied", "written in another way"},
			Message:       fmt.Sprintf("%s is denied, and executed %s", o.Call.Field, how),
			Proof: []string{fmt.Sprintf("%s is denied: %.200q.", o.Call.Field, said), "Asked for " + how +
				", it is returned; requested as before, it is still denied."}})
		return nil
	}
	return nil
}

// public matches mutations that are meant for users who are not signed in.
var public = lazyregexp.New(`(?i)log_?(?:in|out)|sign_?(?:in|up|out)|regist|auth|token|password|forgot|reset|verify|confirm|refresh|subscribe|contact|feedback|create_?(?:user|account|customer|session)|captcha|track`)

// minDemanding is how many mutations must require a sign-in before one that does not stands out.
const minDemanding = 2

// probeOpenMutations reports mutations that nobody needs a session for, while most of the service
// requires one. Where half of them are open, that is how the service is meant.
func (a *asker) probeOpenMutations() error {
	demanding, others := 0, []*Operation{}
	answers := map[*Operation]*message.Response{}
	var refusal *message.Response
	for _, o := range a.Operations {
		if o.Call.Kind != "mutation" || o.Answer == nil || public.MatchString(o.Call.Field) {
			continue
		}
		resp, err := a.SendAnonymously(o.Request)
		if err != nil {
			return err
		}
		answers[o] = resp
		got := readResponse(resp)
		switch {
		case resp.Status == http.StatusUnauthorized, resp.Status == http.StatusForbidden, !got.isClean() &&
			unsignedIn.MatchString(got.errorText()+errorCodes(got)):
			demanding++
			refusal = resp
		case got.isClean() && got.Data[o.Call.Field] != nil:
			others = append(others, o)
		}
	}
	if demanding < minDemanding || len(others) >= demanding {
		return nil
	}
	for _, o := range others {
		a.RaiseAlert(activescan.Alert{Rule: openMutation, Request: o.Request,
			Responses:     []*message.Response{refusal, answers[o]},
			ResponseNotes: []string{"another mutation, without a session", "this one, without a session"},
			Message:       fmt.Sprintf("%s is executed without a session", o.Call.Field),
			Proof: []string{fmt.Sprintf("%d mutations require a session, such as this: "+
				"%.150q.", demanding, readResponse(refusal).errorText()), "This one returns data without a session."}})
	}
	return nil
}

// errorCodes are the codes of the errors.
func errorCodes(a *answer) string {
	out := ""
	if a != nil {
		for _, f := range a.Errors {
			out += fmt.Sprint(" ", f.Extensions["code"])
		}
	}
	return out
}

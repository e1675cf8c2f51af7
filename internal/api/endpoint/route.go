// Package endpoint is what the operations of the API have in common: routes with their
// permission rules, paging, parameters, idempotent requests, downloads and problems. It
// knows no resource: each has a package of its own beside this one.
package endpoint

import (
	"context"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// This file says what a route is: an operation, the rule that admits a caller,
// and the handler. The rule is checked before anything of the request but its
// address is read, in the contract's order: 401, malformed identifiers 400, what
// the caller may not see 404, a missing permission 403, then body and query 400.

// A Route is a row of the table in routes.go.
type Route struct {
	method, path string
	id           string // operationId
	summary      string
	details      string // of the description, before the required scope and permission
	rule         Rule
	Status       int // of success
	creates      bool
	bytes        int64                      // of the largest body; 0 for the library's default
	body         *huma.RequestBody          // described here when the handler reads it by itself
	answer       map[string]*huma.MediaType // of success, where the handler writes it by itself
	// Register adds the route to the HTTP library. It is a closure over the handler, whose input
	// and output types differ from route to route.
	Register func(*Server, Route)
}

// A Rule says who may call a route. Its zero value is refused when the program
// starts, so that no route is open by oversight.
type Rule struct {
	access access
	needs  tenant.Permissions // all of them
	scopes tenant.TokenScopes // of the access token; all of them
	whole  bool               // only for tokens that are not limited to organizations or projects
}

// access is the kind of caller that a rule admits.
type access uint8

const (
	undecided  access = iota
	anyone            // no caller is needed
	signedIn          // any authenticated caller; the handler looks only at what is the caller's own
	permission        // needs, in the scope that the address names
)

// Open admits everybody. The reason is for the reader of the table.
func Open(reason string) Rule {
	if reason == "" {
		panic("api: an open route needs a reason")
	}
	return Rule{access: anyone}
}

// Authenticated admits every signed-in caller whose token has the scopes, to what
// is the caller's own.
func Authenticated(s tenant.TokenScopes) Rule { return Rule{access: signedIn, scopes: s} }

// Account is authenticated for what belongs to the whole account: a token that is
// limited to organizations or projects does not do.
func Account(s tenant.TokenScopes) Rule { return Rule{access: signedIn, scopes: s, whole: true} }

// Needs admits callers with every one of the permissions, and a token with the
// scopes that these belong to.
func Needs(p tenant.Permissions) Rule {
	return Rule{access: permission, needs: p, scopes: p.TokenScopes()}
}

// Members is needs for what is said of the people of an organization or team: a
// token that is limited to projects does not do.
func Members(p tenant.Permissions) Rule {
	r := Needs(p)
	r.whole = true
	return r
}

// checkToken returns a Forbidden error that says what the caller's token lacks,
// or nil. It depends on nothing but the token and the route.
func (r Rule) checkToken(actor tenant.Actor) error {
	if actor.Limits == nil {
		return errs.E(errs.Internal, "access token without limits: its scopes are missing")
	}
	if err := actor.Limits.Require(r.scopes); err != nil {
		return err
	}
	switch {
	case !r.whole:
		return nil
	case r.access == signedIn && actor.Limits.Restricted():
		return errs.E(errs.Forbidden, "access token restricted to organizations or projects: this operation needs "+
			"access to the whole account")
	case actor.Limits.OnlyProjects():
		return errs.E(errs.Forbidden, "access token restricted to projects: this operation lists or changes members "+
			"of an organization or team")
	}
	return nil
}

// checkPermissions returns a Forbidden error that names what is missing, or nil.
func (r Rule) checkPermissions(sc tenant.Scope) error {
	return sc.Require(r.needs)
}

// New returns a route whose handler takes the parameters and body that I
// declares and responds with O.
//
// house: six parameters, because each call is a row of the table of routes and
// reads as one.
func New[I, O any](method, path, id, summary string, r Rule,
	h func(context.Context, tenant.Scope, *I) (*O, error)) Route {
	return Route{method: method, path: path, id: id, summary: summary, rule: r, Status: http.StatusOK,
		Register: func(a *Server, r Route) {
			huma.Register(a.Huma, r.describeOperation(a), func(ctx context.Context, in *I) (*O, error) {
				sc := scopeOf(ctx)
				out, err := h(ctx, sc, in)
				if err != nil {
					if errs.Is(err, errs.Forbidden) {
						a.reportRefusal(r, sc, true, err)
					}
					return nil, a.logProblem(ctx, err)
				}
				return out, nil
			})
		}}
}

// Describe adds to the description what a caller has to know beyond the summary.
func (r Route) Describe(details string) Route {
	r.details = details
	return r
}

// Created makes the route respond with 201 and honour an Idempotency-Key.
func (r Route) Created() Route {
	r.Status, r.creates = http.StatusCreated, true
	return r
}

// Accepted makes the route respond with 202 and honour an Idempotency-Key.
func (r Route) Accepted() Route {
	r.Status, r.creates = http.StatusAccepted, true
	return r
}

// Large lets the body have more bytes than the library's default.
func (r Route) Large(bytes int64) Route {
	r.bytes = bytes
	return r
}

// Starts makes the route honour an Idempotency-Key while it responds with 200.
func (r Route) Starts() Route {
	r.creates = true
	return r
}

// Validate panics when a row of the table is not whole: a mistake of ours that
// the first test or start finds.
func (r Route) Validate() {
	if r.rule.access == undecided || r.rule.access == permission && r.rule.needs == 0 {
		panic("api: " + r.method + " " + r.path + " has no permission rule")
	}
	if r.rule.access != anyone && r.rule.scopes == 0 {
		panic("api: " + r.method + " " + r.path + " belongs to no scope of access tokens: see permissionScopes in " +
			"package tenant")
	}
	if r.rule.access == permission && !strings.Contains(r.path, "Id}") {
		panic("api: " + r.method + " " + r.path + " needs a permission but names nothing to have it on")
	}
}

// describeOperation describes the route to the HTTP library, with the check of its rule
// in front of everything else.
func (r Route) describeOperation(a *Server) huma.Operation {
	o := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, DefaultStatus: r.Status,
		MaxBodyBytes:    r.bytes,
		BodyReadTimeout: -1, // the server's deadlines move with the progress of a body
		Tags:            []string{operationTag(r.path)},
		// Any other failure has the same shape: a conflict, a limit, a part that is away.
		Responses: map[string]*huma.Response{"400": aProblem, "default": aProblem},
		Middlewares: huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
			plainNumbers(ctx)
			sc, err := a.authorizeRequest(ctx, r)
			if err != nil {
				a.reportRefusal(r, sc, ctx.Header("Authorization") != "", err)
				a.writeProblem(ctx, err)
				return
			}
			ctx = huma.WithContext(ctx, withScope(ctx.Context(), sc))
			if r.creates && ctx.Header("Idempotency-Key") != "" {
				a.doOnce(ctx, sc, r, next)
				return
			}
			next(ctx)
		}},
	}
	if r.creates {
		o.Parameters = []*huma.Param{{Name: "Idempotency-Key", In: "header",
			Schema: &huma.Schema{Type: huma.TypeString, MaxLength: pointerTo(maxKey)},
			Description: "Unique key of the request. A request with the same key within 24 hours is not executed " +
				"again: the first response is returned, with the header Idempotent-Replayed."}}
	}
	if r.answer != nil {
		o.Responses[strconv.Itoa(r.Status)] = &huma.Response{Description: http.StatusText(r.Status), Content: r.answer}
	}
	if r.rule.access != anyone {
		o.Security = []map[string][]string{{"bearer": {}}}
		o.Responses["401"], o.Responses["403"], o.Responses["404"] = aProblem, aProblem, aProblem
	}
	o.Extensions = map[string]any{}
	if r.details != "" {
		o.Description = r.details + " "
	}
	if names := r.rule.scopes.Names(); len(names) > 0 {
		o.Description += "Requires an access token with the scope " + strings.Join(names, " and ") + "."
		o.Extensions["x-scopes"] = names
	}
	if names := r.rule.needs.Names(); len(names) > 0 {
		o.Description += " Requires the permission " + strings.Join(names, " and ") + "."
		o.Extensions["x-permissions"] = names
	}
	o.Description = strings.TrimSuffix(o.Description, " ")
	return o
}

// aProblem refers to the response to every failure, which the document describes
// once.
var aProblem = &huma.Response{Ref: "#/components/responses/Problem"}

// DescribeProblem puts what aProblem refers to into the document.
func (a *Server) DescribeProblem() {
	c := a.Huma.OpenAPI().Components
	c.Responses = map[string]*huma.Response{"Problem": {Description: "Error", Content: map[string]*huma.MediaType{
		"application/json": {Schema: c.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")},
	}}}
}

// operationTag groups the operations of the document by their first fixed word.
func operationTag(path string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return word
}

// authorizeRequest authenticates the caller and applies the route's rule. With an error the
// scope holds what is known of the caller.
func (a *Server) authorizeRequest(ctx huma.Context, r Route) (tenant.Scope, error) {
	if r.rule.access == anyone {
		return tenant.Scope{}, nil
	}
	actor, err := a.authenticateActor(ctx)
	if err != nil {
		return tenant.Scope{Actor: tenant.Actor{IP: remoteIP(ctx.RemoteAddr())}}, err
	}
	target, err := a.parseTarget(ctx, r.path)
	if err != nil {
		return tenant.Scope{Actor: actor}, err
	}
	// Before the target is looked up: a token without the scope gets the same response whether
	// or not the target exists.
	if err := r.rule.checkToken(actor); err != nil {
		return tenant.Scope{Actor: actor}, err
	}
	if r.rule.access == signedIn {
		return tenant.Scope{Actor: actor}, nil
	}
	// The scope is not found for a caller who does not see the target (BOLA, CWE-639): a
	// response of 403 would confirm that it exists.
	sc, err := a.Scopes.Scope(ctx.Context(), actor, target)
	if err != nil {
		a.reportMiss(r, actor, target, err)
		return tenant.Scope{Actor: actor}, err
	}
	return sc, r.rule.checkPermissions(sc)
}

// authenticateActor returns the caller that the bearer token names.
func (a *Server) authenticateActor(ctx huma.Context) (tenant.Actor, error) {
	header := ctx.Header("Authorization")
	if header == "" && ctx.Header("X-API-Key") != "" {
		return tenant.Actor{}, errs.E(errs.Gone,
			"API keys are no longer supported. Create a personal access token and exchange it for an access token at "+
				"%s/oidc/token",
			a.Region.AuthURL)
	}
	// The scheme is compared without case (RFC 9110, section 11.1).
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return tenant.Actor{}, errs.E(errs.Unauthenticated, "missing access token: send the header Authorization: "+
			"Bearer <access token>")
	}
	actor, err := a.Authenticate(ctx.Context(), token)
	if err != nil {
		return tenant.Actor{}, err
	}
	// For the audit log. The address is that behind the trusted proxies, which the server has
	// put into the request.
	actor.IP, actor.UserAgent = remoteIP(ctx.RemoteAddr()), ctx.Header("User-Agent")
	return actor, nil
}

// remoteIP is the address without the port.
func remoteIP(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

// parseTarget reads the identifiers of the address. Every {…Id} is a UUID unless the
// handler's own type says otherwise; one that was made in a peer region is
// refused with that region's address.
func (a *Server) parseTarget(ctx huma.Context, path string) (tenant.Target, error) {
	var t tenant.Target
	// The order of the map does not matter: each identifier sets a field of its own.
	for name, set := range map[string]func(string){
		"organizationId": func(id string) { t.Organization = tenant.OrganizationID(id) },
		"teamId":         func(id string) { t.Team = tenant.TeamID(id) },
		"projectId":      func(id string) { t.Project = tenant.ProjectID(id) },
	} {
		if !strings.Contains(path, "{"+name+"}") {
			continue
		}
		id, err := tenant.ParseID(name, ctx.Param(name))
		if err != nil {
			return t, err
		}
		// Before the database is asked, which cannot know the IDs of another region.
		if err := a.checkRegion(id); err != nil {
			return t, err
		}
		set(id)
	}
	return t, nil
}

// checkRegion returns a Misdirected error for an identifier of a peer region.
func (a *Server) checkRegion(id string) error {
	for _, peer := range a.PeerRegions {
		if tenant.MadeIn(id, peer.Name) {
			return &errs.Error{
				Kind: errs.Misdirected,
				Message: "wrong region: the resource belongs to " + peer.Name + "; send the request to " +
					peer.BaseURL,
				Members: map[string]string{"region": peer.Name, "baseUrl": peer.BaseURL, "authUrl": peer.AuthURL},
			}
		}
	}
	return nil
}

// scopeKey is the key of the admitted scope in a context.
type scopeKey struct{}

// withScope returns the context of a request that was admitted with the scope.
func withScope(ctx context.Context, sc tenant.Scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, sc)
}

// scopeOf returns the scope that the route's rule admitted; the zero scope, which
// matches no row, on an open route.
func scopeOf(ctx context.Context) tenant.Scope {
	sc, _ := ctx.Value(scopeKey{}).(tenant.Scope)
	return sc
}

// Unbuilt returns a route that responds with 501. what is the subject of the text.
func Unbuilt(method, path, id, what string, r Rule) Route {
	return Route{method: method, path: path, id: id, summary: what + " (not implemented)", rule: r,
		Status: http.StatusOK,
		Register: func(a *Server, r Route) {
			o := r.describeOperation(a)
			o.Errors = append(o.Errors, http.StatusNotImplemented)
			// The library wants every path parameter declared, and there is no input type that
			// does.
			for rest := path; ; {
				_, after, ok := strings.Cut(rest, "{")
				if !ok {
					break
				}
				var name string
				name, rest, _ = strings.Cut(after, "}")
				o.Parameters = append(o.Parameters, &huma.Param{Name: name, In: "path", Required: true,
					Schema: &huma.Schema{Type: huma.TypeString}})
			}
			huma.Register(a.Huma, o, func(ctx context.Context, _ *struct{}) (*struct{}, error) {
				return nil, a.logProblem(ctx, &errs.Error{Kind: errs.NotImplemented, Code: "not_built",
					Message: what + ": not implemented in this version of the service"})
			})
		}}
}

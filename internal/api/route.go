package api

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

// A route is a row of the table in routes.go.
type route struct {
	method, path string
	id           string // operationId
	summary      string
	details      string // of the description, before the required scope and permission
	rule         rule
	status       int // of success
	creates      bool
	bytes        int64                      // of the largest body; 0 for the library's default
	body         *huma.RequestBody          // described here when the handler reads it by itself
	answer       map[string]*huma.MediaType // of success, where the handler writes it by itself
	register     func(*API, route)
}

// A rule says who may call a route. Its zero value is refused when the program
// starts, so that no route is open by oversight.
type rule struct {
	access access
	needs  tenant.Permissions // all of them
	scopes tenant.TokenScopes // of the access token; all of them
	whole  bool               // only for tokens that are not limited to organizations or projects
}

type access uint8

const (
	undecided  access = iota
	anyone            // no caller is needed
	signedIn          // any authenticated caller; the handler looks only at what is the caller's own
	permission        // needs, in the scope that the address names
)

// open admits everybody. The reason is for the reader of the table.
func open(reason string) rule {
	if reason == "" {
		panic("api: an open route needs a reason")
	}
	return rule{access: anyone}
}

// authenticated admits every signed-in caller whose token has the scopes, to what
// is the caller's own.
func authenticated(s tenant.TokenScopes) rule { return rule{access: signedIn, scopes: s} }

// account is authenticated for what belongs to the whole account: a token that is
// limited to organizations or projects does not do.
func account(s tenant.TokenScopes) rule { return rule{access: signedIn, scopes: s, whole: true} }

// needs admits callers with every one of the permissions, and a token with the
// scopes that these belong to.
func needs(p tenant.Permissions) rule {
	return rule{access: permission, needs: p, scopes: p.TokenScopes()}
}

// members is needs for what is said of the people of an organization or team: a
// token that is limited to projects does not do.
func members(p tenant.Permissions) rule {
	r := needs(p)
	r.whole = true
	return r
}

// admitsToken returns a Forbidden error that says what the caller's token lacks,
// or nil. It depends on nothing but the token and the route.
func (r rule) admitsToken(actor tenant.Actor) error {
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

// admits returns a Forbidden error that names what is missing, or nil.
func (r rule) admits(sc tenant.Scope) error {
	return sc.Require(r.needs)
}

// op returns a route whose handler takes the parameters and body that I
// declares and answers O.
//
// house: six parameters, because each call is a row of the table of routes and
// reads as one.
func op[I, O any](method, path, id, summary string, r rule,
	h func(context.Context, tenant.Scope, *I) (*O, error)) route {
	return route{method: method, path: path, id: id, summary: summary, rule: r, status: http.StatusOK,
		register: func(a *API, r route) {
			huma.Register(a.huma, r.operation(a), func(ctx context.Context, in *I) (*O, error) {
				sc := scopeOf(ctx)
				out, err := h(ctx, sc, in)
				if err != nil {
					if errs.Is(err, errs.Forbidden) {
						a.reportRefusal(r, sc, true, err)
					}
					return nil, a.problem(ctx, err)
				}
				return out, nil
			})
		}}
}

// describe adds to the description what a caller has to know beyond the summary.
func (r route) describe(details string) route {
	r.details = details
	return r
}

// created makes the route answer 201 and honour an Idempotency-Key.
func (r route) created() route {
	r.status, r.creates = http.StatusCreated, true
	return r
}

// accepted makes the route answer 202 and honour an Idempotency-Key.
func (r route) accepted() route {
	r.status, r.creates = http.StatusAccepted, true
	return r
}

// large lets the body have more bytes than the library's default.
func (r route) large(bytes int64) route {
	r.bytes = bytes
	return r
}

// starts makes the route honour an Idempotency-Key while it answers 200.
func (r route) starts() route {
	r.creates = true
	return r
}

// validate panics when a row of the table is not whole: a mistake of ours that
// the first test or start finds.
func (r route) validate() {
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

// operation describes the route to the HTTP library, with the check of its rule
// in front of everything else.
func (r route) operation(a *API) huma.Operation {
	o := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, DefaultStatus: r.status,
		MaxBodyBytes:    r.bytes,
		BodyReadTimeout: -1, // the server's deadlines move with the progress of a body
		Tags:            []string{tag(r.path)},
		// Any other failure has the same shape: a conflict, a limit, a part that is away.
		Responses: map[string]*huma.Response{"400": aProblem, "default": aProblem},
		Middlewares: huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
			plainNumbers(ctx)
			sc, err := a.admit(ctx, r)
			if err != nil {
				a.reportRefusal(r, sc, ctx.Header("Authorization") != "", err)
				a.refuse(ctx, err)
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
			Schema: &huma.Schema{Type: huma.TypeString, MaxLength: ptr(maxKey)},
			Description: "Unique key of the request. A request with the same key within 24 hours is not executed " +
				"again: the first response is returned, with the header Idempotent-Replayed."}}
	}
	if r.answer != nil {
		o.Responses[strconv.Itoa(r.status)] = &huma.Response{Description: http.StatusText(r.status), Content: r.answer}
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

// aProblem stands for the answer to every failure, which the document describes
// once.
var aProblem = &huma.Response{Ref: "#/components/responses/Problem"}

// describeProblem puts what aProblem refers to into the document.
func (a *API) describeProblem() {
	c := a.huma.OpenAPI().Components
	c.Responses = map[string]*huma.Response{"Problem": {Description: "Error", Content: map[string]*huma.MediaType{
		"application/json": {Schema: c.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")},
	}}}
}

func ptr[T any](v T) *T { return &v }

// tag groups the operations of the document by their first fixed word.
func tag(path string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return word
}

// admit authenticates the caller and applies the route's rule. With an error the
// scope holds what is known of the caller.
func (a *API) admit(ctx huma.Context, r route) (tenant.Scope, error) {
	if r.rule.access == anyone {
		return tenant.Scope{}, nil
	}
	actor, err := a.actor(ctx)
	if err != nil {
		return tenant.Scope{Actor: tenant.Actor{IP: remoteIP(ctx.RemoteAddr())}}, err
	}
	target, err := a.target(ctx, r.path)
	if err != nil {
		return tenant.Scope{Actor: actor}, err
	}
	if err := r.rule.admitsToken(actor); err != nil {
		return tenant.Scope{Actor: actor}, err
	}
	if r.rule.access == signedIn {
		return tenant.Scope{Actor: actor}, nil
	}
	sc, err := a.Scopes.Scope(ctx.Context(), actor, target)
	if err != nil {
		a.reportMiss(r, actor, target, err)
		return tenant.Scope{Actor: actor}, err
	}
	return sc, r.rule.admits(sc)
}

// actor returns the caller that the bearer token names.
func (a *API) actor(ctx huma.Context) (tenant.Actor, error) {
	header := ctx.Header("Authorization")
	if header == "" && ctx.Header("X-API-Key") != "" {
		return tenant.Actor{}, errs.E(errs.Gone,
			"API keys are no longer supported. Create a personal access token and exchange it for an access token at "+
				"%s/oidc/token",
			a.Region.AuthURL)
	}
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return tenant.Actor{}, errs.E(errs.Unauthenticated, "missing access token: send the header Authorization: "+
			"Bearer <access token>")
	}
	actor, err := a.Authenticate(ctx.Context(), token)
	if err != nil {
		return tenant.Actor{}, err
	}
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

// target reads the identifiers of the address. Every {…Id} is a UUID unless the
// handler's own type says otherwise; one that was made in a sister region is
// answered with that region's address.
func (a *API) target(ctx huma.Context, path string) (tenant.Target, error) {
	var t tenant.Target
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
		if err := a.here(id); err != nil {
			return t, err
		}
		set(id)
	}
	return t, nil
}

// here returns a Misdirected error for an identifier of a sister region.
func (a *API) here(id string) error {
	for _, sister := range a.Sisters {
		if tenant.MadeIn(id, sister.Name) {
			return &errs.Error{
				Kind: errs.Misdirected,
				Message: "wrong region: the resource belongs to " + sister.Name + "; send the request to " +
					sister.BaseURL,
				Members: map[string]string{"region": sister.Name, "baseUrl": sister.BaseURL, "authUrl": sister.AuthURL},
			}
		}
	}
	return nil
}

type scopeKey struct{}

func withScope(ctx context.Context, sc tenant.Scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, sc)
}

// scopeOf returns the scope that the route's rule admitted; the zero scope, which
// matches no row, on an open route.
func scopeOf(ctx context.Context) tenant.Scope {
	sc, _ := ctx.Value(scopeKey{}).(tenant.Scope)
	return sc
}

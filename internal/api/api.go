// Package api is the HTTP API: one table of routes, each with the permission it
// needs, one file per resource, and the only place that knows how an errs.Error
// becomes an HTTP answer. It depends on no database: it declares the few methods
// it needs of the services and the store.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"merlon/internal/finding"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

// A Config is what the API is made of.
type Config struct {
	Region  Region
	Sisters []Region // the other regions of the same service
	Version Version
	Now     func() time.Time
	Log     *slog.Logger

	// Authenticate returns the actor of a bearer token, or an Unauthenticated
	// error.
	Authenticate func(ctx context.Context, token string) (tenant.Actor, error)
	// Refused is told of requests that were refused for want of a valid token or a
	// permission, for the audit log; nil for nobody.
	Refused func(chain tenant.OrganizationID, by tenant.Actor, operation string, status int)
	// Missed is told of reads of a target that the caller does not see, whether it is
	// there or not; nil for nobody.
	Missed func(by tenant.Actor, operation string, target tenant.Target)
	// Allow counts what a caller may do only so often, or returns a TooMany error; nil
	// for no limits.
	Allow func(ctx context.Context, by tenant.Actor, hits ...identity.Hit) error
	// Quotas are those limits.
	Quotas Quotas
	// ClientApps are the identifiers of the client applications.
	ClientApps ClientApps
	// Scopes decides what an actor may do with a target.
	Scopes Scopes
	// Tenancy keeps organizations, teams, projects and their members.
	Tenancy Tenancy
	// Stats says how projects stand.
	Stats ProjectStats
	// Users and Tokens are the identity service.
	Users  Users
	Tokens Tokens
	// Requests remembers requests with an Idempotency-Key, and Box seals their
	// answers.
	Requests Requests
	Box      *seal.Box
	// Post writes the mails that invite people.
	Post mail.Post
	// Analyses are those that the program can make: a new project starts with
	// them switched on.
	Analyses []finding.Analysis
	// Scans starts, shows and ends scans.
	Scans Scans
	// Results, Numbers and Overviews read findings; Results decides about them.
	Results   Results
	Numbers   Numbers
	Overviews Overviews
	// Remedies looks for upgrades of vulnerable packages.
	Remedies Remedies
	// Credentials keeps credentials for registries of images, and Catalog asks
	// those what they hold.
	Credentials Credentials
	Catalog     Catalog
	// AWSPrincipal is the name of the user or role at Amazon as which the service
	// assumes the roles of organizations; empty: it assumes none.
	AWSPrincipal string
	// Targets keeps the running applications of projects.
	Targets Targets
	// Owners finds out whose the hosts of running applications are.
	Owners Owners
	// Images finds public images in registries, and Search looks for them on the
	// public hub.
	Images Images
	Search ImageSearch
}

// A Region is a deployment of the service, with its addresses without a slash at
// the end.
type Region struct {
	Name    string
	BaseURL string
	AuthURL string
}

// A Version says which program answers.
type Version struct {
	Service       string `json:"service"`
	Version       string `json:"version"`
	Commit        string `json:"commit"`
	Environment   string `json:"environment" enum:"development,staging,production"`
	DeploymentEnv string `json:"deploymentEnv"`
}

// Tenancy is what the API needs of the store for organizations and all that is
// in them.
type Tenancy interface {
	Organizations
	Invitations
	Members
	Teams
	TeamMembers
	Projects
	ProjectMembers
	Roles
	Accounts
	AuditLog
}

// Scopes decides what an actor may do with a target: a NotFound error when the
// actor may not see it, or when its parts do not belong together.
type Scopes interface {
	Scope(ctx context.Context, actor tenant.Actor, target tenant.Target) (tenant.Scope, error)
}

// An API answers the requests of one deployment.
type API struct {
	Config
	huma   huma.API
	router chi.Router
	table  []route
}

// New returns the API with every route registered.
func New(c Config) *API {
	setProblems()
	a := &API{Config: c, router: chi.NewRouter()}
	a.router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, http.StatusNotFound, "route not found")
	})
	a.router.MethodNotAllowed(a.methodNotAllowed)
	a.router.Use(middleware.GetHead) // a HEAD request is handled as its GET, and the server drops the body
	a.huma = humachi.New(a.router, humaConfig(c))
	a.describeProblem()
	a.table = a.routes()
	for _, r := range a.table {
		r.validate()
		r.register(a, r)
		a.describeStream(r)
	}
	return a
}

// humaConfig turns off what the contract forbids: refused unknown fields, $schema
// members, nullable arrays, a documentation page that loads scripts from afar.
func humaConfig(c Config) huma.Config {
	cfg := huma.DefaultConfig("Merlon", c.Version.Version)
	cfg.Info.Description = "Application security platform: users, organizations, teams, projects, scans and findings."
	cfg.AllowAdditionalPropertiesByDefault = true
	cfg.CreateHooks = nil
	json := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	cfg.Formats = map[string]huma.Format{"application/json": json, "json": json}
	cfg.DocsPath, cfg.SchemasPath, cfg.OpenAPIPath = "", "", "/openapi"
	cfg.Servers = []*huma.Server{{URL: c.Region.BaseURL}}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", BearerFormat: "JWT"},
	}
	return cfg
}

// methodNotAllowed responds with 405 and the methods that the address has (RFC 9110,
// section 15.5.6).
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete} {
		if !a.router.Match(chi.NewRouteContext(), method, path) {
			continue
		}
		allowed = append(allowed, method)
		if method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeProblem(w, r, http.StatusMethodNotAllowed, "method "+r.Method+" not allowed; allowed: "+
		strings.Join(allowed, ", "))
}

// Handler returns the handler of every API address.
func (a *API) Handler() http.Handler {
	var h http.Handler = a.router
	h = validate(h)
	h = compress(h)
	h = remember(h)
	h = canonicalQuery(h)
	h = cleanPath(h)
	return h
}

// OpenAPI returns the OpenAPI 3.1 document of the API as JSON.
func (a *API) OpenAPI() ([]byte, error) { return a.huma.OpenAPI().MarshalJSON() }

// cleanPath removes doubled slashes, which a client makes when its API address
// ends with one.
func cleanPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "//") {
			r = r.Clone(r.Context())
			for strings.Contains(r.URL.Path, "//") {
				r.URL.Path = strings.ReplaceAll(r.URL.Path, "//", "/")
				r.URL.RawPath = strings.ReplaceAll(r.URL.RawPath, "//", "/")
			}
		}
		next.ServeHTTP(w, r)
	})
}

// setProblems makes the HTTP library answer its own failures in the contract's
// shape. The library keeps this in package variables, so it is done once.
var setProblems = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, message string, causes ...error) huma.StatusError {
		return newProblem(status, message, causes)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, causes ...error) huma.StatusError {
		p := newProblem(status, message, causes)
		u := ctx.URL()
		p.Path, p.Method, p.Instance = u.Path, ctx.Method(), u.Path
		return p
	}
})

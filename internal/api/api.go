// Package api is the HTTP API: one table of routes, each with the permission it
// needs. The handlers are in a package per resource, and what they share is in
// api/endpoint. None depends on a database: each resource declares the few methods it
// needs of the services and the store, and this package puts them together.
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

	"merlon/internal/api/accounts"
	"merlon/internal/api/endpoint"
	"merlon/internal/api/findings"
	"merlon/internal/api/organizations"
	"merlon/internal/api/projects"
	"merlon/internal/api/registries"
	"merlon/internal/api/scancoverage"
	"merlon/internal/api/scans"
	"merlon/internal/api/targets"
	"merlon/internal/finding"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

// A Config is what the API is made of.
type Config struct {
	// Region is the one that this deployment serves; its name is part of every ID made here.
	Region      endpoint.Region
	PeerRegions []endpoint.Region // the other regions of the same service
	// Version is the response of GET /, which health probes read.
	Version Version
	// Now is the clock; tests set it. Log takes failures that the caller may not see.
	Now func() time.Time
	Log *slog.Logger

	// Authenticate returns the actor of a bearer token, or an Unauthenticated
	// error.
	Authenticate func(ctx context.Context, token string) (tenant.Actor, error)
	// Refused receives requests that were refused for want of a valid token or a
	// permission, for the audit log; nil for nobody.
	Refused func(chain tenant.OrganizationID, by tenant.Actor, operation string, status int)
	// Missed receives reads of a target that the caller does not see, whether it is
	// there or not; nil for nobody.
	Missed func(by tenant.Actor, operation string, target tenant.Target)
	// Allow counts what a caller may do only so often, or returns a TooMany error; nil
	// for no limits.
	Allow func(ctx context.Context, by tenant.Actor, hits ...identity.Hit) error
	// Quotas are those limits.
	Quotas endpoint.Quotas
	// ClientApps are the identifiers of the client applications.
	ClientApps ClientApps
	// Scopes decides what an actor may do with a target.
	Scopes endpoint.Scopes
	// Tenancy keeps organizations, teams, projects and their members.
	Tenancy Tenancy
	// Stats reads the risk, counts and coverage of projects.
	Stats scancoverage.ProjectStats
	// Users and Tokens are the identity service.
	Users  accounts.Users
	Tokens accounts.Tokens
	// Requests remembers requests with an Idempotency-Key, and Box seals their
	// responses.
	Requests endpoint.Requests
	Box      *seal.Box
	// Post writes the mails that invite people.
	Post mail.Post
	// Analyses are those that the program can make: a new project starts with
	// them switched on.
	Analyses []finding.Analysis
	// Scans starts, shows and ends scans.
	Scans scans.Scans
	// Results, Numbers and Overviews read findings; Results updates them.
	Results   findings.Results
	Numbers   findings.Numbers
	Overviews findings.Overviews
	// Remedies looks for upgrades of vulnerable packages.
	Remedies findings.Remedies
	// Credentials keeps credentials for container registries, and Catalog lists
	// what those contain.
	Credentials registries.Credentials
	Catalog     registries.Catalog
	// AWSPrincipal is the name of the user or role at Amazon as which the service
	// assumes the roles of organizations; empty: it assumes none.
	AWSPrincipal string
	// Targets keeps the running applications of projects.
	Targets targets.Targets
	// Owners verifies the ownership of the hosts of targets.
	Owners targets.Owners
	// Images finds public images in registries, and Search searches Docker Hub.
	Images registries.Images
	Search registries.ImageSearch
}

// A Version says which program responds.
type Version struct {
	// Always the name of the program, "merlon".
	Service string `json:"service"`
	Version string `json:"version"`
	// The Git commit of the build.
	Commit      string `json:"commit"`
	Environment string `json:"environment" enum:"development,staging,production"`
	// The name of the region.
	DeploymentEnv string `json:"deploymentEnv"`
}

// The types of the configuration that callers of New name.
type (
	Region   = endpoint.Region
	Quotas   = endpoint.Quotas
	Requests = endpoint.Requests
)

// Tenancy is what the API needs of the store for organizations and all that is
// in them.
type Tenancy interface {
	organizations.Organizations
	organizations.Invitations
	organizations.Members
	organizations.Teams
	organizations.TeamMembers
	projects.Projects
	organizations.ProjectMembers
	organizations.Roles
	accounts.Accounts
	organizations.AuditLog
}

// An API serves the requests of one deployment.
type API struct {
	Config
	// server registers the routes and enforces their rules.
	server *endpoint.Server
	// router finds the route of a path and method.
	router chi.Router
	// table has every route, in the order of its registration.
	table []endpoint.Route

	accounts      *accounts.Handlers
	organizations *organizations.Handlers
	projects      *projects.Handlers
	findings      *findings.Handlers
	registries    *registries.Handlers
	scans         *scans.Handlers
	targets       *targets.Handlers
}

// New returns the API with every route registered.
func New(c Config) *API {
	setProblems()
	a := &API{Config: c, router: chi.NewRouter()}
	a.router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		endpoint.WriteProblem(w, r, http.StatusNotFound, "route not found")
	})
	// Both responses of the router are problems as well: clients parse every failure as JSON.
	a.router.MethodNotAllowed(a.methodNotAllowed)
	a.router.Use(middleware.GetHead) // a HEAD request is handled as its GET, and the server drops the body
	a.server = &endpoint.Server{
		Huma: humachi.New(a.router, humaConfig(c)), Region: c.Region, PeerRegions: c.PeerRegions, Now: c.Now,
		Log:          c.Log,
		Authenticate: c.Authenticate, Refused: c.Refused, Missed: c.Missed, Allow: c.Allow, Scopes: c.Scopes,
		Requests: c.Requests, Box: c.Box,
	}
	// The handlers come before the table, which refers to their methods.
	a.makeHandlers()
	a.server.DescribeProblem()
	a.table = a.allRoutes()
	for _, r := range a.table {
		a.server.Handle(r)
	}
	return a
}

// makeHandlers gives the handlers of each resource the parts of the configuration that
// they need.
func (a *API) makeHandlers() {
	c, s := a.Config, a.server
	covered := &scancoverage.Reader{Stats: c.Stats, Numbers: c.Numbers}
	a.accounts = &accounts.Handlers{Server: s, Users: c.Users, Tokens: c.Tokens, Tenancy: c.Tenancy}
	a.organizations = &organizations.Handlers{Server: s, Tenancy: c.Tenancy, Stats: c.Stats, Quotas: c.Quotas,
		Post: c.Post}
	a.projects = &projects.Handlers{Server: s, Reader: covered, Tenancy: c.Tenancy, Analyses: c.Analyses}
	a.findings = &findings.Handlers{Server: s, Reader: covered, Results: c.Results, Numbers: c.Numbers,
		Overviews: c.Overviews, Remedies: c.Remedies, Version: c.Version.Version}
	a.registries = &registries.Handlers{Server: s, Tenancy: c.Tenancy, Credentials: c.Credentials,
		Catalog: c.Catalog, Scans: c.Scans, Images: c.Images, Search: c.Search, AWSPrincipal: c.AWSPrincipal}
	a.targets = &targets.Handlers{Server: s, Targets: c.Targets, Owners: c.Owners}
	a.scans = &scans.Handlers{Server: s, Targets: a.targets, Scans: c.Scans, Results: c.Results}
}

// humaConfig turns off what the contract forbids: refused unknown fields, $schema
// members, nullable arrays, a documentation page that loads scripts from afar.
func humaConfig(c Config) huma.Config {
	cfg := huma.DefaultConfig("Merlon", c.Version.Version)
	cfg.Info.Description = "Application security platform: users, organizations, teams, projects, scans and findings."
	// Newer clients send members that this version does not know.
	cfg.AllowAdditionalPropertiesByDefault = true
	// The default hook adds a $schema member to every response.
	cfg.CreateHooks = nil
	// The same format for both names: "json" is what the library uses for types such as
	// application/vnd.oai+json.
	json := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: endpoint.Unmarshal}
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
	// The escaped path, if there is one: the router matches it, so that %2F in an image name
	// does not split a segment.
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
	endpoint.WriteProblem(w, r, http.StatusMethodNotAllowed, "method "+r.Method+" not allowed; allowed: "+
		strings.Join(allowed, ", "))
}

// Handler returns the handler of every API address. Requests pass the middleware from the
// last one to the first: the path is cleaned, the query is brought to its canonical form,
// the request is remembered for problem bodies. On the way back the response gets its entity
// tag before it is compressed: one weak tag is valid for every content coding.
func (a *API) Handler() http.Handler {
	var h http.Handler = a.router
	h = tagResponses(h)
	h = compressResponses(h)
	h = endpoint.Remember(h)
	h = endpoint.CanonicalQuery(h)
	h = cleanPath(h)
	return h
}

// OpenAPI returns the OpenAPI 3.1 document of the API as JSON.
func (a *API) OpenAPI() ([]byte, error) { return a.server.Huma.OpenAPI().MarshalJSON() }

// cleanPath removes doubled slashes, which a client makes when its API address
// ends with one.
func cleanPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "//") {
			r = r.Clone(r.Context())
			// Repeated, because one pass leaves two of three slashes.
			for strings.Contains(r.URL.Path, "//") {
				r.URL.Path = strings.ReplaceAll(r.URL.Path, "//", "/")
				r.URL.RawPath = strings.ReplaceAll(r.URL.RawPath, "//", "/")
			}
		}
		next.ServeHTTP(w, r)
	})
}

// setProblems makes the HTTP library report its own failures in the contract's
// shape. The library keeps this in package variables, so it is done once.
var setProblems = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, message string, causes ...error) huma.StatusError {
		return endpoint.NewProblem(status, message, causes)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, causes ...error) huma.StatusError {
		p := endpoint.NewProblem(status, message, causes)
		u := ctx.URL()
		p.Path, p.Method, p.Instance = u.Path, ctx.Method(), u.Path
		return p
	}
})

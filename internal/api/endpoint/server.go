package endpoint

import (
	"context"
	"log/slog"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/identity"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

// Scopes decides what an actor may do with a target: a NotFound error when the
// actor may not see it, or when its parts do not belong together.
type Scopes interface {
	Scope(ctx context.Context, actor tenant.Actor, target tenant.Target) (tenant.Scope, error)
}

// A Server registers routes, enforces their permission rules and writes problem
// responses. Its fields are those of the configuration of the API.
type Server struct {
	Huma        huma.API
	Region      Region
	PeerRegions []Region
	Now         func() time.Time
	Log         *slog.Logger

	Authenticate func(ctx context.Context, token string) (tenant.Actor, error)
	Refused      func(chain tenant.OrganizationID, by tenant.Actor, operation string, status int)
	Missed       func(by tenant.Actor, operation string, target tenant.Target)
	Allow        func(ctx context.Context, by tenant.Actor, hits ...identity.Hit) error
	Scopes       Scopes
	Requests     Requests
	Box          *seal.Box
}

// Handle registers a route, with its description in the document.
func (a *Server) Handle(r Route) {
	r.Validate()
	r.Register(a, r)
	a.DescribeStream(r)
}

// A Region is a deployment of the service, with its addresses without a slash at
// the end.
type Region struct {
	Name    string
	BaseURL string
	AuthURL string
}

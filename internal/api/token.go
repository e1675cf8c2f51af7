package api

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// Tokens is the part of the identity service that keeps personal access tokens.
type Tokens interface {
	CreateToken(ctx context.Context, by tenant.Actor, n identity.NewToken) (identity.Token, string, error)
	Tokens(ctx context.Context, by tenant.Actor, owner tenant.UserID) ([]identity.Token, error)
	RenameToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, from, to string) error
	DeleteToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, name string) error
}

// token is a personal access token on the wire, which counts milliseconds since
// 1970 here.
type token struct {
	ID         identity.TokenID `json:"id" format:"uuid"`
	Name       string           `json:"name"`
	CreatedAt  int64            `json:"createdAt" doc:"Milliseconds since 1970."`
	ExpiresAt  *int64           `json:"expiresAt" nullable:"true" doc:"Milliseconds since 1970; null for never."`
	LastUsedAt *int64           `json:"lastUsedAt" nullable:"true" doc:"Milliseconds since 1970, exact to a minute; null for never."`
	tokenReach
}

// tokenReach says what a token lets through.
type tokenReach struct {
	Scopes        []string                `json:"scopes" doc:"What the token may be used for: read, scan, triage, administer."`
	Organizations []tenant.OrganizationID `json:"organizationIds" doc:"The only organizations that the token reaches; empty for all of its owner's."`
	Projects      []tenant.ProjectID      `json:"projectIds" doc:"The only projects that the token reaches; empty for all of these organizations."`
}

func reachOf(t identity.Token) tokenReach {
	return tokenReach{Scopes: t.Scopes.Names(), Organizations: append([]tenant.OrganizationID{}, t.Organizations...),
		Projects: append([]tenant.ProjectID{}, t.Projects...)}
}

// askedReach is what a new token is to let through.
type askedReach struct {
	Scopes        []string `json:"scopes,omitempty" maxItems:"4" doc:"What the token may be used for: read, scan, triage, administer. The last three include read. Default: all that the access token of the request has."`
	Organizations []string `json:"organizationIds,omitempty" maxItems:"50" doc:"The only organizations that the token reaches. Default: all."`
	Projects      []string `json:"projectIds,omitempty" maxItems:"100" doc:"The only projects that the token reaches, in these organizations. Default: all of them."`
}

// into checks what is asked for and writes it into a new token. A project brings
// its organization, unless organizations are named.
func (r askedReach) into(ctx context.Context, a *API, actor tenant.Actor, n *identity.NewToken) error {
	var err error
	if n.Scopes, err = tenant.ParseTokenScopes(r.Scopes); err != nil {
		return invalid("body.scopes", "may hold read, scan, triage and administer")
	}
	for i, id := range r.Organizations {
		sc, err := a.visible(ctx, actor, fmt.Sprintf("body.organizationIds[%d]", i), id, func(id string) tenant.Target {
			return tenant.Target{Organization: tenant.OrganizationID(id)}
		})
		if err != nil {
			return err
		}
		n.Organizations = add(n.Organizations, sc.Organization)
	}
	named := len(n.Organizations) > 0
	for i, id := range r.Projects {
		at := fmt.Sprintf("body.projectIds[%d]", i)
		sc, err := a.visible(ctx, actor, at, id, func(id string) tenant.Target {
			return tenant.Target{Project: tenant.ProjectID(id)}
		})
		if err != nil {
			return err
		}
		if named && !slices.Contains(n.Organizations, sc.Organization) {
			return invalid(at, "belongs to an organization that organizationIds does not name")
		}
		n.Organizations, n.Projects = add(n.Organizations, sc.Organization), add(n.Projects, sc.Project)
	}
	return nil
}

// visible returns the caller's scope at something that a body names, or an Invalid
// error.
func (a *API) visible(ctx context.Context, actor tenant.Actor, at, id string,
	target func(id string) tenant.Target) (tenant.Scope, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return tenant.Scope{}, invalid(at, "is not a UUID")
	}
	sc, err := a.Scopes.Scope(ctx, actor, target(parsed.String()))
	if errs.Is(err, errs.NotFound) {
		err = invalid(at, "names nothing that you may see")
	}
	return sc, err
}

// add appends a value that is not in the list yet.
func add[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

func wireToken(t identity.Token) token {
	return token{
		ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt.UnixMilli(),
		ExpiresAt: milliseconds(t.ExpiresAt), LastUsedAt: milliseconds(t.LastUsedAt), tokenReach: reachOf(t),
	}
}

func milliseconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

type tokensAnswer struct{ Body []token }

func (a *API) listTokens(ctx context.Context, sc tenant.Scope, _ *struct{}) (*tokensAnswer, error) {
	list, err := a.Tokens.Tokens(ctx, sc.Actor, sc.Actor.UserID)
	if err != nil {
		return nil, err
	}
	out := &tokensAnswer{Body: []token{}}
	for _, t := range list {
		out.Body = append(out.Body, wireToken(t))
	}
	return out, nil
}

type createTokenInput struct {
	Body struct {
		Name      string   `json:"name" doc:"At most 100 characters, not used by another of your tokens."`
		ExpiresAt *float64 `json:"expiresAt,omitempty" nullable:"true" doc:"Milliseconds since 1970; null for never, or as late as your organizations and the token of the request allow."`
		askedReach
	}
}

type newTokenAnswer struct {
	Body struct {
		token
		Value string `json:"value" doc:"The token itself. It is shown only here."`
	}
}

// lastMillisecond bounds a time on the wire: the year 9999 ends then.
const lastMillisecond = 253402300799999

func (a *API) createToken(ctx context.Context, sc tenant.Scope, in *createTokenInput) (*newTokenAnswer, error) {
	n := identity.NewToken{Owner: sc.Actor.UserID, Name: in.Body.Name}
	if ms := in.Body.ExpiresAt; ms != nil {
		if !(*ms > 0 && *ms <= lastMillisecond) {
			return nil, &errs.Error{
				Kind: errs.Invalid, Message: "expiresAt is no time in milliseconds since 1970",
				Details: []errs.Detail{{Location: "body.expiresAt", Message: "expected milliseconds since 1970"}},
			}
		}
		n.ExpiresAt = time.UnixMilli(int64(math.Floor(*ms)))
	}
	if err := in.Body.into(ctx, a, sc.Actor, &n); err != nil {
		return nil, err
	}
	t, value, err := a.Tokens.CreateToken(ctx, sc.Actor, n)
	if err != nil {
		return nil, err
	}
	out := &newTokenAnswer{}
	out.Body.token, out.Body.Value = wireToken(t), value
	return out, nil
}

type deleteTokenInput struct {
	Body struct {
		Name string `json:"name"`
	}
}

func (a *API) deleteToken(ctx context.Context, sc tenant.Scope, in *deleteTokenInput) (*messageAnswer, error) {
	if err := a.Tokens.DeleteToken(ctx, sc.Actor, sc.Actor.UserID, in.Body.Name); err != nil {
		return nil, err
	}
	return said("the token is deleted"), nil
}

type renameTokenInput struct {
	Body struct {
		CurrentName string `json:"currentName"`
		Name        string `json:"name"`
	}
}

func (a *API) renameToken(ctx context.Context, sc tenant.Scope, in *renameTokenInput) (*messageAnswer, error) {
	if err := a.Tokens.RenameToken(ctx, sc.Actor, sc.Actor.UserID, in.Body.CurrentName, in.Body.Name); err != nil {
		return nil, err
	}
	return said("the token is renamed"), nil
}

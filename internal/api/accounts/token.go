package accounts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"merlon/internal/api/endpoint"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// Tokens is the part of the identity service that keeps personal access tokens.
type Tokens interface {
	// CreateToken returns the token and its value, which is not stored.
	CreateToken(ctx context.Context, by tenant.Actor, n identity.NewToken) (identity.Token, string, error)
	// Tokens lists the tokens of an owner that the actor's own token could have made.
	Tokens(ctx context.Context, by tenant.Actor, owner tenant.UserID) ([]identity.Token, error)
	RenameToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, from, to string) error
	DeleteToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, name string) error
}

// token is a personal access token on the wire, which counts milliseconds since
// 1970 here.
type token struct {
	ID         identity.TokenID `json:"id" format:"uuid"`
	Name       string           `json:"name"`
	CreatedAt  int64            `json:"createdAt" doc:"Unix time in milliseconds."`
	ExpiresAt  *int64           `json:"expiresAt" nullable:"true" doc:"Unix time in milliseconds; null if it never expires."`
	LastUsedAt *int64           `json:"lastUsedAt" nullable:"true" doc:"Unix time in milliseconds, precise to the minute; null if never used."`
	tokenReach
}

// tokenReach says what a token lets through.
type tokenReach struct {
	Scopes        []string                `json:"scopes" doc:"Scopes of the token: read, scan, triage, administer."`
	Organizations []tenant.OrganizationID `json:"organizationIds" doc:"Organizations that the token is restricted to; empty for all organizations of its owner."`
	Projects      []tenant.ProjectID      `json:"projectIds" doc:"Projects that the token is restricted to; empty for all projects of these organizations."`
}

// tokenReachOf returns the scopes and restrictions of a token. Lists are never null on the wire.
func tokenReachOf(t identity.Token) tokenReach {
	return tokenReach{Scopes: t.Scopes.Names(), Organizations: append([]tenant.OrganizationID{}, t.Organizations...),
		Projects: append([]tenant.ProjectID{}, t.Projects...)}
}

// askedReach is what a new token is to let through.
type askedReach struct {
	Scopes        []string `json:"scopes,omitempty" maxItems:"4" doc:"Scopes of the token: read, scan, triage, administer. The last three include read. Default: the scopes of the request's access token."`
	Organizations []string `json:"organizationIds,omitempty" maxItems:"50" doc:"Organizations that the token is restricted to. Default: all."`
	Projects      []string `json:"projectIds,omitempty" maxItems:"100" doc:"Projects of these organizations that the token is restricted to. Default: all."`
}

// applyTo checks what is asked for and writes it into a new token. A project brings
// its organization, unless organizations are named.
func (r askedReach) applyTo(ctx context.Context, a *Handlers, actor tenant.Actor, n *identity.NewToken) error {
	var err error
	if n.Scopes, err = tenant.ParseTokenScopes(r.Scopes); err != nil {
		return endpoint.Invalid("body.scopes", "must contain only read, scan, triage and administer")
	}
	for i, id := range r.Organizations {
		sc, err := a.findScope(ctx, actor, fmt.Sprintf("body.organizationIds[%d]", i), id,
			func(id string) tenant.Target {
				return tenant.Target{Organization: tenant.OrganizationID(id)}
			})
		if err != nil {
			return err
		}
		n.Organizations = appendUnique(n.Organizations, sc.Organization)
	}
	// Without organizations, each project adds its own.
	named := len(n.Organizations) > 0
	for i, id := range r.Projects {
		at := fmt.Sprintf("body.projectIds[%d]", i)
		sc, err := a.findScope(ctx, actor, at, id, func(id string) tenant.Target {
			return tenant.Target{Project: tenant.ProjectID(id)}
		})
		if err != nil {
			return err
		}
		if named && !slices.Contains(n.Organizations, sc.Organization) {
			return endpoint.Invalid(at, "belongs to an organization that is not in organizationIds")
		}
		n.Organizations, n.Projects = appendUnique(n.Organizations, sc.Organization),
			appendUnique(n.Projects, sc.Project)
	}
	return nil
}

// findScope returns the caller's scope at something that a body names, or an Invalid
// error.
func (a *Handlers) findScope(ctx context.Context, actor tenant.Actor, at, id string,
	target func(id string) tenant.Target) (tenant.Scope, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return tenant.Scope{}, endpoint.Invalid(at, "must be a UUID")
	}
	sc, err := a.Scopes.Scope(ctx, actor, target(parsed.String()))
	// The address of the request exists; what its body names does not.
	if errs.Is(err, errs.NotFound) {
		err = endpoint.Invalid(at, "not found")
	}
	return sc, err
}

// appendUnique appends a value that is not in the list yet.
func appendUnique[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// wireToken returns the token with its times in milliseconds, as this resource writes them.
func wireToken(t identity.Token) token {
	return token{
		ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt.UnixMilli(),
		ExpiresAt: unixMillis(t.ExpiresAt), LastUsedAt: unixMillis(t.LastUsedAt), tokenReach: tokenReachOf(t),
	}
}

// unixMillis returns the time in milliseconds since 1970, or null for the zero time.
func unixMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// tokensOutput is a bare list: the contract has no envelope here.
type tokensOutput struct{ Body []token }

// ListTokens lists the personal access tokens of the caller, without their values.
func (a *Handlers) ListTokens(ctx context.Context, sc tenant.Scope, _ *struct{}) (*tokensOutput, error) {
	list, err := a.Tokens.Tokens(ctx, sc.Actor, sc.Actor.UserID)
	if err != nil {
		return nil, err
	}
	out := &tokensOutput{Body: []token{}}
	for _, t := range list {
		out.Body = append(out.Body, wireToken(t))
	}
	return out, nil
}

// createTokenInput is a new token. Its expiry is a float, because clients compute it in JavaScript.
type createTokenInput struct {
	Body struct {
		Name      string   `json:"name" doc:"Name, at most 100 characters, unique among your tokens."`
		ExpiresAt *float64 `json:"expiresAt,omitempty" nullable:"true" doc:"Unix time in milliseconds; null for no expiry, or for the latest time that your organizations and the request's token allow."`
		askedReach
	}
}

// createTokenOutput is the only response that has the value of the token.
type createTokenOutput struct {
	Body struct {
		token
		Value string `json:"value" doc:"Token value. Only in this response."`
	}
}

// lastMillisecond bounds a time on the wire: the year 9999 ends then. Later times cannot be
// written in RFC 3339.
const lastMillisecond = 253402300799999

// CreateToken creates a personal access token of the caller. The value is in this response
// alone: only its hash is stored.
func (a *Handlers) CreateToken(ctx context.Context, sc tenant.Scope, in *createTokenInput) (*createTokenOutput, error) {
	n := identity.NewToken{Owner: sc.Actor.UserID, Name: in.Body.Name}
	if ms := in.Body.ExpiresAt; ms != nil {
		// Written so that NaN is refused as well.
		if !(*ms > 0 && *ms <= lastMillisecond) {
			return nil, &errs.Error{
				Kind: errs.Invalid, Message: "invalid expiresAt: must be a Unix time in milliseconds",
				Details: []errs.Detail{{Location: "body.expiresAt", Message: "must be a Unix time in milliseconds"}},
			}
		}
		n.ExpiresAt = time.UnixMilli(int64(math.Floor(*ms)))
	}
	if err := in.Body.applyTo(ctx, a, sc.Actor, &n); err != nil {
		return nil, err
	}
	t, value, err := a.Tokens.CreateToken(ctx, sc.Actor, n)
	if err != nil {
		return nil, err
	}
	out := &createTokenOutput{}
	out.Body.token, out.Body.Value = wireToken(t), value
	return out, nil
}

// deleteTokenInput names the token: clients of the contract know no other identifier.
type deleteTokenInput struct {
	Body struct {
		Name string `json:"name"`
	}
}

// DeleteToken revokes a personal access token of the caller by its name.
func (a *Handlers) DeleteToken(ctx context.Context, sc tenant.Scope,
	in *deleteTokenInput) (*endpoint.MessageOutput, error) {
	if err := a.Tokens.DeleteToken(ctx, sc.Actor, sc.Actor.UserID, in.Body.Name); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Token deleted"), nil
}

// renameTokenInput has the present and the new name.
type renameTokenInput struct {
	Body struct {
		CurrentName string `json:"currentName"`
		Name        string `json:"name"`
	}
}

// RenameToken renames a personal access token of the caller.
func (a *Handlers) RenameToken(ctx context.Context, sc tenant.Scope,
	in *renameTokenInput) (*endpoint.MessageOutput, error) {
	if err := a.Tokens.RenameToken(ctx, sc.Actor, sc.Actor.UserID, in.Body.CurrentName, in.Body.Name); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Token renamed"), nil
}

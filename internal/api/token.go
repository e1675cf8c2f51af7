package api

import (
	"context"
	"math"
	"time"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// Tokens is the part of the identity service that keeps personal access tokens.
type Tokens interface {
	CreateToken(ctx context.Context, by tenant.Actor, n identity.NewToken) (identity.Token, string, error)
	Tokens(ctx context.Context, owner tenant.UserID) ([]identity.Token, error)
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
}

func wireToken(t identity.Token) token {
	return token{
		ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt.UnixMilli(),
		ExpiresAt: milliseconds(t.ExpiresAt), LastUsedAt: milliseconds(t.LastUsedAt),
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
	list, err := a.Tokens.Tokens(ctx, sc.Actor.UserID)
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
		ExpiresAt *float64 `json:"expiresAt,omitempty" nullable:"true" doc:"Milliseconds since 1970; null for never."`
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

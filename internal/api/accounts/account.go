package accounts

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// Accounts is what the API needs of the store for service accounts.
type Accounts interface {
	ServiceAccounts(ctx context.Context, sc tenant.Scope) ([]tenant.Member, error)
	CreateServiceAccount(ctx context.Context, sc tenant.Scope, name string, role tenant.RoleID) (tenant.Member, error)
	DeleteServiceAccount(ctx context.Context, sc tenant.Scope, id tenant.UserID) error
	// ServiceAccount returns an account that the caller may act for.
	ServiceAccount(ctx context.Context, sc tenant.Scope, id tenant.UserID) (tenant.Member, error)
	AppendAudit(ctx context.Context, events []audit.Event) error
}

// accountBody is a service account as responses show it.
type accountBody struct {
	ID        tenant.UserID `json:"id" format:"uuid" doc:"User ID of the service account. Use it to add the account to teams and projects."`
	Name      string        `json:"name"`
	Role      tenant.RoleID `json:"role"`
	CreatedAt time.Time     `json:"createdAt"`
}

// showAccount returns the account as responses show it.
func showAccount(m tenant.Member) accountBody {
	return accountBody{ID: m.UserID, Name: m.FirstName, Role: m.Role, CreatedAt: m.CreatedAt}
}

// accountsOutput has all service accounts of an organization.
type accountsOutput struct {
	Body struct {
		ServiceAccounts []accountBody `json:"serviceAccounts"`
	}
}

// ListAccounts lists the service accounts of an organization.
func (a *Handlers) ListAccounts(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*accountsOutput, error) {
	list, err := a.Tenancy.ServiceAccounts(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &accountsOutput{}
	out.Body.ServiceAccounts = endpoint.Convert(list, showAccount)
	return out, nil
}

// accountOutput is one service account.
type accountOutput struct{ Body accountBody }

// createAccountInput names the account and its role in the organization.
type createAccountInput struct {
	endpoint.OrganizationInput
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100"`
		Role string `json:"role" minLength:"1" maxLength:"100" doc:"Role of the service account in the organization."`
	}
}

// CreateAccount creates a service account with a role in the organization. It has no token yet.
func (a *Handlers) CreateAccount(ctx context.Context, sc tenant.Scope, in *createAccountInput) (*accountOutput, error) {
	name, err := endpoint.ParseLabel("body.name", in.Body.Name)
	if err != nil {
		return nil, err
	}
	m, err := a.Tenancy.CreateServiceAccount(ctx, sc, name, endpoint.ParseRoleID(in.Body.Role))
	if err != nil {
		return nil, err
	}
	return &accountOutput{Body: showAccount(m)}, nil
}

// An AccountInput names a service account of an organization.
type AccountInput struct {
	endpoint.OrganizationInput
	AccountID string `path:"accountId" format:"uuid"`
}

// DeleteAccount deletes a service account and revokes its tokens.
func (a *Handlers) DeleteAccount(ctx context.Context, sc tenant.Scope,
	in *AccountInput) (*endpoint.MessageOutput, error) {
	if err := a.Tenancy.DeleteServiceAccount(ctx, sc, endpoint.ParseUserID(in.AccountID)); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Service account deleted"), nil
}

// accountTokenBody is a token of a service account. The value is in the response
// that creates it and nowhere else.
type accountTokenBody struct {
	ID         identity.TokenID `json:"id"`
	Name       string           `json:"name"`
	Value      string           `json:"value,omitempty" doc:"Token value. Only in the response that creates the token."`
	CreatedAt  time.Time        `json:"createdAt"`
	ExpiresAt  *time.Time       `json:"expiresAt" doc:"null if it never expires."`
	LastUsedAt *time.Time       `json:"lastUsedAt" doc:"null if never used; precise to the minute."`
	tokenReach
}

// showAccountToken returns the token without its value, which is stored as a hash only.
func showAccountToken(t identity.Token) accountTokenBody {
	return accountTokenBody{ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt, ExpiresAt: orNull(t.ExpiresAt),
		LastUsedAt: orNull(t.LastUsedAt), tokenReach: tokenReachOf(t)}
}

// orNull returns nil for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// accountTokenOutput is one token.
type accountTokenOutput struct{ Body accountTokenBody }

// createAccountTokenInput is what the new token is restricted to. Without restrictions it gets those
// of the token that the request has.
type createAccountTokenInput struct {
	AccountInput
	Body struct {
		Name      string     `json:"name" minLength:"1" maxLength:"100"`
		ExpiresAt *time.Time `json:"expiresAt,omitempty" nullable:"true" doc:"null for no expiry, or for the latest time that the organization and the request's token allow."`
		askedReach
	}
}

// CreateAccountToken creates a token of a service account. Its scopes and restrictions never
// exceed those of the caller's own token: otherwise a token could create a stronger one.
func (a *Handlers) CreateAccountToken(ctx context.Context, sc tenant.Scope,
	in *createAccountTokenInput) (*accountTokenOutput, error) {
	m, err := a.Tenancy.ServiceAccount(ctx, sc, endpoint.ParseUserID(in.AccountID))
	if err != nil {
		return nil, err
	}
	n := identity.NewToken{Owner: m.UserID, Name: in.Body.Name}
	if in.Body.ExpiresAt != nil {
		n.ExpiresAt = *in.Body.ExpiresAt
	}
	if err := in.Body.applyTo(ctx, a, sc.Actor, &n); err != nil {
		return nil, err
	}
	t, value, err := a.Tokens.CreateToken(ctx, sc.Actor, n)
	if err != nil {
		return nil, err
	}
	if err := a.tokenEvent(ctx, sc, m, "create_token", t.Name); err != nil {
		return nil, err
	}
	out := &accountTokenOutput{Body: showAccountToken(t)}
	out.Body.Value = value
	return out, nil
}

// tokenEvent records in the organization's log what the deployment's log has
// already: the organization's administrators cannot read that one.
func (a *Handlers) tokenEvent(ctx context.Context, sc tenant.Scope, m tenant.Member, verb, token string) error {
	return a.Tenancy.AppendAudit(ctx, []audit.Event{audit.Event{
		Chain: sc.Organization, Action: "service_account." + verb, TargetKind: "service_account",
		Target: string(m.UserID),
		Detail: map[string]any{"name": m.FirstName, "token": token},
	}.By(sc.Actor)})
}

// accountTokensOutput has the tokens of a service account.
type accountTokensOutput struct {
	Body struct {
		Tokens []accountTokenBody `json:"tokens"`
	}
}

// ListAccountTokens lists the tokens of a service account, without their values.
func (a *Handlers) ListAccountTokens(ctx context.Context, sc tenant.Scope,
	in *AccountInput) (*accountTokensOutput, error) {
	m, err := a.Tenancy.ServiceAccount(ctx, sc, endpoint.ParseUserID(in.AccountID))
	if err != nil {
		return nil, err
	}
	list, err := a.Tokens.Tokens(ctx, sc.Actor, m.UserID)
	if err != nil {
		return nil, err
	}
	out := &accountTokensOutput{}
	out.Body.Tokens = endpoint.Convert(list, showAccountToken)
	return out, nil
}

// deleteAccountTokenInput names a token of a service account by its ID.
type deleteAccountTokenInput struct {
	AccountInput
	TokenID string `path:"tokenId" format:"uuid"`
}

// DeleteAccountToken revokes one token of a service account.
func (a *Handlers) DeleteAccountToken(ctx context.Context, sc tenant.Scope,
	in *deleteAccountTokenInput) (*endpoint.MessageOutput, error) {
	m, err := a.Tenancy.ServiceAccount(ctx, sc, endpoint.ParseUserID(in.AccountID))
	if err != nil {
		return nil, err
	}
	list, err := a.Tokens.Tokens(ctx, sc.Actor, m.UserID)
	if err != nil {
		return nil, err
	}
	id, err := tenant.ParseID("tokenId", in.TokenID)
	if err != nil {
		return nil, err
	}
	// The identity service knows tokens by owner and name: find the name of the ID.
	for _, t := range list {
		if string(t.ID) != id {
			continue
		}
		if err := a.Tokens.DeleteToken(ctx, sc.Actor, m.UserID, t.Name); err != nil {
			return nil, err
		}
		return endpoint.NewMessage("Token deleted"), a.tokenEvent(ctx, sc, m, "delete_token", t.Name)
	}
	return nil, errs.E(errs.NotFound, "token not found")
}

package organizations

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/tenant"
)

// Invitations is what the API needs of the store for invitations.
type Invitations interface {
	// Invite stores the invitation and queues the mail that letter writes of it.
	Invite(ctx context.Context, sc tenant.Scope, i tenant.Invitation, token string,
		letter func(tenant.Invitation) (mail.Queued, error)) (tenant.Invitation, error)
	// Invitations lists a page of invitations, newest first.
	Invitations(ctx context.Context, sc tenant.Scope, page, size int) ([]tenant.Invitation, error)
	// CancelInvitation ends a pending invitation.
	CancelInvitation(ctx context.Context, sc tenant.Scope, id string) (tenant.Invitation, error)
	// AcceptInvitation needs no scope: the caller is not a member yet.
	AcceptInvitation(ctx context.Context, actor tenant.Actor, token string) (tenant.Invitation, error)
}

// invitationBody is an invitation as responses show it. The token is in the
// response that creates it and nowhere else: only its hash is stored.
type invitationBody struct {
	ID               string                  `json:"id" format:"uuid"`
	Token            string                  `json:"token" doc:"Token that accepts the invitation. Only in the response that creates it."`
	Email            string                  `json:"email" format:"email"`
	Status           tenant.InvitationStatus `json:"status" enum:"pending,accepted,cancelled,expired"`
	OrganizationID   tenant.OrganizationID   `json:"organizationId" format:"uuid"`
	OrganizationName string                  `json:"organizationName"`
	OrganizationRole tenant.RoleID           `json:"organizationRole"`
	ExpiresAt        time.Time               `json:"expiresAt"`
}

// showInvitation returns the invitation without its token.
func showInvitation(i tenant.Invitation) invitationBody {
	return invitationBody{
		ID: i.ID, Email: i.Email, Status: i.Status, OrganizationID: i.OrganizationID,
		OrganizationName: i.OrganizationName, OrganizationRole: i.Role, ExpiresAt: i.ExpiresAt,
	}
}

// invitationOutput is one invitation.
type invitationOutput struct{ Body invitationBody }

// inviteInput is an e-mail address and the roles that its owner gets on accepting.
type inviteInput struct {
	endpoint.OrganizationInput
	Body struct {
		Email           string `json:"email" maxLength:"320"`
		Role            string `json:"role" minLength:"1" maxLength:"100" doc:"Name of a built-in role, or ID of a custom role."`
		TeamAssignments []struct {
			TeamID string `json:"teamId" format:"uuid"`
			Role   string `json:"role" minLength:"1" maxLength:"100"`
		} `json:"teamAssignments,omitempty" maxItems:"50"`
	}
}

// Invite creates an invitation and queues its mail. The quotas are counted first: an invitation
// sends mail to an address that the caller chooses.
func (a *Handlers) Invite(ctx context.Context, sc tenant.Scope, in *inviteInput) (*invitationOutput, error) {
	email, err := identity.NormalizeEmail(in.Body.Email)
	if err != nil {
		return nil, err
	}
	i := tenant.Invitation{Email: email, Role: endpoint.ParseRoleID(in.Body.Role)}
	for _, t := range in.Body.TeamAssignments {
		id, err := tenant.ParseID("teamId", t.TeamID)
		if err != nil {
			return nil, err
		}
		i.Teams = append(i.Teams, tenant.TeamAssignment{TeamID: tenant.TeamID(id), Role: endpoint.ParseRoleID(t.Role)})
	}
	if err := a.CountQuotas(ctx, sc.Actor,
		endpoint.Quota{Name: "invitation-user", Key: string(sc.Actor.UserID), Most: a.Quotas.UserInvitations},
		endpoint.Quota{Name: "invitation-organization", Key: string(sc.Organization),
			Most: a.Quotas.OrganizationInvitations},
		endpoint.Quota{Name: "invitation-address", Key: email, Most: a.Quotas.AddressInvitations},
		endpoint.Quota{Name: identity.MailRecipient, Key: email, Most: a.Quotas.AddressMails},
	); err != nil {
		return nil, err
	}
	// The token is in the mail and in the response; the store gets its hash.
	token := newToken()
	i, err = a.Tenancy.Invite(ctx, sc, i, token, func(i tenant.Invitation) (mail.Queued, error) {
		return a.Post.Queue(mail.Invitation(mail.Invite{
			To: i.Email, Organization: i.OrganizationName, Token: token, Expires: i.ExpiresAt,
		}))
	})
	if err != nil {
		return nil, err
	}
	out := &invitationOutput{Body: showInvitation(i)}
	out.Body.Token = token
	return out, nil
}

// newToken returns 256 random bits as text that an address can hold.
func newToken() string {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("api: read random bytes: " + err.Error()) // crypto/rand never fails on a supported system
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// listInvitationsInput selects a page of invitations.
type listInvitationsInput struct {
	endpoint.OrganizationInput
	endpoint.DemandedPage
}

// invitationsOutput is a page of invitations, without their tokens.
type invitationsOutput struct {
	Body struct {
		OrganizationID tenant.OrganizationID `json:"organizationId" format:"uuid"`
		Invitations    []invitationBody      `json:"invitations"`
	}
}

// ListInvitations lists the invitations of an organization, newest first.
func (a *Handlers) ListInvitations(ctx context.Context, sc tenant.Scope,
	in *listInvitationsInput) (*invitationsOutput, error) {
	list, err := a.Tenancy.Invitations(ctx, sc, in.Page, in.PageSize)
	if err != nil {
		return nil, err
	}
	out := &invitationsOutput{}
	out.Body.OrganizationID, out.Body.Invitations = sc.Organization, endpoint.Convert(list, showInvitation)
	return out, nil
}

// cancelInvitationInput names an invitation.
type cancelInvitationInput struct {
	endpoint.OrganizationInput
	InvitationID string `path:"invitationId" format:"uuid"`
}

// CancelInvitation cancels a pending invitation: its token is no longer accepted.
func (a *Handlers) CancelInvitation(ctx context.Context, sc tenant.Scope,
	in *cancelInvitationInput) (*invitationOutput, error) {
	id, err := tenant.ParseID("invitationId", in.InvitationID)
	if err != nil {
		return nil, err
	}
	i, err := a.Tenancy.CancelInvitation(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	return &invitationOutput{Body: showInvitation(i)}, nil
}

// acceptInvitationInput has the token from the mail.
type acceptInvitationInput struct {
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"200"`
	}
}

// AcceptInvitation makes the caller a member of the organization that the token invites to. The
// invitation must be addressed to the caller's verified e-mail address.
func (a *Handlers) AcceptInvitation(ctx context.Context, sc tenant.Scope,
	in *acceptInvitationInput) (*invitationOutput, error) {
	i, err := a.Tenancy.AcceptInvitation(ctx, sc.Actor, in.Body.Token)
	if err != nil {
		return nil, err
	}
	return &invitationOutput{Body: showInvitation(i)}, nil
}

// connectorBody is a way to sign in that an organization set up.
type connectorBody struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// listConnectorsInput is the address that somebody has entered on the sign-in page.
type listConnectorsInput struct {
	Email string `query:"email" required:"true" minLength:"3" maxLength:"320" doc:"E-mail address of the user who signs in."`
}

// connectorsOutput is empty in this version.
type connectorsOutput struct{ Body []connectorBody }

// ListConnectors lists no connectors: enterprise sign-on is not
// configured, so the sign-in page goes on with a password.
func (a *Handlers) ListConnectors(_ context.Context, _ tenant.Scope,
	in *listConnectorsInput) (*connectorsOutput, error) {
	if _, err := identity.NormalizeEmail(in.Email); err != nil {
		return nil, endpoint.Invalid("query.email", "must be an e-mail address")
	}
	return &connectorsOutput{Body: []connectorBody{}}, nil
}

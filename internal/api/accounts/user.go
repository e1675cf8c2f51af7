package accounts

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/api/endpoint"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// Users is the part of the identity service that a user's own pages need.
type Users interface {
	// Profile returns the user with all roles.
	Profile(ctx context.Context, by tenant.Actor) (identity.Profile, error)
	UpdateProfile(ctx context.Context, by tenant.Actor, c identity.Change) (identity.User, error)
	// ChangePassword ends all sessions and grants, and returns what it has ended.
	ChangePassword(ctx context.Context, by tenant.Actor, c identity.PasswordChange) (identity.Ended, error)
	// Sessions lists the active browser sessions.
	Sessions(ctx context.Context, by tenant.Actor) ([]identity.Session, error)
	EndSession(ctx context.Context, by tenant.Actor, id identity.SessionID) error
}

// profileOutput is the profile of the caller.
type profileOutput struct {
	Body struct {
		ID            tenant.UserID         `json:"id" format:"uuid"`
		FirstName     string                `json:"firstName"`
		LastName      string                `json:"lastName"`
		Email         string                `json:"email"`
		Picture       string                `json:"picture"`
		Notification  bool                  `json:"notification"`
		Onboarded     bool                  `json:"isOnboardingCompleted"`
		CreatedAt     time.Time             `json:"createdAt"`
		UpdatedAt     time.Time             `json:"updatedAt"`
		Organizations []profileOrganization `json:"myOrganizations"`
	}
}

// profileOrganization is an organization of the caller, with the caller's role in it.
type profileOrganization struct {
	ID           tenant.OrganizationID `json:"id" format:"uuid"`
	Name         string                `json:"name"`
	Country      string                `json:"country"`
	Industry     string                `json:"industry"`
	Active       bool                  `json:"isActive"`
	Role         tenant.RoleID         `json:"myRole"`
	Teams        []profileTeam         `json:"myTeams"`
	Subscription noSubscription        `json:"subscription" doc:"Always null: there is no paid plan."`
}

// noSubscription is null on the wire, where clients expect an object or null.
type noSubscription struct{}

// MarshalJSON returns null.
func (noSubscription) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema describes an object or null.
func (noSubscription) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true}
}

// profileTeam is a team of the caller, with the caller's role in it.
type profileTeam struct {
	ID   tenant.TeamID `json:"id" format:"uuid"`
	Name string        `json:"name"`
	Role tenant.RoleID `json:"myRole"`
}

// GetProfile responds with the caller's profile and all of the caller's roles.
func (a *Handlers) GetProfile(ctx context.Context, sc tenant.Scope, _ *struct{}) (*profileOutput, error) {
	p, err := a.Users.Profile(ctx, sc.Actor)
	if err != nil {
		return nil, err
	}
	out := &profileOutput{}
	b := &out.Body
	b.ID, b.FirstName, b.LastName, b.Email, b.Picture = p.ID, p.FirstName, p.LastName, p.Email, p.Picture
	b.Notification, b.Onboarded, b.CreatedAt, b.UpdatedAt = p.Notification, p.Onboarded, p.CreatedAt, p.UpdatedAt
	b.Organizations = []profileOrganization{}
	for _, m := range p.Organizations {
		o := profileOrganization{
			ID: m.Organization, Name: m.Name, Country: m.Country, Industry: m.Industry, Active: true, Role: m.Role,
			Teams: []profileTeam{},
		}
		for _, t := range m.Teams {
			o.Teams = append(o.Teams, profileTeam{ID: t.Team, Name: t.Name, Role: t.Role})
		}
		b.Organizations = append(b.Organizations, o)
	}
	return out, nil
}

// updateProfileInput has the fields to change; absent ones stay as they are.
type updateProfileInput struct {
	Body struct {
		FirstName    *string `json:"firstName,omitempty"`
		LastName     *string `json:"lastName,omitempty"`
		Picture      *string `json:"picture,omitempty" doc:"https URL; empty for none."`
		Notification *bool   `json:"notification,omitempty"`
		Onboarded    *bool   `json:"isOnboardingCompleted,omitempty"`
	}
}

// updateProfileOutput has no profile: clients read it again.
type updateProfileOutput struct {
	Body struct {
		Message string        `json:"message"`
		UserID  tenant.UserID `json:"userId" format:"uuid"`
	}
}

// UpdateProfile updates the fields of the caller's profile that the request has.
func (a *Handlers) UpdateProfile(ctx context.Context, sc tenant.Scope,
	in *updateProfileInput) (*updateProfileOutput, error) {
	b := in.Body
	u, err := a.Users.UpdateProfile(ctx, sc.Actor, identity.Change{
		FirstName: b.FirstName, LastName: b.LastName, Picture: b.Picture, Notification: b.Notification,
		Onboarded: b.Onboarded,
	})
	if err != nil {
		return nil, err
	}
	out := &updateProfileOutput{}
	out.Body.Message, out.Body.UserID = "Profile updated", u.ID
	return out, nil
}

// changePasswordInput has both passwords. Its lengths are checked by the identity service,
// which knows the rules.
type changePasswordInput struct {
	Body struct {
		Current string `json:"currentPassword"`
		New     string `json:"newPassword" doc:"New password, at least 12 characters."`
	}
}

// ChangePassword sets a new password after verifying the current one, so that a stolen access
// token alone cannot take over the account.
func (a *Handlers) ChangePassword(ctx context.Context, sc tenant.Scope,
	in *changePasswordInput) (*endpoint.MessageOutput, error) {
	_, err := a.Users.ChangePassword(ctx, sc.Actor, identity.PasswordChange{Current: in.Body.Current, New: in.Body.New})
	if err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Password changed. All sessions, applications and devices are signed out; personal " +
		"access tokens " +
		"remain valid"), nil
}

// session is a browser session: where and when it was opened, so that a user recognizes a stolen one.
type session struct {
	ID         identity.SessionID `json:"id" format:"uuid"`
	IP         string             `json:"ip" doc:"IP address of the sign-in."`
	UserAgent  string             `json:"userAgent"`
	CreatedAt  time.Time          `json:"createdAt"`
	LastUsedAt time.Time          `json:"lastUsedAt" doc:"Precise to the minute."`
	ExpiresAt  time.Time          `json:"expiresAt"`
}

// sessionsOutput has the sessions of the caller.
type sessionsOutput struct {
	Body struct {
		Sessions []session `json:"sessions"`
	}
}

// ListSessions lists the caller's active browser sessions.
func (a *Handlers) ListSessions(ctx context.Context, sc tenant.Scope, _ *struct{}) (*sessionsOutput, error) {
	list, err := a.Users.Sessions(ctx, sc.Actor)
	if err != nil {
		return nil, err
	}
	out := &sessionsOutput{}
	out.Body.Sessions = []session{}
	for _, s := range list {
		out.Body.Sessions = append(out.Body.Sessions, session{
			ID: s.ID, IP: s.IP, UserAgent: s.UserAgent, CreatedAt: s.CreatedAt, LastUsedAt: s.LastUsedAt,
			ExpiresAt: s.ExpiresAt,
		})
	}
	return out, nil
}

// endSessionInput names a session of the caller.
type endSessionInput struct {
	ID string `path:"sessionId" format:"uuid"`
}

// EndSession revokes one session of the caller.
func (a *Handlers) EndSession(ctx context.Context, sc tenant.Scope,
	in *endSessionInput) (*endpoint.MessageOutput, error) {
	id, err := tenant.ParseID("sessionId", in.ID)
	if err != nil {
		return nil, err
	}
	if err := a.Users.EndSession(ctx, sc.Actor, identity.SessionID(id)); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Session revoked"), nil
}

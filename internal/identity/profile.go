package identity

import (
	"context"
	"time"

	"merlon/internal/audit"
	"merlon/internal/tenant"
)

// A Profile is a user with the roles that the user has.
type Profile struct {
	User
	Organizations []Membership // by name; never nil
}

// A Membership is an organization that a user belongs to.
type Membership struct {
	Organization tenant.OrganizationID
	Name         string
	Country      string
	Industry     string
	Role         tenant.RoleID
	Teams        []TeamMembership // by name; never nil
}

// A TeamMembership is a team that a user belongs to.
type TeamMembership struct {
	Team tenant.TeamID
	Name string
	Role tenant.RoleID
}

// Profile returns the actor's own profile.
func (s *Service) Profile(ctx context.Context, by tenant.Actor) (Profile, error) {
	u, err := s.Store.User(ctx, by.UserID)
	if err != nil {
		return Profile{}, err
	}
	m, err := s.Store.Memberships(ctx, by.UserID)
	return Profile{User: u, Organizations: m}, err
}

// A Change says what to change in a user's profile; nil leaves it as it is.
type Change struct {
	FirstName, LastName, Picture *string
	Notification, Onboarded      *bool
}

// UpdateProfile changes the actor's own profile.
func (s *Service) UpdateProfile(ctx context.Context, by tenant.Actor, c Change) (User, error) {
	u, err := s.Store.User(ctx, by.UserID)
	if err != nil {
		return User{}, err
	}
	names := Names{FirstName: u.FirstName, LastName: u.LastName}
	set(&names.FirstName, c.FirstName)
	set(&names.LastName, c.LastName)
	if names, err = names.clean(); err != nil && (c.FirstName != nil || c.LastName != nil) {
		return User{}, err
	}
	if c.Picture != nil && !validPicture(*c.Picture) {
		return User{}, invalid("body.picture", "expected an https address of at most %d bytes, or nothing", maxPicture)
	}
	u.FirstName, u.LastName = names.FirstName, names.LastName
	set(&u.Picture, c.Picture)
	set(&u.Notification, c.Notification)
	set(&u.Onboarded, c.Onboarded)
	u.UpdatedAt = s.now()
	return u, s.Store.UpdateUser(ctx, u, audit.Event{Action: "user.update", TargetKind: "user", Target: string(u.ID)}.By(by))
}

// SetDisabled shuts a user out, or in again: no password, session or token of a
// disabled user works.
func (s *Service) SetDisabled(ctx context.Context, by tenant.Actor, id tenant.UserID, disabled bool) error {
	u, err := s.Store.User(ctx, id)
	if err != nil {
		return err
	}
	action := "user.enable"
	u.DisabledAt, u.UpdatedAt = time.Time{}, s.now()
	if disabled {
		action, u.DisabledAt = "user.disable", u.UpdatedAt
	}
	if err := s.Store.UpdateUser(ctx, u, audit.Event{Action: action, TargetKind: "user", Target: string(id)}.By(by)); err != nil || !disabled {
		return err
	}
	return s.Revoked(ctx, id)
}

// set assigns *value where there is one.
func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

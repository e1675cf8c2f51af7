package identity

import (
	"context"
	"slices"
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
	MaxTokenDays int // how old a personal access token may be; 0 for no limit
	Role         tenant.RoleID
	Teams        []TeamMembership // by name; never nil
}

// rejectsTokenAge reports whether a personal access token of such an age is too old for
// the organization.
func (m Membership) rejectsTokenAge(age time.Duration) bool {
	return m.MaxTokenDays > 0 && age >= daysOf(m.MaxTokenDays)
}

func daysOf(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// A TeamMembership is a team that a user belongs to.
type TeamMembership struct {
	Team tenant.TeamID
	Name string
	Role tenant.RoleID
}

// Profile returns the actor's own profile, with the organizations that the
// actor's token reaches.
func (s *Service) Profile(ctx context.Context, by tenant.Actor) (Profile, error) {
	u, err := s.Store.User(ctx, by.UserID)
	if err != nil {
		return Profile{}, err
	}
	m, err := s.Store.Memberships(ctx, by.UserID)
	m = slices.DeleteFunc(m, func(m Membership) bool {
		return !by.Limits.Reaches(m.Organization) || by.Limits != nil && m.rejectsTokenAge(by.Limits.Age)
	})
	for i := range m {
		if by.Limits.OnlyProjects() {
			m[i].Teams = []TeamMembership{} // the list of teams names those of the projects
		}
	}
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
	assignIfSet(&names.FirstName, c.FirstName)
	assignIfSet(&names.LastName, c.LastName)
	if names, err = names.normalizeNames(); err != nil && (c.FirstName != nil || c.LastName != nil) {
		return User{}, err
	}
	if c.Picture != nil && !validPicture(*c.Picture) {
		return User{}, invalidInput("body.picture", "must be empty or an https URL of at most %d bytes", maxPicture)
	}
	u.FirstName, u.LastName = names.FirstName, names.LastName
	assignIfSet(&u.Picture, c.Picture)
	assignIfSet(&u.Notification, c.Notification)
	assignIfSet(&u.Onboarded, c.Onboarded)
	u.UpdatedAt = s.now()
	return u, s.Store.UpdateUser(ctx, u, audit.Event{Action: "user.update", TargetKind: "user",
		Target: string(u.ID)}.By(by))
}

// SetDisabled disables a user, or enables the user again. Disabling ends every
// session and grant at once; no password or token of a disabled user works.
// Personal access tokens work again after the user was enabled.
func (s *Service) SetDisabled(ctx context.Context, by tenant.Actor, id tenant.UserID, disabled bool) (Ended, error) {
	e := audit.Event{Action: "user.enable", TargetKind: "user", Target: string(id)}
	var at time.Time
	if disabled {
		e.Action, at = "user.disable", s.now()
	}
	return s.Store.SetDisabled(ctx, id, at, e.By(by))
}

// assignIfSet assigns *value where there is one.
func assignIfSet[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

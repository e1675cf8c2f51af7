package server

import (
	"context"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
	"merlon/internal/store"
	"merlon/internal/tenant"
)

// A UserAdmin works on the account of one person, on a database that a running
// service uses. What it does takes effect with its transaction: every request asks
// the database whether the user is active and the access still there.
type UserAdmin struct {
	Email string
}

// Access is what a person reaches the service with.
type Access struct {
	User     identity.User
	Sessions []identity.Session
	Grants   []grant.Grant
	Tokens   []identity.Token
}

// adminActor is who acts, for the audit log.
var adminActor = tenant.Actor{ClientID: "merlon admin"}

// SetDisabled disables the user, or enables the user again, and returns what ended.
func (a UserAdmin) SetDisabled(ctx context.Context, c config.Store, disabled bool) (ended identity.Ended, err error) {
	err = a.withUser(ctx, c, func(db *store.DB, s *identity.Service, u identity.User) error {
		ended, err = s.SetDisabled(ctx, adminActor, u.ID, disabled)
		return err
	})
	return ended, err
}

// Access lists the sessions, grants and personal access tokens of the user.
func (a UserAdmin) Access(ctx context.Context, c config.Store) (access Access, err error) {
	err = a.withUser(ctx, c, func(db *store.DB, s *identity.Service, u identity.User) error {
		access.User = u
		if access.Sessions, err = s.Sessions(ctx, tenant.Actor{UserID: u.ID}); err != nil {
			return err
		}
		if access.Grants, err = db.ActiveGrants(ctx, u.ID); err != nil {
			return err
		}
		access.Tokens, err = s.Tokens(ctx, tenant.Actor{}, u.ID)
		return err
	})
	return access, err
}

// EndAccess ends every session and grant of the user and deletes the personal
// access tokens.
func (a UserAdmin) EndAccess(ctx context.Context, c config.Store) (ended identity.Ended, err error) {
	err = a.withUser(ctx, c, func(db *store.DB, s *identity.Service, u identity.User) error {
		ended, err = s.EndAccess(ctx, adminActor, u.ID)
		return err
	})
	return ended, err
}

// withUser opens the database and looks the user up.
func (a UserAdmin) withUser(ctx context.Context, c config.Store,
	do func(*store.DB, *identity.Service, identity.User) error) error {
	db, err := OpenKeyed(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // everything is committed by then
	email, err := identity.NormalizeEmail(a.Email)
	if err != nil {
		return err
	}
	u, _, err := db.UserByEmail(ctx, email)
	if errs.Is(err, errs.NotFound) {
		return errs.E(errs.NotFound, "there is no user with the e-mail address %s", email)
	}
	if err != nil {
		return err
	}
	return do(db, identity.New(identity.Options{Store: db, Region: db.Region, Now: db.Now}), u)
}

package store

import (
	"context"
	"database/sql"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

var _ identity.Store = (*DB)(nil)

const userColumns = `u.id, u.email, u.first_name, u.last_name, u.picture, u.notification, u.onboarded,
	COALESCE(u.service_of, ''), u.disabled_at, u.created_at, u.updated_at, COALESCE(c.valid_from, u.created_at)`

const userTables = "app_user u LEFT JOIN credential c ON c.user_id = u.id"

// userFields returns where to scan userColumns to, and what to do afterwards.
func userFields(u *identity.User) ([]any, func()) {
	var disabled, created, updated, valid int64
	return []any{&u.ID, &u.Email, &u.FirstName, &u.LastName, &u.Picture, &u.Notification, &u.Onboarded,
			&u.ServiceOf, &disabled, &created, &updated, &valid}, func() {
			u.DisabledAt, u.CreatedAt, u.UpdatedAt, u.ValidFrom = fromMillis(disabled), fromMillis(created), fromMillis(updated), fromMillis(valid)
		}
}

// User returns a user, or a NotFound error.
func (db *DB) User(ctx context.Context, id tenant.UserID) (identity.User, error) {
	var u identity.User
	fields, done := userFields(&u)
	err := db.QueryRow(ctx, "SELECT "+userColumns+" FROM "+userTables+" WHERE u.id = ?", string(id)).Scan(fields...)
	if err != nil {
		return identity.User{}, db.classify(notFound(err, "user"))
	}
	done()
	return u, nil
}

// UserByEmail returns the person with the normalised address and the stored
// password, or a NotFound error; never a service account.
func (db *DB) UserByEmail(ctx context.Context, email string) (identity.User, string, error) {
	var u identity.User
	var password string
	fields, done := userFields(&u)
	err := db.QueryRow(ctx, "SELECT "+userColumns+", COALESCE(c.password, '') FROM "+userTables+
		" WHERE u.email = ? AND u.service_of IS NULL", email).Scan(append(fields, &password)...)
	if err != nil {
		return identity.User{}, "", db.classify(notFound(err, "user"))
	}
	done()
	return u, password, nil
}

// CreateUser stores a person, or returns a Conflict error.
func (db *DB) CreateUser(ctx context.Context, u identity.User, password string, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		if err := tx.createUser(ctx, u, password); err != nil {
			return err
		}
		return tx.audit(ctx, e)
	})
}

func (tx *Tx) createUser(ctx context.Context, u identity.User, password string) error {
	_, err := tx.Exec(ctx, `INSERT INTO app_user (id, email, first_name, last_name, picture, notification, onboarded, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(u.ID), u.Email, u.FirstName, u.LastName, u.Picture, u.Notification, u.Onboarded,
		millis(u.CreatedAt), millis(u.UpdatedAt))
	if tx.db.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "there is an account with this e-mail address already")
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO credential (user_id, password, valid_from) VALUES (?, ?, ?)", string(u.ID), password, millis(u.ValidFrom))
	return err
}

// UpdateUser stores the profile and DisabledAt. A disabled user's sessions end
// and ValidFrom moves.
func (db *DB) UpdateUser(ctx context.Context, u identity.User, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, `UPDATE app_user SET first_name = ?, last_name = ?, picture = ?, notification = ?, onboarded = ?,
			disabled_at = ?, updated_at = ? WHERE id = ?`,
			u.FirstName, u.LastName, u.Picture, u.Notification, u.Onboarded, millis(u.DisabledAt), millis(u.UpdatedAt), string(u.ID))
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		if err != nil {
			return notFound(err, "user")
		}
		if !u.DisabledAt.IsZero() {
			if err := tx.endSignIns(ctx, u.ID, ""); err != nil {
				return err
			}
		}
		return tx.audit(ctx, e)
	})
}

// endSignIns removes the user's sessions but the one to keep, which counts as
// signed in anew, and moves valid_from.
func (tx *Tx) endSignIns(ctx context.Context, user tenant.UserID, keep identity.SessionID) error {
	if _, err := tx.Exec(ctx, "DELETE FROM session WHERE user_id = ? AND id <> ?", string(user), string(keep)); err != nil {
		return err
	}
	now := millis(tx.Now)
	if _, err := tx.Exec(ctx, "UPDATE session SET auth_at = ? WHERE user_id = ?", now, string(user)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO credential (user_id, password, valid_from) VALUES (?, '', ?)
		ON CONFLICT (user_id) DO UPDATE SET valid_from = excluded.valid_from`, string(user), now)
	return err
}

// SetPassword stores another password. A recovery that was used or has expired
// meanwhile is a NotFound error.
func (db *DB) SetPassword(ctx context.Context, p identity.PasswordSet, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		if p.Request != "" {
			n, err := tx.Exec(ctx, "DELETE FROM one_time_token WHERE token_hash = ? AND user_id = ? AND expires_at > ?",
				p.Request, string(p.User), millis(tx.Now))
			if err == nil && n == 0 {
				err = errs.E(errs.NotFound, "request not found")
			}
			if err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM one_time_token WHERE user_id = ?", string(p.User)); err != nil {
			return err
		}
		if err := tx.endSignIns(ctx, p.User, p.Keep); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE credential SET password = ? WHERE user_id = ?", p.Password, string(p.User)); err != nil {
			return err
		}
		if err := tx.queueMail(ctx, p.Mail); err != nil {
			return err
		}
		return tx.audit(ctx, e)
	})
}

// Rehash replaces the stored form of a password that stays the same, unless it
// was changed meanwhile.
func (db *DB) Rehash(ctx context.Context, id tenant.UserID, from, to string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, "UPDATE credential SET password = ? WHERE user_id = ? AND password = ?", to, string(id), from)
		return err
	})
}

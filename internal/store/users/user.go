package users

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/mailqueue"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// userColumns are the columns of a user u and the credential c, in the order of userFields.
// A user without a credential, such as a service account, is valid from its creation.
const userColumns = `u.id, u.email, u.first_name, u.last_name, u.picture, u.notification, u.onboarded,
	COALESCE(u.service_of, ''), u.disabled_at, u.created_at, u.updated_at, COALESCE(c.valid_from, u.created_at)`

// userTables are the tables of userColumns.
const userTables = "app_user u LEFT JOIN credential c ON c.user_id = u.id"

// userFields returns where to scan userColumns to, and what to do afterwards.
func userFields(u *identity.User) ([]any, func()) {
	var disabled, created, updated, valid int64
	return []any{&u.ID, &u.Email, &u.FirstName, &u.LastName, &u.Picture, &u.Notification, &u.Onboarded,
			&u.ServiceOf, &disabled, &created, &updated, &valid}, func() {
			u.DisabledAt, u.CreatedAt, u.UpdatedAt, u.ValidFrom = sqldb.FromMillis(disabled), sqldb.FromMillis(created),
				sqldb.FromMillis(updated), sqldb.FromMillis(valid)
		}
}

// User returns a user, or a NotFound error.
func (db *Store) User(ctx context.Context, id tenant.UserID) (identity.User, error) {
	var u identity.User
	fields, done := userFields(&u)
	err := db.QueryRow(ctx, "SELECT "+userColumns+" FROM "+userTables+" WHERE u.id = ?", string(id)).Scan(fields...)
	if err != nil {
		return identity.User{}, db.Classify(sqldb.NotFound(err, "user"))
	}
	done()
	return u, nil
}

// UserByEmail returns the person with the normalised address and the stored
// password, or a NotFound error; never a service account.
func (db *Store) UserByEmail(ctx context.Context, email string) (identity.User, string, error) {
	var u identity.User
	var password string
	fields, done := userFields(&u)
	err := db.QueryRow(ctx, "SELECT "+userColumns+", COALESCE(c.password, '') FROM "+userTables+
		" WHERE u.email = ? AND u.service_of IS NULL", email).Scan(append(fields, &password)...)
	if err != nil {
		return identity.User{}, "", db.Classify(sqldb.NotFound(err, "user"))
	}
	done()
	return u, password, nil
}

// CreateUser stores a person, or returns a Conflict error.
func (db *Store) CreateUser(ctx context.Context, u identity.User, password string, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := createUser(ctx, tx, u, password); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// createUser inserts a user with a credential; password is the stored form.
func createUser(ctx context.Context, tx *sqldb.Tx, u identity.User, password string) error {
	_, err := tx.Exec(ctx, `INSERT INTO app_user (id, email, first_name, last_name, picture, notification, onboarded, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(u.ID), u.Email, u.FirstName, u.LastName, u.Picture, u.Notification, u.Onboarded,
		sqldb.Millis(u.CreatedAt), sqldb.Millis(u.UpdatedAt))
	if tx.DB.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "there is an account with this e-mail address already")
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO credential (user_id, password, valid_from) VALUES (?, ?, ?)", string(u.ID),
		password, sqldb.Millis(u.ValidFrom))
	return err
}

// UpdateUser stores the profile. It does not touch disabled_at: a profile that was
// read before the user was disabled must not enable the user again.
func (db *Store) UpdateUser(ctx context.Context, u identity.User, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE app_user SET first_name = ?, last_name = ?, picture = ?, notification = ?, onboarded = ?,
			updated_at = ? WHERE id = ?`,
			u.FirstName, u.LastName, u.Picture, u.Notification, u.Onboarded, sqldb.Millis(u.UpdatedAt), string(u.ID))
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		if err != nil {
			return sqldb.NotFound(err, "user")
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// SetDisabled disables the user at a time, or enables the user when it is zero.
// Disabling ends every session and grant.
func (db *Store) SetDisabled(ctx context.Context, id tenant.UserID, at time.Time,
	e audit.Event) (ended identity.Ended, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		ended = identity.Ended{}
		n, err := tx.Exec(ctx, "UPDATE app_user SET disabled_at = ?, updated_at = ? WHERE id = ?", sqldb.Millis(at),
			sqldb.Millis(tx.Now), string(id))
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		if err != nil {
			return sqldb.NotFound(err, "user")
		}
		if !at.IsZero() {
			if ended, err = endAccess(ctx, tx, id, ""); err != nil {
				return err
			}
			e.Detail = endedDetail(ended)
		}
		return auditlog.Append(ctx, tx, e)
	})
	return ended, err
}

// EndAccess ends every session and grant of the user and deletes the personal
// access tokens.
func (db *Store) EndAccess(ctx context.Context, user tenant.UserID, e audit.Event) (ended identity.Ended, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		var id string
		if err := tx.QueryRow(ctx, "SELECT id FROM app_user WHERE id = ?", string(user)).Scan(&id); err != nil {
			return sqldb.NotFound(err, "user")
		}
		if ended, err = endAccess(ctx, tx, user, ""); err != nil {
			return err
		}
		if ended.Tokens, err = deleteTokens(ctx, tx, user); err != nil {
			return err
		}
		e.Detail = endedDetail(ended)
		return auditlog.Append(ctx, tx, e)
	})
	return ended, err
}

// endedDetail returns for the audit log how much was ended.
func endedDetail(n identity.Ended) map[string]any {
	return map[string]any{"sessions": n.Sessions, "grants": n.Grants, "tokens": n.Tokens}
}

// endAccess moves valid_from and ends what was derived from sign-ins: sessions but
// the one to keep, which counts as signed in anew, authorization codes, approved
// devices, and grants with their refresh tokens. Access tokens end with the session
// or grant that they were issued for (see Admit).
//
// The credential comes first: a sign-in that runs at the same time locks it too.
// Codes and devices come before grants: whoever exchanges one at the same time has
// either made the grant that is revoked here, or finds the code gone.
func endAccess(ctx context.Context, tx *sqldb.Tx, user tenant.UserID,
	keep identity.SessionID) (n identity.Ended, err error) {
	now := sqldb.Millis(tx.Now)
	steps := []struct {
		count *int64
		query string
		args  []any
	}{
		{nil, `INSERT INTO credential (user_id, password, valid_from) VALUES (?, '', ?)
			ON CONFLICT (user_id) DO UPDATE SET valid_from = excluded.valid_from`, []any{string(user), now}},
		{nil, "DELETE FROM oidc_code WHERE user_id = ? AND grant_id = ''", []any{string(user)}},
		{nil, "UPDATE oidc_device SET state = ? WHERE user_id = ? AND " +
			"state = ?", []any{string(oidcgrant.Denied), string(user), string(oidcgrant.Approved)}},
		{&n.Sessions, "DELETE FROM session WHERE user_id = ? AND id <> ?", []any{string(user), string(keep)}},
		{nil, "UPDATE session SET auth_at = ? WHERE user_id = ?", []any{now, string(user)}},
		{&n.Grants, "UPDATE oidc_grant SET revoked_at = ? WHERE user_id = ? AND revoked_at = 0",
			[]any{now, string(user)}},
	}
	for _, s := range steps {
		rows, err := tx.Exec(ctx, s.query, s.args...)
		if err != nil {
			return n, fmt.Errorf("end the access of user %s: %w", user, err)
		}
		if s.count != nil {
			*s.count = rows
		}
	}
	return n, nil
}

// deleteTokens deletes the personal access tokens of the user, and what else
// somebody who had the account may have left: agreements with applications, and
// addresses that are not limited in guessing.
func deleteTokens(ctx context.Context, tx *sqldb.Tx, user tenant.UserID) (int64, error) {
	for _, table := range []string{"oidc_consent", "known_origin"} {
		if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE user_id = ?", string(user)); err != nil {
			return 0, fmt.Errorf("delete from %s: %w", table, err)
		}
	}
	n, err := tx.Exec(ctx, "DELETE FROM personal_access_token WHERE user_id = ?", string(user))
	if err != nil {
		return 0, fmt.Errorf("delete tokens: %w", err)
	}
	return n, nil
}

// SetPassword stores another password and ends what was derived from the old one.
// A recovery that was used or has expired meanwhile is a NotFound error.
func (db *Store) SetPassword(ctx context.Context, p identity.PasswordSet,
	e audit.Event) (ended identity.Ended, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		ended = identity.Ended{}
		// The link of a recovery mail works once: its token is deleted in the transaction that sets
		// the password.
		if p.Request != "" {
			n, err := tx.Exec(ctx, "DELETE FROM one_time_token WHERE token_hash = ? AND user_id = ? AND expires_at > ?",
				p.Request, string(p.User), sqldb.Millis(tx.Now))
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
		if ended, err = endAccess(ctx, tx, p.User, p.Keep); err != nil {
			return err
		}
		if p.Tokens {
			if ended.Tokens, err = deleteTokens(ctx, tx, p.User); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "UPDATE credential SET password = ? WHERE user_id = ?", p.Password,
			string(p.User)); err != nil {
			return err
		}
		if err := mailqueue.Enqueue(ctx, tx, p.Mail); err != nil {
			return err
		}
		e.Detail = endedDetail(ended)
		return auditlog.Append(ctx, tx, e)
	})
	return ended, err
}

// Rehash replaces the stored form of a password that stays the same, unless it
// was changed meanwhile.
func (db *Store) Rehash(ctx context.Context, id tenant.UserID, from, to string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE credential SET password = ? WHERE user_id = ? AND password = ?", to, string(id),
			from)
		return err
	})
}

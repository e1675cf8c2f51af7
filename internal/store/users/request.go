package users

import (
	"context"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/mailqueue"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// CreateRequest stores what somebody asked for by mail, and queues the mail.
func (db *Store) CreateRequest(ctx context.Context, r identity.Request, m mail.Queued, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		var user any // NULL for nobody
		if r.User != "" {
			user = string(r.User)
		}
		_, err := tx.Exec(ctx, `INSERT INTO one_time_token (token_hash, kind, email, user_id, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?)`, r.Hash, string(r.Kind), r.Email, user, sqldb.Millis(r.CreatedAt), sqldb.Millis(r.ExpiresAt))
		if err != nil {
			return err
		}
		if err := mailqueue.Enqueue(ctx, tx, m); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// RequestByHash returns a request that holds at now, or a NotFound error.
func (db *Store) RequestByHash(ctx context.Context, hash string, now time.Time) (identity.Request, error) {
	r := identity.Request{Hash: hash}
	var created, expires int64
	err := db.QueryRow(ctx, `SELECT kind, email, COALESCE(user_id, ''), created_at, expires_at
		FROM one_time_token WHERE token_hash = ? AND expires_at > ?`, hash, sqldb.Millis(now)).
		Scan(&r.Kind, &r.Email, &r.User, &created, &expires)
	r.CreatedAt, r.ExpiresAt = sqldb.FromMillis(created), sqldb.FromMillis(expires)
	return r, db.Classify(sqldb.NotFound(err, "request"))
}

// Invited reports whether an invitation for the address is open at now.
func (db *Store) Invited(ctx context.Context, email string, now time.Time) (bool, error) {
	var invited bool
	err := db.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM invitation WHERE email = ? AND status = ? AND "+
		"expires_at > ?)",
		email, string(tenant.InvitationPending), sqldb.Millis(now)).Scan(&invited)
	return invited, db.Classify(err)
}

// ConfirmSignUp uses up a sign-up, together with the others for the address, and
// stores the user with the password. It returns a NotFound error when it was used
// or has expired meanwhile, and a Conflict error when the address has an account.
func (db *Store) ConfirmSignUp(ctx context.Context, hash string, u identity.User, password string,
	e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM one_time_token WHERE token_hash = ? AND email = ? AND kind = ? AND "+
			"expires_at > ?",
			hash, u.Email, string(identity.SignUpRequest), sqldb.Millis(tx.Now))
		if err == nil && n == 0 {
			err = errs.E(errs.NotFound, "request not found")
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM one_time_token WHERE email = ? AND kind = ?", u.Email,
			string(identity.SignUpRequest)); err != nil {
			return err
		}
		if err := createUser(ctx, tx, u, password); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, e)
	})
}

package store

import (
	"context"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/tenant"
)

// CreateRequest stores what somebody asked for by mail, and queues the mail.
func (db *DB) CreateRequest(ctx context.Context, r identity.Request, m mail.Queued, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		var user any // NULL for nobody
		if r.User != "" {
			user = string(r.User)
		}
		_, err := tx.Exec(ctx, `INSERT INTO one_time_token (token_hash, kind, email, user_id, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?)`, r.Hash, string(r.Kind), r.Email, user, millis(r.CreatedAt), millis(r.ExpiresAt))
		if err != nil {
			return err
		}
		if err := tx.queueMail(ctx, m); err != nil {
			return err
		}
		return tx.audit(ctx, e)
	})
}

// RequestByHash returns a request that holds at now, or a NotFound error.
func (db *DB) RequestByHash(ctx context.Context, hash string, now time.Time) (identity.Request, error) {
	r := identity.Request{Hash: hash}
	var created, expires int64
	err := db.QueryRow(ctx, `SELECT kind, email, COALESCE(user_id, ''), created_at, expires_at
		FROM one_time_token WHERE token_hash = ? AND expires_at > ?`, hash, millis(now)).
		Scan(&r.Kind, &r.Email, &r.User, &created, &expires)
	r.CreatedAt, r.ExpiresAt = fromMillis(created), fromMillis(expires)
	return r, db.classify(notFound(err, "request"))
}

// Invited reports whether an invitation for the address is open at now.
func (db *DB) Invited(ctx context.Context, email string, now time.Time) (bool, error) {
	var invited bool
	err := db.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM invitation WHERE email = ? AND status = ? AND "+
		"expires_at > ?)",
		email, string(tenant.InvitationPending), millis(now)).Scan(&invited)
	return invited, db.classify(err)
}

// ConfirmSignUp uses up a sign-up, together with the others for the address, and
// stores the user with the password. It returns a NotFound error when it was used
// or has expired meanwhile, and a Conflict error when the address has an account.
func (db *DB) ConfirmSignUp(ctx context.Context, hash string, u identity.User, password string, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM one_time_token WHERE token_hash = ? AND email = ? AND kind = ? AND "+
			"expires_at > ?",
			hash, u.Email, string(identity.SignUpRequest), millis(tx.Now))
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
		if err := tx.createUser(ctx, u, password); err != nil {
			return err
		}
		return tx.audit(ctx, e)
	})
}

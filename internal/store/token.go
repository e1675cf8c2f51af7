package store

import (
	"context"
	"database/sql"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// CreateToken stores a token. A name that the owner uses already is a Conflict
// error, as is one token more than identity.MaxTokens; an owner that does not
// exist is NotFound.
func (db *DB) CreateToken(ctx context.Context, t identity.Token, hash string, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		var owner string
		err := tx.QueryRow(ctx, "SELECT id FROM app_user WHERE id = ?"+tx.db.Dialect.ForUpdate(), string(t.Owner)).Scan(&owner)
		if err != nil {
			return notFound(err, "user")
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM personal_access_token WHERE user_id = ?", owner).Scan(&n); err != nil {
			return err
		}
		if n >= identity.MaxTokens {
			return errs.E(errs.Conflict, "there are %d tokens, which is as many as one may have: delete one first", n)
		}
		_, err = tx.Exec(ctx, `INSERT INTO personal_access_token (id, user_id, name, token_hash, created_at, expires_at, last_used_at)
			VALUES (?, ?, ?, ?, ?, ?, 0)`, string(t.ID), owner, t.Name, hash, millis(t.CreatedAt), millis(t.ExpiresAt))
		if err != nil {
			return tx.tokenConflict(err, t.Name)
		}
		return tx.audit(ctx, e)
	})
}

// tokenConflict turns a name in use into a Conflict error.
func (tx *Tx) tokenConflict(err error, name string) error {
	if tx.db.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "there is a token with the name %q already", name)
	}
	return err
}

const tokenColumns = "t.id, t.user_id, t.name, t.created_at, t.expires_at, t.last_used_at"

// tokenFields returns where to scan tokenColumns to, and what to do afterwards.
func tokenFields(t *identity.Token) ([]any, func()) {
	var created, expires, used int64
	return []any{&t.ID, &t.Owner, &t.Name, &created, &expires, &used}, func() {
		t.CreatedAt, t.ExpiresAt, t.LastUsedAt = fromMillis(created), fromMillis(expires), fromMillis(used)
	}
}

// TokenByHash returns a token with its owner, or a NotFound error. It may have
// expired, and the owner may be disabled.
func (db *DB) TokenByHash(ctx context.Context, hash string) (identity.Token, identity.User, error) {
	var t identity.Token
	var u identity.User
	fields, tokenDone := tokenFields(&t)
	more, userDone := userFields(&u)
	err := db.QueryRow(ctx, "SELECT "+tokenColumns+", "+userColumns+" FROM "+userTables+
		" JOIN personal_access_token t ON t.user_id = u.id WHERE t.token_hash = ?", hash).Scan(append(fields, more...)...)
	if err != nil {
		return identity.Token{}, identity.User{}, db.classify(notFound(err, "token"))
	}
	tokenDone()
	userDone()
	return t, u, nil
}

// Tokens returns the owner's tokens, oldest first.
func (db *DB) Tokens(ctx context.Context, owner tenant.UserID) ([]identity.Token, error) {
	rows, err := db.Query(ctx, "SELECT "+tokenColumns+" FROM personal_access_token t WHERE t.user_id = ? ORDER BY t.created_at, t.id", string(owner))
	return collect(rows, err, func(rows *sql.Rows) (t identity.Token, err error) {
		fields, done := tokenFields(&t)
		err = rows.Scan(fields...)
		done()
		return t, err
	})
}

// RenameToken renames the owner's token, or returns a NotFound or Conflict error.
func (db *DB) RenameToken(ctx context.Context, owner tenant.UserID, from, to string, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "UPDATE personal_access_token SET name = ? WHERE user_id = ? AND name = ?", to, string(owner), from)
		if err == nil && n == 0 {
			err = errs.E(errs.NotFound, "there is no token with the name %q", from)
		}
		if err != nil {
			return tx.tokenConflict(err, to)
		}
		return tx.audit(ctx, e)
	})
}

// DeleteToken removes the owner's token, or returns a NotFound error.
func (db *DB) DeleteToken(ctx context.Context, owner tenant.UserID, name string, e audit.Event) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM personal_access_token WHERE user_id = ? AND name = ?", string(owner), name)
		if err == nil && n == 0 {
			err = errs.E(errs.NotFound, "there is no token with the name %q", name)
		}
		if err != nil {
			return err
		}
		return tx.audit(ctx, e)
	})
}

package users

import (
	"context"
	"database/sql"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/mailqueue"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// CreateToken stores a token and queues the mail about it, if it has one. A name
// that the owner uses already is a Conflict error, as is one token more than
// identity.MaxTokens; an owner that does not exist is NotFound.
func (db *Store) CreateToken(ctx context.Context, t identity.Token, hash string, m mail.Queued, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		var owner string
		err := tx.QueryRow(ctx, "SELECT id FROM app_user WHERE id = ?"+tx.DB.Dialect.ForUpdate(),
			string(t.Owner)).Scan(&owner)
		if err != nil {
			return sqldb.NotFound(err, "user")
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM personal_access_token WHERE user_id = ?",
			owner).Scan(&n); err != nil {
			return err
		}
		if n >= identity.MaxTokens {
			return errs.E(errs.Conflict, "there are %d tokens, which is as many as one may have: delete one first", n)
		}
		_, err = tx.Exec(ctx, `INSERT INTO personal_access_token (id, user_id, name, token_hash, scopes, organizations, projects, created_at, expires_at, last_used_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`, string(t.ID), owner, t.Name, hash, access.EncodeScopes(t.Scopes), access.JoinIDs(t.Organizations), access.JoinIDs(t.Projects),
			sqldb.Millis(t.CreatedAt), sqldb.Millis(t.ExpiresAt))
		if err != nil {
			return tokenConflict(tx, err, t.Name)
		}
		if m.ID != "" {
			if err := mailqueue.Enqueue(ctx, tx, m); err != nil {
				return err
			}
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// tokenConflict turns a name in use into a Conflict error.
func tokenConflict(tx *sqldb.Tx, err error, name string) error {
	if tx.DB.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "there is a token with the name %q already", name)
	}
	return err
}

const tokenColumns = "t.id, t.user_id, t.name, t.scopes, t.organizations, t.projects, t.created_at, t.expires_at, " +
	"t.last_used_at"

// tokenFields returns where to scan tokenColumns to, and what to do afterwards.
func tokenFields(t *identity.Token) ([]any, func()) {
	var created, expires, used int64
	var scopes, organizations, projects string
	return []any{&t.ID, &t.Owner, &t.Name, &scopes, &organizations, &projects, &created, &expires, &used}, func() {
		t.Scopes, t.Organizations, t.Projects = access.DecodeScopes(scopes),
			access.SplitIDs[tenant.OrganizationID](organizations),
			access.SplitIDs[tenant.ProjectID](projects)
		t.CreatedAt, t.ExpiresAt, t.LastUsedAt = sqldb.FromMillis(created), sqldb.FromMillis(expires),
			sqldb.FromMillis(used)
	}
}

// TokenByHash returns a token with its owner, and whether it is too old for one of
// the owner's organizations; or a NotFound error. It may have expired, and the
// owner may be disabled.
func (db *Store) TokenByHash(ctx context.Context,
	hash string) (t identity.Token, u identity.User, old bool, err error) {
	fields, tokenDone := tokenFields(&t)
	more, userDone := userFields(&u)
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM organization_member m JOIN organization o ON o.id = m.organization_id
			WHERE m.user_id = t.user_id AND o.max_token_days > 0 AND t.created_at + o.max_token_days * 86400000 <= ?), `+
		tokenColumns+", "+userColumns+" FROM "+userTables+" JOIN personal_access_token t ON t.user_id = u.id WHERE "+
		"t.token_hash = ?",
		sqldb.Millis(db.Timestamp()), hash).Scan(append(append([]any{&old}, fields...), more...)...)
	if err != nil {
		return identity.Token{}, identity.User{}, false, db.Classify(sqldb.NotFound(err, "token"))
	}
	tokenDone()
	userDone()
	return t, u, old, nil
}

// Tokens returns the owner's tokens, oldest first.
func (db *Store) Tokens(ctx context.Context, owner tenant.UserID) ([]identity.Token, error) {
	rows, err := db.Query(ctx, "SELECT "+tokenColumns+" FROM personal_access_token t WHERE t.user_id = ? ORDER BY "+
		"t.created_at, t.id", string(owner))
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (t identity.Token, err error) {
		fields, done := tokenFields(&t)
		err = rows.Scan(fields...)
		done()
		return t, err
	})
}

// RenameToken renames the owner's token, or returns a NotFound or Conflict error.
func (db *Store) RenameToken(ctx context.Context, owner tenant.UserID, from, to string, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE personal_access_token SET name = ? WHERE user_id = ? AND name = ?", to,
			string(owner), from)
		if err == nil && n == 0 {
			err = errs.E(errs.NotFound, "there is no token with the name %q", from)
		}
		if err != nil {
			return tokenConflict(tx, err, to)
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// DeleteToken removes the owner's token, or returns a NotFound error.
func (db *Store) DeleteToken(ctx context.Context, owner tenant.UserID, name string, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM personal_access_token WHERE user_id = ? AND name = ?", string(owner), name)
		if err == nil && n == 0 {
			err = errs.E(errs.NotFound, "there is no token with the name %q", name)
		}
		if err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, e)
	})
}

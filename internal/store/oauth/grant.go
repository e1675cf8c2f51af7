package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// Why a grant was revoked, as the audit log says it.
const (
	reasonCodeReplay    = "the authorization code was used twice"
	reasonRefreshReplay = "a refresh token was used twice"
	ReasonSessionEnd    = "the session in which it was given was ended"
)

// codeMemory is how long a code is remembered after its end, to notice that it
// is used again.
const codeMemory = 24 * time.Hour

// AddCode keeps an authorization code.
func (db *Store) AddCode(ctx context.Context, c oidcgrant.Code) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO oidc_code
			(hash, user_id, client_id, session_id, redirect_uri, challenge, nonce, scopes, offline, auth_time, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Hash, string(c.UserID), c.ClientID, c.SessionID, c.RedirectURI, c.Challenge, c.Nonce,
			strings.Join(c.Scopes, " "), c.Offline,
			sqldb.Millis(c.AuthTime), sqldb.Millis(c.CreatedAt), sqldb.Millis(c.ExpiresAt))
		if err != nil {
			return fmt.Errorf("add authorization code: %w", err)
		}
		return nil
	})
}

// Code returns the code with the hash, used or not, or a NotFound error.
func (db *Store) Code(ctx context.Context, hash string) (oidcgrant.Code, error) {
	c := oidcgrant.Code{Hash: hash}
	var scopes string
	var authTime, created, expires int64
	err := db.QueryRow(ctx, `SELECT user_id, client_id, session_id, redirect_uri, challenge, nonce, scopes, offline, auth_time, created_at, expires_at, grant_id
		FROM oidc_code WHERE hash = ?`, hash).
		Scan(&c.UserID, &c.ClientID, &c.SessionID, &c.RedirectURI, &c.Challenge, &c.Nonce, &scopes, &c.Offline,
			&authTime, &created, &expires, &c.GrantID)
	if err != nil {
		return oidcgrant.Code{}, db.Classify(sqldb.NotFound(err, "the authorization code"))
	}
	c.Scopes = strings.Fields(scopes)
	c.AuthTime, c.CreatedAt, c.ExpiresAt = sqldb.FromMillis(authTime), sqldb.FromMillis(created),
		sqldb.FromMillis(expires)
	return c, nil
}

// RedeemCode exchanges a code for a grant. When the code was used before it
// reports false, and what it gave then is revoked.
func (db *Store) RedeemCode(ctx context.Context, hash string, t oidcgrant.Tokens) (fresh bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE oidc_code SET grant_id = ? WHERE hash = ? AND grant_id = ''", t.Grant.ID, hash)
		if err != nil {
			return fmt.Errorf("use authorization code: %w", err)
		}
		if fresh = n == 1; fresh {
			return addGrant(ctx, tx, t)
		}
		var used string
		if err := tx.QueryRow(ctx, "SELECT grant_id FROM oidc_code WHERE hash = ?", hash).Scan(&used); err != nil {
			return sqldb.NotFound(err, "the authorization code")
		}
		// Either the application or a thief has used the code before; which one is unknown, so
		// neither keeps access (RFC 6749, section 10.5).
		return revokeGrant(ctx, tx, used, reasonCodeReplay)
	})
	return fresh, err
}

// addGrant inserts a grant and its first refresh token.
func addGrant(ctx context.Context, tx *sqldb.Tx, t oidcgrant.Tokens) error {
	g := t.Grant
	_, err := tx.Exec(ctx, `INSERT INTO oidc_grant (id, user_id, client_id, session_id, scopes, auth_time, created_at, last_used_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		g.ID, string(g.UserID), g.ClientID, g.SessionID, strings.Join(g.Scopes, " "), sqldb.Millis(g.AuthTime),
		sqldb.Millis(g.CreatedAt), sqldb.Millis(g.LastUsedAt), sqldb.Millis(g.ExpiresAt))
	if err != nil {
		return fmt.Errorf("add grant: %w", err)
	}
	if t.Refresh != nil {
		if err := addRefresh(ctx, tx, *t.Refresh); err != nil {
			return err
		}
	}
	return auditlog.Append(ctx, tx, audit.Event{Actor: g.UserID, Client: g.ClientID, IP: t.IP, Action: "grant.create",
		TargetKind: "grant", Target: g.ID,
		Detail: map[string]any{"scopes": g.Scopes, "refresh": t.Refresh != nil}})
}

// addRefresh inserts a refresh token by its hash.
func addRefresh(ctx context.Context, tx *sqldb.Tx, r oidcgrant.Refresh) error {
	_, err := tx.Exec(ctx, "INSERT INTO oidc_refresh (hash, grant_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
		r.Hash, r.GrantID, sqldb.Millis(r.CreatedAt), sqldb.Millis(r.ExpiresAt))
	if err != nil {
		return fmt.Errorf("add refresh token: %w", err)
	}
	return nil
}

// grantColumns are the columns of a grant g, in the order of grantFields.
const grantColumns = "g.id, g.user_id, g.client_id, g.session_id, g.scopes, g.auth_time, g.created_at, " +
	"g.last_used_at, g.expires_at, g.revoked_at"

// grantFields returns where to scan grantColumns to, and what to do afterwards.
func grantFields(g *oidcgrant.Grant) ([]any, func()) {
	var scopes string
	var authTime, created, used, expires, revoked int64
	return []any{&g.ID, &g.UserID, &g.ClientID, &g.SessionID, &scopes, &authTime, &created, &used, &expires, &revoked},
		func() {
			g.Scopes, g.AuthTime = strings.Fields(scopes), sqldb.FromMillis(authTime)
			g.CreatedAt, g.LastUsedAt, g.ExpiresAt, g.RevokedAt = sqldb.FromMillis(created), sqldb.FromMillis(used),
				sqldb.FromMillis(expires), sqldb.FromMillis(revoked)
		}
}

// Refresh returns the refresh token with the hash, used or not, and its grant,
// or a NotFound error.
func (db *Store) Refresh(ctx context.Context, hash string) (oidcgrant.Tokens, error) {
	r := oidcgrant.Refresh{Hash: hash}
	var g oidcgrant.Grant
	var created, expires, used int64
	fields, done := grantFields(&g)
	err := db.QueryRow(ctx, "SELECT r.created_at, r.expires_at, r.used_at, "+grantColumns+
		" FROM oidc_refresh r JOIN oidc_grant g ON g.id = r.grant_id WHERE r.hash = ?", hash).
		Scan(append([]any{&created, &expires, &used}, fields...)...)
	if err != nil {
		return oidcgrant.Tokens{}, db.Classify(sqldb.NotFound(err, "the refresh token"))
	}
	done()
	r.GrantID, r.CreatedAt, r.ExpiresAt, r.UsedAt = g.ID, sqldb.FromMillis(created), sqldb.FromMillis(expires),
		sqldb.FromMillis(used)
	return oidcgrant.Tokens{Grant: g, Refresh: &r}, nil
}

// RotateRefresh exchanges a refresh token for the next one of its grant. When it
// was used within the window before, nothing changes: the caller knows the next
// one. When it was used earlier the grant is revoked.
func (db *Store) RotateRefresh(ctx context.Context, hash string, next oidcgrant.Refresh,
	window time.Duration) (outcome oidcgrant.Rotation, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE oidc_refresh SET used_at = ? WHERE hash = ? AND used_at = 0 AND expires_at > ?
			AND EXISTS (SELECT 1 FROM oidc_grant g WHERE g.id = oidc_refresh.grant_id AND g.revoked_at = 0)`,
			sqldb.Millis(tx.Now), hash, sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("use refresh token: %w", err)
		}
		if n == 0 {
			outcome, err = repeatRefresh(ctx, tx, hash, window)
			return err
		}
		outcome = oidcgrant.Rotated
		if _, err := tx.Exec(ctx, "UPDATE oidc_grant SET last_used_at = ? WHERE id = ?", sqldb.Millis(tx.Now),
			next.GrantID); err != nil {
			return fmt.Errorf("record use of grant: %w", err)
		}
		return addRefresh(ctx, tx, next)
	})
	return outcome, err
}

// repeatRefresh judges a refresh token that cannot be used up.
func repeatRefresh(ctx context.Context, tx *sqldb.Tx, hash string, window time.Duration) (oidcgrant.Rotation, error) {
	var id string
	var used, revoked int64
	err := tx.QueryRow(ctx, "SELECT g.id, r.used_at, g.revoked_at FROM oidc_refresh r JOIN oidc_grant g ON g.id = "+
		"r.grant_id WHERE r.hash = ?", hash).
		Scan(&id, &used, &revoked)
	switch {
	case err != nil:
		return oidcgrant.Refused, sqldb.NotFound(err, "the refresh token")
	case revoked != 0 || used == 0: // an unused one has expired
		return oidcgrant.Refused, nil
	case !tx.Now.After(sqldb.FromMillis(used).Add(window)):
		return oidcgrant.Repeated, nil
	}
	return oidcgrant.Refused, revokeGrant(ctx, tx, id, reasonRefreshReplay)
}

// RevokeGrant revokes a grant with every token that was issued for it. The reason
// goes to the audit log.
func (db *Store) RevokeGrant(ctx context.Context, id, reason string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error { return revokeGrant(ctx, tx, id, reason) })
}

// revokeGrant revokes a grant once, with an audit record. Its refresh tokens stay, in order
// to recognize a later use.
func revokeGrant(ctx context.Context, tx *sqldb.Tx, id, reason string) error {
	n, err := tx.Exec(ctx, "UPDATE oidc_grant SET revoked_at = ? WHERE id = ? AND revoked_at = 0", sqldb.Millis(tx.Now),
		id)
	if err != nil {
		return fmt.Errorf("revoke grant: %w", err)
	}
	if n == 0 {
		return nil // gone, or revoked before
	}
	return auditlog.Append(ctx, tx, audit.Event{Action: "grant.revoke", TargetKind: "grant", Target: id,
		Detail: map[string]any{"reason": reason}})
}

// RevokeGrants revokes the grants that the condition selects.
func RevokeGrants(ctx context.Context, tx *sqldb.Tx, reason, where string, args ...any) error {
	rows, err := tx.Query(ctx, "SELECT g.id FROM oidc_grant g WHERE g.revoked_at = 0 AND "+where+" ORDER BY g.id",
		args...)
	ids, err := sqldb.Collect(rows, err, sqldb.ScanString)
	if err != nil {
		return fmt.Errorf("list grants: %w", err)
	}
	for _, id := range ids {
		if err := revokeGrant(ctx, tx, id, reason); err != nil {
			return err
		}
	}
	return nil
}

// ActiveGrants returns the grants of the user that give access now, latest use
// first.
func (db *Store) ActiveGrants(ctx context.Context, user tenant.UserID) ([]oidcgrant.Grant, error) {
	rows, err := db.Query(ctx, "SELECT "+grantColumns+" FROM oidc_grant g WHERE g.user_id = ? AND g.revoked_at = 0 "+
		"AND g.expires_at > ? ORDER BY g.last_used_at DESC, g.id",
		string(user), sqldb.Millis(db.Timestamp()))
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (g oidcgrant.Grant, err error) {
		fields, done := grantFields(&g)
		err = rows.Scan(fields...)
		done()
		return g, err
	})
}

// RevokeToken refuses the access token with the id until the given time.
func (db *Store) RevokeToken(ctx context.Context, id string, until time.Time) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO oidc_revocation (id, expires_at) VALUES (?, ?)
			ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE oidc_revocation.expires_at < excluded.expires_at`, id, sqldb.Millis(until))
		if err != nil {
			return fmt.Errorf("revoke token: %w", err)
		}
		return nil
	})
}

// Admit reports whether the user exists and is active, that the token is not
// revoked, and that what it was issued for is still there: the grant, the session,
// or the personal access token. With since, also that the password was not changed
// after it. It is one query: every request of the API makes it.
func (db *Store) Admit(ctx context.Context, a oidcgrant.Admission) (who oidcgrant.Admitted, admitted bool, err error) {
	var active, revoked, granted, signedIn bool
	var validFrom, created, expires int64
	var token, scopes, organizations, projects string
	err = db.QueryRow(ctx, `SELECT u.disabled_at = 0, u.service_of IS NOT NULL, COALESCE(c.valid_from, 0),
			EXISTS (SELECT 1 FROM oidc_revocation r WHERE r.id = ?),
			EXISTS (SELECT 1 FROM oidc_grant g WHERE g.id = ? AND g.user_id = u.id AND g.revoked_at = 0),
			EXISTS (SELECT 1 FROM session s WHERE s.id = ? AND s.user_id = u.id),
			COALESCE(t.id, ''), COALESCE(t.scopes, ''), COALESCE(t.organizations, ''), COALESCE(t.projects, ''),
			COALESCE(t.created_at, 0), COALESCE(t.expires_at, 0)
		FROM app_user u LEFT JOIN credential c ON c.user_id = u.id
			LEFT JOIN personal_access_token t ON t.id = ? AND t.user_id = u.id WHERE u.id = ?`,
		a.TokenID, a.Grant, a.Session, a.PersonalToken, string(a.User)).
		Scan(&active, &who.Service, &validFrom, &revoked, &granted, &signedIn, &token, &scopes, &organizations,
			&projects, &created, &expires)
	if err != nil {
		return oidcgrant.Admitted{}, false, db.Classify(sqldb.NotFound(err, "the user"))
	}
	if a.PersonalToken != "" {
		who.Limits = tenant.TokenLimits{
			Scopes: access.DecodeScopes(scopes), Organizations: access.SplitIDs[tenant.OrganizationID](organizations),
			Projects:  access.SplitIDs[tenant.ProjectID](projects),
			ExpiresAt: sqldb.FromMillis(expires), Age: db.Timestamp().Sub(sqldb.FromMillis(created)),
		}
	}
	ended := a.Grant != "" && !granted || a.Session != "" && !signedIn || a.PersonalToken != token
	stale := !a.Since.IsZero() && a.Since.Before(sqldb.FromMillis(validFrom))
	return who, active && !revoked && !ended && !stale, nil
}

// CollectGrants removes what has ended: codes, grants with their refresh tokens,
// device authorizations and revocations. It returns the number of rows.
func (db *Store) CollectGrants(ctx context.Context) (removed int64, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		removed = 0
		for _, d := range []struct {
			table  string
			before time.Time
		}{
			{"oidc_code", tx.Now.Add(-codeMemory)},
			{"oidc_refresh", tx.Now},
			{"oidc_grant", tx.Now.Add(-codeMemory)},
			{"oidc_device", tx.Now.Add(-codeMemory)},
			{"oidc_revocation", tx.Now},
		} {
			n, err := tx.Exec(ctx, "DELETE FROM "+d.table+" WHERE expires_at < ?", sqldb.Millis(d.before))
			if err != nil {
				return fmt.Errorf("collect %s: %w", d.table, err)
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

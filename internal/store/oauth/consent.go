package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// Consents returns what a user has agreed to give applications, ordered by the
// identifier of the application.
func (db *Store) Consents(ctx context.Context, user tenant.UserID) ([]oidcgrant.Consent, error) {
	rows, err := db.Query(ctx, "SELECT client_id, scopes, created_at FROM oidc_consent WHERE user_id = ? ORDER BY "+
		"client_id", string(user))
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (oidcgrant.Consent, error) {
		c := oidcgrant.Consent{UserID: user}
		var scopes string
		var created int64
		err := rows.Scan(&c.ClientID, &scopes, &created)
		c.Scopes, c.CreatedAt = strings.Fields(scopes), sqldb.FromMillis(created)
		return c, err
	})
}

// AddConsent keeps a consent in place of an earlier one of the same user and
// application.
func (db *Store) AddConsent(ctx context.Context, c oidcgrant.Consent) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO oidc_consent (user_id, client_id, scopes, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (user_id, client_id) DO UPDATE SET scopes = excluded.scopes, created_at = excluded.created_at`,
			string(c.UserID), c.ClientID, strings.Join(c.Scopes, " "), sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("keep consent: %w", err)
		}
		return auditlog.Append(ctx, tx, audit.Event{Actor: c.UserID, Client: c.ClientID, IP: c.IP,
			Action:     "consent.create",
			TargetKind: "application", Target: c.ClientID, Detail: map[string]any{"scopes": c.Scopes}})
	})
}

// WithdrawConsent removes the user's consent to the application, if there is one,
// and revokes every grant and unused code that the user gave to the application.
func (db *Store) WithdrawConsent(ctx context.Context, c oidcgrant.Consent, reason string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM oidc_consent WHERE user_id = ? AND client_id = ?", string(c.UserID),
			c.ClientID)
		if err != nil {
			return fmt.Errorf("withdraw consent: %w", err)
		}
		if n > 0 {
			err := auditlog.Append(ctx, tx, audit.Event{Actor: c.UserID, IP: c.IP, Action: "consent.delete",
				TargetKind: "application", Target: c.ClientID, Detail: map[string]any{"reason": reason}})
			if err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM oidc_code WHERE user_id = ? AND client_id = ? AND grant_id = ''",
			string(c.UserID), c.ClientID); err != nil {
			return fmt.Errorf("remove unused codes: %w", err)
		}
		return RevokeGrants(ctx, tx, reason, "g.user_id = ? AND g.client_id = ?", string(c.UserID), c.ClientID)
	})
}

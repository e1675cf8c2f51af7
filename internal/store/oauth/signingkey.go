package oauth

import (
	"context"
	"database/sql"
	"fmt"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
)

// SigningKeys returns every signing key, oldest first.
func (db *Store) SigningKeys(ctx context.Context) ([]oidcgrant.Key, error) {
	rows, err := db.Query(ctx, "SELECT generation, id, sealed, created_at, active_at FROM oidc_key ORDER BY generation")
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (oidcgrant.Key, error) {
		var k oidcgrant.Key
		var created, active int64
		err := rows.Scan(&k.Generation, &k.ID, &k.Sealed, &created, &active)
		k.CreatedAt, k.ActiveAt = sqldb.FromMillis(created), sqldb.FromMillis(active)
		return k, err
	})
}

// AddSigningKey keeps a key. It reports false when another process has made the
// key of this generation.
func (db *Store) AddSigningKey(ctx context.Context, k oidcgrant.Key) (added bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, `INSERT INTO oidc_key (generation, id, sealed, created_at, active_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (generation) DO NOTHING`, k.Generation, k.ID, k.Sealed, sqldb.Millis(k.CreatedAt), sqldb.Millis(k.ActiveAt))
		if err != nil {
			return fmt.Errorf("add signing key: %w", err)
		}
		if added = n == 1; !added {
			return nil
		}
		return auditlog.Append(ctx, tx, audit.Event{Action: "signing_key.create", TargetKind: "signing_key",
			Target: k.ID})
	})
	return added, err
}

// DropSigningKey removes a key that nothing valid was signed with.
func (db *Store) DropSigningKey(ctx context.Context, id string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM oidc_key WHERE id = ?", id)
		if err != nil {
			return fmt.Errorf("drop signing key: %w", err)
		}
		if n == 0 {
			return nil // another process was faster
		}
		return auditlog.Append(ctx, tx, audit.Event{Action: "signing_key.delete", TargetKind: "signing_key",
			Target: id})
	})
}

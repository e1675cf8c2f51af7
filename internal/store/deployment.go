package store

import (
	"context"
	"fmt"
)

// Once returns what the deployment remembers under the name. The first call, of
// whichever process, makes it value.
func (db *DB) Once(ctx context.Context, name, value string) (string, error) {
	err := db.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name, value); err != nil {
			return fmt.Errorf("remember %s: %w", name, err)
		}
		return tx.QueryRow(ctx, "SELECT value FROM deployment WHERE name = ?", name).Scan(&value)
	})
	return value, err
}

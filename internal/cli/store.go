package cli

import (
	"context"
	"fmt"
	"os"

	"merlon/internal/config"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
)

// openStore opens the database of a deployment, beside a server that may be
// running.
func openStore(ctx context.Context, c config.Store) (*store.DB, error) {
	url, err := c.URL()
	if err != nil {
		return nil, err
	}
	if url != "" {
		return postgres.Open(ctx, url, store.Options{Region: c.Region})
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	return sqlite.Open(ctx, c.Path("merlon.db"), store.Options{Region: c.Region})
}

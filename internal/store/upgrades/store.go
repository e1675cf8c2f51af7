// Package upgrades stores remediation jobs.
package upgrades

import "merlon/internal/store/sqldb"

// A Store runs the queries on an open database.
type Store struct{ *sqldb.DB }

// New returns a Store over an open database.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Package coverage stores which analyses looked at which branch of a project, and when.
package coverage

import "merlon/internal/store/sqldb"

// A Store runs the queries on an open database.
type Store struct{ *sqldb.DB }

// New returns a Store over an open database.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Package projects stores projects, and lists them fast among a million.
package projects

import "merlon/internal/store/sqldb"

// A Store runs the queries on an open database, and keeps totals that are slow to
// add up.
type Store struct {
	*sqldb.DB
	cache totalsCache
}

// New returns a Store over an open database.
func New(db *sqldb.DB) *Store { return &Store{DB: db} }

package sqldb

// LockTables is ForUpdate for some tables of a join.
func (db *DB) LockTables(tables ...string) string {
	lock := db.Dialect.ForUpdate()
	if lock == "" {
		return ""
	}
	for n, t := range tables {
		lock += []string{" OF ", ", "}[min(n, 1)] + t
	}
	return lock
}

// A Dialect is what the two databases do differently.
type Dialect interface {
	// Name is "sqlite" or "postgres".
	Name() string
	// Rebind replaces each ? by the placeholder of the database. Queries hold no
	// question mark that is not a placeholder.
	Rebind(query string) string
	// ForUpdate ends a SELECT that locks the rows it returns for the rest of the
	// transaction; empty where a transaction locks the whole database.
	ForUpdate() string
	// In returns a condition that column is one of the values, which are bound as
	// one argument, and that argument.
	In(column string, values []string) (string, any)
	// Like is the operator of a comparison that ignores case.
	Like() string
	// Conflict reports whether err says that a row breaks a unique constraint.
	Conflict(err error) bool
	// Transient reports whether err may go away when the transaction is run again.
	Transient(err error) bool
	// Unavailable reports whether err says that the database cannot be reached.
	Unavailable(err error) bool
}

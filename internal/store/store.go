// Package store puts the packages of queries together to one database: each holds
// the queries of some resources beside the functions that scan their rows, in SQL
// that SQLite and PostgreSQL both read. What the two do not share sits behind
// sqldb.Dialect; packages store/sqlite and store/postgres open a database and bring
// its schema up to date.
//
// Conventions. A method that serves a person's request takes the tenant.Scope first
// and filters on it; a scope's zero value matches no row. A method that changes state
// writes its audit record in the same transaction. Lists come in a fixed order.
// Package sqldb has those on columns.
package store

import (
	"merlon/internal/identity"
	"merlon/internal/store/access"
	"merlon/internal/store/advisories"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/coverage"
	"merlon/internal/store/findings"
	"merlon/internal/store/idempotency"
	"merlon/internal/store/mailqueue"
	"merlon/internal/store/oauth"
	"merlon/internal/store/organizations"
	"merlon/internal/store/overview"
	"merlon/internal/store/projects"
	"merlon/internal/store/redaction"
	"merlon/internal/store/registries"
	"merlon/internal/store/runs"
	"merlon/internal/store/sqldb"
	"merlon/internal/store/targets"
	"merlon/internal/store/upgrades"
	"merlon/internal/store/users"
)

// The stores that a DB is made of. Aliases give each embedded field a name of its own.
type (
	accessStore       = access.Store
	advisoryStore     = advisories.Store
	auditStore        = auditlog.Store
	coverageStore     = coverage.Store
	findingStore      = findings.Store
	idempotencyStore  = idempotency.Store
	mailStore         = mailqueue.Store
	oauthStore        = oauth.Store
	organizationStore = organizations.Store
	overviewStore     = overview.Store
	projectStore      = projects.Store
	redactionStore    = redaction.Store
	registryStore     = registries.Store
	runStore          = runs.Store
	targetStore       = targets.Store
	upgradeStore      = upgrades.Store
	userStore         = users.Store
)

// A DB is an open database with the current schema and all of its queries: it
// implements the store interface of every consumer. Its methods are safe for
// concurrent use.
type DB struct {
	*sqldb.DB
	*accessStore
	*advisoryStore
	*auditStore
	*coverageStore
	*findingStore
	*idempotencyStore
	*mailStore
	*oauthStore
	*organizationStore
	*overviewStore
	*projectStore
	*redactionStore
	*registryStore
	*runStore
	*targetStore
	*upgradeStore
	*userStore
}

var _ identity.Store = (*DB)(nil)

// What callers need of package sqldb to open a database and to work on it.
type (
	// Options say how a DB reaches its database.
	Options = sqldb.Options
	// A Tx is a transaction.
	Tx = sqldb.Tx
	// A Dialect is what the two databases do differently.
	Dialect = sqldb.Dialect
	// A SealedColumn is a column that holds sealed texts.
	SealedColumn = sqldb.SealedColumn
	// A SealedText is a text of such a column.
	SealedText = sqldb.SealedText
)

// New returns a DB over an open database. Package sqlite or postgres calls it.
func New(o Options) *DB {
	db := sqldb.New(o)
	return &DB{
		db, access.New(db), advisories.New(db), auditlog.New(db), coverage.New(db), findings.New(db),
		idempotency.New(db), mailqueue.New(db), oauth.New(db), organizations.New(db), overview.New(db),
		projects.New(db), redaction.New(db), registries.New(db), runs.New(db), targets.New(db), upgrades.New(db),
		users.New(db),
	}
}

// SealedColumns lists every column that holds sealed texts.
var SealedColumns = sqldb.SealedColumns

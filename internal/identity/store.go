package identity

import (
	"context"
	"time"

	"merlon/internal/audit"
	"merlon/internal/mail"
	"merlon/internal/tenant"
)

// A Store keeps what a Service knows. Every change is one transaction with the
// event that it is given. Hashes are what digest returns.
type Store interface {
	Users
	Sessions
	Tokens
	Requests
	Guard
}

// Users keeps users and their passwords.
type Users interface {
	// User returns a user, or a NotFound error.
	User(ctx context.Context, id tenant.UserID) (User, error)
	// UserByEmail returns the person with the normalised address and the stored
	// password, or a NotFound error; never a service account.
	UserByEmail(ctx context.Context, email string) (User, string, error)
	// Memberships returns the organizations and teams of a user, each by name.
	Memberships(ctx context.Context, user tenant.UserID) ([]Membership, error)
	// CreateUser stores a person, or returns a Conflict error.
	CreateUser(ctx context.Context, u User, password string, e audit.Event) error
	// UpdateUser stores the profile. It does not touch DisabledAt.
	UpdateUser(ctx context.Context, u User, e audit.Event) error
	// SetDisabled disables the user at a time, or enables the user when it is zero.
	// Disabling ends what EndAccess ends, without the tokens.
	SetDisabled(ctx context.Context, id tenant.UserID, at time.Time, e audit.Event) (Ended, error)
	// SetPassword stores another password and ends access as the PasswordSet says.
	SetPassword(ctx context.Context, p PasswordSet, e audit.Event) (Ended, error)
	// Rehash replaces the stored form of a password that stays the same, unless it
	// was changed meanwhile.
	Rehash(ctx context.Context, id tenant.UserID, from, to string) error
}

// A PasswordSet says how a password is changed.
type PasswordSet struct {
	User     tenant.UserID
	Password string      // as stored
	Keep     SessionID   // the only session that does not end; empty for none
	Tokens   bool        // delete the personal access tokens too
	Request  string      // hash of the recovery that is used up, if it is one
	Mail     mail.Queued // tells the user
}

// Ended counts what a change of the password, a recovery or an administrator ended.
type Ended struct {
	Sessions int64 // browsers that were signed in
	Grants   int64 // applications and devices with access
	Tokens   int64 // personal access tokens that were deleted
}

// Sessions keeps sessions. Those of disabled users are not found.
type Sessions interface {
	// CreateSession stores a session, forgets the user's oldest ones beyond
	// MaxSessions, and remembers the origin as known. It returns an Unauthenticated
	// error when the password was changed or the user disabled meanwhile.
	CreateSession(ctx context.Context, n NewSession, e audit.Event) error
	// SessionByHash returns a session that holds, or a NotFound error.
	SessionByHash(ctx context.Context, hash string, live Live) (Session, error)
	// Sessions returns a user's sessions that hold, latest use first.
	Sessions(ctx context.Context, user tenant.UserID, live Live) ([]Session, error)
	// EndSession removes a session, or returns a NotFound error.
	EndSession(ctx context.Context, end SessionEnd, e audit.Event) error
	// EndAccess ends every session and grant of the user and deletes the personal
	// access tokens.
	EndAccess(ctx context.Context, user tenant.UserID, e audit.Event) (Ended, error)
	// TouchSession records a use.
	TouchSession(ctx context.Context, id SessionID, at time.Time) error
	// KnownOrigin reports whether the user has had a session from the origin in the
	// last 30 days.
	KnownOrigin(ctx context.Context, user tenant.UserID, origin string) (bool, error)
}

// A SessionEnd says which session ends, with the access that was given to
// applications in it.
type SessionEnd struct {
	User        tenant.UserID
	ID          SessionID
	KeepOffline bool // applications with refresh tokens keep their access
}

// A NewSession is a session to store.
type NewSession struct {
	Session
	Hash     string // of the cookie's value
	Origin   string // where the user signed in from, an opaque text
	Password string // the stored password that was verified
}

// Live says when a session holds: it has not expired at At, and it was used after
// UsedSince.
type Live struct{ At, UsedSince time.Time }

// Tokens keeps personal access tokens.
type Tokens interface {
	// CreateToken stores a token and queues the mail about it, if it has one. A name
	// that the owner uses already is a Conflict error, as is one token more than
	// MaxTokens.
	CreateToken(ctx context.Context, t Token, hash string, m mail.Queued, e audit.Event) error
	// TokenByHash returns a token with its owner, and whether it is too old for one
	// of the owner's organizations; or a NotFound error. It may have expired, and the
	// owner may be disabled.
	TokenByHash(ctx context.Context, hash string) (t Token, owner User, old bool, err error)
	// Tokens returns the owner's tokens, oldest first.
	Tokens(ctx context.Context, owner tenant.UserID) ([]Token, error)
	// RenameToken renames the owner's token, or returns a NotFound or Conflict
	// error.
	RenameToken(ctx context.Context, owner tenant.UserID, from, to string, e audit.Event) error
	// DeleteToken removes the owner's token, or returns a NotFound error.
	DeleteToken(ctx context.Context, owner tenant.UserID, name string, e audit.Event) error
}

// Requests keeps what was asked for by mail: sign-ups and recoveries.
type Requests interface {
	// CreateRequest stores a request and queues the mail.
	CreateRequest(ctx context.Context, r Request, m mail.Queued, e audit.Event) error
	// RequestByHash returns a request that holds at now, or a NotFound error.
	RequestByHash(ctx context.Context, hash string, now time.Time) (Request, error)
	// ConfirmSignUp uses up a sign-up, together with the others for the address,
	// and stores the user with the password. It returns a NotFound error when it was
	// used meanwhile, and a Conflict error when the address has an account.
	ConfirmSignUp(ctx context.Context, hash string, u User, password string, e audit.Event) error
	// Invited reports whether an invitation for the address is open at now.
	Invited(ctx context.Context, email string, now time.Time) (bool, error)
}

// A RequestKind is what a request asks for.
type RequestKind string

const (
	SignUpRequest   RequestKind = "sign_up"
	RecoveryRequest RequestKind = "recovery"
)

// A Request waits for somebody to follow the link in a mail.
type Request struct {
	Hash      string // of the secret in the link
	Kind      RequestKind
	Email     string
	User      tenant.UserID // whose password is to be recovered; empty for a sign-up, and when nobody has the address
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Guard keeps counters and events that change nothing else.
type Guard interface {
	// CountHits counts every hit, or none when one of them is beyond its limit: then it
	// returns the hit and how long to wait.
	CountHits(ctx context.Context, hits []Hit) (Exceeded, error)
	// UncountHits takes hits back; it never goes below zero.
	UncountHits(ctx context.Context, hits []Hit) error
	// RecordUses appends the events and records the uses, in one transaction.
	RecordUses(ctx context.Context, uses []Use) error
	// SweepIdentity removes what has expired, and sessions that do not hold.
	SweepIdentity(ctx context.Context, live Live) error
}

// A Use is an event, and the token that was used if it is one.
type Use struct {
	Event audit.Event
	Token TokenID   // empty for none
	At    time.Time // of the use
}

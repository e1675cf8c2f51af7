// Package identity knows who somebody is: users, passwords, sessions, personal
// access tokens, sign-up and recovery by e-mail, and the limits on guessing. The
// OpenID protocol on top of it is package oidc; what a user may do stands in
// package tenant.
//
// Nothing here tells a stranger whether an e-mail address has an account: the
// answers, the work done and the mails sent are the same in both cases. Secrets
// that the service makes are 256 random bits and are stored as SHA-256; those
// that people make are stored with argon2id.
package identity

import (
	"context"
	"strings"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/mail"
	"merlon/internal/tenant"
)

// A User is a person, or a service account when ServiceOf is set. Every person
// has confirmed the e-mail address.
type User struct {
	ID           tenant.UserID
	Email        string // normalised; of a service account a name nobody can receive mail at
	FirstName    string
	LastName     string
	Picture      string // an https address, or empty
	Notification bool   // wants mails about findings
	Onboarded    bool   // has seen the introduction
	ServiceOf    tenant.OrganizationID
	DisabledAt   time.Time // zero while the account works
	// ValidFrom is when the password was last changed, or the account recovered
	// or disabled: whatever was derived from a sign-in before holds no more.
	ValidFrom time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Name returns the user's full name, or the e-mail address when there is none.
func (u User) Name() string {
	switch {
	case u.FirstName == "" && u.LastName == "":
		return u.Email
	case u.FirstName == "":
		return u.LastName
	case u.LastName == "":
		return u.FirstName
	}
	return u.FirstName + " " + u.LastName
}

// Service reports whether the user is a service account.
func (u User) Service() bool { return u.ServiceOf != "" }

// An Origin is where a request came from, for limits and the audit log.
type Origin struct {
	IP        string
	UserAgent string
	ClientID  string // the OpenID client; may be empty
}

// Names are what a person is called. FirstName must not be empty.
type Names struct{ FirstName, LastName string }

// Addresses of the pages that mails point to, below Options.AuthURL. Package
// oidc serves them; the secret is in the query parameter token.
const (
	SignInPath   = "/auth/sign-in"
	SignUpPath   = "/auth/sign-up"
	VerifyPath   = "/auth/verify"
	ForgotPath   = "/auth/forgot"
	RecoveryPath = "/auth/recover"
	AccountPath  = "/auth/account"
)

// Lifetimes of what the service hands out. Those of sessions are defaults.
const (
	SessionLifetime  = 12 * time.Hour // at most, however much it is used
	SessionIdle      = 2 * time.Hour  // without use
	SignUpLifetime   = 24 * time.Hour // of a link that confirms an address
	RecoveryLifetime = time.Hour      // of a link to choose a new password
)

// usedEvery is how exactly the last use of a session or a token is known. A write for each
// request would make reads of the API wait for the database.
const usedEvery = time.Minute

// Options are what a Service is made of.
type Options struct {
	Store   Store
	Post    mail.Post
	Region  string // new identifiers carry it
	AuthURL string // without a slash at the end
	Limits  Limits // zero for DefaultLimits
	Now     func() time.Time
	// InvitedOnly lets only those sign up who have an open invitation. Others get
	// a mail that says so; the answer to the request is the same.
	InvitedOnly     bool
	SessionLifetime time.Duration // zero for SessionLifetime
	SessionIdle     time.Duration // zero for SessionIdle
}

// A Service answers who somebody is. Its methods are safe for concurrent use.
type Service struct {
	Options
	// limiter counts attempts at guessing.
	limiter *Limiter
	// recorder writes uses of tokens and events in batches.
	recorder *recorder
	// hasher computes argon2id, a few at a time.
	hasher *hasher
}

// New returns a Service.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits
	}
	if o.SessionLifetime <= 0 {
		o.SessionLifetime = SessionLifetime
	}
	if o.SessionIdle <= 0 {
		o.SessionIdle = SessionIdle
	}
	s := &Service{Options: o, hasher: newHasher(), recorder: newRecorder(o.Store)}
	s.limiter = newLimiter(o.Store, s.recorder, o.Now)
	return s
}

// Limiter returns the limiter that the service uses, for other ways of guessing,
// such as codes of the device flow.
func (s *Service) Limiter() *Limiter { return s.limiter }

// Run removes what has expired, at once and then every hour, until the context
// ends. Failures are told to report.
func (s *Service) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := s.Store.SweepIdentity(ctx, s.liveFilter()); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// User returns the user, or a NotFound error. A disabled user is returned too.
func (s *Service) User(ctx context.Context, id tenant.UserID) (User, error) {
	return s.Store.User(ctx, id)
}

// Provision creates a user with a confirmed address and a new strong password,
// which it returns: the way in for a first administrator. Without a first name
// the user is called as the address begins. An address that has an account is a
// Conflict error.
func (s *Service) Provision(ctx context.Context, email string, n Names) (User, string, error) {
	password := newPassword()
	u, err := s.ProvisionWith(ctx, email, n, password)
	return u, password, err
}

// ProvisionWith does the same with a password that the operator has chosen; one that is
// too easy to guess is an Invalid error.
func (s *Service) ProvisionWith(ctx context.Context, email string, n Names, password string) (User, error) {
	email, err := NormalizeEmail(email)
	if err != nil {
		return User{}, err
	}
	if n.FirstName == "" {
		n.FirstName, _, _ = strings.Cut(email, "@")
	}
	if n, err = n.normalizeNames(); err != nil {
		return User{}, err
	}
	if err := checkPassword(password, s.AuthURL, email, n.FirstName, n.LastName); err != nil {
		return User{}, err
	}
	hash, err := s.hasher.hashPassword(ctx, password)
	if err != nil {
		return User{}, err
	}
	u := s.newUser(email, n)
	return u, s.Store.CreateUser(ctx, u, hash, audit.Event{Action: "user.provision", TargetKind: "user",
		Target: string(u.ID)})
}

// newUser returns a user that is not stored yet.
func (s *Service) newUser(email string, n Names) User {
	now := s.now()
	return User{
		ID: tenant.UserID(tenant.NewID(s.Region, now)), Email: email, FirstName: n.FirstName, LastName: n.LastName,
		Notification: true, ValidFrom: now, CreatedAt: now, UpdatedAt: now,
	}
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// invalidInput returns an Invalid error about one part of a request.
func invalidInput(location, format string, args ...any) error {
	e := errs.E(errs.Invalid, format, args...)
	e.Details = []errs.Detail{{Location: location, Message: e.Message}}
	return e
}

package identity

import (
	"context"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// A SessionID identifies a session.
type SessionID string

// A Session is a browser that somebody signed in with.
type Session struct {
	ID         SessionID
	Token      string // the cookie's value; only when the session was just made
	UserID     tenant.UserID
	CreatedAt  time.Time
	LastUsedAt time.Time // exact to a minute
	ExpiresAt  time.Time // at the latest; without use it ends before
	AuthTime   time.Time // when the password was last typed
	IP         string    // of the sign-in
	UserAgent  string    // of the sign-in
}

// MaxSessions bounds the sessions of one user.
const MaxSessions = 50

// maxUserAgent bounds, in bytes, what is kept of a browser's name.
const maxUserAgent = 256

// Credentials are what somebody signs in with.
type Credentials struct {
	Email     string
	Password  string
	IP        string
	UserAgent string
}

// SignIn returns a new session, or an Unauthenticated error that does not say
// what was wrong: the answer and the work are the same for an address without an
// account. Too many failures are a TooMany error.
func (s *Service) SignIn(ctx context.Context, c Credentials) (Session, error) {
	o := Origin{IP: c.IP, UserAgent: c.UserAgent}
	email, err := NormalizeEmail(c.Email)
	if err != nil {
		email = "" // no account has it; the rest goes as always
	}
	address := o.Address()
	hits := []Hit{
		s.newHit(s.Limits.SignInPair, "sign-in-pair", email+" "+address),
		s.newHit(s.Limits.SignInAddress, "sign-in-address", address),
	}
	if err := s.limiter.Allow(ctx, o, hits...); err != nil {
		return Session{}, err
	}
	u, stored, err := s.Store.UserByEmail(ctx, email)
	if err != nil && !isNotFound(err) {
		return Session{}, err
	}
	origin := secretDigest(string(u.ID) + " " + address)
	known, err := s.Store.KnownOrigin(ctx, u.ID, origin)
	if err != nil {
		return Session{}, err
	}
	if !known {
		account := s.newHit(s.Limits.SignInAccount, "sign-in-account", email)
		if err := s.limiter.Allow(ctx, o, account); err != nil {
			return Session{}, err
		}
		hits = append(hits, account)
	}
	ok, outdated, err := s.hasher.verifyPassword(ctx, c.Password, stored)
	if err != nil {
		return Session{}, err
	}
	if !ok || !u.DisabledAt.IsZero() {
		return Session{}, s.refuseSignIn(ctx, o, u, email)
	}
	if outdated {
		if stored, err = s.rehashPassword(ctx, u, c.Password, stored); err != nil {
			return Session{}, err
		}
	}
	return s.signIn(ctx, u, o, signedIn{origin: origin, password: stored, hits: hits})
}

// signedIn is what a sign-in that went well leaves behind.
type signedIn struct {
	origin   string
	password string // as stored
	hits     []Hit  // to take back
}

func (s *Service) signIn(ctx context.Context, u User, o Origin, in signedIn) (Session, error) {
	now := s.now()
	se := Session{
		ID: SessionID(tenant.NewID(s.Region, now)), Token: newSecret(), UserID: u.ID, CreatedAt: now, LastUsedAt: now,
		AuthTime: now, ExpiresAt: now.Add(s.SessionLifetime), IP: o.IP,
		UserAgent: sanitizeText(o.UserAgent, maxUserAgent),
	}
	e := audit.Event{Action: "session.create", TargetKind: "user", Target: string(u.ID)}
	n := NewSession{Session: se, Hash: secretDigest(se.Token), Origin: in.origin, Password: in.password}
	if err := s.Store.CreateSession(ctx, n, e.By(o.actorOf(u))); err != nil {
		return Session{}, err
	}
	return se, s.limiter.Refund(ctx, in.hits...)
}

// refuseSignIn records the failure and returns the error. The log holds a
// shortened hash of an address without an account: people type passwords there.
func (s *Service) refuseSignIn(ctx context.Context, o Origin, u User, email string) error {
	e := audit.Event{Action: "session.refuse", TargetKind: "user", Target: string(u.ID)}
	if u.ID == "" {
		e.Detail = map[string]any{"emailHash": secretDigest(email)[:16]}
	}
	if err := s.recorder.recordUse(ctx, Use{Event: e.By(o.actorOf(User{}))}); err != nil {
		return err
	}
	return errs.E(errs.Unauthenticated, "wrong e-mail address or password, or e-mail address not confirmed")
}

// rehashPassword stores the password under the present parameters and returns its stored
// form.
func (s *Service) rehashPassword(ctx context.Context, u User, password, stored string) (string, error) {
	hash, err := s.hasher.hashPassword(ctx, password)
	if err != nil {
		return "", err
	}
	return hash, s.Store.Rehash(ctx, u.ID, stored, hash)
}

// Session returns the session of a cookie, or an Unauthenticated error.
func (s *Service) Session(ctx context.Context, token string) (Session, error) {
	now := s.now()
	if !isSecret(token) {
		return Session{}, errNoSession()
	}
	se, err := s.Store.SessionByHash(ctx, secretDigest(token), s.liveFilter())
	if isNotFound(err) {
		return Session{}, errNoSession()
	}
	if err != nil {
		return Session{}, err
	}
	if now.Sub(se.LastUsedAt) >= usedEvery {
		if err := s.Store.TouchSession(ctx, se.ID, now); err != nil {
			return Session{}, err
		}
		se.LastUsedAt = now
	}
	return se, nil
}

// liveFilter says which sessions hold now.
func (s *Service) liveFilter() Live {
	now := s.now()
	return Live{At: now, UsedSince: now.Add(-s.SessionIdle)}
}

func errNoSession() error {
	return errs.E(errs.Unauthenticated, "no active session: sign in")
}

// SignOut ends the session that the actor leaves. Applications that were given
// access for the time when the person is away keep it. A session that does not
// exist any more is no error.
func (s *Service) SignOut(ctx context.Context, by tenant.Actor, id SessionID) error {
	err := s.endSession(ctx, by, SessionEnd{User: by.UserID, ID: id, KeepOffline: true})
	if isNotFound(err) {
		return nil
	}
	return err
}

// Sessions returns the actor's sessions, latest use first.
func (s *Service) Sessions(ctx context.Context, by tenant.Actor) ([]Session, error) {
	return s.Store.Sessions(ctx, by.UserID, s.liveFilter())
}

// EndSession ends one of the actor's own sessions, with the access that was given
// to applications in it: whoever ends a session from elsewhere may not trust it
// any more. One that is not the actor's is NotFound.
func (s *Service) EndSession(ctx context.Context, by tenant.Actor, id SessionID) error {
	return s.endSession(ctx, by, SessionEnd{User: by.UserID, ID: id})
}

func (s *Service) endSession(ctx context.Context, by tenant.Actor, end SessionEnd) error {
	e := audit.Event{
		Action: "session.end", TargetKind: "user", Target: string(by.UserID),
		Detail: map[string]any{"session": string(end.ID)},
	}
	return s.Store.EndSession(ctx, end, e.By(by))
}

// EndAccess ends every session and grant of the user and deletes the personal
// access tokens.
func (s *Service) EndAccess(ctx context.Context, by tenant.Actor, user tenant.UserID) (Ended, error) {
	e := audit.Event{Action: "user.end_access", TargetKind: "user", Target: string(user)}
	return s.Store.EndAccess(ctx, user, e.By(by))
}

// isSecret reports whether s can be what newSecret returned.
func isSecret(s string) bool { return len(s) == secretLength && onlyDigits(s) }

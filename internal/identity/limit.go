package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// A Limit allows Max hits in any Window. It is counted in two fixed windows, of
// which the older one counts by the part that still lies inside (a sliding
// window counter), so that nobody gets twice Max at a boundary.
type Limit struct {
	Max    int
	Window time.Duration
}

// Limits bound how often something may be tried. Counters stand in the database,
// so that they hold across processes. An "address" is an IPv4 address or a /64
// of IPv6.
//
// Who guesses at one account from one address is stopped by SignInPair, long
// before SignIn stops the account; and SignIn does not count for an address from
// which the account has signed in during the last 30 days. So a stranger cannot
// lock somebody out of the places where that person works.
type Limits struct {
	SignInPair    Limit // failed sign-ins, per account and address
	SignInAccount Limit // failed sign-ins, per account
	SignInAddress Limit // failed sign-ins, per address
	MailAccount   Limit // mails asked for (sign-up, recovery), per account
	MailAddress   Limit // the same, per address
	Link          Limit // wrong links from mails, per address
	Password      Limit // wrong present passwords at a change, per account
	Exchange      Limit // refused personal access tokens, per address

	// Quotas, which the operator sets. With a Max of 0 there is no limit.
	MailRecipient Limit // mails to one e-mail address that others can ask for
	TokenMail     Limit // mails about new personal access tokens, per owner
}

// MailRecipient is the name of the limit of mails to one address: invitations count
// under it as well.
const MailRecipient = "mail-recipient"

// QuotaWindow is over what time quotas count what a user makes.
const QuotaWindow = 24 * time.Hour

// DefaultLimits is what a deployment has unless it says otherwise.
var DefaultLimits = Limits{
	// 10 attempts in 15 minutes are 350,000 a year; a password withstands more than 10^12 (see
	// minEntropy).
	SignInPair:    Limit{10, 15 * time.Minute},
	SignInAccount: Limit{50, 15 * time.Minute},
	SignInAddress: Limit{100, 15 * time.Minute},
	// Mails cost money and annoy: five in an hour are enough for somebody who does not find the
	// first.
	MailAccount:   Limit{5, time.Hour},
	MailAddress:   Limit{30, time.Hour},
	Link:          Limit{30, 15 * time.Minute},
	Password:      Limit{10, 15 * time.Minute},
	Exchange:      Limit{60, time.Minute},
	MailRecipient: Limit{50, QuotaWindow},
	TokenMail:     Limit{200, QuotaWindow},
}

// A Hit is one count under a key.
type Hit struct {
	Name  string // of the limit, for the audit log
	Key   string // as stored: a hash, so that the table holds no addresses
	Limit Limit
	At    time.Time // zero for the moment of Allow; Refund needs it
}

// Hit returns a hit of the limit that name stands for, under the key, which may
// be anything that is to be counted apart: an e-mail address, an IP address, an
// identifier.
func (l Limit) Hit(name, key string) Hit {
	// The name is part of the hash: one address under two limits has two counters.
	sum := sha256.Sum256([]byte(name + "\x00" + key))
	return Hit{Name: name, Key: hex.EncodeToString(sum[:16]), Limit: l}
}

// newHit returns a hit at the present time, which can be refunded.
func (s *Service) newHit(l Limit, name, key string) Hit {
	h := l.Hit(name, key)
	h.At = s.now()
	return h
}

// Allow counts hits for the actor, or returns a TooMany error: see Limiter.Allow.
func (s *Service) Allow(ctx context.Context, by tenant.Actor, hits ...Hit) error {
	o := Origin{IP: by.IP, UserAgent: by.UserAgent, ClientID: by.ClientID}
	return s.limiter.Allow(ctx, o, hits...)
}

// Address returns what the origin's IP address is counted as. Whoever has an IPv6
// address has all of its /64, and whoever is on this machine has all of 127.0.0.0/8.
func (o Origin) Address() string {
	a, err := netip.ParseAddr(o.IP)
	if err != nil {
		return o.IP
	}
	a = a.Unmap().WithZone("")
	if a.IsLoopback() {
		return "127.0.0.1"
	}
	if a.Is4() {
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return o.IP
	}
	return p.String()
}

// Exceeded is the answer to a hit beyond its limit; its zero value means that
// everything was counted.
type Exceeded struct {
	Hit  Hit
	Wait time.Duration
}

// Window returns the window that the hit falls into.
func (h Hit) Window() time.Time { return h.At.Truncate(h.Limit.Window) }

// Beyond decides about one more hit, when present hits are counted in its window
// and earlier ones in the window before. It returns how long to wait, 0 when the
// hit is allowed.
func (h Hit) Beyond(present, earlier int) time.Duration {
	window, limit := h.Limit.Window, float64(h.Limit.Max)
	passed := h.At.Sub(h.Window())
	inside := 1 - float64(passed)/float64(window) // of the window before
	if float64(present)+float64(earlier)*inside+1 <= limit {
		return 0
	}
	// The first moment at which one more is allowed: in this window when the
	// earlier hits are what is too much, else in the next one.
	if float64(present)+1 <= limit {
		return ceilSecond(waitFraction(window, limit-1-float64(present), earlier) - passed)
	}
	return ceilSecond(window - passed + waitFraction(window, limit-1, present))
}

// waitFraction returns how much of a window has to pass until its hits count for
// no more than free.
func waitFraction(window time.Duration, free float64, hits int) time.Duration {
	return time.Duration(float64(window) * min(1, max(0, 1-free/float64(hits))))
}

// ceilSecond rounds up to full seconds, at least one: Retry-After has no fractions, and a
// client that comes a moment too early would be refused again.
func ceilSecond(d time.Duration) time.Duration {
	return time.Duration(max(1, math.Ceil(d.Seconds()))) * time.Second
}

// maxBlocked bounds what a Limiter remembers.
const maxBlocked = 10_000

// A Limiter counts hits and says when it is too much. What it has refused it
// refuses again without asking the database, until the time is over.
type Limiter struct {
	store    Guard
	recorder *recorder
	now      func() time.Time

	mu      sync.Mutex
	blocked map[string]time.Time // key → end
}

// newLimiter returns a limiter that has refused nothing yet.
func newLimiter(store Guard, r *recorder, now func() time.Time) *Limiter {
	return &Limiter{store: store, recorder: r, now: now, blocked: map[string]time.Time{}}
}

// Allow counts the hits, or returns a TooMany error with the member retryAfter
// (seconds) when one of them is beyond its limit; nothing is counted then. Hits of
// a limit whose Max is 0 are not counted.
func (l *Limiter) Allow(ctx context.Context, o Origin, hits ...Hit) error {
	now := l.now()
	hits = slices.DeleteFunc(slices.Clone(hits), func(h Hit) bool { return h.Limit.Max == 0 })
	if len(hits) == 0 {
		return nil
	}
	for i := range hits {
		if hits[i].At.IsZero() {
			hits[i].At = now
		}
		if wait := l.blockedFor(hits[i].Key, now); wait > 0 {
			return tooMany(wait)
		}
	}
	over, err := l.store.CountHits(ctx, hits)
	if err != nil || over.Wait == 0 {
		return err
	}
	l.rememberBlock(over.Hit.Key, now.Add(over.Wait), now)
	e := audit.Event{Action: "limit.exceed", TargetKind: "limit", Target: over.Hit.Name}
	if err := l.recorder.recordUse(ctx, Use{Event: e.By(o.actorOf(User{}))}); err != nil {
		return err
	}
	return tooMany(over.Wait)
}

// Refund takes back hits that Allow counted and that have a time: what they were
// counted for went well.
func (l *Limiter) Refund(ctx context.Context, hits ...Hit) error {
	return l.store.UncountHits(ctx, hits)
}

// blockedFor returns how long the key is still refused; 0 or less when it is not.
func (l *Limiter) blockedFor(key string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.blocked[key]
	if ok && !now.Before(until) {
		delete(l.blocked, key)
		return 0
	}
	return until.Sub(now)
}

// rememberBlock refuses the key until a time, without the database. When the memory is full,
// ended blocks are dropped first.
func (l *Limiter) rememberBlock(key string, until, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.blocked) >= maxBlocked {
		for k, end := range l.blocked {
			if !now.Before(end) {
				delete(l.blocked, k)
			}
		}
	}
	if len(l.blocked) < maxBlocked { // beyond, the database decides each time
		l.blocked[key] = until
	}
}

// tooMany returns the error for a refused attempt.
func tooMany(wait time.Duration) error {
	e := errs.E(errs.TooMany, "too many attempts: try again in %s", wait.Round(time.Second))
	e.Members = map[string]string{"retryAfter": strconv.Itoa(int(wait / time.Second))}
	return e
}

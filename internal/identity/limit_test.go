package identity_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/argon2"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/tenant"
)

func TestBeyond(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		passed           time.Duration
		present, earlier int
		want             time.Duration
	}{
		{0, 0, 0, 0},
		{0, 9, 0, 0},
		{0, 10, 0, 66 * time.Second},                 // into the next window until 10 count for 9
		{30 * time.Second, 0, 10, 0},                 // 10 count for 5
		{0, 0, 10, 6 * time.Second},                  // 10 have to count for 9
		{0, 5, 10, 36 * time.Second},                 // 10 have to count for 4
		{30 * time.Second, 10, 10, 36 * time.Second}, // the rest of this window, then as above
		{59 * time.Second, 9, 10, time.Second},
	}
	for _, tt := range tests {
		h := identity.Limit{Max: 10, Window: time.Minute}.Hit("x", "y")
		h.At = start.Add(tt.passed)
		if got := h.Beyond(tt.present, tt.earlier); got != tt.want {
			t.Errorf("after %v with %d and %d: got %v, want %v", tt.passed, tt.present, tt.earlier, got, tt.want)
		}
	}
}

// Whoever waits as long as the answer says is let in, and not much earlier.
func TestWaitIsTrue(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		limit := identity.Limit{Max: 1 + rnd.IntN(50), Window: time.Minute}
		h := limit.Hit("x", "y")
		h.At = start.Add(time.Duration(rnd.IntN(60_000)) * time.Millisecond)
		present, earlier := rnd.IntN(limit.Max+1), rnd.IntN(limit.Max+1)
		wait := h.Beyond(present, earlier)
		if wait == 0 {
			continue
		}
		allowed := func(at time.Time) bool {
			later := limit.Hit("x", "y")
			later.At = at
			switch later.Window() {
			case h.Window():
				return later.Beyond(present, earlier) == 0
			case h.Window().Add(time.Minute):
				return later.Beyond(0, present) == 0
			}
			return later.Beyond(0, 0) == 0
		}
		if !allowed(h.At.Add(wait)) {
			t.Fatalf("limit %d at %v with %d and %d: refused after %v", limit.Max, h.At, present, earlier, wait)
		}
		if early := h.At.Add(wait - 1100*time.Millisecond); early.After(h.At) && allowed(early) {
			t.Fatalf("limit %d at %v with %d and %d: allowed before %v", limit.Max, h.At, present, earlier, wait)
		}
	}
}

func TestOriginAddress(t *testing.T) {
	for ip, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "127.0.0.1": "127.0.0.1", "127.8.9.1": "127.0.0.1", "::1": "127.0.0.1",
		"::ffff:127.0.0.2": "127.0.0.1", "nonsense": "nonsense", "": "",
	} {
		if got := (identity.Origin{IP: ip}).Address(); got != want {
			t.Errorf("%s counts as %s, want %s", ip, got, want)
		}
	}
}

func small() identity.Limits {
	l := identity.DefaultLimits
	l.SignInPair.Max, l.SignInAccount.Max, l.SignInAddress.Max = 3, 6, 9
	return l
}

func TestStrangerCannotLockOut(t *testing.T) {
	eachWith(t, small(), func(t *testing.T, w *world) {
		w.user("ada@example.com")
		_, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in at home", err)
		guess := func(ip string) error {
			_, err := w.signIn("ada@example.com", "not the password", ip)
			return err
		}
		for range 3 {
			want(t, "guess", guess("203.0.113.1"), errs.Unauthenticated)
		}
		other := w.process(small())
		_, err = other.SignIn(t.Context(), identity.Credentials{Email: "ADA@example.com", Password: good,
			IP: "203.0.113.1"})
		want(t, "even with the password, from the guesser's address, in another process", err, errs.TooMany)
		_, err = w.signIn("ada@example.com", good, "198.51.100.7")
		ok(t, "sign in from elsewhere", err)
		for range 3 {
			want(t, "guess from a second address", guess("203.0.113.2"), errs.Unauthenticated)
		}
		want(t, "guess from a third address", guess("203.0.113.3"), errs.TooMany)
		_, err = w.signIn("ada@example.com", good, "198.51.100.8")
		want(t, "sign in from a new address", err, errs.TooMany)
		for _, ip := range []string{"192.0.2.1", "198.51.100.7"} {
			_, err = w.signIn("ada@example.com", good, ip)
			ok(t, "sign in from a known address", err)
		}
		w.clock.Advance(30 * time.Minute)
		_, err = w.signIn("ada@example.com", good, "198.51.100.8")
		ok(t, "later", err)
	})
}

// Right passwords are not counted: a script may sign in as often as it likes.
func TestSuccessIsNotCounted(t *testing.T) {
	eachWith(t, small(), func(t *testing.T, w *world) {
		w.user("ada@example.com")
		for range 12 {
			_, err := w.signIn("ada@example.com", good, "192.0.2.1")
			ok(t, "sign in", err)
		}
	})
}

// An address that tries many accounts is stopped, whether they exist or not.
func TestSprayIsStopped(t *testing.T) {
	eachWith(t, small(), func(t *testing.T, w *world) {
		w.user("a1@example.com")
		for i := range 9 {
			_, err := w.signIn(fmt.Sprintf("a%d@example.com", i), "Password2026!", "2001:db8::"+fmt.Sprint(i+1))
			want(t, "spray", err, errs.Unauthenticated)
		}
		_, err := w.signIn("a1@example.com", good, "2001:db8::ffff")
		want(t, "one more, from the same /64", err, errs.TooMany)
	})
}

// Limits hold against many at once in two processes.
func TestLimitHoldsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		limit := identity.Limit{Max: 10, Window: time.Minute}
		var allowed atomic.Int64
		var all sync.WaitGroup
		for _, p := range []*identity.Service{w.Service, w.process(identity.Limits{})} {
			for range 10 {
				all.Go(func() {
					for range 3 {
						err := p.Limiter().Allow(t.Context(), here, limit.Hit("test", "x"), limit.Hit("test", "y"))
						switch {
						case err == nil:
							allowed.Add(1)
						case !errs.Is(err, errs.TooMany):
							t.Error(err)
						}
					}
				})
			}
		}
		all.Wait()
		if allowed.Load() != 10 {
			t.Errorf("%d were allowed, want 10", allowed.Load())
		}
	})
}

func TestMailsAreLimited(t *testing.T) {
	limits := identity.DefaultLimits
	limits.MailAccount.Max, limits.MailAddress.Max = 2, 3
	eachWith(t, limits, func(t *testing.T, w *world) {
		w.user("ada@example.com")
		ok(t, "recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		want(t, "recovery", w.StartRecovery(t.Context(), "Ada@example.com", here), errs.TooMany)
		ok(t, "recovery of another", w.StartRecovery(t.Context(), "nobody@example.com", here))
		want(t, "recovery of a third", w.StartRecovery(t.Context(), "third@example.com", here), errs.TooMany)
		ok(t, "from elsewhere", w.StartRecovery(t.Context(), "third@example.com", identity.Origin{IP: "198.51.100.1"}))
	})
}

// TestMailsToOneAddressAreLimited counts all mails to an address that others can ask for,
// from wherever they ask, for a day.
func TestMailsToOneAddressAreLimited(t *testing.T) {
	limits := identity.DefaultLimits
	limits.MailRecipient.Max = 3
	eachWith(t, limits, func(t *testing.T, w *world) {
		from := func(i int) identity.Origin { return identity.Origin{IP: fmt.Sprint("198.51.100.", i)} }
		ok(t, "sign up", w.SignUp(t.Context(), "ada@example.com", from(1)))
		ok(t, "recovery", w.StartRecovery(t.Context(), "Ada@example.com", from(2)))
		w.clock.Advance(2 * time.Hour) // beyond the window of the other limits
		invitation := identity.Limit{Max: 3, Window: identity.QuotaWindow}.Hit(identity.MailRecipient,
			"ada@example.com")
		ok(t, "invitation", w.Allow(t.Context(), tenant.Actor{UserID: "u"}, invitation))
		err := w.StartRecovery(t.Context(), "ada@example.com", from(3))
		want(t, "one more", err, errs.TooMany)
		var e *errs.Error
		if !errors.As(err, &e) || e.Members["retryAfter"] == "" {
			t.Errorf("%v says nothing of when to try again", err)
		}
		ok(t, "to another address", w.StartRecovery(t.Context(), "bob@example.com", from(3)))
		w.clock.Advance(48 * time.Hour)
		ok(t, "two days later", w.StartRecovery(t.Context(), "ada@example.com", from(3)))
	})
}

// TestTokenMailsAreLimited lets an owner make so many tokens a day, whatever mails
// others send to the address; 0 is no limit.
func TestTokenMailsAreLimited(t *testing.T) {
	limits := identity.DefaultLimits
	limits.TokenMail.Max, limits.MailRecipient.Max = 2, 1
	eachWith(t, limits, func(t *testing.T, w *world) {
		ada := w.user("ada@example.com")
		make := func(s *identity.Service, u identity.User, name string) error {
			_, _, err := s.CreateToken(t.Context(), tenant.Actor{UserID: u.ID},
				identity.NewToken{Owner: u.ID, Name: name})
			return err
		}
		ok(t, "the first", make(w.Service, ada, "one"))
		ok(t, "the second, by another process", make(w.process(limits), ada, "two"))
		want(t, "the third", make(w.Service, ada, "three"), errs.TooMany)
		none := limits
		none.TokenMail.Max = 0
		ok(t, "without a limit", make(w.process(none), ada, "four"))
		w.clock.Advance(48 * time.Hour)
		ok(t, "two days later", make(w.Service, ada, "five"))
	})
}

func TestLinksAreLimited(t *testing.T) {
	limits := identity.DefaultLimits
	limits.Link.Max = 2
	eachWith(t, limits, func(t *testing.T, w *world) {
		for _, kind := range []errs.Kind{errs.NotFound, errs.NotFound, errs.TooMany} {
			_, err := w.VerifyEmail(t.Context(), strings.Repeat("a", 43), ada, here)
			want(t, "a wrong link", err, kind)
		}
		ok(t, "sign up", w.SignUp(t.Context(), "a@example.com", here))
		_, err := w.VerifyEmail(t.Context(), secret(w.mail()), ada, here)
		ok(t, "a right link, from the same address", err)
	})
}

// A password stored under other parameters is stored anew when it is next typed.
func TestRehash(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		salt := []byte("0123456789abcdef")
		weak := fmt.Sprintf("$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$%s",
			b64(argon2.IDKey([]byte(good), salt, 1, 64, 1, 32)))
		ok(t, "weaken", w.db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), "UPDATE credential SET password = ? WHERE user_id = ?", weak, string(u.ID))
			return err
		}))
		_, err := w.signIn("ada@example.com", "not the password", "192.0.2.1")
		want(t, "a wrong password", err, errs.Unauthenticated)
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		_, stored, err := w.db.UserByEmail(t.Context(), "ada@example.com")
		if err != nil || !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Errorf("stored as %q, %v", stored, err)
		}
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in again", err)
	})
}

// What has expired is removed; what holds stays.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.user("ada@example.com")
		count := func() map[string]int {
			n := map[string]int{}
			for _, table := range []string{"session", "one_time_token", "rate_window", "known_origin", "credential"} {
				var rows int
				ok(t, table, w.db.QueryRow(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&rows))
				n[table] = rows
			}
			return n
		}
		se, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		ok(t, "recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		before := count()
		ok(t, "sweep", w.sweep())
		if diff := cmp.Diff(before, count()); diff != "" {
			t.Errorf("too much is gone (-before +after):\n%s", diff)
		}
		w.clock.Advance(90 * time.Minute)
		_, err = w.Session(t.Context(), se.Token)
		ok(t, "use", err)
		w.clock.Advance(90 * time.Minute)
		ok(t, "sweep", w.sweep())
		// The mail of the recovery still counts for the day.
		if diff := cmp.Diff(map[string]int{"session": 1, "one_time_token": 0, "rate_window": 1, "known_origin": 1,
			"credential": 1}, count()); diff != "" {
			t.Errorf("after three hours (-want +got):\n%s", diff)
		}
		w.clock.Advance(30 * 24 * time.Hour)
		ok(t, "sweep", w.sweep())
		if diff := cmp.Diff(map[string]int{"session": 0, "one_time_token": 0, "rate_window": 0, "known_origin": 0,
			"credential": 1}, count()); diff != "" {
			t.Errorf("after a month (-want +got):\n%s", diff)
		}
	})
}

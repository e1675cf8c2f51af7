package identity_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const (
	good  = "four rusty trombones"
	good2 = "seven quiet lighthouses"
)

// ada is what the owner of an address completes a sign-up with.
var ada = identity.NewUser{Password: good, Names: identity.Names{FirstName: "Ada"}}

var here = identity.Origin{IP: "192.0.2.1", UserAgent: "browser/1", ClientID: "cli"}

// A world is a service over a real store.
type world struct {
	*identity.Service
	t     *testing.T
	db    *store.DB
	clock *storetest.Clock
}

// each runs test on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	eachWith(t, identity.Limits{}, test)
}

func eachWith(t *testing.T, limits identity.Limits, test func(t *testing.T, w *world)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := &world{t: t, db: db, clock: clock}
		w.Service = w.process(limits)
		test(t, w)
	})
}

// process returns a service as another process on the same database has it.
func (w *world) process(limits identity.Limits) *identity.Service {
	w.t.Helper()
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		w.t.Fatal(err)
	}
	return identity.New(identity.Options{
		Store: w.db, Post: mail.Post{Box: box, Now: w.clock.Now}, Region: storetest.Region,
		AuthURL: "https://id.example",
		Limits:  limits, Now: w.clock.Now,
	})
}

// sweep removes what has expired.
func (w *world) sweep() error {
	now := w.clock.Now()
	return w.db.SweepIdentity(w.t.Context(), identity.Live{At: now, UsedSince: now.Add(-identity.SessionIdle)})
}

// user returns a new person with the password good.
func (w *world) user(email string) identity.User {
	w.t.Helper()
	if err := w.SignUp(w.t.Context(), email, here); err != nil {
		w.t.Fatal(err)
	}
	u, err := w.VerifyEmail(w.t.Context(), secret(w.mail()), ada, here)
	if err != nil {
		w.t.Fatal(err)
	}
	return u
}

// mail returns the only mail that waits, and takes it out of the queue.
func (w *world) mail() mail.Message {
	w.t.Helper()
	queued, err := w.db.ClaimMail(w.t.Context(), 10, time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(queued) != 1 {
		w.t.Fatalf("%d mails wait, want 1", len(queued))
	}
	m, err := w.Post.Open(queued[0])
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.MailSent(w.t.Context(), m.ID); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// secret returns the secret of the link in a mail.
func secret(m mail.Message) string {
	match := regexp.MustCompile(`token=(\w+)`).FindStringSubmatch(m.Text)
	if match == nil {
		return ""
	}
	return match[1]
}

func (w *world) signIn(email, password, ip string) (identity.Session, error) {
	return w.SignIn(w.t.Context(), identity.Credentials{Email: email, Password: password, IP: ip,
		UserAgent: "browser/1"})
}

// want fails unless err is of the kind.
func want(t *testing.T, what string, err error, kind errs.Kind) {
	t.Helper()
	if !errs.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of kind %q", what, err, kind)
	}
}

// ok fails when there is an error.
func ok(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// actions returns the deployment's audit records, oldest first, as "action
// actor target".
func (w *world) actions() []string {
	w.t.Helper()
	if _, err := w.db.VerifyAudit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	rows, err := w.db.Query(w.t.Context(), "SELECT action, actor, target FROM audit_event WHERE chain = '' "+
		"ORDER BY seq")
	ok(w.t, "read the audit log", err)
	defer rows.Close()
	var list []string
	for rows.Next() {
		var action, actor, target string
		ok(w.t, "read the audit log", rows.Scan(&action, &actor, &target))
		list = append(list, action+" "+actor+" "+target)
	}
	ok(w.t, "read the audit log", rows.Err())
	return list
}

func actor(u identity.User) tenant.Actor {
	return tenant.Actor{UserID: u.ID, Service: u.Service(), ClientID: "cli", IP: "192.0.2.1"}
}

func TestSignUpAndSignIn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ok(t, "sign up", w.SignUp(t.Context(), " Ada@Example.COM ", here))
		_, err := w.signIn("ada@example.com", good, "192.0.2.1")
		want(t, "sign in before the address is confirmed", err, errs.Unauthenticated)
		m := w.mail()
		if m.To != "ada@example.com" || !strings.Contains(m.Text, "https://id.example/auth/verify?token=") {
			t.Errorf("the mail is %+v", m)
		}
		n := identity.NewUser{Password: good, Names: identity.Names{FirstName: "Ada", LastName: "Lovelace"}}
		u, err := w.VerifyEmail(t.Context(), secret(m), n, here)
		ok(t, "verify", err)
		_, err = w.VerifyEmail(t.Context(), secret(m), n, here)
		want(t, "verify twice", err, errs.NotFound)

		se, err := w.signIn("ADA@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		got, err := w.Session(t.Context(), se.Token)
		ok(t, "session", err)
		cookie := se.Token
		se.Token = ""
		if diff := cmp.Diff(se, got); diff != "" {
			t.Errorf("the session (-made +read):\n%s", diff)
		}
		ok(t, "sign out", w.SignOut(t.Context(), actor(u), se.ID))
		ok(t, "sign out again", w.SignOut(t.Context(), actor(u), se.ID))
		_, err = w.Session(t.Context(), cookie)
		want(t, "session after sign-out", err, errs.Unauthenticated)
		stored, err := w.User(t.Context(), u.ID)
		ok(t, "user", err)
		if diff := cmp.Diff(u, stored); diff != "" {
			t.Errorf("the user (-made +read):\n%s", diff)
		}
		id := string(u.ID)
		if diff := cmp.Diff([]string{
			"user.sign_up  ", "session.refuse  ", "user.create " + id + " " + id, "session.create " + id + " " + id,
			"session.end " + id + " " + id,
		}, w.actions()); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

// Somebody else's sign-up with my address must not become my account once mine
// is confirmed, and the first confirmed one wins.
// Where only invited people may sign up, the answer does not say who is invited.
func TestSessionsEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, eve := w.user("ada@example.com"), w.user("eve@example.com")
		se, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		// Used every 90 minutes it lives until its absolute end.
		for w.clock.Now().Before(se.ExpiresAt.Add(-90 * time.Minute)) {
			w.clock.Advance(90 * time.Minute)
			_, err := w.Session(t.Context(), se.Token)
			ok(t, "session in use", err)
		}
		w.clock.Advance(90 * time.Minute)
		_, err = w.Session(t.Context(), se.Token)
		want(t, "session at its end", err, errs.Unauthenticated)

		se, err = w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		w.clock.Advance(identity.SessionIdle)
		_, err = w.Session(t.Context(), se.Token)
		want(t, "idle session", err, errs.Unauthenticated)

		se, err = w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		want(t, "end as a stranger", w.EndSession(t.Context(), actor(eve), se.ID), errs.NotFound)
		want(t, "end as nobody", w.EndSession(t.Context(), tenant.Actor{}, se.ID), errs.NotFound)
		list, err := w.Sessions(t.Context(), actor(eve))
		if err != nil || len(list) != 0 {
			t.Errorf("another user sees %v, %v", list, err)
		}
		list, err = w.Sessions(t.Context(), actor(u))
		if err != nil || len(list) != 1 || list[0].ID != se.ID || list[0].Token != "" {
			t.Errorf("got %v, %v; want the session %s", list, err, se.ID)
		}
		ok(t, "end", w.EndSession(t.Context(), actor(u), se.ID))
		_, err = w.Session(t.Context(), se.Token)
		want(t, "ended session", err, errs.Unauthenticated)
	})
}

func TestSessionsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		_, password, err := w.db.UserByEmail(t.Context(), u.Email)
		ok(t, "user", err)
		for i := range identity.MaxSessions + 2 {
			se := identity.Session{ID: identity.SessionID(tenant.NewID("test", w.clock.Now())), UserID: u.ID,
				CreatedAt: w.clock.Now(), LastUsedAt: w.clock.Now(), ExpiresAt: w.clock.Now().Add(time.Hour)}
			n := identity.NewSession{Session: se, Hash: strings.Repeat("x", i+1), Origin: "o", Password: password}
			ok(t, "create", w.db.CreateSession(t.Context(), n, event("session.create")))
			w.clock.Advance(time.Second)
		}
		list, err := w.Sessions(t.Context(), actor(u))
		if err != nil || len(list) != identity.MaxSessions {
			t.Errorf("got %d sessions, %v; want %d", len(list), err, identity.MaxSessions)
		}
	})
}

func TestDisabled(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		se, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "token", err)
		ended, err := w.SetDisabled(t.Context(), tenant.Actor{}, u.ID, true)
		ok(t, "disable", err)
		if diff := cmp.Diff(identity.Ended{Sessions: 1}, ended); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		_, err = w.Session(t.Context(), se.Token)
		want(t, "session", err, errs.Unauthenticated)
		_, _, err = w.VerifyToken(t.Context(), value, here)
		want(t, "token", err, errs.Unauthenticated)
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		want(t, "password", err, errs.Unauthenticated)
		// A profile that was read before must not enable the user again.
		ok(t, "store the profile", w.db.UpdateUser(t.Context(), u, event("user.update")))
		_, _, err = w.VerifyToken(t.Context(), value, here)
		want(t, "token after a change of the profile", err, errs.Unauthenticated)
		_, err = w.SetDisabled(t.Context(), tenant.Actor{}, u.ID, false)
		ok(t, "enable", err)
		_, err = w.Session(t.Context(), se.Token)
		want(t, "the session from before", err, errs.Unauthenticated)
		_, _, err = w.VerifyToken(t.Context(), value, here)
		ok(t, "token", err)
		_, err = w.SetDisabled(t.Context(), tenant.Actor{}, "nobody", true)
		want(t, "disable nobody", err, errs.NotFound)
	})
}

func TestProvision(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, password, err := w.Provision(t.Context(), "Root@Example.com", identity.Names{})
		ok(t, "provision", err)
		if u.FirstName != "root" {
			t.Errorf("the user is called %q", u.FirstName)
		}
		if len(password) < 20 {
			t.Errorf("the password is %q", password)
		}
		_, err = w.signIn("root@example.com", password, "192.0.2.1")
		ok(t, "sign in", err)
		_, _, err = w.Provision(t.Context(), "root@example.com", identity.Names{FirstName: "Root"})
		want(t, "provision again", err, errs.Conflict)
		got, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "first"})
		ok(t, "token", err)
		if got.Owner != u.ID {
			t.Errorf("the token is %+v", got)
		}
		_, _, err = w.VerifyToken(t.Context(), value, here)
		ok(t, "verify", err)
	})
}

func TestProfile(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		text := func(s string) *string { return &s }
		yes, no := true, false
		w.clock.Advance(time.Hour)
		got, err := w.UpdateProfile(t.Context(), actor(u), identity.Change{LastName: text(" Lovelace "),
			Notification: &no, Onboarded: &yes, Picture: text("https://example.com/a.png")})
		ok(t, "update", err)
		wanted := u
		wanted.LastName, wanted.Notification, wanted.Onboarded, wanted.Picture, wanted.UpdatedAt = "Lovelace", false,
			true, "https://example.com/a.png", w.clock.Now()
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		p, err := w.Profile(t.Context(), actor(u))
		ok(t, "profile", err)
		if diff := cmp.Diff(identity.Profile{User: wanted, Organizations: []identity.Membership{}}, p); diff != "" {
			t.Errorf("profile (-want +got):\n%s", diff)
		}
		for name, c := range map[string]identity.Change{
			"no first name":    {FirstName: text(" ")},
			"a script picture": {Picture: text("javascript:alert(1)")},
			"a plain picture":  {Picture: text("http://example.com/a.png")},
			"a line break":     {LastName: text("a\nb")},
		} {
			_, err := w.UpdateProfile(t.Context(), actor(u), c)
			want(t, name, err, errs.Invalid)
		}
		_, err = w.UpdateProfile(t.Context(), tenant.Actor{}, identity.Change{})
		want(t, "update as nobody", err, errs.NotFound)
		_, err = w.Profile(t.Context(), tenant.Actor{})
		want(t, "profile of nobody", err, errs.NotFound)
	})
}

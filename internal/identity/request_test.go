package identity_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/tenant"
)

func TestSignUpTellsNobodyOfAnAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		ok(t, "sign up again", w.SignUp(t.Context(), "ada@example.com", here))
		m := w.mail()
		if secret(m) != "" || m.Subject != "You have an account already" {
			t.Errorf("the mail is %+v", m)
		}
		if got, err := w.User(t.Context(), u.ID); err != nil || got.FirstName != "Ada" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// TestSignUpCannotBePrepared is pre-hijacking: somebody asks for an account with
// another person's address first. Nothing of it reaches the account, and the
// pending sign-up ends when the owner finishes another one.
func TestSignUpCannotBePrepared(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		eve := identity.Origin{IP: "198.51.100.1"}
		ok(t, "sign up by a stranger", w.SignUp(t.Context(), "ada@example.com", eve))
		first := secret(w.mail())
		ok(t, "sign up by the owner", w.SignUp(t.Context(), "ada@example.com", here))
		second := secret(w.mail())
		_, err := w.VerifyEmail(t.Context(), first, identity.NewUser{Names: ada.Names}, here)
		want(t, "follow the link of the stranger without choosing a password", err, errs.Invalid)
		u, err := w.VerifyEmail(t.Context(), first, ada, here)
		ok(t, "follow the link of the stranger", err)
		if u.FirstName != "Ada" {
			t.Errorf("the account is called %q", u.FirstName)
		}
		_, err = w.VerifyEmail(t.Context(), second, identity.NewUser{Password: good2, Names: ada.Names}, here)
		want(t, "follow the other link", err, errs.NotFound)
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in with the password of the owner", err)
	})
}

func TestSignUpExpires(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ok(t, "sign up", w.SignUp(t.Context(), "a@example.com", here))
		link := secret(w.mail())
		w.clock.Advance(identity.SignUpLifetime)
		_, err := w.VerifyEmail(t.Context(), link, ada, here)
		want(t, "verify too late", err, errs.NotFound)
	})
}

func TestSignUpByInvitation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owner := w.user("owner@example.com")
		w.InvitedOnly = true
		ok(t, "sign up", w.SignUp(t.Context(), "ada@example.com", here))
		if m := w.mail(); secret(m) != "" || m.Subject != "An invitation is needed" {
			t.Errorf("the mail is %+v", m)
		}
		invite := func(email, status string, expires time.Time) {
			ok(t, "invite", w.db.Tx(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(t.Context(), "INSERT INTO organization (id, name, industry, country, "+
					"created_at, updated_at) VALUES ('o', 'O', 'other', 'FR', 0, 0) ON CONFLICT DO "+
					"NOTHING"); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `INSERT INTO invitation (id, organization_id, email, role, token_hash, status, invited_by, created_at, expires_at)
					VALUES (?, 'o', ?, 'member', ?, ?, ?, 0, ?)`, email+status, email, email+status, status, string(owner.ID), expires.UnixMilli())
				return err
			}))
		}
		invite("ada@example.com", "cancelled", w.clock.Now().Add(time.Hour))
		invite("eve@example.com", "pending", w.clock.Now())
		invite("bob@example.com", "pending", w.clock.Now().Add(time.Hour))
		for email, invited := range map[string]bool{"ada@example.com": false, "eve@example.com": false,
			"bob@example.com": true} {
			ok(t, "sign up", w.SignUp(t.Context(), email, here))
			if m := w.mail(); (secret(m) != "") != invited {
				t.Errorf("%s got the mail %q", email, m.Subject)
			}
		}
	})
}

func TestSignUpRefuses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, email := range map[string]string{
			"no address": "", "two addresses": "a@example.com,b@example.com", "a header": "a@example.com\r\nBcc: " +
				"b@example.com",
		} {
			want(t, name, w.SignUp(t.Context(), email, here), errs.Invalid)
		}
		if queued, err := w.db.ClaimMail(t.Context(), 10, time.Minute); err != nil || len(queued) > 0 {
			t.Errorf("got %d mails, %v; want none", len(queued), err)
		}
		ok(t, "sign up", w.SignUp(t.Context(), "adalovelace@example.com", here))
		link := secret(w.mail())
		for name, n := range map[string]identity.NewUser{
			"no name":           {Password: good},
			"a name of control": {Password: good, Names: identity.Names{FirstName: "A\x00"}},
			"a long name":       {Password: good, Names: identity.Names{FirstName: strings.Repeat("ä", 101)}},
			"a short password":  {Password: "short", Names: ada.Names},
			"the address":       {Password: "adalovelace@example.com", Names: ada.Names},
		} {
			_, err := w.VerifyEmail(t.Context(), link, n, here)
			want(t, name, err, errs.Invalid)
		}
		_, err := w.VerifyEmail(t.Context(), link, ada, here)
		ok(t, "verify", err)
	})
}

func TestRecovery(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		se, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "token", err)
		w.mail() // about the token
		w.clock.Advance(time.Minute)

		ok(t, "start recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		link := secret(w.mail())
		ok(t, "start recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		other := secret(w.mail())
		_, err = w.VerifyEmail(t.Context(), link, ada, here)
		want(t, "confirm an address with a recovery's link", err, errs.NotFound)
		_, _, err = w.Recover(t.Context(), link, "short", here)
		want(t, "recover with a bad password", err, errs.Invalid)
		got, ended, err := w.Recover(t.Context(), link, good2, here)
		ok(t, "recover", err)
		if diff := cmp.Diff(identity.Ended{Sessions: 1, Tokens: 1}, ended); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		_, _, err = w.VerifyToken(t.Context(), value, here)
		want(t, "the personal access token", err, errs.Unauthenticated)
		if got.ID != u.ID {
			t.Errorf("recovered %s, want %s", got.ID, u.ID)
		}
		if m := w.mail(); m.Subject != "Your password was changed" {
			t.Errorf("the mail is %+v", m)
		}
		for name, link := range map[string]string{"the link": link, "the other link": other, "no link": ""} {
			_, _, err = w.Recover(t.Context(), link, good2, here)
			want(t, "recover again with "+name, err, errs.NotFound)
		}
		_, err = w.Session(t.Context(), se.Token)
		want(t, "the session from before", err, errs.Unauthenticated)
		if got, err := w.User(t.Context(), u.ID); err != nil || !got.ValidFrom.Equal(w.clock.Now()) {
			t.Errorf("ValidFrom is %v, %v; want %v", got.ValidFrom, err, w.clock.Now())
		}
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		want(t, "the old password", err, errs.Unauthenticated)
		_, err = w.signIn("ada@example.com", good2, "192.0.2.1")
		ok(t, "the new password", err)
	})
}

// TestLinksAreUsedOnceAtATime follows one mailed link several times at once: one request
// gets what the link is for, and its password is the one that counts.
func TestLinksAreUsedOnceAtATime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		passwords := []string{"violet harbor ninety kites", "quiet walnut ferry lamps", "seven amber gravel doors",
			"brisk tunnel plum anvil"}
		race := func(what string, follow func(password string) error) {
			t.Helper()
			failures := make([]error, len(passwords))
			var wg sync.WaitGroup
			for i, password := range passwords {
				wg.Go(func() { failures[i] = follow(password) })
			}
			wg.Wait()
			won := 0
			for i, err := range failures {
				if err != nil {
					want(t, what, err, errs.NotFound)
					continue
				}
				won++
				_, err = w.signIn("ada@example.com", passwords[i], "192.0.2.1")
				ok(t, what+": sign in with the password of the one that won", err)
			}
			if won != 1 {
				t.Errorf("%s: %d of %d won", what, won, len(passwords))
			}
		}
		ok(t, "sign up", w.SignUp(t.Context(), "ada@example.com", here))
		link := secret(w.mail())
		race("verify", func(password string) error {
			_, err := w.VerifyEmail(t.Context(), link, identity.NewUser{Password: password, Names: ada.Names}, here)
			return err
		})
		ok(t, "start recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		link = secret(w.mail())
		race("recover", func(password string) error {
			_, _, err := w.Recover(t.Context(), link, password, here)
			return err
		})
	})
}

func TestRecoveryOfNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		_, err := w.SetDisabled(t.Context(), tenant.Actor{}, u.ID, true)
		ok(t, "disable", err)
		for _, email := range []string{"nobody@example.com", "ada@example.com"} {
			ok(t, "start recovery", w.StartRecovery(t.Context(), email, here))
			if m := w.mail(); m.To != email || secret(m) != "" || m.Subject != "There is no account with this address" {
				t.Errorf("the mail is %+v", m)
			}
		}
	})
}

func TestRecoveryExpires(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.user("ada@example.com")
		ok(t, "start recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		link := secret(w.mail())
		w.clock.Advance(identity.RecoveryLifetime)
		_, _, err := w.Recover(t.Context(), link, good2, here)
		want(t, "recover too late", err, errs.NotFound)
	})
}

func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		kept, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		other, err := w.signIn("ada@example.com", good, "192.0.2.2")
		ok(t, "sign in", err)
		w.clock.Advance(time.Hour)
		_, err = w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good2, New: good2})
		want(t, "with a wrong password", err, errs.Forbidden)
		_, err = w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good, New: "password1234"})
		want(t, "to a common password", err, errs.Invalid)
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "token", err)
		ended, err := w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good, New: good2,
			Keep: kept.Token})
		ok(t, "change", err)
		if diff := cmp.Diff(identity.Ended{Sessions: 1}, ended); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		_, _, err = w.VerifyToken(t.Context(), value, here)
		ok(t, "the personal access token", err)
		_, err = w.Session(t.Context(), other.Token)
		want(t, "the other session", err, errs.Unauthenticated)
		got, err := w.Session(t.Context(), kept.Token)
		ok(t, "the kept session", err)
		changed, err := w.User(t.Context(), u.ID)
		ok(t, "user", err)
		if got.AuthTime.Before(changed.ValidFrom) {
			t.Errorf("the kept session dates from %v, before %v", got.AuthTime, changed.ValidFrom)
		}
		ended, err = w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good2, New: good,
			Keep: kept.Token, Tokens: true})
		ok(t, "change again, and delete the tokens", err)
		if diff := cmp.Diff(identity.Ended{Tokens: 1}, ended); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		_, _, err = w.VerifyToken(t.Context(), value, here)
		want(t, "the personal access token", err, errs.Unauthenticated)
		_, err = w.ChangePassword(t.Context(), tenant.Actor{UserID: u.ID, Service: true},
			identity.PasswordChange{Current: good2, New: good})
		want(t, "as a service account", err, errs.Forbidden)
		_, err = w.ChangePassword(t.Context(), tenant.Actor{}, identity.PasswordChange{Current: good2, New: good})
		want(t, "as nobody", err, errs.NotFound)
	})
}

// TestSignInWhileThePasswordChanges lets a sign-in with the old password end after
// a recovery: the session that it would store is refused.
func TestSignInWhileThePasswordChanges(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		_, old, err := w.db.UserByEmail(t.Context(), u.Email)
		ok(t, "user", err)
		n := identity.NewSession{Session: identity.Session{ID: "late", UserID: u.ID,
			ExpiresAt: w.clock.Now().Add(time.Hour)}, Hash: "h", Origin: "o", Password: old}
		_, err = w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good, New: good2})
		ok(t, "change", err)
		want(t, "store the session", w.db.CreateSession(t.Context(), n, event("session.create")), errs.Unauthenticated)
		_, n.Password, err = w.db.UserByEmail(t.Context(), u.Email)
		ok(t, "user", err)
		_, err = w.SetDisabled(t.Context(), tenant.Actor{}, u.ID, true)
		ok(t, "disable", err)
		want(t, "store a session of a disabled user", w.db.CreateSession(t.Context(), n, event("session.create")),
			errs.Unauthenticated)
	})
}

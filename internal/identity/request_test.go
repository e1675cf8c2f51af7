package identity_test

import (
	"strings"
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
		n := identity.NewUser{Email: "ada@example.com", Password: good2, Names: identity.Names{FirstName: "Eve"}}
		ok(t, "sign up again", w.SignUp(t.Context(), n, here))
		m := w.mail()
		if secret(m) != "" || m.Subject != "You have an account already" {
			t.Errorf("the mail is %+v", m)
		}
		_, err := w.signIn("ada@example.com", good2, "192.0.2.1")
		want(t, "sign in with the second password", err, errs.Unauthenticated)
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in with the first password", err)
		if got, err := w.User(t.Context(), u.ID); err != nil || got.FirstName != "Ada" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestSignUpsRace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ok(t, "sign up", w.SignUp(t.Context(), identity.NewUser{Email: "a@example.com", Password: good, Names: identity.Names{FirstName: "Eve"}}, here))
		first := secret(w.mail())
		ok(t, "sign up", w.SignUp(t.Context(), identity.NewUser{Email: "a@example.com", Password: good2, Names: identity.Names{FirstName: "Ada"}}, here))
		second := secret(w.mail())
		_, err := w.VerifyEmail(t.Context(), second, here)
		ok(t, "verify", err)
		_, err = w.VerifyEmail(t.Context(), first, here)
		want(t, "verify the other one", err, errs.NotFound)
		_, err = w.signIn("a@example.com", good, "192.0.2.1")
		want(t, "sign in with the other password", err, errs.Unauthenticated)
	})
}

func TestSignUpExpires(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ok(t, "sign up", w.SignUp(t.Context(), identity.NewUser{Email: "a@example.com", Password: good, Names: identity.Names{FirstName: "A"}}, here))
		link := secret(w.mail())
		w.clock.Advance(identity.SignUpLifetime)
		_, err := w.VerifyEmail(t.Context(), link, here)
		want(t, "verify too late", err, errs.NotFound)
	})
}

func TestSignUpByInvitation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owner := w.user("owner@example.com")
		w.InvitedOnly = true
		n := identity.NewUser{Email: "ada@example.com", Password: good, Names: identity.Names{FirstName: "Ada"}}
		ok(t, "sign up", w.SignUp(t.Context(), n, here))
		if m := w.mail(); secret(m) != "" || m.Subject != "An invitation is needed" {
			t.Errorf("the mail is %+v", m)
		}
		invite := func(email, status string, expires time.Time) {
			ok(t, "invite", w.db.Tx(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(t.Context(), "INSERT INTO organization (id, name, industry, country, created_at, updated_at) VALUES ('o', 'O', 'other', 'FR', 0, 0) ON CONFLICT DO NOTHING"); err != nil {
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
		for email, invited := range map[string]bool{"ada@example.com": false, "eve@example.com": false, "bob@example.com": true} {
			n.Email = email
			ok(t, "sign up", w.SignUp(t.Context(), n, here))
			if m := w.mail(); (secret(m) != "") != invited {
				t.Errorf("%s got the mail %q", email, m.Subject)
			}
		}
	})
}

func TestSignUpRefuses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		names := identity.Names{FirstName: "Ada"}
		for name, n := range map[string]identity.NewUser{
			"no address":        {Password: good, Names: names},
			"two addresses":     {Email: "a@example.com,b@example.com", Password: good, Names: names},
			"a header":          {Email: "a@example.com\r\nBcc: b@example.com", Password: good, Names: names},
			"no name":           {Email: "a@example.com", Password: good},
			"a name of control": {Email: "a@example.com", Password: good, Names: identity.Names{FirstName: "A\x00"}},
			"a long name":       {Email: "a@example.com", Password: good, Names: identity.Names{FirstName: strings.Repeat("ä", 101)}},
			"a short password":  {Email: "a@example.com", Password: "short", Names: names},
			"the address":       {Email: "adalovelace@example.com", Password: "adalovelace@example.com", Names: names},
		} {
			want(t, name, w.SignUp(t.Context(), n, here), errs.Invalid)
		}
		if queued, err := w.db.ClaimMail(t.Context(), 10, time.Minute); err != nil || len(queued) > 0 {
			t.Errorf("got %d mails, %v; want none", len(queued), err)
		}
	})
}

func TestRecovery(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		se, err := w.signIn("ada@example.com", good, "192.0.2.1")
		ok(t, "sign in", err)
		w.clock.Advance(time.Minute)

		ok(t, "start recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		link := secret(w.mail())
		ok(t, "start recovery", w.StartRecovery(t.Context(), "ada@example.com", here))
		other := secret(w.mail())
		_, err = w.VerifyEmail(t.Context(), link, here)
		want(t, "confirm an address with a recovery's link", err, errs.NotFound)
		_, err = w.Recover(t.Context(), link, "short", here)
		want(t, "recover with a bad password", err, errs.Invalid)
		got, err := w.Recover(t.Context(), link, good2, here)
		ok(t, "recover", err)
		if got.ID != u.ID {
			t.Errorf("recovered %s, want %s", got.ID, u.ID)
		}
		if m := w.mail(); m.Subject != "Your password was changed" {
			t.Errorf("the mail is %+v", m)
		}
		for name, link := range map[string]string{"the link": link, "the other link": other, "no link": ""} {
			_, err = w.Recover(t.Context(), link, good2, here)
			want(t, "recover again with "+name, err, errs.NotFound)
		}
		_, err = w.Session(t.Context(), se.Token)
		want(t, "the session from before", err, errs.Unauthenticated)
		if diff := cmp.Diff([]tenant.UserID{u.ID}, w.revoked); diff != "" {
			t.Errorf("revoked (-want +got):\n%s", diff)
		}
		if got, err := w.User(t.Context(), u.ID); err != nil || !got.ValidFrom.Equal(w.clock.Now()) {
			t.Errorf("ValidFrom is %v, %v; want %v", got.ValidFrom, err, w.clock.Now())
		}
		_, err = w.signIn("ada@example.com", good, "192.0.2.1")
		want(t, "the old password", err, errs.Unauthenticated)
		_, err = w.signIn("ada@example.com", good2, "192.0.2.1")
		ok(t, "the new password", err)
	})
}

func TestRecoveryOfNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		ok(t, "disable", w.SetDisabled(t.Context(), tenant.Actor{}, u.ID, true))
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
		_, err := w.Recover(t.Context(), link, good2, here)
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
		err = w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good2, New: good2})
		want(t, "with a wrong password", err, errs.Forbidden)
		err = w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good, New: "password1234"})
		want(t, "to a common password", err, errs.Invalid)
		ok(t, "change", w.ChangePassword(t.Context(), actor(u), identity.PasswordChange{Current: good, New: good2, Keep: kept.Token}))
		_, err = w.Session(t.Context(), other.Token)
		want(t, "the other session", err, errs.Unauthenticated)
		got, err := w.Session(t.Context(), kept.Token)
		ok(t, "the kept session", err)
		changed, err := w.User(t.Context(), u.ID)
		ok(t, "user", err)
		if got.AuthTime.Before(changed.ValidFrom) {
			t.Errorf("the kept session dates from %v, before %v", got.AuthTime, changed.ValidFrom)
		}
		err = w.ChangePassword(t.Context(), tenant.Actor{UserID: u.ID, Service: true}, identity.PasswordChange{Current: good2, New: good})
		want(t, "as a service account", err, errs.Forbidden)
		err = w.ChangePassword(t.Context(), tenant.Actor{}, identity.PasswordChange{Current: good2, New: good})
		want(t, "as nobody", err, errs.NotFound)
	})
}

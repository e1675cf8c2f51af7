package identity_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/tenant"
)

func event(action string) audit.Event { return audit.Event{Action: action} }

func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		expires := w.clock.Now().Add(48 * time.Hour)
		tok, value, err := w.CreateToken(t.Context(), actor(u),
			identity.NewToken{Owner: u.ID, Name: " ci ", ExpiresAt: expires})
		ok(t, "create", err)
		if !strings.HasPrefix(value, "mrl_pat_") || tok.Name != "ci" {
			t.Errorf("got %+v, %q", tok, value)
		}
		got, owner, err := w.VerifyToken(t.Context(), value, here)
		ok(t, "verify", err)
		if diff := cmp.Diff(u, owner); diff != "" {
			t.Errorf("user (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(tok, got); diff != "" {
			t.Errorf("token (-want +got):\n%s", diff)
		}
		_, _, err = w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		want(t, "the same name", err, errs.Conflict)
		_, _, err = w.CreateToken(t.Context(), actor(u),
			identity.NewToken{Owner: u.ID, Name: "late", ExpiresAt: w.clock.Now()})
		want(t, "expired from the start", err, errs.Invalid)
		_, _, err = w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID})
		want(t, "no name", err, errs.Invalid)
		_, _, err = w.CreateToken(t.Context(), tenant.Actor{UserID: u.ID, Service: true},
			identity.NewToken{Owner: u.ID, Name: "x"})
		want(t, "by a service account", err, errs.Forbidden)
		_, _, err = w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: "nobody", Name: "x"})
		want(t, "for nobody", err, errs.NotFound)

		w.clock.Advance(time.Second)
		_, _, err = w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "other"})
		ok(t, "create another", err)
		want(t, "rename to a name in use", w.RenameToken(t.Context(), actor(u), u.ID, "ci", "other"), errs.Conflict)
		want(t, "rename what is not there", w.RenameToken(t.Context(), actor(u), u.ID, "no\x00", "x"), errs.NotFound)
		want(t, "rename to nothing", w.RenameToken(t.Context(), actor(u), u.ID, "ci", ""), errs.Invalid)
		ok(t, "rename", w.RenameToken(t.Context(), actor(u), u.ID, "ci", "build"))
		list, err := w.Tokens(t.Context(), actor(u), u.ID)
		ok(t, "list", err)
		tok.Name, tok.LastUsedAt = "build", w.clock.Now().Add(-time.Second)
		if len(list) != 2 {
			t.Fatalf("got %d tokens, want 2", len(list))
		}
		if diff := cmp.Diff(tok, list[0]); diff != "" {
			t.Errorf("token (-want +got):\n%s", diff)
		}
		w.clock.Advance(48 * time.Hour)
		_, _, err = w.VerifyToken(t.Context(), value, here)
		want(t, "expired", err, errs.Unauthenticated)
		want(t, "delete what is not there", w.DeleteToken(t.Context(), actor(u), u.ID, "no\x00"), errs.NotFound)
		ok(t, "delete", w.DeleteToken(t.Context(), actor(u), u.ID, "build"))
		want(t, "delete twice", w.DeleteToken(t.Context(), actor(u), u.ID, "build"), errs.NotFound)
		_, _, err = w.VerifyToken(t.Context(), value, here)
		want(t, "deleted", err, errs.Unauthenticated)
	})
}

func TestTokensOfAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, eve := w.user("ada@example.com"), w.user("eve@example.com")
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "create", err)
		for _, stranger := range []identity.User{eve, {}} {
			want(t, "rename", w.RenameToken(t.Context(), actor(stranger), stranger.ID, "ci", "mine"), errs.NotFound)
			want(t, "delete", w.DeleteToken(t.Context(), actor(stranger), stranger.ID, "ci"), errs.NotFound)
			if list, err := w.Tokens(t.Context(), actor(stranger), stranger.ID); err != nil || len(list) != 0 {
				t.Errorf("a stranger sees %v, %v", list, err)
			}
		}
		_, _, err = w.CreateToken(t.Context(), actor(eve), identity.NewToken{Owner: eve.ID, Name: "ci"})
		ok(t, "the same name for somebody else", err)
		_, got, err := w.VerifyToken(t.Context(), value, here)
		if err != nil || got.ID != u.ID {
			t.Errorf("got %v, %v; want the owner", got.ID, err)
		}
	})
}

func TestTokensAreBounded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		for i := range identity.MaxTokens {
			_, _, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: fmt.Sprint(i)})
			ok(t, "create", err)
		}
		_, _, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "more"})
		want(t, "one more", err, errs.Conflict)
	})
}

// A service account is a user of an organization; its tokens work like a
// person's, but nobody signs in as it.
func TestServiceAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.user("ada@example.com")
		ok(t, "make", w.db.Tx(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Exec(t.Context(), "INSERT INTO organization (id, name, industry, country, created_at, "+
				"updated_at) VALUES ('o', 'O', 'other', 'FR', 0, 0)"); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), "INSERT INTO app_user (id, email, service_of, created_at, updated_at) "+
				"VALUES ('s', 's@service.invalid', 'o', 0, 0)")
			return err
		}))
		_, value, err := w.CreateToken(t.Context(), actor(ada), identity.NewToken{Owner: "s", Name: "deploy"})
		ok(t, "token", err)
		_, got, err := w.VerifyToken(t.Context(), value, here)
		ok(t, "verify", err)
		if got.ID != "s" || got.ServiceOf != "o" || !got.Service() {
			t.Errorf("got %+v", got)
		}
		_, err = w.signIn("s@service.invalid", "", "192.0.2.1")
		want(t, "sign in", err, errs.Unauthenticated)
		ok(t, "recovery", w.StartRecovery(t.Context(), "s@service.invalid", here))
		if m := w.mail(); secret(m) != "" {
			t.Error("a service account's password can be recovered")
		}
	})
}

func TestTokenUseIsRecorded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "create", err)
		before := len(w.actions())
		lastUse := func() time.Time {
			list, err := w.Tokens(t.Context(), actor(u), u.ID)
			ok(t, "list", err)
			return list[0].LastUsedAt
		}
		first := w.clock.Now()
		for _, step := range []struct {
			later time.Duration
			want  time.Time
		}{{0, first}, {30 * time.Second, first}, {30 * time.Second, first.Add(time.Minute)}} {
			w.clock.Advance(step.later)
			_, _, err := w.VerifyToken(t.Context(), value, here)
			ok(t, "verify", err)
			if got := lastUse(); !got.Equal(step.want) {
				t.Errorf("last use %v, want %v", got, step.want)
			}
		}
		id := string(u.ID)
		use := "token.exchange " + id + " " + id
		if diff := cmp.Diff([]string{use, use, use}, w.actions()[before:]); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

// Many at once share transactions; none of their records may be lost.
func TestTokenUsesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "create", err)
		before := len(w.actions())
		other := w.process(identity.Limits{})
		const callers, each = 8, 25
		var all sync.WaitGroup
		for i := range callers {
			svc := w.Service
			if i%2 == 1 {
				svc = other
			}
			all.Go(func() {
				for range each {
					if _, _, err := svc.VerifyToken(t.Context(), value, here); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got := len(w.actions()) - before; got != callers*each {
			t.Errorf("%d records, want %d", got, callers*each)
		}
	})
}

func TestRefusedTokens(t *testing.T) {
	limits := identity.DefaultLimits
	limits.Exchange = identity.Limit{Max: 4, Window: time.Minute}
	eachWith(t, limits, func(t *testing.T, w *world) {
		u := w.user("ada@example.com")
		_, value, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "ci"})
		ok(t, "create", err)
		_, unknown, err := w.CreateToken(t.Context(), actor(u), identity.NewToken{Owner: u.ID, Name: "gone"})
		ok(t, "create", err)
		ok(t, "delete", w.DeleteToken(t.Context(), actor(u), u.ID, "gone"))
		mistyped := value[:len(value)-1] + "x"
		if mistyped == value {
			mistyped = value[:len(value)-1] + "y"
		}
		for _, wrong := range []string{"", unknown, mistyped, value + "0"} {
			_, _, err := w.VerifyToken(t.Context(), wrong, here)
			want(t, wrong, err, errs.Unauthenticated)
		}
		other := w.process(limits)
		for range 3 {
			_, _, err = other.VerifyToken(t.Context(), unknown, here)
			want(t, "one more, in another process", err, errs.TooMany)
		}
		_, _, err = other.VerifyToken(t.Context(), value, here)
		ok(t, "a token that holds, from the same address", err)
		_, _, err = other.VerifyToken(t.Context(), unknown, identity.Origin{IP: "198.51.100.1"})
		want(t, "from another address", err, errs.Unauthenticated)
		refusals, limited := 0, 0
		for _, a := range w.actions() {
			if strings.HasPrefix(a, "token.refuse") {
				refusals++
			}
			if strings.HasPrefix(a, "limit.exceed") {
				limited++
			}
		}
		if refusals != 5 || limited != 1 {
			t.Errorf("%d refusals and %d exceeded limits are recorded, want 5 and 1", refusals, limited)
		}
		w.clock.Advance(2 * time.Minute)
		_, _, err = other.VerifyToken(t.Context(), unknown, here)
		want(t, "later", err, errs.Unauthenticated)
	})
}

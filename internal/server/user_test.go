package server

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
)

// TestDisablingWorksAtOnce disables a user by the administrator's command on the
// database of a running service: the service admits nothing of the user from then
// on, whatever was issued before.
func TestDisablingWorksAtOnce(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	made, err := Bootstrap{Email: "ada@example.org", Organization: "Org", Team: "Team",
		Project: "Project"}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	running, err := OpenStore(t.Context(), c) // the service that goes on
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = running.Close() }()
	people := identity.New(identity.Options{Store: running, Region: "test"})
	se, err := people.SignIn(t.Context(), identity.Credentials{Email: "ada@example.org", Password: made.Password,
		IP: "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	admin := UserAdmin{Email: "Ada@Example.org"}
	access, err := admin.Access(t.Context(), c)
	if err != nil || len(access.Sessions) != 1 || len(access.Tokens) != 1 || access.User.ID != made.UserID {
		t.Fatalf("access %+v, %v", access, err)
	}
	sessionToken := grant.Admission{User: made.UserID, Session: string(se.ID)}
	exchanged := grant.Admission{User: made.UserID, PersonalToken: string(access.Tokens[0].ID)}
	works := func(name string, want bool) {
		t.Helper()
		for kind, a := range map[string]grant.Admission{"session": sessionToken, "exchanged": exchanged} {
			if kind == "session" && name == "after enabling" {
				continue // it ended
			}
			if _, active, err := running.Admit(t.Context(), a); err != nil || active != want {
				t.Errorf("%s: access token of the %s admitted: %v, %v; want %v", name, kind, active, err, want)
			}
		}
		_, _, err := people.VerifyToken(t.Context(), made.PersonalAccessToken, identity.Origin{IP: "192.0.2.1"})
		if want != (err == nil) {
			t.Errorf("%s: personal access token: %v", name, err)
		}
	}
	works("before", true)
	began := time.Now()
	ended, err := admin.SetDisabled(t.Context(), c, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("disabled in %v", time.Since(began))
	if diff := cmp.Diff(identity.Ended{Sessions: 1}, ended); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
	works("disabled", false)
	if _, err := people.Session(t.Context(), se.Token); !errs.Is(err, errs.Unauthenticated) {
		t.Errorf("session: %v", err)
	}
	if _, err := admin.SetDisabled(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
	works("after enabling", true)
	if ended, err = admin.EndAccess(t.Context(), c); err != nil || ended != (identity.Ended{Tokens: 1}) {
		t.Errorf("ended %+v, %v", ended, err)
	}
	works("ended", false)
	if _, err := (UserAdmin{Email: "eve@example.org"}).EndAccess(t.Context(), c); !errs.Is(err, errs.NotFound) {
		t.Errorf("nobody: %v", err)
	}
}

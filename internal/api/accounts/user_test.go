package accounts_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

type object = map[string]any

func TestProfile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		ada := r.Person("Ada")
		org := r.As(ada).Post("/organization", object{"name": "Acme", "industry": "software", "country": "FR",
			"customerType": "company"}).Want(201).Text("organizationId")
		const team = "00000000-0000-4000-8000-000000000001"
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Exec(t.Context(), "INSERT INTO team (id, organization_id, name, created_at, updated_at) "+
				"VALUES (?, ?, 'Blue', 0, 0)", team, org); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), "INSERT INTO team_member (team_id, user_id, role, created_at) VALUES (?, "+
				"?, 'developer', 0)", team, string(ada))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var got object
		r.As(ada).Get("/user/profile").Want(200).Into(&got)
		const at = "2026-11-20T09:00:00Z"
		want := object{
			"id": string(ada), "firstName": "Ada", "lastName": "Test", "email": "ada@example.com", "picture": "",
			"notification": true, "isOnboardingCompleted": false, "createdAt": at, "updatedAt": at,
			"myOrganizations": []any{object{
				"id": org, "name": "Acme", "country": "FR", "industry": "software", "isActive": true,
				"myRole": "administrator", "subscription": nil,
				"myTeams": []any{object{"id": team, "name": "Blue", "myRole": "developer"}},
			}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("profile (-want +got):\n%s", diff)
		}
		if orgs := r.As(r.Person("Eve")).Get("/user/profile").Want(200).Value("myOrganizations"); !cmp.Equal(orgs,
			any([]any{})) {
			t.Errorf("a stranger is in %v, want []", orgs)
		}
		r.As("").Get("/user/profile").Want(401)
	})
}

func TestUpdateProfile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		ada := r.Person("Ada")
		id := r.As(ada).Patch("/user/profile", object{"notification": false, "isOnboardingCompleted": true,
			"unknown": 1}).Want(200).Text("userId")
		if id != string(ada) {
			t.Errorf("userId is %s, want %s", id, ada)
		}
		p := r.As(ada).Get("/user/profile")
		if p.Value("notification") != false || p.Value("isOnboardingCompleted") != true ||
			p.Text("firstName") != "Ada" {
			t.Errorf("the profile is %s", p.Body)
		}
		r.As(ada).Patch("/user/profile", object{"notification": "no"}).Want(400)
		r.As(ada).Patch("/user/profile", object{"firstName": ""}).Want(400)
		r.As("").Patch("/user/profile", object{}).Want(401)
	})
}

func TestPassword(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		limits := identity.DefaultLimits
		limits.Password.Max = 2
		r := apitest.New(t, db, clock)
		r.Identity.Limits = limits
		u, password, err := r.Identity.Provision(t.Context(), "ada@example.com", identity.Names{FirstName: "Ada"})
		if err != nil {
			t.Fatal(err)
		}
		signIn := func(password string) error {
			_, err := r.Identity.SignIn(t.Context(), identity.Credentials{Email: "ada@example.com", Password: password,
				IP: "192.0.2.1"})
			return err
		}
		if err := signIn(password); err != nil {
			t.Fatal(err)
		}
		as := r.As(u.ID)
		sessions := as.Get("/user/sessions").Want(200)
		id := sessions.Text("sessions.0.id")
		if got := sessions.Text("sessions.0.ip"); got != "192.0.2.1" {
			t.Errorf("the session is from %s", got)
		}
		r.As(r.Person("Eve")).Delete("/user/sessions/"+id, nil).Want(404)
		as.Delete("/user/sessions/nonsense", nil).Want(400)
		as.Delete("/user/sessions/"+id, nil).Want(200)
		as.Delete("/user/sessions/"+id, nil).Want(404)

		if err := signIn(password); err != nil {
			t.Fatal(err)
		}
		as.Post("/user/password", object{"currentPassword": password, "newPassword": "short"}).Want(400)
		as.Post("/user/password",
			object{"currentPassword": password, "newPassword": "seven quiet lighthouses"}).Want(200)
		if list := as.Get("/user/sessions").Want(200).Value("sessions"); !cmp.Equal(list, any([]any{})) {
			t.Errorf("sessions are left: %v", list)
		}
		if err := signIn("seven quiet lighthouses"); err != nil {
			t.Error(err)
		}
		as.Post("/user/password", object{"currentPassword": password, "newPassword": "x"}).Want(403)
		as.Post("/user/password", object{"currentPassword": password, "newPassword": "x"}).Want(403)
		late := as.Post("/user/password",
			object{"currentPassword": password, "newPassword": "x"}).Want(http.StatusTooManyRequests)
		if got := late.Header.Get("Retry-After"); got == "" || got == "0" {
			t.Errorf("Retry-After is %q", got)
		}
		r.As("").Post("/user/password", object{}).Want(401)
		r.As("").Get("/user/sessions").Want(401)
		r.As("").Delete("/user/sessions/"+id, nil).Want(401)
	})
}

// serviceAccount makes one, in an organization of its own.
func serviceAccount(t *testing.T, r *apitest.Runner) tenant.UserID {
	t.Helper()
	org := r.As(r.Person("Owner")).Post("/organization", object{"name": "Acme", "industry": "software", "country": "FR",
		"customerType": "company"}).Want(201).Text("organizationId")
	id := r.Person("Robot")
	err := r.DB.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE app_user SET service_of = ? WHERE id = ?", org, string(id))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

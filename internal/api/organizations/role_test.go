package organizations_test

import (
	"strings"
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/tenant"
)

func TestCustomRoles(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		create := func(by, name, level string, permissions ...string) (status int, id string) {
			t.Helper()
			a := w.AsPerson(by).Post(w.Organization+"/roles",
				map[string]any{"name": name, "level": level, "permissions": permissions})
			if a.Status != 201 {
				return a.Status, ""
			}
			return a.Status, a.Text("id")
		}
		must := func(by, name, level string, permissions ...string) string {
			t.Helper()
			status, id := create(by, name, level, permissions...)
			if status != 201 {
				t.Fatalf("%s creates the role %s: %d", by, name, status)
			}
			return id
		}
		auditor := must("administrator", "Auditor", "organization", "org.read", "org.audit", "org.members")
		triager := must("administrator", "Triager", "team", "team.read", "project.read", "project.read_scan_result",
			"project.change_vulnerability_state")
		for _, tt := range []struct {
			by, name, level string
			permissions     []string
			want            int
		}{
			{"administrator", "Auditor", "organization", []string{"org.read"}, 409},
			{"administrator", "X", "team", []string{"org.read"}, 400}, // a team cannot grant it
			{"administrator", "X", "galaxy", []string{"org.read"}, 400},
			{"administrator", "X", "organization", []string{"org.fly"}, 400},
			{"administrator", "X", "organization", []string{}, 400},
			{"administrator", " ", "organization", []string{"org.read"}, 400},
			{"manager", "X", "organization", []string{"org.read"}, 403},
			{"stranger", "X", "organization", []string{"org.read"}, 404},
		} {
			if got, _ := create(tt.by, tt.name, tt.level, tt.permissions...); got != tt.want {
				t.Errorf("%s creates %s %s %v: got %d, want %d", tt.by, tt.level, tt.name, tt.permissions, got, tt.want)
			}
		}
		if n := len(w.AsPerson("member").Get(w.Organization +
			"/roles").Want(200).Value("roles").([]any)); n != len(tenant.Roles)+2 {
			t.Errorf("got %d roles, want the built-in ones and 2", n)
		}

		// The roles hold.
		w.AsPerson("member").Get(w.Organization + "/audit-log").Want(403)
		w.AsPerson("administrator").Put(w.Organization+"/member/role",
			map[string]any{"userId": w.People["member"], "role": strings.ToUpper(auditor)}).Want(200)
		w.AsPerson("member").Get(w.Organization + "/audit-log").Want(200)
		// another level
		w.AsPerson("administrator").Put(w.Team+"/member/role",
			map[string]any{"userId": w.People["developer"], "role": auditor}).Want(400)
		w.AsPerson("administrator").Put(w.Team+"/member/role",
			map[string]any{"userId": w.People["developer"], "role": triager}).Want(200)
		w.AsPerson("developer").Get(w.Project).Want(200)
		w.AsPerson("developer").Get(w.Team + "/projects?page=1&pageSize=1").Want(200)

		// A change holds at once.
		w.AsPerson("administrator").Put(w.Organization+"/roles/"+triager,
			map[string]any{"permissions": []string{"team.read"}}).Want(200)
		w.AsPerson("developer").Get(w.Project).Want(404)
		w.AsPerson("administrator").Delete(w.Organization+"/roles/"+triager, nil).Want(409) // in use
		w.AsPerson("administrator").Put(w.Team+"/member/role",
			map[string]any{"userId": w.People["developer"], "role": "developer"}).Want(200)
		w.AsPerson("administrator").Delete(w.Organization+"/roles/"+triager, nil).Want(200)
		w.AsPerson("administrator").Delete(w.Organization+"/roles/"+triager, nil).Want(404)
		w.AsPerson("administrator").Delete(w.Organization+"/roles/nonsense", nil).Want(400)
	})
}

// Somebody who may manage roles, but not everything, cannot get more by making
// one.
func TestNobodyGrowsByCustomRoles(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		limited := w.AsPerson("administrator").Post(w.Organization+"/roles",
			map[string]any{"name": "Clerk", "level": "organization",
				"permissions": []string{"org.read", "org.manage", "org.members"}}).Want(201).Text("id")
		strong := w.AsPerson("administrator").Post(w.Organization+"/roles",
			map[string]any{"name": "Strong", "level": "organization",
				"permissions": []string{"org.read", "org.billing"}}).Want(201).Text("id")
		w.AsPerson("administrator").Put(w.Organization+"/member/role",
			map[string]any{"userId": w.People["member"], "role": limited}).Want(200)

		clerk := w.AsPerson("member")
		clerk.Post(w.Organization+"/roles", map[string]any{"name": "Y", "level": "organization",
			"permissions": []string{"org.read", "org.billing"}}).Want(403)
		clerk.Post(w.Organization+"/roles",
			map[string]any{"name": "Y", "level": "team", "permissions": []string{"team.manage"}}).Want(403)
		clerk.Put(w.Organization+"/roles/"+limited,
			map[string]any{"permissions": []string{"org.read", "org.manage", "org.teams"}}).Want(403)
		clerk.Put(w.Organization+"/roles/"+strong, map[string]any{"permissions": []string{"org.read"}}).Want(403)
		clerk.Delete(w.Organization+"/roles/"+strong, nil).Want(403)
		for of, role := range map[string]string{"developer": "administrator", "manager": "member", "read_only": strong,
			"member": "administrator"} {
			clerk.Put(w.Organization+"/member/role", map[string]any{"userId": w.People[of], "role": role}).Want(403)
		}
		clerk.Post(w.Organization+"/invite", map[string]any{"email": "friend@example.com",
			"role": "administrator"}).Want(403)
		clerk.Post(w.Organization+"/service-accounts",
			map[string]any{"name": "friend", "role": "administrator"}).Want(403)
		clerk.Delete(w.Organization+"/member", map[string]any{"userId": w.People["administrator"]}).Want(403)
		clerk.Put(w.Organization+"/member/role", map[string]any{"userId": w.People["developer"],
			"role": limited}).Want(200)
	})
}

package organizations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
)

func TestRolesOfOneProject(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		body := func(of, role string) map[string]any { return map[string]any{"userId": w.People[of], "role": role} }
		w.AsPerson("member").Get(w.Project).Want(404)
		w.AsPerson("developer").Post(w.Project+"/member", body("member", "developer")).Want(403)
		w.AsPerson("team_manager").Post(w.Project+"/member", body("stranger", "developer")).Want(404)
		w.AsPerson("team_manager").Post(w.Project+"/member", body("member", "member")).Want(400)
		w.AsPerson("team_manager").Post(w.Project+"/member", body("member", "team_manager")).Want(200)
		w.AsPerson("member").Get(w.Project).Want(200)
		w.AsPerson("member").Patch(w.Project, map[string]any{"name": "Mine"}).Want(200)
		// its role ends at the project
		w.AsPerson("member").Post(w.Project+"/member", body("manager", "developer")).Want(403)
		w.AsPerson("member").Get(w.Team + "/members?page=1&pageSize=20").Want(404)
		list := w.AsPerson("member").Get(w.Project + "/members?page=1&pageSize=20").Want(200)
		if list.Value("totalUsers") != 1.0 || list.Text("users.0.role") != "team_manager" {
			t.Errorf("got %s", list.Body)
		}
		w.AsPerson("team_manager").Put(w.Project+"/member/role", body("member", "read_only")).Want(200)
		w.AsPerson("member").Patch(w.Project, map[string]any{"name": "Mine"}).Want(403)
		w.AsPerson("team_manager").Delete(w.Project+"/member", body("member", "")).Want(200)
		w.AsPerson("member").Get(w.Project).Want(404)
	})
}

func TestRolesOfAnOrganization(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Join("second", "administrator")
		set := func(by, of, role string) int {
			return w.AsPerson(by).Put(w.Organization+"/member/role",
				map[string]any{"userId": w.People[of], "role": role}).Status
		}
		for _, tt := range []struct {
			by, of, role string
			want         int
		}{
			{"administrator", "member", "manager", 200},
			{"administrator", "member", "member", 200},
			{"administrator", "administrator", "member", 403}, // his own
			{"administrator", "second", "member", 403},        // another administrator's
			{"administrator", "stranger", "member", 404},
			{"administrator", "member", "team_manager", 400}, // a role of teams
			{"administrator", "member", "emperor", 400},
			{"manager", "member", "manager", 403},
			{"member", "manager", "member", 403},
			{"stranger", "member", "manager", 404},
		} {
			if got := set(tt.by, tt.of, tt.role); got != tt.want {
				t.Errorf("%s makes %s %s: got %d, want %d", tt.by, tt.of, tt.role, got, tt.want)
			}
		}
		// A role holds at once.
		if got := set("administrator", "manager", "member"); got != 200 {
			t.Fatalf("demote the manager: %d", got)
		}
		w.AsPerson("manager").Post(w.Organization+"/invite",
			map[string]any{"email": "x@example.com", "role": "member"}).Want(403)
	})
}

func TestRemovingMembers(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		remove := func(by, of string) *apitest.Response {
			return w.AsPerson(by).Delete(w.Organization+"/member", map[string]any{"userId": w.People[of]})
		}
		remove("manager", "administrator").Want(403)
		remove("manager", "billing_manager").Want(403) // has a permission that a manager lacks
		remove("member", "developer").Want(403)
		remove("administrator", "administrator").Want(400) // the last one
		remove("administrator", "stranger").Want(404)

		w.AsPerson("developer").Get(w.Project).Want(200)
		remove("manager", "developer").Want(200)
		w.AsPerson("developer").Get(w.Project).Want(404)
		w.AsPerson("developer").Get(w.Team + "/members?page=1&pageSize=20").Want(404)
		w.AsPerson("developer").Get(w.Organization).Want(404)
		w.AsPerson("administrator").Get(w.Team + "/member/" + string(w.People["developer"])).Want(404)

		// The last manager of a team stays until there is another one.
		w.Join("second", "administrator")
		w.AsPerson("administrator").Delete(w.Team+"/member",
			map[string]any{"userId": w.People["team_manager"]}).Want(200)
		if got := remove("second", "administrator").Want(400).Text("message"); !strings.Contains(got, "Red") {
			t.Errorf("the refusal does not name the team: %s", got)
		}
		w.AsPerson("administrator").Post(w.Team+"/member",
			map[string]any{"userId": w.People["second"], "role": "team_manager"}).Want(200)
		remove("second", "administrator").Want(200)
		w.AsPerson("administrator").Get(w.Organization).Want(404)
		remove("second", "second").Want(400)
	})
}

func TestRolesOfATeam(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		body := func(of, role string) map[string]any {
			return map[string]any{"userId": w.People[of], "role": role}
		}
		w.AsPerson("team_manager").Post(w.Team+"/member", body("member", "developer")).Want(200)
		w.AsPerson("team_manager").Post(w.Team+"/member", body("member", "developer")).Want(409)
		w.AsPerson("team_manager").Post(w.Team+"/member", body("stranger", "developer")).Want(404)
		w.AsPerson("team_manager").Post(w.Team+"/member", body("manager", "administrator")).Want(400)
		w.AsPerson("developer").Post(w.Team+"/member", body("manager", "developer")).Want(403)
		// sees the team, has no power in it
		w.AsPerson("manager").Post(w.Team+"/member", body("manager", "team_manager")).Want(403)

		w.AsPerson("team_manager").Put(w.Team+"/member/role", body("member", "read_only")).Want(200)
		w.AsPerson("team_manager").Put(w.Team+"/member/role", body("team_manager", "read_only")).Want(403) // his own
		w.AsPerson("team_manager").Put(w.Team+"/member/role", body("member", "team_manager")).Want(200)
		// another manager's
		w.AsPerson("team_manager").Put(w.Team+"/member/role", body("member", "read_only")).Want(403)
		w.AsPerson("team_manager").Delete(w.Team+"/member", body("member", "")).Want(403)
		w.AsPerson("administrator").Put(w.Team+"/member/role", body("member", "read_only")).Want(200)

		w.AsPerson("administrator").Delete(w.Team+"/member",
			map[string]any{"userId": w.People["team_manager"]}).Want(200)
		// the last one
		w.AsPerson("administrator").Delete(w.Team+"/member",
			map[string]any{"userId": w.People["administrator"]}).Want(400)
	})
}

func TestMembersOfAnOrganization(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.AsPerson("administrator").Get(w.Organization + "/members").Want(400)
		first := w.AsPerson("read_only").Get(w.Organization + "/members?page=1&pageSize=3").Want(200)
		var got struct {
			Users                                       []map[string]any
			TotalUsers, TotalPages, TotalAdministrators int
		}
		first.Into(&got)
		if len(got.Users) != 3 || got.TotalUsers != 8 || got.TotalPages != 3 || got.TotalAdministrators != 1 {
			t.Errorf("got %d users, total %d, pages %d, administrators %d; want 3, 8, 3, 1",
				len(got.Users), got.TotalUsers, got.TotalPages, got.TotalAdministrators)
		}
		delete(got.Users[0], "createdAt")
		want := map[string]any{"id": string(w.People["administrator"]), "firstName": "administrator",
			"lastName": "Test",
			"name":     "administrator Test",
			"email":    "administrator@example.com", "picture": "", "role": "administrator", "serviceAccount": false}
		if diff := cmp.Diff(want, got.Users[0]); diff != "" {
			t.Errorf("first member (-want +got):\n%s", diff)
		}
		if n := w.AsPerson("member").Get(w.Organization +
			"/members?page=1&pageSize=20&search=DEVELOPER%20test").Want(200).Value("totalUsers"); n != 2.0 {
			t.Errorf("a search by name found %v, want 2", n)
		}
		if n := w.AsPerson("member").Get(w.Organization +
			"/members?page=1&pageSize=20&search=%25").Want(200).Value("totalUsers"); n != 0.0 {
			t.Errorf("a search for %% found %v, want 0", n)
		}
		if users := w.AsPerson("member").Get(w.Organization +
			"/members?page=2147483647&pageSize=20").Want(200).Value("users"); len(users.([]any)) != 0 {
			t.Errorf("the last page imaginable has %v", users)
		}
	})
}

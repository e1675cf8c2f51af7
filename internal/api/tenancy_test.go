package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// A world is an organization with one person in every built-in role.
type world struct {
	*apitest.Runner
	t    *testing.T
	org  string // path of the organization
	team string // path of its team, whose manager is the administrator and "team_manager"
	proj string // path of a project in it
	who  map[string]tenant.UserID

	prefix string // of the people's addresses
}

// newWorld makes a world through the API alone.
func newWorld(t *testing.T, db *store.DB, clock *storetest.Clock) *world {
	t.Helper()
	return populate(t, apitest.New(t, db, clock), "")
}

// populate makes a world beside others; the prefix tells its people from theirs.
func populate(t *testing.T, r *apitest.Runner, prefix string) *world {
	t.Helper()
	w := &world{Runner: r, t: t, who: map[string]tenant.UserID{}, prefix: prefix}
	admin := w.Person(prefix + "administrator")
	w.who["administrator"] = admin
	w.org = "/organization/" + w.As(admin).Post("/organization", newOrganization).Want(201).Text("organizationId")
	w.team = "/team/" + w.As(admin).Post(w.org+"/team",
		map[string]any{"name": "Red", "description": ""}).Want(200).Text("teamId")
	w.proj = "/project/" + w.As(admin).Post(w.team+"/project", map[string]any{"name": "Web"}).Want(201).Text("id")
	for _, role := range []string{"manager", "billing_manager", "member"} {
		w.join(role, role)
	}
	for _, role := range []string{"team_manager", "analyst_developer", "developer", "read_only"} {
		w.join(role, "member")
		w.as("administrator").Post(w.team+"/member", map[string]any{"userId": w.who[role], "role": role}).Want(200)
	}
	w.who["stranger"] = w.Person(prefix + "stranger")
	return w
}

// as calls as the person with the name.
func (w *world) as(name string) apitest.Caller { return w.As(w.who[name]) }

// join invites a new person with the name, who accepts.
func (w *world) join(name, role string) {
	w.t.Helper()
	w.who[name] = w.Person(w.prefix + name)
	token := w.as("administrator").Post(w.org+"/invite", map[string]any{"email": apitest.Email(w.prefix + name),
		"role": role}).Want(201).Text("token")
	w.as(name).Post("/organization/invite/accept", map[string]any{"token": token}).Want(200)
}

// eachWorld runs a test in a world on each database, and checks the audit log at
// the end.
func eachWorld(t *testing.T, test func(t *testing.T, w *world)) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		test(t, newWorld(t, db, clock))
		if _, err := db.VerifyAudit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRolesOfAnOrganization(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.join("second", "administrator")
		set := func(by, of, role string) int {
			return w.as(by).Put(w.org+"/member/role", map[string]any{"userId": w.who[of], "role": role}).Status
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
		w.as("manager").Post(w.org+"/invite", map[string]any{"email": "x@example.com", "role": "member"}).Want(403)
	})
}

func TestRemovingMembers(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		remove := func(by, of string) *apitest.Answer {
			return w.as(by).Delete(w.org+"/member", map[string]any{"userId": w.who[of]})
		}
		remove("manager", "administrator").Want(403)
		remove("manager", "billing_manager").Want(403) // has a permission that a manager lacks
		remove("member", "developer").Want(403)
		remove("administrator", "administrator").Want(400) // the last one
		remove("administrator", "stranger").Want(404)

		w.as("developer").Get(w.proj).Want(200)
		remove("manager", "developer").Want(200)
		w.as("developer").Get(w.proj).Want(404)
		w.as("developer").Get(w.team + "/members?page=1&pageSize=20").Want(404)
		w.as("developer").Get(w.org).Want(404)
		w.as("administrator").Get(w.team + "/member/" + string(w.who["developer"])).Want(404)

		// The last manager of a team stays until there is another one.
		w.join("second", "administrator")
		w.as("administrator").Delete(w.team+"/member", map[string]any{"userId": w.who["team_manager"]}).Want(200)
		if got := remove("second", "administrator").Want(400).Text("message"); !strings.Contains(got, "Red") {
			t.Errorf("the refusal does not name the team: %s", got)
		}
		w.as("administrator").Post(w.team+"/member",
			map[string]any{"userId": w.who["second"], "role": "team_manager"}).Want(200)
		remove("second", "administrator").Want(200)
		w.as("administrator").Get(w.org).Want(404)
		remove("second", "second").Want(400)
	})
}

func TestRolesOfATeam(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		body := func(of, role string) map[string]any {
			return map[string]any{"userId": w.who[of], "role": role}
		}
		w.as("team_manager").Post(w.team+"/member", body("member", "developer")).Want(200)
		w.as("team_manager").Post(w.team+"/member", body("member", "developer")).Want(409)
		w.as("team_manager").Post(w.team+"/member", body("stranger", "developer")).Want(404)
		w.as("team_manager").Post(w.team+"/member", body("manager", "administrator")).Want(400)
		w.as("developer").Post(w.team+"/member", body("manager", "developer")).Want(403)
		// sees the team, has no power in it
		w.as("manager").Post(w.team+"/member", body("manager", "team_manager")).Want(403)

		w.as("team_manager").Put(w.team+"/member/role", body("member", "read_only")).Want(200)
		w.as("team_manager").Put(w.team+"/member/role", body("team_manager", "read_only")).Want(403) // his own
		w.as("team_manager").Put(w.team+"/member/role", body("member", "team_manager")).Want(200)
		w.as("team_manager").Put(w.team+"/member/role", body("member", "read_only")).Want(403) // another manager's
		w.as("team_manager").Delete(w.team+"/member", body("member", "")).Want(403)
		w.as("administrator").Put(w.team+"/member/role", body("member", "read_only")).Want(200)

		w.as("administrator").Delete(w.team+"/member", map[string]any{"userId": w.who["team_manager"]}).Want(200)
		// the last one
		w.as("administrator").Delete(w.team+"/member", map[string]any{"userId": w.who["administrator"]}).Want(400)
	})
}

func TestInvitations(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.Mails()
		guest := w.Person("guest")
		w.who["guest"] = guest
		teamID := strings.TrimPrefix(w.team, "/team/")
		body := map[string]any{"email": "Guest@Example.com", "role": "member",
			"teamAssignments": []any{map[string]any{"teamId": teamID, "role": "developer"}}}

		made := w.as("administrator").Post(w.org+"/invite", body).Want(201)
		token := made.Text("token")
		mails := w.Mails()
		if len(mails) != 1 || mails[0].To != "guest@example.com" || !strings.Contains(mails[0].Text, token) {
			t.Fatalf("got the mails %+v, want one to the guest with the token", mails)
		}
		if got := made.Time("expiresAt"); !got.Equal(storetest.Start.Add(7 * 24 * time.Hour)) {
			t.Errorf("expires at %s, want after 7 days", got)
		}
		w.as("administrator").Post(w.org+"/invite", body).Want(409) // has an open one

		// another address
		w.as("stranger").Post("/organization/invite/accept", map[string]any{"token": token}).Want(403)
		w.as("guest").Post("/organization/invite/accept", map[string]any{"token": token + "x"}).Want(404)
		w.as("guest").Post("/organization/invite/accept", map[string]any{"token": token}).Want(200)
		w.as("guest").Post("/organization/invite/accept", map[string]any{"token": token}).Want(400) // once
		w.as("guest").Get(w.proj).Want(200)
		if got := w.as("guest").Get(w.team + "/member/" + string(guest)).Want(200).Text("role"); got != "developer" {
			t.Errorf("got the role %s, want developer", got)
		}
		w.as("administrator").Post(w.org+"/invite", body).Want(409) // is a member

		// What a manager may offer.
		for role, want := range map[string]int{"member": 201, "manager": 201, "administrator": 403,
			"billing_manager": 403, "developer": 400} {
			answer := w.as("manager").Post(w.org+"/invite", map[string]any{"email": role + "2@example.com",
				"role": role}).Want(want)
			if want == 201 {
				w.as("manager").Delete(w.org+"/invitation/"+answer.Text("id"), nil).Want(200)
				w.as("manager").Delete(w.org+"/invitation/"+answer.Text("id"), nil).Want(400) // no longer open
			}
		}
		w.as("manager").Post(w.org+"/invite", map[string]any{"email": "dev@example.com", "role": "member",
			"teamAssignments": body["teamAssignments"]}).Want(403)
		w.as("manager").Post(w.org+"/invite", map[string]any{"email": "not an address", "role": "member"}).Want(400)
		w.as("member").Post(w.org+"/invite", map[string]any{"email": "x@example.com", "role": "member"}).Want(403)

		// Time, and the end of whoever invited.
		w.Clock.Advance(time.Minute)
		late := w.as("administrator").Post(w.org+"/invite", map[string]any{"email": apitest.Email("stranger"),
			"role": "member"}).Want(201)
		w.Clock.Advance(7 * 24 * time.Hour)
		w.as("stranger").Post("/organization/invite/accept", map[string]any{"token": late.Text("token")}).Want(400)
		w.as("administrator").Delete(w.org+"/invitation/"+late.Text("id"), nil).Want(400)
		offer := w.as("manager").Post(w.org+"/invite", map[string]any{"email": apitest.Email("stranger"),
			"role": "member"}).Want(201)
		w.as("administrator").Delete(w.org+"/member", map[string]any{"userId": w.who["manager"]}).Want(200)
		w.as("stranger").Post("/organization/invite/accept", map[string]any{"token": offer.Text("token")}).Want(400)

		w.as("administrator").Get(w.org + "/invitations").Want(400) // both parameters are demanded
		w.as("administrator").Get(w.org + "/invitations?page=1&pageSize=21").Want(400)
		list := w.as("administrator").Get(w.org + "/invitations?page=1&pageSize=4").Want(200)
		var got []string
		for i := range 4 {
			got = append(got, list.Text(fmt.Sprintf("invitations.%d.status", i))+
				list.Text(fmt.Sprintf("invitations.%d.token", i)))
		}
		want := []string{"cancelled", "expired"} // newest first; of one moment in any order
		if diff := cmp.Diff(want, got[:2]); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
	})
}

func TestConnectorsOfNobody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		if got := strings.TrimSpace(string(r.As("").Get("/auth/sso/connectors?email=a@example.com").Want(200).Body)); got != "[]" {
			t.Errorf("got %s, want []", got)
		}
		r.As("").Get("/auth/sso/connectors").Want(400)
		r.As("").Get("/auth/sso/connectors?email=nonsense").Want(400)
	})
}

func TestMembersOfAnOrganization(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.as("administrator").Get(w.org + "/members").Want(400)
		first := w.as("read_only").Get(w.org + "/members?page=1&pageSize=3").Want(200)
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
		want := map[string]any{"id": string(w.who["administrator"]), "firstName": "administrator", "lastName": "Test",
			"name":  "administrator Test",
			"email": "administrator@example.com", "picture": "", "role": "administrator", "serviceAccount": false}
		if diff := cmp.Diff(want, got.Users[0]); diff != "" {
			t.Errorf("first member (-want +got):\n%s", diff)
		}
		if n := w.as("member").Get(w.org +
			"/members?page=1&pageSize=20&search=DEVELOPER%20test").Want(200).Value("totalUsers"); n != 2.0 {
			t.Errorf("a search by name found %v, want 2", n)
		}
		if n := w.as("member").Get(w.org +
			"/members?page=1&pageSize=20&search=%25").Want(200).Value("totalUsers"); n != 0.0 {
			t.Errorf("a search for %% found %v, want 0", n)
		}
		if users := w.as("member").Get(w.org +
			"/members?page=2147483647&pageSize=20").Want(200).Value("users"); len(users.([]any)) != 0 {
			t.Errorf("the last page imaginable has %v", users)
		}
	})
}

func TestOrganizationSettings(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		update := map[string]any{"name": "Acme 2", "industry": "finance", "country": "FR", "description": "d",
			"website": "https://acme.example",
			"email":   "Sec@Acme.example", "concurrentScanLimit": 3, "unknown": true}
		w.as("manager").Put(w.org, update).Want(403)
		w.as("administrator").Put(w.org, map[string]any{"name": "Acme 2"}).Want(400)
		w.as("administrator").Put(w.org, map[string]any{"name": "x", "industry": "freelance",
			"country": "FR"}).Want(400)
		w.as("administrator").Put(w.org, map[string]any{"name": " ", "industry": "other", "country": "FR"}).Want(400)
		w.as("administrator").Put(w.org, map[string]any{"name": "a\u0000b", "industry": "other",
			"country": "FR"}).Want(400)
		w.as("administrator").Put(w.org, update).Want(200)
		got := w.as("member").Get(w.org).Want(200)
		want := map[string]any{"id": strings.TrimPrefix(w.org, "/organization/"), "name": "Acme 2", "description": "d",
			"website": "https://acme.example",
			"email":   "sec@acme.example", "concurrentScanLimit": 3.0, "maxTokenLifetimeDays": 0.0, "riskScore": nil,
			"riskLevel": nil}
		var body map[string]any
		got.Into(&body)
		if diff := cmp.Diff(want, body); diff != "" {
			t.Errorf("organization (-want +got):\n%s", diff)
		}

		w.as("manager").Get(w.org + "/billing/profile").Want(403)
		w.as("billing_manager").Put(w.org+"/billing/profile",
			map[string]any{"vatNumber": "DE1", "billingCity": "Köln"}).Want(200)
		w.as("billing_manager").Put(w.org+"/billing/profile", map[string]any{"customerType": "nobody"}).Want(400)
		billing := w.as("administrator").Get(w.org + "/billing/profile").Want(200)
		if got := billing.Text("vatNumber") + billing.Text("billingCity") + billing.Text("customerType") +
			billing.Text("country"); got != "DE1KölncompanyDE" {
			t.Errorf("got the profile %s", billing.Body)
		}
		w.as("billing_manager").Get(w.proj).Want(http.StatusNotFound)
	})
}

package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/audit"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// TestRefusedRequestsAreReported checks which refusals go to the audit log, and to
// whose chain.
func TestRefusedRequestsAreReported(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		var got []string
		names := map[string]string{"": "-"}
		w := populate(t, apitest.New(t, db, clock, func(c *api.Config) {
			c.Refused = func(chain tenant.OrganizationID, by tenant.Actor, operation string, status int) {
				got = append(got, fmt.Sprint(names[string(chain)], " ", names[string(by.UserID)], " ", operation, " ",
					status))
			}
		}), "")
		for name, id := range w.who {
			names[string(id)] = name
		}
		names[w.org[len("/organization/"):]] = "org"
		got = nil
		w.as("developer").Delete(w.team, nil).Want(403)       // a permission is missing
		w.as("stranger").Delete(w.team, nil).Want(404)        // invisible: somebody tries
		w.As("nobody").Get("/user/profile").Want(401)         // a token that is not valid
		w.as("administrator").Get("/user/profile").Want(200)  // nothing is refused
		w.as("manager").Post(w.org+"/invite", map[string]any{ // the handler refuses
			"email": "x@example.com", "role": "administrator"}).Want(403)
		want := []string{
			"org developer deleteTeam 403", "- stranger deleteTeam 404", "- - getUserProfile 401",
			"org manager inviteMember 403",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestRefusedReads reads what is hidden, and what is not there: both answers are the same,
// and only the first is recorded, for a member in the chain of the organization.
func TestRefusedReads(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		refusals := audit.NewAccessDenials(db, clock.Now)
		missed := 0
		w := populate(t, apitest.New(t, db, clock, func(c *api.Config) {
			c.Refused = refusals.Add
			c.Missed = func(by tenant.Actor, operation string, target tenant.Target) {
				missed++
				refusals.AddNotFound(by, operation, target)
			}
		}), "")
		const absent = "/00000000-0000-4000-8000-000000000000"
		answers := map[string]bool{}
		for _, path := range []string{w.proj, "/project" + absent, w.proj, "/project" + absent, "/project" + absent} {
			_, id, _ := strings.Cut(path[1:], "/")
			answer := timestamp.ReplaceAllString(string(w.as("stranger").Get(path).Want(404).Body), "")
			answers[strings.ReplaceAll(answer, id, "ID")] = true
		}
		w.as("stranger").Get(w.org).Want(404)
		w.as("stranger").Get("/organization" + absent).Want(404)
		w.as("member").Get(w.proj).Want(404) // a member of the organization without a role there
		w.as("administrator").Get(w.proj).Want(200)
		if missed != 8 || len(answers) != 1 {
			t.Errorf("%d reads are looked at, and there are %d answers: %v", missed, len(answers), answers)
		}
		if err := refusals.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		org := tenant.OrganizationID(w.org[len("/organization/"):])
		for chain, want := range map[tenant.OrganizationID]string{
			"":  "stranger getOrganization 404 1, stranger getProject 404 2",
			org: "member getProject 404 1",
		} {
			rows, err := db.Query(t.Context(), "SELECT actor, target, detail FROM audit_event WHERE chain = ? AND "+
				"action = 'request.refuse' ORDER BY target", string(chain))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for rows.Next() {
				var actor, target, detail string
				if err := rows.Scan(&actor, &target, &detail); err != nil {
					t.Fatal(err)
				}
				var d struct{ Status, Count int }
				if err := json.Unmarshal([]byte(detail), &d); err != nil {
					t.Fatal(err)
				}
				for name, id := range w.who {
					if string(id) == actor {
						actor = name
					}
				}
				got = append(got, fmt.Sprint(actor, " ", target, " ", d.Status, " ", d.Count))
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("in the chain %q: got %q, want %q", chain, got, want)
			}
		}
	})
}

// timestamp is what differs between two equal problems.
var timestamp = regexp.MustCompile(`"timestamp":"[^"]*",`)

// TestQuotas checks what one user makes others receive or store in a day.
func TestQuotas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock, func(c *api.Config) {
			c.Quotas = api.Quotas{UserInvitations: 3, OrganizationInvitations: 4, AddressInvitations: 2,
				UserOrganizations: 3}
		})
		ada, bob := r.Person("Ada"), r.Person("Bob")
		var orgs []string
		for range 3 {
			orgs = append(orgs, "/organization/"+
				r.As(ada).Post("/organization", newOrganization).Want(201).Text("organizationId"))
		}
		refused := r.As(ada).Post("/organization", newOrganization).Want(429)
		if refused.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		r.As(bob).Post("/organization", newOrganization).Want(201) // another user's are counted apart
		invite := func(org, email string, status int) {
			t.Helper()
			r.As(ada).Post(org+"/invite", map[string]any{"email": email, "role": "member"}).Want(status)
		}
		invite(orgs[0], "x@example.com", 201)
		invite(orgs[1], "x@example.com", 201)
		invite(orgs[2], "x@example.com", 429) // the address has had enough, whatever the organization
		invite(orgs[2], "y@example.com", 201)
		invite(orgs[2], "z@example.com", 429) // the user has sent enough
		clock.Advance(48 * time.Hour)
		invite(orgs[2], "z@example.com", 201)
	})
}

// TestInvitationsCountAsMails checks that invitations count among the mails to an
// address, also where their own limit allows more.
func TestInvitationsCountAsMails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock, func(c *api.Config) { c.Quotas = api.Quotas{AddressMails: 2} })
		ada := r.Person("Ada")
		for i, status := range []int{201, 201, 429} {
			org := "/organization/" + r.As(ada).Post("/organization", newOrganization).Want(201).Text("organizationId")
			a := r.As(ada).Post(org+"/invite", map[string]any{"email": "X@example.com", "role": "member"}).Want(status)
			if i == 2 && a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	})
}

// TestInvitationsOfOrganizationAreBounded sends invitations into one organization as two
// of its administrators: each of them has sent fewer than a user may.
func TestInvitationsOfOrganizationAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := populate(t, apitest.New(t, db, clock, func(c *api.Config) {
			c.Quotas = api.Quotas{UserInvitations: 100, OrganizationInvitations: 10}
		}), "")
		invite := func(who, email string, status int) *apitest.Answer {
			t.Helper()
			return w.as(who).Post(w.org+"/invite", map[string]any{"email": email, "role": "member"}).Want(status)
		}
		for i := range 3 { // beside the seven people of the world
			invite([]string{"administrator", "manager"}[i%2], fmt.Sprintf("n%d@example.com", i), 201)
		}
		for _, who := range []string{"administrator", "manager"} {
			if a := invite(who, "late@example.com", 429); a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		other := "/organization/" + w.as("administrator").Post("/organization", newOrganization).Want(201).
			Text("organizationId")
		w.as("administrator").Post(other+"/invite", map[string]any{"email": "late@example.com",
			"role": "member"}).Want(201)
		clock.Advance(48 * time.Hour)
		invite("manager", "late@example.com", 201)
	})
}

// TestQueuedScansAreBounded checks how many scans of one organization wait.
func TestQueuedScansAreBounded(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.DB.MaxQueued = 2
		start := func(status int) *apitest.Answer {
			t.Helper()
			return w.as("developer").Post(w.proj+"/scan/start", map[string]any{"branch": "main"}).Want(status)
		}
		first := start(200).Text("scanId")
		start(200)
		if a := start(429); a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		w.as("developer").Post(w.proj+"/scan/"+first+"/cancel", nil).Want(200)
		start(200)
	})
}

// TestQueuedScansOfOneUserAreBounded checks how many scans that one user has started
// wait, wherever they are.
func TestQueuedScansOfOneUserAreBounded(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.DB.MaxUserQueued = 2
		admin := w.as("administrator")
		org := "/organization/" + admin.Post("/organization", newOrganization).Want(201).Text("organizationId")
		team := admin.Post(org+"/team", map[string]any{"name": "Two"}).Want(200).Text("teamId")
		elsewhere := "/project/" +
			admin.Post("/team/"+team+"/project", map[string]any{"name": "P"}).Want(201).Text("id")
		start := func(who, project string, status int) *apitest.Answer {
			t.Helper()
			return w.as(who).Post(project+"/scan/start", map[string]any{"branch": "main"}).Want(status)
		}
		first := start("administrator", w.proj, 200).Text("scanId")
		start("administrator", elsewhere, 200)
		for _, project := range []string{w.proj, elsewhere} {
			if a := start("administrator", project, 429); a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		start("developer", w.proj, 200) // another user's are counted apart
		admin.Post(w.proj+"/scan/"+first+"/cancel", nil).Want(200)
		start("administrator", elsewhere, 200)
	})
}

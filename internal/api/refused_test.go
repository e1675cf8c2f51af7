package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

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
		w := apitest.Populate(t, apitest.New(t, db, clock, func(c *api.Config) {
			c.Refused = func(chain tenant.OrganizationID, by tenant.Actor, operation string, status int) {
				got = append(got, fmt.Sprint(names[string(chain)], " ", names[string(by.UserID)], " ", operation, " ",
					status))
			}
		}), "")
		for name, id := range w.People {
			names[string(id)] = name
		}
		names[w.Organization[len("/organization/"):]] = "org"
		got = nil
		w.AsPerson("developer").Delete(w.Team, nil).Want(403)                // a permission is missing
		w.AsPerson("stranger").Delete(w.Team, nil).Want(404)                 // invisible: somebody tries
		w.As("nobody").Get("/user/profile").Want(401)                        // a token that is not valid
		w.AsPerson("administrator").Get("/user/profile").Want(200)           // nothing is refused
		w.AsPerson("manager").Post(w.Organization+"/invite", map[string]any{ // the handler refuses
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
		w := apitest.Populate(t, apitest.New(t, db, clock, func(c *api.Config) {
			c.Refused = refusals.Add
			c.Missed = func(by tenant.Actor, operation string, target tenant.Target) {
				missed++
				refusals.AddNotFound(by, operation, target)
			}
		}), "")
		const absent = "/00000000-0000-4000-8000-000000000000"
		answers := map[string]bool{}
		for _, path := range []string{w.Project, "/project" + absent, w.Project, "/project" + absent, "/project" +
			absent} {
			_, id, _ := strings.Cut(path[1:], "/")
			answer := timestamp.ReplaceAllString(string(w.AsPerson("stranger").Get(path).Want(404).Body), "")
			answers[strings.ReplaceAll(answer, id, "ID")] = true
		}
		w.AsPerson("stranger").Get(w.Organization).Want(404)
		w.AsPerson("stranger").Get("/organization" + absent).Want(404)
		w.AsPerson("member").Get(w.Project).Want(404) // a member of the organization without a role there
		w.AsPerson("administrator").Get(w.Project).Want(200)
		if missed != 8 || len(answers) != 1 {
			t.Errorf("%d reads are looked at, and there are %d answers: %v", missed, len(answers), answers)
		}
		if err := refusals.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		org := tenant.OrganizationID(w.Organization[len("/organization/"):])
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
				for name, id := range w.People {
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

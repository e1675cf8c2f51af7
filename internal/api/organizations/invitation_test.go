package organizations_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

func TestInvitations(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Mails()
		guest := w.Person("guest")
		w.People["guest"] = guest
		teamID := strings.TrimPrefix(w.Team, "/team/")
		body := map[string]any{"email": "Guest@Example.com", "role": "member",
			"teamAssignments": []any{map[string]any{"teamId": teamID, "role": "developer"}}}

		made := w.AsPerson("administrator").Post(w.Organization+"/invite", body).Want(201)
		token := made.Text("token")
		mails := w.Mails()
		if len(mails) != 1 || mails[0].To != "guest@example.com" || !strings.Contains(mails[0].Text, token) {
			t.Fatalf("got the mails %+v, want one to the guest with the token", mails)
		}
		if got := made.Time("expiresAt"); !got.Equal(storetest.Start.Add(7 * 24 * time.Hour)) {
			t.Errorf("expires at %s, want after 7 days", got)
		}
		w.AsPerson("administrator").Post(w.Organization+"/invite", body).Want(409) // has an open one

		// another address
		w.AsPerson("stranger").Post("/organization/invite/accept", map[string]any{"token": token}).Want(403)
		w.AsPerson("guest").Post("/organization/invite/accept", map[string]any{"token": token + "x"}).Want(404)
		w.AsPerson("guest").Post("/organization/invite/accept", map[string]any{"token": token}).Want(200)
		w.AsPerson("guest").Post("/organization/invite/accept", map[string]any{"token": token}).Want(400) // once
		w.AsPerson("guest").Get(w.Project).Want(200)
		if got := w.AsPerson("guest").Get(w.Team + "/member/" +
			string(guest)).Want(200).Text("role"); got != "developer" {
			t.Errorf("got the role %s, want developer", got)
		}
		w.AsPerson("administrator").Post(w.Organization+"/invite", body).Want(409) // is a member

		// What a manager may offer.
		for role, want := range map[string]int{"member": 201, "manager": 201, "administrator": 403,
			"billing_manager": 403, "developer": 400} {
			answer := w.AsPerson("manager").Post(w.Organization+"/invite",
				map[string]any{"email": role + "2@example.com",
					"role": role}).Want(want)
			if want == 201 {
				w.AsPerson("manager").Delete(w.Organization+"/invitation/"+answer.Text("id"), nil).Want(200)
				// no longer open
				w.AsPerson("manager").Delete(w.Organization+"/invitation/"+answer.Text("id"), nil).Want(400)
			}
		}
		w.AsPerson("manager").Post(w.Organization+"/invite",
			map[string]any{"email": "dev@example.com", "role": "member",
				"teamAssignments": body["teamAssignments"]}).Want(403)
		w.AsPerson("manager").Post(w.Organization+"/invite",
			map[string]any{"email": "not an address", "role": "member"}).Want(400)
		w.AsPerson("member").Post(w.Organization+"/invite",
			map[string]any{"email": "x@example.com", "role": "member"}).Want(403)

		// Time, and the end of whoever invited.
		w.Clock.Advance(time.Minute)
		late := w.AsPerson("administrator").Post(w.Organization+"/invite",
			map[string]any{"email": apitest.Email("stranger"),
				"role": "member"}).Want(201)
		w.Clock.Advance(7 * 24 * time.Hour)
		w.AsPerson("stranger").Post("/organization/invite/accept",
			map[string]any{"token": late.Text("token")}).Want(400)
		w.AsPerson("administrator").Delete(w.Organization+"/invitation/"+late.Text("id"), nil).Want(400)
		offer := w.AsPerson("manager").Post(w.Organization+"/invite",
			map[string]any{"email": apitest.Email("stranger"),
				"role": "member"}).Want(201)
		w.AsPerson("administrator").Delete(w.Organization+"/member",
			map[string]any{"userId": w.People["manager"]}).Want(200)
		w.AsPerson("stranger").Post("/organization/invite/accept",
			map[string]any{"token": offer.Text("token")}).Want(400)

		w.AsPerson("administrator").Get(w.Organization + "/invitations").Want(400) // both parameters are demanded
		w.AsPerson("administrator").Get(w.Organization + "/invitations?page=1&pageSize=21").Want(400)
		list := w.AsPerson("administrator").Get(w.Organization + "/invitations?page=1&pageSize=4").Want(200)
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

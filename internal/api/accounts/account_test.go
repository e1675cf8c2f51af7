package accounts_test

import (
	"strings"
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/tenant"
)

func TestServiceAccounts(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		accounts := w.Organization + "/service-accounts"
		made := w.AsPerson("manager").Post(accounts, map[string]any{"name": "CI", "role": "member"}).Want(201)
		id := made.Text("id")
		robot := w.As(tenant.UserID(id))
		w.AsPerson("manager").Post(accounts, map[string]any{"name": "CI", "role": "member"}).Want(409)
		w.AsPerson("manager").Post(accounts, map[string]any{"name": "Root", "role": "administrator"}).Want(403)
		w.AsPerson("member").Post(accounts, map[string]any{"name": "X", "role": "member"}).Want(403)
		w.AsPerson("member").Get(accounts).Want(403)
		if got := w.AsPerson("manager").Get(accounts).Want(200).Value("serviceAccounts"); len(got.([]any)) != 1 {
			t.Errorf("got the accounts %v", got)
		}
		if got := w.AsPerson("manager").Get(w.Organization +
			"/members?page=1&pageSize=20").Want(200).Value("totalUsers"); got != 8.0 {
			t.Errorf("the organization has %v people, want 8: an account is none", got)
		}

		token := w.AsPerson("manager").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "build"}).Want(201)
		if !strings.HasPrefix(token.Text("value"), "mrl_pat_") || token.Value("expiresAt") != nil {
			t.Errorf("got %s", token.Body)
		}
		w.AsPerson("manager").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "build"}).Want(409)
		list := w.AsPerson("manager").Get(accounts + "/" + id + "/tokens").Want(200)
		if list.Value("tokens.0.value") != nil || list.Text("tokens.0.name") != "build" {
			t.Errorf("got %s", list.Body)
		}

		// What the account may do.
		robot.Get(w.Organization).Want(200)
		robot.Get(w.Project).Want(404)
		robot.Post("/organization", apitest.NewOrganization).Want(403)
		w.AsPerson("team_manager").Post(w.Team+"/member", map[string]any{"userId": id, "role": "developer"}).Want(200)
		robot.Get(w.Project).Want(200)
		if got := robot.Get("/organizations").Want(200).Value("organizations"); len(got.([]any)) != 1 {
			t.Errorf("the account sees the organizations %v", got)
		}

		// It can now do what a manager cannot: no manager may act for it.
		w.AsPerson("manager").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "mine"}).Want(403)
		w.AsPerson("manager").Get(accounts + "/" + id + "/tokens").Want(403)
		w.AsPerson("administrator").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "second"}).Want(201)
		w.AsPerson("administrator").Delete(accounts+"/"+id+"/tokens/"+token.Text("id"), nil).Want(200)
		w.AsPerson("administrator").Delete(accounts+"/"+id+"/tokens/"+token.Text("id"), nil).Want(404)
		w.AsPerson("administrator").Delete(w.Organization+"/member", map[string]any{"userId": id}).Want(400)
		// a person
		w.AsPerson("administrator").Post(accounts+"/"+string(w.People["developer"])+"/tokens",
			map[string]any{"name": "spy"}).Want(404)
		w.AsPerson("manager").Delete(accounts+"/"+id, nil).Want(403)
		w.AsPerson("administrator").Delete(accounts+"/"+id, nil).Want(200)
		robot.Get(w.Organization).Want(401)

		// An account of another organization is not found.
		w.People["boss"] = w.Person("boss")
		other := "/organization/" + w.AsPerson("boss").Post("/organization",
			apitest.NewOrganization).Want(201).Text("organizationId")
		foreign := w.AsPerson("boss").Post(other+"/service-accounts",
			map[string]any{"name": "Other", "role": "member"}).Want(201).Text("id")
		w.AsPerson("administrator").Post(w.Team+"/member",
			map[string]any{"userId": foreign, "role": "developer"}).Want(404)
		w.AsPerson("administrator").Delete(accounts+"/"+foreign, nil).Want(404)
	})
}

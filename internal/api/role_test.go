package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/audit"
	"merlon/internal/tenant"
)

func TestCustomRoles(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		create := func(by, name, level string, permissions ...string) (status int, id string) {
			t.Helper()
			a := w.as(by).Post(w.org+"/roles", map[string]any{"name": name, "level": level, "permissions": permissions})
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
		if n := len(w.as("member").Get(w.org + "/roles").Want(200).Value("roles").([]any)); n != len(tenant.Roles)+2 {
			t.Errorf("got %d roles, want the built-in ones and 2", n)
		}

		// The roles hold.
		w.as("member").Get(w.org + "/audit-log").Want(403)
		w.as("administrator").Put(w.org+"/member/role",
			map[string]any{"userId": w.who["member"], "role": strings.ToUpper(auditor)}).Want(200)
		w.as("member").Get(w.org + "/audit-log").Want(200)
		// another level
		w.as("administrator").Put(w.team+"/member/role",
			map[string]any{"userId": w.who["developer"], "role": auditor}).Want(400)
		w.as("administrator").Put(w.team+"/member/role",
			map[string]any{"userId": w.who["developer"], "role": triager}).Want(200)
		w.as("developer").Get(w.proj).Want(200)
		w.as("developer").Get(w.team + "/projects?page=1&pageSize=1").Want(200)

		// A change holds at once.
		w.as("administrator").Put(w.org+"/roles/"+triager,
			map[string]any{"permissions": []string{"team.read"}}).Want(200)
		w.as("developer").Get(w.proj).Want(404)
		w.as("administrator").Delete(w.org+"/roles/"+triager, nil).Want(409) // in use
		w.as("administrator").Put(w.team+"/member/role",
			map[string]any{"userId": w.who["developer"], "role": "developer"}).Want(200)
		w.as("administrator").Delete(w.org+"/roles/"+triager, nil).Want(200)
		w.as("administrator").Delete(w.org+"/roles/"+triager, nil).Want(404)
		w.as("administrator").Delete(w.org+"/roles/nonsense", nil).Want(400)
	})
}

// Somebody who may manage roles, but not everything, cannot get more by making
// one.
func TestNobodyGrowsByCustomRoles(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		limited := w.as("administrator").Post(w.org+"/roles", map[string]any{"name": "Clerk", "level": "organization",
			"permissions": []string{"org.read", "org.manage", "org.members"}}).Want(201).Text("id")
		strong := w.as("administrator").Post(w.org+"/roles", map[string]any{"name": "Strong", "level": "organization",
			"permissions": []string{"org.read", "org.billing"}}).Want(201).Text("id")
		w.as("administrator").Put(w.org+"/member/role",
			map[string]any{"userId": w.who["member"], "role": limited}).Want(200)

		clerk := w.as("member")
		clerk.Post(w.org+"/roles", map[string]any{"name": "Y", "level": "organization",
			"permissions": []string{"org.read", "org.billing"}}).Want(403)
		clerk.Post(w.org+"/roles",
			map[string]any{"name": "Y", "level": "team", "permissions": []string{"team.manage"}}).Want(403)
		clerk.Put(w.org+"/roles/"+limited,
			map[string]any{"permissions": []string{"org.read", "org.manage", "org.teams"}}).Want(403)
		clerk.Put(w.org+"/roles/"+strong, map[string]any{"permissions": []string{"org.read"}}).Want(403)
		clerk.Delete(w.org+"/roles/"+strong, nil).Want(403)
		for of, role := range map[string]string{"developer": "administrator", "manager": "member", "read_only": strong,
			"member": "administrator"} {
			clerk.Put(w.org+"/member/role", map[string]any{"userId": w.who[of], "role": role}).Want(403)
		}
		clerk.Post(w.org+"/invite", map[string]any{"email": "friend@example.com", "role": "administrator"}).Want(403)
		clerk.Post(w.org+"/service-accounts", map[string]any{"name": "friend", "role": "administrator"}).Want(403)
		clerk.Delete(w.org+"/member", map[string]any{"userId": w.who["administrator"]}).Want(403)
		clerk.Put(w.org+"/member/role", map[string]any{"userId": w.who["developer"], "role": limited}).Want(200)
	})
}

func TestServiceAccounts(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		accounts := w.org + "/service-accounts"
		made := w.as("manager").Post(accounts, map[string]any{"name": "CI", "role": "member"}).Want(201)
		id := made.Text("id")
		robot := w.As(tenant.UserID(id))
		w.as("manager").Post(accounts, map[string]any{"name": "CI", "role": "member"}).Want(409)
		w.as("manager").Post(accounts, map[string]any{"name": "Root", "role": "administrator"}).Want(403)
		w.as("member").Post(accounts, map[string]any{"name": "X", "role": "member"}).Want(403)
		w.as("member").Get(accounts).Want(403)
		if got := w.as("manager").Get(accounts).Want(200).Value("serviceAccounts"); len(got.([]any)) != 1 {
			t.Errorf("got the accounts %v", got)
		}
		if got := w.as("manager").Get(w.org + "/members?page=1&pageSize=20").Want(200).Value("totalUsers"); got != 8.0 {
			t.Errorf("the organization has %v people, want 8: an account is none", got)
		}

		token := w.as("manager").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "build"}).Want(201)
		if !strings.HasPrefix(token.Text("value"), "mrl_pat_") || token.Value("expiresAt") != nil {
			t.Errorf("got %s", token.Body)
		}
		w.as("manager").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "build"}).Want(409)
		list := w.as("manager").Get(accounts + "/" + id + "/tokens").Want(200)
		if list.Value("tokens.0.value") != nil || list.Text("tokens.0.name") != "build" {
			t.Errorf("got %s", list.Body)
		}

		// What the account may do.
		robot.Get(w.org).Want(200)
		robot.Get(w.proj).Want(404)
		robot.Post("/organization", newOrganization).Want(403)
		w.as("team_manager").Post(w.team+"/member", map[string]any{"userId": id, "role": "developer"}).Want(200)
		robot.Get(w.proj).Want(200)
		if got := robot.Get("/organizations").Want(200).Value("organizations"); len(got.([]any)) != 1 {
			t.Errorf("the account sees the organizations %v", got)
		}

		// It can now do what a manager cannot: no manager may act for it.
		w.as("manager").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "mine"}).Want(403)
		w.as("manager").Get(accounts + "/" + id + "/tokens").Want(403)
		w.as("administrator").Post(accounts+"/"+id+"/tokens", map[string]any{"name": "second"}).Want(201)
		w.as("administrator").Delete(accounts+"/"+id+"/tokens/"+token.Text("id"), nil).Want(200)
		w.as("administrator").Delete(accounts+"/"+id+"/tokens/"+token.Text("id"), nil).Want(404)
		w.as("administrator").Delete(w.org+"/member", map[string]any{"userId": id}).Want(400)
		// a person
		w.as("administrator").Post(accounts+"/"+string(w.who["developer"])+"/tokens",
			map[string]any{"name": "spy"}).Want(404)
		w.as("manager").Delete(accounts+"/"+id, nil).Want(403)
		w.as("administrator").Delete(accounts+"/"+id, nil).Want(200)
		robot.Get(w.org).Want(401)

		// Another organization's account is nobody here.
		w.who["boss"] = w.Person("boss")
		other := "/organization/" + w.as("boss").Post("/organization", newOrganization).Want(201).Text("organizationId")
		foreign := w.as("boss").Post(other+"/service-accounts",
			map[string]any{"name": "Other", "role": "member"}).Want(201).Text("id")
		w.as("administrator").Post(w.team+"/member", map[string]any{"userId": foreign, "role": "developer"}).Want(404)
		w.as("administrator").Delete(accounts+"/"+foreign, nil).Want(404)
	})
}

func TestAuditLogAndExport(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		log := w.org + "/audit-log"
		w.as("member").Get(log).Want(403)
		w.as("stranger").Get(log).Want(404)
		newest := w.as("manager").Get(log + "?limit=1").Want(200)
		if newest.Text("records.0.action") != "team.add_member" ||
			newest.Text("records.0.actor") != string(w.who["administrator"]) {
			t.Errorf("got %s", newest.Body)
		}
		w.as("manager").Get(log + "?cursor=nonsense").Want(400)
		w.as("manager").Get(log + "?limit=0").Want(400)
		w.as("manager").Get(log + "?from=yesterday").Want(400)

		// The pages are the whole log, once each.
		var seqs []float64
		for cursor := ""; ; {
			var page struct {
				Records    []map[string]any
				NextCursor string
			}
			w.as("manager").Get(log + "?limit=4&cursor=" + cursor).Want(200).Into(&page)
			for _, r := range page.Records {
				seqs = append(seqs, r["seq"].(float64))
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		for i, seq := range seqs {
			if int(seq) != len(seqs)-i {
				t.Fatalf("got the numbers %v, want every one from the last to the first", seqs)
			}
		}
		creations := w.as("manager").Get(log + "?action=organization.create&actor=" +
			string(w.who["administrator"])).Want(200)
		if creations.Value("records.1") != nil || creations.Text("records.0.detail.name") != "Acme" {
			t.Errorf("got %s", creations.Body)
		}

		export := w.as("manager").Get(log + "/export").Want(200)
		if got := export.Header.Get("Content-Type"); got != "application/x-ndjson" {
			t.Errorf("got the content type %s", got)
		}
		var records []audit.Record
		for line := range bytes.Lines(export.Body) {
			var r audit.Record
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		if err := audit.Verify(records); err != nil || len(records) != len(seqs) {
			t.Errorf("got %d records and %v, want %d that hold", len(records), err, len(seqs))
		}
		if got := w.as("manager").Get(log + "/export?after=" + fmt.Sprint(len(seqs))).Want(200).Body; len(got) != 0 {
			t.Errorf("behind the last record there is %s", got)
		}
		for _, secret := range []string{"token", "password"} {
			if bytes.Contains(export.Body, []byte(secret)) {
				t.Errorf("the log speaks of a %s", secret)
			}
		}
		if diff := cmp.Diff("", records[0].Previous); diff != "" {
			t.Errorf("first record (-want +got):\n%s", diff)
		}
	})
}

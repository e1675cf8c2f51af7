package targets_test

import (
	"testing"
	"time"

	"merlon/internal/api/apitest"
)

// TestOwnership shows where a token is to be published, sees it there, and forgets it
// after thirty days.
func TestOwnership(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Records = map[string][]string{}
		manager := w.AsPerson("team_manager")
		at := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("https://shop.example.test/")).Want(201).Text("id")
		before := w.AsPerson("read_only").Get(at + "/ownership").Want(200)
		for field, want := range map[string]any{
			"verified": false, "origins.0.origin": "https://shop.example.test", "origins.0.verified": false,
			"origins.0.places.0.method": "dns", "origins.0.places.0.where": "_merlon-verification.shop.example.test",
			"origins.0.places.1.subject": nil, "origins.0.proofs.0": nil,
		} {
			if v := before.Value(field); field != "origins.0.places.1.subject" && v != want {
				t.Errorf("%s: got %v, want %v", field, v, want)
			}
		}
		manager.Post(at+"/ownership/verify", map[string]any{"method": "dns"}).Want(409)
		manager.Post(at+"/ownership/verify", map[string]any{"method": "telepathy"}).Want(400)
		w.Records[before.Text("origins.0.places.0.where")+"."] = []string{before.Text("origins.0.places.0.value")}
		w.AsPerson("developer").Post(at+"/ownership/verify", map[string]any{}).Want(403)
		after := manager.Post(at+"/ownership/verify", map[string]any{"method": "dns"}).Want(200)
		if after.Value("verified") != true || after.Value("origins.0.proofs.0.method") != "dns" ||
			after.Value("origins.0.proofs.0.stale") != false {
			t.Errorf("verified: %s", after.Body)
		}
		// The proof is the organization's: another project of it needs none of its own.
		other := w.AsPerson("administrator").Post(w.Team+"/project",
			map[string]any{"name": "Other"}).Want(201).Text("projectId")
		there := "/project/" + other + "/target/" + w.AsPerson("administrator").Post("/project/"+other+"/target",
			apitest.TargetBody("https://shop.example.test/")).Want(201).Text("id")
		if got := w.AsPerson("administrator").Get(there + "/ownership").Want(200); got.Value("verified") != true {
			t.Errorf("another project: %s", got.Body)
		}
		// Another organization has shown nothing, and gets another token.
		w.People["foreigner"] = w.Person("foreigner")
		foreigner := w.AsPerson("foreigner")
		org := foreigner.Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		team := foreigner.Post("/organization/"+org+"/team", map[string]any{"name": "T"}).Want(200).Text("teamId")
		project := foreigner.Post("/team/"+team+"/project", map[string]any{"name": "P"}).Want(201).Text("projectId")
		theirs := "/project/" + project + "/target/" + foreigner.Post("/project/"+project+"/target",
			apitest.TargetBody("https://shop.example.test/")).Want(201).Text("id")
		got := foreigner.Get(theirs + "/ownership").Want(200)
		if got.Value("verified") != false ||
			got.Text("origins.0.places.0.value") == before.Text("origins.0.places.0.value") {
			t.Errorf("another organization: %s", got.Body)
		}
		foreigner.Post(theirs+"/ownership/verify", map[string]any{"method": "dns"}).Want(409)

		w.Clock.Advance(31 * 24 * time.Hour)
		if got := manager.Get(at + "/ownership").Want(200); got.Value("verified") != false ||
			got.Value("origins.0.proofs.0.stale") != true {
			t.Errorf("after a month: %s", got.Body)
		}
		listed := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("http://127.0.0.1:9/")).Want(201).Text("id")
		if got := manager.Get(listed + "/ownership").Want(200); got.Value("verified") != true ||
			got.Value("origins.0.listed.0") != "127.0.0.1/32" {
			t.Errorf("listed: %s", got.Body)
		}
		if log := w.AsPerson("administrator").Get(w.Organization +
			"/audit-log?action=ownership.verify").Want(200); len(log.Value("records").([]any)) != 1 {
			t.Errorf("the audit log: %s", log.Body)
		}
	})
}

package targets_test

import (
	"bytes"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
)

// TestTargets makes, shows, changes and deletes targets; no answer holds a secret.
func TestTargets(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		manager := w.AsPerson("team_manager")
		silent := func(a *apitest.Response) *apitest.Response {
			t.Helper()
			if bytes.Contains(a.Body, []byte("s3cret")) {
				t.Errorf("an answer holds a secret: %s", a.Body)
			}
			return a
		}
		made := silent(manager.Post(w.Project+"/target", apitest.TargetBody("https://shop.example.test/")).Want(201))
		at := w.Project + "/target/" + made.Text("id")
		for field, want := range map[string]any{
			"name": "Shop", "url": "https://shop.example.test/", "environment": "production", "profile": "safe",
			"headers.0": "X-Key", "exclude.0": "/logout*",
			"identities.0.name": "alice", "identities.0.form.user": "alice",
			"identities.0.secretsSet.0": "form.password", "identities.0.marker.in": "Sign out",
			"identities.1.secretsSet.0": "bearer", "descriptions.0.name": "openapi.json",
		} {
			if v := made.Value(field); v != want {
				t.Errorf("%s: got %v, want %v", field, v, want)
			}
		}
		manager.Post(w.Project+"/target", apitest.TargetBody("https://shop.example.test")).Want(409)
		manager.Post(w.Project+"/target", apitest.TargetBody("https://shop.example.test/admin/")).Want(201)
		list := silent(w.AsPerson("read_only").Get(w.Project + "/targets?pageSize=1&page=2").Want(200))
		if list.Value("totalTargets") != 2.0 || list.Value("totalPages") != 2.0 || list.Value("targets.1") != nil {
			t.Errorf("the list: %s", list.Body)
		}
		silent(w.AsPerson("read_only").Get(at).Want(200))

		// What is left out stays, secrets too.
		changed := silent(manager.Patch(at, map[string]any{"rate": 5, "profile": "passive"}).Want(200))
		if changed.Value("rate") != 5.0 || changed.Value("profile") != "passive" ||
			changed.Value("identities.1.secretsSet.0") != "bearer" {
			t.Errorf("changed: %s", changed.Body)
		}
		// What is shown can be sent back.
		shown := map[string]any{}
		changed.Into(&shown)
		again := silent(manager.Patch(at, map[string]any{"identities": shown["identities"],
			"descriptions": shown["descriptions"]}).Want(200))
		if again.Value("identities.0.secretsSet.0") != "form.password" {
			t.Errorf("sent back: %s", again.Body)
		}
		// A secret is not sent to another place than that it was given for.
		refused := silent(manager.Patch(at, map[string]any{"url": "https://evil.example.test/"}).Want(400))
		if !strings.Contains(string(refused.Body), "given again") {
			t.Errorf("another address: %s", refused.Body)
		}
		moved := apitest.TargetBody("https://new.example.test/")
		silent(manager.Patch(at, map[string]any{"url": moved["url"], "headers": moved["headers"],
			"identities": moved["identities"]}).Want(200))
		manager.Patch(at, map[string]any{"url": "ftp://x/"}).Want(400)
		manager.Patch(at, map[string]any{"profile": "brutal"}).Want(400)
		manager.Post(w.Project+"/target", map[string]any{"name": "x"}).Want(400)

		w.AsPerson("developer").Patch(at, map[string]any{"rate": 1}).Want(403)
		w.AsPerson("stranger").Get(at).Want(404)
		other := w.AsPerson("administrator").Post(w.Team+"/project",
			map[string]any{"name": "Other"}).Want(201).Text("projectId")
		w.AsPerson("administrator").Get("/project/" + other + "/target/" + made.Text("id")).Want(404)
		w.AsPerson("administrator").Delete("/project/"+other+"/target/"+made.Text("id"), nil).Want(404)

		manager.Delete(at, nil).Want(200)
		manager.Get(at).Want(404)
		for _, table := range []string{"target", "audit_event"} {
			var n int
			column := map[string]string{"target": "shown || kept", "audit_event": "detail"}[table]
			if err := w.DB.QueryRow(t.Context(), "SELECT COUNT(*) FROM "+table+" WHERE "+column+
				" LIKE '%s3cret%'").Scan(&n); err != nil || n != 0 {
				t.Errorf("%s: %d rows hold a secret, %v", table, n, err)
			}
		}
	})
}

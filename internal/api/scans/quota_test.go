package scans_test

import (
	"testing"

	"merlon/internal/api/apitest"
)

// TestQueuedScansAreBounded checks how many scans of one organization wait.
func TestQueuedScansAreBounded(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.DB.MaxQueued = 2
		start := func(status int) *apitest.Response {
			t.Helper()
			return w.AsPerson("developer").Post(w.Project+"/scan/start", map[string]any{"branch": "main"}).Want(status)
		}
		first := start(200).Text("scanId")
		start(200)
		if a := start(429); a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		w.AsPerson("developer").Post(w.Project+"/scan/"+first+"/cancel", nil).Want(200)
		start(200)
	})
}

// TestQueuedScansOfOneUserAreBounded checks how many scans that one user has started
// wait, wherever they are.
func TestQueuedScansOfOneUserAreBounded(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.DB.MaxUserQueued = 2
		admin := w.AsPerson("administrator")
		org := "/organization/" + admin.Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		team := admin.Post(org+"/team", map[string]any{"name": "Two"}).Want(200).Text("teamId")
		elsewhere := "/project/" +
			admin.Post("/team/"+team+"/project", map[string]any{"name": "P"}).Want(201).Text("id")
		start := func(who, project string, status int) *apitest.Response {
			t.Helper()
			return w.AsPerson(who).Post(project+"/scan/start", map[string]any{"branch": "main"}).Want(status)
		}
		first := start("administrator", w.Project, 200).Text("scanId")
		start("administrator", elsewhere, 200)
		for _, project := range []string{w.Project, elsewhere} {
			if a := start("administrator", project, 429); a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		start("developer", w.Project, 200) // another user's are counted apart
		admin.Post(w.Project+"/scan/"+first+"/cancel", nil).Want(200)
		start("administrator", elsewhere, 200)
	})
}

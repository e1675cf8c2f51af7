package registries_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
)

// An organization without a connection to a code host has no repositories there.
func TestRepositories(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		for _, path := range []string{w.Organization + "/github/repositories", "/integrations/gitlab" + w.Organization +
			"/repositories"} {
			var got struct{ Repositories []any }
			w.AsPerson("member").Get(path).Want(200).Into(&got)
			if got.Repositories == nil || len(got.Repositories) != 0 {
				t.Errorf("%s: got %v, want an empty list", path, got.Repositories)
			}
		}
	})
}

// TestIntegrations counts what an organization has, and nothing of another's.
func TestIntegrations(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin := w.AsPerson("administrator")
		address := w.Organization + "/integrations/overview"
		overview := func() any { return w.AsPerson("member").Get(address).Want(200).Value("containerRegistry") }
		if diff := cmp.Diff(map[string]any{"total": 0.0, "byType": []any{}}, overview()); diff != "" {
			t.Errorf("with nothing (-want +got):\n%s", diff)
		}
		bodies := apitest.CredentialBodies(strings.TrimPrefix(w.Project, "/project/"))
		for _, kind := range []string{"quay", "harbor"} {
			admin.Post("/integrations/"+kind+"/container-registry"+w.Organization+"/credentials",
				bodies[kind]).Want(201)
		}
		bodies["quay"]["quayNamespace"] = "other"
		admin.Post("/integrations/quay/container-registry"+w.Organization+"/credentials", bodies["quay"]).Want(201)
		want := map[string]any{"total": 3.0, "byType": []any{
			map[string]any{"type": "harbor", "count": 1.0}, map[string]any{"type": "quay", "count": 2.0}}}
		if diff := cmp.Diff(want, overview()); diff != "" {
			t.Errorf("with three (-want +got):\n%s", diff)
		}
		w.As(w.Person("foreign")).Get(address).Want(404)
	})
}

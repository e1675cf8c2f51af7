package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIntegrations counts what an organization has, and nothing of another's.
func TestIntegrations(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		admin := w.as("administrator")
		address := w.org + "/integrations/overview"
		overview := func() any { return w.as("member").Get(address).Want(200).Value("containerRegistry") }
		if diff := cmp.Diff(map[string]any{"total": 0.0, "byType": []any{}}, overview()); diff != "" {
			t.Errorf("with nothing (-want +got):\n%s", diff)
		}
		bodies := credentialBodies(strings.TrimPrefix(w.proj, "/project/"))
		for _, kind := range []string{"quay", "harbor"} {
			admin.Post("/integrations/"+kind+"/container-registry"+w.org+"/credentials", bodies[kind]).Want(201)
		}
		bodies["quay"]["quayNamespace"] = "other"
		admin.Post("/integrations/quay/container-registry"+w.org+"/credentials", bodies["quay"]).Want(201)
		want := map[string]any{"total": 3.0, "byType": []any{
			map[string]any{"type": "harbor", "count": 1.0}, map[string]any{"type": "quay", "count": 2.0}}}
		if diff := cmp.Diff(want, overview()); diff != "" {
			t.Errorf("with three (-want +got):\n%s", diff)
		}
		w.As(w.Person("foreign")).Get(address).Want(404)
	})
}

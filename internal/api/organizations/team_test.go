package organizations_test

import (
	"strings"
	"testing"

	"merlon/internal/api/apitest"
)

// A team with projects is deleted only by somebody who said that the projects go, too.
func TestDeleteTeam(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		owner := w.AsPerson("administrator")
		refused := owner.Delete(w.Team, nil).Want(409)
		if text := refused.Text("message"); !strings.Contains(text, "1 projects") ||
			!strings.Contains(text, "deleteProjects=true") {
			t.Errorf("the refusal says %q", text)
		}
		owner.Delete(w.Team+"?deleteProjects=false", nil).Want(409)
		owner.Delete(w.Team+"?deleteProjects=perhaps", nil).Want(400)
		owner.Get(w.Project).Want(200)
		owner.Delete(w.Team+"?deleteProjects=true", nil).Want(200)
		owner.Get(w.Project).Want(404)
		empty := "/team/" + owner.Post(w.Organization+"/team", map[string]any{"name": "Empty"}).Want(200).Text("teamId")
		owner.Delete(empty, nil).Want(200)
	})
}

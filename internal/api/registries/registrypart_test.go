package registries_test

import (
	"strings"
	"testing"

	"merlon/internal/api/apitest"
)

// TestListsOfRegistriesThatGoOn leads from one part of a list to the next.
func TestListsOfRegistriesThatGoOn(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		bodies := apitest.CredentialBodies(strings.TrimPrefix(w.Project, "/project/"))
		admin, reader := w.AsPerson("administrator"), w.AsPerson("read_only")
		list := func(kind, of string) string {
			id := admin.Post("/integrations/"+kind+"/container-registry"+w.Organization+"/credentials",
				bodies[kind]).Want(201).Text("id")
			return "/integrations/" + kind + "/container-registry" + w.Project + of + "?credentialId=" + id
		}
		google := list("gcr", "/images")
		if got := reader.Get(google + "&pageSize=7&pageToken=x").Want(200).Text("nextPageToken"); got != "next" {
			t.Errorf("the list goes on at %q", got)
		}
		images := reader.Get(list("acr", "/images")).Want(200).Text("link")
		if !strings.Contains(images, "pageToken=next") || !strings.Contains(images, "pageSize=50") {
			t.Errorf("the list goes on at %s", images)
		}
		reader.Get(images).Want(200)
		tags := reader.Get(list("acr", "/images/big%2Fapp/tags") + "&pageSize=7&pageToken=x").Want(200)
		if got := tags.Text("link"); !strings.Contains(got, "/images/big%2Fapp/tags?") ||
			!strings.Contains(got, "pageToken=after+x") || tags.Text("repositoryName") != "big/app" {
			t.Errorf("tags %s", tags.Body)
		}
		if got := reader.Get(tags.Text("link")).Want(200).Text("link"); !strings.Contains(got,
			"pageToken=after+after+x") {
			t.Errorf("the link leads to %s", got)
		}
	})
}

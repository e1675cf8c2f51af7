package api_test

import (
	"strings"
	"testing"
)

// TestListsOfRegistriesThatGoOn leads from one part of a list to the next.
func TestListsOfRegistriesThatGoOn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		bodies := credentialBodies(strings.TrimPrefix(w.proj, "/project/"))
		admin, reader := w.as("administrator"), w.as("read_only")
		list := func(kind, of string) string {
			id := admin.Post("/integrations/"+kind+"/container-registry"+w.org+"/credentials",
				bodies[kind]).Want(201).Text("id")
			return "/integrations/" + kind + "/container-registry" + w.proj + of + "?credentialId=" + id
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

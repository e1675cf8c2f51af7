package registries_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/registry/credential"
)

// registryGroups are what kinds of registry that keep images in something call that.
var registryGroups = map[string]string{"harbor": "projects", "jfrog": "repositories", "scaleway": "namespaces"}

// TestRegistryCredentials stores, shows, uses, rotates and deletes a credential of
// each kind, and never tells the secret.
func TestRegistryCredentials(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin, reader := w.AsPerson("administrator"), w.AsPerson("read_only")
		project := strings.TrimPrefix(w.Project, "/project/")
		if n := len(apitest.CredentialBodies(project)); n != len(credential.Kinds) {
			t.Fatalf("%d kinds are tested, there are %d", n, len(credential.Kinds))
		}
		for kind, body := range apitest.CredentialBodies(project) {
			base := "/integrations/" + kind + "/container-registry"
			body["description"] = "for CI"
			made := admin.Post(base+w.Organization+"/credentials", body).Want(201)
			in := apitest.RegistryEnvelopes[kind]
			id := made.Text(in + "id")
			shown := reader.Get(base + w.Project + "/credentials/" + id).Want(200)
			list := reader.Get(base + w.Project + "/credentials").Want(200)
			for name, answer := range map[string][]byte{"store": made.Body, "get": shown.Body, "list": list.Body} {
				if bytes.Contains(answer, []byte("s3cret")) || !bytes.Contains(answer, []byte(id)) ||
					!bytes.Contains(answer, []byte("for CI")) {
					t.Errorf("%s %s: %s", kind, name, answer)
				}
			}
			images, image, query := base+w.Project+"/images", "big/app", "?credentialId="+id+"&pageSize=7&maxResults=7"
			if kind == "scaleway" {
				image = id
			}
			if groups := registryGroups[kind]; groups != "" {
				images, query = base+w.Project+"/credentials/"+id+"/images", "?pageSize=7"
				if got := reader.Get(base + w.Project + "/credentials/" + id + "/" +
					groups).Want(200); fmt.Sprint(got.Value(in+"totalCount")) != "1" {
					t.Errorf("%s: %s", kind, got.Body)
				}
			}
			if got := reader.Get(images + query).Want(200).Text(in + "images.0.name"); !strings.HasSuffix(got,
				"/s3cret") {
				t.Errorf("%s: the registry was asked with %q", kind, got)
			}
			answer := reader.Get(images + "/" + url.PathEscape(image) + "/tags" + query).Want(200)
			if got := answer.Text(in + "tags.0.name"); got != "of "+image ||
				!bytes.Contains(answer.Body, []byte(`"size":7`)) {
				t.Errorf("%s: tags %s", kind, answer.Body)
			}
			for _, name := range []string{"accessToken", "deployToken", "serviceAccountKey", "servicePrincipalPassword",
				"robotToken", "password", "secretKey", "awsSecretAccessKey"} {
				if body[name] != nil {
					body[name] = "wrong"
					admin.Post(base+w.Organization+"/credentials", body).Want(400)
					body[name] = "r0tated"
				}
			}
			if again := admin.Post(base+w.Organization+"/credentials", body).Want(201).Text(in + "id"); again != id {
				t.Errorf("%s: storing again made another credential", kind)
			}
			if got := reader.Get(images + query).Want(200).Text(in + "images.0.name"); !strings.HasSuffix(got,
				"/r0tated") {
				t.Errorf("%s: the registry was asked with %q", kind, got)
			}
			admin.Do("DELETE", base+w.Organization+"/credentials/"+id, nil).Want(204)
			reader.Get(base + w.Project + "/credentials/" + id).Want(404)
			reader.Get(images + query).Want(404)
			admin.Do("DELETE", base+w.Organization+"/credentials/"+id, nil).Want(404)
		}
		var n int
		if err := w.DB.QueryRow(t.Context(), "SELECT COUNT(*) FROM audit_event WHERE action LIKE "+
			"'registry_credential.%'").Scan(&n); err != nil || n != 3*len(credential.Kinds) {
			t.Errorf("%d audit records, %v", n, err)
		}
	})
}

// TestCredentialLinks has only linked projects use a credential.
func TestCredentialLinks(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin := w.AsPerson("administrator")
		project := strings.TrimPrefix(w.Project, "/project/")
		other := admin.Post(w.Team+"/project", map[string]any{"name": "Other"}).Want(201).Text("projectId")
		foreign := w.Person("foreign")
		org := w.As(foreign).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		body := apitest.CredentialBodies(project)["quay"]
		base, all := "/integrations/quay/container-registry", "/integrations/container-registry"+w.Organization
		id := admin.Post(base+w.Organization+"/credentials", body).Want(201).Text("id")
		admin.Get(base + "/project/" + other + "/credentials/" + id).Want(404)
		links := all + "/credentials/quay/" + id + "/projects"
		put := func(ids ...string) string {
			return string(admin.Do("PUT", links,
				map[string]any{"projectIds": append([]string{}, ids...)}).Want(200).Body)
		}
		if got := put(other, other, "00000000-0000-4000-8000-000000000000"); strings.Count(got, other) != 1 ||
			strings.Contains(got, project) || strings.Contains(got, "4000") {
			t.Errorf("linked %s", got)
		}
		admin.Get(base + "/project/" + other + "/credentials/" + id).Want(200)
		admin.Get(base + w.Project + "/credentials/" + id).Want(404)
		if got := admin.Get(all + "/credentials").Want(200).Text("quay.0.linkedProjectIds.0"); got != other {
			t.Errorf("linked to %s", got)
		}
		put()
		if got := string(admin.Get(links).Want(200).Body); strings.Contains(got, other) {
			t.Errorf("still linked: %s", got)
		}
		admin.Do("PUT", links, map[string]any{}).Want(400)
		admin.Do("PUT", links, map[string]any{"projectIds": []string{"x"}}).Want(400)
		admin.Get(all + "/credentials/harbor/" + id + "/projects").Want(404)
		// Nothing of it is another organization's.
		w.As(foreign).Get("/integrations/container-registry/organization/" + org + "/credentials/quay/" + id +
			"/projects").Want(404)
		body["projectId"] = project
		w.As(foreign).Post(base+"/organization/"+org+"/credentials", body).Want(404)

		bulk := apitest.CredentialBodies("")["harbor"]
		bulk["registryType"], bulk["name"], bulk["projectIds"] = "harbor", "Harbor",
			[]string{project, "nonsense", other}
		answer := admin.Post(all+"/bulk-apply", bulk).Want(201)
		if answer.Text("applied.0") == "" || answer.Text("skipped.0") != "nonsense" {
			t.Errorf("applied %s", answer.Body)
		}
		bulk["projectIds"] = []string{"nonsense"}
		admin.Post(all+"/bulk-apply", bulk).Want(400)
		bulk["projectIds"], bulk["registryType"] = []string{project}, "ecr"
		if got := admin.Post(all+"/bulk-apply", bulk).Want(400); !bytes.Contains(got.Body, []byte("awsRegion")) {
			t.Errorf("bulk: %s", got.Body)
		}
		w.AsPerson("read_only").Get(all + "/credentials").Want(403)
	})
}

// TestCredentialsThatAreNotWhole names what is missing, before anybody is asked.
func TestCredentialsThatAreNotWhole(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin := w.AsPerson("administrator")
		for kind, body := range apitest.CredentialBodies(strings.TrimPrefix(w.Project, "/project/")) {
			for name := range body {
				if name == "scopes" || kind == "ecr" && name == "projectId" {
					continue
				}
				part := map[string]any{}
				for k, v := range body {
					if k != name {
						part[k] = v
					}
				}
				if answer := admin.Post("/integrations/"+kind+"/container-registry"+w.Organization+"/credentials",
					part).Want(400); !bytes.Contains(answer.Body, []byte(name)) {
					t.Errorf("%s without %s: %s", kind, name, answer.Body)
				}
			}
		}
		harbor := apitest.CredentialBodies(strings.TrimPrefix(w.Project, "/project/"))["harbor"]
		for _, address := range []string{"ftp://x", "https://user:pass@x", "https://x?y", "https://", "a b"} {
			harbor["harborUrl"] = address
			admin.Post("/integrations/harbor/container-registry"+w.Organization+"/credentials", harbor).Want(400)
		}
	})
}

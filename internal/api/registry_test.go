package api_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/registry/credential"
)

// credentialBodies are what is stored of each kind.
func credentialBodies(project string) map[string]map[string]any {
	out := map[string]map[string]any{
		"dockerhub": {"dockerhubUsername": "ada", "accessToken": "s3cret"},
		"gitlab": {"gitlabProjectId": 7, "username": "ada", "projectPath": "group/app", "deployToken": "s3cret",
			"scopes": []string{"read_registry"}},
		"gcr": {"gcpProjectId": "proj", "registryHostname": "eu.gcr.io", "serviceAccountKey": "s3cret"},
		"acr": {"acrLoginServer": "shop.azurecr.io", "servicePrincipalId": "id",
			"servicePrincipalPassword": "s3cret"},
		"quay": {"quayNamespace": "shop", "robotUsername": "shop+ci", "robotToken": "s3cret"},
		"harbor": {"harborUrl": "https://harbor.example", "harborProject": "shop", "username": "robot$ci",
			"password": "s3cret"},
		"scaleway": {"region": "fr-par", "namespaceName": "shop", "secretKey": "s3cret"},
		"ecr": {"name": "CI", "awsRegion": "eu-west-1", "awsAccessKeyId": "AKIAIOSFODNN7EXAMPLE",
			"awsSecretAccessKey": "s3cret"},
		"jfrog": {"jfrogUrl": "https://shop.example", "repositoryKey": "local", "username": "ci",
			"password": "s3cret"},
	}
	for _, body := range out {
		body["projectId"] = project
	}
	return out
}

// registryGroups are what kinds of registry that keep images in something call that.
var registryGroups = map[string]string{"harbor": "projects", "jfrog": "repositories", "scaleway": "namespaces"}

// registryEnvelopes are what the answers of kinds of registry stand in.
var registryEnvelopes = map[string]string{"scaleway": "data."}

// TestRegistryCredentials stores, shows, uses, rotates and deletes a credential of
// each kind, and never tells the secret.
func TestRegistryCredentials(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		admin, reader := w.as("administrator"), w.as("read_only")
		project := strings.TrimPrefix(w.proj, "/project/")
		if n := len(credentialBodies(project)); n != len(credential.Kinds) {
			t.Fatalf("%d kinds are tested, there are %d", n, len(credential.Kinds))
		}
		for kind, body := range credentialBodies(project) {
			base := "/integrations/" + kind + "/container-registry"
			body["description"] = "for CI"
			made := admin.Post(base+w.org+"/credentials", body).Want(201)
			in := registryEnvelopes[kind]
			id := made.Text(in + "id")
			shown := reader.Get(base + w.proj + "/credentials/" + id).Want(200)
			list := reader.Get(base + w.proj + "/credentials").Want(200)
			for name, answer := range map[string][]byte{"store": made.Body, "get": shown.Body, "list": list.Body} {
				if bytes.Contains(answer, []byte("s3cret")) || !bytes.Contains(answer, []byte(id)) ||
					!bytes.Contains(answer, []byte("for CI")) {
					t.Errorf("%s %s: %s", kind, name, answer)
				}
			}
			images, image, query := base+w.proj+"/images", "big/app", "?credentialId="+id+"&pageSize=7&maxResults=7"
			if kind == "scaleway" {
				image = id
			}
			if groups := registryGroups[kind]; groups != "" {
				images, query = base+w.proj+"/credentials/"+id+"/images", "?pageSize=7"
				if got := reader.Get(base + w.proj + "/credentials/" + id + "/" +
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
					admin.Post(base+w.org+"/credentials", body).Want(400)
					body[name] = "r0tated"
				}
			}
			if again := admin.Post(base+w.org+"/credentials", body).Want(201).Text(in + "id"); again != id {
				t.Errorf("%s: storing again made another credential", kind)
			}
			if got := reader.Get(images + query).Want(200).Text(in + "images.0.name"); !strings.HasSuffix(got,
				"/r0tated") {
				t.Errorf("%s: the registry was asked with %q", kind, got)
			}
			admin.Do("DELETE", base+w.org+"/credentials/"+id, nil).Want(204)
			reader.Get(base + w.proj + "/credentials/" + id).Want(404)
			reader.Get(images + query).Want(404)
			admin.Do("DELETE", base+w.org+"/credentials/"+id, nil).Want(404)
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
	eachWorld(t, func(t *testing.T, w *world) {
		admin := w.as("administrator")
		project := strings.TrimPrefix(w.proj, "/project/")
		other := admin.Post(w.team+"/project", map[string]any{"name": "Other"}).Want(201).Text("projectId")
		foreign := w.Person("foreign")
		org := w.As(foreign).Post("/organization", newOrganization).Want(201).Text("organizationId")
		body := credentialBodies(project)["quay"]
		base, all := "/integrations/quay/container-registry", "/integrations/container-registry"+w.org
		id := admin.Post(base+w.org+"/credentials", body).Want(201).Text("id")
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
		admin.Get(base + w.proj + "/credentials/" + id).Want(404)
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

		bulk := credentialBodies("")["harbor"]
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
		w.as("read_only").Get(all + "/credentials").Want(403)
	})
}

// TestCredentialsThatAreNotWhole names what is missing, before anybody is asked.
func TestCredentialsThatAreNotWhole(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		admin := w.as("administrator")
		for kind, body := range credentialBodies(strings.TrimPrefix(w.proj, "/project/")) {
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
				if answer := admin.Post("/integrations/"+kind+"/container-registry"+w.org+"/credentials",
					part).Want(400); !bytes.Contains(answer.Body, []byte(name)) {
					t.Errorf("%s without %s: %s", kind, name, answer.Body)
				}
			}
		}
		harbor := credentialBodies(strings.TrimPrefix(w.proj, "/project/"))["harbor"]
		for _, address := range []string{"ftp://x", "https://user:pass@x", "https://x?y", "https://", "a b"} {
			harbor["harborUrl"] = address
			admin.Post("/integrations/harbor/container-registry"+w.org+"/credentials", harbor).Want(400)
		}
	})
}

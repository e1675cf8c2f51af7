package registries_test

import (
	"bytes"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
)

// TestStartContainerScan starts scans of images that are there, and of others.
func TestStartContainerScan(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		path := w.Project + "/scan/container/start"
		body := func(image string) map[string]any { return map[string]any{"imageToScan": image, "branch": "images"} }
		started := w.AsPerson("developer").Post(path, body("app:1.0")).Want(200)
		got := w.AsPerson("developer").Get(w.Project + "/scan/" + started.Text("scanId")).Want(200)
		for field, want := range map[string]any{
			"scanType": "container", "image": "docker.io/library/app:1.0", "branch": "images", "state": "queued",
			"step": "waiting for a free worker", "analyses.0": "container",
		} {
			if v := got.Value(field); v != want {
				t.Errorf("%s: got %v, want %v", field, v, want)
			}
		}
		for image, status := range map[string]int{"missing": 404, "two words": 400, "": 400} {
			w.AsPerson("developer").Post(path, body(image)).Want(status)
		}
		w.AsPerson("developer").Post(path, map[string]any{"imageToScan": "app", "sourceType": "nobody"}).Want(400)
		w.AsPerson("read_only").Post(path, body("app")).Want(403)
		w.AsPerson("stranger").Post(path, body("app")).Want(404)
		w.AsPerson("administrator").Patch(w.Project, map[string]any{"containerEnabled": false}).Want(200)
		w.AsPerson("developer").Post(path, body("app")).Want(409)
	})
}

// TestStartRegistryScan starts scans of images with a stored credential of each kind.
func TestStartRegistryScan(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin, developer := w.AsPerson("administrator"), w.AsPerson("developer")
		other := admin.Post(w.Team+"/project", map[string]any{"name": "Other"}).Want(201).Text("projectId")
		for kind, stored := range apitest.CredentialBodies(strings.TrimPrefix(w.Project, "/project/")) {
			base, in := "/integrations/"+kind+"/container-registry", apitest.RegistryEnvelopes[kind]
			id := admin.Post(base+w.Organization+"/credentials", stored).Want(201).Text(in + "id")
			body := func(image string) map[string]any {
				return map[string]any{"credentialId": id, "imageName": image, "branch": kind, "privateScan": true,
					"severities": []string{"CRITICAL", "HIGH"}}
			}
			path := base + w.Project + "/scan"
			started := developer.Post(path, body("app:1.0")).Want(202)
			if started.Value("success") != true || started.Value(in+"detectedLanguages") == nil ||
				!strings.Contains(started.Text(in+"message"), "app:1.0") {
				t.Errorf("%s: %s", kind, started.Body)
			}
			got := developer.Get(w.Project + "/scan/" + started.Text(in+"scanId")).Want(200)
			for field, want := range map[string]any{
				"scanType": "container", "branch": kind, "state": "queued", "private": true, "analyses.0": "container",
				"credentialId": id, "severities.1": "high",
			} {
				if v := got.Value(field); v != want {
					t.Errorf("%s %s: got %v, want %v", kind, field, v, want)
				}
			}
			if image := got.Text("image"); !strings.HasSuffix(image, "/app:1.0") ||
				bytes.Contains(got.Body, []byte("s3cret")) {
				t.Errorf("%s: %s", kind, got.Body)
			}
			for image, status := range map[string]int{"missing": 404, "two words": 400, "": 400} {
				developer.Post(path, body(image)).Want(status)
			}
			w.AsPerson("read_only").Post(path, body("app")).Want(403)
			w.AsPerson("stranger").Post(path, body("app")).Want(404)
			admin.Post(base+"/project/"+other+"/scan", body("app")).Want(404) // not linked
			wrong := body("app")
			wrong["severities"] = []string{"WORST"}
			developer.Post(path, wrong).Want(400)
			wrong["credentialId"] = "11111111-2222-4333-8444-555555555555"
			developer.Post(path, wrong).Want(404)
			delete(wrong, "credentialId")
			developer.Post(path, wrong).Want(400)
			for _, name := range []string{"accessToken", "deployToken", "serviceAccountKey", "servicePrincipalPassword",
				"robotToken", "password", "secretKey", "awsSecretAccessKey"} {
				if stored[name] != nil {
					stored[name] = "revoked"
				}
			}
			admin.Post(base+w.Organization+"/credentials", stored).Want(201)
			developer.Post(path, body("app")).Want(409)
		}
		var n int
		if err := w.DB.QueryRow(t.Context(), "SELECT COUNT(*) FROM run WHERE image LIKE "+
			"'%s3cret%'").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d runs keep the secret, %v", n, err)
		}
	})
}

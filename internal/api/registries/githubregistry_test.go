package registries_test

import (
	"bytes"
	"testing"

	"merlon/internal/api/apitest"
)

const ghcr = "/integrations/github-container-registry"

// TestGithubRegistry stores, uses, checks and deletes the organization's token, and
// hands out only what ends soon.
func TestGithubRegistry(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin, reader := w.AsPerson("administrator"), w.AsPerson("read_only")
		base, all := ghcr+w.Organization, "/integrations/container-registry"+w.Organization+"/credentials"
		if got := reader.Get(base + "/pat/status").Want(200); got.Value("hasPat") != false {
			t.Errorf("status %s", got.Body)
		}
		for _, path := range []string{"/images", "/images/app/tags", "/token"} {
			admin.Get(base + path).Want(404)
		}
		admin.Do("DELETE", base+"/pat", nil).Want(404)
		for _, bad := range []string{"", "wrong", "ghp_with spaces in the middle of it", apitest.GithubPat + "/",
			"ghp_scopeless_0123456789"} {
			admin.Post(base+"/pat", map[string]any{"pat": bad}).Want(400)
		}
		admin.Post(base+"/pat", map[string]any{"pat": apitest.GithubPat, "githubOwner": "../x"}).Want(400)
		reader.Post(base+"/pat", map[string]any{"pat": apitest.GithubPat}).Want(403)

		stored := admin.Post(base+"/pat", map[string]any{"pat": apitest.GithubPat}).Want(201)
		if stored.Text("status.githubUsername") != "ada" || stored.Value("status.hasPackagesReadScope") != true ||
			stored.Text("status.expiresAt") == "" {
			t.Errorf("stored %s", stored.Body)
		}
		status := reader.Get(base + "/pat/status").Want(200)
		if status.Value("hasPat") != true || status.Value("status.valid") != true ||
			status.Text("status.scopes.0") != "read:packages" || status.Text("status.validatedAt") == "" {
			t.Errorf("status %s", status.Body)
		}
		images := reader.Get(base + "/images").Want(200)
		if images.Value("images.0.scannable") != true || images.Text("githubOwner") != "ada" {
			t.Errorf("images %s", images.Body)
		}
		private := reader.Get(base + "/images?visibility=private").Want(200)
		if private.Value("images.0.scannable") != false || private.Text("images.0.scannableReason") == "" {
			t.Errorf("private images %s", private.Body)
		}
		reader.Get(base + "/images?visibility=secret").Want(400)
		tags := reader.Get(base + "/images/big%2Fapp/tags").Want(200)
		if tags.Text("packageName") != "big/app" || tags.Text("tags.0.tags.0") != "1.0" ||
			tags.Text("tags.0.name") != "of big/app" {
			t.Errorf("tags %s", tags.Body)
		}
		token := admin.Get(base + "/token?packageName=public-app").Want(200)
		if token.Text("token") != "for public-app" || token.Text("registryUrl") != "ghcr.io" ||
			token.Text("username") != "ada" {
			t.Errorf("token %s", token.Body)
		}
		admin.Get(base + "/token").Want(200)
		admin.Get(base + "/token?packageName=none").Want(404)
		reader.Get(base + "/token").Want(403)

		scan := ghcr + w.Project + "/scan"
		for image, want := range map[string]int{"other/public-app": 403, "ghcr.io/other/public-app": 403,
			"private-app": 403, "none": 404, "two words": 400, "public-none": 404} {
			if got := w.AsPerson("developer").Post(scan, map[string]any{"imageName": image}); got.Status != want {
				t.Errorf("a scan of %s: %d %s", image, got.Status, got.Body)
			}
		}
		started := w.AsPerson("developer").Post(scan,
			map[string]any{"imageName": "app:1.0", "severities": []string{"HIGH"}}).Want(202)
		run := reader.Get(w.Project + "/scan/" + started.Text("scanId")).Want(200)
		if run.Text("image") != "ghcr.io/ada/app:1.0" || run.Text("credentialId") == "" ||
			run.Text("severities.0") != "high" {
			t.Errorf("started %s", run.Body)
		}
		reader.Post(scan, map[string]any{"imageName": "public"}).Want(403)

		again := admin.Post(base+"/pat", map[string]any{"pat": apitest.GithubPat, "githubOwner": "shop"}).Want(201)
		everything := admin.Get(all).Want(200)
		if everything.Text("github.githubOwner") != "shop" || everything.Value("github.available") != true {
			t.Errorf("all %s", everything.Body)
		}
		for _, answer := range [][]byte{stored.Body, status.Body, again.Body, everything.Body, token.Body} {
			if bytes.Contains(answer, []byte(apitest.GithubPat)) {
				t.Errorf("the token is in %s", answer)
			}
		}
		var n int
		if err := w.DB.QueryRow(t.Context(), "SELECT COUNT(*) FROM registry_credential WHERE kind = "+
			"'github-container-registry'").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d tokens are stored, %v", n, err)
		}
		if got := admin.Get(w.Organization +
			"/audit-log?action=registry_credential.exchange").Want(200); !bytes.Contains(got.Body,
			[]byte(`"images":1`)) || bytes.Contains(got.Body, []byte("public-app")) {
			t.Errorf("the log says of tokens %s", got.Body)
		}
		// Another organization has none of it.
		foreign := w.Person("foreign")
		org := w.As(foreign).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		w.As(foreign).Get(ghcr + "/organization/" + org + "/images").Want(404)
		w.As(foreign).Get(base + "/images").Want(404)

		if got := admin.Do("DELETE", base+"/pat", nil).Want(200); got.Value("success") != true {
			t.Errorf("deleted %s", got.Body)
		}
		reader.Get(base + "/images").Want(404)
	})
}

package catalog

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

func TestJFrog(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, secret, _ := r.BasicAuth(); user != "ci" || secret != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/artifactory/api/repositories":
			if r.URL.RawQuery != "packageType=docker" {
				t.Errorf("asked for repositories of %s", r.URL.RawQuery)
			}
			_, _ = io.WriteString(w,
				`[{"key":"local","type":"LOCAL","packageType":"Docker","url":"https://x/local"},{"key":"hub","type":"REMOTE"}]`)
		case "/artifactory/api/docker/local/v2/_catalog":
			_, _ = io.WriteString(w, `{"repositories":["a","big/app"]}`)
		case "/artifactory/api/docker/hub/v2/_catalog":
			_, _ = io.WriteString(w, `{"repositories":["alpine"]}`)
		case "/artifactory/api/docker/local/v2/big/app/tags/list":
			_, _ = io.WriteString(w, `{"name":"big/app","tags":["1.0","latest"]}`)
		case "/artifactory/api/docker/local/v2/big/app/manifests/1.0":
			if !strings.Contains(r.Header.Get("Accept"), "oci.image.manifest") {
				t.Errorf("a manifest was asked for as %s", r.Header.Get("Accept"))
			}
			w.Header().Set("Docker-Content-Digest", "sha256:1")
			_, _ = io.WriteString(w, `{"config":{"size":5},"layers":[{"size":1000},{"size":20}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	for _, address := range []string{u, u + "/artifactory/"} {
		c, fields := client(t), credential.Fields{JfrogURL: address, RepositoryKey: "local", Username: "ci"}
		a := account(t, credential.JFrog, fields, "s3cret")
		if err := c.Check(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		groups, err := c.Groups(t.Context(), a, Page{Number: 2, Size: 1})
		if err != nil || groups.Total != 2 || len(groups.Items) != 1 || groups.Items[0].Name != "hub" ||
			groups.Items[0].Type != "REMOTE" {
			t.Errorf("repositories %+v, %v", groups, err)
		}
		for group, want := range map[string]string{"": "[a big/app] of 2", "hub": "[alpine] of 1"} {
			images, err := c.Images(t.Context(), a, group, Page{Number: 1, Size: 10})
			if got := names(images, imageName); got != want {
				t.Errorf("images of %q: %s, %v; want %s", group, got, err, want)
			}
		}
		images, err := c.Images(t.Context(), a, "", Page{Number: 2, Size: 1})
		if err != nil || len(images.Items) != 1 || images.Items[0].Path != "local/big/app" ||
			images.Items[0].RepositoryKey != "local" {
			t.Errorf("images %+v, %v", images, err)
		}
		tags, err := c.Tags(t.Context(), a, "local", "big/app", Page{Number: 1, Size: 10})
		if got := names(tags, tagName); got != "[1.0 latest] of 2" {
			t.Fatalf("tags %s, %v", got, err)
		}
		if v := tags.Items[0]; v.Size != 1025 || v.Digest != "sha256:1" || tags.Items[1].Size != 0 {
			t.Errorf("sizes of tags %+v", tags.Items)
		}
		for _, group := range []string{"none", "../repositories", "a/b"} {
			if _, err := c.Images(t.Context(), a, group, Page{Number: 1, Size: 10}); !errs.Is(err, errs.NotFound) {
				t.Errorf("images of %s: %v", group, err)
			}
			if _, err := c.Tags(t.Context(), a, group, "a", Page{Number: 1, Size: 10}); !errs.Is(err, errs.NotFound) {
				t.Errorf("tags in %s: %v", group, err)
			}
		}
		wrong := account(t, credential.JFrog, fields, "wrong")
		if err := c.Check(t.Context(), wrong); !errs.Is(err, errs.Invalid) {
			t.Errorf("a wrong secret: %v", err)
		}
		if _, err := c.Groups(t.Context(), wrong, Page{Number: 1, Size: 10}); !errs.Is(err, errs.Conflict) {
			t.Errorf("a secret that holds no longer: %v", err)
		}
		for _, key := range []string{"none", "../x"} {
			fields.RepositoryKey = key
			if err := c.Check(t.Context(), account(t, credential.JFrog, fields, "s3cret")); !errs.Is(err,
				errs.Invalid) {
				t.Errorf("repository %s: %v", key, err)
			}
		}
	}
}

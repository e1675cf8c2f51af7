package catalog

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

func TestScaleway(t *testing.T) {
	const namespace, image = "11111111-2222-4333-8444-555555555555", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	c := client(t)
	c.Scaleway = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != "s3cret" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch r.URL.Path + "?" + r.URL.RawQuery {
		case "/registry/v1/regions/nl-ams/namespaces?name=shop", "/registry/v1/regions/nl-ams/namespaces?page=2&page_size=5":

			_, _ = io.WriteString(w, `{"total_count":7,"namespaces":[{"id":"22222222-2222-4333-8444-555555555555","name":"shop-old"},
				{"id":"`+namespace+`","name":"shop","endpoint":"rg.nl-ams.scw.cloud/shop","status":"ready","size":42,"image_count":3}]}`)
		case "/registry/v1/regions/nl-ams/namespaces?name=none":
			_, _ = io.WriteString(w, `{"namespaces":[]}`)
		case "/registry/v1/regions/nl-ams/images?namespace_id=" + namespace + "&page=2&page_size=5":
			_, _ = io.WriteString(w, `{"total_count":6,"images":[{"id":"`+image+`","name":"app","namespace_id":"`+namespace+`","size":9,
				"status":"ready","visibility":"private","tags":["1.0","latest"],"created_at":"2026-01-02T03:04:05Z"}]}`)
		case "/registry/v1/regions/nl-ams/images/" + image + "?":
			_, _ = io.WriteString(w, `{"id":"`+image+`","name":"app"}`)
		case "/registry/v1/regions/nl-ams/images/" + image + "/tags?page=2&page_size=5":
			_, _ = io.WriteString(w, `{"total_count":6,"tags":[{"id":"`+image+
				`","name":"1.0","status":"ready","digest":"sha256:1","updated_at":"2026-01-02T03:04:05Z"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	fields := credential.Fields{Region: "nl-ams", NamespaceName: "shop"}
	a := account(t, credential.Scaleway, fields, "s3cret")
	if err := c.Check(t.Context(), a); err != nil || a.Fields.NamespaceID != namespace {
		t.Fatalf("%v, namespace %q", err, a.Fields.NamespaceID)
	}
	p, at := Page{Number: 2, Size: 5}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	groups, err := c.Groups(t.Context(), a, p)
	if err != nil || groups.Total != 7 || len(groups.Items) != 2 {
		t.Fatalf("namespaces %+v, %v", groups, err)
	}
	if diff := cmp.Diff(Group{ID: namespace, Name: "shop", URL: "rg.nl-ams.scw.cloud/shop", Status: "ready", Size: 42,
		Images: 3}, groups.Items[1]); diff != "" {
		t.Errorf("namespace (-want +got):\n%s", diff)
	}
	for _, group := range []string{"", namespace} {
		images, err := c.Images(t.Context(), a, group, p)
		want := &List[Image]{Total: 6,
			Items: []Image{{UUID: image, Name: "app", Namespace: namespace, Tags: 2, Size: 9, Visibility: "private",
				Status: "ready", CreatedAt: &at}}}
		if diff := cmp.Diff(want, images); err != nil || diff != "" {
			t.Errorf("images of %q, %v (-want +got):\n%s", group, err, diff)
		}
	}
	tags, err := c.Tags(t.Context(), a, "", image, p)
	want := &List[Tag]{Total: 6, Of: "app",
		Items: []Tag{{UUID: image, Name: "1.0", Status: "ready", Digest: "sha256:1", UpdatedAt: &at}}}
	if diff := cmp.Diff(want, tags); err != nil || diff != "" {
		t.Errorf("tags, %v (-want +got):\n%s", err, diff)
	}
	for _, odd := range []string{namespace, "app", "../namespaces", image + "/tags"} {
		if _, err := c.Tags(t.Context(), a, "", odd, p); !errs.Is(err, errs.NotFound) {
			t.Errorf("tags of %s: %v", odd, err)
		}
	}
	if _, err := c.Images(t.Context(), a, "shop", p); !errs.Is(err, errs.NotFound) {
		t.Errorf("images of a name: %v", err)
	}
	wrong := account(t, credential.Scaleway, fields, "wrong")
	if err := c.Check(t.Context(), wrong); !errs.Is(err, errs.Invalid) {
		t.Errorf("a wrong secret: %v", err)
	}
	if _, err := c.Groups(t.Context(), wrong, p); !errs.Is(err, errs.Conflict) {
		t.Errorf("a secret that holds no longer: %v", err)
	}
	fields.NamespaceName = "none"
	if err := c.Check(t.Context(), account(t, credential.Scaleway, fields, "s3cret")); !errs.Is(err, errs.Invalid) {
		t.Errorf("a namespace that is not there: %v", err)
	}
}

package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/outbound"
	"merlon/internal/registry/credential"
)

// client asks servers on loopback.
func client(t *testing.T) *Client {
	t.Helper()
	c, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	return &Client{HTTP: c}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func account(t *testing.T, k credential.Kind, f credential.Fields, secret string) *credential.Account {
	t.Helper()
	a, err := credential.NewAccount(k, f, credential.Secrets{
		AccessToken: secret, DeployToken: secret, ServiceAccountKey: secret, ServicePrincipalPassword: secret,
		RobotToken: secret, Password: secret, SecretKey: secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func names[T any](l *List[T], name func(T) string) string {
	if l == nil {
		return "nothing"
	}
	var out []string
	for _, item := range l.Items {
		out = append(out, name(item))
	}
	return fmt.Sprint(out, " of ", l.Total)
}

func imageName(i Image) string { return i.Name }
func tagName(t Tag) string     { return t.Name }

// ociRegistry answers as the specification says, to bearers of a token that it
// gives to one user.
func ociRegistry(user, secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
		if r.URL.Path == "/token" {
			u, p, _ := r.BasicAuth()
			if u != user || p != secret || r.URL.Query().Get("service") != "test registry" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			answer(map[string]string{"token": "token-for:" + r.URL.Query().Get("scope")})
			return
		}
		scopes := map[string]string{"/v2/": "", "/v2/_catalog": "registry:catalog:*",
			"/v2/shop/big/app/tags/list": "repository:shop/big/app:pull"}
		scope, ok := scopes[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Header.Get("Authorization") != "Bearer token-for:"+scope {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="test registry"`,
				r.Host))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.URL.Path == "/v2/":
			answer(map[string]string{})
		case strings.HasSuffix(r.URL.Path, "/tags/list"):
			answer(map[string]any{"name": "shop/big/app", "tags": []string{"1.0", "latest"}})
		case r.URL.Query().Get("last") == "":
			w.Header().Set("Link", `</v2/_catalog?n=2&last=x>; rel="next"`)
			answer(map[string]any{"repositories": []string{"other/app", "shop/a"}})
		default:
			answer(map[string]any{"repositories": []string{"shop/big/app"}})
		}
	}
}

// TestDistribution asks registries that have no interface of their own.
func TestDistribution(t *testing.T) {
	for _, test := range []struct {
		kind   credential.Kind
		user   string
		fields func(url string) credential.Fields
		images string
	}{
		{credential.Quay, "shop+ci", func(u string) credential.Fields {
			return credential.Fields{QuayHost: u, QuayNamespace: "shop", RobotUsername: "shop+ci"}
		}, "[shop/a shop/big/app] of 2"},
		{credential.Google, "_json_key", func(u string) credential.Fields {
			return credential.Fields{RegistryHostname: u, GCPProjectID: "shop"}
		}, "[shop/a shop/big/app] of 2"},
		{credential.Azure, "app-id", func(u string) credential.Fields {
			return credential.Fields{ACRLoginServer: u, ServicePrincipalID: "app-id"}
		}, "[other/app shop/a shop/big/app] of 3"},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			c, u := client(t), serve(t, ociRegistry(test.user, "s3cret"))
			a := account(t, test.kind, test.fields(u), "s3cret")
			if err := c.Check(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			images, err := c.Images(t.Context(), a, "", Page{Number: 1, Size: 10})
			if got := names(images, imageName); got != test.images {
				t.Errorf("images %s, %v; want %s", got, err, test.images)
			}
			second, err := c.Images(t.Context(), a, "", Page{Number: 2, Size: 1})
			if got := names(second, imageName); err != nil || len(second.Items) != 1 || second.Total != images.Total {
				t.Errorf("the second page: %s, %v", got, err)
			}
			tags, err := c.Tags(t.Context(), a, "", "shop/big/app", Page{Number: 1, Size: 10})
			if got := names(tags, tagName); got != "[1.0 latest] of 2" {
				t.Errorf("tags %s, %v", got, err)
			}
			for _, image := range []string{"shop/none", "../v2/_catalog", "Shop", "shop/", "shop/a?x"} {
				if _, err := c.Tags(t.Context(), a, "", image, Page{Number: 1, Size: 10}); !errs.Is(err,
					errs.NotFound) {
					t.Errorf("tags of %s: %v", image, err)
				}
			}
			if _, err := c.Groups(t.Context(), a, Page{Number: 1, Size: 10}); !errs.Is(err, errs.NotImplemented) {
				t.Errorf("groups: %v", err)
			}
			wrong := account(t, test.kind, test.fields(u), "wrong")
			if err := c.Check(t.Context(), wrong); !errs.Is(err, errs.Invalid) ||
				strings.Contains(err.Error(), "wrong") {
				t.Errorf("a wrong secret: %v", err)
			}
			if _, err := c.Images(t.Context(), wrong, "", Page{Number: 1, Size: 10}); !errs.Is(err, errs.Conflict) {
				t.Errorf("a secret that holds no longer: %v", err)
			}
		})
	}
}

// TestTheSecretStaysWithTheRegistry has a registry send its users elsewhere.
func TestTheSecretStaysWithTheRegistry(t *testing.T) {
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("was asked: %s", r.URL) })
	for _, challenge := range []string{
		`Bearer realm="` + strings.Replace(elsewhere, "127.0.0.1", "localhost", 1) + `/token"`,
		`Bearer realm="https://evil.example/token"`, `Bearer realm=""`, `Digest x`, ``,
	} {
		u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
		})
		a := account(t, credential.Azure, credential.Fields{ACRLoginServer: u, ServicePrincipalID: "x"}, "s3cret")
		if err := client(t).Check(t.Context(), a); err == nil {
			t.Errorf("%s: accepted", challenge)
		}
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"gitlab.com", "registry.gitlab.com", true}, {"auth.docker.io", "docker.io", true},
		{"evil.com", "gitlab.com", false},
		{"10.0.0.1", "11.0.0.1", false}, {"127.0.0.1", "127.0.0.1", true}, {"localhost", "127.0.0.1", false},
	} {
		if got := credential.Related(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: got %t", test.a, test.b, got)
		}
	}
}

func TestDockerHub(t *testing.T) {
	c := client(t)
	c.Hub = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/users/login" {
			var body struct{ Username, Password string }
			if json.NewDecoder(r.Body).Decode(&body) != nil || body.Username != "ada" || body.Password != "s3cret" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, `{"token":"T"}`)
			return
		}
		if r.Header.Get("Authorization") != "Bearer T" || r.URL.RawQuery != "page=2&page_size=5" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch r.URL.Path {
		case "/v2/namespaces/ada/repositories":
			_, _ = io.WriteString(w,
				`{"count":6,"results":[{"name":"app","namespace":"ada","is_private":true,"last_updated":"2026-01-02T03:04:05Z"}]}`)
		case "/v2/namespaces/ada/repositories/app/tags":
			_, _ = io.WriteString(w,
				`{"count":1,"results":[{"name":"1.0","digest":"sha256:1","full_size":42,"last_updated":"2026-01-02T03:04:05Z"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	a := account(t, credential.DockerHub, credential.Fields{DockerhubUsername: "ada"}, "s3cret")
	if err := c.Check(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	images, err := c.Images(t.Context(), a, "", Page{Number: 2, Size: 5})
	if got := names(images, imageName); got != "[ada/app] of 6" {
		t.Errorf("images %s, %v", got, err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, name := range []string{"app", "ada/app"} {
		tags, err := c.Tags(t.Context(), a, "", name, Page{Number: 2, Size: 5})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&List[Tag]{Items: []Tag{{Name: "1.0", Digest: "sha256:1", Size: 42, CreatedAt: &at}},
			Total: 1}, tags); diff != "" {
			t.Errorf("tags of %s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"none", "eve/app", "../../users"} {
		if _, err := c.Tags(t.Context(), a, "", name, Page{Number: 2, Size: 5}); !errs.Is(err, errs.NotFound) {
			t.Errorf("tags of %s: %v", name, err)
		}
	}
	if err := c.Check(t.Context(), account(t, credential.DockerHub, credential.Fields{DockerhubUsername: "ada"},
		"wrong")); !errs.Is(err, errs.Invalid) {
		t.Errorf("a wrong secret: %v", err)
	}
}

func TestHarbor(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, secret, _ := r.BasicAuth(); user != "robot$ci" || secret != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Total-Count", "9")
		switch r.URL.EscapedPath() {
		case "/service/token":
			_, _ = io.WriteString(w, `{"token":"x"}`)
		case "/api/v2.0/projects":
			_, _ = io.WriteString(w,
				`[{"project_id":3,"name":"shop","repo_count":2,"metadata":{"public":"true"},"creation_time":"2026-01-02T03:04:05Z"}]`)
		case "/api/v2.0/projects/shop/repositories":
			_, _ = io.WriteString(w, `[{"name":"shop/big/app","artifact_count":4,"pull_count":5}]`)
		case "/api/v2.0/projects/shop/repositories/big%252Fapp/artifacts":
			_, _ = io.WriteString(w,
				`[{"digest":"sha256:1","size":42,"tags":[{"name":"1.0"},{"name":"latest"}]},{"digest":"sha256:2","tags":null}]`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c, fields := client(t), credential.Fields{HarborURL: u + "/", HarborProject: "shop", Username: "robot$ci"}
	a := account(t, credential.Harbor, fields, "s3cret")
	if err := c.Check(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	groups, err := c.Groups(t.Context(), a, Page{Number: 1, Size: 10})
	if err != nil || groups.Total != 9 || len(groups.Items) != 1 || !groups.Items[0].Public ||
		groups.Items[0].ProjectID != 3 {
		t.Errorf("projects %+v, %v", groups, err)
	}
	images, err := c.Images(t.Context(), a, "", Page{Number: 1, Size: 10})
	if err != nil || len(images.Items) != 1 || images.Items[0].RepositoryName != "big/app" ||
		images.Items[0].Pulls != 5 {
		t.Errorf("images %+v, %v", images, err)
	}
	for _, name := range []string{"big/app", "shop/big/app"} {
		tags, err := c.Tags(t.Context(), a, "", name, Page{Number: 1, Size: 10})
		if got := names(tags, tagName); got != "[1.0 latest] of 9" {
			t.Errorf("tags of %s: %s, %v", name, got, err)
		}
	}
	for _, group := range []string{"other", "../users", "a/b"} {
		if _, err := c.Images(t.Context(), a, group, Page{Number: 1, Size: 10}); !errs.Is(err, errs.NotFound) {
			t.Errorf("images of %s: %v", group, err)
		}
	}
	if err := c.Check(t.Context(), account(t, credential.Harbor, fields, "wrong")); !errs.Is(err, errs.Invalid) {
		t.Errorf("a wrong secret: %v", err)
	}
	fields.HarborProject = "none"
	if err := c.Check(t.Context(), account(t, credential.Harbor, fields, "s3cret")); !errs.Is(err, errs.Invalid) {
		t.Errorf("a project that is not there: %v", err)
	}
}

func TestGitLab(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Total", "3")
		switch {
		case r.URL.Path == "/v2/" && r.Header.Get("Authorization") == "Bearer T":
			_, _ = io.WriteString(w, `{}`)
		case r.URL.Path == "/v2/":
			w.Header().Set("WWW-Authenticate",
				fmt.Sprintf(`Bearer realm="http://%s/jwt/auth",service="container_registry"`, r.Host))
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/jwt/auth":
			if _, secret, _ := r.BasicAuth(); secret != "s3cret" ||
				r.URL.Query().Get("scope") != "repository:group/app:pull" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = io.WriteString(w, `{"token":"T"}`)
		case r.Header.Get("Private-Token") != "s3cret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/api/v4/projects/7/registry/repositories":
			_, _ = io.WriteString(w, `[{"id":11,"name":"web","path":"group/app/web","tags_count":2}]`)
		case r.URL.Path == "/api/v4/projects/7/registry/repositories/11/tags":
			_, _ = io.WriteString(w, `[{"name":"1.0"}]`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c, fields := client(t), credential.Fields{RegistryURL: u, GitlabProjectID: 7, ProjectPath: "Group/App",
		Username: "ci"}
	a := account(t, credential.GitLab, fields, "s3cret")
	if err := c.Check(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	images, err := c.Images(t.Context(), a, "", Page{Number: 1, Size: 10})
	if got := names(images, imageName); got != "[group/app/web] of 3" || images.Items[0].ID != 11 {
		t.Errorf("images %s, %v", got, err)
	}
	tags, err := c.Tags(t.Context(), a, "", "11", Page{Number: 1, Size: 10})
	if got := names(tags, tagName); got != "[1.0] of 3" {
		t.Errorf("tags %s, %v", got, err)
	}
	if _, err := c.Tags(t.Context(), a, "", "web", Page{Number: 1, Size: 10}); !errs.Is(err, errs.Invalid) {
		t.Errorf("tags of a name: %v", err)
	}
	if err := c.Check(t.Context(), account(t, credential.GitLab, fields, "wrong")); !errs.Is(err, errs.Invalid) {
		t.Errorf("a wrong secret: %v", err)
	}
	if _, err := c.Images(t.Context(), account(t, credential.GitLab, fields, "wrong"), "",
		Page{Number: 1, Size: 10}); !errs.Is(err, errs.Conflict) {
		t.Errorf("a secret that holds no longer: %v", err)
	}
}

// TestOddAnswers takes none of them for a good one.
func TestOddAnswers(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"away":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"a page":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"too big": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxResponse+1)) },
		"a loop": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", `<http://127.0.0.2/next>; rel="next"`)
			_, _ = io.WriteString(w, `{"repositories":[]}`)
		},
	} {
		a := account(t, credential.Azure, credential.Fields{ACRLoginServer: serve(t, h), ServicePrincipalID: "x"},
			"s3cret")
		if l, err := client(t).Images(t.Context(), a, "", Page{Number: 1, Size: 10}); err == nil {
			t.Errorf("%s: got %+v", name, l)
		}
	}
	// A registry inside of our network is refused by the client, and said to be.
	a := account(t, credential.Azure, credential.Fields{ACRLoginServer: "http://[::1]:1", ServicePrincipalID: "x"},
		"s3cret")
	if err := client(t).Check(t.Context(), a); !errs.Is(err, errs.Forbidden) ||
		!strings.Contains(err.Error(), "outbound-allow") {
		t.Errorf("a private registry: %v", err)
	}
}

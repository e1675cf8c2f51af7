package catalog

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

const githubPat = "ghp_0123456789abcdefghij0123456789abcdef"

// githubServer is GitHub's interface for Ada, who is of the organization shop, and
// GitHub's registry, which answers with the token.
func githubServer(scopes string, token func() string) http.HandlerFunc {
	const one = `{"id":7,"name":"big/app","visibility":"public","html_url":"https://github.com/x","version_count":3,"owner":{"login":"%s"},
		"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"%s}`
	return func(w http.ResponseWriter, r *http.Request) {
		at := r.URL.EscapedPath() + "?" + r.URL.Query().Encode()
		if strings.HasPrefix(at, "/token?") {
			if user, password, _ := r.BasicAuth(); user != "Ada" || password != githubPat {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = fmt.Fprintf(w, `{"token":%q,"expires_in":300}`, token()+at[len("/token"):])
			return
		}
		switch r.Header.Get("Authorization") {
		case "Bearer " + githubPat:
		case "Bearer " + githubPat + "busy":
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.WriteHeader(http.StatusForbidden)
			return
		default:
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch at {
		case "/user?":
			w.Header().Set("X-OAuth-Scopes", scopes)
			w.Header().Set("GitHub-Authentication-Token-Expiration", "2027-01-02 03:04:05 UTC")
			_, _ = io.WriteString(w, `{"login":"Ada"}`)
		case "/user/packages?package_type=container&page=2&per_page=5&visibility=public":
			w.Header().Set("Link",
				`<https://api.github.com/user/packages?page=3>; rel="next", <https://api.github.com/user/packages?page=9>; rel="last"`)
			_, _ = fmt.Fprintf(w, "["+one+"]", "Ada", `,"repository":{"id":1}`)
		case "/orgs/shop/packages?package_type=container&page=1&per_page=1":
			_, _ = fmt.Fprintf(w, "["+one+"]", "shop", "")
		case "/user/packages/container/big%2Fapp?":
			_, _ = fmt.Fprintf(w, one, "Ada", "")
		case "/orgs/shop/packages/container/big%2Fapp/versions?page=1&per_page=5":
			_, _ = io.WriteString(w, `[{"id":9,"name":"sha256:1","html_url":"https://github.com/v","created_at":"2026-01-02T03:04:05Z",
				"updated_at":"2026-01-02T03:04:05Z","metadata":{"container":{"tags":["1.0","latest"]}}}]`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func githubAccount(t *testing.T, owner, token string) *credential.Account {
	t.Helper()
	return account(t, credential.GitHub, credential.Fields{GithubOwner: owner}, token)
}

// TestGitHub asks for packages of a user and of an organization.
func TestGitHub(t *testing.T) {
	c := client(t)
	c.GitHub.API = serve(t, githubServer("repo, read:packages", nil))
	ada, shop := githubAccount(t, "", githubPat), githubAccount(t, "shop", githubPat)
	for _, a := range []*credential.Account{ada, shop, githubAccount(t, "ADA", githubPat)} {
		if err := c.Check(t.Context(), a); err != nil {
			t.Fatalf("%s: %v", a.Fields.GithubOwner, err)
		}
	}
	want := credential.Fields{GithubUsername: "Ada", GithubOwner: "Ada", Scopes: []string{"repo", "read:packages"},
		ExpiresAt: "2027-01-02T03:04:05Z"}
	if diff := cmp.Diff(want, ada.Fields); diff != "" {
		t.Errorf("the token (-want +got):\n%s", diff)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	images, err := c.Images(t.Context(), ada, "public", Page{Number: 2, Size: 5})
	image := Image{ID: 7, Name: "big/app", ProjectName: "Ada", Visibility: "public", URL: "https://github.com/x",
		Tags: 3, Linked: true, CreatedAt: &at, UpdatedAt: &at}
	if diff := cmp.Diff(&List[Image]{Items: []Image{image}, Total: 7}, images); err != nil || diff != "" {
		t.Errorf("images, %v (-want +got):\n%s", err, diff)
	}
	tags, err := c.Tags(t.Context(), shop, "", "big/app", Page{Number: 1, Size: 5})
	tag := Tag{ID: 9, Name: "sha256:1", Digest: "sha256:1", Names: []string{"1.0", "latest"},
		URL: "https://github.com/v", CreatedAt: &at, UpdatedAt: &at}
	if diff := cmp.Diff(&List[Tag]{Items: []Tag{tag}, Total: 1}, tags); err != nil || diff != "" {
		t.Errorf("tags, %v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"big/app", "ada/big/app", "Ada/big/app"} {
		if found, err := c.Package(t.Context(), ada, name); err != nil || found.Visibility != "public" {
			t.Errorf("package %s: %v, %v", name, found, err)
		}
	}
	for _, name := range []string{"none", "../../user", "", "a//b", "a%2fb", strings.Repeat("a", 300)} {
		if _, err := c.Package(t.Context(), ada, name); !errs.Is(err, errs.NotFound) {
			t.Errorf("package %.20q: %v", name, err)
		}
		if _, err := c.Tags(t.Context(), ada, "", name, Page{Number: 1, Size: 5}); !errs.Is(err, errs.NotFound) {
			t.Errorf("tags of %.20q: %v", name, err)
		}
	}
	if _, err := c.Groups(t.Context(), ada, Page{Number: 1, Size: 5}); !errs.Is(err, errs.NotImplemented) {
		t.Errorf("groups: %v", err)
	}
}

// TestGitHubRefuses says why a token is not stored, or no longer used.
func TestGitHubRefuses(t *testing.T) {
	c := client(t)
	c.GitHub.API = serve(t, githubServer("repo", nil))
	for name, test := range map[string]struct {
		owner, token string
		want         errs.Kind
	}{
		"no scope for packages": {"", githubPat, errs.Invalid}, "a token that does not hold": {"", githubPat + "old",
			errs.Invalid},
		"too many requests": {"", githubPat + "busy", errs.TooMany},
	} {
		if err := c.Check(t.Context(), githubAccount(t, test.owner, test.token)); errs.KindOf(err) != test.want ||
			strings.Contains(err.Error(), githubPat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.GitHub.API = serve(t, githubServer("read:packages", nil))
	if err := c.Check(t.Context(), githubAccount(t, "other", githubPat)); !errs.Is(err, errs.Invalid) {
		t.Errorf("an organization that does not show its packages: %v", err)
	}
	for name, do := range map[string]func(*credential.Account) error{
		"images": func(a *credential.Account) error {
			_, err := c.Images(t.Context(), a, "", Page{Number: 1, Size: 1})
			return err
		},
		"package": func(a *credential.Account) error { _, err := c.Package(t.Context(), a, "app"); return err },
	} {
		if err := do(githubAccount(t, "", githubPat+"old")); !errs.Is(err, errs.Conflict) {
			t.Errorf("%s with a token that holds no longer: %v", name, err)
		}
	}
}

// TestPullToken exchanges the token, and keeps it from being answered.
func TestPullToken(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var token string
	c := client(t)
	c.GitHub.Registry = serve(t, githubServer("", func() string { return token }))
	a := githubAccount(t, "Shop", githubPat)
	a.Fields.GithubUsername = "Ada"
	token = "short-lived"
	got, err := c.PullToken(t.Context(), a, []string{"app", "big/app"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := "short-lived?scope=repository%3Ashop%2Fapp%3Apull&scope=repository%3Ashop%2Fbig%2Fapp%3Apull&service=ghcr.io"; got.Text != want || !got.Expires.Equal(now.Add(5*time.Minute)) {
		t.Errorf("got %q until %v", got.Text, got.Expires)
	}
	for _, revealing := range []string{githubPat, "x." + githubPat,
		base64.StdEncoding.EncodeToString([]byte(githubPat)),
		base64.URLEncoding.EncodeToString([]byte("Ada:" + githubPat)),
		"v1." + base64.RawURLEncoding.EncodeToString([]byte(`{"t":"`+githubPat+`"}`)) + ".sig"} {
		token = revealing
		if got, err := c.PullToken(t.Context(), a, []string{"app"}, now); !errs.Is(err, errs.Forbidden) ||
			strings.Contains(err.Error(), githubPat) {
			t.Errorf("%s is answered as %v, %v", revealing, got, err)
		}
	}
	token = "x"
	if _, err := c.PullToken(t.Context(), githubAccount(t, "", githubPat+"old"), nil, now); !errs.Is(err,
		errs.Conflict) {
		t.Errorf("a token that holds no longer: %v", err)
	}
	c.GitHub.Registry = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"access_token":"y","expires_in":1000000}`)
	})
	if got, err := c.PullToken(t.Context(), a, nil, now); err != nil || got.Text != "y" ||
		!got.Expires.Equal(now.Add(time.Minute)) {
		t.Errorf("got %v, %v", got, err)
	}
	c.GitHub.Registry = serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) })
	if _, err := c.PullToken(t.Context(), a, nil, now); !errs.Is(err, errs.Unavailable) {
		t.Errorf("no token: %v", err)
	}
}

// FuzzGitHubHeaders reads what GitHub says of a token, and tokens of its registry.
func FuzzGitHubHeaders(f *testing.F) {
	for _, s := range []string{"repo, read:packages", "", " , ,", "2027-01-02 03:04:05 UTC",
		"2027-01-02 03:04:05 -0700", "99999-01-01", "ghp_x", "Z2hwX3g=", "..="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, scope := range parseScopes(text) {
			if scope == "" || strings.TrimSpace(scope) != scope || len(scope) > 100 {
				t.Errorf("%q has the scope %q", text, scope)
			}
		}
		if at := parseExpiry(text); at != "" {
			if _, err := time.Parse(time.RFC3339, at); err != nil {
				t.Errorf("%q ends at %q", text, at)
			}
		}
		const secret = "ghp_secret"
		for _, token := range []string{text + secret, base64.StdEncoding.EncodeToString([]byte(text + secret)),
			text + "." + base64.RawURLEncoding.EncodeToString([]byte(secret+text)),
			"v1-" + base64.RawURLEncoding.EncodeToString([]byte(secret))} {
			if !revealsSecret(token, secret) {
				t.Errorf("%q hides the secret", token)
			}
		}
	})
}

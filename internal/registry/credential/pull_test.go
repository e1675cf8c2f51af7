package credential

import (
	"strings"
	"testing"

	"merlon/internal/errs"
)

// TestImages names images as people and lists of images do.
func TestImages(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	accounts := map[Kind]Fields{
		DockerHub: {DockerhubUsername: "ada"},
		GitLab:    {GitlabProjectID: 7, ProjectPath: "Group/App", Username: "u"},
		Google:    {GCPProjectID: "proj", RegistryHostname: "eu.gcr.io"},
		Azure:     {ACRLoginServer: "shop.azurecr.io", ServicePrincipalID: "sp"},
		Quay:      {QuayNamespace: "shop", RobotUsername: "shop+ci"},
		Harbor:    {HarborURL: "http://harbor.example:8443", HarborProject: "shop", Username: "u"},
		JFrog:     {JfrogURL: "https://shop.jfrog.io/artifactory", RepositoryKey: "local", Username: "u"},
		Scaleway:  {Region: "fr-par", NamespaceName: "shop"},
		Amazon:    {AWSRegion: "cn-north-1", AWSAccountID: "123456789012"},
		GitHub:    {GithubUsername: "ada", GithubOwner: "Shop"},
	}
	if n := len(Kinds) + 1; len(accounts) != n || len(users) != n {
		t.Fatalf("%d kinds are tested and %d have users, there are %d", len(accounts), len(users), n)
	}
	for _, test := range []struct {
		kind       Kind
		name, want string // empty: NotFound
	}{
		{DockerHub, "app", "docker.io/ada/app"}, {DockerHub, "docker.io/acme/app:1.0", "docker.io/acme/app:1.0"},
		{DockerHub, "index.docker.io/library/nginx", "docker.io/library/nginx"},
		{DockerHub, "app" + digest, "docker.io/ada/app" + digest},
		{GitLab, "group/app:1", "registry.gitlab.com/group/app:1"},
		{GitLab, "group/app", "registry.gitlab.com/group/app"},
		{GitLab, "group/app/worker:1", "registry.gitlab.com/group/app/worker:1"},
		{GitLab, "worker", "registry.gitlab.com/group/app/worker"},
		{GitLab, "registry.gitlab.com/group/app@sha256:" + digest[8:], "registry.gitlab.com/group/app" + digest},
		{GitLab, "group/other", ""}, {GitLab, "group/application:1", ""},
		{Google, "proj/app:1", "eu.gcr.io/proj/app:1"}, {Google, "app", "eu.gcr.io/proj/app"},
		{Google, "eu.gcr.io/proj/a/b", "eu.gcr.io/proj/a/b"}, {Google, "project/app", ""},
		{Azure, "team/app", "shop.azurecr.io/team/app"}, {Azure, "app:1", "shop.azurecr.io/app:1"},
		{Quay, "app", "quay.io/shop/app"}, {Quay, "quay.io/shop/app", "quay.io/shop/app"},
		{Quay, "quay.io/other/app", ""}, {Quay, "registry.example/app", ""},
		{Harbor, "app", "harbor.example:8443/shop/app"}, {Harbor, "other/app:1", "harbor.example:8443/other/app:1"},
		{JFrog, "app", "shop.jfrog.io/local/app"}, {JFrog, "team/app", "shop.jfrog.io/local/team/app"},
		{JFrog, "local/app", "shop.jfrog.io/local/app"},
		{JFrog, "shop.jfrog.io/remote/app:2", "shop.jfrog.io/remote/app:2"},
		{Scaleway, "app:1", "rg.fr-par.scw.cloud/shop/app:1"}, {Scaleway, "rg.fr-par.scw.cloud/other/app", ""},
		{Amazon, "app:1", "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/app:1"},
		{Amazon, "team/app", "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/team/app"},
		{GitHub, "app:1", "ghcr.io/shop/app:1"}, {GitHub, "ghcr.io/shop/team/app", "ghcr.io/shop/team/app"},
		{GitHub, "ada/app", ""}, {GitHub, "ghcr.io/ada/app", ""},
	} {
		a := &Account{Kind: test.kind, Fields: accounts[test.kind]}
		if test.kind == GitLab {
			a.Fields.RegistryURL = "registry.gitlab.com"
		}
		if test.kind == Quay {
			a.Fields.QuayHost = "quay.io"
		}
		got, err := a.Image(test.name)
		if got != test.want || (test.want == "") != errs.Is(err, errs.NotFound) {
			t.Errorf("%s %s: got %q, %v; want %q", test.kind, test.name, got, err, test.want)
		}
		if a.User() == "" {
			t.Errorf("%s: nobody signs in", test.kind)
		}
	}
	if got := (&Account{Kind: GitHub}).Path("ghcr.io/shop/team/app:1.0@sha256:1"); got != "shop/team/app" {
		t.Errorf("path %s", got)
	}
	for _, name := range []string{"", " ", "a b", "/app", "app\nb", "-x", "app@sha256:12", strings.Repeat("a", 600),
		"https://quay.io/app?x"} {
		if _, err := (&Account{Kind: Azure, Fields: accounts[Azure]}).Image(name); !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v, want Invalid", name, err)
		}
	}
}

// TestWhereUsersSignIn sends passwords to the registry's own host, or one beside it.
func TestWhereUsersSignIn(t *testing.T) {
	gitlab := &Account{Kind: GitLab, Fields: Fields{RegistryURL: "registry.gitlab.com"}}
	harbor := &Account{Kind: Harbor, Fields: Fields{HarborURL: "http://harbor.example:8443"}}
	scaleway := &Account{Kind: Scaleway, Fields: Fields{Region: "nl-ams"}}
	amazon := &Account{Kind: Amazon, Fields: Fields{AWSRegion: "eu-west-1", AWSAccountID: "123456789012"}}
	for _, test := range []struct {
		a    *Account
		host string
		want bool
	}{
		{gitlab, "gitlab.com", true}, {gitlab, "evil.com", false}, {harbor, "harbor.example", true},
		{harbor, "10.0.0.1", false},
		{scaleway, "api.scaleway.com", true}, {scaleway, "rg.nl-ams.scw.cloud", true},
		{gitlab, "api.scaleway.com", false},
		{amazon, "123456789012.dkr.ecr.eu-west-1.amazonaws.com", true}, {amazon, "evil.s3.amazonaws.com", false},
		{amazon, "210987654321.dkr.ecr.eu-west-1.amazonaws.com", false},
	} {
		if got := test.a.SignsIn(test.host); got != test.want {
			t.Errorf("%s at %s: %t", test.a.Kind, test.host, got)
		}
	}
	if gitlab.Scheme() != "https" || harbor.Scheme() != "http" || scaleway.Scheme() != "https" {
		t.Errorf("schemes %s, %s, %s", gitlab.Scheme(), harbor.Scheme(), scaleway.Scheme())
	}
}

func FuzzImage(f *testing.F) {
	for _, s := range []string{"app:1", "quay.io/shop/app", "../x", "a@sha256:b", "a//b", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		a := &Account{Kind: Quay, Fields: Fields{QuayNamespace: "shop", QuayHost: "quay.io"}}
		if got, err := a.Image(name); err == nil && !strings.HasPrefix(got, "quay.io/shop/") {
			t.Errorf("%q becomes %q, which is not the account's", name, got)
		}
	})
}

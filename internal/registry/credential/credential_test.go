package credential

import (
	"strings"
	"testing"

	"merlon/internal/errs"
)

func TestAccounts(t *testing.T) {
	for _, test := range []struct {
		kind           Kind
		fields         Fields
		name, registry string
	}{
		{DockerHub, Fields{DockerhubUsername: "ada"}, "ada", "docker.io"},
		{GitLab, Fields{GitlabProjectID: 7, ProjectPath: "g/a", Username: "u"}, "registry.gitlab.com/g/a",
			"registry.gitlab.com"},
		{Google, Fields{GCPProjectID: "p", RegistryHostname: "eu.gcr.io"}, "eu.gcr.io/p", "eu.gcr.io"},
		{Azure, Fields{ACRLoginServer: "shop.azurecr.io", ServicePrincipalID: "x"}, "shop.azurecr.io",
			"shop.azurecr.io"},
		{Quay, Fields{QuayNamespace: "n", RobotUsername: "r"}, "quay.io/n", "quay.io"},
		{Harbor, Fields{HarborURL: "https://harbor.example:8443/", HarborProject: "p", Username: "u"},
			"harbor.example:8443/p", "harbor.example:8443"},
		{JFrog, Fields{JfrogURL: "https://shop.jfrog.io/artifactory", RepositoryKey: "docker-local", Username: "u"},
			"shop.jfrog.io/docker-local", "shop.jfrog.io"},
		{Scaleway, Fields{Region: "fr-par", NamespaceName: "shop"}, "rg.fr-par.scw.cloud/shop", "rg.fr-par.scw.cloud"},
	} {
		secret := Secrets{AccessToken: "s", DeployToken: "s", ServiceAccountKey: "s", ServicePrincipalPassword: "s",
			RobotToken: "s", Password: "s", SecretKey: "s"}
		a, err := NewAccount(test.kind, test.fields, secret)
		if err != nil || a.Name() != test.name || a.Registry() != test.registry || a.Secret != "s" {
			t.Errorf("%s: got %+v, %v; want %s at %s", test.kind, a, err, test.name, test.registry)
		}
		if _, err := NewAccount(test.kind, test.fields, Secrets{}); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s without a secret: %v", test.kind, err)
		}
		if _, err := NewAccount(test.kind, Fields{}, secret); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s without fields: %v", test.kind, err)
		}
	}
	for _, region := range []string{"us-east-1", "fr-par/../x", "evil.example"} {
		if _, err := NewAccount(Scaleway, Fields{Region: region, NamespaceName: "shop"},
			Secrets{SecretKey: "s"}); !errs.Is(err, errs.Invalid) {
			t.Errorf("region %s: %v", region, err)
		}
	}
	if _, err := NewAccount("nexus", Fields{}, Secrets{}); !errs.Is(err, errs.NotImplemented) {
		t.Errorf("a kind that is not supported: %v", err)
	}
}

func FuzzBase(f *testing.F) {
	for _, s := range []string{"quay.io", "https://x:1/", "http://[::1]:80", "a b", "https://", "x?y",
		"https://u:p@x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Base(text)
		if err == nil && (u.Host == "" || u.User != nil || u.RawQuery != "" || strings.HasSuffix(u.Path, "/")) {
			t.Errorf("%q is taken as %v", text, u)
		}
	})
}

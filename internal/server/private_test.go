package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"merlon/internal/errs"
	"merlon/internal/image"
	"merlon/internal/image/imagetest"
	"merlon/internal/outbound"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/registry/registrytest"
	"merlon/internal/run"
	"merlon/internal/seal"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestMain(m *testing.M) {
	registrytest.Init()
	storetest.Main(m)
}

// A vault is the store with one credential, or none.
type vault struct{ c *credential.Credential }

func (s vault) Credential(_ context.Context, sc tenant.Scope, _ credential.Kind,
	id credential.ID) (credential.Credential, error) {
	if s.c == nil || sc.Organization != s.c.Organization || sc.Project == "" || id != s.c.ID {
		return credential.Credential{}, errs.E(errs.NotFound, "credential not found")
	}
	return *s.c, nil
}

// newTestImages returns images whose client may ask this machine, and its log.
func newTestImages(t *testing.T) (images, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	client, err := outbound.New(outbound.Options{
		Agent: "test", Allow: []string{"127.0.0.1"},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return images{client: client, catalog: &catalog.Client{HTTP: client}, box: box, bytes: 1 << 20}, &log
}

// accounts are of every kind whose registry may be anywhere.
func accounts(t *testing.T, host, secret string) []*credential.Account {
	t.Helper()
	u := "http://" + host
	var out []*credential.Account
	for kind, f := range map[credential.Kind]credential.Fields{
		credential.GitLab: {RegistryURL: u, GitlabProjectID: 7, ProjectPath: "team/app", Username: registrytest.User},
		credential.Azure:  {ACRLoginServer: u, ServicePrincipalID: registrytest.User},
		credential.Quay:   {QuayHost: u, QuayNamespace: "team", RobotUsername: registrytest.User},
		credential.Harbor: {HarborURL: u, HarborProject: "team", Username: registrytest.User},
		credential.JFrog:  {JfrogURL: u, RepositoryKey: "team", Username: registrytest.User},
	} {
		a, err := credential.NewAccount(kind, f,
			credential.Secrets{DeployToken: secret, ServicePrincipalPassword: secret, RobotToken: secret,
				Password: secret})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// TestPrivateImages finds and fetches images of a registry that wants a password,
// whichever way it asks for it, and tells nobody the password.
func TestPrivateImages(t *testing.T) {
	for _, mode := range []string{"basic", "bearer"} {
		t.Run(mode, func(t *testing.T) {
			host := registrytest.Start(t, mode).Host
			small := imagetest.Build(t, v1.Config{},
				imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{{Name: "go.mod", Content: "module x"}}})
			digest := registrytest.Push(t, host+"/team/app:1.0", small)
			i, log := newTestImages(t)
			for _, a := range accounts(t, host, registrytest.Password) {
				for name, want := range map[string]string{"team/app:1.0": "team/app:1.0", host + "/team/app@" +
					digest: "team/app@" + digest} {
					got, err := i.FindPrivate(t.Context(), a, name)
					if err != nil || got.Reference != host+"/"+want || got.Repository != host+"/team/app" ||
						got.Credential != "" {
						t.Errorf("%s %s: %+v, %v", a.Kind, name, got, err)
					}
				}
				for name, want := range map[string]errs.Kind{"team/app:2": errs.NotFound,
					"team/app/none": errs.NotFound, "Team/App": errs.Invalid, "a b": errs.Invalid,
					"team/app:1:2": errs.Invalid} {
					if got, err := i.FindPrivate(t.Context(), a, name); !errs.Is(err, want) &&
						!errs.Is(err, errs.NotFound) {
						t.Errorf("%s %s: %+v, %v; want %v", a.Kind, name, got, err, want)
					}
				}
				i.fetchAs(t, a, digest)
			}
			for _, a := range accounts(t, host, "wr0ng") {
				if _, err := i.FindPrivate(t.Context(), a, "team/app:1.0"); !errs.Is(err, errs.Conflict) ||
					strings.Contains(fmt.Sprint(err), "wr0ng") {
					t.Errorf("%s with a secret that holds no longer: %v", a.Kind, err)
				}
			}
			for _, secret := range []string{registrytest.Password, "wr0ng"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log holds %q", secret)
				}
			}
			if !strings.Contains(log.String(), host) {
				t.Error("nothing was logged")
			}
		})
	}
}

// fetchAs fetches an image as a worker does for a run that names the credential.
func (i images) fetchAs(t *testing.T, a *credential.Account, digest string) {
	t.Helper()
	c := &credential.Credential{ID: "c", Organization: "o", Kind: a.Kind, Name: a.Name(), Fields: a.Fields}
	c.Sealed = i.box.Seal([]byte(a.Secret), credential.Label(c.Organization, c.Kind, c.Name))
	i.credentials = vault{c}
	r := &run.Run{OrganizationID: "o", TeamID: "t", ProjectID: "p",
		Image: &run.Image{Reference: a.Registry() + "/team/app@" + digest, Credential: "c"}}
	dir := t.TempDir()
	if err := i.fetchImage(t.Context(), r, dir); err != nil {
		t.Fatalf("%s: %v", a.Kind, err)
	}
	img, err := image.Open(t.Context(), dir, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if img.Digest != digest {
		t.Errorf("%s: fetched %s, want %s", a.Kind, img.Digest, digest)
	}
	_ = img.Close() // it was only read from

	var f *run.Failure
	i.credentials = vault{}
	if err := i.fetchImage(t.Context(), r, t.TempDir()); !errors.As(err, &f) || f.Code != run.CodeCredential ||
		f.Category != run.CategoryAuthentication {
		t.Errorf("%s: with a credential that is gone: %v", a.Kind, err)
	}
	i.credentials, i.bytes = vault{c}, 10
	if err := i.fetchImage(t.Context(), r, t.TempDir()); !errs.Is(err, errs.TooLarge) {
		t.Errorf("%s: too large: %v", a.Kind, err)
	}
}

// TestImagesThatAreNotGivenOut are not there; a revoked credential is told apart.
func TestImagesThatAreNotGivenOut(t *testing.T) {
	held := registrytest.Start(t, "basic")
	host := held.Host
	registrytest.Push(t, host+"/closed/app:1", imagetest.Build(t, v1.Config{}))
	i, _ := newTestImages(t)
	a, err := credential.NewAccount(credential.Azure, credential.Fields{ACRLoginServer: "http://" + host,
		ServicePrincipalID: registrytest.User},
		credential.Secrets{ServicePrincipalPassword: registrytest.Password})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.FindPrivate(t.Context(), a, "closed/app:1"); !errs.Is(err, errs.NotFound) {
		t.Errorf("an image that the credential is not for: %v", err)
	}
	held.Revoke(t)
	if _, err := i.FindPrivate(t.Context(), a, "closed/app:1"); !errs.Is(err, errs.Conflict) {
		t.Errorf("after the credential was revoked: %v", err)
	}
	if _, err := i.Find(t.Context(), host+"/closed/app:1"); !errs.Is(err, errs.NotFound) {
		t.Errorf("asked for as a public image: %v", err)
	}
	elsewhere, err := outbound.New(outbound.Options{Agent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	i.client, i.catalog = elsewhere, &catalog.Client{HTTP: elsewhere}
	if _, err := i.FindPrivate(t.Context(), a, "closed/app:1"); !errs.Is(err, errs.Forbidden) ||
		!strings.Contains(err.Error(), "outbound-allow") {
		t.Errorf("where nobody allowed it: %v", err)
	}
}

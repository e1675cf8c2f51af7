package registry

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"merlon/internal/errs"
	"merlon/internal/image"
	"merlon/internal/image/imagetest"
	"merlon/internal/outbound"
	"merlon/internal/registry/registrytest"
)

func TestMain(m *testing.M) {
	registrytest.Init()
	os.Exit(m.Run())
}

const user, password = registrytest.User, registrytest.Password

func start(t *testing.T, mode string) string {
	t.Helper()
	return registrytest.Start(t, mode).Host
}

// guarded is the client of the product, which may reach loopback here.
func guarded(t *testing.T, allow ...string) http.RoundTripper {
	t.Helper()
	c, err := outbound.New(outbound.Options{Agent: "test", Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return c.RoundTripper(outbound.Limits{})
}

// push puts the image under the reference, for each platform.
func push(t *testing.T, reference string, platforms ...string) v1.Hash {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	auth := remote.WithAuth(registrytest.Login)
	if len(platforms) == 0 {
		img := build(t, "linux/amd64")
		if err := remote.Write(ref, img, auth); err != nil {
			t.Fatal(err)
		}
		h, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	index := v1.ImageIndex(empty.Index)
	for _, text := range platforms {
		p, err := v1.ParsePlatform(text)
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: build(t, text), Descriptor: v1.Descriptor{Platform: p}})
	}
	if err := remote.WriteIndex(ref, index, auth); err != nil {
		t.Fatal(err)
	}
	return v1.Hash{}
}

// build returns an image that says in a file which platform it is for.
func build(t *testing.T, platform string) v1.Image {
	t.Helper()
	img := imagetest.Build(t, v1.Config{},
		imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{{Name: "platform", Content: platform}}},
		imagetest.Layer{Step: "COPY b .", Zstd: true, Files: []imagetest.File{{Name: "b", Content: "b"}}})
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	_, file.Architecture, _ = strings.Cut(platform, "/")
	if img, err = mutate.ConfigFile(img, file); err != nil {
		t.Fatal(err)
	}
	return img
}

// fetch fetches and opens an image.
func fetch(t *testing.T, r Request) (*Image, *image.Image, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	got, err := Fetch(ctx, r, dir)
	if err != nil {
		return nil, nil, err
	}
	img, err := image.Open(ctx, dir, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = img.Close() }) // it was only read from
	return got, img, nil
}

// An image is fetched whatever way the registry asks for credentials, and not without
// them.
func TestFetch(t *testing.T) {
	for _, mode := range []string{"open", "basic", "bearer"} {
		t.Run(mode, func(t *testing.T) {
			host := start(t, mode)
			digest := push(t, host+"/team/app:1.0")
			r := Request{Reference: host + "/team/app:1.0", Transport: guarded(t, "127.0.0.1"),
				Login: &Login{User: user, Password: password}}
			got, img, err := fetch(t, r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&Image{Reference: host + "/team/app:1.0", Digest: digest.String()}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(img.Layers) != 2 || img.Digest != digest.String() || img.Name != host+"/team/app:1.0" {
				t.Errorf("opened %d layers, %q %q", len(img.Layers), img.Digest, img.Name)
			}
			r.Reference = host + "/team/app@" + digest.String()
			if got, _, err := fetch(t, r); err != nil || got.Digest != digest.String() {
				t.Errorf("by digest: %+v, %v", got, err)
			}
			if mode == "open" {
				return
			}
			for _, login := range []*Login{nil, {User: user, Password: "wrong"}} {
				r.Login = login
				if _, _, err := fetch(t, r); !errs.Is(err, errs.Forbidden) ||
					strings.Contains(fmt.Sprint(err), password) {
					t.Errorf("%v: %v, want Forbidden", login, err)
				}
			}
		})
	}
}

// Find tells what there is without fetching it.
func TestFind(t *testing.T) {
	host := start(t, "open")
	digest := push(t, host+"/team/app:1.0")
	got, err := Find(t.Context(), Request{Reference: host + "/team/app:1.0", Transport: guarded(t, "127.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Image{Reference: host + "/team/app:1.0", Digest: digest.String()}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for reference, want := range map[string]errs.Kind{
		host + "/team/app:2": errs.NotFound, host + "/nothing": errs.NotFound, "Not An Image": errs.Invalid,
		"127.0.0.1:1/app": errs.Unavailable,
	} {
		if _, err := Find(t.Context(), Request{Reference: reference, Transport: guarded(t, "127.0.0.1")}); !errs.Is(err,
			want) {
			t.Errorf("%s: %v, want kind %v", reference, err, want)
		}
	}
	protected := start(t, "basic")
	push(t, protected+"/app:1")
	if _, err := Find(t.Context(),
		Request{Reference: protected + "/app:1", Transport: guarded(t, "127.0.0.1")}); !errs.Is(err, errs.Forbidden) {
		t.Errorf("without credentials: %v, want Forbidden", err)
	}
}

// An image of the public hub has one name, however short it was written.
func TestRepository(t *testing.T) {
	for reference, want := range map[string]string{
		"nginx": "docker.io/library/nginx", "docker.io/nginx:1.27": "docker.io/library/nginx",
		"index.docker.io/acme/web":                           "docker.io/acme/web",
		"quay.io/acme/web@sha256:" + strings.Repeat("a", 64): "quay.io/acme/web",
		"localhost:5000/web:1":                               "localhost:5000/web",
	} {
		if got, err := Repository(reference); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", reference, got, err, want)
		}
	}
	if _, err := Repository("Not An Image"); !errs.Is(err, errs.Invalid) {
		t.Errorf("no name: %v", err)
	}
}

// Of several platforms the one that is asked for comes.
func TestFetchPlatform(t *testing.T) {
	host := start(t, "open")
	push(t, host+"/app", "linux/amd64", "linux/arm64")
	for platform, want := range map[string]string{"": "linux/amd64", "linux/arm64": "linux/arm64"} {
		_, img, err := fetch(t, Request{Reference: host + "/app", Platform: platform,
			Transport: guarded(t, "127.0.0.1")})
		if err != nil || img.Platform != want {
			t.Errorf("%q: %v, %v", platform, img, err)
		}
	}
}

func TestFetchRefuses(t *testing.T) {
	host := start(t, "open")
	push(t, host+"/app:1")
	push(t, host+"/index", "linux/amd64")
	for name, c := range map[string]struct {
		r    Request
		want errs.Kind
	}{
		"no such image":    {Request{Reference: host + "/nothing:1"}, errs.NotFound},
		"no such tag":      {Request{Reference: host + "/app:2"}, errs.NotFound},
		"no such platform": {Request{Reference: host + "/index", Platform: "linux/s390x"}, errs.NotFound},
		"no name":          {Request{Reference: "Not An Image"}, errs.Invalid},
		"no platform":      {Request{Reference: host + "/app:1", Platform: "a/b/c/d/e"}, errs.Invalid},
		"too large":        {Request{Reference: host + "/app:1", MaxBytes: 10}, errs.TooLarge},
		"nobody there":     {Request{Reference: "127.0.0.1:1/app"}, errs.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			c.r.Transport = guarded(t, "127.0.0.1")
			if _, _, err := fetch(t, c.r); !errs.Is(err, c.want) {
				t.Errorf("got %v, want kind %v", err, c.want)
			}
		})
	}
	if _, _, err := fetch(t, Request{Reference: host + "/app:1", Transport: guarded(t)}); !errs.Is(err,
		errs.Forbidden) {
		t.Errorf("a registry on this machine that nobody allowed: %v", err)
	}
}

// A registry that sends something else than its digests promise is not believed.
func TestFetchVerifies(t *testing.T) {
	host := start(t, "open")
	push(t, host+"/app:1")
	r := Request{Reference: host + "/app:1", Transport: forger{guarded(t, "127.0.0.1")}}
	dir := t.TempDir()
	if _, err := Fetch(context.Background(), r, dir); !errs.Is(err, errs.Unavailable) {
		t.Errorf("got %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "index.json")); err != nil || len(left) != 1 {
		t.Fatalf("%v, %v", left, err)
	}
	if img, err := image.Open(context.Background(), dir, image.Options{}); err == nil {
		_ = img.Close()
		t.Error("the forged image can be opened")
	}
}

// forger changes the last byte of what it is sent of layers.
type forger struct{ http.RoundTripper }

func (f forger) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.RoundTripper.RoundTrip(r)
	if err == nil && strings.Contains(r.URL.Path, "/blobs/") {
		resp.Body = &forged{resp.Body}
	}
	return resp, err
}

type forged struct {
	b interface {
		Read([]byte) (int, error)
		Close() error
	}
}

func (f *forged) Read(p []byte) (int, error) {
	n, err := f.b.Read(p)
	if n > 0 {
		p[n-1] ^= 1
	}
	return n, err
}

func (f *forged) Close() error { return f.b.Close() }

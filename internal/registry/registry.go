// Package registry fetches container images from registries that speak the OCI
// distribution specification (https://github.com/opencontainers/distribution-spec),
// into an OCI layout on the disk. It makes the requests that the caller's transport
// lets through, and nothing of an image is unpacked or run.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"merlon/internal/errs"
)

// A Request names an image.
type Request struct {
	// Reference is "repository", "host/repository:tag" or "host/repository@sha256:…";
	// without a host it is of the public hub, without a tag it is "latest".
	Reference string
	// Platform chooses among the images of several platforms, as "linux/arm64".
	// Empty: linux/amd64.
	Platform string
	// Transport sends the requests.
	Transport http.RoundTripper
	// Keychain knows the credentials for a registry; nil: anonymous.
	Keychain authn.Keychain
	// Login signs in instead of the keychain; see there.
	Login *Login
	// MaxBytes bounds the layers as the registry stores them; 0: DefaultBytes.
	MaxBytes int64
}

// DefaultBytes bounds the layers of an image.
const DefaultBytes = 16 << 30

// maxLayers bounds their number.
const maxLayers = 4096

// DefaultPlatform is that of images when none is asked for.
const DefaultPlatform = "linux/amd64"

// An Image is a fetched image.
type Image struct {
	Reference string // as it was asked for, in full
	Digest    string // of its manifest: "sha256:…"
}

// Repository returns what stays of a reference without its tag and digest, in full:
// "docker.io/library/nginx".
func Repository(reference string) (string, error) {
	ref, err := parseReference(reference)
	if err != nil {
		return "", err
	}
	return fullName(ref.Context().Name()), nil
}

// fullName writes the public hub as people do.
func fullName(text string) string {
	if rest, ok := strings.CutPrefix(text, name.DefaultRegistry+"/"); ok {
		return "docker.io/" + rest
	}
	return text
}

// Find asks the registry for the image and fetches nothing of it but what it is.
// Errors are as of Fetch.
func Find(ctx context.Context, r Request) (*Image, error) {
	ref, err := r.parseReference()
	if err != nil {
		return nil, err
	}
	d, err := remote.Get(ref, r.remoteOptions(ctx, ref)...)
	if err != nil {
		return nil, explainError(ctx, ref, err)
	}
	if !d.MediaType.IsImage() && !d.MediaType.IsIndex() {
		return nil, errs.E(errs.Invalid, "%s is no container image but %q", ref.Name(), d.MediaType)
	}
	return &Image{Reference: fullName(ref.Name()), Digest: d.Digest.String()}, nil
}

// Host returns the host of the registry that the reference names, with its port.
func Host(reference string) (string, error) {
	ref, err := parseReference(reference)
	if err != nil {
		return "", err
	}
	return ref.Context().RegistryStr(), nil
}

// parseReference reads a reference; the error says how one is written.
func parseReference(reference string, options ...name.Option) (name.Reference, error) {
	ref, err := name.ParseReference(reference, options...)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%q is not the name of an image: write [host/]repository[:tag] or "+
			"…@sha256:…", reference)
	}
	return ref, nil
}

// Fetch writes the image into the folder, which must be empty, as an OCI layout.
// Every part is checked against its digest. The error is errs.NotFound where there
// is no such image, errs.Forbidden where the registry refuses the credentials,
// errs.TooLarge, errs.Invalid for what is no image, errs.Unavailable otherwise.
func Fetch(ctx context.Context, r Request, dir string) (*Image, error) {
	ref, err := r.parseReference()
	if err != nil {
		return nil, err
	}
	platform := r.Platform
	if platform == "" {
		platform = DefaultPlatform
	}
	want, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%q is not a platform: write os/architecture, such as linux/arm64", platform)
	}
	d, err := remote.Get(ref, append(r.remoteOptions(ctx, ref), remote.WithPlatform(*want), remote.WithJobs(2))...)
	if err != nil {
		return nil, explainError(ctx, ref, err)
	}
	if !d.MediaType.IsImage() && !d.MediaType.IsIndex() {
		return nil, errs.E(errs.Invalid, "%s is no container image but %q", ref.Name(), d.MediaType)
	}
	img, err := d.Image()
	if err != nil {
		if d.MediaType.IsIndex() && !isResponse(err) {
			return nil, errs.E(errs.NotFound, "there is no %s for %s", ref.Name(), platform)
		}
		return nil, explainError(ctx, ref, err)
	}
	return storeImage(ctx, r, stored{ref, img, dir})
}

// stored is an image that is being written.
type stored struct {
	ref name.Reference
	img v1.Image
	dir string
}

// storeImage writes the image.
func storeImage(ctx context.Context, r Request, s stored) (*Image, error) {
	m, err := s.img.Manifest()
	if err != nil {
		return nil, explainError(ctx, s.ref, err)
	}
	limit := r.MaxBytes
	if limit <= 0 {
		limit = DefaultBytes
	}
	var total int64
	for _, l := range m.Layers {
		if total += l.Size; l.Size < 0 || total > limit || len(m.Layers) > maxLayers {
			return nil, errs.E(errs.TooLarge, "%s has more than %d bytes or %d layers", s.ref.Name(), limit, maxLayers)
		}
	}
	digest, err := s.img.Digest()
	if err != nil {
		return nil, explainError(ctx, s.ref, err)
	}
	l, err := layout.Write(s.dir, empty.Index)
	if err != nil {
		return nil, fmt.Errorf("store an image: %w", err)
	}
	full := s.ref.Name()
	if err := l.AppendImage(s.img,
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": full})); err != nil {
		return nil, explainError(ctx, s.ref, err)
	}
	return &Image{Reference: full, Digest: digest.String()}, nil
}

// isResponse reports whether the registry itself sent an error.
func isResponse(err error) bool {
	var t *transport.Error
	return errors.As(err, &t)
}

// explainError tells people what a registry's error means. The texts of registries and the
// addresses that errors quote stay out of it and of its cause: an address may have a
// signature that lets everybody in (CWE-532).
func explainError(ctx context.Context, ref name.Reference, err error) error {
	var known *errs.Error
	var t *transport.Error
	host := ref.Context().RegistryStr()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errs.E(errs.Unavailable, "%s does not respond in time", host)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return known
	case !errors.As(err, &t):
		return errs.Wrap(errs.Unavailable, bareError(err), "cannot fetch %s from %s", ref.Name(), host)
	case t.StatusCode == http.StatusNotFound:
		return errs.E(errs.NotFound, "there is no image %s", fullName(ref.Name()))
	case t.StatusCode == http.StatusUnauthorized, t.StatusCode == http.StatusForbidden:
		return errs.E(errs.Forbidden, "%s does not give out %s: it does not exist, or the credentials do not "+
			"allow it", host, fullName(ref.Name()))
	case t.StatusCode == http.StatusTooManyRequests:
		return errs.E(errs.TooMany, "%s has had too many requests; try again later", host)
	}
	return errs.E(errs.Unavailable, "%s returned status %d", host, t.StatusCode)
}

// bareError is the error without the address of the request, and without the lines below
// the first, which quote the registry.
func bareError(err error) error {
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line[:min(len(line), maxCause)])
}

// maxCause bounds what of a foreign error goes into the log, in bytes.
const maxCause = 300

// Docker is the keychain of this user's docker configuration, with its credential
// helpers, for the command line.
func Docker() authn.Keychain { return authn.DefaultKeychain }

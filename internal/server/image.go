package server

import (
	"context"
	"net/http"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/outbound"
	"merlon/internal/registry"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/run"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

// images asks registries for images, with stored credentials for those that are
// private. It makes the requests that the client lets through.
type images struct {
	client      *outbound.Client
	catalog     *catalog.Client
	credentials interface {
		Credential(ctx context.Context, sc tenant.Scope, k credential.Kind,
			id credential.ID) (credential.Credential, error)
	}
	box   *seal.Box // nil without the master key
	bytes int64     // how large an image may be as its registry stores it
}

// newImages returns what finds and fetches images; bytes is the limit of one image.
func newImages(d *deployment, client *outbound.Client, c config.Registries, bytes int64) (images, error) {
	held, err := Registries(c, client, d.db.Now)
	return images{client: client, catalog: held, credentials: d.db, box: d.box, bytes: bytes}, err
}

// limitedTransport returns a transport that reads responses as large as an image may be, with
// its manifests.
func (i images) limitedTransport() http.RoundTripper {
	return i.client.RoundTripper(outbound.Limits{Body: i.bytes + manifestBytes})
}

// manifestBytes is room for what is no layer.
const manifestBytes = 16 << 20

// Find returns the image's name in full. Registries that refuse people without
// credentials do not tell whether there is an image, so that counts as NotFound.
func (i images) Find(ctx context.Context, reference string) (run.Image, error) {
	image, err := findImage(ctx, registry.Request{Reference: reference, Transport: i.limitedTransport()})
	if errs.Is(err, errs.Forbidden) {
		return image, errs.Wrap(errs.NotFound, err, "there is no public image %s", reference)
	}
	return image, err
}

// findImage resolves a reference at its registry.
func findImage(ctx context.Context, r registry.Request) (run.Image, error) {
	repository, err := registry.Repository(r.Reference)
	if err != nil {
		return run.Image{}, err
	}
	found, err := registry.Find(ctx, r)
	if err != nil {
		return run.Image{}, err
	}
	return run.Image{Reference: found.Reference, Repository: repository}, nil
}

// FindPrivate returns the full name of an image of the account's registry. A registry
// that refuses is asked whether it still accepts the credential: if it does not, that
// is a Conflict.
func (i images) FindPrivate(ctx context.Context, a *credential.Account, name string) (run.Image, error) {
	reference, err := a.Image(name)
	if err != nil {
		return run.Image{}, err
	}
	r, err := i.registryRequest(ctx, a, reference)
	if err != nil {
		return run.Image{}, err
	}
	image, err := findImage(ctx, r)
	// A request that our own rules refused says nothing about the credential.
	if !errs.Is(err, errs.Forbidden) || outbound.Refused(err) {
		return image, err
	}
	if err := i.catalog.Check(ctx, a); errs.Is(err, errs.Invalid) {
		return image, errs.Wrap(errs.Conflict, err, "%s does not accept the credential any more: store "+
			"it again", a.Registry())
	}
	return image, errs.Wrap(errs.NotFound, err, "there is no image %s, or the credential is not for it", reference)
}

// registryRequest asks for the reference as the account.
func (i images) registryRequest(ctx context.Context, a *credential.Account,
	reference string) (registry.Request, error) {
	user, password, err := i.catalog.Login(ctx, a)
	if err != nil {
		return registry.Request{}, err
	}
	return registry.Request{Reference: reference, Transport: i.limitedTransport(), MaxBytes: i.bytes,
		Login: &registry.Login{User: user, Password: password, SignsIn: a.SignsIn, Scheme: a.Scheme()}}, nil
}

// fetchImage writes the run's image into an empty folder.
func (i images) fetchImage(ctx context.Context, r *run.Run, dir string) error {
	ask := registry.Request{Reference: r.Image.Reference, Transport: i.limitedTransport(), MaxBytes: i.bytes}
	if r.NeedsMasterKey() {
		account, err := i.openCredential(ctx, r)
		if err == nil {
			ask, err = i.registryRequest(ctx, account, r.Image.Reference)
		}
		if err != nil {
			return err
		}
	}
	_, err := registry.Fetch(ctx, ask, dir)
	return err
}

// openCredential opens the credential that the run was started with, if its project may
// still use it.
func (i images) openCredential(ctx context.Context, r *run.Run) (*credential.Account, error) {
	// In the scope of the run's project: a link that was removed since takes effect.
	sc := tenant.System(r.OrganizationID, r.TeamID, r.ProjectID)
	c, err := i.credentials.Credential(ctx, sc, "", credential.ID(r.Image.Credential))
	if errs.Is(err, errs.NotFound) {
		return nil, &run.Failure{Message: "the image was not fetched: the credential that the scan was started with " +
			"was deleted, or the project may not use it any more",
			Code: run.CodeCredential, Category: run.CategoryAuthentication}
	}
	if err != nil {
		return nil, err
	}
	return c.Open(i.box)
}

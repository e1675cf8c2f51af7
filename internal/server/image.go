package server

import (
	"context"
	"net/http"

	"merlon/internal/errs"
	"merlon/internal/outbound"
	"merlon/internal/registry"
	"merlon/internal/run"
)

// images asks registries for public images. It makes the requests that the client
// lets through.
type images struct{ client *outbound.Client }

func (i images) transport() http.RoundTripper {
	return i.client.RoundTripper(outbound.Limits{Body: registry.DefaultBytes})
}

// Find returns the image's name in full. Registries that refuse people without
// credentials do not tell whether there is an image, so that counts as NotFound.
func (i images) Find(ctx context.Context, reference string) (run.Image, error) {
	repository, err := registry.Repository(reference)
	if err != nil {
		return run.Image{}, err
	}
	found, err := registry.Find(ctx, registry.Request{Reference: reference, Transport: i.transport()})
	if errs.Is(err, errs.Forbidden) {
		return run.Image{}, errs.Wrap(errs.NotFound, err, "there is no public image %s", reference)
	}
	if err != nil {
		return run.Image{}, err
	}
	return run.Image{Reference: found.Reference, Repository: repository}, nil
}

// fetch writes the image into an empty folder.
func (i images) fetch(ctx context.Context, image run.Image, dir string) error {
	_, err := registry.Fetch(ctx, registry.Request{Reference: image.Reference, Transport: i.transport()}, dir)
	return err
}

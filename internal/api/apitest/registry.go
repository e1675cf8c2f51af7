package apitest

import (
	"context"

	"merlon/internal/errs"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
)

// A Registry stands for every registry of images. It accepts each secret but
// "wrong", and holds one image with one tag.
type Registry struct{}

// Check accepts the account, or not.
func (Registry) Check(_ context.Context, a *credential.Account) error {
	if a.Secret == "wrong" {
		return errs.E(errs.Invalid, "%s does not accept the credential", a.Registry())
	}
	if a.Kind == credential.Scaleway {
		a.Fields.NamespaceID = "11111111-2222-4333-8444-555555555555"
	}
	return nil
}

// Groups lists the account's project.
func (Registry) Groups(_ context.Context, a *credential.Account, _ catalog.Page) (*catalog.List[catalog.Group], error) {
	return &catalog.List[catalog.Group]{Items: []catalog.Group{{ProjectID: 1, Name: a.Fields.HarborProject}}, Total: 1}, nil
}

// Images lists the image, named for the account and its secret, so that a test
// sees which was used.
func (Registry) Images(_ context.Context, a *credential.Account, group string, _ catalog.Page) (*catalog.List[catalog.Image], error) {
	return &catalog.List[catalog.Image]{Items: []catalog.Image{{Name: a.Name() + "/" + group + "/" + a.Secret}}, Total: 1}, nil
}

// Tags lists the tag, named for the image.
func (Registry) Tags(_ context.Context, _ *credential.Account, _, image string, p catalog.Page) (*catalog.List[catalog.Tag], error) {
	return &catalog.List[catalog.Tag]{Items: []catalog.Tag{{Name: "of " + image, Size: int64(p.Size)}}, Total: 1, Of: "name of " + image}, nil
}

package registries

import (
	"context"

	"merlon/internal/registry/catalog"
	"merlon/internal/tenant"
)

// This file searches Docker Hub for public images.

// ImageSearch searches Docker Hub.
type ImageSearch interface {
	Search(ctx context.Context, text string) (*catalog.Found, error)
}

// searchImagesInput is the text to search for.
type searchImagesInput struct {
	Query string `query:"query" maxLength:"100" doc:"Substring of the name or description. Without it the result is empty."`
}

// searchImagesOutput is what Docker Hub found, in its own order.
type searchImagesOutput struct {
	Body *catalog.Found
}

// SearchImages lists public repositories of Docker Hub. The hub gets the search text and nothing
// about the caller.
func (a *Handlers) SearchImages(ctx context.Context, _ tenant.Scope,
	in *searchImagesInput) (*searchImagesOutput, error) {
	found, err := a.Search.Search(ctx, in.Query)
	if err != nil {
		return nil, err
	}
	return &searchImagesOutput{Body: found}, nil
}

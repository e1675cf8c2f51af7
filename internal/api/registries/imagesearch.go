package registries

import (
	"context"

	"merlon/internal/registry/catalog"
	"merlon/internal/tenant"
)

// This file searches the public hub for images.

// ImageSearch searches the public hub.
type ImageSearch interface {
	Search(ctx context.Context, text string) (*catalog.Found, error)
}

type searchImagesIn struct {
	Query string `query:"query" maxLength:"100" doc:"Substring of the name or description. Without it the result is empty."`
}

type searchImagesOut struct {
	Body *catalog.Found
}

// SearchImages answers public repositories of Docker Hub. The hub is told the text and
// nothing of who asks.
func (a *Handlers) SearchImages(ctx context.Context, _ tenant.Scope, in *searchImagesIn) (*searchImagesOut, error) {
	found, err := a.Search.Search(ctx, in.Query)
	if err != nil {
		return nil, err
	}
	return &searchImagesOut{Body: found}, nil
}

package registries

import (
	"context"
	"net/url"
	"strconv"

	"merlon/internal/api/endpoint"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file serves registries whose lists have no pages by number: Google's go on
// with a token, Azure's with a link.

// PageTokenInput asks for a part of a list.
type PageTokenInput struct {
	ProjectID    string `path:"projectId" format:"uuid"`
	CredentialID string `query:"credentialId" required:"true" format:"uuid"`
	PageSize     int    `query:"pageSize" doc:"Page size, at most 100. Default: 50. A page may have fewer items, or more if the registry does not support paging."`
	PageToken    string `query:"pageToken" maxLength:"4096" doc:"Cursor of the page: next of the previous response."`
}

// defaultPartSize is how many entries a part has that was not asked otherwise.
const defaultPartSize = 50

// page returns the part that the token leads to; the first one for an empty token.
func (q PageTokenInput) page() catalog.Page {
	size := q.PageSize
	if size == 0 {
		size = defaultPartSize
	}
	return catalog.Page{Size: min(max(size, 1), endpoint.MaxPageSize), From: q.PageToken}
}

// nextLink leads to the next part of the list below the project's address; empty when there
// is none.
func (q PageTokenInput) nextLink(k credential.Kind, list, next string) string {
	if next == "" {
		return ""
	}
	// The link leads to this API and not to the registry, which the client has no credential
	// for.
	query := url.Values{"credentialId": {q.CredentialID}, "pageSize": {strconv.Itoa(q.page().Size)},
		"pageToken": {next}}
	return "/integrations/" + string(k) + "/container-registry/project/" + q.ProjectID + "/" + list + "?" +
		query.Encode()
}

// googleImagesOutput is a part of the images of a Google registry.
type googleImagesOutput struct {
	Body struct {
		Images []catalog.Image `json:"images"`
		Next   string          `json:"nextPageToken" doc:"Cursor of the next page; empty on the last page."`
	}
}

// ListGoogleImages lists images of a Google registry.
func (a *Handlers) ListGoogleImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *PageTokenInput) (*googleImagesOutput, error) {
	found, err := a.partOfImages(ctx, sc, k, in)
	if err != nil {
		return nil, err
	}
	out := &googleImagesOutput{}
	out.Body.Images, out.Body.Next = endpoint.OrEmpty(found.Items), found.Next
	return out, nil
}

// partOfImages reads the page of images that the token leads to.
func (a *Handlers) partOfImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *PageTokenInput) (*catalog.List[catalog.Image], error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	return a.Catalog.Images(ctx, account, "", in.page())
}

// azureImagesOutput is a part of the images of an Azure registry.
type azureImagesOutput struct {
	Body struct {
		Images []catalog.Image `json:"images"`
		Link   string          `json:"link" doc:"Path of the next page in this API; empty on the last page."`
	}
}

// ListAzureImages lists images of an Azure registry.
func (a *Handlers) ListAzureImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *PageTokenInput) (*azureImagesOutput, error) {
	found, err := a.partOfImages(ctx, sc, k, in)
	if err != nil {
		return nil, err
	}
	out := &azureImagesOutput{}
	out.Body.Images, out.Body.Link = endpoint.OrEmpty(found.Items), in.nextLink(k, "images", found.Next)
	return out, nil
}

// azureTagsInput selects an image of an Azure registry.
type azureTagsInput struct {
	PageTokenInput
	Image string `path:"repositoryId" doc:"Repository name, with slashes percent-encoded."`
}

// azureTagsOutput is a part of the tags of an image.
type azureTagsOutput struct {
	Body struct {
		Name string        `json:"repositoryName"`
		Tags []catalog.Tag `json:"tags"`
		Link string        `json:"link" doc:"Path of the next page in this API; empty on the last page."`
	}
}

// ListAzureTags lists the tags of an image of an Azure registry.
func (a *Handlers) ListAzureTags(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *azureTagsInput) (*azureTagsOutput, error) {
	image, err := unescapeName(in.Image)
	if err != nil {
		return nil, err
	}
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Tags(ctx, account, "", image, in.page())
	if err != nil {
		return nil, err
	}
	out := &azureTagsOutput{}
	out.Body.Name, out.Body.Tags = image, endpoint.OrEmpty(found.Items)
	out.Body.Link = in.nextLink(k, "images/"+url.PathEscape(image)+"/tags", found.Next)
	return out, nil
}

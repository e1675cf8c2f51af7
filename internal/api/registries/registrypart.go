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

// This file answers for registries whose lists have no pages by number: Google's go on
// with a token, Azure's with a link.

// ByPageToken asks for a part of a list.
type ByPageToken struct {
	ProjectID    string `path:"projectId" format:"uuid"`
	CredentialID string `query:"credentialId" required:"true" format:"uuid"`
	PageSize     int    `query:"pageSize" doc:"Page size, at most 100. Default: 50. A page may have fewer items, or more if the registry does not support paging."`
	PageToken    string `query:"pageToken" maxLength:"4096" doc:"Cursor of the page: next of the previous response."`
}

// defaultPartSize is how many entries a part has that was not asked otherwise.
const defaultPartSize = 50

func (q ByPageToken) page() catalog.Page {
	size := q.PageSize
	if size == 0 {
		size = defaultPartSize
	}
	return catalog.Page{Size: min(max(size, 1), endpoint.MaxPageSize), From: q.PageToken}
}

// link leads to the next part of the list below the project's address; empty when there
// is none.
func (q ByPageToken) link(k credential.Kind, list, next string) string {
	if next == "" {
		return ""
	}
	query := url.Values{"credentialId": {q.CredentialID}, "pageSize": {strconv.Itoa(q.page().Size)},
		"pageToken": {next}}
	return "/integrations/" + string(k) + "/container-registry/project/" + q.ProjectID + "/" + list + "?" +
		query.Encode()
}

type googleImagesAnswer struct {
	Body struct {
		Images []catalog.Image `json:"images"`
		Next   string          `json:"nextPageToken" doc:"Cursor of the next page; empty on the last page."`
	}
}

// ListGoogleImages lists images of a Google registry.
func (a *Handlers) ListGoogleImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *ByPageToken) (*googleImagesAnswer, error) {
	found, err := a.partOfImages(ctx, sc, k, in)
	if err != nil {
		return nil, err
	}
	out := &googleImagesAnswer{}
	out.Body.Images, out.Body.Next = endpoint.OrEmpty(found.Items), found.Next
	return out, nil
}

func (a *Handlers) partOfImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *ByPageToken) (*catalog.List[catalog.Image], error) {
	account, err := a.account(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	return a.Catalog.Images(ctx, account, "", in.page())
}

type azureImagesAnswer struct {
	Body struct {
		Images []catalog.Image `json:"images"`
		Link   string          `json:"link" doc:"Path of the next page in this API; empty on the last page."`
	}
}

// ListAzureImages lists images of an Azure registry.
func (a *Handlers) ListAzureImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *ByPageToken) (*azureImagesAnswer, error) {
	found, err := a.partOfImages(ctx, sc, k, in)
	if err != nil {
		return nil, err
	}
	out := &azureImagesAnswer{}
	out.Body.Images, out.Body.Link = endpoint.OrEmpty(found.Items), in.link(k, "images", found.Next)
	return out, nil
}

type azureTagsIn struct {
	ByPageToken
	Image string `path:"repositoryId" doc:"Repository name, with slashes percent-encoded."`
}

type azureTagsAnswer struct {
	Body struct {
		Name string        `json:"repositoryName"`
		Tags []catalog.Tag `json:"tags"`
		Link string        `json:"link" doc:"Path of the next page in this API; empty on the last page."`
	}
}

// ListAzureTags lists the tags of an image of an Azure registry.
func (a *Handlers) ListAzureTags(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *azureTagsIn) (*azureTagsAnswer, error) {
	image, err := unescaped(in.Image)
	if err != nil {
		return nil, err
	}
	account, err := a.account(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Tags(ctx, account, "", image, in.page())
	if err != nil {
		return nil, err
	}
	out := &azureTagsAnswer{}
	out.Body.Name, out.Body.Tags = image, endpoint.OrEmpty(found.Items)
	out.Body.Link = in.link(k, "images/"+url.PathEscape(image)+"/tags", found.Next)
	return out, nil
}

package registries

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file serves the operations on Scaleway's registry, whose responses have an envelope.

// scalewayOutput is the envelope.
type scalewayOutput[T any] struct {
	Body struct {
		Success bool `json:"success"`
		Data    T    `json:"data"`
	}
}

// inEnvelope returns the data as clients of Scaleway's operations read it.
func inEnvelope[T any](data T) *scalewayOutput[T] {
	out := &scalewayOutput[T]{}
	out.Body.Success, out.Body.Data = true, data
	return out
}

// scalewayCredential is a credential without its secret.
type scalewayCredential struct {
	ID            string    `json:"id" format:"uuid"`
	Region        string    `json:"region"`
	NamespaceID   string    `json:"namespaceId"`
	NamespaceName string    `json:"namespaceName"`
	Endpoint      string    `json:"registryEndpoint"`
	Description   string    `json:"description"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
}

// showScaleway returns the credential without its secret.
func showScaleway(c credential.Credential) scalewayCredential {
	return scalewayCredential{string(c.ID), c.Fields.Region, c.Fields.NamespaceID, c.Fields.NamespaceName, c.Name,
		c.Description, c.CreatedAt, c.UpdatedAt}
}

// StoreScalewayCredential verifies a credential against the registry and stores it.
func (a *Handlers) StoreScalewayCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *storeCredentialInput) (*scalewayOutput[scalewayCredential], error) {
	b := &in.Body
	c, err := a.saveCredential(ctx, sc, stored{kind: k, fields: b.Fields, secrets: b.Secrets,
		description: b.Description, projects: []string{b.ProjectID}})
	if err != nil {
		return nil, err
	}
	return inEnvelope(showScaleway(c)), nil
}

// GetScalewayCredential responds with a credential of a project, without its secret.
func (a *Handlers) GetScalewayCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *projectCredentialInput) (*scalewayOutput[scalewayCredential], error) {
	c, err := a.Credentials.Credential(ctx, sc, k, credential.ID(in.CredentialID))
	if err != nil {
		return nil, err
	}
	return inEnvelope(showScaleway(c)), nil
}

// scalewayCredentials has the credentials of a project.
type scalewayCredentials struct {
	Credentials []scalewayCredential `json:"credentials"`
}

// ListScalewayCredentials lists the Scaleway credentials that a project may use.
func (a *Handlers) ListScalewayCredentials(ctx context.Context, sc tenant.Scope, k credential.Kind,
	_ *projectPathInput) (*scalewayOutput[scalewayCredentials], error) {
	found, err := a.Credentials.Credentials(ctx, sc, k)
	if err != nil {
		return nil, err
	}
	return inEnvelope(scalewayCredentials{endpoint.Convert(found, showScaleway)}), nil
}

// NamespaceInput asks for a namespace's part of what the registry holds.
type NamespaceInput struct {
	RegistryInput
	Namespace string `query:"namespaceId" doc:"Namespace of the registry. Default: that of the credential."`
}

// ScalewayPage says which page of a list a response has.
type ScalewayPage struct {
	TotalCount int `json:"totalCount"`
	Page       int `json:"page"`
	PageSize   int `json:"pageSize"`
}

// scalewayNamespace is a namespace as Scaleway describes it.
type scalewayNamespace struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Region    string    `json:"region"`
	Endpoint  string    `json:"endpoint"`
	Images    int       `json:"imageCount"`
	Size      int64     `json:"size" doc:"Size in bytes."`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// scalewayNamespaces is a page of namespaces.
type scalewayNamespaces struct {
	Namespaces []scalewayNamespace `json:"namespaces"`
	ScalewayPage
}

// ListScalewayNamespaces lists the namespaces of a Scaleway registry.
func (a *Handlers) ListScalewayNamespaces(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *RegistryInput) (*scalewayOutput[scalewayNamespaces], error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	p := in.page()
	found, err := a.Catalog.Groups(ctx, account, p)
	if err != nil {
		return nil, err
	}
	return inEnvelope(scalewayNamespaces{endpoint.Convert(found.Items, func(g catalog.Group) scalewayNamespace {
		return scalewayNamespace{g.ID, g.Name, account.Fields.Region, g.URL, g.Images, g.Size, g.Status, g.CreatedAt,
			g.UpdatedAt}
	}), ScalewayPage{found.Total, p.Number, p.Size}}), nil
}

// scalewayImage is an image as Scaleway describes it; it is selected by its ID, not by name.
type scalewayImage struct {
	ID         string     `json:"imageId"`
	Name       string     `json:"name"`
	Namespace  string     `json:"namespaceId"`
	Tags       int        `json:"tagCount"`
	Size       int64      `json:"size" doc:"Size in bytes."`
	Visibility string     `json:"visibility"`
	Status     string     `json:"status"`
	CreatedAt  *time.Time `json:"createdAt,omitempty"`
	UpdatedAt  *time.Time `json:"updatedAt,omitempty"`
}

// scalewayImages is a page of images.
type scalewayImages struct {
	Images []scalewayImage `json:"images"`
	ScalewayPage
}

// ListScalewayImages lists the images of a namespace.
func (a *Handlers) ListScalewayImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *NamespaceInput) (*scalewayOutput[scalewayImages], error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	p := in.page()
	found, err := a.Catalog.Images(ctx, account, in.Namespace, p)
	if err != nil {
		return nil, err
	}
	return inEnvelope(scalewayImages{endpoint.Convert(found.Items, func(i catalog.Image) scalewayImage {
		return scalewayImage{i.UUID, i.Name, i.Namespace, i.Tags, i.Size, i.Visibility, i.Status, i.CreatedAt,
			i.UpdatedAt}
	}), ScalewayPage{found.Total, p.Number, p.Size}}), nil
}

// scalewayTagsInput names an image by its ID.
type scalewayTagsInput struct {
	RegistryInput
	Image string `path:"imageId" format:"uuid"`
}

// scalewayTag is a tag as Scaleway describes it.
type scalewayTag struct {
	ID        string     `json:"tagId"`
	Name      string     `json:"name"`
	Digest    string     `json:"digest"`
	Size      int64      `json:"size,omitempty" doc:"Size in bytes, if reported by the registry."`
	Status    string     `json:"status"`
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`
}

// scalewayTags is a page of tags with the name of their image.
type scalewayTags struct {
	ImageName string        `json:"imageName"`
	Tags      []scalewayTag `json:"tags"`
	ScalewayPage
}

// ListScalewayTags lists the tags of an image.
func (a *Handlers) ListScalewayTags(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *scalewayTagsInput) (*scalewayOutput[scalewayTags], error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	p := in.page()
	found, err := a.Catalog.Tags(ctx, account, "", in.Image, p)
	if err != nil {
		return nil, err
	}
	return inEnvelope(scalewayTags{found.Of, endpoint.Convert(found.Items, func(t catalog.Tag) scalewayTag {
		return scalewayTag{t.UUID, t.Name, t.Digest, t.Size, t.Status, t.CreatedAt, t.UpdatedAt}
	}), ScalewayPage{found.Total, p.Number, p.Size}}), nil
}

package registries

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file serves the operations on Artifactory, which keeps images in repositories.

// JfrogRepositoryInput asks for a repository's part of what the registry holds.
type JfrogRepositoryInput struct {
	RegistryInput
	Key string `query:"repositoryKey" doc:"Repository of the registry. Default: that of the credential."`
}

func (q JfrogRepositoryInput) group() string { return q.Key }

// JfrogImageInput selects an image of an Artifactory repository.
type JfrogImageInput struct {
	JfrogRepositoryInput
	Image string `path:"imageName" doc:"Image name, with slashes percent-encoded."`
}

func (q JfrogImageInput) image() (string, error) { return unescapeName(q.Image) }

// jfrogRepository is a repository as Artifactory describes it.
type jfrogRepository struct {
	Key         string `json:"key"`
	Type        string `json:"type" doc:"Repository type as reported by the registry: local, remote, virtual or federated."`
	PackageType string `json:"packageType"`
	Description string `json:"description"`
	URL         string `json:"url"`
}

// jfrogRepositoriesOutput is a page of repositories.
type jfrogRepositoriesOutput struct {
	Body struct {
		Repositories []jfrogRepository `json:"repositories"`
		TotalCount   int               `json:"totalCount"`
		Page         int               `json:"page"`
		PageSize     int               `json:"pageSize"`
	}
}

// ListJfrogRepositories lists the Docker repositories of an Artifactory.
func (a *Handlers) ListJfrogRepositories(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *RegistryInput) (*jfrogRepositoriesOutput, error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Groups(ctx, account, in.page())
	if err != nil {
		return nil, err
	}
	out := &jfrogRepositoriesOutput{}
	out.Body.Repositories = endpoint.Convert(found.Items, func(g catalog.Group) jfrogRepository {
		return jfrogRepository{g.Name, g.Type, "docker", g.Description, g.URL}
	})
	out.Body.TotalCount = found.Total
	out.Body.Page, out.Body.PageSize = in.Get()
	return out, nil
}

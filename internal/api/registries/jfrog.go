package registries

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file answers for Artifactory, which keeps images in repositories.

// InRepository asks for a repository's part of what the registry holds.
type InRepository struct {
	ByPath
	Key string `query:"repositoryKey" doc:"Repository of the registry. Default: that of the credential."`
}

func (q InRepository) group() string { return q.Key }

// ByImageName selects an image of an Artifactory repository.
type ByImageName struct {
	InRepository
	Image string `path:"imageName" doc:"Image name, with slashes percent-encoded."`
}

func (q ByImageName) image() (string, error) { return unescaped(q.Image) }

type jfrogRepository struct {
	Key         string `json:"key"`
	Type        string `json:"type" doc:"Repository type as reported by the registry: local, remote, virtual or federated."`
	PackageType string `json:"packageType"`
	Description string `json:"description"`
	URL         string `json:"url"`
}

type jfrogRepositoriesAnswer struct {
	Body struct {
		Repositories []jfrogRepository `json:"repositories"`
		TotalCount   int               `json:"totalCount"`
		Page         int               `json:"page"`
		PageSize     int               `json:"pageSize"`
	}
}

// ListJfrogRepositories lists the Docker repositories of an Artifactory.
func (a *Handlers) ListJfrogRepositories(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *ByPath) (*jfrogRepositoriesAnswer, error) {
	account, err := a.account(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Groups(ctx, account, in.page())
	if err != nil {
		return nil, err
	}
	out := &jfrogRepositoriesAnswer{}
	out.Body.Repositories = endpoint.Convert(found.Items, func(g catalog.Group) jfrogRepository {
		return jfrogRepository{g.Name, g.Type, "docker", g.Description, g.URL}
	})
	out.Body.TotalCount = found.Total
	out.Body.Page, out.Body.PageSize = in.Get()
	return out, nil
}

package registries

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file gives an overview of what an organization is connected to.

// repositoriesOutput lists the repositories that an organization's connection to a
// code host shows. No organization can be connected yet: the list is empty.
type repositoriesOutput struct {
	Body struct {
		Repositories   []struct{}            `json:"repositories" doc:"Empty if the organization is not connected."`
		OrganizationID tenant.OrganizationID `json:"organizationId" format:"uuid"`
	}
}

// ListRepositories lists the repositories of a connected code host: none in this version.
func (a *Handlers) ListRepositories(_ context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*repositoriesOutput, error) {
	out := &repositoriesOutput{}
	out.Body.Repositories, out.Body.OrganizationID = []struct{}{}, sc.Organization
	return out, nil
}

type registryCount struct {
	Type  credential.Kind `json:"type"`
	Count int             `json:"count"`
}

// integrationsOutput leaves hosts of code out that the organization has no
// installation of.
type integrationsOutput struct {
	Body struct {
		Registries struct {
			Total  int             `json:"total"`
			ByType []registryCount `json:"byType" doc:"Registry types with at least one credential."`
		} `json:"containerRegistry"`
	}
}

// GetIntegrations counts the stored registry credentials by type.
func (a *Handlers) GetIntegrations(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*integrationsOutput, error) {
	all, err := a.Credentials.Credentials(ctx, sc, "")
	if err != nil {
		return nil, err
	}
	out := &integrationsOutput{}
	r := &out.Body.Registries
	r.Total, r.ByType = len(all), []registryCount{}
	for _, c := range all { // sorted by kind
		if last := len(r.ByType) - 1; last >= 0 && r.ByType[last].Type == c.Kind {
			r.ByType[last].Count++
			continue
		}
		r.ByType = append(r.ByType, registryCount{c.Kind, 1})
	}
	return out, nil
}

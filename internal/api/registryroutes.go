package api

import (
	"net/http"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/registries"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// registryRoutes lists the operations on credentials for registries of images.
func (a *API) registryRoutes() []endpoint.Route {
	manage := endpoint.Needs(tenant.OrgIntegrations)
	const all = "/integrations/container-registry/organization/{organizationId}"
	routes := []endpoint.Route{
		endpoint.New("GET", "/organization/{organizationId}/github/repositories", "listGithubRepositories",
			"List GitHub repositories", endpoint.Needs(tenant.OrgRead), a.registries.ListRepositories),
		endpoint.New("GET", "/integrations/gitlab/organization/{organizationId}/repositories", "listGitlabRepositories",
			"List GitLab repositories", endpoint.Needs(tenant.OrgRead), a.registries.ListRepositories),
		endpoint.New("GET", "/organization/{organizationId}/integrations/overview", "getIntegrations",
			"Get the integrations "+
				"overview", endpoint.Needs(tenant.OrgRead), a.registries.GetIntegrations),
		endpoint.New("GET", all+"/credentials", "listRegistryCredentials", "List container registry credentials",
			manage,
			a.registries.ListRegistryCredentials),
		endpoint.New("GET", all+"/credentials/{registryType}/{credentialId}/projects", "listCredentialProjects",
			"List the projects of a registry credential", manage, a.registries.ListCredentialProjects),
		endpoint.New("PUT", all+"/credentials/{registryType}/{credentialId}/projects", "setCredentialProjects",
			"Set the projects of a registry credential", manage, a.registries.SetCredentialProjects),
		endpoint.New("POST", all+"/bulk-apply", "applyCredential", "Create a registry credential for several "+
			"projects", manage,
			a.registries.ApplyCredential).Created(),
	}
	for _, k := range credential.Kinds {
		routes = append(routes, a.kindRoutes(k)...)
	}
	return append(routes, a.githubRegistryRoutes()...)
}

// kindRoutes lists the operations on one kind of registry.
func (a *API) kindRoutes(k credential.Kind) []endpoint.Route {
	read, manage, scan := endpoint.Needs(tenant.ProjectRead), endpoint.Needs(tenant.OrgIntegrations),
		endpoint.Needs(tenant.ProjectScan)
	base, id, text := "/integrations/"+string(k)+"/container-registry", strings.ToUpper(string(k[:1]))+string(k[1:]),
		" ("+string(k)+")"
	org, project := base+"/organization/{organizationId}", base+"/project/{projectId}"
	// The kinds differ in addresses and words, because each follows the API of its registry: a
	// Harbor has projects, an Artifactory repositories, a Scaleway registry namespaces. What all
	// have in common comes first.
	remove := endpoint.New("DELETE", org+"/credentials/{credentialId}", "delete"+id+"Credential",
		"Delete a registry credential"+
			text, manage, registries.OfKind(k, a.registries.DeleteCredential))
	remove.Status = http.StatusNoContent
	switch k {
	case credential.Scaleway:
		return a.scalewayRoutes(remove)
	case credential.Amazon:
		return a.amazonRoutes(remove)
	}
	routes := []endpoint.Route{
		endpoint.New("POST", org+"/credentials", "store"+id+"Credential", "Create a registry credential"+text, manage,
			registries.OfKind(k, a.registries.StoreCredential)).Created(),
		remove,
		endpoint.New("GET", project+"/credentials", "list"+id+"Credentials", "List the registry credentials of a "+
			"project"+text,
			read, registries.OfKind(k, a.registries.ListCredentials)),
		endpoint.New("GET", project+"/credentials/{credentialId}", "get"+id+"Credential", "Get a registry "+
			"credential of a "+
			"project"+text, read, registries.OfKind(k, a.registries.GetCredential)),
		endpoint.New("POST", project+"/scan", "scan"+id+"Image", "Start a scan of a registry image"+text, scan,
			registries.OfKind(k, a.registries.StartRegistryScan)).Accepted(),
	}
	images, tags := "List registry images"+text, "List image tags"+text
	switch k {
	case credential.Harbor:
		project += "/credentials/{credentialId}"
		return append(routes,
			endpoint.New("GET", project+"/projects", "list"+id+"Projects", "List registry projects"+text, read,
				registries.OfKind(k, a.registries.ListRegistryGroups)),
			endpoint.New("GET", project+"/images", "list"+id+"Images", images, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryImages[registries.HarborProjectInput])),
			endpoint.New("GET", project+"/images/{repository}/tags", "list"+id+"Tags", tags, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryTags[registries.HarborRepositoryInput])))
	case credential.JFrog:
		project += "/credentials/{credentialId}"
		return append(routes,
			endpoint.New("GET", project+"/repositories", "list"+id+"Repositories", "List registry repositories"+text,
				read,
				registries.OfKind(k, a.registries.ListJfrogRepositories)),
			endpoint.New("GET", project+"/images", "list"+id+"Images", images, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryImages[registries.JfrogRepositoryInput])),
			endpoint.New("GET", project+"/images/{imageName}/tags", "list"+id+"Tags", tags, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryTags[registries.JfrogImageInput])))
	case credential.DockerHub:
		return append(routes,
			endpoint.New("GET", project+"/images", "list"+id+"Images", images, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryImages[registries.CredentialQueryInput])),
			endpoint.New("GET", project+"/images/{repositoryName}/tags", "list"+id+"Tags", tags, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryTags[registries.RepositoryNameInput])))
	case credential.Google:
		return append(routes,
			endpoint.New("GET", project+"/images", "list"+id+"Images", images, read,
				registries.OfKind(k, a.registries.ListGoogleImages)),
			endpoint.New("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
				registries.OfQuery(a.registries, k, registries.ListRegistryTags[registries.RepositoryIDInput])))
	case credential.Azure:
		return append(routes,
			endpoint.New("GET", project+"/images", "list"+id+"Images", images, read,
				registries.OfKind(k, a.registries.ListAzureImages)),
			endpoint.New("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
				registries.OfKind(k, a.registries.ListAzureTags)))
	}
	return append(routes,
		endpoint.New("GET", project+"/images", "list"+id+"Images", images, read,
			registries.OfQuery(a.registries, k, registries.ListRegistryImages[registries.CredentialQueryInput])),
		endpoint.New("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
			registries.OfQuery(a.registries, k, registries.ListRegistryTags[registries.RepositoryIDInput])))
}

// scalewayRoutes lists the operations on Scaleway's registry; remove is as for all.
func (a *API) scalewayRoutes(remove endpoint.Route) []endpoint.Route {
	const k = credential.Scaleway
	read, manage, scan := endpoint.Needs(tenant.ProjectRead), endpoint.Needs(tenant.OrgIntegrations),
		endpoint.Needs(tenant.ProjectScan)
	const base, text = "/integrations/scaleway/container-registry", " (scaleway)"
	const project, one = base + "/project/{projectId}", base + "/project/{projectId}/credentials/{credentialId}"
	return []endpoint.Route{
		endpoint.New("POST", base+"/organization/{organizationId}/credentials", "storeScalewayCredential",
			"Create a registry credential"+text, manage,
			registries.OfKind(k, a.registries.StoreScalewayCredential)).Created(),
		remove,
		endpoint.New("GET", project+"/credentials", "listScalewayCredentials", "List the registry credentials of a "+
			"project"+text,
			read, registries.OfKind(k, a.registries.ListScalewayCredentials)),
		endpoint.New("GET", one, "getScalewayCredential", "Get a registry credential of a project"+text, read,
			registries.OfKind(k, a.registries.GetScalewayCredential)),
		endpoint.New("GET", one+"/namespaces", "listScalewayNamespaces", "List registry namespaces"+text, read,
			registries.OfKind(k, a.registries.ListScalewayNamespaces)),
		endpoint.New("GET", one+"/images", "listScalewayImages", "List registry images"+text, read,
			registries.OfKind(k, a.registries.ListScalewayImages)),
		endpoint.New("POST", project+"/scan", "scanScalewayImage", "Start a scan of a registry image"+text, scan,
			registries.OfKind(k, a.registries.StartScalewayScan)).Accepted(),
		endpoint.New("GET", one+"/images/{imageId}/tags", "listScalewayTags", "List image tags"+text, read,
			registries.OfKind(k, a.registries.ListScalewayTags)),
	}
}

// amazonRoutes lists the operations on Amazon's registry; remove is as for all.
func (a *API) amazonRoutes(remove endpoint.Route) []endpoint.Route {
	const k = credential.Amazon
	read, manage := endpoint.Needs(tenant.ProjectRead), endpoint.Needs(tenant.OrgIntegrations)
	const base, text = "/integrations/ecr/container-registry", " (ecr)"
	const org, project = base + "/organization/{organizationId}/credentials", base + "/project/{projectId}"
	return []endpoint.Route{
		endpoint.New("POST", org, "storeEcrCredential", "Create a registry credential"+text, manage,
			registries.OfKind(k, a.registries.StoreEcrCredential)).Created(),
		remove,
		endpoint.New("GET", org, "listEcrOrganizationCredentials", "List the registry credentials of an "+
			"organization"+text,
			manage, registries.OfKind(k, a.registries.ListEcrOrganizationCredentials)),
		endpoint.New("POST", org+"/prepare-iam-role", "prepareEcrRole", "Get the IAM policies for a role that the "+
			"service "+
			"can assume"+text, manage, a.registries.PrepareEcrRole),
		endpoint.New("GET", org+"/{credentialId}/projects", "listEcrCredentialProjects", "List the projects of a "+
			"registry "+
			"credential"+text, manage, a.registries.ListEcrCredentialProjects),
		endpoint.New("PUT", org+"/{credentialId}/projects", "setEcrCredentialProjects", "Set the projects of a "+
			"registry "+
			"credential"+text, manage, a.registries.SetEcrCredentialProjects),
		endpoint.New("GET", project+"/credentials", "listEcrCredentials", "List the registry credentials of a "+
			"project"+text, read,
			registries.OfKind(k, a.registries.ListEcrCredentials)),
		endpoint.New("GET", project+"/credentials/{credentialId}", "getEcrCredential", "Get a registry "+
			"credential of a "+
			"project"+text, read, registries.OfKind(k, a.registries.GetEcrCredential)),
		endpoint.New("POST", project+"/scan", "scanEcrImage", "Start a scan of a registry image"+text,
			endpoint.Needs(tenant.ProjectScan),
			registries.OfKind(k, a.registries.StartRegistryScan)).Accepted(),
		endpoint.New("GET", project+"/images", "listEcrImages", "List registry images"+text, read,
			registries.OfKind(k, a.registries.ListEcrImages)),
		endpoint.New("GET", project+"/images/{repositoryId}/tags", "listEcrTags", "List image tags"+text, read,
			registries.OfKind(k, a.registries.ListEcrTags)),
	}
}

// githubRegistryRoutes lists the operations on GitHub's registry. They are of the
// organization, not of a project: there is one token for all projects.
func (a *API) githubRegistryRoutes() []endpoint.Route {
	read, manage := endpoint.Needs(tenant.OrgRead), endpoint.Needs(tenant.OrgIntegrations)
	const base = "/integrations/github-container-registry/organization/{organizationId}"
	return []endpoint.Route{
		endpoint.New("GET", base+"/token", "getGithubRegistryToken", "Get a short-lived pull token for the GitHub "+
			"registry", manage, a.registries.GetGithubRegistryToken),
		endpoint.New("GET", base+"/images", "listGithubImages", "List images in the GitHub registry", read,
			a.registries.ListGithubImages),
		endpoint.New("GET", base+"/images/{packageName}/tags", "listGithubImageTags", "List tags of an image in the "+
			"GitHub "+
			"registry", read, a.registries.ListGithubImageTags),
		endpoint.New("POST", base+"/pat", "storeGithubRegistryToken", "Store the GitHub registry token", manage,
			a.registries.StoreGithubPat).Created(),
		endpoint.New("DELETE", base+"/pat", "deleteGithubRegistryToken", "Delete the GitHub registry token", manage,
			a.registries.DeleteGithubPat),
		endpoint.New("GET", base+"/pat/status", "getGithubRegistryTokenStatus", "Get the status of the GitHub "+
			"registry token",
			read, a.registries.GetGithubPatStatus),
		endpoint.New("POST", "/integrations/github-container-registry/project/{projectId}/scan", "scanGithubImage",
			"Start a scan of an image in the GitHub registry",
			endpoint.Needs(tenant.ProjectScan), a.registries.StartGithubScan).Accepted(),
	}
}

package api

import (
	"net/http"
	"strings"

	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// registryRoutes lists the operations on credentials for registries of images.
func (a *API) registryRoutes() []route {
	manage := needs(tenant.OrgIntegrations)
	const all = "/integrations/container-registry/organization/{organizationId}"
	routes := []route{
		op("GET", "/organization/{organizationId}/github/repositories", "listGithubRepositories",
			"List GitHub repositories", needs(tenant.OrgRead), a.listRepositories),
		op("GET", "/integrations/gitlab/organization/{organizationId}/repositories", "listGitlabRepositories",
			"List GitLab repositories", needs(tenant.OrgRead), a.listRepositories),
		op("GET", "/organization/{organizationId}/integrations/overview", "getIntegrations", "Get the integrations "+
			"overview", needs(tenant.OrgRead), a.getIntegrations),
		op("GET", all+"/credentials", "listRegistryCredentials", "List container registry credentials", manage,
			a.listRegistryCredentials),
		op("GET", all+"/credentials/{registryType}/{credentialId}/projects", "listCredentialProjects",
			"List the projects of a registry credential", manage, a.listCredentialProjects),
		op("PUT", all+"/credentials/{registryType}/{credentialId}/projects", "setCredentialProjects",
			"Set the projects of a registry credential", manage, a.setCredentialProjects),
		op("POST", all+"/bulk-apply", "applyCredential", "Create a registry credential for several projects", manage,
			a.applyCredential).created(),
	}
	for _, k := range credential.Kinds {
		routes = append(routes, a.kindRoutes(k)...)
	}
	return append(routes, a.githubRegistryRoutes()...)
}

// kindRoutes lists the operations on one kind of registry.
func (a *API) kindRoutes(k credential.Kind) []route {
	read, manage, scan := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	base, id, text := "/integrations/"+string(k)+"/container-registry", strings.ToUpper(string(k[:1]))+string(k[1:]),
		" ("+string(k)+")"
	org, project := base+"/organization/{organizationId}", base+"/project/{projectId}"
	remove := op("DELETE", org+"/credentials/{credentialId}", "delete"+id+"Credential", "Delete a registry credential"+
		text, manage, ofKind(k, a.deleteCredential))
	remove.status = http.StatusNoContent
	switch k {
	case credential.Scaleway:
		return a.scalewayRoutes(remove)
	case credential.Amazon:
		return a.amazonRoutes(remove)
	}
	routes := []route{
		op("POST", org+"/credentials", "store"+id+"Credential", "Create a registry credential"+text, manage,
			ofKind(k, a.storeCredential)).created(),
		remove,
		op("GET", project+"/credentials", "list"+id+"Credentials", "List the registry credentials of a project"+text,
			read, ofKind(k, a.listCredentials)),
		op("GET", project+"/credentials/{credentialId}", "get"+id+"Credential", "Get a registry credential of a "+
			"project"+text, read, ofKind(k, a.getCredential)),
		op("POST", project+"/scan", "scan"+id+"Image", "Start a scan of a registry image"+text, scan,
			ofKind(k, a.startRegistryScan)).accepted(),
	}
	images, tags := "List registry images"+text, "List image tags"+text
	switch k {
	case credential.Harbor:
		project += "/credentials/{credentialId}"
		return append(routes,
			op("GET", project+"/projects", "list"+id+"Projects", "List registry projects"+text, read,
				ofKind(k, a.listRegistryGroups)),
			op("GET", project+"/images", "list"+id+"Images", images, read,
				ofQuery(a, k, listRegistryImages[InHarborProject])),
			op("GET", project+"/images/{repository}/tags", "list"+id+"Tags", tags, read,
				ofQuery(a, k, listRegistryTags[byRepository])))
	case credential.JFrog:
		project += "/credentials/{credentialId}"
		return append(routes,
			op("GET", project+"/repositories", "list"+id+"Repositories", "List registry repositories"+text, read,
				ofKind(k, a.listJfrogRepositories)),
			op("GET", project+"/images", "list"+id+"Images", images, read,
				ofQuery(a, k, listRegistryImages[InRepository])),
			op("GET", project+"/images/{imageName}/tags", "list"+id+"Tags", tags, read,
				ofQuery(a, k, listRegistryTags[byImageName])))
	case credential.DockerHub:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(a, k, listRegistryImages[ByQuery])),
			op("GET", project+"/images/{repositoryName}/tags", "list"+id+"Tags", tags, read,
				ofQuery(a, k, listRegistryTags[byRepositoryName])))
	case credential.Google:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofKind(k, a.listGoogleImages)),
			op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
				ofQuery(a, k, listRegistryTags[byRepositoryID])))
	case credential.Azure:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofKind(k, a.listAzureImages)),
			op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
				ofKind(k, a.listAzureTags)))
	}
	return append(routes,
		op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(a, k, listRegistryImages[ByQuery])),
		op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
			ofQuery(a, k, listRegistryTags[byRepositoryID])))
}

// scalewayRoutes lists the operations on Scaleway's registry; remove is as for all.
func (a *API) scalewayRoutes(remove route) []route {
	const k = credential.Scaleway
	read, manage, scan := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	const base, text = "/integrations/scaleway/container-registry", " (scaleway)"
	const project, one = base + "/project/{projectId}", base + "/project/{projectId}/credentials/{credentialId}"
	return []route{
		op("POST", base+"/organization/{organizationId}/credentials", "storeScalewayCredential",
			"Create a registry credential"+text, manage, ofKind(k, a.storeScalewayCredential)).created(),
		remove,
		op("GET", project+"/credentials", "listScalewayCredentials", "List the registry credentials of a project"+text,
			read, ofKind(k, a.listScalewayCredentials)),
		op("GET", one, "getScalewayCredential", "Get a registry credential of a project"+text, read,
			ofKind(k, a.getScalewayCredential)),
		op("GET", one+"/namespaces", "listScalewayNamespaces", "List registry namespaces"+text, read,
			ofKind(k, a.listScalewayNamespaces)),
		op("GET", one+"/images", "listScalewayImages", "List registry images"+text, read,
			ofKind(k, a.listScalewayImages)),
		op("POST", project+"/scan", "scanScalewayImage", "Start a scan of a registry image"+text, scan,
			ofKind(k, a.startScalewayScan)).accepted(),
		op("GET", one+"/images/{imageId}/tags", "listScalewayTags", "List image tags"+text, read,
			ofKind(k, a.listScalewayTags)),
	}
}

// amazonRoutes lists the operations on Amazon's registry; remove is as for all.
func (a *API) amazonRoutes(remove route) []route {
	const k = credential.Amazon
	read, manage := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations)
	const base, text = "/integrations/ecr/container-registry", " (ecr)"
	const org, project = base + "/organization/{organizationId}/credentials", base + "/project/{projectId}"
	return []route{
		op("POST", org, "storeEcrCredential", "Create a registry credential"+text, manage,
			ofKind(k, a.storeEcrCredential)).created(),
		remove,
		op("GET", org, "listEcrOrganizationCredentials", "List the registry credentials of an organization"+text,
			manage, ofKind(k, a.listEcrOrganizationCredentials)),
		op("POST", org+"/prepare-iam-role", "prepareEcrRole", "Get the IAM policies for a role that the service "+
			"can assume"+text, manage, a.prepareEcrRole),
		op("GET", org+"/{credentialId}/projects", "listEcrCredentialProjects", "List the projects of a registry "+
			"credential"+text, manage, a.listEcrCredentialProjects),
		op("PUT", org+"/{credentialId}/projects", "setEcrCredentialProjects", "Set the projects of a registry "+
			"credential"+text, manage, a.setEcrCredentialProjects),
		op("GET", project+"/credentials", "listEcrCredentials", "List the registry credentials of a project"+text, read,
			ofKind(k, a.listEcrCredentials)),
		op("GET", project+"/credentials/{credentialId}", "getEcrCredential", "Get a registry credential of a "+
			"project"+text, read, ofKind(k, a.getEcrCredential)),
		op("POST", project+"/scan", "scanEcrImage", "Start a scan of a registry image"+text, needs(tenant.ProjectScan),
			ofKind(k, a.startRegistryScan)).accepted(),
		op("GET", project+"/images", "listEcrImages", "List registry images"+text, read,
			ofKind(k, a.listEcrImages)),
		op("GET", project+"/images/{repositoryId}/tags", "listEcrTags", "List image tags"+text, read,
			ofKind(k, a.listEcrTags)),
	}
}

// githubRegistryRoutes lists the operations on GitHub's registry.
func (a *API) githubRegistryRoutes() []route {
	read, manage := needs(tenant.OrgRead), needs(tenant.OrgIntegrations)
	const base = "/integrations/github-container-registry/organization/{organizationId}"
	return []route{
		op("GET", base+"/token", "getGithubRegistryToken", "Get a short-lived pull token for the GitHub "+
			"registry", manage, a.getGithubRegistryToken),
		op("GET", base+"/images", "listGithubImages", "List images in the GitHub registry", read,
			a.listGithubImages),
		op("GET", base+"/images/{packageName}/tags", "listGithubImageTags", "List tags of an image in the GitHub "+
			"registry", read, a.listGithubImageTags),
		op("POST", base+"/pat", "storeGithubRegistryToken", "Store the GitHub registry token", manage,
			a.storeGithubPat).created(),
		op("DELETE", base+"/pat", "deleteGithubRegistryToken", "Delete the GitHub registry token", manage,
			a.deleteGithubPat),
		op("GET", base+"/pat/status", "getGithubRegistryTokenStatus", "Get the status of the GitHub registry token",
			read, a.getGithubPatStatus),
		op("POST", "/integrations/github-container-registry/project/{projectId}/scan", "scanGithubImage",
			"Start a scan of an image in the GitHub registry",
			needs(tenant.ProjectScan), a.startGithubScan).accepted(),
	}
}

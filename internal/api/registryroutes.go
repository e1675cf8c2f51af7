package api

import (
	"context"
	"net/http"
	"strings"

	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// ofKind makes a handler of one that is told the kind of registry.
func ofKind[I, O any](k credential.Kind, h func(*API, context.Context, tenant.Scope, credential.Kind,
	*I) (*O, error)) func(*API, context.Context, tenant.Scope, *I) (*O, error) {
	return func(a *API, ctx context.Context, sc tenant.Scope, in *I) (*O, error) { return h(a, ctx, sc, k, in) }
}

// ofQuery does the same for a handler that takes its question by value.
func ofQuery[Q registryQuery, O any](k credential.Kind, h func(*API, context.Context, tenant.Scope, credential.Kind,
	Q) (*O, error)) func(*API, context.Context, tenant.Scope, *Q) (*O, error) {
	return func(a *API, ctx context.Context, sc tenant.Scope, in *Q) (*O, error) { return h(a, ctx, sc, k, *in) }
}

// registryRoutes lists the operations on credentials for registries of images.
func registryRoutes() []route {
	manage := needs(tenant.OrgIntegrations)
	const all = "/integrations/container-registry/organization/{organizationId}"
	routes := []route{
		op("GET", "/organization/{organizationId}/github/repositories", "listGithubRepositories",
			"List GitHub repositories", needs(tenant.OrgRead), (*API).listRepositories),
		op("GET", "/integrations/gitlab/organization/{organizationId}/repositories", "listGitlabRepositories",
			"List GitLab repositories", needs(tenant.OrgRead), (*API).listRepositories),
		op("GET", "/organization/{organizationId}/integrations/overview", "getIntegrations", "Get the integrations "+
			"overview", needs(tenant.OrgRead), (*API).getIntegrations),
		op("GET", all+"/credentials", "listRegistryCredentials", "List container registry credentials", manage,
			(*API).listRegistryCredentials),
		op("GET", all+"/credentials/{registryType}/{credentialId}/projects", "listCredentialProjects",
			"List the projects of a registry credential", manage, (*API).listCredentialProjects),
		op("PUT", all+"/credentials/{registryType}/{credentialId}/projects", "setCredentialProjects",
			"Set the projects of a registry credential", manage, (*API).setCredentialProjects),
		op("POST", all+"/bulk-apply", "applyCredential", "Create a registry credential for several projects", manage,
			(*API).applyCredential).created(),
	}
	for _, k := range credential.Kinds {
		routes = append(routes, kindRoutes(k)...)
	}
	return append(routes, githubRegistryRoutes()...)
}

// kindRoutes lists the operations on one kind of registry.
func kindRoutes(k credential.Kind) []route {
	read, manage, scan := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	base, id, text := "/integrations/"+string(k)+"/container-registry", strings.ToUpper(string(k[:1]))+string(k[1:]),
		" ("+string(k)+")"
	org, project := base+"/organization/{organizationId}", base+"/project/{projectId}"
	remove := op("DELETE", org+"/credentials/{credentialId}", "delete"+id+"Credential", "Delete a registry credential"+
		text, manage, ofKind(k, (*API).deleteCredential))
	remove.status = http.StatusNoContent
	switch k {
	case credential.Scaleway:
		return scalewayRoutes(remove)
	case credential.Amazon:
		return amazonRoutes(remove)
	}
	routes := []route{
		op("POST", org+"/credentials", "store"+id+"Credential", "Create a registry credential"+text, manage,
			ofKind(k, (*API).storeCredential)).created(),
		remove,
		op("GET", project+"/credentials", "list"+id+"Credentials", "List the registry credentials of a project"+text,
			read, ofKind(k, (*API).listCredentials)),
		op("GET", project+"/credentials/{credentialId}", "get"+id+"Credential", "Get a registry credential of a "+
			"project"+text, read, ofKind(k, (*API).getCredential)),
		op("POST", project+"/scan", "scan"+id+"Image", "Start a scan of a registry image"+text, scan,
			ofKind(k, (*API).startRegistryScan)).accepted(),
	}
	images, tags := "List registry images"+text, "List image tags"+text
	switch k {
	case credential.Harbor:
		project += "/credentials/{credentialId}"
		return append(routes,
			op("GET", project+"/projects", "list"+id+"Projects", "List registry projects"+text, read,
				ofKind(k, (*API).listRegistryGroups)),
			op("GET", project+"/images", "list"+id+"Images", images, read,
				ofQuery(k, listRegistryImages[InHarborProject])),
			op("GET", project+"/images/{repository}/tags", "list"+id+"Tags", tags, read,
				ofQuery(k, listRegistryTags[byRepository])))
	case credential.JFrog:
		project += "/credentials/{credentialId}"
		return append(routes,
			op("GET", project+"/repositories", "list"+id+"Repositories", "List registry repositories"+text, read,
				ofKind(k, (*API).listJfrogRepositories)),
			op("GET", project+"/images", "list"+id+"Images", images, read,
				ofQuery(k, listRegistryImages[InRepository])),
			op("GET", project+"/images/{imageName}/tags", "list"+id+"Tags", tags, read,
				ofQuery(k, listRegistryTags[byImageName])))
	case credential.DockerHub:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(k, listRegistryImages[ByQuery])),
			op("GET", project+"/images/{repositoryName}/tags", "list"+id+"Tags", tags, read,
				ofQuery(k, listRegistryTags[byRepositoryName])))
	case credential.Google:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofKind(k, (*API).listGoogleImages)),
			op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
				ofQuery(k, listRegistryTags[byRepositoryID])))
	case credential.Azure:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofKind(k, (*API).listAzureImages)),
			op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
				ofKind(k, (*API).listAzureTags)))
	}
	return append(routes,
		op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(k, listRegistryImages[ByQuery])),
		op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read,
			ofQuery(k, listRegistryTags[byRepositoryID])))
}

// scalewayRoutes lists the operations on Scaleway's registry; remove is as for all.
func scalewayRoutes(remove route) []route {
	const k = credential.Scaleway
	read, manage, scan := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	const base, text = "/integrations/scaleway/container-registry", " (scaleway)"
	const project, one = base + "/project/{projectId}", base + "/project/{projectId}/credentials/{credentialId}"
	return []route{
		op("POST", base+"/organization/{organizationId}/credentials", "storeScalewayCredential",
			"Create a registry credential"+text, manage, ofKind(k, (*API).storeScalewayCredential)).created(),
		remove,
		op("GET", project+"/credentials", "listScalewayCredentials", "List the registry credentials of a project"+text,
			read, ofKind(k, (*API).listScalewayCredentials)),
		op("GET", one, "getScalewayCredential", "Get a registry credential of a project"+text, read,
			ofKind(k, (*API).getScalewayCredential)),
		op("GET", one+"/namespaces", "listScalewayNamespaces", "List registry namespaces"+text, read,
			ofKind(k, (*API).listScalewayNamespaces)),
		op("GET", one+"/images", "listScalewayImages", "List registry images"+text, read,
			ofKind(k, (*API).listScalewayImages)),
		op("POST", project+"/scan", "scanScalewayImage", "Start a scan of a registry image"+text, scan,
			ofKind(k, (*API).startScalewayScan)).accepted(),
		op("GET", one+"/images/{imageId}/tags", "listScalewayTags", "List image tags"+text, read,
			ofKind(k, (*API).listScalewayTags)),
	}
}

// amazonRoutes lists the operations on Amazon's registry; remove is as for all.
func amazonRoutes(remove route) []route {
	const k = credential.Amazon
	read, manage := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations)
	const base, text = "/integrations/ecr/container-registry", " (ecr)"
	const org, project = base + "/organization/{organizationId}/credentials", base + "/project/{projectId}"
	return []route{
		op("POST", org, "storeEcrCredential", "Create a registry credential"+text, manage,
			ofKind(k, (*API).storeEcrCredential)).created(),
		remove,
		op("GET", org, "listEcrOrganizationCredentials", "List the registry credentials of an organization"+text,
			manage, ofKind(k, (*API).listEcrOrganizationCredentials)),
		op("POST", org+"/prepare-iam-role", "prepareEcrRole", "Get the IAM policies for a role that the service "+
			"can assume"+text, manage, (*API).prepareEcrRole),
		op("GET", org+"/{credentialId}/projects", "listEcrCredentialProjects", "List the projects of a registry "+
			"credential"+text, manage, (*API).listEcrCredentialProjects),
		op("PUT", org+"/{credentialId}/projects", "setEcrCredentialProjects", "Set the projects of a registry "+
			"credential"+text, manage, (*API).setEcrCredentialProjects),
		op("GET", project+"/credentials", "listEcrCredentials", "List the registry credentials of a project"+text, read,
			ofKind(k, (*API).listEcrCredentials)),
		op("GET", project+"/credentials/{credentialId}", "getEcrCredential", "Get a registry credential of a "+
			"project"+text, read, ofKind(k, (*API).getEcrCredential)),
		op("POST", project+"/scan", "scanEcrImage", "Start a scan of a registry image"+text, needs(tenant.ProjectScan),
			ofKind(k, (*API).startRegistryScan)).accepted(),
		op("GET", project+"/images", "listEcrImages", "List registry images"+text, read,
			ofKind(k, (*API).listEcrImages)),
		op("GET", project+"/images/{repositoryId}/tags", "listEcrTags", "List image tags"+text, read,
			ofKind(k, (*API).listEcrTags)),
	}
}

// githubRegistryRoutes lists the operations on GitHub's registry.
func githubRegistryRoutes() []route {
	read, manage := needs(tenant.OrgRead), needs(tenant.OrgIntegrations)
	const base = "/integrations/github-container-registry/organization/{organizationId}"
	return []route{
		op("GET", base+"/token", "getGithubRegistryToken", "Get a short-lived pull token for the GitHub "+
			"registry", manage, (*API).getGithubRegistryToken),
		op("GET", base+"/images", "listGithubImages", "List images in the GitHub registry", read,
			(*API).listGithubImages),
		op("GET", base+"/images/{packageName}/tags", "listGithubImageTags", "List tags of an image in the GitHub "+
			"registry", read, (*API).listGithubImageTags),
		op("POST", base+"/pat", "storeGithubRegistryToken", "Store the GitHub registry token", manage,
			(*API).storeGithubPat).created(),
		op("DELETE", base+"/pat", "deleteGithubRegistryToken", "Delete the GitHub registry token", manage,
			(*API).deleteGithubPat),
		op("GET", base+"/pat/status", "getGithubRegistryTokenStatus", "Get the status of the GitHub registry token",
			read, (*API).getGithubPatStatus),
		op("POST", "/integrations/github-container-registry/project/{projectId}/scan", "scanGithubImage",
			"Start a scan of an image in the GitHub registry",
			needs(tenant.ProjectScan), (*API).startGithubScan).accepted(),
	}
}

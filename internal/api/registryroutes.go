package api

import (
	"context"
	"net/http"
	"strings"

	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// ofKind makes a handler of one that is told the kind of registry.
func ofKind[I, O any](k credential.Kind, h func(*API, context.Context, tenant.Scope, credential.Kind, *I) (*O, error)) func(*API, context.Context, tenant.Scope, *I) (*O, error) {
	return func(a *API, ctx context.Context, sc tenant.Scope, in *I) (*O, error) { return h(a, ctx, sc, k, in) }
}

// ofQuery does the same for a handler that takes its question by value.
func ofQuery[Q registryQuery, O any](k credential.Kind, h func(*API, context.Context, tenant.Scope, credential.Kind, Q) (*O, error)) func(*API, context.Context, tenant.Scope, *Q) (*O, error) {
	return func(a *API, ctx context.Context, sc tenant.Scope, in *Q) (*O, error) { return h(a, ctx, sc, k, *in) }
}

// registryRoutes lists the operations on credentials for registries of images.
func registryRoutes() []route {
	manage := needs(tenant.OrgIntegrations)
	const all = "/integrations/container-registry/organization/{organizationId}"
	routes := []route{
		op("GET", "/organization/{organizationId}/github/repositories", "listGithubRepositories", "Repositories of the organization's GitHub connection", needs(tenant.OrgRead), (*API).listRepositories),
		op("GET", "/integrations/gitlab/organization/{organizationId}/repositories", "listGitlabRepositories", "Repositories of the organization's GitLab connection", needs(tenant.OrgRead), (*API).listRepositories),
		op("GET", "/organization/{organizationId}/integrations/overview", "getIntegrations", "What the organization is connected to", needs(tenant.OrgRead), (*API).getIntegrations),
		op("GET", all+"/credentials", "listRegistryCredentials", "Credentials for registries of images", manage, (*API).listRegistryCredentials),
		op("GET", all+"/credentials/{registryType}/{credentialId}/projects", "listCredentialProjects", "Projects that may use a credential", manage, (*API).listCredentialProjects),
		op("PUT", all+"/credentials/{registryType}/{credentialId}/projects", "setCredentialProjects", "Set the projects that may use a credential", manage, (*API).setCredentialProjects),
		op("POST", all+"/bulk-apply", "applyCredential", "Store a credential for several projects", manage, (*API).applyCredential).created(),
	}
	for _, k := range credential.Kinds {
		routes = append(routes, kindRoutes(k)...)
	}
	return append(routes, githubRegistryRoutes()...)
}

// kindRoutes lists the operations on one kind of registry.
func kindRoutes(k credential.Kind) []route {
	read, manage, scan := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	base, id, text := "/integrations/"+string(k)+"/container-registry", strings.ToUpper(string(k[:1]))+string(k[1:]), " ("+string(k)+")"
	org, project := base+"/organization/{organizationId}", base+"/project/{projectId}"
	remove := op("DELETE", org+"/credentials/{credentialId}", "delete"+id+"Credential", "Delete a credential"+text, manage, ofKind(k, (*API).deleteCredential))
	remove.status = http.StatusNoContent
	switch k {
	case credential.Scaleway:
		return scalewayRoutes(remove)
	case credential.Amazon:
		return amazonRoutes(remove)
	}
	routes := []route{
		op("POST", org+"/credentials", "store"+id+"Credential", "Check and store a credential"+text, manage, ofKind(k, (*API).storeCredential)).created(),
		remove,
		op("GET", project+"/credentials", "list"+id+"Credentials", "Credentials that a project may use"+text, read, ofKind(k, (*API).listCredentials)),
		op("GET", project+"/credentials/{credentialId}", "get"+id+"Credential", "A credential that a project may use"+text, read, ofKind(k, (*API).getCredential)),
		op("POST", project+"/scan", "scan"+id+"Image", "Start a scan of an image in the registry"+text, scan, ofKind(k, (*API).startRegistryScan)).accepted(),
	}
	images, tags := "Images in the registry"+text, "Tags of an image"+text
	switch k {
	case credential.Harbor:
		project += "/credentials/{credentialId}"
		return append(routes,
			op("GET", project+"/projects", "list"+id+"Groups", "Projects of the registry"+text, read, ofKind(k, (*API).listRegistryGroups)),
			op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(k, listRegistryImages[InHarborProject])),
			op("GET", project+"/images/{repository}/tags", "list"+id+"Tags", tags, read, ofQuery(k, listRegistryTags[byRepository])))
	case credential.JFrog:
		project += "/credentials/{credentialId}"
		return append(routes,
			op("GET", project+"/repositories", "list"+id+"Groups", "Repositories of the registry"+text, read, ofKind(k, (*API).listJfrogRepositories)),
			op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(k, listRegistryImages[InRepository])),
			op("GET", project+"/images/{imageName}/tags", "list"+id+"Tags", tags, read, ofQuery(k, listRegistryTags[byImageName])))
	case credential.DockerHub:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(k, listRegistryImages[ByQuery])),
			op("GET", project+"/images/{repositoryName}/tags", "list"+id+"Tags", tags, read, ofQuery(k, listRegistryTags[byRepositoryName])))
	case credential.Google:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofKind(k, (*API).listGoogleImages)),
			op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read, ofQuery(k, listRegistryTags[byRepositoryID])))
	case credential.Azure:
		return append(routes,
			op("GET", project+"/images", "list"+id+"Images", images, read, ofKind(k, (*API).listAzureImages)),
			op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read, ofKind(k, (*API).listAzureTags)))
	}
	return append(routes,
		op("GET", project+"/images", "list"+id+"Images", images, read, ofQuery(k, listRegistryImages[ByQuery])),
		op("GET", project+"/images/{repositoryId}/tags", "list"+id+"Tags", tags, read, ofQuery(k, listRegistryTags[byRepositoryID])))
}

// scalewayRoutes lists the operations on Scaleway's registry; remove is as for all.
func scalewayRoutes(remove route) []route {
	const k = credential.Scaleway
	read, manage, scan := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	const base, text = "/integrations/scaleway/container-registry", " (scaleway)"
	const project, one = base + "/project/{projectId}", base + "/project/{projectId}/credentials/{credentialId}"
	return []route{
		op("POST", base+"/organization/{organizationId}/credentials", "storeScalewayCredential", "Check and store a credential"+text, manage, ofKind(k, (*API).storeScalewayCredential)).created(),
		remove,
		op("GET", project+"/credentials", "listScalewayCredentials", "Credentials that a project may use"+text, read, ofKind(k, (*API).listScalewayCredentials)),
		op("GET", one, "getScalewayCredential", "A credential that a project may use"+text, read, ofKind(k, (*API).getScalewayCredential)),
		op("GET", one+"/namespaces", "listScalewayGroups", "Namespaces of the registry"+text, read, ofKind(k, (*API).listScalewayNamespaces)),
		op("GET", one+"/images", "listScalewayImages", "Images in the registry"+text, read, ofKind(k, (*API).listScalewayImages)),
		op("POST", project+"/scan", "scanScalewayImage", "Start a scan of an image in the registry"+text, scan, ofKind(k, (*API).startScalewayScan)).accepted(),
		op("GET", one+"/images/{imageId}/tags", "listScalewayTags", "Tags of an image"+text, read, ofKind(k, (*API).listScalewayTags)),
	}
}

// amazonRoutes lists the operations on Amazon's registry; remove is as for all.
func amazonRoutes(remove route) []route {
	const k = credential.Amazon
	read, manage := needs(tenant.ProjectRead), needs(tenant.OrgIntegrations)
	const base, text = "/integrations/ecr/container-registry", " (ecr)"
	const org, project = base + "/organization/{organizationId}/credentials", base + "/project/{projectId}"
	return []route{
		op("POST", org, "storeEcrCredential", "Check and store a credential"+text, manage, ofKind(k, (*API).storeEcrCredential)).created(),
		remove,
		op("GET", org, "listEcrOrganizationCredentials", "Credentials of an organization"+text, manage, ofKind(k, (*API).listEcrOrganizationCredentials)),
		op("POST", org+"/prepare-iam-role", "prepareEcrRole", "Policies for a role that the service may assume"+text, manage, (*API).prepareEcrRole),
		op("GET", org+"/{credentialId}/projects", "listEcrCredentialProjects", "Projects that may use a credential"+text, manage, (*API).listEcrCredentialProjects),
		op("PUT", org+"/{credentialId}/projects", "setEcrCredentialProjects", "Set the projects that may use a credential"+text, manage, (*API).setEcrCredentialProjects),
		op("GET", project+"/credentials", "listEcrCredentials", "Credentials that a project may use"+text, read, ofKind(k, (*API).listEcrCredentials)),
		op("GET", project+"/credentials/{credentialId}", "getEcrCredential", "A credential that a project may use"+text, read, ofKind(k, (*API).getEcrCredential)),
		op("POST", project+"/scan", "scanEcrImage", "Start a scan of an image in the registry"+text, needs(tenant.ProjectScan), ofKind(k, (*API).startRegistryScan)).accepted(),
		op("GET", project+"/images", "listEcrImages", "Images in the registry"+text, read, ofKind(k, (*API).listEcrImages)),
		op("GET", project+"/images/{repositoryId}/tags", "listEcrTags", "Tags of an image"+text, read, ofKind(k, (*API).listEcrTags)),
	}
}

// githubRegistryRoutes lists the operations on GitHub's registry.
func githubRegistryRoutes() []route {
	read, manage := needs(tenant.OrgRead), needs(tenant.OrgIntegrations)
	const base = "/integrations/github-container-registry/organization/{organizationId}"
	return []route{
		op("GET", base+"/token", "getGithubRegistryToken", "A short-lived token that pulls images from GitHub's registry", manage, (*API).getGithubRegistryToken),
		op("GET", base+"/images", "listGithubImages", "Images in GitHub's registry", read, (*API).listGithubImages),
		op("GET", base+"/images/{packageName}/tags", "listGithubImageTags", "Tags of an image in GitHub's registry", read, (*API).listGithubImageTags),
		op("POST", base+"/pat", "storeGithubRegistryToken", "Check and store a token for GitHub's registry", manage, (*API).storeGithubPat).created(),
		op("DELETE", base+"/pat", "deleteGithubRegistryToken", "Delete the token for GitHub's registry", manage, (*API).deleteGithubPat),
		op("GET", base+"/pat/status", "getGithubRegistryTokenStatus", "How the token for GitHub's registry stands", read, (*API).getGithubPatStatus),
		op("POST", "/integrations/github-container-registry/project/{projectId}/scan", "scanGithubImage", "Start a scan of an image in GitHub's registry",
			needs(tenant.ProjectScan), (*API).startGithubScan).accepted(),
	}
}

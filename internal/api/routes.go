package api

import (
	"slices"

	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// routes is the table of every address: what it is called, what it does, who may
// call it, and which function answers. Handlers stand in one file per resource.
func (a *API) routes() []route {
	return slices.Concat(resultRoutes(), registryRoutes(), targetRoutes(), unbuiltRoutes(), []route{
		op("GET", "/", "getVersion", "Version of the service", open("health probe"), (*API).getVersion),
		op("GET", "/client-apps", "getClientApps", "Identifiers of the client applications", open("needed before any token can be had"), (*API).getClientApps),

		op("GET", "/user/profile", "getUserProfile", "The caller, with every role the caller has", authenticated(tenant.ReadScope), (*API).getProfile),
		op("PATCH", "/user/profile", "updateUserProfile", "Change the caller's profile", account(tenant.AdministerScope), (*API).updateProfile),
		op("POST", "/user/password", "changePassword", "Change the caller's password", account(tenant.AdministerScope), (*API).changePassword),
		op("GET", "/user/sessions", "listSessions", "Where the caller is signed in", account(tenant.AdministerScope), (*API).listSessions),
		op("DELETE", "/user/sessions/{sessionId}", "endSession", "End one of the caller's sessions", account(tenant.AdministerScope), (*API).endSession),
		op("GET", "/user/personal-access-tokens", "listPersonalAccessTokens", "The caller's tokens", authenticated(tenant.AdministerScope), (*API).listTokens),
		op("POST", "/user/personal-access-tokens", "createPersonalAccessToken", "Create a token and show it once", authenticated(tenant.AdministerScope), (*API).createToken).created(),
		op("POST", "/user/personal-access-tokens/delete", "deletePersonalAccessToken", "Delete a token", authenticated(tenant.AdministerScope), (*API).deleteToken),
		op("PATCH", "/user/personal-access-tokens/name", "renamePersonalAccessToken", "Rename a token", authenticated(tenant.AdministerScope), (*API).renameToken),

		op("GET", "/organizations", "listOrganizations", "The caller's organizations", authenticated(tenant.ReadScope), (*API).listOrganizations),
		op("POST", "/organization", "createOrganization", "Create an organization", account(tenant.AdministerScope), (*API).createOrganization).created(),
		op("GET", "/organization/{organizationId}", "getOrganization", "One organization", needs(tenant.OrgRead), (*API).getOrganization),
		op("PUT", "/organization/{organizationId}", "updateOrganization", "Change an organization", needs(tenant.OrgManage), (*API).updateOrganization),
		op("DELETE", "/organization/{organizationId}", "deleteOrganization", "Delete an organization with everything in it", needs(tenant.OrgManage), (*API).deleteOrganization),
		op("GET", "/organization/{organizationId}/billing/profile", "getBillingProfile", "Whom invoices go to", needs(tenant.OrgBilling), (*API).getBilling),
		op("PUT", "/organization/{organizationId}/billing/profile", "updateBillingProfile", "Change whom invoices go to", needs(tenant.OrgBilling), (*API).updateBilling),
		op("GET", "/organization/{organizationId}/members", "listMembers", "Members of an organization", members(tenant.OrgRead), (*API).listMembers),
		op("PUT", "/organization/{organizationId}/member/role", "setMemberRole", "Change a member's role", needs(tenant.OrgManage), (*API).setMemberRole),
		op("DELETE", "/organization/{organizationId}/member", "removeMember", "Remove a member", needs(tenant.OrgMembers), (*API).removeMember),
		op("POST", "/organization/{organizationId}/invite", "invite", "Invite somebody", needs(tenant.OrgMembers), (*API).invite).created(),
		op("GET", "/organization/{organizationId}/invitations", "listInvitations", "Invitations of an organization", needs(tenant.OrgMembers), (*API).listInvitations),
		op("DELETE", "/organization/{organizationId}/invitation/{invitationId}", "cancelInvitation", "Cancel an invitation", needs(tenant.OrgMembers), (*API).cancelInvitation),
		op("POST", "/organization/invite/accept", "acceptInvitation", "Accept an invitation", account(tenant.AdministerScope), (*API).acceptInvitation),
		op("GET", "/auth/sso/connectors", "listConnectors", "Ways to sign in that an e-mail address has", open("asked by the sign-in page"), (*API).listConnectors),

		op("GET", "/organization/{organizationId}/roles", "listRoles", "Built-in and custom roles", members(tenant.OrgRead), (*API).listRoles),
		op("POST", "/organization/{organizationId}/roles", "createRole", "Create a custom role", needs(tenant.OrgManage), (*API).createRole).created(),
		op("PUT", "/organization/{organizationId}/roles/{roleId}", "updateRole", "Change a custom role", needs(tenant.OrgManage), (*API).updateRole),
		op("DELETE", "/organization/{organizationId}/roles/{roleId}", "deleteRole", "Delete a custom role that nobody has", needs(tenant.OrgManage), (*API).deleteRole),
		op("GET", "/organization/{organizationId}/service-accounts", "listServiceAccounts", "Service accounts", needs(tenant.OrgMembers), (*API).listAccounts),
		op("POST", "/organization/{organizationId}/service-accounts", "createServiceAccount", "Create a service account", needs(tenant.OrgMembers), (*API).createAccount).created(),
		op("DELETE", "/organization/{organizationId}/service-accounts/{accountId}", "deleteServiceAccount", "Delete a service account", needs(tenant.OrgMembers), (*API).deleteAccount),
		op("GET", "/organization/{organizationId}/service-accounts/{accountId}/tokens", "listServiceAccountTokens", "Tokens of a service account", needs(tenant.OrgMembers), (*API).listAccountTokens),
		op("POST", "/organization/{organizationId}/service-accounts/{accountId}/tokens", "createServiceAccountToken", "Create a token of a service account", needs(tenant.OrgMembers), (*API).createAccountToken).created(),
		op("DELETE", "/organization/{organizationId}/service-accounts/{accountId}/tokens/{tokenId}", "deleteServiceAccountToken", "Delete a token of a service account", needs(tenant.OrgMembers), (*API).deleteAccountToken),
		op("GET", "/organization/{organizationId}/audit-log", "listAuditLog", "Audit log", needs(tenant.OrgAudit), (*API).listAudit),
		op("GET", "/organization/{organizationId}/audit-log/export", "exportAuditLog", "Audit log with its hashes, one record a line", needs(tenant.OrgAudit), (*API).exportAudit).lists(),

		op("GET", "/organization/{organizationId}/licenses/classifications", "getLicenseClasses", "Categories of licences", members(tenant.OrgRead), (*API).getLicenseClasses),
		op("PUT", "/organization/{organizationId}/licenses/classifications", "setLicenseClasses", "Put licences into categories", needs(tenant.OrgManage), (*API).setLicenseClasses),
		op("DELETE", "/organization/{organizationId}/licenses/classifications", "resetLicenseClasses", "Take back what the organization decided about licences", needs(tenant.OrgManage), (*API).resetLicenseClasses),

		op("GET", "/organization/{organizationId}/teams", "listTeams", "Teams that the caller may see", needs(tenant.OrgRead), (*API).listTeams),
		op("GET", "/organization/{organizationId}/team/{teamId}", "getTeam", "One team", needs(tenant.TeamRead), (*API).getTeam),
		op("POST", "/organization/{organizationId}/team", "createTeam", "Create a team, with the caller as its manager", needs(tenant.OrgTeams), (*API).createTeam).starts(),
		op("PUT", "/team/{teamId}", "updateTeam", "Change a team", needs(tenant.TeamManage), (*API).updateTeam),
		op("DELETE", "/team/{teamId}", "deleteTeam", "Delete a team with its projects", needs(tenant.OrgTeams), (*API).deleteTeam),
		op("GET", "/team/{teamId}/members", "listTeamMembers", "Members of a team", members(tenant.TeamRead), (*API).listTeamMembers),
		op("GET", "/team/{teamId}/member/{userId}", "getTeamMember", "One member of a team", members(tenant.TeamRead), (*API).getTeamMember),
		op("POST", "/team/{teamId}/member", "addTeamMember", "Add a member of the organization to a team", needs(tenant.TeamManage), (*API).addTeamMember),
		op("PUT", "/team/{teamId}/member/role", "setTeamRole", "Change a member's role in a team", needs(tenant.TeamManage), (*API).setTeamRole),
		op("DELETE", "/team/{teamId}/member", "removeTeamMember", "Remove somebody from a team", needs(tenant.TeamManage), (*API).removeTeamMember),

		op("GET", "/organization/{organizationId}/projects", "listOrganizationProjects", "Projects that the caller may read", needs(tenant.OrgRead), (*API).listOrganizationProjects),
		op("GET", "/team/{teamId}/projects", "listTeamProjects", "Projects of a team", needs(tenant.TeamRead), (*API).listTeamProjects),
		op("POST", "/team/{teamId}/project", "createProject", "Create a project", needs(tenant.TeamManage), (*API).createProject).created(),
		op("GET", "/project/{projectId}", "getProject", "One project", needs(tenant.ProjectRead), (*API).getProject),
		op("PATCH", "/project/{projectId}", "updateProject", "Change a project", needs(tenant.ProjectUpdate), (*API).updateProject),
		op("DELETE", "/project/{projectId}", "deleteProject", "Delete a project with its scans and findings", needs(tenant.ProjectUpdate), (*API).deleteProject),
		op("GET", "/project/{projectId}/members", "listProjectMembers", "Who has a role in this project alone", needs(tenant.ProjectRead), (*API).listProjectMembers),
		op("POST", "/project/{projectId}/member", "addProjectMember", "Give somebody a role in this project alone", needs(tenant.TeamManage), (*API).addProjectMember),
		op("PUT", "/project/{projectId}/member/role", "setProjectRole", "Change somebody's role in this project", needs(tenant.TeamManage), (*API).setProjectRole),
		op("DELETE", "/project/{projectId}/member", "removeProjectMember", "Take somebody's role in this project", needs(tenant.TeamManage), (*API).removeProjectMember),

		op("POST", "/project/{projectId}/scan/start", "startScan", "Start a scan", needs(tenant.ProjectScan), (*API).startScan).starts().
			streams("Nothing, JSON, or a form with the archive.", "application/json", "multipart/form-data"),
		op("PUT", "/uploads/{token}", "putUpload", "Upload what a scan is to look at", open("the address is signed and holds once"), (*API).putUpload).
			streams("A zip archive of at most 5 GiB, under any content type.", "application/zip"),
		op("GET", "/dockerhub/search/images", "searchImages", "Search Docker Hub for public images", authenticated(tenant.ReadScope), (*API).searchImages),
		op("POST", "/project/{projectId}/scan/container/start", "startContainerScan", "Start a scan of an image", needs(tenant.ProjectScan), (*API).startContainerScan),
		op("GET", "/project/{projectId}/scans", "listScans", "Scans of a project", needs(tenant.ProjectResults), (*API).listScans),
		op("GET", "/project/{projectId}/scan/{scanId}", "getScan", "State of a scan", needs(tenant.ProjectResults), (*API).getScan),
		op("POST", "/project/{projectId}/scan/{scanId}/cancel", "cancelScan", "Cancel a scan", needs(tenant.ProjectScan), (*API).cancelScan),
		op("GET", "/projects/{projectId}/scans/{scanId}/evaluation-status", "getEvaluationStatus", "State of the policy evaluation of a scan", needs(tenant.ProjectResults), (*API).getEvaluationStatus),
		op("GET", "/projects/{projectId}/scans/{scanId}/violations", "listScanViolations", "Policy violations of a scan", needs(tenant.ProjectResults), (*API).listScanViolations),
		op("GET", "/projects/{projectId}/violations", "listProjectViolations", "Policy violations of a project", needs(tenant.ProjectResults), (*API).listProjectViolations),
	})
}

// resultRoutes are the addresses of what scans found.
func resultRoutes() []route {
	read, state := needs(tenant.ProjectResults), needs(tenant.ProjectState)
	const results = "/project/{projectId}/results"
	routes := []route{
		op("GET", "/project/{projectId}/branches", "listBranches", "Branches that have findings", needs(tenant.ProjectRead), (*API).listBranches),
		op("GET", results+"/overview", "getProjectOverview", "How the project stands", read, (*API).getOverview),
		op("GET", "/organization/{organizationId}/results/overview", "getOrganizationOverview", "How the projects stand that the caller may read", needs(tenant.OrgRead), (*API).getOrgOverview),
		op("GET", results+"/export", "exportResults", "Every finding, one a line or as SARIF", read, (*API).exportResults).lists(sarifType),
		op("GET", "/project/{projectId}/sbom", "getSbom", "Bill of materials", needs(tenant.ProjectReport), (*API).getBill).
			downloads("CycloneDX 1.6 or SPDX 2.3 in JSON.", cycloneType, spdxType),
		op("POST", "/project/{projectId}/vex", "uploadVex", "Take over what was said of vulnerabilities", state, (*API).putStatements).
			streams("A document in OpenVEX, or in CycloneDX with analyses of vulnerabilities; at most 10 MiB.", "application/json"),
		op("GET", "/project/{projectId}/vex", "getVex", "What is said of the project's vulnerabilities", needs(tenant.ProjectReport), (*API).getStatements).
			downloads("OpenVEX 0.2.0.", vexType),
		op("GET", results+"/sca/grouped", "listGroupedSca", "Vulnerable packages by advisory and package", read, (*API).listPackageGroups),
		op("GET", results+"/sca/packages", "listScaPackages", "Packages that were seen", read, (*API).listPackages),
		op("GET", results+"/sca/licenses/summary", "getLicenseSummary", "Licences of packages", read, (*API).getLicenseSummary),
		op("GET", results+"/sca/licenses/{spdxId}/packages", "listLicensePackages", "Packages of a licence", read, (*API).listLicensePackages),
		op("PUT", "/project/{projectId}/sca/packages/{packageId}/license", "setPackageLicense", "Say under which licence a package is", state, (*API).setPackageLicense),
		op("PUT", "/project/{projectId}/sca/packages/{packageId}/license-ignore", "ignorePackageLicense", "Leave a package out of the numbers of licences", state, (*API).ignorePackageLicense),
		op("GET", results+"/container/packages", "listContainerPackages", "Packages in images", read, (*API).listImagePackages),
		op("GET", results+"/container/images", "listContainerImages", "Images that were analysed", read, (*API).listImages),
		op("GET", results+"/container/images/grouped", "listGroupedContainerImages", "Images by repository", read, (*API).listImageGroups),
		op("POST", results+"/sca/autofix", "startScaAutofix", "Which upgrades clear findings of vulnerable packages", state, (*API).startUpgrade).starts(),
		op("GET", results+"/sca/autofix/{jobId}/status", "getScaAutofixStatus", "How far a request for upgrades is", read, (*API).getUpgradeStatus),
		op("GET", results+"/sca/autofix/{jobId}", "getScaAutofix", "What a request for upgrades has come to", read, (*API).getUpgrade),
		op("GET", results+"/top-vulnerabilities", "listTopVulnerabilities", "The most urgent active findings of all analyses", read, (*API).listTop),
		op("GET", results+"/{type}/{vulnerabilityId}/priority-decomposition", "getPriorityDecomposition", "What a priority is made of", read, (*API).getDecomposition),
		op("DELETE", results+"/container/images/{imageId}", "deleteContainerImage", "Delete an image and what it alone holds", needs(tenant.ProjectUpdate), (*API).deleteImage),
		op("GET", results+"/{vulnerabilityId}/similar", "listSimilarResults", "Findings of the same rule", read, (*API).listSimilar),
		op("PATCH", results+"/batch", "updateResults", "Decide about many findings", state, (*API).updateResults),
		op("PATCH", results+"/{vulnerabilityId}", "updateResult", "Decide about a finding", state, (*API).updateResult),
	}
	for _, a := range finding.Analyses {
		name := operationNames[a]
		routes = append(routes,
			op("GET", results+"/"+string(a), "list"+name+"Results", "Findings of the analysis "+string(a), read, listResults(a)),
			op("GET", results+"/"+string(a)+"/{vulnerabilityId}", "get"+name+"Result", "One finding of the analysis "+string(a), read, getResult(a)))
	}
	for _, a := range []finding.Analysis{finding.SAST, finding.IaC, finding.CICD, finding.Secret, finding.DAST, finding.API} {
		routes = append(routes, op("GET", results+"/"+string(a)+"/grouped", "listGrouped"+operationNames[a],
			"Findings of the analysis "+string(a)+" by rule", read, listRuleGroups(a)))
	}
	return routes
}

// operationNames are the names of analyses inside of operation names.
var operationNames = map[finding.Analysis]string{
	finding.SAST: "Sast", finding.SCA: "Sca", finding.IaC: "Iac", finding.Secret: "Secret", finding.CICD: "Cicd",
	finding.Container: "Container", finding.DAST: "Dast", finding.API: "Api",
}

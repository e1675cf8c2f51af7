package api

import (
	"slices"

	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// routes is the table of all operations: method, path, operation ID, summary, permission
// rule and handler.
func (a *API) routes() []route {
	return slices.Concat(a.userRoutes(), a.organizationRoutes(), a.accessRoutes(), a.teamRoutes(), a.projectRoutes(),
		a.scanRoutes(), a.resultRoutes(), a.registryRoutes(), a.targetRoutes(), unbuiltRoutes())
}

// userRoutes lists the operations on the service itself and on the user's own account.
func (a *API) userRoutes() []route {
	return []route{
		op("GET", "/", "getVersion", "Get the service version", open("health probe"), a.getVersion),
		op("GET", "/client-apps", "getClientApps", "List OAuth client IDs", open("needed before a token can be "+
			"requested"),
			a.getClientApps),

		op("GET", "/user/profile", "getUserProfile", "Get the user profile", authenticated(tenant.ReadScope),
			a.getProfile).
			describe("Includes all roles of the user in organizations, teams and projects."),
		op("PATCH", "/user/profile", "updateUserProfile", "Update the user profile", account(tenant.AdministerScope),
			a.updateProfile),
		op("POST", "/user/password", "changePassword", "Change the password", account(tenant.AdministerScope),
			a.changePassword).
			describe("Signs out all sessions, applications and devices."),
		op("GET", "/user/sessions", "listSessions", "List active sessions", account(tenant.AdministerScope),
			a.listSessions),
		op("DELETE", "/user/sessions/{sessionId}", "endSession", "Revoke a session", account(tenant.AdministerScope),
			a.endSession),
		op("GET", "/user/personal-access-tokens", "listPersonalAccessTokens", "List personal access tokens",
			authenticated(tenant.AdministerScope), a.listTokens),
		op("POST", "/user/personal-access-tokens", "createPersonalAccessToken", "Create a personal access token",
			authenticated(tenant.AdministerScope), a.createToken).
			describe("The token value is only in this response.").created(),
		op("POST", "/user/personal-access-tokens/delete", "deletePersonalAccessToken", "Delete a personal access token",
			authenticated(tenant.AdministerScope), a.deleteToken),
		op("PATCH", "/user/personal-access-tokens/name", "renamePersonalAccessToken", "Rename a personal access token",
			authenticated(tenant.AdministerScope), a.renameToken),
	}
}

// organizationRoutes lists the operations on organizations, their members and invitations.
func (a *API) organizationRoutes() []route {
	return []route{
		op("GET", "/organizations", "listOrganizations", "List organizations", authenticated(tenant.ReadScope),
			a.listOrganizations),
		op("POST", "/organization", "createOrganization", "Create an organization", account(tenant.AdministerScope),
			a.createOrganization).created(),
		op("GET", "/organization/{organizationId}", "getOrganization", "Get an organization", needs(tenant.OrgRead),
			a.getOrganization),
		op("PUT", "/organization/{organizationId}", "updateOrganization", "Update an organization",
			needs(tenant.OrgManage), a.updateOrganization),
		op("DELETE", "/organization/{organizationId}", "deleteOrganization", "Delete an organization",
			needs(tenant.OrgManage), a.deleteOrganization).
			describe("Deletes its teams, projects, scans and findings, too."),
		op("GET", "/organization/{organizationId}/billing/profile", "getBillingProfile", "Get the billing profile",
			needs(tenant.OrgBilling), a.getBilling),
		op("PUT", "/organization/{organizationId}/billing/profile", "updateBillingProfile",
			"Update the billing profile", needs(tenant.OrgBilling), a.updateBilling),
		op("GET", "/organization/{organizationId}/members", "listMembers", "List organization members",
			members(tenant.OrgRead), a.listMembers),
		op("PUT", "/organization/{organizationId}/member/role", "setMemberRole", "Set the role of an "+
			"organization member", needs(tenant.OrgManage), a.setMemberRole),
		op("DELETE", "/organization/{organizationId}/member", "removeMember", "Remove an organization member",
			needs(tenant.OrgMembers), a.removeMember),
		op("POST", "/organization/{organizationId}/invite", "inviteMember", "Invite a member to an organization",
			needs(tenant.OrgMembers), a.invite).created(),
		op("GET", "/organization/{organizationId}/invitations", "listInvitations", "List invitations",
			needs(tenant.OrgMembers), a.listInvitations),
		op("DELETE", "/organization/{organizationId}/invitation/{invitationId}", "cancelInvitation",
			"Cancel an invitation", needs(tenant.OrgMembers), a.cancelInvitation),
		op("POST", "/organization/invite/accept", "acceptInvitation", "Accept an invitation",
			account(tenant.AdministerScope), a.acceptInvitation),
		op("GET", "/auth/sso/connectors", "listSsoConnectors", "List SSO connectors", open("called by the sign-in "+
			"page before authentication"),
			a.listConnectors),
	}
}

// accessRoutes lists the operations on roles, service accounts, the audit log and licence categories.
func (a *API) accessRoutes() []route {
	return []route{
		op("GET", "/organization/{organizationId}/roles", "listRoles", "List roles", members(tenant.OrgRead),
			a.listRoles),
		op("POST", "/organization/{organizationId}/roles", "createRole", "Create a custom role",
			needs(tenant.OrgManage), a.createRole).created(),
		op("PUT", "/organization/{organizationId}/roles/{roleId}", "updateRole", "Update a custom role",
			needs(tenant.OrgManage), a.updateRole),
		op("DELETE", "/organization/{organizationId}/roles/{roleId}", "deleteRole", "Delete an unassigned custom role",
			needs(tenant.OrgManage), a.deleteRole).
			describe("Fails if the role is still assigned."),
		op("GET", "/organization/{organizationId}/service-accounts", "listServiceAccounts", "List service accounts",
			needs(tenant.OrgMembers), a.listAccounts),
		op("POST", "/organization/{organizationId}/service-accounts", "createServiceAccount",
			"Create a service account", needs(tenant.OrgMembers), a.createAccount).created(),
		op("DELETE", "/organization/{organizationId}/service-accounts/{accountId}", "deleteServiceAccount",
			"Delete a service account", needs(tenant.OrgMembers), a.deleteAccount),
		op("GET", "/organization/{organizationId}/service-accounts/{accountId}/tokens", "listServiceAccountTokens",
			"List the tokens of a service account", needs(tenant.OrgMembers), a.listAccountTokens),
		op("POST", "/organization/{organizationId}/service-accounts/{accountId}/tokens", "createServiceAccountToken",
			"Create a token of a service account", needs(tenant.OrgMembers), a.createAccountToken).created(),
		op("DELETE", "/organization/{organizationId}/service-accounts/{accountId}/tokens/{tokenId}",
			"deleteServiceAccountToken", "Delete a token of a service account", needs(tenant.OrgMembers),
			a.deleteAccountToken),
		op("GET", "/organization/{organizationId}/audit-log", "listAuditLog", "List audit log records",
			needs(tenant.OrgAudit), a.listAudit),
		op("GET", "/organization/{organizationId}/audit-log/export", "exportAuditLog", "Export the audit log with "+
			"its hash chain", needs(tenant.OrgAudit), a.exportAudit).
			describe("One record per line, with the hashes that make the log tamper-evident.").lists(),

		op("GET", "/organization/{organizationId}/licenses/classifications", "getLicenseClassifications",
			"List licence categories", members(tenant.OrgRead), a.getLicenseClasses),
		op("PUT", "/organization/{organizationId}/licenses/classifications", "setLicenseClassifications",
			"Update licence categories", needs(tenant.OrgManage), a.setLicenseClasses),
		op("DELETE", "/organization/{organizationId}/licenses/classifications", "resetLicenseClassifications",
			"Reset licence categories", needs(tenant.OrgManage), a.resetLicenseClasses),
	}
}

// teamRoutes lists the operations on teams and their members.
func (a *API) teamRoutes() []route {
	return []route{
		op("GET", "/organization/{organizationId}/teams", "listTeams", "List teams", needs(tenant.OrgRead),
			a.listTeams).
			describe("Returns only teams that the caller can read."),
		op("GET", "/organization/{organizationId}/team/{teamId}", "getTeam", "Get a team", needs(tenant.TeamRead),
			a.getTeam),
		op("POST", "/organization/{organizationId}/team", "createTeam", "Create a team", needs(tenant.OrgTeams),
			a.createTeam).
			describe("The caller becomes the manager of the team.").starts(),
		op("PUT", "/team/{teamId}", "updateTeam", "Update a team", needs(tenant.TeamManage), a.updateTeam),
		op("DELETE", "/team/{teamId}", "deleteTeam", "Delete a team", needs(tenant.OrgTeams), a.deleteTeam).
			describe("Fails with 409 if the team has projects, unless deleteProjects is true."),
		op("GET", "/team/{teamId}/members", "listTeamMembers", "List team members", members(tenant.TeamRead),
			a.listTeamMembers),
		op("GET", "/team/{teamId}/member/{userId}", "getTeamMember", "Get a team member", members(tenant.TeamRead),
			a.getTeamMember),
		op("POST", "/team/{teamId}/member", "addTeamMember", "Add a team member", needs(tenant.TeamManage),
			a.addTeamMember).
			describe("The user must be a member of the organization."),
		op("PUT", "/team/{teamId}/member/role", "setTeamRole", "Set the role of a team member",
			needs(tenant.TeamManage), a.setTeamRole),
		op("DELETE", "/team/{teamId}/member", "removeTeamMember", "Remove a team member", needs(tenant.TeamManage),
			a.removeTeamMember),
	}
}

// projectRoutes lists the operations on projects and their members.
func (a *API) projectRoutes() []route {
	return []route{
		op("GET", "/organization/{organizationId}/projects", "listOrganizationProjects", "List the projects of an "+
			"organization", needs(tenant.OrgRead), a.listOrganizationProjects).
			describe("Returns only projects that the caller can read."),
		op("GET", "/team/{teamId}/projects", "listTeamProjects", "List the projects of a team", needs(tenant.TeamRead),
			a.listTeamProjects),
		op("POST", "/team/{teamId}/project", "createProject", "Create a project", needs(tenant.TeamManage),
			a.createProject).created(),
		op("GET", "/project/{projectId}", "getProject", "Get a project", needs(tenant.ProjectRead), a.getProject),
		op("PATCH", "/project/{projectId}", "updateProject", "Update a project", needs(tenant.ProjectUpdate),
			a.updateProject),
		op("DELETE", "/project/{projectId}", "deleteProject", "Delete a project", needs(tenant.ProjectUpdate),
			a.deleteProject).
			describe("Deletes its scans and findings, too."),
		op("GET", "/project/{projectId}/members", "listProjectMembers", "List project members",
			needs(tenant.ProjectRead), a.listProjectMembers).
			describe("Returns users with a role in the project itself, without those of its team."),
		op("POST", "/project/{projectId}/member", "addProjectMember", "Add a project member", needs(tenant.TeamManage),
			a.addProjectMember).
			describe("Assigns a role in this project only."),
		op("PUT", "/project/{projectId}/member/role", "setProjectRole", "Set the role of a project member",
			needs(tenant.TeamManage), a.setProjectRole),
		op("DELETE", "/project/{projectId}/member", "removeProjectMember", "Remove a project member",
			needs(tenant.TeamManage), a.removeProjectMember),
	}
}

// scanRoutes lists the operations on scans, uploads and policy evaluations.
func (a *API) scanRoutes() []route {
	return []route{
		op("POST", "/project/{projectId}/scan/start", "startScan", "Start a scan", needs(tenant.ProjectScan),
			a.startScan).starts().
			streams("Empty, JSON, or a multipart form with the source archive.", "application/json",
				"multipart/form-data"),
		op("PUT", "/uploads/{token}", "uploadArchive", "Upload the source archive", open("the URL is signed and valid "+
			"for one upload"), a.putUpload).
			streams("Zip archive of at most 5 GiB, with any content type.", "application/zip"),
		op("GET", "/dockerhub/search/images", "searchImages", "Search public images on "+
			"Docker Hub", authenticated(tenant.ReadScope), a.searchImages),
		op("POST", "/project/{projectId}/scan/container/start", "startContainerScan", "Start a container image scan",
			needs(tenant.ProjectScan), a.startContainerScan),
		op("GET", "/project/{projectId}/scans", "listScans", "List scans", needs(tenant.ProjectResults),
			a.listScans),
		op("GET", "/project/{projectId}/scan/{scanId}", "getScan", "Get a scan", needs(tenant.ProjectResults),
			a.getScan),
		op("POST", "/project/{projectId}/scan/{scanId}/cancel", "cancelScan", "Cancel a scan",
			needs(tenant.ProjectScan), a.cancelScan),
		op("GET", "/projects/{projectId}/scans/{scanId}/evaluation-status", "getEvaluationStatus", "Get the policy "+
			"evaluation status of a scan", needs(tenant.ProjectResults), a.getEvaluationStatus),
		op("GET", "/projects/{projectId}/scans/{scanId}/violations", "listScanViolations", "List the policy "+
			"violations of a scan", needs(tenant.ProjectResults), a.listScanViolations),
		op("GET", "/projects/{projectId}/violations", "listProjectViolations", "List the policy violations of a "+
			"project", needs(tenant.ProjectResults), a.listProjectViolations),
	}
}

// resultRoutes lists the operations on findings, packages, images, SBOM and VEX.
func (a *API) resultRoutes() []route {
	read, state := needs(tenant.ProjectResults), needs(tenant.ProjectState)
	const results = "/project/{projectId}/results"
	routes := []route{
		op("GET", "/project/{projectId}/branches", "listBranches", "List branches with findings",
			needs(tenant.ProjectRead), a.listBranches),
		op("GET", results+"/overview", "getProjectOverview", "Get the project overview", read, a.getOverview),
		op("GET", "/organization/{organizationId}/results/overview", "getOrganizationOverview",
			"Get the organization overview", needs(tenant.OrgRead), a.getOrgOverview).
			describe("Counts only projects that the caller can read."),
		op("GET", results+"/export", "exportResults", "Export findings as NDJSON or SARIF", read,
			a.exportResults).lists(sarifType),
		op("GET", "/project/{projectId}/sbom", "getSbom", "Export the SBOM", needs(tenant.ProjectReport),
			a.getBill).
			downloads("CycloneDX 1.6 or SPDX 2.3 in JSON.", cycloneType, spdxType),
		op("POST", "/project/{projectId}/vex", "importVex", "Import a VEX document", state, a.putStatements).
			describe("Sets the status of the matching findings. VEX statements are trusted; signatures are not "+
				"verified.").
			streams("OpenVEX or CycloneDX VEX document, at most 10 MiB.", "application/json"),
		op("GET", "/project/{projectId}/vex", "exportVex", "Export VEX", needs(tenant.ProjectReport),
			a.getStatements).
			downloads("OpenVEX 0.2.0.", vexType),
		op("GET", results+"/sca/grouped", "listGroupedSca", "List SCA findings by advisory and package", read,
			a.listPackageGroups),
		op("GET", results+"/sca/packages", "listScaPackages", "List dependencies", read, a.listPackages),
		op("GET", results+"/sca/licenses/summary", "getLicenseSummary", "Get the licence summary", read,
			a.getLicenseSummary),
		op("GET", results+"/sca/licenses/{spdxId}/packages", "listLicensePackages", "List the packages of a "+
			"licence", read, a.listLicensePackages),
		op("PUT", "/project/{projectId}/sca/packages/{packageId}/license", "setPackageLicense",
			"Set the licence of a package", state, a.setPackageLicense),
		op("PUT", "/project/{projectId}/sca/packages/{packageId}/license-ignore", "ignorePackageLicense",
			"Ignore the licence of a package", state, a.ignorePackageLicense),
		op("GET", results+"/container/packages", "listContainerPackages", "List packages of container images", read,
			a.listImagePackages),
		op("GET", results+"/container/images", "listContainerImages", "List container images", read, a.listImages),
		op("GET", results+"/container/images/grouped", "listGroupedContainerImages", "List container images by "+
			"repository", read, a.listImageGroups),
		op("POST", results+"/sca/autofix", "startScaAutofix", "Start an SCA autofix", state,
			a.startUpgrade).
			describe("Computes the upgrades that fix findings of vulnerable packages.").starts(),
		op("GET", results+"/sca/autofix/{jobId}/status", "getScaAutofixStatus", "Get the status of an autofix job",
			read, a.getUpgradeStatus),
		op("GET", results+"/sca/autofix/{jobId}", "getScaAutofix", "Get the result of an autofix job", read,
			a.getUpgrade),
		op("GET", results+"/top-vulnerabilities", "listTopVulnerabilities", "List top vulnerabilities", read,
			a.listTop).
			describe("Returns the active findings with the highest priority across all analyses."),
		op("GET", results+"/{type}/{vulnerabilityId}/priority-decomposition", "getPriorityDecomposition",
			"Explain the priority of a finding", read, a.getDecomposition).
			describe("Returns the contribution of each factor to the priority."),
		op("DELETE", results+"/container/images/{imageId}", "deleteContainerImage", "Delete a container image",
			needs(tenant.ProjectUpdate), a.deleteImage).
			describe("Deletes its findings, too, unless another image contains them."),
		op("GET", results+"/{vulnerabilityId}/similar", "listSimilarResults", "List similar findings", read,
			a.listSimilar),
		op("PATCH", results+"/batch", "updateResults", "Update several findings", state, a.updateResults),
		op("PATCH", results+"/{vulnerabilityId}", "updateResult", "Update a finding", state, a.updateResult),
	}
	for _, kind := range finding.Analyses {
		name := operationNames[kind]
		routes = append(routes,
			op("GET", results+"/"+string(kind), "list"+name+"Results", "List findings ("+string(kind)+")", read,
				a.listResults(kind)),
			op("GET", results+"/"+string(kind)+"/{vulnerabilityId}", "get"+name+"Result", "Get a finding ("+string(kind)+")",
				read, a.getResult(kind)))
	}
	for _, kind := range []finding.Analysis{finding.SAST, finding.IaC, finding.CICD, finding.Secret, finding.DAST,
		finding.API} {
		routes = append(routes, op("GET", results+"/"+string(kind)+"/grouped", "listGrouped"+operationNames[kind],
			"List findings by rule ("+string(kind)+")", read, a.listRuleGroups(kind)))
	}
	return routes
}

// operationNames are the names of analyses inside of operation names.
var operationNames = map[finding.Analysis]string{
	finding.SAST: "Sast", finding.SCA: "Sca", finding.IaC: "Iac", finding.Secret: "Secret", finding.CICD: "Cicd",
	finding.Container: "Container", finding.DAST: "Dast", finding.API: "Api",
}

package api

import (
	"slices"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/findings"
	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// allRoutes is the table of all operations: method, path, operation ID, summary, permission
// rule and handler.
func (a *API) allRoutes() []endpoint.Route {
	return slices.Concat(a.userRoutes(), a.organizationRoutes(), a.accessRoutes(), a.teamRoutes(), a.projectRoutes(),
		a.scanRoutes(), a.resultRoutes(), a.registryRoutes(), a.targetRoutes(), unbuiltRoutes())
}

// userRoutes lists the operations on the service itself and on the user's own account.
func (a *API) userRoutes() []endpoint.Route {
	return []endpoint.Route{
		endpoint.New("GET", "/", "getVersion", "Get the service version", endpoint.Open("health probe"), a.getVersion),
		endpoint.New("GET", "/client-apps", "getClientApps", "List OAuth client IDs", endpoint.Open("needed before a "+
			"token can be "+
			"requested"),
			a.getClientApps),

		endpoint.New("GET", "/user/profile", "getUserProfile", "Get the user profile",
			endpoint.Authenticated(tenant.ReadScope),
			a.accounts.GetProfile).
			Describe("Includes all roles of the user in organizations, teams and projects."),
		endpoint.New("PATCH", "/user/profile", "updateUserProfile", "Update the user profile",
			endpoint.Account(tenant.AdministerScope),
			a.accounts.UpdateProfile),
		endpoint.New("POST", "/user/password", "changePassword", "Change the password",
			endpoint.Account(tenant.AdministerScope),
			a.accounts.ChangePassword).
			Describe("Signs out all sessions, applications and devices."),
		endpoint.New("GET", "/user/sessions", "listSessions", "List active sessions",
			endpoint.Account(tenant.AdministerScope),
			a.accounts.ListSessions),
		endpoint.New("DELETE", "/user/sessions/{sessionId}", "endSession", "Revoke a session",
			endpoint.Account(tenant.AdministerScope),
			a.accounts.EndSession),
		endpoint.New("GET", "/user/personal-access-tokens", "listPersonalAccessTokens", "List personal access tokens",
			endpoint.Authenticated(tenant.AdministerScope), a.accounts.ListTokens),
		endpoint.New("POST", "/user/personal-access-tokens", "createPersonalAccessToken", "Create a personal "+
			"access token",
			endpoint.Authenticated(tenant.AdministerScope), a.accounts.CreateToken).
			Describe("The token value is only in this response.").Created(),
		endpoint.New("POST", "/user/personal-access-tokens/delete", "deletePersonalAccessToken", "Delete a personal "+
			"access token",
			endpoint.Authenticated(tenant.AdministerScope), a.accounts.DeleteToken),
		endpoint.New("PATCH", "/user/personal-access-tokens/name", "renamePersonalAccessToken", "Rename a personal "+
			"access token",
			endpoint.Authenticated(tenant.AdministerScope), a.accounts.RenameToken),
	}
}

// organizationRoutes lists the operations on organizations, their members and invitations.
func (a *API) organizationRoutes() []endpoint.Route {
	return []endpoint.Route{
		endpoint.New("GET", "/organizations", "listOrganizations", "List organizations",
			endpoint.Authenticated(tenant.ReadScope),
			a.organizations.ListOrganizations),
		endpoint.New("POST", "/organization", "createOrganization", "Create an organization",
			endpoint.Account(tenant.AdministerScope),
			a.organizations.CreateOrganization).Created(),
		endpoint.New("GET", "/organization/{organizationId}", "getOrganization", "Get an organization",
			endpoint.Needs(tenant.OrgRead),
			a.organizations.GetOrganization),
		endpoint.New("PUT", "/organization/{organizationId}", "updateOrganization", "Update an organization",
			endpoint.Needs(tenant.OrgManage), a.organizations.UpdateOrganization),
		endpoint.New("DELETE", "/organization/{organizationId}", "deleteOrganization", "Delete an organization",
			endpoint.Needs(tenant.OrgManage), a.organizations.DeleteOrganization).
			Describe("Deletes its teams, projects, scans and findings, too."),
		endpoint.New("GET", "/organization/{organizationId}/billing/profile", "getBillingProfile",
			"Get the billing profile",
			endpoint.Needs(tenant.OrgBilling), a.organizations.GetBilling),
		endpoint.New("PUT", "/organization/{organizationId}/billing/profile", "updateBillingProfile",
			"Update the billing profile", endpoint.Needs(tenant.OrgBilling), a.organizations.UpdateBilling),
		endpoint.New("GET", "/organization/{organizationId}/members", "listMembers", "List organization members",
			endpoint.Members(tenant.OrgRead), a.organizations.ListMembers),
		endpoint.New("PUT", "/organization/{organizationId}/member/role", "setMemberRole", "Set the role of an "+
			"organization member", endpoint.Needs(tenant.OrgManage), a.organizations.SetMemberRole),
		endpoint.New("DELETE", "/organization/{organizationId}/member", "removeMember", "Remove an organization member",
			endpoint.Needs(tenant.OrgMembers), a.organizations.RemoveMember),
		endpoint.New("POST", "/organization/{organizationId}/invite", "inviteMember", "Invite a member to an "+
			"organization",
			endpoint.Needs(tenant.OrgMembers), a.organizations.Invite).Created(),
		endpoint.New("GET", "/organization/{organizationId}/invitations", "listInvitations", "List invitations",
			endpoint.Needs(tenant.OrgMembers), a.organizations.ListInvitations),
		endpoint.New("DELETE", "/organization/{organizationId}/invitation/{invitationId}", "cancelInvitation",
			"Cancel an invitation", endpoint.Needs(tenant.OrgMembers), a.organizations.CancelInvitation),
		endpoint.New("POST", "/organization/invite/accept", "acceptInvitation", "Accept an invitation",
			endpoint.Account(tenant.AdministerScope), a.organizations.AcceptInvitation),
		endpoint.New("GET", "/auth/sso/connectors", "listSsoConnectors", "List SSO connectors",
			endpoint.Open("called by the sign-in "+
				"page before authentication"),
			a.organizations.ListConnectors),
	}
}

// accessRoutes lists the operations on roles, service accounts, the audit log and licence categories.
func (a *API) accessRoutes() []endpoint.Route {
	return []endpoint.Route{
		endpoint.New("GET", "/organization/{organizationId}/roles", "listRoles", "List roles",
			endpoint.Members(tenant.OrgRead),
			a.organizations.ListRoles),
		endpoint.New("POST", "/organization/{organizationId}/roles", "createRole", "Create a custom role",
			endpoint.Needs(tenant.OrgManage), a.organizations.CreateRole).Created(),
		endpoint.New("PUT", "/organization/{organizationId}/roles/{roleId}", "updateRole", "Update a custom role",
			endpoint.Needs(tenant.OrgManage), a.organizations.UpdateRole),
		endpoint.New("DELETE", "/organization/{organizationId}/roles/{roleId}", "deleteRole", "Delete an unassigned "+
			"custom role",
			endpoint.Needs(tenant.OrgManage), a.organizations.DeleteRole).
			Describe("Fails if the role is still assigned."),
		endpoint.New("GET", "/organization/{organizationId}/service-accounts", "listServiceAccounts",
			"List service accounts",
			endpoint.Needs(tenant.OrgMembers), a.accounts.ListAccounts),
		endpoint.New("POST", "/organization/{organizationId}/service-accounts", "createServiceAccount",
			"Create a service account", endpoint.Needs(tenant.OrgMembers), a.accounts.CreateAccount).Created(),
		endpoint.New("DELETE", "/organization/{organizationId}/service-accounts/{accountId}", "deleteServiceAccount",
			"Delete a service account", endpoint.Needs(tenant.OrgMembers), a.accounts.DeleteAccount),
		endpoint.New("GET", "/organization/{organizationId}/service-accounts/{accountId}/tokens",
			"listServiceAccountTokens",
			"List the tokens of a service account", endpoint.Needs(tenant.OrgMembers), a.accounts.ListAccountTokens),
		endpoint.New("POST", "/organization/{organizationId}/service-accounts/{accountId}/tokens",
			"createServiceAccountToken",
			"Create a token of a service account", endpoint.Needs(tenant.OrgMembers),
			a.accounts.CreateAccountToken).Created(),
		endpoint.New("DELETE", "/organization/{organizationId}/service-accounts/{accountId}/tokens/{tokenId}",
			"deleteServiceAccountToken", "Delete a token of a service account", endpoint.Needs(tenant.OrgMembers),
			a.accounts.DeleteAccountToken),
		endpoint.New("GET", "/organization/{organizationId}/audit-log", "listAuditLog", "List audit log records",
			endpoint.Needs(tenant.OrgAudit), a.organizations.ListAudit),
		endpoint.New("GET", "/organization/{organizationId}/audit-log/export", "exportAuditLog",
			"Export the audit log with "+
				"its hash chain", endpoint.Needs(tenant.OrgAudit), a.organizations.ExportAudit).
			Describe("One record per line, with the hashes that make the log tamper-evident.").Lists(),

		endpoint.New("GET", "/organization/{organizationId}/licenses/classifications", "getLicenseClassifications",
			"List licence categories", endpoint.Members(tenant.OrgRead), a.findings.GetLicenseClasses),
		endpoint.New("PUT", "/organization/{organizationId}/licenses/classifications", "setLicenseClassifications",
			"Update licence categories", endpoint.Needs(tenant.OrgManage), a.findings.SetLicenseClasses),
		endpoint.New("DELETE", "/organization/{organizationId}/licenses/classifications", "resetLicenseClassifications",
			"Reset licence categories", endpoint.Needs(tenant.OrgManage), a.findings.ResetLicenseClasses),
	}
}

// teamRoutes lists the operations on teams and their members.
func (a *API) teamRoutes() []endpoint.Route {
	return []endpoint.Route{
		endpoint.New("GET", "/organization/{organizationId}/teams", "listTeams", "List teams",
			endpoint.Needs(tenant.OrgRead),
			a.organizations.ListTeams).
			Describe("Returns only teams that the caller can read."),
		endpoint.New("GET", "/organization/{organizationId}/team/{teamId}", "getTeam", "Get a team",
			endpoint.Needs(tenant.TeamRead),
			a.organizations.GetTeam),
		endpoint.New("POST", "/organization/{organizationId}/team", "createTeam", "Create a team",
			endpoint.Needs(tenant.OrgTeams),
			a.organizations.CreateTeam).
			Describe("The caller becomes the manager of the team.").Starts(),
		endpoint.New("PUT", "/team/{teamId}", "updateTeam", "Update a team", endpoint.Needs(tenant.TeamManage),
			a.organizations.UpdateTeam),
		endpoint.New("DELETE", "/team/{teamId}", "deleteTeam", "Delete a team", endpoint.Needs(tenant.OrgTeams),
			a.organizations.DeleteTeam).
			Describe("Fails with 409 if the team has projects, unless deleteProjects is true."),
		endpoint.New("GET", "/team/{teamId}/members", "listTeamMembers", "List team members",
			endpoint.Members(tenant.TeamRead),
			a.organizations.ListTeamMembers),
		endpoint.New("GET", "/team/{teamId}/member/{userId}", "getTeamMember", "Get a team member",
			endpoint.Members(tenant.TeamRead),
			a.organizations.GetTeamMember),
		endpoint.New("POST", "/team/{teamId}/member", "addTeamMember", "Add a team member",
			endpoint.Needs(tenant.TeamManage),
			a.organizations.AddTeamMember).
			Describe("The user must be a member of the organization."),
		endpoint.New("PUT", "/team/{teamId}/member/role", "setTeamRole", "Set the role of a team member",
			endpoint.Needs(tenant.TeamManage), a.organizations.SetTeamRole),
		endpoint.New("DELETE", "/team/{teamId}/member", "removeTeamMember", "Remove a team member",
			endpoint.Needs(tenant.TeamManage),
			a.organizations.RemoveTeamMember),
	}
}

// projectRoutes lists the operations on projects and their members.
func (a *API) projectRoutes() []endpoint.Route {
	return []endpoint.Route{
		endpoint.New("GET", "/organization/{organizationId}/projects", "listOrganizationProjects",
			"List the projects of an "+
				"organization", endpoint.Needs(tenant.OrgRead), a.projects.ListOrganizationProjects).
			Describe("Returns only projects that the caller can read."),
		endpoint.New("GET", "/team/{teamId}/projects", "listTeamProjects", "List the projects of a team",
			endpoint.Needs(tenant.TeamRead),
			a.projects.ListTeamProjects),
		endpoint.New("POST", "/team/{teamId}/project", "createProject", "Create a project",
			endpoint.Needs(tenant.TeamManage),
			a.projects.CreateProject).Created(),
		endpoint.New("GET", "/project/{projectId}", "getProject", "Get a project", endpoint.Needs(tenant.ProjectRead),
			a.projects.GetProject),
		endpoint.New("PATCH", "/project/{projectId}", "updateProject", "Update a project",
			endpoint.Needs(tenant.ProjectUpdate),
			a.projects.UpdateProject),
		endpoint.New("DELETE", "/project/{projectId}", "deleteProject", "Delete a project",
			endpoint.Needs(tenant.ProjectUpdate),
			a.projects.DeleteProject).
			Describe("Deletes its scans and findings, too."),
		endpoint.New("GET", "/project/{projectId}/members", "listProjectMembers", "List project members",
			endpoint.Needs(tenant.ProjectRead), a.organizations.ListProjectMembers).
			Describe("Returns users with a role in the project itself, without those of its team."),
		endpoint.New("POST", "/project/{projectId}/member", "addProjectMember", "Add a project member",
			endpoint.Needs(tenant.TeamManage),
			a.organizations.AddProjectMember).
			Describe("Assigns a role in this project only."),
		endpoint.New("PUT", "/project/{projectId}/member/role", "setProjectRole", "Set the role of a project member",
			endpoint.Needs(tenant.TeamManage), a.organizations.SetProjectRole),
		endpoint.New("DELETE", "/project/{projectId}/member", "removeProjectMember", "Remove a project member",
			endpoint.Needs(tenant.TeamManage), a.organizations.RemoveProjectMember),
	}
}

// scanRoutes lists the operations on scans, uploads and policy evaluations.
func (a *API) scanRoutes() []endpoint.Route {
	return []endpoint.Route{
		endpoint.New("POST", "/project/{projectId}/scan/start", "startScan", "Start a scan",
			endpoint.Needs(tenant.ProjectScan),
			a.scans.StartScan).Starts().
			Streams("Empty, JSON, or a multipart form with the source archive.", "application/json",
				"multipart/form-data"),
		endpoint.New("PUT", "/uploads/{token}", "uploadArchive", "Upload the source archive",
			endpoint.Open("the URL is signed and valid "+
				"for one upload"), a.scans.PutUpload).
			Streams("Zip archive of at most 5 GiB, with any content type.", "application/zip"),
		endpoint.New("GET", "/dockerhub/search/images", "searchImages", "Search public images on "+
			"Docker Hub", endpoint.Authenticated(tenant.ReadScope), a.registries.SearchImages),
		endpoint.New("POST", "/project/{projectId}/scan/container/start", "startContainerScan",
			"Start a container image scan",
			endpoint.Needs(tenant.ProjectScan), a.registries.StartContainerScan),
		endpoint.New("GET", "/project/{projectId}/scans", "listScans", "List scans",
			endpoint.Needs(tenant.ProjectResults),
			a.scans.ListScans),
		endpoint.New("GET", "/project/{projectId}/scan/{scanId}", "getScan", "Get a scan",
			endpoint.Needs(tenant.ProjectResults),
			a.scans.GetScan),
		endpoint.New("POST", "/project/{projectId}/scan/{scanId}/cancel", "cancelScan", "Cancel a scan",
			endpoint.Needs(tenant.ProjectScan), a.scans.CancelScan),
		endpoint.New("GET", "/projects/{projectId}/scans/{scanId}/evaluation-status", "getEvaluationStatus",
			"Get the policy "+
				"evaluation status of a scan", endpoint.Needs(tenant.ProjectResults), a.scans.GetEvaluationStatus),
		endpoint.New("GET", "/projects/{projectId}/scans/{scanId}/violations", "listScanViolations", "List the policy "+
			"violations of a scan", endpoint.Needs(tenant.ProjectResults), a.scans.ListScanViolations),
		endpoint.New("GET", "/projects/{projectId}/violations", "listProjectViolations", "List the policy "+
			"violations of a "+
			"project", endpoint.Needs(tenant.ProjectResults), a.scans.ListProjectViolations),
	}
}

// resultRoutes lists the operations on findings, packages, images, SBOM and VEX.
func (a *API) resultRoutes() []endpoint.Route {
	read, state := endpoint.Needs(tenant.ProjectResults), endpoint.Needs(tenant.ProjectState)
	const results = "/project/{projectId}/results"
	routes := []endpoint.Route{
		endpoint.New("GET", "/project/{projectId}/branches", "listBranches", "List branches with findings",
			endpoint.Needs(tenant.ProjectRead), a.findings.ListBranches),
		endpoint.New("GET", results+"/overview", "getProjectOverview", "Get the project overview", read,
			a.findings.GetOverview),
		endpoint.New("GET", "/organization/{organizationId}/results/overview", "getOrganizationOverview",
			"Get the organization overview", endpoint.Needs(tenant.OrgRead), a.findings.GetOrgOverview).
			Describe("Counts only projects that the caller can read."),
		endpoint.New("GET", results+"/export", "exportResults", "Export findings as NDJSON or SARIF", read,
			a.findings.ExportResults).Lists(findings.SarifType),
		endpoint.New("GET", "/project/{projectId}/sbom", "getSbom", "Export the SBOM",
			endpoint.Needs(tenant.ProjectReport),
			a.findings.GetSBOM).
			Downloads("CycloneDX 1.6 or SPDX 2.3 in JSON.", findings.CycloneType, findings.SpdxType),
		endpoint.New("POST", "/project/{projectId}/vex", "importVex", "Import a VEX document", state,
			a.findings.PutStatements).
			Describe("Sets the status of the matching findings. VEX statements are trusted; signatures are not "+
				"verified.").
			Streams("OpenVEX or CycloneDX VEX document, at most 10 MiB.", "application/json"),
		endpoint.New("GET", "/project/{projectId}/vex", "exportVex", "Export VEX", endpoint.Needs(tenant.ProjectReport),
			a.findings.GetStatements).
			Downloads("OpenVEX 0.2.0.", findings.VexType),
		endpoint.New("GET", results+"/sca/grouped", "listGroupedSca", "List SCA findings by advisory and package", read,
			a.findings.ListPackageGroups),
		endpoint.New("GET", results+"/sca/packages", "listScaPackages", "List dependencies", read,
			a.findings.ListPackages),
		endpoint.New("GET", results+"/sca/licenses/summary", "getLicenseSummary", "Get the licence summary", read,
			a.findings.GetLicenseSummary),
		endpoint.New("GET", results+"/sca/licenses/{spdxId}/packages", "listLicensePackages", "List the packages of a "+
			"licence", read, a.findings.ListLicensePackages),
		endpoint.New("PUT", "/project/{projectId}/sca/packages/{packageId}/license", "setPackageLicense",
			"Set the licence of a package", state, a.findings.SetPackageLicense),
		endpoint.New("PUT", "/project/{projectId}/sca/packages/{packageId}/license-ignore", "ignorePackageLicense",
			"Ignore the licence of a package", state, a.findings.IgnorePackageLicense),
		endpoint.New("GET", results+"/container/packages", "listContainerPackages", "List packages of container images",
			read,
			a.findings.ListImagePackages),
		endpoint.New("GET", results+"/container/images", "listContainerImages", "List container images", read,
			a.findings.ListImages),
		endpoint.New("GET", results+"/container/images/grouped", "listGroupedContainerImages",
			"List container images by "+
				"repository", read, a.findings.ListImageGroups),
		endpoint.New("POST", results+"/sca/autofix", "startScaAutofix", "Start an SCA autofix", state,
			a.findings.StartUpgrade).
			Describe("Computes the upgrades that fix findings of vulnerable packages.").Starts(),
		endpoint.New("GET", results+"/sca/autofix/{jobId}/status", "getScaAutofixStatus", "Get the status of an "+
			"autofix job",
			read, a.findings.GetUpgradeStatus),
		endpoint.New("GET", results+"/sca/autofix/{jobId}", "getScaAutofix", "Get the result of an autofix job", read,
			a.findings.GetUpgrade),
		endpoint.New("GET", results+"/top-vulnerabilities", "listTopVulnerabilities", "List top vulnerabilities", read,
			a.findings.ListTop).
			Describe("Returns the active findings with the highest priority across all analyses."),
		endpoint.New("GET", results+"/{type}/{vulnerabilityId}/priority-decomposition", "getPriorityDecomposition",
			"Explain the priority of a finding", read, a.findings.GetDecomposition).
			Describe("Returns the contribution of each factor to the priority."),
		endpoint.New("DELETE", results+"/container/images/{imageId}", "deleteContainerImage",
			"Delete a container image",
			endpoint.Needs(tenant.ProjectUpdate), a.findings.DeleteImage).
			Describe("Deletes its findings, too, unless another image contains them."),
		endpoint.New("GET", results+"/{vulnerabilityId}/similar", "listSimilarResults", "List similar findings", read,
			a.findings.ListSimilar),
		endpoint.New("PATCH", results+"/batch", "updateResults", "Update several findings", state,
			a.findings.UpdateResults),
		endpoint.New("PATCH", results+"/{vulnerabilityId}", "updateResult", "Update a finding", state,
			a.findings.UpdateResult),
	}
	for _, kind := range finding.Analyses {
		name := operationNames[kind]
		routes = append(routes,
			endpoint.New("GET", results+"/"+string(kind), "list"+name+"Results", "List findings ("+string(kind)+")",
				read,
				a.findings.ListResults(kind)),
			endpoint.New("GET", results+"/"+string(kind)+"/{vulnerabilityId}", "get"+name+"Result", "Get a finding ("+
				string(kind)+")",
				read, a.findings.GetResult(kind)))
	}
	for _, kind := range []finding.Analysis{finding.SAST, finding.IaC, finding.CICD, finding.Secret, finding.DAST,
		finding.API} {
		routes = append(routes, endpoint.New("GET", results+"/"+string(kind)+"/grouped", "listGrouped"+
			operationNames[kind],
			"List findings by rule ("+string(kind)+")", read, a.findings.ListRuleGroups(kind)))
	}
	return routes
}

// operationNames are the names of analyses inside of operation names.
var operationNames = map[finding.Analysis]string{
	finding.SAST: "Sast", finding.SCA: "Sca", finding.IaC: "Iac", finding.Secret: "Secret", finding.CICD: "Cicd",
	finding.Container: "Container", finding.DAST: "Dast", finding.API: "Api",
}

package api

import "merlon/internal/tenant"

// routes is the table of every address: what it is called, what it does, who may
// call it, and which function answers. Handlers stand in one file per resource.
func (a *API) routes() []route {
	return []route{
		op("GET", "/", "getVersion", "Version of the service", open("health probe"), (*API).getVersion),
		op("GET", "/client-apps", "getClientApps", "Identifiers of the client applications", open("needed before any token can be had"), (*API).getClientApps),

		op("GET", "/user/profile", "getUserProfile", "The caller, with every role the caller has", authenticated(), (*API).getProfile),
		op("PATCH", "/user/profile", "updateUserProfile", "Change the caller's profile", authenticated(), (*API).updateProfile),
		op("POST", "/user/password", "changePassword", "Change the caller's password", authenticated(), (*API).changePassword),
		op("GET", "/user/sessions", "listSessions", "Where the caller is signed in", authenticated(), (*API).listSessions),
		op("DELETE", "/user/sessions/{sessionId}", "endSession", "End one of the caller's sessions", authenticated(), (*API).endSession),
		op("GET", "/user/personal-access-tokens", "listPersonalAccessTokens", "The caller's tokens", authenticated(), (*API).listTokens),
		op("POST", "/user/personal-access-tokens", "createPersonalAccessToken", "Create a token and show it once", authenticated(), (*API).createToken).created(),
		op("POST", "/user/personal-access-tokens/delete", "deletePersonalAccessToken", "Delete a token", authenticated(), (*API).deleteToken),
		op("PATCH", "/user/personal-access-tokens/name", "renamePersonalAccessToken", "Rename a token", authenticated(), (*API).renameToken),

		op("GET", "/organizations", "listOrganizations", "The caller's organizations", authenticated(), (*API).listOrganizations),
		op("POST", "/organization", "createOrganization", "Create an organization", authenticated(), (*API).createOrganization).created(),
		op("GET", "/organization/{organizationId}", "getOrganization", "One organization", needs(tenant.OrgRead), (*API).getOrganization),
		op("PUT", "/organization/{organizationId}", "updateOrganization", "Change an organization", needs(tenant.OrgManage), (*API).updateOrganization),
		op("DELETE", "/organization/{organizationId}", "deleteOrganization", "Delete an organization with everything in it", needs(tenant.OrgManage), (*API).deleteOrganization),
		op("GET", "/organization/{organizationId}/billing/profile", "getBillingProfile", "Whom invoices go to", needs(tenant.OrgBilling), (*API).getBilling),
		op("PUT", "/organization/{organizationId}/billing/profile", "updateBillingProfile", "Change whom invoices go to", needs(tenant.OrgBilling), (*API).updateBilling),

		op("POST", "/project/{projectId}/scan/start", "startScan", "Start a scan", needs(tenant.ProjectScan), (*API).startScan).starts().
			streams("Nothing, JSON, or a form with the archive.", "application/json", "multipart/form-data"),
		op("PUT", "/uploads/{token}", "putUpload", "Upload what a scan is to look at", open("the address is signed and holds once"), (*API).putUpload).
			streams("A zip archive of at most 5 GiB, under any content type.", "application/zip"),
		op("POST", "/project/{projectId}/scan/container/start", "startContainerScan", "Start a scan of an image", needs(tenant.ProjectScan), (*API).startContainerScan),
		op("GET", "/project/{projectId}/scans", "listScans", "Scans of a project", needs(tenant.ProjectResults), (*API).listScans),
		op("GET", "/project/{projectId}/scan/{scanId}", "getScan", "State of a scan", needs(tenant.ProjectResults), (*API).getScan),
		op("POST", "/project/{projectId}/scan/{scanId}/cancel", "cancelScan", "Cancel a scan", needs(tenant.ProjectScan), (*API).cancelScan),
		op("GET", "/projects/{projectId}/scans/{scanId}/evaluation-status", "getEvaluationStatus", "State of the policy evaluation of a scan", needs(tenant.ProjectResults), (*API).getEvaluationStatus),
		op("GET", "/projects/{projectId}/scans/{scanId}/violations", "listScanViolations", "Policy violations of a scan", needs(tenant.ProjectResults), (*API).listScanViolations),
		op("GET", "/projects/{projectId}/violations", "listProjectViolations", "Policy violations of a project", needs(tenant.ProjectResults), (*API).listProjectViolations),
	}
}

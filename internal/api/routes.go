package api

import "merlon/internal/tenant"

// routes is the table of every address: what it is called, what it does, who may
// call it, and which function answers. Handlers stand in one file per resource.
func (a *API) routes() []route {
	return []route{
		op("GET", "/", "getVersion", "Version of the service", open("health probe"), (*API).getVersion),
		op("GET", "/client-apps", "getClientApps", "Identifiers of the client applications", open("needed before any token can be had"), (*API).getClientApps),

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

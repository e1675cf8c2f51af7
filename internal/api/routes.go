package api

import "merlon/internal/tenant"

// routes is the table of every address: what it is called, what it does, who may
// call it, and which function answers. Handlers stand in one file per resource.
func (a *API) routes() []route {
	return []route{
		op("GET", "/", "getVersion", "Version of the service", open("health probe"), (*API).getVersion),

		op("GET", "/organizations", "listOrganizations", "The caller's organizations", authenticated(), (*API).listOrganizations),
		op("POST", "/organization", "createOrganization", "Create an organization", authenticated(), (*API).createOrganization).created(),
		op("GET", "/organization/{organizationId}", "getOrganization", "One organization", needs(tenant.OrgRead), (*API).getOrganization),
		op("PUT", "/organization/{organizationId}", "updateOrganization", "Change an organization", needs(tenant.OrgManage), (*API).updateOrganization),
		op("DELETE", "/organization/{organizationId}", "deleteOrganization", "Delete an organization with everything in it", needs(tenant.OrgManage), (*API).deleteOrganization),
		op("GET", "/organization/{organizationId}/billing/profile", "getBillingProfile", "Whom invoices go to", needs(tenant.OrgBilling), (*API).getBilling),
		op("PUT", "/organization/{organizationId}/billing/profile", "updateBillingProfile", "Change whom invoices go to", needs(tenant.OrgBilling), (*API).updateBilling),
	}
}

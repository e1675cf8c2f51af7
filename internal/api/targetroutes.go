package api

import (
	"merlon/internal/api/endpoint"
	"merlon/internal/livetarget"
	"merlon/internal/tenant"
)

// targetRoutes are the addresses of running applications.
func (a *API) targetRoutes() []endpoint.Route {
	const one = "/project/{projectId}/target/{targetId}"
	read, change := endpoint.Needs(tenant.ProjectRead), endpoint.Needs(tenant.ProjectUpdate)
	return []endpoint.Route{
		endpoint.New("GET", "/project/{projectId}/targets", "listTargets", "List targets", read,
			a.targets.ListTargets),
		endpoint.New("POST", "/project/{projectId}/target", "createTarget", "Create a target", change,
			a.targets.CreateTarget).Created().Large(maxTarget),
		endpoint.New("GET", one, "getTarget", "Get a target", read, a.targets.GetTarget),
		endpoint.New("PATCH", one, "updateTarget", "Update a target", change, a.targets.UpdateTarget).Large(maxTarget),
		endpoint.New("GET", one+"/ownership", "getTargetOwnership", "Get the ownership status of a target",
			read, a.targets.GetOwnership),
		endpoint.New("POST", one+"/ownership/verify", "verifyTargetOwnership", "Verify the ownership of "+
			"a target", change,
			a.targets.VerifyOwnership),
		endpoint.New("POST", one+"/scan/start", "startTargetScan", "Start a target scan",
			endpoint.Needs(tenant.ProjectScan), a.scans.StartTargetScan).Starts(),
		endpoint.New("POST", "/project/{projectId}/scan/{scanId}/pause", "pauseScan", "Pause a target scan",
			endpoint.Needs(tenant.ProjectScan), a.scans.PauseScan),
		endpoint.New("POST", "/project/{projectId}/scan/{scanId}/resume", "resumeScan", "Resume a target scan",
			endpoint.Needs(tenant.ProjectScan), a.scans.ResumeScan),
		endpoint.New("GET", "/project/{projectId}/scan/{scanId}/operations", "listScanOperations",
			"List the operations of a "+
				"target scan", endpoint.Needs(tenant.ProjectResults), a.scans.ListOperations),
		endpoint.New("DELETE", one, "deleteTarget", "Delete a target", change, a.targets.DeleteTarget),
	}
}

// maxTarget bounds a body that holds a target, in bytes.
const maxTarget = 2*livetarget.MaxTexts + 1<<20

package api

import (
	"merlon/internal/api/endpoint"
	"merlon/internal/tenant"
)

// This file holds the operations of the contract that are not built yet. They
// have their true permission rules and respond with 501 with a clear text, so that no
// client takes them for a wrong address.

// unbuiltRoutes lists them.
func unbuiltRoutes() []endpoint.Route {
	routes := unbuiltReports()
	routes = append(routes, unbuiltFixes()...)
	routes = append(routes, unbuiltPolicies()...)
	return append(routes, unbuiltHosts()...)
}

// unbuiltReports lists the operations on reports.
func unbuiltReports() []endpoint.Route {
	const p = "/project/{projectId}"
	report := endpoint.Needs(tenant.ProjectReport)
	return []endpoint.Route{
		endpoint.Unbuilt("GET", p+"/owasp-report/{format}", "getOwaspReport", "Get the OWASP report of a "+
			"project", report),
		endpoint.Unbuilt("GET", p+"/cwe-report/{format}", "getCweReport", "Get the CWE report of a project", report),
		endpoint.Unbuilt("GET", "/organization/{organizationId}/report/{reportType}/{format}", "getOrganizationReport",
			"Get the report of an organization", endpoint.Needs(tenant.OrgRead|tenant.ProjectReport)),
		endpoint.Unbuilt("GET", "/team/{teamId}/report/{reportType}/{format}", "getTeamReport",
			"Get the report of a team",
			endpoint.Needs(tenant.TeamRead|tenant.ProjectReport)),
		endpoint.Unbuilt("POST", "/organization/{organizationId}/project/report/batch/{reportType}/{format}",
			"createBatchReport", "Create a report of several projects",
			endpoint.Needs(tenant.OrgRead|tenant.ProjectReport)),
	}
}

// unbuiltFixes lists the operations on source code fixes and the assistant.
func unbuiltFixes() []endpoint.Route {
	const p, chat = "/project/{projectId}", "/project/{projectId}/security-champion"
	read, state := endpoint.Needs(tenant.ProjectRead), endpoint.Needs(tenant.ProjectState)
	return []endpoint.Route{
		endpoint.Unbuilt("POST", p+"/autofix", "startAutofix", "Start an autofix of a finding", state),
		endpoint.Unbuilt("POST", p+"/autofix/batch", "startBatchAutofix", "Start an autofix of several "+
			"findings", state),
		endpoint.Unbuilt("POST", chat+"/conversation", "startConversation", "Start a conversation with the "+
			"assistant", read),
		endpoint.Unbuilt("GET", chat+"/{conversationId}/stream", "streamConversation", "Stream a conversation", read),
		endpoint.Unbuilt("POST", chat+"/conversations/list", "listConversations", "List conversations", read),
		endpoint.Unbuilt("POST", chat+"/{conversationId}/messages", "listMessages", "List the messages of a "+
			"conversation", read),
		endpoint.Unbuilt("POST", chat+"/{conversationId}/delete", "deleteConversation", "Delete a conversation", read),
		endpoint.Unbuilt("POST", chat+"/{conversationId}/stop", "stopConversation", "Stop a conversation", read),
		endpoint.Unbuilt("POST", p+"/ai/conversation/start", "startConversationV1", "Start a conversation with the "+
			"assistant "+
			"(version 1)", read),
		endpoint.Unbuilt("POST", p+"/ai/conversation/{conversationId}/message", "sendMessageV1",
			"Send a message to the "+
				"assistant (version 1)", read),
		endpoint.Unbuilt("GET", p+"/ai/conversation/{conversationId}/stream", "streamConversationV1",
			"Stream a conversation "+
				"(version 1)", read),
		endpoint.Unbuilt("POST", p+"/vulnerability/{vulnerabilityId}/ai/autofix", "startAutofixV1",
			"Start an autofix of a "+
				"finding (version 1)", state),
	}
}

// unbuiltPolicies lists the operations on policies and compliance.
func unbuiltPolicies() []endpoint.Route {
	const o, p = "/organization/{organizationId}/policies", "/projects/{projectId}"
	read, manage, results := endpoint.Needs(tenant.OrgRead), endpoint.Needs(tenant.OrgManage),
		endpoint.Needs(tenant.ProjectResults)
	return []endpoint.Route{
		endpoint.Unbuilt("POST", o, "createPolicy", "Create a policy", manage),
		endpoint.Unbuilt("GET", o, "listPolicies", "List policies", read),
		endpoint.Unbuilt("GET", o+"/{policyId}", "getPolicy", "Get a policy", read),
		endpoint.Unbuilt("PUT", o+"/{policyId}", "updatePolicy", "Update a policy", manage),
		endpoint.Unbuilt("DELETE", o+"/{policyId}", "deletePolicy", "Delete a policy", manage),
		endpoint.Unbuilt("PUT", o+"/{policyId}/toggle", "togglePolicy", "Enable or disable a policy", manage),
		endpoint.Unbuilt("POST", o+"/validate", "validatePolicy", "Validate a policy", manage),
		endpoint.Unbuilt("GET", o+"/{policyId}/yaml", "exportPolicy", "Export a policy as YAML", read),
		endpoint.Unbuilt("GET", p+"/effective-policies", "getEffectivePolicies", "Get the effective policies of a "+
			"project", endpoint.Needs(tenant.ProjectRead)),
		endpoint.Unbuilt("GET", p+"/scans/{scanId}/compliance", "getCompliance", "Get the compliance result "+
			"of a scan", results),
		endpoint.Unbuilt("GET", p+"/compliance-history", "getComplianceHistory", "Get the compliance history of a "+
			"project", results),
		endpoint.Unbuilt("GET", p+"/violation-stats", "getViolationStats", "Get the violation statistics of a "+
			"project", results),
		endpoint.Unbuilt("GET", "/organization/{organizationId}/compliance-overview", "getComplianceOverview",
			"Get the compliance overview of an organization",
			read),
	}
}

// unbuiltHosts lists the operations on code hosts.
func unbuiltHosts() []endpoint.Route {
	const o, lab = "/organization/{organizationId}", "/integrations/gitlab"
	read, manage, scan := endpoint.Needs(tenant.OrgRead), endpoint.Needs(tenant.OrgIntegrations),
		endpoint.Needs(tenant.ProjectScan)
	// A link changes both the organization's integration and the project.
	link := endpoint.Needs(tenant.OrgIntegrations | tenant.ProjectUpdate)
	return []endpoint.Route{
		endpoint.Unbuilt("POST", o+"/project/{projectId}/github/link", "linkGithub", "Link a project to a GitHub "+
			"repository", link),
		endpoint.Unbuilt("DELETE", o+"/project/{projectId}/github/unlink", "unlinkGithub", "Unlink a project from "+
			"its GitHub "+
			"repository", link),
		endpoint.Unbuilt("POST", o+"/github/install/callback", "completeGithubInstallation", "Complete the "+
			"installation of "+
			"the GitHub app", manage),
		endpoint.Unbuilt("GET", o+"/github/repositories/{repositoryId}/branches", "listGithubBranches",
			"List the branches of "+
				"a GitHub repository", read),
		endpoint.Unbuilt("POST", "/project/{projectId}/github/start-scan", "startGithubScan",
			"Start a scan of a GitHub "+
				"repository", scan),
		endpoint.Unbuilt("POST", lab+"/install/{organizationId}", "startGitlabInstallation", "Start the GitLab "+
			"installation",
			manage),
		endpoint.Unbuilt("POST", lab+o+"/install/callback", "completeGitlabInstallation", "Complete the GitLab "+
			"installation",
			manage),
		endpoint.Unbuilt("POST", lab+o+"/project/{projectId}/link", "linkGitlab", "Link a project to a GitLab "+
			"repository", link),
		endpoint.Unbuilt("DELETE", lab+o+"/project/{projectId}/unlink", "unlinkGitlab", "Unlink a project from its "+
			"GitLab "+
			"repository", link),
		endpoint.Unbuilt("POST", lab+"/project/{projectId}/start-scan", "startGitlabScan", "Start a scan of a GitLab "+
			"repository", scan),
		endpoint.Unbuilt("GET", lab+o+"/repositories/{repositoryId}/branches", "listGitlabBranches",
			"List the branches of a "+
				"GitLab repository", read),
	}
}

package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// This file holds the operations of the contract that are not built yet. They
// have their true permission rules and answer 501 with a clear text, so that no
// client takes them for a wrong address.

// unbuilt returns a route that answers 501. what is the subject of the text.
func unbuilt(method, path, id, what string, r rule) route {
	return route{method: method, path: path, id: id, summary: what + " (not implemented)", rule: r,
		status: http.StatusOK,
		register: func(a *API, r route) {
			o := r.operation(a)
			o.Errors = append(o.Errors, http.StatusNotImplemented)
			for rest := path; ; {
				_, after, ok := strings.Cut(rest, "{")
				if !ok {
					break
				}
				var name string
				name, rest, _ = strings.Cut(after, "}")
				o.Parameters = append(o.Parameters, &huma.Param{Name: name, In: "path", Required: true,
					Schema: &huma.Schema{Type: huma.TypeString}})
			}
			huma.Register(a.huma, o, func(ctx context.Context, _ *struct{}) (*struct{}, error) {
				return nil, a.problem(ctx, &errs.Error{Kind: errs.NotImplemented, Code: "not_built",
					Message: what + ": not implemented in this version of the service"})
			})
		}}
}

// unbuiltRoutes lists them.
func unbuiltRoutes() []route {
	routes := unbuiltReports()
	routes = append(routes, unbuiltFixes()...)
	routes = append(routes, unbuiltPolicies()...)
	return append(routes, unbuiltHosts()...)
}

func unbuiltReports() []route {
	const p = "/project/{projectId}"
	report := needs(tenant.ProjectReport)
	return []route{
		unbuilt("GET", p+"/owasp-report/{format}", "getOwaspReport", "Get the OWASP report of a project", report),
		unbuilt("GET", p+"/cwe-report/{format}", "getCweReport", "Get the CWE report of a project", report),
		unbuilt("GET", "/organization/{organizationId}/report/{reportType}/{format}", "getOrganizationReport",
			"Get the report of an organization", needs(tenant.OrgRead|tenant.ProjectReport)),
		unbuilt("GET", "/team/{teamId}/report/{reportType}/{format}", "getTeamReport", "Get the report of a team",
			needs(tenant.TeamRead|tenant.ProjectReport)),
		unbuilt("POST", "/organization/{organizationId}/project/report/batch/{reportType}/{format}",
			"createBatchReport", "Create a report of several projects", needs(tenant.OrgRead|tenant.ProjectReport)),
	}
}

func unbuiltFixes() []route {
	const p, chat = "/project/{projectId}", "/project/{projectId}/security-champion"
	read, state := needs(tenant.ProjectRead), needs(tenant.ProjectState)
	return []route{
		unbuilt("POST", p+"/autofix", "startAutofix", "Start an autofix of a finding", state),
		unbuilt("POST", p+"/autofix/batch", "startBatchAutofix", "Start an autofix of several findings", state),
		unbuilt("POST", chat+"/conversation", "startConversation", "Start a conversation with the assistant", read),
		unbuilt("GET", chat+"/{conversationId}/stream", "streamConversation", "Stream a conversation", read),
		unbuilt("POST", chat+"/conversations/list", "listConversations", "List conversations", read),
		unbuilt("POST", chat+"/{conversationId}/messages", "listMessages", "List the messages of a conversation", read),
		unbuilt("POST", chat+"/{conversationId}/delete", "deleteConversation", "Delete a conversation", read),
		unbuilt("POST", chat+"/{conversationId}/stop", "stopConversation", "Stop a conversation", read),
		unbuilt("POST", p+"/ai/conversation/start", "startConversationV1", "Start a conversation with the assistant "+
			"(version 1)", read),
		unbuilt("POST", p+"/ai/conversation/{conversationId}/message", "sendMessageV1", "Send a message to the "+
			"assistant (version 1)", read),
		unbuilt("GET", p+"/ai/conversation/{conversationId}/stream", "streamConversationV1", "Stream a conversation "+
			"(version 1)", read),
		unbuilt("POST", p+"/vulnerability/{vulnerabilityId}/ai/autofix", "startAutofixV1", "Start an autofix of a "+
			"finding (version 1)", state),
	}
}

func unbuiltPolicies() []route {
	const o, p = "/organization/{organizationId}/policies", "/projects/{projectId}"
	read, manage, results := needs(tenant.OrgRead), needs(tenant.OrgManage), needs(tenant.ProjectResults)
	return []route{
		unbuilt("POST", o, "createPolicy", "Create a policy", manage),
		unbuilt("GET", o, "listPolicies", "List policies", read),
		unbuilt("GET", o+"/{policyId}", "getPolicy", "Get a policy", read),
		unbuilt("PUT", o+"/{policyId}", "updatePolicy", "Update a policy", manage),
		unbuilt("DELETE", o+"/{policyId}", "deletePolicy", "Delete a policy", manage),
		unbuilt("PUT", o+"/{policyId}/toggle", "togglePolicy", "Enable or disable a policy", manage),
		unbuilt("POST", o+"/validate", "validatePolicy", "Validate a policy", manage),
		unbuilt("GET", o+"/{policyId}/yaml", "exportPolicy", "Export a policy as YAML", read),
		unbuilt("GET", p+"/effective-policies", "getEffectivePolicies", "Get the effective policies of a "+
			"project", needs(tenant.ProjectRead)),
		unbuilt("GET", p+"/scans/{scanId}/compliance", "getCompliance", "Get the compliance result of a scan", results),
		unbuilt("GET", p+"/compliance-history", "getComplianceHistory", "Get the compliance history of a "+
			"project", results),
		unbuilt("GET", p+"/violation-stats", "getViolationStats", "Get the violation statistics of a project", results),
		unbuilt("GET", "/organization/{organizationId}/compliance-overview", "getComplianceOverview",
			"Get the compliance overview of an organization",
			read),
	}
}

func unbuiltHosts() []route {
	const o, lab = "/organization/{organizationId}", "/integrations/gitlab"
	read, manage, scan := needs(tenant.OrgRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	link := needs(tenant.OrgIntegrations | tenant.ProjectUpdate)
	return []route{
		unbuilt("POST", o+"/project/{projectId}/github/link", "linkGithub", "Link a project to a GitHub "+
			"repository", link),
		unbuilt("DELETE", o+"/project/{projectId}/github/unlink", "unlinkGithub", "Unlink a project from its GitHub "+
			"repository", link),
		unbuilt("POST", o+"/github/install/callback", "completeGithubInstallation", "Complete the installation of "+
			"the GitHub app", manage),
		unbuilt("GET", o+"/github/repositories/{repositoryId}/branches", "listGithubBranches", "List the branches of "+
			"a GitHub repository", read),
		unbuilt("POST", "/project/{projectId}/github/start-scan", "startGithubScan", "Start a scan of a GitHub "+
			"repository", scan),
		unbuilt("POST", lab+"/install/{organizationId}", "startGitlabInstallation", "Start the GitLab installation",
			manage),
		unbuilt("POST", lab+o+"/install/callback", "completeGitlabInstallation", "Complete the GitLab installation",
			manage),
		unbuilt("POST", lab+o+"/project/{projectId}/link", "linkGitlab", "Link a project to a GitLab repository", link),
		unbuilt("DELETE", lab+o+"/project/{projectId}/unlink", "unlinkGitlab", "Unlink a project from its GitLab "+
			"repository", link),
		unbuilt("POST", lab+"/project/{projectId}/start-scan", "startGitlabScan", "Start a scan of a GitLab "+
			"repository", scan),
		unbuilt("GET", lab+o+"/repositories/{repositoryId}/branches", "listGitlabBranches", "List the branches of a "+
			"GitLab repository", read),
	}
}

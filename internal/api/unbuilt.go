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
	return route{method: method, path: path, id: id, summary: what + " (not built yet)", rule: r, status: http.StatusOK,
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
					Message: what + ": this version of the service does not offer this operation yet"})
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
		unbuilt("GET", p+"/owasp-report/{format}", "getOwaspReport", "Report by OWASP category", report),
		unbuilt("GET", p+"/cwe-report/{format}", "getCweReport", "Report by CWE", report),
		unbuilt("GET", "/organization/{organizationId}/report/{reportType}/{format}", "getOrganizationReport",
			"Report of an organization", needs(tenant.OrgRead|tenant.ProjectReport)),
		unbuilt("GET", "/team/{teamId}/report/{reportType}/{format}", "getTeamReport", "Report of a team",
			needs(tenant.TeamRead|tenant.ProjectReport)),
		unbuilt("POST", "/organization/{organizationId}/project/report/batch/{reportType}/{format}",
			"createBatchReport", "Report of several projects", needs(tenant.OrgRead|tenant.ProjectReport)),
	}
}

func unbuiltFixes() []route {
	const p, chat = "/project/{projectId}", "/project/{projectId}/security-champion"
	read, state := needs(tenant.ProjectRead), needs(tenant.ProjectState)
	return []route{
		unbuilt("POST", p+"/autofix", "startAutofix", "Fix of a finding", state),
		unbuilt("POST", p+"/autofix/batch", "startBatchAutofix", "Fix of several findings", state),
		unbuilt("POST", chat+"/conversation", "startConversation", "Assistant", read),
		unbuilt("GET", chat+"/{conversationId}/stream", "streamConversation", "Assistant", read),
		unbuilt("POST", chat+"/conversations/list", "listConversations", "Assistant", read),
		unbuilt("POST", chat+"/{conversationId}/messages", "listMessages", "Assistant", read),
		unbuilt("POST", chat+"/{conversationId}/delete", "deleteConversation", "Assistant", read),
		unbuilt("POST", chat+"/{conversationId}/stop", "stopConversation", "Assistant", read),
		unbuilt("POST", p+"/ai/conversation/start", "startOldConversation", "Assistant", read),
		unbuilt("POST", p+"/ai/conversation/{conversationId}/message", "sendOldMessage", "Assistant", read),
		unbuilt("GET", p+"/ai/conversation/{conversationId}/stream", "streamOldConversation", "Assistant", read),
		unbuilt("POST", p+"/vulnerability/{vulnerabilityId}/ai/autofix", "startOldAutofix", "Fix of a finding", state),
	}
}

func unbuiltPolicies() []route {
	const o, p = "/organization/{organizationId}/policies", "/projects/{projectId}"
	read, manage, results := needs(tenant.OrgRead), needs(tenant.OrgManage), needs(tenant.ProjectResults)
	return []route{
		unbuilt("POST", o, "createPolicy", "Policies", manage),
		unbuilt("GET", o, "listPolicies", "Policies", read),
		unbuilt("GET", o+"/{policyId}", "getPolicy", "Policies", read),
		unbuilt("PUT", o+"/{policyId}", "updatePolicy", "Policies", manage),
		unbuilt("DELETE", o+"/{policyId}", "deletePolicy", "Policies", manage),
		unbuilt("PUT", o+"/{policyId}/toggle", "togglePolicy", "Policies", manage),
		unbuilt("POST", o+"/validate", "validatePolicy", "Policies", manage),
		unbuilt("GET", o+"/{policyId}/yaml", "exportPolicy", "Policies", read),
		unbuilt("GET", p+"/effective-policies", "getEffectivePolicies", "Policies", needs(tenant.ProjectRead)),
		unbuilt("GET", p+"/scans/{scanId}/compliance", "getCompliance", "Compliance", results),
		unbuilt("GET", p+"/compliance-history", "getComplianceHistory", "Compliance", results),
		unbuilt("GET", p+"/violation-stats", "getViolationStats", "Compliance", results),
		unbuilt("GET", "/organization/{organizationId}/compliance-overview", "getComplianceOverview", "Compliance",
			read),
	}
}

func unbuiltHosts() []route {
	const o, lab = "/organization/{organizationId}", "/integrations/gitlab"
	read, manage, scan := needs(tenant.OrgRead), needs(tenant.OrgIntegrations), needs(tenant.ProjectScan)
	link := needs(tenant.OrgIntegrations | tenant.ProjectUpdate)
	return []route{
		unbuilt("POST", o+"/project/{projectId}/github/link", "linkGithub", "GitHub", link),
		unbuilt("DELETE", o+"/project/{projectId}/github/unlink", "unlinkGithub", "GitHub", link),
		unbuilt("POST", o+"/github/install/callback", "installGithub", "GitHub", manage),
		unbuilt("GET", o+"/github/repositories/{repositoryId}/branches", "listGithubBranches", "GitHub", read),
		unbuilt("POST", "/project/{projectId}/github/start-scan", "startGithubScan", "GitHub", scan),
		unbuilt("POST", lab+"/install/{organizationId}", "beginGitlab", "GitLab", manage),
		unbuilt("POST", lab+o+"/install/callback", "installGitlab", "GitLab", manage),
		unbuilt("POST", lab+o+"/project/{projectId}/link", "linkGitlab", "GitLab", link),
		unbuilt("DELETE", lab+o+"/project/{projectId}/unlink", "unlinkGitlab", "GitLab", link),
		unbuilt("POST", lab+"/project/{projectId}/start-scan", "startGitlabScan", "GitLab", scan),
		unbuilt("GET", lab+o+"/repositories/{repositoryId}/branches", "listGitlabBranches", "GitLab", read),
	}
}

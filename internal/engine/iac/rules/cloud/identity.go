package cloud

import (
	"slices"
	"strings"

	"merlon/internal/engine/iac/terraform"
)

// This file holds the rules about policies, roles and who may take them.

// identityPolicies calls the function with every policy of identities that is
// known.
func (g *graph) identityPolicies(f func(r *terraform.Resource, argument string, list []statement)) {
	for kind, argument := range policyHolders {
		for _, r := range g.types[kind] {
			// A policy that is partly unknown may be narrower than it seems.
			if list, sure := parseStatements(r.Body.Value(argument)); sure {
				f(r, argument, list)
			}
		}
	}
}

// policyEverything reports identity policies that grant Action * on Resource * (CWE-269): the
// identity is an administrator of the account.
func policyEverything(g *graph, report func(Match)) {
	g.identityPolicies(func(r *terraform.Resource, argument string, list []statement) {
		if slices.ContainsFunc(list, statement.isFullAdmin) {
			m := matchAt(r, argument)
			m.Message = r.Address + ": The policy allows every action on every resource."
			report(m)
		}
	})
}

// policyEscalation reports policies with an action that leads to more rights, such as iam:PassRole
// or iam:CreatePolicyVersion, on every resource. Full wildcards are left to policyEverything, so
// that one policy has one finding.
func policyEscalation(g *graph, report func(Match)) {
	g.identityPolicies(func(r *terraform.Resource, argument string, list []statement) {
		for _, s := range list {
			if a := s.escalatingAction(); a != "" && a != "*" && a != "*:*" {
				m := matchAt(r, argument)
				m.Message = r.Address + ": With " + a + " on every resource, the holder of the policy can take " +
					"any right."
				report(m)
				return
			}
		}
	})
}

// policyWildcard reports all actions of one service on every resource, such as s3:* on *. A
// condition may narrow the statement, so those with one are skipped.
func policyWildcard(g *graph, report func(Match)) {
	g.identityPolicies(func(r *terraform.Resource, argument string, list []statement) {
		for _, s := range list {
			if !s.allows() || len(s.Condition) > 0 || !slices.Contains(textsOf(s.Resource), "*") {
				continue
			}
			for _, a := range textsOf(s.Action) {
				if strings.HasSuffix(a, ":*") && a != "*:*" {
					m := matchAt(r, argument)
					m.Message = r.Address + ": The policy allows " + a + " on every resource."
					report(m)
					return
				}
			}
		}
	})
}

// policyPublic reports policies of queues, topics, keys and other resources that admit every
// principal. A condition (aws:SourceArn, aws:PrincipalOrgID) usually restricts the caller, so
// statements with one are skipped.
func policyPublic(g *graph, report func(Match)) {
	for _, p := range resourcePolicies {
		for _, r := range g.types[p.kind] {
			if p.kind == "aws_vpc_endpoint" {
				continue // who reaches the endpoint is already inside of the network
			}
			list, _ := parseStatements(r.Body.Value(p.argument))
			if slices.ContainsFunc(list, func(s statement) bool {
				return s.allows() && s.isPublic() && len(s.Condition) == 0
			}) {
				m := matchAt(r, p.argument)
				m.Message = r.Address + ": The policy lets everybody use the " + p.what + "."
				report(m)
			}
		}
	}
}

// eachTrust calls the function with the statements by which roles can be assumed.
func (g *graph) eachTrust(f func(r *terraform.Resource, s statement) string, report func(Match)) {
	for _, r := range g.types["aws_iam_role"] {
		list, _ := parseStatements(r.Body.Value("assume_role_policy"))
		for _, s := range list {
			if !s.allows() {
				continue
			}
			if message := f(r, s); message != "" {
				m := matchAt(r, "assume_role_policy")
				m.Message = r.Address + ": " + message
				report(m)
				break
			}
		}
	}
}

// roleTrust reports roles whose trust policy names every principal: any AWS account can call
// sts:AssumeRole on them. Without a condition (sts:ExternalId, aws:PrincipalOrgID) nothing else
// restricts the caller.
func roleTrust(g *graph, report func(Match)) {
	g.eachTrust(func(_ *terraform.Resource, s statement) string {
		if s.isPublic() && len(s.Condition) == 0 {
			return "Everybody with an account at the provider may take the role."
		}
		return ""
	}, report)
}

// roleTrustAccount reports roles that trust a whole account: "arn:aws:iam::123456789012:root" or
// its number alone, which IAM stores as the same. There every identity with sts:AssumeRole can take
// the role.
func roleTrustAccount(g *graph, report func(Match)) {
	g.eachTrust(func(_ *terraform.Resource, s statement) string {
		p, _ := s.Principal.(map[string]any)
		for _, w := range textsOf(p["AWS"]) {
			if len(s.Condition) == 0 && (strings.HasSuffix(w, ":root") || len(w) == 12 &&
				strings.Trim(w, "0123456789") == "") {
				return "Every identity of the account " + w + " may take the role."
			}
		}
		return ""
	}, report)
}

// roleSubject reports roles for GitHub Actions that do not check the subject of the OIDC token. The
// token service of GitHub issues tokens to every repository of every user; only the claim "sub"
// ("repo:owner/name:ref:refs/heads/main") tells them apart.
func roleSubject(g *graph, report func(Match)) {
	g.eachTrust(func(_ *terraform.Resource, s statement) string {
		p, _ := s.Principal.(map[string]any)
		github := slices.ContainsFunc(textsOf(p["Federated"]), func(w string) bool {
			return strings.Contains(w, "token.actions.githubusercontent.com")
		})
		if !github {
			return ""
		}
		for test, values := range s.Condition {
			for name, v := range values {
				if !strings.HasSuffix(strings.ToLower(name), ":sub") {
					continue
				}
				for _, w := range textsOf(v) {
					// A wildcard counts only with StringLike and its relatives: StringEquals takes
					// "*" literally. "repo:owner/*" is accepted, since it stays within one owner.
					if strings.Contains(test, "Like") && (w == "*" || w == "repo:*" || strings.HasPrefix(w, "repo:*")) {
						return "The role can be taken by workflows of every repository: the subject is only " +
							"compared with " + w + "."
					}
				}
				return ""
			}
		}
		return "The role can be taken by workflows of every repository: no condition checks the subject."
	}, report)
}

// compute lists the services that run a customer's code under a role.
var compute = []string{"ec2.amazonaws.com", "lambda.amazonaws.com", "ecs-tasks.amazonaws.com", "ecs.amazonaws.com",
	"codebuild.amazonaws.com",
	"glue.amazonaws.com", "sagemaker.amazonaws.com", "batch.amazonaws.com", "apprunner.amazonaws.com",
	"pods.eks.amazonaws.com"}

// workloadRights reports administrator roles that a machine, function or container takes. Code
// execution in the workload, or SSRF to its metadata service, is then control of the account.
func workloadRights(g *graph, report func(Match)) {
	for _, r := range g.types["aws_iam_role"] {
		list, _ := parseStatements(r.Body.Value("assume_role_policy"))
		service := ""
		for _, s := range list {
			for _, name := range s.servicePrincipals() {
				if s.allows() && slices.Contains(compute, name) {
					service = name
				}
			}
		}
		if service == "" {
			continue
		}
		if by := g.adminSource(r); by != nil {
			m := Match{Resource: r, Place: r.Body.Place, Message: r.Address + ": Workloads of " + service +
				" take this role, and " + by.Address + " lets it do everything."}
			m.Steps = append(m.Steps, pathStep("the rights are given here", by))
			report(m)
		}
	}
}

// adminSource returns the resource by which the role may do everything, or nil.
func (g *graph) adminSource(r *terraform.Resource) *terraform.Resource {
	// A role gets rights in four ways: managed policies by address, policies inline, policies as
	// resources of their own, and attachments. They are tried in this order.
	if list, ok := r.Body.Value("managed_policy_arns").([]any); ok && slices.ContainsFunc(list, namesAdminPolicy) {
		return r
	}
	for _, b := range r.Body.All("inline_policy") {
		if list, _ := parseStatements(b.Value("policy")); slices.ContainsFunc(list, statement.isFullAdmin) {
			return r
		}
	}
	for _, other := range g.listReferrers("aws_iam_role_policy", "role", r) {
		if list, _ := parseStatements(other.Body.Value("policy")); slices.ContainsFunc(list, statement.isFullAdmin) {
			return other
		}
	}
	attached := append(g.listReferrers("aws_iam_role_policy_attachment", "role", r),
		g.listReferrers("aws_iam_policy_attachment", "roles", r)...)
	for _, other := range attached {
		if namesAdminPolicy(other.Body.Value("policy_arn")) {
			return other
		}
		if a := other.Body.Attributes["policy_arn"]; a != nil && slices.ContainsFunc(a.Refs, isAdminPolicy) {
			return other
		}
	}
	return nil
}

// namesAdminPolicy reports whether a value is the address of a managed policy that allows all.
func namesAdminPolicy(v any) bool {
	text, ok := v.(string)
	// PowerUserAccess allows everything but IAM, which is enough to read and delete all data.
	return ok && (strings.HasSuffix(text, ":policy/AdministratorAccess") ||
		strings.HasSuffix(text, ":policy/PowerUserAccess"))
}

// isAdminPolicy reports whether a resource is a policy that allows all.
func isAdminPolicy(r *terraform.Resource) bool {
	list, _ := parseStatements(r.Body.Value("policy"))
	return r.Type == "aws_iam_policy" && slices.ContainsFunc(list, statement.isFullAdmin)
}

// policyUnattached reports policies that nothing refers to. Those of called modules, and of modules
// with outputs, may be used by code that is not part of the tree.
func policyUnattached(g *graph, report func(Match)) {
	for _, r := range g.types["aws_iam_policy"] {
		if r.Module.Address == "" && len(g.named[r]) == 0 && len(r.Module.Outputs) == 0 {
			report(Match{Resource: r, Message: r.Address + ": Nothing uses the policy."})
		}
	}
}

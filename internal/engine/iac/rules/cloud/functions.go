package cloud

import (
	"merlon/internal/finding"
)

// function is a rule that follows resources or reads policies.
type function struct {
	rule *finding.Rule
	find func(*graph, func(Match))
}

// functions lists them.
var functions = []function{
	text{"aws-policy-everything", "Policy grants full administrative privileges", "high", "CWE-250",
		"Whoever holds the policy rules the account; one lost credential is then enough to lose all of it.",
		"List the actions and resources that the work needs."}.rule(policyEverything),
	text{"aws-policy-escalation", "Policy allows privilege escalation", "high", "CWE-269",
		"With one of these actions on every resource, the holder gives itself any right, or takes the place of " +
			"any role.",
		"Leave the action out, or name the roles and resources that it is for."}.rule(policyEscalation),
	text{"aws-policy-service-wildcard", "Policy allows all actions of a service on all resources", "medium", "CWE-250",
		"Among all actions of a service are those that delete data and change who may read it.",
		"List the actions that the work needs, and the resources they are for."}.rule(policyWildcard),
	text{"aws-resource-policy-public", "Resource policy allows public access", "high", "CWE-284",
		"A principal of * without a condition is everybody who has an account at the provider, or nobody in " +
			"particular at all.",
		"Name the principals, or add a condition that names your account, organization or network."}.rule(policyPublic),
	text{"aws-role-trust-everybody", "Role can be assumed by anyone", "critical", "CWE-284",
		"The trust policy decides who becomes the role. A principal of * is everybody with an account at the provider.",
		"Name the accounts, roles or services that need the role."}.rule(roleTrust),
	text{"aws-role-trust-account", "Role can be assumed by a whole account", "low", "CWE-284",
		"The root of an account stands for each identity in it: whoever may call sts:AssumeRole there may take " +
			"the role.",
		"Name the roles that need it, or ask for a condition, an external id for another company's " +
			"account."}.rule(roleTrustAccount),
	text{"aws-role-oidc-subject", "Role can be assumed by workflows of any repository (OIDC)", "critical", "CWE-284",
		"GitHub signs tokens for every repository of everybody. A trust policy that does not check the subject " +
			"accepts each of them.",
		"Add a condition on token.actions.githubusercontent.com:sub that names your repository."}.rule(roleSubject),
	text{"aws-workload-rights", "Workload can assume an administrator role", "high", "CWE-250",
		"Code that runs in the workload, an intruder's among it, gets the credentials of the role from the machine.",
		"Give the role the rights that the workload needs."}.rule(workloadRights),
	text{"aws-bucket-policy-public", "Bucket policy allows public access", "critical", "CWE-284",
		"The policy lets everybody in, and no public access block of the bucket or the account holds it back.",
		"Name the principals in the policy, and set block_public_policy and restrict_public_buckets in an " +
			"aws_s3_bucket_public_access_block."}.rule(bucketPolicy),
	text{"aws-bucket-acl-public", "Bucket ACL allows public access", "critical", "CWE-284",
		"The ACL lets everybody read or write, and no public access block of the bucket or the account holds it back.",
		"Use the ACL private, and set block_public_acls and ignore_public_acls in an " +
			"aws_s3_bucket_public_access_block."}.rule(bucketACL),
	text{"aws-bucket-transport", "Bucket policy allows requests without TLS", "low", "CWE-319",
		"Requests, and the objects in them, can be read and changed on the way.",
		"Deny everything where aws:SecureTransport is false."}.rule(bucketTransport),
	text{"aws-balancer-reach", "Port exposed to the internet through a load balancer", "high", "CWE-284",
		"The balancer faces the internet and its group admits everybody; the group behind it takes from the " +
			"balancer's group what only administrators or applications should reach.",
		"Admit from the balancer the port that its targets listen on, and nothing else."}.rule(balancerReach),
	text{"secret-in-output", "Secret exposed as an output", "high", "CWE-532",
		"Outputs are printed when Terraform runs, and read by everybody who may read the state or the log of the " +
			"pipeline.",
		"Set sensitive = true, or better do not output it: let who needs it read it from the " +
			"secret store."}.rule(secretOutput),
	text{"secret-in-user-data", "Secret in user data", "high", "CWE-522",
		"The script can be read by everybody who may describe the machine, and on the machine by every process from " +
			"the metadata service.",
		"Let the machine read the secret from the secret store when it starts, with its " +
			"own role."}.rule(secretUserData),
	text{"secret-in-environment", "Secret in a workload environment variable", "medium", "CWE-526",
		"Environment variables are shown in consoles, written into crash reports, and inherited by every process " +
			"that is started.",
		"Hand over the name of the secret, and let the workload read it from the " +
			"secret store."}.rule(secretEnvironment),
	text{"key-in-code", "Hard-coded credential in a machine or function", "critical", "CWE-798",
		"Everybody who may read the code, the state or the description of the resource can use the credential.",
		"Revoke it, and use the role of the workload."}.rule(keyInCode),
	text{"aws-group-unused", "Unused security group", "low", "CWE-1164",
		"What nobody uses nobody looks after; the next resource gets it because it is there.",
		"Remove it, or attach it."}.rule(groupUnused),
	text{"aws-policy-unattached", "Unattached policy", "low", "CWE-1164",
		"A policy without a holder gives nobody a right today, and surprises who attaches it later.",
		"Remove it, or attach it to a group or role."}.rule(policyUnattached),
}

// text is what people read of a rule.
type text struct{ id, name, severity, cwe, why, fix string }

// rule declares a rule of this kind.
func (t text) rule(find func(*graph, func(Match))) function {
	return function{describe(t.id, t.name, &group{CWE: t.cwe, Why: t.why, Fix: t.fix}, t.severity, ""), find}
}

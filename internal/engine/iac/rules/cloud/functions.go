package cloud

import (
	_ "embed"

	"merlon/internal/engine/iac/rules/calibration"
	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed functions.md
var functionsPage string

// texts are the rules that functions.md describes.
var texts = calibration.ApplyAll(ruletext.MustLoad(functionsPage, finding.Rule{ID: "iac/cloud",
	Analysis: finding.IaC, Language: "terraform"}))

// function is a rule that follows resources or reads policies.
type function struct {
	rule *finding.Rule
	find func(*graph, func(Match))
}

// functions lists them.
var functions = []function{
	{texts.Get("aws-policy-everything"), policyEverything},
	{texts.Get("aws-policy-escalation"), policyEscalation},
	{texts.Get("aws-policy-service-wildcard"), policyWildcard},
	{texts.Get("aws-resource-policy-public"), policyPublic},
	{texts.Get("aws-role-trust-everybody"), roleTrust},
	{texts.Get("aws-role-trust-account"), roleTrustAccount},
	{texts.Get("aws-role-oidc-subject"), roleSubject},
	{texts.Get("aws-workload-rights"), workloadRights},
	{texts.Get("aws-bucket-policy-public"), bucketPolicy},
	{texts.Get("aws-bucket-acl-public"), bucketACL},
	{texts.Get("aws-bucket-transport"), bucketTransport},
	{texts.Get("aws-balancer-reach"), balancerReach},
	{texts.Get("secret-in-output"), secretOutput},
	{texts.Get("secret-in-user-data"), secretUserData},
	{texts.Get("secret-in-environment"), secretEnvironment},
	{texts.Get("key-in-code"), keyInCode},
	{texts.Get("aws-group-unused"), groupUnused},
	{texts.Get("aws-policy-unattached"), policyUnattached},
}

package cloud

import (
	"encoding/json"
	"slices"
	"strings"

	"merlon/internal/engine/iac/terraform"
)

// This file reads policies in Amazon's JSON form
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html).

// maxPolicy bounds the text of a policy.
const maxPolicy = 200_000

// statement is one statement of a policy.
type statement struct {
	Effect                                   string
	Principal, NotPrincipal                  any
	Action, NotAction, Resource, NotResource any
	Condition                                map[string]map[string]any
}

// parseStatements reads a policy that an attribute holds. sure is false when it is not
// known.
func parseStatements(v any) (list []statement, sure bool) {
	text, ok := v.(string)
	if !ok || len(text) > maxPolicy || !strings.Contains(text, "{") {
		return nil, false
	}
	var doc struct{ Statement json.RawMessage }
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil, false
	}
	if json.Unmarshal(doc.Statement, &list) == nil {
		return list, true
	}
	var one statement
	if json.Unmarshal(doc.Statement, &one) == nil {
		return []statement{one}, true
	}
	return nil, false
}

// textsOf returns the texts of an element that is a text or a list.
func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if text, ok := e.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// allows reports whether the statement allows something.
func (s statement) allows() bool { return strings.EqualFold(s.Effect, "Allow") }

// isPublic reports whether the statement is about every principal.
func (s statement) isPublic() bool {
	switch p := s.Principal.(type) {
	case string:
		return p == "*"
	case map[string]any:
		return slices.Contains(textsOf(p["AWS"]), "*") || slices.Contains(textsOf(p["*"]), "*")
	}
	return false
}

// servicePrincipals returns the services that the statement names as principals.
func (s statement) servicePrincipals() []string {
	p, _ := s.Principal.(map[string]any)
	return textsOf(p["Service"])
}

// isFullAdmin reports whether the statement allows every action on every resource.
func (s statement) isFullAdmin() bool {
	return s.allows() && slices.Contains(textsOf(s.Action), "*") && slices.Contains(textsOf(s.Resource), "*") &&
		len(s.Condition) == 0
}

// escalatingAction returns an action by which the holder takes every right, or "".
func (s statement) escalatingAction() string {
	if !s.allows() || len(s.Condition) > 0 || !slices.Contains(textsOf(s.Resource), "*") {
		return ""
	}
	for _, a := range textsOf(s.Action) {
		if a == "*" || a == "*:*" {
			return a
		}
		if slices.Contains(escalatingActions, strings.ToLower(a)) {
			return a
		}
	}
	return ""
}

// escalatingActions lists the actions that let their holder give rights to itself, when
// they reach every resource. Collected from Rhino Security Labs' "AWS IAM Privilege
// Escalation", and the wildcards that include them.
var escalatingActions = strings.Fields(`iam:* iam:put* iam:attach* iam:create* iam:add* iam:pass* iam:set* iam:update* iam:createpolicyversion iam:setdefaultpolicyversion
	iam:createaccesskey iam:createloginprofile iam:updateloginprofile iam:attachuserpolicy iam:attachgrouppolicy iam:attachrolepolicy
	iam:putuserpolicy iam:putgrouppolicy iam:putrolepolicy iam:addusertogroup iam:updateassumerolepolicy iam:passrole sts:* sts:assumerole
	lambda:updatefunctioncode glue:updatedevendpoint`)

// policyHolders lists the arguments that hold policies of identities.
var policyHolders = map[string]string{
	"aws_iam_policy": "policy", "aws_iam_role_policy": "policy", "aws_iam_user_policy": "policy",
	"aws_iam_group_policy":                      "policy",
	"aws_ssoadmin_permission_set_inline_policy": "inline_policy",
}

// resourcePolicies lists the arguments that hold policies of resources, and what
// the resource is.
var resourcePolicies = []struct{ kind, argument, what string }{
	{"aws_sns_topic_policy", "policy", "topic"}, {"aws_sns_topic", "policy", "topic"},
	{"aws_sqs_queue_policy", "policy", "queue"}, {"aws_sqs_queue", "policy", "queue"},
	{"aws_ecr_repository_policy", "policy", "repository"}, {"aws_ecrpublic_repository_policy", "policy", "repository"},
	{"aws_kms_key", "policy", "key"}, {"aws_kms_key_policy", "policy", "key"},
	{"aws_kms_external_key", "policy", "key"}, {"aws_kms_replica_key", "policy", "key"},
	{"aws_secretsmanager_secret_policy", "policy", "secret"}, {"aws_secretsmanager_secret", "policy", "secret"},
	{"aws_glacier_vault", "access_policy", "vault"}, {"aws_backup_vault_policy", "policy", "vault"},
	{"aws_efs_file_system_policy", "policy", "file system"}, {"aws_media_store_container_policy", "policy",
		"container"},
	{"aws_elasticsearch_domain_policy", "access_policies", "domain"}, {"aws_elasticsearch_domain", "access_policies",
		"domain"},
	{"aws_opensearch_domain_policy", "access_policies", "domain"},
	{"aws_opensearch_domain", "access_policies", "domain"},
	{"aws_cloudwatch_event_bus_policy", "policy", "event bus"}, {"aws_codeartifact_domain_permissions_policy",
		"policy_document", "domain"},
	{"aws_codeartifact_repository_permissions_policy", "policy_document", "repository"},
	{"aws_api_gateway_rest_api_policy", "policy", "API"},
	{"aws_dynamodb_resource_policy", "policy", "table"}, {"aws_glue_resource_policy", "policy", "catalog"},
	{"aws_vpc_endpoint", "policy", "endpoint"},
	{"aws_s3_access_point", "policy", "access point"}, {"aws_cloudwatch_log_resource_policy", "policy_document", "log"},
}

// matchAt makes a match where the argument of a resource is written.
func matchAt(r *terraform.Resource, argument string) (m Match) {
	m = Match{Resource: r, Place: r.Body.Place}
	if a := r.Body.Attributes[argument]; a != nil {
		m.Place = a.Place
	}
	return m
}

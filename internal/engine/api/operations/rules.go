package operations

import (
	"slices"

	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/conformance"
	"merlon/internal/engine/api/graphql"
	"merlon/internal/finding"
)

var (
	missingAuthentication = texts.Get("missing-authentication")
	serverError           = texts.Get("server-error")
	pageSize              = texts.Get("page-size-without-limit")
	inputAccepted         = texts.Get("invalid-input-accepted")
)

// ruleOf are the rules of answers that are not what the description says.
var ruleOf = map[conformance.Kind]*finding.Rule{
	conformance.Failure:    texts.Get("failure"),
	conformance.Status:     texts.Get("undescribed-status"),
	conformance.MediaType:  texts.Get("undescribed-media-type"),
	conformance.Body:       texts.Get("body-breaks-schema"),
	conformance.Property:   texts.Get("undescribed-property"),
	conformance.Credential: texts.Get("credential-in-answer"),
}

// conformanceRules lists the rules of answers.
var conformanceRules = []*finding.Rule{ruleOf[conformance.Failure], ruleOf[conformance.Status],
	ruleOf[conformance.MediaType],
	ruleOf[conformance.Body], ruleOf[conformance.Property], ruleOf[conformance.Credential]}

// listRules returns the rules of operations, authorization and GraphQL. The checks of
// dast/application run on operations as well, under their own rules.
func listRules() ([]*finding.Rule, error) {
	own := append([]*finding.Rule{missingAuthentication, serverError, pageSize, inputAccepted}, conformanceRules...)
	return slices.Concat(own, authz.Rules(), graphql.Rules()), nil
}

package operations

import (
	"slices"

	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/conformance"
	"merlon/internal/engine/api/graphql"
	"merlon/internal/finding"
)

// newRule makes a rule of this analyzer. The texts are what it finds, why that matters
// and how to prevent it.
func newRule(id, name string, severity finding.Severity, texts [3]string, class [2]string) *finding.Rule {
	return &finding.Rule{
		ID: "api/operations/" + id, Analysis: finding.API, Name: name, ShortDescription: texts[0],
		Description: texts[0] + " " + texts[1], HowToPrevent: texts[2],
		CWE: []string{class[0]}, OWASP: []string{class[1]}, Severity: severity, Confidence: finding.Certain,
		Language: "HTTP",
	}
}

var (
	missingAuthentication = newRule("missing-authentication", "Missing authentication", finding.High, [3]string{
		"An operation whose description requires a sign-in answers without one.",
		"Whoever knows the address can use it.",
		"Check the sign-in in one place before all operations, and name the open ones there, instead of checking in " +
			"each operation.",
	}, [2]string{"CWE-306", "API2:2023"})
	serverError = newRule("server-error", "Server error on invalid input", finding.Low, [3]string{
		"Input that the description does not allow is not refused but makes the operation fail.",
		"What fails was not expected by who wrote it: such places are where injections and crashes begin, and error " +
			"pages show internals.",
		"Validate input against the description before it is used, and answer 400 or 422.",
	}, [2]string{"CWE-20", "API8:2023"})
	pageSize = newRule("page-size-without-limit", "Unrestricted page size", finding.Medium, [3]string{
		"A list answers with as many objects as the client asks for.",
		"One request takes the memory and the time of thousands, in the application and in its database, and copies " +
			"all that there is.",
		"Set a largest size of a page, answer that much or refuse what asks for more, and describe it as `maximum`.",
	}, [2]string{"CWE-770", "API4:2023"})
	inputAccepted = newRule("invalid-input-accepted", "Invalid input is accepted", finding.Low, [3]string{
		"Input that the description forbids is accepted.",
		"Who relies on the limits of the description, such as the code behind it, gets values that it does not expect.",
		"Validate input against the description, with a library that reads it.",
	}, [2]string{"CWE-20", "API8:2023"})
)

// ruleOf are the rules of answers that are not what the description says.
var ruleOf = map[conformance.Kind]*finding.Rule{
	conformance.Failure: newRule("failure", "Server error", finding.Low, [3]string{
		"An operation answers a request that its description allows with an error of the server.",
		"It cannot be used, and nobody has designed what it answers.",
		"Find the cause in the log of the application.",
	}, [2]string{"CWE-755", "API8:2023"}),
	conformance.Status: newRule("undescribed-status", "Undocumented response status", finding.Low, [3]string{
		"An operation answers with a status that its description does not foresee.",
		"Clients and gateways that go by the description do not handle it, and nobody has said what its body may hold.",
		"Describe the answer, or change it.",
	}, [2]string{"CWE-1059", "API9:2023"}),
	conformance.MediaType: newRule("undescribed-media-type", "Undocumented response media type", finding.Low, [3]string{
		"An operation answers with another media type than its description has.",
		"Pages of errors of frameworks answer so, and a browser may run what was meant as data.",
		"Answer errors in the described form, and send the right Content-Type.",
	}, [2]string{"CWE-436", "API8:2023"}),
	conformance.Body: newRule("body-breaks-schema", "Response violates its schema", finding.Low, [3]string{
		"The body of an answer is not what its schema says.",
		"Clients break, and what checks answers by the schema cannot be switched on.",
		"Correct the schema or the answer, and test answers against the description.",
	}, [2]string{"CWE-1059", "API9:2023"}),
	conformance.Property: newRule("undescribed-property", "Undocumented response property (excessive data "+
		"exposure)", finding.Low, [3]string{
		"An answer has properties that its schema does not name, or that are only to be written.",
		"Objects that are answered as they are stored show more than was meant to be shown.",
		"Answer types of their own, with the properties that are described.",
	}, [2]string{"CWE-213", "API3:2023"}),
	conformance.Credential: newRule("credential-in-answer", "Credentials in the response", finding.High, [3]string{
		"An answer holds properties that are named as passwords or secrets, with values.",
		"Who may read the answer, or a log or cache on the way, has the credentials.",
		"Leave credentials and their hashes out of all answers.",
	}, [2]string{"CWE-200", "API3:2023"}),
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

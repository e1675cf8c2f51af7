package lint

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// link is the list that the rules are about.
const link = "https://owasp.org/API-Security/editions/2023/en/0x11-t10/"

// rule makes a rule of this analyzer. The texts are what it finds, why that matters
// and how to prevent it.
//
// house: the table below is read by its columns.
func rule(id, name string, severity finding.Severity, confidence finding.Confidence, texts [3]string, cwe,
	owasp string) *finding.Rule {
	return &finding.Rule{
		ID: "api/lint/" + id, Analysis: finding.API, Name: name,
		ShortDescription: texts[0], Description: texts[0] + " " + texts[1], HowToPrevent: texts[2],
		CWE: []string{cwe}, OWASP: []string{owasp}, Severity: severity, Confidence: confidence, Language: "OpenAPI",
		Link: link,
	}
}

// Rules are the rules by the last part of their ids.
var Rules = map[string]*finding.Rule{
	"array-limit": rule("array-limit", "Array without maxItems", finding.Low, finding.Likely, [3]string{
		"A description allows arrays of any length.",
		"A client that sends millions of items, or makes the server answer with as many, takes its memory and its " +
			"time; a validator that is generated from the description lets them pass.",
		"Set `maxItems` to the most that the operation can handle, and page long answers.",
	}, "CWE-770", "API4:2023"),
	"auth-insecure-schemes": rule("auth-insecure-schemes", "Outdated authentication scheme", finding.Medium,
		finding.Certain, [3]string{
			"A security scheme uses the HTTP authentication Negotiate or OAuth 1.0.",
			"Negotiate hands tickets of the network's sign-in to whoever offers the service, and OAuth 1.0 has known " +
				"weaknesses and no maintained libraries.",
			"Use OAuth 2, OpenID Connect, or bearer tokens that are short-lived.",
		}, "CWE-1390", "API2:2023"),
	"define-error-responses-401": rule("define-error-responses-401", "Undocumented 401 response", finding.Low,
		finding.Likely, [3]string{
			"An operation does not describe what it answers to a client that is not signed in.",
			"Who builds on the description, or tests by it, cannot tell a refused request from a fault, and a " +
				"gateway " +
				"that validates answers lets errors with internal details pass.",
			"Describe the answer 401 (or `4XX` or `default`) with the schema of its body.",
		}, "CWE-1059", "API8:2023"),
	"define-error-responses-429": rule("define-error-responses-429", "Undocumented 429 response", finding.Low,
		finding.Likely, [3]string{
			"An operation does not describe what it answers to a client that asks too often.",
			"That points to an operation without a limit of requests: it can be used to guess passwords, to copy all " +
				"data, or to take the server's resources.",
			"Limit requests by client and by user, and describe the answer 429 (or `4XX` or `default`) with its " +
				"schema " +
				"and the header `Retry-After`.",
		}, "CWE-770", "API4:2023"),
	"define-error-responses-500": rule("define-error-responses-500", "Undocumented 500 response", finding.Low,
		finding.Likely, [3]string{
			"An operation does not describe what it answers when it fails.",
			"Errors that nobody has designed tend to hold stack traces, queries and versions.",
			"Describe the answer 500 (or `5XX` or `default`) with a schema that holds no internals.",
		}, "CWE-1059", "API8:2023"),
	"define-error-validation": rule("define-error-validation", "Undocumented validation error response", finding.Low,
		finding.Likely, [3]string{
			"An operation that takes input does not describe what it answers when the input is not valid.",
			"That points to input which nobody validates, or to errors with internal details.",
			"Validate input against the schema, and describe the answer 400, 422 or `4XX` (or `default`) with its " +
				"schema.",
		}, "CWE-1059", "API8:2023"),
	"integer-format": rule("integer-format", "Integer without a format", finding.Low, finding.Likely, [3]string{
		"An integer has neither the format int32 nor int64.",
		"Each side of the API picks its own size: numbers that do not fit are cut or wrap around, which checks of " +
			"amounts and identifiers do not expect.",
		"Set `format` to `int32` or `int64`.",
	}, "CWE-190", "API4:2023"),
	"integer-limit": rule("integer-limit", "Integer without minimum and maximum", finding.Low, finding.Likely,
		[3]string{
			"An integer has no minimum or no maximum.",
			"Negative or huge numbers of items, pages or bytes take the server's resources or turn its arithmetic " +
				"around.",
			"Set `minimum` and `maximum` to what the operation can handle.",
		}, "CWE-1284", "API4:2023"),
	"jwt-best-practices": rule("jwt-best-practices", "JWT best practices (RFC 8725) not declared", finding.Low,
		finding.Uncertain, [3]string{
			"A security scheme with JSON Web Tokens or OAuth 2 does not say that it follows RFC 8725.",
			"Tokens whose algorithm, issuer and audience are not checked can be forged, or used at another service.",
			"Follow RFC 8725 when checking tokens, and say so in the `description` of the scheme: name \"RFC8725\".",
		}, "CWE-347", "API2:2023"),
	"no-api-keys-in-url": rule("no-api-keys-in-url", "API key in the URL", finding.Medium, finding.Certain, [3]string{
		"A security scheme sends the API key as a part of the address.",
		"Addresses are kept in logs, histories and caches, and go to other sites in the header Referer.",
		"Send the key in a header.",
	}, "CWE-598", "API2:2023"),
	"no-credentials-in-url": rule("no-credentials-in-url", "Credential in the URL", finding.Medium, finding.Likely,
		[3]string{
			"A parameter of the path or the query carries a password, a secret or a token.",
			"Addresses are kept in logs, histories and caches, and go to other sites in the header Referer.",
			"Send credentials in a header, or in the body of a POST request.",
		}, "CWE-598", "API2:2023"),
	"no-http-basic": rule("no-http-basic", "HTTP Basic authentication", finding.Medium, finding.Certain, [3]string{
		"A security scheme is HTTP Basic.",
		"The password itself goes over the wire with each request; it does not expire, and no second factor " +
			"protects it.",
		"Use OAuth 2, OpenID Connect, or tokens that expire.",
	}, "CWE-522", "API2:2023"),
	"no-numeric-ids": rule("no-numeric-ids", "Predictable numeric identifier", finding.Low, finding.Likely, [3]string{
		"An object is named in the path by a number.",
		"Who knows one number knows the next. Where a check of ownership is missing, all objects can be read one " +
			"after the other.",
		"Use random identifiers such as UUIDs, and check on every request whether the user may see the object.",
	}, "CWE-639", "API1:2023"),
	"protection-global-safe": rule("protection-global-safe", "Read operation without authentication", finding.Low,
		finding.Uncertain, [3]string{
			"An operation that reads has no security requirement, and the document has none either.",
			"Whoever knows the address can read what it answers. It may be meant for the public; then the " +
				"description " +
				"should say so.",
			"Set `security` for the document or the operation; for what is public, `security: []`.",
		}, "CWE-306", "API2:2023"),
	"protection-global-unsafe": rule("protection-global-unsafe", "Write operation without authentication", finding.High,
		finding.Likely, [3]string{
			"An operation that changes something has no security requirement, and the document has none either.",
			"Whoever knows the address can create, change or delete data.",
			"Set `security` for the document or the operation.",
		}, "CWE-306", "API2:2023"),
	"protection-global-unsafe-strict": rule("protection-global-unsafe-strict", "Write operation with authentication "+
		"disabled", finding.Medium, finding.Likely, [3]string{
		"An operation that changes something has an empty security requirement, so that nobody needs to sign in.",
		"Whoever knows the address can create, change or delete data. Signing in itself has to be open; other " +
			"operations rarely.",
		"Name a security scheme in `security`, without the empty alternative `{}`. Where the operation has to be " +
			"open, limit how often it may be asked.",
	}, "CWE-306", "API2:2023"),
	"rate-limit": rule("rate-limit", "Undocumented rate limit", finding.Low, finding.Uncertain, [3]string{
		"No answer of an operation tells a limit of requests.",
		"That points to an operation without a limit: it can be used to guess passwords, to copy all data, or to " +
			"take the server's resources.",
		"Limit requests, and describe the header `RateLimit` (or `RateLimit-Limit`, `X-RateLimit-Limit`) in the " +
			"answers.",
	}, "CWE-770", "API4:2023"),
	"rate-limit-retry-after": rule("rate-limit-retry-after", "429 response without Retry-After", finding.Low,
		finding.Certain, [3]string{
			"The answer 429 does not tell when the client may ask again.",
			"Clients that do not know ask at once, which keeps the server at its limit.",
			"Describe and send the header `Retry-After`.",
		}, "CWE-770", "API4:2023"),
	"security-hosts-https": rule("security-hosts-https", "Server URL without HTTPS", finding.Medium, finding.Certain,
		[3]string{
			"The API is offered by HTTP without TLS.",
			"Whoever is on the way reads and changes requests, with the credentials in them.",
			"Offer the API by HTTPS only, and name only such servers.",
		}, "CWE-319", "API8:2023"),
	"string-limit": rule("string-limit", "String without maxLength", finding.Low, finding.Likely, [3]string{
		"A string has no maximum length.",
		"Long texts take the server's memory and storage, and make slow what searches in them.",
		"Set `maxLength`, `enum` or `const`.",
	}, "CWE-770", "API4:2023"),
	"string-restricted": rule("string-restricted", "String without format, pattern or enum", finding.Low,
		finding.Likely, [3]string{
			"A string has neither a format nor a pattern nor a list of values.",
			"Validators that are generated from the description let any text pass, also one that is an attack on " +
				"what is " +
				"behind.",
			"Set `format`, `pattern`, `enum` or `const`.",
		}, "CWE-20", "API4:2023"),
}

// same names the rules of infrastructure code that say the same of a place.
var same = map[string][]string{
	"array-limit": {"iac/openapi/general-array-without-maximum-number-items"},
	"auth-insecure-schemes": {"iac/openapi/3-0-security-scheme-using-http-negotiate",
		"iac/openapi/3-0-security-schemes-using-oauth"},
	"define-error-responses-401": {"iac/openapi/general-response-code-missing"},
	"define-error-responses-429": {"iac/openapi/general-response-code-missing"},
	"define-error-responses-500": {"iac/openapi/general-response-code-missing"},
	"define-error-validation":    {"iac/openapi/general-response-code-missing"},
	"integer-format":             {"iac/openapi/general-numeric-schema-without-format"},
	"integer-limit": {"iac/openapi/general-numeric-schema-without-maximum",
		"iac/openapi/general-numeric-schema-without-minimum"},
	"no-http-basic": {"iac/openapi/3-0-security-scheme-using-http-basic",
		"iac/openapi/2-0-security-definitions-using-basic-auth"},
	"protection-global-safe":   {"iac/openapi/general-no-global-and-operation-security-defined"},
	"protection-global-unsafe": {"iac/openapi/general-no-global-and-operation-security-defined"},
	"protection-global-unsafe-strict": {"iac/openapi/general-security-operations-empty-array",
		"iac/openapi/general-security-operations-empty-object-definition"},
	"security-hosts-https": {"iac/openapi/3-0-global-server-uses-http",
		"iac/openapi/3-0-path-server-uses-http", "iac/openapi/2-0-global-schemes-uses-http",
		"iac/openapi/2-0-path-scheme-accepts-http", "iac/openapi/2-0-schemes-uses-http-copy"},
	"string-limit":      {"iac/openapi/general-maximum-length-undefined"},
	"string-restricted": {"iac/openapi/general-pattern-undefined"},
}

// list returns the rules in the order of their ids.
func list() ([]*finding.Rule, error) {
	return slices.SortedFunc(maps.Values(Rules), func(a, b *finding.Rule) int { return strings.Compare(a.ID, b.ID) }),
		nil
}

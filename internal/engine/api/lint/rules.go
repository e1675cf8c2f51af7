package lint

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

package lint

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// texts are the rules that rules.md describes, by their ID below api/lint.
var texts = loadTexts()

// form are rules about what a description does not say: bounds, responses, headers. Whether the
// server has the bound is not known, and hundreds of such findings hide the ones that matter.
// Reading without signing in is among them: what is public on purpose cannot be told from the rest.
var form = []string{"array-limit", "string-limit", "string-restricted", "integer-format", "integer-limit",
	"define-error-responses-401", "define-error-responses-429", "define-error-responses-500", "define-error-validation",
	"rate-limit", "rate-limit-retry-after", "jwt-best-practices", "no-numeric-ids", "protection-global-safe"}

// loadTexts reads the page of the rules and moves those of form to the profile for audits.
func loadTexts() *ruletext.Set {
	set := ruletext.MustLoad(rulesPage, finding.Rule{ID: "api/lint", Analysis: finding.API, Language: "OpenAPI",
		Link: "https://owasp.org/API-Security/editions/2023/en/0x11-t10/"})
	for _, id := range form {
		set.Get(id).Profile = finding.AllProfile
	}
	return set
}

package lint

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// texts are the rules that rules.md describes, by their ID below api/lint.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "api/lint", Analysis: finding.API, Language: "OpenAPI",
	Link: "https://owasp.org/API-Security/editions/2023/en/0x11-t10/"})

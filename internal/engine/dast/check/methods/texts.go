package methods

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// texts are the rules that rules.md describes, by their ID below dast/methods.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "dast/methods", Analysis: finding.DAST})

package tls

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// texts are the rules that rules.md describes, by their ID below dast/tls.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "dast/tls", Analysis: finding.DAST})

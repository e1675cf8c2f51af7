package audit

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// Rules are the rules of GitHub Actions.
var Rules = ruletext.MustLoad(rulesPage, finding.Rule{ID: "cicd/github", Analysis: finding.CICD, Language: "yaml"})

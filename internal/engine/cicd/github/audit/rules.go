package audit

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// Rules are the rules of GitHub Actions.
var Rules = loadRules()

// advice are rules of form and checklists: they make a repository tidy, and nobody can attack what
// they name. Expressions that only the author of the workflow controls are among them.
var advice = []string{"expression-in-script", "secrets-outside-environment", "dependabot-cooldown",
	"superfluous-action",
	"obfuscation", "misfeature", "anonymous-definition", "undocumented-permission", "missing-concurrency"}

// loadRules reads the page of the rules and moves the advice to the profile for audits.
func loadRules() *ruletext.Set {
	set := ruletext.MustLoad(rulesPage, finding.Rule{ID: "cicd/github", Analysis: finding.CICD, Language: "yaml"})
	for _, id := range advice {
		set.Get(id).Profile = finding.AllProfile
	}
	return set
}

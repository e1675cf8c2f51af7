package pipeline

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

// commonRules describes the rules that every system has.
//
//go:embed rules.md
var commonRules string

// LoadRules returns the rules of one system: those that its page describes, and those that every
// system has. The ID is the analyzer's, the language that of its files.
func LoadRules(id, language, page string) *ruletext.Set {
	return ruletext.MustLoad(page+"\n"+commonRules,
		finding.Rule{ID: id, Analysis: finding.CICD, Language: language})
}

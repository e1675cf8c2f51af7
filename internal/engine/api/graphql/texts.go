package graphql

import (
	_ "embed"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

//go:embed rules.md
var rulesPage string

// texts are the rules that rules.md describes, by their ID below api/graphql.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "api/graphql", Analysis: finding.API, Language: "GraphQL"})

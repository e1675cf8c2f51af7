package azure

import (
	_ "embed"

	"merlon/internal/engine/cicd/pipeline"
)

//go:embed rules.md
var rulesPage string

// Rules are the rules of Azure Pipelines.
var Rules = pipeline.LoadRules("cicd/azure", "yaml", rulesPage)

package gitlab

import (
	_ "embed"

	"merlon/internal/engine/cicd/pipeline"
)

//go:embed rules.md
var rulesPage string

// Rules are the rules of GitLab CI/CD.
var Rules = pipeline.LoadRules("cicd/gitlab", "yaml", rulesPage)

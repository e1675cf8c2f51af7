package azure

import (
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/engine/cicd/rule"
	"merlon/internal/finding"
)

// Rules are the rules of Azure Pipelines.
var Rules = rule.New("cicd/azure", "yaml", pipeline.WithCommonRules(
	rule.Text{ID: "persisted-credentials", Name: "Persisted checkout credentials", Severity: finding.Medium,
		Confidence: finding.Certain, CWE: "CWE-522", Risk: "CICD-SEC-6",
		What: "The checkout leaves its token on the disk.",
		Why:  "Later steps, and whatever they run, can read it and push with it.",
		Fix:  "Remove `persistCredentials: true`, and hand `$(System.AccessToken)` to the one step that pushes."},
)...)

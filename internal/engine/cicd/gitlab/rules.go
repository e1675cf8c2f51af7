package gitlab

import (
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/engine/cicd/rule"
	"merlon/internal/finding"
)

// Rules are the rules of GitLab CI/CD.
var Rules = rule.New("cicd/gitlab", "yaml", pipeline.WithCommonRules(
	rule.Text{ID: "no-verification", Name: "TLS certificate verification disabled", Severity: finding.Medium,
		Confidence: finding.Certain, CWE: "CWE-295", Risk: "CICD-SEC-3",
		What: "A variable switches the check of certificates off.",
		Why:  "Whoever is on the way can replace what is fetched and read the tokens that are sent.",
		Fix:  "Remove the variable; add the certificate of your own authority to the image or to the runner."},
	rule.Text{ID: "old-job-token", Name: "Legacy CI job token", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-1270", Risk: "CICD-SEC-6",
		What: "CI_JOB_JWT, which has no audience, is used.",
		Why:  "Any service that gets it can use it at all others that trust this GitLab. It was removed in GitLab 17.",
		Fix:  "Declare `id_tokens:` with one `aud` for each service."},
	rule.Text{ID: "untrusted-condition", Name: "Condition controlled by untrusted input", Severity: finding.Medium,
		Confidence: finding.Likely, CWE: "CWE-807", Risk: "CICD-SEC-1",
		What: "A message or a title decides whether a job with secrets runs.",
		Why:  "Who writes the commit or the merge request chooses the text, and so the job.",
		Fix: "Decide by protected branches and tags, or let somebody start the job (`when: manual` in a protected " +
			"environment)."},
	rule.Text{ID: "artifact-exposure", Name: "Overly broad artifact", Severity: finding.Low, Confidence: finding.Likely,
		CWE: "CWE-538", Risk: "CICD-SEC-6",
		What: "The whole folder, or every untracked file, becomes an artifact.",
		Why:  "Files with tokens that tools leave there go with it, to everybody who may see the job.",
		Fix:  "Name the files that are needed."},
)...)

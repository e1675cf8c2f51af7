package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file looks at what is checked out, what is left of it on the disk, and
// what is run of it.

// checkCheckouts finds credentials that a checkout leaves behind. Any later step, and
// any action that it runs, can read the token from .git/config and push with it
// (CICD-SEC-6).
func checkCheckouts(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		a := workflow.UsesOf(s)
		if a == nil || actionSlug(a.Uses.Value) != "actions/checkout" {
			continue
		}
		keep := inputText(a, "persist-credentials")
		if strings.EqualFold(keep, "false") {
			continue
		}
		f := p.newFinding(p.stepPlace(s), "", "The checkout leaves its token on the disk for all later "+
			"steps, %s", describeStep(b, i))
		if up := uploadsAll(b.Steps[i+1:], inputText(a, "path")); up != nil && isBelowMajor(a.Uses.Value, 6) {
			f.Message = "The checkout leaves its token in .git/config, and " + stepName(b, stepIndex(b, up)) +
				" uploads the whole folder with it, " + describeStep(b, i)
			f.Severity, f.Confidence = finding.High, finding.HighConfidence
		} else if keep != "" {
			f.Confidence = finding.LowConfidence
		}
		p.Out(Rules.Get("persisted-credentials"), f)
	}
}

// inputText returns an action's input without white space around it, or "".
func inputText(a *actionlint.ExecAction, name string) string {
	return strings.TrimSpace(workflow.InputText(a, name))
}

// stepIndex finds a step by identity, because ids and names may repeat.
func stepIndex(b workflow.Body, s *actionlint.Step) int {
	for i := range b.Steps {
		if b.Steps[i] == s {
			return i
		}
	}
	return 0
}

// isBelowMajor reports whether the version that uses names, by ref or by what is known
// of it, is below the major version. What cannot be told counts as below. A branch or a
// commit says nothing about the version.
func isBelowMajor(uses string, major int) bool {
	_, ref, _ := strings.Cut(uses, "@")
	m := majorVersion.FindStringSubmatch(ref)
	if m == nil {
		return true
	}
	return len(m[1]) == 1 && int(m[1][0]-'0') < major
}

// majorVersion matches a tag that names a version by its numbers.
var majorVersion = lazyregexp.New(`^v?(\d+)(?:\.|$)`)

// uploadsAll returns the step that uploads the whole checkout as an artifact.
func uploadsAll(steps []*actionlint.Step, path string) *actionlint.Step {
	for _, s := range steps {
		a := workflow.UsesOf(s)
		if a == nil || actionSlug(a.Uses.Value) != "actions/upload-artifact" ||
			inputText(a, "include-hidden-files") == "false" {
			continue
		}
		uploaded := inputText(a, "path")
		for _, up := range strings.Fields(uploaded) {
			if isWholeCheckout(up, path) {
				return s
			}
		}
		if strings.Contains(uploaded, "github.workspace }}") && !strings.Contains(uploaded, "github.workspace }}/") {
			return s
		}
	}
	return nil
}

// isWholeCheckout reports whether an uploaded path covers .git/config, where the
// checkout leaves its token: the workspace, or the folder of the checkout.
func isWholeCheckout(uploaded, checkout string) bool {
	uploaded = strings.TrimSuffix(strings.TrimPrefix(uploaded, "./"), "/")
	switch uploaded {
	case ".", "", "${{github.workspace}}", "*", "**", ".git":
		return true
	}
	return uploaded == checkout && checkout != ""
}

var (
	// builds matches commands that run code of the working folder. asked matches
	// conditions that depend on who the author is, or on what a maintainer did.
	builds = lazyregexp.New(`(?m)(?:^|[\s;&|(])(?:npm|yarn|pnpm|bun|npx|pip3?|python3?|poetry|uv|tox|pytest|make|cmake|mvn|\./mvnw|gradle|\./gradlew|go|cargo|dotnet|msbuild|bundle|rake|gem|composer|php|ruby|node|docker|bash|sh|pwsh|terraform|ansible\S*|bazel|ninja|just|task|pre-commit|\./\S+|jest|nx|lerna|turbo|hugo|jekyll|mkdocs|sphinx-build)\b`)
	asked  = lazyregexp.New(`(?i)label|author_association|head\.repo\.(?:full_name|fork|owner)|head_repository|\bpermission|github\.repository\b|user\.login|actor\b|safe`)
)

// checkUntrustedCheckout finds workflows that attackers start with full rights and that
// fetch, and run, what the attackers propose. This is the "pwn request": the workflow's
// secrets and its token to write are there for the attacker's build script, tests or
// lint configuration.
// https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
func checkUntrustedCheckout(p *Pass, b workflow.Body) {
	event := p.startingEvent([]string{"pull_request_target", "workflow_run", "issue_comment"})
	if event == "" {
		return
	}
	for i, s := range runnableSteps(b) {
		what, ok := p.Flow.FetchesUntrusted(taint.Site{Body: b, Step: i})
		what = shorten(what)
		if !ok {
			continue
		}
		f := p.newFinding(p.stepPlace(s), "", "%s checks out %s, which is untrusted code, %s", event, what,
			describeStep(b, i))
		runs, ok := p.runsCheckout(b, i)
		switch {
		case ok:
			f.Message = event + " fetches " + what + ", which is untrusted code, with the secrets of this " +
				"repository, and " + stepName(b, runs) + " runs it, " + describeStep(b, i)
			f.Steps = []finding.Step{
				{Kind: finding.Source, Message: "fetches " + what, Location: locationOf(p.File.Path, p.stepPlace(s))},
				{Kind: finding.Sink, Message: "runs what was fetched",
					Location: locationOf(p.File.Path, p.stepPlace(b.Steps[runs]))},
			}
		default:
			f.Severity, f.Confidence = finding.Medium, finding.MediumConfidence
		}
		if isGuarded(p, b, s) {
			f.Severity, f.Confidence = finding.Medium, finding.LowConfidence
		}
		p.Out(Rules.Get("untrusted-checkout"), f)
		return // the first one says it all
	}
}

// isGuarded reports whether a condition, an environment, or a check of permissions
// lets somebody decide: of the step, its job, or a job that it waits for.
func isGuarded(p *Pass, b workflow.Body, s *actionlint.Step) bool {
	if asksWho(s.If) {
		return true
	}
	if b.Job == nil {
		return false
	}
	if isJobGuarded(b.Job, b.Steps, s) {
		return true
	}
	if b.Job.If != nil && strings.Contains(b.Job.If.Value, "always()") && !strings.Contains(b.Job.If.Value, "needs.") {
		return false // it runs although the job before it failed
	}
	for _, need := range b.Job.Needs {
		j := p.File.Workflow.Jobs[strings.ToLower(need.Value)]
		if j != nil && isJobGuarded(j, j.Steps, nil) {
			return true
		}
	}
	return false
}

// isJobGuarded reports whether the job asks who started it before the step runs.
func isJobGuarded(j *actionlint.Job, steps []*actionlint.Step, before *actionlint.Step) bool {
	return j.Environment != nil || asksWho(j.If) || isPermissionChecked(steps, before)
}

// asksWho reports whether a condition depends on a label, the author or the repository.
func asksWho(cond *actionlint.String) bool { return cond != nil && asked.MatchString(cond.Value) }

// checkers lists actions that fail, or tell, when the actor lacks a permission.
var checkers = wordSet(`actions-cool/check-user-permission prince-chrismc/check-actor-permissions-action lannonbr/repo-permission-check-action
	themoddinginquisition/actions-team-membership tspascoal/get-user-teams-membership skjnldsv/check-actor-permission sushichop/action-repository-permission
	im-open/is-actor-authorized github/command github/branch-deploy 74th/workflow-permission-action peter-evans/slash-command-dispatch`)

// permission matches requests to GitHub's API for the rights of a user.
var permission = lazyregexp.New(`collaborators/.{1,80}?/permission|getCollaboratorPermissionLevel|getMembershipForUserInOrg|/memberships/|author_association|authorAssociation|checkMembershipForUser`)

// isPermissionChecked reports whether a step before s looks at the permissions of the actor. A
// check behind the checkout comes too late.
func isPermissionChecked(steps []*actionlint.Step, s *actionlint.Step) bool {
	for _, e := range steps {
		if e == s {
			return false
		}
		if r := workflow.RunOf(e); r != nil && permission.MatchString(r.Run.Value) {
			return true
		}
		if a := workflow.UsesOf(e); a != nil {
			if checkers[actionSlug(a.Uses.Value)] ||
				permission.MatchString(inputText(a, "script")+inputText(a, "route")) {
				return true
			}
		}
	}
	return false
}

// runsCheckout returns the first step behind i that runs what is in the folder. A build
// tool counts because it runs scripts, plug-ins or configuration of the folder,
// whatever it is asked to build.
func (p *Pass) runsCheckout(b workflow.Body, i int) (int, bool) {
	if r := workflow.RunOf(b.Steps[i]); r != nil && builds.MatchString(r.Run.Value) {
		return i, true
	}
	path := stepFolder(b.Steps[i])
	for n := i + 1; n < len(b.Steps); n++ {
		s := b.Steps[n]
		if isNeverTrue(s.If) || !worksInFolder(b, s, path) {
			continue
		}
		if r := workflow.RunOf(s); r != nil && builds.MatchString(r.Run.Value) {
			return n, true
		}
		if a := workflow.UsesOf(s); a != nil && (strings.HasPrefix(a.Uses.Value, "./") ||
			buildActions[actionSlug(a.Uses.Value)]) {
			return n, true
		}
	}
	return 0, false
}

// buildActions lists actions that run code of the folder.
var buildActions = map[string]bool{
	"docker/build-push-action": true, "gradle/gradle-build-action": true, "goreleaser/goreleaser-action": true,
	"pre-commit/action":        true,
	"cypress-io/github-action": true, "bahmutov/npm-install": true, "borales/actions-yarn": true,
	"golangci/golangci-lint-action": true,
	"super-linter/super-linter":     true, "github/super-linter": true, "actions/jekyll-build-pages": true,
	"pypa/cibuildwheel": true,
}

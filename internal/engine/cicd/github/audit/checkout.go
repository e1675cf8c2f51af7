package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/severity"
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
		} else {
			if keep != "" {
				f.Confidence = finding.LowConfidence
			}
			f.Terms = p.persistedTerms(b, i, a)
		}
		if !pushesLater(b, i) { // which would fail without it
			f.Fix = p.fixPersisted(s, a)
		}
		p.emit("persisted-credentials", f)
	}
}

// persistedTerms returns what the token that a checkout leaves behind is worth, by what it can do
// and by the code that runs beside it.
func (p *Pass) persistedTerms(b workflow.Body, i int, a *actionlint.ExecAction) []finding.SeverityTerm {
	secret := ""
	for _, x := range expression.FindAll(inputText(a, "token")) {
		secret = strings.ToUpper(strings.TrimPrefix(firstSecret(x.Root), "secrets."))
	}
	v := p.privilegeOf(b)
	writes := v.weight == finding.High // others do not let git push
	foreign := p.runsForeignCode(b, i)
	switch {
	case secret == "" && !writes:
		return []finding.SeverityTerm{lowered("the token of the job is not known to write anything of weight")}
	case foreign == "":
		return []finding.SeverityTerm{lowered("no later step runs code of others")}
	}
	var out []finding.SeverityTerm
	if secret != "" { // it outlives the job
		out = append(out, finding.SeverityTerm{Points: severity.Raised, Reason: "the token is the secret " + secret})
	}
	if writes {
		out = append(out, finding.SeverityTerm{Points: severity.Raised, Reason: "the token can write " + v.scope +
			", and " + foreign + " runs code of others"})
	}
	if pushesLater(b, i) {
		out = append(out, harmless("a later step pushes with it"))
	}
	return out
}

// runsForeignCode returns the first step behind i that runs what others wrote: an action that is not
// GitHub's and not pinned, or a command that installs or builds. It is "" without one.
func (p *Pass) runsForeignCode(b workflow.Body, i int) string {
	for n := i + 1; n < len(b.Steps); n++ {
		if r := workflow.RunOf(b.Steps[n]); r != nil && installs.MatchString(r.Run.Value) {
			return stepName(b, n)
		}
		a := workflow.UsesOf(b.Steps[n])
		if a == nil || isLocalReference(a.Uses.Value) {
			continue
		}
		_, ref, _ := strings.Cut(a.Uses.Value, "@")
		owner, _, _ := strings.Cut(strings.ToLower(a.Uses.Value), "/")
		if buildActions[actionSlug(a.Uses.Value)] || !commit.MatchString(ref) && owner != "actions" &&
			owner != "github" &&
			!platforms[owner] {
			return stepName(b, n)
		}
	}
	return ""
}

// installs matches commands that run scripts of packages, or what they fetch.
var installs = lazyregexp.New(`(?m)(?:^|[\s;&|(])(?:(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install|add|run|test|build)|yarn\s*$|npx|(?:node|python3?|ruby|bash|sh)\s+\S*(?:install|setup)\S*|pip3?\s+install|poetry\s+install|uv\s+(?:sync|pip|run)|bundle\s+install|composer\s+(?:install|update)|mvn|\./mvnw|gradle|\./gradlew|make|docker\s+(?:build|compose)|cargo\s+(?:build|test|install)|go\s+(?:generate|install|run|test)|dotnet\s+(?:build|test|run|publish))\b|\b(?:curl|wget)\b[^|\n]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b`)

// pushesLater reports whether a step behind i needs the token that the checkout leaves.
func pushesLater(b workflow.Body, i int) bool {
	for n := i + 1; n < len(b.Steps); n++ {
		if r := workflow.RunOf(b.Steps[n]); r != nil && gitPush.MatchString(r.Run.Value) {
			return true
		}
		if a := workflow.UsesOf(b.Steps[n]); a != nil && pushActions.MatchString(actionSlug(a.Uses.Value)) {
			return true
		}
	}
	return false
}

var (
	gitPush     = lazyregexp.New(`\bgit\s+(?:-\S+\s+)*push\b|semantic-release|changeset\s+publish|lerna\s+(?:version|publish)`)
	pushActions = lazyregexp.New(`auto-commit|add-and-commit|git-push|github-push|create-pull-request|semantic-release|gh-pages|github-pages|rebase|backport|changesets|release-please`)
)

var (
	// remoteWithToken matches commands that write the address of a repository with a token into the
	// configuration of git; writesConfig those that do so for every address.
	remoteWithToken = lazyregexp.New(`\bgit\s+(?:-\S+\s+)*(?:remote\s+(?:set-url|add)|clone|config)\b.*https?://(?:[^/\s"'@]*:)?(\$\{\{[^}]*\}\}|\$\{?\w+\}?)@`)
	headerToken     = lazyregexp.New(`\bgit\s+config\b.*extraheader.*(?:AUTHORIZATION|Authorization)`)
)

// checkTokenInRemote finds scripts that write a token into the configuration of git, where every
// later command of the job can read it, as the code that they install can. A script that clones and
// ends is not reported: nothing runs after it.
func checkTokenInRemote(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		r := workflow.RunOf(s)
		if r == nil {
			continue
		}
		lines := script.SplitLines(r.Run.Value)
		for n, l := range lines {
			if !remoteWithToken.MatchString(l.Text) && !headerToken.MatchString(l.Text) {
				continue
			}
			foreign := p.runsForeignCode(b, i)
			for _, later := range lines[n+1:] {
				if foreign == "" && installs.MatchString(later.Text) {
					foreign = "the same step"
				}
			}
			if foreign == "" {
				continue
			}
			at := p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
			f := p.newFinding(at, "", "The script writes a token into the configuration of git, and %s runs code that "+
				"can read it, %s", foreign, describeStep(b, i))
			f.Terms = p.privilegeOf(b).terms()
			f.Cause = p.File.Path + " remote"
			p.emit("persisted-credentials", f)
			break
		}
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
	builds = lazyregexp.New(`(?m)(?:^|[\s;&|(])(?:npm|yarn|pnpm|bun|npx|(?:node|python3?|ruby|bash|sh)\s+\S*(?:install|setup)\S*|pip3?|python3?|poetry|uv|tox|pytest|make|cmake|mvn|\./mvnw|gradle|\./gradlew|go|cargo|dotnet|msbuild|bundle|rake|gem|composer|php|ruby|node|docker|bash|sh|pwsh|terraform|ansible\S*|bazel|ninja|just|task|pre-commit|\./\S+|jest|nx|lerna|turbo|hugo|jekyll|mkdocs|sphinx-build)\b`)
	asked  = lazyregexp.New(`(?i)label|author_association|head\.repo\.(?:full_name|fork|owner)|head_repository|\bpermission|user\.login|actor\b|safe`)
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
		if !ok || p.runsOnMerged(b, s, map[*workflow.File]bool{}) {
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
			f.Confidence = finding.LowConfidence
			f.Terms = append(f.Terms, harmless("a condition admits only trusted users"))
		}
		p.emit("untrusted-checkout", f)
		return // the first one says it all
	}
}

// isGuarded reports whether a condition, an environment, or a check of permissions
// lets somebody decide: of the step, its job, a job that it waits for, or of every job that uses
// the file.
func isGuarded(p *Pass, b workflow.Body, s *actionlint.Step) bool {
	return p.isGuardedWithin(b, s, map[*workflow.File]bool{})
}

// isGuardedWithin is isGuarded for a caller. The files that were followed are seen: workflows may
// call each other in a circle.
func (p *Pass) isGuardedWithin(b workflow.Body, s *actionlint.Step, seen map[*workflow.File]bool) bool {
	if s != nil && asksWho(s.If) {
		return true
	}
	if b.Job != nil {
		if isJobGuarded(b.Job, b.Steps, s) {
			return true
		}
		if b.Job.If == nil || !strings.Contains(b.Job.If.Value, "always()") ||
			strings.Contains(b.Job.If.Value, "needs.") {
			for _, need := range b.Job.Needs {
				j := b.File.Workflow.Jobs[strings.ToLower(need.Value)]
				if j != nil && isJobGuarded(j, j.Steps, nil) {
					return true
				}
			}
		} // else it runs although the job before it failed
	}
	return p.everyCaller(b, seen, func(c workflow.Call) bool {
		if c.Step != nil {
			return p.isGuardedWithin(c.Body, c.Step, seen)
		}
		return p.isGuardedWithin(workflow.Body{File: c.From, Job: c.Job, Steps: c.Job.Steps}, nil, seen)
	})
}

// everyCaller reports whether the file is only used by other files of the tree, and the condition
// holds for each use that untrusted users can start.
func (p *Pass) everyCaller(b workflow.Body, seen map[*workflow.File]bool, holds func(workflow.Call) bool) bool {
	if seen[b.File] {
		return false
	}
	seen[b.File] = true
	if b.File.Workflow != nil && b.File.StartsOn(privileged...) {
		return false // it also starts by itself
	}
	some := false
	for _, c := range p.Tree.Callers(b.File) {
		if c.From.Workflow != nil && !c.From.StartsOn(privileged...) && !c.From.StartsOn("workflow_call") {
			continue
		}
		if some = true; !holds(c) {
			return false
		}
	}
	return some
}

// merged matches the condition that a pull request was merged, which needs the right to write.
var merged = lazyregexp.New(`(?:^|[^!\w.])\s*github\.event\.pull_request\.merged(?:\s*==\s*true)?\s*(?:$|[&)}\s])`)

// runsOnMerged reports whether the step runs for merged pull requests only: somebody with the right
// to write has accepted the code. A condition with || may hold without it.
func (p *Pass) runsOnMerged(b workflow.Body, s *actionlint.Step, seen map[*workflow.File]bool) bool {
	asks := func(cond *actionlint.String) bool {
		return cond != nil && merged.MatchString(cond.Value) && !strings.Contains(cond.Value, "||") &&
			!strings.Contains(cond.Value, "merged == false") && !strings.Contains(cond.Value, "merged != true")
	}
	if s != nil && asks(s.If) || b.Job != nil && asks(b.Job.If) {
		return true
	}
	return p.everyCaller(b, seen, func(c workflow.Call) bool {
		if c.Step != nil {
			return p.runsOnMerged(c.Body, c.Step, seen)
		}
		return p.runsOnMerged(workflow.Body{File: c.From, Job: c.Job}, nil, seen)
	})
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

package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file looks at what starts a workflow, what its token may do, and its form.

// privileged lists the events that attackers cause and that run with the
// repository's secrets and token.
var privileged = []string{"pull_request_target", "workflow_run", "issue_comment", "issues", "discussion",
	"discussion_comment", "fork", "watch", "gollum"}

// public lists the events that attackers cause at all.
var public = append([]string{"pull_request", "pull_request_review", "pull_request_review_comment"}, privileged...)

// onPlace returns the place of on.
func (p *Pass) onPlace() document.Place {
	if k := p.File.Doc.Key("on"); k != nil {
		return p.File.Source.Whole(k)
	}
	return document.Place{Line: 1, Column: 1, EndLine: 1}
}

// checkTriggers reports pull_request_target and workflow_run: both run with the
// secrets and the write token of the base repository while a fork decides what they
// work on (CICD-SEC-4).
func checkTriggers(p *Pass) {
	for _, name := range []string{"pull_request_target", "workflow_run"} {
		e := p.File.Event(name)
		if e == nil || name == "pull_request_target" && onlySetsLabels(p.File) {
			continue
		}
		f := p.newFinding(workflow.PlaceAt(workflow.EventPosition(e)), "", "%s runs with the secrets of this "+
			"repository on untrusted pull requests", name)
		switch {
		case p.callsForeignWorkflow():
		case p.takesUntrustedCode():
			f.Terms = append(f.Terms, harmless("the step that takes untrusted code is reported by itself"))
		default: // until somebody adds a step that does
			f.Confidence = finding.LowConfidence
			f.Terms = append(f.Terms, harmless("no step takes untrusted code"))
		}
		p.emit("dangerous-trigger", f)
	}
}

// callsForeignWorkflow reports whether a job hands over to a workflow of another repository, of
// which nothing is known.
func (p *Pass) callsForeignWorkflow() bool {
	for _, b := range p.File.Bodies() {
		if b.Job != nil && b.Job.WorkflowCall != nil && b.Job.WorkflowCall.Uses != nil &&
			!isLocalReference(b.Job.WorkflowCall.Uses.Value) {
			return true
		}
	}
	return false
}

// takesUntrustedCode reports whether a job of the workflow fetches what attackers
// propose or left, or hands over to a workflow that may. Without such a step the
// trigger is a risk for the future only.
func (p *Pass) takesUntrustedCode() bool {
	for _, b := range p.File.Bodies() {
		if b.Job != nil && b.Job.WorkflowCall != nil {
			return true
		}
		for i, s := range runnableSteps(b) {
			if _, ok := p.Flow.FetchesUntrusted(taint.Site{Body: b, Step: i}); ok ||
				p.Flow.DownloadsArtifact(b.File, s) {
				return true
			}
		}
	}
	return false
}

// onlySetsLabels reports whether the workflow does nothing but set labels. This is the purpose
// that GitHub documents pull_request_target for.
func onlySetsLabels(f *workflow.File) bool {
	n := 0
	for _, b := range f.Bodies() {
		for _, s := range b.Steps {
			a := workflow.UsesOf(s)
			if a == nil || actionSlug(a.Uses.Value) != "actions/labeler" {
				return false
			}
			n++
		}
	}
	return n > 0
}

// write lists what a token can do with each permission, for the risky ones.
var write = map[string]finding.Severity{
	"contents": finding.High, "packages": finding.High, "actions": finding.High, "id-token": finding.Medium,
	"deployments": finding.High,
	"pages":       finding.High, "pull-requests": finding.Medium, "issues": finding.Low, "checks": finding.Low,
	"statuses":        finding.Low,
	"security-events": finding.Medium, "repository-projects": finding.Low, "discussions": finding.Low,
	"attestations":      finding.Medium,
	"artifact-metadata": finding.Low, "models": finding.Low,
}

// checkPermissions reports tokens with more rights than least privilege needs: the
// rights bound the damage of any code that gets into the job.
// https://docs.github.com/en/actions/reference/security/secure-use
func checkPermissions(p *Pass) {
	w := p.File.Workflow
	if w == nil {
		return
	}
	called := len(w.On) == 1 && p.File.StartsOn("workflow_call")
	missing := p.checkJobPermissions(w, called)
	if w.Permissions == nil {
		if missing == 0 && !called {
			f := p.newFinding(p.onPlace(), finding.LowConfidence, "The workflow sets no permissions for the jobs that "+
				"will be added to it")
			f.Terms = append(f.Terms, lowered("every job sets its own"))
			p.emit("missing-permissions", f)
		}
		return
	}
	p.checkBroadPermissions(w.Permissions, "in every job")
	p.checkWriteScopes(w)
}

// checkJobPermissions reports jobs without permissions of their own or of the workflow,
// and returns their number. A reusable workflow has at most the rights of its caller.
func (p *Pass) checkJobPermissions(w *actionlint.Workflow, called bool) int {
	missing := 0
	for _, j := range p.File.Jobs() {
		if j.Permissions != nil {
			p.checkBroadPermissions(j.Permissions, describeJob(j))
			continue
		}
		if w.Permissions != nil || called && j.WorkflowCall == nil {
			continue
		}
		missing++
		f := p.newFinding(workflow.PlaceAt(j.ID.Pos), "", "The token has the repository's default rights %s",
			describeJob(j))
		f.Fix = p.fixPermissions()
		p.emit("missing-permissions", f)
	}
	return missing
}

// checkWriteScopes reports the single rights to write that the workflow gives every job.
// With one job they may be what that job needs.
func (p *Pass) checkWriteScopes(w *actionlint.Workflow) {
	for _, s := range workflow.InOrder(w.Permissions.Scopes, func(s *actionlint.PermissionScope) *actionlint.Pos {
		return s.Name.Pos
	}) {
		if s.Value == nil || s.Value.Value != "write" {
			continue
		}
		f := p.newFinding(p.File.Place(s.Name), "", "The token may write %s in every job", s.Name.Value)
		f.Severity = finding.Medium
		if write[s.Name.Value].Rank() < finding.High.Rank() {
			f.Severity = finding.Low
		}
		if write[s.Name.Value].Rank() < finding.Medium.Rank() {
			f.Terms = append(f.Terms, lowered("an attacker gains little by it"))
		}
		if inheriting, needing := p.jobsWithScope(s.Name.Value); inheriting <= 1 || needing == inheriting {
			f.Severity, f.Confidence = finding.Low, finding.LowConfidence
			f.Terms = append(f.Terms, lowered("no job has the permission without a use for it"))
		} else {
			f.Message += fmt.Sprintf("; %d of %d jobs use it", needing, inheriting)
		}
		p.emit("excessive-permissions", f)
	}
}

// jobsWithScope returns how many jobs have the permissions of the workflow, and how many of these
// seem to use the right to write the scope.
func (p *Pass) jobsWithScope(scope string) (inheriting, needing int) {
	for _, b := range p.File.Bodies() {
		if b.Job == nil || b.Job.Permissions != nil {
			continue
		}
		inheriting++
		if b.Job.WorkflowCall != nil || usesScope(b, scope) {
			needing++ // a called workflow has at most the rights of its caller
		}
	}
	return inheriting, needing
}

var (
	// pushes matches commands and actions that change the repository or its releases, and asks
	// those that speak to GitHub's API for anything else.
	pushes = lazyregexp.New(`(?i)\bgit\s+(?:-\S+\s+)*push\b|\bgh\s+(?:release|pr\s+(?:merge|create)|api|repo|workflow)\b|semantic-release|changeset|goreleaser|release-please|auto-commit|add-and-commit|create-pull-request|gh-release|gh-pages|github-pages|release-(?:action|drafter)|git-push|github-push|backport|cherry|merge|github-script|crowdin|chart-releaser|create-release|upload-release`)
	asks   = lazyregexp.New(`(?i)\bgh\s|api\.github\.com|github-script|GITHUB_TOKEN|GH_TOKEN|github\.token`)
)

// usesScope reports whether a step of the job seems to use the right to write the scope. An action
// of somebody else takes the token by default, so that any may use the lesser scopes.
func usesScope(b workflow.Body, scope string) bool {
	for _, s := range b.Steps {
		if r := workflow.RunOf(s); r != nil {
			if pushes.MatchString(r.Run.Value) || scope != "contents" && asks.MatchString(r.Run.Value) {
				return true
			}
		}
		a := workflow.UsesOf(s)
		if a == nil {
			continue
		}
		name := actionSlug(a.Uses.Value)
		if pushes.MatchString(name) || deliversByName(name) || scope != "contents" &&
			!strings.HasPrefix(name, "actions/setup-") && name != "actions/checkout" && name != "actions/cache" {
			return true
		}
	}
	return false
}

// checkBroadPermissions reports permissions: write-all and read-all. Named scopes are
// the business of checkWriteScopes.
func (p *Pass) checkBroadPermissions(perms *actionlint.Permissions, where string) {
	if perms.All == nil {
		return
	}
	f := p.newFinding(p.File.Place(perms.All), "", "The token may %s everything %s",
		strings.TrimSuffix(perms.All.Value, "-all"), where)
	switch perms.All.Value {
	case "write-all":
		f.Severity = finding.High
	case "read-all":
		f.Severity, f.Confidence = finding.Low, finding.MediumConfidence
		f.Terms = append(f.Terms, lowered("the token can only read"))
	default:
		return
	}
	p.emit("excessive-permissions", f)
}

// checkUndocumentedPermissions finds permissions without a comment that explains them. A reviewer cannot
// tell a right that a step needs from one that is left over.
func checkUndocumentedPermissions(p *Pass) {
	var blocks []*document.Node
	blocks = append(blocks, p.File.Doc.Get("permissions"))
	if jobs := p.File.Doc.Get("jobs"); jobs.IsMap() {
		for _, e := range jobs.Entries {
			blocks = append(blocks, e.Value.Get("permissions"))
		}
	}
	for _, b := range blocks {
		if !b.IsMap() {
			continue
		}
		for _, e := range b.Entries {
			if e.Key == "contents" && e.Value.Text() == "read" || e.Value.Text() == "none" {
				continue
			}
			if _, ok := p.File.Source.Comment(e.Line); ok ||
				strings.HasPrefix(strings.TrimSpace(p.File.Source.Line(e.Line-1)), "#") {
				continue
			}
			p.report("undocumented-permission", p.File.Source.Whole(e.KeyNode()), "", "There is no comment on why "+
				"the token needs %s: %s", e.Key, e.Value.Text())
			break // once for a block
		}
	}
}

// checkConcurrency finds workflows of which any number of runs go on at once. Two
// deployments that overtake one another leave the older state, and a burst of pushes
// uses up the runners.
func checkConcurrency(p *Pass) {
	w := p.File.Workflow
	if w == nil || len(w.On) == 1 && p.File.StartsOn("workflow_call") {
		return
	}
	if w.Concurrency == nil {
		for _, j := range p.File.Jobs() {
			if j.Concurrency != nil {
				return
			}
		}
		f := p.newFinding(p.onPlace(), "", "Nothing limits how many runs of the workflow go on at once")
		f.Fix = p.fixConcurrency()
		p.emit("missing-concurrency", f)
		return
	}
	if w.Concurrency.CancelInProgress == nil {
		p.report("missing-concurrency", workflow.PlaceAt(w.Concurrency.Pos), "", "The concurrency group does not "+
			"state whether a newer run cancels the older one")
	}
}

// checkNames finds workflows and jobs without a name. The list of runs and the checks
// of a pull request show the name, and rules that require a check refer to it.
func checkNames(p *Pass) {
	first := document.Place{Line: 1, Column: 1, EndLine: 1}
	if len(p.File.Doc.Entries) > 0 {
		first = p.File.Source.Whole(p.File.Doc.Entries[0].KeyNode())
	}
	if p.File.Doc.Get("name").Text() == "" {
		p.report("anonymous-definition", first, "", "The file has no name to be shown")
	}
	for _, j := range p.File.Jobs() {
		if j.Name == nil || j.Name.Value == "" {
			p.report("anonymous-definition", p.File.Place(j.ID), "", "Job %q has no name to be shown", j.ID.Value)
		}
	}
}

// startingEvents lists what starts the file: of an action, everything that starts the
// workflows that use it. An action without a caller in the tree has none.
func (p *Pass) startingEvents() []string {
	return p.collectEvents(p.File, map[*workflow.File]bool{})
}

// collectEvents follows callers upwards. seen ends the recursion where workflows
// call each other.
func (p *Pass) collectEvents(f *workflow.File, seen map[*workflow.File]bool) []string {
	if seen[f] {
		return nil
	}
	seen[f] = true
	var out []string
	if f.Workflow != nil {
		for _, e := range f.Workflow.On {
			out = append(out, e.EventName())
		}
	}
	for _, c := range p.Tree.Callers(f) {
		out = append(out, p.collectEvents(c.From, seen)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// startingEvent returns the first of the events that starts the file, or "".
func (p *Pass) startingEvent(events []string) string {
	for _, e := range p.startingEvents() {
		if slices.Contains(events, e) {
			return e
		}
	}
	return ""
}

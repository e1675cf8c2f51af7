package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file looks at what attackers leave for privileged jobs to take up: in
// artifacts, and in caches of the default branch.

// checkArtifacts finds what other runs, or other jobs of the same run, left of an
// attacker's code and a privileged job takes up.
func checkArtifacts(p *Pass, b workflow.Body) {
	other := p.startingEvent([]string{"workflow_run"}) != ""
	same := p.startingEvent(withSecrets) != "" && p.buildsUntrustedCode(b)
	for i, s := range runnableSteps(b) {
		switch {
		case other && p.Flow.DownloadsArtifact(b.File, s):
			f := p.newFinding(p.stepPlace(s), "", "The artifact of a run that an attacker may have started is "+
				"used, %s", describeStep(b, i))
			if n, ok := p.runsCheckout(b, i); ok {
				f.Message += ", and " + stepName(b, n) + " works on it"
			} else {
				f.Severity, f.Confidence = finding.Low, finding.LowConfidence
				f.Terms = append(f.Terms, lowered("no step runs it"))
			}
			p.emit("artifact-poisoning", f)
		case same && downloadsOwnArtifact(s):
			if n, ok := p.runsCheckout(b, i); ok {
				f := p.newFinding(p.stepPlace(s), "", "The artifact comes from a job that ran untrusted code, and %s "+
					"uses it, %s", stepName(b, n), describeStep(b, i))
				f.Severity, f.Confidence = finding.Medium, finding.MediumConfidence
				p.emit("artifact-poisoning", f)
			}
		}
	}
}

// downloadsOwnArtifact reports whether the step takes up an artifact of its own run.
func downloadsOwnArtifact(s *actionlint.Step) bool {
	a := workflow.UsesOf(s)
	return a != nil && actionSlug(a.Uses.Value) == "actions/download-artifact" && inputText(a, "run-id") == ""
}

// withSecrets lists events that run with the secrets of the repository and whose
// pull requests attackers make.
var withSecrets = []string{"pull_request_target", "issue_comment", "workflow_run"}

// buildsUntrustedCode reports whether a job that the body's job waits for fetches what an
// attacker proposes and uploads something.
func (p *Pass) buildsUntrustedCode(b workflow.Body) bool {
	if b.Job == nil {
		return false
	}
	for _, need := range b.Job.Needs {
		j := p.File.Workflow.Jobs[strings.ToLower(need.Value)]
		if j == nil {
			continue
		}
		there, fetched := workflow.Body{File: p.File, Job: j, Steps: j.Steps}, false
		for i, s := range runnableSteps(there) {
			if _, ok := p.Flow.FetchesUntrusted(taint.Site{Body: there, Step: i}); ok {
				fetched = true
			}
			if a := workflow.UsesOf(s); fetched && a != nil && actionSlug(a.Uses.Value) == "actions/upload-artifact" {
				return true
			}
		}
	}
	return false
}

// outside matches folders that no build of the checkout looks into.
var outside = lazyregexp.New(`(?i)^["']?(?:/tmp\b|/var/tmp\b|\$\{?RUNNER_TEMP|\$\{\{\s*runner\.temp)`)

// stepFolder returns the folder that a step fills, when it is not the working folder
// itself.
func stepFolder(s *actionlint.Step) string {
	a := workflow.UsesOf(s)
	if a == nil {
		return ""
	}
	path := strings.TrimSuffix(strings.TrimPrefix(inputText(a, "path"), "./"), "/")
	if path == "." || strings.Contains(path, "github.workspace") ||
		strings.HasPrefix(actionSlug(a.Uses.Value), "actions/github-script") {
		return ""
	}
	if actionSlug(a.Uses.Value) != "actions/checkout" && !outside.MatchString(path) {
		return "" // an archive can write over its folder's surroundings
	}
	return path
}

// worksInFolder reports whether the step works in the folder. An empty folder is the
// working folder, in which every step works.
func worksInFolder(b workflow.Body, s *actionlint.Step, path string) bool {
	if path == "" || strings.Contains(path, "${{") && !outside.MatchString(path) {
		return true
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	if a := workflow.UsesOf(s); a != nil {
		return namesFolder(a, path, last)
	}
	r := workflow.RunOf(s)
	if r == nil {
		return false
	}
	dir := workingDirectory(b, r)
	return strings.Contains(r.Run.Value, last) || dir != nil && strings.Contains(dir.Value, last)
}

// namesFolder reports whether an action stands in the folder or is given its name.
func namesFolder(a *actionlint.ExecAction, path, last string) bool {
	if strings.HasPrefix(a.Uses.Value, "./") {
		return strings.HasPrefix(a.Uses.Value, "./"+path)
	}
	for _, in := range workflow.OrderedInputs(a) {
		if in.Value != nil && strings.Contains(in.Value.Value, last) {
			return true
		}
	}
	return false
}

// workingDirectory returns the folder that a script starts in, or nil for the workspace.
func workingDirectory(b workflow.Body, r *actionlint.ExecRun) *actionlint.String {
	if r.WorkingDirectory == nil && b.Job != nil && b.Job.Defaults != nil && b.Job.Defaults.Run != nil {
		return b.Job.Defaults.Run.WorkingDirectory
	}
	return r.WorkingDirectory
}

// checkUntrustedCache finds caches that a privileged run fills with an attacker's files:
// it runs for the default branch, whose caches every other run can restore.
func checkUntrustedCache(p *Pass, b workflow.Body) {
	event := p.startingEvent(withSecrets)
	if event == "" || p.File.Workflow == nil {
		return
	}
	fetched, runs := false, false
	for i, s := range runnableSteps(b) {
		if a := workflow.UsesOf(s); fetched && a != nil {
			if p.savesUntrusted(a, runs) {
				f := p.newFinding(p.File.Place(a.Uses), "", "%s saves a cache of untrusted files, and %s runs for "+
					"the default branch, %s", actionSlug(a.Uses.Value), event, describeStep(b, i))
				if isGuarded(p, b, s) {
					f.Confidence = finding.LowConfidence
				}
				p.emit("cache-poisoning", f)
			}
			continue
		}
		if _, ok := p.Flow.FetchesUntrusted(taint.Site{Body: b, Step: i}); ok {
			fetched = true
			_, runs = p.runsCheckout(b, i)
		}
	}
}

// savesUntrusted reports whether the action saves a cache that an attacker could fill:
// any cache once the job runs the attacker's code, and before that one of the checkout's
// own folder.
func (p *Pass) savesUntrusted(a *actionlint.ExecAction, runs bool) bool {
	slug := actionSlug(a.Uses.Value)
	name, _, _ := strings.Cut(a.Uses.Value, "@")
	c, ok := cachers[slug]
	if !ok || strings.HasSuffix(name, "/restore") {
		return false
	}
	on, _ := p.restoresCache(a, c)
	return on && (runs || slug == "actions/cache" && hasWorkspacePath(inputText(a, "path")))
}

// hasWorkspacePath reports whether a list of paths has one in the working folder.
func hasWorkspacePath(paths string) bool {
	for _, path := range strings.Fields(paths) {
		if !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "!") &&
			!outside.MatchString(path) {
			return true
		}
	}
	return false
}

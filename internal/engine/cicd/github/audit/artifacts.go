package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/flow"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file looks at what strangers leave for privileged jobs to take up: in
// artifacts, and in caches of the default branch.

// artifacts finds what other runs, or other jobs of the same run, left of a
// stranger's code and a privileged job takes up.
func artifacts(p *Pass, b workflow.Body) {
	other := p.startedBy([]string{"workflow_run"}) != ""
	same := p.startedBy(withSecrets) != "" && p.buildsStrange(b)
	for i, s := range live(b) {
		a := workflow.Uses(s)
		switch {
		case other && p.Flow.TakesArtifact(b.File, s):
		case same && a != nil && slug(a.Uses.Value) == "actions/download-artifact" && with(a, "run-id") == "":
			if n, ok := p.runsAfter(b, i); ok {
				f := p.finding(p.atStep(s), "", "The artifact comes of a job that ran a stranger's code, and %s "+
					"works on it, %s", stepName(b, n), where(b, i))
				f.Severity, f.Confidence = finding.Medium, finding.Likely
				p.Out(Rules["artifact-poisoning"], f)
			}
			continue
		default:
			continue
		}
		f := p.finding(p.atStep(s), "", "The artifact of a run that a stranger may have started is taken up, %s",
			where(b, i))
		if n, ok := p.runsAfter(b, i); ok {
			f.Message += ", and " + stepName(b, n) + " works on it"
		} else {
			f.Severity, f.Confidence = finding.Low, finding.Uncertain
		}
		p.Out(Rules["artifact-poisoning"], f)
	}
}

// withSecrets lists events that run with the secrets of the repository and whose
// pull requests strangers make.
var withSecrets = []string{"pull_request_target", "issue_comment", "workflow_run"}

// buildsStrange reports whether a job that the body's job waits for fetches what a
// stranger proposes and uploads something.
func (p *Pass) buildsStrange(b workflow.Body) bool {
	if b.Job == nil {
		return false
	}
	for _, need := range b.Job.Needs {
		j := p.File.Workflow.Jobs[strings.ToLower(need.Value)]
		if j == nil {
			continue
		}
		there, fetched := workflow.Body{File: p.File, Job: j, Steps: j.Steps}, false
		for i, s := range live(there) {
			if _, ok := p.Flow.Fetches(flow.Place{Body: there, Step: i}); ok {
				fetched = true
			}
			if a := workflow.Uses(s); fetched && a != nil && slug(a.Uses.Value) == "actions/upload-artifact" {
				return true
			}
		}
	}
	return false
}

// outside matches folders that no build of the checkout looks into.
var outside = lazyregexp.New(`(?i)^["']?(?:/tmp\b|/var/tmp\b|\$\{?RUNNER_TEMP|\$\{\{\s*runner\.temp)`)

// folder returns the folder that a step fills, when it is not the working folder
// itself.
func folder(s *actionlint.Step) string {
	a := workflow.Uses(s)
	if a == nil {
		return ""
	}
	path := strings.TrimSuffix(strings.TrimPrefix(with(a, "path"), "./"), "/")
	if path == "." || strings.Contains(path, "github.workspace") ||
		strings.HasPrefix(slug(a.Uses.Value), "actions/github-script") {
		return ""
	}
	if slug(a.Uses.Value) != "actions/checkout" && !outside.MatchString(path) {
		return "" // an archive can write over its folder's surroundings
	}
	return path
}

// within reports whether the step works in the folder. An empty folder is the
// working folder, in which every step works.
func within(b workflow.Body, s *actionlint.Step, path string) bool {
	if path == "" || strings.Contains(path, "${{") && !outside.MatchString(path) {
		return true
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	if a := workflow.Uses(s); a != nil {
		if strings.HasPrefix(a.Uses.Value, "./") {
			return strings.HasPrefix(a.Uses.Value, "./"+path)
		}
		for _, in := range workflow.Inputs(a) {
			if in.Value != nil && strings.Contains(in.Value.Value, last) {
				return true
			}
		}
		return false
	}
	r := workflow.Run(s)
	if r == nil {
		return false
	}
	dir := r.WorkingDirectory
	if dir == nil && b.Job != nil && b.Job.Defaults != nil && b.Job.Defaults.Run != nil {
		dir = b.Job.Defaults.Run.WorkingDirectory
	}
	return strings.Contains(r.Run.Value, last) || dir != nil && strings.Contains(dir.Value, last)
}

// strangeCache finds caches that a privileged run fills with a stranger's files:
// it runs for the default branch, whose caches every other run can restore.
func strangeCache(p *Pass, b workflow.Body) {
	event := p.startedBy(withSecrets)
	if event == "" || p.File.Workflow == nil {
		return
	}
	fetched, runs := false, false
	for i, s := range live(b) {
		if a := workflow.Uses(s); fetched && a != nil {
			name, _, _ := strings.Cut(a.Uses.Value, "@")
			c, ok := cachers[slug(a.Uses.Value)]
			if !ok || strings.HasSuffix(name, "/restore") {
				continue
			}
			if on, _ := p.restores(a, c); on && (runs || slug(a.Uses.Value) == "actions/cache" &&
				ownFiles(with(a, "path"))) {
				f := p.finding(p.File.Place(a.Uses), "", "%s saves a cache of what a stranger wrote, and %s runs for "+
					"the default branch, %s", slug(a.Uses.Value), event, where(b, i))
				if guarded(p, b, s) {
					f.Confidence = finding.Uncertain
				}
				p.Out(Rules["cache-poisoning"], f)
			}
			continue
		}
		if _, ok := p.Flow.Fetches(flow.Place{Body: b, Step: i}); ok {
			fetched = true
			_, runs = p.runsAfter(b, i)
		}
	}
}

// ownFiles reports whether a list of paths has one in the working folder.
func ownFiles(paths string) bool {
	for _, path := range strings.Fields(paths) {
		if !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "!") &&
			!outside.MatchString(path) {
			return true
		}
	}
	return false
}

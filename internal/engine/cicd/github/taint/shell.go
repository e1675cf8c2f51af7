package taint

import (
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
)

// This file follows values through shell scripts: their variables, and what their
// commands read in.

// shellOrigins returns the origins of a text in a script: of its expressions, of the
// variables that it expands, as the script or the step's env sets them, and of what its
// commands read. whole is the script that the text stands in; a variable that it checks
// against a strict pattern is safe.
func (f *Tracker) shellOrigins(text, whole, path string, at Site, depth int) []Origin {
	if f.work++; depth > maxDepth || f.work > maxWork {
		return singleOrigin(Unknown, path)
	}
	var out []Origin
	for _, e := range expression.FindAll(text) {
		out = append(out, f.expressionOrigins(e.Root, at, depth)...)
	}
	assigned, checked := script.ParseAssignments(whole), script.ValidatedVariables(whole)
	for _, v := range script.ExpandedVariables(text) {
		if v == "GITHUB_EVENT_PATH" {
			continue
		}
		if checked[v] {
			out = append(out, Origin{Trust: Safe, Context: "$" + v})
			continue
		}
		if how, ok := assigned[v]; ok {
			delete(assigned, v)
			without := strings.ReplaceAll("\n"+whole, "\n"+v+"=", "\n_=")
			out = append(out, f.shellOrigins(how, without, path, at, depth+3)...)
			continue
		}
		out = append(out, f.shellVariableOrigins(v, path, at, depth)...)
	}
	if script.HasSubstitution(text) {
		out = f.commandOrigins(text, out, path, at, depth)
	}
	if len(out) > maxOrigins {
		out = out[:maxOrigins]
	}
	return out
}

// commandOrigins adds the origins of what the commands in the text read. What jq takes
// out of a variable is a part of that variable's value. Commands that read files are as
// tainted as the files of the folder.
func (f *Tracker) commandOrigins(text string, out []Origin, path string, at Site, depth int) []Origin {
	if q, ok := script.JQPath(text); ok {
		for i := range out {
			out[i] = memberOrigin(out[i], q)
		}
	}
	line := false
	for _, r := range script.ParseReads(text) {
		line = line || r.OneLine
		if r.Context != "" {
			o := originOfField(r.Context)
			out = slices.DeleteFunc(out, func(o Origin) bool { return o.Trust == Unknown }) // arguments of the command
			if strings.HasPrefix(r.Context, "git.") {
				if strange, ok := f.findUntrustedFiles(at, depth); !ok {
					continue
				} else if o.Trust = Untrusted; strange.Context != "" {
					o.Context = "what git says of " + strange.Context
				}
			}
			o.OneLine = r.OneLine
			out = append(out, o)
			continue
		}
		if o, ok := f.findUntrustedFiles(at, depth); ok {
			o.Context = "a file of " + o.Context
			o.OneLine = r.OneLine
			out = append(out, o)
		}
	}
	if len(out) == 0 {
		return []Origin{{Trust: Unknown, Context: path, OneLine: line}}
	}
	return out
}

// UntrustedFiles reports whether an earlier step put attackers' files into the folder,
// and whose they are. Actions that read configuration from the folder are then under
// the attacker's control.
func (f *Tracker) UntrustedFiles(at Site) (Origin, bool) {
	f.work = 0
	return f.findUntrustedFiles(at, 0)
}

// findUntrustedFiles reports whether an earlier step of the job put attackers' files into the
// folder: an artifact of another run, or the head of a pull request.
func (f *Tracker) findUntrustedFiles(at Site, depth int) (Origin, bool) {
	if depth > maxDepth {
		return Origin{}, false
	}
	for i, s := range at.earlierSteps() {
		there := at
		there.Step = i
		if f.DownloadsArtifact(at.Body.File, s) && at.Body.File.Workflow != nil &&
			at.Body.File.StartsOn("workflow_run") {
			return Origin{Trust: Untrusted, Context: "the artifact of another run"}, true
		}
		if at.Body.File.Workflow == nil || !at.Body.File.StartsOn("pull_request_target", "issue_comment",
			"workflow_run") {
			continue
		}
		if what, ok := f.fetchesUntrusted(there, depth+1); ok {
			return Origin{Trust: Untrusted, Context: what}, true
		}
	}
	return Origin{}, false
}

// DownloadsArtifact reports whether the step, or the local action that it uses, takes
// up what another run left.
func (f *Tracker) DownloadsArtifact(file *workflow.File, s *actionlint.Step) bool {
	if a := workflow.UsesOf(s); a != nil {
		if to := f.Tree.ResolveLocal(file, a.Uses.Value); to != nil && to.Action != nil {
			return slices.ContainsFunc(to.Action.Steps, downloadsArtifact)
		}
	}
	return downloadsArtifact(s)
}

// downloadsArtifact recognizes the well-known actions and the API calls that fetch
// artifacts of another run, whose content an untrusted pull request can choose.
func downloadsArtifact(s *actionlint.Step) bool {
	if a := workflow.UsesOf(s); a != nil {
		switch name := ActionSlug(a.Uses.Value); name {
		case "actions/download-artifact": // without a run-id it is the run's own
			return strings.TrimSpace(workflow.InputText(a, "run-id")) != ""
		case "actions/github-script":
			return strings.Contains(workflow.InputText(a, "script"), "downloadArtifact")
		default:
			return artifactActions[name]
		}
	}
	r := workflow.RunOf(s)
	return r != nil && scriptDownloadsArtifact(r.Run.Value)
}

// scriptDownloadsArtifact reports whether a script fetches an artifact with GitHub's
// client, or with a request to the API.
func scriptDownloadsArtifact(text string) bool {
	return strings.Contains(text, "gh run download") || strings.Contains(text, "/artifacts/") &&
		(strings.Contains(text, "gh api") || strings.Contains(text, "curl")) ||
		strings.Contains(text, "archive_download_url") && strings.Contains(text, "unzip")
}

// artifactActions lists actions whose purpose is to fetch the artifacts of other
// runs.
var artifactActions = map[string]bool{"dawidd6/action-download-artifact": true, "levonet/action-download-last-artifact": true,
	"aochmann/actions-download-artifact":   true,
	"bettermarks/action-artifact-download": true, "ishworkh/docker-image-artifact-download": true,
	"ishworkh/container-image-artifact-download":      true,
	"marcofaggian/action-download-multiple-artifacts": true, "blablacar/action-download-last-artifact": true,
	"redhat-plumbers-in-action/download-artifact": true}

// ActionSlug returns owner/name of what uses names, in lower case.
func ActionSlug(uses string) string {
	uses, _, _ = strings.Cut(strings.ToLower(uses), "@")
	parts := strings.SplitN(uses, "/", 3)
	if len(parts) < 2 || strings.HasPrefix(uses, ".") || strings.HasPrefix(uses, "docker:") {
		return uses
	}
	return parts[0] + "/" + parts[1]
}

// shellVariableOrigins returns the origins of a variable that a script does not set.
func (f *Tracker) shellVariableOrigins(v, path string, at Site, depth int) []Origin {
	if t, ok := runnerVariables[v]; ok {
		return singleOrigin(t, "$"+v)
	}
	if strings.HasPrefix(v, "GITHUB_") || strings.HasPrefix(v, "RUNNER_") {
		return singleOrigin(Safe, "$"+v)
	}
	return f.envOrigins(strings.ToLower(v), path, at, depth+1)
}

// runnerVariables lists the variables of the runner that attackers or writers
// choose.
var runnerVariables = map[string]Trust{"GITHUB_HEAD_REF": Untrusted, "GITHUB_REF": Writers, "GITHUB_REF_NAME": Writers,
	"GITHUB_BASE_REF": Writers}

// ShellOrigins returns the origins of a text in a script: of its expressions, of the
// variables that it expands, and of what its commands read.
func (f *Tracker) ShellOrigins(text, whole string, at Site) []Origin {
	f.work = 0
	return f.shellOrigins(text, whole, "", at, 0)
}

package flow

import "strings"

// This file says who chooses the texts in what GitHub's API and its events tell.

// members lists names in those texts that strangers choose, whatever they are a
// part of.
var members = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`title body message messageheadline messagebody filename previous_filename description
		homepage display_title head_branch label bodytext bio company`) {
		m[n] = true
	}
	return m
}()

// ofFiles lists names whose entries hold a "path" or a "name" that strangers choose.
var ofFiles = map[string]bool{"files": true, "commits": true}

// told returns the origin of a text that GitHub tells, by its context: fields of
// pull requests, issues, comments and commits.
func told(context string) Origin {
	o := Origin{Context: context, Trust: github(context)}
	parts := strings.Split(context, ".")
	last := parts[len(parts)-1]
	switch {
	case context == "git.message" || context == "git.files":
		o.Trust = Unknown // until it is known whose commits these are
	case o.Trust == Anybody:
	case last == "ref" && len(parts) > 1 && parts[len(parts)-2] == "head", members[last]:
		o.Trust = Anybody
	case (last == "path" || last == "name") && len(parts) > 2 && (ofFiles[parts[len(parts)-2]] || ofFiles[parts[len(parts)-3]]):

		o.Trust = Anybody
	}
	return o
}

// member returns the origin of a part of a text that an origin tells: of an
// object as GitHub gives it, the object's field.
func member(o Origin, path string) Origin {
	if path == "" || !holder(o.Context) {
		return o
	}
	path = strings.TrimPrefix(path, "data.")
	if path == "data" {
		return o
	}
	part := told(o.Context + "." + strings.TrimPrefix(path, "*."))
	part.Path = o.Path
	return part
}

// holder reports whether the context is a whole object of GitHub's.
func holder(context string) bool {
	return matches(whole, strings.Split(context, ".")) || context == "github.event.branch"
}

// head reports whether the context names a stranger's commit, branch or
// repository.
func head(o Origin) bool {
	for _, part := range []string{"pull_request.head", "head_ref", "workflow_run.head_", "workflow_run.pull_requests",
		"head_sha", "merge_commit_sha", "pull_request.number", "issue.number"} {
		if strings.Contains(o.Context, part) {
			return true
		}
	}
	return o.Trust == Anybody
}

// Lines reports whether the text may have several lines: bodies and messages have,
// titles and names of branches have not.
func (o Origin) Lines() bool {
	if o.OneLine {
		return false
	}
	last := o.Context[strings.LastIndexByte(o.Context, '.')+1:]
	switch last {
	case "body", "message", "messagebody", "bodytext", "description":
		return true
	}
	return strings.HasPrefix(o.Context, "a file of ") || strings.HasPrefix(o.Context, "what git says")
}

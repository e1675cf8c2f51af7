package taint

import "strings"

// This file says who chooses the texts in what GitHub's API and its events tell.

// members lists names in those texts that attackers choose, whatever they are a
// part of.
var members = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`title body message messageheadline messagebody filename previous_filename description
		homepage display_title head_branch label bodytext bio company`) {
		m[n] = true
	}
	return m
}()

// ofFiles lists names whose entries hold a "path" or a "name" that attackers choose.
var ofFiles = map[string]bool{"files": true, "commits": true}

// originOfField returns the origin of a text that GitHub tells, by its context: fields of
// pull requests, issues, comments and commits.
func originOfField(context string) Origin {
	o := Origin{Context: context, Trust: githubTrust(context)}
	parts := strings.Split(context, ".")
	last := parts[len(parts)-1]
	switch {
	case context == "git.message" || context == "git.files":
		o.Trust = Unknown // until it is known whose commits these are
	case o.Trust == Untrusted:
	case last == "ref" && len(parts) > 1 && parts[len(parts)-2] == "head", members[last]:
		o.Trust = Untrusted
	case (last == "path" || last == "name") && len(parts) > 2 &&
		(ofFiles[parts[len(parts)-2]] || ofFiles[parts[len(parts)-3]]):
		o.Trust = Untrusted
	}
	return o
}

// memberOrigin returns the origin of a part of a text that an origin tells: of an
// object as GitHub gives it, the object's field.
func memberOrigin(o Origin, path string) Origin {
	if path == "" || !isWholeObject(o.Context) {
		return o
	}
	path = strings.TrimPrefix(path, "data.")
	if path == "data" {
		return o
	}
	part := originOfField(o.Context + "." + strings.TrimPrefix(path, "*."))
	part.Path = o.Path
	return part
}

// isWholeObject reports whether the context is a whole object of GitHub's. Its members
// differ in who chooses them.
func isWholeObject(context string) bool {
	return matchesPattern(whole, strings.Split(context, ".")) || context == "github.event.branch"
}

// namesUntrustedHead reports whether the context names an attacker's commit, branch or
// repository. A number leads there too, since git can fetch pull/NUMBER/head.
func namesUntrustedHead(o Origin) bool {
	for _, part := range []string{"pull_request.head", "head_ref", "workflow_run.head_", "workflow_run.pull_requests",
		"head_sha", "merge_commit_sha", "pull_request.number", "issue.number"} {
		if strings.Contains(o.Context, part) {
			return true
		}
	}
	return o.Trust == Untrusted
}

// MayHaveLines reports whether the text may have several lines: bodies and messages have,
// titles and names of branches have not.
func (o Origin) MayHaveLines() bool {
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

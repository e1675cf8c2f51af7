package taint

import (
	"slices"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/lazyregexp"
)

// This file finds steps that fetch what an attacker proposes.

var (
	// headInScript matches commands that name the head of a pull request; gitFetch
	// those that fetch any ref, with the rest of the line; headRef refs of pull
	// requests in the inputs of an action.
	headInScript = lazyregexp.New(`\b(?:gh|hub)\s+pr\s+checkout\b|\bgit\s+(?:-\S+\s+)*(?:fetch|pull|checkout|switch|merge|clone|reset|worktree|cherry-pick|rebase)\b.*(?:pull/|refs/pull|head[._]ref|head[._]sha|HEAD_REF|HEAD_SHA|PR_HEAD|\.head\.)`)
	gitFetch     = lazyregexp.New(`\bgit\s+(?:-\S+\s+)*(?:fetch|pull|checkout|switch|merge|clone|reset|worktree|rebase)\b(.*)`)
	headRef      = lazyregexp.New(`refs/pull/|pull/\$\{\{|/merge\b`)
)

// FetchesUntrusted reports whether the step at the place fetches what an attacker proposes,
// and what: a ref, or the head of the pull request.
func (f *Tracker) FetchesUntrusted(at Site) (string, bool) {
	f.work = 0
	return f.fetchesUntrusted(at, 0)
}

// fetchesUntrusted is FetchesUntrusted within the work of a value that is followed
// already.
func (f *Tracker) fetchesUntrusted(at Site, depth int) (string, bool) {
	s := at.currentStep()
	if r := workflow.RunOf(s); r != nil {
		if f.scriptFetchesUntrusted(r.Run.Value, at, depth) {
			return "the head of the pull request", true
		}
		return "", false
	}
	a := workflow.UsesOf(s)
	if a == nil || !checksOut[ActionSlug(a.Uses.Value)] {
		return "", false
	}
	for _, name := range []string{"ref", "repository", "branch"} {
		in := a.Inputs[name]
		if in == nil || in.Value == nil {
			continue
		}
		if headRef.MatchString(in.Value.Value) {
			return in.Value.Value, true
		}
		if what, ok := f.namesUntrustedRef(in.Value.Value, at, depth); ok {
			return what, true
		}
	}
	return "", false
}

// scriptFetchesUntrusted reports whether a line of a script fetches the head of a pull
// request with git or GitHub's client.
func (f *Tracker) scriptFetchesUntrusted(text string, at Site, depth int) bool {
	for _, l := range script.SplitLines(text) {
		if headInScript.MatchString(l.Text) {
			return true
		}
		m := gitFetch.FindStringSubmatch(l.Text)
		if m == nil || len(script.ExpandedVariables(m[1])) == 0 && len(expression.FindAll(m[1])) == 0 {
			continue
		}
		if slices.ContainsFunc(f.shellOrigins(m[1], text, "", at, depth+2), namesUntrustedHead) {
			return true
		}
	}
	return false
}

// namesUntrustedRef returns the first expression of a ref that names an attacker's
// commit, branch or repository.
func (f *Tracker) namesUntrustedRef(ref string, at Site, depth int) (string, bool) {
	for _, e := range expression.FindAll(ref) {
		if e.Root != nil && slices.ContainsFunc(f.expressionOrigins(e.Root, at, depth+1), namesUntrustedHead) {
			return "${{" + e.Text + "}}", true
		}
	}
	return "", false
}

// checksOut lists actions that fetch a ref of a repository.
var checksOut = map[string]bool{"actions/checkout": true, "taiki-e/checkout-action": true, "zhxchen17/checkout": true,
	"bhacaz/checkout-files": true, "dawidd6/action-checkout-pr": true}

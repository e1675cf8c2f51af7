package taint

import (
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/lazyregexp"
)

// This file finds steps that fetch what an attacker proposes.

var (
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

func (f *Tracker) fetchesUntrusted(at Site, depth int) (string, bool) {
	s := at.currentStep()
	if r := workflow.RunOf(s); r != nil {
		for _, l := range script.SplitLines(r.Run.Value) {
			if headInScript.MatchString(l.Text) {
				return "the head of the pull request", true
			}
			m := gitFetch.FindStringSubmatch(l.Text)
			if m == nil || len(script.ExpandedVariables(m[1])) == 0 && len(expression.FindAll(m[1])) == 0 {
				continue
			}
			for _, o := range f.shellOrigins(m[1], r.Run.Value, "", at, depth+2) {
				if namesUntrustedHead(o) {
					return "the head of the pull request", true
				}
			}
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
		for _, e := range expression.FindAll(in.Value.Value) {
			if e.Root == nil {
				continue
			}
			for _, o := range f.expressionOrigins(e.Root, at, depth+1) {
				if namesUntrustedHead(o) {
					return "${{" + e.Text + "}}", true
				}
			}
		}
	}
	return "", false
}

// checksOut lists actions that fetch a ref of a repository.
var checksOut = map[string]bool{"actions/checkout": true, "taiki-e/checkout-action": true, "zhxchen17/checkout": true,
	"bhacaz/checkout-files": true, "dawidd6/action-checkout-pr": true}

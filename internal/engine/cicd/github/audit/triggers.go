package audit

import (
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/severity"
)

// This file looks at jobs that anybody starts by a comment.

// commentEvents are the events of comments. Everyone with an account writes them on public
// repositories, and the job runs with the secrets of the default branch.
var commentEvents = []string{"issue_comment", "discussion_comment", "pull_request_review_comment"}

// checkCommentTrigger finds jobs that a comment of anybody starts, that have a secret or a token to
// write, and that run code of others: packages, actions or scripts that may change. The commenter
// chooses the time and the pull request, as often as he likes. A condition on the text of the
// comment is no check of its author.
func checkCommentTrigger(p *Pass, b workflow.Body) {
	e := p.File.Event(commentEvents...)
	if e == nil || b.Job == nil || b.Job.WorkflowCall != nil || isNeverTrue(b.Job.If) || isGuarded(p, b, nil) ||
		isPermissionChecked(b.Steps, nil) {
		return
	}
	v := p.privilegeOf(b)
	if v.secret == "" && v.weight == "" {
		return
	}
	foreign := p.runsForeignCode(b, -1)
	if foreign == "" {
		return
	}
	for i := range b.Steps {
		if _, ok := p.Flow.FetchesUntrusted(taint.Site{Body: b, Step: i}); ok {
			return // which is worse, and reported by itself
		}
	}
	f := p.newFinding(p.File.Place(b.Job.ID), "", "%s of any user starts job %q: no condition asks who wrote it, "+
		"and %s "+
		"runs code of others", e.EventName(), b.Job.ID.Value, foreign)
	f.Terms = capTerms(v.terms(), 2*severity.Raised)
	p.emit("comment-trigger", f)
}

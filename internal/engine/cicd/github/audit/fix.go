package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file makes the edits that remove a weakness from a workflow. An edit replaces whole lines and
// keeps the style of the file; where the style leaves no room for a safe edit, such as steps in flow
// style, there is none, and the text of the rule says what to type.

// indented writes a line with n spaces before it.
func indented(n int, text string) string { return strings.Repeat(" ", n) + text }

// newFix makes a fix of the file from edits in the order of their lines, and nil of none.
func (p *Pass) newFix(description string, edits ...finding.Edit) *finding.Fix {
	if len(edits) == 0 {
		return nil
	}
	return &finding.Fix{Description: description, Path: p.File.Path, Edits: edits}
}

// insertBefore is an edit that inserts lines before a line.
func insertBefore(line int, lines ...string) finding.Edit {
	return finding.Edit{StartLine: line, EndLine: line - 1, Lines: lines}
}

// replaceLine is an edit that replaces one line.
func replaceLine(line int, lines ...string) finding.Edit {
	return finding.Edit{StartLine: line, EndLine: line, Lines: lines}
}

// startsLine reports whether nothing but white space, and dashes of lists, stands before a position.
func (p *Pass) startsLine(at *actionlint.Pos) bool {
	line := p.File.Source.Line(at.Line)
	return at.Col >= 1 && at.Col-1 <= len(line) && strings.Trim(line[:at.Col-1], " -") == ""
}

// setInput returns the edits that set an input of a step's action, or nil.
func (p *Pass) setInput(s *actionlint.Step, a *actionlint.ExecAction, name, value string) []finding.Edit {
	if in := a.Inputs[name]; in != nil {
		if !p.startsLine(in.Name.Pos) || in.Value == nil || strings.Contains(in.Value.Value, "\n") {
			return nil
		}
		return []finding.Edit{replaceLine(in.Name.Pos.Line, indented(in.Name.Pos.Col-1, name+": "+value))}
	}
	if all := workflow.OrderedInputs(a); len(all) > 0 {
		first := all[0].Name.Pos
		if p.startsLine(first) {
			return []finding.Edit{insertBefore(first.Line, indented(first.Col-1, name+": "+value))}
		}
		line := p.File.Source.Line(first.Line) // with: {ref: main}
		if before, after, ok := strings.Cut(line, "with: {"); ok && !strings.Contains(before, "{") {
			return []finding.Edit{replaceLine(first.Line, before+"with: {"+name+": "+value+", "+
				strings.TrimLeft(after, " "))}
		}
		return nil
	}
	line := p.File.Source.Line(a.Uses.Pos.Line)
	if !p.startsLine(s.Pos) || !usesLine.MatchString(line) {
		return nil
	}
	return []finding.Edit{insertBefore(a.Uses.Pos.Line+1, indented(s.Pos.Col-1, "with:"),
		indented(s.Pos.Col+1, name+": "+value))}
}

// usesLine matches a line with uses in block style.
var usesLine = lazyregexp.New(`^\s*(?:-\s+)?uses:\s*\S+\s*(?:#.*)?$`)

// fixPersisted sets persist-credentials of a checkout to false.
func (p *Pass) fixPersisted(s *actionlint.Step, a *actionlint.ExecAction) *finding.Fix {
	return p.newFix("Do not leave the token of the checkout "+
		"on disk", p.setInput(s, a, "persist-credentials", "false")...)
}

// fixCache switches the cache of a setup action off.
func (p *Pass) fixCache(s *actionlint.Step, a *actionlint.ExecAction, c cacheAction) *finding.Fix {
	if c.input == "" || !c.def && a.Inputs[c.input] == nil {
		return nil
	}
	off := "false"
	if len(c.off) > 0 {
		off = c.off[0]
	}
	if in := a.Inputs[c.input]; in != nil && c.off == nil && !c.def { // cache: npm
		if !p.startsLine(in.Name.Pos) || len(a.Inputs) == 1 {
			return nil
		}
		return p.newFix("Build the release without the cache", replaceLine(in.Name.Pos.Line))
	}
	return p.newFix("Build the release without the cache", p.setInput(s, a, c.input, off)...)
}

// fixPermissions declares that the token of the workflow reads the repository. It is left out where a
// job seems to use its token for more: that job needs permissions of its own first.
func (p *Pass) fixPermissions() *finding.Fix {
	key := p.File.Doc.Key("jobs")
	w := p.File.Workflow
	if key == nil || w.Permissions != nil || key.Column != 1 {
		return nil
	}
	for _, b := range p.File.Bodies() {
		if b.Job.Permissions == nil && (b.Job.WorkflowCall != nil || usesScope(b, "issues") || hasOwnToken(b)) {
			return nil
		}
	}
	return p.newFix("Let the token only read the repository", insertBefore(key.Line, "permissions:", "  contents: read",
		""))
}

// hasOwnToken reports whether a step is given the token of the job.
func hasOwnToken(b workflow.Body) bool {
	for _, s := range b.Steps {
		for _, v := range workflow.OrderedVars(s.Env) {
			if v.Value != nil && ownToken.MatchString(v.Value.Value) {
				return true
			}
		}
		if a := workflow.UsesOf(s); a != nil {
			for _, in := range workflow.OrderedInputs(a) {
				if in.Value != nil && ownToken.MatchString(in.Value.Value) {
					return true
				}
			}
		}
	}
	return false
}

// ownToken matches the expressions of the token of the job.
var ownToken = lazyregexp.New(`(?i)secrets\.GITHUB_TOKEN|github\.token`)

// fixConcurrency limits the runs of the workflow.
func (p *Pass) fixConcurrency() *finding.Fix {
	key := p.File.Doc.Key("jobs")
	if key == nil || key.Column != 1 {
		return nil
	}
	return p.newFix("Let a newer run replace the older one", insertBefore(key.Line, "concurrency:",
		"  group: ${{ github.workflow }}-${{ github.ref }}", "  cancel-in-progress: true", ""))
}

// fixActor compares the author of the pull request and not the actor of the last event. Only events
// of pull requests have an author.
func (p *Pass) fixActor(s *actionlint.String) *finding.Fix {
	if p.File.Workflow == nil {
		return nil
	}
	for _, e := range p.File.Workflow.On {
		if e.EventName() != "pull_request" && e.EventName() != "pull_request_target" {
			return nil
		}
	}
	line := p.File.Source.Line(s.Pos.Line)
	changed := actorContext.ReplaceAllString(line, "github.event.pull_request.user.login")
	if changed == line || strings.Contains(s.Value, "\n") {
		return nil
	}
	return p.newFix("Compare the author of the pull request", replaceLine(s.Pos.Line, changed))
}

// actorContext matches the name of who caused the last event.
var actorContext = lazyregexp.New(`github\.(?:actor|triggering_actor|event\.sender\.login|event\.pull_request\.sender\.login)\b`)

// fixCondition removes the line break behind an expression: if: | has one, which makes a text of the
// condition, and if: |- has none.
func (p *Pass) fixCondition(s *actionlint.String, expression string) *finding.Fix {
	line := p.File.Source.Line(s.Pos.Line)
	if strings.TrimSpace(s.Value) != strings.TrimSpace(expression) || !blockCondition.MatchString(line) {
		return nil
	}
	return p.newFix("Leave no line break behind the expression", replaceLine(s.Pos.Line, strings.TrimRight(line, " ")+
		"-"))
}

// blockCondition matches a condition as a block whose last line break stays.
var blockCondition = lazyregexp.New(`\bif:\s*[|>]\s*$`)

// fixVariable sets a variable of the runner to false, which is as good as removing it, and leaves a
// map of variables that has no other.
func (p *Pass) fixVariable(v *actionlint.EnvVar) *finding.Fix {
	if !p.startsLine(v.Name.Pos) {
		return nil
	}
	return p.newFix("Switch "+v.Name.Value+" off", replaceLine(v.Name.Pos.Line, indented(v.Name.Pos.Col-1,
		v.Name.Value+": false")))
}

// fixInherit lists the secrets that a called workflow of the tree declares.
func (p *Pass) fixInherit(c *actionlint.WorkflowCall) *finding.Fix {
	called := p.Tree.ResolveLocal(p.File, c.Uses.Value)
	if called == nil || called.Workflow == nil {
		return nil
	}
	e, ok := called.Event("workflow_call").(*actionlint.WorkflowCallEvent)
	if !ok || e == nil || len(e.Secrets) == 0 {
		return nil
	}
	for n := c.Uses.Pos.Line; n < c.Uses.Pos.Line+40; n++ {
		line := p.File.Source.Line(n)
		if !inheritLine.MatchString(line) {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		lines := []string{indented(indent, "secrets:")}
		for _, s := range workflow.InOrder(e.Secrets, func(s *actionlint.WorkflowCallEventSecret) *actionlint.Pos {
			return s.Name.Pos
		}) {
			lines = append(lines, indented(indent+2, s.Name.Value+": ${{ secrets."+s.Name.Value+" }}"))
		}
		return p.newFix("Hand over the secrets that the workflow declares", replaceLine(n, lines...))
	}
	return nil
}

// inheritLine matches the line that hands every secret to a called workflow.
var inheritLine = lazyregexp.New(`^\s*secrets:\s*["']?inherit["']?\s*(?:#.*)?$`)

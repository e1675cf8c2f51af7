package audit

import (
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/flow"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
)

// This file looks at what starts a workflow, what its token may do, and its form.

// privileged lists the events that strangers cause and that run with the
// repository's secrets and token.
var privileged = []string{"pull_request_target", "workflow_run", "issue_comment", "issues", "discussion",
	"discussion_comment", "fork", "watch", "gollum"}

// public lists the events that strangers cause at all.
var public = append([]string{"pull_request", "pull_request_review", "pull_request_review_comment"}, privileged...)

// on returns the place of on.
func (p *Pass) on() document.Place {
	if k := p.File.Doc.Key("on"); k != nil {
		return p.File.Source.Whole(k)
	}
	return document.Place{Line: 1, Column: 1, EndLine: 1}
}

func triggers(p *Pass) {
	for _, name := range []string{"pull_request_target", "workflow_run"} {
		e := p.File.Event(name)
		if e == nil || name == "pull_request_target" && onlyLabels(p.File) {
			continue
		}
		sure := finding.Confidence("")
		if !p.takesStrange() {
			sure = finding.Uncertain // until somebody adds a step that does
		}
		p.report("dangerous-trigger", workflow.At(workflow.EventPos(e)), sure, "%s runs with the secrets of this "+
			"repository on what strangers propose", name)
	}
}

// takesStrange reports whether a job of the workflow fetches what strangers
// propose or left, or hands over to a workflow that may.
func (p *Pass) takesStrange() bool {
	for _, b := range p.File.Bodies() {
		if b.Job != nil && b.Job.WorkflowCall != nil {
			return true
		}
		for i, s := range live(b) {
			if _, ok := p.Flow.Fetches(flow.Place{Body: b, Step: i}); ok || p.Flow.TakesArtifact(b.File, s) {
				return true
			}
		}
	}
	return false
}

// onlyLabels reports whether the workflow does nothing but set labels.
func onlyLabels(f *workflow.File) bool {
	n := 0
	for _, b := range f.Bodies() {
		for _, s := range b.Steps {
			a := workflow.Uses(s)
			if a == nil || slug(a.Uses.Value) != "actions/labeler" {
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

func permissions(p *Pass) {
	w := p.File.Workflow
	if w == nil {
		return
	}
	called := len(w.On) == 1 && p.File.On("workflow_call")
	missing := 0
	for _, j := range p.File.Jobs() {
		if j.Permissions != nil {
			p.all(j.Permissions, inJob(j))
			continue
		}
		if w.Permissions != nil || called && j.WorkflowCall == nil {
			continue
		}
		missing++
		p.report("missing-permissions", workflow.At(j.ID.Pos), "", "The token has the repository's default "+
			"rights %s", inJob(j))
	}
	if w.Permissions == nil {
		if missing == 0 && !called {
			p.report("missing-permissions", p.on(), finding.Uncertain, "The workflow sets no permissions for the "+
				"jobs that will be added to it")
		}
		return
	}
	p.all(w.Permissions, "in every job")
	for _, s := range workflow.InOrder(w.Permissions.Scopes, func(s *actionlint.PermissionScope) *actionlint.Pos {
		return s.Name.Pos
	}) {
		if s.Value == nil || s.Value.Value != "write" {
			continue
		}
		severity, ok := write[s.Name.Value]
		if !ok {
			severity = finding.Low
		}
		f := p.finding(p.File.Place(s.Name), "", "The token may write %s in every job", s.Name.Value)
		f.Severity = severity
		if len(w.Jobs) == 1 {
			f.Severity, f.Confidence = finding.Low, finding.Uncertain
		}
		p.Out(Rules["excessive-permissions"], f)
	}
}

// all reports permissions: write-all and read-all.
func (p *Pass) all(perms *actionlint.Permissions, where string) {
	if perms.All == nil {
		return
	}
	f := p.finding(p.File.Place(perms.All), "", "The token may %s everything %s",
		strings.TrimSuffix(perms.All.Value, "-all"), where)
	switch perms.All.Value {
	case "write-all":
		f.Severity = finding.High
	case "read-all":
		f.Severity, f.Confidence = finding.Low, finding.Likely
	default:
		return
	}
	p.Out(Rules["excessive-permissions"], f)
}

// undocumented finds permissions that nobody says the reason of.
func undocumented(p *Pass) {
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
			p.report("undocumented-permission", p.File.Source.Whole(e.KeyNode()), "", "Nothing says why the token "+
				"needs %s: %s", e.Key, e.Value.Text())
			break // once for a block
		}
	}
}

func concurrency(p *Pass) {
	w := p.File.Workflow
	if w == nil || len(w.On) == 1 && p.File.On("workflow_call") {
		return
	}
	if w.Concurrency == nil {
		for _, j := range p.File.Jobs() {
			if j.Concurrency != nil {
				return
			}
		}
		p.report("missing-concurrency", p.on(), "", "Nothing limits how many runs of the workflow go on at once")
		return
	}
	if w.Concurrency.CancelInProgress == nil {
		p.report("missing-concurrency", workflow.At(w.Concurrency.Pos), "", "The concurrency group does not say "+
			"whether a newer run cancels the older one")
	}
}

func names(p *Pass) {
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

// events lists what starts the file: of an action, everything that starts the
// workflows that use it.
func (p *Pass) events() []string {
	return p.eventsOf(p.File, map[*workflow.File]bool{})
}

func (p *Pass) eventsOf(f *workflow.File, seen map[*workflow.File]bool) []string {
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
		out = append(out, p.eventsOf(c.From, seen)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// startedBy returns the first of the events that starts the file, or "".
func (p *Pass) startedBy(events []string) string {
	for _, e := range p.events() {
		if slices.Contains(events, e) {
			return e
		}
	}
	return ""
}

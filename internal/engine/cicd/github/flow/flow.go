// Package flow follows values through GitHub Actions: from a context through
// variables, outputs of steps and jobs, inputs of local actions and reusable
// workflows, and matrices, to where a text is used. It answers who can choose
// the text, and by which stations it came.
package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/lazyregexp"
)

// Limits of following one value.
const (
	maxDepth   = 12
	maxOrigins = 20
	maxWork    = 2000 // contexts looked at
)

// An Origin is where a text comes from.
type Origin struct {
	Trust   Trust
	Context string // "github.event.issue.title"
	Path    []Station
	// OneLine is set where a command leaves a single line of the text.
	OneLine bool
}

// A Station is a place that the text came by, the origin first.
type Station struct {
	File    *workflow.File
	Place   document.Place
	Message string
}

// A Place is where a text is used: a step of a job or of an action. Before the
// first step, Step is -1.
type Place struct {
	Body workflow.Body
	Step int
	// Call is how the action or the reusable workflow is entered. nil is every way
	// that the tree knows.
	Call *workflow.Call
	Up   *Place // where the call stands
}

// A Follower follows values in a tree.
type Follower struct {
	Tree *workflow.Tree
	work int
}

// Origins returns where the value of an expression can come from.
func (f *Follower) Origins(root actionlint.ExprNode, at Place) []Origin {
	f.work = 0
	return f.expr(root, at, 0)
}

func (f *Follower) expr(root actionlint.ExprNode, at Place, depth int) []Origin {
	var out []Origin
	for _, u := range expression.Values(root) {
		for _, o := range f.context(u.Path, at, depth) {
			if len(out) < maxOrigins {
				out = append(out, member(o, u.Member))
			}
		}
	}
	return out
}

// text returns the origins of a string with expressions in it.
func (f *Follower) text(s *actionlint.String, at Place, depth int) []Origin {
	if s == nil {
		return nil
	}
	var out []Origin
	for _, e := range expression.In(s.Value) {
		place := at.Body.File.Part(s, e.Offset, e.Length)
		for _, o := range f.expr(e.Root, at, depth) {
			o.Path = append(slices.Clip(o.Path), Station{at.Body.File, place, "${{" + e.Text + "}}"})
			out = append(out, o)
		}
	}
	return out
}

func one(t Trust, path string) []Origin { return []Origin{{Trust: t, Context: path}} }

// context returns the origins of one context.
func (f *Follower) context(path string, at Place, depth int) []Origin {
	if f.work++; depth > maxDepth || f.work > maxWork {
		return one(Unknown, path)
	}
	parts := strings.Split(path, ".")
	switch parts[0] {
	case "github":
		if len(parts) == 4 && parts[1] == "event" && parts[2] == "inputs" {
			return f.input(parts[3], path, at, depth)
		}
		return one(f.inEvent(path, at), path)
	case "inputs":
		if len(parts) > 1 {
			return f.input(parts[1], path, at, depth)
		}
		return one(Writers, path)
	case "env":
		if len(parts) > 1 {
			return f.env(parts[1], path, at, depth)
		}
	case "steps":
		if len(parts) == 4 && parts[2] == "outputs" {
			return f.stepOutput(parts[1], parts[3], path, at, depth)
		}
		if len(parts) == 3 && parts[2] != "outputs" {
			return one(Safe, path) // outcome, conclusion
		}
	case "needs":
		if len(parts) == 4 && parts[2] == "outputs" {
			return f.jobOutput(parts[1], parts[3], path, at, depth)
		}
		if len(parts) == 3 && parts[2] == "result" {
			return one(Safe, path)
		}
	case "jobs":
		if len(parts) == 4 && parts[2] == "outputs" {
			return f.jobOutput(parts[1], parts[3], path, at, depth)
		}
	case "matrix":
		return f.matrix(parts, path, at, depth)
	case "secrets":
		return one(Secret, path)
	case "vars":
		return one(Unknown, path)
	case "runner", "strategy", "job":
		return one(Safe, path)
	}
	return one(Unknown, path)
}

// inEvent says who chooses a context below github, given what starts the workflow.
func (f *Follower) inEvent(path string, at Place) Trust {
	t := github(path)
	file := at.Body.File
	if file.Workflow == nil {
		return t
	}
	only := func(events ...string) bool {
		return len(file.Workflow.On) > 0 && !slices.ContainsFunc(file.Workflow.On, func(e actionlint.Event) bool {
			return !slices.Contains(events, e.EventName())
		})
	}
	switch {
	case path == "github.ref" || path == "github.ref_name":
		// refs/pull/1/merge, or the base branch.
		if only("pull_request", "schedule") {
			return Safe
		}
	case path == "github.base_ref" || path == "github.workflow":
		return Unknown
	case t == Anybody && strings.Contains(path, "commit") && only("push", "schedule", "workflow_dispatch"):
		// What is pushed was reviewed, or its author may push; the messages of merged
		// commits are a stranger's all the same.
		return Anybody
	}
	return t
}

// step returns the step that the place is at, or nil.
func (p Place) step() *actionlint.Step {
	if p.Step < 0 || p.Step >= len(p.Body.Steps) {
		return nil
	}
	return p.Body.Steps[p.Step]
}

// before returns the steps that have run.
func (p Place) before() []*actionlint.Step {
	return p.Body.Steps[:max(0, min(p.Step, len(p.Body.Steps)))]
}

// env returns the origins of a variable: set at the step, the job or the
// workflow, or written by an earlier step.
func (f *Follower) env(name, path string, at Place, depth int) []Origin {
	if out, ok := f.written(name, "GITHUB_ENV", path, at, depth); ok {
		return out
	}
	var envs []*actionlint.Env
	if s := at.step(); s != nil {
		envs = append(envs, s.Env)
	}
	if at.Body.Job != nil {
		envs = append(envs, at.Body.Job.Env)
	}
	if w := at.Body.File.Workflow; w != nil {
		envs = append(envs, w.Env)
	}
	for i, e := range envs {
		if e == nil {
			continue
		}
		v := e.Vars[name]
		if v == nil || v.Value == nil {
			continue
		}
		outer := at
		if i == 0 && at.step() != nil { // a step's env does not see itself
			outer = inner(at, name)
		}
		return f.variable(v, outer, depth)
	}
	return one(Unknown, path)
}

// inner returns the place as a step's own env sees it: without that env, so that
// X: ${{ env.X }} is not followed in a circle.
func inner(at Place, name string) Place {
	s := *at.step()
	if s.Env != nil && s.Env.Vars[name] != nil {
		env := &actionlint.Env{Vars: map[string]*actionlint.EnvVar{}}
		for k, v := range s.Env.Vars {
			if k != name {
				env.Vars[k] = v
			}
		}
		s.Env = env
	}
	at.Body.Steps = slices.Clone(at.Body.Steps)
	at.Body.Steps[at.Step] = &s
	return at
}

func (f *Follower) variable(v *actionlint.EnvVar, at Place, depth int) []Origin {
	out := f.text(v.Value, at, depth+1)
	if len(out) == 0 {
		return one(Safe, "env."+v.Name.Value)
	}
	return out
}

// written returns the origins of what earlier steps write under the name, and
// whether one does.
func (f *Follower) written(name, file, path string, at Place, depth int) ([]Origin, bool) {
	steps := at.before()
	for i := len(steps) - 1; i >= 0; i-- {
		run := workflow.Run(steps[i])
		if run == nil || !strings.Contains(run.Run.Value, "GITHUB_ENV") && !strings.Contains(run.Run.Value,
			"::set-env") {
			continue
		}
		there := at
		there.Step = i
		if out, ok := f.scriptOutput(run.Run, wanted{name, file, path}, there, depth); ok {
			return out, true
		}
	}
	return nil, false
}

// stepOutput returns the origins of a step's output.
func (f *Follower) stepOutput(id, name, path string, at Place, depth int) []Origin {
	for i, s := range at.Body.Steps {
		if s.ID == nil || !strings.EqualFold(s.ID.Value, id) {
			continue
		}
		there := at
		there.Step = i
		if run := workflow.Run(s); run != nil {
			if out, ok := f.scriptOutput(run.Run, wanted{name, "GITHUB_OUTPUT", path}, there, depth); ok {
				return out
			}
			return one(Unknown, path)
		}
		a := workflow.Uses(s)
		if a == nil {
			return one(Unknown, path)
		}
		if out, ok := f.known(a, name, path, there, depth); ok {
			return out
		}
		if to := f.Tree.Local(at.Body.File, a.Uses.Value); to != nil && to.Action != nil {
			value := to.Action.Outputs[name]
			if value == nil {
				return one(Unknown, path)
			}
			call := workflow.Call{From: at.Body.File, Job: at.Body.Job, Step: s, Body: at.Body}
			end := Place{Body: to.Bodies()[0], Step: len(to.Action.Steps), Call: &call, Up: &there}
			return f.orSafe(f.text(value, end, depth+1), path)
		}
		return one(output(a.Uses.Value, name), path)
	}
	return one(Unknown, path)
}

func (f *Follower) orSafe(out []Origin, path string) []Origin {
	if len(out) == 0 {
		return one(Safe, path)
	}
	return out
}

// wanted names what a script may write: a name in a file of the runner, and the
// context that reads it.
type wanted struct{ name, file, path string }

// scriptOutput returns the origins of what a script writes under the name to a
// file of the runner, and whether it does.
func (f *Follower) scriptOutput(run *actionlint.String, want wanted, at Place, depth int) ([]Origin, bool) {
	var out []Origin
	found := false
	for _, w := range script.Writes(run.Value, want.file) {
		if !strings.EqualFold(w.Name, want.name) {
			continue
		}
		found = true
		place := at.Body.File.Part(run, w.Offset, min(w.Length, len(run.Value)-w.Offset))
		for _, o := range f.shell(w.Value, run.Value, want.path, at, depth+1) {
			o.Path = append(slices.Clip(o.Path), Station{at.Body.File, place, "written to " + want.file + " as " +
				w.Name})
			out = append(out, o)
		}
	}
	if !found {
		return nil, false
	}
	return f.orSafe(out, want.path), true
}

// known returns the origins of an output of an action of which it is known where
// its outputs come from, and whether it is.
func (f *Follower) known(a *actionlint.ExecAction, name, path string, at Place, depth int) ([]Origin, bool) {
	slug := Slug(a.Uses.Value)
	switch {
	case slug == "actions/github-script":
		out, ok := f.scripted(a, name, at, depth)
		return f.orSafe(out, path), ok && len(out) > 0
	case slug == "tj-actions/changed-files" && escaped(a):
		return one(Unknown, path), true // shell characters come with a backslash
	case slug == "octokit/request-action" && name == "data":
		out := requested(a)
		return out, out != nil
	case readers[slug]:
		o, ok := f.foreign(at, depth+1)
		o.Context = "a file of " + o.Context
		return []Origin{o}, ok
	}
	var out []Origin
	for _, input := range passes[slug] {
		if in := a.Inputs[input]; in != nil && in.Value != nil {
			out = append(out, f.text(in.Value, at, depth+1)...)
		}
	}
	return out, len(out) > 0
}

// escaped reports whether the action escapes the names of files, as it does from
// version 41 on unless safe_output says otherwise.
func escaped(a *actionlint.ExecAction) bool {
	m := majorRef.FindStringSubmatch(a.Uses.Value)
	if m == nil || strings.EqualFold(strings.TrimSpace(workflow.With(a, "safe_output")), "false") {
		return false
	}
	major, err := strconv.Atoi(m[1])
	return err == nil && major >= 41
}

var majorRef = lazyregexp.New(`@v?(\d{1,4})(?:\.|$)`)

// readers lists actions whose outputs are what a file holds.
var readers = map[string]bool{"juliangruber/read-file-action": true, "andstor/file-reader-action": true,
	"komorebitech/read-files-action":     true,
	"jaywcjlove/github-action-read-file": true, "actions-ecosystem/action-read-file": true,
	"notiz-dev/github-action-json-property": true, "christian-draeger/read-properties": true,
	"sergeysova/jq-action": true, "mikefarah/yq": true, "martinbeentjes/npm-get-version-action": true}

// passes lists actions whose outputs are made of their inputs.
var passes = map[string][]string{
	"frabert/replace-string-action": {"string", "replace-with"}, "mad9000/actions-find-and-replace-string": {"source",
		"replace"},
	"actions-ecosystem/action-regex-match": {"text"}, "kaisugi/action-regex-match": {"text"},
	"bhowell2/github-substring-action": {"value"}, "jungwinter/split": {"msg"}, "winterjung/split": {"msg"},
	"haya14busa/action-cond": {"if_true", "if_false"}, "ashley-taylor/regex-property-action": {"value", "replacement"},
	"ashley-taylor/read-json-property-action": {"json"}, "zentered/issue-forms-body-parser": {"body"}}

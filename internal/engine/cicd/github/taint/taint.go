// Package taint follows values through GitHub Actions: from a context through
// variables, outputs of steps and jobs, inputs of local actions and reusable
// workflows, and matrices, to where a text is used. It answers who can choose
// the text, and by which hops it came.
package taint

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
	// maxDepth bounds the hops of one value: a variable that refers to itself ends here.
	maxDepth = 12
	// maxOrigins bounds the origins that a finding names.
	maxOrigins = 20
	// maxWork bounds the contexts that are resolved for one expression.
	maxWork = 2000
)

// An Origin is where a text comes from.
type Origin struct {
	// Trust says who can choose the text.
	Trust Trust
	// Context is the expression: "github.event.issue.title".
	Context string
	// Path is how the text came to its use, the origin first.
	Path []Hop
	// OneLine is set where a command leaves a single line of the text.
	OneLine bool
}

// A Hop is a place that the text came by, the origin first.
type Hop struct {
	File    *workflow.File
	Place   document.Place
	Message string
}

// A Site is where a text is used: a step of a job or of an action. Before the
// first step, Step is -1.
type Site struct {
	Body workflow.Body
	Step int
	// Call is how the action or the reusable workflow is entered. nil is every way
	// that the tree knows.
	Call *workflow.Call
	// Up is where the call stands; nil: at the top.
	Up *Site
}

// A Tracker follows values in a tree.
type Tracker struct {
	Tree *workflow.Tree
	work int
}

// Origins returns where the value of an expression can come from.
func (f *Tracker) Origins(root actionlint.ExprNode, at Site) []Origin {
	f.work = 0
	return f.expressionOrigins(root, at, 0)
}

// expressionOrigins keeps at most maxOrigins origins, so that a value with many sources
// costs no more than a short finding can show. What is taken out of an object narrows
// the origin: the number of an issue is harmless, its title is not.
func (f *Tracker) expressionOrigins(root actionlint.ExprNode, at Site, depth int) []Origin {
	var out []Origin
	for _, u := range expression.Values(root) {
		for _, o := range f.contextOrigins(u.Path, at, depth) {
			if len(out) < maxOrigins {
				out = append(out, memberOrigin(o, u.Member))
			}
		}
	}
	return out
}

// textOrigins returns the origins of a string with expressions in it. Each origin gets
// the text as its last hop.
func (f *Tracker) textOrigins(s *actionlint.String, at Site, depth int) []Origin {
	if s == nil {
		return nil
	}
	var out []Origin
	for _, e := range expression.FindAll(s.Value) {
		place := at.Body.File.PartPlace(s, e.Offset, e.Length)
		for _, o := range f.expressionOrigins(e.Root, at, depth) {
			o.Path = append(slices.Clip(o.Path), Hop{at.Body.File, place, "${{" + e.Text + "}}"})
			out = append(out, o)
		}
	}
	return out
}

// singleOrigin is the one origin of a value that is followed no further.
func singleOrigin(t Trust, path string) []Origin { return []Origin{{Trust: t, Context: path}} }

// contextOrigins returns the origins of one context. Contexts that hold a value from
// somewhere else lead on to where it is set; the others have a fixed trust.
func (f *Tracker) contextOrigins(path string, at Site, depth int) []Origin {
	if f.work++; depth > maxDepth || f.work > maxWork {
		return singleOrigin(Unknown, path)
	}
	parts := strings.Split(path, ".")
	switch parts[0] {
	case "github":
		if len(parts) == 4 && parts[1] == "event" && parts[2] == "inputs" {
			return f.inputOrigins(parts[3], path, at, depth)
		}
		return singleOrigin(f.eventTrust(path, at), path)
	case "inputs":
		if len(parts) > 1 {
			return f.inputOrigins(parts[1], path, at, depth)
		}
		return singleOrigin(Writers, path)
	case "env":
		if len(parts) > 1 {
			return f.envOrigins(parts[1], path, at, depth)
		}
	case "steps", "needs", "jobs":
		return f.outputOrigins(parts, path, at, depth)
	case "matrix":
		return f.matrixOrigins(parts, path, at, depth)
	}
	return singleOrigin(contextTrust(parts[0]), path)
}

// outputOrigins returns the origins of what a step or a job leaves: its outputs, and its
// outcome, which is one of a few words.
func (f *Tracker) outputOrigins(parts []string, path string, at Site, depth int) []Origin {
	switch {
	case len(parts) == 4 && parts[2] == "outputs" && parts[0] == "steps":
		return f.stepOutputOrigins(parts[1], parts[3], path, at, depth)
	case len(parts) == 4 && parts[2] == "outputs":
		return f.jobOutputOrigins(parts[1], parts[3], path, at, depth)
	case len(parts) == 3 && (parts[0] == "steps" && parts[2] != "outputs" ||
		parts[0] == "needs" && parts[2] == "result"):
		return singleOrigin(Safe, path)
	}
	return singleOrigin(Unknown, path)
}

// contextTrust says who chooses the values of a context that comes from nowhere else.
// Variables of the organization are the owner's, but their form is not known.
func contextTrust(name string) Trust {
	switch name {
	case "secrets":
		return Secret
	case "runner", "strategy", "job":
		return Safe
	}
	return Unknown
}

// eventTrust says who chooses a context below github, given what starts the workflow.
func (f *Tracker) eventTrust(path string, at Site) Trust {
	t := githubTrust(path)
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
	case t == Untrusted && strings.Contains(path, "commit") && only("push", "schedule", "workflow_dispatch"):
		// What is pushed was reviewed, or its author may push; the messages of merged
		// commits are an attacker's all the same.
		return Untrusted
	}
	return t
}

// currentStep returns the step that the place is at, or nil. Behind the last step and
// before the first there is none.
func (p Site) currentStep() *actionlint.Step {
	if p.Step < 0 || p.Step >= len(p.Body.Steps) {
		return nil
	}
	return p.Body.Steps[p.Step]
}

// earlierSteps returns the steps that have run.
func (p Site) earlierSteps() []*actionlint.Step {
	return p.Body.Steps[:max(0, min(p.Step, len(p.Body.Steps)))]
}

// envOrigins returns the origins of a variable: set at the step, the job or the
// workflow, or written by an earlier step. The innermost counts; a write to GITHUB_ENV
// stands above all of them.
func (f *Tracker) envOrigins(name, path string, at Site, depth int) []Origin {
	if out, ok := f.writtenOrigins(name, "GITHUB_ENV", path, at, depth); ok {
		return out
	}
	var envs []*actionlint.Env
	if s := at.currentStep(); s != nil {
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
		if i == 0 && at.currentStep() != nil { // a step's env does not see itself
			outer = withoutStepVariable(at, name)
		}
		return f.envVarOrigins(v, outer, depth)
	}
	return singleOrigin(Unknown, path)
}

// withoutStepVariable returns the place as a step's own env sees it: without that env,
// so that X: ${{ env.X }} is not followed in a circle. The copy leaves the tree as it
// is, because other values are followed through it.
func withoutStepVariable(at Site, name string) Site {
	s := *at.currentStep()
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

// envVarOrigins returns the origins of a variable's value. A value without expressions
// is a literal.
func (f *Tracker) envVarOrigins(v *actionlint.EnvVar, at Site, depth int) []Origin {
	out := f.textOrigins(v.Value, at, depth+1)
	if len(out) == 0 {
		return singleOrigin(Safe, "env."+v.Name.Value)
	}
	return out
}

// writtenOrigins returns the origins of what earlier steps write under the name, and
// whether one does. The last write counts, as for the runner.
func (f *Tracker) writtenOrigins(name, file, path string, at Site, depth int) ([]Origin, bool) {
	steps := at.earlierSteps()
	for i := len(steps) - 1; i >= 0; i-- {
		run := workflow.RunOf(steps[i])
		if run == nil || !strings.Contains(run.Run.Value, "GITHUB_ENV") && !strings.Contains(run.Run.Value,
			"::set-env") {
			continue
		}
		there := at
		there.Step = i
		if out, ok := f.scriptOutput(run.Run, outputTarget{name, file, path}, there, depth); ok {
			return out, true
		}
	}
	return nil, false
}

// stepOutputOrigins returns the origins of a step's output. A script writes it, an
// action whose outputs are known gives it, or a local action declares it.
func (f *Tracker) stepOutputOrigins(id, name, path string, at Site, depth int) []Origin {
	for i, s := range at.Body.Steps {
		if s.ID == nil || !strings.EqualFold(s.ID.Value, id) {
			continue
		}
		there := at
		there.Step = i
		if run := workflow.RunOf(s); run != nil {
			if out, ok := f.scriptOutput(run.Run, outputTarget{name, "GITHUB_OUTPUT", path}, there, depth); ok {
				return out
			}
			return singleOrigin(Unknown, path)
		}
		a := workflow.UsesOf(s)
		if a == nil {
			return singleOrigin(Unknown, path)
		}
		if out, ok := f.knownOutputOrigins(a, name, path, there, depth); ok {
			return out
		}
		if to := f.Tree.ResolveLocal(at.Body.File, a.Uses.Value); to != nil && to.Action != nil {
			value := to.Action.Outputs[name]
			if value == nil {
				return singleOrigin(Unknown, path)
			}
			call := workflow.Call{From: at.Body.File, Job: at.Body.Job, Step: s, Body: at.Body}
			end := Site{Body: to.Bodies()[0], Step: len(to.Action.Steps), Call: &call, Up: &there}
			return f.orSafe(f.textOrigins(value, end, depth+1), path)
		}
		return singleOrigin(outputTrust(a.Uses.Value, name), path)
	}
	return singleOrigin(Unknown, path)
}

// orSafe treats a text without origins as a literal, which only the author of the
// workflow can change.
func (f *Tracker) orSafe(out []Origin, path string) []Origin {
	if len(out) == 0 {
		return singleOrigin(Safe, path)
	}
	return out
}

// outputTarget names what a script may write: a name in a file of the runner, and the
// context that reads it.
type outputTarget struct{ name, file, path string }

// scriptOutput returns the origins of what a script writes under the name to a
// file of the runner, and whether it does.
func (f *Tracker) scriptOutput(run *actionlint.String, want outputTarget, at Site, depth int) ([]Origin, bool) {
	var out []Origin
	found := false
	for _, w := range script.ParseWrites(run.Value, want.file) {
		if !strings.EqualFold(w.Name, want.name) {
			continue
		}
		found = true
		place := at.Body.File.PartPlace(run, w.Offset, min(w.Length, len(run.Value)-w.Offset))
		for _, o := range f.shellOrigins(w.Value, run.Value, want.path, at, depth+1) {
			o.Path = append(slices.Clip(o.Path), Hop{at.Body.File, place, "written to " + want.file + " as " +
				w.Name})
			out = append(out, o)
		}
	}
	if !found {
		return nil, false
	}
	return f.orSafe(out, want.path), true
}

// knownOutputOrigins returns the origins of an output of an action of which it is known
// where its outputs come from, and whether it is. They are read, parsed or passed on by
// the action, so that its output is as tainted as what it reads.
func (f *Tracker) knownOutputOrigins(a *actionlint.ExecAction, name, path string, at Site, depth int) ([]Origin, bool) {
	slug := ActionSlug(a.Uses.Value)
	switch {
	case slug == "actions/github-script":
		out, ok := f.scriptOrigins(a, name, at, depth)
		return f.orSafe(out, path), ok && len(out) > 0
	case slug == "tj-actions/changed-files" && escapesFileNames(a):
		return singleOrigin(Unknown, path), true // shell characters come with a backslash
	case slug == "octokit/request-action" && name == "data":
		out := requestOrigins(a)
		return out, out != nil
	case readers[slug]:
		o, ok := f.findUntrustedFiles(at, depth+1)
		o.Context = "a file of " + o.Context
		return []Origin{o}, ok
	}
	var out []Origin
	for _, input := range passes[slug] {
		if in := a.Inputs[input]; in != nil && in.Value != nil {
			out = append(out, f.textOrigins(in.Value, at, depth+1)...)
		}
	}
	return out, len(out) > 0
}

// escapesFileNames reports whether the action escapes the names of files, as it does from
// version 41 on unless safe_output says otherwise.
func escapesFileNames(a *actionlint.ExecAction) bool {
	m := majorRef.FindStringSubmatch(a.Uses.Value)
	if m == nil || strings.EqualFold(strings.TrimSpace(workflow.InputText(a, "safe_output")), "false") {
		return false
	}
	major, err := strconv.Atoi(m[1])
	return err == nil && major >= 41
}

// majorRef matches the major version that an action is used in.
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

package taint

import (
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/workflow"
)

// This file follows values through inputs, outputs of jobs, and matrices.

// inputOrigins returns the origins of an input: of an action, a reusable workflow, or a
// workflow that is started by hand.
func (f *Tracker) inputOrigins(name, path string, at Site, depth int) []Origin {
	file := at.Body.File
	var out []Origin
	if file.Workflow != nil && at.Call == nil {
		out = append(out, dispatchOrigins(file, name, path)...)
	}
	declared, fallback, harmless := declaredInput(file, name)
	if harmless {
		return append(out, singleOrigin(Safe, path)...)
	}
	if !declared && len(out) > 0 {
		return out
	}
	out = append(out, f.argumentOrigins(name, path, fallback, at, depth)...)
	// An action or reusable workflow of a public repository may have callers
	// elsewhere.
	if declared && at.Call == nil {
		out = append(out, Origin{Trust: Callers, Context: path})
	}
	if len(out) == 0 {
		return singleOrigin(Unknown, path)
	}
	return out
}

// argumentOrigins returns the origins of what the callers pass as an input, or of its
// default: of the one call that the value came through, or of every call in the tree.
func (f *Tracker) argumentOrigins(name, path string, fallback *actionlint.String, at Site, depth int) []Origin {
	calls := f.Tree.Callers(at.Body.File)
	if at.Call != nil {
		calls = []workflow.Call{*at.Call}
	}
	var out []Origin
	for _, c := range calls {
		up := at.Up
		if up == nil {
			up = &Site{Body: workflow.Body{File: c.From, Job: c.Job, Steps: c.Body.Steps},
				Step: slices.Index(c.Body.Steps, c.Step)}
		}
		value := callArgument(c, name)
		if value == nil {
			out = append(out, f.orSafe(f.textOrigins(fallback, at, depth+1), path)...)
			continue
		}
		out = append(out, f.orSafe(f.textOrigins(value, *up, depth+1), path)...)
	}
	return out
}

// callArgument returns what a call hands over as the input, or nil. A missing argument
// means the default of the input.
func callArgument(c workflow.Call, name string) *actionlint.String {
	if c.Step != nil {
		if a := workflow.UsesOf(c.Step); a != nil && a.Inputs[name] != nil {
			return a.Inputs[name].Value
		}
		return nil
	}
	if in := c.Job.WorkflowCall.Inputs[name]; in != nil {
		return in.Value
	}
	return nil
}

// declaredInput reports whether an action or a reusable workflow declares the input,
// its default, and whether its type leaves no room for code. A boolean or a number
// cannot hold code.
func declaredInput(file *workflow.File, name string) (declared bool, fallback *actionlint.String, harmless bool) {
	if file.Action != nil {
		for _, in := range file.Action.Inputs {
			if in.Name == name {
				return true, in.Default, false
			}
		}
		return true, nil, false
	}
	call, ok := file.Workflow.FindWorkflowCallEvent()
	if !ok {
		return false, nil, false
	}
	for _, in := range call.Inputs {
		if in.ID == name {
			typed := in.Type == actionlint.WorkflowCallEventInputTypeBoolean ||
				in.Type == actionlint.WorkflowCallEventInputTypeNumber
			return true, in.Default, typed
		}
	}
	return false, nil, false
}

// dispatchOrigins returns the origin of an input of a workflow that is started by hand.
func dispatchOrigins(file *workflow.File, name, path string) []Origin {
	e, ok := file.Event("workflow_dispatch").(*actionlint.WorkflowDispatchEvent)
	if !ok {
		return nil
	}
	in := e.Inputs[name]
	if in == nil {
		return nil
	}
	switch in.Type {
	case actionlint.WorkflowDispatchEventInputTypeBoolean, actionlint.WorkflowDispatchEventInputTypeNumber,
		actionlint.WorkflowDispatchEventInputTypeChoice:
		return singleOrigin(Safe, path)
	}
	return singleOrigin(Writers, path)
}

// jobOutputOrigins returns the origins of an output of another job. The value is read
// behind the last step of that job.
func (f *Tracker) jobOutputOrigins(id, name, path string, at Site, depth int) []Origin {
	w := at.Body.File.Workflow
	if w == nil {
		return singleOrigin(Unknown, path)
	}
	job := w.Jobs[id]
	if job == nil {
		return singleOrigin(Unknown, path)
	}
	there := Site{Body: workflow.Body{File: at.Body.File, Job: job, Steps: job.Steps}, Step: len(job.Steps),
		Call: at.Call, Up: at.Up}
	if job.WorkflowCall != nil && job.WorkflowCall.Uses != nil {
		return f.calledOutputOrigins(job, name, path, there, depth)
	}
	o := job.Outputs[name]
	if o == nil || o.Value == nil {
		return singleOrigin(Unknown, path)
	}
	return f.orSafe(f.textOrigins(o.Value, there, depth+1), path)
}

// calledOutputOrigins returns the origins of an output of a reusable workflow. It is
// followed with the call, so that its inputs are those that this job passes.
func (f *Tracker) calledOutputOrigins(job *actionlint.Job, name, path string, at Site, depth int) []Origin {
	to := f.Tree.ResolveLocal(at.Body.File, job.WorkflowCall.Uses.Value)
	if to == nil || to.Workflow == nil {
		return singleOrigin(Unknown, path)
	}
	call, ok := to.Workflow.FindWorkflowCallEvent()
	if !ok || call.Outputs[name] == nil {
		return singleOrigin(Unknown, path)
	}
	c := workflow.Call{From: at.Body.File, Job: job}
	there := Site{Body: workflow.Body{File: to}, Step: -1, Call: &c, Up: &at}
	return f.orSafe(f.textOrigins(call.Outputs[name].Value, there, depth+1), path)
}

// matrixOrigins returns the origins of a value of the job's matrix. The matrix is
// evaluated before the first step, so it sees no outputs of steps.
func (f *Tracker) matrixOrigins(parts []string, path string, at Site, depth int) []Origin {
	job := at.Body.Job
	if job == nil || job.Strategy == nil || job.Strategy.Matrix == nil {
		return singleOrigin(Unknown, path)
	}
	m := job.Strategy.Matrix
	at.Step = -1
	var out []Origin
	add := func(s *actionlint.String) { out = append(out, f.orSafe(f.textOrigins(s, at, depth+1), path)...) }
	if m.Expression != nil {
		add(m.Expression)
		return out
	}
	if len(parts) < 2 {
		return singleOrigin(Unknown, path)
	}
	if row := m.Rows[parts[1]]; row != nil {
		if row.Expression != nil {
			add(row.Expression)
		}
		for _, v := range row.Values {
			f.visitMatrixTexts(v, add)
		}
	}
	f.visitIncluded(m.Include, parts[1], add)
	return f.orSafe(out, path)
}

// visitIncluded calls add for the expressions that the list of additions to a matrix can
// give the name.
func (f *Tracker) visitIncluded(include *actionlint.MatrixCombinations, name string, add func(*actionlint.String)) {
	if include == nil {
		return
	}
	if include.Expression != nil {
		add(include.Expression)
	}
	for _, c := range include.Combinations {
		if c.Expression != nil {
			add(c.Expression)
		}
		if a := c.Assigns[name]; a != nil {
			f.visitMatrixTexts(a.Value, add)
		}
	}
}

// visitMatrixTexts calls add for the expressions in a value of a matrix. Literals are
// left out: they are safe.
func (f *Tracker) visitMatrixTexts(v actionlint.RawYAMLValue, add func(*actionlint.String)) {
	switch v := v.(type) {
	case *actionlint.RawYAMLString:
		if strings.Contains(v.Value, "${{") {
			add(&actionlint.String{Value: v.Value, Pos: v.Pos()})
		}
	case *actionlint.RawYAMLArray:
		for _, e := range v.Elems {
			f.visitMatrixTexts(e, add)
		}
	case *actionlint.RawYAMLObject:
		for _, k := range workflow.InOrder(v.Props, func(r actionlint.RawYAMLValue) *actionlint.Pos {
			return r.Pos()
		}) {
			f.visitMatrixTexts(k, add)
		}
	}
}

// WorstOrigin returns the origin that most people can choose, and false without one.
// The constants of Trust are in that order.
func WorstOrigin(all []Origin) (Origin, bool) {
	if len(all) == 0 {
		return Origin{}, false
	}
	return slices.MaxFunc(all, func(a, b Origin) int { return int(a.Trust - b.Trust) }), true
}

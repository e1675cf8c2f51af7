package workflow

import (
	"path"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// A Body is a list of steps that run one after another: a job's or an action's.
type Body struct {
	File  *File
	Job   *actionlint.Job // nil for an action
	Steps []*actionlint.Step
}

// Bodies returns the jobs of a workflow in the order of the file, or the steps of
// an action.
func (f *File) Bodies() []Body {
	if f.Action != nil {
		return []Body{{File: f, Steps: f.Action.Steps}}
	}
	var out []Body
	for _, j := range f.Jobs() {
		out = append(out, Body{File: f, Job: j, Steps: j.Steps})
	}
	return out
}

// Jobs returns the jobs in the order of the file.
func (f *File) Jobs() []*actionlint.Job {
	if f.Workflow == nil {
		return nil
	}
	return InOrder(f.Workflow.Jobs, func(j *actionlint.Job) *actionlint.Pos { return j.Pos })
}

// InOrder returns the values of a map as they stand in the file. The parser keeps maps,
// whose order is random; findings must be the same in each scan.
func InOrder[V any](m map[string]V, pos func(V) *actionlint.Pos) []V {
	out := make([]V, 0, len(m))
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, m[k])
	}
	slices.SortStableFunc(out, func(a, b V) int {
		p, q := pos(a), pos(b)
		switch {
		case p == nil || q == nil || *p == *q:
			return 0
		case p.IsBefore(q):
			return -1
		}
		return 1
	})
	return out
}

// OrderedVars returns the variables of an env in the order of the file.
func OrderedVars(e *actionlint.Env) []*actionlint.EnvVar {
	if e == nil {
		return nil
	}
	return InOrder(e.Vars, func(v *actionlint.EnvVar) *actionlint.Pos { return v.Name.Pos })
}

// OrderedInputs returns what a step hands to its action, in the order of the file.
func OrderedInputs(a *actionlint.ExecAction) []*actionlint.Input {
	return InOrder(a.Inputs, func(i *actionlint.Input) *actionlint.Pos { return i.Name.Pos })
}

// RunOf returns the script of a step, or nil.
func RunOf(s *actionlint.Step) *actionlint.ExecRun {
	r, _ := s.Exec.(*actionlint.ExecRun)
	if r == nil || r.Run == nil {
		return nil
	}
	return r
}

// UsesOf returns the action of a step, or nil.
func UsesOf(s *actionlint.Step) *actionlint.ExecAction {
	a, _ := s.Exec.(*actionlint.ExecAction)
	if a == nil || a.Uses == nil {
		return nil
	}
	return a
}

// InputText returns the text of an action's input, and "" without one.
func InputText(a *actionlint.ExecAction, name string) string {
	if in := a.Inputs[name]; in != nil && in.Value != nil {
		return in.Value.Value
	}
	return ""
}

// Place returns where a string stands as a whole. The line break behind the value makes
// Find take the whole of it.
func (f *File) Place(s *actionlint.String) document.Place {
	return f.Source.Find(s.Pos.Line, s.Pos.Col, s.Value+"\n", 0, len(s.Value)+1)
}

// PartPlace returns where a part of a string stands.
func (f *File) PartPlace(s *actionlint.String, offset, length int) document.Place {
	return f.Source.Find(s.Pos.Line, s.Pos.Col, s.Value, offset, length)
}

// PlaceAt returns the place of a position.
func PlaceAt(p *actionlint.Pos) document.Place {
	return document.Place{Line: p.Line, Column: p.Col, EndLine: p.Line}
}

// StartsOn reports whether one of the events starts the workflow.
func (f *File) StartsOn(events ...string) bool { return f.Event(events...) != nil }

// Event returns the first of the events that starts the workflow, or nil. An action has
// none.
func (f *File) Event(names ...string) actionlint.Event {
	if f.Workflow == nil {
		return nil
	}
	for _, e := range f.Workflow.On {
		if slices.Contains(names, e.EventName()) {
			return e
		}
	}
	return nil
}

// EventPosition returns where an event stands. The parser keeps the position in each
// type of event.
func EventPosition(e actionlint.Event) *actionlint.Pos {
	switch e := e.(type) {
	case *actionlint.WebhookEvent:
		return e.Pos
	case *actionlint.ScheduledEvent:
		return e.Pos
	case *actionlint.WorkflowDispatchEvent:
		return e.Pos
	case *actionlint.RepositoryDispatchEvent:
		return e.Pos
	case *actionlint.WorkflowCallEvent:
		return e.Pos
	}
	return &actionlint.Pos{Line: 1, Col: 1}
}

// A Tree holds the workflows and actions of a scan by path.
type Tree struct {
	Files  map[string]*File
	calls  map[*File][]Call
	owners map[string]bool // lower case; of the repositories that the workflows say they run in
}

// A Call is a place where a file of the tree is used.
type Call struct {
	From *File
	Job  *actionlint.Job
	Step *actionlint.Step // nil for a call of a workflow
	Body Body             // where the step stands
}

// NewTree links the files.
func NewTree(files []*File) *Tree {
	t := &Tree{Files: map[string]*File{}, calls: map[*File][]Call{}, owners: map[string]bool{}}
	var roots []string
	for _, f := range files {
		t.Files[f.Path] = f
		if f.Workflow != nil && !slices.Contains(roots, f.Root) {
			roots = append(roots, f.Root)
		}
	}
	for _, f := range files {
		if f.Action != nil {
			f.Root = innermostRoot(f.Path, roots)
		}
	}
	for _, f := range files {
		for _, b := range f.Bodies() {
			t.linkCalls(f, b)
		}
		f.Doc.Walk(func(n *document.Node) bool {
			for _, m := range ownRepository.FindAllStringSubmatch(n.Value, -1) {
				t.owners[strings.ToLower(m[1])] = true
			}
			return true
		})
	}
	return t
}

// ownRepository matches the condition that keeps the copies of forks from running: the repository
// or its owner, compared with a fixed name.
var ownRepository = lazyregexp.New(`github\.(?:repository|repository_owner)\s*==\s*["']([\w.-]+)`)

// IsOwner reports whether the workflows of the tree say that their repository belongs to the owner,
// in lower case.
func (t *Tree) IsOwner(owner string) bool { return t.owners[owner] }

// innermostRoot returns the innermost of the repositories that holds the path: a tree may
// have others below it, such as submodules and copies.
func innermostRoot(path string, roots []string) string {
	out := ""
	for _, r := range roots {
		if strings.HasPrefix(path, r) && len(r) > len(out) {
			out = r
		}
	}
	return out
}

// linkCalls records which files of the tree a job and its steps use.
func (t *Tree) linkCalls(f *File, b Body) {
	if b.Job != nil && b.Job.WorkflowCall != nil && b.Job.WorkflowCall.Uses != nil {
		if to := t.ResolveLocal(f, b.Job.WorkflowCall.Uses.Value); to != nil {
			t.calls[to] = append(t.calls[to], Call{From: f, Job: b.Job})
		}
	}
	for _, s := range b.Steps {
		if a := UsesOf(s); a != nil {
			if to := t.ResolveLocal(f, a.Uses.Value); to != nil {
				t.calls[to] = append(t.calls[to], Call{From: f, Job: b.Job, Step: s, Body: b})
			}
		}
	}
}

// Callers returns the places of the tree that use the file.
func (t *Tree) Callers(f *File) []Call { return t.calls[f] }

// ResolveLocal returns the action or workflow of the same repository that uses names, or
// nil: "./dir" and "$/dir" for actions, "./.github/workflows/x.yml" for workflows.
func (t *Tree) ResolveLocal(from *File, uses string) *File {
	rel, ok := strings.CutPrefix(uses, "./")
	if !ok {
		if rel, ok = strings.CutPrefix(uses, "$/"); !ok {
			return nil
		}
	}
	at := path.Join(from.Root, rel)
	for _, p := range []string{at, path.Join(at, "action.yml"), path.Join(at, "action.yaml")} {
		if f := t.Files[p]; f != nil {
			return f
		}
	}
	return nil
}

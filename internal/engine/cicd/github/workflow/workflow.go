// Package workflow reads what GitHub Actions runs: workflows, through
// actionlint's syntax tree, and actions, whose action.yml actionlint does not
// keep places for; both give steps of actionlint's type. It finds the local
// actions and workflows that a step or a job uses.
package workflow

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
)

// A File is a workflow or an action.
type File struct {
	Path string
	// Root is the folder of the repository, with a slash at its end; empty: the root of the tree.
	Root   string
	Source *document.Source
	Doc    *document.Node
	// Workflow is nil for an action.
	Workflow *actionlint.Workflow
	// Action is nil for a workflow.
	Action *Action
	// Faults are parts that could not be read.
	Faults []Fault
}

// A Fault is a part of a file that could not be read.
type Fault struct {
	Line    int
	Message string
}

// An Action is what action.yml declares.
type Action struct {
	Name string
	// Using is the runtime: "composite", "docker", "node24".
	Using  string
	Inputs []Input
	// Outputs are values by name, in small letters.
	Outputs map[string]*actionlint.String
	// Steps are those of a composite action; nil for others.
	Steps []*actionlint.Step
	// Image is that of a Docker action; nil for others.
	Image *document.Node
	Line  int // of runs
}

// An Input is what an action or a reusable workflow takes.
type Input struct {
	Name    string // lower case
	Default *actionlint.String
}

// IsWorkflow reports whether the path is that of a workflow.
func IsWorkflow(p string) bool {
	dir, base := path.Split(p)
	for _, forge := range []string{".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/"} {
		if dir == forge || strings.HasSuffix(dir, "/"+forge) {
			return isYAML(base)
		}
	}
	return false
}

// IsAction reports whether the path is that of an action's declaration.
func IsAction(p string) bool {
	base := path.Base(p)
	return base == "action.yml" || base == "action.yaml"
}

// isYAML reports whether GitHub takes the file for YAML.
func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}

// errNoAction says that a file called action.yml is something else.
var errNoAction = errors.New("is not the declaration of an action")

// IsNoAction reports whether Read refused a file called action.yml because it is
// something else.
func IsNoAction(err error) bool { return errors.Is(err, errNoAction) }

// Read reads a workflow or an action by its path. Its error is a *document.Error, or
// one that IsNoAction knows. A workflow with parts that the parser does not understand
// is read all the same, with Faults.
func Read(p string, b []byte) (*File, error) {
	docs, err := document.ParseAll(b, pipeline.Limits)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 || !docs[0].IsMap() {
		if IsAction(p) {
			return nil, errNoAction
		}
		return nil, &document.Error{Line: 1, Message: "is not a map of on and jobs"}
	}
	f := &File{Path: p, Root: repositoryRoot(p), Source: document.NewSource(b), Doc: docs[0]}
	if IsAction(p) && !IsWorkflow(p) {
		if !f.Doc.Get("runs").IsMap() {
			return nil, errNoAction
		}
		f.parseAction()
		return f, nil
	}
	return f, f.parseWorkflow(b)
}

// repositoryRoot returns the folder of the repository by the path of a workflow.
func repositoryRoot(p string) string {
	for _, forge := range []string{".github/", ".gitea/", ".forgejo/"} {
		if strings.HasPrefix(p, forge) {
			return ""
		}
		if at := strings.LastIndex(p, "/"+forge); at >= 0 {
			return p[:at+1]
		}
	}
	return ""
}

// parseWorkflow keeps a workflow that the parser only partly understands: the rest
// is analyzed, and what is missing becomes a fault with its line.
func (f *File) parseWorkflow(b []byte) error {
	w, faults := actionlint.Parse(b)
	if w == nil {
		if len(faults) > 0 {
			return &document.Error{Line: faults[0].Line, Message: joinFields(faults[0].Message)}
		}
		return &document.Error{Line: 1, Message: "is not a workflow"}
	}
	for _, e := range faults {
		if !isHarmlessFault(e.Message) {
			f.Faults = append(f.Faults, Fault{e.Line, joinFields(e.Message)})
		}
	}
	f.Workflow = w
	f.parseParallelSteps()
	if len(w.Jobs) == 0 {
		return &document.Error{Line: 1, Message: "has no jobs"}
	}
	return nil
}

// isHarmlessFault reports whether the fault leaves nothing unread that matters here:
// keys that GitHub knows and the parser does not, and values of a wrong form that
// stand alone.
func isHarmlessFault(message string) bool {
	return !strings.Contains(message, "must be sequence node") && !strings.Contains(message, "must be mapping node") &&
		!strings.Contains(message, "is mapping node but mapping node is expected") &&
		!strings.Contains(message, "section should be a mapping")
}

// joinFields makes one line of a message of the parser.
func joinFields(s string) string { return strings.Join(strings.Fields(s), " ") }

// parseParallelSteps reads again the steps of jobs that run some at the same time
// (steps: [{parallel: [step, …]}]), which the parser does not know.
func (f *File) parseParallelSteps() {
	jobs := f.Doc.Get("jobs")
	if jobs == nil {
		return
	}
	for _, e := range jobs.Entries {
		steps := e.Value.Get("steps")
		job := f.Workflow.Jobs[strings.ToLower(e.Key)]
		if job == nil || !steps.IsList() {
			continue
		}
		if slices.ContainsFunc(steps.Items, func(n *document.Node) bool { return n.Get("parallel").IsList() }) {
			job.Steps = ParseSteps(steps)
		}
	}
}

// parseAction reads action.yml into the types of the workflow parser, so that checks
// need not know which of the two they analyze.
// https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax
func (f *File) parseAction() {
	runs := f.Doc.Get("runs")
	a := &Action{
		Name: f.Doc.Get("name").Text(), Using: strings.ToLower(runs.Get("using").Text()),
		Image: runs.Get("image"), Line: runs.Line, Outputs: map[string]*actionlint.String{},
	}
	if a.Using != "docker" && !strings.HasPrefix(a.Using, "node") { // those run no steps
		a.Steps = ParseSteps(runs.Get("steps"))
	}
	if inputs := f.Doc.Get("inputs"); inputs.IsMap() {
		for _, e := range inputs.Entries {
			in := Input{Name: strings.ToLower(e.Key)}
			if d := e.Value.Get("default"); d != nil {
				in.Default = NewString(d)
			}
			a.Inputs = append(a.Inputs, in)
		}
	}
	if outputs := f.Doc.Get("outputs"); outputs.IsMap() {
		for _, e := range outputs.Entries {
			if v := e.Value.Get("value"); v != nil {
				a.Outputs[strings.ToLower(e.Key)] = NewString(v)
			}
		}
	}
	if steps := runs.Get("steps"); steps != nil && !steps.IsList() && a.Using == "composite" {
		f.Faults = append(f.Faults, Fault{steps.Line, "steps is not a list"})
	}
	f.Action = a
}

// NewString makes a string of the parser's type from a node.
func NewString(n *document.Node) *actionlint.String {
	return &actionlint.String{Value: n.Text(), Pos: &actionlint.Pos{Line: n.Line, Col: n.Column}}
}

// optionalString is String for what may be absent.
func optionalString(n *document.Node) *actionlint.String {
	if n == nil {
		return nil
	}
	return NewString(n)
}

// ParseSteps reads a list of steps. Those that run in parallel are steps like others.
func ParseSteps(list *document.Node) []*actionlint.Step {
	if !list.IsList() {
		return nil
	}
	var out []*actionlint.Step
	for _, n := range list.Items {
		if inner := n.Get("parallel"); inner.IsList() {
			out = append(out, ParseSteps(inner)...)
			continue
		}
		if n.IsMap() {
			out = append(out, parseStep(n))
		}
	}
	return out
}

// parseStep reads one step. A step with both run and uses is malformed; GitHub refuses
// it.
func parseStep(n *document.Node) *actionlint.Step {
	s := &actionlint.Step{ID: optionalString(n.Get("id")), If: optionalString(n.Get("if")),
		Name: optionalString(n.Get("name")),
		Env:  parseEnv(n.Get("env")), Pos: &actionlint.Pos{Line: n.Line, Col: n.Column}}
	if run := n.Get("run"); run != nil {
		key := n.Key("run")
		s.Exec = &actionlint.ExecRun{Run: NewString(run), Shell: optionalString(n.Get("shell")),
			WorkingDirectory: optionalString(n.Get("working-directory")),
			RunPos:           &actionlint.Pos{Line: key.Line, Col: key.Column}}
		return s
	}
	if uses := n.Get("uses"); uses != nil {
		a := &actionlint.ExecAction{Uses: NewString(uses), Inputs: map[string]*actionlint.Input{}}
		if with := n.Get("with"); with.IsMap() {
			for _, e := range with.Entries {
				a.Inputs[strings.ToLower(e.Key)] = &actionlint.Input{Name: NewString(e.KeyNode()),
					Value: NewString(e.Value)}
			}
		}
		s.Exec = a
	}
	return s
}

// parseEnv reads variables; a text in their place is an expression that gives a map.
func parseEnv(n *document.Node) *actionlint.Env {
	if n == nil {
		return nil
	}
	if !n.IsMap() {
		return &actionlint.Env{Expression: NewString(n)}
	}
	out := &actionlint.Env{Vars: map[string]*actionlint.EnvVar{}}
	for _, e := range n.Entries {
		out.Vars[strings.ToLower(e.Key)] = &actionlint.EnvVar{Name: NewString(e.KeyNode()), Value: NewString(e.Value)}
	}
	return out
}

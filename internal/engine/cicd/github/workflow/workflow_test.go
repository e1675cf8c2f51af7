package workflow

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"

	"merlon/internal/document"
)

func read(t *testing.T, path, text string) *File {
	t.Helper()
	f, err := Read(path, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]struct {
		workflow, action bool
		root             string
	}{
		".github/workflows/a.yml":          {true, false, ""},
		"sub/.github/workflows/a.yaml":     {true, false, "sub/"},
		".gitea/workflows/a.yml":           {true, false, ""},
		"x/.forgejo/workflows/a.yml":       {true, false, "x/"},
		".github/workflows/a.json":         {false, false, ""},
		".github/workflows/sub/a.yml":      {false, false, ""},
		"x.github/workflows/a.yml":         {false, false, ""},
		"action.yml":                       {false, true, ""},
		"tools/setup/action.yaml":          {false, true, ""},
		".github/actions/setup/action.yml": {false, true, ""},
		"reaction.yml":                     {false, false, ""},
	} {
		if got := IsWorkflow(path); got != want.workflow {
			t.Errorf("IsWorkflow(%q) = %v", path, got)
		}
		if got := IsAction(path); got != want.action {
			t.Errorf("IsAction(%q) = %v", path, got)
		}
		if got := repositoryRoot(path); got != want.root {
			t.Errorf("repositoryRoot(%q) = %q, want %q", path, got, want.root)
		}
	}
}

// What is no workflow gets an error with its line; a file that only happens to be
// called action.yml gets one that can be told apart.
func TestReadMalformed(t *testing.T) {
	const name = ".github/workflows/a.yml"
	for _, c := range []struct {
		path, text string
		line       int
		noAction   bool
	}{
		{name, "", 1, false},
		{name, "a text\n", 1, false},
		{name, "on: push\njobs:\n  a: [\n", 3, false},
		{name, "on: push\njobs: {}\n", 1, false},
		{name, "on: push\n", 1, false},
		{"action.yml", "title: a film\n", 0, true},
		{"action.yml", "- a\n", 0, true},
		{"action.yml", "runs: [\n", 1, false},
	} {
		_, err := Read(c.path, []byte(c.text))
		var malformed *document.Error
		switch {
		case err == nil:
			t.Errorf("%q is read", c.text)
		case IsNoAction(err) != c.noAction:
			t.Errorf("IsNoAction(%v) = %v for %q", err, !c.noAction, c.text)
		case !c.noAction && (!errors.As(err, &malformed) || malformed.Line != c.line || malformed.Message == ""):
			t.Errorf("the error of %q is %v, want one on line %d", c.text, err, c.line)
		}
	}
}

// A part that cannot be read is a fault, and the rest of the file is read.
func TestFaults(t *testing.T) {
	f := read(t, ".github/workflows/a.yml", "on: push\nunknown: 1\njobs:\n  a:\n    runs-on: x\n    steps: nothing\n"+
		"  b:\n    runs-on: x\n    steps: [{run: make}]\n")
	if len(f.Faults) != 1 || f.Faults[0].Line != 6 || f.Faults[0].Message == "" {
		t.Errorf("faults %+v, want one on line 6", f.Faults)
	}
	if jobs := f.Jobs(); len(jobs) != 2 || len(jobs[1].Steps) != 1 {
		t.Errorf("%d jobs", len(jobs))
	}
	f = read(t, "action.yml", "runs:\n  using: composite\n  steps: nothing\n")
	if diff := cmp.Diff([]Fault{{3, "steps is not a list"}}, f.Faults); diff != "" {
		t.Errorf("faults of an action (-want +got):\n%s", diff)
	}
}

func TestReadAction(t *testing.T) {
	f := read(t, "say/action.yml", `name: Say
inputs:
  Text:
    default: hello
  other: {required: true}
outputs:
  Said:
    value: ${{ steps.s.outputs.said }}
  nothing: {description: without a value}
runs:
  using: Composite
  steps:
    - id: s
      name: Print it
      run: echo "$A"
      shell: bash
      working-directory: src
      if: always()
      env: {A: "${{ inputs.text }}"}
    - uses: actions/cache@v4
      with: {Path: a}
    - env: ${{ fromJSON(inputs.env) }}
      run: make
`)
	a := f.Action
	if a.Name != "Say" || a.Using != "composite" || a.Line != 11 || len(a.Inputs) != 2 || len(a.Outputs) != 1 {
		t.Fatalf("action %+v", a)
	}
	if a.Inputs[0].Name != "text" || a.Inputs[0].Default.Value != "hello" || a.Inputs[1].Default != nil {
		t.Errorf("inputs %+v", a.Inputs)
	}
	if got := a.Outputs["said"].Value; got != "${{ steps.s.outputs.said }}" {
		t.Errorf("output %q", got)
	}
	first := a.Steps[0]
	r := RunOf(first)
	if r == nil || r.Run.Value != `echo "$A"` || r.Shell.Value != "bash" || r.WorkingDirectory.Value != "src" ||
		r.RunPos.Line != 15 || first.ID.Value != "s" || first.If.Value != "always()" || UsesOf(first) != nil {
		t.Errorf("first step %+v", first)
	}
	if got := first.Env.Vars["a"].Value.Value; got != "${{ inputs.text }}" {
		t.Errorf("variable %q", got)
	}
	u := UsesOf(a.Steps[1])
	if u == nil || u.Uses.Value != "actions/cache@v4" || InputText(u, "path") != "a" || InputText(u, "key") != "" ||
		RunOf(a.Steps[1]) != nil {
		t.Errorf("second step %+v", a.Steps[1])
	}
	if got := a.Steps[2].Env.Expression.Value; got != "${{ fromJSON(inputs.env) }}" {
		t.Errorf("env %q", got)
	}
	if bodies := f.Bodies(); len(bodies) != 1 || bodies[0].Job != nil || len(bodies[0].Steps) != 3 {
		t.Errorf("bodies %+v", bodies)
	}
}

// An action for Docker or Node has no steps, whatever else it declares.
func TestReadActionWithoutSteps(t *testing.T) {
	for _, using := range []string{"docker", "node24"} {
		f := read(t, "action.yml", "runs:\n  using: "+using+"\n  image: docker://alpine:3\n  steps: [{run: make}]\n")
		if len(f.Action.Steps) != 0 || f.Action.Image.Text() != "docker://alpine:3" {
			t.Errorf("%s: %+v", using, f.Action)
		}
	}
}

// Steps that run at the same time are steps like others.
func TestParallelSteps(t *testing.T) {
	f := read(t, ".github/workflows/a.yml", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - run: one
      - parallel:
          - run: two
          - parallel: [{run: three}]
      - run: four
`)
	var got []string
	for _, s := range f.Jobs()[0].Steps {
		got = append(got, RunOf(s).Run.Value)
	}
	if diff := cmp.Diff([]string{"one", "two", "three", "four"}, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// Maps of the parser lose the order of the file; findings must keep it.
func TestOrder(t *testing.T) {
	f := read(t, ".github/workflows/a.yml", `on: push
env: {Z: 1, A: 2, M: 3}
jobs:
  zebra: {runs-on: x, steps: [{uses: a/b@v1, with: {zz: 1, aa: 2}}]}
  ant: {runs-on: x, steps: [{run: make}]}
  mouse: {runs-on: x, steps: [{run: make}]}
`)
	var got []string
	for _, j := range f.Jobs() {
		got = append(got, j.ID.Value)
	}
	for _, v := range OrderedVars(f.Workflow.Env) {
		got = append(got, v.Name.Value)
	}
	for _, in := range OrderedInputs(UsesOf(f.Jobs()[0].Steps[0])) {
		got = append(got, in.Name.Value)
	}
	if diff := cmp.Diff([]string{"zebra", "ant", "mouse", "Z", "A", "M", "zz", "aa"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if OrderedVars(nil) != nil {
		t.Error("no env has variables")
	}
	a := read(t, "action.yml", "runs: {using: composite, steps: []}\n")
	if a.Jobs() != nil {
		t.Error("an action has jobs")
	}
}

func TestEvents(t *testing.T) {
	f := read(t, ".github/workflows/a.yml", `on:
  push:
  schedule: [{cron: '0 0 * * *'}]
  workflow_dispatch:
  repository_dispatch:
  workflow_call:
jobs:
  a: {runs-on: x, steps: [{run: make}]}
`)
	for name, line := range map[string]int{"push": 2, "schedule": 3, "workflow_dispatch": 4, "repository_dispatch": 5,
		"workflow_call": 6} {
		e := f.Event(name)
		if e == nil || !f.StartsOn("other", name) {
			t.Errorf("%s does not start the workflow", name)
			continue
		}
		if got := EventPosition(e).Line; got != line {
			t.Errorf("%s is on line %d, want %d", name, got, line)
		}
	}
	if f.StartsOn("issues") || EventPosition(nil) == nil {
		t.Error("an event that is not there has a place")
	}
	if read(t, "action.yml", "runs: {using: composite, steps: []}\n").StartsOn("push") {
		t.Error("an event starts an action")
	}
}

func TestPlaces(t *testing.T) {
	f := read(t, ".github/workflows/a.yml", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - run: |
          first
          echo ${{ github.ref }}
`)
	run := RunOf(f.Jobs()[0].Steps[0]).Run
	if at := f.PartPlace(run, 11, 17); at.Line != 8 || at.Column != 16 || at.EndLine != 8 {
		t.Errorf("the expression is at %+v", at)
	}
	if at := f.Place(f.Jobs()[0].RunsOn.Labels[0]); at.Line != 4 || at.Column != 14 {
		t.Errorf("the label is at %+v", at)
	}
	want := document.Place{Line: 3, Column: 4, EndLine: 3}
	if diff := cmp.Diff(want, PlaceAt(&actionlint.Pos{Line: 3, Col: 4})); diff != "" {
		t.Errorf("PlaceAt (-want +got):\n%s", diff)
	}
}

// A local name leads to a file of the same repository, of which a tree may hold
// several.
func TestTree(t *testing.T) {
	const call = "on: push\njobs:\n  a: {uses: ./.github/workflows/called.yml}\n  b:\n    runs-on: x\n" +
		"    steps: [{uses: ./tool}, {uses: $/tool}, {uses: ./none}, {uses: org/tool@v1}]\n"
	const called = "on: workflow_call\njobs: {a: {runs-on: x, steps: [{run: make}]}}\n"
	const tool = "runs: {using: composite, steps: [{uses: ./other}]}\n"
	const other = "runs: {using: composite, steps: [{run: make, shell: bash}]}\n"
	var files []*File
	for _, c := range [][2]string{
		{".github/workflows/a.yml", call}, {".github/workflows/called.yml", called}, {"tool/action.yml", tool},
		{"other/action.yaml", other}, {"sub/.github/workflows/a.yml", call}, {"sub/tool/action.yml", tool},
	} {
		files = append(files, read(t, c[0], c[1]))
	}
	tree := NewTree(files)
	callers := func(path string) []string {
		var out []string
		for _, c := range tree.Callers(tree.Files[path]) {
			out = append(out, c.From.Path)
		}
		return out
	}
	for path, want := range map[string][]string{
		"tool/action.yml":              {".github/workflows/a.yml", ".github/workflows/a.yml"},
		"sub/tool/action.yml":          {"sub/.github/workflows/a.yml", "sub/.github/workflows/a.yml"},
		"other/action.yaml":            {"tool/action.yml"},
		".github/workflows/called.yml": {".github/workflows/a.yml"},
		".github/workflows/a.yml":      nil,
	} {
		if diff := cmp.Diff(want, callers(path)); diff != "" {
			t.Errorf("callers of %s (-want +got):\n%s", path, diff)
		}
	}
	if root := tree.Files["sub/tool/action.yml"].Root; root != "sub/" {
		t.Errorf("the action of the inner repository has the root %q", root)
	}
	for _, uses := range []string{"tool", "../tool", "docker://tool", "./none", ""} {
		if f := tree.ResolveLocal(files[0], uses); f != nil {
			t.Errorf("%q leads to %s", uses, f.Path)
		}
	}
}

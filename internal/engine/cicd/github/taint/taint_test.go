package taint

import (
	"testing"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
)

func TestOrigins(t *testing.T) {
	const text = `on: [issues, workflow_dispatch]
env:
  TITLE: ${{ github.event.issue.title }}
  FIXED: plain
jobs:
  a:
    runs-on: x
    outputs:
      t: ${{ steps.s.outputs.t }}
    steps:
      - id: s
        run: echo "t=$TITLE" >> $GITHUB_OUTPUT
      - run: make
`
	f, err := workflow.Read(".github/workflows/a.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tracker := &Tracker{Tree: workflow.NewTree([]*workflow.File{f})}
	at := Site{Body: f.Bodies()[0], Step: 1}
	for value, want := range map[string]Trust{
		"github.event.issue.title":  Untrusted,
		"github.event.issue.number": Safe,
		"github.sha":                Safe,
		"github.token":              Secret,
		"secrets.X":                 Secret,
		"github.ref_name":           Writers,
		"env.TITLE":                 Untrusted,
		"env.FIXED":                 Safe,
		"env.MISSING":               Unknown,
		"steps.s.outputs.t":         Untrusted,
		"steps.s.outputs.other":     Unknown,
		"steps.s.outcome":           Safe,
		"needs.a.outputs.t":         Untrusted,
	} {
		root, err := expression.Parse(value)
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		worst, ok := WorstOrigin(tracker.Origins(root, at))
		if !ok || worst.Trust != want {
			t.Errorf("origin of %s is %+v, %v, want trust %d", value, worst, ok, want)
		}
	}
}

func TestActionSlug(t *testing.T) {
	for uses, want := range map[string]string{"Actions/Checkout@v4": "actions/checkout", "a/b/c@main": "a/b",
		"./local": "./local", "docker://alpine:3": "docker://alpine:3"} {
		if got := ActionSlug(uses); got != want {
			t.Errorf("ActionSlug(%q) = %q, want %q", uses, got, want)
		}
	}
}

// worstOf returns the worst origin of an expression at a site of the tree.
func worstOf(t *testing.T, texts map[string]string, at func(*workflow.Tree) Site, value string) (Origin, bool) {
	t.Helper()
	var files []*workflow.File
	for path, text := range texts {
		f, err := workflow.Read(path, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		files = append(files, f)
	}
	tree := workflow.NewTree(files)
	root, err := expression.Parse(value)
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return WorstOrigin((&Tracker{Tree: tree}).Origins(root, at(tree)))
}

const workflowPath = ".github/workflows/a.yml"

// lastStep is a site behind the last step of a job.
func lastStep(path string, job int) func(*workflow.Tree) Site {
	return func(tree *workflow.Tree) Site {
		b := tree.Files[path].Bodies()[job]
		return Site{Body: b, Step: len(b.Steps) - 1}
	}
}

// A value keeps its origin on every way through a workflow, and loses it where the
// way ends.
func TestOriginsThroughWorkflow(t *testing.T) {
	for _, c := range []struct {
		name, text, value string
		want              Trust
	}{
		{"a matrix", `on: issues
jobs:
  a:
    runs-on: x
    strategy: {matrix: {v: ["${{ github.event.issue.title }}", b], include: [{w: "${{ github.sha }}"}]}}
    steps: [{run: make}]
`, "matrix.v", Untrusted},
		{"a row that only the list of additions has", `on: issues
jobs:
  a:
    runs-on: x
    strategy: {matrix: {v: [a], include: [{w: {deep: "${{ github.event.issue.body }}"}}]}}
    steps: [{run: make}]
`, "matrix.w.deep", Untrusted},
		{"a matrix of literals", `on: issues
jobs:
  a:
    runs-on: x
    strategy: {matrix: {v: [a, b]}}
    steps: [{run: make}]
`, "matrix.v", Safe},
		{"a matrix that is an expression", `on: issues
jobs:
  a:
    runs-on: x
    strategy: {matrix: "${{ fromJSON(github.event.comment.body) }}"}
    steps: [{run: make}]
`, "matrix.v", Untrusted},
		{"a job without a matrix", "on: issues\njobs: {a: {runs-on: x, steps: [{run: make}]}}\n", "matrix.v", Unknown},
		{"an input of a workflow started by hand", `on:
  workflow_dispatch:
    inputs: {text: {type: string}, choice: {type: choice, options: [a]}, flag: {type: boolean}}
jobs: {a: {runs-on: x, steps: [{run: make}]}}
`, "inputs.text", Writers},
		{"an input by the payload of the event", `on:
  workflow_dispatch:
    inputs: {text: {type: string}}
jobs: {a: {runs-on: x, steps: [{run: make}]}}
`, "github.event.inputs.text", Writers},
		{"an input with fixed choices", `on:
  workflow_dispatch:
    inputs: {choice: {type: choice, options: [a]}}
jobs: {a: {runs-on: x, steps: [{run: make}]}}
`, "inputs.choice", Safe},
		{"an input of a reusable workflow", `on:
  workflow_call:
    inputs: {text: {type: string}}
jobs: {a: {runs-on: x, steps: [{run: make}]}}
`, "inputs.text", Callers},
		{"an input whose type has no room for code", `on:
  workflow_call:
    inputs: {n: {type: number}}
jobs: {a: {runs-on: x, steps: [{run: make}]}}
`, "inputs.n", Safe},
		{"the environment of a step does not see itself", `on: issues
env: {T: "${{ github.event.issue.title }}"}
jobs: {a: {runs-on: x, steps: [{run: make, env: {T: "${{ env.T }}"}}]}}
`, "env.T", Untrusted},
		{"a variable that an earlier step sets", `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - run: echo "T=${{ github.event.issue.title }}" >> $GITHUB_ENV
      - run: make
`, "env.t", Untrusted},
		{"an output of an action that takes texts apart", `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - id: s
        uses: jungwinter/split@v2
        with: {msg: "${{ github.event.issue.title }}"}
      - run: make
`, "steps.s.outputs._0", Untrusted},
		{"an output of an action of which it is known", `on: pull_request
jobs:
  a:
    runs-on: x
    steps:
      - {id: s, uses: tj-actions/branch-names@v8}
      - run: make
`, "steps.s.outputs.current_branch", Untrusted},
		{"another output of it", `on: pull_request
jobs:
  a:
    runs-on: x
    steps:
      - {id: s, uses: tj-actions/branch-names@v8}
      - run: make
`, "steps.s.outputs.default_branch", Safe},
		{"names of files, which the action escapes", `on: pull_request
jobs:
  a:
    runs-on: x
    steps:
      - {id: s, uses: tj-actions/changed-files@v44}
      - run: make
`, "steps.s.outputs.all_changed_files", Unknown},
		{"names of files, as they are", `on: pull_request
jobs:
  a:
    runs-on: x
    steps:
      - {id: s, uses: tj-actions/changed-files@v44, with: {safe_output: false}}
      - run: make
`, "steps.s.outputs.all_changed_files", Untrusted},
		{"a file of the base", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - {id: s, run: 'echo "v=$(cat version)" >> $GITHUB_OUTPUT'}
      - run: make
`, "steps.s.outputs.v", Unknown},
		{"a file of the pull request", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - {uses: actions/checkout@v4, with: {ref: "${{ github.event.pull_request.head.sha }}"}}
      - {id: s, run: 'echo "v=$(cat version)" >> $GITHUB_OUTPUT'}
      - run: make
`, "steps.s.outputs.v", Untrusted},
		{"a variable that the script holds against a pattern", `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - id: s
        env: {N: "${{ github.event.issue.title }}"}
        run: |
          [[ "$N" =~ ^[0-9]+$ ]] || exit 1
          echo "n=$N" >> $GITHUB_OUTPUT
      - run: make
`, "steps.s.outputs.n", Safe},
		{"a script of GitHub's client that returns a title", `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - id: s
        uses: actions/github-script@v7
        with:
          script: |
            const { title: name } = context.payload.issue;
            return name;
      - run: make
`, "steps.s.outputs.result", Untrusted},
		{"a script that asks GitHub for it", `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - id: s
        uses: actions/github-script@v7
        with:
          script: |
            const pr = (await github.rest.pulls.get({pull_number: 1})).data;
            core.setOutput('sha', pr.head.sha);
            core.setOutput('ref', pr.head.ref);
      - run: make
`, "steps.s.outputs.ref", Untrusted},
		{"the hash that it gives", `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - id: s
        uses: actions/github-script@v7
        with:
          script: |
            const pr = (await github.rest.pulls.get({pull_number: 1})).data;
            core.setOutput('sha', pr.head.sha);
      - run: make
`, "steps.s.outputs.sha", Safe},
	} {
		worst, ok := worstOf(t, map[string]string{workflowPath: c.text}, lastStep(workflowPath, 0), c.value)
		if !ok || worst.Trust != c.want {
			t.Errorf("%s: origin of %s is %+v, %v, want trust %d", c.name, c.value, worst, ok, c.want)
		}
	}
}

// Inputs and outputs lead through actions and workflows of the tree.
func TestOriginsThroughCalls(t *testing.T) {
	texts := map[string]string{
		workflowPath: `on: issues
jobs:
  a:
    runs-on: x
    steps:
      - id: say
        uses: ./say
        with: {text: "${{ github.event.issue.title }}"}
      - run: make
  b:
    uses: ./.github/workflows/called.yml
    with: {text: "${{ github.event.issue.body }}"}
  c:
    needs: b
    runs-on: x
    steps: [{run: make}]
`,
		".github/workflows/called.yml": `on:
  workflow_call:
    inputs: {text: {type: string}, other: {type: string, default: a}}
    outputs:
      text: {value: "${{ jobs.a.outputs.text }}"}
      fixed: {value: a}
jobs:
  a:
    runs-on: x
    outputs: {text: "${{ inputs.text }}"}
    steps: [{run: make}]
`,
		"say/action.yml": `inputs: {text: {}, other: {default: "${{ github.sha }}"}}
outputs:
  said: {value: "${{ inputs.text }}"}
  other: {value: "${{ inputs.other }}"}
runs: {using: composite, steps: [{run: make, shell: bash}]}
`,
	}
	for _, c := range []struct {
		at    func(*workflow.Tree) Site
		value string
		want  Trust
	}{
		{lastStep("say/action.yml", 0), "inputs.text", Untrusted},
		{lastStep("say/action.yml", 0), "inputs.other", Callers},
		{lastStep(".github/workflows/called.yml", 0), "inputs.text", Untrusted},
		{lastStep(workflowPath, 0), "steps.say.outputs.said", Untrusted},
		{lastStep(workflowPath, 0), "steps.say.outputs.other", Safe},
		{lastStep(workflowPath, 0), "steps.say.outputs.missing", Unknown},
		{lastStep(workflowPath, 2), "needs.b.outputs.text", Untrusted},
		{lastStep(workflowPath, 2), "needs.b.outputs.fixed", Safe},
		{lastStep(workflowPath, 2), "needs.b.outputs.missing", Unknown},
		{lastStep(workflowPath, 2), "needs.missing.outputs.text", Unknown},
		{lastStep(workflowPath, 2), "needs.b.result", Safe},
	} {
		worst, ok := worstOf(t, texts, c.at, c.value)
		if !ok || worst.Trust != c.want {
			t.Errorf("origin of %s is %+v, %v, want trust %d", c.value, worst, ok, c.want)
		}
	}
}

// Workflows and scripts that lead in a circle end, with nothing known.
func TestOriginsInCircle(t *testing.T) {
	texts := map[string]string{workflowPath: `on: workflow_call
jobs:
  a:
    runs-on: x
    outputs: {x: "${{ needs.b.outputs.x }}"}
    steps: [{id: s, run: 'A=$B; B=$A; echo "x=$A" >> $GITHUB_OUTPUT'}]
  b:
    runs-on: x
    outputs: {x: "${{ needs.a.outputs.x }}"}
    steps: [{run: make}]
`}
	for _, value := range []string{"needs.a.outputs.x", "steps.s.outputs.x"} {
		worst, ok := worstOf(t, texts, lastStep(workflowPath, 0), value)
		if !ok || worst.Trust != Unknown {
			t.Errorf("origin of %s is %+v, %v", value, worst, ok)
		}
	}
}

func TestFetchesUntrusted(t *testing.T) {
	for step, want := range map[string]string{
		`uses: actions/checkout@v4`:                                                                               "",
		`{uses: actions/checkout@v4, with: {ref: main}}`:                                                          "",
		`{uses: actions/checkout@v4, with: {ref: "${{ github.head_ref }}"}}`:                                      "${{ github.head_ref }}",
		`{uses: actions/checkout@v4, with: {ref: refs/pull/1/merge}}`:                                             "refs/pull/1/merge",
		`{uses: actions/checkout@v4, with: {repository: "${{ github.event.pull_request.head.repo.full_name }}"}}`: "${{ github.event.pull_request.head.repo.full_name }}",
		`{uses: some/action@v1, with: {ref: "${{ github.head_ref }}"}}`:                                           "",
		`run: gh pr checkout 1`:                                                                                   "the head of the pull request",
		`run: git fetch origin pull/1/head`:                                                                       "the head of the pull request",
		`run: git checkout ${{ github.head_ref }}`:                                                                "the head of the pull request",
		`{run: 'git checkout "$REF"', env: {REF: "${{ github.event.pull_request.head.sha }}"}}`:                   "the head of the pull request",
		`{run: 'git checkout "$REF"', env: {REF: main}}`:                                                          "",
		`run: git fetch origin main`:                                                                              "",
		`run: git status ${{ github.head_ref }}`:                                                                  "",
	} {
		f, err := workflow.Read(workflowPath, []byte("on: pull_request_target\njobs:\n  a:\n    runs-on: x\n    steps:\n    - "+
			step+"\n"))
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		tracker := &Tracker{Tree: workflow.NewTree([]*workflow.File{f})}
		got, ok := tracker.FetchesUntrusted(Site{Body: f.Bodies()[0], Step: 0})
		if got != want || ok != (want != "") {
			t.Errorf("%s fetches %q, %v, want %q", step, got, ok, want)
		}
	}
}

func TestDownloadsArtifact(t *testing.T) {
	for step, want := range map[string]bool{
		`uses: dawidd6/action-download-artifact@v6`:                              true,
		`uses: actions/download-artifact@v4`:                                     false,
		`{uses: actions/download-artifact@v4, with: {run-id: 1}}`:                true,
		`{uses: actions/github-script@v7, with: {script: "downloadArtifact()"}}`: true,
		`{uses: actions/github-script@v7, with: {script: "listArtifacts()"}}`:    false,
		`uses: levonet/action-download-last-artifact@v2`:                         true,
		`run: gh run download 1`:                                                 true,
		`run: gh api repos/o/r/actions/artifacts/1/zip`:                          true,
		`run: curl -O https://api.github.com/x/artifacts/1/zip`:                  true,
		`run: ls dist/artifacts/`:                                                false,
		`run: 'curl "$archive_download_url" -o a.zip; unzip a.zip'`:              true,
		`uses: ./fetch`: true,
		`uses: ./build`: false,
	} {
		f, err := workflow.Read(workflowPath, []byte("on: workflow_run\njobs:\n  a:\n    runs-on: x\n    steps:\n    - "+
			step+"\n"))
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		files := []*workflow.File{f}
		for path, text := range map[string]string{
			"fetch/action.yml": "runs: {using: composite, steps: [{run: gh run download 1, shell: bash}]}\n",
			"build/action.yml": "runs: {using: composite, steps: [{run: make, shell: bash}]}\n"} {
			a, err := workflow.Read(path, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, a)
		}
		tracker := &Tracker{Tree: workflow.NewTree(files)}
		if got := tracker.DownloadsArtifact(f, f.Jobs()[0].Steps[0]); got != want {
			t.Errorf("DownloadsArtifact(%s) = %v", step, got)
		}
	}
}

func TestGithubTrust(t *testing.T) {
	for path, want := range map[string]Trust{
		"github.token":                                 Secret,
		"github.head_ref":                              Untrusted,
		"github.event":                                 Untrusted,
		"github.event.commits.*.message":               Untrusted,
		"github.event.commits.0.message":               Untrusted,
		"github.event.pull_request.head.repo.homepage": Untrusted,
		"github.event.pull_request.head.sha":           Safe,
		"github.event.issue.number":                    Safe,
		"github.event.client_payload.a.b":              Writers,
		"github.event.release.tag_name":                Writers,
		"github.actor":                                 Safe,
		"github.event.something.new":                   Unknown,
	} {
		if got := githubTrust(path); got != want {
			t.Errorf("githubTrust(%q) = %d, want %d", path, got, want)
		}
	}
}

func TestMemberOrigin(t *testing.T) {
	for _, c := range []struct {
		context, path string
		want          string
		trust         Trust
	}{
		{"github.event.pull_request", "head.ref", "github.event.pull_request.head.ref", Untrusted},
		{"github.event.pull_request", "data.head.sha", "github.event.pull_request.head.sha", Safe},
		{"github.event.pull_request", "data", "github.event.pull_request", Untrusted},
		{"github.event.pull_request", "", "github.event.pull_request", Untrusted},
		{"github.event.pull_request", "*.user.login", "github.event.pull_request.user.login", Safe},
		{"github.event.issue.title", "length", "github.event.issue.title", Untrusted},
	} {
		got := memberOrigin(Origin{Context: c.context, Trust: Untrusted}, c.path)
		if got.Context != c.want || got.Trust != c.trust {
			t.Errorf("memberOrigin(%s, %q) = %+v, want %s with trust %d", c.context, c.path, got, c.want, c.trust)
		}
	}
}

func TestMayHaveLines(t *testing.T) {
	for o, want := range map[*Origin]bool{
		{Context: "github.event.issue.body"}:                true,
		{Context: "github.event.issue.title"}:               false,
		{Context: "github.event.issue.body", OneLine: true}: false,
		{Context: "a file of the artifact"}:                 true,
		{Context: "what git says of a branch"}:              true,
		{Context: "github.head_ref"}:                        false,
	} {
		if got := o.MayHaveLines(); got != want {
			t.Errorf("MayHaveLines of %+v = %v", *o, got)
		}
	}
}

package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckTriggers(t *testing.T) {
	runFileCheck(t, checkTriggers, []checkCase{
		{"privileged without untrusted code", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - run: make
`, []string{"1 dangerous-trigger - uncertain -2"}},
		{"privileged with the head of the pull request", `on:
  pull_request_target:
    types: [opened]
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with:
          ref: ${{ github.event.pull_request.head.sha }}
`, []string{"2 dangerous-trigger - - -2"}},
		{"a called workflow may fetch it", `on: [push, workflow_run]
jobs:
  a:
    uses: org/repo/.github/workflows/x.yml@v1
`, []string{"1 dangerous-trigger - -"}},
		{"an artifact of another run", `on: workflow_run
jobs:
  a:
    runs-on: x
    steps:
      - uses: dawidd6/action-download-artifact@v6
`, []string{"1 dangerous-trigger - - -2"}},
		{"labels alone", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/labeler@v5
`, nil},
		{"unprivileged", "on: pull_request\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n", nil},
	})
}

func TestCheckPermissions(t *testing.T) {
	runFileCheck(t, checkPermissions, []checkCase{
		{"defaults", `on: push
jobs:
  a:
    runs-on: x
    steps: [{run: make}]
  b:
    runs-on: x
    permissions: {}
    steps: [{run: make}]
`, []string{"3 missing-permissions - -"}},
		{"only in the jobs", `on: push
jobs:
  a:
    runs-on: x
    permissions: {contents: read}
    steps: [{run: make}]
`, []string{"1 missing-permissions - uncertain -1"}},
		{"everything", `on: push
permissions: write-all
jobs:
  a:
    runs-on: x
    permissions: read-all
    steps: [{run: make}]
`, []string{"6 excessive-permissions low likely -1", "2 excessive-permissions high -"}},
		{"writes in a workflow of one job", `on: push
permissions:
  contents: write
jobs:
  a:
    runs-on: x
    steps: [{run: make}]
`, []string{"3 excessive-permissions low uncertain -1"}},
		{"writes in a workflow of several jobs", `on: push
permissions:
  contents: write
  issues: write
  id-token: write
  checks: read
jobs:
  a:
    runs-on: x
    steps: [{run: make}]
  b:
    runs-on: x
    steps: [{run: make}]
`, []string{"3 excessive-permissions medium -", "4 excessive-permissions low - -1", "5 excessive-permissions low -"}},
		{"none", "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n", nil},
		{"a reusable workflow has those of its caller",
			"on: workflow_call\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n", nil},
	})
}

func TestCheckUndocumentedPermissions(t *testing.T) {
	runFileCheck(t, checkUndocumentedPermissions, []checkCase{
		{"without a reason", `on: push
permissions:
  contents: read
  issues: write
  packages: write
jobs:
  a:
    runs-on: x
    permissions:
      id-token: write
    steps: [{run: make}]
`, []string{"4 undocumented-permission - -", "10 undocumented-permission - -"}},
		{"with a reason", `on: push
permissions:
  issues: write # closes stale issues
  # publishes the image
  packages: write
  actions: none
jobs:
  a:
    runs-on: x
    steps: [{run: make}]
`, nil},
	})
}

func TestCheckConcurrency(t *testing.T) {
	runFileCheck(t, checkConcurrency, []checkCase{
		{"none", "on: push\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n",
			[]string{"1 missing-concurrency - -"}},
		{"a group alone", "on: push\nconcurrency: a\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n",
			[]string{"2 missing-concurrency - -"}},
		{"complete", `on: push
concurrency:
  group: a
  cancel-in-progress: true
jobs:
  a:
    runs-on: x
    steps: [{run: make}]
`, nil},
		{"in a job", "on: push\njobs:\n  a:\n    runs-on: x\n    concurrency: b\n    steps: [{run: make}]\n", nil},
		{"of the caller", "on: workflow_call\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n", nil},
	})
}

func TestCheckNames(t *testing.T) {
	runFileCheck(t, checkNames, []checkCase{
		{"none", "on: push\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n",
			[]string{"1 anonymous-definition - -", "3 anonymous-definition - -"}},
		{"all", "name: A\non: push\njobs:\n  a:\n    name: B\n    runs-on: x\n    steps: [{run: make}]\n", nil},
	})
}

// An action starts with every event of the workflows that use it, through other
// actions too, and workflows that call each other end the search.
func TestStartingEvents(t *testing.T) {
	files := map[string]string{
		".github/workflows/a.yml": "on: [push, issues]\njobs:\n  a:\n    runs-on: x\n    steps: [{uses: ./outer}]\n",
		".github/workflows/b.yml": "on: {schedule: [{cron: '0 0 * * *'}]}\njobs:\n  a:\n    runs-on: x\n    steps: " +
			"[{uses: ./inner}]\n",
		".github/workflows/c.yml": "on: workflow_call\njobs:\n  a:\n    uses: ./.github/workflows/c.yml\n",
		"outer/action.yml":        "name: o\nruns:\n  using: composite\n  steps: [{uses: ./inner}]\n",
		"inner/action.yml":        "name: i\nruns:\n  using: composite\n  steps: [{run: make, shell: bash}]\n",
	}
	for name, want := range map[string][]string{
		"inner/action.yml":        {"issues", "push", "schedule"},
		"outer/action.yml":        {"issues", "push"},
		".github/workflows/b.yml": {"schedule"},
		".github/workflows/c.yml": {"workflow_call"},
	} {
		p, _ := newPass(t, files, name)
		if diff := cmp.Diff(want, p.startingEvents()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	p, _ := newPass(t, files, "inner/action.yml")
	if got := p.startingEvent(privileged); got != "issues" {
		t.Errorf("startingEvent is %q", got)
	}
	if got := p.startingEvent([]string{"release"}); got != "" {
		t.Errorf("startingEvent is %q", got)
	}
}

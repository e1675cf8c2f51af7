package audit

import (
	"testing"

	"merlon/internal/engine/cicd/github/workflow"
)

func TestCheckArtifacts(t *testing.T) {
	runBodyCheck(t, checkArtifacts, []checkCase{
		{"of another run, and run", `on: workflow_run
jobs:
  a:
    runs-on: x
    steps:
      - uses: dawidd6/action-download-artifact@v6
      - run: ./build.sh
`, []string{"6 artifact-poisoning - -"}},
		{"of another run, and read", `on: workflow_run
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/download-artifact@v4
        with: {run-id: "${{ github.event.workflow_run.id }}"}
      - run: cat size.txt
`, []string{"6 artifact-poisoning low uncertain -1"}},
		{"into a folder that no step works in", `on: workflow_run
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/download-artifact@v4
        with: {run-id: "${{ github.event.workflow_run.id }}", path: /tmp/report}
      - run: make test
`, []string{"6 artifact-poisoning low uncertain -1"}},
		{"of a job that built the pull request", `on: pull_request_target
jobs:
  build:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - run: make
      - uses: actions/upload-artifact@v4
  publish:
    needs: build
    runs-on: x
    steps:
      - uses: actions/download-artifact@v4
      - run: npm publish
`, []string{"14 artifact-poisoning medium likely"}},
		{"of a job that built the base", `on: pull_request_target
jobs:
  build:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - uses: actions/upload-artifact@v4
  publish:
    needs: build
    runs-on: x
    steps:
      - uses: actions/download-artifact@v4
      - run: npm publish
`, nil},
		{"unprivileged", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: dawidd6/action-download-artifact@v6
      - run: ./build.sh
`, nil},
	})
}

func TestCheckUntrustedCache(t *testing.T) {
	runBodyCheck(t, checkUntrustedCache, []checkCase{
		{"after a build of the pull request", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - uses: actions/setup-node@v4
        with: {cache: npm}
      - run: npm ci
`, []string{"8 cache-poisoning - -"}},
		{"a folder of the checkout", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - uses: actions/cache@v4
        with: {path: node_modules, key: a}
`, []string{"8 cache-poisoning - -"}},
		{"a folder elsewhere, and nothing is run", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - uses: actions/cache@v4
        with: {path: ~/.npm, key: a}
`, nil},
		{"restored only", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - uses: actions/cache/restore@v4
        with: {path: node_modules, key: a}
      - run: make
`, nil},
		{"guarded", `on: pull_request_target
jobs:
  a:
    environment: review
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - uses: actions/cache@v4
        with: {path: node_modules, key: a}
`, []string{"9 cache-poisoning - uncertain"}},
		{"before the checkout", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/cache@v4
        with: {path: node_modules, key: a}
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
`, nil},
	})
}

func TestWorksInFolder(t *testing.T) {
	const text = `on: push
jobs:
  a:
    runs-on: x
    defaults: {run: {working-directory: tools/lint}}
    steps:
      - run: make
      - run: cd src && make
      - uses: ./src/action
      - uses: ./other
      - uses: some/action@v1
        with: {folder: build/src}
      - run: make
        working-directory: docs
`
	p, _ := newPass(t, map[string]string{".github/workflows/a.yml": text}, ".github/workflows/a.yml")
	b := p.File.Bodies()[0]
	for _, c := range []struct {
		path string
		want []bool
	}{
		{"", []bool{true, true, true, true, true, true}},
		{"src", []bool{false, true, true, false, true, false}},
		{"tools/lint", []bool{true, true, false, false, false, false}},
		{"work/docs", []bool{false, false, false, false, false, true}},
		{"${{ matrix.dir }}", []bool{true, true, true, true, true, true}},
		{"${{ runner.temp }}/report", []bool{false, false, false, false, false, false}},
	} {
		for i, want := range c.want {
			if got := worksInFolder(b, b.Steps[i], c.path); got != want {
				t.Errorf("worksInFolder(%s, %q) = %v", stepName(b, i), c.path, got)
			}
		}
	}
}

func TestStepFolder(t *testing.T) {
	const text = `on: push
jobs:
  a:
    runs-on: x
    steps:
      - run: make
      - uses: actions/checkout@v4
      - uses: actions/checkout@v4
        with: {path: ./src/}
      - uses: actions/checkout@v4
        with: {path: "${{ github.workspace }}/src"}
      - uses: actions/download-artifact@v4
        with: {path: report}
      - uses: actions/download-artifact@v4
        with: {path: /tmp/report}
`
	p, _ := newPass(t, map[string]string{".github/workflows/a.yml": text}, ".github/workflows/a.yml")
	var b workflow.Body = p.File.Bodies()[0]
	for i, want := range []string{"", "", "src", "", "", "/tmp/report"} {
		if got := stepFolder(b.Steps[i]); got != want {
			t.Errorf("stepFolder(%s) = %q, want %q", stepName(b, i), got, want)
		}
	}
}

package audit

import (
	"testing"

	"merlon/internal/engine/cicd/github/workflow"
)

func TestCheckCaches(t *testing.T) {
	const upload = "      - run: npm publish\n"
	runBodyCheck(t, checkCaches, []checkCase{
		{"a release", stepsOn("release", `
      - uses: actions/cache@v4
        with: {path: a, key: b}
`+upload), []string{"7 cache-poisoning - -"}},
		{"a tag", `on: {push: {tags: ["v*"]}}
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/setup-node@v4
        with: {cache: npm}
      - run: npm publish
`, []string{"6 cache-poisoning - -"}},
		{"a release branch", `on: {push: {branches: [release/1]}}
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/setup-go@v5
      - run: make deploy
`, []string{"6 cache-poisoning - -"}},
		{"a step that publishes", stepsOn("push", `
      - uses: actions/setup-go@v5
      - uses: goreleaser/goreleaser-action@v6
`), []string{"7 cache-poisoning - -"}},
		{"a step that does not push", stepsOn("push", `
      - uses: actions/setup-go@v5
      - uses: docker/build-push-action@v6
        with: {push: false}
`), nil},
		{"nothing leaves the job", stepsOn("release", `
      - uses: actions/setup-go@v5
      - run: go vet ./...
`), []string{"7 cache-poisoning - uncertain -2"}},
		{"saved only", stepsOn("release", `
      - uses: actions/cache/save@v4
        with: {path: a, key: b}
`+upload), nil},
		{"switched off", stepsOn("release", `
      - uses: actions/setup-go@v5
        with: {cache: false}
      - uses: actions/cache@v4
        with: {path: a, key: b, lookup-only: true}
      - uses: swatinem/rust-cache@v2
        if: "!startsWith(github.ref, 'refs/tags/')"
      - uses: docker/setup-buildx-action@v3
`+upload), nil},
		{"known when it runs", stepsOn("release", `
      - uses: actions/setup-go@v5
        with: {cache: "${{ inputs.cache }}"}
      - uses: actions/setup-go@v5
        with: {cache: "${{ github.event_name != 'release' }}"}
      - uses: actions/setup-go@v5
        with: {cache: "${{ false }}"}
`+upload), []string{"7 cache-poisoning - uncertain -1"}},
		{"nothing is published", stepsOn("push", `
      - uses: actions/setup-go@v5
      - run: make
`), nil},
	})
}

func TestDeliversOutput(t *testing.T) {
	for name, c := range map[string]struct {
		job  string
		want bool
	}{
		"an environment":       {"environment: production\n    steps: [{run: make}]", true},
		"a token that writes":  {"permissions: {contents: write}\n    steps: [{run: make}]", true},
		"a token that reads":   {"permissions: {contents: read}\n    steps: [{run: make}]", false},
		"an upload":            {"steps: [{uses: actions/upload-artifact@v4}]", true},
		"a command of git":     {"steps: [{run: git push origin main}]", true},
		"a secret":             {`steps: [{run: make, env: {A: "${{ secrets.A }}"}}]`, true},
		"the token alone":      {`steps: [{run: make, env: {A: "${{ secrets.GITHUB_TOKEN }}"}}]`, false},
		"a step that is off":   {"steps: [{run: npm publish, if: false}]", false},
		"a build":              {"steps: [{run: make}]", false},
		"a publishing action":  {"steps: [{uses: pypa/gh-action-pypi-publish@v1}]", true},
		"a checkout":           {"steps: [{uses: actions/checkout@v4}]", false},
		"an action by purpose": {"steps: [{uses: some/deploy-site@v1}]", true},
	} {
		p, _ := newPass(t, map[string]string{".github/workflows/a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    " +
			c.job + "\n"}, ".github/workflows/a.yml")
		if got := deliversOutput(p.File.Bodies()[0]); got != c.want {
			t.Errorf("%s: deliversOutput is %v", name, got)
		}
	}
}

func TestCheckPublishing(t *testing.T) {
	runBodyCheck(t, checkPublishing, []checkCase{
		{"commands", stepsOn("push", `
      - run: |
          cargo publish
          npm publish --dry-run
          python3 -m twine upload dist/*
          echo npm publish
          make
`), []string{"8 use-trusted-publishing - -", "10 use-trusted-publishing - -"}},
		{"a job that may request an identity token", `on: push
permissions: {id-token: write}
jobs:
  a:
    runs-on: x
    steps: [{run: npm publish}]
`, nil},
		{"a job whose own permissions leave it out", `on: push
permissions: {id-token: write}
jobs:
  a:
    permissions: {contents: read}
    runs-on: x
    steps: [{run: npm publish}]
`, []string{"7 use-trusted-publishing - -"}},
		{"all permissions", `on: push
permissions: write-all
jobs:
  a:
    runs-on: x
    steps: [{run: npm publish}]
`, nil},
		{"actions with a password", stepsOn("push", `
      - uses: pypa/gh-action-pypi-publish@v1
        with: {password: "${{ secrets.P }}"}
      - uses: pypa/gh-action-pypi-publish@v1
        with: {password: "${{ secrets.P }}", repository-url: https://pypi.example.com/}
      - uses: rubygems/release-gem@v1
        with: {setup-trusted-publisher: false}
      - uses: rubygems/configure-rubygems-credentials@v1
        with: {api-token: "${{ secrets.P }}"}
      - uses: js-devtools/npm-publish@v3
        with: {token: "${{ secrets.P }}"}
      - uses: katyo/publish-crates@v2
        with: {registry-token: "${{ secrets.P }}"}
      - uses: actions/setup-node@v4
        with: {always-auth: true, registry-url: https://registry.npmjs.org/}
      - uses: actions/setup-node@v4
        with: {registry-url: https://registry.npmjs.org/}
      - uses: pypa/gh-action-pypi-publish@v1
`), []string{"7 use-trusted-publishing - -", "11 use-trusted-publishing - -", "13 use-trusted-publishing - -",
			"15 use-trusted-publishing - -", "17 use-trusted-publishing - -", "19 use-trusted-publishing - -"}},
	})
}

func TestPublishReason(t *testing.T) {
	for text, want := range map[string]string{
		"on: release":                                "release starts the workflow",
		"on: {push: {tags: [v1]}}":                   "tags start the workflow",
		"on: {push: {branches: [main, releases/a]}}": "a release branch starts the workflow",
		"on: {push: {branches: [main]}}":             "",
		"on: push":                                   "",
	} {
		p, _ := newPass(t, map[string]string{".github/workflows/a.yml": text +
			"\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n"}, ".github/workflows/a.yml")
		var b workflow.Body = p.File.Bodies()[0]
		if got := p.publishReason(b); got != want {
			t.Errorf("%s: the reason is %q, want %q", text, got, want)
		}
	}
}

package audit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		sign int
	}{
		{"1.2.3", "1.2.3", 0}, {"v1.2.3", "1.2.3", 0}, {"1.2.3", "1.2.4", -1}, {"1.10.0", "1.9.0", 1},
		{"4", "4.2.1", 1}, {"3", "4.0.0", -1}, {"2.0.0", "10.0.0", -1},
	} {
		got := compareVersions(c.a, c.b)
		if got < 0 && c.sign >= 0 || got > 0 && c.sign <= 0 || got == 0 && c.sign != 0 {
			t.Errorf("compareVersions(%q, %q) = %d, want sign %d", c.a, c.b, got, c.sign)
		}
	}
}

func TestDiffersByOneEdit(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"actions/checkout", "actions/checkout", false},
		{"action/checkout", "actions/checkout", true},
		{"actionss/checkout", "actions/checkout", true},
		{"actoins/checkout", "actions/checkout", true},
		{"octions/checkout", "actions/checkout", true},
		{"acctionss/checkout", "actions/checkout", false},
		{"actions/cache", "actions/checkout", false},
		{"", "a", true},
	} {
		if got := differsByOneEdit(c.a, c.b); got != c.want {
			t.Errorf("differsByOneEdit(%q, %q) = %v", c.a, c.b, got)
		}
		if got := differsByOneEdit(c.b, c.a); got != c.want {
			t.Errorf("differsByOneEdit(%q, %q) = %v", c.b, c.a, got)
		}
	}
}

func TestIsBelowMajor(t *testing.T) {
	for uses, want := range map[string]bool{"a/b@v3": true, "a/b@v4": false, "a/b@v4.1.0": false, "a/b@main": true} {
		if got := isBelowMajor(uses, 4); got != want {
			t.Errorf("isBelowMajor(%q, 4) = %v", uses, got)
		}
	}
}

func TestHasWorkspacePath(t *testing.T) {
	for paths, want := range map[string]bool{"node_modules": true, "~/.cache": false, "/tmp/x": false, "": false,
		"~/.cache\ndist": true, "!dist": false} {
		if got := hasWorkspacePath(paths); got != want {
			t.Errorf("hasWorkspacePath(%q) = %v", paths, got)
		}
	}
}

func TestCheckUses(t *testing.T) {
	runBodyCheck(t, checkUses, []checkCase{
		{"a tag of somebody", stepsOn("push", `
      - uses: some/action@v1
`), []string{"7 unpinned-uses - uncertain"}},
		{"a branch of somebody", stepsOn("push", `
      - uses: some/action@main
`), []string{"7 unpinned-uses - likely"}},
		{"a tag of GitHub's own", stepsOn("push", `
      - uses: github/codeql-action/init@v3
`), []string{"7 unpinned-uses - uncertain -1"}},
		{"no version", stepsOn("push", `
      - uses: some/action
`), []string{"7 unpinned-uses medium certain"}},
		{"a shortened commit", stepsOn("push", `
      - uses: some/action@0123abc
`), []string{"7 unpinned-uses - -"}},
		{"digits are a version, not a commit", stepsOn("push", `
      - uses: some/action@20240101
`), []string{"7 unpinned-uses - uncertain"}},
		{"a commit", stepsOn("push", `
      - uses: some/action@0123456789012345678901234567890123456789
`), nil},
		{"a path in a roundabout way", stepsOn("push", `
      - uses: some/action/a/../b@0123456789012345678901234567890123456789
`), []string{"7 obfuscation - -"}},
		{"a name that is nearly a known one", stepsOn("push", `
      - uses: action/checkout@0123456789012345678901234567890123456789
`), []string{"7 typosquat-uses - -"}},
		{"known vulnerabilities", stepsOn("push", `
      - uses: tj-actions/branch-names@v6
      - uses: tj-actions/branch-names@0123456789012345678901234567890123456789 # v8.0.0
      - uses: tj-actions/branch-names@0123456789012345678901234567890123456789
      - uses: tj-actions/branch-names@v9.0.0
`), []string{"7 unpinned-uses - uncertain", "7 known-vulnerable-action critical -", "7 known-vulnerable-action critical -", "8 known-vulnerable-action critical -", "10 unpinned-uses - uncertain"}},
		{"images", stepsOn("push", `
      - uses: docker://alpine
      - uses: docker://alpine:3.20
      - uses: docker://alpine@sha256:0123456789012345678901234567890123456789012345678901234567890123
`), []string{"7 unpinned-image - -", "8 unpinned-image - uncertain -2"}},
		{"a local action of the workflow's own commit", stepsOn("push", `
      - uses: actions/checkout@0123456789012345678901234567890123456789
      - uses: ./action
`), nil},
		{"a local action of another commit", stepsOn("push", `
      - uses: actions/checkout@0123456789012345678901234567890123456789
        with: {ref: v1}
      - uses: ./action
`), []string{"9 workspace-action - - -1"}},
		{"a local action beside another commit", stepsOn("push", `
      - uses: actions/checkout@0123456789012345678901234567890123456789
        with: {ref: v1, path: other}
      - uses: ./action
`), nil},
	})
}

// advisories is vulnerability data that knows one action, or fails.
type advisories struct {
	scan.Advisories
	err error
}

func (advisories) Knows(string) bool { return true }

func (a advisories) Match(_ context.Context, _, name, version string) ([]scan.AdvisoryMatch, error) {
	if a.err != nil || name != "some/action" || version != "1.2" {
		return nil, a.err
	}
	return []scan.AdvisoryMatch{{Advisory: &finding.Advisory{ID: "GHSA-x", Severity: finding.Low}, Upgrade: "1.3"}}, nil
}

// Vulnerability data stands before the list of our own, which is what remains
// without data and when the data fails.
func TestCheckVulnerableAction(t *testing.T) {
	const text = `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: some/action@v1.2
      - uses: some/action@v1.3
      - uses: azure/setup-kubectl@v2
`
	for _, c := range []struct {
		name string
		data scan.Advisories
		want []string
	}{
		{"data", advisories{}, []string{"6 known-vulnerable-action low -", "8 known-vulnerable-action low -"}},
		{"failing data", advisories{err: errors.New("no connection")}, []string{"8 known-vulnerable-action low -"}},
		{"no data", nil, []string{"8 known-vulnerable-action low -"}},
	} {
		p, found := newPass(t, map[string]string{".github/workflows/a.yml": text}, ".github/workflows/a.yml")
		p.Advisories = c.data
		for _, s := range p.File.Bodies()[0].Steps {
			u := s.Exec.(*actionlint.ExecAction).Uses
			_, ref, _ := strings.Cut(u.Value, "@")
			p.checkVulnerableAction(u, actionSlug(u.Value), ref, "")
		}
		if diff := cmp.Diff(c.want, *found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSimilarAction(t *testing.T) {
	for slug, want := range map[string]string{
		"actions/checkout":     "",
		"action/checkout":      "actions/checkout",
		"actoins/checkout":     "actions/checkout",
		"actions/checkouts":    "", // the owner is the same
		"checkout":             "",
		"somebody/else":        "",
		"docker/login-action":  "",
		"dockr/login-action":   "docker/login-action",
		"docker-/login-action": "docker/login-action",
	} {
		if got := similarAction(slug); got != want {
			t.Errorf("similarAction(%q) = %q, want %q", slug, got, want)
		}
	}
}

func TestCheckToolVersions(t *testing.T) {
	runBodyCheck(t, checkToolVersions, []checkCase{
		{"the newest", stepsOn("push", `
      - uses: aquasecurity/setup-trivy@v0.2.0
      - uses: aquasecurity/setup-trivy@v0.2.0
        with: {version: Latest}
`), []string{"7 unpinned-tool - -", "9 unpinned-tool - -"}},
		{"known when it runs", stepsOn("push", `
      - uses: aquasecurity/setup-trivy@v0.2.0
        with: {version: "${{ inputs.version }}"}
`), []string{"8 unpinned-tool - uncertain"}},
		{"fixed", stepsOn("push", `
      - uses: aquasecurity/setup-trivy@v0.2.0
        with: {version: v0.56.1}
      - uses: some/action@v1
`), nil},
	})
}

func TestCheckMisfeatures(t *testing.T) {
	runFileCheck(t, checkMisfeatures, []checkCase{
		{"the shell cmd", `on: push
defaults: {run: {shell: cmd}}
jobs:
  a:
    runs-on: x
    defaults: {run: {shell: CMD.exe /D}}
    steps:
      - run: make
        shell: cmd
      - run: make
        shell: bash
`, []string{"2 misfeature - -", "6 misfeature - -", "9 misfeature - -"}},
		{"packages in the interpreter", stepsOn("push", `
      - uses: actions/setup-python@v5
        with: {pip-install: black}
      - uses: actions/setup-python@v5
`), []string{"8 misfeature - -"}},
	})
}

func TestCheckAppTokens(t *testing.T) {
	runBodyCheck(t, checkAppTokens, []checkCase{
		{"every right in every repository", stepsOn("push", `
      - uses: actions/create-github-app-token@v1
        with:
          app-id: 1
          owner: org
`), []string{"10 github-app - -", "7 github-app low - -1"}},
		{"not revoked", stepsOn("push", `
      - uses: tibdex/github-app-token@v2
        with:
          skip-token-revoke: true
          permissions: '{"contents": "read"}'
`), []string{"9 github-app - -"}},
		{"limited", stepsOn("push", `
      - uses: actions/create-github-app-token@v1
        with:
          owner: org
          repositories: one
          permission-contents: read
`), nil},
		{"permissions of the organization, which no list of repositories limits", stepsOn("push", `
      - uses: actions/create-github-app-token@v1
        with:
          owner: org
          permission-members: read
          permission-organization-plan: read
`), nil},
		{"one of them is of repositories", stepsOn("push", `
      - uses: actions/create-github-app-token@v1
        with:
          owner: org
          permission-members: read
          permission-contents: read
`), []string{"9 github-app - -"}},
	})
}

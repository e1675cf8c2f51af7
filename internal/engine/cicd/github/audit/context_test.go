package audit

import (
	"slices"
	"testing"

	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
)

// The same unpinned action weighs by what its code can reach in the job.
func TestPrivilege(t *testing.T) {
	for name, c := range map[string]struct {
		job  string
		want int
	}{
		"nothing is known":           {"runs-on: x\n    steps: [{uses: o/n@v1}]", 0},
		"a token that reads":         {"permissions: {contents: read}\n    steps: [{uses: o/n@v1}]", -1},
		"a token that writes":        {"permissions: {contents: write}\n    steps: [{uses: o/n@v1}]", 1},
		"a right of no weight":       {"permissions: {issues: write}\n    steps: [{uses: o/n@v1}]", 0},
		"a secret":                   {`steps: [{uses: o/n@v1, with: {a: "${{ secrets.A }}"}}]`, 1},
		"the token of the job":       {`steps: [{uses: o/n@v1, with: {a: "${{ secrets.GITHUB_TOKEN }}"}}]`, 0},
		"a token to upload coverage": {`steps: [{uses: o/n@v1, with: {a: "${{ secrets.CODECOV_TOKEN }}"}}]`, 0},
		"both": {"permissions: write-all\n    " +
			`steps: [{uses: o/n@v1, with: {a: "${{ secrets.A }}"}}]`, 2},
		"every secret handed over": {"uses: o/n/.github/workflows/a.yml@v1\n    secrets: inherit", 1},
	} {
		p, _ := newPass(t, map[string]string{".github/workflows/a.yml": "on: push\njobs:\n  a:\n    " +
			c.job + "\n"}, ".github/workflows/a.yml")
		sum := 0
		for _, term := range p.privilegeOf(p.File.Bodies()[0]).terms() {
			sum += term.Points
		}
		if sum != c.want {
			t.Errorf("%s: %+d, want %+d", name, sum, c.want)
		}
	}
}

// An action of the tree has the privilege of the jobs that use it.
func TestPrivilegeOfAction(t *testing.T) {
	p, _ := newPass(t, map[string]string{
		".github/workflows/a.yml": "on: push\npermissions: {contents: write}\njobs:\n  a:\n    runs-on: x\n    " +
			"steps:\n" +
			"    - uses: ./build\n      env: {A: \"${{ secrets.A }}\"}\n",
		"build/action.yml": "name: Build\nruns:\n  using: composite\n  steps: [{uses: o/n@v1}]\n",
	}, "build/action.yml")
	if v := p.privilegeOf(p.File.Bodies()[0]); v.scope != "contents" || v.secret != "A" || !v.known {
		t.Errorf("%+v", v)
	}
}

func TestCapTerms(t *testing.T) {
	terms := []finding.SeverityTerm{{Points: 1, Reason: "a"}, {Points: 1, Reason: "b"}, {Points: -1, Reason: "c"}}
	for limit, want := range map[int]int{2: 3, 1: 3, 0: 2, -1: 1, -5: 1} {
		if got := capTerms(slices.Clone(terms), limit); len(got) != want {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
}

// The owner is known from the condition that keeps copies from running.
func TestIsOwner(t *testing.T) {
	p, _ := newPass(t, map[string]string{".github/workflows/a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    " +
		"if: github.repository == 'Acme/shop'\n    steps: [{run: make}]\n"}, ".github/workflows/a.yml")
	if !p.Tree.IsOwner("acme") || p.Tree.IsOwner("other") {
		t.Error("the owner is not acme")
	}
}

// Guards stand in the step, in its job, and in the workflow that calls.
func TestGuards(t *testing.T) {
	const called = "on: workflow_call\njobs:\n  b:\n    runs-on: x\n    steps:\n" +
		"    - uses: actions/checkout@v4\n      with: {ref: \"${{ github.event.pull_request.head.sha }}\"}\n    - " +
		"run: make\n"
	caller := func(cond string) string {
		return "on: pull_request_target\njobs:\n  a:\n    if: " + cond + "\n    uses: ./.github/workflows/b.yml\n"
	}
	for name, c := range map[string]struct {
		cond string
		want []string
	}{
		"nobody asks": {"always()", []string{"6 untrusted-checkout - -"}},
		"the author": {"github.event.pull_request.author_association == " +
			"'MEMBER'", []string{"6 untrusted-checkout - uncertain -2"}},
		"the repository": {"github.repository == 'acme/shop'", []string{"6 untrusted-checkout - -"}},
		"merged":         {"github.event.pull_request.merged == true", nil},
		"merged, short":  {"github.event.pull_request.merged", nil},
		"not merged":     {"github.event.pull_request.merged == false", []string{"6 untrusted-checkout - -"}},
		"not merged, !":  {"'!github.event.pull_request.merged'", []string{"6 untrusted-checkout - -"}},
		"merged or other": {"github.event.pull_request.merged || github.event.action == 'x'",
			[]string{"6 untrusted-checkout - -"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, found := newPass(t, map[string]string{".github/workflows/a.yml": caller(c.cond),
				".github/workflows/b.yml": called}, ".github/workflows/b.yml")
			for _, b := range p.File.Bodies() {
				checkUntrustedCheckout(p, b)
			}
			if !slices.Equal(*found, c.want) {
				t.Errorf("found %q, want %q", *found, c.want)
			}
		})
	}
}

func TestCheckCommentTrigger(t *testing.T) {
	const steps = "\n    steps:\n    - run: pip install -r requirements.txt\n    - run: python3 a.py\n      env: {T: " +
		"\"${{ secrets.BOT }}\"}\n"
	job := func(on, cond string) string {
		return "on: " + on + "\njobs:\n  a:\n    runs-on: x\n    if: " + cond + steps
	}
	runBodyCheck(t, checkCommentTrigger, []checkCase{
		{"any commenter", job("issue_comment", "contains(github.event.comment.body, '/go')"),
			[]string{"3 comment-trigger - - +1"}},
		{"members", job("issue_comment", "github.event.comment.author_association == 'MEMBER'"), nil},
		{"another event", job("push", "contains(github.event.comment.body, '/go')"), nil},
		{"no code of others", "on: issue_comment\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: gh issue " +
			"edit\n      env: {T: \"${{ secrets.BOT }}\"}\n", nil},
		{"no secret", "on: issue_comment\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: pip install x\n", nil},
		{"a step asks", "on: issue_comment\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: gh api " +
			"repos/o/r/collaborators/$A/permission\n" +
			"    - run: pip install x\n      env: {T: \"${{ secrets.BOT }}\"}\n", nil},
	})
}

func TestCheckTokenInRemote(t *testing.T) {
	job := func(steps string) string { return "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n" + steps }
	runBodyCheck(t, checkTokenInRemote, []checkCase{
		{"before packages are installed", job("    - run: git remote set-url origin " +
			"https://x-access-token:${GITHUB_TOKEN}@github.com/o/r.git\n    - run: npm ci\n"),
			[]string{"6 persisted-credentials - -"}},
		{"with an expression", job("    - run: |\n        git remote set-url origin https://x:${{ secrets.T " +
			"}}@github.com/o/r.git\n        make\n"),
			[]string{"7 persisted-credentials - - +1"}},
		{"nothing runs after it", job("    - run: npm ci\n    - run: git remote set-url origin https://x:${{ " +
			"secrets.T }}@github.com/o/r.git\n    - run: git push\n"), nil},
		{"no token", job("    - run: git remote set-url origin https://github.com/o/r.git\n    - run: npm ci\n"), nil},
		{"a user without a password", job("    - run: git clone ssh://git@github.com/o/r.git\n    - run: npm ci\n"),
			nil},
	})
}

// A token on disk weighs by what it can do and by the code that can read it.
func TestPersistedTerms(t *testing.T) {
	job := func(perms, steps string) string {
		return "on: push\npermissions: " + perms + "\njobs:\n  a:\n    runs-on: x\n    steps:\n" + steps
	}
	const out = "    - uses: actions/checkout@v4\n"
	runBodyCheck(t, checkCheckouts, []checkCase{
		{"it can only read", job("{contents: read}", out+"    - run: npm ci\n"),
			[]string{"7 persisted-credentials - - -1"}},
		{"it can write, and packages are installed", job("{contents: write}", out+"    - run: npm ci\n"),
			[]string{"7 persisted-credentials - - +1"}},
		{"it can write, and nothing foreign runs", job("{contents: write}", out+"    - run: ls\n"),
			[]string{"7 persisted-credentials - - -1"}},
		{"it is needed", job("{contents: write}", out+"    - run: npm ci\n    - run: git push\n"),
			[]string{"7 persisted-credentials - - -1"}},
		{"a secret", job("{}", "    - uses: actions/checkout@v4\n      with: {token: \"${{ secrets.PAT }}\"}\n    - "+
			"uses: o/n@v1\n"),
			[]string{"7 persisted-credentials - - +1"}},
	})
}

// What one decision fixes has one cause, and a message about all of it; each injection stays.
func TestFold(t *testing.T) {
	var got []finding.Finding
	report, end := Fold(func(_ *finding.Rule, f finding.Finding) { got = append(got, f) })
	p, _ := newPass(t, map[string]string{".github/workflows/a.yml": `on: push
permissions: {}
jobs:
  a:
    runs-on: x
    steps:
      - uses: o/one@v1
      - uses: o/two@v1
      - uses: o/one@v1
      - uses: actions/checkout@v4
`}, ".github/workflows/a.yml")
	p.Out = report
	checkUses(p, workflow.Body{File: p.File, Job: p.File.Jobs()[0], Steps: p.File.Jobs()[0].Steps})
	if len(got) != 0 {
		t.Fatalf("%d findings before the end", len(got))
	}
	end()
	if len(got) != 4 || got[0].Cause != got[1].Cause || got[3].Cause == got[0].Cause || got[0].Cause == "" {
		t.Fatalf("%+v", got)
	}
	if want := "o/one is named by \"v1\", which can be moved, in job \"a\", step 1 (o/one@v1). In all: " +
		"o/one, o/two"; got[0].Message != want {
		t.Errorf("message %q, want %q", got[0].Message, want)
	}
}

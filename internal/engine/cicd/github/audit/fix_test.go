package audit

import (
	"path"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
)

// applyFix applies the edits of a fix to a text, from the last to the first, so that the numbers of
// lines stay right.
func applyFix(text string, fix *finding.Fix) string {
	lines := strings.Split(text, "\n")
	for _, e := range slices.Backward(fix.Edits) {
		lines = slices.Replace(lines, e.StartLine-1, e.EndLine, e.Lines...)
	}
	return strings.Join(lines, "\n")
}

// runAll runs every check on a workflow and returns the findings of one rule.
func runAll(t *testing.T, files map[string]string, name, rule string) []finding.Finding {
	t.Helper()
	var out []finding.Finding
	p, _ := newPass(t, files, name)
	report, end := Fold(func(r *finding.Rule, f finding.Finding) {
		if path.Base(r.ID) == rule {
			out = append(out, f)
		}
	})
	p.Out = report
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	end()
	return out
}

const (
	push = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
	sha  = "0123456789012345678901234567890123456789"
)

// Every edit leaves a workflow that is read again and in which the rule is silent.
func TestFixes(t *testing.T) {
	for _, c := range []struct{ name, rule, text, want string }{
		{"a checkout without inputs", "persisted-credentials", push + "      - uses: actions/checkout@v4\n      - " +
			"run: make\n",
			"      - uses: actions/checkout@v4\n        with:\n          persist-credentials: false\n      - " +
				"run: make\n"},
		{"a named checkout with a comment", "persisted-credentials",
			push + "      - name: Get\n        uses: actions/checkout@" + sha + " # v4.2.2\n      - run: make\n",
			"# v4.2.2\n        with:\n          persist-credentials: false\n"},
		{"a checkout with inputs", "persisted-credentials",
			push + "    - uses: actions/checkout@v4\n      with:\n        fetch-depth: 0\n    - run: make\n",
			"      with:\n        persist-credentials: false\n        fetch-depth: 0\n"},
		{"a checkout with inputs on one line", "persisted-credentials",
			push + "      - uses: actions/checkout@v4\n        with: {fetch-depth: 0}\n",
			"        with: {persist-credentials: false, fetch-depth: 0}\n"},
		{"a checkout that says so", "persisted-credentials",
			push + "      - uses: actions/checkout@v4\n        with:\n          persist-credentials: true\n",
			"          persist-credentials: false\n"},
		{"two checkouts", "persisted-credentials",
			push + "      - uses: actions/checkout@v4\n      - uses: actions/checkout@v4\n        with:\n          " +
				"path: b\n",
			"      - uses: actions/checkout@v4\n        with:\n          persist-credentials: false\n      - uses: " +
				"actions/checkout@v4\n" +
				"        with:\n          persist-credentials: false\n          path: b\n"},
		{"no permissions", "missing-permissions", push + "      - run: make\n",
			"on: push\npermissions:\n  contents: read\n\njobs:\n"},
		{"no concurrency", "missing-concurrency", push + "      - run: make\n", "concurrency:\n  group: ${{ " +
			"github.workflow }}"},
		{"an expression in a line", "template-injection",
			strings.Replace(push, "push", "issues", 1) + "      - run: echo ${{ github.event.issue.title }}\n",
			"      - env:\n          ISSUE_TITLE: ${{ github.event.issue.title }}\n        run: echo " +
				"\"${ISSUE_TITLE}\"\n"},
		{"an expression in a block, in quotes of both kinds and in none", "template-injection",
			strings.Replace(push, "push", "issues", 1) + "      - name: Say\n        run: |\n          # it's " +
				"a test\n" +
				"          echo \"a ${{ github.event.issue.title }}\" $(echo \"b\" ${{ github.event.issue.title }})\n" +
				"          echo 'c ${{ github.event.issue.title }}'\n",
			"      - name: Say\n        env:\n          ISSUE_TITLE: ${{ github.event.issue.title }}\n        run: " +
				"|\n          # it's a test\n" +
				"          echo \"a ${ISSUE_TITLE}\" $(echo \"b\" \"${ISSUE_TITLE}\")\n          echo 'c " +
				"'\"${ISSUE_TITLE}\"''\n"},
		{"beside other variables", "template-injection",
			strings.Replace(push, "push", "issues", 1) + "      - run: echo \"${{ github.event.issue.body }}\"\n     " +
				"   env:\n          A: b\n",
			"      - run: echo \"${ISSUE_BODY}\"\n        env:\n          ISSUE_BODY: ${{ github.event.issue.body " +
				"}}\n          A: b\n"},
		{"a commit", "expression-in-script", push + "      - run: ./test ${{ github.sha }}\n",
			"          SHA: ${{ github.sha }}\n        run: ./test \"${SHA}\"\n"},
		{"a script that begins with the value", "template-injection",
			strings.Replace(push, "push", "issues", 1) + "      - run: ${{ github.event.issue.title }} a\n",
			"        run: |\n          \"${ISSUE_TITLE}\" a\n"},
		{"a script that begins with the value, beside other variables", "template-injection",
			strings.Replace(push, "push", "issues", 1) + "      - name: a\n        env:\n          A: b\n        " +
				"run: ${{ github.event.issue.title }} a\n",
			"          A: b\n        run: |\n          \"${ISSUE_TITLE}\" a\n"},
		{"a name that means something to a program", "expression-in-script",
			push + "      - run: ./test ${{ github.token }} $VALUE_TOKEN\n        env:\n          A: b\n",
			"          VALUE_TOKEN_VALUE: ${{ github.token }}\n"},
		{"a cache of a release", "cache-poisoning", "on:\n  release:\njobs:\n  a:\n    runs-on: ubuntu-latest\n    " +
			"steps:\n" +
			"      - uses: actions/setup-go@v5\n        with:\n          go-version: stable\n      - run: gh release " +
			"upload x\n",
			"          cache: false\n          go-version: stable\n"},
		{"a cache that is asked for", "cache-poisoning", "on:\n  release:\njobs:\n  a:\n    runs-on: ubuntu-latest\n " +
			"   steps:\n" +
			"      - uses: actions/setup-node@v4\n        with:\n          node-version: 22\n          cache: npm\n  " +
			"    - run: npm publish\n",
			"          node-version: 22\n      - run: npm publish\n"},
		{"the actor", "spoofable-actor", "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-latest\n    if: " +
			"github.actor == 'dependabot[bot]'\n" +
			"    steps:\n      - run: gh pr merge\n", "    if: github.event.pull_request.user.login == " +
			"'dependabot[bot]'\n"},
		{"a line break behind a condition", "unsound-condition", push + "      - if: |\n          ${{ github.ref == " +
			"'x' }}\n        run: make\n",
			"      - if: |-\n"},
		{"unsecure commands", "insecure-commands", "on: push\nenv:\n  ACTIONS_ALLOW_UNSECURE_COMMANDS: true\n" +
			strings.TrimPrefix(push, "on: push\n") + "      - run: make\n", "  ACTIONS_ALLOW_UNSECURE_COMMANDS: " +
			"false\n"},
		{"debugging", "debug-mode", push + "      - run: make\n        env:\n          ACTIONS_STEP_DEBUG: true\n",
			"          ACTIONS_STEP_DEBUG: false\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const name = ".github/workflows/a.yml"
			found := runAll(t, map[string]string{name: c.text}, name, c.rule)
			if len(found) == 0 || found[0].Fix == nil {
				t.Fatalf("no fix: %+v", found)
			}
			fix := found[0].Fix
			if fix.Path != name || fix.Description == "" {
				t.Errorf("fix of %q: %q", fix.Path, fix.Description)
			}
			fixed := applyFix(c.text, fix)
			if !strings.Contains(fixed, c.want) {
				t.Errorf("fixed\n%s\nwant in it\n%s", fixed, c.want)
			}
			if again := runAll(t, map[string]string{name: fixed}, name, c.rule); len(again) > 0 {
				t.Errorf("%s still reports %q in\n%s", c.rule, again[0].Message, fixed)
			}
		})
	}
}

// Two expressions of one script would declare their variables in the same place: the edit takes one,
// whole, and the next scan offers the other.
func TestFixesOfOneScript(t *testing.T) {
	const name, rule = ".github/workflows/a.yml", "expression-in-script"
	text := push + "      - run: |\n          a ${{ github.sha }}\n          b ${{ github.run_id }}\n"
	for range 2 {
		found := runAll(t, map[string]string{name: text}, name, rule)
		if len(found) == 0 || found[0].Fix == nil {
			t.Fatalf("no fix: %+v", found)
		}
		text = applyFix(text, found[0].Fix)
	}
	const want = "      - env:\n          RUN_ID: ${{ github.run_id }}\n          SHA: ${{ github.sha }}\n        " +
		"run: |\n" +
		"          a \"${SHA}\"\n          b \"${RUN_ID}\"\n"
	if !strings.HasSuffix(text, want) || len(runAll(t, map[string]string{name: text}, name, rule)) > 0 {
		t.Errorf("fixed\n%s", text)
	}
}

// Where an edit could break the workflow, or would not help, there is none.
func TestNoFix(t *testing.T) {
	issues := strings.Replace(push, "push", "issues", 1)
	for _, c := range []struct{ name, rule, text string }{
		{"a step in flow style", "persisted-credentials", push + "      - {uses: actions/checkout@v4}\n"},
		{"a checkout whose token pushes", "persisted-credentials", push + "      - uses: actions/checkout@v4\n      " +
			"- run: git push\n"},
		{"a job that uses its token", "missing-permissions", push + "      - run: ./a\n        env: {T: \"${{ " +
			"github.token }}\"}\n"},
		{"a job that asks the API", "missing-permissions", push + "      - run: gh issue close 1\n"},
		{"a here document", "template-injection", issues + "      - run: |\n          cat <<EOF\n          ${{ " +
			"github.event.issue.title }}\n          EOF\n"},
		{"PowerShell", "template-injection", issues + "      - shell: pwsh\n        run: echo ${{ " +
			"github.event.issue.title }}\n"},
		{"a runner of Windows", "template-injection", strings.Replace(issues, "ubuntu", "windows", 1) +
			"      - run: echo ${{ github.event.issue.title }}\n"},
		{"a program of another language", "template-injection", issues + "      - run: python3 -c 'print(\"${{ " +
			"github.event.issue.title }}\")'\n"},
		{"a folded block", "template-injection", issues + "      - run: >\n          echo\n          ${{ " +
			"github.event.issue.title }}\n"},
		{"backticks", "template-injection", issues + "      - run: |\n          a=`echo b`\n          echo ${{ " +
			"github.event.issue.title }}\n"},
		{"an event without an author", "spoofable-actor", "on: issue_comment\njobs:\n  a:\n    runs-on: x\n    if: " +
			"github.actor == 'dependabot[bot]'\n    steps:\n      - run: make\n"},
		{"text around a condition", "unsound-condition", push + "      - if: ${{ github.ref == 'x' }} && true\n      " +
			"  run: make\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const name = ".github/workflows/a.yml"
			found := runAll(t, map[string]string{name: c.text}, name, c.rule)
			if len(found) == 0 || found[0].Fix != nil {
				t.Errorf("%+v", found)
			}
		})
	}
}

// A called workflow of the tree says which secrets it takes.
func TestFixInherit(t *testing.T) {
	files := map[string]string{
		".github/workflows/a.yml": "on: push\njobs:\n  a:\n    uses: ./.github/workflows/b.yml\n    secrets: inherit\n",
		".github/workflows/b.yml": "on:\n  workflow_call:\n    secrets:\n      KEY: {required: true}\n      OTHER: " +
			"{}\njobs:\n  a:\n" +
			"    runs-on: x\n    steps: [{run: make}]\n",
	}
	const name, rule = ".github/workflows/a.yml", "secrets-inherit"
	found := runAll(t, files, name, rule)
	if len(found) != 1 || found[0].Fix == nil {
		t.Fatalf("%+v", found)
	}
	files[name] = applyFix(files[name], found[0].Fix)
	if want := "    secrets:\n      KEY: ${{ secrets.KEY }}\n      OTHER: ${{ " +
		"secrets.OTHER }}\n"; !strings.HasSuffix(files[name], want) {
		t.Errorf("fixed\n%s", files[name])
	}
	if again := runAll(t, files, name, rule); len(again) > 0 {
		t.Errorf("still %+v", again)
	}
}

func TestFixDependabot(t *testing.T) {
	for _, c := range []struct{ text, rule, want string }{
		{"version: 2\nupdates:\n  - package-ecosystem: npm\n    directory: /\n", "dependabot-cooldown",
			"  - package-ecosystem: npm\n    cooldown:\n      default-days: 7\n    directory: /\n"},
		{"version: 2\nupdates:\n  - package-ecosystem: npm\n    cooldown:\n      default-days: 2\n",
			"dependabot-cooldown",
			"      default-days: 7\n"},
		{"version: 2\nupdates:\n  - package-ecosystem: npm\n    insecure-external-code-execution: allow\n    " +
			"cooldown: {default-days: 7}\n",
			"dependabot-execution", "    insecure-external-code-execution: deny\n"},
	} {
		find := func(text string) (out []finding.Finding) {
			if err := Dependabot(".github/dependabot.yml", []byte(text), func(r *finding.Rule, f finding.Finding) {
				if path.Base(r.ID) == c.rule {
					out = append(out, f)
				}
			}); err != nil {
				t.Fatal(err)
			}
			return out
		}
		found := find(c.text)
		if len(found) != 1 || found[0].Fix == nil {
			t.Errorf("%q: %+v", c.text, found)
			continue
		}
		fixed := applyFix(c.text, found[0].Fix)
		if !strings.Contains(fixed, c.want) || len(find(fixed)) > 0 {
			t.Errorf("fixed\n%s", fixed)
		}
	}
}

func TestExpandVariable(t *testing.T) {
	for text, want := range map[string]string{
		"a X b": `a "${V}" b`, `"a X"`: `"a ${V}"`, "'a X'": `'a '"${V}"''`, `"$(a X)"`: `"$(a "${V}")"`,
		`"$(a "X")" X`: `"$(a "${V}")" "${V}"`, `\" X`: `\" "${V}"`, "# it's\nX": "# it's\n\"${V}\"",
		"${{ 'a' }} X": "${{ 'a' }} \"${V}\"", "a#'b X'": `a#'b '"${V}"''`,
		"awk X": "", "`a` X": "", "# X": "",
	} {
		if got, ok := expandVariable(text, "X", "V"); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// Whatever a workflow holds, its fixes are edits of lines that exist, in their order.
func FuzzFixes(f *testing.F) {
	f.Add("on: issues\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo ${{ github.event.issue.title }}\n")
	f.Add("on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n        with: " +
		"{a: b}\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := workflow.Read(".github/workflows/a.yml", []byte(text))
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		tree := workflow.NewTree([]*workflow.File{w})
		p := &Pass{Context: t.Context(), File: w, Tree: tree, Flow: &taint.Tracker{Tree: tree},
			Out: func(_ *finding.Rule, got finding.Finding) {
				if got.Fix == nil {
					return
				}
				last := 0
				for _, e := range got.Fix.Edits {
					if e.StartLine <= last || e.EndLine > lines || e.EndLine < e.StartLine-1 {
						t.Errorf("edits %+v of %d lines", got.Fix.Edits, lines)
					}
					last = max(e.EndLine, e.StartLine-1)
				}
			}}
		if err := p.Run(); err != nil {
			t.Error(err)
		}
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/test/process"
	"merlon/test/sast/score"
	"merlon/test/sast/tool"
	"merlon/test/table"
)

// The test program plays the scanner: it reports what the file "findings" in the
// scanned folder says, "path:line rule cwe" a line.
const play = "MERLON_TEST_PLAY"

func TestMain(m *testing.M) {
	if os.Getenv(play) != "" {
		perform(os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

func perform(args []string) {
	if args[0] == "rules" {
		b, err := os.ReadFile("results.json")
		exitOn(err)
		_, err = os.Stdout.Write(b)
		exitOn(err)
		return
	}
	text, err := os.ReadFile(filepath.Join(args[1], "findings"))
	if slices.Contains(args, "--only-rules") { // pattern tests: the targets say what is found
		b, readErr := os.ReadFile(args[slices.Index(args, "--rules")+1])
		exitOn(readErr)
		if strings.Contains(string(b), "unparsable") {
			exitOn(os.ErrInvalid)
		}
		var targets []string
		targets, err = filepath.Glob(filepath.Join(args[1], "*.*"))
		for _, name := range targets {
			b, readErr := os.ReadFile(name)
			exitOn(readErr)
			text = append(text, b...)
		}
	}
	if !os.IsNotExist(err) {
		exitOn(err)
	}
	findings, rules := []any{}, []any{}
	for line := range strings.Lines(string(text)) {
		path, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		var n, cwe int
		var rule string
		if _, err := fmt.Sscan(rest, &n, &rule, &cwe); !ok || err != nil {
			continue
		}
		findings = append(findings,
			map[string]any{"ruleId": rule, "location": map[string]any{"path": path, "startLine": n}})
		rules = append(rules, map[string]any{"id": rule, "cwe": []string{fmt.Sprintf("CWE-%d", cwe)},
			"confidence": "high"})
	}
	if strings.Contains(string(text), "fail") {
		exitOn(os.ErrInvalid)
	}
	exitOn(json.NewEncoder(os.Stdout).Encode(map[string]any{"findings": findings, "rules": rules}))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// write makes the files of a corpus.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fixture is a little of every corpus, each with one thing right and one wrong.
var fixture = map[string]string{
	"BenchmarkJava/expectedresults-1.2.csv": "BenchmarkTest1,sqli,true,89\nBenchmarkTest2,sqli,false,89\nBenchmarkTest3,xss,true,79\n",
	"BenchmarkJava/findings":                "src/BenchmarkTest1.java:3 sql 89\nsrc/BenchmarkTest3.java:3 sql 89\n",
	"BenchmarkJava/src/main/java/org/owasp/benchmark/testcode/BenchmarkTest1.java": "package org.owasp.benchmark.testcode;\nclass A {\n}\n",

	"BenchmarkPython/expectedresults-0.1.csv": "BenchmarkTest1,sqli,true,89\n",
	"BenchmarkPython/findings":                "testcode/BenchmarkTest1.py:1 sql 89\n",

	"yardsticks/securibench.jsonl": `{"file":"src/A.java","line":4,"vuln":true}` + "\n" +
		`{"file":"src/A.java","line":5,"vuln":false}`,
	"securibench-micro/findings": "src/A.java:4 sql 89\n",

	"yardsticks/xast-dev.jsonl": `{"lang":"go","file":"sast-go/a/a.go","vuln":true}
{"lang":"java","file":"sast-java/A.java","vuln":true}
{"lang":"js","file":"sast-js/a.js","vuln":true}
{"lang":"php","file":"sast-php/a.php","vuln":true}
{"lang":"python2","file":"sast-python2/a.py","vuln":true}
{"lang":"python3","file":"sast-python3/a.py","vuln":false}`,
	"xast/sast-go/findings": "a/a.go:1 cmd 78\n", "xast/sast-java/x": "", "xast/sast-js/x": "", "xast/sast-php/x": "",
	"xast/sast-python2/findings": "a.py:1 cmd 78\n", "xast/sast-python3/x": "",

	"yardsticks/tpatterns.jsonl": `{"lang":"JS","file":"JS/1/a.js","vuln":true}` + "\n" +
		`{"lang":"JAVA","file":"JAVA/1/A.java","vuln":true}`,
	"tpatterns/JS/findings": "1/a.js:1 xss 79\n", "tpatterns/JAVA/x": "",

	"yardsticks/vulcan-dev.jsonl": `{"id":"1","cwe":["CWE-22"],"locs":[{"sink":{"file":"a.js","lineno":2}}],"peers":{"codeql":"A"}}
{"id":"2","cwe":["CWE-22"],"locs":[{"sink":{"file":"a.js","lineno":2}}]}`,
	"vulcan/1/findings": "a.js:3 path 22\na.js:30 path 22\n", "vulcan/2/findings": "fail",

	"real-vuln/ground-truth/realvuln-app/ground-truth.json": `{"repo_id":"app","findings":[
		{"id":"a","is_vulnerable":true,"vulnerability_class":"ssrf","acceptable_cwes":["CWE-918"],"file":"a.py","location":{"start_line":3}}]}`,
	"real-vuln/repos/app/findings": "a.py:9 ssrf 918\nb.py:9 ssrf 918\n",

	"yardsticks/opengrep-rules-dev.jsonl": `{"rules":"a.yaml","id":"a","mode":"search","langs":["go"],"target":"a.go","expect":[1],"todo":[2]}
{"rules":"b.yaml","id":"b","mode":"taint","langs":["go"],"target":"b.go","expect":[1]}
{"rules":"c.yaml","id":"c","langs":["solidity"],"target":"c.sol","expect":[1]}
{"rules":"d.yaml","id":"d","langs":["c"],"target":"d.c","expect":[1]}`,
	"opengrep-rules/results.json": `{"cases":[{"rules":"./a.yaml","id":"a","target":"a.go","got":[1,2]},{"rules":"b.yaml","id":"b","target":"b.go","got":[1,1]}]}`,

	"opengrep-tests/patterns/go/one.go":            "// ERROR:\none.go:2 go.one 1\n",
	"opengrep-tests/patterns/go/one.sgrep":         "f()",
	"opengrep-tests/patterns/go/bad.go":            "// ERROR:\nbad.go:2 go.bad 1\n",
	"opengrep-tests/patterns/go/bad.sgrep":         "unparsable",
	"opengrep-tests/patterns/go/three.go":          "",
	"opengrep-tests/patterns/go/three.sgrep":       "h()",
	"opengrep-tests/patterns/java/two.java":        "// MATCH:\n",
	"opengrep-tests/patterns/POLYGLOT/two.sgrep":   "g()",
	"opengrep-tests/patterns/clojure/unwanted.clj": "",

	"noise/java/p/A.java": strings.Repeat("\n", 1000), "noise/java/p/findings": "A.java:1 sql 89\n",
	"noise/js/p/a.ts": "\n", "noise/python/p/a.py": "\n", "noise/go/p/a.go": "\n",

	"yardsticks/codeql-tests-dev.jsonl": `{"lang":"go","query":"go/path","cwe":["022"],"dir":"go/test/path","file":"a.go","line":4}` + "\n" +
		`{"lang":"swift","query":"s","cwe":["022"],"dir":"swift/x","file":"a.swift","line":4}`,
	"codeql-tests/go/test/path/findings": "a.go:5 path 22\n",

	"juice-shop/a.ts":     "f() // vuln-code-snippet vuln-line x\ng() // vuln-code-snippet neutral-line x\n",
	"juice-shop/findings": "a.ts:1 xss 79\n",
}

func measureAll(t *testing.T, corpora string, args ...string) (table, out string) {
	t.Helper()
	t.Setenv(play, "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out = t.TempDir()
	var stdout bytes.Buffer
	args = append([]string{"-corpora", corpora, "-out", out, "-merlon", program, "-gosec", "no-gosec", "-bearer",
		"no-bearer"}, args...)
	if err := runMeasures(context.Background(), args, &stdout); err != nil {
		t.Fatal(err)
	}
	return stdout.String(), out
}

func TestTheTable(t *testing.T) {
	corpora := t.TempDir()
	write(t, corpora, fixture)
	table, out := measureAll(t, corpora)
	for _, want := range []string{
		"BenchmarkJava category average / FPR | ≥ +75 % / ≤ 12 % | +50.0 % / 0.0 % | no |",
		"BenchmarkPython category average | ≥ +50 % | +100.0 % (FPR 0.0 %) | yes |",
		"Securibench-micro, exact line | R ≥ .85, P ≥ .85 | R 1.000, P 1.000 | yes |",
		"xAST Java, cases right | ≥ 75 % | 0.0 % | no |",
		"xAST Python, cases right | ≥ 75 % | 100.0 % | yes |",
		"xAST PHP, cases right |  | 0.0 % |  |",
		"1 of 2 / 1.0 | no | CodeQL: 1;",
		"; 1 scans failed and count as silent |",
		"P 0.500, R 1.000 | yes | TP 1 FN 0 FP 1;",
		"public rules, tests exactly equal | ≥ 92 % | 33.3 % (1 of 3) | no | 2 without the lines marked todo;",
		"pattern tests of the syntax | ≥ 85 % | 50.0 % (2 of 4) | no |",
		"noise, java, findings of high confidence in 1,000 lines | ≤ 0.3 | 1.00 | no |",
		"noise, go, findings of high confidence in 1,000 lines | ≤ 0.3 | 0.00 | yes |",
		"BenchmarkJava, all default rules, whole program | ≤ 15 s, ≤ 1.5 GB |",
		"ten times the code | time and memory ≤ × 10.0 |",
		"rescan after one changed file of 100 K lines | ≤ 1 s |",
		"Bearer on BenchmarkJava |  | not measured |",
		"gosec on xast/sast-go |  | not measured |",
		"testability patterns JS, cases right |  | 100.0 % |",
		"query tests go, labelled lines found |  | 100.0 % |  | 1 of 1 in 1 folders",
		"juice-shop, exact line |  | 1 of 1 lines, 0 of 1 neutral lines |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q", want)
		}
	}
	if t.Failed() {
		t.Log(table)
	}
	kept, err := os.ReadFile(filepath.Join(out, "BenchmarkJava.groups.tsv"))
	if want := "wrong\tTP\tFN\tTN\tFP\tgroup\n1\t0\t1\t0\t0\txss\n0\t1\t0\t1\t0\tsqli\n"; err != nil ||
		string(kept) != want {
		t.Errorf("groups %q, %v", kept, err)
	}
	for _, name := range []string{"table.md", "BenchmarkJava.jsonl", "BenchmarkJava.json", "rules.jsonl",
		"vulcan.packages.jsonl"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
}

func TestWhatIsAbsentIsSaid(t *testing.T) {
	printed, _ := measureAll(t, t.TempDir())
	for _, m := range measures {
		if m.Name != "peers" && !strings.Contains(printed, "| "+m.Name+" |  | not measured |") {
			t.Errorf("nothing is said of %s", m.Name)
		}
	}
}

func TestOneMeasure(t *testing.T) {
	corpora := t.TempDir()
	write(t, corpora, fixture)
	table, _ := measureAll(t, corpora, "-only", "securibench, juiceshop")
	if n := strings.Count(table, "\n|"); n != 4 || !strings.Contains(table, "Securibench") ||
		!strings.Contains(table, "juice-shop") {
		t.Errorf("table of %d lines:\n%s", n, table)
	}
}

func TestBadCallsAreRefused(t *testing.T) {
	for _, args := range [][]string{{}, {"-corpora", "/nowhere"}, {"-corpora", ".", "-merlon", "/nowhere"},
		{"-corpora", ".", "-only", "tea"}, {"-tea"}} {
		if err := runMeasures(context.Background(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

func TestPatternTest(t *testing.T) {
	corpora := t.TempDir()
	write(t, corpora, map[string]string{"go/x.sgrep": "f(\"a\")\n...\n", "POLYGLOT/y.sgrep": "g()"})
	c, rule, err := patternTest(corpora, "go", filepath.Join(corpora, "go", "x.go"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id": "go.x", "message": "go.x", "severity": "ERROR", "languages": []string{"go"},
		"pattern": "f(\"a\")\n...\n",
		"paths":   map[string]any{"include": []string{"x.go"}}}
	if diff := cmp.Diff(want, rule); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	c.Expect = []int{3}
	c.readResults(&tool.Scan{Findings: []score.Finding{{Rule: "go.x", File: "x.go", Line: 3},
		{Rule: "go.x", File: "y.go", Line: 4}, {Rule: "go.y", File: "x.go", Line: 5}},
		Degraded: []string{"rule go.x2: compile"}})
	if !c.Pass || c.Error != "" || !slices.Equal(c.Got, []int{3}) {
		t.Errorf("%+v", c)
	}
	c.readResults(&tool.Scan{Degraded: []string{"malformed : rule go.x: compile go.x for go"}})
	if c.Error == "" {
		t.Error("a pattern that does not compile has no error")
	}
	if _, _, err := patternTest(corpora, "go", filepath.Join(corpora, "go", "z.go")); err == nil {
		t.Error("a target without a pattern is a test")
	}
	shared, _, err := patternTest(corpora, "go", filepath.Join(corpora, "go", "y.go"))
	if err != nil || filepath.Dir(shared.Rules) != filepath.Join(corpora, "POLYGLOT") {
		t.Errorf("%+v, %v", shared, err)
	}
}

func TestCopiesAreOtherPackages(t *testing.T) {
	corpora, dest := t.TempDir(), t.TempDir()
	write(t, corpora, fixture)
	b := &bench{corpora: corpora}
	lines, err := b.copyJava(dest, 3)
	if err != nil || lines != 9 {
		t.Fatalf("%d lines, %v", lines, err)
	}
	text, err := os.ReadFile(filepath.Join(dest, "org/owasp/benchmark2/testcode/BenchmarkTest1.java"))
	if err != nil || !strings.HasPrefix(string(text), "package org.owasp.benchmark2.testcode;\n") {
		t.Errorf("%q, %v", text, err)
	}
	if err := changeOne(dest); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(filepath.Join(dest, "org/owasp/benchmark0/testcode/BenchmarkTest1.java"))
	if err != nil || !strings.Contains(string(text), "exec(r.getParameter") ||
		!strings.HasSuffix(strings.TrimSpace(string(text)), "}\n}") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestEachKeepsTheOrder(t *testing.T) {
	got, err := forEachItem(3, []int{1, 2, 3, 4, 5}, func(n int) (int, error) { return n * n, nil })
	if err != nil || !slices.Equal(got, []int{1, 4, 9, 16, 25}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := forEachItem(2, []int{1, 2, 3}, func(n int) (int, error) {
		if n == 2 {
			return 0, os.ErrClosed
		}
		return n, nil
	}); err == nil {
		t.Error("an error is lost")
	}
}

// A contest needs another scanner; the test program plays both sides.
func TestContest(t *testing.T) {
	corpora := t.TempDir()
	write(t, corpora, fixture)
	t.Setenv(play, "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{corpora: corpora, out: t.TempDir(), merlon: tool.Merlon{Binary: program, Timeout: 1e11}}
	peer := func(context.Context, string) (*tool.Scan, error) {
		return &tool.Scan{Findings: []score.Finding{{File: "A.java", Line: 5}}, Cost: process.Cost{CPU: 1e12}}, nil
	}
	c := contest{"peer", []string{"securibench-micro"}, peer, judgeSecuribench}
	won, err := c.runContest(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if got := won.judgeDuel("x"); got.Met != table.Yes || !strings.Contains(got.Measured, "R 1.000 P 1.000 against "+
		"R 0.000 "+
		"P 0.000") {
		t.Errorf("%+v", got)
	}
	c.judge = judgeXAST("go")
	lost, err := c.runContest(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if got := lost.judgeDuel("x"); got.Met != table.No {
		t.Errorf("%+v", got)
	}
	sum := &duel{}
	sum.addDuel(won)
	sum.addDuel(lost)
	if got := sum.judgeDuel("x"); len(sum.ours.cases) != len(won.ours.cases)+len(lost.ours.cases) ||
		!strings.Contains(got.Note, "theirs 2000.0 CPU s, 2 findings") {
		t.Errorf("%+v", got)
	}
	c.tree = []string{"nowhere"}
	if _, err := c.runContest(context.Background(), b); err == nil {
		t.Error("a tree that is not there is measured")
	}
}

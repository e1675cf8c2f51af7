package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/test/sast/score"
)

// The test program plays the scanners: what it does is in the variable.
const play = "MERLON_TEST_PLAY"

func TestMain(m *testing.M) {
	if part := os.Getenv(play); part != "" {
		perform(part)
		return
	}
	os.Exit(m.Run())
}

func perform(part string) {
	switch name, rest, _ := strings.Cut(part, " "); name {
	case "say": // on standard output
		fmt.Print(rest)
	case "refuse":
		fmt.Fprint(os.Stderr, rest)
		os.Exit(3)
	case "find":
		fmt.Print(rest)
		os.Exit(1)
	case "arguments":
		fmt.Print(`{"analyzers":[{"state":"failed","reasons":[{"message":"` + strings.Join(os.Args[1:], " ") + `"}]}]}`)
	}
}

// self returns the path of the program that plays.
func self(t *testing.T, part string) string {
	t.Helper()
	t.Setenv(play, part)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

const someReport = `{"findings":[{"ruleId":"a","location":{"path":"x/A.java","startLine":7}},{"ruleId":"b","location":{"path":"B.go","startLine":1}}],
"rules":[{"id":"a","cwe":["CWE-89","CWE-564"],"confidence":"high"},{"id":"b","confidence":"low"}],
"analyzers":[{"analyzer":"sast","state":"degraded","files":2,"omitted":3,"reasons":[{"code":"timeout","path":"C.py","message":"5 s"}]}]}`

func TestScan(t *testing.T) {
	got, err := Merlon{Binary: self(t, "say "+someReport), Timeout: time.Minute}.Scan(context.Background(), ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []score.Finding{{File: "x/A.java", Line: 7, CWE: []int{89, 564}, Rule: "a", Confidence: "high"},
		{File: "B.go", Line: 1, Rule: "b", Confidence: "low"}}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"timeout C.py: 5 s", "and 3 more"}, got.Degraded); diff != "" || got.Files != 2 {
		t.Errorf("%d files, degraded (-want +got):\n%s", got.Files, diff)
	}
}

func TestScanFails(t *testing.T) {
	for part, want := range map[string]string{
		"refuse no such rule": "exit code 3: no such rule",
		"say no JSON":         "decode report",
		`say {"rules":[{"id":"r","cwe":["eighty"]}]}`: "rule r",
		"arguments": "scan dir --format json --fail-on none --profile all --parallel 2 --analyses sast",
	} {
		_, err := Merlon{Binary: self(t, part), Timeout: time.Minute}.Scan(context.Background(), "dir", "--parallel",
			"2")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", part, err)
		}
	}
}

func TestMatchRunsTheRulesOnly(t *testing.T) {
	_, err := Merlon{Binary: self(t, "arguments"), Timeout: time.Minute}.Match(context.Background(), "a.go", "r.yaml")
	if want := "scan a.go --format json --fail-on none --profile all --rules r.yaml --only-rules"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}

func TestRuleTests(t *testing.T) {
	const text = `{"cases":[{"rules":"a.yaml","id":"a","target":"a.go","expect":[1],"got":[1,2],"pass":false,"error":""}],"failed":1}`
	for _, part := range []string{"say " + text, "find " + text} {
		got, _, err := Merlon{Binary: self(t, part), Timeout: time.Minute}.RuleTests(context.Background(), ".")
		want := []RuleResult{{Rules: "a.yaml", ID: "a", Target: "a.go", Expect: []int{1}, Got: []int{1, 2}}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, part := range []string{"refuse", "say {"} {
		if _, _, err := (Merlon{Binary: self(t, part), Timeout: time.Minute}).RuleTests(context.Background(),
			"."); err == nil {
			t.Errorf("%s: no error", part)
		}
	}
}

func TestGosec(t *testing.T) {
	dir := t.TempDir()
	log := `{"runs":[{"tool":{"driver":{"rules":[
	{"id":"tagged","properties":{"tags":["CWE-89","external/cwe/cwe-079"]}},
	{"id":"related","relationships":[{"target":{"id":"22","toolComponent":{"name":"CWE"}}}]}]}},
	"results":[{"ruleId":"tagged","locations":[{"physicalLocation":{"artifactLocation":{"uri":"file://` + filepath.ToSlash(dir) + `/a/b.go"},"region":{"startLine":3}}}]},
	{"ruleId":"related","locations":[{"physicalLocation":{"artifactLocation":{"uri":"c.go"},"region":{"startLine":4}}}]},
	{"ruleId":"nowhere"}]}]}`
	want := []score.Finding{{File: "a/b.go", Line: 3, CWE: []int{89, 79}, Rule: "tagged"},
		{File: "c.go", Line: 4, CWE: []int{22}, Rule: "related"}}
	gosec := Gosec{Binary: self(t, "say "+log), Timeout: time.Minute}
	got, err := gosec.Scan(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("gosec (-want +got):\n%s", diff)
	}
	self(t, "say ")
	if got, err := gosec.Scan(context.Background(), dir); err != nil || got.Findings != nil {
		t.Errorf("gosec that found nothing: %v, %v", got, err)
	}
}

func TestBearer(t *testing.T) {
	const report = `{"low":[{"id":"b","cwe_ids":["22","73"],"filename":"b.js","line_number":2}],"critical":[{"id":"a","cwe_ids":["89"],"filename":"a.js","line_number":1}]}`
	bearer := Bearer{Binary: self(t, "say "+report), Timeout: time.Minute}
	got, err := bearer.Scan(context.Background(), ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []score.Finding{{File: "a.js", Line: 1, CWE: []int{89}, Rule: "a"},
		{File: "b.js", Line: 2, CWE: []int{22, 73}, Rule: "b"}}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, part := range []string{"say ", `say {"low":[{"cwe_ids":["x"]}]}`, "say []"} {
		self(t, part)
		if _, err := bearer.Scan(context.Background(), "."); err == nil {
			t.Errorf("%q is accepted", part)
		}
	}
}

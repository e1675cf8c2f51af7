package ruletest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/rule"
)

const head = "rules:\n- id: dir.f\n  message: m\n  severity: ERROR\n  languages: [python]\n  pattern: f(...)\n"

// write makes files in a new folder and goes there.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRun(t *testing.T) {
	write(t, map[string]string{
		"a/x.yaml":      head + "- id: g\n  message: m\n  severity: ERROR\n  languages: [regex]\n  pattern: g\\(\n",
		"a/x.py":        "# ruleid: f, other.g\nf(g(1))\n# ok: f\nh()\n# todook: f\nf()\n# todoruleid: g\n\n",
		"a/x.fixed.py":  "# ruleid: f\n",
		"a/xy.py":       "# ruleid: f\n",
		"b/rule-y.yaml": head,
		"b/test-y.txt":  "# ruleid: f\nf(1)\n", // read as python: the rule says so
		"b/rule-y.js":   "// ok: f\nf(1)\n",
		"c/z.yml": "rules:\n- id: z\n  message: m\n  severity: ERROR\n  languages: [regex]\n  pattern: z1\n  " +
			"paths: {include: ['*.none']}\n",
		"c/z.test.yaml":  "# ruleid: misspelled\nz1: 1\n",
		"c/z.html":       "<!-- ruleid: z -->\nz1\n",
		"c/unknown.yaml": "rules:\n- id: u\n  message: m\n  severity: ERROR\n  languages: [cobol]\n  pattern: z\n",
		"d/apex.yaml":    "rules:\n- id: p\n  message: m\n  severity: ERROR\n  languages: [apex]\n  pattern: z\n",
		"d/apex.cls":     "// ok: p\nz\n",
	})
	got, err := Run(context.Background(), ".", rule.Parser{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Cases {
		if got.Cases[i].Error != "" {
			got.Cases[i].Error = "said"
		}
	}
	want := &Report{
		Cases: []Case{
			{Rules: "a/x.yaml", ID: "dir.f", Target: "a/x.py", Expect: []int{2}, Got: []int{2, 6}, Todo: []int{6},
				Pass: true},
			{Rules: "a/x.yaml", ID: "g", Target: "a/x.py", Expect: []int{2}, Got: []int{2}, Todo: []int{8}, Pass: true},
			{Rules: "b/rule-y.yaml", ID: "dir.f", Target: "b/rule-y.js", Expect: []int{}, Got: []int{2}},
			{Rules: "b/rule-y.yaml", ID: "dir.f", Target: "b/test-y.txt", Expect: []int{2}, Got: []int{2}, Pass: true},
			{Rules: "c/z.yml", ID: "z", Target: "c/z.html", Expect: []int{2}, Got: []int{2}, Pass: true},
			{Rules: "c/z.yml", ID: "z", Target: "c/z.test.yaml", Expect: []int{2}, Got: []int{2}, Pass: true},
			{Rules: "d/apex.yaml", ID: "p", Target: "d/apex.cls", Expect: []int{}, Got: []int{}, Error: "said"},
		},
		Passed: 5, Failed: 2,
		Faults: []string{
			`c/unknown.yaml:5: rule u: the language "cobol" is not known`,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := Run(context.Background(), "nowhere", rule.Parser{}); err == nil {
		t.Error("a folder that is not there was tested")
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Run(stopped, ".", rule.Parser{}); err == nil {
		t.Error("a run that was stopped said nothing")
	}
}

func TestOneFile(t *testing.T) {
	write(t, map[string]string{"a/x.yaml": head, "a/x.py": "# ruleid: f\nf()\n"})
	got, err := Run(context.Background(), "a/x.yaml", rule.Parser{})
	if err != nil || got.Passed != 1 || got.Cases[0].Target != "x.py" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAnnotations(t *testing.T) {
	for text, want := range map[string]map[string]*note{
		"# ruleid: a b.c, d":       {"a": {found: []int{2}}, "c": {found: []int{2}}, "d": {found: []int{2}}},
		"{/* ruleid: a */}":        {"a": {found: []int{2}}},
		"<!-- ok: a -->":           {"a": {}},
		"(* todoruleid: a *)":      {"a": {todo: []int{2}}},
		"x = 1 -- rule-id:a":       {"a": {found: []int{2}}},
		"{# ruleid: a #}\n; ok: a": {"a": {found: []int{2}}},
		"ruleid: a":                {},
		"# todook : a\n\n# ok: ":   {"a": {todo: []int{2}}},
	} {
		if diff := cmp.Diff(want, readAnnotations(text), cmp.AllowUnexported(note{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

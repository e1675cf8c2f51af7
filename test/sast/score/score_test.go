package score

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func found(cases []Case) map[string]bool {
	out := map[string]bool{}
	for _, c := range cases {
		out[c.ID] = c.Found
	}
	return out
}

func TestOwaspCountsOnlyTheExpectedWeakness(t *testing.T) {
	truth, err := ReadOwasp(strings.NewReader("# name, category, real, cwe\n" +
		"Test1,sqli,true,89\nTest2,sqli,false,89\nTest3,sqli,true,89\nTest4,hash,true,328\nTest5,hash,false,328\nTest6,orm,true,564\n"))
	if err != nil {
		t.Fatal(err)
	}
	cases := Owasp(truth, []Finding{
		{File: "src/Test1.java", CWE: []int{20, 89}, Rule: "a"},
		{File: "src/Test1.java", CWE: []int{89}, Rule: "a"},
		{File: "src/Test1.java", CWE: []int{79}, Rule: "other"},
		{File: "src/Test2.java", CWE: []int{79}},     // another weakness: no false positive
		{File: "src/Test3.java", CWE: []int{79}},     // and no true one
		{File: "src/Test5.java", CWE: []int{328}},    // false positive
		{File: "src/Test6.java", CWE: []int{89}},     // stands for 564
		{File: "src/Helper.java", CWE: []int{89}},    // no test
		{File: "src/Test4.java", CWE: []int{327, 1}}, // 327 is not 328
	})
	want := map[string]bool{"Test1": true, "Test2": false, "Test3": false, "Test4": false, "Test5": true, "Test6": true}
	if diff := cmp.Diff(want, found(cases)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a"}, cases[0].Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	_, groups := Tally(cases)
	wantGroups := []Group{{"hash", Counts{FN: 1, FP: 1}}, {"orm", Counts{TP: 1}}, {"sqli", Counts{TP: 1, FN: 1, TN: 1}}}
	if diff := cmp.Diff(wantGroups, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	tpr, fpr := Means(groups)
	if tpr != (0+1+.5)/3 || fpr != 1./3 {
		t.Errorf("means %v %v", tpr, fpr)
	}
}

func TestReadOwaspRefuses(t *testing.T) {
	for _, text := range []string{"Test1,sqli,true", "Test1,sqli,perhaps,89", "Test1,sqli,true,CWE-89"} {
		if _, err := ReadOwasp(strings.NewReader(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestRates(t *testing.T) {
	n := Counts{TP: 3, FN: 1, TN: 4, FP: 2}
	got := []float64{n.Recall(), n.Precision(), n.FPR(), n.Accuracy(), Counts{}.Recall(), Counts{}.Accuracy()}
	if diff := cmp.Diff([]float64{.75, .6, 1. / 3, .7, 0, 0}, got); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	truth, err := ReadJSONL[Label](strings.NewReader(`{"file":"src/A.java","line":10,"vuln":true,"group":"g"}

{"file":"src/A.java","line":12,"vuln":false,"group":"g"}
{"file":"src/B.java","line":10,"vuln":true,"group":"h"}
`))
	if err != nil {
		t.Fatal(err)
	}
	findings := []Finding{{File: "./src/A.java", Line: 11, CWE: []int{1}}, {File: "src/C.java", Line: 10}}
	for _, test := range []struct {
		name  string
		cases []Case
		want  map[string]bool
	}{
		{"exact", Lines(truth, findings, 0), map[string]bool{"src/A.java:10": false, "src/A.java:12": false,
			"src/B.java:10": false}},
		{"near", Lines(truth, findings, 1), map[string]bool{"src/A.java:10": true, "src/A.java:12": true,
			"src/B.java:10": false}},
		{"files", Files(truth, findings), map[string]bool{"src/A.java:10": true, "src/A.java:12": true,
			"src/B.java:10": false}},
	} {
		if diff := cmp.Diff(test.want, found(test.cases)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := ReadJSONL[Label](strings.NewReader("{")); err == nil {
		t.Error("half a value is accepted")
	}
}

func TestQueriesAskForTheClass(t *testing.T) {
	truth := []Label{{File: "a.js", Line: 5, CWE: []string{"079", "116"}, Vuln: true},
		{File: "a.js", Line: 9, CWE: []string{"022"}, Vuln: true}}
	got := found(Queries(truth, []Finding{{File: "a.js", Line: 6, CWE: []int{80}},
		{File: "a.js", Line: 9, CWE: []int{79}}}))
	if diff := cmp.Diff(map[string]bool{"a.js:5": true, "a.js:9": false}, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func TestClaimsCountWhatIsLabelledNowhere(t *testing.T) {
	truth := []Label{{File: "x/a.js", Line: 5, CWE: []string{"079"}, Vuln: true, Query: "js/xss"}}
	got := Claims(truth, []Finding{
		{File: "x/a.js", Line: 6, CWE: []int{80}},  // the label
		{File: "x/a.js", Line: 9, CWE: []int{79}},  // a claim
		{File: "x/b.js", Line: 5, CWE: []int{79}},  // a claim in a file of the folder
		{File: "x/a.js", Line: 20, CWE: []int{22}}, // the folder is not about it
		{File: "y/a.js", Line: 9, CWE: []int{79}},  // a folder without labels
	})
	want := []Case{{ID: "x/a.js:9", Group: "js/xss", Found: true, Rules: []string{""}, Line: 9},
		{ID: "x/b.js:5", Group: "js/xss", Found: true, Rules: []string{""}, Line: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestSameClass(t *testing.T) {
	for _, test := range []struct {
		want, got int
		same      bool
	}{
		{22, 22, true}, {22, 23, true}, {22, 78, false}, {20, 22, true}, {20, 798, false}, {74, 79, true},
		{74, 22, false},
		{79, 74, false}, {471, 1321, true}, {9999, 9999, true}, {9999, 1, false},
	} {
		if got := SameClass(test.want, test.got); got != test.same {
			t.Errorf("SameClass(%d, %d) = %v", test.want, test.got, got)
		}
	}
}

func TestVulcan(t *testing.T) {
	packages, err := ReadJSONL[Package](strings.NewReader(
		`{"id":"1_X","cwe":["CWE-022 "],"locs":[{"source":{"file":"a.js","lineno":1},"sink":{"file":"/package/a.js ","lineno":20}}],"peers":{"codeql":"A"}}
{"id":"2_X","cwe":["CWE-79"],"locs":[{"block":{"file":"a.js"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		p.Locate(root)
	}
	for _, test := range []struct {
		name    string
		pack    int
		finding Finding
		found   bool
		rules   []string
	}{
		{"at two lines", 0, Finding{File: "a.js", Line: 22, CWE: []int{23}, Rule: "r"}, true, []string{"r"}},
		{"at three", 0, Finding{File: "a.js", Line: 23, CWE: []int{22}, Rule: "r"}, false, nil},
		{"at the source", 0, Finding{File: "a.js", Line: 1, CWE: []int{22}, Rule: "r"}, false, nil},
		{"of another class", 0, Finding{File: "a.js", Line: 20, CWE: []int{79}, Rule: "r"}, false, []string{"r"}},
		{"in another file", 0, Finding{File: "b.js", Line: 20, CWE: []int{22}, Rule: "r"}, false, nil},
		{"of a label without a line", 1, Finding{File: "a.js", Line: 20, CWE: []int{79}, Rule: "r"}, false, nil},
	} {
		c := Vulcan(packages[test.pack], []Finding{test.finding})
		if c.Found != test.found || !cmp.Equal(c.Rules, test.rules) {
			t.Errorf("%s: found %v by %v", test.name, c.Found, c.Rules)
		}
	}
	if diff := cmp.Diff([]string{"a.js:20"}, packages[0].Sinks()); diff != "" {
		t.Errorf("sinks (-want +got):\n%s", diff)
	}
	elsewhere := Package{Locs: packages[0].Locs[:1]}
	elsewhere.Locs[0].Sink.File = "src/c.js"
	if elsewhere.Locate(root); elsewhere.Sinks()[0] != "src/c.js:20" {
		t.Errorf("got %s for a file that the package does not have", elsewhere.Sinks()[0])
	}
	if packages[1].Sinks() != nil {
		t.Error("a block has a sink")
	}
}

func TestRealVuln(t *testing.T) {
	at := func(start, end int) (f Flaw) {
		f.Location.Start = &start
		if end > 0 {
			f.Location.End = &end
		}
		return f
	}
	flaw := func(id, class, cwe string, vulnerable bool, f Flaw) Flaw {
		f.ID, f.Class, f.CWE, f.IsVulnerable, f.File = id, class, []string{cwe}, vulnerable, "a.py"
		return f
	}
	app := App{ID: "app", Findings: []Flaw{
		flaw("trap", "sql_injection", "CWE-89", false, at(30, 0)),
		flaw("flaw", "sql_injection", "CWE-89", true, at(32, 40)),
		flaw("limit", "missing_rate_limiting", "CWE-307", true, at(5, 0)),
		flaw("debug", "security_misconfiguration", "CWE-489", true, at(100, 0)),
		flaw("nowhere", "ssrf", "CWE-918", true, Flaw{}),
	}}
	findings := []Finding{
		{File: "a.py", Line: 31, CWE: []int{89}, Rule: "sql"}, // the flaw, although the trap is nearer
		{File: "a.py", Line: 41, CWE: []int{89}, Rule: "sql"}, // too far from the trap; the flaw is taken
		{File: "a.py", Line: 6, CWE: []int{307}, Rule: "limit"},
		{File: "a.py", Line: 999, CWE: []int{918}, Rule: "ssrf"}, // no line is no condition
	}
	got := map[string]Counts{}
	for name, visible := range map[string]bool{"visible": true, "all": false} {
		got[name], _ = Tally(RealVuln(app, findings, visible))
	}
	want := map[string]Counts{"visible": {TP: 2, FN: 1, TN: 1, FP: 1}, "all": {TP: 3, FN: 1, TN: 1, FP: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if AppName("realvuln-app") != "app" {
		t.Error("the folder of an application")
	}
}

func TestConforms(t *testing.T) {
	for _, test := range []struct {
		expect, got []int
		want        bool
	}{
		{[]int{3, 1}, []int{1, 3, 3}, true}, {[]int{1}, nil, false}, {nil, nil, true}, {nil, []int{1}, false},
		{[]int{1}, []int{2}, false},
	} {
		if got := Conforms(test.expect, test.got); got != test.want {
			t.Errorf("Conforms(%v, %v) = %v", test.expect, test.got, got)
		}
	}
	lines := []int{1, 2, 3}
	if got := Without(lines, []int{2}); !cmp.Equal(got, []int{1, 3}) || !cmp.Equal(lines, []int{1, 2, 3}) {
		t.Errorf("Without = %v of %v", got, lines)
	}
}

func TestLanguage(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"solidity"}, ""}, {[]string{"C#"}, "csharp"}, {[]string{"ocaml", "kt"}, "kotlin"},
		{[]string{"javascript", "typescript"}, "js"}, {nil, ""},
	} {
		if got := Language(test.names); got != test.want {
			t.Errorf("Language(%v) = %q", test.names, got)
		}
	}
}

func TestMarked(t *testing.T) {
	got := Marked("a\n// ERROR: here\nb\n# MATCH:\nc\n// error: not\n")
	if diff := cmp.Diff([]int{3, 5}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestSnippets(t *testing.T) {
	got := Snippets("a.ts", "// vuln-code-snippet start x\nf(a) // vuln-code-snippet vuln-line x y\ng() // "+
		"vuln-code-snippet neutral-line x\n")
	want := []Label{{File: "a.ts", Line: 2, Vuln: true, Group: "x y"}, {File: "a.ts", Line: 3, Group: "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

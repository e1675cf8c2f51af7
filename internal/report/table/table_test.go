package table

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// A recorded scan gives the expected page.
func TestReport(t *testing.T) {
	for _, name := range []string{"full", "empty"} {
		t.Run(name, func(t *testing.T) {
			stream, err := os.ReadFile("../testdata/" + name + ".ndjson")
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			r := New(&b)
			if err := scan.Decode(bytes.NewReader(stream), r); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			golden := "testdata/" + name + ".txt"
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("run with -update after checking (-want +got):\n%s", diff)
			}
		})
	}
}

// The page counts operations that were not tested with another user's objects, by their reason.
func TestAuthorization(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	if err := r.Config(&scan.Config{Tool: "merlon", Target: "http://127.0.0.1/"}); err != nil {
		t.Fatal(err)
	}
	for _, a := range []*finding.Authorization{nil, {Tested: true}, {Reason: "it names no object"},
		{Reason: "there is no second user"}, {Reason: "there is no second user"}} {
		if err := r.Operation(&finding.Operation{Outcome: finding.Reached, Authorization: a}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := "Access of other users: 1 operation tested, 3 not tested\n  2 because there is no second user\n  1 " +
		"because it names no object\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// What a file's name holds does not steer the terminal of who reads of it.
func TestNothingSteersTheTerminal(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	evil := "x\x1b[2J\u202e\r\n\u0085y"
	for _, err := range []error{
		r.Config(&scan.Config{Tool: "merlon", Root: evil}),
		r.Rule(&finding.Rule{ID: evil, Name: evil}),
		r.Finding(&finding.Finding{RuleID: evil, Severity: finding.High, Message: evil,
			Location: finding.Location{Path: evil, StartLine: 1}}),
		r.Status(&scan.Status{Analyzer: "a/b", State: scan.Failed,
			Reasons: []scan.Reason{{Code: "x", Message: evil, Path: evil}}}),
		r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\r\u0085") {
		t.Errorf("got %q", b.String())
	}
}

// The list of reasons is cut, and says so.
func TestManyReasons(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	st := &scan.Status{Analyzer: "a/b", State: scan.Degraded, Omitted: 5}
	for range 30 {
		st.Reasons = append(st.Reasons, scan.Reason{Code: "x", Message: "m", Path: "p"})
	}
	for _, err := range []error{r.Config(&scan.Config{Tool: "merlon"}), r.Status(st), r.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "p: m (x)"); n != shown || !strings.Contains(b.String(), "and 15 more") {
		t.Errorf("%d reasons are shown, want %d and 15 more:\n%s", n, shown, &b)
	}
}

// What is skipped by design is listed once, and the scan is complete.
func TestSkipped(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	reasons := []scan.Reason{{Code: "third-party", Path: "node_modules/", Skipped: true},
		{Code: "minified", Path: "a.min.js", Skipped: true}}
	for _, err := range []error{
		r.Config(&scan.Config{Tool: "merlon"}),
		r.Status(&scan.Status{Analyzer: "a/b", State: scan.Succeeded, Reasons: reasons}),
		r.Status(&scan.Status{Analyzer: "a/c", State: scan.Succeeded, Reasons: reasons[1:]}),
		r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "\nSkipped by design, not code of this project:\n  a.min.js (minified)\n  node_modules/ (third-party)\n"
	if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "INCOMPLETE") {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// An ecosystem without data is one line of its own, and the scan is complete.
func TestUnchecked(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	for _, err := range []error{
		r.Config(&scan.Config{Tool: "merlon"}),
		r.Status(&scan.Status{Analyzer: "sca/x", State: scan.Succeeded, Reasons: []scan.Reason{
			{Code: scan.NoData, Skipped: true, Paths: []string{"a.yml", "b.yml"}, Message: "no data for A"},
			{Code: scan.NoData, Skipped: true, Paths: []string{"a.yml"}, Message: "no data for B"}}}),
		r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "\nNot checked, because neither the tree nor the vulnerability data has it:\n  no data for A (no-data)\n  no data for B (no-data)\n"
	if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "INCOMPLETE") ||
		strings.Contains(b.String(), "Skipped by design") {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// The advisories of a package are one row at the worst severity; totals count findings.
func TestUpgradesAreRows(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	calls := []error{r.Config(&scan.Config{Tool: "merlon", Files: 1})}
	lodash := finding.Package{Ecosystem: "npm", Name: "lodash", Version: "4.17.15", Path: "package-lock.json", Line: 12,
		Scope: finding.Direct}
	for i, v := range []struct {
		id, fixed string
		severity  finding.Severity
		also      int
	}{{"CVE-1", "4.17.19", finding.Medium, 0}, {"CVE-2", "5.0.0", finding.Critical, 5},
		{"CVE-3", "4.17.21", finding.Low, 0}} {
		f := finding.Finding{RuleID: "sca/" + v.id, Analysis: finding.SCA, Severity: v.severity,
			Location: finding.Location{Path: lodash.Path, StartLine: 12},
			Package:  &finding.PackageMatch{Package: lodash, Fixed: []string{v.fixed}, Upgrade: v.fixed}}
		for n := range v.also {
			f.Also = append(f.Also, finding.Location{Path: "web" + strconv.Itoa(n) + "/package-lock.json",
				StartLine: n})
		}
		if i == 1 {
			f.Impact, f.Terms = finding.High, []finding.SeverityTerm{{Points: 1, Reason: "called"}}
		}
		calls = append(calls, r.Rule(&finding.Rule{ID: f.RuleID, Advisory: &finding.Advisory{ID: v.id}}), r.Finding(&f))
	}
	calls = append(calls, r.Status(&scan.Status{Analyzer: "sca/dependencies", State: scan.Succeeded,
		OutsideProfile: 7}),
		r.Close())
	if err := errors.Join(calls...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nCRITICAL (1)\n  Vulnerable packages  [sca/packages]\n    lodash 4.17.15 " +
		"-> 5.0.0 " +
		"(package-lock.json:12, direct), major upgrade: clears CVE-2, CVE-1, CVE-3 (also at web0/package-lock.json, " +
		"web1/package-lock.json:1, web2/package-lock.json:2 and 2 more locations) [impact high, +1 called]\n\n3 " +
		"findings: " +
		"1 critical, 0 high, 1 medium, 1 low. 3 findings of packages are in 1 row, one for each upgrade.",
		"\nNot shown: 7 findings of checklists, form and low weight, which the default profile leaves out " +
			"(--profile all)."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant\n%s", b.String(), want)
		}
	}
	if strings.Contains(b.String(), "MEDIUM") || strings.Contains(b.String(), "LOW") {
		t.Errorf("a finding has a second row:\n%s", b.String())
	}
}

func TestWriteFails(t *testing.T) {
	r := New(broken{})
	if err := r.Config(&scan.Config{Tool: "merlon"}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
	if err := r.Close(); !errors.Is(err, errBroken) {
		t.Errorf("Close: got %v, want %v", err, errBroken)
	}
}

var errBroken = errors.New("no space left")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

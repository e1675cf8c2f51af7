package triage

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestRisk(t *testing.T) {
	for _, c := range []struct {
		severity finding.Severity
		cvss     float64
		want     int64 // thousandths
	}{
		{finding.Critical, 9, 15000}, {finding.Critical, 10, 20000}, {finding.Critical, 0, 17500},
		{finding.Critical, 5, 15000},
		{finding.High, 7, 5000}, {finding.High, 8.9, 10000}, {finding.High, 0, 7500}, {finding.High, 9.9, 10000},
		{finding.Medium, 4, 2000}, {finding.Medium, 6.9, 4000}, {finding.Medium, 0, 3000},
		{finding.Low, 0, 1000}, {finding.Low, 3.9, 1000},
	} {
		if got := Risk(c.severity, c.cvss); got != c.want {
			t.Errorf("Risk(%s, %v): got %d, want %d", c.severity, c.cvss, got, c.want)
		}
	}
	for score, want := range map[int64]RiskLevel{0: LowRisk, 19: LowRisk, 20: MediumRisk, 49: MediumRisk, 50: HighRisk,
		79: HighRisk, 80: CriticalRisk, 9999: CriticalRisk} {
		if got := LevelOf(score); got != want {
			t.Errorf("LevelOf(%d): got %s, want %s", score, got, want)
		}
	}
	if RiskScore(1499) != 1 || RiskScore(1500) != 2 {
		t.Error("the score is not rounded")
	}
}

func TestPriorityOfDependencies(t *testing.T) {
	for _, c := range []struct {
		verdict   finding.ReachVerdict
		exploited bool
		want      Priority
	}{
		{finding.UnknownReach, false, Normal}, {finding.Imported, false, Normal}, {finding.Reachable, false, Urgent},
		{finding.NotFound, false, VeryLow}, {finding.NotFound, true, Normal},
	} {
		f := &finding.Finding{Package: &finding.PackageMatch{Reach: &finding.Reach{Verdict: c.verdict}}}
		if got := priorityOf(f, 500, threat{exploited: c.exploited}); got != c.want {
			t.Errorf("%s, exploited %v: got %s, want %s", c.verdict, c.exploited, got, c.want)
		}
	}
	f := &finding.Finding{Package: &finding.PackageMatch{Reach: &finding.Reach{Verdict: finding.Reachable}}}
	if got := priorityOf(f, 950, threat{}); got != CriticalUrgent {
		t.Errorf("the most urgent became %s", got)
	}
	if got := priorityOf(&finding.Finding{}, 500, threat{}); got != Normal {
		t.Errorf("a flaw of code: %s", got)
	}
	unused := &finding.Finding{Severity: finding.High,
		Package: &finding.PackageMatch{Reach: &finding.Reach{Verdict: finding.NotFound}}}
	if got := factorsOf(unused, threat{}, false).Exploitability; got != 0 {
		t.Errorf("exploitability of an unused package: %v", got)
	}
}

func TestPriority(t *testing.T) {
	// Without EPSS the other weights add up to one again.
	for _, c := range []struct {
		factors Factors
		want    int
		band    Priority
	}{
		{Factors{CVSS: 10, Exploitability: 1, Context: 1}, 1000, CriticalUrgent},
		{Factors{}, 0, VeryLow},
		{Factors{CVSS: 10, Exploitability: Theoretical, Context: Unspecified}, 683, Urgent},
		{Factors{CVSS: 7.95, Exploitability: Theoretical, Context: Unspecified}, 588, Normal},
		{Factors{CVSS: 2, Exploitability: Theoretical, Context: Unspecified}, 310, LowPriority},
		{Factors{CVSS: 2, Exploitability: NotExploitable, Context: 0.2}, 150, VeryLow},
	} {
		want := math.Round((0.35*c.factors.CVSS/10 + 0.25*c.factors.Exploitability +
			0.15*c.factors.Context) / 0.75 * 1000)
		if got := c.factors.Composite(); got != c.want || float64(got) != want {
			t.Errorf("%+v: got %d, want %d", c.factors, got, c.want)
		}
		if got := PriorityOf(c.want); got != c.band {
			t.Errorf("PriorityOf(%d): got %s, want %s", c.want, got, c.band)
		}
	}
	for score, want := range map[int]Priority{199: VeryLow, 200: LowPriority, 399: LowPriority, 400: Normal,
		599: Normal, 600: Urgent, 799: Urgent, 800: CriticalUrgent} {
		if got := PriorityOf(score); got != want {
			t.Errorf("PriorityOf(%d): got %s, want %s", score, got, want)
		}
	}
}

// TestThreat takes the probability of exploitation, and whether it is known, from
// the advisory.
func TestThreat(t *testing.T) {
	f := &finding.Finding{Severity: finding.High, Package: &finding.PackageMatch{}}
	for name, c := range map[string]struct {
		advisory *finding.Advisory
		want     int
	}{
		// (0.28 + 0.0875 + 0.075) / 0.75
		"nothing known": {&finding.Advisory{CVSS: 8}, 590},
		// 0.28 + 0.2475 + 0.0875 + 0.075
		"scored":     {&finding.Advisory{CVSS: 8, EPSS: &finding.EPSS{Score: 0.9, Percentile: 0.99}}, 690},
		"scored low": {&finding.Advisory{CVSS: 8, EPSS: &finding.EPSS{}}, 442},
		"exploited": {&finding.Advisory{CVSS: 8, KEV: &finding.KEV{}, EPSS: &finding.EPSS{Percentile: 0.99}},
			840},
		// typical CVSS of high: (0.27825 + 0.2375 + 0.075) / 0.75
		"malicious":        {&finding.Advisory{Malicious: true}, 788},
		"out of its range": {&finding.Advisory{CVSS: 80, EPSS: &finding.EPSS{Percentile: 7}}, 763},
		"no advisory":      {nil, 588},
	} {
		got := factorsOf(f, threatOf(&finding.Rule{Advisory: c.advisory}), false).Composite()
		if got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestDemoted(t *testing.T) {
	for path, want := range map[string]bool{
		"src/main/A.java": false, "src/test/java/A.java": true, "internal/store/store_test.go": true,
		"pkg/test_x.py": true, "test_data.py": true,
		"web/app.spec.ts": true, "web/app.test.tsx": true, "vendor/x/y.go": true, "node_modules/a/b.js": true,
		"examples/a.go": true,
		"contest/a.go":  false, "src/latest.go": false, "Testing.java": false,
	} {
		if got := isOutsideProduction(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	f := &finding.Finding{Severity: finding.High, Location: finding.Location{Path: "vendor/package-lock.json"},
		Package: &finding.PackageMatch{}}
	if got := factorsOf(f, threat{cvss: 8}, false).Exploitability; got != Theoretical {
		t.Errorf("a dependency is demoted by where it is declared: %v", got)
	}
}

func TestCoverage(t *testing.T) {
	reasons := func(paths ...string) (out []scan.Reason) {
		for _, p := range paths {
			out = append(out, scan.Reason{Code: "x", Message: "x", Path: p})
		}
		return out
	}
	c := collectCoverage([]scan.Status{
		{Analyzer: "whole", Analysis: finding.SAST, State: scan.Succeeded},
		{Analyzer: "failed", Analysis: finding.SAST, State: scan.Failed, Reasons: reasons("a.go")},
		{Analyzer: "parts", Analysis: finding.SCA, State: scan.Degraded,
			Reasons: reasons("a.go", "./b.go", "lib/", "deep/er/")},
		{Analyzer: "somewhere", Analysis: finding.SAST, State: scan.Degraded, Reasons: reasons("a.go", "")},
		{Analyzer: "many", Analysis: finding.SAST, State: scan.Degraded, Reasons: reasons("a.go"), Omitted: 1},
		{Analyzer: "silent", Analysis: finding.SAST, State: scan.Degraded},
		{Analyzer: "root", Analysis: finding.SAST, State: scan.Degraded, Reasons: reasons("./")},
		{Analyzer: "sca2", Analysis: finding.SCA, State: scan.Succeeded},
		{Analyzer: "data", Analysis: finding.DAST, State: scan.Succeeded, Reasons: []scan.Reason{
			{Code: scan.NoData, Skipped: true, Paths: []string{"a.yml", "./b.yml"}}}},
		{Analyzer: "rules", Analysis: finding.API, State: scan.Degraded,
			Reasons: []scan.Reason{{Code: "x", Path: "h/a", Rules: []string{"r1", "r2"}},
				{Code: "x", Path: "h/b/", Rules: []string{"r1"}}, {Code: "x", Rules: []string{"r3"}}}},
		{Analyzer: "beyond", Analysis: finding.DAST, State: scan.Degraded,
			Reasons: []scan.Reason{{Code: "x", Path: "h/slow", Beyond: true}, {Code: "x", Rules: []string{"r1"}}}},
		{Analyzer: "image", Analysis: finding.Container, State: scan.Degraded,
			Reasons: reasons("hub/a:/etc/x", "hub/a:/lib/"), Root: "hub/a:/"},
	}, []finding.Operation{{Outcome: finding.Reached, FindingPath: "h/fine"},
		{Outcome: finding.Reached, FindingPath: "h/slow"},
		{Outcome: finding.Refused}}, func(name string) string {
		return "id of " + name
	})
	for _, q := range []struct {
		analyzer, path string
		want           bool
	}{
		{"whole", "a.go", true}, {"failed", "z.go", false}, {"absent", "a.go", false},
		{"parts", "a.go", false}, {"parts", "b.go", false}, {"parts", "c.go", true}, {"parts", "lib/x/y.go", false},
		{"parts", "lib", true},
		{"parts", "library/x.go", true}, {"parts", "deep/er/x.go", false}, {"parts", "deep/x.go", true},
		{"parts", "x/lib/y.go", true},
		{"image", "hub/a:/etc/y", true}, {"image", "hub/a:/etc/x", false}, {"image", "hub/a:/lib/x", false},
		{"image", "etc/y", false}, {"image", "hub/a/b:/etc/y", false}, {"image", "hub/ab:/etc/y", false},
		{"data", "a.yml", false}, {"data", "b.yml", false}, {"data", "c.yml", true},
		{"somewhere", "z.go", false}, {"many", "z.go", false}, {"silent", "z.go", false}, {"root", "z.go", false},
	} {
		if got := c.hasAnalyzed(q.analyzer, q.path, "id of r1"); got != q.want {
			t.Errorf("%s saw %s: got %v, want %v", q.analyzer, q.path, got, q.want)
		}
	}
	for _, q := range []struct {
		path, rule string
		want       bool
	}{
		{"h/a", "r1", false}, {"h/a", "r2", false}, {"h/a", "r3", false}, {"h/a", "r4", true}, {"h/b/c", "r1", false},
		{"h/b/c", "r2", true},
		{"h/c", "r1", true}, {"h/c", "r3", false}, {"h/c", "r4", true},
	} {
		if got := c.hasAnalyzed("rules", q.path, "id of "+q.rule); got != q.want {
			t.Errorf("looked at %s for what %s finds: got %v, want %v", q.path, q.rule, got, q.want)
		}
	}
	// What a place without an answer leads to may be there or not; what was reached was looked at.
	for _, q := range []struct {
		path, rule string
		want       bool
	}{{"h/fine", "r2", true}, {"h/fine", "r1", false}, {"h/slow", "r2", false}, {"h/behind", "r2", false},
		{"", "r2", false}} {
		if got := c.hasAnalyzed("beyond", q.path, "id of "+q.rule); got != q.want {
			t.Errorf("beside a place without an answer, looked at %s for what %s finds: got %v, want %v", q.path,
				q.rule, got, q.want)
		}
	}
	if !c.analyzedByAll(finding.API, "h/a") {
		t.Error("reasons of rules are about packages")
	}
	if c.analyzedByAll(finding.SCA, "a.go") || !c.analyzedByAll(finding.SCA, "c.go") ||
		c.analyzedByAll(finding.IaC, "c.go") ||
		c.analyzedByAll(finding.SAST, "c.go") {
		t.Error("an analysis looked where one of its analyzers did not, or none ran")
	}
}

func TestPair(t *testing.T) {
	code := func(n byte) Digest { return Digest{n} }
	spots := func(texts ...string) (out []matchCandidate) {
		for i, text := range texts {
			s := matchCandidate{index: i}
			var c byte
			var gone string
			if _, err := fmt.Sscanf(text, "%d %s %d %s", &c, &s.path, &s.line, &gone); err != nil {
				t.Fatal(err)
			}
			s.code, s.gone = code(c), gone == "gone"
			out = append(out, s)
		}
		return out
	}
	for name, c := range map[string]struct {
		before, after []matchCandidate
		want          map[int]int // old → new
	}{
		"renamed":    {spots("1 a.go 1 -"), spots("1 b.go 9 -"), map[int]int{0: 0}},
		"other code": {spots("1 a.go 1 -"), spots("2 b.go 1 -"), map[int]int{}},
		"same name first": {spots("1 x/a.go 1 -", "1 x/b.go 1 -"), spots("1 y/b.go 1 -", "1 y/c.go 1 -"),
			map[int]int{1: 0, 0: 1}},
		"by line": {spots("1 a.go 9 -", "1 a.go 3 -"), spots("1 b.go 4 -", "1 b.go 8 -"),
			map[int]int{1: 0, 0: 1}},
		"one is really gone":   {spots("1 a.go 1 -", "1 a.go 2 -"), spots("1 b.go 1 -"), map[int]int{0: 0}},
		"one is really new":    {spots("1 a.go 1 -"), spots("1 b.go 1 -", "1 b.go 2 -"), map[int]int{0: 0}},
		"just gone goes first": {spots("1 old.go 1 gone", "1 a.go 1 -"), spots("1 b.go 1 -"), map[int]int{1: 0}},
		"gone long ago":        {spots("1 old.go 1 gone"), spots("1 b.go 1 -"), map[int]int{0: 0}},
	} {
		got := map[int]int{}
		pairRenamed(c.before, c.after, func(old, new int) { got[old] = new })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPairIsStable leaves out pairs that were applied before a crash: the others
// stay what they were.
func TestPairIsStable(t *testing.T) {
	all := func() (before, after []matchCandidate) {
		for i := range 40 {
			before = append(before, matchCandidate{index: i, code: Digest{byte(i % 3)},
				path: fmt.Sprintf("x/f%d.go", i%7),
				line: i, gone: i%5 == 0})
			after = append(after, matchCandidate{index: i, code: Digest{byte(i % 3)},
				path: fmt.Sprintf("y/f%d.go", i%9),
				line: i * 2})
		}
		return before, after
	}
	whole := map[int]int{}
	before, after := all()
	pairRenamed(before, after, func(old, new int) { whole[old] = new })
	applied := map[int]bool{} // as a batch would: the first entries of the new stream
	taken := map[int]bool{}
	for old, new := range whole {
		if new < 15 {
			applied[old], taken[new] = true, true
		}
	}
	before, after = all()
	var restBefore, restAfter []matchCandidate
	for _, s := range before {
		if !applied[s.index] {
			restBefore = append(restBefore, s)
		}
	}
	for _, s := range after {
		if !taken[s.index] {
			restAfter = append(restAfter, s)
		}
	}
	pairRenamed(restBefore, restAfter, func(old, new int) {
		if whole[old] != new {
			t.Errorf("finding %d: first paired with %d, then with %d", old, whole[old], new)
		}
	})
}

func TestConsequences(t *testing.T) {
	cell := func(s Status) Bucket { return Bucket{Status: s, Priority: Normal} }
	all := []CurrentState{
		{ID: "a", Branch: "main", Bucket: cell(ToVerify)}, {ID: "b", Branch: "other", Bucket: cell(Confirmed)},
		{ID: "c", Branch: "old", Bucket: cell(Resolved), Gone: true}, {ID: "d", Branch: "same", Bucket: cell(Ignored)},
	}
	changed := func(d Decision) (out []ID) {
		for _, c := range d.Transitions(all) {
			out = append(out, c.ID)
		}
		return out
	}
	if diff := cmp.Diff([]ID{"a", "b"}, changed(Decision{Finding: "a", Status: Ignored})); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ID{"b", "c", "d"}, changed(Decision{Finding: "c", Status: ToVerify})); diff != "" {
		t.Errorf("what is gone is reopened by name (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ID{"a", "b", "c", "d"}, changed(Decision{Finding: "a", Priority: Normal})); diff != "" {
		t.Errorf("a priority is pinned everywhere (-want +got):\n%s", diff)
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{Sort: ByDefault, Keys: []any{int64(0), int64(2)}, ID: "x"}.String())
	f.Add(Cursor{Sort: ByLanguage, Descending: true, Keys: []any{"go"}, ID: "x"}.String())
	f.Add("e30")
	f.Add("eyJrIjpbMWU5OV19")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		if err != nil {
			return
		}
		again, err := ParseCursor(c.String())
		if err != nil {
			t.Fatalf("%+v is not read again: %v", c, err)
		}
		if diff := cmp.Diff(c, again); diff != "" && len(c.Keys)+len(again.Keys) > 0 {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}

package triage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

func TestDecompose(t *testing.T) {
	advised := func(a finding.Advisory, reach finding.ReachVerdict) *Finding {
		f := &Finding{Rule: finding.Rule{Advisory: &a}, Report: finding.Finding{Severity: finding.High,
			Location: finding.Location{Path: "test/package-lock.json"},
			Package:  &finding.PackageMatch{}}}
		if reach != "" {
			f.Report.Package.Reach = &finding.Reach{Verdict: reach, Reason: "no import of it"}
		}
		return f
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	for name, tt := range map[string]struct {
		f    *Finding
		want PriorityExplanation
	}{
		"code": {
			&Finding{Report: finding.Finding{Severity: finding.High, Location: finding.Location{Path: "src/a.go"}}},
			PriorityExplanation{Factors: Factors{CVSS: 7.95, Exploitability: 0.35, Context: 0.5}, Score: 588,
				CVSSPart:    371,
				ExploitPart: 117, ContextPart: 100,
				CVSSWeight: 0.35 / 0.75, ExploitWeight: 0.25 / 0.75, ContextWeight: 0.15 / 0.75,
				Verdict: TheoreticalVerdict, Reason: "no attack is known"},
		},
		"test": {
			&Finding{Report: finding.Finding{Severity: finding.High, Location: finding.Location{Path: "tests/a.go"}}},
			PriorityExplanation{Factors: Factors{CVSS: 7.95, Exploitability: 0.05, Context: 0.5}, Score: 488,
				CVSSPart:    371,
				ExploitPart: 17, ContextPart: 100,
				CVSSWeight: 0.35 / 0.75, ExploitWeight: 0.25 / 0.75, ContextWeight: 0.15 / 0.75,
				Verdict: NotExploitableVerdict,
				Reason:  "the file's path indicates a test, an example or third-party code"},
		},
		"test, shown": {
			&Finding{Proven: true, Report: finding.Finding{Severity: finding.High,
				Location: finding.Location{Path: "tests/a.go"}}},
			PriorityExplanation{Factors: Factors{CVSS: 7.95, Exploitability: 0.75, Context: 0.5}, Score: 721,
				CVSSPart:    371,
				ExploitPart: 250, ContextPart: 100,
				CVSSWeight: 0.35 / 0.75, ExploitWeight: 0.25 / 0.75, ContextWeight: 0.15 / 0.75, Verdict: ProvenVerdict,
				Reason: "a live scan has used it in the running application"},
		},
		"live, used": {
			&Finding{Report: finding.Finding{Severity: finding.High, Live: &finding.Live{Payload: "'"}}},
			PriorityExplanation{Factors: Factors{CVSS: 7.95, Exploitability: 0.75, Context: 0.5}, Score: 721,
				CVSSPart:    371,
				ExploitPart: 250, ContextPart: 100,
				CVSSWeight: 0.35 / 0.75, ExploitWeight: 0.25 / 0.75, ContextWeight: 0.15 / 0.75, Verdict: ProvenVerdict,
				Reason: "the scan has used it in the running application"},
		},
		"live, seen": {
			&Finding{Report: finding.Finding{Severity: finding.High,
				Live: &finding.Live{Exchanges: make([]finding.Exchange, 1)}}},
			PriorityExplanation{Factors: Factors{CVSS: 7.95, Exploitability: 0.35, Context: 0.5}, Score: 588,
				CVSSPart:    371,
				ExploitPart: 117, ContextPart: 100,
				CVSSWeight: 0.35 / 0.75, ExploitWeight: 0.25 / 0.75, ContextWeight: 0.15 / 0.75,
				Verdict: TheoreticalVerdict, Reason: "no attack is known"},
		},
		"attacked, called": {
			advised(finding.Advisory{CVSS: 7, EPSS: &finding.EPSS{Percentile: 0.9},
				KEV: &finding.KEV{Added: "2021-12-10", Ransomware: true}}, finding.Reachable),
			PriorityExplanation{Factors: Factors{CVSS: 7, Scored: true, EPSS: 0.9, Exploitability: 0.95, Context: 0.5},
				Score: 782, CVSSPart: 245, EPSSPart: 225, ExploitPart: 237, ContextPart: 75,
				CVSSWeight: 0.35, EPSSWeight: 0.25, ExploitWeight: 0.25, ContextWeight: 0.15, Verdict: ExploitedVerdict,
				Reason: "it is in the catalogue of known exploited vulnerabilities since 2021-12-10, and ransomware " +
					"uses it",
				Adjustment: "the score alone says urgent; one step more urgent, because the flawed code is called"},
		},
		"unused": {
			advised(finding.Advisory{CVSS: 9, EPSS: &finding.EPSS{Percentile: 0.5}}, finding.NotFound),
			PriorityExplanation{Factors: Factors{CVSS: 9, Scored: true, EPSS: 0.5, Context: 0.5}, Score: 515,
				CVSSPart: 315,
				EPSSPart: 125, ContextPart: 75,
				CVSSWeight: 0.35, EPSSWeight: 0.25, ExploitWeight: 0.25, ContextWeight: 0.15,
				Verdict: NotExploitableVerdict, Reason: "nothing uses the package: no import of it",
				Adjustment: "the score alone says normal; the least urgent, because nothing imports the package"},
		},
		"malicious": {
			advised(finding.Advisory{Malicious: true, CVSS: 10}, ""),
			PriorityExplanation{Factors: Factors{CVSS: 10, Exploitability: 0.95, Context: 0.5}, Score: 883,
				CVSSPart:    467,
				ExploitPart: 316, ContextPart: 100,
				CVSSWeight: 0.35 / 0.75, ExploitWeight: 0.25 / 0.75, ContextWeight: 0.15 / 0.75,
				Verdict: ExploitedVerdict, Reason: "the package itself is an attack"},
		},
	} {
		tt.f.Priority = priorityOf(&tt.f.Report, tt.want.Score, threatOf(&tt.f.Rule))
		if diff := cmp.Diff(tt.want, ExplainPriority(tt.f), near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	pinned := &Finding{Pinned: true, Priority: VeryLow, Report: finding.Finding{Severity: finding.High}}
	if got := ExplainPriority(pinned).Adjustment; got != "the priority was set manually" {
		t.Errorf("pinned: %q", got)
	}
	old := &Finding{Priority: VeryLow, Report: finding.Finding{Severity: finding.High}}
	if got := ExplainPriority(old).Adjustment; got != "what is known of the vulnerability has changed since the last "+
		"scan: the "+
		"next one will make it normal" {
		t.Errorf("old: %q", got)
	}
}

// The parts add up to the score, each within a thousandth of what it is.
func TestPartsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a := &finding.Advisory{CVSS: math.Round(r.Float64()*100) / 10}
		if r.IntN(3) > 0 {
			a.EPSS = &finding.EPSS{Percentile: r.Float64()}
		}
		if r.IntN(5) == 0 {
			a.KEV = &finding.KEV{}
		}
		f := &Finding{Rule: finding.Rule{Advisory: a}, Report: finding.Finding{Severity: finding.Low}}
		d := ExplainPriority(f)
		if sum := d.CVSSPart + d.EPSSPart + d.ExploitPart + d.ContextPart; sum != d.Score ||
			d.Score != d.Factors.Composite() {
			t.Fatalf("parts %+v add up to %d", d, sum)
		}
		if weights := d.CVSSWeight + d.EPSSWeight + d.ExploitWeight + d.ContextWeight; math.Abs(weights-1) > 1e-9 {
			t.Fatalf("weights add up to %v", weights)
		}
		if exact := d.ExploitWeight * d.Factors.Exploitability * 1000; math.Abs(exact-float64(d.ExploitPart)) > 1 {
			t.Fatalf("a part of %v became %d", exact, d.ExploitPart)
		}
	}
}

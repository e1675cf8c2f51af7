package upgrade

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

// named is a vulnerability of a package of npm, with its advisory.
func named(advisory string, severity finding.Severity, v VulnerablePackage) VulnerablePackage {
	v.Advisory, v.Severity = advisory, severity
	return v
}

func TestRows(t *testing.T) {
	edit := func(v VulnerablePackage, change func(*VulnerablePackage)) VulnerablePackage {
		change(&v)
		return v
	}
	low := func(name, fixed string) VulnerablePackage {
		return named(name, finding.Low, need("a", "1.0.0", "", fixed))
	}
	for _, tt := range []struct {
		name   string
		list   []VulnerablePackage
		policy Policy
		want   []string
	}{
		{"one version for all of a package, the worst advisory first", []VulnerablePackage{
			low("CVE-1", "1.0.2"), low("CVE-2", "1.0.1"), low("CVE-3", "1.0.1"),
			named("CVE-4", finding.High, need("a", "1.0.0", "", "1.0.1")), low("CVE-5", "1.0.1"),
		}, Policy{Level: Auto}, []string{"high a 1.0.0 -> 1.0.2 (package-lock.json, direct): clears CVE-4, CVE-5 " +
			"and 3 more"}},
		{"three advisories are all named", []VulnerablePackage{low("CVE-1", "1.0.2"), low("CVE-2", "1.0.1"),
			low("CVE-3", "1.0.1")}, Policy{Level: Auto},
			[]string{"low a 1.0.0 -> 1.0.2 (package-lock.json, direct): clears CVE-3, CVE-2, CVE-1"}},
		{"the smallest step that clears all", []VulnerablePackage{
			named("CVE-1", finding.Low, need("a", "1.0.0", "", "1.2.0", "2.0.0")), low("CVE-2", "1.1.0")},
			Policy{Level: Auto}, []string{"low a 1.0.0 -> 1.2.0 (package-lock.json, direct): clears CVE-2, CVE-1"}},
		{"major", []VulnerablePackage{low("CVE-1", "2.0.0")}, Policy{Level: Auto},
			[]string{"low a 1.0.0 -> 2.0.0 (package-lock.json, direct), major upgrade: clears CVE-1"}},
		{"no fix", []VulnerablePackage{low("CVE-1", "")}, Policy{Level: Auto},
			[]string{"low a 1.0.0 (package-lock.json, direct): no fixed version is known: CVE-1"}},
		{"a fix for some", []VulnerablePackage{low("CVE-1", ""), low("CVE-2", "1.0.1")}, Policy{Level: Auto},
			[]string{"low a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-2; no fixed version is known " +
				"for CVE-1"}},
		{"beyond the level", []VulnerablePackage{low("CVE-1", "2.0.0"), low("CVE-2", "1.0.1")}, Policy{Level: Minor},
			[]string{"low a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-2; CVE-1 needs 2.0.0, a major " +
				"upgrade"}},
		{"one by one", []VulnerablePackage{low("CVE-1", "2.0.0"), low("CVE-2", "1.0.1")},
			Policy{Level: Auto, Single: true},
			[]string{"low a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-2",
				"low a 1.0.0 -> 2.0.0 (package-lock.json, direct), major upgrade: clears CVE-1"}},
		{"known exploited and malicious first", []VulnerablePackage{
			named("CVE-1", finding.Critical, need("a", "1.0.0", "", "1.0.1")),
			edit(named("CVE-2", finding.Medium, need("b", "1.0.0", "", "1.0.1")), func(v *VulnerablePackage) {
				v.Exploited = true
			}),
			edit(named("MAL-1", finding.Critical, need("c", "1.0.0", "", "1.0.1")), func(v *VulnerablePackage) {
				v.Malicious = true
			}),
		}, Policy{Level: Auto}, []string{
			"critical c 1.0.0 (package-lock.json, direct): malicious, remove it: MAL-1",
			"medium b 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-2 (known exploited)",
			"critical a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-1"}},
		{"a package that another one brings, where no command overrules that one", []VulnerablePackage{
			edit(transitive(low("CVE-1", "1.0.1"), "web@3.0.0"), func(v *VulnerablePackage) {
				v.Match.Package.Path, v.Match.Package.Line, v.Match.Package.Dev = "deno.lock", 7, true
				v.Match.Reach = &finding.Reach{Verdict: finding.NotFound}
			})}, Policy{Level: Auto},
			[]string{"low a 1.0.0 -> 1.0.1 (deno.lock:7, transitive, through web@3.0.0, development): clears CVE-1; " +
				"not imported"}},
		{"what is dismissed decides neither version nor severity", []VulnerablePackage{low("CVE-1", "1.0.1"),
			edit(named("CVE-2", finding.Critical, need("a", "1.0.0", "", "2.0.0")), func(v *VulnerablePackage) {
				v.Match.VEX = &finding.VEXStatement{Status: finding.VEXNotAffected, File: "vex.json"}
			})}, Policy{Level: Auto},
			[]string{"low a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-1; VEX: not affected CVE-2 " +
				"(vex.json)"}},
		{"the most reachable decides", []VulnerablePackage{low("CVE-1", "1.0.1"),
			edit(low("CVE-2", "1.0.1"), func(v *VulnerablePackage) {
				v.Match.Reach = &finding.Reach{Verdict: finding.Reachable}
			})},
			Policy{Level: Auto}, []string{"low a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-2, CVE-1; " +
				"reachable"}},
		{"the layers of an image are apart", []VulnerablePackage{
			edit(low("CVE-1", "1.0.1"), func(v *VulnerablePackage) {
				v.Match.Package.Layer = &finding.Layer{Index: 2, Digest: "x"}
			}),
			edit(low("CVE-1", "1.0.1"), func(v *VulnerablePackage) {
				v.Match.Package.Layer = &finding.Layer{Index: 3, Digest: "y", Deleted: true}
			})}, Policy{Level: Auto}, []string{
			"low a 1.0.0 -> 1.0.1 (package-lock.json, direct, layer 2): clears CVE-1",
			"low a 1.0.0 -> 1.0.1 (package-lock.json, direct, layer 3, which a later layer hides): clears CVE-1"}},
	} {
		var got []string
		for _, r := range Rows(tt.list, tt.policy) {
			got = append(got, string(r.Severity)+" "+r.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Every affected version of a package is a decision of its own.
func TestVulnerablePackages(t *testing.T) {
	f := finding.Finding{Severity: finding.High, Package: &finding.PackageMatch{
		Package: seen("npm", "a", "1.0.0", "package-lock.json"), Fixed: []string{"1.0.1"}, Upgrade: "1.0.1",
		VEX: &finding.VEXStatement{Status: finding.VEXFixed, File: "vex.json"},
		Also: []finding.PackageMatch{{Package: seen("npm", "a", "0.9.0", "package-lock.json"), Fixed: []string{"1.0.1"},
			Upgrade: "1.0.1"}}}}
	got := VulnerablePackages(&f, &finding.Rule{ID: "sca/CVE-1",
		Advisory: &finding.Advisory{ID: "CVE-1", Malicious: true, KEV: &finding.KEV{}}})
	if len(got) != 2 {
		t.Fatalf("got %d, want 2", len(got))
	}
	for i, version := range []string{"1.0.0", "0.9.0"} {
		if v := got[i]; v.Match.Package.Version != version || v.Advisory != "CVE-1" || !v.Exploited || !v.Malicious ||
			v.Severity != finding.High || !v.Match.VEX.Clears() {
			t.Errorf("got %+v", v)
		}
	}
	if f.Package.Also[0].VEX != nil {
		t.Error("the finding was changed")
	}
	if got := VulnerablePackages(&f, &finding.Rule{ID: "sca/x"}); got[0].Advisory != "sca/x" || got[0].Exploited {
		t.Errorf("without an advisory: %+v", got[0])
	}
}

// What a statement says of an open vulnerability is told too, and so is the note of the most urgent.
func TestRowSaysWhatIsKnown(t *testing.T) {
	a := named("CVE-1", finding.High, need("a", "1.0.0", "", "1.0.1"))
	a.Note = " [impact medium, +1 called]"
	a.Match.VEX = &finding.VEXStatement{Status: finding.VEXUnderInvestigation, File: "vex.json"}
	b := named("CVE-2", finding.Low, need("a", "1.0.0", "", "1.0.1"))
	b.Note = "never shown"
	want := "a 1.0.0 -> 1.0.1 (package-lock.json, direct): clears CVE-1, CVE-2; VEX: under investigation CVE-1 " +
		"(vex.json) [impact medium, +1 called]"
	rows := Rows([]VulnerablePackage{b, a}, Policy{Level: Auto})
	if got := rows[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

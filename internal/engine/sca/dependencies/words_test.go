package dependencies

import (
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestWords(t *testing.T) {
	affected := func(name string, m scan.AdvisoryMatch) *match {
		if m.Advisory == nil {
			m.Advisory = &finding.Advisory{ID: "CVE-1", Severity: finding.High}
		}
		return &match{AdvisoryMatch: m, pkg: finding.Package{Ecosystem: "npm", Name: name, Version: "1.0.0"}}
	}
	list := []*match{
		affected("a", scan.AdvisoryMatch{Upgrade: "1.2.0"}), affected("a", scan.AdvisoryMatch{Upgrade: "1.2.0"}),
		affected("b", scan.AdvisoryMatch{Fixed: []string{"0.9.5"}}), affected("c", scan.AdvisoryMatch{}),
		affected("d", scan.AdvisoryMatch{Advisory: &finding.Advisory{ID: "MAL-1", Malicious: true,
			Severity: finding.Critical}}),
	}
	want := `Upgrade a to 1.2.0 or later.

No later version of b is known to be fixed; 0.9.5 are.

No fixed version of c is known. Replace it, or make sure that the flawed part is not used.

Remove d: the package itself is an attack. Treat every machine that installed it as compromised, and replace its secrets.`
	if got := remediationText(list); got != want {
		t.Errorf("got:\n%s", got)
	}
	if r := makeRule(list); r.Severity != finding.Critical {
		t.Errorf("the rule is %s, want the worst of its packages", r.Severity)
	}
	for i, want := range []string{"a 1.0.0 is affected by CVE-1 (fixed in 1.2.0)", "", "b 1.0.0 is affected by CVE-1 " +
		"(no fixed version is known)", "", "d 1.0.0 is malicious: MAL-1"} {
		if got := makeFinding(list[i]).Message; want != "" && got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

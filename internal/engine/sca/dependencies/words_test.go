package dependencies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

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

// What is doubtful about a match is said in its message: an estimated severity, and an old
// record that says nothing of the versions since.
func TestDoubtfulMatches(t *testing.T) {
	record := func(id, published, events, rest string) string {
		return fmt.Sprintf(`{"id":%q,"modified":"2026-01-01T00:00:00Z","published":"%s-01-01T00:00:00Z","affected":[`+
			`{"package":{"ecosystem":"npm","name":"x"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}%s]}]}]%s}`,
			id, published, events, rest)
	}
	scored := `,"database_specific":{"severity":"HIGH"}`
	advisories := openAdvisories(t,
		record("CVE-2017-1000", "2017", "", scored),
		record("CVE-2017-2000", "2017", `,{"last_affected":"9.9.9"}`, scored),
		record("CVE-2025-1000", "2025", "", scored),
		record("CVE-2025-2000", "2025", `,{"fixed":"2.0.0"}`, `,"database_specific":{"cwe_ids":["CWE-79"]}`),
		record("MAL-2017-1", "2017", "", ""))
	r := examine(t, fstest.MapFS{"package-lock.json": {Data: []byte(
		`{"lockfileVersion":2,"packages":{"node_modules/x":{"version":"1.0.0"}}}`)}}, advisories)
	var got []string
	for _, f := range r.reported {
		got = append(got, fmt.Sprintf("%s %s %s", f.Severity, cmp.Or(f.Confidence, "-"), f.Message))
	}
	want := []string{
		"high low x 1.0.0 is affected by CVE-2017-1000 (no fixed version is known); the record of 2017 names no last " +
			"affected version, so it may be outdated",
		"high - x 1.0.0 is affected by CVE-2017-2000 (no fixed version is known)",
		"high - x 1.0.0 is affected by CVE-2025-1000 (no fixed version is known)",
		"medium - x 1.0.0 is affected by CVE-2025-2000 (fixed in 2.0.0), severity estimated",
		"critical - x 1.0.0 is malicious: MAL-2017-1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

package advisory

import (
	"path/filepath"
	"slices"
	"testing"

	"merlon/internal/finding"
)

// The classes are in the order of their scores, which decides between several weaknesses, and
// none estimates a critical severity.
func TestWeaknessClasses(t *testing.T) {
	last := 10.0
	seen := map[string]string{}
	for _, c := range weaknessClasses {
		version, score, ok := scoreCVSS(c.vector)
		if !ok || version != "3.1" || score > last || finding.FromCVSS(score) == finding.Critical {
			t.Errorf("%s: %s scores %v of version %s after %v", c.name, c.vector, score, version, last)
		}
		last = score
		for _, id := range c.cwe {
			if seen[id] != "" {
				t.Errorf("%s is in %s and in %s", id, seen[id], c.name)
			}
			seen[id] = c.name
		}
	}
}

func TestEstimateSeverity(t *testing.T) {
	const scored = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N"
	for _, test := range []struct {
		name      string
		a         finding.Advisory
		label     string
		severity  finding.Severity
		score     float64
		estimated bool
	}{
		{"a weakness", finding.Advisory{CWE: []string{"CWE-502"}}, "", finding.High, 8.8, true},
		{"the worst of two", finding.Advisory{CWE: []string{"CWE-200", "CWE-400"}}, "", finding.High, 7.5, true},
		{"words", finding.Advisory{Summary: "Cross-site scripting in html/template"}, "", finding.Medium, 6.1, true},
		{"the first words", finding.Advisory{Summary: "Panic by arbitrary code execution"}, "", finding.High, 7.5, true},
		{"details", finding.Advisory{Details: "Infinite loop in parse"}, "", finding.High, 7.5, true},
		{"nothing known", finding.Advisory{Summary: "An issue"}, "", finding.Medium, 0, true},
		{"a score stands", finding.Advisory{CWE: []string{"CWE-502"},
			Severities: []finding.AdvisorySeverity{{Type: "CVSS_V3", Score: scored}}}, "", finding.Medium, 5.3, false},
		{"a word stands", finding.Advisory{CWE: []string{"CWE-502"}}, "low", finding.Low, 0, false},
		{"malicious", finding.Advisory{Malicious: true, CWE: []string{"CWE-200"}}, "", finding.Critical, 0, false},
	} {
		setSeverity(&test.a, []details{{label: test.label}})
		if a := test.a; a.Severity != test.severity || a.CVSS != test.score || a.Estimated != test.estimated {
			t.Errorf("%s: got %s, %v, estimated %v; want %s, %v, %v", test.name, a.Severity, a.CVSS, a.Estimated,
				test.severity, test.score, test.estimated)
		}
	}
}

// A record without a score takes that of another record of its CVE, of whatever package; also
// after an import that takes the data file over. One that names several CVEs gives none.
func TestScoreOfAnotherPackage(t *testing.T) {
	scored := func(id, aliases string) string {
		return `{"id":"` + id + `","modified":"2024-01-01T00:00:00Z","aliases":[` + aliases + `],"affected":[{"package":` +
			`{"ecosystem":"Bitnami","name":"golang"},"severity":[{"type":"CVSS_V3","score":` +
			`"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"}],"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},` +
			`{"fixed":"1.2.0"}]}]}],"database_specific":{"cwe_ids":["CWE-770"]}}`
	}
	plain := func(id, alias string) string {
		return `{"id":"` + id + `","modified":"2024-01-01T00:00:00Z","summary":"Information disclosure","aliases":["` +
			alias + `"],"affected":[{"package":{"ecosystem":"Go","name":"` + id + `"},"ranges":[{"type":"SEMVER",` +
			`"events":[{"introduced":"0"},{"fixed":"1.2.0"}]}]}]}`
	}
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	rebuild(t, first, "", map[string]string{"1.json": scored("BIT-1", `"CVE-2024-1000"`),
		"2.json": scored("BIT-2", `"CVE-2024-2000","CVE-2024-3000"`), "3.json": plain("GO-1", "CVE-2024-1000"),
		"4.json": plain("GO-2", "CVE-2024-2000")})
	rebuild(t, second, first, map[string]string{"5.json": plain("GO-3", "CVE-2024-4000")})
	for _, path := range []string{first, second} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"GO-1": 7.5, "GO-2": 5.3} {
			got, err := f.Match(t.Context(), "Go", name, "1.0.0")
			if err != nil || len(got) != 1 {
				t.Fatalf("%s: got %v, %v", name, got, err)
			}
			a := got[0].Advisory
			if a.CVSS != want || a.Estimated != (name == "GO-2") || slices.Contains(a.CWE, "CWE-770") != (name == "GO-1") {
				t.Errorf("%s: got %v, estimated %v, %v; want %v", name, a.CVSS, a.Estimated, a.CWE, want)
			}
		}
		if n := f.Meta().Ecosystems[scoreEcosystem].Packages; n != 0 || f.Knows(scoreEcosystem) {
			t.Errorf("scores count as %d packages", n)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An advisory of several CVEs has the name and the text of the one whose range holds the
// version, and says whether that range ends.
func TestNameOfTheMatchingRange(t *testing.T) {
	record := func(id, aliases, events string) string {
		return `{"id":"` + id + `","modified":"2024-01-01T00:00:00Z","summary":"text of ` + id + `","aliases":[` + aliases +
			`],"affected":[{"package":{"ecosystem":"PyPI","name":"x"},"ranges":[{"type":"ECOSYSTEM","events":[` + events +
			`]}]}]}`
	}
	f, _ := build(t, map[string]string{
		"1.json": record("PYSEC-1", `"CVE-2017-1000"`, `{"introduced":"0"},{"fixed":"1.0"}`),
		"2.json": record("PYSEC-2", `"CVE-2023-1000"`, `{"introduced":"0"},{"fixed":"3.0"}`),
		"3.json": record("GHSA-aaaa", `"CVE-2017-1000","CVE-2023-1000"`, `{"introduced":"0"},{"fixed":"3.0"}`),
		"4.json": record("PYSEC-3", `"CVE-2018-1000"`, `{"introduced":"0"}`),
		"5.json": record("PYSEC-4", `"CVE-2019-1000"`, `{"introduced":"0"},{"last_affected":"2.0"}`)})
	for version, want := range map[string][]string{
		"2.0": {"CVE-2018-1000 text of PYSEC-3 open", "CVE-2019-1000 text of PYSEC-4", "CVE-2023-1000 text of GHSA-aaaa"},
		"0.5": {"CVE-2017-1000 text of GHSA-aaaa", "CVE-2018-1000 text of PYSEC-3 open", "CVE-2019-1000 text of PYSEC-4"},
	} {
		matches, err := f.Match(t.Context(), "PyPI", "x", version)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range matches {
			line := m.Advisory.ID + " " + m.Advisory.Summary
			if m.OpenEnded {
				line += " open"
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}

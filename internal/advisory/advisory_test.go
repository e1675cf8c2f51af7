package advisory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// build builds a data file from records by file name and opens it.
func build(t *testing.T, records map[string]string) (*File, *Report) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "advisories.dat")
	report := rebuild(t, out, "", records)
	return open(t, out), report
}

// rebuild builds a data file over a previous one.
func rebuild(t *testing.T, out, previous string, records map[string]string) *Report {
	t.Helper()
	report, err := Build(t.Context(), BuildOptions{Sources: []string{folder(t, records)}, Previous: previous,
		Output: out, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// one is a record about one package: affected is the rest of that member.
func one(id, ecosystem, name, affected string) string {
	return fmt.Sprintf(`{"id":%q,"modified":"2024-01-01T00:00:00Z","summary":"flaw %s","affected":[{"package":{"ecosystem":%q,"name":%q},%s}]}`,
		id, id, ecosystem, name, affected)
}

// ids lists what was matched.
func ids(list []scan.AdvisoryMatch) []string {
	out := []string{}
	for _, m := range list {
		out = append(out, m.Advisory.ID)
	}
	return out
}

func TestMatchRanges(t *testing.T) {
	semver := func(events string) string { return `"ranges":[{"type":"SEMVER","events":[` + events + `]}]` }
	ecosystem := func(events string) string { return `"ranges":[{"type":"ECOSYSTEM","events":[` + events + `]}]` }
	tests := []struct {
		name, ecosystem, affected string
		hit, miss, undecided      []string
	}{
		{"fixed", "npm", semver(`{"introduced":"0"},{"fixed":"1.2.3"}`),
			[]string{"0.0.1", "1.2.2", "v1.0.0", "1.2.3-rc.1"}, []string{"1.2.3", "2.0.0", "1.10.0"},
			[]string{"latest", "", "^1.0.0", "file:../x", "*", "git+ssh://x"}},
		{"introduced", "npm", semver(`{"introduced":"1.0.0"},{"fixed":"1.5.0"}`),
			[]string{"1.0.0", "1.4.9"}, []string{"0.9.9", "1.5.0", "1.0.0-beta"}, nil},
		{"last affected", "npm", semver(`{"introduced":"0"},{"last_affected":"1.2.0"}`),
			[]string{"1.2.0"}, []string{"1.2.1"}, nil},
		{"several events in any order", "Go",
			semver(`{"fixed":"1.1.0"},{"introduced":"2.0.0"},{"introduced":"0"},{"fixed":"2.1.0"}`),
			[]string{"1.0.9", "2.0.5"}, []string{"1.1.0", "1.9.0", "2.1.0"}, []string{"(devel)"}},
		{"no end", "crates.io", semver(`{"introduced":"0"}`), []string{"0.0.1", "99.0.0", "unreadable"}, nil, nil},
		{"limit", "npm", semver(`{"introduced":"1.0.0"},{"limit":"2.0.0"}`), []string{"1.9.9"},
			[]string{"2.0.0", "0.1.0"}, nil},
		{"limit without end", "npm", semver(`{"introduced":"1.0.0"},{"limit":"*"}`), []string{"1.0.0", "9.0.0"},
			[]string{"0.1.0"}, nil},
		{"empty range", "npm", semver(`{"introduced":"1.0.0"},{"fixed":"1.0.0"}`), nil,
			[]string{"1.0.0", "0.9.0", "1.1.0"}, nil},
		{"list of versions", "npm", `"versions":["1.0.0","1.0.2"]`, []string{"1.0.0", "1.0.2", "v1.0.2"},
			[]string{"1.0.1", "10.0.0"}, []string{"latest"}},
		{"list and range", "PyPI", `"versions":["3.0"],` + ecosystem(`{"introduced":"0"},{"fixed":"2.0"}`),
			[]string{"1.0", "3.0", "3.0.0", "2.0rc1", "2.0.dev3"}, []string{"2.0", "3.1", "2.0.post1"},
			[]string{"not a version"}},
		{"commits are ignored, not the end", "PyPI",
			`"ranges":[{"type":"GIT","repo":"https://x","events":[{"introduced":"0"},{"fixed":"abc"}]},{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2.0"}]}]`,
			[]string{"1.0"}, []string{"2.0"}, nil},
		{"two ranges", "npm", `"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.0.0"}]},{"type":"SEMVER","events":[{"introduced":"2.0.0"},{"fixed":"2.5.0"}]}]`,
			[]string{"0.1.0", "2.4.0"}, []string{"1.5.0", "2.5.0"}, nil},
		{"Maven", "Maven", ecosystem(`{"introduced":"0"},{"fixed":"2.0"}`),
			[]string{"1.9", "2.0-alpha-1", "2.0-SNAPSHOT", "1.0.Final"}, []string{"2.0", "2.0.0", "2.0-1"},
			[]string{"${spring.version}", "[1.0,2.0)"}},
		{"Debian's order", "Debian:12", ecosystem(`{"introduced":"0"},{"fixed":"1.2-3+deb12u1"}`),
			[]string{"1.2-3", "1.2~rc1-1"}, []string{"1:1.0-1", "1.2-3+deb12u1"}, nil},
		{"gems", "RubyGems", ecosystem(`{"introduced":"0"},{"fixed":"4.2.1"}`), []string{"4.2.1.rc1", "4.2"},
			[]string{"4.2.1"}, nil},
		{"no order", "Bazaar", ecosystem(`{"introduced":"1.0"},{"fixed":"2.0"}`), nil, nil, []string{"1.5", "3.0"}},
		{"no order, but listed", "Bazaar", `"versions":["1.5"]`, []string{"1.5"}, nil, []string{"1.6"}},
		{"unreadable range", "PyPI", ecosystem(`{"introduced":"x y"},{"fixed":"2.0"}`), nil, nil,
			[]string{"1.0", "3.0"}},
		{"unreadable range beside a readable one", "PyPI",
			`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"?"}]},{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2.0"}]}]`,
			[]string{"1.0"}, nil, []string{"3.0"}},
		{"unknown type", "npm", `"ranges":[{"type":"LUNAR","events":[{"introduced":"0"}]}]`, nil, nil,
			[]string{"1.0.0"}},
		{"no start", "npm", semver(`{"fixed":"1.0.0"}`), nil, nil, []string{"0.1.0", "2.0.0"}},
		{"nothing to go by", "npm", `"versions":[]`, nil, nil, []string{"1.0.0"}},
		{"a commit is no version", "GitHub Actions", ecosystem(`{"introduced":"0"},{"fixed":"4.1.0"}`),
			[]string{"v3", "4.0.9"}, []string{"v4.1.0"}, []string{"8f4b7f84864484a7bf31766abe9204da3cbe65b3", "main"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := build(t, map[string]string{"X-1.json": one("X-1", test.ecosystem, "thing", test.affected)})
			for want, versions := range map[string][]string{"hit": test.hit, "miss": test.miss,
				"undecided": test.undecided} {
				for _, v := range versions {
					found, err := f.Match(t.Context(), test.ecosystem, "thing", v)
					got := "miss"
					switch {
					case err != nil:
						got = "undecided"
					case len(found) > 0:
						got = "hit"
					}
					if got != want {
						t.Errorf("version %q: got %s (%v), want %s", v, got, err, want)
					}
				}
			}
		})
	}
}

func TestMatchNames(t *testing.T) {
	everything := `"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}]`
	tests := []struct {
		ecosystem, recorded, asked string
		want                       bool
	}{
		{"PyPI", "Flask_Login", "flask-login", true},
		{"PyPI", "zope.interface", "Zope-Interface", true},
		{"NuGet", "Newtonsoft.Json", "newtonsoft.json", true},
		{"crates.io", "time_core", "time-core", true},
		{"Packagist", "Symfony/Yaml", "symfony/yaml", true},
		{"SwiftURL", "github.com/apple/swift-nio", "https://github.com/Apple/swift-nio.git", true},
		{"npm", "lodash", "Lodash", false},
		{"Go", "github.com/a/b", "github.com/a/c", false},
		{"Maven", "org.a:b", "org.a:c", false},
	}
	for _, test := range tests {
		f, _ := build(t, map[string]string{"X-1.json": one("X-1", test.ecosystem, test.recorded, everything)})
		found, err := f.Match(t.Context(), test.ecosystem, test.asked, "1.0.0")
		if err != nil || (len(found) > 0) != test.want {
			t.Errorf("%s %s asked as %s: got %v, %v; want a match: %t", test.ecosystem, test.recorded, test.asked,
				ids(found), err, test.want)
		}
	}
}

func TestMatchReleases(t *testing.T) {
	f, _ := build(t, map[string]string{
		"A.json": one("DSA-11", "Debian:11", "curl",
			`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]`),
		"B.json": one("DSA-12", "Debian:12", "curl",
			`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]`),
		"C.json": one("DSA-0", "Debian", "curl",
			`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]`),
	})
	for asked, want := range map[string][]string{
		"Debian:11": {"DSA-0", "DSA-11"},
		"Debian:12": {"DSA-0", "DSA-12"},
		"Debian:13": {"DSA-0"},
		"Debian":    {"DSA-0", "DSA-11", "DSA-12"},
	} {
		found, err := f.Match(t.Context(), asked, "curl", "1")
		got := ids(found)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", asked, err, diff)
		}
	}
}

func TestMatchMergesAliases(t *testing.T) {
	affected := `"affected":[{"package":{"ecosystem":"PyPI","name":"Thing"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":%q}]}],"database_specific":{"severity":"LOW"}}]`
	record := func(id, aliases, fixed, rest string) string {
		return fmt.Sprintf(`{"id":%q,"aliases":[%s],`+rest+`,`+affected+`}`, id, aliases, fixed)
	}
	f, _ := build(t, map[string]string{
		"1.json": record("PYSEC-1", `"CVE-2020-10000"`, "1.2.0",
			`"modified":"2024-03-01T00:00:00Z","published":"2020-02-02T00:00:00Z","details":"from pysec","references":[{"type":"WEB","url":"https://a"},{"type":"WEB","url":"https://b"}]`),
		"2.json": record("GHSA-aaaa-bbbb-cccc", `"CVE-2020-9999","CVE-2020-10000"`, "1.3.0",
			`"modified":"2024-02-01T00:00:00Z","published":"2020-01-02T00:00:00Z","summary":"Short","details":"from ghsa","severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],"references":[{"type":"WEB","url":"https://a"}],"database_specific":{"cwe_ids":["CWE-79"],"severity":"MODERATE"}`),
		"3.json": record("PYSEC-3", `"CVE-2021-1"`, "9.0.0", `"modified":"2024-02-01T00:00:00Z"`),
		"4.json": record("GONE-4", `"CVE-2021-4"`, "9.0.0",
			`"modified":"2024-02-01T00:00:00Z","withdrawn":"2024-02-02T00:00:00Z"`),
	})
	got, err := f.Match(t.Context(), "PyPI", "thing", "1.0")
	if err != nil {
		t.Fatal(err)
	}
	want := []scan.AdvisoryMatch{{
		Advisory: &finding.Advisory{
			ID: "CVE-2020-9999", CVE: "CVE-2020-9999", GHSA: "GHSA-aaaa-bbbb-cccc",
			Aliases: []string{"CVE-2020-9999", "CVE-2020-10000", "GHSA-aaaa-bbbb-cccc", "PYSEC-1"},
			Summary: "Short", Details: "from ghsa", Published: "2020-01-02T00:00:00Z", Modified: "2024-03-01T00:00:00Z",
			Severities: []finding.AdvisorySeverity{{Type: "CVSS_V3",
				Score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}},
			References: []finding.AdvisoryReference{{Type: "WEB", URL: "https://a"}, {Type: "WEB", URL: "https://b"}},
			CWE:        []string{"CWE-79"}, Severity: finding.Critical,
			CVSS: 9.8, CVSSVersion: "3.1", CVSSVector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
		},
		// 1.2.0 is still in a record's range
		Introduced: "0", Fixed: []string{"1.3.0"}, Upgrade: "1.3.0", UpgradeAll: "9.0.0",
	}, {
		Advisory: &finding.Advisory{
			ID: "CVE-2021-1", CVE: "CVE-2021-1", Aliases: []string{"CVE-2021-1", "PYSEC-3"}, Summary: "CVE-2021-1",
			Modified: "2024-02-01T00:00:00Z", Severities: []finding.AdvisorySeverity{},
			References: []finding.AdvisoryReference{},
			CWE:        []string{}, Severity: finding.Low,
		},
		Introduced: "0", Fixed: []string{"9.0.0"}, Upgrade: "9.0.0", UpgradeAll: "9.0.0",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}

func TestUpgrade(t *testing.T) {
	f, _ := build(t, map[string]string{"X.json": one("X-1", "PyPI", "django",
		`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"2.2"},{"fixed":"2.2.28"},{"introduced":"3.2"},{"fixed":"3.2.13"},{"introduced":"4.0"},{"last_affected":"4.0.3"}]}]`)})
	for version, want := range map[string]scan.AdvisoryMatch{
		"2.2.1": {Introduced: "2.2", Fixed: []string{"2.2.28", "3.2.13"}, Upgrade: "2.2.28", UpgradeAll: "2.2.28"},
		"3.2.1": {Introduced: "3.2", Fixed: []string{"2.2.28", "3.2.13"}, Upgrade: "3.2.13", UpgradeAll: "3.2.13"},
		"4.0.3": {Introduced: "4.0", Fixed: []string{"2.2.28", "3.2.13"}},
	} {
		got, err := f.Match(t.Context(), "PyPI", "django", version)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: got %v, %v", version, got, err)
		}
		got[0].Advisory = nil
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
	}
}

func TestSeverity(t *testing.T) {
	const v2, v3, v4 = "AV:N/AC:L/Au:N/C:N/I:N/A:C", "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N",
		"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"
	severity := func(vectors ...string) string {
		var list []string
		for _, v := range vectors {
			list = append(list, fmt.Sprintf(`{"type":"CVSS","score":%q}`, v))
		}
		return `"severity":[` + strings.Join(list, ",") + `],`
	}
	tests := []struct {
		id, rest, inAffected string
		want                 finding.Severity
		version              string
	}{
		{"X-1", severity(v2), "", finding.High, "2.0"},
		{"X-2", severity(v2, v3), "", finding.Medium, "3.0"},
		{"X-3", severity(v3, v4, v2), "", finding.Critical, "4.0"},
		{"X-4", severity("CVSS:3.1/nonsense"), "", finding.Medium, ""},
		{"X-5", `"database_specific":{"severity":"HIGH"},`, "", finding.High, ""},
		{"X-6", `"database_specific":{"severity":7},`, "", finding.Medium, ""},
		{"X-7", "", `,"database_specific":{"informational":"unmaintained"}`, finding.Low, ""},
		{"X-8", "", `,"severity":[{"type":"CVSS_V3","score":"` + v3 + `"}]`, finding.Medium, "3.0"},
		{"MAL-2024-1", severity(v3), "", finding.Critical, "3.0"},
		{"GHSA-1", `"aliases":["MAL-2024-2"],`, "", finding.Critical, ""},
		{"X-9", "", "", finding.Medium, ""},
	}
	for _, test := range tests {
		text := strings.Replace(one(test.id, "npm", "x", `"versions":["1.0.0"]`+test.inAffected), "{", "{"+test.rest, 1)
		f, report := build(t, map[string]string{test.id + ".json": text})
		got, err := f.Match(t.Context(), "npm", "x", "1.0.0")
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: got %v, %v (%v)", test.id, got, err, report.Malformed)
		}
		if a := got[0].Advisory; a.Severity != test.want || a.CVSSVersion != test.version ||
			a.Malicious != strings.Contains(test.id+test.rest, "MAL-") {
			t.Errorf("%s: got %s by CVSS %q, malicious %t; want %s by %q", test.id, a.Severity, a.CVSSVersion,
				a.Malicious, test.want, test.version)
		}
	}
}

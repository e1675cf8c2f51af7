package advisory

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
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
	report, err := Build(t.Context(), BuildOptions{Sources: []string{folder(t, records)}, Previous: previous, Output: out, Now: now})
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
			[]string{"0.0.1", "1.2.2", "v1.0.0", "1.2.3-rc.1"}, []string{"1.2.3", "2.0.0", "1.10.0"}, []string{"latest", "", "^1.0.0", "file:../x", "*", "git+ssh://x"}},
		{"introduced", "npm", semver(`{"introduced":"1.0.0"},{"fixed":"1.5.0"}`),
			[]string{"1.0.0", "1.4.9"}, []string{"0.9.9", "1.5.0", "1.0.0-beta"}, nil},
		{"last affected", "npm", semver(`{"introduced":"0"},{"last_affected":"1.2.0"}`),
			[]string{"1.2.0"}, []string{"1.2.1"}, nil},
		{"several events in any order", "Go", semver(`{"fixed":"1.1.0"},{"introduced":"2.0.0"},{"introduced":"0"},{"fixed":"2.1.0"}`),
			[]string{"1.0.9", "2.0.5"}, []string{"1.1.0", "1.9.0", "2.1.0"}, []string{"(devel)"}},
		{"no end", "crates.io", semver(`{"introduced":"0"}`), []string{"0.0.1", "99.0.0", "unreadable"}, nil, nil},
		{"limit", "npm", semver(`{"introduced":"1.0.0"},{"limit":"2.0.0"}`), []string{"1.9.9"}, []string{"2.0.0", "0.1.0"}, nil},
		{"limit without end", "npm", semver(`{"introduced":"1.0.0"},{"limit":"*"}`), []string{"1.0.0", "9.0.0"}, []string{"0.1.0"}, nil},
		{"empty range", "npm", semver(`{"introduced":"1.0.0"},{"fixed":"1.0.0"}`), nil, []string{"1.0.0", "0.9.0", "1.1.0"}, nil},
		{"list of versions", "npm", `"versions":["1.0.0","1.0.2"]`, []string{"1.0.0", "1.0.2", "v1.0.2"}, []string{"1.0.1", "10.0.0"}, []string{"latest"}},
		{"list and range", "PyPI", `"versions":["3.0"],` + ecosystem(`{"introduced":"0"},{"fixed":"2.0"}`),
			[]string{"1.0", "3.0", "3.0.0", "2.0rc1", "2.0.dev3"}, []string{"2.0", "3.1", "2.0.post1"}, []string{"not a version"}},
		{"commits are ignored, not the end", "PyPI",
			`"ranges":[{"type":"GIT","repo":"https://x","events":[{"introduced":"0"},{"fixed":"abc"}]},{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2.0"}]}]`,
			[]string{"1.0"}, []string{"2.0"}, nil},
		{"two ranges", "npm", `"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.0.0"}]},{"type":"SEMVER","events":[{"introduced":"2.0.0"},{"fixed":"2.5.0"}]}]`,
			[]string{"0.1.0", "2.4.0"}, []string{"1.5.0", "2.5.0"}, nil},
		{"Maven", "Maven", ecosystem(`{"introduced":"0"},{"fixed":"2.0"}`),
			[]string{"1.9", "2.0-alpha-1", "2.0-SNAPSHOT", "1.0.Final"}, []string{"2.0", "2.0.0", "2.0-1"}, []string{"${spring.version}", "[1.0,2.0)"}},
		{"Debian's order", "Debian:12", ecosystem(`{"introduced":"0"},{"fixed":"1.2-3+deb12u1"}`),
			[]string{"1.2-3", "1.2~rc1-1"}, []string{"1:1.0-1", "1.2-3+deb12u1"}, nil},
		{"gems", "RubyGems", ecosystem(`{"introduced":"0"},{"fixed":"4.2.1"}`), []string{"4.2.1.rc1", "4.2"}, []string{"4.2.1"}, nil},
		{"no order", "Bazaar", ecosystem(`{"introduced":"1.0"},{"fixed":"2.0"}`), nil, nil, []string{"1.5", "3.0"}},
		{"no order, but listed", "Bazaar", `"versions":["1.5"]`, []string{"1.5"}, nil, []string{"1.6"}},
		{"unreadable range", "PyPI", ecosystem(`{"introduced":"x y"},{"fixed":"2.0"}`), nil, nil, []string{"1.0", "3.0"}},
		{"unreadable range beside a readable one", "PyPI",
			`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"?"}]},{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2.0"}]}]`,
			[]string{"1.0"}, nil, []string{"3.0"}},
		{"unknown type", "npm", `"ranges":[{"type":"LUNAR","events":[{"introduced":"0"}]}]`, nil, nil, []string{"1.0.0"}},
		{"no start", "npm", semver(`{"fixed":"1.0.0"}`), nil, nil, []string{"0.1.0", "2.0.0"}},
		{"nothing to go by", "npm", `"versions":[]`, nil, nil, []string{"1.0.0"}},
		{"a commit is no version", "GitHub Actions", ecosystem(`{"introduced":"0"},{"fixed":"4.1.0"}`),
			[]string{"v3", "4.0.9"}, []string{"v4.1.0"}, []string{"8f4b7f84864484a7bf31766abe9204da3cbe65b3", "main"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := build(t, map[string]string{"X-1.json": one("X-1", test.ecosystem, "thing", test.affected)})
			for want, versions := range map[string][]string{"hit": test.hit, "miss": test.miss, "undecided": test.undecided} {
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
			t.Errorf("%s %s asked as %s: got %v, %v; want a match: %t", test.ecosystem, test.recorded, test.asked, ids(found), err, test.want)
		}
	}
}

func TestMatchReleases(t *testing.T) {
	f, _ := build(t, map[string]string{
		"A.json": one("DSA-11", "Debian:11", "curl", `"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]`),
		"B.json": one("DSA-12", "Debian:12", "curl", `"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]`),
		"C.json": one("DSA-0", "Debian", "curl", `"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]`),
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
		"1.json": record("PYSEC-1", `"CVE-2020-10000"`, "1.2.0", `"modified":"2024-03-01T00:00:00Z","published":"2020-02-02T00:00:00Z","details":"from pysec","references":[{"type":"WEB","url":"https://a"},{"type":"WEB","url":"https://b"}]`),
		"2.json": record("GHSA-aaaa-bbbb-cccc", `"CVE-2020-9999","CVE-2020-10000"`, "1.3.0",
			`"modified":"2024-02-01T00:00:00Z","published":"2020-01-02T00:00:00Z","summary":"Short","details":"from ghsa","severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],"references":[{"type":"WEB","url":"https://a"}],"database_specific":{"cwe_ids":["CWE-79"],"severity":"MODERATE"}`),
		"3.json": record("PYSEC-3", `"CVE-2021-1"`, "9.0.0", `"modified":"2024-02-01T00:00:00Z"`),
		"4.json": record("GONE-4", `"CVE-2021-4"`, "9.0.0", `"modified":"2024-02-01T00:00:00Z","withdrawn":"2024-02-02T00:00:00Z"`),
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
			Severities: []finding.AdvisorySeverity{{Type: "CVSS_V3", Score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}},
			References: []finding.AdvisoryReference{{Type: "WEB", URL: "https://a"}, {Type: "WEB", URL: "https://b"}},
			CWE:        []string{"CWE-79"}, Severity: finding.Critical,
			CVSS: 9.8, CVSSVersion: "3.1", CVSSVector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
		},
		Introduced: "0", Fixed: []string{"1.3.0"}, Upgrade: "1.3.0", // 1.2.0 is still in a record's range
	}, {
		Advisory: &finding.Advisory{
			ID: "CVE-2021-1", CVE: "CVE-2021-1", Aliases: []string{"CVE-2021-1", "PYSEC-3"}, Summary: "CVE-2021-1",
			Modified: "2024-02-01T00:00:00Z", Severities: []finding.AdvisorySeverity{}, References: []finding.AdvisoryReference{},
			CWE: []string{}, Severity: finding.Low,
		},
		Introduced: "0", Fixed: []string{"9.0.0"}, Upgrade: "9.0.0",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}

func TestUpgrade(t *testing.T) {
	f, _ := build(t, map[string]string{"X.json": one("X-1", "PyPI", "django",
		`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"2.2"},{"fixed":"2.2.28"},{"introduced":"3.2"},{"fixed":"3.2.13"},{"introduced":"4.0"},{"last_affected":"4.0.3"}]}]`)})
	for version, want := range map[string]scan.AdvisoryMatch{
		"2.2.1": {Introduced: "2.2", Fixed: []string{"2.2.28", "3.2.13"}, Upgrade: "2.2.28"},
		"3.2.1": {Introduced: "3.2", Fixed: []string{"2.2.28", "3.2.13"}, Upgrade: "3.2.13"},
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
		if a := got[0].Advisory; a.Severity != test.want || a.CVSSVersion != test.version || a.Malicious != strings.Contains(test.id+test.rest, "MAL-") {
			t.Errorf("%s: got %s by CVSS %q, malicious %t; want %s by %q", test.id, a.Severity, a.CVSSVersion, a.Malicious, test.want, test.version)
		}
	}
}

func TestMalformedRecords(t *testing.T) {
	good := one("GOOD-1", "npm", "good", `"versions":["1.0.0"]`)
	f, report := build(t, map[string]string{
		"GOOD-1.json":   good,
		"HALF-1.json":   `{"id":"HALF-1","modified":17,"affected":[{"package":{"ecosystem":"npm","name":"half"},"versions":["1.0.0"]}]}`,
		"NOID.json":     `{"id":"","affected":[{"package":{"ecosystem":"npm","name":"noid"},"versions":["1.0.0"]}]}`,
		"CUT-1.json":    good[:40],
		"LOST-1.json":   `{"id":"LOST-1","affected":"everything"}`,
		"settings.json": `{"colour":"red"}`,
		"README.md":     "no record",
	})
	if got, want := malformedFiles(report), []string{"CUT-1.json", "HALF-1.json", "LOST-1.json", "NOID.json"}; !slices.Equal(got, want) {
		t.Errorf("malformed: got %v, want %v", got, want)
	}
	if want := []string{"CUT-1.json", "LOST-1.json"}; !slices.Equal(report.Unreadable, want) || report.Skipped != 1 {
		t.Errorf("unreadable: got %v and %d skipped, want %v and 1", report.Unreadable, report.Skipped, want)
	}
	if got := f.Data().Unreadable; got != 2 {
		t.Errorf("the file says that %d records are unreadable, want 2", got)
	}
	for name, undecided := range map[string]bool{"good": false, "half": true, "noid": true, "other": false} {
		_, err := f.Match(t.Context(), "npm", name, "2.0.0")
		if (err != nil) != undecided {
			t.Errorf("%s: got %v, want undecided: %t", name, err, undecided)
		}
	}
}

func malformedFiles(r *Report) []string {
	var out []string
	for _, m := range r.Malformed {
		out = append(out, m.File)
	}
	slices.Sort(out)
	return out
}

func TestRebuild(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	stamped := func(id, modified, version string) string {
		return strings.Replace(one(id, "npm", "x", `"versions":["`+version+`"]`), "2024-01-01", modified, 1)
	}
	rebuild(t, first, "", map[string]string{
		"A.json": stamped("A", "2024-01-01", "1.0.0"), "B.json": stamped("B", "2024-01-01", "1.0.0"), "C.json": stamped("C", "2024-05-01", "1.0.0"),
		"D.json": stamped("D", "2024-01-01", "1.0.0"), "E.json": stamped("E", "2024-01-01", "1.0.0"), "F.json": `{"id":`,
	})
	report := rebuild(t, second, first, map[string]string{
		"A.json": stamped("A", "2024-02-01", "2.0.0"), // newer
		"B.json": stamped("B", "2024-01-01", "1.0.0"), // the same
		"C.json": stamped("C", "2024-04-01", "2.0.0"), // older
		"D.json": strings.Replace(stamped("D", "2024-02-01", "1.0.0"), "{", `{"withdrawn":"2024-02-01T00:00:00Z",`, 1),
		"E.json": `{"id":"E","modified":0,"affected":[{"package":{"ecosystem":"npm","name":"x"}}]}`, // broken: what was known stays
		"F.json": stamped("F", "2024-01-01", "1.0.0"),
		"G.json": stamped("G", "2024-01-01", "2.0.0"),
	})
	got := []int{report.Read, report.Added, report.Updated, report.Unchanged, report.Older, report.Withdrawn, report.Records}
	if want := []int{7, 2, 2, 1, 1, 1, 6}; !slices.Equal(got, want) {
		t.Errorf("read, added, updated, unchanged, older, withdrawn, records: got %v, want %v", got, want)
	}
	if want := []string{"E.json"}; !slices.Equal(report.Unreadable, want) {
		t.Errorf("unreadable: got %v, want %v", report.Unreadable, want)
	}
	f := open(t, second)
	for version, want := range map[string][]string{"1.0.0": {"B", "C", "E", "F"}, "2.0.0": {"A", "G"}} {
		found, err := f.Match(t.Context(), "npm", "x", version)
		if diff := cmp.Diff(want, ids(found)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", version, err, diff)
		}
	}
	third := filepath.Join(dir, "third")
	again := rebuild(t, third, second, map[string]string{"E.json": stamped("E", "2024-01-01", "1.0.0")})
	if again.Records != 6 || len(again.Unreadable) != 0 {
		t.Errorf("after the broken record came whole: got %d records and %v unreadable, want 6 and none", again.Records, again.Unreadable)
	}
}

func TestOpenSources(t *testing.T) {
	inner := zipped(t, map[string][]byte{"X-1.json": []byte(one("X-1", "npm", "x", `"versions":["1.0.0"]`))})
	outer := zipped(t, map[string][]byte{"npm/all.zip": inner, "Go/Y-1.json": []byte(one("Y-1", "Go", "y", `"versions":["1.0.0"]`))})
	path := filepath.Join(t.TempDir(), "bundle.zip")
	if err := os.WriteFile(path, outer, 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	if !f.Knows("npm") || !f.Knows("Go") || f.Knows("PyPI") {
		t.Errorf("knows npm %t, Go %t, PyPI %t", f.Knows("npm"), f.Knows("Go"), f.Knows("PyPI"))
	}
	if _, err := f.Match(t.Context(), "PyPI", "x", "1"); err == nil {
		t.Error("a look-up in an ecosystem without data says that nothing is known")
	}
	deep := zipped(t, map[string][]byte{"a.zip": outer})
	if err := os.WriteFile(path, deep, 0o600); err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	if got := f.Data().Unreadable; got != 1 {
		t.Errorf("zips three deep: got %d unreadable, want 1", got)
	}
	for name, text := range map[string]string{"empty.zip": "", "not.zip": "PK nothing", "none.json": "{}"} {
		p := filepath.Join(folder(t, map[string]string{name: text}), name)
		if _, err := Open(p); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want an Invalid error", name, err)
		}
	}
}

func zipped(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestZipBomb gives a record that unpacks to more than may be held.
func TestZipBomb(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("BOMB-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, zeros{}, maxRecord+1); err != nil {
		t.Fatal(err)
	}
	if f, err = w.Create("X-1.json"); err == nil {
		_, err = io.WriteString(f, one("X-1", "npm", "x", `"versions":["1.0.0"]`))
	}
	if err := cmpErr(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bomb.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Build(t.Context(), BuildOptions{Sources: []string{path}, Output: path + ".dat"})
	if err != nil {
		t.Fatal(err)
	}
	if report.Records != 1 || len(report.Unreadable) != 1 {
		t.Errorf("got %d records and %v unreadable, want 1 and 1", report.Records, report.Unreadable)
	}
}

func cmpErr(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestBuildStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	_, err := Build(ctx, BuildOptions{Sources: []string{folder(t, map[string]string{"X.json": "{}"})}, Output: out})
	if err == nil {
		t.Error("a cancelled build succeeded")
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) != 0 {
		t.Errorf("a cancelled build left %v, %v", entries, err)
	}
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "good")
	rebuild(t, path, "", map[string]string{"X-1.json": one("X-1", "npm", "x", `"versions":["1.0.0"]`)})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good[:len(good)-digestLen] {
		bad := slices.Clone(good)
		bad[i] ^= 0x55
		f, err := newFile(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			continue
		}
		if found, err := f.Match(t.Context(), "npm", "x", "1.0.0"); err == nil && i >= len(magic) && len(found) != 1 {
			t.Errorf("byte %d damaged: the package looks safe", i)
		}
		f.zstd.Close()
	}
	for n := range good {
		if f, err := newFile(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Errorf("cut to %d bytes: opened", n)
			f.zstd.Close()
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(one("X-1", "npm", "x", `"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.2.3"}]}]`)))
	f.Add([]byte(one("X-1", "PyPI", "x", `"versions":["1.0","2.0rc1"],"database_specific":{"severity":"HIGH","cwe_ids":["CWE-1"]}`)))
	f.Add([]byte(one("X-1", "Packagist", "a/b", `"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"dev-x"},{"last_affected":"v1-beta"}]}]`)))
	f.Add([]byte(`{"id":"X","modified":3,"affected":[{"package":{"ecosystem":"Go","name":"y"}}]}`))
	f.Add([]byte(`{"id":"X","withdrawn":"2024-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse("X-1.json", data)
		if r == nil {
			if err == nil {
				t.Fatal("neither a record nor an error")
			}
			return
		}
		var e encoder
		e.details(&r.details)
		d := decoder{s: string(e.b)}
		if got := d.details(); d.err != nil || got.id != r.id || d.s != "" {
			t.Fatalf("encoded as %q, read back as %q: %v", r.id, got.id, d.err)
		}
		for i := range r.affected {
			a := &r.affected[i]
			blk, err := decodeBlock(encodeBlock(makeKey(a.ecosystem, a.name), []affected{*a}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*a, blk.list[0], cmp.AllowUnexported(affected{}, event{})); diff != "" && !emptyLists(a) {
				t.Fatalf("read back differs:\n%s", diff)
			}
			for _, version := range []string{"1.0", "1.2.3-rc.1", "latest", ""} {
				c := newComparer(a.ecosystem)
				if _, err := c.affects(a, version); err == nil {
					c.clears([]*affected{a}, version)
				}
			}
		}
	})
}

// emptyLists reports whether the record has lists that are there but empty;
// they come back as absent.
func emptyLists(a *affected) bool {
	return a.versions != nil && len(a.versions) == 0 || slices.ContainsFunc(a.ranges, func(e []event) bool { return len(e) == 0 })
}

func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	path, source := filepath.Join(dir, "file"), filepath.Join(dir, "X-1.json")
	if err := os.WriteFile(source, []byte(one("X-1", "npm", "x", `"versions":["1.0.0"]`)), 0o600); err != nil {
		f.Fatal(err)
	}
	if _, err := Build(context.Background(), BuildOptions{Sources: []string{source}, Output: path, Now: now}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums are mended, so that what they guard is reached too.
		if n := len(data); n >= len(magic)+tailSize+digestLen {
			mend(data)
		}
		file, err := newFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		defer file.zstd.Close()
		_, _ = file.Match(t.Context(), "npm", "x", "1.0.0")                                                       // must not panic
		_ = file.eachRecord(func(_ uint32, raw string) error { d := decoder{s: raw}; d.details(); return d.err }) // must not panic
		for i := range file.places {
			_, _ = file.block(i) // must not panic
		}
	})
}

// mend writes the checksum of the tables, if the tail says where they are.
func mend(data []byte) {
	var e encoder
	end := len(data) - tailSize - digestLen
	d := data[end:]
	at := uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24
	if at > uint64(end) {
		return
	}
	e.u32(checksum(append(slices.Clone(d[:tailSize-4]), data[at:end]...)))
	copy(d[tailSize-4:], e.b)
}

func TestMetaIsJSON(t *testing.T) {
	_, report := build(t, map[string]string{"X-1.json": one("X-1", "npm", "x", `"versions":["1.0.0"]`)})
	b, err := json.Marshal(report.Meta)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"imported":"2026-11-20T09:00:00Z","newest":"2024-01-01T00:00:00Z","records":1,"ecosystems":{"npm":{"records":1,"packages":1}}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

package advisory

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

const scores = `#model_version:v2025.03.14,score_date:2026-11-19T12:00:00+0000
cve,epss,percentile
CVE-2020-1111,0.00043,0.12345
CVE-2020-2222,0.97,0.99987
`

const catalogue = `{"title":"Known exploited","catalogVersion":"2026.11.18","dateReleased":"2026-11-18T17:00:12.1434Z","count":2,"vulnerabilities":[
{"cveID":"CVE-2020-2222","dateAdded":"2021-12-10","dueDate":"2021-12-24","knownRansomwareCampaignUse":"Known"},
{"cveID":"CVE-2020-3333","dateAdded":"2022-01-02","dueDate":"2022-01-23","knownRansomwareCampaignUse":"Unknown"}]}`

const catalogueTable = `"cveID","vendorProject","dateAdded","shortDescription","dueDate","knownRansomwareCampaignUse"
"CVE-2020-2222","x","2021-12-10","a, b
and a second line","2021-12-24","Known"
CVE-2020-3333,"y",2022-01-02,,2022-01-23,Unknown
`

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// known is a record with a CVE.
func knownAs(id, cve string) string {
	return strings.Replace(one(id, "npm", strings.ToLower(id), `"versions":["1.0.0"]`), "{",
		fmt.Sprintf(`{"aliases":[%q],`, cve), 1)
}

// exploitation looks up what is said of the packages of knownAs.
func exploitation(t *testing.T, f *File, name string) (*finding.EPSS, *finding.KEV) {
	t.Helper()
	found, err := f.Match(t.Context(), "npm", name, "1.0.0")
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: got %v, %v", name, ids(found), err)
	}
	return found[0].Advisory.EPSS, found[0].Advisory.KEV
}

func TestFeedsStandBesideRecords(t *testing.T) {
	records := map[string]string{
		"A.json": knownAs("GHSA-a", "CVE-2020-1111"), "B.json": knownAs("GHSA-b", "CVE-2020-2222"),
		"C.json": knownAs("GHSA-c", "CVE-2020-4444"),
	}
	for name, feeds := range map[string]map[string]string{
		"plain":      {"epss_scores-2026-11-19.csv": scores, "known_exploited_vulnerabilities.json": catalogue},
		"compressed": {"x.csv.gz": gzipped(t, scores), "known_exploited_vulnerabilities.csv": catalogueTable},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range records {
				feeds[k] = v
			}
			f, report := build(t, feeds)
			if report.Feeds != 2 || len(report.Malformed) != 0 || report.Read != 3 {
				t.Errorf("got %+v", report)
			}
			score, exploited := exploitation(t, f, "ghsa-b")
			if diff := cmp.Diff(&finding.EPSS{Score: 0.97, Percentile: 0.99987}, score); diff != "" {
				t.Errorf("EPSS (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&finding.KEV{Added: "2021-12-10", Due: "2021-12-24", Ransomware: true},
				exploited); diff != "" {
				t.Errorf("KEV (-want +got):\n%s", diff)
			}
			if score, exploited = exploitation(t, f, "ghsa-a"); score == nil || score.Score != 0.00043 ||
				exploited != nil {
				t.Errorf("got %v, %v", score, exploited)
			}
			if score, exploited = exploitation(t, f, "ghsa-c"); score != nil || exploited != nil {
				t.Errorf("got %v, %v; want nothing", score, exploited)
			}
			data := f.Data()
			if data.EPSS == nil || data.EPSS.Entries != 2 || data.EPSS.Version != "v2025.03.14" ||
				!data.EPSS.Date.Equal(time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)) {
				t.Errorf("EPSS is described as %+v", data.EPSS)
			}
			if data.KEV == nil || data.KEV.Entries != 2 {
				t.Errorf("KEV is described as %+v", data.KEV)
			}
		})
	}
}

// TestOneFlawTakesTheWorst has two CVEs name one flaw.
func TestOneFlawTakesTheWorst(t *testing.T) {
	f, _ := build(t, map[string]string{
		"A.json": strings.Replace(knownAs("GHSA-a", "CVE-2020-1111"), `["CVE-2020-1111"]`,
			`["CVE-2020-3333","CVE-2020-2222","CVE-2020-1111"]`, 1),
		"e.csv": scores, "k.json": catalogue,
	})
	score, exploited := exploitation(t, f, "ghsa-a")
	if score == nil || score.Score != 0.97 || exploited == nil || !exploited.Ransomware ||
		exploited.Added != "2021-12-10" {
		t.Errorf("got %+v, %+v", score, exploited)
	}
}

// TestFeedsOverAnother imports feeds one after the other: the later stays, and
// what cannot be read takes nothing away that was known.
func TestFeedsOverAnother(t *testing.T) {
	out := filepath.Join(t.TempDir(), "file")
	rebuild(t, out, "", map[string]string{"A.json": knownAs("GHSA-a", "CVE-2020-1111"),
		"B.json": knownAs("GHSA-b", "CVE-2020-2222"), "e.csv": scores, "k.json": catalogue})

	older := strings.Replace(strings.Replace(scores, "2026-11-19", "2026-11-18", 1), "0.00043", "0.5", 1)
	report := rebuild(t, out, out, map[string]string{"e.csv": older})
	if len(report.OlderFeeds) != 1 || report.EPSS.Date.Day() != 19 || report.KEV == nil || report.Records != 2 {
		t.Errorf("an older feed: %+v", report)
	}
	newer := strings.Replace(scores, "2026-11-19", "2026-11-20", 1)
	broken := strings.Replace(newer, "CVE-2020-2222,0.97,0.99987",
		"CVE-2020-2222,1.97,0.99987\nCVE-2020-9\nCVE-2020-1111,0.2,0.3", 1)
	report = rebuild(t, out, out, map[string]string{"e.csv": broken})
	want := []Malformed{
		{"e.csv", `line 4: "CVE-2020-2222,1.97,0.99987" is no CVE with its score and percentile`},
		{"e.csv", `line 5: "CVE-2020-9" is no CVE with its score and percentile`},
	}
	if diff := cmp.Diff(want, report.Malformed); diff != "" {
		t.Errorf("malformed (-want +got):\n%s", diff)
	}
	f := open(t, out)
	if score, _ := exploitation(t, f, "ghsa-b"); score == nil || score.Score != 0.97 {
		t.Errorf("a broken line took the score away: %v", score)
	}
	if score, _ := exploitation(t, f, "ghsa-a"); score == nil || score.Score != 0.2 {
		t.Errorf("of two scores the lower stays: %v", score)
	}
	gone := strings.NewReplacer("2026-11-18T", "2026-11-20T", `"CVE-2020-2222"`, `7`).Replace(catalogue)
	report = rebuild(t, out, out, map[string]string{"k.json": gone})
	if _, exploited := exploitation(t, open(t, out), "ghsa-b"); exploited == nil || len(report.Malformed) != 1 ||
		report.KEV.Date.Day() != 20 {
		t.Errorf("a broken entry took another away: %v, %+v", exploited, report.Malformed)
	}
	if report = rebuild(t, out, out,
		map[string]string{"k.json": strings.Replace(catalogue, "2026-11-18T", "2026-11-21T",
			1)}); report.KEV.Date.Day() != 21 || !report.KEV.Imported.Equal(now) {
		t.Errorf("KEV is described as %+v", report.KEV)
	}
}

// TestFeedsThatAreNotTaken names each file and what is wrong with it; what was
// known stays.
func TestFeedsThatAreNotTaken(t *testing.T) {
	var many strings.Builder
	many.WriteString(scores)
	for i := range 20 {
		fmt.Fprintf(&many, "CVE-2021-%d,0.1,0.1\n", 1000+i)
	}
	for name, test := range map[string]struct{ file, text, problem string }{
		"no date":   {"epss.csv", "cve,epss,percentile\nCVE-2020-1111,0.1,0.2\n", "date of its scores"},
		"bad date":  {"epss.csv", strings.Replace(scores, "2026-11-19", "yesterday", 1), "cannot be read"},
		"no column": {"epss.csv", strings.Replace(scores, "percentile", "rank", 1), "percentile"},
		"no score":  {"epss.csv", strings.Join(strings.SplitAfter(scores, "\n")[:2], ""), "no score"},
		"half":      {"epss.csv.gz", gzipped(t, scores)[:40], "decompressed"},
		"other":     {"epss.csv", "a,b,c\n", "neither"},
		"cut": {"epss.csv", strings.Replace(scores, "11-19", "11-21", 1), "has 2 entries where 22 " +
			"were known"},
		"count":      {"kev.json", strings.Replace(catalogue, `"count":2`, `"count":3`, 1), "declares 3"},
		"no release": {"kev.json", strings.Replace(catalogue, "dateReleased", "x", 1), "release date"},
		"no entry": {"kev.json", `{"catalogVersion":"1","dateReleased":"2026-11-18","vulnerabilities":[]}`,
			"no entry"},
		"empty table": {"kev.csv", "cveID,dateAdded\n", "no entry"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "file")
			rebuild(t, out, "", map[string]string{"B.json": knownAs("GHSA-b", "CVE-2020-2222"), "e.csv": many.String(),
				"k.json": catalogue})
			report := rebuild(t, out, out, map[string]string{test.file: test.text})
			if len(report.Malformed) != 1 || report.Malformed[0].File != test.file ||
				!strings.Contains(report.Malformed[0].Problem, test.problem) {
				t.Errorf("got %+v, want %q", report.Malformed, test.problem)
			}
			if len(report.Unreadable) != 0 {
				t.Errorf("a feed counts as record: %v", report.Unreadable)
			}
			if score, exploited := exploitation(t, open(t, out), "ghsa-b"); score == nil || exploited == nil {
				t.Errorf("what was known is gone: %v, %v", score, exploited)
			}
		})
	}
	// A table in a folder that is not about flaws is nobody's mistake.
	_, report := build(t, map[string]string{"A.json": knownAs("GHSA-a", "CVE-2020-1111"),
		"cities.csv": "name,people\n"})
	if len(report.Malformed) != 0 || report.Skipped != 1 {
		t.Errorf("got %+v", report)
	}
}

// TestBundle carries a data file to another site, where other records are.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	bundle, out := filepath.Join(dir, "bundle"), filepath.Join(dir, "file")
	newer := strings.Replace(knownAs("GHSA-a", "CVE-2020-1111"), "2024-01-01", "2024-06-01", 1)
	rebuild(t, bundle, "", map[string]string{"A.json": newer, "B.json": knownAs("GHSA-b", "CVE-2020-2222"),
		"e.csv": scores, "k.json": catalogue})
	rebuild(t, out, "", map[string]string{"A.json": knownAs("GHSA-a", "CVE-2020-7777"),
		"C.json": strings.Replace(knownAs("GHSA-c", "CVE-2020-3333"), "2024-01-01", "2024-06-01", 1)})
	report, err := Build(t.Context(), BuildOptions{Sources: []string{bundle}, Previous: out, Output: out, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if report.Read != 2 || report.Added != 1 || report.Updated != 1 || report.Records != 3 || report.Feeds != 2 {
		t.Errorf("got %+v", report)
	}
	f := open(t, out)
	if score, _ := exploitation(t, f, "ghsa-a"); score == nil || score.Score != 0.00043 {
		t.Errorf("the newer record is not in force: %v", score)
	}
	if _, exploited := exploitation(t, f, "ghsa-c"); exploited == nil {
		t.Error("the catalogue did not come")
	}
	// Back again: nothing is lost, and nothing is newer there.
	report, err = Build(t.Context(), BuildOptions{Sources: []string{bundle}, Output: filepath.Join(dir, "alone"),
		Now: now})
	if err != nil || report.Records != 2 || report.EPSS == nil {
		t.Errorf("a bundle alone: %+v, %v", report, err)
	}
	text, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(bundle, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), BuildOptions{Sources: []string{bundle}, Previous: out, Output: out}); !errs.Is(err,
		errs.Invalid) || !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), bundle) {
		t.Errorf("a changed bundle: %v", err)
	}
}

// TestAnotherFormat leaves a data file of another version behind.
func TestAnotherFormat(t *testing.T) {
	out := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(out, []byte(magicName+"1"+strings.Repeat("x", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(out); !errors.Is(err, errOtherFormat) || !strings.Contains(err.Error(), "import") {
		t.Errorf("got %v, want what to do", err)
	}
	if report := rebuild(t, out, out,
		map[string]string{"A.json": knownAs("GHSA-a", "CVE-2020-1111")}); !report.PreviousLost || report.Records != 1 {
		t.Errorf("got %+v", report)
	}
}

func TestSymbols(t *testing.T) {
	f, _ := build(t, map[string]string{
		"A.json": one("GO-1", "Go", "x",
			`"versions":["1.0.0"],"ecosystem_specific":{"imports":[{"path":"x/y","symbols":["Parse","T.Decode"]},{"path":"x/z"}]}`),
		"B.json": one("RUSTSEC-1", "crates.io", "x",
			`"versions":["1.0.0"],"ecosystem_specific":{"affects":{"functions":["x::a::f","x::a::g"]}}`),
		"C.json": one("GO-2", "Go", "odd",
			`"versions":["1.0.0"],"ecosystem_specific":{"imports":{"path":3},"affects":[1]}`),
	})
	for _, test := range []struct {
		ecosystem, name string
		want            []finding.Symbols
	}{
		{"Go", "x", []finding.Symbols{{Path: "x/y", Names: []string{"Parse", "T.Decode"}}, {Path: "x/z"}}},
		{"crates.io", "x", []finding.Symbols{{Path: "x::a", Names: []string{"f", "g"}}}},
		{"Go", "odd", nil},
	} {
		found, err := f.Match(t.Context(), test.ecosystem, test.name, "1.0.0")
		if err != nil || len(found) != 1 {
			t.Fatalf("got %v, %v", ids(found), err)
		}
		if diff := cmp.Diff(test.want, found[0].Symbols); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.ecosystem, test.name, diff)
		}
	}
}

// TestUpgradeAll asks for the upgrade that clears one flaw and for the one that
// clears all, those of later versions included.
func TestUpgradeAll(t *testing.T) {
	ranges := func(events string) string { return `"ranges":[{"type":"SEMVER","events":[` + events + `]}]` }
	f, _ := build(t, map[string]string{
		"1.json": one("X-1", "npm", "x", ranges(`{"introduced":"0"},{"fixed":"1.2.0"}`)),
		"2.json": one("X-2", "npm", "x", ranges(`{"introduced":"0"},{"fixed":"1.5.0"}`)),
		"3.json": one("X-3", "npm", "x", ranges(`{"introduced":"1.4.0"},{"fixed":"2.0.1"}`)),
		"4.json": one("X-4", "npm", "lost", ranges(`{"introduced":"0"},{"fixed":"1.5.0"}`)),
		"5.json": one("X-5", "npm", "lost", ranges(`{"introduced":"0"}`)),
	})
	type upgrade struct{ one, all string }
	for name, want := range map[string]map[string]upgrade{
		"x": {"X-1": {"1.2.0", "2.0.1"}, "X-2": {"1.5.0", "2.0.1"}}, "lost": {"X-4": {"1.5.0", ""}, "X-5": {"", ""}},
	} {
		found, err := f.Match(t.Context(), "npm", name, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]upgrade{}
		for _, m := range found {
			got[m.Advisory.ID] = upgrade{m.Upgrade, m.UpgradeAll}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(upgrade{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMaliciousPackages(t *testing.T) {
	f, _ := build(t, map[string]string{
		"MAL-2024-1.json": strings.Replace(one("MAL-2024-1", "npm", "evil", `"versions":["1.0.0"]`), "{",
			`{"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:N/I:N/A:L"}],`, 1),
		"MAL-2024-2.json": strings.Replace(one("MAL-2024-2", "npm", "sorry", `"versions":["1.0.0"]`), "{",
			`{"withdrawn":"2024-02-01T00:00:00Z",`, 1),
	})
	found, err := f.Match(t.Context(), "npm", "evil", "1.0.0")
	if err != nil || len(found) != 1 || !found[0].Advisory.Malicious || found[0].Advisory.Severity != finding.Critical {
		t.Errorf("got %v, %v; want a critical one", found, err)
	}
	if found, err := f.Match(t.Context(), "npm", "sorry", "1.0.0"); err != nil || len(found) != 0 {
		t.Errorf("withdrawn: got %v, %v", ids(found), err)
	}
}

func TestParseCVE(t *testing.T) {
	for _, name := range []string{"CVE-2020-1234", "CVE-1999-0001", "CVE-2026-123456789"} {
		if _, ok := parseCVE(name); !ok {
			t.Errorf("%s is refused", name)
		}
	}
	for _, name := range []string{"", "CVE-", "CVE-2020", "CVE-2020-", "CVE-20-1234", "cve-2020-1234", "CVE-2020-12a4",
		"CVE-2020-1234567890123", "CVE-2020-1234 ", "GHSA-1", "2020-1234", "CVE-2020-123"} {
		if _, ok := parseCVE(name); ok {
			t.Errorf("%q is taken", name)
		}
	}
}

func FuzzFeed(f *testing.F) {
	for _, s := range []string{scores, catalogue, catalogueTable, "cveID\n\"",
		"#model_version:,score_date:\ncve,epss,percentile\n", `{"catalogVersion":{},"vulnerabilities":[1]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) (*feed, error){
			func(b []byte) (*feed, error) { return parseCSV("epss.csv", b) }, parseKEV,
		} {
			got, err := parse(data)
			if err != nil {
				continue
			}
			if got.Date.IsZero() || len(got.entries) == 0 {
				t.Fatalf("an empty feed is taken: %+v", got)
			}
			got.sortEntries()
			table := feedTable(got.encodeTable())
			if !table.isSorted() {
				t.Fatal("the table is not sorted")
			}
			for _, e := range got.entries {
				if back, ok := table.findCVE(e.cve); !ok || back != e {
					t.Fatalf("%v comes back as %v", e, back)
				}
			}
		}
	})
}

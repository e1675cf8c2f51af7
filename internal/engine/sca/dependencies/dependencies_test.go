package dependencies

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/advisory"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

var update = flag.Bool("update", false, "rewrite what is checked in")

// result is what the analyzer said, as lines.
type result struct {
	packages, findings, degraded []string
	rules                        map[string]*finding.Rule
	reported                     []finding.Finding
}

// examine runs the analyzer over a tree.
func examine(t *testing.T, tree fs.FS, advisories scan.Advisories) *result {
	t.Helper()
	r := &result{rules: map[string]*finding.Rule{}}
	p := &scan.ProjectPass{Context: t.Context(), FS: tree, Advisories: advisories, Reporter: scan.Reporter{
		Package: func(p finding.Package) { r.packages = append(r.packages, packageLine(p)) },
		Report: func(rule *finding.Rule, f finding.Finding) {
			r.rules[rule.ID] = rule
			r.reported = append(r.reported, f)
			r.findings = append(r.findings, fmt.Sprintf("%s:%d %s %s", f.Location.Path, f.Location.StartLine,
				f.Severity, f.Message))
		},
		Degrade: func(d scan.Reason) {
			code := d.Code
			if d.Skipped {
				code += " (skipped)"
			}
			path := d.Path + strings.Join(d.Paths, " ")
			r.degraded = append(r.degraded, fmt.Sprintf("%s %s: %s", path, code, d.Message))
		},
	}}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			info, statErr := d.Info()
			p.Files = append(p.Files, scan.File{Path: path, Size: info.Size()})
			return statErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Analyzer.Project(p); err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.degraded)
	return r
}

func packageLine(p finding.Package) string {
	line := fmt.Sprintf("%s:%d %s %s@%s %s", p.Path, p.Line, p.Ecosystem, p.Name, p.Version, p.PURL)
	if p.Scope != "" {
		line += " " + string(p.Scope)
	}
	if p.Dev {
		line += " dev"
	}
	if p.Manifest != nil {
		line += fmt.Sprintf(" asked for in %s:%d", p.Manifest.Path, p.Manifest.Line)
	}
	if len(p.Via) > 0 {
		line += " via " + strings.Join(p.Via, " > ")
	}
	return line
}

// openAdvisories builds a data file from records.
func openAdvisories(t *testing.T, records ...string) *advisory.File {
	t.Helper()
	dir := t.TempDir()
	for i, text := range records {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := advisory.Open(dir)
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

// record is a flaw of a package below a version.
func record(id, ecosystem, name, fixed, rest string) string {
	return fmt.Sprintf(`{"id":%q,"modified":"2024-01-01T00:00:00Z","summary":"A flaw of %s"%s,
		"affected":[{"database_specific":{"severity":"MODERATE"},"package":{"ecosystem":%q,"name":%q},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":%q}]}]}]}`,
		id, name, rest, ecosystem, name, fixed)
}

// flaws are the records that the trees are looked up in.
func flaws(t *testing.T) *advisory.File {
	t.Helper()
	return openAdvisories(t,
		record("CVE-2020-1", "npm", "lodash", "4.17.19", ""), record("CVE-2020-2", "PyPI", "Django", "2.2.5", ""),
		record("CVE-2020-3", "Go", "golang.org/x/text", "0.3.3", ""),
		record("CVE-2020-4", "Maven", "org.apache.logging.log4j:log4j-core", "2.15.0", ""),
		record("CVE-2020-5", "NuGet", "newtonsoft.json", "13.0.1", ""),
		record("CVE-2020-6", "Packagist", "symfony/yaml", "3.4.1", ""),
		record("CVE-2020-7", "RubyGems", "rack", "1.6.11", ""), record("CVE-2020-8", "crates.io", "time", "0.2.23", ""),
		record("CVE-2020-9", "Pub", "http", "0.13.3", ""), record("CVE-2020-10", "Hex", "plug", "1.3.2", ""),
		record("CVE-2020-11", "ConanCenter", "zlib", "1.2.12", ""),
		record("CVE-2020-12", "SwiftURL", "https://github.com/apple/swift-nio.git", "2.13.1", ""),
		record("CVE-2020-13", "CRAN", "commonmark", "1.8", ""), record("CVE-2020-14", "Hackage", "aeson", "2.0.1.0",
			""),
		record("CVE-2020-15", "Julia", "HTTP", "1.10.17", ""),
		record("CVE-2020-16", "GitHub Actions", "actions/checkout", "3.5.0", ""),
		record("CVE-2020-17", "GitHub Actions", "tj-actions/changed-files", "46.0.1", ""),
		record("MAL-2020-1", "npm", "fork", "99", ""),
	)
}

// TestFormats runs the exam of every analyzer over one lock file of each format.
func TestFormats(t *testing.T) {
	advisories := flaws(t)
	scantest.Run(t, Analyzer, func(o *scan.Options) { o.Advisories = advisories })
}

// TestInventory compares the packages of the same files with what is checked in.
func TestInventory(t *testing.T) {
	r := examine(t, os.DirFS("testdata/formats"), flaws(t))
	golden(t, "testdata/formats.packages", strings.Join(r.packages, "\n")+"\n")
}

// TestTrees compares everything that the analyzer says of trees in which
// something is missing or broken with what is checked in.
func TestTrees(t *testing.T) {
	for _, name := range []string{"partial", "unlocked", "malformed", "silent"} {
		t.Run(name, func(t *testing.T) {
			r := examine(t, archive(t, "testdata/"+name+".txtar"), flaws(t))
			golden(t, "testdata/"+name+".said",
				strings.Join(slices.Concat([]string{"# packages"}, r.packages, []string{"", "# findings"}, r.findings,
					[]string{"", "# degraded"}, r.degraded), "\n")+"\n")
		})
	}
}

// golden compares a text with a file; go test -update rewrites the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// archive reads a file that holds files, each behind a line "-- name --".
func archive(t *testing.T, path string) fstest.MapFS {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	var file *fstest.MapFile
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			file = &fstest.MapFile{}
			tree[strings.TrimSuffix(strings.TrimSpace(name), " --")] = file
			continue
		}
		file.Data = append(file.Data, line...)
	}
	return tree
}

// TestEvidence looks at one finding and its rule whole.
func TestEvidence(t *testing.T) {
	advisories := openAdvisories(t, record("GHSA-aaaa-bbbb-cccc", "npm", "lodash", "4.17.19",
		`,"aliases":["CVE-2020-8203"],"details":"Long text","references":[{"type":"WEB","url":"https://example.com/w"},{"type":"ADVISORY","url":"https://example.com/a"}],
		"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:H/A:H"}],"database_specific":{"cwe_ids":["CWE-1321"]}`))
	lock := `{"lockfileVersion":3,"packages":{"":{"dependencies":{"lodash":"4"}},
"node_modules/a/node_modules/lodash":{"version":"4.17.2"},
"node_modules/lodash":{"version":"4.17.15"},
"node_modules/b/node_modules/lodash":{"version":"4.17.21"}}}`
	r := examine(t, fstest.MapFS{"package-lock.json": {Data: []byte(lock)}}, advisories)
	if len(r.reported) != 1 {
		t.Fatalf("got %v, want one finding for both versions", r.findings)
	}
	want := finding.Finding{
		RuleID: "sca/CVE-2020-8203", Severity: finding.High, Language: "javascript",
		Message:  "lodash 4.17.15 (also 4.17.2) is affected by CVE-2020-8203 (fixed in 4.17.19)",
		Location: finding.Location{Path: "package-lock.json", StartLine: 3, EndLine: 3},
		Identity: "CVE-2020-8203 npm lodash",
		Package: &finding.PackageMatch{
			Package: finding.Package{Ecosystem: "npm", Name: "lodash", Version: "4.17.15",
				PURL: "pkg:npm/lodash@4.17.15", Path: "package-lock.json", Line: 3, Scope: finding.Direct},
			Introduced: "0", Fixed: []string{"4.17.19"}, Upgrade: "4.17.19", UpgradeAll: "4.17.19",
			Reach: &finding.Reach{Verdict: finding.UnknownReach, Reason: "there are no sources of the program in the " +
				"language of its packages"},
			Also: []finding.PackageMatch{{
				Package: finding.Package{Ecosystem: "npm", Name: "lodash", Version: "4.17.2",
					PURL: "pkg:npm/lodash@4.17.2", Path: "package-lock.json", Line: 2, Scope: finding.Transitive},
				Introduced: "0", Fixed: []string{"4.17.19"}, Upgrade: "4.17.19", UpgradeAll: "4.17.19",
			}},
		},
	}
	if diff := cmp.Diff(want, r.reported[0]); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
	rule := *r.rules["sca/CVE-2020-8203"]
	if rule.Advisory == nil || rule.Advisory.GHSA != "GHSA-aaaa-bbbb-cccc" {
		t.Errorf("the rule's advisory is %+v", rule.Advisory)
	}
	rule.Advisory = nil
	wantRule := finding.Rule{
		ID: "sca/CVE-2020-8203", Analysis: finding.SCA, Name: "A flaw of lodash", ShortDescription: "A flaw of lodash",
		Description: "Long text", HowToPrevent: "Upgrade lodash to 4.17.19 or later.", CWE: []string{"CWE-1321"},
		OWASP: []string{"A06:2021", "A03:2025"}, ASVS: []string{"V15.2.1"},
		Severity: finding.High, Confidence: finding.HighConfidence, Language: "javascript", Link: "https://example.com/a",
	}
	if diff := cmp.Diff(wantRule, rule); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
}

// TestDemand finds the line of the manifest that has to change.
func TestDemand(t *testing.T) {
	advisories := openAdvisories(t, record("CVE-2020-1", "npm", "lodash", "4.17.19", ""))
	r := examine(t, fstest.MapFS{
		"package.json":      {Data: []byte("{\n\"dependencies\": {\"lodash\": \"^4.17.1\"}\n}")},
		"package-lock.json": {Data: []byte(`{"lockfileVersion":3,"packages":{"":{"dependencies":{"lodash":"^4.17.1"}},"node_modules/lodash":{"version":"4.17.15"}}}`)},
	}, advisories)
	if len(r.reported) != 1 {
		t.Fatalf("got %v, want one finding", r.findings)
	}
	want := &finding.Requirement{Path: "package.json", Line: 2, Text: `"dependencies": {"lodash": "^4.17.1"}`,
		Start: 28,
		End:   35, Syntax: "caret"}
	if diff := cmp.Diff(want, r.reported[0].Package.Requirement); diff != "" {
		t.Errorf("demand (-want +got):\n%s", diff)
	}
}

func TestWithoutAdvisories(t *testing.T) {
	r := examine(t, fstest.MapFS{"requirements.txt": {Data: []byte("Django==2.2.0\n")}}, nil)
	if len(r.packages) != 1 || len(r.degraded) != 1 || !strings.Contains(r.degraded[0], "merlon advisories import") {
		t.Errorf("got packages %v and reasons %v; want one and what to do", r.packages, r.degraded)
	}
}

// TestUndecided gives versions and records that cannot be compared.
func TestUndecided(t *testing.T) {
	advisories := openAdvisories(t,
		record("CVE-2020-1", "RubyGems", "rack", "2.0", ""),
		`{"id":"BAD-1","modified":0,"affected":[{"package":{"ecosystem":"RubyGems","name":"rails"}}]}`, `{"broken":`)
	tree := fstest.MapFS{
		"Gemfile.lock": {Data: []byte("GEM\n  specs:\n    rack (head)\n    rails (4.2.0)\n\nDEPENDENCIES\n  " +
			"rails\n")},
		"requirements.txt": {Data: []byte("Django==2.2.0\n")},
	}
	r := examine(t, tree, advisories)
	want := []string{
		" unavailable: 1 record of the vulnerability data could not be read at the import (merlon advisories status " +
			"names them)",
		`Gemfile.lock undecided: it could not be decided whether these are affected: rack head: "head" is not a version (needed to decide CVE-2020-1), ` +
			`rails 4.2.0: the record cannot be read: Time.UnmarshalJSON: input is not a JSON string (needed to decide BAD-1)`,
		"requirements.txt no-data (skipped): there is no vulnerability data for PyPI: 1 package of 1 file not looked up",
	}
	if diff := cmp.Diff(want, r.degraded); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestTooLarge(t *testing.T) {
	r := examine(t, fstest.MapFS{"package-lock.json": {Data: make([]byte, 32<<20+1)}},
		openAdvisories(t, record("X-1", "npm", "x", "1", "")))
	if want := []string{"package-lock.json too-large: is larger than 32 MiB"}; !slices.Equal(r.degraded, want) {
		t.Errorf("got %v, want %v", r.degraded, want)
	}
}

// FuzzInventory gives hostile files to every reader: none may end the program.
func FuzzInventory(f *testing.F) {
	names := []string{
		"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "go.mod", "requirements.txt", "Pipfile.lock",
		"poetry.lock", "pdm.lock", "uv.lock",
		"pom.xml", "gradle.lockfile", "packages.lock.json", "packages.config", "x.csproj", "paket.lock",
		"composer.lock", "Gemfile.lock", "Cargo.lock",
		"pubspec.lock", "mix.lock", "conan.lock", "Package.resolved", "Podfile.lock", "renv.lock",
		"cabal.project.freeze", "Manifest.toml",
		"package.json", "pyproject.toml", "Cargo.toml", "pubspec.yaml", "build.gradle", "deno.lock",
		"rebar.lock", "mix.exs", "rebar.config", "Podfile", "Package.swift", "conanfile.py", "build.sbt", "deps.edn",
		"project.clj", "libman.json", "x.nuspec",
		"x.vbproj", "Directory.Packages.props", "gradle/libs.versions.toml", "buildscript-gradle.lockfile",
		".github/workflows/a.yml", "action.yml", "setup.cfg",
		"a.dist-info/METADATA", "Gemfile", "x.gemspec", "composer.json", "Pipfile", "pylock.toml", "setup.py",
	}
	f.Add(uint8(0), []byte(`{"lockfileVersion":1,"dependencies":{"x":{"version":"npm:y"}}}`))
	f.Add(uint8(1), []byte("# yarn lockfile v1\n\nlodash@^4:\n  version \"4.0.0\"\n"))
	f.Add(uint8(5), []byte("Django==2.2.0\n-r requirements.txt\n"))
	f.Add(uint8(10), []byte("<project><dependencies><dependency><groupId>g</groupId></dependency></dependencies></project>"))
	f.Add(uint8(17), []byte("GEM\n  specs:\n    rack (1.0)\n"))
	f.Add(uint8(28), []byte("[project]\ndependencies = [\n \"a==1\",\n]\n"))
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		name := names[int(which)%len(names)]
		examine(t, fstest.MapFS{name: {Data: content}}, nil)
	})
}

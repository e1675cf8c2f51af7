package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"merlon/test/table"
)

// This file compares the inventory of packages with that of other scanners, over
// public repositories of different ecosystems. What there is, is what any of them
// found, without what is no package: parts of the repository itself, and the few
// entries that are explained one by one. A version that a file only asks for, and
// does not fix, counts as found when the package is listed without one.

// pkg is a package, with its name and version as OSV compares them.
// Version is never empty here: entries without one are compared by name only.
type pkg struct{ Ecosystem, Name, Version string }

// A packageCase is one package of one repository, with who found it.
// Found has the names of the scanners, sorted.
type packageCase struct {
	Repository string   `json:"repository"`
	Package    pkg      `json:"package"`
	Found      []string `json:"found"`
	Not        string   `json:"not,omitempty"` // why it is no package
}

// An explained entry of another scanner is no package of the repository.
// repository is the folder of the checkout, name the package as the other scanner reports it, why
// the reason, as the end of a sentence that begins with the package.
type explained struct{ repository, name, why string }

// explanations are the known differences between the inventories, each with its reason. A
// difference without one fails the measure.
// To add one, open the file of the repository that the other scanner names as evidence, and state
// what it shows there.
var explanations = []explained{
	{"livebook", "eini", "is the application's name; the package that the lock file names is eini_beam"},
	{"core", "actions/checkout", "has the version of the action two lines above it"},
	{"core", "pnpm/action-setup", "has the version of the action two lines above it"},
	{"core", "actions-cool/maintain-one-comment-backup", "has a comment that speaks of another version: backup " +
		"for v3.0.0"},
	{"openmrs-core", "com.sun:tools", "stands in a profile that is not active by default"},
	{"openmrs-core", "org.codehaus.sonar-plugins.java:sonar-jacoco-listeners", "stands in a profile that is not " +
		"active by default"},
	{"poetry", "pendulum", "is a source folder, installed in place"},
	{"poetry", "bender", "is a source folder, installed in place"},
}

// measurePackages compares the inventories of all repositories.
func measurePackages(ctx context.Context, b *bench) ([]table.Row, error) {
	root := filepath.Join(b.corpora, "repos")
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var rows []table.Row
	var cases []packageCase
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		got, doubtful, err := b.collectInventories(ctx, filepath.Join(root, e.Name()))
		if err != nil {
			return rows, fmt.Errorf("%s: %w", e.Name(), err)
		}
		cases = append(cases, got...)
		rows = append(rows, packageRow(e.Name(), got, doubtful))
	}
	return rows, writeCases(b, "packages", cases)
}

// packageRow sums one repository up.
// Met needs the recall of the better of the two scanners, and no doubtful line.
func packageRow(name string, cases []packageCase, doubtful []string) table.Row {
	found, total := map[string]int{}, 0
	for _, c := range cases {
		if c.Not != "" {
			continue
		}
		total++
		for _, scanner := range c.Found {
			found[scanner]++
		}
	}
	if total == 0 {
		return table.Row{Measure: "packages of " + name, Measured: "none"}
	}
	share := func(scanner string) float64 { return float64(found[scanner]) / float64(total) }
	// An invented package is worse than a missing one: its vulnerabilities are false positives.
	met := found["merlon"] >= max(found["osv-scanner"], found["syft"]) && len(doubtful) == 0
	return table.Row{
		Measure: "packages of " + name, Floor: "recall of the better scanner; none invented",
		Measured: fmt.Sprintf("%s of %d; %d invented", table.Percent(share("merlon")), total, len(doubtful)),
		Met:      table.Verdict(met),
		Note: fmt.Sprintf("osv-scanner %s, syft %s %s", table.Percent(share("osv-scanner")),
			table.Percent(share("syft")), strings.Join(doubtful, " ")),
	}
}

// collectInventories runs the scanners on one repository and returns the union of what
// they found, and those of merlon's packages whose line does not hold their name.
func (b *bench) collectInventories(ctx context.Context, dir string) ([]packageCase, []string, error) {
	r, _, err := b.scanTarget(ctx, dir, "--analyses", "sca")
	if err != nil {
		return nil, nil, err
	}
	// asked are packages whose version the manifest leaves open, such as "^1.2": they are listed
	// without one.
	ours, asked := map[pkg]bool{}, map[pkg]bool{}
	for _, p := range r.Packages {
		if p.Ecosystem == "Docker" {
			continue // the other scanners list no images of deployment files
		}
		n := normalizePackage(p.Ecosystem, p.Name, p.Version)
		if p.Version == "" {
			asked[n] = true
			continue
		}
		ours[n] = true
	}
	osv, err := b.osvPackages(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	syft, err := b.syftPackages(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	// Names of the repository's own modules, by ecosystem: a module is no dependency of itself.
	own, err := ownParts(dir)
	if err != nil {
		return nil, nil, err
	}
	all := maps.Clone(ours)
	maps.Copy(all, osv)
	maps.Copy(all, syft)
	repository := filepath.Base(dir)
	var cases []packageCase
	for p := range all {
		c := packageCase{Repository: repository, Package: p}
		// A package without a version matches every version of that name.
		if ours[p] || asked[pkg{p.Ecosystem, p.Name, ""}] {
			c.Found = append(c.Found, "merlon")
		}
		for scanner, list := range map[string]map[pkg]bool{"osv-scanner": osv, "syft": syft} {
			if list[p] {
				c.Found = append(c.Found, scanner)
			}
		}
		slices.Sort(c.Found)
		// What we report ourselves is never explained away.
		if !ours[p] {
			c.Not = notAPackage(repository, p, own)
		}
		cases = append(cases, c)
	}
	slices.SortFunc(cases, func(a, b packageCase) int {
		return cmp.Or(cmp.Compare(a.Package.Ecosystem, b.Package.Ecosystem),
			cmp.Compare(a.Package.Name, b.Package.Name), cmp.Compare(a.Package.Version, b.Package.Version))
	})
	return cases, doubtfulLines(dir, r), nil
}

// notAPackage says why an entry of another scanner is none, or "".
func notAPackage(repository string, p pkg, own map[string]bool) string {
	for _, e := range explanations {
		if e.repository == repository && e.name == p.Name {
			return e.why
		}
	}
	switch {
	case own[p.Ecosystem+" "+p.Name]:
		return "is a part of the repository"
	// Yarn writes "workspace:^" and "0.0.0-use.local" for packages of the same repository.
	case strings.HasPrefix(p.Version, "workspace:"), p.Version == "0.0.0-use.local":
		return "is a workspace"
	}
	return ""
}

// doubtfulLines returns the packages whose line does not hold the last part of their
// name. A version catalog of Gradle gives libraries other names, and of a component
// of a bill of materials the line is that where it begins.
// It finds invented packages without labels: the text of the line has to contain the name.
func doubtfulLines(dir string, r *report) []string {
	lines := map[string][]string{}
	var out []string
	for _, p := range r.Packages {
		// stdlib is the standard library of Go, whose line is the version of Go.
		if strings.HasSuffix(p.Path, ".gradle") || strings.HasSuffix(p.Path, ".gradle.kts") ||
			strings.HasSuffix(p.Path, ".cdx.json") || p.Name == "stdlib" {
			continue
		}
		text, known := lines[p.Path]
		if !known {
			text = readLines(filepath.Join(dir, filepath.FromSlash(p.Path)))
			lines[p.Path] = text
		}
		// The last part of "group:artifact" or "@scope/name": manifests often write the parts
		// apart.
		name := strings.ToLower(p.Name[strings.LastIndexAny(p.Name, "/:")+1:])
		if p.Line < 1 || p.Line > len(text) ||
			// Underscores, dots and hyphens are equal, as in names of Python.
			!strings.Contains(separators.ReplaceAllString(strings.ToLower(text[p.Line-1]), "-"),
				separators.ReplaceAllString(name, "-")) {
			out = append(out, fmt.Sprintf("%s:%d %s", p.Path, p.Line, p.Name))
		}
	}
	return out
}

// readLines returns the lines of a file; none when it cannot be read.
func readLines(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil // then every package of it is doubtful
	}
	defer func() { _ = f.Close() }() // it was only read from
	var out []string
	s := bufio.NewScanner(f)
	// A lock file may be one line of megabytes.
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		out = append(out, s.Text())
	}
	return out
}

// osvPackages runs osv-scanner.
func (b *bench) osvPackages(ctx context.Context, dir string) (map[pkg]bool, error) {
	// --offline, since only the inventory is compared; --all-packages lists those without
	// vulnerabilities too.
	out, err := b.runPeer(ctx, "osv-scanner", "scan", "source", "-r", "--offline", "--all-packages", "--format", "json",
		dir)
	if err != nil {
		return nil, err
	}
	found := map[pkg]bool{}
	if len(out.Stdout) == 0 {
		return found, nil // it says so when it finds no package
	}
	var r struct {
		Results []struct {
			Packages []struct {
				Package struct{ Name, Version, Ecosystem string }
			}
		}
	}
	if err := json.Unmarshal(out.Stdout, &r); err != nil {
		return nil, fmt.Errorf("decode the report of osv-scanner: %w", err)
	}
	for _, result := range r.Results {
		for _, p := range result.Packages {
			if p.Package.Version != "" && p.Package.Ecosystem != "" {
				found[normalizePackage(p.Package.Ecosystem, p.Package.Name, p.Package.Version)] = true
			}
		}
	}
	return found, nil
}

// syftPackages runs syft. A package without a package URL, or of an archive inside
// of the repository, is not compared.
// PURL is a package URL, FoundBy the cataloger of Syft.
func (b *bench) syftPackages(ctx context.Context, dir string) (map[pkg]bool, error) {
	out, err := b.runPeer(ctx, "syft", "scan", "dir:"+dir, "-o", "json", "-q")
	if err != nil {
		return nil, err
	}
	var r struct {
		Artifacts []struct{ Version, PURL, FoundBy string }
	}
	if err := json.Unmarshal(out.Stdout, &r); err != nil {
		return nil, fmt.Errorf("decode the report of syft: %w", err)
	}
	found := map[pkg]bool{}
	for _, a := range r.Artifacts {
		// Packages inside of jar files are part of a dependency and not of the manifest.
		if p, ok := fromPURL(a.PURL); ok && a.Version != "" && a.Version != "UNKNOWN" &&
			a.FoundBy != "java-archive-cataloger" {
			found[p] = true
		}
	}
	return found, nil
}

// purlEcosystems maps types of package URLs to OSV ecosystems.
var purlEcosystems = map[string]string{
	"npm": "npm", "pypi": "PyPI", "maven": "Maven", "golang": "Go", "nuget": "NuGet", "composer": "Packagist",
	"gem":   "RubyGems",
	"cargo": "crates.io", "pub": "Pub", "hex": "Hex", "conan": "ConanCenter", "swift": "SwiftURL",
	"cocoapods": "CocoaPods", "github": "GitHub Actions",
}

// fromPURL reads a package URL; false for an ecosystem without records.
func fromPURL(text string) (pkg, bool) {
	// Qualifiers ("?arch=…") and the subpath ("#…") do not name the package.
	text, _, _ = strings.Cut(text, "?")
	text, _, _ = strings.Cut(text, "#")
	kind, rest, ok := strings.Cut(strings.TrimPrefix(text, "pkg:"), "/")
	ecosystem := purlEcosystems[kind]
	// The last @ is before the version: a scope of npm begins with one, encoded or not.
	at := strings.LastIndexByte(rest, '@')
	if !ok || ecosystem == "" || at < 0 {
		return pkg{}, false
	}
	name, err := url.PathUnescape(rest[:at])
	version, err2 := url.PathUnescape(rest[at+1:])
	if err != nil || err2 != nil {
		return pkg{}, false
	}
	// The group and the artifact of Maven are separate segments in a package URL.
	if ecosystem == "Maven" {
		name = strings.ReplaceAll(name, "/", ":")
	}
	return normalizePackage(ecosystem, name, version), true
}

// separators are the characters that names of Python packages treat as equal (PEP 503).
var separators = regexp.MustCompile(`[-_.]+`)

// normalizePackage returns the package as OSV compares it: names without what their
// ecosystem ignores, versions without the platform of a gem or a leading v, a pod
// without its part.
func normalizePackage(ecosystem, name, version string) pkg {
	switch ecosystem {
	case "PyPI":
		name = strings.ToLower(separators.ReplaceAllString(name, "-"))
	case "NuGet", "Packagist", "SwiftURL", "GitHub Actions":
		name = strings.ToLower(name)
	case "CocoaPods":
		// "Firebase/Auth" is a subspec of the pod Firebase, which is released as one.
		name, _, _ = strings.Cut(name, "/")
	case "RubyGems":
		// "1.15.4-x86_64-linux" is the build of a gem for a platform.
		version, _, _ = strings.Cut(version, "-")
	}
	switch ecosystem {
	case "Go", "Packagist", "GitHub Actions":
		version = strings.TrimPrefix(version, "v")
	case "NuGet":
		version = strings.ToLower(version)
	}
	return pkg{ecosystem, name, version}
}

// makers match where a manifest says which package it makes, or that a package is a
// place in the file system or a part of a kit.
// To add one: the name of the file as a pattern, the ecosystem, and an expression whose first
// group is the name.
var makers = []struct {
	file      string // pattern of the name
	ecosystem string
	names     *regexp.Regexp
}{
	{"package.json", "npm", regexp.MustCompile(`(?m)^\s*"name"\s*:\s*"([^"]+)"`)},
	{"package-lock.json", "npm", regexp.MustCompile(`\A\s*\{\s*"name"\s*:\s*"([^"]+)"`)},
	{"Cargo.toml", "crates.io", regexp.MustCompile(`(?m)^\[package\]\s*(?:[^\[]*\n)?name\s*=\s*"([^"]+)"`)},
	{"pyproject.toml", "PyPI", regexp.MustCompile(`(?m)^name\s*=\s*"([^"]+)"`)},
	{"PKG-INFO", "PyPI", regexp.MustCompile(`(?m)\A(?:.*\n)?(?:.*\n)?Name: (\S+)`)},
	{"poetry.lock", "PyPI", regexp.MustCompile(`(?m)^name = "([^"]+)"(?:\n[^\[\n].*)*\n+(?:\[package\.dependencies\](?:\n[^\[\n].*)*\n+)?\[package\.source\]\ntype = "directory"`)},
	{"pubspec.yaml", "Pub", regexp.MustCompile(`(?m)^name:\s*(\S+)`)},
	{"pubspec.lock", "Pub", regexp.MustCompile(`(?m)^  (\w+):\n(?:    .*\n)*?    source: (?:sdk|path)\n`)},
	{"Podfile.lock", "CocoaPods", regexp.MustCompile(`(?m)^  "?([\w+-]+)"?:\n    :path:`)},
	{"*.gemspec", "RubyGems", regexp.MustCompile(`\.name\s*=\s*["']([^"']+)["']`)},
}

// ownParts returns the names of what the repository itself makes.
// The keys are "ecosystem name", with the name normalized.
func ownParts(dir string) (map[string]bool, error) {
	out := map[string]bool{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Name() == "pom.xml" {
			return ownPOM(file, out)
		}
		for _, part := range makers {
			if ok, _ := path.Match(part.file, d.Name()); !ok {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, m := range part.names.FindAllSubmatch(content, -1) {
				out[part.ecosystem+" "+normalizePackage(part.ecosystem, string(m[1]), "").Name] = true
			}
		}
		return nil
	})
	return out, err
}

// ownPOM adds the package that a pom.xml makes.
// A module without a group of its own inherits that of its parent.
func ownPOM(file string, into map[string]bool) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var pom struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Parent   struct {
			Group string `xml:"groupId"`
		} `xml:"parent"`
	}
	if err := xml.Unmarshal(content, &pom); err != nil {
		return nil //nolint:nilerr // a broken one makes no package
	}
	into["Maven "+cmp.Or(pom.Group, pom.Parent.Group)+":"+pom.Artifact] = true
	return nil
}

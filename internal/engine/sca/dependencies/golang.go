package dependencies

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/engine/sca/toolchain"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file judges the standard library of Go. What a go.mod names is the minimum version, while
// the toolchain that builds decides. Whatever it is, it is one decision, a release of Go: the
// vulnerabilities of one toolchain are one finding, and those of the go line are told one by one
// to auditors only.

// goLibraryRule is the rule of vulnerable standard libraries.
var goLibraryRule = &finding.Rule{
	ID: "sca/go-standard-library", Analysis: finding.SCA, Name: "Go standard library with known vulnerabilities",
	ShortDescription: "The Go release that builds the program, or that go.mod allows, has known vulnerabilities.",
	Description: "The standard library is part of every Go program. Its vulnerabilities are fixed by building with a " +
		"later patch release of Go, without any change of the code. The toolchain that builds decides: the " +
		"image of a " +
		"Dockerfile, the version that a workflow or a version manager sets up, or the `toolchain` line of `go.mod`. " +
		"The `go` line alone is a minimum, which allows a vulnerable release.",
	HowToPrevent: "Name the current patch release where the program is built (`FROM golang:1.26.6`, `go-version: " +
		"stable`), and raise the minimum:\n\n```\ngo get go@latest toolchain@latest\n```",
	CWE: []string{"CWE-1395"}, OWASP: []string{"A06:2021", "A03:2025"}, ASVS: []string{"V15.2.1"},
	Severity: finding.High, Confidence: finding.HighConfidence, Language: "go",
	Link: "https://go.dev/doc/devel/release",
}

// A goLibrary is the standard library of one toolchain.
type goLibrary struct {
	pkg     finding.Package // with the version and the place of the toolchain
	source  string          // for people; "" for the go line of a go.mod
	modules []string        // the go.mod files that are built with it
	matches []match
}

// hiddenPoints lowers what is told as one finding below every severity that is shown by default.
const hiddenPoints = -4

// judgeStandardLibraries looks up the standard libraries of the toolchains that build the
// modules, and marks the matches of go.mod files as told with them.
func judgeStandardLibraries(p *scan.ProjectPass, matches []match) ([]goLibrary, error) {
	var out []goLibrary
	var builds []toolchain.Build
	found := false
	seen := map[string]bool{}
	for i := range matches {
		m := &matches[i]
		if m.pkg.Ecosystem != "Go" || m.pkg.Name != "stdlib" || path.Base(m.pkg.Path) != "go.mod" {
			continue
		}
		m.terms = append(m.terms, finding.SeverityTerm{Points: hiddenPoints, Reason: "one finding for the Go release"})
		if seen[m.pkg.Path] {
			continue
		}
		seen[m.pkg.Path] = true
		if !found {
			builds, found = findBuilds(p), true
		}
		library, needed := libraryOf(p.FS, m.pkg, builds)
		if !needed {
			continue
		}
		at := slices.IndexFunc(out, func(o goLibrary) bool {
			return o.pkg.Path == library.pkg.Path && o.pkg.Line == library.pkg.Line &&
				o.pkg.Version == library.pkg.Version
		})
		if at >= 0 {
			out[at].modules = append(out[at].modules, library.modules...)
			continue
		}
		list, err := p.Advisories.Match(p.Context, "Go", "stdlib", library.pkg.Version)
		if err != nil && p.Context.Err() != nil {
			return nil, p.Context.Err()
		}
		for _, one := range list {
			library.matches = append(library.matches, match{AdvisoryMatch: one, pkg: library.pkg})
		}
		if len(library.matches) > 0 {
			out = append(out, library)
		}
	}
	return out, nil
}

// findBuilds finds what builds the tree.
func findBuilds(p *scan.ProjectPass) []toolchain.Build {
	var names []string
	for _, f := range p.Files {
		if f.Size <= maxDemandFile {
			names = append(names, f.Path)
		}
	}
	return toolchain.Find(toolchain.Tree{Files: names, Read: func(file string) []byte {
		content, err := fs.ReadFile(p.FS, file)
		if err != nil {
			return nil // the inventory says so of a file that it needs
		}
		return content
	}})
}

// libraryOf returns the standard library that a module is built with; false when it is the
// newest of all.
func libraryOf(tree fs.FS, pkg finding.Package, builds []toolchain.Build) (goLibrary, bool) {
	out := goLibrary{pkg: pkg, modules: []string{pkg.Path}}
	if b := toolchain.For(pkg.Path, builds); b != nil {
		newest := b.Newest()
		if newest == "" {
			return out, false
		}
		// An older toolchain fetches the release that go.mod names, or fails.
		if semver.Compare("v"+newest, "v"+pkg.Version) >= 0 {
			out.pkg.Path, out.pkg.Line, out.pkg.Version, out.source = b.Path, b.Line, newest, b.Source
			if b.Floating {
				out.source += " (the newest Go " + b.Version + ")"
			}
			return out, true
		}
	}
	if content, err := fs.ReadFile(tree, pkg.Path); err == nil {
		if f, err := modfile.Parse(pkg.Path, content, nil); err == nil && f.Toolchain != nil {
			out.source = "the toolchain line"
		}
	}
	return out, true
}

// reportStandardLibraries reports each library with known vulnerabilities as one finding.
func reportStandardLibraries(p *scan.ProjectPass, libraries []goLibrary) {
	for i := range libraries {
		p.Report(goLibraryRule, libraries[i].toFinding())
	}
}

// toFinding describes a library. One that is only allowed is low: nothing says that anybody
// builds with it.
func (l *goLibrary) toFinding() finding.Finding {
	slices.Sort(l.modules)
	worst, upgrade, called := finding.Low, "", 0
	for i := range l.matches {
		m := &l.matches[i]
		upgrade = cmp.Or(upgrade, m.UpgradeAll)
		reachable := m.reach != nil && m.reach.Verdict == finding.Reachable
		if reachable {
			called++
		}
		// Of what no call reaches nothing is known but that it is linked: that is maintenance.
		severity := m.Advisory.Severity
		if !reachable && severity.Rank() > finding.Medium.Rank() {
			severity = finding.Medium
		}
		if severity.Rank() > worst.Rank() {
			worst = severity
		}
	}
	count := "1 known vulnerability"
	if n := len(l.matches); n > 1 {
		count = fmt.Sprintf("%d known vulnerabilities", n)
	}
	if called > 0 {
		count += fmt.Sprintf(" (%d called by the program)", called)
	}
	version, remedy := strings.Replace(l.pkg.Version, ".9999", "", 1), ""
	if upgrade != "" {
		remedy = "; build with Go " + upgrade + " or later"
	}
	message := fmt.Sprintf("The minimum Go version %s allows a standard library with %s%s", version, count, remedy)
	if l.source != "" {
		message = fmt.Sprintf("Go %s, by %s, builds %s with %s in the standard library%s", version, l.source,
			inventory.List(l.modules), count, remedy)
	} else {
		worst = finding.Low
	}
	return finding.Finding{
		RuleID: goLibraryRule.ID, Severity: worst, Message: message, Language: "go",
		Location: finding.Location{Path: l.pkg.Path, StartLine: l.pkg.Line, EndLine: l.pkg.Line},
		Package: &finding.PackageMatch{Package: l.pkg, Fixed: nonEmpty(upgrade), Upgrade: upgrade,
			UpgradeAll: upgrade},
		Identity: goLibraryRule.ID + " " + l.pkg.Path,
	}
}

// nonEmpty returns a list of the text, empty without one.
func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

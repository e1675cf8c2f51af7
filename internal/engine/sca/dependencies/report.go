package dependencies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

// This file looks packages up and reports what was found.

// A match is an advisory that affects a package in a file, in one version or
// several.
type match struct {
	scan.AdvisoryMatch
	pkg  finding.Package        // the first version
	more []finding.PackageMatch // further affected versions of it in the file

	newest time.Time            // the date of the vulnerability data
	reach  *finding.Reach       // nil when it was not looked at
	demand *finding.Requirement // nil when it is not known

	terms []finding.SeverityTerm // what of the place makes it more or less severe
}

// lookUp returns the matches of all packages, by file, package and advisory.
func lookUp(p *scan.ProjectPass, packages []finding.Package) ([]match, error) {
	var out []match
	newest := p.Advisories.Data().Newest
	unknown := gaps{noData: map[string]*ecosystemGap{}, undecided: map[string][]string{}}
	for _, pkg := range packages {
		if err := p.Context.Err(); err != nil {
			return nil, err
		}
		if pkg.Ecosystem == inventory.ImageEcosystem {
			continue // no records are about images
		}
		if !p.Advisories.Knows(pkg.Ecosystem) {
			unknown.addNoData(pkg)
			continue
		}
		if pkg.Version == "" {
			continue // the manifest was degraded for it
		}
		found, err := p.Advisories.Match(p.Context, pkg.Ecosystem, pkg.Name, pkg.Version)
		if err != nil {
			if p.Context.Err() != nil {
				return nil, p.Context.Err()
			}
			unknown.addUndecided(pkg, err)
		}
		for _, m := range found {
			out = addMatch(out, match{AdvisoryMatch: m, pkg: pkg, newest: newest})
		}
	}
	unknown.reportGaps(p)
	return out, nil
}

// addMatch adds a match, or a further version to one that is there. Packages
// come sorted, so the one that it joins is among the last.
func addMatch(list []match, m match) []match {
	for i := len(list) - 1; i >= 0; i-- {
		o := &list[i]
		if o.pkg.Path != m.pkg.Path || o.pkg.Ecosystem != m.pkg.Ecosystem || o.pkg.Name != m.pkg.Name {
			break
		}
		if o.Advisory.ID == m.Advisory.ID {
			o.more = append(o.more, m.toPackageMatch())
			o.pkg.Dev = o.pkg.Dev && m.pkg.Dev
			return list
		}
	}
	return append(list, m)
}

// toPackageMatch describes the package and what fixes the vulnerability.
func (m *match) toPackageMatch() finding.PackageMatch {
	return finding.PackageMatch{Package: m.pkg, Introduced: m.Introduced, Fixed: m.Fixed, Upgrade: m.Upgrade,
		UpgradeAll: m.UpgradeAll, Reach: m.reach, Requirement: m.demand}
}

// maxVersions bounds the further versions that a finding describes.
// A finding with more versions would not be readable.
const maxVersions = 50

// gaps collects packages that were not decided: one reason for each ecosystem without data
// and for each file with versions that cannot be compared, not one for each package.
type gaps struct {
	noData    map[string]*ecosystemGap // by ecosystem
	undecided map[string][]string      // by file
}

// An ecosystemGap is what was not looked up because the data has nothing of an ecosystem.
type ecosystemGap struct {
	names map[string]bool // of packages
	paths map[string]bool // of the files that name them
}

// maxGapPaths bounds the files that a reason names. With more the reason is about all files.
const maxGapPaths = 500

// addNoData notes a package of an ecosystem without data.
func (g *gaps) addNoData(pkg finding.Package) {
	e := g.noData[pkg.Ecosystem]
	if e == nil {
		e = &ecosystemGap{names: map[string]bool{}, paths: map[string]bool{}}
		g.noData[pkg.Ecosystem] = e
	}
	e.names[pkg.Name], e.paths[pkg.Path] = true, true
}

// addUndecided notes a package whose version could not be decided, with the cause.
func (g *gaps) addUndecided(pkg finding.Package, cause error) {
	g.undecided[pkg.Path] = append(g.undecided[pkg.Path], pkg.Name+" "+pkg.Version+": "+
		inventory.OneLine(cause.Error()))
}

// reportGaps reports the gaps in order. An ecosystem without data does not degrade the
// analysis: the files were read, and no later scan with the same data can do better.
func (g *gaps) reportGaps(p *scan.ProjectPass) {
	for _, ecosystem := range slices.Sorted(maps.Keys(g.noData)) {
		e := g.noData[ecosystem]
		r := scan.Reason{Code: scan.NoData, Skipped: true, Message: fmt.Sprintf("there is no vulnerability data "+
			"for %s: "+
			"%s of %s not looked up", ecosystem, inventory.Count(len(e.names), "package"),
			inventory.Count(len(e.paths), "file"))}
		if len(e.paths) <= maxGapPaths {
			r.Paths = slices.Sorted(maps.Keys(e.paths))
		}
		p.Degrade(r)
	}
	for _, path := range slices.Sorted(maps.Keys(g.undecided)) {
		p.Degrade(scan.Reason{Code: "undecided", Path: path,
			Message: "it could not be decided whether these are affected: " + inventory.List(g.undecided[path])})
	}
}

// reportMatches reports the matches, each advisory with one rule.
func reportMatches(p *scan.ProjectPass, matches []match) {
	byAdvisory := map[string][]*match{}
	for i := range matches {
		m := &matches[i]
		byAdvisory[m.Advisory.ID] = append(byAdvisory[m.Advisory.ID], m)
	}
	rules := map[string]*finding.Rule{}
	for id, list := range byAdvisory {
		rules[id] = makeRule(list)
	}
	for i := range matches {
		p.Report(rules[matches[i].Advisory.ID], makeFinding(&matches[i]))
	}
}

// makeRule describes an advisory to people. Records of one flaw may differ from
// package to package; the worst speaks.
func makeRule(list []*match) *finding.Rule {
	a := slices.MaxFunc(list, func(x, y *match) int {
		return cmp.Compare(x.Advisory.Severity.Rank(), y.Advisory.Severity.Rank())
	}).Advisory
	r := a.Rule(finding.SCA, "sca/")
	r.HowToPrevent, r.Language = remediationText(list), languageOf[list[0].pkg.Ecosystem]
	return r
}

// remediationText says which upgrade fixes the vulnerability, for each package.
func remediationText(list []*match) string {
	var lines []string
	for _, m := range list {
		line := ""
		switch {
		case m.Advisory.Malicious:
			line = fmt.Sprintf("Remove %s: the package itself is an attack. Treat every machine that installed it as "+
				"compromised, and replace its secrets.", m.pkg.Name)
		case m.Upgrade != "":
			line = fmt.Sprintf("Upgrade %s to %s or later.", m.pkg.Name, m.Upgrade)
		case len(m.Fixed) > 0:
			line = fmt.Sprintf("No later version of %s is known to be fixed; %s are.", m.pkg.Name,
				strings.Join(m.Fixed, ", "))
		default:
			line = fmt.Sprintf("No fixed version of %s is known. Replace it, or make sure that the flawed part is "+
				"not used.", m.pkg.Name)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}

// makeFinding describes one match.
func makeFinding(m *match) finding.Finding {
	a := m.Advisory
	what := m.pkg.Name + " " + m.pkg.Version
	if len(m.more) > 0 {
		versions := make([]string, len(m.more))
		for i := range m.more {
			versions[i] = m.more[i].Package.Version
		}
		what += " (also " + strings.Join(versions, ", ") + ")"
	}
	pkg := m.toPackageMatch()
	pkg.Also = m.more[:min(len(m.more), maxVersions)]
	return finding.Finding{
		RuleID: "sca/" + a.ID, Severity: a.Severity, Confidence: m.confidence(), Message: a.Message(what, m.Upgrade) +
			m.describeDoubt(),
		Language: languageOf[m.pkg.Ecosystem],
		Location: finding.Location{Path: m.pkg.Path, StartLine: m.pkg.Line, EndLine: m.pkg.Line},
		Package:  &pkg,
		Terms:    m.severityTerms(),
		// Neither line nor version: the finding stays the same until the advisory no longer
		// applies.
		Identity: a.ID + " " + m.pkg.Ecosystem + " " + m.pkg.Name,
	}
}

// severityTerms returns the terms of the match. What is told as one finding elsewhere stays below
// it, whatever its use.
func (m *match) severityTerms() []finding.SeverityTerm {
	if len(m.terms) > 0 {
		return m.terms
	}
	return m.contextTerms()
}

// contextTerms returns how the use of the package changes the severity. Nothing lowers a package
// that attacks whoever installs it, or a vulnerability that attackers are known to use.
func (m *match) contextTerms() []finding.SeverityTerm {
	if m.Advisory.Malicious || m.Advisory.KEV != nil {
		return nil
	}
	var out []finding.SeverityTerm
	// A module of tests is for development as a whole.
	if m.pkg.Dev || severity.ContextOf(m.pkg.Path) == severity.Test {
		out = append(out, finding.SeverityTerm{Points: severity.Lowered, Reason: "development dependency"})
	}
	switch {
	case m.isOutdated():
		out = append(out, finding.SeverityTerm{Points: severity.Harmless, Reason: "old record that names no fixed version"})
	case m.Upgrade == "":
		out = append(out, finding.SeverityTerm{Points: severity.Lowered, Reason: "no fixed version"})
	}
	if m.reach == nil {
		return out
	}
	switch {
	case m.reach.TestsOnly && !m.pkg.Dev:
		out = append(out, finding.SeverityTerm{Points: severity.Lowered, Reason: "imported by tests only"})
	case m.reach.Verdict == finding.Reachable:
		out = append(out, finding.SeverityTerm{Points: severity.Raised, Reason: "vulnerable function called"})
	case m.reach.Verdict == finding.NotFound:
		out = append(out, finding.SeverityTerm{Points: severity.Lowered, Reason: "package not imported"})
	case m.reach.Verdict == finding.UnknownReach && m.pkg.Ecosystem == "Go":
		// A module without an import is often only in go.mod for the selection of versions, or for
		// the tests of a dependency.
		out = append(out, finding.SeverityTerm{Points: severity.Lowered,
			Reason: "the program does not import the affected package itself"})
	}
	return out
}

// outdatedAfter is the age, in years, from which a record without an end counts as outdated.
const outdatedAfter = 3

// isOutdated reports whether an old record names neither a fixed nor a last affected version.
// Such records are mostly from before the fix and nobody came back to them.
func (m *match) isOutdated() bool {
	if !m.OpenEnded || m.Advisory.Malicious || m.Advisory.KEV != nil {
		return false
	}
	published, err := time.Parse(time.RFC3339, m.Advisory.Published)
	return err == nil && !m.newest.IsZero() && m.newest.Sub(published) > outdatedAfter*365*24*time.Hour
}

// confidence returns how sure the match is, where that is less than for matches in general.
func (m *match) confidence() finding.Confidence {
	if m.isOutdated() {
		return finding.LowConfidence
	}
	return ""
}

// describeDoubt returns what a reader has to know before acting on the match.
func (m *match) describeDoubt() string {
	switch {
	case m.isOutdated():
		return "; the record of " + m.Advisory.Published[:4] + " names no last affected version, so it may be outdated"
	case m.Advisory.Estimated:
		return ", severity estimated"
	}
	return ""
}

// languageOf is the language whose packages each ecosystem has.
var languageOf = map[string]string{
	"npm": "javascript", "PyPI": "python", "Maven": "java", "Go": "go", "NuGet": "csharp", "Packagist": "php",
	"RubyGems": "ruby", "crates.io": "rust", "Pub": "dart", "Hex": "elixir", "ConanCenter": "cpp", "SwiftURL": "swift",
	"CocoaPods": "swift", "CRAN": "r", "Hackage": "haskell", "Julia": "julia",
}

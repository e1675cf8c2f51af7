package dependencies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file looks packages up and reports what was found.

// A match is an advisory that affects a package in a file, in one version or
// several.
type match struct {
	scan.AdvisoryMatch
	pkg  finding.Package        // the first version
	more []finding.PackageMatch // further affected versions of it in the file

	reach  *finding.Reach       // nil when it was not looked at
	demand *finding.Requirement // nil when it is not known
}

// lookUp returns the matches of all packages, by file, package and advisory.
func lookUp(p *scan.ProjectPass, packages []finding.Package) ([]match, error) {
	var out []match
	unknown := gaps{}
	for _, pkg := range packages {
		if err := p.Context.Err(); err != nil {
			return nil, err
		}
		if !p.Advisories.Knows(pkg.Ecosystem) {
			unknown.addGap(pkg, "no-data", "there is no vulnerability data for "+pkg.Ecosystem)
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
			unknown.addGap(pkg, "undecided", inventory.OneLine(err.Error()))
		}
		for _, m := range found {
			out = addMatch(out, match{AdvisoryMatch: m, pkg: pkg})
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

// gaps collects packages that were not decided: one reason for each file and
// cause, not one for each package.
type gaps map[gap][]string

// A gap is a part of the packages that is not known, and why.
type gap struct{ path, code, cause string }

// addGap notes a package that was not decided, with its cause.
func (g gaps) addGap(pkg finding.Package, code, cause string) {
	k := gap{path: pkg.Path, code: code}
	what := pkg.Name
	if code == "no-data" {
		k.cause = cause
	} else {
		what += " " + pkg.Version + ": " + cause
	}
	g[k] = append(g[k], what)
}

// reportGaps reports the gaps in the order of their files.
func (g gaps) reportGaps(p *scan.ProjectPass) {
	keys := make([]gap, 0, len(g))
	for k := range g {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b gap) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.code, b.code), cmp.Compare(a.cause, b.cause))
	})
	for _, k := range keys {
		message := k.cause + ", so these were not checked: " + inventory.List(g[k])
		if k.code == "undecided" {
			message = "it could not be decided whether these are affected: " + inventory.List(g[k])
		}
		p.Degrade(scan.Reason{Code: k.code, Path: k.path, Message: message})
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
		RuleID: "sca/" + a.ID, Severity: a.Severity, Message: a.Message(what, m.Upgrade),
		Language: languageOf[m.pkg.Ecosystem],
		Location: finding.Location{Path: m.pkg.Path, StartLine: m.pkg.Line, EndLine: m.pkg.Line},
		Package:  &pkg,
		// Neither line nor version: the finding stays the same until the advisory no longer
		// applies.
		Identity: a.ID + " " + m.pkg.Ecosystem + " " + m.pkg.Name,
	}
}

// languageOf is the language whose packages each ecosystem has.
var languageOf = map[string]string{
	"npm": "javascript", "PyPI": "python", "Maven": "java", "Go": "go", "NuGet": "csharp", "Packagist": "php",
	"RubyGems": "ruby", "crates.io": "rust", "Pub": "dart", "Hex": "elixir", "ConanCenter": "cpp", "SwiftURL": "swift",
	"CocoaPods": "swift", "CRAN": "r", "Hackage": "haskell", "Julia": "julia",
}

package image

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

// This file looks the packages up and reports what is known of them.

// packageMatch is an advisory that affects a package.
type packageMatch struct {
	scan.AdvisoryMatch
	imagePackage
	also   []string           // further packages built from the same source
	copies []finding.Location // where the package is installed once more
}

// checkPackages looks every package up and reports the matches.
func checkPackages(p *scan.ImagePass, packages []imagePackage) error {
	if len(packages) == 0 {
		return nil // whatever the data, there is nothing to look up
	}
	if p.Advisories == nil {
		p.Degrade(scan.Reason{Code: "unavailable", Message: "there is no vulnerability data, so no package was " +
			"checked: run merlon advisories import"})
		return nil
	}
	if n := p.Advisories.Data().Unreadable; n > 0 {
		p.Degrade(scan.Reason{Code: "unavailable", Message: inventory.Count(n, "record") + " of the vulnerability " +
			"data could not be read at the import (merlon advisories status names them)"})
	}
	l := advisoryLookup{ImagePass: p, unknown: map[string][]string{}, undecided: map[string][]string{},
		system: map[string]bool{}, seen: map[string]int{}}
	for _, it := range packages {
		if err := contextError(p.Context); err != nil {
			return err
		}
		if err := l.matchPackage(it); err != nil {
			return err
		}
	}
	l.reportGaps()
	l.reportMatches()
	return nil
}

// advisoryLookup gathers matches, and what could not be decided.
type advisoryLookup struct {
	*scan.ImagePass
	matches   []packageMatch
	seen      map[string]int      // index in matches
	unknown   map[string][]string // packages by ecosystem without data
	system    map[string]bool     // of those ecosystems, the ones of operating systems
	undecided map[string][]string // packages by path
}

// matchPackage looks one package up.
func (l *advisoryLookup) matchPackage(it imagePackage) error {
	if it.Ecosystem == "Linux" || it.Version == "" {
		return nil // said already, or the program itself
	}
	if !l.Advisories.Knows(it.Ecosystem) {
		l.unknown[it.Ecosystem] = append(l.unknown[it.Ecosystem], it.Name)
		l.system[it.Ecosystem] = l.system[it.Ecosystem] || it.system != ""
		return nil
	}
	// libssl3 and openssl come from one source and are fixed together: advisories name the source.
	version := cmp.Or(it.SourceVersion, it.Version)
	for _, ecosystem := range queriedEcosystems(it) {
		for _, name := range advisoryNames(it) {
			found, err := l.Advisories.Match(l.Context, ecosystem, name, version)
			if err != nil {
				if stop := contextError(l.Context); stop != nil {
					return stop
				}
				l.undecided[it.Path] = append(l.undecided[it.Path], it.Name+" "+version+": "+
					inventory.OneLine(err.Error()))
			}
			for _, m := range found {
				l.addMatch(m, it, name)
			}
		}
	}
	return nil
}

// queriedEcosystems returns the ecosystems in which the package is looked up: one package
// of Red Hat can be in any of its repositories.
func queriedEcosystems(it imagePackage) []string {
	// The database of rpm does not say from which repository a package was installed.
	if rest, ok := strings.CutSuffix(it.Ecosystem, "::baseos"); ok {
		return []string{it.Ecosystem, rest + "::appstream", rest + "::crb"}
	}
	return []string{it.Ecosystem}
}

// advisoryNames returns the names under which advisories know the package: those of
// Debian, Ubuntu and Alpine speak of source packages, those of the distributions
// with rpm of what is installed, and two with apk of either.
func advisoryNames(it imagePackage) []string {
	source := cmp.Or(it.Source, it.Name)
	if it.system == "apk" && source != it.Name && (it.Ecosystem == "Wolfi" || it.Ecosystem == "Chainguard" ||
		it.Ecosystem == "MinimOS") {
		return []string{source, it.Name}
	}
	return []string{source}
}

// addMatch adds a match, or a further package to that of its source.
func (l *advisoryLookup) addMatch(m scan.AdvisoryMatch, it imagePackage, name string) {
	// The source and its version: all binary packages of it have the same finding.
	key := strings.Join([]string{it.Ecosystem, name, cmp.Or(it.SourceVersion, it.Version), m.Advisory.ID}, "\x00")
	if at, ok := l.seen[key]; ok {
		o := &l.matches[at]
		switch {
		case o.Name != it.Name && !slices.Contains(o.also, it.Name):
			o.also = append(o.also, it.Name)
		case o.Name == it.Name && o.Path != it.Path:
			o.copies = append(o.copies, finding.Location{Path: it.Path, StartLine: it.Line, EndLine: it.Line})
		}
		return
	}
	l.seen[key] = len(l.matches)
	l.matches = append(l.matches, packageMatch{AdvisoryMatch: m, imagePackage: it})
}

// reportGaps says which packages were not decided, and why.
func (l *advisoryLookup) reportGaps() {
	for _, ecosystem := range sortedKeys(l.unknown) {
		// The packages of the operating system are most of an image: without data for them nothing
		// is known of it, which is a coverage gap. A missing language ecosystem is told as in trees.
		l.Degrade(scan.Reason{Code: scan.NoData, Skipped: !l.system[ecosystem], Message: "there is no vulnerability " +
			"data for " + ecosystem + ", so these were not checked: " + inventory.List(l.unknown[ecosystem])})
	}
	for _, path := range sortedKeys(l.undecided) {
		l.Degrade(scan.Reason{Code: "undecided", Path: path, Message: "it could not be decided whether these are " +
			"affected: " + inventory.List(l.undecided[path])})
	}
}

// reportMatches reports the matches, each advisory with one rule.
func (l *advisoryLookup) reportMatches() {
	byAdvisory := map[string][]*packageMatch{}
	for i := range l.matches {
		m := &l.matches[i]
		byAdvisory[m.Advisory.ID] = append(byAdvisory[m.Advisory.ID], m)
	}
	rules := map[string]*finding.Rule{}
	for id, list := range byAdvisory {
		rules[id] = advisoryRule(list)
	}
	for i := range l.matches {
		l.Report(rules[l.matches[i].Advisory.ID], l.matches[i].toFinding())
	}
}

// advisoryRule describes an advisory to people. Records of one flaw may differ from
// package to package; the worst speaks.
func advisoryRule(list []*packageMatch) *finding.Rule {
	a := slices.MaxFunc(list, func(x, y *packageMatch) int {
		return cmp.Compare(x.Advisory.Severity.Rank(), y.Advisory.Severity.Rank())
	}).Advisory
	r := a.Rule(finding.Container, "container/")
	r.HowToPrevent = listRemedies(list)
	return r
}

// listRemedies says what fixes the vulnerability, for each package.
func listRemedies(list []*packageMatch) string {
	var lines []string
	for _, m := range list {
		if line := m.describeRemedy(); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}

// describeRemedy says how the package is fixed: by removal, by an upgrade, or not yet.
func (m *packageMatch) describeRemedy() string {
	where := ""
	if m.Layer != nil && m.Layer.Base {
		where = " It came with the base image: take a newer one, or upgrade the package in a step of your own."
	}
	switch {
	// No upgrade helps: the package was made for the attack.
	case m.Advisory.Malicious:
		return fmt.Sprintf("Remove %s: the package itself is an attack. Treat every machine that ran the image as "+
			"compromised, and replace its secrets.", m.Name)
	case m.Upgrade != "":
		return fmt.Sprintf("Build the image with %s %s or later.%s", m.Name, m.Upgrade, where)
	case len(m.Fixed) > 0:
		return fmt.Sprintf("No later version of %s is known to be fixed; %s are.%s", m.Name,
			strings.Join(m.Fixed, ", "), where)
	}
	return fmt.Sprintf("No fixed version of %s is known. Build the image without it, or make sure that the flawed "+
		"part is not used.", m.Name)
}

// toFinding describes the match.
func (m *packageMatch) toFinding() finding.Finding {
	what := m.Name + " " + m.Version
	if len(m.also) > 0 {
		what += " (also " + inventory.List(m.also) + ")"
	}
	impact, terms := m.weigh()
	return finding.Finding{
		Severity: impact, Terms: terms, Message: m.Advisory.Message(what, m.Upgrade),
		Location: finding.Location{Path: m.Path, StartLine: m.Line, EndLine: m.Line}, Layer: m.Layer, Also: m.copies,
		Package: &finding.PackageMatch{Package: m.Package, Introduced: m.Introduced, Fixed: m.Fixed,
			Upgrade: m.Upgrade},
		Identity: m.Advisory.ID + " " + ecosystemFamily(m.Ecosystem) + " " + cmp.Or(m.Source, m.Name),
	}
}

// weigh returns the impact of the match and what its context changes. A package that is an attack
// or that is known to be exploited is critical. Without a fixed version nobody can act but by
// removing the package, so others come first.
func (m *packageMatch) weigh() (finding.Severity, []finding.SeverityTerm) {
	switch {
	case m.Advisory.Malicious || m.Advisory.KEV != nil:
		return finding.Critical, nil
	case m.Upgrade == "":
		return m.Advisory.Severity, []finding.SeverityTerm{{Points: severity.Lowered, Reason: "no fixed version"}}
	}
	return m.Advisory.Severity, nil
}

// ecosystemFamily cuts the release off an ecosystem: an image that moves to the next
// release keeps the decisions on its findings.
func ecosystemFamily(ecosystem string) string {
	name, _, _ := strings.Cut(ecosystem, ":")
	return name
}

// sortedKeys returns the keys in order.
func sortedKeys(m map[string][]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Package upgrade says which upgrades of packages clear known vulnerabilities, and
// what of a manifest has to change for them. It knows what advisories say and what
// the manifest says: which versions of a package exist, and what those ask for, only
// a registry could tell, and none is asked.
package upgrade

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

// A Level bounds how far an upgrade may go, by its name on the wire.
// The levels are cumulative: minor allows patch steps too.
type Level string

// The levels. Auto takes the smallest step that does the most.
const (
	Patch Level = "patch"
	Minor Level = "minor"
	Major Level = "major"
	Auto  Level = "auto"
)

// Levels lists every level.
var Levels = []Level{Patch, Minor, Major, Auto}

// allowsStep reports whether the level lets a step be taken.
func (l Level) allowsStep(step Step) bool {
	return l == Auto || l == Major || l == Minor && step != MajorStep || l == Patch && step == PatchStep
}

// A VulnerablePackage is a vulnerability in a package that is to be cleared.
// Match has the fixed versions of the advisory and the requirement in the manifest, nil when
// unknown.
type VulnerablePackage struct {
	Advisory  string // its name, for people
	Match     finding.PackageMatch
	Severity  finding.Severity
	Exploited bool // attacks are known (CISA's catalog KEV)
	Malicious bool // the package itself is an attack

	// Note is for people: a row shows that of its most urgent vulnerability.
	Note string
}

// VulnerablePackages returns the needs of a finding: one for each affected version of the package.
// The finding has a package.
func VulnerablePackages(f *finding.Finding, rule *finding.Rule) []VulnerablePackage {
	v := VulnerablePackage{Advisory: rule.ID, Match: *f.Package, Severity: f.Severity}
	if a := rule.Advisory; a != nil {
		v.Advisory, v.Exploited, v.Malicious = a.ID, a.KEV != nil, a.Malicious
	}
	out := []VulnerablePackage{v}
	for _, other := range f.Package.Also {
		if other.VEX == nil { // the finding's is of all versions
			other.VEX = f.Package.VEX
		}
		v.Match = other
		out = append(out, v)
	}
	return out
}

// A Policy says how needs are to be cleared.
type Policy struct {
	Level Level
	// With Single a package may get several targets, of which Edits and Commands take the
	// highest.
	Single bool // each by the smallest upgrade that clears it, instead of all of a package by one
}

// A Candidate is a version that clears a vulnerability.
type Candidate struct {
	Version string
	Step    Step
	// Candidates that the level does not allow are listed too, so that a user can raise the
	// level.
	Allowed bool // by the level
}

// A Fix is how a need is cleared.
type Fix struct {
	Candidates []Candidate // lowest first
	Target     string      // the version to take; empty when there is none, or no way to it is known
	Version    string      // the version that clears it, also where no way to it is known
	Step       Step        // from the present version to the target
	Forced     bool        // the package is brought in by another one; the command overrules that one
	Command    string      // what to run; empty when none is known
	Edit       *Edit       // of the manifest; nil when it is not known, or not needed
	Reason     string      // for people: why there is no target, or what else there is to know
}

// An Edit replaces a line of a manifest.
type Edit struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Before string `json:"before"`
	After  string `json:"after"`

	// demand is the place in the file that Apply changes, target the version to write there.
	demand *finding.Requirement
	target string
}

// Plan returns a fix for each need, in their order.
func Plan(needs []VulnerablePackage, o Policy) []Fix {
	out := make([]Fix, len(needs))
	// One version of a package in one file gets one upgrade for all of its vulnerabilities.
	groups := map[[4]string][]int{}
	for i := range needs {
		p := &needs[i].Match.Package
		key := [4]string{p.Ecosystem, p.Name, p.Version, p.Path}
		groups[key] = append(groups[key], i)
		out[i].Candidates = listCandidates(&needs[i].Match, o.Level)
	}
	for _, group := range groups {
		if o.Single {
			for _, i := range group {
				out[i].setTarget(&needs[i], firstAllowed(out[i].Candidates), o.Level)
			}
			continue
		}
		// The best may miss a vulnerability that has no fix in the same line of versions.
		best := bestForGroup(needs, out, group)
		for _, i := range group {
			target := best // "" when no candidate of any is allowed
			if target != "" && !clearsVersion(&needs[i].Match, target) {
				target = ""
				if c := firstAllowed(out[i].Candidates); c != "" {
					out[i].Reason = best + " clears other vulnerabilities of the package, but not this one, which " +
						c + " does"
				}
			}
			out[i].setTarget(&needs[i], target, o.Level)
		}
	}
	return out
}

// listCandidates lists the versions above the present one that are known to clear the
// vulnerability, lowest first.
func listCandidates(m *finding.PackageMatch, level Level) []Candidate {
	out := []Candidate{}
	for _, v := range append([]string{m.Upgrade, m.UpgradeAll}, m.Fixed...) {
		if v == "" || slices.ContainsFunc(out, func(c Candidate) bool { return c.Version == v }) {
			continue
		}
		// Fixes of older lines are below the present version: a downgrade is no fix.
		if n, ok := compareVersions(m.Package.Ecosystem, v, m.Package.Version); !ok || n <= 0 {
			continue
		}
		step := StepOf(m.Package.Version, v)
		out = append(out, Candidate{Version: v, Step: step, Allowed: level.allowsStep(step)})
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		n, _ := compareVersions(m.Package.Ecosystem, a.Version, b.Version) // both were compared before
		return n
	})
	return out
}

// firstAllowed returns the lowest candidate that the level allows.
func firstAllowed(list []Candidate) string {
	for _, c := range list {
		if c.Allowed {
			return c.Version
		}
	}
	return ""
}

// clearsVersion reports whether a version is known to clear a vulnerability: it is named, or
// lies above a named one of its line of versions, with none above it that would say
// that the flaw came back.
func clearsVersion(m *finding.PackageMatch, version string) bool {
	if version == m.UpgradeAll || version == m.Upgrade || slices.Contains(m.Fixed, version) {
		return true
	}
	below, above := "", ""
	for _, v := range m.Fixed {
		n, ok := compareVersions(m.Package.Ecosystem, v, version)
		if !ok {
			return false
		}
		// The highest fix below the version, and the lowest one above it.
		if n < 0 && (below == "" || lessVersion(m.Package.Ecosystem, below, v)) {
			below = v
		}
		if n > 0 && (above == "" || lessVersion(m.Package.Ecosystem, v, above)) {
			above = v
		}
	}
	// With fixes 1.2.5 and 2.0.3, version 1.3.0 has the first fix; 2.0.1 may not have the second.
	return below != "" && (above == "" || StepOf(below, version) != MajorStep && StepOf(version, above) == MajorStep)
}

// bestForGroup returns the version that clears the most of the group, by the smallest
// step, and within it preferably one that no known vulnerability affects; or "".
func bestForGroup(needs []VulnerablePackage, fixes []Fix, group []int) string {
	// clears counts vulnerabilities of the group, clean says that no known vulnerability is left.
	type offer struct {
		Candidate
		clears int
		clean  bool
	}
	offers := map[string]offer{}
	for _, i := range group {
		for _, c := range fixes[i].Candidates {
			// Several advisories may name the same version.
			if _, seen := offers[c.Version]; seen || !c.Allowed {
				continue
			}
			o := offer{Candidate: c}
			for _, j := range group {
				if clearsVersion(&needs[j].Match, c.Version) {
					o.clears++
				}
				o.clean = o.clean || needs[j].Match.UpgradeAll == c.Version
			}
			offers[c.Version] = o
		}
	}
	var best *offer
	for _, o := range offers {
		// Most cleared, then the smallest step, then clean, then the lowest version. The order is
		// total, so the result does not depend on the order of the map.
		if best == nil || cmp.Or(cmp.Compare(best.clears, o.clears), cmp.Compare(o.Step.rank(), best.Step.rank()),
			yesFirst(o.clean, best.clean),
			orderVersions(needs[group[0]].Match.Package.Ecosystem, o.Version, best.Version),
			cmp.Compare(o.Version, best.Version)) < 0 {
			best = &o
		}
	}
	if best == nil {
		return ""
	}
	return best.Version
}

// setTarget fills in how the package gets to the target.
func (f *Fix) setTarget(n *VulnerablePackage, target string, level Level) {
	m := &n.Match
	if target == "" {
		// Plan may have given a more precise reason.
		f.Reason = cmp.Or(f.Reason, explainNoTarget(f.Candidates, level))
		return
	}
	p := &m.Package
	f.Target, f.Version, f.Step = target, target, StepOf(p.Version, target)
	if f.Command = Command(p, target); m.Requirement != nil {
		f.Edit = editRequirement(m.Requirement, target)
	} else if p.Ecosystem == "Maven" {
		f.Command = "" // it changes versions that the manifest names, and those that others decide it does not
	}
	// A manifest may name a transitive package itself, as in dependencyManagement of Maven.
	f.Forced = p.Scope == finding.Transitive && f.Edit == nil
	switch {
	case f.Forced && f.Command == "":
		f.Target, f.Step = "", ""
		f.Reason = "it is brought in by " + parentName(p) + ": which version of that brings " + target +
			" only a registry can tell, and no command that overrules it is known"
	case f.Forced:
		f.Reason = "it is brought in by " + parentName(p) + ": the command asks for " + target + " all the same; an " +
			"upgrade of that package is better where there is one"
	case f.Edit == nil && p.Ecosystem == "Maven":
		f.Reason = "its version is decided outside of the scanned files, or where it could not be followed to: name " +
			"it in the dependency management"
	case f.Edit == nil && f.Command == "":
		f.Reason = "the line of the manifest that requires the version is unknown: change it manually"
	}
}

// explainNoTarget says why there is no target.
func explainNoTarget(list []Candidate, level Level) string {
	if len(list) == 0 {
		return "no later version that clears it is known"
	}
	return list[0].Version + " clears it, but that is a " + string(list[0].Step) + " upgrade, and the level is " +
		string(level)
}

// parentName names what brought a package in.
func parentName(p *finding.Package) string {
	if len(p.Via) == 0 {
		return "another package"
	}
	return p.Via[0]
}

// Edits joins the edits of fixes: of one place, the highest version. They come by path
// and line.
func Edits(needs []VulnerablePackage, fixes []Fix) []Edit {
	type place struct {
		path       string
		line, from int
	}
	best := map[place]Edit{}
	for i := range fixes {
		e := fixes[i].Edit
		if e == nil {
			continue
		}
		// One line may have several requirements, for example in a list of one line.
		at := place{e.Path, e.Line, e.demand.Start}
		if old, ok := best[at]; !ok || lessVersion(needs[i].Match.Package.Ecosystem, old.target, e.target) {
			best[at] = *e
		}
	}
	out := make([]Edit, 0, len(best))
	for _, e := range best {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.demand.Start, b.demand.Start))
	})
	return out
}

// Apply returns a file with the edits of its lines. An Invalid error says that the file
// is no longer the one that was looked at.
func Apply(text string, edits []Edit) (string, error) {
	// SplitAfter keeps the ends of lines, which may be CRLF.
	lines := strings.SplitAfter(text, "\n")
	// From the end of a line to its beginning, so that places before stay true.
	for _, e := range slices.Backward(edits) {
		d := e.demand
		if e.Line < 1 || e.Line > len(lines) {
			return "", errs.E(errs.Invalid, "%s has no line %d any more", e.Path, e.Line)
		}
		line := lines[e.Line-1]
		// The file has changed since the scan: nothing is written on a guess.
		if d.End > len(line) || line[d.Start:d.End] != d.Text[d.Start:d.End] {
			return "", errs.E(errs.Invalid, "%s:%d is not the line any more that was read", e.Path, e.Line)
		}
		raised, ok := raiseRequirement(d.Syntax, d.Text[d.Start:d.End], e.target)
		if !ok {
			return "", errs.E(errs.Invalid, "%s:%d cannot be changed", e.Path, e.Line)
		}
		lines[e.Line-1] = line[:d.Start] + raised + line[d.End:]
	}
	return strings.Join(lines, ""), nil
}

// editRequirement returns the edit that makes a manifest ask for a version, or nil when it
// cannot be written or changes nothing.
func editRequirement(d *finding.Requirement, version string) *Edit {
	if d.Start < 0 || d.End < d.Start || d.End > len(d.Text) {
		return nil
	}
	old := d.Text[d.Start:d.End]
	raised, ok := raiseRequirement(d.Syntax, old, version)
	if !ok || raised == old {
		return nil
	}
	return &Edit{Path: d.Path, Line: d.Line, Before: d.Text, After: d.Text[:d.Start] + raised + d.Text[d.End:],
		demand: d, target: version}
}

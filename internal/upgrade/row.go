package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file joins the advisories of a package to the one decision that a team takes about them:
// which version to take.

// A Row is the upgrade of one version of a package in one file, with what it clears and what
// stays.
type Row struct {
	Package     finding.Package
	Requirement *finding.Requirement // where a manifest asks for it; nil when that is not known

	Target  string // the smallest version that clears the most; empty when none is known
	Step    Step   // from the present version to the target
	Removal bool   // the package is malicious: no version of it is to be taken
	Beyond  string // the lowest version for what remains that the policy does not choose; empty when none is known

	Cleared   []VulnerablePackage // by the target, the most urgent first
	Remaining []VulnerablePackage // that the target does not clear
	Dismissed []VulnerablePackage // that a VEX statement clears: they decide nothing

	// What the most urgent of the vulnerabilities are; dismissed ones count only alone.
	Severity  finding.Severity
	Reach     finding.ReachVerdict
	Exploited bool // an attack with one of them is known (CISA's catalog KEV)
}

// Rows joins vulnerabilities to one row per version of a package and file, for which the policy
// chooses one version. The most urgent come first: malicious packages, known exploited
// vulnerabilities, then by severity and reachability.
func Rows(list []VulnerablePackage, policy Policy) []Row {
	var open []VulnerablePackage // dismissed ones do not decide which version is taken
	for _, v := range list {
		if !v.Match.VEX.Clears() {
			open = append(open, v)
		}
	}
	planned := Plan(open, policy)
	fixes := make([]Fix, len(list))
	next := 0
	for i := range list {
		if !list[i].Match.VEX.Clears() {
			fixes[i] = planned[next]
			next++
		}
	}
	return JoinFixes(list, fixes)
}

// JoinFixes joins the planned fixes, one for each vulnerability in the list, to rows. A package
// with several targets has a row for each.
func JoinFixes(list []VulnerablePackage, fixes []Fix) []Row {
	var order []packageVersion
	groups := map[packageVersion][]fixedPackage{}
	for i := range list {
		key := packageVersionOf(&list[i])
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], fixedPackage{list[i], &fixes[i]})
	}
	out := make([]Row, 0, len(order))
	for _, key := range order {
		out = append(out, newRows(groups[key])...)
	}
	slices.SortStableFunc(out, compareRows)
	return out
}

// A fixedPackage is a vulnerability with its planned fix.
type fixedPackage struct {
	VulnerablePackage
	fix *Fix
}

// A packageVersion is what one upgrade changes: a version of a package in one file, and of an
// image in one layer.
type packageVersion struct {
	ecosystem, name, version, path string
	layer                          string // digest
}

// packageVersionOf returns the package of a vulnerability.
func packageVersionOf(v *VulnerablePackage) packageVersion {
	p := &v.Match.Package
	key := packageVersion{ecosystem: p.Ecosystem, name: p.Name, version: p.Version, path: p.Path}
	if p.Layer != nil {
		key.layer = p.Layer.Digest
	}
	return key
}

// newRows returns the rows of one version of a package: one for each version to take. What has
// none stands in the first row, and so does what a VEX statement clears.
func newRows(group []fixedPackage) []Row {
	slices.SortStableFunc(group, func(a, b fixedPackage) int {
		return compareUrgency(&a.VulnerablePackage, &b.VulnerablePackage)
	})
	blank := Row{Package: group[0].Match.Package, Requirement: group[0].Match.Requirement}
	if slices.ContainsFunc(group, func(v fixedPackage) bool { return v.Malicious && !v.Match.VEX.Clears() }) {
		blank.Removal = true
	}
	var out []Row
	index := map[string]int{} // in out, by target
	var first Row             // the part of the first row
	for _, v := range group {
		target := v.fix.Version
		switch {
		case v.Match.VEX.Clears():
			first.Dismissed = append(first.Dismissed, v.VulnerablePackage)
			continue
		case blank.Removal || target == "": // another version of an attacker's package is no remedy
			first.Remaining = append(first.Remaining, v.VulnerablePackage)
			if c := v.fix.Candidates; len(c) > 0 && first.Beyond == "" && !blank.Removal {
				first.Beyond = c[0].Version
			}
			continue
		}
		at, ok := index[target]
		if !ok {
			at = len(out)
			row := blank
			row.Target, row.Step = target, StepOf(blank.Package.Version, target)
			index[target], out = at, append(out, row)
		}
		out[at].Cleared = append(out[at].Cleared, v.VulnerablePackage)
	}
	if len(out) == 0 {
		out = []Row{blank}
	}
	out[0].Remaining, out[0].Dismissed, out[0].Beyond = first.Remaining, first.Dismissed, first.Beyond
	for i := range out {
		out[i].rate()
	}
	return out
}

// rate sets what the most urgent vulnerabilities of the row are.
func (r *Row) rate() {
	open := slices.Concat(r.Cleared, r.Remaining)
	if len(open) == 0 {
		open = r.Dismissed
	}
	for i := range open {
		v := &open[i]
		if v.Severity.Rank() > r.Severity.Rank() {
			r.Severity = v.Severity
		}
		r.Exploited = r.Exploited || v.Exploited
		if reachRank(v.reach()) > reachRank(r.Reach) {
			r.Reach = v.reach()
		}
	}
}

// reach returns the verdict about the vulnerable code; empty when it was not looked at.
func (v *VulnerablePackage) reach() finding.ReachVerdict {
	if v.Match.Reach == nil {
		return ""
	}
	return v.Match.Reach.Verdict
}

// reachRank orders verdicts by urgency.
func reachRank(v finding.ReachVerdict) int {
	switch v {
	case finding.Reachable:
		return 4
	case finding.Imported:
		return 3
	case finding.UnknownReach:
		return 2
	case finding.NotFound:
		return 1
	}
	return 0
}

// compareUrgency orders the vulnerabilities of a package, the most urgent first.
func compareUrgency(a, b *VulnerablePackage) int {
	return cmp.Or(yesFirst(a.Malicious, b.Malicious), yesFirst(a.Exploited, b.Exploited),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(reachRank(b.reach()), reachRank(a.reach())),
		// Newer CVEs first: the numbers of a year have different lengths, so the order is not of time.
		cmp.Compare(b.Advisory, a.Advisory))
}

// compareRows orders rows, the most urgent first.
func compareRows(a, b Row) int {
	return cmp.Or(yesFirst(a.Removal, b.Removal), yesFirst(a.Exploited, b.Exploited),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(reachRank(b.Reach), reachRank(a.Reach)),
		cmp.Compare(a.Package.Path, b.Package.Path), cmp.Compare(a.Package.Name, b.Package.Name),
		cmp.Compare(a.Package.Version, b.Package.Version))
}

// maxAdvisories bounds the advisories that a row names, of each kind.
const maxAdvisories = 2

// String returns the row for people: "lodash 4.17.20 -> 4.17.21 (package-lock.json:12, direct):
// clears CVE-2021-23337, CVE-2020-28500 and 3 more; reachable".
func (r *Row) String() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(r.Package.Name + " " + r.Package.Version))
	if r.Target != "" {
		b.WriteString(" -> " + r.Target)
	}
	fmt.Fprintf(&b, " (%s)", strings.Join(r.circumstances(), ", "))
	if r.Step == MajorStep {
		b.WriteString(", major upgrade")
	}
	var parts []string
	if r.Removal {
		parts = append(parts, "malicious, remove it: "+nameAdvisories(r.Remaining))
	} else {
		if len(r.Cleared) > 0 {
			parts = append(parts, "clears "+nameAdvisories(r.Cleared))
		}
		if len(r.Remaining) > 0 {
			parts = append(parts, r.describeRemaining())
		}
	}
	parts = append(parts, r.describeStatements()...)
	switch r.Reach { // unknown is the default, and would be on every row
	case finding.Reachable, finding.Imported:
		parts = append(parts, string(r.Reach))
	case finding.NotFound:
		parts = append(parts, "not imported")
	}
	b.WriteString(": " + strings.Join(parts, "; "))
	for _, list := range [][]VulnerablePackage{r.Cleared, r.Remaining, r.Dismissed} {
		if len(list) > 0 {
			b.WriteString(list[0].Note)
			break
		}
	}
	return b.String()
}

// describeRemaining says why vulnerabilities remain.
func (r *Row) describeRemaining() string {
	names := nameAdvisories(r.Remaining)
	switch {
	case r.Beyond != "":
		return fmt.Sprintf("%s needs %s, a %s upgrade", names, r.Beyond, StepOf(r.Package.Version, r.Beyond))
	case r.Target != "":
		return "no fixed version is known for " + names
	}
	return "no fixed version is known: " + names
}

// describeStatements says what VEX documents state of the vulnerabilities, one text for each
// status and document.
func (r *Row) describeStatements() []string {
	type statement struct {
		status finding.VEXStatus
		file   string
	}
	var order []statement
	of := map[statement][]VulnerablePackage{}
	for _, v := range slices.Concat(r.Cleared, r.Remaining, r.Dismissed) {
		if v.Match.VEX == nil {
			continue
		}
		s := statement{v.Match.VEX.Status, v.Match.VEX.File}
		if of[s] == nil {
			order = append(order, s)
		}
		of[s] = append(of[s], v)
	}
	var out []string
	for _, s := range order {
		out = append(out, fmt.Sprintf("VEX: %s %s (%s)", strings.ReplaceAll(string(s.status), "_", " "),
			nameAdvisories(of[s]), s.file))
	}
	return out
}

// circumstances returns where the package is and how it came in.
func (r *Row) circumstances() []string {
	p := &r.Package
	at := p.Path
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	out := []string{at}
	switch {
	case p.Scope == finding.Transitive && len(p.Via) > 0:
		out = append(out, "transitive, through "+p.Via[0])
	case p.Scope != finding.UnknownDependency:
		out = append(out, string(p.Scope))
	}
	if p.Dev {
		out = append(out, "development")
	}
	if p.Layer != nil {
		layer := fmt.Sprintf("layer %d", p.Layer.Index)
		if p.Layer.Deleted { // the file is in the image all the same
			layer += ", which a later layer hides"
		}
		out = append(out, layer)
	}
	return out
}

// nameAdvisories names the most urgent advisories, and counts the others. Known exploited ones
// are marked.
func nameAdvisories(list []VulnerablePackage) string {
	// What is left out would take as much room as the name of a single one.
	shown := len(list)
	if shown > maxAdvisories+1 {
		shown = maxAdvisories
	}
	names := make([]string, 0, shown)
	for _, v := range list[:shown] {
		name := v.Advisory
		if v.Exploited {
			name += " (known exploited)"
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if more := len(list) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", text, more)
	}
	return text
}

package sbom

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"merlon/internal/finding"
)

// subjectRef names the described subject inside of a bill.
const subjectRef = "subject"

// CycloneDX writes the document as CycloneDX 1.6 in JSON.
func CycloneDX(w io.Writer, d *Document) error {
	g := makeGraph(d)
	out := list{w: bufio.NewWriterSize(w, 1<<16)}
	metadata := cdx.Metadata{
		Timestamp: d.Created.UTC().Format(time.RFC3339),
		Tools: &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication, Name: d.Tool,
			Version: d.ToolVersion}}},
		Component: &cdx.Component{BOMRef: subjectRef, Type: cdx.ComponentTypeApplication, Name: d.Subject,
			Version: d.Version},
	}
	// The head is written by hand, because the parts behind it are streamed.
	out.text(`{"$schema":"http://cyclonedx.org/schema/bom-1.6.schema.json","bomFormat":"CycloneDX","specVersion":"1.6","serialNumber":"urn:uuid:` +
		d.serialNumber(g).String() + `","version":1,"metadata":`)
	out.value(metadata)
	out.begin(`,"components":[`)
	for i := range g.components {
		out.element(cycloneComponent(&g.components[i]))
	}
	out.end()
	out.begin(`,"dependencies":[`)
	out.element(cycloneDependency(g, subjectRef, g.direct))
	for i := range g.components {
		out.element(cycloneDependency(g, g.components[i].ref, g.components[i].children))
	}
	out.end()
	// NTIA and the specification ask to declare what is known to be missing.
	if d.Incomplete {
		out.begin(`,"compositions":[`)
		out.element(cdx.Composition{Aggregate: cdx.CompositionAggregateIncomplete,
			Assemblies: &[]cdx.BOMReference{subjectRef}})
		out.end()
	}
	if len(d.Vulnerabilities) > 0 {
		out.begin(`,"vulnerabilities":[`)
		for _, v := range cycloneVulnerabilities(g, d.Vulnerabilities) {
			out.element(v)
		}
		out.end()
	}
	out.text("}\n")
	return out.close()
}

// cycloneComponent describes a package.
func cycloneComponent(c *component) cdx.Component {
	group, name := splitName(c.pkg.Ecosystem, c.pkg.Name)
	out := cdx.Component{BOMRef: c.ref, Type: cdx.ComponentTypeLibrary, Group: group, Name: name,
		Version: c.pkg.Version, PackageURL: c.pkg.PURL}
	if c.dev {
		out.Scope = cdx.ScopeOptional
		// The scope "optional" also means optional at run time; the property tells both apart.
		out.Properties = &[]cdx.Property{{Name: "merlon:development", Value: "true"}}
	}
	out.Licenses = cycloneLicense(c.licenses, cdx.LicenseAcknowledgementDeclared)
	if decided := cycloneLicense(c.decided, cdx.LicenseAcknowledgementConcluded); decided != nil {
		// A list of licences holds one expression: what the package declares becomes
		// what was seen.
		out.Evidence, out.Licenses = &cdx.Evidence{Licenses: out.Licenses}, decided
	}
	if len(c.places) > 0 {
		occurrences := make([]cdx.EvidenceOccurrence, len(c.places))
		for i, at := range c.places {
			occurrences[i].Location = at.path
			if at.line > 0 {
				occurrences[i].Line = &at.line
			}
		}
		if out.Evidence == nil {
			out.Evidence = &cdx.Evidence{}
		}
		out.Evidence.Occurrences = &occurrences
	}
	return out
}

// cycloneLicense writes licences, with who says so; nil for none.
func cycloneLicense(list []string, says cdx.LicenseAcknowledgement) *cdx.Licenses {
	text, ok := joinLicenses(list)
	switch {
	case ok:
		return &cdx.Licenses{{Expression: text, Acknowledgement: &says}}
	case text != "":
		return &cdx.Licenses{{License: &cdx.License{Name: text, Acknowledgement: says}}}
	}
	return nil
}

// cycloneDependency tells what a component depends on.
func cycloneDependency(g *graph, ref string, children []int) cdx.Dependency {
	out := cdx.Dependency{Ref: ref}
	if len(children) > 0 {
		refs := make([]string, len(children))
		for i, child := range children {
			refs[i] = g.components[child].ref
		}
		out.Dependencies = &refs
	}
	return out
}

// cycloneVulnerabilities joins what one advisory says of several packages.
func cycloneVulnerabilities(g *graph, list []Vulnerability) []cdx.Vulnerability {
	keys := g.indexByKey()
	byID := map[string]*cdx.Vulnerability{}
	affected := map[string]map[string]string{} // reference to the upgrade, by advisory
	for i := range list {
		v := &list[i]
		// A finding of a package that the document does not list would be a dangling reference.
		at, ok := keys[[3]string{v.Package.Ecosystem, v.Package.Name, v.Package.Version}]
		if !ok || v.Advisory == nil {
			continue
		}
		if byID[v.Advisory.ID] == nil {
			byID[v.Advisory.ID] = cycloneVulnerability(v.Advisory)
			affected[v.Advisory.ID] = map[string]string{}
		}
		affected[v.Advisory.ID][g.components[at].ref] = v.Upgrade
		if now := byID[v.Advisory.ID]; v.State != "" &&
			(now.Analysis == nil || rank(now.Analysis.State) < rank(cdx.ImpactAnalysisState(v.State))) {
			now.Analysis = &cdx.VulnerabilityAnalysis{State: cdx.ImpactAnalysisState(v.State), Detail: v.Comment}
		}
	}
	var out []cdx.Vulnerability
	// Sorted, so that two exports of one state are equal byte for byte.
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		v := byID[id]
		var affects []cdx.Affects
		var advice []string
		for _, ref := range slices.Sorted(maps.Keys(affected[id])) {
			affects = append(affects, cdx.Affects{Ref: ref})
			if upgrade := affected[id][ref]; upgrade != "" {
				advice = append(advice, fmt.Sprintf("%s: upgrade to %s", ref, upgrade))
			}
		}
		v.Affects, v.Recommendation = &affects, strings.Join(advice, "\n")
		out = append(out, *v)
	}
	return out
}

// rank orders states: of several packages with one vulnerability, the one that is
// worst off speaks for it.
func rank(s cdx.ImpactAnalysisState) int {
	return slices.Index([]cdx.ImpactAnalysisState{cdx.ImpactAnalysisState(Fixed), cdx.ImpactAnalysisState(NotAffected),
		cdx.ImpactAnalysisState(InTriage), cdx.ImpactAnalysisState(Exploitable)}, s)
}

// cycloneVulnerability turns an advisory into a vulnerability.
func cycloneVulnerability(a *finding.Advisory) *cdx.Vulnerability {
	out := &cdx.Vulnerability{BOMRef: a.ID, ID: a.ID, Source: source(a.ID), Description: a.Summary, Detail: a.Details,
		Published: a.Published, Updated: a.Modified}
	rating := cdx.VulnerabilityRating{Severity: cdx.Severity(a.Severity)}
	if a.CVSSVector != "" && !a.Estimated {
		score := a.CVSS
		rating.Score, rating.Vector, rating.Method = &score, a.CVSSVector, method(a.CVSSVersion)
	}
	out.Ratings = &[]cdx.VulnerabilityRating{rating}
	var cwes []int
	for _, name := range a.CWE {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "CWE-")); err == nil && n > 0 {
			cwes = append(cwes, n)
		}
	}
	if len(cwes) > 0 {
		out.CWEs = &cwes
	}
	var advisories []cdx.Advisory
	for _, r := range a.References {
		advisories = append(advisories, cdx.Advisory{Title: r.Type, URL: r.URL})
	}
	if len(advisories) > 0 {
		out.Advisories = &advisories
	}
	var others []cdx.VulnerabilityReference
	for _, alias := range a.Aliases {
		if alias != a.ID {
			others = append(others, cdx.VulnerabilityReference{ID: alias, Source: source(alias)})
		}
	}
	if len(others) > 0 {
		out.References = &others
	}
	return out
}

// source tells who gives identifiers of this form.
func source(id string) *cdx.Source {
	switch {
	case strings.HasPrefix(id, "CVE-"):
		return &cdx.Source{Name: "NVD", URL: "https://nvd.nist.gov/vuln/detail/" + id}
	case strings.HasPrefix(id, "GHSA-"):
		return &cdx.Source{Name: "GitHub", URL: "https://github.com/advisories/" + id}
	}
	return &cdx.Source{Name: "OSV", URL: "https://osv.dev/vulnerability/" + id}
}

// method names a version of CVSS.
func method(version string) cdx.ScoringMethod {
	switch {
	case strings.HasPrefix(version, "2"):
		return cdx.ScoringMethodCVSSv2
	case version == "3.1":
		return cdx.ScoringMethodCVSSv31
	case strings.HasPrefix(version, "3"):
		return cdx.ScoringMethodCVSSv3
	case strings.HasPrefix(version, "4"):
		return cdx.ScoringMethodCVSSv4
	}
	return cdx.ScoringMethodOther
}

// A list writes a JSON document whose long arrays come element by element. The
// first error stays.
type list struct {
	w *bufio.Writer
	// the next element is the first of its array
	first bool
	// the first one; everything after it is skipped
	err error
}

// text writes a text as it is.
func (l *list) text(s string) {
	if l.err == nil {
		_, l.err = l.w.WriteString(s)
	}
}

// value writes a value as JSON.
func (l *list) value(v any) {
	b, err := json.Marshal(v)
	if l.err == nil {
		l.err = err
	}
	l.text(string(b))
}

// begin writes what is before the first element.
func (l *list) begin(s string) {
	l.text(s)
	l.first = true
}

// element writes an element of its own line.
func (l *list) element(v any) {
	if !l.first {
		l.text(",")
	}
	l.first = false
	l.text("\n")
	l.value(v)
}

// end writes what is behind the last element.
func (l *list) end() { l.text("]") }

// close writes what is left, and returns the first error of all.
func (l *list) close() error {
	if l.err == nil {
		l.err = l.w.Flush()
	}
	if l.err != nil {
		return fmt.Errorf("write bill of materials: %w", l.err)
	}
	return nil
}

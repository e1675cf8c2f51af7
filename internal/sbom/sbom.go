// Package sbom writes and reads bills of materials: CycloneDX 1.6 in JSON and SPDX
// 2.3 in JSON are written; CycloneDX in JSON and XML, of any version, and SPDX 2 in
// JSON and as tag-value text are read. Both ways work element by element, so that a
// bill of hundreds of thousands of components costs little more than its packages.
//
// Formats: https://cyclonedx.org/docs/1.6/json/, https://spdx.github.io/spdx-spec/v2.3/.
package sbom

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"merlon/internal/finding"
	"merlon/internal/license"
)

// A Document is what a bill is made of.
type Document struct {
	Subject     string // what the bill describes: a project, a folder
	Version     string // of the subject; may be empty
	Tool        string // who made the bill
	ToolVersion string
	Created     time.Time
	Packages    []finding.Package

	// Concluded holds, by the place in Packages, the licence that somebody says a
	// package is under, where that is not what it declares: an SPDX expression.
	Concluded map[int]string

	// Incomplete says that not everything was looked at: further packages may be part of
	// the subject.
	Incomplete bool

	// Vulnerabilities are written into CycloneDX; SPDX 2 has no place for them.
	Vulnerabilities []Vulnerability
}

// A Vulnerability is an advisory that affects packages of the bill.
type Vulnerability struct {
	Advisory *finding.Advisory
	Package  finding.Package
	Upgrade  string // the smallest version that clears it; may be empty

	// State is what people made of it, and Comment what they said. Both may be empty.
	State   State
	Comment string
}

// A State is the result of an analysis of impact, by its name in CycloneDX.
type State string

// The states that are written.
const (
	InTriage    State = "in_triage"
	Exploitable State = "exploitable"
	NotAffected State = "not_affected"
	Fixed       State = "resolved"
)

// A component is one package, wherever in the tree it was seen.
type component struct {
	ref      string
	pkg      finding.Package // of its first place
	places   []place
	licenses []string // what it declares
	decided  []string // what somebody says instead
	dev      bool     // in all of its places
	children []int
}

// A place is a line of a file.
type place struct {
	path string
	line int
}

// A graph is the components of a document, sorted by reference, and what depends
// on what.
type graph struct {
	components []component
	direct     []int // components that the subject asks for itself
}

// makeGraph joins the packages that are the same, and connects them: a package's
// way in ends with its parent.
func makeGraph(d *Document) *graph {
	packages := d.Packages
	g := &graph{}
	byKey := map[[3]string]int{}  // ecosystem, name, version
	inFile := map[[2]string]int{} // path, name@version
	named := map[string]bool{}    // references that are taken
	owner := make([]int, len(packages))
	for i := range packages {
		p := &packages[i]
		key := [3]string{p.Ecosystem, p.Name, p.Version}
		at, ok := byKey[key]
		if !ok {
			at = len(g.components)
			byKey[key] = at
			g.components = append(g.components, component{ref: uniqueReference(p, named), pkg: *p, dev: true})
		}
		owner[i] = at
		inFile[[2]string{p.Path, p.Name + "@" + p.Version}] = at
		g.components[at].addPlace(p)
		if text := d.Concluded[i]; text != "" {
			g.components[at].decided = append(g.components[at].decided, text)
		}
	}
	direct := map[int]bool{}
	for i := range packages {
		p := &packages[i]
		parent, known := 0, false
		if n := len(p.Via); n > 0 {
			parent, known = inFile[[2]string{p.Path, p.Via[n-1]}]
		}
		switch {
		case known && parent != owner[i]:
			g.components[parent].children = append(g.components[parent].children, owner[i])
		case p.Scope == finding.Direct:
			direct[owner[i]] = true
		}
	}
	g.sortGraph(direct)
	return g
}

// addPlace adds one place of a package to its component.
func (c *component) addPlace(p *finding.Package) {
	c.dev = c.dev && p.Dev
	c.licenses = append(c.licenses, p.Licenses...)
	if p.Path != "" {
		c.places = append(c.places, place{p.Path, p.Line})
	}
}

// sortGraph orders everything, so that equal scans give equal SBOMs.
func (g *graph) sortGraph(direct map[int]bool) {
	order := make([]int, len(g.components))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(g.components[a].ref, g.components[b].ref) })
	position := make([]int, len(order))
	sorted := make([]component, len(order))
	for to, from := range order {
		position[from] = to
		sorted[to] = g.components[from]
	}
	for i := range sorted {
		c := &sorted[i]
		for j := range c.children {
			c.children[j] = position[c.children[j]]
		}
		slices.Sort(c.children)
		c.children = slices.Compact(c.children)
		slices.Sort(c.licenses)
		c.licenses = slices.Compact(c.licenses)
		slices.Sort(c.decided)
		c.decided = slices.Compact(c.decided)
		slices.SortFunc(c.places, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
		})
		c.places = slices.Compact(c.places)
	}
	g.components = sorted
	for from := range direct {
		g.direct = append(g.direct, position[from])
	}
	slices.Sort(g.direct)
}

// uniqueReference returns a name for the package that no other has: its package URL, or
// one of the type generic.
func uniqueReference(p *finding.Package, named map[string]bool) string {
	ref := p.PURL
	if ref == "" {
		ref = genericURL(p)
	}
	for base, n := ref, 2; named[ref]; n++ {
		ref = fmt.Sprintf("%s#%d", base, n)
	}
	named[ref] = true
	return ref
}

// indexByKey returns the position of each component by what makes a package the same.
func (g *graph) indexByKey() map[[3]string]int {
	out := make(map[[3]string]int, len(g.components))
	for i := range g.components {
		p := &g.components[i].pkg
		out[[3]string{p.Ecosystem, p.Name, p.Version}] = i
	}
	return out
}

// serialNumber returns an identifier (RFC 9562, version 5 made with SHA-256 cut to fit)
// that depends on what the SBOM says.
func (d *Document) serialNumber(g *graph) uuid.UUID {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q %d\n", d.Subject, d.Version, d.Created.UnixNano())
	for i := range g.components {
		_, _ = fmt.Fprintf(h, "%q\n", g.components[i].ref) // a hash takes everything
	}
	return uuid.NewHash(h, uuid.NameSpaceURL, nil, 5)
}

// joinLicenses returns licences as one SPDX expression; false when there is none, or when
// what is known is not written as an expression.
func joinLicenses(list []string) (string, bool) {
	if len(list) == 0 {
		return "", false
	}
	for _, l := range list {
		if _, err := license.Parse(l); err != nil {
			return strings.Join(list, ", "), false
		}
	}
	if len(list) == 1 {
		return list[0], true
	}
	return license.Read(list).String(), true
}

// IsFileName reports whether a file of this name is usually a bill of materials.
func IsFileName(file string) bool {
	name := strings.ToLower(path.Base(file))
	for _, suffix := range []string{".cdx.json", ".cdx.xml", ".spdx.json", ".spdx3.json", ".spdx"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return slices.Contains([]string{"bom.json", "bom.xml", "sbom.json", "sbom.xml", "cyclonedx.json", "cyclonedx.xml",
		"spdx.json"}, name)
}

// UnsupportedFormat reports whether a file of this name is usually a bill of materials in a form
// that is not read, and which.
func UnsupportedFormat(file string) (form string, ok bool) {
	name := strings.ToLower(path.Base(file))
	for suffix, form := range map[string]string{
		".spdx.rdf": "SPDX in RDF", ".spdx.rdf.xml": "SPDX in RDF", ".spdx.xml": "SPDX in XML",
		".spdx.yaml": "SPDX in YAML", ".spdx.yml": "SPDX in YAML",
		".cdx.bin": "CycloneDX in Protocol Buffers", ".syft.json": "the own form of a tool",
	} {
		if strings.HasSuffix(name, suffix) {
			return form, true
		}
	}
	return "", false
}

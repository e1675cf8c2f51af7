package sbom

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// noAssertion says that nothing is claimed. SPDX 2.3 requires some fields of every package, and an
// empty text is not valid in them.
const noAssertion = "NOASSERTION"

// SPDX writes the document as SPDX 2.3 in JSON. Vulnerabilities have no place in
// it.
func SPDX(w io.Writer, d *Document) error {
	g := makeGraph(d)
	// The document is written as a stream: large ones have more than 100,000 relationships.
	out := list{w: bufio.NewWriterSize(w, 1<<16)}
	const root = "Subject"
	head := struct {
		ID          string            `json:"SPDXID"`
		Version     string            `json:"spdxVersion"`
		DataLicense string            `json:"dataLicense"`
		Name        string            `json:"name"`
		Namespace   string            `json:"documentNamespace"`
		Creation    spdx.CreationInfo `json:"creationInfo"`
	}{
		"SPDXRef-DOCUMENT", spdx.Version, spdx.DataLicense, d.Subject,
		// The namespace must be unique for a document: the serial number is a hash of the subject,
		// the version, the time and the components.
		"https://spdx.org/spdxdocs/" + url.PathEscape(d.Subject) + "-" + d.serialNumber(g).String(),
		spdx.CreationInfo{Created: d.Created.UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: d.Tool + "-" + d.ToolVersion}}},
	}
	out.object(head)
	out.begin(`,"packages":[`)
	out.element(&spdx.Package{PackageName: d.Subject, PackageVersion: d.Version, PackageSPDXIdentifier: root,
		PackageDownloadLocation: noAssertion, PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: noAssertion,
		PackageCopyrightText: noAssertion, PrimaryPackagePurpose: "APPLICATION"})
	for i := range g.components {
		out.element(spdxPackage(i, &g.components[i]))
	}
	out.end()
	out.begin(`,"relationships":[`)
	// SPDX requires a relationship that says what the document describes.
	out.element(relationship("DOCUMENT", common.TypeRelationshipDescribe, root))
	for _, i := range g.direct {
		out.element(spdxDependency(root, i, &g.components[i]))
	}
	for i := range g.components {
		for _, child := range g.components[i].children {
			out.element(spdxDependency(spdxID(i), child, &g.components[child]))
		}
	}
	out.end()
	out.text("}\n")
	return out.close()
}

// object writes the members of an object and leaves it open.
func (l *list) object(v any) {
	b, err := json.Marshal(v)
	if err != nil && l.err == nil {
		l.err = err
	}
	l.text(strings.TrimSuffix(string(b), "}"))
}

// spdxID returns the identifier of the number.
func spdxID(i int) common.ElementID { return common.ElementID(fmt.Sprintf("Package-%d", i+1)) }

// spdxPackage describes a package.
func spdxPackage(i int, c *component) *spdx.Package {
	out := &spdx.Package{
		PackageName: c.pkg.Name, PackageVersion: c.pkg.Version, PackageSPDXIdentifier: spdxID(i),
		PackageDownloadLocation: noAssertion, PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: noAssertion,
		PackageCopyrightText: noAssertion,
	}
	if len(c.places) > 0 {
		out.PackageSourceInfo = "named in " + c.places[0].path
	}
	// Only valid expressions may stand in the licence fields; other texts go into the comment.
	if text, ok := joinLicenses(c.licenses); ok {
		out.PackageLicenseDeclared = text
	} else if text != "" {
		out.PackageLicenseComments = text
	}
	if text, ok := joinLicenses(c.decided); ok {
		out.PackageLicenseConcluded = text
	}
	// Packages of ecosystems without a package URL have no reference.
	if c.pkg.PURL != "" {
		out.PackageExternalReferences = []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: c.pkg.PURL,
		}}
	}
	return out
}

// spdxDependency relates a package with what asks for it.
func spdxDependency(from common.ElementID, i int, c *component) *spdx.Relationship {
	// The direction turns: SPDX has DEV_DEPENDENCY_OF, from the dependency to its user.
	if c.dev {
		return relationship(spdxID(i), common.TypeRelationshipDevDependencyOf, from)
	}
	return relationship(from, common.TypeRelationshipDependsOn, spdxID(i))
}

// relationship tells how one element relates to another.
func relationship(from common.ElementID, kind string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", string(from)),
		RefB: common.MakeDocElementID("", string(to)), Relationship: kind}
}

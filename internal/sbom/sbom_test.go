package sbom_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"

	"merlon/internal/finding"
	"merlon/internal/sbom"
)

// someDocument holds a package seen twice, a way in, and a flaw.
func someDocument() *sbom.Document {
	return &sbom.Document{
		Subject: "shop", Version: "7", Tool: "merlon", ToolVersion: "1.2",
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Packages: []finding.Package{
			{Ecosystem: "npm", Name: "@acme/web", Version: "1.0.0", PURL: "pkg:npm/%40acme/web@1.0.0",
				Path: "package-lock.json", Line: 4, Scope: finding.Direct, Licenses: []string{"MIT OR Apache-2.0"}},
			{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0", PURL: "pkg:npm/left-pad@1.3.0",
				Path: "package-lock.json", Line: 9, Scope: finding.Transitive, Via: []string{"@acme/web@1.0.0"},
				Licenses: []string{"WTFPL"}},
			{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0", PURL: "pkg:npm/left-pad@1.3.0",
				Path: "tools/package-lock.json", Scope: finding.Direct, Dev: true},
			{Ecosystem: "Maven", Name: "org.acme:core", Version: "2", PURL: "pkg:maven/org.acme/core@2",
				Path: "pom.xml", Scope: finding.Direct, Dev: true, Licenses: []string{"Acme's own (see site)"}},
		},
		Vulnerabilities: []sbom.Vulnerability{{
			Advisory: &finding.Advisory{ID: "CVE-2020-1", Aliases: []string{"CVE-2020-1", "GHSA-x"},
				Summary: "pads too much", CWE: []string{"CWE-400"},
				Severity: finding.High, CVSS: 7.5, CVSSVersion: "3.1",
				CVSSVector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H",
				References: []finding.AdvisoryReference{{Type: "WEB", URL: "https://example.org/1"}}},
			Package: finding.Package{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0"}, Upgrade: "1.3.1",
		}},
	}
}

func TestCycloneDXIsReadByTheLibrary(t *testing.T) {
	var out bytes.Buffer
	if err := sbom.CycloneDX(&out, someDocument()); err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(&out, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.SpecVersion != cdx.SpecVersion1_6 || !strings.HasPrefix(bom.SerialNumber, "urn:uuid:") ||
		bom.Metadata.Component.Name != "shop" {
		t.Errorf("head: %v %s %v", bom.SpecVersion, bom.SerialNumber, bom.Metadata.Component)
	}
	var got []string
	for _, c := range *bom.Components {
		text := fmt.Sprintf("%s|%s|%s|%s|%s", c.Group, c.Name, c.Version, c.Scope, c.BOMRef)
		if c.Licenses != nil {
			l := (*c.Licenses)[0]
			text += "|" + l.Expression
			if l.License != nil {
				text += "named " + l.License.Name
			}
		}
		for _, o := range *c.Evidence.Occurrences {
			text += "|" + o.Location
		}
		got = append(got, text)
	}
	want := []string{
		"org.acme|core|2|optional|pkg:maven/org.acme/core@2|named Acme's own (see site)|pom.xml",
		"@acme|web|1.0.0||pkg:npm/%40acme/web@1.0.0|MIT OR Apache-2.0|package-lock.json",
		"|left-pad|1.3.0||pkg:npm/left-pad@1.3.0|WTFPL|package-lock.json|tools/package-lock.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	edges := map[string][]string{}
	for _, d := range *bom.Dependencies {
		if d.Dependencies != nil {
			edges[d.Ref] = *d.Dependencies
		}
	}
	wantEdges := map[string][]string{
		"subject": {"pkg:maven/org.acme/core@2", "pkg:npm/%40acme/web@1.0.0",
			"pkg:npm/left-pad@1.3.0"},
		"pkg:npm/%40acme/web@1.0.0": {"pkg:npm/left-pad@1.3.0"},
	}
	if diff := cmp.Diff(wantEdges, edges); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	v := (*bom.Vulnerabilities)[0]
	if v.ID != "CVE-2020-1" || *(*v.Ratings)[0].Score != 7.5 || (*v.CWEs)[0] != 400 ||
		(*v.Affects)[0].Ref != "pkg:npm/left-pad@1.3.0" ||
		v.Recommendation != "pkg:npm/left-pad@1.3.0: upgrade to 1.3.1" || (*v.References)[0].ID != "GHSA-x" {
		t.Errorf("vulnerability %+v", v)
	}
}

func TestSPDXIsReadByTheLibrary(t *testing.T) {
	var out bytes.Buffer
	if err := sbom.SPDX(&out, someDocument()); err != nil {
		t.Fatal(err)
	}
	var doc spdx.Document
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range doc.Packages {
		got = append(got, fmt.Sprintf("%s %s %s %s", p.PackageSPDXIdentifier, p.PackageName, p.PackageVersion,
			p.PackageLicenseDeclared))
	}
	for _, r := range doc.Relationships {
		got = append(got, fmt.Sprintf("%s %s %s", r.RefA.ElementRefID, r.Relationship, r.RefB.ElementRefID))
	}
	want := []string{
		"Subject shop 7 NOASSERTION", "Package-1 org.acme:core 2 NOASSERTION", "Package-2 @acme/web 1.0.0 MIT OR " +
			"Apache-2.0", "Package-3 left-pad 1.3.0 WTFPL",
		"DOCUMENT DESCRIBES Subject", "Package-1 DEV_DEPENDENCY_OF Subject", "Subject DEPENDS_ON Package-2",
		"Subject DEPENDS_ON Package-3", "Package-2 DEPENDS_ON Package-3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if doc.SPDXVersion != "SPDX-2.3" || doc.SPDXIdentifier != "DOCUMENT" || doc.DataLicense != "CC0-1.0" ||
		doc.CreationInfo.Creators[0].Creator != "merlon-1.2" {
		t.Errorf("head: %+v %+v", doc, doc.CreationInfo)
	}
}

// What is written is read again.
func TestRoundTrip(t *testing.T) {
	want := []finding.Package{
		{Ecosystem: "Maven", Name: "org.acme:core", Version: "2", Scope: finding.Direct, Dev: true},
		{Ecosystem: "npm", Name: "@acme/web", Version: "1.0.0", Scope: finding.Direct,
			Licenses: []string{"MIT OR Apache-2.0"}},
		{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0", Scope: finding.Direct, Licenses: []string{"WTFPL"}},
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"CycloneDX": func(w *bytes.Buffer) error { return sbom.CycloneDX(w, someDocument()) },
		"SPDX":      func(w *bytes.Buffer) error { return sbom.SPDX(w, someDocument()) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		bill, err := sbom.Read(&out)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range bill.Packages {
			p := &bill.Packages[i]
			p.PURL, p.Line = "", 0
			if p.Name == "org.acme:core" {
				p.Licenses = nil // a name in the one format, nothing in the other
			}
		}
		if diff := cmp.Diff(want, bill.Packages); diff != "" || bill.Subject != "shop" || bill.Format != name ||
			bill.Unnamed != 0 {
			t.Errorf("%s of %s, %d unnamed (-want +got):\n%s", bill.Format, bill.Subject, bill.Unnamed, diff)
		}
	}
}

func TestReadOtherForms(t *testing.T) {
	tests := []struct {
		name, text string
		want       []finding.Package
		unnamed    int
	}{
		{"CycloneDX in XML", `<?xml version="1.0"?>
<bom xmlns="http://cyclonedx.org/schema/bom/1.4">
  <metadata><component type="application" bom-ref="app"><name>app</name></component></metadata>
  <components>
    <component type="library" bom-ref="a"><name>left-pad</name><version>1.3.0</version><purl>pkg:npm/left-pad@1.3.0</purl>
      <licenses><license><id>WTFPL</id></license></licenses></component>
    <component type="library" bom-ref="b"><name>mystery</name></component>
  </components>
  <dependencies><dependency ref="app"><dependency ref="a"/></dependency></dependencies>
</bom>`, []finding.Package{{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0", PURL: "pkg:npm/left-pad@1.3.0", Line: 5, Scope: finding.Direct, Licenses: []string{"WTFPL"}}}, 1},
		{"SPDX as tag-value", "SPDXVersion: SPDX-2.2\nDocumentName: app\n# a remark\nPackageName: six\nSPDXID: " +
			"SPDXRef-six\nPackageVersion: 1.16.0\nPackageComment: <text>PackageName: " +
			"no\n</text>\nPackageLicenseDeclared: MIT\nExternalRef: PACKAGE-MANAGER purl " +
			"pkg:pypi/six@1.16.0\nPackageName: other\nSPDXID: SPDXRef-o\nRelationship: SPDXRef-DOCUMENT DESCRIBES " +
			"SPDXRef-o\nRelationship: SPDXRef-o DEPENDS_ON SPDXRef-six\n",
			[]finding.Package{{Ecosystem: "PyPI", Name: "six", Version: "1.16.0", PURL: "pkg:pypi/six@1.16.0", Line: 4,
				Scope: finding.Direct, Licenses: []string{"MIT"}}}, 0},
		{"types that the library does not know", `{"bomFormat":"CycloneDX","components":[
{"name":"redis","purl":"pkg:bitnami/redis@7.4.1-0?arch=arm64"},
{"name":"A","purl":"pkg:julia/A@1.9.0?uuid=ead4f63c"},
{"name":"ring","purl":"pkg:clojars/ring/ring-core@1.8.0"}]}`, []finding.Package{
			{Ecosystem: "Bitnami", Name: "redis", Version: "7.4.1", PURL: "pkg:bitnami/redis@7.4.1-0?arch=arm64",
				Line: 2},
			{Ecosystem: "Julia", Name: "A", Version: "1.9.0", PURL: "pkg:julia/A@1.9.0?uuid=ead4f63c", Line: 3},
			{Ecosystem: "Clojars", Name: "ring:ring-core", Version: "1.8.0", PURL: "pkg:clojars/ring/ring-core@1.8.0",
				Line: 4}}, 0},
		{"components before the format, inside of each other",
			`{"components":[{"name":"x","components":[{"name":"y","purl":"pkg:golang/github.com/a/b@v1.2.3"}]}],"bomFormat":"CycloneDX"}`,
			[]finding.Package{{Ecosystem: "Go", Name: "github.com/a/b", Version: "1.2.3",
				PURL: "pkg:golang/github.com/a/b@v1.2.3"}}, 1},
		{"packages of distributions", `{"bomFormat":"CycloneDX","components":[
{"name":"libssl3","purl":"pkg:deb/debian/libssl3@3.0.11-1?arch=amd64&distro=debian-12&upstream=openssl"},
{"name":"busybox","purl":"pkg:apk/alpine/busybox@1.36.1-r2?distro=alpine-3.19.1"},
{"name":"bash","purl":"pkg:rpm/almalinux/bash@5.1.8-6.el9?epoch=1&distro=almalinux-9.3"}]}`,
			[]finding.Package{
				{Ecosystem: "Debian:12", Name: "openssl", Version: "3.0.11-1",
					PURL: "pkg:deb/debian/libssl3@3.0.11-1?arch=amd64&distro=debian-12&upstream=openssl", Line: 2},
				{Ecosystem: "Alpine:v3.19", Name: "busybox", Version: "1.36.1-r2",
					PURL: "pkg:apk/alpine/busybox@1.36.1-r2?distro=alpine-3.19.1", Line: 3},
				{Ecosystem: "AlmaLinux:9", Name: "bash", Version: "1:5.1.8-6.el9",
					PURL: "pkg:rpm/almalinux/bash@5.1.8-6.el9?epoch=1&distro=almalinux-9.3", Line: 4},
			}, 0},
	}
	for _, tt := range tests {
		bill, err := sbom.Read(strings.NewReader(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, bill.Packages); diff != "" || bill.Unnamed != tt.unnamed {
			t.Errorf("%s: %d unnamed (-want +got):\n%s", tt.name, bill.Unnamed, diff)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	deep := strings.Repeat(`{"components":[`, 80)
	for text, want := range map[string]string{
		"":                          "neither",
		"hello":                     "neither",
		`{"a":1}`:                   "neither",
		"<html></html>":             "neither",
		`{"bomFormat":"CycloneDX",`: "line 1",
		"{\"bomFormat\":\"CycloneDX\",\n\"components\":[{\"name\":3}]}":                           "line 2",
		`{"bomFormat":"CycloneDX","components":{}}`:                                               "a list",
		`{"bomFormat":"CycloneDX","components":[` + deep + `{}` + strings.Repeat("]}", 80) + `]}`: "deep",
	} {
		if _, err := sbom.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %q", text, err, want)
		}
	}
}

// A package without a licence has none, in either format.
// A licence that somebody assigned stands beside what the package declares, with who
// says so, and counts when the bill is read.
func TestAssignedLicense(t *testing.T) {
	d := someDocument()
	d.Concluded = map[int]string{0: "Apache-2.0", 3: "EPL-2.0"}
	var cyclone, tags bytes.Buffer
	if err := errors.Join(sbom.CycloneDX(&cyclone, d), sbom.SPDX(&tags, d)); err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(cyclone.Bytes()), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range *bom.Components {
		l := (*c.Licenses)[0]
		text := fmt.Sprintf("%s %s %s", c.Name, l.Expression, *l.Acknowledgement)
		if seen := c.Evidence.Licenses; seen != nil {
			if l := (*seen)[0]; l.License != nil {
				text += fmt.Sprintf(", %s %s", l.License.Name, l.License.Acknowledgement)
			} else {
				text += fmt.Sprintf(", %s %s", l.Expression, *l.Acknowledgement)
			}
		}
		got = append(got, text)
	}
	var doc spdx.Document
	if err := json.Unmarshal(tags.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Packages[1:] {
		got = append(got, fmt.Sprintf("%s: %s, %s", p.PackageName, p.PackageLicenseConcluded, p.PackageLicenseDeclared))
	}
	want := []string{
		"core EPL-2.0 concluded, Acme's own (see site) declared", "web Apache-2.0 concluded, MIT OR Apache-2.0 " +
			"declared", "left-pad WTFPL declared",
		"org.acme:core: EPL-2.0, NOASSERTION", "@acme/web: Apache-2.0, MIT OR Apache-2.0",
		"left-pad: NOASSERTION, WTFPL",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("licences (-want +got):\n%s", diff)
	}
	for _, text := range []string{cyclone.String(), tags.String(),
		`{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"type":"library","name":"web","purl":"pkg:npm/%40acme/web@1.0.0",
		"licenses":[{"license":{"id":"MIT","acknowledgement":"declared"}},{"license":{"id":"Apache-2.0","acknowledgement":"concluded"}}]}]}`} {
		bill, err := sbom.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(bill.Packages, func(p finding.Package) bool { return p.Name == "@acme/web" })
		if diff := cmp.Diff([]string{"Apache-2.0"}, bill.Packages[i].Licenses); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	}
}

func TestWithoutLicense(t *testing.T) {
	d := someDocument()
	d.Packages = []finding.Package{{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0",
		PURL: "pkg:npm/left-pad@1.3.0"}}
	var cyclone, tags bytes.Buffer
	if err := errors.Join(sbom.CycloneDX(&cyclone, d), sbom.SPDX(&tags, d)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(cyclone.String(), `"licenses"`) {
		t.Errorf("CycloneDX:\n%s", cyclone.String())
	}
	if n := strings.Count(tags.String(), `"licenseDeclared":"NOASSERTION"`); n != 2 {
		t.Errorf("SPDX, %d without assertion:\n%s", n, tags.String())
	}
}

// A bill that is about everything, each of which depends on everything else's name,
// and one of empty lines, are read as any other.
func TestHostileBills(t *testing.T) {
	const n = 200_000
	var roots, edges strings.Builder
	for i := range n {
		fmt.Fprintf(&roots, `"r%d",`, i)
		fmt.Fprintf(&edges, `{"spdxElementId":"r%d","relationshipType":"DEPENDS_ON","relatedSpdxElement":"c%d"},`, i, i)
	}
	bill, err := sbom.Read(strings.NewReader(`{"spdxVersion":"SPDX-2.3","documentDescribes":[` + roots.String() + `"r"],"relationships":[` + edges.String() + `{}],
		"packages":[{"SPDXID":"c7","name":"a","externalRefs":[{"referenceType":"purl","referenceLocator":"pkg:npm/a@1"}]}]}`))
	if err != nil || len(bill.Packages) != 1 || bill.Packages[0].Scope != finding.Direct {
		t.Errorf("many subjects: %+v, %v", bill, err)
	}
	empty := strings.Repeat("\n", 3<<20)
	bill, err = sbom.Read(strings.NewReader(`{"bomFormat":"CycloneDX","components":[` + empty +
		`{"name":"a","purl":"pkg:npm/a@1"}` + empty + `,{"name":7}]}`))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d", 6<<20+1)) {
		t.Errorf("empty lines: %+v, %v", bill, err)
	}
}

const spdx3Text = `{"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [
{"type": "CreationInfo", "@id": "_:1", "specVersion": "3.0.1"},
{"type": "SpdxDocument", "spdxId": "d", "name": "shop", "rootElement": ["shop"]},
{"type": "software_Package", "spdxId": "shop", "name": "shop"},
{"type": "software_Package", "spdxId": "a", "name": "a", "software_packageVersion": "1.0", "software_packageUrl": "pkg:npm/a"},
{"type": "software_Package", "spdxId": "b", "name": "b", "externalIdentifier": [{"type": "ExternalIdentifier", "externalIdentifierType": "cpe23", "identifier": "cpe:2.3:a"},
{"type": "ExternalIdentifier", "externalIdentifierType": "packageUrl", "identifier": "pkg:pypi/b@2.0"}]},
{"type": "software_Package", "spdxId": "c", "name": "c"},
{"type": "simplelicensing_LicenseExpression", "spdxId": "mit", "simplelicensing_licenseExpression": "MIT"},
{"type": "Relationship", "spdxId": "r1", "relationshipType": "dependsOn", "from": "shop", "to": ["a"]},
{"type": "LifecycleScopedRelationship", "spdxId": "r2", "relationshipType": "dependsOn", "scope": "test", "from": "a", "to": "b"},
{"type": "Relationship", "spdxId": "r3", "relationshipType": "hasDeclaredLicense", "from": "a", "to": ["mit"]}]}`

func TestSPDX3(t *testing.T) {
	bill, err := sbom.Read(strings.NewReader(spdx3Text))
	if err != nil {
		t.Fatal(err)
	}
	want := []finding.Package{
		{Ecosystem: "npm", Name: "a", Version: "1.0", PURL: "pkg:npm/a", Line: 5, Scope: finding.Direct,
			Licenses: []string{"MIT"}},
		{Ecosystem: "PyPI", Name: "b", Version: "2.0", PURL: "pkg:pypi/b@2.0", Line: 6, Scope: finding.Transitive,
			Dev: true, Via: []string{"a@1.0"}},
	}
	if diff := cmp.Diff(want, bill.Packages); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if bill.Format != "SPDX" || bill.Version != "3.0.1" || bill.Subject != "shop" || bill.Unnamed != 1 {
		t.Errorf("head: %+v", bill)
	}
	if _, err := sbom.Read(strings.NewReader(`{"@context": "https://schema.org", "@graph": []}`)); !errors.Is(err,
		sbom.ErrNotSBOM) {
		t.Errorf("other data: %v", err)
	}
}

func TestUnread(t *testing.T) {
	for name, want := range map[string]bool{"a/x.spdx.rdf": true, "X.SPDX.YAML": true, "x.spdx.json": false,
		"x.rdf": false} {
		if _, got := sbom.UnsupportedFormat(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"bom.json": true, "a/b/x.cdx.json": true, "X.SPDX": true,
		"x.spdx3.json": true, "package.json": false, "tsconfig.json": false} {
		if got := sbom.IsFileName(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, write := range []func(*bytes.Buffer) error{
		func(w *bytes.Buffer) error { return sbom.CycloneDX(w, someDocument()) },
		func(w *bytes.Buffer) error { return sbom.SPDX(w, someDocument()) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
	}
	f.Add([]byte(spdx3Text))
	f.Add([]byte("SPDXVersion: SPDX-2.2\nPackageName: six\nExternalRef: PACKAGE-MANAGER purl pkg:pypi/six@1\n"))
	f.Add([]byte(`<bom xmlns="http://cyclonedx.org/schema/bom/1.4"><components><component><purl>pkg:npm/a@1</purl></component></components></bom>`))
	f.Fuzz(func(t *testing.T, content []byte) {
		bill, err := sbom.Read(bytes.NewReader(content))
		if err != nil {
			return
		}
		for _, p := range bill.Packages {
			if p.Name == "" || p.Ecosystem == "" || p.PURL == "" {
				t.Errorf("package without a name: %+v", p)
			}
		}
	})
}

// manyPackages makes a chain of bundles as large projects have.
func manyPackages(n int) *sbom.Document {
	d := someDocument()
	d.Packages = make([]finding.Package, n)
	for i := range d.Packages {
		name := fmt.Sprintf("package-%06d", i)
		d.Packages[i] = finding.Package{Ecosystem: "npm", Name: name, Version: "1.0.0", PURL: "pkg:npm/" + name +
			"@1.0.0", Path: "package-lock.json", Line: i, Scope: finding.Direct, Licenses: []string{"MIT"}}
		if i%10 > 0 {
			d.Packages[i].Scope, d.Packages[i].Via = finding.Transitive,
				[]string{fmt.Sprintf("package-%06d@1.0.0", i-1)}
		}
	}
	return d
}

func BenchmarkWrite(b *testing.B) {
	d := manyPackages(300_000)
	for b.Loop() {
		var out bytes.Buffer
		if err := sbom.CycloneDX(&out, d); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}

func BenchmarkRead(b *testing.B) {
	var out bytes.Buffer
	if err := sbom.CycloneDX(&out, manyPackages(300_000)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	for b.Loop() {
		bill, err := sbom.Read(bytes.NewReader(out.Bytes()))
		if err != nil || len(bill.Packages) != 300_000 {
			b.Fatal(len(bill.Packages), err)
		}
	}
}

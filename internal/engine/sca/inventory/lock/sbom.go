package lock

import (
	"errors"
	"net/url"
	"path"
	"strings"

	"merlon/internal/engine/sca/inventory/document"
)

// isSBOM reports whether a file has a name that the specification gives to a list
// of components (https://cyclonedx.org/specification/overview/).
func isSBOM(base string) bool {
	return base == "bom.json" || strings.HasSuffix(base, ".cdx.json")
}

// ecosystems gives the ecosystem by the type of a package URL.
var ecosystems = map[string]string{
	"npm": "npm", "pypi": "PyPI", "maven": "Maven", "golang": "Go", "nuget": "NuGet", "composer": "Packagist", "gem": "RubyGems", "cargo": "crates.io",
	"pub": "Pub", "hex": "Hex", "conan": "ConanCenter", "swift": "SwiftURL", "cocoapods": "CocoaPods", "githubactions": "GitHub Actions",
}

// sbom reads a list of components in the JSON form of CycloneDX. Components
// without a package URL, or of an ecosystem without records, are left out.
func sbom(b *builder) error {
	n, err := document.JSON(b.Content)
	if err != nil {
		return err
	}
	if n.Str("bomFormat") != "CycloneDX" {
		if path.Base(b.Path) == "bom.json" {
			return nil // the name alone promises nothing
		}
		return errors.New("is no list of components of CycloneDX")
	}
	if root := n.At("metadata", "component"); root != nil {
		b.add(Node{Local: true}, root.Str("bom-ref"))
	}
	b.components(n.Get("components"), 0)
	for i := range n.Get("dependencies").All() {
		d := &n.Get("dependencies").Kids[i]
		from, ok := b.index[d.Str("ref")]
		if !ok {
			continue
		}
		for _, to := range d.Get("dependsOn").Strings() {
			if b.link(from, false, to) && b.Nodes[from].Local {
				b.Rooted = true
			}
		}
	}
	return nil
}

// components adds the components, and those inside of them.
func (b *builder) components(list *document.Node, depth int) {
	for i := range list.All() {
		c := &list.Kids[i]
		if ecosystem, name, version := fromPURL(c.Str("purl")); ecosystem != "" {
			b.add(Node{Ecosystem: ecosystem, Name: name, Version: version, Line: c.Get("name").LineOr(c.Line), Licenses: componentLicenses(c)}, c.Str("bom-ref"))
		}
		if depth < 20 {
			b.components(c.Get("components"), depth+1)
		}
	}
}

// componentLicenses returns the licences of a component: identifiers or one
// expression.
func componentLicenses(c *document.Node) []string {
	var out []string
	for i := range c.Get("licenses").All() {
		l := &c.Get("licenses").Kids[i]
		for _, text := range []string{l.Str("expression"), l.At("license", "id").Value()} {
			if text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

// fromPURL reads a package URL (https://github.com/package-url/purl-spec); the
// ecosystem is empty for one that cannot be looked up.
func fromPURL(text string) (ecosystem, name, version string) {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	kind, rest, _ := strings.Cut(strings.TrimPrefix(text, "pkg:"), "/")
	name, version = cutLast(rest, "@")
	name, err := url.PathUnescape(name)
	version, err2 := url.PathUnescape(version)
	if err != nil || err2 != nil || name == "" {
		return "", "", ""
	}
	if kind == "maven" {
		name = strings.Replace(name, "/", ":", 1)
	}
	return ecosystems[kind], name, version
}

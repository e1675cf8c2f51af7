package gradle

import (
	"maps"
	"path"
	"regexp"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// This file reads what version numbers are called: variables, properties and
// version catalogs.

var (
	// assign matches x = 'v', ext.x = "v", val x = "v", extra["x"] = "v", x : 'v'.
	assign = regexp.MustCompile(`(?m)(?:^|[\s{,;(\[.])["']?([A-Za-z_][A-Za-z0-9_.\-]*)["']?\]?\s*(?::\s*String\s*)?(?:=|:|\bby\s+extra\s*\(|to)\s*["']([^"'\n]*)["']`)
	// set matches set('x', 'v').
	set = regexp.MustCompile(`\bset\(\s*["']([^"']+)["']\s*,\s*["']([^"'\n]*)["']`)
	// block matches the name of a map: versions = [ or ext { .
	opened = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*=\s*\[`)
)

// variablesOf returns the variables that a build file of the folder sees.
func (b *Build) variablesOf(dir string) map[string]string {
	if b.variables == nil {
		b.variables = map[string]map[string]string{}
	}
	if known, ok := b.variables[dir]; ok {
		return known
	}
	out := map[string]string{}
	if dir != "." && strings.Count(dir, "/") < maxFolders {
		maps.Copy(out, b.variablesOf(path.Dir(dir)))
	}
	for _, folder := range []string{dir, path.Join(dir, "gradle"), path.Join(dir, "buildSrc")} {
		for _, name := range buildFiles(b.Names(folder)) {
			readVariables(withoutComments(string(b.Read(path.Join(folder, name)))), out)
		}
	}
	readProperties(string(b.Read(path.Join(dir, "gradle.properties"))), out)
	for alias, version := range b.catalogOf(dir).versions {
		out["libs.versions."+alias] = version
		out["libs.versions."+alias+".get()"] = version
	}
	b.variables[dir] = out
	return out
}

// readVariables notes the variables that a build file sets to a text. Those in a
// map are also known with its name in front.
func readVariables(text string, into map[string]string) {
	for _, m := range assign.FindAllStringSubmatch(text, 10_000) {
		name := strings.TrimPrefix(strings.TrimPrefix(m[1], "ext."), "project.ext.")
		into[name] = m[2]
	}
	for _, m := range set.FindAllStringSubmatch(text, 10_000) {
		into[m[1]] = m[2]
	}
	for _, m := range opened.FindAllStringSubmatchIndex(text, 1_000) {
		end := strings.IndexByte(text[m[1]:], ']')
		if end < 0 {
			continue
		}
		for _, e := range assign.FindAllStringSubmatch(text[m[1]:m[1]+end], 10_000) {
			into[text[m[2]:m[3]]+"."+e[1]] = e[2]
		}
	}
}

// readProperties reads a gradle.properties
// (https://docs.oracle.com/javase/8/docs/api/java/util/Properties.html#load-java.io.Reader-).
func readProperties(text string, into map[string]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		if i := strings.IndexAny(line, "=:"); i > 0 {
			into[strings.TrimSpace(line[:i])] = strings.TrimSpace(line[i+1:])
		}
	}
}

// A Catalog is a version catalog
// (https://docs.gradle.org/current/userguide/version_catalogs.html).
type Catalog struct {
	libraries map[string]manifest.Requirement // by accessor: "libs.spring.core"
	bundles   map[string][]string
	versions  map[string]string
}

// accessorOf is the name by which a build file refers to an alias.
func accessorOf(alias string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(alias) }

// findLibraries returns the libraries behind an accessor such as libs.spring.core or
// libs.bundles.web.
func (c Catalog) findLibraries(name, rest string) []manifest.Requirement {
	rest = strings.TrimSuffix(rest, ".get")
	if bundle, ok := strings.CutPrefix(rest, "bundles."); ok {
		var out []manifest.Requirement
		for _, alias := range c.bundles[name+"."+bundle] {
			out = append(out, c.findLibraries(name, alias)...)
		}
		return out
	}
	if r, ok := c.libraries[name+"."+rest]; ok {
		return []manifest.Requirement{r}
	}
	return nil
}

// catalogOf returns the catalogs that a build file of the folder sees.
func (b *Build) catalogOf(dir string) Catalog {
	if b.catalogs == nil {
		b.catalogs = map[string]Catalog{}
	}
	if known, ok := b.catalogs[dir]; ok {
		return known
	}
	c := Catalog{libraries: map[string]manifest.Requirement{}, bundles: map[string][]string{},
		versions: map[string]string{}}
	if dir != "." && strings.Count(dir, "/") < maxFolders {
		above := b.catalogOf(path.Dir(dir))
		maps.Copy(c.libraries, above.libraries)
		maps.Copy(c.bundles, above.bundles)
		maps.Copy(c.versions, above.versions)
	}
	for _, name := range b.Names(path.Join(dir, "gradle")) {
		if stem, ok := strings.CutSuffix(name, ".versions.toml"); ok {
			n, err := document.ParseTOML(b.Read(path.Join(dir, "gradle", name)), document.PackageLimits)
			if err == nil { // the file itself is read, too, and says so
				c.addCatalog(stem, n)
			}
		}
	}
	b.catalogs[dir] = c
	return c
}

// addCatalog adds the catalog with the name.
func (c Catalog) addCatalog(name string, n *document.Node) {
	for _, r := range listLibraries(n) {
		c.libraries[name+"."+accessorOf(r.alias)] = r.Requirement
	}
	for _, e := range n.Get("bundles").Members() {
		for _, alias := range e.Strings() {
			key := name + "." + accessorOf(e.Key)
			c.bundles[key] = append(c.bundles[key], accessorOf(alias))
		}
	}
	for _, v := range n.Get("versions").Members() {
		c.versions[accessorOf(v.Key)] = richVersion(v.Node)
	}
}

// Libraries returns the libraries of a version catalog.
func Libraries(content []byte) ([]manifest.Requirement, error) {
	n, err := document.ParseTOML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []manifest.Requirement
	for _, l := range listLibraries(n) {
		out = append(out, l.Requirement)
	}
	return out, nil
}

// A library is an entry of a version catalog.
type library struct {
	alias string
	manifest.Requirement
}

// listLibraries returns the libraries of a version catalog with their aliases.
func listLibraries(n *document.Node) []library {
	var out []library
	for _, e := range n.Get("libraries").Members() {
		name, wanted := e.TextOf("module"), ""
		if text := e.Text(); text != "" { // "group:artifact:version"
			parts := strings.SplitN(text, ":", 3)
			if len(parts) < 2 {
				continue
			}
			name = parts[0] + ":" + parts[1]
			if len(parts) == 3 {
				wanted = parts[2]
			}
		} else {
			if name == "" {
				name = e.TextOf("group") + ":" + e.TextOf("name")
			}
			version := e.Get("version")
			if ref := version.TextOf("ref"); ref != "" {
				version = n.At("versions", ref)
			}
			wanted = richVersion(version)
		}
		if strings.HasPrefix(name, ":") || strings.HasSuffix(name, ":") || !strings.Contains(name, ":") {
			continue
		}
		out = append(out, library{e.Key, manifest.Requirement{Name: name, Version: fixedVersion(wanted), Wanted: wanted,
			Line: e.Line}})
	}
	return out
}

// richVersion returns the version of a text or of a table with "strictly" and so on.
func richVersion(v *document.Node) string {
	for _, key := range []string{"strictly", "require", "prefer"} {
		if text := v.TextOf(key); text != "" {
			return text
		}
	}
	return v.Text()
}

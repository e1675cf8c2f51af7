package inventory

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/lock"
	"merlon/internal/engine/sca/license"
	"merlon/internal/finding"
)

// This file tells under which licences packages are: what lock files say, else
// what the installed packages in the tree say of themselves.

// Bounds of what is read for licences.
const (
	// A checked-in node_modules has tens of thousands of packages; the bounds leave room for
	// several.
	maxMetadata = 200_000 // files that describe an installed package
	maxTexts    = 10_000  // texts of licences
	maxText     = 1 << 20 // bytes of one
)

// installedPackages are the files in the tree that describe packages, by ecosystem
// and name.
type installedPackages struct {
	inv *inventory
	// paths by "ecosystem name", as installedKey makes them
	files    map[string][]string
	composer map[string]string // licence by "name version" of Packagist
	known    map[string]string // expressions by what was declared
	// descriptions read so far, at most maxMetadata
	metadata int
	// texts compared so far, at most maxTexts, because a comparison is expensive
	texts int
}

// addLicenses sets the licences of the packages.
func (inv *inventory) addLicenses(packages []finding.Package) {
	in := installedPackages{inv: inv, files: map[string][]string{}, known: map[string]string{}}
	for _, f := range inv.Files {
		if key := installedKey(f.Path); key != "" {
			in.files[key] = append(in.files[key], f.Path)
		}
	}
	for i := range packages {
		p := &packages[i]
		p.Licenses = in.declaredLicenses(p.Ecosystem, p.Licenses)
		// Licences are the last step: a scan that was stopped keeps the packages without them.
		if inv.Context.Err() != nil {
			return
		}
		// What the lock file says comes first; files are only read where it says nothing that is in
		// the SPDX list.
		if len(p.Licenses) == 0 || !license.Known(p.Licenses[0]) {
			if e := in.findLicense(p); e != "" {
				p.Licenses = []string{e}
			}
		}
	}
	inv.completeLicenses(packages)
}

// completeLicenses sets licences from what stands elsewhere: in another manifest of the tree
// that names the same version, in the imported table, and in the rules of the publisher. Nothing
// of it takes the place of what a package itself says.
func (inv *inventory) completeLicenses(packages []finding.Package) {
	key := func(p *finding.Package) string { return p.Ecosystem + " " + p.Name + " " + p.Version }
	known := map[string][]string{}
	for i := range packages {
		if p := &packages[i]; len(p.Licenses) > 0 {
			known[key(p)] = p.Licenses
		}
	}
	for i := range packages {
		p := &packages[i]
		if len(p.Licenses) > 0 {
			continue
		}
		if p.Licenses = slices.Clone(known[key(p)]); len(p.Licenses) > 0 {
			continue
		}
		e := ""
		if inv.Licenses != nil {
			e = license.Expression(inv.Licenses.License(p.Ecosystem, p.Name, p.Version))
		}
		if e = cmp.Or(e, license.OfPublisher(p.Ecosystem, p.Name, p.Version)); e != "" {
			p.Licenses = []string{e}
		}
	}
}

// declaredLicenses makes expressions of what a lock file says. In a list of npm or
// Packagist any may be chosen.
func (in *installedPackages) declaredLicenses(ecosystem string, list []string) []string {
	if len(list) > 1 && (ecosystem == "npm" || ecosystem == "Packagist") {
		list = []string{license.Any(list)}
	}
	var out []string
	for _, text := range list {
		e, known := in.known[text]
		if !known {
			e = license.Expression(text)
			in.known[text] = e
		}
		if e != "" && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// installedKey returns the ecosystem and name of what a file describes, as far as
// its path tells; "" for any other file.
func installedKey(file string) string {
	dir, base := path.Dir(file), path.Base(file)
	switch {
	case base == "package.json":
		if i := strings.LastIndex("/"+dir, "/node_modules/"); i >= 0 {
			return "npm " + ("/" + dir)[i+len("/node_modules/"):]
		}
	// "requests-2.31.0.dist-info/METADATA" of a wheel, "requests.egg-info/PKG-INFO" of a source.
	case base == "METADATA" && strings.HasSuffix(dir, ".dist-info"),
		base == "PKG-INFO" && strings.HasSuffix(dir, ".egg-info"):
		name, _, _ := strings.Cut(strings.TrimSuffix(path.Base(dir), path.Ext(dir)), "-")
		return "PyPI " + lock.PythonName(name)
	// "specifications/rack-2.2.8.gemspec", or "gems/rack-2.2.8/rack.gemspec".
	case path.Ext(base) == ".gemspec" && path.Base(path.Dir(dir)) != "." &&
		(path.Base(dir) == "specifications" || path.Base(path.Dir(dir)) == "gems"):

		return "RubyGems " + strings.TrimSuffix(base, ".gemspec")
	case base == "Cargo.toml" && path.Base(path.Dir(dir)) == "vendor":
		return "crates.io " + path.Base(dir)
	case base == "modules.txt" && path.Base(dir) == "vendor":
		return "Go"
	case base == "installed.json" && path.Base(dir) == "composer":
		return "Packagist"
	case path.Ext(base) == ".pom", path.Ext(base) == ".jar":
		return "Maven " + strings.TrimSuffix(base, path.Ext(base))
	case path.Ext(base) == ".nuspec":
		return "NuGet " + strings.ToLower(strings.TrimSuffix(base, ".nuspec"))
	}
	return ""
}

// findLicense returns the licence of an installed package of this version, or "".
func (in *installedPackages) findLicense(p *finding.Package) string {
	name := comparableName(p.Ecosystem, p.Name)
	keys := []string{p.Ecosystem + " " + name}
	switch p.Ecosystem {
	case "Go":
		return in.moduleLicense(p.Name)
	case "Packagist":
		return in.composerLicense(name + " " + p.Version)
	case "Maven":
		keys = []string{"Maven " + name[strings.LastIndexByte(name, ':')+1:] + "-" + p.Version}
	case "RubyGems", "crates.io":
		// Both lay packages out as "name-version", vendored crates of one version as "name".
		keys = append(keys, p.Ecosystem+" "+p.Name+"-"+p.Version)
	}
	unlisted := ""
	for _, key := range keys {
		for _, file := range in.files[key] {
			if in.metadata++; in.metadata > maxMetadata {
				return ""
			}
			version, declared := readMetadata(p, file, in.inv.readOther(file))
			// Two versions of a package may be installed, under different licences.
			if version != p.Version {
				continue
			}
			e := license.Expression(declared)
			if license.Known(e) {
				return e
			}
			if text := in.textLicense(path.Dir(file)); text != "" {
				return text
			}
			// A text that is no SPDX licence ("Proprietary") is better than none, but the next file
			// may have a known one.
			unlisted = e
		}
	}
	return unlisted
}

// readMetadata returns the version and the declared licence of what a file
// describes.
func readMetadata(p *finding.Package, file string, content []byte) (version, declared string) {
	switch path.Ext(file) {
	case ".json":
		n, err := document.ParseJSON(content, document.PackageLimits)
		if err != nil {
			return "", ""
		}
		return n.TextOf("version"), npmLicense(n)
	case ".toml":
		n, err := document.ParseTOML(content, document.PackageLimits)
		if err != nil || n.At("package", "name").Text() != p.Name {
			return "", ""
		}
		return n.At("package", "version").Text(), n.At("package", "license").Text()
	case ".nuspec":
		n, err := document.ParseXML(content, document.PackageLimits)
		if err != nil {
			return "", ""
		}
		m := n.At("package", "metadata")
		l := m.Get("license")
		// <license type="file"> names a file in the package, and <licenseUrl> is deprecated.
		if l.TextOf("@type") == "expression" {
			return m.TextOf("version"), l.Value
		}
		return m.TextOf("version"), ""
	case ".pom":
		return p.Version, pomLicense(content)
	case ".jar":
		return p.Version, pomLicense(pomOfJar(content, p.Name))
	case ".gemspec":
		return gemLicense(string(content))
	}
	return pythonLicense(string(content))
}

// npmLicense reads the licence of a package.json, also in its old forms.
func npmLicense(n *document.Node) string {
	if l := n.Get("license"); l != nil {
		if l.Kind == document.Map {
			return l.TextOf("type")
		}
		return l.Text()
	}
	var all []string
	for _, l := range n.Get("licenses").Members() {
		all = append(all, l.Text()+l.TextOf("type"))
	}
	return license.Any(all)
}

// pomLicense reads the licences of a pom.xml; when there are several any may be
// chosen.
func pomLicense(content []byte) string {
	n, err := document.ParseXML(content, document.PackageLimits)
	if err != nil {
		return ""
	}
	var all []string
	for _, l := range n.At("project", "licenses").Members() {
		all = append(all, l.TextOf("name"))
	}
	return license.Any(all)
}

// pythonLicense reads the core metadata of an installed package
// (https://packaging.python.org/specifications/core-metadata/).
func pythonLicense(text string) (version, declared string) {
	// Metadata 2.4 has License-Expression; before it License was free text, often the whole text of
	// the licence, and classifiers are the more exact source.
	named, classified := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		// The headers end here, the description follows.
		if line == "" {
			break
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Version":
			version = value
		case "License-Expression":
			return version, value // the version stands before it
		case "License":
			named = license.Expression(value)
		case "Classifier":
			if rest, ok := strings.CutPrefix(value, "License :: "); ok {
				classified = license.Expression(rest[strings.LastIndex(rest, ":: ")+1:])
			}
		}
	}
	if license.Known(named) || !license.Known(classified) && named != "" {
		return version, named
	}
	return version, classified
}

// gemLicense reads an installed gemspec, which is written by a program.
func gemLicense(text string) (version, declared string) {
	var all []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key[strings.IndexByte(key, '.')+1:]) {
		case "version":
			if parts := strings.Split(value, `"`); len(parts) > 1 && version == "" {
				version = parts[1]
			}
		// s.licenses = ["MIT".freeze, "Ruby".freeze]: every second part between quotes is a value.
		case "license", "licenses":
			for i, part := range strings.Split(strings.ReplaceAll(value, `'`, `"`), `"`) {
				if i%2 == 1 {
					all = append(all, part)
				}
			}
		}
	}
	return version, license.Any(all)
}

// composerLicense returns the licence of an installed package of Packagist.
func (in *installedPackages) composerLicense(key string) string {
	if in.composer == nil {
		in.composer = map[string]string{}
		for _, file := range in.files["Packagist"] {
			n, err := document.ParseJSON(in.inv.readOther(file), document.PackageLimits)
			if err != nil {
				continue // a damaged file tells nothing
			}
			// Composer 2 has {"packages": […]}, Composer 1 the list alone.
			if list := n.Get("packages"); list != nil {
				n = list
			}
			for _, e := range n.Members() {
				in.composer[strings.ToLower(e.TextOf("name"))+" "+
					e.TextOf("version")] = license.Any(e.Get("license").Strings())
			}
		}
	}
	return in.composer[key]
}

// moduleLicense returns the licence of a module of Go that is vendored.
func (in *installedPackages) moduleLicense(name string) string {
	for _, file := range in.files["Go"] {
		if e := in.textLicense(path.Join(path.Dir(file), name)); e != "" {
			return e
		}
	}
	return ""
}

// textLicense returns the licence whose text is in a folder, or "".
func (in *installedPackages) textLicense(dir string) string {
	for _, folder := range []string{dir, path.Join(dir, "licenses")} {
		for _, name := range in.inv.folders[folder] {
			if !isLicenseFile(name) {
				continue
			}
			if in.texts++; in.texts > maxTexts {
				return ""
			}
			content := in.inv.readOther(path.Join(folder, name))
			if len(content) > maxText {
				continue
			}
			if e, err := license.OfText(content); err == nil && e != "" {
				return e
			}
		}
	}
	return ""
}

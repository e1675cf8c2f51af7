package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory/dotnet"
	"merlon/internal/engine/sca/inventory/gradle"
	"merlon/internal/engine/sca/inventory/lock"
	"merlon/internal/engine/sca/inventory/manifest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file takes over the lock files that are graphs.

// addLockFile adds the packages of a lock file.
func (inv *inventory) addLockFile(f scan.File) {
	// Of two lock files in one folder npm uses npm-shrinkwrap.json.
	if dir, base := path.Split(f.Path); base == "package-lock.json" && inv.files[dir+"npm-shrinkwrap.json"] {
		return
	}
	content, ok := inv.readFile(f)
	if !ok {
		return
	}
	g, err := lock.Read(lock.File{Path: f.Path, Content: content, Read: inv.readOther, Asks: inv.gradle.Requirements,
		Below: func(name string) []string { return inv.manifestsBelow(f.Path, name) }})
	if err != nil {
		inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
			"packages: " + OneLine(err.Error())})
		return
	}
	if len(g.Broken) > 0 {
		inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a whole: no package was " +
			"understood in the lines " + strings.Trim(fmt.Sprint(g.Broken), "[]")})
	}
	var unfixed []string
	for _, found := range g.Packages() {
		pkg := found.Package
		pkg.Path = f.Path
		if pkg.Version == "" {
			unfixed = append(unfixed, pkg.Name)
		}
		// A package of another origin must not have the URL of a registry package of the same name.
		if !found.Foreign {
			pkg.PURL = makePURL(pkg.Ecosystem, pkg.Name, pkg.Version)
		}
		if line := inv.requirementLine(found.Manifest, pkg); line > 0 {
			pkg.Manifest = &finding.PackageLocation{Path: found.Manifest, Line: line}
		}
		inv.packages = append(inv.packages, pkg)
	}
	// Without a version no advisory can match: the report says so instead of showing no findings.
	if len(unfixed) > 0 {
		inv.Degrade(scan.Reason{Code: scan.NoVersion, Skipped: true, Path: f.Path, Message: "does not fix the version of " +
			List(unfixed)})
	}
}

// readOther returns the content of another file of the tree, or nil.
func (inv *inventory) readOther(file string) []byte {
	if !inv.files[file] {
		return nil
	}
	content, err := fs.ReadFile(inv.FS, file)
	if err != nil || len(content) > maxManifest {
		return nil // who reads the file itself says so
	}
	return content
}

// manifestsBelow returns the manifests with this name in the folder of the lock file and
// below, those left out that have a lock file of the same name nearer to them.
func (inv *inventory) manifestsBelow(file, name string) []string {
	dir, base := path.Split(file)
	var out []string
	for _, m := range inv.named[name] {
		if rest, ok := strings.CutPrefix(m, dir); ok && !inv.hasNearerLock(rest, dir, base) {
			out = append(out, m)
		}
	}
	return out
}

// hasNearerLock reports whether a lock file is in a folder between dir and the file.
func (inv *inventory) hasNearerLock(rest, dir, base string) bool {
	// A nested project with a lock file of its own is no workspace of this one.
	for at := path.Dir(rest); at != "."; at = path.Dir(at) {
		if inv.files[dir+at+"/"+base] {
			return true
		}
	}
	return false
}

// requirementLine returns the line on which a manifest requires the package, or 0.
func (inv *inventory) requirementLine(file string, pkg finding.Package) int {
	// Transitive packages are in no manifest.
	if file == "" || pkg.Scope != finding.Direct {
		return 0
	}
	// Each manifest is parsed once, however many packages it requires.
	lines, known := inv.lines[file]
	if !known {
		lines = map[string]int{}
		inv.lines[file] = lines
		for _, r := range inv.requirementsOf(file) {
			if name := comparableName(pkg.Ecosystem, r.Name); lines[name] == 0 {
				lines[name] = r.Line
			}
		}
	}
	return lines[comparableName(pkg.Ecosystem, pkg.Name)]
}

// requirementsOf returns what a manifest requires; nothing when it cannot be read, because
// the lock file says enough.
func (inv *inventory) requirementsOf(file string) []manifest.Requirement {
	if gradle.Reads(file) {
		return inv.gradle.Requirements(file)
	}
	if dotnet.Reads(file) {
		asks, err := inv.dotnet.Requirements(file)
		if err != nil {
			return nil
		}
		return asks
	}
	i := slices.IndexFunc(manifestKinds, func(k manifest.Kind) bool { return k.Matches(file) })
	if i < 0 || manifestKinds[i].Read == nil {
		return nil
	}
	asks, err := manifestKinds[i].Read(inv.readOther(file))
	if err != nil {
		return nil
	}
	return asks
}

// comparableName is the name as its ecosystem compares it.
func comparableName(ecosystem, name string) string {
	switch ecosystem {
	case "PyPI":
		return lock.PythonName(name)
	case "NuGet", "Packagist":
		return strings.ToLower(name)
	}
	return name
}

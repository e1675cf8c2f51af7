package inventory

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory/dotnet"
	"merlon/internal/engine/sca/inventory/gradle"
	"merlon/internal/engine/sca/inventory/manifest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file takes over manifests whose lock file is missing: what they ask for is
// a range, and what will be used is not known.

// manifestKinds lists the manifests that their own text is enough to read.
var manifestKinds = append(slices.Clone(manifest.Kinds),
	manifest.Kind{Match: "*.versions.toml", Ecosystem: "Maven", Locks: gradle.Locks, Above: true,
		Read: gradle.Libraries})

// addUnlocked reports what a manifest requires when nothing pins it.
func (inv *inventory) addUnlocked(f scan.File) {
	if inv.isVendored(f.Path) {
		return
	}
	if gradle.Reads(f.Path) && !inv.hasLock(f.Path, gradle.Locks, false) {
		inv.addRequirements(f.Path, manifest.Kind{Ecosystem: "Maven", Locks: gradle.Locks},
			inv.gradle.Requirements(f.Path))
	}
	if dotnet.Reads(f.Path) && !inv.hasLock(f.Path, dotnet.Locks, false) {
		inv.addDotnetProject(f)
	}
	// Workflows name actions with their version: they pin themselves.
	if isWorkflow(f.Path) {
		inv.addWorkflow(f)
	}
	if path.Base(f.Path) == "pom.xml" {
		inv.addPOM(f)
	}
	for _, k := range manifestKinds {
		if !k.Matches(f.Path) || inv.hasLock(f.Path, k.Locks, k.Above) {
			continue
		}
		// bun.lockb, the binary lock file of Bun before 1.2.
		if k.Read == nil {
			inv.Degrade(scan.Reason{Code: "unsupported", Path: f.Path, Message: "is a binary lock file, which is not " +
				"read; write a text one beside it"})
			continue
		}
		content, ok := inv.readFile(f)
		if !ok {
			continue
		}
		asked, err := k.Read(content)
		if err != nil {
			inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
				"packages: " + OneLine(err.Error())})
			continue
		}
		inv.addRequirements(f.Path, k, asked)
	}
}

// isVendored reports whether the file is in a folder into which a tool has copied
// packages: what those require is in the lock file of the project.
func (inv *inventory) isVendored(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if inv.copies[dir] {
			return true
		}
	}
	return false
}

// vendorFolder returns the folder of copied packages that a file marks, or "".
func vendorFolder(file string) string {
	dir := path.Dir(file)
	switch {
	// vendor/composer/installed.json and vendor/NAME/.cargo-checksum.json: the folder "vendor".
	case strings.HasSuffix(file, "vendor/composer/installed.json"), path.Base(file) == ".cargo-checksum.json":
		return path.Dir(dir)
	case strings.HasSuffix(file, "Pods/Manifest.lock"), strings.HasSuffix(file, "vendor/modules.txt"):
		return dir
	case path.Base(dir) == "specifications" && path.Ext(file) == ".gemspec":
		return path.Dir(dir)
	}
	return ""
}

// addDotnetProject adds what a project of .NET requires.
func (inv *inventory) addDotnetProject(f scan.File) {
	if _, ok := inv.readFile(f); !ok {
		return
	}
	asked, err := inv.dotnet.Requirements(f.Path)
	if err != nil {
		inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
			"packages: " + OneLine(err.Error())})
		return
	}
	inv.addRequirements(f.Path, manifest.Kind{Ecosystem: "NuGet", Locks: dotnet.Locks}, asked)
}

// addPOM adds what a pom.xml requires. Maven has no lock file.
func (inv *inventory) addPOM(f scan.File) {
	if _, ok := inv.readFile(f); !ok {
		return
	}
	asked, outside, err := inv.maven.Requirements(f.Path)
	if err != nil {
		inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
			"packages: " + OneLine(err.Error())})
		return
	}
	inv.addRequirements(f.Path, manifest.Kind{Ecosystem: "Maven"}, asked, outside...)
}

// hasLock reports whether one of the lock files is beside the file, or above it.
func (inv *inventory) hasLock(file string, locks []string, above bool) bool {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range locks {
			if inv.files[path.Join(dir, name)] || strings.Contains(name, "*") && inv.hasFile(dir, name) {
				return true
			}
		}
		// A workspace has its lock file at the top, above the manifests of its members.
		if !above || dir == "." {
			return false
		}
	}
}

// hasFile reports whether a file of the folder has such a name.
func (inv *inventory) hasFile(dir, pattern string) bool {
	return slices.ContainsFunc(inv.folders[dir], func(name string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}

// addRequirements adds what the manifest requires and says what is not known, and what
// outside of the tree may know it.
func (inv *inventory) addRequirements(file string, k manifest.Kind, asked []manifest.Requirement, outside ...string) {
	var ranges []string
	n := 0
	for _, r := range asked {
		if r.Name == "" || r.Local {
			continue
		}
		n++
		if r.Version == "" {
			ranges = append(ranges, r.Name)
		}
		inv.packages = append(inv.packages, finding.Package{
			Ecosystem: k.Ecosystem, Name: r.Name, Version: r.Version, PURL: makePURL(k.Ecosystem, r.Name, r.Version),
			Path: file, Line: r.Line, Scope: finding.Direct, Dev: r.Dev,
		})
	}
	// A manifest that lists the whole graph with exact versions needs no lock file.
	if n == 0 || k.Whole && len(ranges) == 0 {
		return
	}
	message := "has no lock file"
	if len(k.Locks) > 0 {
		message += " (" + k.Locks[0] + ")"
	}
	message += ": not known are the versions of what it brings"
	if len(ranges) > 0 {
		message += ", nor of " + List(ranges)
		if len(outside) > 0 {
			message += ", which may be fixed outside of the tree by " + List(outside)
		}
	}
	inv.Degrade(scan.Reason{Code: scan.NoLockFile, Skipped: true, Path: file, Message: message})
}

package inventory

import (
	"errors"
	"fmt"
	"strings"

	"merlon/internal/sbom"
	"merlon/internal/scan"
)

// This file takes a bill of materials for what it is: a list of packages, like a
// lock file.

// addSBOM adds the packages of an SBOM; false when the file is none.
func (inv *inventory) addSBOM(f scan.File) bool {
	file, err := inv.FS.Open(f.Path)
	if err != nil {
		inv.Degrade(scan.Reason{Code: "unreadable", Path: f.Path, Message: OneLine(err.Error())})
		return true
	}
	defer func() { _ = file.Close() }() // it was only read from
	// The file is read as a stream: an SBOM may be far larger than maxManifest.
	bill, err := sbom.Read(file)
	if errors.Is(err, sbom.ErrNotSBOM) {
		return false
	}
	if err != nil {
		inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a bill of " +
			"materials: " + OneLine(err.Error())})
		return true
	}
	for _, pkg := range bill.Packages {
		pkg.Path = f.Path
		inv.packages = append(inv.packages, pkg)
	}
	// Without a package URL the ecosystem is not known, and a name alone would match the wrong
	// advisories.
	if bill.Unnamed > 0 {
		inv.Degrade(scan.Reason{Code: "no-package-url", Path: f.Path, Message: fmt.Sprintf(
			"%s no package URL of a known ecosystem, so nothing was looked up for them: %s",
			hasComponents(bill.Unnamed),
			OneLine(strings.Join(bill.Examples, ", ")))})
	}
	return true
}

// hasComponents writes how many components there are, with the verb.
func hasComponents(n int) string {
	if n == 1 {
		return "1 component has"
	}
	return fmt.Sprintf("%d components have", n)
}

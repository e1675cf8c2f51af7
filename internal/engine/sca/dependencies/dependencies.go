// Package dependencies finds known vulnerabilities in the packages that lock
// files and manifests name.
package dependencies

import (
	_ "embed"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	"merlon/internal/sbom"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds known vulnerabilities in dependencies.
var Analyzer = &scan.Analyzer{
	ID:       "sca/dependencies",
	Version:  1,
	Analysis: finding.SCA,
	Doc:      doc,
	Needs:    scan.Needs{Advisories: true},
	Match:    inventory.Wanted,
	Streams:  sbom.IsFileName,
	Project:  findVulnerable,
}

// findVulnerable takes the inventory, looks every package up and reports both.
func findVulnerable(p *scan.ProjectPass) error {
	// The data file has licences where a table of them was imported.
	licenses, _ := p.Advisories.(inventory.LicenseSource)
	packages, err := inventory.Take(inventory.Tree{Context: p.Context, FS: p.FS, Files: p.Files, Degrade: p.Degrade,
		Licenses: licenses})
	if err != nil {
		return err
	}
	// The inventory is reported even when the look-up below is not possible: the SBOM needs no
	// vulnerability data.
	for _, pkg := range packages {
		p.Package(pkg)
	}
	if len(packages) == 0 {
		return nil // whatever the data, there is nothing to look up
	}
	if p.Advisories == nil {
		p.Degrade(scan.Reason{
			Code:    "unavailable",
			Message: "there is no vulnerability data, so no package was checked: run merlon advisories import",
		})
		return nil
	}
	// A record that is missing could have matched, so the result is marked as incomplete.
	if n := p.Advisories.Data().Unreadable; n > 0 {
		p.Degrade(scan.Reason{
			Code: "unavailable",
			Message: inventory.Count(n, "record") + " of the vulnerability data could not be read at the import " +
				"(merlon advisories status names them)",
		})
	}
	matches, err := lookUp(p, packages)
	if err != nil {
		return err
	}
	libraries, err := judgeStandardLibraries(p, matches)
	if err != nil {
		return err
	}
	// Sources are only read for packages with a match, so this comes after the look-up.
	lists := [][]match{matches}
	for i := range libraries {
		lists = append(lists, libraries[i].matches)
	}
	if err := addReach(p, packages, lists); err != nil {
		return err
	}
	addDemands(p, matches)
	reportMatches(p, matches)
	reportStandardLibraries(p, libraries)
	return reportImages(p, packages)
}

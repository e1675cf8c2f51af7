// Package findings serves the operations on findings and what is derived from them:
// overviews, packages, licences, images, SBOM, VEX and autofix.
package findings

import (
	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
)

// Handlers serves the operations on findings.
type Handlers struct {
	*endpoint.Server
	*scancoverage.Reader
	// Results reads findings, images, packages and licences, and stores decisions about them.
	Results Results
	// Numbers counts findings by branch, and knows the last scans.
	Numbers Numbers
	// Overviews aggregates over the projects of an organization.
	Overviews Overviews
	// Remedies computes upgrades of vulnerable packages.
	Remedies Remedies
	Version  string // of the program, for documents that name their author
}

// A queryParser reads the query parameters of lists and overviews of findings.
type queryParser struct{ endpoint.Parser }

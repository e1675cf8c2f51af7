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
	Results   Results
	Numbers   Numbers
	Overviews Overviews
	Remedies  Remedies
	Version   string // of the program, for documents that name their author
}

// A queryParser reads the query parameters of lists and overviews of findings.
type queryParser struct{ endpoint.Parser }
